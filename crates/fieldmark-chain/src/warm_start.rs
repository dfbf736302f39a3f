//! Weights of one model for the features of another.

use crate::{ChainModel, Structure};
use fieldmark_core::Alphabet;

/// Weights to start training from.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmStart {
    /// A weight for each feature of the new model.
    pub weights: Vec<f64>,
    /// How many of them the old model has too; the others are 0.
    pub taken: usize,
}

impl ChainModel {
    /// This model's weights for the features of `structure` over other alphabets: a start for training.
    ///
    /// Labels and observations are matched by name; features that this model does not have get 0.
    pub fn project(&self, labels: &Alphabet, observations: &Alphabet, structure: &Structure) -> WarmStart {
        let mut weights = vec![0.0; structure.weights()];
        let mut taken = 0;
        let own = self.structure();
        // One more entry: the boundary of the sequence is the id after the last label.
        let mut label_of: Vec<Option<u32>> = labels.iter().map(|name| self.labels().get(name)).collect();
        label_of.push(Some(self.labels().len() as u32));
        for (row, name) in observations.iter().enumerate() {
            let Some(own_row) = self.observations().get(name) else {
                continue;
            };
            let row = row as u32;
            for (&column, feature) in structure
                .unary()
                .columns(row)
                .iter()
                .zip(structure.unary().features(row))
            {
                let found = label_of[column as usize].and_then(|label| own.unary().find(own_row, label));
                if let Some(own_feature) = found {
                    taken += 1;
                    weights[structure.unary_weights().start + feature] =
                        self.weights()[own.unary_weights().start + own_feature];
                }
            }
            for (&column, feature) in structure
                .pair()
                .columns(row)
                .iter()
                .zip(structure.pair().features(row))
            {
                let [from, to] = structure.pairs()[column as usize];
                let found = label_of[from as usize]
                    .zip(label_of[to as usize])
                    .and_then(|(from, to)| {
                        let column = own.pairs().binary_search(&[from, to]).ok()?;
                        own.pair().find(own_row, column as u32)
                    });
                if let Some(own_feature) = found {
                    taken += 1;
                    weights[structure.pair_weights().start + feature] =
                        self.weights()[own.pair_weights().start + own_feature];
                }
            }
        }
        let own_tuples: std::collections::HashMap<&[u32], f64> = own
            .tuples()
            .iter()
            .zip(&self.weights()[own.tuple_weights()])
            .map(|(t, &w)| (t, w))
            .collect();
        for (tuple, weight) in structure
            .tuples()
            .iter()
            .zip(&mut weights[structure.tuple_weights()])
        {
            let mapped: Option<Vec<u32>> = tuple.iter().map(|&label| label_of[label as usize]).collect();
            if let Some(own) = mapped.and_then(|tuple| own_tuples.get(&tuple[..]).copied()) {
                taken += 1;
                *weight = own;
            }
        }
        let biases = &self.weights()[own.bias_weights()];
        for (label, weight) in weights[structure.bias_weights()].iter_mut().enumerate() {
            if let Some(&bias) = label_of[label].and_then(|label| biases.get(label as usize)) {
                taken += 1;
                *weight = bias;
            }
        }
        WarmStart { weights, taken }
    }
}

#[cfg(test)]
mod tests {
    use crate::{ChainModel, Strategy, Structure, StructureOptions};
    use fieldmark_core::{Dataset, DatasetBuilder, Gold};

    fn data(names: &[(&str, &str)]) -> Dataset {
        let mut builder = DatasetBuilder::new();
        for (observation, label) in names {
            let observation = builder.observations.intern(observation);
            let label = builder.labels.intern(label);
            builder.observe(observation, 1.0);
            builder.observe_pair(observation, 1.0);
            builder.end_position(Gold::Known(label)).unwrap();
        }
        builder.finish()
    }

    #[test]
    fn weights_are_found_by_name() {
        let old = data(&[("a", "X"), ("b", "Y"), ("c", "X"), ("a", "Y")]);
        let new = data(&[("d", "Z"), ("b", "Y"), ("a", "X"), ("a", "Y"), ("b", "X")]);
        let options = StructureOptions {
            order: 2,
            boundaries: true,
            label_bias: true,
            transitions: Strategy::All,
            ..StructureOptions::default()
        };
        let structure = Structure::build(&old, &options).unwrap();
        let weights: Vec<f64> = (1..=structure.weights()).map(|i| i as f64).collect();
        let model = ChainModel::new(old.labels.clone(), &old.observations, &structure, &weights);
        let same = model.project(&old.labels, &old.observations, &structure);
        assert_eq!((same.taken, &same.weights), (weights.len(), &weights));

        let other = Structure::build(&new, &options).unwrap();
        let start = model.project(&new.labels, &new.observations, &other);
        let projected = start.weights;
        let id = |data: &Dataset, name: &str| data.observations.get(name).unwrap();
        let label = |data: &Dataset, name: &str| data.labels.get(name).unwrap();
        let a = structure.unary().find(id(&old, "a"), label(&old, "X")).unwrap();
        let b = other.unary().find(id(&new, "a"), label(&new, "X")).unwrap();
        assert_eq!(projected[b], weights[a]);
        let unseen = other.unary().find(id(&new, "d"), label(&new, "Z")).unwrap();
        assert_eq!(projected[unseen], 0.0);
        let kept = |weights: &[f64]| weights.iter().filter(|&&w| w != 0.0).count();
        // Tuples over X, Y and the boundary exist in both.
        assert_eq!(kept(&projected[other.tuple_weights()]), structure.tuples().len());
        assert_eq!(kept(&projected[other.bias_weights()]), 2);
        assert_eq!(start.taken, kept(&projected));
    }
}

//! Weights of one model for the features of another.

use super::GraphModel;
use crate::data::GraphDataset;
use crate::structure::{Structure, TemplateFeatures};

/// Weights to start training from.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphWarmStart {
    /// A weight for each feature of the new model.
    pub weights: Vec<f64>,
    /// How many of them the old model has too.
    pub taken: usize,
}

impl GraphModel {
    /// This model's weights for the features of `structure` over the alphabets of `data`: a start for training.
    ///
    /// Templates, labels and observations are matched by name, so the new model may have more or fewer of each.
    /// Features that this model does not have get 0.
    pub fn project(&self, data: &GraphDataset, structure: &Structure) -> GraphWarmStart {
        self.project_onto(data, structure, vec![0.0; structure.weights()])
    }

    /// The same, but features that this model does not have keep their weights.
    ///
    /// # Panics
    /// If there are not as many weights as features.
    pub fn project_onto(
        &self,
        data: &GraphDataset,
        structure: &Structure,
        weights: Vec<f64>,
    ) -> GraphWarmStart {
        assert_eq!(weights.len(), structure.weights(), "one weight for each feature");
        let mut start = GraphWarmStart { weights, taken: 0 };
        for template in &structure.templates {
            let mut own = self.structure.templates.iter();
            let own = own.find(|own| own.elementary.name == template.elementary.name);
            if let Some(own) = own.filter(|own| self.joins_the_same(own, structure, template)) {
                self.project_template(own, data, structure, template, &mut start);
            }
        }
        start
    }

    fn joins_the_same(
        &self,
        own: &TemplateFeatures,
        structure: &Structure,
        template: &TemplateFeatures,
    ) -> bool {
        let own_layers = own
            .elementary
            .layers
            .iter()
            .map(|&layer| &self.description().layers[layer]);
        let layers = template.elementary.layers.iter();
        own_layers.eq(layers.map(|&layer| &structure.description().layers[layer]))
    }

    fn project_template(
        &self,
        own: &TemplateFeatures,
        data: &GraphDataset,
        structure: &Structure,
        template: &TemplateFeatures,
        start: &mut GraphWarmStart,
    ) {
        let places = own.elementary.layers.iter().zip(&template.elementary.layers);
        let maps: Vec<Vec<Option<u32>>> = places
            .map(|(&own, &layer)| {
                let names = data.labels(layer).iter();
                names.map(|name| self.labels[own].get(name)).collect()
            })
            .collect();
        let own_entry: Vec<Option<u32>> = (0..template.width() as u32)
            .map(|entry| {
                let labels = template.labels_of(entry);
                let mut places = labels.iter().zip(&maps).zip(&own.shape);
                places.try_fold(0, |entry, ((&label, map), &count)| {
                    Some(entry * count + map[label as usize]?)
                })
            })
            .collect();
        let own_weights = &self.weights[own.row_weights()];
        for row in 0..structure.observations as u32 {
            let features = template.rows.features(row);
            if features.is_empty() {
                continue;
            }
            let Some(own_row) = self.observations.get(data.observations.name(row)) else {
                continue;
            };
            for feature in features {
                let entry = own_entry[template.rows.all_columns()[feature] as usize];
                if let Some(found) = entry.and_then(|entry| own.rows.find(own_row, entry)) {
                    start.weights[template.start + feature] = own_weights[found];
                    start.taken += 1;
                }
            }
        }
        let own_biases = &self.weights[own.bias_weights()];
        for (&entry, place) in template.bias.iter().zip(template.bias_weights()) {
            let found = own_entry[entry as usize].and_then(|entry| own.bias.binary_search(&entry).ok());
            if let Some(found) = found {
                start.weights[place] = own_biases[found];
                start.taken += 1;
            }
        }
    }
}

//! [`Fitted`]: a model trained on what is labelled of a pool, from scratch or from the last one.

use crate::{Error, Pool};
use fieldmark_chain::features::FeatureTable;
use fieldmark_chain::train::{Arithmetic, ChainObjective, TrainingReal};
use fieldmark_chain::{ChainModel, Structure, StructureOptions};
use fieldmark_core::Dataset;
use fieldmark_core::optimize::{Lbfgs, LbfgsOptions, Prior};

/// The shape of models, and how they are trained.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnOptions {
    /// The shape of the model.
    pub structure: StructureOptions,
    /// The optimiser.
    pub lbfgs: LbfgsOptions,
    /// Whether expectations are computed in single precision.
    pub single_precision: bool,
    /// Whether a model starts from the weights of the last one.
    ///
    /// The likelihood of partial labels has several optima (Tsuboi et al. 2008), so a model that starts from
    /// nothing may be another one.
    pub warm: bool,
}

impl Default for LearnOptions {
    /// A first-order chain with a light prior, trained as far as answers need it.
    fn default() -> Self {
        Self {
            structure: StructureOptions::default(),
            lbfgs: LbfgsOptions {
                prior: Prior { c1: 0.0, c2: 0.1 },
                delta: 1e-3,
                period: 5,
                ..LbfgsOptions::default()
            },
            single_precision: false,
            warm: true,
        }
    }
}

/// A model over the alphabets of its pool.
#[derive(Debug)]
pub struct Fitted {
    structure: Structure,
    weights: Vec<f64>,
    iterations: u64,
    loss: f64,
}

impl Fitted {
    /// Trains on what is known of a pool, on the threads of the current rayon pool. Starts from the weights of
    /// `last` if there is one and the options say so.
    ///
    /// Where nothing is known, all labellings are equally probable.
    ///
    /// # Errors
    /// When there are no labels at all, or options are out of their range.
    pub fn train(pool: &Pool, options: &LearnOptions, last: Option<&Fitted>) -> Result<Self, Error> {
        Self::train_on(pool.training_data()?, options, last.filter(|_| options.warm))
    }

    /// The same on some sequences only, those that are set aside included.
    pub fn train_part(
        pool: &Pool,
        options: &LearnOptions,
        last: Option<&Fitted>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Self, Error> {
        let data = pool.training_data_of(wanted)?;
        Self::train_on(data, options, last.filter(|_| options.warm))
    }

    /// Trains on data, whose alphabets are those of `last`.
    pub(crate) fn train_on(
        data: Dataset,
        options: &LearnOptions,
        last: Option<&Fitted>,
    ) -> Result<Self, Error> {
        let structure = Structure::build(&data, &options.structure)?;
        let start = match last {
            Some(last) => last.weights_for(&structure),
            None => vec![0.0; structure.weights()],
        };
        if data.is_empty() {
            return Ok(Self {
                structure,
                weights: start,
                iterations: 0,
                loss: 0.0,
            });
        }
        if options.single_precision {
            Self::optimise::<f32>(structure, data, start, options.lbfgs)
        } else {
            Self::optimise::<f64>(structure, data, start, options.lbfgs)
        }
    }

    fn optimise<T: TrainingReal>(
        structure: Structure,
        data: Dataset,
        start: Vec<f64>,
        options: LbfgsOptions,
    ) -> Result<Self, Error> {
        let mut objective = ChainObjective::<T>::new(&structure, data, Arithmetic::default());
        let mut optimizer = Lbfgs::new(objective.import(&start), options)?;
        while optimizer.step(&mut objective)?.is_some() {}
        let (iterations, loss) = (optimizer.last().iteration, optimizer.last().loss);
        let weights = objective.export(optimizer.weights());
        drop(objective);
        Ok(Self {
            structure,
            weights,
            iterations,
            loss,
        })
    }

    /// A model with weights from elsewhere, for the alphabets that the structure was built for.
    ///
    /// # Panics
    /// When there are not as many weights as the structure has features.
    pub fn from_parts(structure: Structure, weights: Vec<f64>) -> Self {
        assert_eq!(structure.weights(), weights.len());
        Self {
            structure,
            weights,
            iterations: 0,
            loss: f64::NAN,
        }
    }

    /// The features.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// Every weight, in the numbering of the structure.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Iterations of the optimiser that it took.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The loss, prior included; NaN if the model was not trained here.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// The model as it goes into a file. `pool` is the one that it was trained on.
    pub fn to_model(&self, pool: &Pool) -> ChainModel {
        let known = pool.labels().iter().take(self.structure.labels());
        ChainModel::new(
            known.collect(),
            &pool.data().observations,
            &self.structure,
            &self.weights,
        )
        .with_algorithm("lbfgs")
    }

    /// These weights for the features of another structure over the same alphabets; 0 for those that are new.
    fn weights_for(&self, other: &Structure) -> Vec<f64> {
        let own = &self.structure;
        let mut weights = vec![0.0; other.weights()];
        let unary = &mut weights[other.unary_weights()];
        carry(
            own.unary(),
            &self.weights[own.unary_weights()],
            other.unary(),
            unary,
            Some,
        );
        let own_pair = |pair: u32| {
            let labels = other.pairs()[pair as usize];
            let found = own.pairs().binary_search(&labels).ok();
            found.map(|pair| pair as u32)
        };
        let pair = &mut weights[other.pair_weights()];
        carry(
            own.pair(),
            &self.weights[own.pair_weights()],
            other.pair(),
            pair,
            own_pair,
        );
        let tuples = &self.weights[own.tuple_weights()];
        for (tuple, weight) in other.tuples().iter().zip(&mut weights[other.tuple_weights()]) {
            if let Some(found) = own.tuples().find(tuple) {
                *weight = tuples[found];
            }
        }
        let biases = &self.weights[own.bias_weights()];
        for (weight, &bias) in weights[other.bias_weights()].iter_mut().zip(biases) {
            *weight = bias;
        }
        weights
    }
}

/// Copies the weights of features that two tables share. `column` gives the column of the first table for one of
/// the second.
fn carry(
    from: &FeatureTable,
    weights: &[f64],
    to: &FeatureTable,
    out: &mut [f64],
    column: impl Fn(u32) -> Option<u32>,
) {
    for row in 0..from.rows().min(to.rows()) as u32 {
        if from.columns(row).is_empty() {
            continue;
        }
        for (feature, &wanted) in to.features(row).zip(to.columns(row)) {
            if let Some(found) = column(wanted).and_then(|column| from.find(row, column)) {
                out[feature] = weights[found];
            }
        }
    }
}

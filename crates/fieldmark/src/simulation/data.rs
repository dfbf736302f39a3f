//! Documents as data of an experiment.

use crate::config::{Config, TrainingConfig};
use crate::pipeline::labelled_data;
use crate::{Algorithm, Error};
use fieldmark_chain::StructureOptions;
use fieldmark_core::Dataset;
use fieldmark_learn::LearnOptions;
use fieldmark_text::document::Document;
use fieldmark_text::features::FeatureConfig;
use fieldmark_text::formats::Notices;
use std::path::Path;

/// Documents, described and labelled.
#[derive(Debug)]
pub struct SimulationData {
    /// To ask about.
    pub pool: Dataset,
    /// To score on, over the alphabets of the pool.
    pub test: Dataset,
    /// What of the annotations could not be used as it was.
    pub notices: Notices,
}

/// Describes documents as a config says. Files that it names are relative to `folder`.
///
/// # Errors
/// When a feature would tell labels that nobody has given yet: lists of names from the training data.
pub fn simulation_data(
    config: &Config,
    folder: &Path,
    pool: &[Document],
    test: &[Document],
) -> Result<SimulationData, Error> {
    if config.graph.is_some() {
        return Err(Error::Option(
            "strategies ask chains, and this config has a section graph".into(),
        ));
    }
    let from_training = config
        .features
        .iter()
        .any(|feature| matches!(feature, FeatureConfig::Dictionary(list) if list.training.is_some()));
    if from_training {
        return Err(Error::Option(
            "a feature is a list of names from the training data, whose labels are not known while they are still asked for; \
             leave it out"
                .into(),
        ));
    }
    let mut notices = Notices::new();
    let (pool, test) = labelled_data(config, folder, pool, test, &mut notices)?;
    Ok(SimulationData { pool, test, notices })
}

/// The options of learning for a model of this shape that is trained by L-BFGS with these options.
///
/// Where `training` says nothing about when to stop, training ends as early as answers allow.
pub fn learn_options(structure: StructureOptions, training: &TrainingConfig) -> Result<LearnOptions, Error> {
    let Algorithm::Lbfgs(mut lbfgs) = training.algorithm(&[])? else {
        return Err(Error::Option(format!(
            "--algorithm {} cannot learn from partial labels as they come in: use lbfgs",
            training.name()
        )));
    };
    let usual = LearnOptions::default();
    if training.delta.is_none() && training.period.is_none() {
        (lbfgs.delta, lbfgs.period) = (usual.lbfgs.delta, usual.lbfgs.period);
    }
    if training.c1.is_none() && training.c2.is_none() {
        lbfgs.prior = usual.lbfgs.prior;
    }
    Ok(LearnOptions {
        structure,
        lbfgs,
        ..usual
    })
}

//! [`ModelConfig`]: the shape of the model.

use crate::Error;
use fieldmark_chain::{Strategy, StructureOptions, UnseenTransitions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shape of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// Number of labels before a label that it depends on, 0 to 3.
    pub order: usize,
    /// Features of observation and label.
    pub states: StrategyName,
    /// Features of neighbouring labels.
    pub transitions: StrategyName,
    /// Whether each label has a bias weight.
    pub label_bias: bool,
    /// Whether the start and the end of a sequence have weights with the labels next to them.
    pub boundaries: bool,
    /// In a model of order 2 or 3: whether shorter runs of labels have weights, too.
    pub lower_orders: bool,
    /// Features whose values sum to less than this get no weight.
    pub min_freq: f64,
    /// Observations in fewer sequences than this get no weight.
    pub min_instances: usize,
    /// Whether labels may be neighbours that never are in the training data.
    pub unseen_transitions: UnseenName,
}

impl Default for ModelConfig {
    fn default() -> Self {
        let structure = StructureOptions::default();
        Self {
            order: structure.order,
            states: StrategyName::Supported,
            transitions: StrategyName::Supported,
            label_bias: structure.label_bias,
            boundaries: structure.boundaries,
            lower_orders: structure.lower_orders,
            min_freq: structure.min_freq,
            min_instances: structure.min_instances,
            unseen_transitions: UnseenName::Free,
        }
    }
}

/// Which features there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyName {
    /// Every combination: can speak against a label, too.
    All,
    /// The combinations in the training data.
    #[default]
    Supported,
    /// A bias for each label, or run of labels, and no observations.
    DefaultOnly,
}

/// What becomes of neighbours that were never seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnseenName {
    /// Possible, and unlikely only as far as weights say so.
    #[default]
    Free,
    /// Impossible.
    Forbid,
}

impl From<StrategyName> for Strategy {
    fn from(name: StrategyName) -> Self {
        match name {
            StrategyName::All => Strategy::All,
            StrategyName::Supported => Strategy::Supported,
            StrategyName::DefaultOnly => Strategy::DefaultOnly,
        }
    }
}

impl ModelConfig {
    /// As options of the engine.
    pub fn structure(&self) -> Result<StructureOptions, Error> {
        if self.order > 3 {
            let problem = format!("model.order is {}, expected 0 to 3", self.order);
            return Err(Error::Option(problem));
        }
        if !(self.min_freq.is_finite() && self.min_freq >= 0.0) {
            let problem = format!("model.min_freq is {}, expected a number from 0 up", self.min_freq);
            return Err(Error::Option(problem));
        }
        Ok(StructureOptions {
            order: self.order,
            states: self.states.into(),
            transitions: self.transitions.into(),
            label_bias: self.label_bias,
            boundaries: self.boundaries,
            lower_orders: self.lower_orders,
            min_freq: self.min_freq,
            min_instances: self.min_instances,
            unseen_transitions: match self.unseen_transitions {
                UnseenName::Free => UnseenTransitions::Free,
                UnseenName::Forbid => UnseenTransitions::Forbid,
            },
        })
    }
}

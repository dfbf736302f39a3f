//! The config of a task: one TOML file that says everything, from the data to the post-processing.
//!
//! ```
//! use fieldmark::config::Config;
//! let config = Config::parse("window = 1\n[[features]]\nkind = 'word'\n", &[])?;
//! assert_eq!(config.features.len(), 1);
//! let error = Config::parse("[[features]]\nkind = 'prefix'\nlengts = [3]\n", &[]).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "3:1: unknown key 'lengts' in features[0], did you mean 'lengths'?"
//! );
//! # Ok::<(), fieldmark::config::ConfigError>(())
//! ```

mod check;
mod graph;
mod inference;
mod model;
mod sections;
mod training;

pub use check::ConfigError;
pub use graph::{GraphConfig, InstanceName, KindName, LayerConfig, ObjectiveName, StartConfig};
pub use inference::parse_inference;
pub use model::{ModelConfig, StrategyName, UnseenName};
pub use sections::{DataConfig, LabelConfig, SchemeName, TextConfig};
pub use training::{AlgorithmName, TrainingConfig};

use fieldmark_text::features::FeatureConfig;
use fieldmark_text::identify::Identifier;
use fieldmark_text::postprocess::Postprocessor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that there is to say about a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "fieldmark config")]
pub struct Config {
    /// What the task is called.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What it is about, for whoever gets the model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Offset conjunction: every feature also looks at so many tokens to either side, unless it has `offsets`
    /// of its own.
    pub window: usize,
    /// The data.
    pub data: DataConfig,
    /// From text to tokens.
    pub text: TextConfig,
    /// From annotations to labels.
    pub labels: LabelConfig,
    /// What the model looks at.
    pub features: Vec<FeatureConfig>,
    /// The shape of the model.
    pub model: ModelConfig,
    /// Instead: a model that is more than one chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphConfig>,
    /// How it is trained.
    pub training: TrainingConfig,
    /// What happens to the annotations that the model finds.
    #[serde(skip_serializing_if = "is_empty")]
    pub postprocess: Postprocessor,
    /// How annotations get identifiers.
    #[serde(skip_serializing_if = "has_no_mapper")]
    pub identify: Identifier,
}

fn is_empty(postprocess: &Postprocessor) -> bool {
    postprocess.steps().is_empty()
}

fn has_no_mapper(identify: &Identifier) -> bool {
    identify.mappers().is_empty()
}

impl Config {
    /// Reads a config, then sets what the overrides say, each as `section.key=value`.
    pub fn parse(text: &str, overrides: &[String]) -> Result<Self, ConfigError> {
        check::parse(text, overrides)
    }

    /// The config as TOML.
    pub fn to_toml(&self) -> String {
        // Every type in it has a form in TOML.
        toml::to_string(self).unwrap_or_default()
    }

    /// A JSON schema of configs, for editors.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Config).to_value()
    }
}

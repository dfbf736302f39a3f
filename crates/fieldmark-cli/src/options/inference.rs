//! The engine of a graph.

use crate::failure::Failure;
use fieldmark::config::parse_inference;
use fieldmark::graph::EngineChoice;

/// Which engine answers.
#[derive(Debug, clap::Args)]
pub struct InferenceOptions {
    /// Engine of a graph, in the place of graph.inference in its config
    ///
    /// Its name, or a table as in the config: --inference loopy, --inference 'engine="gibbs", samples=500'.
    #[arg(long, value_name = "ENGINE")]
    inference: Option<String>,
}

impl InferenceOptions {
    /// The engine, if one was given.
    pub fn choice(&self) -> Result<Option<EngineChoice>, Failure> {
        let choice = self.inference.as_deref().map(parse_inference).transpose();
        choice.map_err(|error| Failure::user(format_args!("--inference: {error}")))
    }

    /// Whether an engine was given.
    pub fn is_given(&self) -> bool {
        self.inference.is_some()
    }

    /// A chain has one way to its answers.
    pub fn refuse_for_chains(&self) -> Result<(), Failure> {
        match self.inference {
            Some(_) => Err(Failure::user(
                "--inference is for graphs, which have a section `graph` in their config; this model is a chain, and chains \
                 always compute exactly",
            )),
            None => Ok(()),
        }
    }
}

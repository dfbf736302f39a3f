//! Options for the shape of the model: order, features, pruning.

use crate::console::Console;
use crate::failure::Failure;
use crate::options::input::StepEndName;
use clap::ValueEnum;
use fieldmark::chain::{Strategy, StructureOptions};
use fieldmark::core::StepEnd;
use fieldmark::text::Template;

/// The shape of the model.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Model options")]
pub struct ShapeOptions {
    /// Number of labels before a label that it depends on, 0 to 3 [default: 1]
    ///
    /// Order 0 is maximum entropy. A template without a `B` line makes it the default, as in CRF++.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=3))]
    order: Option<u8>,

    /// Features of observation and label
    #[arg(long, value_enum, default_value_t, value_name = "STRATEGY")]
    states: StrategyName,

    /// Features of neighbouring labels, and of observations with them
    #[arg(long, value_enum, default_value_t, value_name = "STRATEGY")]
    transitions: StrategyName,

    /// The same as --states all (CRFsuite's feature.possible_states)
    #[arg(long, conflicts_with = "states")]
    all_possible_states: bool,

    /// The same as --transitions all (CRFsuite's feature.possible_transitions)
    #[arg(long, conflicts_with = "transitions")]
    all_possible_transitions: bool,

    /// Describe every step between labels by all observations of one of its ends
    ///
    /// Each pair of labels gets a weight with every observation. Powerful, and costly.
    #[arg(long, value_enum, value_name = "END")]
    step_observations: Option<StepEndName>,

    /// Give each label a bias weight
    #[arg(long)]
    label_bias: bool,

    /// Give the start and the end of a sequence weights with the labels next to them
    #[arg(long)]
    boundaries: bool,

    /// In a model of order 2 or 3: no weights for shorter runs of labels
    #[arg(long)]
    no_lower_orders: bool,

    /// Drop features whose values sum to less than this
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    min_freq: f64,

    /// Drop observations that occur in fewer sequences than this
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_instances: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum StrategyName {
    /// A weight for every combination: can speak against a label, too
    All,
    /// Weights for the combinations in the training data
    #[default]
    Supported,
    /// A bias for each label, or run of labels, and no observations
    DefaultOnly,
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

impl ShapeOptions {
    pub fn step_observations(&self) -> Option<StepEnd> {
        self.step_observations.map(StepEnd::from)
    }

    /// The options of the model, for data that are read with this template.
    pub fn structure(
        &self,
        template: Option<&Template>,
        console: &Console,
    ) -> Result<StructureOptions, Failure> {
        if !self.min_freq.is_finite() || self.min_freq < 0.0 {
            let found = self.min_freq;
            return Err(Failure::user(format_args!(
                "--min-freq is {found}, expected a number from 0 up"
            )));
        }
        let steps = |template: &Template| template.label_bigram() || template.has_step_observations();
        let order = match self.order {
            Some(order) => usize::from(order),
            None if self.step_observations.is_none() && template.is_some_and(|template| !steps(template)) => {
                console.note("the template has no B line, so labels are independent (order 0)");
                0
            }
            None => 1,
        };
        if order == 0 && self.step_observations.is_some() {
            return Err(Failure::user(
                "--step-observations needs neighbouring labels, but --order is 0",
            ));
        }
        Ok(StructureOptions {
            order,
            states: if self.all_possible_states {
                Strategy::All
            } else {
                self.states.into()
            },
            transitions: if self.all_possible_transitions {
                Strategy::All
            } else {
                self.transitions.into()
            },
            label_bias: self.label_bias,
            boundaries: self.boundaries,
            lower_orders: !self.no_lower_orders,
            min_freq: self.min_freq,
            min_instances: self.min_instances,
        })
    }
}

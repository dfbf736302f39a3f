//! Options for the shape of the model: order, features, pruning.

use crate::console::Console;
use crate::failure::Failure;
use crate::options::input::StepEndName;
use clap::ValueEnum;
use fieldmark::chain::{Strategy, StructureOptions, UnseenTransitions};
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

    /// Features of observation and label [default: supported]
    #[arg(long, value_enum, value_name = "STRATEGY")]
    states: Option<StrategyName>,

    /// Features of neighbouring labels, and of observations with them [default: supported]
    #[arg(long, value_enum, value_name = "STRATEGY")]
    transitions: Option<StrategyName>,

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

    /// Whether labels may be neighbours that never are in the training data
    ///
    /// `forbid` makes all other steps impossible, in training and in use, and labels that never begin a sequence
    /// cannot begin one. A step is seen between two positions whose labels are known or ambiguous; with unknown
    /// labels it is not. Every label may still end a sequence. Training takes longer.
    #[arg(long, value_enum, default_value_t, value_name = "CHOICE")]
    unseen_transitions: UnseenName,

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum UnseenName {
    /// Possible, and unlikely only as far as weights say so, as in CRFsuite
    #[default]
    Free,
    /// Impossible
    Forbid,
}

impl From<UnseenName> for UnseenTransitions {
    fn from(name: UnseenName) -> Self {
        match name {
            UnseenName::Free => UnseenTransitions::Free,
            UnseenName::Forbid => UnseenTransitions::Forbid,
        }
    }
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

    /// The options that were given and change something, by name; `order` is what the algorithm has anyway.
    pub fn given(&self, order: Option<u8>) -> Vec<(&'static str, bool)> {
        vec![
            ("order", self.order.is_some() && self.order != order),
            ("states", self.states.is_some()),
            ("transitions", self.transitions.is_some()),
            ("all-possible-states", self.all_possible_states),
            ("all-possible-transitions", self.all_possible_transitions),
            ("step-observations", self.step_observations.is_some()),
            ("label-bias", self.label_bias),
            ("boundaries", self.boundaries),
            ("no-lower-orders", self.no_lower_orders),
            ("unseen-transitions", self.unseen_transitions != UnseenName::Free),
            ("min-freq", self.min_freq != 0.0),
            ("min-instances", self.min_instances != 0),
        ]
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
        let order = self.resolve_order(template, console)?;
        if self.no_lower_orders && order < 2 {
            return Err(Failure::user(format_args!(
                "--no-lower-orders leaves out runs of labels that only models of order 2 and 3 have, but the order \
                 is {order}"
            )));
        }
        if self.step_observations.is_some() && self.transitions() == StrategyName::DefaultOnly {
            return Err(Failure::user(
                "--step-observations gives steps between labels weights with observations, but --transitions \
                 default-only gives them none",
            ));
        }
        Ok(StructureOptions {
            order,
            states: if self.all_possible_states {
                Strategy::All
            } else {
                self.states.unwrap_or_default().into()
            },
            transitions: self.transitions().into(),
            label_bias: self.label_bias,
            boundaries: self.boundaries,
            lower_orders: !self.no_lower_orders,
            min_freq: self.min_freq,
            min_instances: self.min_instances,
            unseen_transitions: self.unseen_transitions.into(),
        })
    }

    fn transitions(&self) -> StrategyName {
        if self.all_possible_transitions {
            StrategyName::All
        } else {
            self.transitions.unwrap_or_default()
        }
    }

    /// The order, and whether the other options and the template make sense with it.
    fn resolve_order(&self, template: Option<&Template>, console: &Console) -> Result<usize, Failure> {
        let has_steps = template.is_some_and(has_steps);
        let order = match self.order {
            Some(order) => usize::from(order),
            None if self.step_observations.is_none() && template.is_some() && !has_steps => {
                console.note("the template has no B line, so labels are independent (order 0)");
                0
            }
            None => 1,
        };
        if order > 0 {
            return Ok(order);
        }
        let given = [
            ("step-observations", self.step_observations.is_some()),
            ("transitions", self.transitions() != StrategyName::default()),
            ("boundaries", self.boundaries),
            ("unseen-transitions", self.unseen_transitions != UnseenName::Free),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            let why = match self.order {
                Some(_) => "--order is 0",
                None => "the template has no B line, which makes the order 0; give --order 1",
            };
            return Err(Failure::user(format_args!(
                "--{name} needs neighbouring labels, but {why}"
            )));
        }
        if has_steps {
            console.warn("--order 0 makes labels independent, so the B lines of the template are ignored");
        }
        Ok(0)
    }
}

/// Whether a template describes steps between labels.
pub fn has_steps(template: &Template) -> bool {
    template.label_bigram() || template.has_step_observations()
}

//! Options of loopy belief propagation.

use crate::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order messages are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// All messages at once, from those of the round before.
    Flooding,
    /// One message after the other, in a new random order each round.
    Random,
    /// Always the message that would change most (Elidan, McGraw & Koller 2006).
    Residual,
    /// Both sweeps over a random spanning tree each round (Wainwright, Jaakkola & Willsky 2001). Factors that were
    /// in fewest trees come first, so that each is in one again and again.
    #[default]
    Trp,
}

/// How sums of products are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    /// Scaled to a largest entry of 1, and in log space for graphs for which the range does not suffice.
    #[default]
    Linear,
    /// Always as logarithms, which is slower.
    Log,
}

/// Options of loopy belief propagation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LoopyOptions {
    /// In which order messages are sent.
    pub schedule: Schedule,
    /// Weight of the old message in the new one, from 0 to below 1.
    pub damping: f64,
    /// Messages are settled when no entry would change by more than this, the largest entry of a message being 1;
    /// relative to the entry where tables forbid combinations. In log space it is the change of the logarithms,
    /// and the tolerance is multiplied by the spread of the scores where that is above 1.
    pub tolerance: f64,
    /// Most rounds; for the residual schedule as many messages as a round has.
    pub iterations: usize,
    /// How sums are computed.
    pub space: Space,
    /// Start of the random numbers.
    pub seed: u64,
}

impl Default for LoopyOptions {
    fn default() -> Self {
        Self {
            schedule: Schedule::default(),
            damping: 0.0,
            tolerance: 1e-6,
            iterations: 1000,
            space: Space::default(),
            seed: 0,
        }
    }
}

impl LoopyOptions {
    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |option, found, expected| {
            Err(Error::Option {
                option,
                found,
                expected,
            })
        };
        if !(0.0..1.0).contains(&self.damping) {
            return wrong("damping", self.damping, "a number from 0 to below 1");
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return wrong("tolerance", self.tolerance, "a number above 0");
        }
        if self.iterations == 0 {
            return wrong("iterations", 0.0, "at least 1");
        }
        Ok(())
    }
}

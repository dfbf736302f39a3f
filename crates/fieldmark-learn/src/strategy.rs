//! [`Strategy`]: which token to ask about next.
//!
//! The token strategies are those of Marcheggiani & Artières (2014) for chains with partial labels, the
//! whole-sequence ones those of Culotta & McCallum (2005) and Kim et al. (2006). All are *minimised*. With
//! p_t(j) = p(y_t = j | x, L), **y*** the best sequence, **y***_{t=j} the best one with label j at t, and
//! everything under what is known already (L):
//!
//! | | minimises |
//! |---|---|
//! | MTP | max_j p_t(j) |
//! | MTE | Σ_j p_t(j) ln p_t(j) |
//! | MTM | max_j p_t(j) − the second largest |
//! | MVP | p_t(y*_t) |
//! | MVPE | Σ_j p(**y***_{t=j}) ln p(**y***_{t=j}) |
//! | MVM | p(**y***) − p(the best sequence with another label at t) |
//! | ME | Σ_j p_t(j) p(**y***_{t=j}) |
//! | MED | ME − p(**y***) |
//! | RAND | a random number |
//! | LC | p(**y***) |
//! | NSE | Σ_k q_k ln q_k over the N best sequences, q_k their probabilities divided by their sum |
//!
//! Probabilities of whole sequences of a few hundred tokens are too small for a float, and the order of tokens
//! would be lost with them. So tokens are compared by a *key* that rises with the value: the value itself
//! where it is a number of ordinary size, its logarithm where it is made of probabilities of sequences.
//! [`Strategy::value`] leads back.

use crate::Estimate;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How tokens or sequences are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Strategy {
    /// Minimum token probability.
    #[serde(rename = "MTP")]
    TokenProbability,
    /// Maximum token entropy.
    #[serde(rename = "MTE")]
    TokenEntropy,
    /// Minimum token margin.
    #[serde(rename = "MTM")]
    TokenMargin,
    /// Minimum Viterbi probability.
    #[serde(rename = "MVP")]
    ViterbiProbability,
    /// Maximum Viterbi pseudo-entropy.
    #[serde(rename = "MVPE")]
    ViterbiPseudoEntropy,
    /// Minimum Viterbi margin.
    #[serde(rename = "MVM")]
    ViterbiMargin,
    /// Minimum expectation.
    #[serde(rename = "ME")]
    Expectation,
    /// Minimum expectation difference.
    #[serde(rename = "MED")]
    ExpectationDifference,
    /// Any token, with equal probability.
    #[serde(rename = "RAND")]
    Random,
    /// Whole sequences, the least probable labelling first.
    #[serde(rename = "LC")]
    LeastConfidence,
    /// Whole sequences, the highest entropy of the best labellings first.
    #[serde(rename = "NSE")]
    NBestEntropy,
}

/// What of a model's answers a strategy looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Marginal probabilities of labels.
    pub marginals: bool,
    /// The best sequences through each label.
    pub max_marginals: bool,
    /// The best sequence.
    pub path: bool,
    /// The probability of the best sequence.
    pub confidence: bool,
    /// Number of best sequences with their probabilities.
    pub best: usize,
}

/// A name that no strategy has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no strategy {found:?}; choose from {}", Strategy::names())]
pub struct UnknownStrategy {
    found: String,
}

impl Strategy {
    /// The eight of the paper, and chance.
    pub const TOKENS: [Strategy; 9] = [
        Strategy::TokenProbability,
        Strategy::TokenEntropy,
        Strategy::TokenMargin,
        Strategy::ViterbiProbability,
        Strategy::ViterbiPseudoEntropy,
        Strategy::ViterbiMargin,
        Strategy::Expectation,
        Strategy::ExpectationDifference,
        Strategy::Random,
    ];

    /// Those that ask for whole sequences.
    pub const SEQUENCES: [Strategy; 2] = [Strategy::LeastConfidence, Strategy::NBestEntropy];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Strategy> {
        Self::TOKENS.into_iter().chain(Self::SEQUENCES)
    }

    fn names() -> String {
        let names: Vec<&str> = Self::all().map(Self::name).collect();
        names.join(", ")
    }

    /// The name that papers use.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::TokenProbability => "MTP",
            Strategy::TokenEntropy => "MTE",
            Strategy::TokenMargin => "MTM",
            Strategy::ViterbiProbability => "MVP",
            Strategy::ViterbiPseudoEntropy => "MVPE",
            Strategy::ViterbiMargin => "MVM",
            Strategy::Expectation => "ME",
            Strategy::ExpectationDifference => "MED",
            Strategy::Random => "RAND",
            Strategy::LeastConfidence => "LC",
            Strategy::NBestEntropy => "NSE",
        }
    }

    /// The name in words.
    pub fn title(self) -> &'static str {
        match self {
            Strategy::TokenProbability => "minimum token probability",
            Strategy::TokenEntropy => "maximum token entropy",
            Strategy::TokenMargin => "minimum token margin",
            Strategy::ViterbiProbability => "minimum Viterbi probability",
            Strategy::ViterbiPseudoEntropy => "maximum Viterbi pseudo-entropy",
            Strategy::ViterbiMargin => "minimum Viterbi margin",
            Strategy::Expectation => "minimum expectation",
            Strategy::ExpectationDifference => "minimum expectation difference",
            Strategy::Random => "random tokens",
            Strategy::LeastConfidence => "least confidence in the sequence",
            Strategy::NBestEntropy => "entropy of the best sequences",
        }
    }

    /// Whether it asks for whole sequences instead of tokens.
    pub fn asks_sequences(self) -> bool {
        Self::SEQUENCES.contains(&self)
    }

    /// What it looks at; `best` is the N of the N best sequences.
    pub fn needs(self, best: usize) -> Needs {
        let none = Needs::default();
        match self {
            Strategy::TokenProbability | Strategy::TokenEntropy | Strategy::TokenMargin => Needs {
                marginals: true,
                ..none
            },
            Strategy::ViterbiProbability => Needs {
                marginals: true,
                path: true,
                ..none
            },
            Strategy::ViterbiPseudoEntropy | Strategy::ViterbiMargin => Needs {
                max_marginals: true,
                ..none
            },
            Strategy::Expectation | Strategy::ExpectationDifference => Needs {
                marginals: true,
                max_marginals: true,
                ..none
            },
            Strategy::Random => none,
            Strategy::LeastConfidence => Needs {
                confidence: true,
                ..none
            },
            Strategy::NBestEntropy => Needs { best, ..none },
        }
    }

    /// The key of a position for a strategy that asks for tokens: the smallest is asked first.
    ///
    /// The estimate must have what the strategy [needs](Strategy::needs).
    ///
    /// # Panics
    /// For [`Strategy::Random`], whose key is [`random_key`], and for strategies that ask for sequences.
    pub fn token_key(self, estimate: &Estimate, position: usize) -> f64 {
        let p = || estimate.marginals(position);
        let best = || estimate.max_marginals(position);
        match self {
            Strategy::TokenProbability => two_largest(p()).0,
            Strategy::TokenEntropy => p().iter().map(|&p| if p > 0.0 { p * p.ln() } else { 0.0 }).sum(),
            Strategy::TokenMargin => {
                let (first, second) = two_largest(p());
                first - second.max(0.0)
            }
            Strategy::ViterbiProbability => p()[estimate.path()[position] as usize],
            Strategy::ViterbiPseudoEntropy => pseudo_entropy_key(best()),
            Strategy::ViterbiMargin => margin_key(best()),
            Strategy::Expectation => expectation_key(p(), best()),
            Strategy::ExpectationDifference => difference_key(p(), best()),
            Strategy::Random | Strategy::LeastConfidence | Strategy::NBestEntropy => {
                unreachable!("{} has no key of a token", self.name())
            }
        }
    }

    /// The key of a sequence for a strategy that asks for sequences: the smallest is asked first.
    ///
    /// # Panics
    /// For strategies that ask for tokens.
    pub fn sequence_key(self, estimate: &Estimate) -> f64 {
        match self {
            Strategy::LeastConfidence => estimate.confidence(),
            Strategy::NBestEntropy => negative_entropy(estimate.best()),
            _ => unreachable!("{} has no key of a sequence", self.name()),
        }
    }

    /// The value of the strategy's formula that a key stands for.
    pub fn value(self, key: f64) -> f64 {
        match self {
            Strategy::ViterbiMargin | Strategy::Expectation | Strategy::LeastConfidence => key.exp(),
            Strategy::ViterbiPseudoEntropy | Strategy::ExpectationDifference => -(-key).exp(),
            _ => key,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    /// The name in capital or small letters.
    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        let found = Self::all().find(|strategy| strategy.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownStrategy {
            found: name.to_owned(),
        })
    }
}

/// The key of a position for [`Strategy::Random`]: the same for the same seed, whatever happened before.
pub fn random_key(seed: u64, position: usize) -> f64 {
    let mut random = fieldmark_core::random::SplitMix64(seed);
    // The first number scatters seeds that are neighbours.
    let start = random.bits();
    fieldmark_core::random::SplitMix64(start ^ (position as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93)).unit()
}

/// The largest and the second largest number; −∞ for what there is not.
fn two_largest(numbers: &[f64]) -> (f64, f64) {
    let none = f64::NEG_INFINITY;
    numbers.iter().fold((none, none), |(first, second), &number| {
        if number > first {
            (number, first)
        } else {
            (first, second.max(number))
        }
    })
}

/// ln (e^a − e^b) of the two largest.
fn margin_key(best: &[f64]) -> f64 {
    let (first, second) = two_largest(best);
    first + (-(second - first).exp_m1()).ln()
}

/// −ln of the pseudo-entropy −Σ e^b b.
fn pseudo_entropy_key(best: &[f64]) -> f64 {
    let (first, _) = two_largest(best);
    let terms = best.iter().filter(|&&b| b > f64::NEG_INFINITY);
    let sum: f64 = terms.map(|&b| (b - first).exp() * -b).sum();
    -(first + sum.ln())
}

/// ln Σ p e^b.
fn expectation_key(p: &[f64], best: &[f64]) -> f64 {
    let (first, _) = two_largest(best);
    let sum: f64 = p.iter().zip(best).map(|(&p, &b)| p * (b - first).exp()).sum();
    first + sum.ln()
}

/// −ln (e^{b*} − Σ p e^b), where Σ p = 1 keeps small differences: e^{b*} Σ p (1 − e^{b − b*}).
fn difference_key(p: &[f64], best: &[f64]) -> f64 {
    let (first, _) = two_largest(best);
    let sum: f64 = p.iter().zip(best).map(|(&p, &b)| p * -(b - first).exp_m1()).sum();
    -(first + sum.ln())
}

/// Σ q ln q of probabilities given as logarithms, divided by their sum.
fn negative_entropy(log_probabilities: &[f64]) -> f64 {
    let (first, _) = two_largest(log_probabilities);
    let sum: f64 = log_probabilities.iter().map(|&l| (l - first).exp()).sum();
    let log_q = log_probabilities.iter().map(|&l| l - first - sum.ln());
    log_q.map(|log_q| log_q.exp() * log_q).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for strategy in Strategy::all() {
            assert_eq!(strategy.name().to_lowercase().parse(), Ok(strategy));
            let json = serde_json::to_string(&strategy).unwrap();
            assert_eq!(json, format!("{:?}", strategy.name()));
            assert_eq!(serde_json::from_str::<Strategy>(&json).unwrap(), strategy);
        }
        let error = "best".parse::<Strategy>().unwrap_err().to_string();
        assert!(
            error.contains("\"best\"") && error.contains("MTP, MTE"),
            "{error}"
        );
    }

    /// Sequence probabilities that no float can hold keep their order.
    #[test]
    fn keys_order_what_underflows() {
        let far = -5000.0;
        let close = [far, far - 0.1, f64::NEG_INFINITY];
        let apart = [far, far - 3.0, far - 4.0];
        assert_eq!(Strategy::ViterbiMargin.value(margin_key(&close)), 0.0);
        assert!(margin_key(&close) < margin_key(&apart));
        // The mass on the best label makes the expectation large and the difference small.
        let (sure, unsure) = ([0.9, 0.05, 0.05], [0.4, 0.3, 0.3]);
        assert!(expectation_key(&unsure, &apart) < expectation_key(&sure, &apart));
        assert!(difference_key(&unsure, &apart) < difference_key(&sure, &apart));
        assert!(pseudo_entropy_key(&close) < pseudo_entropy_key(&apart));
    }

    #[test]
    fn what_is_certain_comes_last() {
        let certain = [0.0, f64::NEG_INFINITY];
        let p = [1.0, 0.0];
        assert_eq!(margin_key(&certain), 0.0);
        assert_eq!(pseudo_entropy_key(&certain), f64::INFINITY);
        assert_eq!(difference_key(&p, &certain), f64::INFINITY);
        assert_eq!(Strategy::ExpectationDifference.value(f64::INFINITY), 0.0);
        assert_eq!(expectation_key(&p, &certain), 0.0);
        assert_eq!(margin_key(&[-1.0, -1.0]), f64::NEG_INFINITY, "a tie comes first");
    }

    #[test]
    fn random_keys_depend_on_seed_and_position() {
        let keys = |seed| (0..1000).map(|t| random_key(seed, t)).collect::<Vec<_>>();
        assert_eq!(keys(1), keys(1));
        assert_ne!(keys(1), keys(2));
        let mean = keys(3).iter().sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.03, "{mean}");
    }
}

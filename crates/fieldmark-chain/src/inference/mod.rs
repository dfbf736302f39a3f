//! All exact inference on one sequence, over any [`Automaton`](crate::Automaton).
//!
//! A [`Lattice`] holds the log-potentials of one sequence, [`Constraints`] what is known about its labels.
//! A [`Worker`] is memory that is used again for every sequence: [`Worker::load`] checks a lattice and gives
//! an [`Inference`], which answers questions about it. The tables that several answers share (forward,
//! backward) are computed when the first of them is asked for.
//!
//! ```
//! use fieldmark_chain::Automaton;
//! use fieldmark_chain::inference::{ArcScores, Constraints, Lattice, Space, Worker};
//!
//! let automaton = Automaton::complete(2);
//! let lattice = Lattice {
//!     automaton: &automaton,
//!     length: 3,
//!     nodes: &[0.5, 0.0, 0.0, 0.2, 0.0, 0.3],
//!     arcs: ArcScores::Static(&[1.0, 0.0, 0.0, 1.0]),
//!     start: &[0.0, 0.0],
//!     end: &[0.0, 0.0],
//! };
//! let mut worker: Worker<f64> = Worker::new(Space::Linear);
//! let mut inference = worker.load(&lattice, &Constraints::none())?;
//! let best = inference.viterbi()?;
//! assert_eq!(best.labels, [0, 0, 0]);
//! assert!((best.score - 2.5).abs() < 1e-12);
//!
//! let mut known = Constraints::none();
//! known.fix(1, 1);
//! assert_eq!(worker.load(&lattice, &known)?.viterbi()?.labels, [1, 1, 1]);
//! # Ok::<(), fieldmark_chain::inference::Error>(())
//! ```
//!
//! # Numbers
//! Scores are log-potentials; −∞ is what is not allowed; NaN and +∞ are refused. Log-scores and
//! log-probabilities of whole sequences are `f64` whatever the type of the lattice. What cannot happen has
//! probability 0, and `None` where a log-probability is asked for: neither NaN nor an infinity is returned.
//!
//! In [`Space::Linear`] every row is divided by its sum (Rabiner 1989). That is accurate as long as no
//! state that can be reached underflows; it is noticed when one does, and that sequence alone is computed
//! in log space.

mod boolean;
mod constraints;
mod error;
mod ilp;
mod kbest;
mod lattice;
mod max;
#[cfg(test)]
mod oracle;
mod prepare;
mod rules;
#[cfg(test)]
mod span_tests;
mod spans;
mod sum;
#[cfg(test)]
mod tests;
mod trellis;
mod worker;

pub use constraints::{Constraints, LabelSet};
pub use error::Error;
pub use kbest::KBest;
pub use lattice::{ArcScores, Lattice};
pub use max::MaxMarginals;
pub use rules::{Rule, RuleError};
pub use spans::SpanReader;
pub use worker::{Inference, Path, Space, Worker};

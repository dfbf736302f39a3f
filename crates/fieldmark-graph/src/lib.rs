//! Conditional random fields of any structure.
//!
//! A [`FactorGraph`] is the unrolled model of one instance: variables with label sets, and factors with tables of
//! log-scores. An [`Engine`] answers questions about it: log Z, marginals, the best labelling.

mod bp;
mod conditional;
mod dual;
mod engine;
mod error;
pub mod exact;
mod factor_graph;
mod gibbs;
mod label_sets;
pub mod loopy;

pub use bp::kernels::Scalar;
pub use conditional::Conditional;
pub use dual::{DualDecoder, DualOptions};
pub use engine::{Beliefs, Decoding, Engine, LogZ, MaxMarginals, Report};
pub use error::Error;
pub use factor_graph::{FactorGraph, FactorGraphBuilder};
pub use gibbs::{Annealing, Gibbs, GibbsOptions, GibbsState};
pub use label_sets::LabelSets;

//! Training of chain models.

mod block;
mod dense;
mod general;
pub mod generative;
mod objective;
pub mod online;
mod pass;
mod real;
mod sequence;
mod sums;

pub use objective::{Arithmetic, ChainObjective};
pub use real::TrainingReal;

//! Training of chain models.

mod block;
mod dense;
mod general;
pub mod generative;
mod objective;
mod real;

pub use objective::{Arithmetic, ChainObjective};
pub use real::TrainingReal;

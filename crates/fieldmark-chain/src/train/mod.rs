//! Training of chain models.

mod block;
mod dense;
mod general;
pub mod generative;
mod objective;

pub use objective::{Arithmetic, ChainObjective, TrainingReal};

//! Training of chain models.

mod block;
mod dense;
mod general;
mod objective;

pub use objective::{Arithmetic, ChainObjective, TrainingReal};

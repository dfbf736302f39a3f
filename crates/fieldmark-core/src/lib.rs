//! Numbers and data under fieldmark.
//!
//! This crate knows nothing of text, tokens or files of a particular format. It holds what every model
//! needs: [`Alphabet`] (strings to dense ids), [`Dataset`] (observations and gold labels in a few flat
//! arrays), label [`scheme`]s, [`optimize`]rs over an objective, the SIMD [`kernels`] and the model
//! [`container`] file.

pub mod alphabet;
pub mod container;
pub mod dataset;
pub mod dump;
pub mod feature_table;
pub mod kernels;
pub mod large;
pub mod name_hash;
pub mod names;
pub mod optimize;
pub mod random;
pub mod scheme;

pub use alphabet::Alphabet;
pub use dataset::{Dataset, DatasetBuilder, Gold, Instance, Observations, Observed, StepEnd};
pub use names::Names;
pub use scheme::Scheme;

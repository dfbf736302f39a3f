//! Exact inference.

mod clique_tables;
mod elimination;
mod enumeration;
mod junction;
mod k_best;
mod tree;

pub use enumeration::Enumeration;
pub use junction::{Cost, JunctionTree};
pub use k_best::k_best;
pub use tree::Tree;

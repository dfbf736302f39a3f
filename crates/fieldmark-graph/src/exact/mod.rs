//! Exact inference.

mod clique_tables;
mod elimination;
mod enumeration;
mod junction;
mod k_best;
mod product_chain;
mod tree;

pub use enumeration::Enumeration;
pub use junction::{Cost, JunctionTree};
pub use k_best::k_best;
pub use product_chain::ProductChain;
pub use tree::Tree;

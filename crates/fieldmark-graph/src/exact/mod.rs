//! Exact inference.

mod enumeration;
mod tree;

pub use enumeration::Enumeration;
pub use tree::Tree;

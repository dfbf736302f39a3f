//! Exact conditional random fields on sequences.

pub mod automaton;
pub mod features;
pub mod inference;
pub mod structure;
pub mod train;
pub mod tuples;

pub use automaton::{Arc, Automaton};
pub use structure::{Strategy, Structure, StructureError, StructureOptions};

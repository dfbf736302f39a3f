//! Exact conditional random fields on sequences.

pub mod automaton;

pub use automaton::{Arc, Automaton};

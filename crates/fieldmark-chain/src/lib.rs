//! Exact conditional random fields on sequences.

pub mod automaton;
pub mod features;
pub mod inference;
mod model;
pub mod structure;
pub mod train;
mod transitions;
pub mod tuples;
mod viterbi;
mod warm_start;

pub use automaton::{Arc, Automaton};
pub use model::{ChainModel, DumpError, Tagger, explain, inspect};
pub use structure::{Strategy, Structure, StructureError, StructureOptions, UnseenTransitions};
pub use transitions::{ForbiddenError, Transitions};
pub use warm_start::WarmStart;

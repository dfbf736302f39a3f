//! What the targets share.

pub mod documents;
pub mod graph_sample;
pub mod sample;
pub mod seal;

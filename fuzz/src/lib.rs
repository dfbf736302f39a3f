//! What the targets share.

pub mod documents;
pub mod sample;
pub mod seal;

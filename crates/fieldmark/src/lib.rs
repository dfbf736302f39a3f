//! Conditional random fields that mark text.

pub mod sample;

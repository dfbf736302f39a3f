//! Options that several commands share.

pub mod inference;
pub mod input;
pub mod machine;
pub mod significance;

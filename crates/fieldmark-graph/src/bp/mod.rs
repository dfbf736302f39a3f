//! Message passing: what trees, loopy graphs and dual decomposition have in common.

pub(crate) mod algebra;
pub(crate) mod beliefs;
pub(crate) mod decode;
pub(crate) mod forest;
pub(crate) mod kernels;
pub(crate) mod messages;
pub(crate) mod potentials;

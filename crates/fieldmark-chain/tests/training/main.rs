//! Training, against plain implementations of the definitions that enumerate all label sequences.

mod cases;
mod forbidden;
mod objective;
mod online;
mod reference;

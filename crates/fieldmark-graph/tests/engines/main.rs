//! One table of random small models, run through every engine.

mod exact;
mod models;

//! One table of random small models, run through every engine.

mod approximate;
mod exact;
mod extremes;
mod models;

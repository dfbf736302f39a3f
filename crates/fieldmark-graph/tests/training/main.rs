//! Objectives, algorithms and model files on small random models of every kind.

mod chain;
mod extremes;
mod likelihood;
mod local;
mod model;
mod models;
mod sample_rank;
mod threads;
mod trainer;

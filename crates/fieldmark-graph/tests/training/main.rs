//! Objectives, algorithms and model files on small random models of every kind.

mod chain;
mod extremes;
mod likelihood;
mod local;
mod models;
mod threads;

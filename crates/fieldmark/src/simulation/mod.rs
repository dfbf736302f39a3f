//! Simulated active learning ([`fieldmark_learn::simulate`]) from documents to a page.
//!
//! [`simulation_data`] describes the tokens of documents as a config says, for an experiment;
//! [`sections`] lays its results out for a page, and [`table`] for a terminal.

mod data;
mod page;
mod text;

pub use data::{SimulationData, learn_options, simulation_data};
pub use page::sections;
pub use text::table;

//! Active learning with the annotator played from gold labels, to see which strategy needs the fewest labels.
//!
//! An [`Experiment`] runs every strategy several times: label random sequences until there are enough tokens, then
//! again and again train, ask a batch of questions and score on a test set (Marcheggiani & Artières 2014,
//! algorithm 1). What comes out are [`Results`]: learning curves, to be compared with a model that knows all labels.
//!
//! Runs with the same number begin with the same sequences whatever the strategy. Results do not depend on the
//! number of threads, nor on interruptions: curves that are complete are kept in a file.

mod curve;
mod jobs;
mod options;
mod results;
mod state;

pub use curve::{Curve, Point};
pub use jobs::{Event, Experiment, Observer};
pub use options::SimulationOptions;
pub use results::{MeanPoint, Needed, Results, Settings, StrategySummary};

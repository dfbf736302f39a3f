//! Conditional random fields that mark text.
//!
//! This is the façade: a [`Model`] is what training gives and a file holds; [`train`] makes one from data,
//! [`Model::for_each_block`] tags whole inputs. What lies below is in the crates that are re-exported here
//! under short names: [`text`] (readers, templates, renderings), [`chain`] (models on sequences), [`graph`] (models of
//! any structure), [`eval`] (measures), [`learn`] (active learning) and [`core`] (data, optimisers, the model container).
//!
//! ```
//! use fieldmark::text::{Source, read_training};
//! use fieldmark::{InputFormat, Model, TrainOptions, train};
//!
//! let text = "B-PER\tw=Ada\tcap\nO\tw=wrote\n\nO\tw=we\nO\tw=met\nB-PER\tw=Grace\tcap\n";
//! let input = InputFormat::attributes();
//! let data = read_training(&Source::text("sample", text), &input.format()?)?;
//! let trained = train(data, None, None, &TrainOptions::default(), &mut ())?;
//! let model = Model { chain: trained.model, input };
//!
//! let mut tagged = Vec::new();
//! model.for_each_block::<f64, _>(
//!     &Source::text("new", "?\tw=Lin\tcap\n?\tw=wrote\n"),
//!     Default::default(),
//!     |tagger, part| {
//!         let labels = tagger.tag(part.data.instance(0))?;
//!         Ok(labels.iter().map(|&label| model.chain.labels().name(label)).collect::<Vec<_>>())
//!     },
//!     |labels| Ok(tagged.extend(labels)),
//! )?;
//! assert_eq!(tagged, ["B-PER", "O"]);
//! # Ok::<(), fieldmark::Error>(())
//! ```

pub mod assess;
mod checkpoint;
pub mod config;
mod dev;
mod error;
mod input;
mod machine;
mod memory;
mod model;
mod pipeline;
pub mod sample;
pub mod simulation;
mod tagging;
mod training;

pub use checkpoint::{Interval, is_checkpoint};
pub use error::Error;
pub use input::{InputFormat, InputKind, InputTextError};
pub use memory::{MemoryEstimate, estimate_memory};
pub use model::Model;
pub use pipeline::{
    Annotator, AnnotatorOptions, AnnotatorReport, AnyPipeline, Cut, CutCounts, DataCounts, Described,
    Describer, GraphAnnotator, GraphAnnotatorOptions, GraphAnswer, GraphDecoding, GraphLabel, GraphPair,
    GraphPipeline, GraphReport, GraphScores, GraphSpan, GraphTest, Impossible, ImpossibleInstance,
    LayerScore, ModelCard, Pipeline, RunOptions, RunSummary, Scores, TokenMismatch, TrainedAny, TrainedGraph,
    TrainedPipeline, check_config, check_spans, token_mismatch, train_config, train_graph, train_pipeline,
};
pub use training::{
    Algorithm, CheckpointOptions, Flow, Observer, Precision, Prepared, Progress, Stop, TrainOptions, Trained,
    train,
};

pub use fieldmark_chain as chain;
pub use fieldmark_core as core;
pub use fieldmark_eval as eval;
pub use fieldmark_graph as graph;
pub use fieldmark_learn as learn;
pub use fieldmark_text as text;

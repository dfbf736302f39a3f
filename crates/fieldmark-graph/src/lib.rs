//! Conditional random fields of any structure.
//!
//! A [`Description`] says which kinds of variables a model has (*layers*, each with labels of its own) and how
//! *templates* join them and tie weights; [`Kind`]s are ready-made ones. From it and a [`GraphDataset`] comes a
//! [`Structure`], the features of the model. Weights are found by an optimiser over a [`GraphObjective`] (likelihood,
//! pseudolikelihood, piecewise) or by [`SampleRank`], and with the names they make a [`GraphModel`], which is saved,
//! loaded, and used through a [`GraphTagger`].
//!
//! ```
//! use fieldmark_core::Gold;
//! use fieldmark_core::optimize::{Lbfgs, LbfgsOptions};
//! use fieldmark_graph::{
//!     Description, EngineChoice, GraphDatasetBuilder, GraphModel, GraphObjective, Loss, Relations, Structure,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Parts of speech and chunks of two sentences, in one model.
//! let description = Description::factorial(&["pos", "chunk"]);
//! let mut builder = GraphDatasetBuilder::new(&description);
//! for sentence in [["the/DT/B", "cat/NN/I", "sleeps/VB/O"], ["a/DT/B", "dog/NN/I", "barks/VB/O"]] {
//!     for token in sentence {
//!         let fields: Vec<&str> = token.split('/').collect();
//!         builder.observe(&format!("word={}", fields[0]), 1.0)?;
//!         let gold = [builder.label(0, fields[1]), builder.label(1, fields[2])];
//!         builder.end_position(&gold.map(Gold::Known))?;
//!     }
//!     builder.end_instance(&[])?;
//! }
//! let data = builder.finish();
//! let structure = Structure::build(&data, &description, Relations::none())?;
//! let mut objective = GraphObjective::new(&structure, &data, Loss::Pseudolikelihood)?;
//! let mut optimizer = Lbfgs::new(vec![0.0; structure.weights()], LbfgsOptions::default())?;
//! while optimizer.step(&mut objective)?.is_some() {}
//! let model = GraphModel::new(&data, &structure, optimizer.weights())?;
//!
//! let mut builder = model.dataset_builder();
//! for word in ["the", "dog", "sleeps"] {
//!     builder.observe(&format!("word={word}"), 1.0)?;
//!     builder.end_position(&[Gold::Unknown, Gold::Unknown])?;
//! }
//! builder.end_instance(&[])?;
//! let data = builder.finish();
//! let mut tagger = model.tagger(&EngineChoice::default())?;
//! let instance = data.instance(0);
//! let decoding = tagger.tag(instance)?;
//! let chunks: Vec<_> = (0..3).filter_map(|at| tagger.label(instance, &decoding, 1, at)).collect();
//! assert_eq!(chunks, ["B", "I", "O"]);
//! # Ok(())
//! # }
//! ```
//!
//! Below that is inference.
//! A [`FactorGraph`] is the unrolled model of one instance: variables with label sets, and factors with tables of
//! log-scores, which factors with tied weights share. An [`Engine`] answers questions about it: log Z, marginals of
//! variables and factors, the best labelling, and a [`Report`] of how it came to the answer.
//!
//! | engine | answers | for |
//! |---|---|---|
//! | [`Tree`](exact::Tree) | exact | graphs without cycles |
//! | [`JunctionTree`](exact::JunctionTree) | exact, or a refusal with numbers | graphs of small width |
//! | [`ProductChain`](exact::ProductChain) | exact, or a refusal with numbers | factorial chains with few labels |
//! | [`LoopyBp`](loopy::LoopyBp) | approximate sums and labellings | any graph |
//! | [`Gibbs`] | approximate sums and labellings | any graph, also very dense ones |
//! | [`DualDecoder`] | a labelling with an upper bound, often proved to be the best | any graph |
//! | [`Enumeration`](exact::Enumeration) | exact | tests |
//!
//! ```
//! use fieldmark_graph::exact::{JunctionTree, k_best};
//! use fieldmark_graph::{Engine, Error, FactorGraphBuilder};
//!
//! # fn main() -> Result<(), Error> {
//! // Two chains of three positions, joined position by position.
//! let mut builder = FactorGraphBuilder::default();
//! let step = builder.table(&[2, 2], &[1.0, 0.0, 0.0, 1.0])?;
//! let between = builder.table(&[2, 2], &[0.5, 0.0, 0.0, 0.5])?;
//! for position in 0..3u32 {
//!     let (upper, lower) = (builder.variable(2)?, builder.variable(2)?);
//!     builder.factor_with(0, &[upper], &[0.0, f64::from(position) - 0.5])?;
//!     builder.factor(1, &[upper, lower], between)?;
//!     if position > 0 {
//!         builder.factor(2, &[upper - 2, upper], step)?;
//!         builder.factor(2, &[lower - 2, lower], step)?;
//!     }
//! }
//! let mut graph = builder.build();
//!
//! let mut engine = JunctionTree::default();
//! assert_eq!(engine.max(&graph)?.labels, [1, 1, 1, 1, 1, 1]);
//! assert_eq!(k_best(&mut engine, &mut graph, 5)?.len(), 5);
//!
//! // How probable is it that the upper chain has label 1 in its first two positions?
//! let log_z = engine.sum(&graph)?.log_z().value();
//! graph.clamp(0, 1)?;
//! graph.clamp(2, 1)?;
//! let restricted = engine.sum(&graph)?.log_z().value();
//! let probability = restricted.zip(log_z).map(|(part, all)| (part - all).exp());
//! assert!(probability.is_some_and(|p| (p - 0.45517).abs() < 1e-5));
//! # Ok(())
//! # }
//! ```

mod bp;
mod choice;
mod conditional;
mod data;
mod describe;
mod draw;
mod dual;
mod engine;
mod error;
pub mod exact;
mod factor_graph;
mod gibbs;
mod label_sets;
pub mod loopy;
mod model;
mod structure;
mod train;
mod unroll;

pub use bp::kernels::Scalar;
pub use choice::{EngineChoice, ExactOptions};
pub use conditional::Conditional;
pub use data::{DataError, GraphDataset, GraphDatasetBuilder, GraphInstance};
pub use describe::{
    Bias, Cut, Description, DescriptionError, Kind, Layer, Observe, Partners, Per, Relation, Skip, Strategy,
    Template,
};
pub use draw::{DrawError, DrawOptions, Drawing};
pub use dual::{DualDecoder, DualOptions};
pub use engine::{Beliefs, Decoding, Engine, LogZ, MaxMarginals, Report};
pub use error::Error;
pub use factor_graph::{FactorGraph, FactorGraphBuilder};
pub use gibbs::{Annealing, Gibbs, GibbsOptions, GibbsState};
pub use label_sets::LabelSets;
pub use model::{
    GraphAlternative, GraphContribution, GraphDecision, GraphEvidence, GraphExplanation, GraphInspection,
    GraphModel, GraphNeighbour, GraphOthers, GraphTagger, GraphWarmStart, LayerSizes, StrongWeight,
    TemplateWeights,
};
pub use structure::{ComputedFactors, Relate, Relations, Structure, StructureError};
pub use train::{
    Compare, Conflict, Convergence, GraphAlgorithm, GraphObjective, GraphProgress, GraphTrainer, Hamming,
    Judged, Loss, RankIteration, SampleRank, SampleRankOptions, TrainError, VariableLoss,
};
pub use unroll::{Unrolled, Unroller};

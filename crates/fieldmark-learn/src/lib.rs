//! What wraps a model: active learning from partial labels.
//!
//! A person who labels text should be asked what helps most, and nothing that the model could have inferred. The
//! parts:
//!
//! * [`Pool`]: sequences, and what is known of their labels so far. One token of a sequence is enough to learn from
//!   it: the likelihood sums over the labels of the others.
//! * [`Fitted`]: a model trained on what is labelled, from the weights of the last one.
//! * [`Ranking`]: all open tokens in the order of a [`Strategy`]. After an answer only its sequence is estimated
//!   again.
//! * [`Unit`], [`Diversity`], [`Behaviour`]: how much is labelled at once, which questions repeat each other, and
//!   what kind of tokens a strategy chooses.
//! * [`simulate`]: the same with the annotator played from gold labels, to compare strategies.
//!
//! One round, with answers from the gold labels of the data:
//!
//! ```
//! use fieldmark_core::{DatasetBuilder, Gold};
//! use fieldmark_learn::{Estimator, Fitted, LearnOptions, Pool, Ranking, RankingOptions, Strategy};
//! use std::sync::Arc;
//!
//! let mut builder = DatasetBuilder::new();
//! for sentence in [["Ada", "wrote"], ["we", "met"], ["Grace", "wrote"]] {
//!     for word in sentence {
//!         let name = word.starts_with(char::is_uppercase);
//!         builder.observe_names(&[word, if name { "capital" } else { "small" }]);
//!         let label = builder.labels.intern(if name { "NAME" } else { "O" });
//!         builder.end_position(Gold::Known(label))?;
//!     }
//!     builder.end_instance()?;
//! }
//! let data = Arc::new(builder.finish());
//! let mut pool = Pool::unlabelled(data.clone());
//! let options = LearnOptions::default();
//! let mut model = Fitted::train(&pool, &options, None)?;
//! for _batch in 0..2 {
//!     let mut ranking = Ranking::new(&pool, &model, RankingOptions::new(Strategy::TokenMargin))?;
//!     let mut estimator = Estimator::new(&model);
//!     for _question in 0..2 {
//!         let Some(question) = ranking.ask() else { break };
//!         let position = pool.positions(question.sequence).start + question.position;
//!         let Gold::Known(label) = data.gold(position) else { break };
//!         pool.answer(question.sequence, position, label)?;
//!         ranking.answered(&pool, question.sequence, &mut estimator)?;
//!     }
//!     drop(estimator);
//!     model = Fitted::train(&pool, &options, Some(&model))?;
//! }
//! assert_eq!(pool.labelled_positions(), 4);
//! let model = model.to_model(&pool);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod diversity;
mod error;
mod estimate;
mod model;
#[cfg(test)]
mod model_tests;
mod pool;
mod ranking;
#[cfg(test)]
mod ranking_tests;
mod score;
#[cfg(test)]
mod score_tests;
pub mod simulate;
mod statistics;
mod strategy;
#[cfg(test)]
mod testing;
mod unit;

pub use diversity::Diversity;
pub use error::Error;
pub use estimate::{Estimate, Estimator};
pub use model::{Fitted, LearnOptions};
pub use pool::Pool;
pub use ranking::{Question, Ranking, RankingOptions};
pub use score::{Scores, TestSet};
pub use statistics::Behaviour;
pub use strategy::{Needs, Strategy, UnknownStrategy, random_key};
pub use unit::{Tags, Unit, UnknownUnit};

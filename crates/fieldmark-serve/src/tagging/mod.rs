//! The tagging API: texts in, spans out, by any number of models.
//!
//! ```no_run
//! use fieldmark_serve::http::{self, Guard, Hosts, Limits, Shutdown};
//! use fieldmark_serve::tagging::{self, Models};
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let models = Models::open([("drugs", "drugs.fmk")])?;
//! let limits = Limits::default();
//! let guard = Guard {
//!     access: http::Access::Open,
//!     hosts: Hosts::Loopback,
//!     limits,
//!     public: tagging::PUBLIC,
//!     metrics: Default::default(),
//! };
//! let router = tagging::router(models, 2, guard)?;
//! let listener = http::bind("127.0.0.1".parse()?, 7878).await?;
//! http::serve(listener, router, limits, Shutdown::on_signals()?).await;
//! # Ok(())
//! # }
//! ```
//!
//! Requests come and go on an async runtime; texts are marked by threads of their own, of which each keeps an annotator
//! for each model and uses it again and again. A request waits for these threads without holding up others.
//!
//! | path | what it does |
//! |---|---|
//! | `POST /v1/tag` | marks one text or several |
//! | `POST /v1/tag.jsonl` | marks a stream of lines, of any length, as it comes |
//! | `POST /v1/explain` | says why the tokens of a place got their labels |
//! | `GET /v1/models` | the models |
//! | `GET /health`, `GET /metrics` | whether the server lives, and what it has done (Prometheus) |
//! | `GET /openapi.json` | all of this for programs, made from the same table as the routes |
//! | `GET /` | a page to try a model |

mod answer;
mod explain;
mod lines;
mod models;
mod openapi;
mod page;
mod requests;
mod routes;
mod workers;

pub use models::{Models, OpenError};
pub use routes::{PUBLIC, router};

#[cfg(test)]
mod tests;

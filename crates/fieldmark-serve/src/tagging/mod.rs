//! The tagging API: texts in, spans out, by any number of models.
//!
//! ```no_run
//! use fieldmark_serve::http::Limits;
//! use fieldmark_serve::tagging::{Models, ServeOptions, serve};
//!
//! let models = Models::open([("drugs", "drugs.fmk")])?;
//! let options = ServeOptions {
//!     host: "127.0.0.1".parse()?,
//!     port: 7878,
//!     token: None,
//!     allowed_hosts: Vec::new(),
//!     limits: Limits::default(),
//!     threads: 2,
//! };
//! serve(models, options, |link| println!("{link}"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
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
mod serve;
mod workers;

pub use models::{Models, OpenError};
pub use routes::{PUBLIC, router};
pub use serve::{ServeError, ServeOptions, serve};

#[cfg(test)]
mod tests;

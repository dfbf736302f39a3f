//! HTTP for both servers: connections, limits, tokens, errors and files.
//!
//! A server makes its routes with axum, puts [`guarded`] around them and hands them to [`serve`]:
//!
//! ```no_run
//! use axum::{Router, routing::get};
//! use fieldmark_serve::http::{self, Guard, Limits, Shutdown, User};
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let host = "127.0.0.1".parse()?;
//! let (access, hosts, token) = http::access(host, None, Vec::new())?;
//! let limits = Limits::default();
//! let routes = Router::new().route("/who", get(|user: User| async move { user.name }));
//! let router = http::guarded(
//!     routes,
//!     Guard { access, hosts, limits, public: &["/health"], metrics: Default::default() },
//! );
//! let listener = http::bind(host, 0).await?;
//! println!("{}", http::link(listener.local_addr()?, token.as_ref()));
//! http::serve(listener, router, limits, Shutdown::on_signals()?).await;
//! # Ok(())
//! # }
//! ```
//!
//! * Handlers take [`JsonBody`], [`QueryOf`], [`PathOf`] and [`User`], or read the body with [`read_body`], and return
//!   [`ApiError`] with a sentence if something is wrong.
//! * Limits: size of bodies (413), time for a request (408 while it comes, 503 after), requests at a time (503 with
//!   `Retry-After`), connections at a time, silence of the client while it sends or should read.
//! * Whoever comes without a token gets 401, a page of another site 403, an unknown path 404, a wrong method 405, a wrong
//!   type of content 415, malformed JSON or UTF-8 400, and JSON of another form 422: always as `{"error": "…"}`.

mod assets;
mod auth;
mod bind;
mod body;
mod error;
mod extract;
mod guard;
mod host;
mod limits;
mod metrics;
mod pages;
mod patient;
mod server;
mod shutdown;
mod token;

pub use assets::{Asset, add_assets};
pub use auth::{Access, Accounts, CSRF_HEADER, User};
pub use bind::{access, bind, link};
pub use body::{interrupted, read_body};
pub use error::ApiError;
pub use extract::{JsonBody, PathOf, QueryOf, check_content_type, from_json};
pub use guard::{Guard, guarded};
pub use host::Hosts;
pub use limits::Limits;
pub use metrics::{Metrics, heading, quoted};
pub use pages::page;
pub use server::{Ended, serve};
pub use shutdown::{Shutdown, Stop};
pub use token::{Token, TokenHash};

#[cfg(test)]
mod tests;

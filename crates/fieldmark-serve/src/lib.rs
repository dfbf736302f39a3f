//! What fieldmark does over HTTP: a page to annotate documents with the help of a model that learns while people
//! answer, and an API that tags text.
//!
//! * [`project`]: documents, types, people and everything that they ever said, in one SQLite database. Nothing is
//!   acknowledged before it is on the disk, and nothing is ever deleted.
//! * [`engine`]: a project at work: what is known of every sentence, what the model says of the rest, what to ask next,
//!   and the training that goes on in the background. It knows nothing of HTTP.
//! * [`annotate`]: the routes of the page.
//! * [`tagging`]: the API that tags text, and a page to try it.
//! * [`http`]: connections, limits, tokens and errors of both servers.

pub mod annotate;
pub mod engine;
pub mod http;
pub mod project;
pub mod tagging;

#[cfg(test)]
mod testing;

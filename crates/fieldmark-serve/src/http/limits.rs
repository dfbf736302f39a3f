//! [`Limits`]: how much of the server one client may take.

use std::time::Duration;

/// How much of a server clients may take, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request body; of a stream of lines, of each line.
    pub body: usize,
    /// Time until the answer to a request begins, the time to read the request included.
    pub request: Duration,
    /// Requests that are worked on at the same time; more are told to come again.
    pub concurrency: usize,
    /// Connections that are open at the same time; more wait to be accepted.
    pub connections: usize,
    /// Time for the head of a request, the silence before it on an open connection included.
    pub head: Duration,
    /// How long a client may neither send what it announced nor take what it asked for.
    pub silence: Duration,
    /// How long requests that are under way may go on after the server was asked to stop.
    pub shutdown: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 16 << 20,
            request: Duration::from_secs(60),
            concurrency: 64,
            connections: 512,
            head: Duration::from_secs(30),
            silence: Duration::from_secs(30),
            shutdown: Duration::from_secs(10),
        }
    }
}

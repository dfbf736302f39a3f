//! The whole server, from models to its end.

use super::{Models, PUBLIC, router};
use crate::http::{self, Ended, Guard, Limits, Shutdown, Token};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

/// Where and how models are served.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The address to listen on.
    pub host: IpAddr,
    /// The port; 0 is any that is free.
    pub port: u16,
    /// What everybody must have who wants something. Without it, only this machine is served without a token, and at any
    /// other address a new one is made.
    pub token: Option<Token>,
    /// Names that the server answers to, besides those of this machine for itself.
    pub allowed_hosts: Vec<String>,
    /// How much clients may take.
    pub limits: Limits,
    /// Threads that mark texts.
    pub threads: usize,
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// It cannot listen there.
    #[error("{0}")]
    Address(String),
    /// The system failed.
    #[error("cannot start the server: {0}")]
    System(#[from] io::Error),
}

/// Serves models until Ctrl-C or a request to terminate. `ready` gets the link to open.
pub fn serve(models: Models, options: ServeOptions, ready: impl FnOnce(&str)) -> Result<Ended, ServeError> {
    let ServeOptions {
        host,
        port,
        limits,
        threads,
        ..
    } = options;
    let (access, hosts, token) = http::access(host, options.token, options.allowed_hosts)?;
    let guard = Guard {
        access,
        hosts,
        limits,
        public: PUBLIC,
        metrics: Arc::default(),
    };
    let router = router(models, threads, guard)?;
    // Requests wait more than they work: texts are marked by threads of their own.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = http::bind(host, port).await.map_err(ServeError::Address)?;
        let shutdown = Shutdown::on_signals()?;
        ready(&http::link(listener.local_addr()?, token.as_ref()));
        Ok(http::serve(listener, router, limits, shutdown).await)
    })
}

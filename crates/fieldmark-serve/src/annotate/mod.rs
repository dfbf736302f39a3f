//! The annotation page over HTTP.
//!
//! [`routes`] is everything that the page asks for; [`serve`] runs it until somebody asks the server to stop. Work is done
//! by an [`Engine`], in threads where waiting for the disk holds up nobody else.

mod accounts;
mod assets;
mod events;
mod files;
mod routes;

pub use accounts::People;
pub use routes::routes;

use crate::engine::Engine;
use crate::http::{self, Access, Ended, Guard, Hosts, Limits, Metrics, Shutdown, Token};
use crate::project::Error;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Where and how the page is served.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The address to listen on.
    pub host: IpAddr,
    /// The port; 0 is any that is free.
    pub port: u16,
    /// Names by which the server is reached besides its address.
    pub allowed_hosts: Vec<String>,
}

/// How much clients may take. Exports and models of large projects take their time.
fn limits() -> Limits {
    Limits {
        request: Duration::from_secs(600),
        ..Limits::default()
    }
}

/// Serves the page until Ctrl-C or a request to terminate. `ready` is told where it listens.
pub fn serve(
    engine: &Arc<Engine>,
    project: &Path,
    options: &ServeOptions,
    ready: impl FnOnce(SocketAddr),
) -> Result<Ended, Error> {
    let runtime = tokio::runtime::Runtime::new()?;
    let people = People::open(project)?;
    runtime.block_on(async {
        let listener = http::bind(options.host, options.port)
            .await
            .map_err(Error::Refused)?;
        let shutdown = Shutdown::on_signals()?;
        let guard = Guard {
            access: Access::Tokens(Arc::new(people)),
            hosts: match &options.allowed_hosts {
                names if !names.is_empty() => Hosts::Also(names.clone()),
                _ if options.host.is_loopback() => Hosts::Loopback,
                _ => Hosts::Any,
            },
            limits: limits(),
            public: &["/health"],
            metrics: Arc::new(Metrics::default()),
        };
        let router = http::guarded(routes(engine.clone(), shutdown.clone()), guard);
        ready(listener.local_addr()?);
        Ok(http::serve(listener, router, limits(), shutdown).await)
    })
}

/// The link by which somebody comes in.
pub fn link(address: SocketAddr, token: &Token) -> String {
    http::link(address, Some(token))
}

#[cfg(test)]
mod tests;

//! [`Shutdown`]: asks a server to stop, politely at first.

use std::io;
use tokio::sync::watch;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Running,
    /// Requests under way may end.
    Asked,
    /// Nothing is waited for.
    Now,
}

/// Knows whether a server shall stop.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<Stage>);

/// Stops a server.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<Stage>);

impl Stop {
    /// Asks: requests under way are answered, for as long as the limits say.
    pub fn ask(&self) {
        self.raise(Stage::Asked);
    }

    /// Stops without waiting for anybody.
    pub fn now(&self) {
        self.raise(Stage::Now);
    }

    fn raise(&self, stage: Stage) {
        self.0.send_modify(|at| *at = (*at).max(stage));
    }
}

impl Shutdown {
    /// One that the caller decides on.
    pub fn new() -> (Stop, Self) {
        let (sender, receiver) = watch::channel(Stage::default());
        (Stop(sender), Self(receiver))
    }

    /// One on Ctrl-C or a request to terminate; the second of them stops the server at once. Needs a tokio runtime.
    pub fn on_signals() -> io::Result<Self> {
        let (stop, shutdown) = Self::new();
        let mut signals = Signals::new()?;
        tokio::spawn(async move {
            signals.next().await;
            stop.ask();
            signals.next().await;
            stop.now();
        });
        Ok(shutdown)
    }

    /// Waits until the server shall stop.
    pub async fn asked(&mut self) {
        self.reached(Stage::Asked).await;
    }

    /// Waits until nothing is waited for any longer.
    pub(super) async fn now(&mut self) {
        self.reached(Stage::Now).await;
    }

    async fn reached(&mut self, stage: Stage) {
        if self.0.wait_for(|at| *at >= stage).await.is_err() {
            // Nobody is left who could ask.
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

//! Both servers' plumbing over real sockets, with clients that do everything wrong.

mod access;
mod limits;
mod refusals;
mod stopping;

use super::*;
use crate::testing::{LONG, Reply, Running, wait_until};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// What handlers of tests share with the tests.
#[derive(Clone)]
struct Shared {
    /// `/gate` waits for a permit.
    gate: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    /// Whether the endless answer has ended.
    dropped: Arc<AtomicBool>,
}

/// A server with routes for all kinds of trouble.
struct Server {
    running: Running,
    shared: Shared,
}

impl Server {
    fn open(limits: Limits) -> Self {
        Self::start(Access::Open, limits)
    }

    fn start(access: Access, limits: Limits) -> Self {
        let shared = Shared {
            gate: Arc::new(Semaphore::new(0)),
            waiting: Arc::default(),
            dropped: Arc::default(),
        };
        let guard = Guard {
            access,
            hosts: Hosts::Loopback,
            limits,
            public: &["/health"],
            metrics: Arc::default(),
        };
        let router = guarded(routes(shared.clone()), guard);
        Self {
            running: Running::start(router, limits),
            shared,
        }
    }
}

impl Deref for Server {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.running
    }
}

#[derive(serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
struct Number {
    number: u8,
}

fn routes(shared: Shared) -> Router {
    const FILES: [Asset; 2] = [
        Asset::new("/assets/a.js", b"let a = 1;"),
        Asset::new("/assets/deep/b.css", b"b {}"),
    ];
    let router = Router::new()
        .route("/health", get(|| async { "well" }))
        .route("/who", get(|user: User| async move { user.name }))
        .route("/", get(|user: User| async move { page("csrf={{csrf}}", &user) }))
        .route(
            "/number",
            post(|JsonBody(number): JsonBody<Number>| async move { Json(number) }),
        )
        .route(
            "/query",
            get(|QueryOf(number): QueryOf<Number>| async move { Json(number) }),
        )
        .route("/gate", get(gate).post(gate))
        .route("/endless", get(endless))
        .route("/panic", get(panics));
    add_assets(router, &FILES).with_state(shared)
}

async fn gate(State(shared): State<Shared>) -> &'static str {
    shared.waiting.fetch_add(1, Ordering::SeqCst);
    if let Ok(permit) = shared.gate.acquire().await {
        permit.forget();
    }
    "through"
}

async fn panics() -> &'static str {
    panic!("as a test wants")
}

/// Notes when it is dropped.
struct Noted(Arc<AtomicBool>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

async fn endless(State(shared): State<Shared>) -> Response {
    let noted = Noted(shared.dropped);
    let chunk = Bytes::from(vec![b'x'; 1 << 16]);
    let chunks = futures_util::stream::unfold(noted, move |noted| {
        let chunk = chunk.clone();
        async move { Some((Ok::<_, std::convert::Infallible>(chunk), noted)) }
    });
    Body::from_stream(chunks).into_response()
}

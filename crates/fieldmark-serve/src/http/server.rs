//! Accepts connections, speaks HTTP on them, and ends them in an orderly way.

use super::limits::Limits;
use super::patient::Patient;
use super::shutdown::Shutdown;
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tower::ServiceExt;

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Connections that were cut off because their requests did not end in time.
    pub cut_off: usize,
}

/// For how long, and how much, is read from a client that still sends when its answer is complete: it could not read
/// the answer if the connection were closed on it.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 32 << 20;

/// After an error of the system such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// What a client that never ends the head of its request is told.
const SLOW_HEAD: &str = "{\"error\":\"the head of the request did not arrive in time\"}";

type Answer = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

/// Serves until it is asked to stop. Then nothing new is accepted, and requests under way are answered, for a limited
/// time.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, mut shutdown: Shutdown) -> Ended {
    let places = Arc::new(Semaphore::new(limits.connections));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.asked() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        while connections.try_join_next().is_some() {}
        let Some((stream, place)) = accepted else {
            continue;
        };
        let connection = speak(stream, router.clone(), limits, shutdown.clone(), place);
        connections.spawn(connection);
    }
    drop(listener);
    let drained = async { while connections.join_next().await.is_some() {} };
    tokio::select! {
        () = drained => {}
        () = tokio::time::sleep(limits.shutdown) => {}
        () = shutdown.now() => {}
    }
    let cut_off = connections.len();
    connections.shutdown().await;
    Ended { cut_off }
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(_) => {
            // A client that went away again, or no file left for another: there is time for others to end.
            tokio::time::sleep(PAUSE).await;
            None
        }
    }
}

async fn speak(
    stream: TcpStream,
    router: Router,
    limits: Limits,
    mut shutdown: Shutdown,
    _place: OwnedSemaphorePermit,
) {
    // Answers are written as a whole, so that waiting for more of them gains nothing.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| -> Answer {
        Box::pin(router.clone().oneshot(request.map(Body::new)))
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .serve_connection(TokioIo::new(Patient::new(stream, limits.silence)), service);
    let mut stopping = false;
    let ended = loop {
        tokio::select! {
            ended = poll_fn(|context| connection.poll_without_shutdown(context)) => break ended,
            () = shutdown.asked(), if !stopping => {
                stopping = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
        }
    };
    let parts = connection.into_parts();
    let mut stream = parts.io.into_inner().into_inner();
    let slow = ended.is_err_and(|error| error.is_timeout());
    // Silence before a request is the end of a connection, silence within its head is a mistake.
    let slow_head = slow && !parts.read_buf.is_empty();
    let end = async {
        if slow_head {
            let length = SLOW_HEAD.len();
            let answer = format!(
                "HTTP/1.1 408 Request Timeout\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{SLOW_HEAD}"
            );
            stream.write_all(answer.as_bytes()).await?;
        }
        stream.shutdown().await?;
        let mut buffer = vec![0; 1 << 14];
        let mut left = LINGER_BYTES;
        while left > 0 {
            match stream.read(&mut buffer).await? {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
        std::io::Result::Ok(())
    };
    // Whatever goes wrong now, the connection is at its end.
    let _ = tokio::time::timeout(LINGER, end).await;
}

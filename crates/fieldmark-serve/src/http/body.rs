//! Bodies that are watched: requests that stop coming, and answers that hold their place until they are taken.

use super::ApiError;
use super::limits::Limits;
use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::{BoxError, extract::Request};
use futures_util::StreamExt;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep};

/// A request body that did not go on.
#[derive(Debug)]
struct Silent(Duration);

impl fmt::Display for Silent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "nothing more of the request body came for {} seconds. Send it without such pauses",
            self.0.as_secs_f32()
        )
    }
}

impl std::error::Error for Silent {}

/// How far a request body is.
#[derive(Debug, Default)]
pub(super) struct Fate {
    ended: AtomicBool,
    given_up: AtomicBool,
}

impl Fate {
    /// Whether all of it has come.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Whether nobody reads the rest of it: then nobody knows where the next request begins.
    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }
}

/// A request body that fails after too long a silence, and notes its end.
pub(super) struct Watched {
    inner: Body,
    silence: Duration,
    timer: Pin<Box<Sleep>>,
    waiting: bool,
    fate: Arc<Fate>,
}

impl Watched {
    /// Watches a body, and what becomes of it.
    pub fn new(inner: Body, silence: Duration) -> (Self, Arc<Fate>) {
        let fate = Arc::new(Fate {
            ended: AtomicBool::new(inner.is_end_stream()),
            given_up: AtomicBool::new(false),
        });
        let watched = Self {
            inner,
            silence,
            timer: Box::pin(tokio::time::sleep(silence)),
            waiting: false,
            fate: fate.clone(),
        };
        (watched, fate)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.fate.has_ended() {
            self.fate.given_up.store(true, Ordering::Relaxed);
        }
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(context) {
            this.waiting = false;
            if frame.is_none() || this.inner.is_end_stream() {
                this.fate.ended.store(true, Ordering::Relaxed);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(BoxError::from)));
        }
        if !this.waiting {
            this.waiting = true;
            this.timer.as_mut().reset(Instant::now() + this.silence);
        }
        match this.timer.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(Silent(this.silence).into()))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The body of an answer, with the place among the requests under way that it keeps until it is taken.
pub(super) struct Placed {
    inner: Body,
    _place: OwnedSemaphorePermit,
}

impl Placed {
    pub fn new(inner: Body, place: OwnedSemaphorePermit) -> Self {
        Self { inner, _place: place }
    }
}

impl HttpBody for Placed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Reads a request body as a whole, up to the limit of the server or another one.
pub async fn read_body(request: Request, limit: Option<usize>) -> Result<Vec<u8>, ApiError> {
    let limits = request.extensions().get::<Limits>().copied().unwrap_or_default();
    let limit = limit.unwrap_or(limits.body);
    let too_large = || ApiError::too_large("the request body", limit);
    let announced = request.headers().get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(announced.map_or(0, |length| (length as usize).min(1 << 20)));
    let mut frames = request.into_body().into_data_stream();
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(interrupted)?;
        if bytes.len() + frame.len() > limit {
            return Err(too_large());
        }
        bytes.extend_from_slice(&frame);
    }
    Ok(bytes)
}

/// Why a request body ended before its end.
pub fn interrupted(error: axum::Error) -> ApiError {
    let error = error.into_inner();
    if error.is::<Silent>() {
        return ApiError::new(StatusCode::REQUEST_TIMEOUT, error);
    }
    // The client has gone, or its chunks make no sense.
    ApiError::malformed(format_args!("the request body broke off: {error}"))
}

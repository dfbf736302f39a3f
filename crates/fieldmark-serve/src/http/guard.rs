//! What happens to every request before a handler sees it, and to every answer before a client does.

use super::auth::Access;
use super::body::{Fate, Placed, Watched};
use super::host::Hosts;
use super::limits::Limits;
use super::metrics::Metrics;
use super::{ApiError, add_assets, auth, pages};
use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;

/// What a server guards, and how.
#[derive(Clone)]
pub struct Guard {
    /// Who may come in.
    pub access: Access,
    /// The names that it answers to.
    pub hosts: Hosts,
    /// How much clients may take.
    pub limits: Limits,
    /// Paths that everybody may see, at any time: what watches over the server wants to know that it lives.
    pub public: &'static [&'static str],
    /// Where requests are counted.
    pub metrics: Arc<Metrics>,
}

/// Files of this folder are the same for everybody.
const PUBLIC_FOLDER: &str = "/assets/";

/// Seconds after which a busy server may be asked again.
const RETRY: u32 = 1;

/// Scripts, styles and everything else come from the server itself, nothing is written into pages as HTML, and no
/// other page may frame them.
const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'";

struct Guarding {
    guard: Guard,
    places: Arc<Semaphore>,
}

/// Puts guards before a router: names, tokens, limits, headers, and JSON for what is not there.
pub fn guarded(router: Router, guard: Guard) -> Router {
    let guarding = Guarding {
        places: Arc::new(Semaphore::new(guard.limits.concurrency)),
        guard,
    };
    add_assets(router, &[pages::STYLE])
        .fallback(no_such_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(Arc::new(guarding), watch))
}

async fn no_such_path(uri: Uri) -> ApiError {
    ApiError::not_found(format_args!("there is no path {}", uri.path()))
}

async fn wrong_method(method: Method, uri: Uri) -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        format_args!(
            "{} does not take {method}; the header Allow says what it takes",
            uri.path()
        ),
    )
}

async fn watch(State(guarding): State<Arc<Guarding>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let metrics = guarding.guard.metrics.clone();
    let _under_way = metrics.begin();
    let path = request.extensions().get::<MatchedPath>();
    let path = path.map_or("other", |path| path.as_str()).to_owned();
    let method = request.method().clone();
    let (parts, body) = request.into_parts();
    let (watched, fate) = Watched::new(body, guarding.guard.limits.silence);
    let request = Request::from_parts(parts, Body::new(watched));
    let answered = AssertUnwindSafe(guarding.answer(request, &fate, next))
        .catch_unwind()
        .await;
    let mut response = answered.unwrap_or_else(|_| {
        let message = "the server failed at this request; this is a bug in fieldmark, please report it";
        ApiError::internal(message).into_response()
    });
    add_headers(response.headers_mut());
    if fate.is_given_up() {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    metrics.count(&path, method, response.status(), began.elapsed());
    response
}

impl Guarding {
    async fn answer(&self, request: Request, fate: &Fate, next: Next) -> Response {
        let mut request = request;
        let public = match self.admit(&mut request) {
            Ok(public) => public,
            Err(refusal) => return *refusal,
        };
        let place = match public {
            true => None,
            false => match self.places.clone().try_acquire_owned() {
                Ok(place) => Some(place),
                Err(_) => {
                    let most = self.guard.limits.concurrency;
                    let message = format_args!(
                        "{most} requests are under way, which is the limit of this server. Try again in a moment"
                    );
                    return ApiError::busy(message, RETRY).into_response();
                }
            },
        };
        let response = self.run(request, fate, next).await;
        match place {
            // Events go on for as long as a page is open, and cost nothing but the connection.
            Some(place) if !is_event_stream(response.headers()) => {
                response.map(|body| Body::new(Placed::new(body, place)))
            }
            _ => response,
        }
    }

    /// Finds out whether the request is let in, and whether it is one of those that always are.
    fn admit(&self, request: &mut Request) -> Result<bool, Box<Response>> {
        let Guard {
            access,
            hosts,
            limits,
            public,
            ..
        } = &self.guard;
        let refuse = |error: ApiError| Box::new(error.into_response());
        let host = hosts.check(request).map_err(refuse)?;
        request.extensions_mut().insert(*limits);
        let path = request.uri().path();
        if !auth::changes(request.method()) && (public.contains(&path) || path.starts_with(PUBLIC_FOLDER)) {
            return Ok(true);
        }
        hosts.check_origin(request, &host).map_err(refuse)?;
        let user = access.admit(request.method(), request.uri(), request.headers(), &host)?;
        request.extensions_mut().insert(user);
        Ok(false)
    }

    /// Lets a handler work, for a limited time.
    async fn run(&self, request: Request, fate: &Fate, next: Next) -> Response {
        let limits = &self.guard.limits;
        let answered = tokio::time::timeout(limits.request, next.run(request)).await;
        answered.unwrap_or_else(|_| {
            let seconds = limits.request.as_secs_f32();
            if fate.has_ended() {
                let message = format_args!(
                    "there was no answer within {seconds} seconds, which is the limit of this server. Send less at a \
                     time, or try again when the server has less to do"
                );
                return ApiError::busy(message, RETRY).into_response();
            }
            let message = format_args!("the request body did not arrive within {seconds} seconds");
            ApiError::new(StatusCode::REQUEST_TIMEOUT, message).into_response()
        })
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE);
    content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

fn add_headers(headers: &mut HeaderMap) {
    const FIXED: [(HeaderName, &str); 6] = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What is answered is nobody else's business.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

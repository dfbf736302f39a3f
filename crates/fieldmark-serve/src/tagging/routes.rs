//! The routes of the API: one table, from which the router and its description are made.

use super::answer::{Places, UnitName};
use super::explain::explain;
use super::lines::{LineOptions, answer_lines};
use super::models::{Counts, Models};
use super::openapi::{self, Operation};
use super::page;
use super::requests::*;
use super::workers::Workers;
use crate::http::{
    ApiError, Guard, JsonBody, Limits, Metrics, QueryOf, add_assets, check_content_type, guarded, heading,
    quoted,
};
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use serde_json::Value;
use std::fmt::Write;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Paths that need no token: whether the server lives is no secret.
pub const PUBLIC: &[&str] = &["/health"];

/// Reasons for each token, if a request does not say how many.
const REASONS: usize = 8;
/// Most reasons for each token.
const MOST_REASONS: usize = 1000;
/// Bytes of texts that one thread marks without a pause, if there are several texts.
const SHARE: usize = 1 << 16;
/// What a stream of JSON lines is called.
const LINE_TYPES: [&str; 3] = [
    "application/x-ndjson",
    "application/jsonl",
    "application/jsonlines",
];

/// What handlers share.
pub(super) struct App {
    models: Arc<Models>,
    workers: Arc<Workers>,
    metrics: Arc<Metrics>,
    description: Value,
}

type Shared = State<Arc<App>>;

/// A route with its description.
pub(super) struct Route {
    pub path: &'static str,
    pub operation: Operation,
    handler: MethodRouter<Arc<App>>,
}

/// Everything that the API can do.
pub(super) fn routes() -> Vec<Route> {
    let route = |path, operation, handler| Route {
        path,
        operation,
        handler,
    };
    vec![
        route("/v1/tag", openapi::tag(), post(tag)),
        route("/v1/tag.jsonl", openapi::tag_lines(), post(tag_lines)),
        route("/v1/explain", openapi::explain(), post(explain_place)),
        route("/v1/models", openapi::models(), get(list_models)),
        route("/health", openapi::health(), get(health)),
        route("/metrics", openapi::metrics(), get(metrics)),
        route("/openapi.json", openapi::description(), get(description)),
    ]
}

/// The API and its page. Texts are marked by so many threads.
pub fn router(models: Models, threads: usize, guard: Guard) -> io::Result<Router> {
    let models = Arc::new(models);
    let routes = routes();
    let app = App {
        workers: Arc::new(Workers::start(&models, threads)?),
        models,
        metrics: guard.metrics.clone(),
        description: openapi::document(&routes),
    };
    let router = Router::new().route("/", get(page::show));
    let router = routes
        .into_iter()
        .fold(router, |router, route| router.route(route.path, route.handler));
    let router = add_assets(router, page::ASSETS).with_state(Arc::new(app));
    Ok(guarded(router, guard))
}

async fn tag(
    State(app): Shared,
    QueryOf(options): QueryOf<Options>,
    JsonBody(request): JsonBody<TagRequest>,
) -> Result<Response, ApiError> {
    let name = agreed("model", request.model, options.model)?;
    let model = app.models.find(name.as_deref())?;
    let unit = agreed("unit", request.unit, options.unit)?.unwrap_or_default();
    let name = app.models.all()[model].name.clone();
    match (request.text, request.texts) {
        (Some(text), None) => {
            let coming = app.workers.begin(move |bench, _| bench.tag(model, text, unit));
            let answer = coming.answer().await?.map_err(ApiError::unprocessable)?;
            Ok(Json(Tagged {
                model: name,
                unit,
                answer,
            })
            .into_response())
        }
        (None, Some(texts)) => Ok(Json(TaggedBatch {
            model: name,
            unit,
            results: tag_batch(&app, model, texts, unit).await?,
        })
        .into_response()),
        _ => Err(ApiError::unprocessable(
            "expected either `text`, with one text, or `texts`, with a list of them",
        )),
    }
}

/// Marks texts on all threads.
async fn tag_batch(
    app: &App,
    model: usize,
    texts: Vec<String>,
    unit: UnitName,
) -> Result<Vec<TextResult>, ApiError> {
    let mut results = Vec::with_capacity(texts.len());
    let mut coming = Vec::new();
    for share in shares(texts) {
        coming.push(app.workers.begin(move |bench, wanted| {
            let mut results = Vec::with_capacity(share.len());
            for text in share {
                if !wanted.still() {
                    break;
                }
                results.push(match bench.tag(model, text, unit) {
                    Ok(answer) => TextResult::Found(answer),
                    Err(error) => TextResult::Failed {
                        error: error.to_string(),
                    },
                });
            }
            results
        }));
    }
    for share in coming {
        results.extend(share.answer().await?);
    }
    Ok(results)
}

/// Texts in shares of about the same length.
fn shares(texts: Vec<String>) -> Vec<Vec<String>> {
    let mut shares = Vec::new();
    let mut share = Vec::new();
    let mut bytes = 0;
    for text in texts {
        bytes += text.len();
        share.push(text);
        if bytes >= SHARE {
            shares.push(std::mem::take(&mut share));
            bytes = 0;
        }
    }
    if !share.is_empty() {
        shares.push(share);
    }
    shares
}

async fn tag_lines(
    State(app): Shared,
    QueryOf(options): QueryOf<Options>,
    Extension(limits): Extension<Limits>,
    request: Request,
) -> Result<Response, ApiError> {
    check_content_type(request.headers(), &LINE_TYPES)?;
    let options = LineOptions {
        model: app.models.find(options.model.as_deref())?,
        unit: options.unit.unwrap_or_default(),
        limit: limits.body,
    };
    let lines = answer_lines(request.into_body(), app.workers.clone(), options);
    let content_type = (header::CONTENT_TYPE, HeaderValue::from_static(LINE_TYPES[0]));
    Ok(([content_type], lines).into_response())
}

async fn explain_place(
    State(app): Shared,
    QueryOf(options): QueryOf<Options>,
    JsonBody(request): JsonBody<ExplainRequest>,
) -> Result<Json<Explained>, ApiError> {
    let name = agreed("model", request.model, options.model)?;
    let model = app.models.find(name.as_deref())?;
    let unit = agreed("unit", request.unit, options.unit)?.unwrap_or_default();
    let top = request.top.unwrap_or(REASONS);
    if top > MOST_REASONS {
        return Err(ApiError::unprocessable(format_args!(
            "`top` is {top}, expected at most {MOST_REASONS}"
        )));
    }
    let bytes = {
        let places = Places::new(&request.text, unit);
        let byte = |name, place| {
            places.byte(place).ok_or_else(|| {
                ApiError::unprocessable(format_args!(
                    "`{name}` is {place}, which is no place of the text: it ends at {}, and no place is inside a \
                     character. Are places counted as `unit` says?",
                    places.end()
                ))
            })
        };
        byte("start", request.start)?..byte("end", request.end)?
    };
    if bytes.is_empty() {
        return Err(ApiError::unprocessable("`end` is not after `start`"));
    }
    let coming = app
        .workers
        .begin(move |bench, _| explain(bench, model, request.text, bytes, unit, top));
    let explanation = coming.answer().await?.map_err(ApiError::unprocessable)?;
    Ok(Json(Explained {
        model: app.models.all()[model].name.clone(),
        unit,
        decisions: explanation.decisions,
        note: explanation.note,
    }))
}

async fn list_models(State(app): Shared) -> Json<ModelList> {
    Json(ModelList {
        models: app.models.answers(),
    })
}

async fn health(State(app): Shared) -> Json<Health> {
    Json(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        models: app.models.len(),
    })
}

async fn description(State(app): Shared) -> Json<Value> {
    Json(app.description.clone())
}

async fn metrics(State(app): Shared) -> Response {
    let mut text = app.metrics.to_text();
    // Writing to a string cannot fail.
    let _ = write_counts(&mut text, &app.models);
    let content_type = (header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
    ([content_type], text).into_response()
}

fn write_counts(out: &mut String, models: &Models) -> std::fmt::Result {
    type Count = fn(&Counts) -> &AtomicU64;
    let counters: [(&str, &str, Count); 4] = [
        (
            "fieldmark_texts_total",
            "Texts that came to be marked.",
            |counts| &counts.texts,
        ),
        ("fieldmark_text_bytes_total", "Their bytes.", |counts| {
            &counts.bytes
        }),
        ("fieldmark_spans_total", "Spans that were found.", |counts| {
            &counts.spans
        }),
        (
            "fieldmark_failures_total",
            "Texts that could not be marked.",
            |counts| &counts.failures,
        ),
    ];
    for (name, help, count) in counters {
        heading(out, name, "counter", help)?;
        for model in models.all() {
            let count = count(&model.counts).load(Ordering::Relaxed);
            writeln!(out, "{name}{{model=\"{}\"}} {count}", quoted(&model.name))?;
        }
    }
    Ok(())
}

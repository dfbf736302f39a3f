//! What the page asks for.

use super::{assets, events, files};
use crate::engine::wire::{ActionAnswer, ActionRequest, ChangeType, NewType, TypesAnswer};
use crate::engine::{
    AdjudicationView, AgreementReport, ChangeSettings, DocumentView, DoubtReport, Engine, List, ListRequest,
    ProgressReport, QuestionAnswer, SettingsReport,
};
use crate::http::{self, ApiError, JsonBody, PathOf, QueryOf, Shutdown, User};
use crate::project::{DocumentId, Error, TypeId};
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

type Shared = State<Arc<Engine>>;
type Answer<T> = Result<Json<T>, ApiError>;

/// Everything that the page asks for.
pub fn routes(engine: Arc<Engine>, shutdown: Shutdown) -> Router {
    let router =
        Router::new()
            .route(
                "/",
                get(|user: User| async move { http::page(assets::PAGE, &user) }),
            )
            .route("/health", get(|| async { Json(json!({ "status": "ok" })) }))
            .route("/api/project", get(project))
            .route("/api/settings", get(settings).post(change_settings))
            .route("/api/types", post(add_type))
            .route("/api/types/{id}", post(change_type))
            .route("/api/question", get(question))
            .route("/api/actions", post(act))
            .route("/api/undo", post(undo))
            .route("/api/redo", post(redo))
            .route("/api/documents", get(documents).post(files::upload))
            .route("/api/documents/{id}", get(document))
            .route("/api/files", post(files::upload_all))
            .route("/api/progress", get(progress))
            .route("/api/agreement", get(agreement))
            .route("/api/adjudication/{document}", get(adjudication))
            .route("/api/doubts", get(doubts).post(find_doubts))
            .route("/api/export", get(files::export))
            .route("/api/model", get(files::model))
            .route(
                "/api/events",
                get(|State(engine): Shared, user: User| async move {
                    events::events(engine, user.name, shutdown)
                }),
            );
    http::add_assets(router, assets::FILES).with_state(engine)
}

/// An error of a project, with the status that it has over HTTP.
pub(super) struct Failed(pub Error);

impl From<Failed> for ApiError {
    fn from(Failed(error): Failed) -> Self {
        match error {
            Error::Refused(message) => ApiError::unprocessable(message),
            Error::Conflict(message) => ApiError::conflict(message),
            Error::Missing(message) => ApiError::not_found(message),
            Error::Read(error) => ApiError::unprocessable(error),
            Error::Fieldmark(error) => ApiError::unprocessable(error),
            error => ApiError::internal(error),
        }
    }
}

/// Works where waiting holds up nobody else.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|error| Failed(error).into()),
        Err(_) => Err(ApiError::internal(
            "the server failed at this request; this is a bug in fieldmark, please report it",
        )),
    }
}

async fn project(State(engine): Shared, user: User) -> Answer<Value> {
    let csrf = user.csrf.clone();
    let overview = blocking(move || engine.overview(&user.name)).await?;
    let mut value = serde_json::to_value(overview).map_err(ApiError::internal)?;
    value["csrf"] = csrf.into();
    Ok(Json(value))
}

async fn settings(State(engine): Shared) -> Answer<SettingsReport> {
    Ok(Json(blocking(move || Ok(engine.settings())).await?))
}

async fn change_settings(
    State(engine): Shared,
    user: User,
    JsonBody(wish): JsonBody<ChangeSettings>,
) -> Answer<SettingsReport> {
    Ok(Json(
        blocking(move || engine.change_settings(&user.name, &wish)).await?,
    ))
}

async fn add_type(
    State(engine): Shared,
    user: User,
    JsonBody(new): JsonBody<NewType>,
) -> Answer<TypesAnswer> {
    Ok(Json(blocking(move || engine.add_type(&user.name, &new)).await?))
}

async fn change_type(
    State(engine): Shared,
    user: User,
    PathOf(id): PathOf<TypeId>,
    JsonBody(change): JsonBody<ChangeType>,
) -> Answer<TypesAnswer> {
    Ok(Json(
        blocking(move || engine.change_type(&user.name, id, &change)).await?,
    ))
}

#[derive(Debug, Deserialize)]
struct QuestionQuery {
    document: Option<DocumentId>,
}

async fn question(
    State(engine): Shared,
    user: User,
    QueryOf(query): QueryOf<QuestionQuery>,
) -> Answer<QuestionAnswer> {
    Ok(Json(
        blocking(move || engine.question(&user.name, query.document)).await?,
    ))
}

async fn act(
    State(engine): Shared,
    user: User,
    JsonBody(request): JsonBody<ActionRequest>,
) -> Answer<ActionAnswer> {
    Ok(Json(blocking(move || engine.act(&user.name, &request)).await?))
}

#[derive(Debug, Deserialize)]
struct Named {
    request: String,
}

async fn undo(State(engine): Shared, user: User, JsonBody(named): JsonBody<Named>) -> Answer<ActionAnswer> {
    Ok(Json(
        blocking(move || engine.undo(&user.name, &named.request, true)).await?,
    ))
}

async fn redo(State(engine): Shared, user: User, JsonBody(named): JsonBody<Named>) -> Answer<ActionAnswer> {
    Ok(Json(
        blocking(move || engine.undo(&user.name, &named.request, false)).await?,
    ))
}

async fn documents(
    State(engine): Shared,
    user: User,
    QueryOf(request): QueryOf<ListRequest>,
) -> Answer<List> {
    Ok(Json(
        blocking(move || engine.documents(&user.name, &request)).await?,
    ))
}

async fn document(State(engine): Shared, user: User, PathOf(id): PathOf<DocumentId>) -> Answer<DocumentView> {
    Ok(Json(blocking(move || engine.document(&user.name, id)).await?))
}

async fn progress(State(engine): Shared) -> Answer<ProgressReport> {
    Ok(Json(blocking(move || engine.progress()).await?))
}

async fn agreement(State(engine): Shared) -> Answer<AgreementReport> {
    Ok(Json(blocking(move || engine.agreement()).await?))
}

async fn adjudication(
    State(engine): Shared,
    user: User,
    PathOf(id): PathOf<DocumentId>,
) -> Answer<AdjudicationView> {
    Ok(Json(blocking(move || engine.adjudication(&user.name, id)).await?))
}

async fn doubts(State(engine): Shared, user: User) -> Answer<DoubtReport> {
    Ok(Json(blocking(move || engine.doubts(&user.name)).await?))
}

async fn find_doubts(State(engine): Shared) -> Result<Response, ApiError> {
    blocking(move || engine.find_doubts()).await?;
    Ok(Json(json!({ "state": "running" })).into_response())
}

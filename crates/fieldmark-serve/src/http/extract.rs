//! What handlers take from requests, with sentences for what is not there.

use super::ApiError;
use super::body::read_body;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

/// A JSON body.
#[derive(Clone, Copy, Debug)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        check_content_type(request.headers(), &["application/json"])?;
        let bytes = read_body(request, None).await?;
        from_json(&bytes).map(Self)
    }
}

/// A value from JSON: 400 for what is no JSON, 422 for JSON that is something else.
pub fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(ApiError::malformed(format_args!(
            "the body is not UTF-8 from byte {} on; JSON is sent as UTF-8",
            error.valid_up_to()
        )));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() {
            return ApiError::unprocessable(format_args!("the body is JSON, but not as expected: {error}"));
        }
        ApiError::malformed(format_args!("the body is no JSON: {error}"))
    })
}

/// Sees whether the body has one of the media types that are taken.
pub fn check_content_type(headers: &HeaderMap, expected: &[&str]) -> Result<(), ApiError> {
    let given = headers.get(header::CONTENT_TYPE);
    let given = given.map_or("", |value| value.to_str().unwrap_or("something unreadable"));
    let media_type = given.split(';').next().unwrap_or_default().trim();
    if expected.iter().any(|one| one.eq_ignore_ascii_case(media_type)) {
        return Ok(());
    }
    let found = if given.is_empty() {
        "there is no Content-Type".to_owned()
    } else {
        format!("the Content-Type is {given:?}")
    };
    Err(ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        format_args!("{found}, expected {}", expected.join(" or ")),
    ))
}

/// What stands after the question mark.
#[derive(Clone, Copy, Debug)]
pub struct QueryOf<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryOf<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Query::try_from_uri(&parts.uri)
            .map(|Query(query)| Self(query))
            .map_err(|error| {
                ApiError::malformed(format_args!(
                    "the query string is not as expected: {}",
                    root(&error)
                ))
            })
    }
}

/// The parameters of a path, such as the 7 of `/documents/7`.
#[derive(Clone, Copy, Debug)]
pub struct PathOf<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathOf<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = parts.uri.path().to_owned();
        Path::from_request_parts(parts, state)
            .await
            .map(|Path(value)| Self(value))
            .map_err(|error| ApiError::not_found(format_args!("there is no path {path}: {error}")))
    }
}

/// The innermost reason, which says what was found.
fn root<'e>(error: &'e (dyn std::error::Error + 'static)) -> &'e dyn std::error::Error {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error
}

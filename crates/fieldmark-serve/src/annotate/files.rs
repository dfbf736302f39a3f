//! Files that come in and go out.

use super::routes::blocking;
use crate::engine::{Engine, ExportOptions, Imported, SentFile};
use crate::http::{ApiError, QueryOf, from_json, read_body};
use crate::project::Error;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use fieldmark::text::formats::DocumentFormat;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Bytes of a file that comes in.
const LARGEST: usize = 256 << 20;

/// The header of an answer that says what the file does not hold.
const WARNING: &str = "x-fieldmark-warning";

/// Notices that are told one by one.
const NOTICES: usize = 20;

#[derive(Debug, Deserialize)]
pub(super) struct Upload {
    name: String,
    #[serde(default)]
    format: Option<String>,
}

/// Adds the documents of a file.
pub(super) async fn upload(
    State(engine): State<Arc<Engine>>,
    QueryOf(upload): QueryOf<Upload>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let format = upload.format.as_deref().filter(|name| !name.is_empty());
    let format = format
        .map(str::parse::<DocumentFormat>)
        .transpose()
        .map_err(ApiError::unprocessable)?;
    let bytes = read_body(request, Some(LARGEST)).await?;
    let imported = blocking(move || engine.add_file(&upload.name, format, bytes)).await?;
    Ok(told(&imported))
}

/// A file among several that are sent at once.
#[derive(Debug, Deserialize)]
struct Part {
    name: String,
    size: usize,
}

/// Adds the documents of several files, all or nothing. The body is a line of JSON with the name and the size of each file,
/// `[{"name": "a.txt", "size": 12}, …]`, and then the files, one after the other.
pub(super) async fn upload_all(
    State(engine): State<Arc<Engine>>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let bytes = read_body(request, Some(LARGEST)).await?;
    let files = parts(&bytes)?;
    drop(bytes);
    let imported = blocking(move || engine.add_files(files, None)).await?;
    Ok(told(&imported))
}

/// The files in a body.
fn parts(body: &[u8]) -> Result<Vec<SentFile>, ApiError> {
    let line = body.iter().position(|&byte| byte == b'\n').unwrap_or(body.len());
    let (head, rest) = body.split_at(line);
    let heads: Vec<Part> = from_json(head)?;
    let mut rest = rest.get(1..).unwrap_or_default();
    let mut files = Vec::with_capacity(heads.len());
    for Part { name, size } in heads {
        let Some((bytes, after)) = rest.split_at_checked(size) else {
            return Err(ApiError::malformed(format_args!(
                "the body ends within {name:?}: {size} bytes were announced, and {} came",
                rest.len()
            )));
        };
        files.push(SentFile {
            name,
            bytes: bytes.to_vec(),
        });
        rest = after;
    }
    if !rest.is_empty() || files.is_empty() {
        return Err(ApiError::malformed(format_args!(
            "the body has {} files and {} bytes after the last of them, expected at least one file and nothing after it",
            files.len(),
            rest.len()
        )));
    }
    Ok(files)
}

/// What came in, as the page shows it.
fn told(imported: &Imported) -> Json<Value> {
    let all = imported.notices.all();
    let mut notices: Vec<String> = all.iter().take(NOTICES).map(ToString::to_string).collect();
    if all.len() > NOTICES {
        notices.push(format!("… and {} more", all.len() - NOTICES));
    }
    if imported.repeated > 0 {
        notices.push(format!(
            "documents that were there already and are left out: {}",
            imported.repeated
        ));
    }
    Json(json!({
        "added": imported.added,
        "labelled": imported.labelled,
        "notices": notices,
        "notes": notices,
    }))
}

#[derive(Debug, Deserialize)]
pub(super) struct Export {
    format: String,
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    fill: bool,
    #[serde(default)]
    labelled: bool,
}

/// All documents as a file.
pub(super) async fn export(
    State(engine): State<Arc<Engine>>,
    QueryOf(export): QueryOf<Export>,
) -> Result<Response, ApiError> {
    let format: DocumentFormat = export.format.parse().map_err(ApiError::unprocessable)?;
    let options = ExportOptions {
        user: export.user.filter(|name| !name.is_empty()),
        fill: export.fill,
        labelled_only: export.labelled,
    };
    let exported = blocking(move || engine.export(format, &options)).await?;
    let mut response = download(&exported.name, exported.content_type, exported.bytes);
    let warning = exported
        .warning
        .and_then(|warning| HeaderValue::try_from(warning).ok());
    if let Some(warning) = warning {
        response.headers_mut().insert(WARNING, warning);
    }
    Ok(response)
}

/// The model as a file.
pub(super) async fn model(State(engine): State<Arc<Engine>>) -> Result<Response, ApiError> {
    let bytes = blocking(move || {
        let path = engine.model_file()?;
        Ok::<_, Error>(std::fs::read(path)?)
    });
    Ok(download("model.fmk", "application/octet-stream", bytes.await?))
}

fn download(name: &str, content_type: &'static str, bytes: Vec<u8>) -> Response {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-._".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(plain).collect();
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    // The name is plain ASCII.
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

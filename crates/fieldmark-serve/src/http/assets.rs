//! Files that are part of the program: styles, scripts, icons.
//!
//! They are found by their exact path and never looked for on the disk, so that no path leads anywhere else.

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest, Sha256};

/// A file that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its path on the server, such as `/assets/app.js`.
    pub path: &'static str,
    /// What it holds.
    pub bytes: &'static [u8],
}

impl Asset {
    /// A file, usually by `include_bytes!`.
    pub const fn new(path: &'static str, bytes: &'static [u8]) -> Self {
        Self { path, bytes }
    }

    fn content_type(&self) -> &'static str {
        match self.path.rsplit_once('.').map(|(_, extension)| extension) {
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("html") => "text/html; charset=utf-8",
            Some("json") => "application/json",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            Some("woff2") => "font/woff2",
            _ => "application/octet-stream",
        }
    }

    fn tag(&self) -> String {
        let hash: [u8; 32] = Sha256::digest(self.bytes).into();
        let digits: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("\"{digits}\"")
    }
}

/// Adds files to a router.
pub fn add_assets<S: Clone + Send + Sync + 'static>(router: Router<S>, assets: &[Asset]) -> Router<S> {
    assets.iter().fold(router, |router, &asset| {
        let tag = asset.tag();
        router.route(
            asset.path,
            get(move |headers: HeaderMap| async move { answer(asset, &tag, &headers) }),
        )
    })
}

fn answer(asset: Asset, tag: &str, headers: &HeaderMap) -> Response {
    let known = headers.get_all(header::IF_NONE_MATCH).iter();
    let known = known
        .filter_map(|tags| tags.to_str().ok())
        .flat_map(|tags| tags.split(','))
        .any(|one| [tag, "*"].contains(&one.trim().trim_start_matches("W/")));
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, asset.content_type())], asset.bytes).into_response()
    };
    let headers = response.headers_mut();
    // A new version of the program shows its new pages at once.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

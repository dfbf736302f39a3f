//! The page to try a model.

use crate::http::{Asset, User, page};
use axum::response::Response;

/// Its files.
pub(super) const ASSETS: &[Asset] = &[
    Asset::new(
        "/assets/serve/app.css",
        include_bytes!("../../assets/serve/app.css"),
    ),
    Asset::new(
        "/assets/serve/app.js",
        include_bytes!("../../assets/serve/app.js"),
    ),
    Asset::new(
        "/assets/serve/api.js",
        include_bytes!("../../assets/serve/api.js"),
    ),
    Asset::new(
        "/assets/serve/marks.js",
        include_bytes!("../../assets/serve/marks.js"),
    ),
    Asset::new(
        "/assets/serve/why.js",
        include_bytes!("../../assets/serve/why.js"),
    ),
    Asset::new(
        "/assets/serve/icon.svg",
        include_bytes!("../../assets/serve/icon.svg"),
    ),
];

const INDEX: &str = include_str!("../../assets/serve/index.html");

pub(super) async fn show(user: User) -> Response {
    page(INDEX, &user)
}

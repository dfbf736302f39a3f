//! The files of the page, which are part of the program.

use crate::http::Asset;

macro_rules! assets {
    ($($name:literal)*) => {
        &[$(Asset::new(
            concat!("/assets/", $name),
            include_bytes!(concat!("../../assets/annotate/", $name)),
        )),*]
    };
}

/// Everything but the page itself.
pub(super) const FILES: &[Asset] = assets![
    "actions.js"
    "adjudicate.js"
    "agreement.js"
    "api.js"
    "app.css"
    "app.js"
    "ask.js"
    "dialogs.js"
    "documents.js"
    "dom.js"
    "doubts.js"
    "icon.svg"
    "keys.js"
    "marks.js"
    "plot.js"
    "progress.js"
    "read.js"
    "setup.js"
    "state.js"
    "stopwatch.js"
    "take.js"
    "textview.js"
    "types.js"
    "upload.js"
    "words.js"
];

/// The page itself.
pub(super) const PAGE: &str = include_str!("../../assets/annotate/index.html");

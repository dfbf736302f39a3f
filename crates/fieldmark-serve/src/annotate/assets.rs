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
    "settings.js"
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn text(name: &str) -> &'static str {
        let path = format!("/assets/{name}");
        let asset = FILES.iter().find(|asset| asset.path == path).unwrap();
        std::str::from_utf8(asset.bytes).unwrap()
    }

    #[test]
    fn every_file_of_the_page_is_part_of_the_program() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/annotate");
        let there = std::fs::read_dir(folder).unwrap();
        let there = there.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut there: BTreeSet<String> = there.map(|name| format!("/assets/{name}")).collect();
        assert!(there.remove("/assets/index.html"));
        let embedded: BTreeSet<String> = FILES.iter().map(|asset| asset.path.to_owned()).collect();
        assert_eq!(there, embedded);
    }

    #[test]
    fn data_never_become_markup_and_nothing_comes_from_elsewhere() {
        for asset in FILES {
            let source = std::str::from_utf8(asset.bytes)
                .unwrap()
                .replace("http://www.w3.org/2000/svg", "");
            for way in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "Function(",
                "http:",
                "https:",
                "url(",
                "@import",
            ] {
                assert!(!source.contains(way), "{}: {way}", asset.path);
            }
        }
        for way in ["style=", "<style", "onclick", "onload", "http:", "https:"] {
            assert!(!PAGE.contains(way), "{way}");
        }
    }

    #[test]
    fn every_module_that_is_imported_is_there() {
        let mut imports = 0;
        for asset in FILES.iter().filter(|asset| asset.path.ends_with(".js")) {
            let source = std::str::from_utf8(asset.bytes).unwrap();
            for name in source
                .split(" from \"./")
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap())
            {
                text(name);
                imports += 1;
            }
        }
        assert!(imports > 50);
    }

    type Rgb = [f64; 3];

    /// The colours of the style sheet by scheme (dark or not), class (empty for the page itself) and name.
    fn colours() -> BTreeMap<(bool, String, String), Rgb> {
        let (mut found, mut dark, mut class) = (BTreeMap::new(), false, String::new());
        for line in text("app.css").lines() {
            if line.starts_with("@media") {
                dark = line.contains("prefers-color-scheme: dark");
            } else if line == "}" {
                dark = false;
            }
            let line = line.trim();
            if let Some((selector, _)) = line.split_once('{') {
                class = selector.trim().trim_start_matches([':', '.']).replace("root", "");
            }
            for declaration in line.split(['{', ';', '}']) {
                let Some((name, value)) = declaration.trim().split_once(": #") else {
                    continue;
                };
                if let (true, Some(name)) = (value.len() == 6, name.strip_prefix("--")) {
                    let channel = |at: usize| f64::from(u8::from_str_radix(&value[at..at + 2], 16).unwrap());
                    found.insert(
                        (dark, class.clone(), name.to_owned()),
                        [channel(0), channel(2), channel(4)],
                    );
                }
            }
        }
        found
    }

    /// Contrast by WCAG 2.2.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let luminance = |rgb: Rgb| {
            let [r, g, b] = rgb.map(|channel| match channel / 255.0 {
                c if c <= 0.04045 => c / 12.92,
                c => ((c + 0.055) / 1.055f64).powf(2.4),
            });
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_colour_meets_wcag_aa() {
        let colours = colours();
        for dark in [false, true] {
            let of = |class: &str, name: &str| colours[&(dark, class.to_owned(), name.to_owned())];
            let page = |name: &str| of("", name);
            let mut pairs = vec![
                ("ink", page("ink"), page("page"), 4.5),
                ("ink", page("ink"), page("card"), 4.5),
                ("soft", page("soft"), page("page"), 4.5),
                ("soft", page("soft"), page("card"), 4.5),
                ("links", page("focus"), page("page"), 4.5),
                ("buttons", page("on-focus"), page("focus"), 4.5),
                ("warnings", page("on-warn"), page("warn"), 4.5),
                ("right", page("right"), page("page"), 4.5),
                // Borders of controls and parts of drawings.
                ("rim", page("rim"), page("card"), 3.0),
                ("rim", page("rim"), page("page"), 3.0),
                ("bar", page("bar"), page("card"), 3.0),
            ];
            for slot in 0..10 {
                let class = format!("c{slot}");
                let (tint, strong) = (of(&class, "tint"), of(&class, "strong"));
                pairs.push(("words", page("ink"), tint, 4.5));
                pairs.push(("types", strong, tint, 4.5));
                pairs.push(("curves", strong, page("card"), 4.5));
            }
            for (what, above, below, least) in pairs {
                let found = contrast(above, below);
                assert!(
                    found >= least,
                    "{what}, dark {dark}: {above:?} on {below:?} has {found:.2}"
                );
            }
        }
    }
}

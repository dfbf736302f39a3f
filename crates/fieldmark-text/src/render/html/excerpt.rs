//! [`Excerpt`]: a piece of text in which two sets of spans are laid over each other.

use super::{Escaped, Html};
use crate::render::{Palette, RenderError, percent};
use std::ops::Range;

/// A piece of text with what should be marked (underlined) and what was marked (shaded) in it. Spans may overlap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excerpt {
    /// A line above it: what is wrong.
    pub heading: String,
    /// Where it comes from.
    pub source: String,
    /// The text.
    pub text: String,
    /// What should be marked.
    pub gold: Vec<Mark>,
    /// What was marked.
    pub found: Vec<Mark>,
}

/// A span of an excerpt.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The bytes that it covers.
    pub range: Range<usize>,
    /// Its type.
    pub kind: String,
    /// How sure a model was of it.
    pub confidence: Option<f64>,
    /// Whether the excerpt is there for its sake.
    pub focus: bool,
}

impl Excerpt {
    pub(super) fn check(&self) -> Result<(), RenderError> {
        let fits = |range: &Range<usize>| range.start < range.end && self.text.get(range.clone()).is_some();
        match self.marks().find(|mark| !fits(&mark.range)) {
            Some(mark) => Err(RenderError::Mark {
                start: mark.range.start,
                end: mark.range.end,
                kind: mark.kind.clone(),
            }),
            None => Ok(()),
        }
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.marks().map(|mark| mark.kind.as_str())
    }

    fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.gold.iter().chain(&self.found)
    }

    /// The text, cut at every border of a mark.
    fn pieces(&self) -> Vec<Range<usize>> {
        let borders = self.marks().flat_map(|mark| [mark.range.start, mark.range.end]);
        let mut borders: Vec<usize> = borders.chain([0, self.text.len()]).collect();
        borders.sort_unstable();
        borders.dedup();
        borders.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }
}

/// The mark that covers a piece; of several, the one in focus.
fn covering<'a>(marks: &'a [Mark], piece: &Range<usize>) -> Option<&'a Mark> {
    let covers = |mark: &&Mark| mark.range.start <= piece.start && piece.end <= mark.range.end;
    marks.iter().filter(covers).max_by_key(|mark| mark.focus)
}

impl Html {
    pub(super) fn excerpts(&mut self, excerpts: &[Excerpt], palette: &Palette<'_>) {
        self.raw("<ul class=\"excerpts\">\n");
        for excerpt in excerpts {
            self.raw("<li>\n<p class=\"what\">");
            if !excerpt.heading.is_empty() {
                self.put(format_args!("<b>{}</b> ", Escaped(&excerpt.heading)));
            }
            self.answer("gold", &excerpt.gold, palette);
            self.answer("predicted", &excerpt.found, palette);
            self.put(format_args!(
                "<span class=\"from\" dir=\"auto\">{}</span></p>\n<p class=\"excerpt\" dir=\"auto\">",
                Escaped(&excerpt.source)
            ));
            for piece in excerpt.pieces() {
                self.piece(excerpt, &piece, palette);
            }
            self.raw("</p>\n</li>\n");
        }
        self.raw("</ul>\n");
    }

    /// The types in focus, for those who do not see colours or lines.
    fn answer(&mut self, side: &str, marks: &[Mark], palette: &Palette<'_>) {
        for mark in marks.iter().filter(|mark| mark.focus) {
            self.put(format_args!(
                "<span class=\"answer\">{side} <span class=\"kind c{}\">{}</span>",
                palette.slot(&mark.kind),
                Escaped(&mark.kind)
            ));
            if let Some(confidence) = mark.confidence {
                self.put(format_args!(" {}", Escaped(&percent(confidence))));
            }
            self.raw("</span> ");
        }
    }

    fn piece(&mut self, excerpt: &Excerpt, piece: &Range<usize>, palette: &Palette<'_>) {
        let text = Escaped(&excerpt.text[piece.clone()]);
        let gold = covering(&excerpt.gold, piece);
        let found = covering(&excerpt.found, piece);
        if gold.is_none() && found.is_none() {
            return self.put(format_args!("{text}"));
        }
        let focus = [gold, found].into_iter().flatten().any(|mark| mark.focus);
        let focus = if focus { " focus" } else { "" };
        match gold {
            Some(mark) => self.put(format_args!(
                "<span class=\"gold c{}{focus}\">",
                palette.slot(&mark.kind)
            )),
            None => self.raw("<span>"),
        }
        match found {
            Some(mark) => self.put(format_args!(
                "<span class=\"found c{}{focus}\">{text}</span></span>",
                palette.slot(&mark.kind)
            )),
            None => self.put(format_args!("{text}</span>")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::html::{Page, Section};

    fn mark(range: Range<usize>, kind: &str) -> Mark {
        Mark {
            range,
            kind: kind.to_owned(),
            confidence: Some(0.97),
            focus: true,
        }
    }

    fn page(excerpt: Excerpt) -> Result<String, RenderError> {
        Page {
            title: "t",
            lead: "",
            documents: &[],
            sections: &[Section::new("s").with_excerpts(vec![excerpt])],
        }
        .to_html()
    }

    #[test]
    fn spans_that_overlap_are_laid_over_each_other() {
        let excerpt = Excerpt {
            text: "alpha beta gamma".to_owned(),
            gold: vec![mark(0..10, "GENE")],
            found: vec![mark(6..16, "DRUG")],
            ..Excerpt::default()
        };
        assert_eq!(excerpt.pieces(), [0..6, 6..10, 10..16]);
        let html = page(excerpt).unwrap();
        let body = html.split_once("<body>").unwrap().1;
        assert!(body.contains("\">alpha </span><span class=\"gold "), "{body}");
        assert!(
            body.contains("\">beta</span></span><span><span class=\"found "),
            "{body}"
        );
        assert!(
            body.contains("predicted <span class=\"kind c3\">DRUG</span> 97%"),
            "{body}"
        );
    }

    #[test]
    fn everything_is_escaped() {
        let evil = "<img src=x onerror='1'>&\"";
        let html = page(Excerpt {
            heading: evil.to_owned(),
            source: evil.to_owned(),
            text: evil.to_owned(),
            gold: vec![mark(0..4, evil)],
            found: vec![mark(2..6, evil)],
        })
        .unwrap();
        assert!(!html.contains("<img") && !html.contains("onerror='"));
        assert!(html.matches("&lt;im").count() >= 4, "{html}");
    }

    #[test]
    fn marks_that_do_not_fit_are_errors() {
        for range in [0..9, 1..2, 3..3] {
            let excerpt = Excerpt {
                text: "äbc".to_owned(),
                gold: vec![mark(range, "X")],
                ..Excerpt::default()
            };
            assert!(matches!(page(excerpt), Err(RenderError::Mark { .. })));
        }
    }
}

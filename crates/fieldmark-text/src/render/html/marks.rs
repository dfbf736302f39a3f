//! Annotated text in which spans may nest and overlap: each has a line of its own under the words.

use super::{Escaped, Html};
use crate::render::{Annotation, Palette, RenderError, check, percent};
use std::cmp::Reverse;

/// The spans of a text, in the order in which they are opened: long ones around short ones.
pub(super) struct Layers<'a> {
    text: &'a str,
    marks: Vec<&'a Annotation<'a>>,
    /// How many lines lie above that of each span: those of spans inside of it.
    lines: Vec<usize>,
    /// The bytes at which spans begin or end, with both ends of the text; and the characters before them.
    borders: Vec<(usize, usize)>,
}

impl<'a> Layers<'a> {
    pub fn new(text: &'a str, annotations: &'a [Annotation<'a>]) -> Result<Self, RenderError> {
        let mut marks: Vec<&Annotation<'_>> = annotations.iter().collect();
        for mark in &marks {
            check(text, mark)?;
        }
        marks.sort_by_key(|mark| (mark.start, Reverse(mark.end)));
        let mut lines = vec![0; marks.len()];
        for at in (0..marks.len()).rev() {
            let inside = (at + 1..marks.len()).take_while(|&other| marks[other].start < marks[at].end);
            lines[at] = inside.map(|other| lines[other] + 1).max().unwrap_or(0);
        }
        let ends = marks.iter().flat_map(|mark| [mark.start, mark.end]);
        let mut bytes: Vec<usize> = ends.chain([0, text.len()]).collect();
        bytes.sort_unstable();
        bytes.dedup();
        let mut last = (0, 0);
        let borders = bytes.into_iter().map(|byte| {
            last = (byte, last.1 + text[last.0..byte].chars().count());
            last
        });
        Ok(Self {
            text,
            borders: borders.collect(),
            marks,
            lines,
        })
    }

    /// The characters before one of the borders.
    fn characters(&self, byte: usize) -> usize {
        let place = self.borders.partition_point(|&(border, _)| border < byte);
        self.borders[place].1
    }
}

impl Html {
    /// A text with its spans. One that begins inside of another and ends after it is drawn in two parts, of which the
    /// last one tells its type.
    pub(super) fn layers(&mut self, layers: &Layers<'_>, tokens: bool, palette: &Palette<'_>) {
        let mut open: Vec<usize> = Vec::new();
        let mut next = 0;
        for piece in layers.borders.windows(2) {
            let piece = [piece[0].0, piece[1].0];
            while let Some(mark) = layers.marks.get(next).filter(|mark| mark.start <= piece[0]) {
                self.open(layers, next, palette.slot(mark.kind));
                open.push(next);
                next += 1;
            }
            self.put(format_args!("{}", Escaped(&layers.text[piece[0]..piece[1]])));
            let first = open.iter().position(|&at| layers.marks[at].end <= piece[1]);
            let Some(first) = first else { continue };
            let closed = open.split_off(first);
            for &at in closed.iter().rev() {
                self.close(layers, at, piece[1], tokens);
            }
            for at in closed.into_iter().filter(|&at| layers.marks[at].end > piece[1]) {
                self.open(layers, at, palette.slot(layers.marks[at].kind));
                open.push(at);
            }
        }
    }

    fn open(&mut self, layers: &Layers<'_>, at: usize, slot: usize) {
        let (mark, lines) = (layers.marks[at], layers.lines[at]);
        let doubt = match mark.confidence {
            None => " unsaid",
            Some(confidence) if confidence < 0.5 => " doubt",
            Some(_) => "",
        };
        // The number is that of the span, so that the parts of one share a note.
        let note = self.notes + at + 1;
        self.put(format_args!(
            "<mark class=\"c{slot}{doubt}\" tabindex=\"0\" aria-describedby=\"n{note}\""
        ));
        let mut style = Vec::new();
        style.extend(
            mark.confidence
                .map(|confidence| format!("--sure:{confidence:.3}")),
        );
        style.extend((lines > 0).then(|| format!("--lines:{lines}")));
        if !style.is_empty() {
            self.put(format_args!(" style=\"{}\"", style.join(";")));
        }
        self.raw(">");
    }

    /// Ends a mark; if it is the end of its span, with type and note. The confidence of a token is in its note alone:
    /// there is one beside the other.
    fn close(&mut self, layers: &Layers<'_>, at: usize, place: usize, tokens: bool) {
        let mark = layers.marks[at];
        if mark.end > place {
            return self.raw("</mark>");
        }
        let (note, kind) = (self.notes + at + 1, Escaped(mark.kind));
        self.put(format_args!("<span class=\"tag\">{kind}"));
        if let Some(confidence) = mark.confidence.filter(|_| !tokens) {
            self.put(format_args!(" {}", Escaped(&percent(confidence))));
        }
        self.put(format_args!(
            "</span><span class=\"tip\" role=\"tooltip\" id=\"n{note}\"><b>{kind}</b>"
        ));
        if let Some(confidence) = mark.confidence {
            self.put(format_args!("Confidence {confidence:.4}<br>"));
        }
        let (start, end) = (layers.characters(mark.start), layers.characters(mark.end));
        self.put(format_args!("Characters {start} to {end}</span></mark>"));
    }

    /// Goes on after the notes of a text.
    pub(super) fn end_layers(&mut self, layers: &Layers<'_>) {
        self.notes += layers.marks.len();
    }
}

#[cfg(test)]
mod tests {
    use crate::render::Annotation;
    use crate::render::html::{Document, Page};
    use proptest::prelude::*;

    fn body(text: &str, annotations: &[Annotation<'_>]) -> String {
        let documents = [Document {
            heading: "",
            text,
            annotations,
            tokens: false,
        }];
        let page = Page {
            title: "t",
            lead: "",
            documents: &documents,
            sections: &[],
        };
        let html = page.to_html().unwrap();
        let text = html.split_once("<div class=\"text\"").unwrap().1;
        text.split_once("</div>").unwrap().0.to_owned()
    }

    /// What a reader sees of the text itself.
    fn words(body: &str) -> String {
        let (mut text, mut hidden) = (String::new(), 0);
        for part in body.split('<').skip(1) {
            let (tag, rest) = part.split_once('>').unwrap();
            if tag.starts_with("span") {
                hidden += 1;
            } else if tag == "/span" {
                hidden -= 1;
            }
            if hidden == 0 {
                text += rest;
            }
        }
        text
    }

    #[test]
    fn a_span_inside_another_is_inside_its_mark() {
        let marks = [
            Annotation::new(0, 8, "LOC"),
            Annotation::new(0, 14, "ORG").with_confidence(0.8),
        ];
        let body = body("New York Times sold", &marks);
        let order = [
            "--lines:1",
            "<mark",
            "New York",
            ">LOC<",
            "</mark> Times",
            ">ORG 80%<",
            "</mark> sold",
        ];
        let mut at = 0;
        for expected in order {
            let found = body[at..]
                .find(expected)
                .unwrap_or_else(|| panic!("{expected} in {body}"));
            at += found + expected.len();
        }
        assert_eq!(body.matches("--lines").count(), 1);
    }

    #[test]
    fn spans_that_cross_are_cut_and_tell_their_type_once() {
        let marks = [Annotation::new(0, 5, "A"), Annotation::new(3, 8, "B")];
        let body = body("abcdefgh", &marks);
        assert_eq!(body.matches("<mark").count(), 3, "{body}");
        assert_eq!(
            (
                body.matches(">A</span>").count(),
                body.matches(">B</span>").count()
            ),
            (1, 1)
        );
        assert_eq!(body.matches("aria-describedby=\"n2\"").count(), 2);
        assert_eq!(words(&format!("<{body}")), "abcdefgh");
    }

    proptest! {
        #[test]
        fn marks_nest_and_no_text_is_lost(
            text in "[a-z]{1,12}",
            spans in prop::collection::vec((0usize..12, 1usize..6), 0..6),
        ) {
            let marks: Vec<Annotation<'_>> = spans
                .iter()
                .map(|&(start, length)| (start, (start + length).min(text.len())))
                .filter(|(start, end)| start < end)
                .map(|(start, end)| Annotation::new(start, end, "X"))
                .collect();
            let body = body(&text, &marks);
            prop_assert_eq!(words(&format!("<{}", body)), text);
            prop_assert_eq!(body.matches("<mark").count(), body.matches("</mark>").count());
            prop_assert_eq!(body.matches("role=\"tooltip\"").count(), marks.len());
        }
    }
}

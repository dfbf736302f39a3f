//! [`Flow`]: running text out of marked-up text: white space collapsed, blocks on lines of their own, parts noted.

use crate::document::{Document, Element, Place};
use std::cmp::Reverse;
use std::ops::Range;

/// A text that grows, with the parts of the document that have ended.
#[derive(Debug, Default)]
pub(super) struct Flow {
    text: String,
    pending: Pending,
    /// Whether white space stays as it is.
    pub(super) verbatim: bool,
    /// Whether it is noted where each stretch of text comes from.
    trace: bool,
    stretches: Vec<(Range<usize>, Range<usize>)>,
    elements: Vec<Element>,
}

/// What comes before the next visible character. White space at the end of a line is never written.
#[derive(Clone, Debug, Default, PartialEq)]
enum Pending {
    #[default]
    Nothing,
    Space(Range<usize>),
    /// The border between cells of a table.
    Tab,
    Line,
}

impl Flow {
    /// A text that knows where each stretch of it comes from.
    pub(super) fn traced() -> Self {
        Self {
            trace: true,
            ..Self::default()
        }
    }

    /// Where a part that begins now begins; what is pending comes before it.
    pub(super) fn mark(&self) -> usize {
        self.text.len()
    }

    /// Text as it stands at `place` in the source, or one thing in the source, such as a reference, that means it.
    pub(super) fn push(&mut self, text: &str, place: Range<usize>) {
        let same = text.len() == place.len();
        let from = |part: Range<usize>| match same {
            true => place.start + part.start..place.start + part.end,
            false => place.clone(),
        };
        if self.verbatim {
            return self.push_verbatim(text, from);
        }
        let mut at = 0;
        for part in text.split_inclusive(is_space) {
            let visible = part.trim_end_matches(is_space);
            if !visible.is_empty() {
                self.put(visible, from(at..at + visible.len()));
            }
            if visible.len() < part.len() {
                self.space(from(at + visible.len()..at + part.len()));
            }
            at += part.len();
        }
    }

    fn push_verbatim(&mut self, text: &str, from: impl Fn(Range<usize>) -> Range<usize>) {
        let mut at = 0;
        for part in text.split_inclusive("\r\n") {
            match part.strip_suffix("\r\n") {
                Some(line) => {
                    if !line.is_empty() {
                        self.put(line, from(at..at + line.len()));
                    }
                    self.put("\n", from(at + line.len()..at + part.len()));
                }
                None => self.put(part, from(at..at + part.len())),
            }
            at += part.len();
        }
    }

    fn put(&mut self, text: &str, place: Range<usize>) {
        match std::mem::take(&mut self.pending) {
            Pending::Nothing => {}
            Pending::Line => self.text.push('\n'),
            Pending::Tab => self.text.push('\t'),
            Pending::Space(from) => {
                self.trace(1, from);
                self.text.push(' ');
            }
        }
        self.trace(text.len(), place);
        self.text.push_str(text);
    }

    fn trace(&mut self, len: usize, place: Range<usize>) {
        if !self.trace {
            return;
        }
        let start = self.text.len();
        match self.stretches.last_mut() {
            Some((range, from))
                if len == place.len()
                    && range.len() == from.len()
                    && (range.end, from.end) == (start, place.start) =>
            {
                range.end += len;
                from.end = place.end;
            }
            _ => self.stretches.push((start..start + len, place)),
        }
    }

    /// White space; nothing at the beginning of a line.
    pub(super) fn space(&mut self, place: Range<usize>) {
        match &mut self.pending {
            Pending::Space(from) if from.end == place.start => from.end = place.end,
            Pending::Nothing if !self.text.is_empty() && !self.text.ends_with('\n') => {
                self.pending = Pending::Space(place);
            }
            _ => {}
        }
    }

    /// Begins a new line, unless one begins here.
    pub(super) fn line(&mut self) {
        if !self.text.is_empty() {
            self.pending = match self.text.ends_with('\n') {
                true => Pending::Nothing,
                false => Pending::Line,
            };
        }
    }

    /// Begins a new cell of a table, unless a line begins here.
    pub(super) fn cell(&mut self) {
        if self.pending != Pending::Line && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.pending = Pending::Tab;
        }
    }

    /// Ends a part that began at `mark`, unless it holds no text. Its range is given back.
    pub(super) fn element(&mut self, kind: &str, mark: usize, place: Range<usize>) -> Option<Range<usize>> {
        let range = self.since(mark);
        if range.is_empty() {
            return None;
        }
        self.elements.push(Element {
            kind: kind.to_owned(),
            range: range.clone(),
            place: Some(Place::Bytes(place)),
        });
        Some(range)
    }

    /// What was written since `mark`, without the white space that was pending then.
    pub(super) fn since(&self, mark: usize) -> Range<usize> {
        let part = &self.text[mark..];
        let pended = usize::from(part.starts_with([' ', '\t', '\n']));
        mark + pended..self.text.len()
    }

    /// The document.
    pub(super) fn finish(mut self) -> Document {
        // The order of the text; of two parts that begin together the larger comes first.
        self.elements
            .sort_by_key(|element| (element.range.start, Reverse(element.range.end)));
        let stretches = self.stretches.into_iter().map(|(range, place)| Element {
            kind: "text".to_owned(),
            range,
            place: Some(Place::Bytes(place)),
        });
        self.elements.extend(stretches);
        self.elements
            .sort_by_key(|element| (element.range.start, Reverse(element.range.end)));
        Document {
            text: self.text,
            elements: self.elements,
            ..Document::default()
        }
    }
}

/// White space as HTML and XML know it. A no-break space is a character like others.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_collapses_and_comes_from_where_it_stood() {
        let mut flow = Flow::traced();
        flow.push("  a \n b", 0..7);
        flow.push("&", 7..12);
        flow.line();
        let mark = flow.mark();
        flow.push(" c ", 20..23);
        assert_eq!(flow.element("paragraph", mark, 16..30), Some(5..6));
        let document = flow.finish();
        assert_eq!(document.text, "a b&\nc");
        let places: Vec<(Range<usize>, Option<Place>)> = document
            .elements
            .iter()
            .filter(|element| element.kind == "text")
            .map(|element| (element.range.clone(), element.place.clone()))
            .collect();
        let place = |range| Some(Place::Bytes(range));
        let expected = [
            (0..1, place(2..3)),
            (1..2, place(3..6)),
            (2..3, place(6..7)),
            (3..4, place(7..12)),
            (5..6, place(21..22)),
        ];
        assert_eq!(places, expected);
    }
}

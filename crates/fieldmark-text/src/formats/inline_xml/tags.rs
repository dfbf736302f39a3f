//! Tags in text that may or may not be XML.

use super::super::xml::resolve;

/// A tag longer than this is taken for text, so that quotes that never end cost little.
const LONGEST: usize = 1 << 16;

/// Something between `<` and `>`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tag {
    pub name: String,
    pub shape: Shape,
    pub attributes: Vec<(String, String)>,
    /// Where it stands in the text.
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Start,
    End,
    Empty,
    /// A comment, a processing instruction or a document type.
    Aside,
}

/// All tags of a text, in order. What only looks like the beginning of a tag is none.
pub(super) fn tags(text: &str) -> Vec<Tag> {
    let mut tags: Vec<Tag> = Vec::new();
    let mut done = 0;
    let mut ends = Ends::default();
    for start in memchr::memchr_iter(b'<', text.as_bytes()) {
        if start < done {
            continue;
        }
        let found = aside(text, start, &mut ends).or_else(|| tag(text, start));
        if let Some(tag) = found {
            done = tag.end;
            tags.push(tag);
        }
    }
    tags
}

/// Ends of asides that do not come any more: what was not found once need not be looked for again.
#[derive(Default)]
struct Ends(Vec<&'static [u8]>);

impl Ends {
    fn find(&mut self, text: &[u8], end: &'static [u8]) -> Option<usize> {
        if self.0.contains(&end) {
            return None;
        }
        let found = memchr::memmem::find(text, end).map(|at| at + end.len());
        if found.is_none() {
            self.0.push(end);
        }
        found
    }
}

fn aside(text: &str, start: usize, ends: &mut Ends) -> Option<Tag> {
    let rest = &text.as_bytes()[start..];
    let len = if rest.starts_with(b"<!--") {
        4 + ends.find(&rest[4..], b"-->")?
    } else if rest.starts_with(b"<?xml") {
        ends.find(rest, b"?>")?
    } else if rest.starts_with(b"<!DOCTYPE") {
        let end = ends.find(rest, b">")?;
        match memchr::memchr(b'[', &rest[..end]) {
            Some(_) => ends.find(rest, b"]>")?,
            None => end,
        }
    } else {
        return None;
    };
    Some(Tag {
        name: String::new(),
        shape: Shape::Aside,
        attributes: Vec::new(),
        start,
        end: start + len,
    })
}

fn tag(text: &str, start: usize) -> Option<Tag> {
    let mut end = text.len().min(start + LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut rest = Rest(&text[start + 1..end]);
    let is_end = rest.take("/");
    let name = rest.name()?;
    let mut attributes = Vec::new();
    let shape = loop {
        let space = rest.space();
        if rest.take(">") {
            break if is_end { Shape::End } else { Shape::Start };
        }
        if !is_end && rest.take("/>") {
            break Shape::Empty;
        }
        if !space || is_end {
            return None;
        }
        attributes.push(rest.attribute()?);
    };
    Some(Tag {
        name: name.to_owned(),
        shape,
        attributes,
        start,
        end: end - rest.0.len(),
    })
}

struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn take(&mut self, expected: &str) -> bool {
        match self.0.strip_prefix(expected) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn space(&mut self) -> bool {
        let rest = self.0.trim_start_matches([' ', '\t', '\r', '\n']);
        let found = rest.len() < self.0.len();
        self.0 = rest;
        found
    }

    fn name(&mut self) -> Option<&'a str> {
        let len = name_len(self.0);
        let (name, rest) = self.0.split_at(len);
        self.0 = rest;
        (len > 0).then_some(name)
    }

    fn attribute(&mut self) -> Option<(String, String)> {
        let name = self.name()?;
        self.space();
        if !self.take("=") {
            return None;
        }
        self.space();
        let quote = self.0.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, rest) = self.0[1..].split_once(quote)?;
        self.0 = rest;
        Some((name.to_owned(), unescape(value)))
    }
}

/// Length of the name at the beginning.
fn name_len(text: &str) -> usize {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    match text.chars().next() {
        Some(c) if c.is_alphabetic() || c == '_' => text.find(|c| !inner(c)).unwrap_or(text.len()),
        _ => 0,
    }
}

/// A name that is allowed for a tag, as like the given one as possible.
pub(super) fn as_name(name: &str) -> String {
    let mut fitted = String::new();
    for c in name.chars() {
        let candidate = format!("{fitted}{c}");
        if name_len(&candidate) == candidate.len() {
            fitted = candidate;
        } else if fitted.is_empty() && name_len(&format!("_{c}")) > 1 {
            fitted = format!("_{c}");
        } else {
            fitted.push('_');
        }
    }
    if fitted.is_empty() { "_".to_owned() } else { fitted }
}

/// Text with references such as `&amp;` resolved; others stay.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for start in memchr::memchr_iter(b'&', text.as_bytes()) {
        if start < at {
            continue;
        }
        let reference = &text.as_bytes()[start..text.len().min(start + 40)];
        if let Some(len) = memchr::memchr(b';', reference)
            && let Some(meaning) = text.get(start..=start + len).and_then(resolve)
        {
            out.push_str(&text[at..start]);
            out.push_str(&meaning);
            at = start + len + 1;
        }
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, Shape)> {
        tags(text).into_iter().map(|tag| (tag.name, tag.shape)).collect()
    }

    #[test]
    fn tags_are_told_from_text() {
        assert!(names("<0.18.3.94@andrew.cmu.edu> a < b > c <nch@cs.cmu.edu> <I believe> < a>").is_empty());
        let found = names("<a><b c='1' d = \"x>y\"/></a ><!-- <e> --><f");
        let expected = [
            ("a", Shape::Start),
            ("b", Shape::Empty),
            ("a", Shape::End),
            ("", Shape::Aside),
        ];
        assert_eq!(found, expected.map(|(name, shape)| (name.to_owned(), shape)));
    }

    #[test]
    fn names_are_made_to_fit() {
        for (name, fitted) in [
            ("GENE", "GENE"),
            ("gene name", "gene_name"),
            ("5'UTR", "_5_UTR"),
            ("", "_"),
            ("-a", "_-a"),
        ] {
            assert_eq!(as_name(name), fitted);
            assert_eq!(name_len(fitted), fitted.len());
        }
    }

    #[test]
    fn references_are_resolved_once() {
        assert_eq!(
            unescape("&amp;lt; AT&T &eacute;&#65;&nonsense;"),
            "&lt; AT&T éA&nonsense;"
        );
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for part in [
            "<",
            "<a ",
            "<a b=\"",
            "<a b='<a c=\"",
            "&",
            "<!--",
            "<a b=\"\" ",
            "<?xml",
            "<!DOCTYPE [",
        ] {
            let text = part.repeat(200_000);
            tags(&text);
            unescape(&text);
        }
    }
}

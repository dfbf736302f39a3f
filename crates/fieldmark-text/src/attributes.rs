//! CRFsuite attribute files: `label TAB attribute TAB attribute …`, a blank line between sequences.
//!
//! An attribute is a name, or `name:value` with a real value; without one the value is 1. In names `\:`
//! stands for a colon and `\\` for a backslash; a backslash before anything else is itself. As in
//! CRFsuite, runs of tabs and tabs at the end of a line mean nothing, and `name:` has the value 1.
//!
//! Where CRFsuite reads something that hardly anyone can have meant, this reader reports an error: a line
//! that begins with a tab (CRFsuite takes the first attribute for the label), a second colon in an
//! attribute (`a:1:2`), a colon in a label (CRFsuite drops what follows), an attribute without a name, a value
//! that is not a finite number (CRFsuite reads it as 0), and a line with spaces but without a tab (CRFsuite takes
//! all of it for the label). Where no labels are needed, because a model finds them, the first field may be empty.

use crate::block::is_blank;
use crate::error::{ErrorKind, Fault, shown};
use crate::sink::{Naming, Sink};
use memchr::{memchr, memchr_iter, memchr2};

/// Parses the lines of `text` into `sink`.
pub(crate) fn parse<N: Naming>(text: &str, sink: &mut Sink<'_, N>) -> Result<(), Box<Fault>> {
    let bytes = text.as_bytes();
    let mut scratch = Scratch::default();
    let mut start = 0;
    while start < bytes.len() {
        let newline = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
        let end = newline - usize::from(newline > start && bytes[newline - 1] == b'\r');
        if is_blank(&bytes[start..end]) {
            sink.end_sequence()?;
        } else {
            parse_line(text, start, end, sink, &mut scratch)?;
        }
        start = newline + 1;
    }
    sink.end_sequence()
}

/// Memory that every line uses again.
#[derive(Default)]
struct Scratch<'t> {
    fields: Vec<&'t str>,
    unescaped: String,
}

fn parse_line<'t, N: Naming>(
    text: &'t str,
    start: usize,
    end: usize,
    sink: &mut Sink<'_, N>,
    scratch: &mut Scratch<'t>,
) -> Result<(), Box<Fault>> {
    let line = &text[start..end];
    let bytes = line.as_bytes();
    let label_end = memchr(b'\t', bytes).unwrap_or(bytes.len());
    if label_end == 0 && N::NEEDS_LABELS {
        let found = "the line begins with a tab".to_owned();
        return Err(Fault::new(
            start,
            ErrorKind::MissingLabel {
                found,
                place: "first field",
            },
        ));
    }
    if label_end == bytes.len()
        && let Some(space) = memchr(b' ', bytes)
    {
        return Err(Fault::new(start + space, ErrorKind::SpacesForTabs));
    }
    let mut field_start = label_end + 1;
    // Most lines have neither escapes nor values: one look at the line saves one at every attribute.
    if memchr2(b':', b'\\', bytes).is_none() {
        scratch.fields.clear();
        if field_start < bytes.len() {
            let first = field_start;
            let tabs = memchr_iter(b'\t', &bytes[first..]).map(|at| first + at);
            for field_end in tabs.chain([bytes.len()]) {
                if field_end > field_start {
                    scratch.fields.push(&line[field_start..field_end]);
                }
                field_start = field_end + 1;
            }
        }
        sink.observe_all(&scratch.fields);
        return match &line[..label_end] {
            "" => sink.end_unlabelled(start, end),
            label => sink.end_position(start, end, label, start),
        };
    }
    while field_start < bytes.len() {
        let field_end = memchr(b'\t', &bytes[field_start..]).map_or(bytes.len(), |at| field_start + at);
        if field_end > field_start {
            attribute(
                &line[field_start..field_end],
                start + field_start,
                sink,
                &mut scratch.unescaped,
            )?;
        }
        field_start = field_end + 1;
    }
    let label = &line[..label_end];
    match memchr2(b':', b'\\', label.as_bytes()) {
        None if label.is_empty() => sink.end_unlabelled(start, end),
        None => sink.end_position(start, end, label, start),
        Some(special) => {
            if let Some(colon) = unescape(label, special, &mut scratch.unescaped) {
                let problem = "a colon in a label is written `\\:`";
                return Err(Fault::new(
                    start + colon,
                    ErrorKind::Label {
                        label: shown(label),
                        problem,
                    },
                ));
            }
            sink.end_position(start, end, &scratch.unescaped, start)
        }
    }
}

/// Reads one attribute that may have escapes or a value.
fn attribute<N: Naming>(
    field: &str,
    offset: usize,
    sink: &mut Sink<'_, N>,
    scratch: &mut String,
) -> Result<(), Box<Fault>> {
    let Some(special) = memchr2(b':', b'\\', field.as_bytes()) else {
        sink.observe(field, 1.0);
        return Ok(());
    };
    let colon = if field.as_bytes()[special] == b':' {
        scratch.clear();
        scratch.push_str(&field[..special]);
        Some(special)
    } else {
        unescape(field, special, scratch)
    };
    let Some(colon) = colon else {
        sink.observe(scratch, 1.0);
        return Ok(());
    };
    if colon == 0 {
        let problem = "the name is empty. Write `\\:` for a colon that belongs to the name";
        return Err(Fault::new(
            offset,
            ErrorKind::Attribute {
                found: shown(field),
                problem,
            },
        ));
    }
    let written = &field[colon + 1..];
    if written.is_empty() {
        sink.observe(scratch, 1.0);
        return Ok(());
    }
    match written.parse::<f32>() {
        Ok(value) if value.is_finite() => {
            sink.observe(scratch, value);
            Ok(())
        }
        _ => Err(bad_value(field, colon, offset)),
    }
}

#[cold]
fn bad_value(field: &str, colon: usize, offset: usize) -> Box<Fault> {
    let written = &field[colon + 1..];
    if let Some(second) = memchr(b':', written.as_bytes()) {
        let problem = "there are two colons. Write `\\:` for a colon that belongs to the name";
        let kind = ErrorKind::Attribute {
            found: shown(field),
            problem,
        };
        return Fault::new(offset + colon + 1 + second, kind);
    }
    let (name, value) = (shown(&field[..colon]), shown(written));
    let kind = match written.parse::<f64>() {
        Ok(number) if number.is_finite() => ErrorKind::LargeValue { name, value },
        _ => ErrorKind::Value { name, value },
    };
    Fault::new(offset + colon + 1, kind)
}

/// Puts the name at the beginning of `field`, whose first colon or backslash is at `special`, into `name`.
/// Returns where the colon stands that ends it.
fn unescape(field: &str, special: usize, name: &mut String) -> Option<usize> {
    let bytes = field.as_bytes();
    name.clear();
    let mut copied = 0;
    let mut at = special;
    loop {
        match (bytes[at], bytes.get(at + 1)) {
            (b':', _) => {
                name.push_str(&field[copied..at]);
                return Some(at);
            }
            (_, Some(b':' | b'\\')) => {
                name.push_str(&field[copied..at]);
                copied = at + 1;
                at += 2;
            }
            _ => at += 1,
        }
        match bytes.get(at..).and_then(|rest| memchr2(b':', b'\\', rest)) {
            Some(next) => at += next,
            None => {
                name.push_str(&field[copied..]);
                return None;
            }
        }
    }
}

/// The text that stands for `name` in an attribute file: colons and backslashes escaped.
///
/// Tabs and line ends cannot be written in this format; they become spaces.
///
/// ```
/// use fieldmark_text::escape_attribute;
/// assert_eq!(escape_attribute(r"time=10:30 \ late"), r"time=10\:30 \\ late");
/// ```
pub fn escape_attribute(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            ':' | '\\' => escaped.extend(['\\', c]),
            '\t' | '\n' | '\r' => escaped.push(' '),
            _ => escaped.push(c),
        }
    }
    escaped
}

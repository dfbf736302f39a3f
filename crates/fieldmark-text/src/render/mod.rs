//! Annotated text for human eyes: in colour on a [`terminal`], or as one [`html`] page.
//!
//! Both take a text and its [`Annotation`]s, refuse what cannot be drawn (a border outside of the text or
//! inside a character, spans that overlap) and give each type of span a colour of its own.

pub mod html;
mod palette;
pub mod plot;
pub mod terminal;

use palette::Palette;

/// A span of a text, with its type and how sure the model is of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Annotation<'a> {
    /// Byte offset of the first character.
    pub start: usize,
    /// Byte offset after the last character.
    pub end: usize,
    /// The type of the span.
    pub kind: &'a str,
    /// The probability that the span is right, if it is known.
    pub confidence: Option<f64>,
}

impl<'a> Annotation<'a> {
    /// A span of unknown confidence.
    pub fn new(start: usize, end: usize, kind: &'a str) -> Self {
        Self {
            start,
            end,
            kind,
            confidence: None,
        }
    }

    /// The same span with its confidence.
    pub fn with_confidence(self, confidence: f64) -> Self {
        Self {
            confidence: Some(confidence),
            ..self
        }
    }
}

/// What cannot be drawn. Offsets are bytes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// A span that reaches over the end of the text.
    #[error("the span {start}..{end} ({kind}) is not inside the text, which has {len} bytes")]
    OutOfRange {
        /// Start of the span.
        start: usize,
        /// End of the span.
        end: usize,
        /// Type of the span.
        kind: String,
        /// Length of the text.
        len: usize,
    },
    /// A span without characters.
    #[error("the span {start}..{end} ({kind}) holds no character")]
    Empty {
        /// Start of the span.
        start: usize,
        /// End of the span.
        end: usize,
        /// Type of the span.
        kind: String,
    },
    /// A span that begins or ends inside a character.
    #[error(
        "byte {offset}, a border of a span ({kind}), is inside a character. Are the offsets counted in bytes?"
    )]
    InsideCharacter {
        /// The border.
        offset: usize,
        /// Type of the span.
        kind: String,
    },
    /// Two spans that share characters.
    #[error("the spans {}..{} ({}) and {}..{} ({}) overlap", .first.0, .first.1, .first.2, .second.0, .second.1, .second.2)]
    Overlap {
        /// Start, end and type of the span that begins first.
        first: (usize, usize, String),
        /// Start, end and type of the other.
        second: (usize, usize, String),
    },
    /// A confidence that is no probability.
    #[error("the confidence of the span {start}..{end} is {confidence}, expected a number from 0 to 1")]
    Confidence {
        /// Start of the span.
        start: usize,
        /// End of the span.
        end: usize,
        /// The number found.
        confidence: f64,
    },
    /// A mark of an excerpt that is none of its text.
    #[error("the mark {start}..{end} ({kind}) of an excerpt is not on characters of its text")]
    Mark {
        /// Start of the mark.
        start: usize,
        /// End of the mark.
        end: usize,
        /// Type of the mark.
        kind: String,
    },
    /// A table row with another number of cells than the header.
    #[error("row {row} of the table `{heading}` has {found} cells, expected {expected} as in its header")]
    Ragged {
        /// Heading of the table's section.
        heading: String,
        /// The row, from 1.
        row: usize,
        /// Cells in it.
        found: usize,
        /// Cells in the header.
        expected: usize,
    },
}

/// A stretch of text, marked or not.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece<'a> {
    text: &'a str,
    mark: Option<&'a Annotation<'a>>,
}

/// Cuts the text at the borders of the annotations, which may come in any order.
fn pieces<'a>(text: &'a str, annotations: &'a [Annotation<'a>]) -> Result<Vec<Piece<'a>>, RenderError> {
    let mut marks: Vec<&Annotation<'_>> = annotations.iter().collect();
    marks.sort_by_key(|mark| (mark.start, mark.end));
    for mark in &marks {
        check(text, mark)?;
    }
    for pair in marks.windows(2) {
        if pair[1].start < pair[0].end {
            let [first, second] = [pair[0], pair[1]].map(|mark| (mark.start, mark.end, mark.kind.to_owned()));
            return Err(RenderError::Overlap { first, second });
        }
    }
    let mut pieces = Vec::with_capacity(2 * marks.len() + 1);
    let mut at = 0;
    for mark in marks {
        pieces.push(Piece {
            text: &text[at..mark.start],
            mark: None,
        });
        pieces.push(Piece {
            text: &text[mark.start..mark.end],
            mark: Some(mark),
        });
        at = mark.end;
    }
    pieces.push(Piece {
        text: &text[at..],
        mark: None,
    });
    pieces.retain(|piece| !piece.text.is_empty());
    Ok(pieces)
}

fn check(text: &str, mark: &Annotation<'_>) -> Result<(), RenderError> {
    let &Annotation {
        start,
        end,
        kind,
        confidence,
    } = mark;
    let kind = || kind.to_owned();
    if start > text.len() || end > text.len() {
        return Err(RenderError::OutOfRange {
            start,
            end,
            kind: kind(),
            len: text.len(),
        });
    }
    if start >= end {
        return Err(RenderError::Empty {
            start,
            end,
            kind: kind(),
        });
    }
    if let Some(offset) = [start, end]
        .into_iter()
        .find(|&offset| !text.is_char_boundary(offset))
    {
        return Err(RenderError::InsideCharacter { offset, kind: kind() });
    }
    match confidence {
        Some(confidence) if !(0.0..=1.0).contains(&confidence) => Err(RenderError::Confidence {
            start,
            end,
            confidence,
        }),
        _ => Ok(()),
    }
}

/// A probability in whole percent; what is not quite certain is not shown as 0% or 100%.
fn percent(probability: f64) -> String {
    match probability {
        p if p > 0.0 && p < 0.01 => "<1%".to_owned(),
        p if p > 0.99 && p < 1.0 => ">99%".to_owned(),
        p => format!("{:.0}%", p * 100.0),
    }
}

/// The character as it may be shown: control characters could steer a terminal and are not allowed in HTML,
/// so that they become their pictures (`␛`) or the replacement character.
fn visible(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        '\u{7F}' => '\u{2421}',
        '\0'..='\u{1F}' => char::from_u32(0x2400 + c as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        let text = "aé<b";
        let error = |start, end| pieces(text, &[Annotation::new(start, end, "X")]).unwrap_err();
        assert!(matches!(error(0, 6), RenderError::OutOfRange { len: 5, .. }));
        assert!(matches!(error(9, 2), RenderError::OutOfRange { .. }));
        assert!(matches!(
            error(usize::MAX, usize::MAX),
            RenderError::OutOfRange { .. }
        ));
        assert!(matches!(error(1, 1), RenderError::Empty { .. }));
        assert!(matches!(error(3, 1), RenderError::Empty { .. }));
        assert!(matches!(
            error(0, 2),
            RenderError::InsideCharacter { offset: 2, .. }
        ));
        assert!(matches!(
            error(2, 3),
            RenderError::InsideCharacter { offset: 2, .. }
        ));
        for confidence in [f64::NAN, -0.1, 1.01, f64::INFINITY] {
            let mark = Annotation::new(0, 1, "X").with_confidence(confidence);
            assert!(matches!(
                pieces(text, &[mark]),
                Err(RenderError::Confidence { .. })
            ));
        }
    }

    #[test]
    fn overlap_is_an_error_in_any_order() {
        let marks = [Annotation::new(2, 4, "B"), Annotation::new(0, 3, "A")];
        let message = pieces("abcdef", &marks).unwrap_err().to_string();
        assert_eq!(message, "the spans 0..3 (A) and 2..4 (B) overlap");
        let touching = [Annotation::new(2, 4, "B"), Annotation::new(0, 2, "A")];
        assert_eq!(pieces("abcdef", &touching).unwrap().len(), 3);
        let twice = [Annotation::new(0, 2, "A"); 2];
        assert!(pieces("abcdef", &twice).is_err());
    }

    #[test]
    fn percent_never_rounds_to_certainty() {
        let shown = [0.0, 0.001, 0.009, 0.01, 0.5, 0.99, 0.991, 0.9999, 1.0].map(percent);
        assert_eq!(
            shown,
            ["0%", "<1%", "<1%", "1%", "50%", "99%", ">99%", ">99%", "100%"].map(str::to_owned)
        );
    }

    #[test]
    fn control_characters_become_visible() {
        let shown: String = "a\u{1b}[31m\0\u{7f}\u{9b}\r\n\t".chars().map(visible).collect();
        assert_eq!(shown, "a␛[31m␀␡\u{FFFD}␍\n\t");
    }

    proptest! {
        #[test]
        fn pieces_tile_the_text_or_there_is_an_error(
            text in ".{0,12}",
            borders in prop::collection::vec((0usize..16, 0usize..16), 0..4),
        ) {
            let marks: Vec<_> = borders.iter().map(|&(start, end)| Annotation::new(start, end, "X")).collect();
            if let Ok(pieces) = pieces(&text, &marks) {
                prop_assert_eq!(pieces.iter().map(|piece| piece.text).collect::<String>(), text.as_str());
                prop_assert_eq!(pieces.iter().filter(|piece| piece.mark.is_some()).count(), marks.len());
            }
        }
    }
}

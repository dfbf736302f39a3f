//! Sentences with spans marked inline: the quickest way to write a small corpus by hand.
//!
//! One sentence per line, in plain text; a span stands in square brackets with its type in round ones after
//! it. Blank lines are skipped. Outside of spans round brackets mean nothing; a square bracket or a backslash
//! that is meant as such is written `\[`, `\]`, `\\`. A type is any run of characters except white space,
//! brackets and backslashes. Spans do not nest and do not cross lines.
//!
//! ```
//! use fieldmark_core::scheme::Scheme;
//! use fieldmark_text::markup;
//! use fieldmark_text::tokenize::{Tokenizer, TokenizerProfile};
//! let sentences = markup::parse("Give [iron](DRUG) [40mg](DOSE) now.")?;
//! let sentence = &sentences[0];
//! assert_eq!(sentence.text, "Give iron 40mg now.");
//! let tokens = Tokenizer::new(TokenizerProfile::Clinical).tokenize(&sentence.text);
//! let labels = Scheme::Iob2.labels_of(&sentence.align(&tokens)?, tokens.len())?;
//! assert_eq!(labels, ["O", "B-DRUG", "B-DOSE", "I-DOSE", "O", "O"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::tokenize::Token;
use fieldmark_core::scheme::Span;
use std::fmt;

/// A sentence without its markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// The line that it was read from, from 1.
    pub line: usize,
    /// The plain text.
    pub text: String,
    /// What was marked, in order, as byte ranges of the text.
    pub spans: Vec<Span<'a>>,
    /// Column of the bracket that opens each span.
    columns: Vec<usize>,
}

/// Reads marked sentences.
pub fn parse(source: &str) -> Result<Vec<Sentence<'_>>, MarkupError> {
    source
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            Reader {
                line,
                number: index + 1,
                at: 0,
            }
            .sentence()
        })
        .collect()
}

impl Sentence<'_> {
    /// The spans in tokens instead of bytes. `tokens` are those of [`Sentence::text`].
    ///
    /// A span that begins or ends inside a token is an error.
    pub fn align(&self, tokens: &[Token]) -> Result<Vec<Span<'_>>, MarkupError> {
        let aligned = self.spans.iter().zip(&self.columns).map(|(span, &column)| {
            let start = tokens.binary_search_by_key(&span.start, |token| token.start);
            let end = tokens.binary_search_by_key(&span.end, |token| token.end);
            match (start, end) {
                (Ok(first), Ok(last)) => Ok(Span::new(first, last + 1, span.kind)),
                _ => {
                    let problem = Problem::Misaligned(self.text[span.start..span.end].to_owned());
                    Err(MarkupError {
                        line: self.line,
                        column,
                        problem,
                    })
                }
            }
        });
        aligned.collect()
    }
}

/// Writes the sentence with its markup, so that [`parse`] reads it back.
impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut at = 0;
        for span in &self.spans {
            write_escaped(f, &self.text[at..span.start])?;
            f.write_str("[")?;
            write_escaped(f, &self.text[span.start..span.end])?;
            write!(f, "]({})", span.kind)?;
            at = span.end;
        }
        write_escaped(f, &self.text[at..])
    }
}

fn write_escaped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for part in text.split_inclusive(['[', ']', '\\']) {
        match part.char_indices().next_back() {
            Some((at, c @ ('[' | ']' | '\\'))) => write!(f, "{}\\{c}", &part[..at])?,
            _ => f.write_str(part)?,
        }
    }
    Ok(())
}

/// A mistake in marked text. The message starts with line and column, both from 1, the column in characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {problem}")]
pub struct MarkupError {
    line: usize,
    column: usize,
    problem: Problem,
}

impl MarkupError {
    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("this `[` has no `]` in its line. Close the span, or write `\\[` for a plain bracket")]
    Unclosed,
    #[error("found `[` inside a span, which cannot hold another. Write `\\[` for a plain bracket")]
    Nested,
    #[error("found `]` outside of a span. Write `\\]` for a plain bracket")]
    Unopened,
    #[error("this span is empty. Put the text between `[` and `]`")]
    EmptySpan,
    #[error("the marked text begins or ends with white space. Leave it outside of the brackets")]
    OuterSpace,
    #[error("found {}, expected `(` and the type of the span", found(.0))]
    NoType(Option<char>),
    #[error("this `(` opens the type of a span and has no `)` after it")]
    UnclosedType,
    #[error("the type of this span is empty. Put a name such as `DRUG` between `(` and `)`")]
    EmptyType,
    #[error("found {} in the type of a span, expected a name such as `DRUG`", found(&Some(*.0)))]
    TypeCharacter(char),
    #[error("found `\\` before {}, expected `\\[`, `\\]` or `\\\\`", found(.0))]
    Escape(Option<char>),
    #[error("the span `{0}` begins or ends inside a token. Mark whole tokens")]
    Misaligned(String),
}

fn found(c: &Option<char>) -> String {
    match c {
        Some(c) => format!("`{}`", c.escape_debug()),
        None => "the end of the line".to_owned(),
    }
}

struct Reader<'a> {
    line: &'a str,
    number: usize,
    at: usize,
}

impl<'a> Reader<'a> {
    fn sentence(mut self) -> Result<Sentence<'a>, MarkupError> {
        let (mut text, mut spans, mut columns) = (String::new(), Vec::new(), Vec::new());
        while let Some(c) = self.next() {
            match c {
                '[' => {
                    columns.push(self.column(self.at - 1));
                    spans.push(self.span(&mut text)?);
                }
                ']' => return Err(self.error(self.at - 1, Problem::Unopened)),
                '\\' => text.push(self.escaped()?),
                c => text.push(c),
            }
        }
        Ok(Sentence {
            line: self.number,
            text,
            spans,
            columns,
        })
    }

    /// The rest of a span after its `[`; the marked text goes to the end of `text`.
    fn span(&mut self, text: &mut String) -> Result<Span<'a>, MarkupError> {
        let (open, start) = (self.at - 1, text.len());
        loop {
            match self.next() {
                Some(']') => break,
                Some('[') => return Err(self.error(self.at - 1, Problem::Nested)),
                Some('\\') => text.push(self.escaped()?),
                Some(c) => text.push(c),
                None => return Err(self.error(open, Problem::Unclosed)),
            }
        }
        let marked = &text[start..];
        if marked.is_empty() {
            return Err(self.error(open, Problem::EmptySpan));
        }
        if marked.trim() != marked {
            return Err(self.error(open, Problem::OuterSpace));
        }
        Ok(Span::new(start, text.len(), self.kind()?))
    }

    fn kind(&mut self) -> Result<&'a str, MarkupError> {
        let open = self.at;
        match self.next() {
            Some('(') => {}
            other => return Err(self.error(open, Problem::NoType(other))),
        }
        let start = self.at;
        let len = self.line[start..]
            .find(')')
            .ok_or_else(|| self.error(open, Problem::UnclosedType))?;
        let kind = &self.line[start..start + len];
        let stray = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | '(' | '\\');
        if let Some((at, c)) = kind.char_indices().find(|&(_, c)| stray(c)) {
            return Err(self.error(start + at, Problem::TypeCharacter(c)));
        }
        if kind.is_empty() {
            return Err(self.error(open, Problem::EmptyType));
        }
        self.at = start + len + 1;
        Ok(kind)
    }

    fn escaped(&mut self) -> Result<char, MarkupError> {
        let backslash = self.at - 1;
        match self.next() {
            Some(c @ ('[' | ']' | '\\')) => Ok(c),
            other => Err(self.error(backslash, Problem::Escape(other))),
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.line[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn column(&self, byte: usize) -> usize {
        self.line[..byte].chars().count() + 1
    }

    fn error(&self, byte: usize, problem: Problem) -> MarkupError {
        MarkupError {
            line: self.number,
            column: self.column(byte),
            problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::{Tokenizer, TokenizerProfile};
    use proptest::prelude::*;

    fn tokenize(text: &str) -> Vec<Token> {
        Tokenizer::new(TokenizerProfile::Clinical).tokenize(text)
    }

    #[test]
    fn text_and_spans_come_apart() {
        let source = "Take [Crohn’s \\[x\\]](A-1) (as \\\\ is) [b](B)[c](C)\r\n\n  \nplain";
        let sentences = parse(source).unwrap();
        assert_eq!(sentences[0].text, "Take Crohn’s [x] (as \\ is) bc");
        let spans: Vec<_> = sentences[0]
            .spans
            .iter()
            .map(|span| (&sentences[0].text[span.start..span.end], span.kind))
            .collect();
        assert_eq!(spans, [("Crohn’s [x]", "A-1"), ("b", "B"), ("c", "C")]);
        assert_eq!((sentences[1].line, sentences[1].text.as_str()), (4, "plain"));
        assert_eq!(sentences.len(), 2);
    }

    #[test]
    fn every_mistake_has_its_place() {
        let place = |source| {
            parse(source)
                .map_err(|error| (error.line(), error.column(), error.problem))
                .unwrap_err()
        };
        assert_eq!(place("ok\né [a"), (2, 3, Problem::Unclosed));
        assert_eq!(place("[a [b](X)](Y)"), (1, 4, Problem::Nested));
        assert_eq!(place("a] b"), (1, 2, Problem::Unopened));
        assert_eq!(place("a [](X)"), (1, 3, Problem::EmptySpan));
        assert_eq!(place("a [ b](X)"), (1, 3, Problem::OuterSpace));
        assert_eq!(place("[a] (X)"), (1, 4, Problem::NoType(Some(' '))));
        assert_eq!(place("[a]"), (1, 4, Problem::NoType(None)));
        assert_eq!(place("[a](X"), (1, 4, Problem::UnclosedType));
        assert_eq!(place("[a]()"), (1, 4, Problem::EmptyType));
        assert_eq!(place("[a](X Y)"), (1, 6, Problem::TypeCharacter(' ')));
        assert_eq!(place("é\\n"), (1, 2, Problem::Escape(Some('n'))));
        assert_eq!(place("a\\"), (1, 2, Problem::Escape(None)));
    }

    #[test]
    fn messages_say_what_to_do() {
        let message = parse("one\ntwo [a").unwrap_err().to_string();
        assert_eq!(
            message,
            "2:5: this `[` has no `]` in its line. Close the span, or write `\\[` for a plain bracket"
        );
        let message = parse("[a]").unwrap_err().to_string();
        assert_eq!(
            message,
            "1:4: found the end of the line, expected `(` and the type of the span"
        );
    }

    #[test]
    fn spans_align_with_tokens() {
        let sentences = parse("Give [iron](DRUG) [40mg](DOSE) now.").unwrap();
        let aligned = sentences[0].align(&tokenize(&sentences[0].text)).unwrap();
        assert_eq!(aligned, [Span::new(1, 2, "DRUG"), Span::new(2, 4, "DOSE")]);
    }

    #[test]
    fn a_span_inside_a_token_does_not_align() {
        let sentences = parse("\nthe [anti](X)biotic").unwrap();
        let error = sentences[0].align(&tokenize(&sentences[0].text)).unwrap_err();
        assert_eq!((error.line(), error.column()), (2, 5));
        assert_eq!(error.problem, Problem::Misaligned("anti".to_owned()));
        assert!(sentences[0].align(&[]).is_err());
    }

    const PARTS: [&str; 12] = [
        "[a](X)",
        " [é b](Y) ",
        "[",
        "]",
        "(",
        ")",
        "\\",
        "\\[",
        "a",
        " ",
        "\n",
        "é",
    ];

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            pieces in prop::collection::vec(("[a-z\\[\\]()\\\\ é]{0,6}", "[a-z\\[\\]()\\\\é]{1,6}", "[A-Z]{1,3}"), 0..5),
        ) {
            let (mut text, mut spans) = ("|".to_owned(), Vec::new());
            for (outside, inside, kind) in &pieces {
                text.push_str(outside);
                let start = text.len();
                text.push_str(inside);
                spans.push(Span::new(start, text.len(), kind));
            }
            let written = Sentence { line: 1, text, spans, columns: Vec::new() };
            let markup = written.to_string();
            let read = parse(&markup).unwrap().remove(0);
            prop_assert_eq!(&read.text, &written.text);
            prop_assert_eq!(&read.spans, &written.spans);
        }

        #[test]
        fn any_text_is_read_or_refused(
            parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..20),
        ) {
            let source = parts.concat();
            if let Ok(sentences) = parse(&source) {
                for sentence in sentences {
                    let tokens = tokenize(&sentence.text);
                    if let Ok(aligned) = sentence.align(&tokens) {
                        let bytes = |span: &Span<'_>| (tokens[span.start].start, tokens[span.end - 1].end);
                        let expected: Vec<_> = sentence.spans.iter().map(|span| (span.start, span.end)).collect();
                        prop_assert_eq!(aligned.iter().map(bytes).collect::<Vec<_>>(), expected);
                    }
                    let markup = sentence.to_string();
                    prop_assert_eq!(&parse(&markup).unwrap()[0].text, &sentence.text);
                }
            }
        }
    }
}

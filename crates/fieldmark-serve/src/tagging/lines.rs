//! A stream of lines in, a stream of lines out: in order, as they come, in bounded memory.
//!
//! The lines that arrive together are marked together by one thread; a few such groups are under way at a time, and
//! nothing more is read while all of them wait for the client to take what it has asked for.

use super::answer::UnitName;
use super::requests::{LineRequest, LineResult, TaggedLine};
use super::workers::{Bench, Coming, Wanted, Workers};
use crate::http::{ApiError, interrupted};
use axum::body::{Body, Bytes};
use futures_util::{StreamExt, stream};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Groups of lines under way for each thread.
const GROUPS: usize = 2;

/// A line, as far as it is known.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// From 1.
    pub number: u64,
    /// None if it is longer than it may be.
    pub bytes: Option<Vec<u8>>,
}

/// Cuts what comes into lines.
#[derive(Debug)]
pub(super) struct Splitter {
    limit: usize,
    number: u64,
    /// The beginning of the line that has not ended.
    begun: Vec<u8>,
    /// Whether it is longer than it may be; then its beginning is not kept.
    too_long: bool,
}

impl Splitter {
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            number: 0,
            begun: Vec::new(),
            too_long: false,
        }
    }

    /// The lines that end in these bytes, without those that are blank.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let (content, ends) = match piece.strip_suffix(b"\n") {
                Some(content) => (content, true),
                None => (piece, false),
            };
            self.too_long |= self.begun.len() + content.len() > self.limit;
            if self.too_long {
                self.begun = Vec::new();
            } else {
                self.begun.extend_from_slice(content);
            }
            if ends {
                lines.extend(self.end());
            }
        }
        lines
    }

    /// The last line, if nothing ends it.
    pub fn finish(&mut self) -> Option<Line> {
        if self.begun.is_empty() && !self.too_long {
            return None;
        }
        self.end()
    }

    /// How many lines there were, the one that has begun included.
    pub fn number(&self) -> u64 {
        self.number + u64::from(!self.begun.is_empty() || self.too_long)
    }

    fn end(&mut self) -> Option<Line> {
        self.number += 1;
        let number = self.number;
        let bytes = std::mem::take(&mut self.begun);
        if std::mem::take(&mut self.too_long) {
            return Some(Line { number, bytes: None });
        }
        let blank = bytes.iter().all(u8::is_ascii_whitespace);
        (!blank).then_some(Line {
            number,
            bytes: Some(bytes),
        })
    }
}

/// What is asked of every line that does not say otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineOptions {
    pub model: usize,
    pub unit: UnitName,
    /// The longest line.
    pub limit: usize,
}

/// Answers that are under way, or are known already.
enum Part {
    Coming(Coming<Vec<u8>>, u64),
    Done(Vec<u8>),
}

/// The answers to a body of lines.
pub(super) fn answer_lines(body: Body, workers: Arc<Workers>, options: LineOptions) -> Body {
    let (sender, receiver) = mpsc::channel(GROUPS * workers.threads());
    // It ends when the lines end or when the client has gone, and the answers with it.
    tokio::spawn(read(body, workers, options, sender));
    let parts = stream::unfold(receiver, |mut receiver| async {
        let bytes = match receiver.recv().await? {
            Part::Done(bytes) => bytes,
            Part::Coming(coming, line) => coming
                .answer()
                .await
                .unwrap_or_else(|error| failed(line, None, error.message())),
        };
        Some((Ok::<_, Infallible>(Bytes::from(bytes)), receiver))
    });
    Body::from_stream(parts)
}

async fn read(body: Body, workers: Arc<Workers>, options: LineOptions, sender: mpsc::Sender<Part>) {
    let mut frames = body.into_data_stream();
    let mut splitter = Splitter::new(options.limit);
    while let Some(frame) = frames.next().await {
        match frame {
            Ok(frame) => {
                if !send(splitter.push(&frame), &workers, options, &sender).await {
                    return;
                }
            }
            Err(error) => {
                let message = interrupted(error);
                let part = Part::Done(failed(splitter.number().max(1), None, message.message()));
                // If the client has gone, nobody is there to hear it.
                let _ = sender.send(part).await;
                return;
            }
        }
    }
    let last = splitter.finish().into_iter().collect();
    send(last, &workers, options, &sender).await;
}

/// Has lines marked, and says whether anybody is there to take the answers.
async fn send(
    lines: Vec<Line>,
    workers: &Workers,
    options: LineOptions,
    sender: &mpsc::Sender<Part>,
) -> bool {
    let Some(first) = lines.first().map(|line| line.number) else {
        return !sender.is_closed();
    };
    // Nothing is begun before there is room for its answers.
    let Ok(room) = sender.reserve().await else {
        return false;
    };
    let coming = workers.begin(move |bench, wanted| mark(bench, wanted, lines, options));
    room.send(Part::Coming(coming, first));
    true
}

fn mark(bench: &mut Bench<'_>, wanted: &Wanted<'_>, lines: Vec<Line>, options: LineOptions) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines {
        if !wanted.still() {
            break;
        }
        out.extend(mark_line(bench, line, options));
    }
    out
}

fn mark_line(bench: &mut Bench<'_>, line: Line, options: LineOptions) -> Vec<u8> {
    let number = line.number;
    let Some(bytes) = line.bytes else {
        let error = ApiError::too_large("the line", options.limit);
        return failed(number, None, error.message());
    };
    let (text, id, name) = match parse(&bytes) {
        Ok(LineRequest::Text(text)) => (text, None, None),
        Ok(LineRequest::Object { text, id, model }) => (text, id, model),
        Err(problem) => return failed(number, None, &problem),
    };
    let model = match &name {
        Some(name) => match bench.models().find(Some(name)) {
            Ok(model) => model,
            Err(error) => return failed(number, id, error.message()),
        },
        None => options.model,
    };
    match bench.tag(model, text, options.unit) {
        Ok(answer) => written(&TaggedLine {
            line: number,
            id,
            result: LineResult::Found {
                model: name,
                unit: options.unit,
                answer,
            },
        }),
        Err(error) => failed(number, id, &error.to_string()),
    }
}

/// A line as a request; otherwise what is wrong with it.
fn parse(bytes: &[u8]) -> Result<LineRequest, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        format!(
            "the line is not UTF-8 from byte {} on; JSON is sent as UTF-8",
            error.valid_up_to()
        )
    })?;
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("the line is no JSON: {error}"))?;
    serde_json::from_value(value).map_err(|_| {
        "expected a text in quotes, or an object with `text` and perhaps `id` and the name of a `model`"
            .to_owned()
    })
}

fn failed(line: u64, id: Option<serde_json::Value>, error: &str) -> Vec<u8> {
    written(&TaggedLine {
        line,
        id,
        result: LineResult::Failed {
            error: error.to_owned(),
        },
    })
}

fn written(line: &TaggedLine) -> Vec<u8> {
    // Everything in it has a form in JSON.
    let mut bytes = serde_json::to_vec(line).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(limit: usize, pieces: &[&[u8]]) -> Vec<(u64, Option<String>)> {
        let mut splitter = Splitter::new(limit);
        let mut lines: Vec<Line> = pieces.iter().flat_map(|piece| splitter.push(piece)).collect();
        lines.extend(splitter.finish());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        lines
            .into_iter()
            .map(|line| (line.number, line.bytes.map(text)))
            .collect()
    }

    #[test]
    fn long_lines_are_left_out_and_blank_ones_are_counted() {
        let lines = split(3, &[b"abc\n\n \r\nab", b"cd\nx", b"y"]);
        assert_eq!(
            lines,
            [(1, Some("abc".to_owned())), (4, None), (5, Some("xy".to_owned()))]
        );
        assert_eq!(split(3, &[b"", b"\n"]), []);
        assert_eq!(split(2, &[b"a", b"bc"]), [(1, None)]);
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        let mut splitter = Splitter::new(10);
        for _ in 0..1000 {
            splitter.push(&[b'x'; 100]);
            assert!(splitter.begun.len() <= 10);
        }
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_how_they_come(text in "[a-c\n ]{0,40}", cuts in prop::collection::vec(0usize..41, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut at = 0;
            for cut in cuts {
                pieces.push(&text.as_bytes()[at..cut]);
                at = cut;
            }
            pieces.push(&text.as_bytes()[at..]);
            let expected: Vec<(u64, Option<String>)> = text
                .split('\n')
                .enumerate()
                .filter(|(_, line)| line.len() > 5 || !line.trim().is_empty())
                .map(|(at, line)| (at as u64 + 1, (line.len() <= 5).then(|| line.to_owned())))
                .collect();
            prop_assert_eq!(split(5, &pieces), expected);
        }
    }
}

//! [`Cases`]: the errors that are worth a look, in their sentences.

use super::Pair;
use fieldmark_eval::{Aligned, Verdict};
use fieldmark_text::document::Annotation;
use fieldmark_text::sentences::SentenceSplitter;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// The worst errors of each kind: the surest ones first, then those that happen most often.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cases {
    /// Names that are none.
    pub spurious: Vec<Case>,
    /// Names that were not found.
    pub missed: Vec<Case>,
    /// Names of the right type with a wrong border.
    pub wrong_borders: Vec<Case>,
    /// Names of a wrong type, whatever their borders.
    pub wrong_type: Vec<Case>,
}

/// An error, which may have happened several times: with the same types and the same texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// What is wrong.
    pub verdict: Verdict,
    /// How often.
    pub times: usize,
    /// The document in which the model was surest, or the first.
    pub document: String,
    /// What should have been found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gold: Option<CaseSpan>,
    /// What was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<CaseSpan>,
    /// The sentence around it, or as much of a long one as fits.
    pub context: String,
    /// Whether something of the sentence is left out before it, and after it.
    pub cut: (bool, bool),
    /// All gold spans of the sentence, in bytes of the sentence.
    pub context_gold: Vec<CaseSpan>,
    /// All predicted spans of the sentence, in bytes of the sentence.
    pub context_found: Vec<CaseSpan>,
}

/// A span of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseSpan {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it covers.
    pub text: String,
    /// How sure a model was of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

impl CaseSpan {
    fn new(text: &str, annotation: &Annotation) -> Self {
        let range = annotation.range();
        Self {
            start: range.start,
            end: range.end,
            kind: annotation.kind.clone(),
            text: text.get(range).unwrap_or_default().to_owned(),
            confidence: annotation.score.filter(|score| (0.0..=1.0).contains(score)),
        }
    }
}

/// Verdict, and type and text of both sides.
type Key<'a> = (Verdict, Option<(&'a str, &'a str)>, Option<(&'a str, &'a str)>);

/// Errors, while they are collected.
#[derive(Default)]
pub(super) struct Collector<'a> {
    errors: BTreeMap<Key<'a>, Seen<'a>>,
}

/// The surest of several errors.
struct Seen<'a> {
    times: usize,
    confidence: f64,
    pair: &'a Pair,
    aligned: Aligned,
}

impl<'a> Collector<'a> {
    pub fn add(&mut self, pair: &'a Pair, aligned: Aligned) {
        if aligned.verdict == Verdict::Correct {
            return;
        }
        let side = |annotations: &'a [Annotation], at: Option<usize>| {
            let annotation = &annotations[at?];
            let text = pair.text.get(annotation.range()).unwrap_or_default();
            Some((annotation.kind.as_str(), text))
        };
        let key = (
            aligned.verdict,
            side(&pair.gold, aligned.gold),
            side(&pair.found, aligned.found),
        );
        let score = aligned.found.and_then(|at| pair.found[at].score);
        let confidence = score.unwrap_or(0.0);
        let seen = self.errors.entry(key).or_insert(Seen {
            times: 0,
            confidence,
            pair,
            aligned,
        });
        seen.times += 1;
        if confidence > seen.confidence {
            *seen = Seen {
                times: seen.times,
                confidence,
                pair,
                aligned,
            };
        }
    }

    /// At most so many cases of each kind.
    pub fn finish(self, most: usize) -> Cases {
        let worst = |kinds: &[Verdict]| {
            let of_kind = self
                .errors
                .iter()
                .filter(|((verdict, ..), _)| kinds.contains(verdict));
            let mut seen: Vec<&Seen<'_>> = of_kind.map(|(_, seen)| seen).collect();
            seen.sort_by(|one, other| {
                let surest = other.confidence.total_cmp(&one.confidence);
                surest.then(other.times.cmp(&one.times))
            });
            seen.truncate(most);
            seen.into_iter().map(case).collect()
        };
        Cases {
            spurious: worst(&[Verdict::Spurious]),
            missed: worst(&[Verdict::Missed]),
            wrong_borders: worst(&[Verdict::WrongBorders]),
            wrong_type: worst(&[Verdict::WrongType, Verdict::WrongBoth]),
        }
    }
}

fn case(seen: &Seen<'_>) -> Case {
    let Pair {
        text, gold, found, ..
    } = seen.pair;
    let one = seen.aligned.gold.map(|at| CaseSpan::new(text, &gold[at]));
    let other = seen.aligned.found.map(|at| CaseSpan::new(text, &found[at]));
    let ends = || one.iter().chain(&other);
    let focus = ends().map(|span| span.start).min().unwrap_or(0)
        ..ends().map(|span| span.end).max().unwrap_or(0).min(text.len());
    let sentence = sentence(seen.pair, &focus);
    let context = shortened(text, &sentence, &focus);
    let around = |annotations: &[Annotation]| inside(text, annotations, &context);
    Case {
        verdict: seen.aligned.verdict,
        times: seen.times,
        document: seen.pair.id.clone(),
        context_gold: around(gold),
        context_found: around(found),
        gold: one,
        found: other,
        cut: (sentence.start < context.start, context.end < sentence.end),
        context: text.get(context).unwrap_or_default().to_owned(),
    }
}

/// The spans that touch a part of a text, cut to it, in bytes of it.
fn inside(text: &str, annotations: &[Annotation], part: &Range<usize>) -> Vec<CaseSpan> {
    let spans = annotations
        .iter()
        .map(|annotation| CaseSpan::new(text, annotation));
    spans
        .filter(|span| span.start < part.end && part.start < span.end)
        .map(|span| CaseSpan {
            start: span.start.max(part.start) - part.start,
            end: span.end.min(part.end) - part.start,
            ..span
        })
        .filter(|span| span.start < span.end)
        .collect()
}

/// The sentences that an error touches.
fn sentence(pair: &Pair, focus: &Range<usize>) -> Range<usize> {
    let sentences: Vec<Range<usize>> = match &pair.sentences {
        Some(sentences) => sentences
            .iter()
            .filter_map(|tokens| Some(tokens.first()?.start..tokens.last()?.end))
            .collect(),
        None => SentenceSplitter::default().split(&pair.text),
    };
    let end = focus.end.max(focus.start + 1);
    let touched = || {
        sentences
            .iter()
            .filter(|range| range.start < end && focus.start < range.end)
    };
    let start = touched().map(|range| range.start).min().unwrap_or(focus.start);
    let end = touched().map(|range| range.end).max().unwrap_or(focus.end);
    start.min(focus.start)..end.max(focus.end)
}

/// Bytes of context at each side of an error, at most.
const REACH: usize = 160;

/// As much of a sentence as can be shown around an error, in whole words if there are any.
fn shortened(text: &str, sentence: &Range<usize>, focus: &Range<usize>) -> Range<usize> {
    let mut start = sentence.start;
    if start + REACH < focus.start {
        let reach = (focus.start - REACH..=focus.start).find(|&at| text.is_char_boundary(at));
        start = reach.unwrap_or(focus.start);
        let word = text[start..focus.start].find(char::is_whitespace);
        start += word.map_or(0, |at| at + 1);
        start = (start..=focus.start)
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or(start);
    }
    let mut end = sentence.end;
    if focus.end + REACH < end {
        let reach = (focus.end..=focus.end + REACH)
            .rev()
            .find(|&at| text.is_char_boundary(at));
        end = reach.unwrap_or(focus.end);
        end = focus.end
            + text[focus.end..end]
                .rfind(char::is_whitespace)
                .unwrap_or(end - focus.end);
    }
    start..end
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a list of one span is meant")]
mod tests {
    use super::super::tests::{TEXT, assess, pair};
    use super::super::{AssessOptions, Assessment, Measure};
    use super::*;

    /// Gold spans of which none was found, with these sentences.
    fn missed(gold: &[(usize, usize, &str)], sentences: &[&[Range<usize>]]) -> Vec<Case> {
        let mut pair = pair(TEXT, gold, &[]);
        pair.sentences = Some(sentences.iter().map(|tokens| tokens.to_vec()).collect());
        assess(&[pair], &[Measure::Exact]).cases.missed
    }

    fn ranges(spans: &[CaseSpan]) -> Vec<Range<usize>> {
        spans.iter().map(|span| span.start..span.end).collect()
    }

    #[test]
    fn there_are_as_many_cases_as_wanted_and_the_frequent_ones_come_first() {
        let text = "Bob Eve Bob Ada Bob";
        let gold: Vec<_> = (0..5).map(|at| (4 * at, 4 * at + 3, "PER")).collect();
        let cases = |most| {
            let options = AssessOptions {
                cases: most,
                ..AssessOptions::default()
            };
            let assessment = Assessment::new(&[pair(text, &gold, &[])], &options).unwrap();
            let name = |case: &Case| (case.gold.as_ref().unwrap().text.clone(), case.times);
            assessment.cases.missed.iter().map(name).collect::<Vec<_>>()
        };
        let named = |name: &str, times| (name.to_owned(), times);
        assert_eq!(cases(2), [named("Bob", 3), named("Ada", 1)]);
        assert_eq!(cases(9).len(), 3);
        assert_eq!(cases(0), []);
    }

    #[test]
    fn sentences_that_come_with_a_document_are_kept() {
        let cases = missed(&[(8, 15, "PER")], &[&[0..3, 4..7], &[8..11, 12..15], &[16..18]]);
        assert_eq!(cases[0].context, "Bob Lee");
    }

    #[test]
    fn an_error_that_leaves_its_sentence_is_shown_in_full() {
        assert_eq!(
            missed(&[(8, 15, "PER")], &[&[0..3, 4..7, 8..11]])[0].context,
            "Ada met Bob Lee"
        );
        assert_eq!(
            missed(&[(8, 15, "PER")], &[&[12..15, 16..18]])[0].context,
            "Bob Lee in"
        );
        assert_eq!(missed(&[(8, 15, "PER")], &[&[0..3]])[0].context, "Bob Lee");
    }

    #[test]
    fn other_spans_of_the_sentence_are_cut_to_it() {
        let mut pair = pair(
            TEXT,
            &[(0, 3, "PER"), (4, 11, "LOC"), (12, 15, "PER")],
            &[(4, 11, "LOC", 0.5)],
        );
        pair.sentences = Some(vec![vec![0..3, 4..7], vec![7..11, 12..15]]);
        let cases = assess(&[pair], &[Measure::Exact]).cases.missed;
        let (ada, lee) = (&cases[0], &cases[1]);
        assert_eq!(
            (ada.context.as_str(), lee.context.as_str()),
            ("Ada met", " Bob Lee")
        );
        assert_eq!(ranges(&ada.context_gold), [0..3, 4..7]);
        assert_eq!(ranges(&ada.context_found), [4..7]);
        assert_eq!(ranges(&lee.context_gold), [0..4, 5..8]);
        let touching = missed(&[(0, 3, "PER"), (3, 7, "LOC")], &[&[0..3], &[3..7]]);
        let person = touching.iter().find(|case| case.context == "Ada").unwrap();
        assert_eq!(ranges(&person.context_gold), [0..3]);
    }

    #[test]
    fn overlaps_of_another_type_are_wrong_types_and_scores_above_one_no_confidence() {
        let cases = assess(
            &[pair(TEXT, &[(8, 15, "PER")], &[(8, 11, "LOC", 17.0)])],
            &[Measure::Exact],
        )
        .cases;
        assert_eq!(cases.wrong_type[0].verdict, Verdict::WrongBoth);
        assert_eq!(cases.wrong_type[0].found.as_ref().unwrap().confidence, None);
    }
}

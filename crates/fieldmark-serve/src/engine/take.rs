//! [`Taken`]: a document as it leaves the project.
//!
//! Of some tokens nothing is known, and of others only that they are in a span. Columns have a place for that (`?`, and
//! several labels with bars between them); what other formats lose is counted ([`Losses`]).

use super::cells::{self, Cell, Labels, Said};
use super::view::Estimating;
use crate::project::{Borders, Error};
use fieldmark::text::LabelSyntax;
use fieldmark::text::document::{Annotation, Document, GivenTokens};
use fieldmark::text::formats::{DocumentFormat, NoticeKind, Notices};
use std::collections::HashMap;
use std::ops::Range;

/// The column of labels in a column file.
const LABELS: &str = "label";

/// The label that stands for any.
const UNKNOWN: &str = "?";

/// Other names of types that are told one by one.
const RENAMED: usize = 5;

/// What cannot be written as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Tokens of which nothing is known, and which look like tokens outside of spans.
    pub unknown: usize,
    /// Tokens of spans whose borders are not known.
    pub open: usize,
    /// Conflicts that are not decided.
    pub conflicts: usize,
    /// Spans of types that were removed.
    pub removed: usize,
    /// Whether there is no model that could fill what nobody has said.
    pub unfilled: bool,
    /// What the format has no name for, as sentences.
    pub renamed: Vec<String>,
}

impl Losses {
    /// What people have to know about it.
    pub fn warning(&self) -> Option<String> {
        let number = |count: usize, one: &str| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {one}s"),
        };
        let are = |count: usize| if count == 1 { "is" } else { "are" };
        let mut all = Vec::new();
        if self.unfilled {
            all.push("nothing is filled, because there is no model yet".to_owned());
        }
        if self.unknown > 0 {
            all.push(format!(
                "{} {} written like tokens outside of all spans, although nothing is known of them: columns tell them \
                 apart by `?`, and the model can fill them",
                number(self.unknown, "token"),
                are(self.unknown)
            ));
        }
        if self.open > 0 {
            all.push(format!(
                "{} {} in spans without known borders, which are written as far as they go",
                number(self.open, "token"),
                are(self.open)
            ));
        }
        if self.conflicts > 0 {
            all.push(format!(
                "{} {} not decided: the words of the first annotator are written",
                number(self.conflicts, "conflict"),
                are(self.conflicts)
            ));
        }
        if self.removed > 0 {
            all.push(format!(
                "{} of removed types {} left out, until the types are made again",
                number(self.removed, "span"),
                are(self.removed)
            ));
        }
        all.extend(self.renamed.iter().take(RENAMED).map(|told| in_ascii(told)));
        if self.renamed.len() > RENAMED {
            all.push(format!("and {} more", self.renamed.len() - RENAMED));
        }
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Takes over what a writer tells of types that have other names in its format.
    pub fn rename(&mut self, notices: &Notices) {
        let told = notices
            .all()
            .iter()
            .filter(|notice| notice.kind == NoticeKind::TypeName);
        for notice in told {
            if !self.renamed.contains(&notice.message) {
                self.renamed.push(notice.message.clone());
            }
        }
    }
}

/// Text for a header of HTTP.
fn in_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii() {
            true => out.push(c),
            false => out.extend(c.escape_unicode()),
        }
    }
    out
}

/// A document, and what is known of it.
pub(super) struct Taken {
    document: Document,
    number: usize,
    cells: Vec<Cell>,
    estimating: Estimating,
}

/// What is written of a sentence. Places are tokens of the sentence.
struct Written {
    /// With the probability of those that the model found.
    spans: Vec<(Range<usize>, String, Option<f64>)>,
    /// Tokens of which nothing is known.
    unknown: Vec<usize>,
    /// Tokens of spans whose borders are not known.
    open: Vec<usize>,
}

impl Taken {
    pub fn new(document: Document, number: usize, cells: Vec<Cell>, estimating: Estimating) -> Self {
        Self {
            document,
            number,
            cells,
            estimating,
        }
    }

    /// Whether anything is known of it.
    pub fn says_something(&self) -> bool {
        self.cells.iter().any(|cell| cell.said.is_something())
    }

    /// The document with its labels; with those of the model, if these are to fill it up.
    pub fn document(
        mut self,
        format: DocumentFormat,
        fill: bool,
        losses: &mut Losses,
    ) -> Result<Document, Error> {
        self.document.annotations.clear();
        self.document.relations.clear();
        let corpus = self.estimating.corpus.clone();
        let text = corpus.get(self.number);
        let mut labels: HashMap<usize, String> = HashMap::new();
        let (mut unknown, mut open) = (0, 0);
        for index in 0..text.sentences() {
            let tokens = text.sentence(index);
            let written = self.sentence(index, tokens.clone(), fill)?;
            unknown += written.unknown.len();
            open += written.open.len();
            if format == DocumentFormat::Columns {
                let own = self.labels(tokens.clone(), &written);
                labels.extend(tokens.clone().map(|token| text.bytes(token).start).zip(own));
            }
            for (range, kind, score) in written.spans {
                let bytes = text.bytes_of(tokens.start + range.start..tokens.start + range.end);
                let mut annotation = Annotation::new(bytes, kind);
                annotation.score = score;
                self.document.annotations.push(annotation);
            }
        }
        if format == DocumentFormat::Columns {
            if let Some(given) = &mut self.document.given {
                set_labels(given, (unknown + open > 0).then_some(&labels));
            }
        } else {
            losses.unknown += unknown;
            losses.open += open;
        }
        Ok(self.document)
    }

    /// Exact spans first, then those of the model that go with what is known, then what is left of open tokens.
    fn sentence(&self, index: usize, tokens: Range<usize>, fill: bool) -> Result<Written, Error> {
        let own = &self.cells[tokens];
        let mut spans = Vec::new();
        let mut open = Vec::new();
        for one in cells::assertions(own, 0) {
            let range = one.start as usize..one.end as usize;
            let Some(kind) = one.kind.and_then(|kind| self.estimating.map.name(kind)) else {
                continue;
            };
            match one.borders {
                Borders::Exact => spans.push((range, kind.to_owned(), None)),
                Borders::Open => open.push((range, kind.to_owned())),
            }
        }
        if fill {
            for (range, kind, probability) in self.estimating.estimate(self.number, index, own)?.spans {
                let agrees = |cell: &Cell| match cell.said {
                    Said::Nothing | Said::Cleared => true,
                    Said::Part(other) => self.estimating.map.name(other) == Some(&kind),
                    Said::Outside | Said::Begin(_) | Said::Inside(_) => false,
                };
                if own[range.clone()].iter().all(agrees) {
                    spans.push((range, kind, Some(probability)));
                }
            }
        }
        let covered = |at: usize| spans.iter().any(|(range, ..)| range.contains(&at));
        let is_open: Vec<bool> = (0..own.len())
            .map(|at| matches!(own[at].said, Said::Part(_)) && !covered(at))
            .collect();
        // A model that fills has an opinion on every token.
        let told = fill && self.estimating.warm;
        let is_unknown = |at: &usize| !told && !own[*at].said.is_something() && !covered(*at);
        let unknown = (0..own.len()).filter(is_unknown).collect();
        for (range, kind) in open {
            let mut at = range.start;
            while at < range.end {
                let end = (at..range.end).find(|&at| !is_open[at]).unwrap_or(range.end);
                if end > at {
                    spans.push((at..end, kind.clone(), None));
                }
                at = end.max(at + 1);
            }
        }
        spans.sort_by_key(|(range, ..)| range.start);
        Ok(Written {
            spans,
            unknown,
            open: (0..own.len()).filter(|&at| is_open[at]).collect(),
        })
    }

    /// The labels of a sentence as texts of a column file.
    fn labels(&self, tokens: Range<usize>, written: &Written) -> Vec<String> {
        let names = self.estimating.map.labels();
        let mut all = vec!["O".to_owned(); tokens.len()];
        for (range, kind, _) in &written.spans {
            for at in range.clone() {
                let prefix = if at == range.start { 'B' } else { 'I' };
                all[at] = LabelSyntax::Partial.escape(&format!("{prefix}-{kind}"));
            }
        }
        for &at in &written.unknown {
            all[at] = UNKNOWN.to_owned();
        }
        let sets = cells::labels(&self.cells[tokens], &self.estimating.map);
        for &at in &written.open {
            if let Labels::Answered(set) = &sets[at] {
                let set = set
                    .iter()
                    .map(|&label| LabelSyntax::Partial.escape(names.name(label)));
                all[at] = set.collect::<Vec<_>>().join("|");
            }
        }
        all
    }
}

/// Writes the column of labels, by the first byte of each token, in place of one that the source may have had; or takes that
/// away, if spans say everything.
fn set_labels(given: &mut GivenTokens, labels: Option<&HashMap<usize, String>>) {
    let column = given.columns.iter().position(|name| name == LABELS);
    if let Some(column) = column {
        given.columns.remove(column);
        for token in given.sentences.iter_mut().flatten() {
            if column < token.columns.len() {
                token.columns.remove(column);
            }
        }
    }
    let Some(labels) = labels else { return };
    let columns = given.columns.len();
    given.columns.push(LABELS.to_owned());
    for token in given.sentences.iter_mut().flatten() {
        let label = labels.get(&token.range.start);
        token.columns.resize(columns, String::new());
        token
            .columns
            .push(label.map_or_else(|| UNKNOWN.to_owned(), Clone::clone));
    }
}

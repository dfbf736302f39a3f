//! Where people agree and where they differ, and what is decided then.

use super::Engine;
use super::cells::{self, Cell};
use super::documents::DocumentView;
use super::state::{Layer, State};
use super::wire::NamedAssertion;
use crate::project::{DocumentId, Error, UserId};
use fieldmark::core::scheme::Span;
use fieldmark::eval::Agreement;
use serde::Serialize;
use std::ops::Range;

/// How far people agree.
#[derive(Clone, Debug, Serialize)]
pub struct AgreementReport {
    pairs: Vec<Pair>,
    documents: Vec<DocumentAgreement>,
}

/// How far two people agree on the tokens about which both said something.
#[derive(Clone, Debug, Serialize)]
struct Pair {
    a: String,
    b: String,
    documents: usize,
    tokens: usize,
    /// Cohen's κ of the decisions for all types, token by token.
    kappa: f64,
    /// F1 of spans.
    f1: f64,
    types: Vec<TypeAgreement>,
}

#[derive(Clone, Debug, Serialize)]
struct TypeAgreement {
    name: String,
    kappa: f64,
    f1: f64,
    tokens: u64,
}

#[derive(Clone, Debug, Serialize)]
struct DocumentAgreement {
    id: DocumentId,
    name: String,
    /// Places where people contradict each other and nothing was decided.
    conflicts: usize,
    annotators: Vec<String>,
    /// Whether there were conflicts and all of them are decided.
    adjudicated: bool,
}

/// A document with what several people said of it.
#[derive(Clone, Debug, Serialize)]
pub struct AdjudicationView {
    #[serde(flatten)]
    document: DocumentView,
    versions: Vec<Version>,
    /// Those that are not decided.
    conflicts: Vec<Conflict>,
    adjudicated: Vec<NamedAssertion>,
}

#[derive(Clone, Debug, Serialize)]
struct Version {
    user: String,
    known: Vec<NamedAssertion>,
}

#[derive(Clone, Debug, Serialize)]
struct Conflict {
    start: usize,
    end: usize,
    values: Vec<Value>,
}

#[derive(Clone, Debug, Serialize)]
struct Value {
    user: String,
    assertion: NamedAssertion,
}

impl Engine {
    /// How far people agree.
    pub fn agreement(&self) -> Result<AgreementReport, Error> {
        let state = self.state();
        let people: Vec<UserId> = state
            .users
            .iter()
            .map(|(id, _)| *id)
            .filter(|id| *id != state.import)
            .collect();
        let numbers = state.touched_documents();
        let mut pairs = Vec::new();
        for (at, &a) in people.iter().enumerate() {
            for &b in &people[at + 1..] {
                pairs.extend(state.pair(a, b, &numbers)?);
            }
        }
        let documents = numbers
            .iter()
            .filter_map(|&number| state.document_agreement(number));
        Ok(AgreementReport {
            documents: documents.collect(),
            pairs,
        })
    }

    /// A document with what several people said of it.
    pub fn adjudication(&self, user: &str, id: DocumentId) -> Result<AdjudicationView, Error> {
        let mut state = self.state();
        let user = self.user(&mut state, user)?;
        let number = state.find(id)?;
        let known = |layer: Layer| {
            let cells = state.layer(number, layer);
            cells.map_or_else(Vec::new, |cells| {
                state.named(all_assertions(&state, number, cells))
            })
        };
        let people = state.annotators(number);
        let versions = people.iter().map(|&user| Version {
            user: state.user_name(user).to_owned(),
            known: known(Layer::Person(user)),
        });
        let versions: Vec<Version> = versions.collect();
        let open = state.conflicts(number).into_iter();
        let open = open.filter(|dispute| !state.is_decided(number, dispute));
        let conflicts = open.map(|Dispute { range, .. }| {
            let values = versions.iter().flat_map(|version| {
                let inside = version
                    .known
                    .iter()
                    .filter(|one| (one.start as usize) < range.end && range.start < one.end as usize);
                inside.map(|one| Value {
                    user: version.user.clone(),
                    assertion: within(one, &range),
                })
            });
            Conflict {
                start: range.start,
                end: range.end,
                values: values.collect(),
            }
        });
        Ok(AdjudicationView {
            conflicts: conflicts.collect(),
            adjudicated: known(Layer::Adjudicated),
            document: state.document_view(number, user)?,
            versions,
        })
    }
}

/// Tokens about which people contradict each other, and the spans that these are in.
struct Dispute {
    range: Range<usize>,
    tokens: Vec<usize>,
}

/// Tokens outside are said one by one: only those of the conflict belong to it.
fn within(one: &NamedAssertion, range: &Range<usize>) -> NamedAssertion {
    let mut one = one.clone();
    if one.kind.is_none() {
        one.start = one.start.max(range.start as u32);
        one.end = one.end.min(range.end as u32);
    }
    one
}

/// What cells of a whole document say. Spans end with their sentence.
pub(super) fn all_assertions(state: &State, number: usize, cells: &[Cell]) -> Vec<crate::project::Assertion> {
    let borders = state.corpus.get(number).borders();
    borders
        .into_iter()
        .flat_map(|sentence| cells::assertions(&cells[sentence.clone()], sentence.start))
        .collect()
}

impl State {
    fn pair(&self, a: UserId, b: UserId, numbers: &[usize]) -> Result<Option<Pair>, Error> {
        let mut agreement = Agreement::default();
        let (mut documents, mut tokens) = (0, 0);
        for &number in numbers {
            let (one, other) = (
                self.layer(number, Layer::Person(a)),
                self.layer(number, Layer::Person(b)),
            );
            let (Some(one), Some(other)) = (one, other) else {
                continue;
            };
            let before = tokens;
            for sentence in self.corpus.get(number).borders() {
                for run in common_runs(one, other, sentence) {
                    let spans = |cells: &[Cell]| cells::spans(&cells[run.clone()], 0);
                    let (first, second) = (spans(one), spans(other));
                    let named = |spans: &'_ [(Range<usize>, u32)]| {
                        let spans = spans.iter();
                        spans
                            .map(|(range, kind)| Span::new(range.start, range.end, self.type_name(*kind)))
                            .collect::<Vec<_>>()
                    };
                    agreement
                        .add(&named(&first), &named(&second), run.len())
                        .map_err(|error| Error::refused(error.to_string()))?;
                    tokens += run.len();
                }
            }
            documents += usize::from(tokens > before);
        }
        if tokens == 0 {
            return Ok(None);
        }
        let report = agreement.report();
        let types = report.types.iter().map(|kind| TypeAgreement {
            name: kind.name.clone(),
            kappa: kind.kappa,
            f1: kind.token_f1,
            tokens: kind.tokens.counts().gold + kind.tokens.counts().found,
        });
        Ok(Some(Pair {
            a: self.user_name(a).to_owned(),
            b: self.user_name(b).to_owned(),
            documents,
            tokens,
            kappa: report.micro_kappa,
            f1: report.spans.micro.f,
            types: types.collect(),
        }))
    }

    fn document_agreement(&self, number: usize) -> Option<DocumentAgreement> {
        let people = self.annotators(number);
        if people.len() < 2 {
            return None;
        }
        let text = self.corpus.get(number);
        let conflicts = self.conflicts(number);
        let open = conflicts
            .iter()
            .filter(|dispute| !self.is_decided(number, dispute));
        let open = open.count();
        Some(DocumentAgreement {
            id: text.id,
            name: text.name.clone(),
            conflicts: open,
            annotators: people
                .iter()
                .map(|&user| self.user_name(user).to_owned())
                .collect(),
            adjudicated: open == 0 && !conflicts.is_empty(),
        })
    }

    /// Where people contradict each other: tokens, with the spans that they are in.
    fn conflicts(&self, number: usize) -> Vec<Dispute> {
        let people = self.annotators(number);
        let layers: Vec<&[Cell]> = people
            .iter()
            .filter_map(|&user| self.layer(number, Layer::Person(user)))
            .collect();
        let mut found: Vec<Dispute> = Vec::new();
        for sentence in self.corpus.get(number).borders() {
            let labels: Vec<Vec<cells::Labels>> = layers
                .iter()
                .map(|cells| cells::labels(&cells[sentence.clone()], &self.map))
                .collect();
            let spans: Vec<Range<usize>> = layers
                .iter()
                .flat_map(|cells| cells::spans(&cells[sentence.clone()], sentence.start))
                .map(|(range, _)| range)
                .collect();
            for at in 0..sentence.len() {
                let differ = labels.iter().enumerate().any(|(number, one)| {
                    labels[..number]
                        .iter()
                        .any(|other| cells::contradict(&one[at], &other[at]))
                });
                if !differ {
                    continue;
                }
                let token = sentence.start + at;
                let mut range = token..token + 1;
                for span in spans.iter().filter(|span| span.contains(&token)) {
                    range = range.start.min(span.start)..range.end.max(span.end);
                }
                match found.last_mut() {
                    Some(last) if range.start < last.range.end => {
                        last.range = last.range.start.min(range.start)..last.range.end.max(range.end);
                        last.tokens.push(token);
                    }
                    _ => found.push(Dispute {
                        range,
                        tokens: vec![token],
                    }),
                }
            }
        }
        found
    }

    fn is_decided(&self, number: usize, dispute: &Dispute) -> bool {
        let cells = self.layer(number, Layer::Adjudicated);
        cells.is_some_and(|cells| {
            dispute
                .tokens
                .iter()
                .all(|&token| cells[token].said.is_something())
        })
    }
}

/// The tokens of a sentence about which both say something, as runs.
fn common_runs(one: &[Cell], other: &[Cell], sentence: Range<usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in sentence.filter(|&at| one[at].said.is_something() && other[at].said.is_something()) {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

//! Where people agree and where they differ, and what is decided then.

use super::Engine;
use super::cells::{self, Cell};
use super::documents::DocumentView;
use super::merge::{self, Dispute};
use super::state::State;
use super::wire::NamedAssertion;
use super::words::Layer;
use crate::project::{Assertion, Borders, DocumentId, Error, UserId};
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
        let numbers = state.words.documents();
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
        let (parts, document) = {
            let mut state = self.state();
            let user = self.user(&mut state, user)?;
            let number = state.find(id)?;
            (state.adjudication(number), state.draw_document(number, user))
        };
        let (versions, conflicts, adjudicated) = parts;
        Ok(AdjudicationView {
            document: document.finish()?,
            versions,
            conflicts,
            adjudicated,
        })
    }
}

/// Tokens outside and those with open borders are said one by one: only those of the conflict belong to it.
fn within(one: &NamedAssertion, range: &Range<usize>) -> NamedAssertion {
    let mut one = one.clone();
    if one.kind.is_none() || one.borders == Borders::Open {
        one.start = one.start.max(range.start as u32);
        one.end = one.end.min(range.end as u32);
    }
    one
}

/// What cells of a whole document say. Spans end with their sentence.
pub(super) fn all_assertions(state: &State, number: usize, cells: &[Cell]) -> Vec<Assertion> {
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
            let [one, other] = [a, b].map(|user| self.words.layer(number, Layer::Person(user)));
            let (Some(one), Some(other)) = (one, other) else {
                continue;
            };
            let before = tokens;
            for sentence in self.corpus.get(number).borders() {
                let [one, other] =
                    [one, other].map(|cells| cells::in_use(&cells[sentence.clone()], &self.map));
                let compared = Compared::new(&one, &other);
                let named = |spans: &'_ [(Range<usize>, u32)]| {
                    let spans = spans.iter();
                    spans
                        .map(|(range, kind)| Span::new(range.start, range.end, self.type_name(*kind)))
                        .collect::<Vec<_>>()
                };
                let (first, second) = (compared.spans(&one, &other), compared.spans(&other, &one));
                agreement
                    .add(&named(&first), &named(&second), compared.tokens.len())
                    .map_err(|error| Error::refused(error.to_string()))?;
                tokens += compared.tokens.len();
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
        let people = self.words.annotators(number);
        if people.len() < 2 {
            return None;
        }
        let text = self.corpus.get(number);
        let open = self.open_conflicts(number).len();
        Some(DocumentAgreement {
            id: text.id,
            name: text.name.clone(),
            conflicts: open,
            annotators: people
                .iter()
                .map(|&user| self.user_name(user).to_owned())
                .collect(),
            adjudicated: open == 0 && !self.conflicts(number).is_empty(),
        })
    }

    /// All versions of a document, the conflicts that are not decided, and what is decided.
    fn adjudication(&self, number: usize) -> (Vec<Version>, Vec<Conflict>, Vec<NamedAssertion>) {
        let known = |layer: Layer| {
            let cells = self.words.layer(number, layer);
            cells.map_or_else(Vec::new, |cells| self.named(all_assertions(self, number, cells)))
        };
        let people = self.words.annotators(number).into_iter();
        let versions: Vec<Version> = people
            .map(|user| Version {
                user: self.user_name(user).to_owned(),
                known: known(Layer::Person(user)),
            })
            .collect();
        let conflict = |Dispute { range, .. }: Dispute| {
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
        };
        let conflicts = self.open_conflicts(number).into_iter().map(conflict);
        let conflicts = conflicts.collect();
        (versions, conflicts, known(Layer::Adjudicated))
    }

    /// The conflicts that a decision is about: all of each is decided, also where the version that was chosen says nothing.
    pub fn decided_regions(&self, number: usize, assertions: &[Assertion]) -> Vec<(u32, u32)> {
        let touched = |range: &Range<usize>| {
            let mut all = assertions.iter();
            all.any(|one| (one.start as usize) < range.end && range.start < one.end as usize)
        };
        let conflicts = self.conflicts(number).into_iter().map(|dispute| dispute.range);
        conflicts
            .filter(touched)
            .map(|range| (range.start as u32, range.end as u32))
            .collect()
    }
}

/// The tokens of a sentence on which two people can be compared: those about which both say something, and those of exact
/// spans of both that share tokens. Who ends a span has said that the next token does not belong to it.
struct Compared {
    /// In rising order.
    tokens: Vec<usize>,
}

impl Compared {
    fn new(one: &[Cell], other: &[Cell]) -> Self {
        let mut of_both = vec![false; one.len()];
        for (at, of_both) in of_both.iter_mut().enumerate() {
            *of_both = one[at].said.is_something() && other[at].said.is_something();
        }
        let others = merge::exact_spans(other);
        for own in merge::exact_spans(one) {
            let share = |other: &&Range<usize>| own.start < other.end && other.start < own.end;
            for other in others.iter().filter(share) {
                of_both[own.start.min(other.start)..own.end.max(other.end)].fill(true);
            }
        }
        Self {
            tokens: (0..one.len()).filter(|&at| of_both[at]).collect(),
        }
    }

    /// The spans of one person among the compared tokens, counted by these. Open borders are those of the other, where that
    /// is possible.
    fn spans(&self, own: &[Cell], other: &[Cell]) -> Vec<(Range<usize>, u32)> {
        let mut cells = own.to_vec();
        merge::under(&mut cells, other);
        let count = |token: usize| self.tokens.partition_point(|&other| other < token);
        let spans = cells::spans(&cells, 0).into_iter();
        spans
            .map(|(range, kind)| (count(range.start)..count(range.end), kind))
            .filter(|(range, _)| !range.is_empty())
            .collect()
    }
}

//! Labels that a model does not believe.
//!
//! What people say is cut into parts; a model that was trained on the others is asked about each. A label that it finds
//! improbable is either rare or wrong, and worth a second look.

use super::Engine;
use super::state::State;
use super::train::Threads;
use super::wire::{DocumentName, Sentence, Suggestion};
use super::words::places;
use crate::project::{Action, Deed, DocumentId, Error};
use fieldmark::core::Gold;
use fieldmark::learn::{Estimator, Fitted, LearnOptions, Pool};
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Parts into which what is known is cut.
const FOLDS: usize = 5;
/// Labels that are less probable are doubted.
const DOUBTFUL: f64 = 0.5;
/// Doubts that are shown at a time; settled ones make room for others.
const SHOWN: usize = 200;

/// What is said of a search whose labels or sentences have other numbers now.
const OUTDATED: &str =
    "documents, types or settings have changed since the search: what it found is out of date; look again";

/// What was found out about labels.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    running: bool,
    ready: bool,
    generation: u64,
    found: Vec<Doubt>,
    problem: Option<String>,
}

/// A label that a model does not believe.
#[derive(Clone, Debug, PartialEq)]
struct Doubt {
    document: DocumentId,
    sequence: usize,
    /// Tokens of the document that are doubted.
    tokens: Range<usize>,
    /// What was said of them, as labels of the pool.
    said: Vec<Vec<u32>>,
    probability: f64,
    /// What the model would say: tokens of the document, and the label of the first.
    better: (Range<usize>, u32, f64),
}

/// Doubts, the strongest first.
#[derive(Clone, Debug, Serialize)]
pub struct DoubtReport {
    /// `none`, `running`, `ready` or `outdated`.
    state: &'static str,
    doubts: Vec<DoubtView>,
    /// How many there are in all.
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct DoubtView {
    document: DocumentName,
    sentence: Sentence,
    start: usize,
    end: usize,
    label: Suggestion,
    probability: f64,
    suggestion: Suggestion,
}

impl Doubts {
    /// How many there are in each document, if they are of this generation.
    pub fn by_document(&self, generation: u64) -> HashMap<DocumentId, usize> {
        let mut counts = HashMap::new();
        for doubt in self.found.iter().filter(|_| self.generation == generation) {
            *counts.entry(doubt.document).or_default() += 1;
        }
        counts
    }

    /// Somebody has looked at some tokens again: they are not doubted any more.
    pub fn settle(&mut self, action: &Action) {
        let places = match (&action.deed, action.document) {
            (Deed::Assert { .. } | Deed::Adjudicate { .. } | Deed::Whole { .. }, Some(id)) => {
                places(&action.deed, id, usize::MAX)
            }
            _ => Vec::new(),
        };
        self.found.retain(|doubt| {
            let touches =
                |range: &Range<usize>| range.start < doubt.tokens.end && doubt.tokens.start < range.end;
            action.document != Some(doubt.document) || !places.iter().any(touches)
        });
    }
}

impl Engine {
    /// Begins to look for doubts in the background, if nobody does so already.
    pub fn find_doubts(self: &Arc<Self>) -> Result<(), Error> {
        let (pool, learning, generation) = {
            let state = self.state();
            let mut learned = self.learned();
            if learned.doubts.running {
                return Ok(());
            }
            learned.doubts.running = true;
            (state.pool.clone(), state.learning.clone(), state.generation)
        };
        let engine = self.clone();
        let work = move || {
            let found = Threads::new().install(|| search(&pool, &learning, || engine.is_stopped()));
            let state = engine.state();
            let mut learned = engine.learned();
            let doubts = &mut learned.doubts;
            doubts.running = false;
            doubts.ready = true;
            doubts.generation = generation;
            (doubts.found, doubts.problem) = match found {
                Ok(found) if state.generation == generation => (state.place_doubts(found), None),
                Ok(_) => (Vec::new(), None),
                Err(error) => (Vec::new(), Some(error.to_string())),
            };
        };
        std::thread::Builder::new()
            .name("doubts".to_owned())
            .spawn(work)?;
        Ok(())
    }

    /// Doubts as somebody sees them.
    pub fn doubts(&self, user: &str) -> Result<DoubtReport, Error> {
        let mut state = self.state();
        let user = self.user(&mut state, user)?;
        let mut learned = self.learned();
        let doubts = &mut learned.doubts;
        let outdated = doubts.ready && doubts.generation != state.generation;
        if outdated {
            doubts.found.clear();
            doubts.problem = Some(OUTDATED.to_owned());
        }
        // What was said anew since then is not doubted yet.
        doubts.found.retain(|doubt| doubt.said == state.said_now(doubt));
        let shown: Vec<Doubt> = doubts.found.iter().take(SHOWN).cloned().collect();
        let mut report = DoubtReport {
            state: match (doubts.running, doubts.ready) {
                (true, _) => "running",
                (false, true) if outdated => "outdated",
                (false, true) => "ready",
                (false, false) => "none",
            },
            doubts: Vec::with_capacity(shown.len()),
            total: doubts.found.len(),
            problem: doubts.problem.clone(),
        };
        drop(learned);
        let drawn = shown.iter().map(|doubt| {
            let (number, index) = state.corpus.place(doubt.sequence);
            let name = |label: u32| {
                let kind = state.map.kind_of(label);
                kind.map(|kind| state.type_name(kind).to_owned())
            };
            let said = doubt.said[0].first().and_then(|&label| name(label));
            (state.draw(number, index, user), said, name(doubt.better.1))
        });
        let drawn: Vec<_> = drawn.collect();
        let estimating = state.estimating();
        drop(state);
        for (doubt, (drawn, said, better)) in shown.into_iter().zip(drawn) {
            let text = estimating.corpus.get(drawn.number);
            let (tokens, _, probability) = doubt.better;
            report.doubts.push(DoubtView {
                document: DocumentName {
                    id: text.id,
                    name: text.name.clone(),
                },
                sentence: estimating.sentence(drawn)?,
                start: doubt.tokens.start,
                end: doubt.tokens.end,
                label: Suggestion {
                    start: doubt.tokens.start,
                    end: doubt.tokens.end,
                    kind: said,
                    probability: doubt.probability,
                },
                probability: doubt.probability,
                suggestion: Suggestion {
                    start: tokens.start,
                    end: tokens.end,
                    kind: better,
                    probability,
                },
            });
        }
        Ok(report)
    }
}

impl State {
    /// Doubts with their documents: places are still those of the pool.
    fn place_doubts(&self, mut found: Vec<Doubt>) -> Vec<Doubt> {
        for doubt in &mut found {
            let (number, _) = self.corpus.place(doubt.sequence);
            let text = self.corpus.get(number);
            let own =
                |range: &Range<usize>| range.start - text.first_position..range.end - text.first_position;
            doubt.document = text.id;
            doubt.tokens = own(&doubt.tokens);
            doubt.better.0 = own(&doubt.better.0);
        }
        found
    }

    fn said_now(&self, doubt: &Doubt) -> Vec<Vec<u32>> {
        let (number, _) = self.corpus.place(doubt.sequence);
        let first = self.corpus.get(number).first_position;
        doubt
            .tokens
            .clone()
            .map(|token| labels_at(&self.pool, first + token))
            .collect()
    }
}

fn labels_at(pool: &Pool, position: usize) -> Vec<u32> {
    match pool.known(position) {
        Gold::Known(label) => vec![label],
        Gold::Ambiguous(labels) if pool.is_labelled(position) => labels.to_vec(),
        _ => Vec::new(),
    }
}

/// Doubts, in the positions of the pool, the strongest first.
fn search(pool: &Pool, learning: &LearnOptions, stopped: impl Fn() -> bool) -> Result<Vec<Doubt>, Error> {
    let labelled: Vec<usize> = (0..pool.len())
        .filter(|&sequence| pool.labelled_of(sequence) > 0)
        .collect();
    let mut fold_of = HashMap::with_capacity(labelled.len());
    for (at, &sequence) in labelled.iter().enumerate() {
        fold_of.insert(sequence, at % FOLDS);
    }
    let mut found = Vec::new();
    for fold in 0..FOLDS {
        let others = |sequence: usize| fold_of.get(&sequence).is_some_and(|&other| other != fold);
        let model = Fitted::train_part(pool, learning, None, others)?;
        let mut estimator = Estimator::new(&model);
        for &sequence in labelled.iter().filter(|sequence| fold_of[sequence] == fold) {
            if stopped() {
                return Ok(found);
            }
            let mut inference = estimator.load(pool, sequence, |_| Gold::Unknown)?;
            let path = inference
                .viterbi()
                .map_err(fieldmark::learn::Error::from)?
                .labels
                .to_vec();
            let mut marginals = Vec::new();
            inference
                .marginals(&mut marginals)
                .map_err(fieldmark::learn::Error::from)?;
            found.extend(of_sentence(pool, sequence, &path, &marginals));
        }
    }
    found.sort_by(|one, other| one.probability.total_cmp(&other.probability));
    Ok(found)
}

/// The doubts about one sentence, under what a model says of it that has not seen it.
fn of_sentence(pool: &Pool, sequence: usize, path: &[u32], marginals: &[f64]) -> Vec<Doubt> {
    let positions = pool.positions(sequence);
    let labels = marginals.len() / path.len().max(1);
    let probability = |t: usize, set: &[u32]| {
        let row = &marginals[t * labels..][..labels];
        set.iter()
            .filter_map(|&label| row.get(label as usize))
            .sum::<f64>()
    };
    let mut doubts: Vec<Doubt> = Vec::new();
    for (t, position) in positions.clone().enumerate() {
        let said = labels_at(pool, position);
        let p = probability(t, &said);
        if said.is_empty() || p >= DOUBTFUL {
            continue;
        }
        let kind = |label: u32| label.div_ceil(2);
        match doubts.last_mut() {
            // One span that is doubted, or one that was overlooked.
            Some(last)
                if last.tokens.end == position
                    && kind(last.said[0][0]) == kind(said[0])
                    && kind(path[t - 1]) == kind(path[t]) =>
            {
                last.tokens.end += 1;
                last.said.push(said);
                last.probability = last.probability.min(p);
            }
            _ => doubts.push(Doubt {
                document: 0,
                sequence,
                tokens: position..position + 1,
                said: vec![said],
                probability: p,
                better: (position..position + 1, path[t], probability(t, &[path[t]])),
            }),
        }
    }
    for doubt in &mut doubts {
        // The whole span that the model sees there, or nothing for as many tokens.
        let t = doubt.tokens.start - positions.start;
        doubt.better.0 = match path[t] {
            0 => doubt.tokens.clone(),
            label => {
                let inside = label + label % 2;
                let begin = inside - 1;
                let mut range = t..t + 1;
                while range.start > 0
                    && path[range.start] == inside
                    && [begin, inside].contains(&path[range.start - 1])
                {
                    range.start -= 1;
                }
                while range.end < path.len() && path[range.end] == inside {
                    range.end += 1;
                }
                positions.start + range.start..positions.start + range.end
            }
        };
    }
    doubts
}

//! Labels in columns of tokens, of two files: scores of every column, and of all together.
//!
//! A model that gives labels to tokens in several layers marks no spans: what `tag` writes has columns instead.

use super::documents::{DocumentOptions, pair};
use super::read;
use crate::console::Console;
use crate::failure::Failure;
use fieldmark::assess::{LabelTest, Pair};
use fieldmark::core::scheme::Tag;
use fieldmark::eval::{Evaluation, GoldLabel};
use fieldmark::text::document::{Annotation, Document, GivenTokens};
use fieldmark::{GraphScores, LayerScore};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

/// Columns of gold and of predicted documents that belong together.
type Columns = Vec<(String, String)>;

/// Gold and predicted documents whose labels are in columns.
pub(super) struct Layers<'a> {
    gold: Vec<Document>,
    found: &'a [Document],
    columns: Columns,
}

/// What was found in all columns.
pub(super) struct LayerTest {
    pub scores: GraphScores,
    pub labels: Vec<(String, LabelTest)>,
}

impl DocumentOptions {
    /// The columns to score, where predicted documents have labels in columns and no spans. Warns where they may have been
    /// meant and do not fit.
    pub(super) fn layers<'a>(
        &self,
        (file, gold): (&Path, &[Document]),
        (predicted, found): (&Path, &'a [Document]),
        console: &Console,
    ) -> Result<Option<Layers<'a>>, Failure> {
        let given = label_columns(found);
        if given.is_empty() || has_spans(found) {
            return Ok(None);
        }
        let spans = has_spans(gold);
        let unmarked = match spans {
            true => self.reading.without_spans(file)?,
            false => None,
        };
        let kept = columns(gold);
        let gold = unmarked.unwrap_or_else(|| gold.to_vec());
        let all = columns(&gold);
        let (columns, by_order) = matched(&all, &given, self.reading.names_columns());
        let is_matched = |name: &String| columns.iter().any(|(own, _)| own == name);
        let of_spans = || all.iter().filter(|name| !kept.contains(name));
        if columns.is_empty() || (spans && (of_spans().count() == 0 || !of_spans().all(is_matched))) {
            if spans && given.iter().any(|name| !kept.contains(name)) {
                console.warn(&format!(
                    "{} marks no span, but its tokens have labels in the columns {}. To score them, name the columns of {} \
                     alike, from the left, with --columns: after the word, they are {} now",
                    predicted.display(),
                    given.join(", "),
                    file.display(),
                    all.join(", ")
                ));
            }
            return Ok(None);
        }
        if by_order {
            let pairs: Vec<String> = columns
                .iter()
                .map(|(own, other)| format!("{own} is {other}"))
                .collect();
            console.note(&format!(
                "no column has the same name on both sides, so they are matched in their order: {}. --columns names those \
                 of gold",
                pairs.join(", ")
            ));
        }
        Ok(Some(Layers { gold, found, columns }))
    }

    /// An option that asks for something that only spans have.
    pub(super) fn refuse_for_layers(&self, predicted: &Path) -> Result<(), Failure> {
        let spans = ["measure", "beta", "precision", "against", "order"];
        match self.given().find(|option| spans.contains(option)) {
            Some(option) => Err(Failure::user(format_args!(
                "--{option} is for spans, and {} marks none: its labels are in columns of tokens",
                predicted.display()
            ))),
            None => Ok(()),
        }
    }
}

impl Layers<'_> {
    /// Scores every column. Labels that gold leaves open do not count.
    pub fn test(&self, predicted: &Path, console: &Console) -> Result<LayerTest, Failure> {
        let mut scores = GraphScores {
            layers: Vec::new(),
            spans: None,
            right: 0,
            tokens: 0,
        };
        let mut labels = Vec::new();
        // Whether each token is right in all columns, if that is known.
        let mut joint: Option<Vec<Option<bool>>> = None;
        for (at, (own, other)) in self.columns.iter().enumerate() {
            let pairing = pair(as_spans(&self.gold, own), as_spans(self.found, other), predicted)?;
            if at == 0 {
                read::tell(&pairing, console);
            }
            let column = Column::new(&pairing.pairs);
            let scored = column.score(other, &pairing.pairs)?;
            joint = Some(match joint {
                None => scored.right,
                Some(before) => both_right(&before, &scored.right),
            });
            labels.push((
                other.clone(),
                LabelTest {
                    evaluation: scored.labels,
                    pairs: column.known_pairs(pairing.pairs),
                },
            ));
            scores.layers.push(scored.layer);
        }
        let known = joint.iter().flatten().flatten();
        scores.right = known.clone().filter(|right| **right).count() as u64;
        scores.tokens = known.count() as u64;
        Ok(LayerTest { scores, labels })
    }
}

fn both_right(one: &[Option<bool>], other: &[Option<bool>]) -> Vec<Option<bool>> {
    let both = one.iter().zip(other);
    both.map(|(&one, &other)| Some(one? && other?)).collect()
}

/// Tells which columns of tokens differ and are not scored, beside spans that are.
pub(super) fn tell_unscored(gold: &[Document], found: &[Document], console: &Console) {
    let both: Vec<String> = columns(gold)
        .into_iter()
        .filter(|name| columns(found).contains(name))
        .collect();
    let by_id: HashMap<&str, &Document> = found
        .iter()
        .map(|document| (document.id.as_str(), document))
        .collect();
    let differs = |name: &String| {
        gold.iter().any(|document| {
            let other = by_id.get(document.id.as_str());
            other.is_some_and(|other| {
                let (own, other) = (cells(document, name), cells(other, name));
                own.len() == other.len() && own != other
            })
        })
    };
    let differing: Vec<String> = both.into_iter().filter(differs).collect();
    if differing.is_empty() {
        return;
    }
    let (columns, labels) = match differing.as_slice() {
        [_] => ("column", "its labels are"),
        _ => ("columns", "their labels are"),
    };
    console.note(&format!(
        "the files also differ in the {columns} {}: {labels} not scored, only spans are. `fieldmark eval --model` scores all \
         layers of a graph, and `fieldmark eval --joint N` takes one file that has N gold and then N predicted labels at the \
         end of its lines",
        differing.join(", ")
    ));
}

fn has_spans(documents: &[Document]) -> bool {
    documents.iter().any(|document| !document.annotations.is_empty())
}

/// The columns of tokens, in their order.
fn columns(documents: &[Document]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for given in documents.iter().filter_map(|document| document.given.as_ref()) {
        for name in &given.columns {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

/// The columns that may hold labels of a model: the one that is said to, or all.
fn label_columns(documents: &[Document]) -> Vec<String> {
    let given = documents.iter().filter_map(|document| document.given.as_ref());
    let said = given.filter_map(|given| given.labels.clone()).next();
    said.map_or_else(|| columns(documents), |name| vec![name])
}

/// Columns of the same name; if there are none and nobody `named` them, as many columns in their order.
fn matched(gold: &[String], found: &[String], named: bool) -> (Columns, bool) {
    let same: Columns = gold
        .iter()
        .filter(|name| found.contains(name))
        .map(|name| (name.clone(), name.clone()))
        .collect();
    if same.is_empty() && !named && gold.len() == found.len() {
        return (gold.iter().cloned().zip(found.iter().cloned()).collect(), true);
    }
    (same, false)
}

fn cells<'d>(document: &'d Document, name: &str) -> Vec<&'d str> {
    let cells = document.given.iter().flat_map(|given| tokens(given, name));
    cells.map(|(_, cell, _)| cell).collect()
}

/// Every token, with its cell in a column and how sure a model is of it.
fn tokens<'d>(
    given: &'d GivenTokens,
    name: &str,
) -> impl Iterator<Item = (Range<usize>, &'d str, Option<f64>)> + use<'d> {
    let place = given.columns.iter().position(|column| column == name);
    // A confidence of several labels together is that of none of them.
    let is_sure = given.labels.as_deref() == Some(name);
    given.sentences.iter().flatten().filter_map(move |token| {
        let cell = token.columns.get(place?)?.as_str();
        Some((token.range.clone(), cell, token.score.filter(|_| is_sure)))
    })
}

/// The same documents, in which each token is a span of its label.
fn as_spans(documents: &[Document], column: &str) -> Vec<Document> {
    let labelled = |document: &Document| {
        let tokens = document.given.iter().flat_map(|given| tokens(given, column));
        let annotations = tokens.map(|(range, cell, score)| Annotation {
            score,
            ..Annotation::new(range, cell)
        });
        Document {
            annotations: annotations.collect(),
            given: document.given.clone(),
            ..Document::new(document.id.clone(), document.text.clone())
        }
    };
    documents.iter().map(labelled).collect()
}

/// What came out for a column.
struct Scored {
    layer: LayerScore,
    /// Its labels, spans or not.
    labels: Evaluation,
    /// Whether each token is right, if that is known.
    right: Vec<Option<bool>>,
}

/// What the gold cells of a column mean.
struct Column {
    /// Cells that are one label.
    plain: HashSet<String>,
}

impl Column {
    fn new(pairs: &[Pair]) -> Self {
        let cells = pairs.iter().flat_map(|pair| &pair.gold);
        let plain = cells
            .map(|token| token.kind.as_str())
            .filter(|cell| !is_open(cell) && !cell.contains('|'));
        Self {
            plain: plain.map(str::to_owned).collect(),
        }
    }

    /// Whether its labels make spans, as in a graph.
    fn has_spans(&self) -> bool {
        let is_part = |label: &String| matches!(Tag::parse(label), Tag::Part(_, kind) if !kind.is_empty());
        self.plain.iter().all(|label| label == "O" || is_part(label)) && self.plain.iter().any(is_part)
    }

    /// `A|B` is one of both where both are labels of other tokens.
    fn known<'c>(&self, cell: &'c str) -> GoldLabel<&'c str> {
        let choice = || cell.split('|').all(|label| self.plain.contains(label));
        match cell {
            cell if is_open(cell) => GoldLabel::Unknown,
            cell if cell.contains('|') && choice() => GoldLabel::OneOf(cell.split('|').collect()),
            cell => GoldLabel::Known(cell),
        }
    }

    fn score(&self, name: &str, pairs: &[Pair]) -> Result<Scored, Failure> {
        // No label stands for "no span".
        let mut labels = Evaluation::raw("");
        let mut layer = LayerScore {
            name: name.to_owned(),
            has_spans: self.has_spans(),
            evaluation: match self.has_spans() {
                true => Evaluation::conlleval(),
                false => Evaluation::raw(""),
            },
        };
        let mut right = Vec::new();
        for pair in pairs {
            let (gold, found) = (by_range(&pair.gold), by_range(&pair.found));
            for sentence in pair.sentences.iter().flatten() {
                let cell = |range: &Range<usize>| gold.get(range).copied().unwrap_or_default();
                let known: Vec<GoldLabel<&str>> =
                    sentence.iter().map(|range| self.known(cell(range))).collect();
                // A token that was not predicted is wrong.
                let label = |range: &Range<usize>| found.get(range).copied().unwrap_or_default();
                let found: Vec<&str> = sentence.iter().map(label).collect();
                labels.add_partial(&known, &found).map_err(Failure::ours)?;
                layer
                    .evaluation
                    .add_partial(&known, &found)
                    .map_err(Failure::ours)?;
                right.extend(known.iter().zip(&found).map(|(known, found)| match known {
                    GoldLabel::Known(label) => Some(label == found),
                    _ => None,
                }));
            }
        }
        Ok(Scored { layer, labels, right })
    }

    /// Only tokens whose label is known.
    fn known_pairs(&self, mut pairs: Vec<Pair>) -> Vec<Pair> {
        for pair in &mut pairs {
            pair.gold
                .retain(|token| matches!(self.known(&token.kind), GoldLabel::Known(_)));
            let known: HashSet<Range<usize>> = pair.gold.iter().map(Annotation::range).collect();
            pair.found.retain(|token| known.contains(&token.range()));
        }
        pairs
    }
}

fn is_open(cell: &str) -> bool {
    cell.split('|').any(|label| matches!(label, "?" | "_" | ""))
}

fn by_range(tokens: &[Annotation]) -> HashMap<Range<usize>, &str> {
    tokens
        .iter()
        .map(|token| (token.range(), token.kind.as_str()))
        .collect()
}

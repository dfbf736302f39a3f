//! What several layers say together of a sentence.
//!
//! A layer is made of *statements*: an exact span is one, and so is every other token of which something is said. Layers are
//! laid under each other statement by statement, not token by token: a span either holds as a whole or is given up, so that
//! what comes out is legal in the scheme. A statement that agrees with those above it adds what it knows: an exact span
//! tells the borders of open tokens. One that contradicts them is given up, and the tokens that nobody else spoke of are
//! open.

use super::cells::{self, Cell, LabelMap, Labels, Said};
use std::ops::Range;

/// Adds the statements of one layer that do not contradict what is there already.
pub(super) fn under(above: &mut [Cell], below: &[Cell]) {
    let mut at = 0;
    while at < below.len() {
        let mut end = at + 1;
        match below[at].said {
            Said::Nothing => {}
            Said::Begin(kind) | Said::Inside(kind) => {
                while below.get(end).is_some_and(|cell| cell.said == Said::Inside(kind)) {
                    end += 1;
                }
                span_under(above, below, at..end);
            }
            said => {
                if above[at].said == Said::Nothing {
                    above[at].said = said;
                }
            }
        }
        at = end;
    }
}

/// Adds an exact span, if every token above it allows it.
fn span_under(above: &mut [Cell], below: &[Cell], span: Range<usize>) {
    let kind = below[span.start].said.kind();
    let ends = below.get(span.end).is_some_and(|cell| cell.closed);
    let fits = span.clone().all(|at| {
        // A span that is known to end here is another one.
        let goes_on = at == span.start || !above[at].closed;
        match above[at].said {
            Said::Nothing => goes_on,
            Said::Part(other) => goes_on && Some(other) == kind,
            said => said == below[at].said,
        }
    });
    let goes_on = above
        .get(span.end)
        .is_some_and(|cell| matches!(cell.said, Said::Inside(_)));
    if !fits || (ends && goes_on) {
        return;
    }
    for at in span.clone() {
        above[at].said = below[at].said;
        above[at].closed &= at == span.start;
    }
    if ends {
        above[span.end].closed = true;
    }
}

/// What holds under `above`: the words of people, of whom the first wins where they contradict each other, then what the
/// document came with. What somebody has cleared is open, whatever the document came with, but other people may know it.
pub(super) fn combined<'a>(
    above: &mut [Cell],
    people: impl Iterator<Item = &'a [Cell]> + Clone,
    import: Option<&[Cell]>,
) {
    for cells in people.clone() {
        let cells: Vec<Cell> = cells.iter().map(|&cell| without_clearing(cell)).collect();
        under(above, &cells);
    }
    for cells in people {
        for (above, cell) in above.iter_mut().zip(cells) {
            if above.said == Said::Nothing && cell.said == Said::Cleared {
                above.said = Said::Cleared;
            }
        }
    }
    if let Some(import) = import {
        under(above, import);
    }
}

fn without_clearing(cell: Cell) -> Cell {
    Cell {
        said: match cell.said {
            Said::Cleared => Said::Nothing,
            said => said,
        },
        ..cell
    }
}

/// Tokens about which people contradict each other, and the exact spans that these are in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dispute {
    /// No exact span of anybody crosses its borders.
    pub range: Range<usize>,
    /// The tokens themselves.
    pub tokens: Vec<usize>,
}

/// Where the versions of a sentence contradict each other.
pub(super) fn disputes(versions: &[&[Cell]], map: &LabelMap) -> Vec<Dispute> {
    let labels: Vec<Vec<Labels>> = versions.iter().map(|cells| cells::labels(cells, map)).collect();
    disputes_of(versions, &labels)
}

fn disputes_of(versions: &[&[Cell]], labels: &[Vec<Labels>]) -> Vec<Dispute> {
    let length = versions.first().map_or(0, |cells| cells.len());
    let differ = |at: usize| {
        let mut pairs = labels
            .iter()
            .enumerate()
            .flat_map(|(number, one)| labels[..number].iter().map(move |other| (one, other)));
        pairs.any(|(one, other)| contradict(&one[at], &other[at]))
    };
    let tokens: Vec<usize> = (0..length).filter(|&at| differ(at)).collect();
    if tokens.is_empty() {
        return Vec::new();
    }
    let joined = joined_spans(versions);
    let mut found: Vec<Dispute> = Vec::new();
    for token in tokens {
        let around = joined.iter().find(|span| span.contains(&token)).cloned();
        let range = around.unwrap_or(token..token + 1);
        match found.last_mut() {
            Some(last) if last.range == range => last.tokens.push(token),
            _ => found.push(Dispute {
                range,
                tokens: vec![token],
            }),
        }
    }
    found
}

/// The exact spans of all versions, those that share tokens as one.
fn joined_spans(versions: &[&[Cell]]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = versions.iter().flat_map(|cells| exact_spans(cells)).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

/// The exact spans of a sentence.
pub(super) fn exact_spans(cells: &[Cell]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        match (cell.said, spans.last_mut()) {
            (Said::Inside(_), Some(last)) if last.end == at => last.end += 1,
            (Said::Begin(_) | Said::Inside(_), _) => spans.push(at..at + 1),
            _ => {}
        }
    }
    spans
}

/// Whether two people contradict each other about a token.
fn contradict(one: &Labels, other: &Labels) -> bool {
    let (Some(one), Some(other)) = (one.set(), other.set()) else {
        return false;
    };
    one.iter().all(|label| !other.contains(label))
}

/// The labels that a sentence can have: what was decided, else what people say, else what it came with. Where people
/// contradict each other, every version is possible.
pub(super) fn labels(
    adjudicated: Option<&[Cell]>,
    people: &[&[Cell]],
    import: Option<&[Cell]>,
    length: usize,
    map: &LabelMap,
) -> Vec<Labels> {
    let decided = adjudicated.map_or_else(|| vec![Cell::default(); length], <[Cell]>::to_vec);
    let version = |cells: &&[Cell]| {
        let mut all = decided.clone();
        under(&mut all, cells);
        all
    };
    let versions: Vec<Vec<Cell>> = people.iter().map(version).collect();
    let versions: Vec<&[Cell]> = versions.iter().map(Vec::as_slice).collect();
    let of_versions: Vec<Vec<Labels>> = match versions.len() {
        0 | 1 => Vec::new(),
        _ => versions.iter().map(|cells| cells::labels(cells, map)).collect(),
    };
    let disputes = disputes_of(&versions, &of_versions);
    let mut cells = decided;
    for dispute in &disputes {
        // Nothing comes under what is disputed.
        let open = Cell {
            said: Said::Cleared,
            closed: false,
        };
        cells[dispute.range.clone()].fill(open);
    }
    combined(&mut cells, versions.iter().copied(), import);
    let mut all = cells::labels(&cells, map);
    for Dispute { range, .. } in &disputes {
        let speaks = |cells: &&[Cell]| cells[range.clone()].iter().any(|cell| cell.said.is_something());
        let speakers: Vec<&Vec<Labels>> = versions
            .iter()
            .zip(&of_versions)
            .filter(|(cells, _)| speaks(cells))
            .map(|(_, labels)| labels)
            .collect();
        for at in range.clone() {
            all[at] = any_of(speakers.iter().map(|labels| &labels[at]), map);
        }
    }
    narrow(&mut all, map);
    all
}

/// What is possible if one of several versions is right.
fn any_of<'a>(versions: impl Iterator<Item = &'a Labels>, map: &LabelMap) -> Labels {
    let (mut set, mut answered) = (Vec::new(), true);
    for labels in versions {
        match labels {
            Labels::Open => return Labels::Open,
            Labels::Limited(labels) => {
                answered = false;
                set.extend(labels);
            }
            Labels::Answered(labels) => set.extend(labels),
        }
    }
    set.sort_unstable();
    set.dedup();
    match answered {
        true => Labels::Answered(set),
        false if set.len() == map.len() => Labels::Open,
        false => Labels::Limited(set),
    }
}

/// Leaves labels out that go on with a span which the token before cannot be in.
fn narrow(all: &mut [Labels], map: &LabelMap) {
    for at in 1..all.len() {
        let (before, rest) = all.split_at_mut(at);
        let (Some(before), Labels::Answered(set)) = (before[at - 1].set(), &mut rest[0]) else {
            continue;
        };
        let can_stand = |label: &u32| {
            let Some(kind) = map
                .kind_of(*label)
                .filter(|&kind| map.inside(kind) == Some(*label))
            else {
                return true;
            };
            before.iter().any(|&before| map.kind_of(before) == Some(kind))
        };
        if set.iter().any(can_stand) {
            set.retain(can_stand);
        }
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;

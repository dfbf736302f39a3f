//! [`Cell`]: what one person says about one token, and what follows from it for labels.
//!
//! Assertions are written onto the cells of a document one after the other; the last one wins, token by token. Labels are
//! those of IOB2, whose numbers are [`LabelMap`]'s.

use crate::project::{Assertion, Borders, TypeId};
use fieldmark::core::{Alphabet, Gold};
use std::borrow::Cow;
use std::ops::Range;

/// What is said about a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing.
    #[default]
    Nothing,
    /// It is open: what was said before, and what the document came with, does not hold.
    Cleared,
    /// It is in no span.
    Outside,
    /// It is the first of a span.
    Begin(TypeId),
    /// It goes on with the span of the token before it.
    Inside(TypeId),
    /// It is in a span, wherever that begins.
    Part(TypeId),
}

/// What is said about a token, and whether a span is known to end before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub said: Said,
    /// The span of the token before it, if that is in one, ends there.
    pub closed: bool,
}

impl Said {
    /// The type, if it is in a span.
    pub fn kind(self) -> Option<TypeId> {
        match self {
            Said::Begin(kind) | Said::Inside(kind) | Said::Part(kind) => Some(kind),
            Said::Nothing | Said::Cleared | Said::Outside => None,
        }
    }

    /// Whether it says which labels the token can have.
    pub fn is_something(self) -> bool {
        !matches!(self, Said::Nothing | Said::Cleared)
    }
}

/// Writes an assertion onto the cells of a document. `borders` are the sentences as ranges of tokens: a span that crosses
/// from one to the next is one in each.
pub(super) fn assert(cells: &mut [Cell], sentences: &[Range<usize>], assertion: &Assertion) {
    let (start, end) = (
        assertion.start as usize,
        (assertion.end as usize).min(cells.len()),
    );
    let first = sentences.partition_point(|sentence| sentence.end <= start);
    for sentence in &sentences[first..] {
        if sentence.start >= end {
            break;
        }
        let part = start.max(sentence.start)..end.min(sentence.end);
        assert_part(cells, sentence, part, assertion);
    }
}

fn assert_part(cells: &mut [Cell], sentence: &Range<usize>, part: Range<usize>, assertion: &Assertion) {
    let exact = assertion.borders == Borders::Exact && assertion.kind.is_some();
    for at in part.clone() {
        cells[at].said = match assertion.kind {
            None => Said::Outside,
            Some(kind) if !exact => Said::Part(kind),
            Some(kind) if at == part.start => Said::Begin(kind),
            Some(kind) => Said::Inside(kind),
        };
        // That a span ends before the first token is still true, unless that begins one itself.
        cells[at].closed &= at == part.start;
    }
    if part.end < sentence.end {
        mend(cells, part.end, exact);
    }
}

/// Takes back what was said of some tokens.
pub(super) fn clear(cells: &mut [Cell], sentences: &[Range<usize>], range: Range<usize>) {
    let range = range.start..range.end.min(cells.len());
    for at in range.clone() {
        let closed = cells[at].closed && at == range.start;
        cells[at] = Cell {
            said: Said::Cleared,
            closed,
        };
    }
    let first = sentences.partition_point(|sentence| sentence.end <= range.end);
    if sentences
        .get(first)
        .is_some_and(|sentence| sentence.start < range.end)
    {
        mend(cells, range.end, false);
    }
}

/// What was said of the rest of a span whose beginning was written over: it is a span of its own.
fn mend(cells: &mut [Cell], at: usize, closed: bool) {
    cells[at].closed = closed;
    if let Said::Inside(kind) = cells[at].said {
        cells[at].said = Said::Begin(kind);
    }
}

/// What cells say, as assertions in order. Exact spans, runs of open tokens and runs of tokens outside.
pub(super) fn assertions(cells: &[Cell], first: usize) -> Vec<Assertion> {
    let mut all: Vec<Assertion> = Vec::new();
    let mut before = Said::Nothing;
    for (at, cell) in (first as u32..).zip(cells) {
        let (kind, borders) = match cell.said {
            Said::Nothing | Said::Cleared => {
                before = cell.said;
                continue;
            }
            Said::Outside => (None, Borders::Exact),
            Said::Part(kind) => (Some(kind), Borders::Open),
            Said::Begin(kind) | Said::Inside(kind) => (Some(kind), Borders::Exact),
        };
        let goes_on = match (before, cell.said) {
            (Said::Outside, Said::Outside) => true,
            (Said::Part(one), Said::Part(other)) => one == other && !cell.closed,
            (Said::Begin(one) | Said::Inside(one), Said::Inside(other)) => one == other,
            _ => false,
        };
        match all.last_mut() {
            Some(last) if goes_on => last.end = at + 1,
            _ => all.push(Assertion {
                start: at,
                end: at + 1,
                kind,
                borders,
            }),
        }
        before = cell.said;
    }
    all
}

/// The spans that cells describe, as ranges of tokens; what is open counts as one span as far as it goes.
pub(super) fn spans(cells: &[Cell], first: usize) -> Vec<(Range<usize>, TypeId)> {
    let all = assertions(cells, first).into_iter();
    all.filter_map(|assertion| Some((assertion.start as usize..assertion.end as usize, assertion.kind?)))
        .collect()
}

/// The numbers of labels: `O` is 0, and each type that is in use has a `B` and an `I`.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelMap {
    /// Types in use, in the order of their labels.
    kinds: Vec<TypeId>,
    names: Vec<String>,
}

impl LabelMap {
    pub fn new(kinds: impl IntoIterator<Item = (TypeId, String)>) -> Self {
        let (kinds, names) = kinds.into_iter().unzip();
        Self { kinds, names }
    }

    /// The label names.
    pub fn labels(&self) -> Alphabet {
        let mut labels = Alphabet::new();
        labels.intern("O");
        for name in &self.names {
            labels.intern(&format!("B-{name}"));
            labels.intern(&format!("I-{name}"));
        }
        labels
    }

    pub fn len(&self) -> usize {
        1 + 2 * self.kinds.len()
    }

    pub fn kinds(&self) -> &[TypeId] {
        &self.kinds
    }

    fn slot(&self, kind: TypeId) -> Option<u32> {
        self.kinds
            .iter()
            .position(|&other| other == kind)
            .map(|at| at as u32)
    }

    pub fn begin(&self, kind: TypeId) -> Option<u32> {
        Some(1 + 2 * self.slot(kind)?)
    }

    pub fn inside(&self, kind: TypeId) -> Option<u32> {
        Some(2 + 2 * self.slot(kind)?)
    }

    /// The name of a type, if it is in use.
    pub fn name(&self, kind: TypeId) -> Option<&str> {
        Some(&self.names[self.slot(kind)? as usize])
    }

    /// The type of a label; `None` for `O`.
    pub fn kind_of(&self, label: u32) -> Option<TypeId> {
        let slot = label.checked_sub(1)? / 2;
        self.kinds.get(slot as usize).copied()
    }
}

/// The labels that a token can have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Labels {
    /// All.
    #[default]
    Open,
    /// All but some: nobody has answered.
    Limited(Vec<u32>),
    /// One of these, as somebody said.
    Answered(Vec<u32>),
}

impl Labels {
    /// The labels, if not every one is possible.
    pub fn set(&self) -> Option<&[u32]> {
        match self {
            Labels::Open => None,
            Labels::Answered(labels) | Labels::Limited(labels) => Some(labels),
        }
    }

    pub fn gold(&self) -> Gold<'_> {
        match self {
            Labels::Open => Gold::Unknown,
            Labels::Answered(labels) | Labels::Limited(labels) => match labels[..] {
                [label] => Gold::Known(label),
                _ => Gold::Ambiguous(labels),
            },
        }
    }
}

/// The labels that the cells of a sentence leave open. What follows from the scheme is used where something is said: the
/// first token of a sentence cannot go on with a span, nor can one after a token outside.
pub(super) fn labels(cells: &[Cell], map: &LabelMap) -> Vec<Labels> {
    let mut all = Vec::with_capacity(cells.len());
    let mut before = Some(Said::Outside);
    for cell in cells {
        let previous = before.and_then(Said::kind);
        all.push(match cell.said {
            Said::Outside => Labels::Answered(vec![0]),
            Said::Begin(kind) => map
                .begin(kind)
                .map_or(Labels::Open, |label| Labels::Answered(vec![label])),
            Said::Inside(kind) => map
                .inside(kind)
                .map_or(Labels::Open, |label| Labels::Answered(vec![label])),
            Said::Part(kind) => {
                let begins =
                    cell.closed || before.is_some_and(|said| said.is_something() && previous != Some(kind));
                match (map.begin(kind), map.inside(kind)) {
                    (Some(begin), Some(_)) if begins => Labels::Answered(vec![begin]),
                    (Some(begin), Some(inside)) => Labels::Answered(vec![begin, inside]),
                    _ => Labels::Open,
                }
            }
            Said::Nothing | Said::Cleared if cell.closed => {
                match previous.and_then(|kind| map.inside(kind)) {
                    Some(inside) => {
                        let others = (0..map.len() as u32).filter(|&label| label != inside);
                        Labels::Limited(others.collect())
                    }
                    None => Labels::Open,
                }
            }
            Said::Nothing | Said::Cleared => Labels::Open,
        });
        before = Some(cell.said);
    }
    all
}

/// Cells without what they say of types that are not in use. It is kept, and holds again when the type comes back.
pub(super) fn in_use<'c>(cells: &'c [Cell], map: &LabelMap) -> Cow<'c, [Cell]> {
    let is_gone = |cell: &Cell| cell.said.kind().is_some_and(|kind| map.begin(kind).is_none());
    if !cells.iter().any(is_gone) {
        return Cow::Borrowed(cells);
    }
    let without = |at: usize| Cell {
        said: match is_gone(&cells[at]) {
            true => Said::Nothing,
            false => cells[at].said,
        },
        closed: cells[at].closed && !(at > 0 && is_gone(&cells[at - 1])),
    };
    Cow::Owned((0..cells.len()).map(without).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(start: u32, end: u32, kind: Option<TypeId>, borders: Borders) -> Assertion {
        Assertion {
            start,
            end,
            kind,
            borders,
        }
    }

    fn map() -> LabelMap {
        LabelMap::new([(7, "X".to_owned()), (9, "Y".to_owned())])
    }

    /// The labels after assertions, one letter set for each token of two sentences.
    fn shown(list: &[Assertion]) -> String {
        let sentences = [0..4, 4..6];
        let mut cells = vec![Cell::default(); 6];
        for one in list {
            assert(&mut cells, &sentences, one);
        }
        show(&cells)
    }

    fn show(cells: &[Cell]) -> String {
        let names = ["O", "Bx", "Ix", "By", "Iy"];
        let both = labels(&cells[..4], &map())
            .into_iter()
            .chain(labels(&cells[4..], &map()));
        let words = both.map(|labels| match labels {
            Labels::Open => "?".to_owned(),
            Labels::Limited(set) => {
                let gone = (0..5).filter(|label| !set.contains(label));
                format!("!{}", gone.map(|label| names[label as usize]).collect::<String>())
            }
            Labels::Answered(set) => set
                .iter()
                .map(|&label| names[label as usize])
                .collect::<Vec<_>>()
                .join("|"),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    use Borders::{Exact, Open};

    #[test]
    fn exact_spans_end_where_they_end() {
        assert_eq!(shown(&[said(0, 2, Some(7), Exact)]), "Bx Ix !Ix ? ? ?");
        assert_eq!(shown(&[said(1, 2, None, Exact)]), "? O ? ? ? ?");
        assert_eq!(
            shown(&[said(2, 4, Some(7), Exact)]),
            "? ? Bx Ix ? ?",
            "no word about the next sentence"
        );
        assert_eq!(
            shown(&[said(3, 5, Some(9), Exact)]),
            "? ? ? By By !Iy",
            "one span in each sentence"
        );
        assert_eq!(
            shown(&[said(0, 9, None, Exact)]),
            "O O O O O O",
            "borders beyond the text are cut"
        );
    }

    #[test]
    fn open_tokens_begin_where_they_must() {
        assert_eq!(shown(&[said(1, 3, Some(7), Open)]), "? Bx|Ix Bx|Ix ? ? ?");
        assert_eq!(
            shown(&[said(0, 2, Some(7), Open)]),
            "Bx Bx|Ix ? ? ? ?",
            "a sentence begins no span inside"
        );
        let after = |kind| shown(&[said(0, 1, kind, Open), said(1, 2, Some(7), Open)]);
        assert_eq!(after(None), "O Bx ? ? ? ?");
        assert_eq!(after(Some(9)), "By Bx ? ? ? ?");
        let closed = [said(0, 1, Some(7), Exact), said(1, 2, Some(7), Open)];
        assert_eq!(shown(&closed), "Bx Bx ? ? ? ?", "the span before is known to end");
    }

    #[test]
    fn the_last_word_counts_and_the_rest_stays() {
        let span = said(0, 3, Some(7), Exact);
        assert_eq!(shown(&[span, said(0, 1, None, Exact)]), "O Bx Ix !Ix ? ?");
        assert_eq!(shown(&[span, said(1, 2, None, Exact)]), "Bx O Bx !Ix ? ?");
        assert_eq!(shown(&[span, said(2, 3, None, Exact)]), "Bx Ix O ? ? ?");
        assert_eq!(shown(&[span, said(0, 2, Some(9), Exact)]), "By Iy Bx !Ix ? ?");
        assert_eq!(shown(&[span, said(1, 2, Some(9), Open)]), "Bx By Bx !Ix ? ?");
    }

    #[test]
    fn what_is_cleared_is_open() {
        let sentences = [0..4, 4..6];
        let mut cells = vec![Cell::default(); 6];
        assert(&mut cells, &sentences, &said(0, 3, Some(7), Exact));
        clear(&mut cells, &sentences, 1..2);
        assert_eq!(show(&cells), "Bx ? Bx !Ix ? ?");
        let cleared = Cell {
            said: Said::Cleared,
            closed: false,
        };
        clear(&mut cells, &sentences, 0..6);
        assert_eq!(cells, [cleared; 6]);
        assert(&mut cells, &sentences, &said(0, 4, Some(7), Exact));
        clear(&mut cells, &sentences, 0..99);
        assert_eq!(cells, [cleared; 6]);
        assert_eq!(show(&cells), "? ? ? ? ? ?");
        assert_eq!(assertions(&cells, 0), []);
    }

    #[test]
    fn assertions_lead_back_to_the_same_cells() {
        let sentences = [0..4, 4..6];
        for code in 0..3000u32 {
            // Four random assertions.
            let mut random = fieldmark::core::random::SplitMix64(u64::from(code));
            let mut cells = vec![Cell::default(); 6];
            for _ in 0..4 {
                let start = random.below(6);
                let end = start + 1 + random.below(6 - start);
                let kind = [None, Some(7), Some(9)][random.below(3) as usize];
                let borders = [Exact, Open][random.below(2) as usize];
                assert(&mut cells, &sentences, &said(start, end, kind, borders));
            }
            let mut again = vec![Cell::default(); 6];
            for sentence in &sentences {
                for one in assertions(&cells[sentence.clone()], sentence.start) {
                    assert(&mut again, &sentences, &one);
                }
            }
            let words = |cells: &[Cell]| cells.iter().map(|cell| cell.said).collect::<Vec<_>>();
            assert_eq!(words(&cells), words(&again), "{code}");
            // Labels are always legal in the scheme.
            let sets: Vec<Labels> = labels(&cells[..4], &map());
            for (before, next) in sets.iter().zip(&sets[1..]) {
                if let (Labels::Answered(before), Labels::Answered(next)) = (before, next) {
                    let legal = next.iter().any(|&next| {
                        next % 2 == 1 || next == 0 || before.iter().any(|&b| b == next || b + 1 == next)
                    });
                    assert!(legal, "{code}: {before:?} {next:?}");
                }
            }
        }
    }

    #[test]
    fn types_that_are_gone_say_nothing() {
        let map = LabelMap::new([(9, "Y".to_owned())]);
        let mut cells = vec![Cell::default(); 3];
        assert(
            &mut cells,
            std::slice::from_ref(&(0..3)),
            &said(0, 2, Some(7), Exact),
        );
        assert_eq!(labels(&cells, &map), vec![Labels::Open; 3]);
        assert_eq!(*in_use(&cells, &map), [Cell::default(); 3]);
        assert_eq!(*in_use(&cells, &self::map()), cells[..]);
        assert_eq!(
            (map.kind_of(0), map.kind_of(2), map.kind_of(3)),
            (None, Some(9), None)
        );
    }
}

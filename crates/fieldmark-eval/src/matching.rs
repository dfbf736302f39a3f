//! [`Matching`]: when a found span counts as a gold one, and how spans are paired.
//!
//! Each span is paired with at most one of the other side, and as many pairs are made as possible. So no span
//! earns credit twice, and every figure stays the same when gold and found change places.

use fieldmark_core::scheme::Span;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When a found span counts as a gold one. The names are those of SemEval-2013 task 9 (Segura-Bedmar et al.
/// 2013), except that what is called *exact* there is [`Matching::Boundary`].
///
/// An empty span is treated as one position wide, so that it overlaps itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Matching {
    /// Both borders and the type agree: what is called exact match without a further word.
    #[default]
    Strict,
    /// Both borders agree, the type may be any: class-insensitive scoring.
    Boundary,
    /// The spans have a position in common and the same type.
    Type,
    /// The spans have a position in common, the type may be any: partial match.
    Partial,
}

impl Matching {
    /// Every way of matching.
    pub const ALL: [Matching; 4] = [
        Matching::Strict,
        Matching::Boundary,
        Matching::Type,
        Matching::Partial,
    ];

    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Matching::Strict => "strict",
            Matching::Boundary => "boundary",
            Matching::Type => "type",
            Matching::Partial => "partial",
        }
    }

    /// Whether two spans may be paired.
    ///
    /// ```
    /// use fieldmark_eval::{Matching, Span};
    /// let (gold, found) = (Span::new(0, 3, "PER"), Span::new(1, 3, "PER"));
    /// assert!(Matching::Type.accepts(&gold, &found));
    /// assert!(!Matching::Strict.accepts(&gold, &found));
    /// ```
    pub fn accepts(self, gold: &Span<'_>, found: &Span<'_>) -> bool {
        let borders = (gold.start, gold.end) == (found.start, found.end);
        let overlap = gold.start < end(found) && found.start < end(gold);
        match self {
            Matching::Strict => borders && gold.kind == found.kind,
            Matching::Boundary => borders,
            Matching::Type => overlap && gold.kind == found.kind,
            Matching::Partial => overlap,
        }
    }

    /// The largest set of pairs of a gold and a found span that accept each other, by index.
    ///
    /// ```
    /// use fieldmark_eval::{Matching, Span};
    /// let gold = [Span::new(0, 2, "PER"), Span::new(4, 5, "LOC")];
    /// let found = [Span::new(4, 6, "LOC"), Span::new(8, 9, "LOC")];
    /// assert_eq!(Matching::Type.pairs(&gold, &found), [(1, 0)]);
    /// ```
    pub fn pairs(self, gold: &[Span<'_>], found: &[Span<'_>]) -> Vec<(usize, usize)> {
        let mut pairs = match self {
            Matching::Strict => equals(gold, found, |span| *span),
            Matching::Boundary => same_borders(gold, found),
            Matching::Type => kinds(gold)
                .into_iter()
                .flat_map(|kind| overlaps(gold, found, |span| span.kind == kind))
                .collect(),
            Matching::Partial => overlaps(gold, found, |_| true),
        };
        pairs.sort_unstable();
        pairs
    }
}

/// The end of a span in which an empty one is one position wide.
fn end(span: &Span<'_>) -> usize {
    span.end.max(span.start.saturating_add(1))
}

fn kinds<'a>(spans: &[Span<'a>]) -> Vec<&'a str> {
    let mut kinds: Vec<&str> = spans.iter().map(|span| span.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Pairs spans with equal keys.
fn equals<'a, K: Ord>(
    gold: &[Span<'a>],
    found: &[Span<'a>],
    key: impl Fn(&Span<'a>) -> K,
) -> Vec<(usize, usize)> {
    let sorted = |spans: &[Span<'a>]| {
        let mut order: Vec<(K, usize)> = spans
            .iter()
            .enumerate()
            .map(|(at, span)| (key(span), at))
            .collect();
        order.sort_unstable();
        order
    };
    let mut found = sorted(found).into_iter().peekable();
    let mut pairs = Vec::new();
    for (key, at) in sorted(gold) {
        while found.next_if(|(other, _)| *other < key).is_some() {}
        if let Some((_, other)) = found.next_if(|(other, _)| *other == key) {
            pairs.push((at, other));
        }
    }
    pairs
}

/// Pairs spans with the same borders, those of the same type first.
fn same_borders(gold: &[Span<'_>], found: &[Span<'_>]) -> Vec<(usize, usize)> {
    let mut pairs = equals(gold, found, |span| *span);
    let mut gold_free = vec![true; gold.len()];
    let mut found_free = vec![true; found.len()];
    for &(one, other) in &pairs {
        gold_free[one] = false;
        found_free[other] = false;
    }
    let rest = |spans: &[Span<'_>], free: &[bool]| -> Vec<usize> {
        (0..spans.len()).filter(|&at| free[at]).collect()
    };
    let (gold_rest, found_rest) = (rest(gold, &gold_free), rest(found, &found_free));
    let bare = |spans: &[Span<'_>], rest: &[usize]| -> Vec<Span<'static>> {
        rest.iter()
            .map(|&at| Span::new(spans[at].start, spans[at].end, ""))
            .collect()
    };
    let more = equals(&bare(gold, &gold_rest), &bare(found, &found_rest), |span| *span);
    pairs.extend(
        more.into_iter()
            .map(|(one, other)| (gold_rest[one], found_rest[other])),
    );
    pairs
}

/// Pairs as many overlapping spans as possible, among those that `counts` lets take part.
///
/// Of all spans that are left, the one with the smallest end is paired with the one of the other side that
/// begins before that end and has the smallest end itself. That loses nothing: let these be I and J, and let a
/// largest set of pairs hold I–J′ and K–J instead. J′ begins before I ends and ends no earlier than J, and K
/// ends no earlier than I and begins before J ends, so K and J′ overlap, and I–J and K–J′ are as many pairs.
fn overlaps(
    gold: &[Span<'_>],
    found: &[Span<'_>],
    counts: impl Fn(&Span<'_>) -> bool,
) -> Vec<(usize, usize)> {
    let sides = [gold, found];
    let mut events: Vec<(usize, bool, usize, usize)> = Vec::new();
    for (side, spans) in sides.iter().enumerate() {
        for (at, span) in spans.iter().enumerate().filter(|(_, span)| counts(span)) {
            // Positions are half-open: an end comes before a beginning at the same place.
            events.push((span.start, true, side, at));
            events.push((end(span), false, side, at));
        }
    }
    events.sort_unstable();
    // The spans of each side that have begun and are neither paired nor at their end.
    let mut open: [BinaryHeap<Reverse<(usize, usize)>>; 2] = Default::default();
    let mut done = [vec![false; gold.len()], vec![false; found.len()]];
    let mut pairs = Vec::new();
    for (_, begins, side, at) in events {
        if begins {
            open[side].push(Reverse((end(&sides[side][at]), at)));
            continue;
        }
        if std::mem::replace(&mut done[side][at], true) {
            continue;
        }
        let other = 1 - side;
        while let Some(Reverse((_, candidate))) = open[other].pop() {
            if !std::mem::replace(&mut done[other][candidate], true) {
                pairs.push(if side == 0 {
                    (at, candidate)
                } else {
                    (candidate, at)
                });
                break;
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The size of a largest matching, by augmenting paths (Kuhn 1955).
    fn largest(matching: Matching, gold: &[Span<'_>], found: &[Span<'_>]) -> usize {
        fn augment(
            at: usize,
            edges: &[Vec<usize>],
            partner: &mut [Option<usize>],
            seen: &mut [bool],
        ) -> bool {
            edges[at].iter().any(|&other| {
                if std::mem::replace(&mut seen[other], true) {
                    return false;
                }
                if partner[other].is_none_or(|next| augment(next, edges, partner, seen)) {
                    partner[other] = Some(at);
                    return true;
                }
                false
            })
        }
        let edges: Vec<Vec<usize>> = gold
            .iter()
            .map(|span| {
                (0..found.len())
                    .filter(|&at| matching.accepts(span, &found[at]))
                    .collect()
            })
            .collect();
        let mut partner = vec![None; found.len()];
        (0..gold.len())
            .filter(|&at| augment(at, &edges, &mut partner, &mut vec![false; found.len()]))
            .count()
    }

    fn spans() -> impl Strategy<Value = Vec<Span<'static>>> {
        let span = (0usize..12, 0usize..6, prop::sample::select(vec!["A", "B"]))
            .prop_map(|(start, length, kind)| Span::new(start, start + length, kind));
        prop::collection::vec(span, 0..9)
    }

    proptest! {
        #[test]
        fn pairs_are_a_largest_matching(gold in spans(), found in spans()) {
            for matching in Matching::ALL {
                let pairs = matching.pairs(&gold, &found);
                prop_assert_eq!(pairs.len(), largest(matching, &gold, &found), "{:?}", matching);
                let mut used = [vec![false; gold.len()], vec![false; found.len()]];
                for (one, other) in pairs {
                    prop_assert!(matching.accepts(&gold[one], &found[other]));
                    prop_assert!(!std::mem::replace(&mut used[0][one], true));
                    prop_assert!(!std::mem::replace(&mut used[1][other], true));
                }
            }
        }
    }

    #[test]
    fn one_long_span_stands_for_one_short_span_only() {
        let gold = [Span::new(0, 1, "A"), Span::new(2, 3, "A")];
        let found = [Span::new(0, 3, "A")];
        assert_eq!(Matching::Partial.pairs(&gold, &found).len(), 1);
    }

    #[test]
    fn neighbours_do_not_overlap() {
        assert!(!Matching::Partial.accepts(&Span::new(0, 2, "A"), &Span::new(2, 4, "A")));
        assert!(
            Matching::Partial
                .pairs(&[Span::new(0, 2, "A")], &[Span::new(2, 4, "A")])
                .is_empty()
        );
    }

    #[test]
    fn of_two_types_at_one_place_the_right_ones_are_paired() {
        let gold = [Span::new(0, 1, "A"), Span::new(0, 1, "B")];
        let found = [Span::new(0, 1, "B"), Span::new(0, 1, "C")];
        assert_eq!(Matching::Boundary.pairs(&gold, &found), [(0, 1), (1, 0)]);
    }
}

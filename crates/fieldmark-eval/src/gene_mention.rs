//! [`GeneMentionScores`]: the scoring of the gene mention task of BioCreative II, with alternatives.

use crate::Counts;
use fieldmark_core::scheme::Span;

/// Counts as the script of the task does (`alt_eval.perl`; Smith et al. 2008), sentence by sentence.
///
/// Annotators marked one form of each mention (`GENE.eval`) and listed others that are as good
/// (`ALTGENE.eval`). The rules of the script:
/// - A gold mention is found if some guess equals it, or equals an alternative that overlaps it; otherwise it is
///   a false negative.
/// - A guess that equals no gold mention and no alternative is a false positive.
/// - Precision is TP / (TP + FP), where TP counts gold mentions. So a second guess that equals another
///   alternative of a mention counts nowhere, and one that overlaps two mentions counts for both.
///
/// Types of spans play no part. The files give the last character of a mention; spans here end one past it.
///
/// ```
/// use fieldmark_eval::{GeneMentionScores, Span};
/// let mention = |start, end| Span::new(start, end, "GENE");
/// let mut scores = GeneMentionScores::default();
/// scores.add(&[mention(0, 29)], &[mention(5, 29)], &[mention(5, 29), mention(40, 44)]);
/// assert_eq!(scores.counts().precision(), 0.5);
/// assert_eq!(scores.counts().recall(), 1.0);
/// assert_eq!(scores.strict().recall(), 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GeneMentionScores {
    with_alternatives: Counts,
    strict: Counts,
    guesses: u64,
}

impl GeneMentionScores {
    /// Counts one sentence: its gold mentions, their alternatives, and the guesses.
    pub fn add(&mut self, gold: &[Span<'_>], alternatives: &[Span<'_>], found: &[Span<'_>]) {
        self.guesses += found.len() as u64;
        self.with_alternatives += sentence(gold, alternatives, found);
        self.strict += sentence(gold, &[], found);
    }

    /// Adds what `other` has counted.
    pub fn merge(&mut self, other: &GeneMentionScores) {
        self.with_alternatives += other.with_alternatives;
        self.strict += other.strict;
        self.guesses += other.guesses;
    }

    /// What the script counts: `correct` is TP, `found` is TP + FP, `gold` is TP + FN.
    pub fn counts(&self) -> Counts {
        self.with_alternatives
    }

    /// What the script counts when there are no alternatives.
    pub fn strict(&self) -> Counts {
        self.strict
    }

    /// Number of guesses, of which some may count nowhere or twice.
    pub fn guesses(&self) -> u64 {
        self.guesses
    }
}

fn sentence(gold: &[Span<'_>], alternatives: &[Span<'_>], found: &[Span<'_>]) -> Counts {
    let (mentions, others) = (places(gold), places(alternatives));
    let guesses = places(found);
    let among = |places: &[Place], place: &Place| places.binary_search(place).is_ok();
    let alternatives: Vec<Place> = guesses
        .iter()
        .filter(|guess| among(&others, guess))
        .copied()
        .collect();
    let hit = |mention: &&Place| {
        among(&guesses, mention) || alternatives.iter().any(|guess| overlap(mention, guess))
    };
    let spurious = |guess: &&Place| !among(&mentions, guess) && !among(&others, guess);
    let correct = mentions.iter().filter(hit).count() as u64;
    Counts {
        gold: mentions.len() as u64,
        found: correct + guesses.iter().filter(spurious).count() as u64,
        correct,
    }
}

/// Start and end.
type Place = (usize, usize);

fn places(spans: &[Span<'_>]) -> Vec<Place> {
    let mut places: Vec<Place> = spans.iter().map(|span| (span.start, span.end)).collect();
    places.sort_unstable();
    places
}

fn overlap(one: &Place, other: &Place) -> bool {
    one.0 < other.1 && other.0 < one.1
}

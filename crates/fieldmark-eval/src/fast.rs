//! [`span_counts`]: span F1 on label ids, for a dev set that is scored after every iteration.

use crate::Counts;
use crate::rules::{Borders, Chunk, LabelTable};

/// The spans of one sequence, counted as by [`ConllEval`](crate::ConllEval) but without their types.
///
/// The sum over sequences is what `ConllEval` counts, for labels with the prefixes `B I E S O [ ]`. (With
/// other labels the script lets a chunk reach into the next sequence; this function does not.)
///
/// # Panics
/// When the slices differ in length or hold an id that is not in the table.
pub fn span_counts(gold: &[u32], predicted: &[u32], labels: &LabelTable) -> Counts {
    assert_eq!(
        gold.len(),
        predicted.len(),
        "gold and predicted labels must be aligned"
    );
    let outside = (Chunk::OUTSIDE, Chunk::OUTSIDE);
    let tokens = gold
        .iter()
        .zip(predicted)
        .map(|(&gold, &found)| (labels.chunk(gold), labels.chunk(found)));
    let mut counts = Counts::default();
    let mut before = outside;
    let mut matching = false;
    for after in tokens.chain([outside]) {
        let borders = Borders::between(labels.rules(), before, after);
        let (matches, completed) = borders.cross(matching);
        counts.gold += u64::from(borders.starts_gold);
        counts.found += u64::from(borders.starts_found);
        counts.correct += u64::from(completed);
        matching = matches;
        before = after;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConllEval;
    use fieldmark_core::Alphabet;
    use proptest::prelude::*;

    const LABELS: [&str; 11] = [
        "O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y", "[-X", "]-Y",
    ];

    proptest! {
        #[test]
        fn agrees_with_conlleval(pairs in prop::collection::vec(prop::collection::vec((0u32..11, 0u32..11), 0..9), 0..6)) {
            let labels: Alphabet = LABELS.into_iter().collect();
            let table = LabelTable::new(&labels);
            let mut slow = ConllEval::new();
            let mut fast = Counts::default();
            for sequence in pairs {
                let (gold, predicted): (Vec<u32>, Vec<u32>) = sequence.into_iter().unzip();
                fast += span_counts(&gold, &predicted, &table);
                let names = |ids: &[u32]| ids.iter().map(|&id| LABELS[id as usize]).collect::<Vec<_>>();
                slow.add(&names(&gold), &names(&predicted)).unwrap();
            }
            prop_assert_eq!(fast, slow.total());
        }
    }

    #[test]
    #[should_panic(expected = "must be aligned")]
    fn slices_of_different_length_are_refused() {
        let labels: Alphabet = ["O"].into_iter().collect();
        span_counts(&[0, 0], &[0], &LabelTable::new(&labels));
    }
}

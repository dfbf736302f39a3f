//! [`GoldLabel`]: gold labels that are open, and what is left out because of them.
//!
//! The rules, in order:
//! 1. An ambiguous gold label counts as the predicted label if that is one of its alternatives, and as its
//!    first alternative otherwise.
//! 2. A token whose gold label is unknown counts nowhere.
//! 3. A span, gold or predicted, that holds a position with an unknown label or lies next to one counts
//!    nowhere: the gold labels do not say where it ends. (Where every token is a span of its own, its
//!    neighbours do count.)
//! 4. A sequence is right if all of its tokens that count are; one without such a token is none.

/// What is known of the right label of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoldLabel<S> {
    /// The label.
    Known(S),
    /// One of these labels. Without any it is the same as [`GoldLabel::Unknown`].
    OneOf(Vec<S>),
    /// It may be any label.
    Unknown,
}

impl<S: AsRef<str>> GoldLabel<S> {
    /// The label that counts beside a predicted one; `None` if the token is left out.
    pub fn beside<'a>(&'a self, predicted: &'a str) -> Option<&'a str> {
        match self {
            GoldLabel::Known(label) => Some(label.as_ref()),
            GoldLabel::OneOf(labels) if labels.iter().any(|label| label.as_ref() == predicted) => {
                Some(predicted)
            }
            GoldLabel::OneOf(labels) => labels.first().map(AsRef::as_ref),
            GoldLabel::Unknown => None,
        }
    }
}

/// The positions without a gold label.
pub(crate) fn unknown(gold: &[Option<&str>]) -> Vec<usize> {
    let positions = gold.iter().enumerate();
    positions
        .filter_map(|(position, label)| label.is_none().then_some(position))
        .collect()
}

/// Whether `start..end` holds one of these positions, which are sorted, or lies next to one.
pub(crate) fn touches(unknown: &[usize], start: usize, end: usize) -> bool {
    let first = unknown.partition_point(|&position| position + 1 < start);
    unknown.get(first).is_some_and(|&position| position <= end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_is_holding_or_lying_next_to() {
        let unknown = [0, 5];
        for (start, end, expected) in [
            (0, 1, true),
            (1, 2, true),
            (2, 4, false),
            (2, 5, true),
            (4, 7, true),
            (6, 8, true),
            (7, 8, false),
        ] {
            assert_eq!(touches(&unknown, start, end), expected, "{start}..{end}");
        }
        assert!(!touches(&[], 0, 9));
    }

    #[test]
    fn an_ambiguous_label_is_the_predicted_one_if_it_can_be() {
        let gold = GoldLabel::OneOf(vec!["A", "B"]);
        assert_eq!(gold.beside("B"), Some("B"));
        assert_eq!(gold.beside("C"), Some("A"));
        assert_eq!(GoldLabel::Known("A").beside("C"), Some("A"));
        assert_eq!(GoldLabel::<&str>::Unknown.beside("C"), None);
    }
}

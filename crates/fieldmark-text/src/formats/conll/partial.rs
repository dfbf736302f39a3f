//! Labels that are not known (`?`), one of several (`A|B`), or odd: what they leave open.

use crate::label::LabelSyntax;
use fieldmark_core::scheme::{Prefix, Scheme, Tag};
use std::collections::HashSet;

/// What a cell says about the label of its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It is this one.
    Known(String),
    /// It is one of these.
    OneOf(Vec<String>),
    /// It may be any.
    Unknown,
    /// Nothing that a label scheme knows, so that it may be any.
    Odd,
}

impl Said {
    /// The label, if there is only one.
    pub fn known(&self) -> Option<&str> {
        match self {
            Said::Known(label) => Some(label),
            _ => None,
        }
    }

    /// The labels that are possible; none if any is.
    fn names(&self) -> &[String] {
        match self {
            Said::Known(label) => std::slice::from_ref(label),
            Said::OneOf(labels) => labels,
            Said::Unknown | Said::Odd => &[],
        }
    }
}

/// Whether the labels of a column have types: a letter alone belongs to no scheme among labels that have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinds {
    /// `B-X`.
    Typed,
    /// `B`.
    Untyped,
}

impl Kinds {
    /// What most labels that are parts of spans have.
    pub fn of<'t>(labels: impl Iterator<Item = &'t str>) -> Self {
        let (mut typed, mut untyped) = (0_usize, 0_usize);
        for label in labels {
            match Tag::parse(label) {
                Tag::Part(_, "") if !label.contains('-') => untyped += 1,
                Tag::Part(_, kind) if !kind.is_empty() => typed += 1,
                _ => {}
            }
        }
        if untyped > typed {
            Kinds::Untyped
        } else {
            Kinds::Typed
        }
    }

    /// Reads a cell.
    pub fn read(self, cell: &str) -> Said {
        let Ok(mut names) = LabelSyntax::Partial.names(cell) else {
            return Said::Odd;
        };
        if names.iter().any(|name| !self.fits(name)) {
            return Said::Odd;
        }
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        match names.len() {
            0 => Said::Unknown,
            1 => Said::Known(names.remove(0)),
            _ => Said::OneOf(names),
        }
    }

    fn fits(self, label: &str) -> bool {
        match Tag::parse(label) {
            Tag::Outside => true,
            Tag::Part(_, "") => self == Kinds::Untyped && !label.contains('-'),
            Tag::Part(..) => true,
            Tag::Other(_) => false,
        }
    }
}

/// The scheme of a column, from the labels that have one, or `None` when its labels are no spans: where most labels belong
/// to no scheme, the others look only by chance as if they did.
pub(super) fn scheme(sequences: &[Vec<Said>]) -> Option<Scheme> {
    let all = || sequences.iter().flatten();
    let odd = all().filter(|said| **said == Said::Odd).count();
    let fitting = all().filter(|said| !said.names().is_empty()).count();
    let is_typed = |label: &&str| Tag::parse(label).kind().is_some_and(|kind| !kind.is_empty());
    let labels: HashSet<&str> = all().flat_map(|said| said.names()).map(String::as_str).collect();
    match Scheme::detect(&labels) {
        // Every label is `O` or unknown.
        None => (odd == 0).then_some(Scheme::Iob2),
        // Letters alone may be anything: parts of speech, too, are called `S` and `E`.
        Some(_) if odd > fitting || (odd > 0 && !labels.iter().any(is_typed)) => None,
        Some(Scheme::Iob1 | Scheme::Iob2) => {
            let [one, two] = [Scheme::Iob1, Scheme::Iob2].map(|scheme| illegal_steps(scheme, sequences));
            match one.cmp(&two) {
                std::cmp::Ordering::Less => Some(Scheme::Iob1),
                std::cmp::Ordering::Greater => Some(Scheme::Iob2),
                std::cmp::Ordering::Equal => Scheme::detect(&labels),
            }
        }
        scheme => scheme,
    }
}

/// How often a known label cannot follow another one, or begin a sequence.
fn illegal_steps(scheme: Scheme, sequences: &[Vec<Said>]) -> usize {
    let steps = sequences.iter().flat_map(|sequence| {
        let before = std::iter::once(None).chain(sequence.iter().map(Some));
        before.zip(sequence)
    });
    let illegal = |(before, own): &(Option<&Said>, &Said)| {
        let Some(own) = own.known() else { return false };
        match before.map(Said::known) {
            None => !scheme.allows(None, Some(own)),
            Some(None) => false,
            Some(before) => !scheme.allows(before, Some(own)),
        }
    };
    steps.filter(illegal).count()
}

/// The labels that the tokens of a sentence may have in IOBES, which says more about one token than other schemes do:
/// for each label, whether its span may begin and end here. Nothing for a token that may have any.
pub(super) fn in_iobes(scheme: Scheme, said: &[Said]) -> Vec<Vec<String>> {
    let labels = |at: usize| {
        let before = at.checked_sub(1).map(|before| said[before].names());
        let after = said.get(at + 1).map(Said::names);
        let mut found: Vec<String> = Vec::new();
        for own in said[at].names() {
            let Tag::Part(prefix, kind) = Tag::parse(own) else {
                found.push(own.clone());
                continue;
            };
            let begins = before_label(scheme, before, own, prefix);
            let ends = after_label(scheme, after, own, prefix);
            for (first, last, letter) in [
                (true, false, 'B'),
                (false, false, 'I'),
                (false, true, 'E'),
                (true, true, 'S'),
            ] {
                if begins.contains(&first) && ends.contains(&last) {
                    found.push(match kind {
                        "" => letter.to_string(),
                        kind => format!("{letter}-{kind}"),
                    });
                }
            }
        }
        let mut seen = HashSet::new();
        found.retain(|label| seen.insert(label.clone()));
        found
    };
    (0..said.len()).map(labels).collect()
}

/// Whether a span may begin with a label, by what may stand before it.
fn before_label(scheme: Scheme, before: Option<&[String]>, own: &str, prefix: Prefix) -> Vec<bool> {
    match before {
        None => vec![true],
        Some([]) => match (scheme, prefix) {
            (Scheme::Io, _) | (Scheme::Iob1, Prefix::Inside) => vec![true, false],
            (_, Prefix::Begin | Prefix::Single) => vec![true],
            (_, Prefix::Inside | Prefix::End) => vec![false],
        },
        Some(names) => legal(names, |before| scheme.allows(Some(before), Some(own)))
            .map(|before| begins_after(scheme, before, own))
            .collect(),
    }
}

/// Whether a span may end with a label, by what may stand after it.
fn after_label(scheme: Scheme, after: Option<&[String]>, own: &str, prefix: Prefix) -> Vec<bool> {
    match after {
        None => vec![true],
        Some([]) => match (scheme, prefix) {
            (Scheme::Iobes, Prefix::End | Prefix::Single) => vec![true],
            (Scheme::Iobes, Prefix::Begin | Prefix::Inside) => vec![false],
            _ => vec![true, false],
        },
        Some(names) => legal(names, |after| scheme.allows(Some(own), Some(after)))
            .map(|after| Tag::parse(after).kind().is_none() || begins_after(scheme, own, after))
            .collect(),
    }
}

/// The neighbours that a scheme allows; all of them if it allows none, because labels are read generously.
fn legal(names: &[String], allowed: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
    let some = names.iter().any(|name| allowed(name));
    let names = names.iter().map(String::as_str);
    names.filter(move |name| !some || allowed(name))
}

fn begins_after(scheme: Scheme, before: &str, own: &str) -> bool {
    let (before, own) = (Tag::parse(before), Tag::parse(own));
    match scheme {
        Scheme::Io => before.kind() != own.kind(),
        _ => own.begins_after(before),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(labels: &str) -> Vec<Said> {
        let kinds = Kinds::of(labels.split(' '));
        labels.split(' ').map(|label| kinds.read(label)).collect()
    }

    fn found(labels: &str) -> Option<Scheme> {
        scheme(&[read(labels)])
    }

    #[test]
    fn the_scheme_is_that_of_the_labels_that_have_one() {
        assert_eq!(found("B-X I-X O ?"), Some(Scheme::Iob2));
        assert_eq!(found("? I-X I-X O B-X I-X"), Some(Scheme::Iob2));
        assert_eq!(found("I-X ? I-X O I-X B-X"), Some(Scheme::Iob1));
        assert_eq!(found("O S-X|O B-X E-X"), Some(Scheme::Iobes));
        assert_eq!(found("O O foo B-X I-X"), Some(Scheme::Iob2));
        assert_eq!(found("O ? O"), Some(Scheme::Iob2));
        assert_eq!(found("B O I ?"), Some(Scheme::Iob2));
        for none in [
            "NN VB ?",
            "S E R foo",
            "O B_X I_X",
            "Case=Nom|Number=Sing _ I-X",
            "NN NN B-X",
        ] {
            assert_eq!(found(none), None, "{none}");
        }
    }

    #[test]
    fn odd_labels_are_unknown() {
        for odd in ["foo", "B_ORG", "B-", "B", "B-X|", "O|foo", ""] {
            assert_eq!(Kinds::Typed.read(odd), Said::Odd, "{odd}");
        }
        assert_eq!(Kinds::Untyped.read("B"), Said::Known("B".to_owned()));
        assert_eq!(Kinds::Typed.read(r"B-A\|B"), Said::Known("B-A|B".to_owned()));
        assert_eq!(Kinds::Typed.read("O|O"), Said::Known("O".to_owned()));
    }

    #[test]
    fn what_is_open_tells_whether_spans_go_on() {
        let iobes = |scheme, labels| {
            let sets = in_iobes(scheme, &read(labels));
            sets.iter().map(|set| set.join("|")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(iobes(Scheme::Iob2, "B-X I-X O"), "B-X E-X O");
        assert_eq!(iobes(Scheme::Iob2, "B-X ? I-X O"), "B-X|S-X  E-X O");
        assert_eq!(iobes(Scheme::Iob2, "B-X I-X|O O"), "B-X|S-X E-X|O O");
        assert_eq!(iobes(Scheme::Iob1, "? I-X O"), " E-X|S-X O");
        assert_eq!(iobes(Scheme::Iobes, "? E-X B-X ?"), " E-X B-X ");
        assert_eq!(iobes(Scheme::Io, "I-X I-X|I-Y"), "B-X|S-X E-X|S-Y");
    }
}

//! A check report as plain text.

use super::{CheckReport, IllegalTransition, OddityKind, Overlap, Repeats};
use std::fmt::{self, Display, Formatter};

impl Display for CheckReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.file)?;
        writeln!(f, "  sequences              {:>12}", self.sequences)?;
        writeln!(f, "  tokens                 {:>12}", self.tokens)?;
        writeln!(f, "  observations           {:>12}", self.observations)?;
        writeln!(f, "  distinct observations  {:>12}", self.distinct_observations)?;
        writeln!(
            f,
            "  longest sequence       {:>12}  (line {})",
            self.longest_sequence, self.longest_sequence_line
        )?;
        self.labels(f)?;
        self.transitions(f)?;
        repeats(
            f,
            "duplicate sequences",
            "same observations and labels",
            &self.duplicates,
        )?;
        repeats(
            f,
            "contradictory sequences",
            "same observations, other labels",
            &self.contradictions,
        )?;
        for oddity in &self.oddities {
            writeln!(
                f,
                "{}: {} ({})",
                describe(oddity.kind),
                lines(oddity.count),
                places(&oddity.lines, oddity.count)
            )?;
        }
        if let Some(overlap) = &self.overlap {
            show_overlap(f, overlap)?;
        }
        Ok(())
    }
}

impl CheckReport {
    fn labels(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "labels: {}", self.labels.len())?;
        let width = self
            .labels
            .iter()
            .map(|label| label.label.chars().count())
            .max()
            .unwrap_or(0);
        let share = |count: u64| 100.0 * count as f64 / self.tokens.max(1) as f64;
        for label in &self.labels {
            let rare = if self.rare_labels.contains(&label.label) {
                "  rare"
            } else {
                ""
            };
            writeln!(
                f,
                "  {:<width$}  {:>10}  {:>6.2}%{rare}",
                label.label,
                label.count,
                share(label.count)
            )?;
        }
        for (kind, count) in [
            ("unknown", self.unknown_labels),
            ("ambiguous", self.ambiguous_labels),
        ] {
            if count > 0 {
                writeln!(
                    f,
                    "positions with an {kind} label: {count} ({:.2}%)",
                    share(count)
                )?;
            }
        }
        Ok(())
    }

    fn transitions(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(scheme) = &self.scheme else { return Ok(()) };
        if self.illegal_transitions.is_empty() {
            return writeln!(f, "label scheme {scheme}: every transition is legal");
        }
        writeln!(f, "label scheme {scheme}: illegal transitions")?;
        for IllegalTransition {
            previous,
            next,
            count,
            lines,
        } in &self.illegal_transitions
        {
            let previous = previous.as_deref().unwrap_or("(start)");
            let next = next.as_deref().unwrap_or("(end)");
            writeln!(
                f,
                "  {previous} to {next}: {count} times ({})",
                places(lines, *count)
            )?;
        }
        Ok(())
    }
}

fn repeats(f: &mut Formatter<'_>, what: &str, meaning: &str, repeats: &Repeats) -> fmt::Result {
    if repeats.count == 0 {
        return Ok(());
    }
    writeln!(f, "{what}: {} ({meaning})", repeats.count)?;
    for repeat in &repeats.examples {
        writeln!(f, "  line {} repeats line {}", repeat.lines[1], repeat.lines[0])?;
    }
    Ok(())
}

fn show_overlap(f: &mut Formatter<'_>, overlap: &Overlap) -> fmt::Result {
    let Overlap {
        file,
        sequences,
        repeated,
        contradictory,
        ..
    } = overlap;
    writeln!(
        f,
        "{file}: {sequences} sequence{}, {} of them also in the training data",
        if *sequences == 1 { "" } else { "s" },
        repeated.count
    )?;
    for repeat in &repeated.examples {
        writeln!(
            f,
            "  line {} is line {} of the training data",
            repeat.lines[1], repeat.lines[0]
        )?;
    }
    if *contradictory > 0 {
        writeln!(f, "  {contradictory} of them with other labels")?;
    }
    for label in &overlap.unseen_labels {
        writeln!(
            f,
            "  label {} occurs only here: {} times",
            label.label, label.count
        )?;
    }
    let share = 100.0 * overlap.unseen_observations as f64 / overlap.distinct_observations.max(1) as f64;
    writeln!(
        f,
        "  observations that occur only here: {} ({share:.1}%)",
        overlap.unseen_observations
    )
}

fn describe(kind: OddityKind) -> &'static str {
    match kind {
        OddityKind::TrailingBlanks => "blanks at the end",
        OddityKind::LeadingBlanks => "blanks at the beginning",
        OddityKind::DoubleTab => "two tabs in a row",
        OddityKind::BlankLineWithSpaces => "blank lines with spaces",
        OddityKind::NonBreakingSpace => "no-break or other unusual spaces",
        OddityKind::ZeroWidth => "characters without width",
        OddityKind::ControlCharacter => "control characters",
        OddityKind::MixedLineEnds => "another kind of line end",
        OddityKind::SpaceInLabel => "labels that hold a space (is there a tab missing?)",
        OddityKind::EmptyValue => "attributes that end in a colon (write `\\:` if it belongs to the name)",
    }
}

fn lines(count: u64) -> String {
    if count == 1 {
        "1 line".to_owned()
    } else {
        format!("{count} lines")
    }
}

/// `line 3`, or `lines 3, 7, …`.
fn places(lines: &[u64], count: u64) -> String {
    let shown: Vec<String> = lines.iter().map(u64::to_string).collect();
    let word = if count == 1 { "line" } else { "lines" };
    let more = if count > lines.len() as u64 { ", …" } else { "" };
    format!("{word} {}{more}", shown.join(", "))
}

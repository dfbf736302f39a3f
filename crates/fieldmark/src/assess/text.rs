//! Assessments as text.

use super::measures::matching_name;
use super::significance::TestList;
use super::{Assessment, Comparison, Confidence, NamedScore, Others};
use fieldmark_eval::{Matching, SpanTable, Verdict};
use std::fmt;

/// `F1`, or F with another weight of recall.
pub(super) fn f_name(beta: f64) -> String {
    format!("F{beta}")
}

/// A line of a table of scores: name, scores and numbers.
struct Line<'a>(&'a str, [f64; 3], Vec<u64>);

impl<'a> Line<'a> {
    fn of(score: &'a NamedScore) -> Self {
        let counts = score.counts;
        Line(
            &score.name,
            [score.precision, score.recall, score.f],
            vec![counts.gold, counts.found, counts.correct],
        )
    }
}

/// The numbers of most tables.
const NUMBERS: [&str; 3] = ["gold", "found", "correct"];

fn write_table(f: &mut fmt::Formatter<'_>, name: &str, beta: f64, lines: &[Line<'_>]) -> fmt::Result {
    write_wide_table(f, name, beta, &NUMBERS, lines)
}

fn write_wide_table(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    beta: f64,
    numbers: &[&str],
    lines: &[Line<'_>],
) -> fmt::Result {
    let names = lines.iter().map(|line| line.0).chain([name]);
    let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
    let f_name = f_name(beta);
    write!(f, "{name:width$} {:>9} {:>9} {f_name:>9}", "precision", "recall")?;
    numbers.iter().try_for_each(|number| write!(f, " {number:>9}"))?;
    writeln!(f)?;
    for Line(name, scores, counts) in lines {
        let [precision, recall, score] = scores.map(|share| 100.0 * share);
        write!(f, "{name:width$} {precision:8.2}% {recall:8.2}% {score:8.2}%")?;
        for count in counts {
            write!(f, " {count:9}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

/// Numbers, the scores of each way of matching, the tables that were asked for, errors and confidence.
impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = &self.overview[0].counts;
        writeln!(
            f,
            "{}, {}, {} predicted\n",
            counted(self.documents as u64, "document"),
            counted(all.gold, "gold span"),
            all.found
        )?;
        let lines: Vec<Line<'_>> = self.overview.iter().map(Line::of).collect();
        write_table(f, "all types", self.beta, &lines)?;
        for table in &self.spans {
            writeln!(f)?;
            write_spans(f, table)?;
        }
        writeln!(f)?;
        let wrong: Vec<String> = self
            .errors
            .each()
            .iter()
            .filter(|(verdict, _)| *verdict != Verdict::Correct)
            .map(|(verdict, number)| format!("{number} {}", verdict.name()))
            .collect();
        writeln!(f, "errors: {}", wrong.join(", "))?;
        write_others(f, &self.others, self.beta)?;
        match &self.confidence {
            Some(confidence) => write!(f, "{confidence}"),
            None => Ok(()),
        }
    }
}

fn counted(number: u64, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

fn write_spans(f: &mut fmt::Formatter<'_>, table: &SpanTable) -> fmt::Result {
    // Where a span may have a partner of another type, each side has its own number of them.
    let two_sided = matches!(table.matching, Matching::Boundary | Matching::Partial);
    let mut lines: Vec<Line<'_>> = table
        .types
        .iter()
        .map(|row| {
            let counts = row.counts;
            let numbers = match two_sided {
                true => vec![
                    counts.gold,
                    counts.gold_matched,
                    counts.found,
                    counts.found_matched,
                ],
                false => vec![counts.gold, counts.found, counts.gold_matched],
            };
            Line(&row.name, [row.precision, row.recall, row.f], numbers)
        })
        .collect();
    let mean = &table.unweighted;
    lines.push(Line(
        "macro average",
        [mean.precision, mean.recall, mean.f],
        Vec::new(),
    ));
    let name = format!("{} by type", matching_name(table.matching));
    let numbers: &[&str] = match two_sided {
        true => &["gold", "met", "found", "met"],
        false => &NUMBERS,
    };
    write_wide_table(f, &name, table.beta, numbers, &lines)
}

fn write_others(f: &mut fmt::Formatter<'_>, others: &Others, beta: f64) -> fmt::Result {
    if let Some(distinct) = &others.distinct {
        let by = if distinct.by_identifier {
            "identifier"
        } else {
            "text"
        };
        writeln!(f)?;
        let rows = distinct.types.iter().chain([&distinct.total]);
        let lines: Vec<Line<'_>> = rows.map(Line::of).collect();
        write_table(f, &format!("distinct by {by}"), beta, &lines)?;
    }
    if let Some(tokens) = &others.tokens {
        writeln!(f)?;
        let lines: Vec<Line<'_>> = tokens.types.iter().map(Line::of).collect();
        write_table(f, "tokens", 1.0, &lines)?;
        writeln!(
            f,
            "{}, micro F1 {:.2}%, macro F1 {:.2}%",
            counted(tokens.tokens, "token"),
            100.0 * tokens.micro_f1,
            100.0 * tokens.macro_f1
        )?;
    }
    if let Some(genes) = &others.gene_mention {
        writeln!(f)?;
        let lines = [Line::of(&genes.with_alternatives), Line::of(&genes.strict)];
        write_table(f, "gene mentions", beta, &lines)?;
        let counts = genes.with_alternatives.counts;
        writeln!(
            f,
            "with alternatives: TP {}, FP {}, FN {}; {}",
            counts.correct,
            counts.spurious(),
            counts.missed(),
            counted(genes.guesses, "guess").replace("guesss", "guesses")
        )?;
    }
    if let Some(segments) = &others.window_diff {
        writeln!(
            f,
            "\nWindowDiff: {:.4} of {}, mean of documents {:.4} (0 is perfect; {} too short)",
            segments.pooled,
            counted(segments.windows, "window"),
            segments.mean,
            counted(segments.too_short, "document")
        )?;
    }
    if let Some(ordinal) = &others.ordinal {
        writeln!(
            f,
            "\nordered types of {} with the right borders: macro MAE {:.4}, symmetric {:.4}",
            counted(ordinal.spans as u64, "span"),
            ordinal.macro_mae,
            ordinal.symmetric_macro_mae
        )?;
    }
    if let Some(agreement) = &others.agreement {
        writeln!(
            f,
            "\nagreement: F1 of spans {:.2}%, of tokens {:.2}%; κ of tokens: in a span or not {:.4}, of types {:.4} (micro) and \
             {:.4} (macro)",
            100.0 * agreement.spans.micro.f,
            100.0 * agreement.token_f1,
            agreement.entity_kappa,
            agreement.micro_kappa,
            agreement.macro_kappa
        )?;
        for kind in &agreement.types {
            writeln!(
                f,
                "  {}: κ {:.4}, F1 of tokens {:.2}%",
                kind.name,
                kind.kappa,
                100.0 * kind.token_f1
            )?;
        }
    }
    Ok(())
}

/// Calibration, and the thresholds.
impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calibration = &self.calibration;
        write!(
            f,
            "\nconfidence: expected calibration error {:.4}, Brier score {:.4}, average precision {:.4}",
            calibration.expected_error, calibration.brier, self.curve.average_precision
        )?;
        if self.unscored > 0 {
            write!(
                f,
                " ({} without confidence left out)",
                counted(self.unscored, "span")
            )?;
        }
        writeln!(f)?;
        if let Some(best) = &self.best {
            writeln!(
                f,
                "best F1: {:.2}% at a confidence of at least {:.4} (precision {:.2}%, recall {:.2}%)",
                100.0 * best.f1,
                best.threshold,
                100.0 * best.precision,
                100.0 * best.recall
            )?;
        }
        if let Some(wanted) = &self.wanted {
            let precision = 100.0 * wanted.precision;
            match &wanted.point {
                Some(point) => writeln!(
                    f,
                    "precision of {precision:.2}%: keep a confidence of at least {:.4} (precision {:.2}%, recall {:.2}%, \
                     F1 {:.2}%)",
                    point.threshold,
                    100.0 * point.precision,
                    100.0 * point.recall,
                    100.0 * point.f1
                )?,
                None => writeln!(f, "precision of {precision:.2}%: no threshold reaches it")?,
            }
        }
        Ok(())
    }
}

/// Both systems, and what is more than chance.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_table(
            f,
            self.measure,
            self.beta,
            &[Line::of(&self.first), Line::of(&self.second)],
        )?;
        writeln!(f, "first minus second:")?;
        let tests = TestList {
            tests: &self.tests,
            items: "documents",
        };
        write!(f, "{tests}")?;
        let (first, second) = self.better;
        writeln!(
            f,
            "the first is better on {first} documents, the second on {second}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assess, pair};
    use super::super::{CompareOptions, Measure, compare};

    /// The lines of a text with single blanks.
    fn lines(text: impl ToString) -> Vec<String> {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.to_string().lines().map(words).collect()
    }

    #[test]
    fn an_assessment_tells_all_its_numbers() {
        let mut pair = pair(
            "Ada met Bob",
            &[(0, 3, "PER")],
            &[(0, 3, "PER", 0.9), (8, 11, "LOC", 0.5)],
        );
        pair.found[1].score = None;
        let measures = [Measure::Exact, Measure::Distinct, Measure::GeneMention];
        let text = lines(assess(&[pair], &measures));
        for expected in [
            "1 document, 1 gold span, 2 predicted",
            "all types precision recall F1 gold found correct",
            "exact 50.00% 100.00% 66.67% 1 2 1",
            "exact by type precision recall F1 gold found correct",
            "LOC 0.00% 0.00% 0.00% 0 1 0",
            "PER 100.00% 100.00% 100.00% 1 1 1",
            "errors: 0 wrong type, 0 wrong borders, 0 wrong type and borders, 0 missed, 1 spurious",
            "distinct by text precision recall F1 gold found correct",
            "all 50.00% 100.00% 66.67% 1 2 1",
            "with alternatives: TP 1, FP 1, FN 0; 2 guesses",
        ] {
            assert!(text.iter().any(|line| line == expected), "{expected}\n{text:#?}");
        }
        let left_out = "(1 span without confidence left out)";
        assert!(text.iter().any(|line| line.ends_with(left_out)), "{text:#?}");
    }

    #[test]
    fn partners_of_another_type_count_on_their_own_side() {
        // Two PER, one of which was found as LOC.
        let pair = pair(
            "Ada met Bob",
            &[(0, 3, "PER"), (8, 11, "PER")],
            &[(0, 3, "PER", 0.9), (8, 11, "LOC", 0.5)],
        );
        let text = lines(assess(&[pair], &[Measure::Boundary, Measure::Agreement]));
        for expected in [
            "boundary by type precision recall F1 gold met found met",
            "LOC 100.00% 0.00% 0.00% 0 0 1 1",
            "PER 100.00% 100.00% 100.00% 2 2 1 1",
        ] {
            assert!(text.iter().any(|line| line == expected), "{expected}\n{text:#?}");
        }
        assert!(
            text.iter().any(|line| line.contains("in a span or not 1.0000")),
            "{text:#?}"
        );
    }

    #[test]
    fn a_comparison_tells_the_first_minus_the_second() {
        let good: Vec<_> = (0..20)
            .map(|_| pair("Ada sat", &[(0, 3, "PER")], &[(0, 3, "PER", 0.9)]))
            .collect();
        let mut bad = good.clone();
        bad.iter_mut().skip(4).for_each(|pair| pair.found.clear());
        let options = CompareOptions {
            beta: 2.0,
            ..CompareOptions::default()
        };
        let text = lines(compare(&bad, &good, &options).unwrap());
        for expected in ["recall: -80.00 points, p = ", "F2: -76.19 points, p = "] {
            assert!(
                text.iter().any(|line| line.starts_with(expected)),
                "{expected}\n{text:#?}"
            );
        }
        let better = "the first is better on 0 documents, the second on 16";
        assert!(text.iter().any(|line| line == better), "{text:#?}");
    }
}

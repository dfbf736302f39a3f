//! Assessments as sections of a page: scores, errors in context, confusion, confidence.

use super::significance::{Significance, tail_name};
use super::text::f_name;
use super::{Assessment, Case, CaseSpan, Comparison, Confidence, NamedScore};
use fieldmark_eval::{Calibration, Confusion, Matching, OperatingPoint, ReliabilityBin, SpanTable};
use fieldmark_text::render::RenderError;
use fieldmark_text::render::html::{Cell, Excerpt, Mark, Page, Section, Table};
use fieldmark_text::render::plot::{Axis, LinePlot, Point, Series};

/// A page of sections: one file that needs nothing from outside.
pub fn write_page(title: &str, lead: &str, sections: &[Section]) -> Result<String, RenderError> {
    Page {
        title,
        lead,
        documents: &[],
        sections,
    }
    .to_html()
}

impl Assessment {
    /// Everything that a person would rather look at than read.
    pub fn sections(&self) -> Vec<Section> {
        let mut sections = vec![self.scores()];
        sections.extend(self.others_section());
        sections.push(confusion_section(
            &self.confusion,
            "Gold types in rows, predicted types in columns, each row shaded by its shares. Spans that overlap answer \
             each other; the last column has the missed ones, the last row those that are none.",
        ));
        if let Some(confidence) = &self.confidence {
            sections.push(calibration_section(
                &confidence.calibration,
                confidence.unscored,
                "spans",
            ));
            sections.push(confidence.curve_section());
        }
        sections.extend(self.case_sections());
        sections
    }

    fn scores(&self) -> Section {
        let all = &self.overview[0];
        let errors = &self.errors;
        let section = Section::new("Scores").with_figures([
            (f_name(self.beta), share(all.f)),
            ("Precision".to_owned(), share(all.precision)),
            ("Recall".to_owned(), share(all.recall)),
            ("Documents".to_owned(), self.documents.to_string()),
        ]);
        let section = section.with_paragraph(format!(
            "Of {} gold spans, {} were found exactly, {} with wrong borders, {} with a wrong type, {} with both wrong, and \
             {} not at all; {} more spans were found that are none.",
            all.counts.gold,
            errors.correct,
            errors.wrong_borders,
            errors.wrong_type,
            errors.wrong_both,
            errors.missed,
            errors.spurious
        ));
        let section = match self.spans.as_slice() {
            [] => section,
            tables => tables
                .iter()
                .fold(section, |section, table| section.with_table(by_type(table))),
        };
        let header = score_header("Measure", self.beta);
        let overview = self.overview.iter().fold(Table::new(header), |table, score| {
            table.row(score_cells(&score.name, score))
        });
        section
            .with_paragraph(
                "All types together: exact needs type and borders right, boundary the borders, type an overlap and the right \
                 type, partial an overlap.",
            )
            .with_table(overview)
    }

    fn others_section(&self) -> Option<Section> {
        let others = &self.others;
        let mut section = Section::new("More measures");
        let mut any = false;
        let mut tables = Vec::new();
        if let Some(distinct) = &others.distinct {
            let name = if distinct.by_identifier {
                "Once per document, by identifier"
            } else {
                "Once per document, by text"
            };
            let rows = distinct.types.iter().chain([&distinct.total]);
            tables.push((name, self.beta, rows.collect::<Vec<_>>()));
        }
        if let Some(tokens) = &others.tokens {
            tables.push(("Token by token", 1.0, tokens.types.iter().collect()));
        }
        if let Some(genes) = &others.gene_mention {
            tables.push((
                "Gene mentions",
                self.beta,
                vec![&genes.with_alternatives, &genes.strict],
            ));
        }
        for (name, beta, rows) in tables {
            any = true;
            let table = Table::new(score_header(name, beta));
            section = section.with_table(
                rows.into_iter()
                    .fold(table, |table, score| table.row(score_cells(&score.name, score))),
            );
        }
        let mut figures: Vec<(&str, String)> = Vec::new();
        if let Some(tokens) = &others.tokens {
            figures.push(("Token F1, micro", share(tokens.micro_f1)));
            figures.push(("Token F1, macro", share(tokens.macro_f1)));
        }
        if let Some(segments) = &others.window_diff {
            figures.push(("WindowDiff", format!("{:.4}", segments.pooled)));
        }
        if let Some(ordinal) = &others.ordinal {
            figures.push(("Macro MAE", format!("{:.4}", ordinal.macro_mae)));
            figures.push(("Symmetric MAE", format!("{:.4}", ordinal.symmetric_macro_mae)));
        }
        if let Some(agreement) = &others.agreement {
            figures.push(("κ: in a span or not", format!("{:.4}", agreement.entity_kappa)));
            figures.push(("κ of types, micro", format!("{:.4}", agreement.micro_kappa)));
            figures.push(("κ of types, macro", format!("{:.4}", agreement.macro_kappa)));
        }
        if !figures.is_empty() {
            any = true;
            section = section.with_figures(figures);
        }
        any.then_some(section)
    }

    fn case_sections(&self) -> Vec<Section> {
        const KEY: &str = "Underlined is what gold says, shaded is what was predicted.";
        let cases = &self.cases;
        let surest = self.confidence.is_some();
        let order = if surest {
            "the surest first"
        } else {
            "the most frequent first"
        };
        let kinds = [
            ("Spurious", &cases.spurious, order),
            ("Missed", &cases.missed, "the most frequent first"),
            ("Wrong borders", &cases.wrong_borders, order),
            ("Wrong type", &cases.wrong_type, order),
        ];
        let filled = kinds.into_iter().filter(|(_, cases, _)| !cases.is_empty());
        filled
            .map(|(name, cases, order)| {
                Section::new(format!("{name}: {order}"))
                    .with_paragraph(KEY)
                    .with_excerpts(cases.iter().map(excerpt).collect())
            })
            .collect()
    }
}

impl Comparison {
    /// Both systems, and what is more than chance.
    pub fn section(&self, first: &str, second: &str) -> Section {
        let table = Table::new(score_header("System", self.beta))
            .row(score_cells(first, &self.first))
            .row(score_cells(second, &self.second));
        Section::new("Two systems")
            .with_table(table)
            .with_table(test_table(&self.tests))
            .with_paragraph(format!(
                "p is the probability of a difference at least as large if both were equally good. The first is better on \
                 {} documents, the second on {}.",
                self.better.0, self.better.1
            ))
    }
}

/// Tests of significance, line by line.
pub fn test_table(tests: &[Significance]) -> Table {
    let mut table = Table::new(["First minus second", "Points", "p", "Test", "Statistic"]);
    for test in tests {
        table = table.row([
            test.measure.clone(),
            format!("{:+.2}", 100.0 * test.difference),
            format!("{:.4}", test.p),
            format!("{}, {}", test.test.name(), tail_name(test.tail)),
            test.statistic().unwrap_or_else(|| "–".to_owned()),
        ]);
    }
    table
}

/// A confusion table with a word about it.
pub(super) fn confusion_section(confusion: &Confusion, about: &str) -> Section {
    let mut table =
        Table::new(std::iter::once("Gold \\ predicted").chain(confusion.labels.iter().map(String::as_str)));
    let last = confusion.labels.len().saturating_sub(1);
    for (row, (label, counts)) in confusion.labels.iter().zip(&confusion.counts).enumerate() {
        let total: u64 = counts.iter().sum();
        let cell = |(column, &count): (usize, &u64)| {
            let text = if count == 0 {
                "·".to_owned()
            } else {
                count.to_string()
            };
            let no_span = row == last && label == fieldmark_eval::NO_SPAN;
            Cell::heat(
                text,
                count as f64 / total.max(1) as f64,
                row == column && !no_span,
            )
        };
        let cells = counts.iter().enumerate().map(cell);
        table = table.row(std::iter::once(Cell::text(label.as_str())).chain(cells));
    }
    Section::new("Confusion").with_paragraph(about).with_table(table)
}

/// What confidences of spans, or of labels, are worth; `unscored` are without one.
pub(super) fn calibration_section(calibration: &Calibration, unscored: u64, what: &str) -> Section {
    let filled = || calibration.bins.iter().filter(|bin| bin.count > 0);
    let most = filled().map(|bin| bin.count).max().unwrap_or(1);
    let point = |bin: &ReliabilityBin| {
        let size = 0.7 + 1.6 * (bin.count as f64 / most as f64).sqrt();
        Point::new(bin.confidence, bin.accuracy).with_size(size)
    };
    let plot = LinePlot::new(
        format!("Share of {what} that are right by their confidence"),
        Axis::shares("Confidence", 0.0, 1.0),
        Axis::shares("Right", 0.0, 1.0),
    )
    .with_reference("perfectly calibrated", (0.0, 0.0), (1.0, 1.0))
    .with(
        Series::line(
            format!("predicted {what}; large dots stand for many"),
            filled().map(point).collect(),
        )
        .with_dots(),
    );
    let (first, rest) = what.split_at(1);
    let title = first.to_uppercase() + rest;
    let mut table = Table::new(["Confidence", title.as_str(), "Mean", "Right"]);
    for bin in filled() {
        table = table.row([
            Cell::text(format!("{:.0} to {:.0}%", 100.0 * bin.low, 100.0 * bin.high)),
            Cell::text(bin.count.to_string()),
            Cell::text(share(bin.confidence)),
            Cell::share(bin.accuracy),
        ]);
    }
    let unscored = match unscored {
        0 => String::new(),
        n => format!(" {title} without a confidence, {n} in number, are left out."),
    };
    Section::new("Calibration: is it right as often as it is sure?")
        .with_figures([
            ("Expected error", format!("{:.4}", calibration.expected_error)),
            ("Largest error", format!("{:.4}", calibration.maximum_error)),
            ("Brier score", format!("{:.4}", calibration.brier)),
        ])
        .with_paragraph(format!(
            "Below the dashed line the model is surer than it should be, above it less sure.{unscored}"
        ))
        .with_plot(plot)
        .with_table(table)
}

impl Confidence {
    fn curve_section(&self) -> Section {
        let points = thinned(&self.curve.points);
        let series: Vec<Point> = points
            .map(|point| Point::new(point.recall, point.precision))
            .collect();
        let wanted = self.wanted.map(|wanted| wanted.precision);
        let seen = series.iter().map(|point| point.y).chain(wanted).chain([1.0]);
        let mut plot = LinePlot::new(
            "Precision against recall as the threshold falls",
            Axis::shares("Recall", 0.0, 1.0),
            Axis::shares("Precision", 0.0, 1.0).around(seen.collect::<Vec<f64>>()),
        )
        .with(Series::line("all thresholds", series));
        let mut table = Table::new(["Threshold", "Keep from", "Precision", "Recall", "F1"]);
        let mut add = |plot: LinePlot, name: &str, point: &OperatingPoint| {
            let row = [
                Cell::text(name),
                Cell::text(format!("{:.4}", point.threshold)),
                Cell::share(point.precision),
                Cell::share(point.recall),
                Cell::share(point.f1),
            ];
            table = std::mem::replace(&mut table, Table::new([""; 0])).row(row);
            plot.with_mark(name, point.recall, point.precision)
        };
        if let Some(best) = &self.best {
            plot = add(plot, "Best F1", best);
        }
        let mut unreached = String::new();
        if let Some(wanted) = &self.wanted {
            let name = format!("Precision of {}", share(wanted.precision));
            plot = plot.with_reference(
                "wanted precision",
                (0.0, wanted.precision),
                (1.0, wanted.precision),
            );
            match &wanted.point {
                Some(point) => plot = add(plot, &name, point),
                None => {
                    unreached = format!(
                        " No threshold reaches a precision of {}.",
                        share(wanted.precision)
                    )
                }
            }
        }
        Section::new("Precision and recall: where to draw the line")
            .with_paragraph(format!(
                "What is left when spans below a threshold are dropped. Average precision {:.4}.{unreached} A threshold \
                 that was chosen here flatters itself: check it on other documents.",
                self.curve.average_precision
            ))
            .with_plot(plot)
            .with_table(table)
    }
}

/// Points of a curve that a drawing can show.
const DRAWN: usize = 400;

fn thinned(points: &[OperatingPoint]) -> impl Iterator<Item = &OperatingPoint> {
    let step = points.len().div_ceil(DRAWN).max(1);
    let last = points.len().saturating_sub(1);
    points
        .iter()
        .enumerate()
        .filter(move |(at, _)| at % step == 0 || *at == last)
        .map(|(_, point)| point)
}

pub(super) fn excerpt(case: &Case) -> Excerpt {
    let (before, after) = case.cut;
    let before = if before { "… " } else { "" };
    let marks = |spans: &[CaseSpan], own: &Option<CaseSpan>| -> Vec<Mark> {
        let is_own = |span: &CaseSpan| {
            own.as_ref().is_some_and(|own| {
                own.text == span.text && own.kind == span.kind && own.confidence == span.confidence
            })
        };
        let mark = |span: &CaseSpan| Mark {
            range: span.start + before.len()..span.end + before.len(),
            kind: span.kind.clone(),
            confidence: span.confidence,
            focus: is_own(span),
        };
        spans.iter().map(mark).collect()
    };
    let mut found = marks(&case.context_found, &case.found);
    let mut gold = marks(&case.context_gold, &case.gold);
    [&mut gold, &mut found]
        .into_iter()
        .for_each(|marks| one_focus(marks));
    Excerpt {
        heading: match case.times {
            1 => String::new(),
            times => format!("{times} times"),
        },
        source: format!("document {}", case.document),
        text: format!("{before}{}{}", case.context, if after { " …" } else { "" }),
        gold,
        found,
    }
}

/// Of the same name twice in a sentence, only the first is in focus.
fn one_focus(marks: &mut [Mark]) {
    let mut seen = false;
    for mark in marks {
        mark.focus &= !seen;
        seen |= mark.focus;
    }
}

fn share(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

fn score_header(name: &str, beta: f64) -> [String; 6] {
    [name, "Precision", "Recall", &f_name(beta), "Gold", "Found"].map(str::to_owned)
}

fn score_cells(name: &str, score: &NamedScore) -> [Cell; 6] {
    [
        Cell::text(name),
        Cell::share(score.precision),
        Cell::share(score.recall),
        Cell::share(score.f),
        Cell::text(score.counts.gold.to_string()),
        Cell::text(score.counts.found.to_string()),
    ]
}

fn by_type(table: &SpanTable) -> Table {
    let name = match table.matching {
        Matching::Strict => "Type, exact",
        Matching::Boundary => "Type, boundary",
        Matching::Type => "Type, overlap",
        Matching::Partial => "Type, partial",
    };
    let mut rows = Table::new(score_header(name, table.beta));
    for row in table.types.iter().chain([&table.micro]) {
        let name = if std::ptr::eq(row, &table.micro) {
            "all"
        } else {
            &row.name
        };
        rows = rows.row([
            Cell::text(name),
            Cell::share(row.precision),
            Cell::share(row.recall),
            Cell::share(row.f),
            Cell::text(row.counts.gold.to_string()),
            Cell::text(row.counts.found.to_string()),
        ]);
    }
    let mean = &table.unweighted;
    rows.row([
        Cell::text("macro average"),
        Cell::share(mean.precision),
        Cell::share(mean.recall),
        Cell::share(mean.f),
        Cell::text(""),
        Cell::text(""),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{TEXT, assess, example, pair};
    use super::super::{AssessOptions, Measure, Pair};
    use super::*;
    use fieldmark_eval::{Judged, PrecisionRecall};

    #[test]
    fn a_long_curve_is_thinned_and_keeps_its_ends() {
        let found: Vec<Judged> = (0..1001)
            .map(|at| Judged::new(f64::from(at) / 1000.0, at % 2 == 0))
            .collect();
        let points = PrecisionRecall::new(&found, 600).unwrap().points;
        let thin: Vec<&OperatingPoint> = thinned(&points).collect();
        assert!(thin.len() <= DRAWN + 1, "{}", thin.len());
        assert_eq!(thin.first().copied(), points.first());
        assert_eq!(thin.last().copied(), points.last());
        assert_eq!(thinned(&points[..7]).count(), 7);
    }

    #[test]
    fn one_span_is_in_focus_and_marks_are_moved_by_what_is_put_before_them() {
        let text = format!("{}Ada met Ada and Bob", "gänse ".repeat(100));
        let at = text.find("Ada").unwrap();
        let names = [
            (at, at + 3, "PER"),
            (at + 8, at + 11, "PER"),
            (at + 16, at + 19, "PER"),
        ];
        let missed = assess(&[pair(&text, &names, &[])], &[Measure::Exact])
            .cases
            .missed;
        let ada = missed.iter().find(|case| case.times == 2).unwrap();
        let excerpt = excerpt(ada);
        assert_eq!(excerpt.heading, "2 times");
        assert!(excerpt.text.starts_with("… gänse "), "{}", excerpt.text);
        let marks: Vec<(&str, bool)> = excerpt
            .gold
            .iter()
            .map(|mark| (&excerpt.text[mark.range.clone()], mark.focus))
            .collect();
        assert_eq!(marks, [("Ada", true), ("Ada", false), ("Bob", false)]);
    }

    #[test]
    fn headings_and_paragraphs_say_what_there_is() {
        let page = |pair: Pair, precision| {
            let options = AssessOptions {
                precision,
                ..AssessOptions::default()
            };
            let assessment = Assessment::new(&[pair], &options).unwrap();
            write_page("", "", &assessment.sections()).unwrap()
        };
        let sure = page(example(), None);
        assert!(sure.contains("Spurious: the surest first") && !sure.contains("No threshold reaches"));
        assert!(!sure.contains("0 to 10%"), "an empty bin");
        let mut unsure = example();
        unsure.found.iter_mut().for_each(|found| found.score = None);
        assert!(page(unsure, None).contains("Spurious: the most frequent first"));
        let wrong = pair(TEXT, &[(0, 3, "PER")], &[(8, 11, "PER", 0.5)]);
        assert!(page(wrong, Some(0.5)).contains("No threshold reaches a precision of 50.00%"));
    }
}

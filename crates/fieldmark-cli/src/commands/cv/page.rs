//! The page of a cross-validation: intervals, the learning curve, and what all parts got wrong.

use super::compare::Difference;
use super::results::{JOINT, Row, ShareResult, percent};
use crate::failure::Failure;
use fieldmark::GraphReport;
use fieldmark::assess::{AssessOptions, Assessment, LabelTest, Pair};
use fieldmark::text::render::html::{Cell, Section, Table};
use fieldmark::text::render::plot::{Axis, LinePlot, Point, Series};
use std::cmp::Reverse;

/// What was found in the test documents of all parts.
#[derive(Default)]
pub struct Tested {
    /// By models that mark spans.
    pub pairs: Vec<Pair>,
    /// By models that label tokens, each layer of a graph with its name.
    labels: Vec<(Option<String>, LabelTest)>,
    /// How graphs found their labels.
    pub inference: GraphReport,
}

impl Tested {
    /// Adds what a model that labels tokens did, in a layer if it is a graph.
    pub fn add_labels(&mut self, layer: Option<String>, part: LabelTest) -> Result<(), Failure> {
        match self.labels.iter_mut().find(|(name, _)| *name == layer) {
            Some((_, labels)) => labels.merge(part).map_err(Failure::ours),
            None => {
                self.labels.push((layer, part));
                Ok(())
            }
        }
    }
}

/// Everything, from the summary to single errors.
pub fn sections(results: &[ShareResult], tested: &Tested) -> Result<Vec<Section>, Failure> {
    let mut sections = Vec::new();
    if let Some(all) = results.last() {
        sections.push(summary(all));
        sections.extend(all.difference.as_ref().map(Difference::section));
    }
    if results.len() > 1 {
        sections.push(curve(results));
    }
    if !tested.pairs.is_empty() {
        let assessment = Assessment::new(&tested.pairs, &AssessOptions::default()).map_err(Failure::user)?;
        let mut pooled = assessment.sections();
        // Its figures differ a little from the means above.
        pooled[0] = pooled[0].clone().with_paragraph(
            "These are the test documents of all parts together, each marked by a model that has not seen it.",
        );
        sections.extend(pooled);
    }
    for (layer, labels) in &tested.labels {
        sections.extend(layer.as_ref().map(|layer| {
            Section::new(format!("Layer {layer}")).with_paragraph("Its labels in all test documents follow.")
        }));
        let cases = AssessOptions::default().cases;
        sections.extend(labels.assess(cases).map_err(Failure::user)?.sections());
    }
    Ok(sections)
}

fn summary(result: &ShareResult) -> Section {
    let mut table = Table::new(["Type", "Measure", "Mean", "Deviation", "95 % interval"]);
    for row in &result.measures {
        let interval = match (row.low, row.high) {
            (Some(low), Some(high)) => Cell::interval(low, row.mean, high),
            _ => Cell::text("–"),
        };
        table = table.row([
            Cell::text(row.of.as_str()),
            Cell::text(row.measure),
            Cell::text(percent(Some(row.mean))),
            Cell::text(percent(row.deviation)),
            interval,
        ]);
    }
    let figures: Vec<(&str, String)> = result
        .measures
        .iter()
        .filter(|row| row.of == "all")
        .map(|row| {
            (
                title(row.measure),
                match row.deviation {
                    Some(_) => format!("{} ± {}", percent(Some(row.mean)), percent(row.deviation)),
                    None => percent(Some(row.mean)),
                },
            )
        })
        .collect();
    let text = match result.splits {
        1 => "One part: there is no deviation.".to_owned(),
        parts => format!(
            "Mean, standard deviation and 95 % interval over {parts} parts, in percent. The line runs from 0 to 100."
        ),
    };
    Section::new("Summary")
        .with_figures(figures)
        .with_paragraph(text)
        .with_table(table)
}

/// A measure as it stands over a figure.
fn title(measure: &'static str) -> &'static str {
    match measure {
        "precision" => "Precision",
        "recall" => "Recall",
        "accuracy" => "Accuracy",
        JOINT => "Joint accuracy",
        other => other,
    }
}

/// Types drawn beside all together; more would hide each other.
const DRAWN_TYPES: usize = 5;

fn curve(results: &[ShareResult]) -> Section {
    let is_main = |row: &&Row| row.measure == "F1" || row.measure == "accuracy";
    let rows = || {
        results
            .iter()
            .flat_map(|result| result.measures.iter().filter(is_main))
    };
    let mut names: Vec<&str> = rows().map(|row| row.of.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    // All types together come first, then those of which there is most to find.
    let gold = |name: &str| {
        rows()
            .filter(|row| row.of == name)
            .map(|row| row.gold)
            .sum::<u64>()
    };
    names.sort_by_cached_key(|name| (*name != "all", Reverse(gold(name))));
    let drawn_names = (1 + DRAWN_TYPES).min(names.len());
    let left_out = names.split_off(drawn_names);
    let measure = rows().next().map_or("F1", |row| title(row.measure));
    let drawn = rows().filter(|row| names.contains(&row.of.as_str()));
    let band = |row: &Row| {
        [row.low, row.high]
            .into_iter()
            .flatten()
            .filter(|_| row.of == "all")
            .collect::<Vec<_>>()
    };
    let values: Vec<f64> = drawn
        .flat_map(|row| band(row).into_iter().chain([row.mean]))
        .collect();
    let most = results.iter().map(|result| result.documents).fold(0.0, f64::max);
    let mut plot = LinePlot::new(
        "Learning curve",
        Axis::numbers("Training documents", 0.0, most),
        Axis::shares(measure, 0.0, 1.0).around(values),
    );
    for name in names {
        let points = results.iter().filter_map(|result| {
            let row = result
                .measures
                .iter()
                .filter(is_main)
                .find(|row| row.of == name)?;
            let point = Point::new(result.documents, row.mean);
            Some(match (row.low, row.high) {
                // Bands of all types would cover each other.
                (Some(low), Some(high)) if name == "all" => point.with_band(low, high),
                _ => point,
            })
        });
        plot = plot.with(Series::line(name, points.collect()).with_dots());
    }
    let section = Section::new("Learning curve").with_paragraph(
        "Would more documents help? While the curve still rises, yes. The band is the 95 % interval of all types \
         together.",
    );
    let section = match left_out.as_slice() {
        [] => section,
        left_out => section.with_paragraph(format!(
            "Beside all types together, the {DRAWN_TYPES} with most spans are drawn. Left out are {}.",
            left_out.join(", ")
        )),
    };
    section.with_plot(plot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::cv::results::Design;

    #[test]
    fn the_curve_shows_the_types_with_most_spans_and_names_the_others() {
        let row = |of: &str, gold| Row {
            of: of.to_owned(),
            measure: "F1",
            mean: 0.5,
            deviation: None,
            low: None,
            high: None,
            values: vec![0.5],
            gold,
        };
        let kinds = [
            ("a", 1),
            ("all", 90),
            ("b", 30),
            ("c", 2),
            ("d", 20),
            ("e", 10),
            ("f", 9),
            ("g", 8),
        ];
        let result = |documents| ShareResult {
            share: 1.0,
            documents,
            splits: 1,
            design: Design::new("folds".to_owned(), 1, &[]),
            measures: kinds.iter().map(|&(of, gold)| row(of, gold)).collect(),
            difference: None,
        };
        let page = fieldmark::text::render::html::Page {
            title: "t",
            lead: "",
            documents: &[],
            sections: &[curve(&[result(5.0), result(10.0)])],
        };
        let html = page.to_html().unwrap();
        let legend = html.split_once("<figcaption>").unwrap().1;
        let names: Vec<&str> = legend
            .split("</svg>")
            .skip(1)
            .map(|item| item.split_once('<').unwrap().0)
            .collect();
        assert_eq!(names, ["all", "b", "d", "e", "f", "g"]);
        assert!(html.contains("Left out are c, a."), "{html}");
    }
}

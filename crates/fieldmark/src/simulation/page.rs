//! Results as sections of a page: learning curves, labels saved, what strategies choose.

use super::text::{needed, ranked};
use crate::Error;
use fieldmark_learn::simulate::{MeanPoint, Results, StrategySummary};
use fieldmark_learn::{Strategy, Unit};
use fieldmark_text::render::html::{Cell, Section, Table};
use fieldmark_text::render::plot::{Axis, LinePlot, Point, Series};

/// Everything that a person would rather look at than read.
pub fn sections(results: &Results) -> Result<Vec<Section>, Error> {
    let ranked = ranked(results)?;
    // Curves keep the order of the settings, and with it their colours from plot to plot.
    let summaries = results.summaries()?;
    Ok(vec![
        overview(results, &ranked),
        curves(results, &summaries),
        one_by_one(results, &ranked),
        choices(results, &summaries),
    ])
}

fn overview(results: &Results, ranked: &[StrategySummary]) -> Section {
    let share = |value: f64| format!("{:.2}%", 100.0 * value);
    let mut figures = vec![("Token F1, all labels".to_owned(), share(results.full.token_f1))];
    if let Some(best) = ranked.first() {
        figures.push(("Best strategy".to_owned(), best.strategy.to_string()));
        figures.extend(best.points.last().map(|last| {
            let name = format!("Its token F1 with {:.0} labels", last.labelled_tokens);
            (name, share(last.token_f1))
        }));
        let target = best.needed.first();
        figures.extend(target.map(|target| {
            (
                format!("Labels for {:.0} %", 100.0 * target.share),
                needed(target),
            )
        }));
    }
    let header = [
        "Strategy",
        "Meaning",
        "Mean token F1",
        "Last token F1",
        "Deviation",
        "Largest drop",
        "Labels for 95 %",
        "Labels for 99 %",
    ];
    let table = ranked.iter().fold(Table::new(header), |table, summary| {
        let last = summary.points.last();
        let mut row = vec![
            Cell::text(summary.strategy.name()),
            Cell::text(summary.strategy.title()),
            Cell::share(summary.mean_f1),
            last.map_or(Cell::text("–"), |last| Cell::share(last.token_f1)),
            Cell::text(last.map_or("–".to_owned(), |last| share(last.deviation))),
            Cell::text(share(summary.largest_drop)),
        ];
        row.extend(summary.needed.iter().map(|part| Cell::text(needed(part))));
        table.row(row)
    });
    Section::new("Which strategy needs the fewest labels")
        .with_figures(figures)
        .with_paragraph(settings(results))
        .with_table(table)
        .with_paragraph(
            "Mean token F1 is taken over the whole curve. Labels for 95 % and 99 % of what a model with all labels reaches \
             are those at the first point of the mean curve that reaches it. The largest drop is that from one point to \
             the next in any run.",
        )
}

fn settings(results: &Results) -> String {
    let settings = &results.settings;
    let batch = match settings.unit {
        Unit::Token => format!("{} questions about one token", settings.batch),
        Unit::ThreeTokens => format!("{} questions about a token and its neighbours", settings.batch),
        Unit::Span => format!("{} questions about the span that a token is in", settings.batch),
        Unit::Sequence => format!("whole sequences until {} tokens are labelled", settings.batch),
    };
    let runs = match settings.runs {
        1 => "One run".to_owned(),
        runs => format!("The mean of {runs} runs"),
    };
    format!(
        "{runs}: random sequences with {} tokens are labelled first, then {} batches of {batch}. The pool has {} sequences \
         with {} tokens and {} labels; scores are those of {} other sequences with {} tokens.",
        settings.initial_tokens,
        settings.iterations,
        results.sequences,
        results.tokens,
        results.labels,
        results.test_sequences,
        results.test_tokens,
    )
}

/// The axes of a plot of token F1 over labels, with the line of full supervision.
fn curve_plot(title: &str, results: &Results, summaries: &[StrategySummary]) -> LinePlot {
    let points = || summaries.iter().flat_map(|summary| &summary.points);
    let most = points().map(|point| point.labelled_tokens).fold(0.0, f64::max);
    let full = results.full.token_f1;
    let values =
        points().flat_map(|point| [point.token_f1 - point.deviation, point.token_f1 + point.deviation]);
    let plot = LinePlot::new(
        title,
        Axis::numbers("Labelled tokens", 0.0, most),
        Axis::shares("Token F1", 0.0, 1.0).around(values.chain([full])),
    );
    plot.with_reference(
        format!("all {} tokens labelled", results.tokens),
        (0.0, full),
        (most, full),
    )
}

fn curves(results: &Results, summaries: &[StrategySummary]) -> Section {
    let plot = curve_plot("Learning curves of all strategies", results, summaries);
    let plot = summaries.iter().fold(plot, |plot, summary| {
        let points = summary.points.iter();
        let points = points.map(|point| Point::new(point.labelled_tokens, point.token_f1));
        plot.with(Series::line(summary.strategy.name(), points.collect()))
    });
    Section::new("Learning curves").with_plot(plot)
}

/// Each strategy with its band, beside chance.
fn one_by_one(results: &Results, ranked: &[StrategySummary]) -> Section {
    let random = ranked.iter().find(|summary| summary.strategy == Strategy::Random);
    let about = match results.settings.runs {
        1 => "Each strategy beside random tokens.",
        _ => "Each strategy with a band of one standard deviation over the runs, beside random tokens.",
    };
    let section = Section::new("One by one").with_paragraph(about);
    let others = ranked
        .iter()
        .filter(|summary| summary.strategy != Strategy::Random);
    others.fold(section, |section, summary| {
        let name = format!("{}, {}", summary.strategy, summary.strategy.title());
        let plot = curve_plot(&format!("Learning curve of {name}"), results, ranked);
        let plot = plot.with(Series::line(name, banded(&summary.points)));
        section.with_plot(match random {
            Some(random) => plot.with(Series::line(Strategy::Random.title(), banded(&random.points))),
            None => plot,
        })
    })
}

fn banded(points: &[MeanPoint]) -> Vec<Point> {
    let point = |point: &MeanPoint| {
        let (f1, deviation) = (point.token_f1, point.deviation);
        let plain = Point::new(point.labelled_tokens, f1);
        if deviation > 0.0 {
            plain.with_band(f1 - deviation, f1 + deviation)
        } else {
            plain
        }
    };
    points.iter().map(point).collect()
}

fn choices(results: &Results, summaries: &[StrategySummary]) -> Section {
    type Value = fn(&MeanPoint) -> Option<f64>;
    let plots: [(&str, &str, Value); 3] = [
        (
            "Length of the sequences that tokens are chosen from",
            "Tokens in the sequence",
            |point| point.sequence_length,
        ),
        (
            "Distance of chosen tokens to the nearest labelled one of the sequence",
            "Distance",
            |point| point.distance,
        ),
        (
            "Share of tokens from sequences without a label",
            "From new sequences",
            |point| point.untouched,
        ),
    ];
    let section = Section::new("What strategies choose").with_paragraph(
        "Batch by batch: the mean length of the sequences that tokens are chosen from, their mean distance to the nearest \
         token that has a label, where the sequence has one, and the share of tokens in sequences that have none.",
    );
    plots.into_iter().fold(section, |section, (title, axis, value)| {
        let all = summaries
            .iter()
            .flat_map(|summary| summary.points.iter().filter_map(value));
        let axis = if axis.starts_with("From") {
            Axis::shares(axis, 0.0, 1.0)
        } else {
            Axis::numbers(axis, 0.0, 1.0).around(all.chain([0.0]))
        };
        let batches = Axis::numbers("Batch", 0.0, results.settings.iterations.max(1) as f64);
        let plot = summaries
            .iter()
            .fold(LinePlot::new(title, batches, axis), |plot, summary| {
                let points = summary.points.iter();
                let points =
                    points.filter_map(|point| Some(Point::new(point.iteration as f64, value(point)?)));
                plot.with(Series::line(summary.strategy.name(), points.collect()))
            });
        section.with_plot(plot)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::assess::write_page;

    /// Two strategies and two runs.
    pub fn results() -> Results {
        let scores =
            |f1: f64| format!(r#"{{"token_f1":{f1},"token_macro_f1":0.5,"accuracy":0.8,"span_f1":null}}"#);
        let curve = |strategy: &str, run: usize, f1: [f64; 2]| {
            let points: Vec<String> = f1
                .iter()
                .enumerate()
                .map(|(at, &f1)| {
                    let behaviour = format!(
                        r#"{{"questions":{0},"lengths":{0},"begun":{0},"distances":{0}}}"#,
                        50 * at
                    );
                    format!(
                        r#"{{"iteration":{at},"labelled_tokens":{},"labelled_sequences":9,"behaviour":{behaviour},"scores":{}}}"#,
                        100 + 50 * at,
                        scores(f1)
                    )
                })
                .collect();
            format!(
                r#"{{"strategy":"{strategy}","run":{run},"points":[{}]}}"#,
                points.join(",")
            )
        };
        let curves = [
            curve("RAND", 0, [0.4, 0.5]),
            curve("MTM", 0, [0.4, 0.88]),
            curve("RAND", 1, [0.5, 0.45]),
            curve("MTM", 1, [0.5, 0.86]),
        ];
        let text = format!(
            r#"{{"settings":{{"strategies":["RAND","MTM"],"unit":"token","initial_tokens":100,"batch":50,"iterations":1,
            "runs":2,"seed":0,"similarity":null,"c1":0,"c2":0.1,"warm":true}},"sequences":80,"tokens":1000,"labels":5,
            "test_sequences":20,"test_tokens":300,"full":{},"curves":[{}]}}"#,
            scores(0.9),
            curves.join(",")
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_page_shows_every_curve() {
        let page = write_page("Active learning", "", &sections(&results()).unwrap()).unwrap();
        // All together, one by one with chance, and three plots of choices.
        assert_eq!(page.matches("<figure").count(), 5);
        assert_eq!(page.matches("class=\"band\"").count(), 2);
        assert!(page.contains("all 1000 tokens labelled"));
        assert!(page.contains("150 (15.00 %)") && page.contains("not reached"));
        assert!(page.contains("minimum token margin"));
        assert!(
            page.contains(
                "random sequences with 100 tokens are labelled first, then 1 batches of 50 questions"
            )
        );
        let best = page.find("MTM").unwrap();
        assert!(best < page.find("RAND").unwrap(), "the best first");
    }
}

//! Plots: what is drawn where, and that any numbers give a sound picture.

use super::*;
use crate::render::palette::COLOURS;
use proptest::num::f64::ANY;
use proptest::prelude::*;

fn plot(points: Vec<Point>) -> LinePlot {
    let (x, y) = (Axis::numbers("x", 0.0, 10.0), Axis::shares("y", 0.0, 1.0));
    LinePlot::new("t", x, y).with(Series::line("s", points).with_dots())
}

#[test]
fn ticks_are_round_and_inside() {
    let ticks = |low, high| Axis::numbers("", low, high).ticks();
    assert_eq!(ticks(0.0, 10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
    assert_eq!(ticks(3.0, 97.0), [20.0, 40.0, 60.0, 80.0]);
    let axis = Axis::shares("", 0.8, 0.9);
    let shown: Vec<String> = axis.ticks().iter().map(|&tick| axis.shown(tick)).collect();
    assert_eq!(shown, ["80%", "82%", "84%", "86%", "88%", "90%"]);
    let fine = Axis::shares("", 0.90, 0.91);
    assert_eq!(fine.shown(0.902), "90.2%");
    assert!(ticks(f64::NAN, 1.0).len() <= 21 && ticks(1.0, 1.0).len() <= 21);
}

#[test]
fn an_axis_around_values_holds_them_and_shares_stay_shares() {
    let axis = Axis::shares("", 0.0, 1.0).around([0.812, 0.876, f64::NAN]);
    assert!(
        (axis.low - 0.8).abs() < 1e-9 && (axis.high - 0.88).abs() < 1e-9,
        "{axis:?}"
    );
    let whole = Axis::shares("", 0.0, 1.0).around([0.3, 1.0]);
    assert_eq!(whole.high, 1.0);
    let none = Axis::shares("", 0.25, 0.5).around([]);
    assert_eq!((none.low, none.high), (0.25, 0.5));
    let one = Axis::numbers("", 0.0, 1.0).around([7.0]);
    assert!(one.low <= 7.0 && one.high > one.low);
}

#[test]
fn points_are_where_they_belong() {
    let svg = plot(vec![Point::new(0.0, 0.0), Point::new(10.0, 1.0)]).to_svg();
    assert!(
        svg.contains("<polyline points=\"62.0,250.0 404.0,12.0\""),
        "{svg}"
    );
    assert_eq!(svg.matches("<circle").count(), 2);
}

#[test]
fn bands_go_there_and_back() {
    let points = vec![
        Point::new(0.0, 0.5).with_band(0.25, 0.75),
        Point::new(10.0, 0.5).with_band(0.5, 1.0),
    ];
    let svg = plot(points).to_svg();
    assert!(
        svg.contains("<polygon class=\"band\" points=\"62.0,71.5 404.0,12.0 404.0,131.0 62.0,190.5\"/>"),
        "{svg}"
    );
}

#[test]
fn names_are_escaped() {
    let evil = "<script>\"'&";
    let axis = || Axis::numbers(evil, 0.0, 1.0);
    let svg = LinePlot::new(evil, axis(), axis())
        .with(Series::line(evil, vec![Point::new(0.5, 0.5)]))
        .with_reference(evil, (0.0, 0.0), (1.0, 1.0))
        .with_mark(evil, 0.5, 0.5)
        .to_svg();
    assert!(!svg.contains("<script") && !svg.contains("\"'&"));
    assert_eq!(svg.matches("&lt;script&gt;").count(), 7);
}

#[test]
fn ticks_stand_at_their_values() {
    let svg = plot(Vec::new()).to_svg();
    for (x, number) in [("62.0", 0), ("130.4", 2), ("404.0", 10)] {
        let tick = format!(
            "<line x1=\"{x}\" y1=\"250\" x2=\"{x}\" y2=\"255\"/><text x=\"{x}\" y=\"269\">{number}</text>"
        );
        assert!(svg.contains(&tick), "{tick}\n{svg}");
    }
    for (y, below, share) in [("250.0", "254.5", "0%"), ("12.0", "16.5", "100%")] {
        let tick = format!(
            "<line x1=\"62\" y1=\"{y}\" x2=\"404\" y2=\"{y}\"/><text class=\"left\" x=\"55\" y=\"{below}\">{share}</text>"
        );
        assert!(svg.contains(&tick), "{tick}\n{svg}");
    }
}

#[test]
fn no_zero_has_a_minus() {
    let axis = Axis::numbers("", -1.0, 1.0);
    let shown: Vec<String> = axis.ticks().iter().map(|&tick| axis.shown(tick)).collect();
    assert_eq!(shown, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
    assert_eq!(axis.shown(-1e-12), "0.0");
    assert_eq!(axis.shown(-0.0), "0.0");
}

#[test]
fn an_axis_around_one_share_is_as_long_as_five_percent_need() {
    let axis = Axis::shares("", 0.0, 1.0).around([0.803]);
    assert!(
        (axis.low - 0.8).abs() < 1e-9 && (axis.high - 0.81).abs() < 1e-9,
        "{axis:?}"
    );
    let axis = Axis::shares("", 0.0, 1.0).around([1.0]);
    assert_eq!(axis.high, 1.0);
    let axis = Axis::numbers("", 0.0, 1.0).around([3.0, 97.0]);
    assert_eq!((axis.low, axis.high), (0.0, 100.0));
}

#[test]
fn a_lone_point_is_a_dot_with_a_whisker() {
    let mut lone = plot(vec![Point::new(5.0, 0.5).with_band(0.25, 0.75)]);
    lone.series[0].dots = false;
    let svg = lone.to_svg();
    let whisker = "<line class=\"whisker\" x1=\"233.0\" y1=\"190.5\" x2=\"233.0\" y2=\"71.5\"/>";
    assert!(svg.contains(whisker), "{svg}");
    let dot = "<circle cx=\"233.0\" cy=\"131.0\" r=\"4.0\"><title>5: 50.0%</title></circle>";
    assert!(svg.contains(dot), "{svg}");
    assert!(!svg.contains("<polyline") && !svg.contains("<polygon"));
}

#[test]
fn dots_have_sizes_that_can_be_seen_and_lines_only_where_they_are_wanted() {
    let sizes = [0.0, 0.5, 1.0, 100.0];
    let points = sizes.map(|size| Point::new(size, 0.5).with_size(size));
    let mut dotted = plot(points.to_vec());
    let svg = dotted.to_svg();
    for radius in ["1.2", "2.0", "4.0", "16.0"] {
        assert_eq!(
            svg.matches(&format!(" r=\"{radius}\"")).count(),
            1,
            "{radius}\n{svg}"
        );
    }
    assert!(svg.contains("<polyline"));
    dotted.series[0].joined = false;
    assert!(!dotted.to_svg().contains("<polyline"));
    dotted.series[0].dots = false;
    assert!(!dotted.to_svg().contains("<circle"));
}

#[test]
fn every_curve_has_a_look_of_its_own_and_the_legend_shows_it() {
    let (x, y) = (Axis::numbers("x", 0.0, 10.0), Axis::shares("y", 0.0, 1.0));
    let points = vec![Point::new(0.0, 0.0), Point::new(10.0, 1.0)];
    let plot = (0..6).fold(LinePlot::new("t", x, y), |plot, number| {
        plot.with(Series::line(format!("s{number}"), points.clone()))
    });
    let svg = plot.to_svg();
    for (number, dash) in DASHES.iter().enumerate() {
        let slot = SERIES_SLOTS[number];
        let drawn = format!(
            "<g class=\"series c{slot}\">\n<polyline points=\"62.0,250.0 404.0,12.0\" stroke-dasharray=\"{dash}\"/>"
        );
        assert!(svg.contains(&drawn), "{drawn}\n{svg}");
        let item = svg.split(&format!("<li class=\"c{slot}\">")).nth(1).unwrap();
        let (sample, rest) = item.split_once("</svg>").unwrap();
        assert!(
            sample.contains(&format!("stroke-dasharray=\"{dash}\"")),
            "{sample}"
        );
        assert!(rest.starts_with(&format!("s{number}</li>")), "{rest}");
    }
}

#[test]
fn no_two_curves_look_the_same() {
    let looks: std::collections::BTreeSet<(usize, &str)> = (0..36).map(look).collect();
    assert_eq!(looks.len(), 36);
    // The first ones differ in both: not everybody sees colours.
    let first = || (0..SERIES_SLOTS.len()).map(look);
    let slots: std::collections::BTreeSet<usize> = first().map(|(slot, _)| slot).collect();
    let dashes: std::collections::BTreeSet<&str> = first().map(|(_, dash)| dash).collect();
    assert_eq!((slots.len(), dashes.len()), (6, 6));
    // In both schemes, their colours are far from each other.
    let channels = |ink: &str| [1, 3, 5].map(|at| i32::from_str_radix(&ink[at..at + 2], 16).unwrap());
    for scheme in [
        |slot: usize| COLOURS[slot].light.ink,
        |slot: usize| COLOURS[slot].dark.ink,
    ] {
        for (at, &one) in SERIES_SLOTS.iter().enumerate() {
            for &other in &SERIES_SLOTS[..at] {
                let (a, b) = (channels(scheme(one)), channels(scheme(other)));
                let distance: i32 = a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum();
                assert!(distance >= 60, "{one} and {other}: {distance}");
            }
        }
    }
}

#[test]
fn references_and_marks_are_where_they_belong_and_in_the_legend() {
    let svg = plot(Vec::new())
        .with_reference("even", (0.0, 0.25), (10.0, 0.75))
        .with_reference("nowhere", (0.0, f64::NAN), (10.0, 0.75))
        .with_mark("nowhere", f64::INFINITY, 0.5)
        .with_mark("best", 5.0, 0.25)
        .with_mark("other", 10.0, 0.25)
        .to_svg();
    let line = "<line class=\"reference\" x1=\"62.0\" y1=\"190.5\" x2=\"404.0\" y2=\"71.5\"/>";
    assert!(svg.contains(line), "{svg}");
    for (number, name, x) in [(1, "best", "233.0"), (2, "other", "404.0")] {
        let mark = format!(
            "<circle cx=\"{x}\" cy=\"190.5\" r=\"8\"/><text x=\"{x}\" y=\"194.5\">{number}</text><title>{name}</title>"
        );
        assert!(svg.contains(&mark), "{mark}\n{svg}");
        let item = format!("<li><b class=\"spot\">{number}</b>{name}</li>");
        assert!(svg.contains(&item), "{item}\n{svg}");
    }
    assert!(
        svg.contains("</svg>even</li>") && !svg.contains("nowhere"),
        "{svg}"
    );
}

/// Every number that stands in one of these attributes.
fn numbers(svg: &str, attributes: &[&str]) -> Vec<f64> {
    let of = |attribute: &&str| {
        let start = format!(" {attribute}=\"");
        let values = svg
            .split(&start)
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap());
        values.map(|value| value.parse().unwrap()).collect::<Vec<f64>>()
    };
    attributes.iter().flat_map(of).collect()
}

#[test]
fn an_axis_without_an_end_has_no_ticks() {
    for (low, high) in [(f64::NEG_INFINITY, 0.0), (f64::NAN, 1.0), (f64::MIN, f64::MAX)] {
        assert_eq!(Axis::numbers("", low, high).ticks(), [] as [f64; 0]);
    }
}

proptest! {
    #[test]
    fn nothing_leaves_the_drawing(
        values in prop::collection::vec((ANY, ANY, ANY), 0..6),
        low in ANY,
        high in ANY,
    ) {
        let points = values.iter().map(|&(x, y, size)| Point::new(x, y).with_band(y, x).with_size(size));
        let mut plot = plot(points.collect());
        plot.y = Axis::numbers("y", low, high);
        for &(x, y, other) in &values {
            plot = plot.with_reference("r", (x, y), (y, other)).with_mark("m", other, x);
        }
        let svg = plot.to_svg();
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
        for x in numbers(&svg, &["x", "x1", "x2", "cx"]) {
            prop_assert!((0.0..=SIZE.0).contains(&x), "{x}\n{svg}");
        }
        for y in numbers(&svg, &["y", "y1", "y2", "cy"]) {
            prop_assert!((0.0..=SIZE.1).contains(&y), "{y}\n{svg}");
        }
        prop_assert!(plot.y.ticks().len() <= 21);
    }
}

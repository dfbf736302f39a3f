//! Calibration and thresholds, against hand-computed tables and scikit-learn 1.9.

use fieldmark_eval::{Binning, Calibration, Judged, PrecisionRecall};
use proptest::prelude::*;

fn close(ours: f64, expected: f64) {
    assert!((ours - expected).abs() < 1e-12, "{ours} {expected}");
}

fn decisions() -> Vec<Judged> {
    let confidence = [0.95, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.55, 0.3, 0.1];
    let correct = [1, 1, 0, 1, 1, 0, 1, 0, 1, 0];
    let both = confidence.into_iter().zip(correct);
    both.map(|(confidence, correct)| Judged::new(confidence, correct == 1))
        .collect()
}

#[test]
fn a_reliability_table_of_equal_widths() {
    let calibration = Calibration::new(&decisions(), 5, Binning::Width).unwrap();
    let counts: Vec<(u64, u64)> = calibration
        .bins
        .iter()
        .map(|bin| (bin.count, bin.correct))
        .collect();
    assert_eq!(counts, [(1, 0), (1, 1), (3, 1), (2, 2), (3, 2)]);
    close(calibration.bins[2].confidence, 1.75 / 3.0);
    close(calibration.bins[2].accuracy, 1.0 / 3.0);
    assert_eq!((calibration.bins[4].low, calibration.bins[4].high), (0.8, 1.0));
    // 0.1·0.1 + 0.1·0.7 + 0.3·0.25 + 0.2·0.25 + 0.3·0.25
    close(calibration.expected_error, 0.28);
    close(calibration.maximum_error, 0.7);
    // `sklearn.metrics.brier_score_loss`
    close(calibration.brier, 0.2275);
}

#[test]
fn a_reliability_table_of_equal_numbers() {
    let calibration = Calibration::new(&decisions(), 5, Binning::Number).unwrap();
    assert!(calibration.bins.iter().all(|bin| bin.count == 2));
    assert_eq!((calibration.bins[1].low, calibration.bins[1].high), (0.55, 0.6));
    // (0.3 + 0.575 + 0.35 + 0.15 + 0.425) / 5
    close(calibration.expected_error, 0.36);
    close(calibration.brier, 0.2275);
    let few = Calibration::new(&decisions()[..3], 5, Binning::Number).unwrap();
    assert_eq!(few.bins.len(), 3);
}

#[test]
fn borders_belong_to_the_bin_below() {
    let at = |confidence, bins| {
        let calibration = Calibration::new(&[Judged::new(confidence, true)], bins, Binning::Width).unwrap();
        let bin = calibration.bins.iter().position(|bin| bin.count == 1);
        bin.unwrap()
    };
    // Among 100 borders are some that do not survive being multiplied by 100, such as 0.07.
    for bins in [10, 100] {
        for border in 1..=bins {
            let confidence = border as f64 / bins as f64;
            assert_eq!(at(confidence, bins), border - 1, "{confidence}");
            assert_eq!(at(confidence.next_down(), bins), border - 1, "{confidence}");
            if border < bins {
                assert_eq!(at(confidence.next_up(), bins), border, "{confidence}");
            }
        }
    }
    assert_eq!(at(0.0, 10), 0);
}

#[test]
fn what_is_no_probability_is_refused() {
    for confidence in [1.1, -0.1, f64::NAN] {
        let finds = [Judged::new(0.5, true), Judged::new(confidence, true)];
        assert!(Calibration::new(&finds, 10, Binning::Width).is_err());
        assert!(PrecisionRecall::new(&finds, 2).is_err());
    }
    assert!(Calibration::new(&decisions(), 0, Binning::Width).is_err());
    assert!(PrecisionRecall::new(&decisions(), 5).is_err());
}

#[test]
fn nothing_decided_is_no_error() {
    for binning in [Binning::Width, Binning::Number] {
        let calibration = Calibration::new(&[], 10, binning).unwrap();
        assert_eq!((calibration.expected_error, calibration.brier), (0.0, 0.0));
    }
    let curve = PrecisionRecall::new(&[], 0).unwrap();
    assert_eq!((curve.points.len(), curve.average_precision), (0, 0.0));
    assert_eq!((curve.reaching(0.0), curve.best_f1()), (None, None));
}

#[test]
fn a_curve_has_a_point_for_each_threshold() {
    let curve = PrecisionRecall::new(&decisions(), 6).unwrap();
    let points: Vec<(f64, u64, u64)> = curve
        .points
        .iter()
        .map(|point| (point.threshold, point.counts.found, point.counts.correct))
        .collect();
    let expected = [
        (0.95, 1, 1),
        (0.9, 3, 2),
        (0.8, 4, 3),
        (0.7, 5, 4),
        (0.6, 7, 5),
        (0.55, 8, 5),
        (0.3, 9, 6),
        (0.1, 10, 6),
    ];
    assert_eq!(points, expected);
    // `sklearn.metrics.average_precision_score`
    close(curve.average_precision, 0.7662698412698412);
    // Six more that were never found halve the recall everywhere.
    close(
        PrecisionRecall::new(&decisions(), 12).unwrap().average_precision,
        0.7662698412698412 / 2.0,
    );

    // Precision falls to 2/3 and rises again: the lowest threshold counts.
    assert_eq!(curve.reaching(0.75).unwrap().threshold, 0.7);
    assert_eq!(curve.reaching(0.7).unwrap().threshold, 0.6);
    assert_eq!(curve.reaching(0.9).unwrap().threshold, 0.95);
    assert_eq!(curve.reaching(0.0).unwrap().threshold, 0.1);
    assert_eq!(curve.best_f1().unwrap().threshold, 0.3);
    close(curve.best_f1().unwrap().f1, 0.8);
}

#[test]
fn curves_survive_json() {
    let curve = PrecisionRecall::new(&decisions(), 6).unwrap();
    let json = serde_json::to_value(&curve).unwrap();
    assert_eq!(json["points"][1]["found"], 3);
    assert_eq!(serde_json::from_value::<PrecisionRecall>(json).unwrap(), curve);
}

fn judged() -> impl Strategy<Value = Vec<Judged>> {
    let one =
        (0u32..=20, any::<bool>()).prop_map(|(level, correct)| Judged::new(f64::from(level) / 20.0, correct));
    prop::collection::vec(one, 0..40)
}

proptest! {
    #[test]
    fn points_are_what_a_threshold_leaves(finds in judged(), missed in 0u64..5, wanted in 0.0..=1.0f64) {
        let right = finds.iter().filter(|find| find.correct).count() as u64;
        let curve = PrecisionRecall::new(&finds, right + missed).unwrap();
        for point in &curve.points {
            let kept = || finds.iter().filter(|find| find.confidence >= point.threshold);
            prop_assert_eq!(point.counts.found, kept().count() as u64);
            prop_assert_eq!(point.counts.correct, kept().filter(|find| find.correct).count() as u64);
        }
        prop_assert!(curve.points.is_sorted_by(|one, other| one.recall <= other.recall));
        prop_assert!((0.0..=1.0 + 1e-12).contains(&curve.average_precision));
        let most = curve.points.iter().filter(|point| point.precision >= wanted).map(|point| point.recall);
        prop_assert_eq!(curve.reaching(wanted).map(|point| point.recall), most.reduce(f64::max));
    }

    #[test]
    fn bins_hold_every_decision_once(decisions in judged(), bins in 1usize..15) {
        for binning in [Binning::Width, Binning::Number] {
            let calibration = Calibration::new(&decisions, bins, binning).unwrap();
            prop_assert_eq!(calibration.bins.iter().map(|bin| bin.count).sum::<u64>(), decisions.len() as u64);
            for bin in calibration.bins.iter().filter(|bin| bin.count > 0) {
                prop_assert!(bin.low <= bin.confidence + 1e-12 && bin.confidence <= bin.high + 1e-12);
            }
            prop_assert!(calibration.expected_error <= calibration.maximum_error + 1e-12);
        }
    }
}

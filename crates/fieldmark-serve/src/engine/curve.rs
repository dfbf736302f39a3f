//! The learning curve: scores on what is held out, and what more answers may bring.

use super::Engine;
use super::state::State;
use super::words::Layer;
use crate::project::Error;
use serde::{Deserialize, Serialize};

/// Scores of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    /// Milliseconds since 1970.
    pub time: i64,
    /// Tokens with an answer.
    pub labels: usize,
    /// Answers.
    pub answers: usize,
    pub token_f1: f64,
    pub span_f1: f64,
    /// Sentences that it was scored on.
    pub sentences: usize,
    /// Tokens that it was scored on.
    pub tokens: usize,
    pub types: Vec<TypeScore>,
    /// Tokens with an answer that the model learned from: all but those that are held out.
    #[serde(default)]
    pub learned: Option<usize>,
    /// Those of them that people labelled, without what documents came with.
    #[serde(default)]
    pub given: Option<usize>,
    /// A fingerprint of what was known, and of how it was learned from.
    #[serde(default)]
    pub knowledge: Option<u64>,
    /// A fingerprint of the part that is held out.
    #[serde(default)]
    pub part: Option<u64>,
}

impl Point {
    /// Whether a point stands for the same answers as another one. A model that is trained again on what is known, as
    /// after each start of the program, is no progress.
    pub fn repeats(&self, other: &Point) -> bool {
        match (self.knowledge, other.knowledge) {
            (Some(one), Some(other)) => one == other,
            // Points of older programs have only their numbers.
            _ => {
                let numbers = |point: &Point| (point.labels, point.answers, point.sentences, point.tokens);
                numbers(self) == numbers(other)
            }
        }
    }
}

/// Tokens of one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TypeScore {
    pub name: String,
    pub gold: u64,
    pub found: u64,
    pub correct: u64,
}

impl TypeScore {
    fn precision(&self) -> Option<f64> {
        (self.found > 0).then(|| self.correct as f64 / self.found as f64)
    }

    fn recall(&self) -> Option<f64> {
        (self.gold > 0).then(|| self.correct as f64 / self.gold as f64)
    }

    fn f1(&self) -> Option<f64> {
        let both = self.gold + self.found;
        (both > 0).then(|| 2.0 * self.correct as f64 / both as f64)
    }
}

/// What there is to see of progress.
#[derive(Clone, Debug, Serialize)]
pub struct ProgressReport {
    curve: Vec<CurvePoint>,
    held_out: HeldOut,
    types: Vec<TypeProgress>,
    /// Types whose score is far below the others', or of which hardly anything is labelled.
    weak: Vec<String>,
    /// Time per answer: the mean of each tenth of all answers.
    seconds: Vec<AnswerSeconds>,
    next: Option<Forecast>,
}

#[derive(Clone, Debug, Serialize)]
struct CurvePoint {
    labels: usize,
    answers: usize,
    token_f1: f64,
    span_f1: f64,
    time: i64,
}

#[derive(Clone, Debug, Default, Serialize)]
struct HeldOut {
    /// Sentences that are labelled completely.
    sentences: usize,
    tokens: usize,
    /// All that are held out.
    of: usize,
}

#[derive(Clone, Debug, Serialize)]
struct TypeProgress {
    name: String,
    /// Spans that people marked.
    labelled: usize,
    precision: Option<f64>,
    recall: Option<f64>,
    f1: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
struct AnswerSeconds {
    answer: usize,
    seconds: f64,
}

/// What the next answers may bring.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Forecast {
    answers: usize,
    /// Low, middle and high.
    token_f1: [f64; 3],
}

/// Answers that the forecast looks ahead.
const AHEAD: usize = 100;
/// Points that it looks back.
const LAST: usize = 20;
/// Fewer points tell nothing.
const FEWEST: usize = 4;

/// Fits the errors of the last models by a power law, 1 − F1 = a · labels^b (Cortes et al. 1994), as a line through their
/// logarithms, and goes on with its slope from where the curve is. The band is that in which four of five new points lie, if
/// the line is right: the last point may be as far from it as the new one.
///
/// Labels are all that the models learned from, those that documents came with included: the law is one of what there was
/// to learn from. But the next answers are those of people, and only bring as many labels as theirs brought of late.
pub(super) fn forecast(curve: &[Point]) -> Option<Forecast> {
    let now = curve.last()?;
    // Scores on other sentences are no part of this curve.
    let same = |point: &&Point| point.part.is_none() || point.part == now.part;
    let all: Vec<&Point> = curve.iter().rev().take_while(same).take(LAST).collect();
    let exact: Vec<&Point> = all
        .iter()
        .copied()
        .take_while(|point| point.learned.is_some())
        .collect();
    // Points of older programs count what is held out among the labels.
    let (last, is_exact) = match exact.len() >= FEWEST {
        true => (exact, true),
        false => (all, false),
    };
    let labels = |point: &Point| point.learned.filter(|_| is_exact).unwrap_or(point.labels);
    let given = |point: &Point| point.given.filter(|_| is_exact).unwrap_or(point.labels) as f64;
    let points: Vec<(f64, f64)> = last
        .iter()
        .filter(|point| labels(point) > 0)
        .map(|point| {
            // No test is long enough to show that there are no errors.
            let least = 0.5 / (point.tokens as f64 + 1.0);
            (
                (labels(point) as f64).ln(),
                (1.0 - point.token_f1).max(least).ln(),
            )
        })
        .collect();
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    // However many labels there were at first, those that differ tell something.
    let differ = last.iter().any(|point| labels(point) != labels(now));
    let first = last.last()?;
    let answers = now.answers as f64 - first.answers as f64;
    if points.len() < FEWEST || labels(now) == 0 || !differ || spread <= 0.0 || answers <= 0.0 {
        return None;
    }
    let product: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    // More answers are not expected to do harm.
    let slope = (product / spread).min(0.0);
    let squares: f64 = points
        .iter()
        .map(|(x, y)| (y - y_mean - slope * (x - x_mean)).powi(2))
        .sum();
    let deviation = (squares / (n - 2.0)).sqrt();
    let labels_per_answer = ((given(now) - given(first)) / answers).max(0.0);
    let (x_now, y_now) = *points.first()?;
    let way = (labels(now) as f64 + AHEAD as f64 * labels_per_answer).ln() - x_now;
    let y = y_now + slope * way;
    let error = deviation * (2.0 + way.powi(2) / spread).sqrt();
    const FOUR_OF_FIVE: f64 = 1.2816;
    let f1 = |y: f64| (1.0 - y.exp()).clamp(0.0, 1.0);
    // A test that is too short to show errors does not make the next model a worse one.
    let best = |y: f64| f1(y).max(now.token_f1);
    Some(Forecast {
        answers: AHEAD,
        token_f1: [
            f1(y + FOUR_OF_FIVE * error),
            best(y),
            best(y - FOUR_OF_FIVE * error),
        ],
    })
}

impl State {
    /// Tokens to learn from that people labelled, without those that documents came with.
    pub fn given_by_people(&self) -> usize {
        let mut sum = 0;
        for number in self.words.documents() {
            let decided = self.words.layer(number, Layer::Adjudicated);
            if self.words.annotators(number).is_empty() && decided.is_none() {
                continue;
            }
            let text = self.corpus.get(number);
            let import = self.words.layer(number, Layer::Person(self.import));
            let came = |token: usize| import.is_some_and(|cells| cells[token].said.is_something());
            for index in 0..text.sentences() {
                if self.pool.is_aside(text.first_sequence + index) {
                    continue;
                }
                let tokens = text.sentence(index);
                sum += tokens
                    .filter(|&token| self.pool.is_labelled(text.first_position + token) && !came(token))
                    .count();
            }
        }
        sum
    }
}

impl Engine {
    /// What there is to see of progress.
    pub fn progress(&self) -> Result<ProgressReport, Error> {
        let state = self.state();
        let learned = self.learned();
        let point = learned.curve.last();
        let types = type_progress(&state, point);
        Ok(ProgressReport {
            curve: learned
                .curve
                .iter()
                .map(|point| CurvePoint {
                    labels: point.labels,
                    answers: point.answers,
                    token_f1: point.token_f1,
                    span_f1: point.span_f1,
                    time: point.time,
                })
                .collect(),
            held_out: HeldOut {
                sentences: point.map_or(0, |point| point.sentences),
                tokens: point.map_or(0, |point| point.tokens),
                of: state.held_out.len(),
            },
            weak: weak(&types),
            types,
            seconds: seconds(&state.seconds().collect::<Vec<_>>()),
            next: forecast(&learned.curve),
        })
    }
}

fn type_progress(state: &State, point: Option<&Point>) -> Vec<TypeProgress> {
    let mut spans = vec![0; state.map.len()];
    for position in 0..state.pool.data().positions() {
        if let fieldmark::core::Gold::Known(label) = state.pool.known(position) {
            spans[label as usize] += 1;
        }
    }
    let kinds = state.map.kinds().iter().map(|&kind| {
        let name = state.type_name(kind);
        let score = point.and_then(|point| point.types.iter().find(|score| score.name == name));
        TypeProgress {
            name: name.to_owned(),
            labelled: state.map.begin(kind).map_or(0, |label| spans[label as usize]),
            precision: score.and_then(TypeScore::precision),
            recall: score.and_then(TypeScore::recall),
            f1: score.and_then(TypeScore::f1),
        }
    });
    kinds.collect()
}

/// Types of which the model knows little: fewer than five spans, or an F1 of less than four fifths of the mean.
fn weak(types: &[TypeProgress]) -> Vec<String> {
    let scores: Vec<f64> = types.iter().filter_map(|one| one.f1).collect();
    let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    let is_weak = |one: &&TypeProgress| one.labelled < 5 || one.f1.is_some_and(|f1| f1 < 0.8 * mean);
    types.iter().filter(is_weak).map(|one| one.name.clone()).collect()
}

fn seconds(all: &[f32]) -> Vec<AnswerSeconds> {
    let size = all.len().div_ceil(10).max(1);
    let parts = all.chunks(size).enumerate();
    parts
        .map(|(part, seconds)| AnswerSeconds {
            answer: part * size + seconds.len(),
            seconds: f64::from(seconds.iter().sum::<f32>()) / seconds.len() as f64,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(labels: usize, token_f1: f64) -> Point {
        Point {
            time: 0,
            labels,
            answers: labels / 2,
            token_f1,
            span_f1: token_f1,
            sentences: 50,
            tokens: 1000,
            types: Vec::new(),
            learned: None,
            given: None,
            knowledge: None,
            part: None,
        }
    }

    #[test]
    fn a_power_law_goes_on() {
        let law = |labels: usize| 1.0 - 3.0 * (labels as f64).powf(-0.5);
        let curve: Vec<Point> = (1..9).map(|n| point(100 * n, law(100 * n))).collect();
        let forecast = forecast(&curve).unwrap();
        // Two labels for each answer.
        let expected = law(1000);
        assert_eq!(forecast.answers, 100);
        for f1 in forecast.token_f1 {
            assert!((f1 - expected).abs() < 1e-9, "{f1} {expected}");
        }
    }

    /// Labels that documents came with are learned from, but nobody gave them as answers.
    #[test]
    fn imported_labels_are_no_answers() {
        let law = |labels: usize| 1.0 - 3.0 * (labels as f64).powf(-0.5);
        // Every answer is one label more to learn from; a test sentence of twenty tokens comes with each tenth.
        let imported = |answers: usize| Point {
            labels: 12_000 + 3 * answers,
            answers,
            learned: Some(10_000 + answers),
            given: Some(answers),
            part: Some(1),
            ..point(0, law(10_000 + answers))
        };
        let curve: Vec<Point> = (0..8).map(|n| imported(10 * n)).collect();
        let [_, middle, _] = forecast(&curve).unwrap().token_f1;
        assert!((middle - law(10_170)).abs() < 1e-9, "{middle} {}", law(10_170));
        // Points of older programs do not tell labels apart, but the differences between them do.
        let old: Vec<Point> = (0..8)
            .map(|n| Point {
                answers: 10 * n,
                ..point(10_000 + 10 * n, law(10_000 + 10 * n))
            })
            .collect();
        let [_, middle, _] = forecast(&old).unwrap().token_f1;
        assert!((middle - law(10_170)).abs() < 1e-9, "{middle} {}", law(10_170));
        // More documents with labels come in between: they are not what the next answers bring.
        let later = |answers: usize| Point {
            learned: Some(30_000 + answers),
            token_f1: law(30_000 + answers),
            ..imported(answers)
        };
        let grown: Vec<Point> = (0..4)
            .map(|n| imported(10 * n))
            .chain((4..8).map(|n| later(10 * n)))
            .collect();
        let [_, middle, _] = forecast(&grown).unwrap().token_f1;
        assert!((middle - law(30_170)).abs() < 1e-9, "{middle} {}", law(30_170));
    }

    /// A line through all points may pass below the last one; what comes next begins with the last one.
    #[test]
    fn the_forecast_begins_where_the_curve_is() {
        let rising = [0.0, 0.24, 0.61, 0.84, 0.92, 0.96, 1.0];
        let curve: Vec<Point> = (1..).zip(rising).map(|(n, f1)| point(20 * n, f1)).collect();
        for known in FEWEST..=curve.len() {
            let now = curve[known - 1].token_f1;
            let [low, middle, high] = forecast(&curve[..known]).unwrap().token_f1;
            assert!(
                low < middle && middle >= now && high >= middle,
                "{now}: {low} {middle} {high}"
            );
        }
    }

    #[test]
    fn scores_on_another_part_are_another_curve() {
        let on = |part: u64, n: usize| Point {
            part: Some(part),
            learned: Some(100 * n),
            given: Some(100 * n),
            ..point(100 * n, 0.5 + 0.02 * n as f64 - 0.3 * (part as f64 - 1.0))
        };
        let first: Vec<Point> = (1..9).map(|n| on(1, n)).collect();
        let mut both = first.clone();
        both.extend((9..12).map(|n| on(2, n)));
        assert_eq!(forecast(&both), None, "three points are too few");
        both.extend((12..17).map(|n| on(2, n)));
        assert_eq!(forecast(&both), forecast(&both[8..]));
        assert_ne!(forecast(&both), forecast(&first));
    }

    #[test]
    fn noise_widens_the_band() {
        let noisy = |n: usize| 0.5 + 0.04 * n as f64 + if n.is_multiple_of(2) { 0.03 } else { -0.03 };
        let curve: Vec<Point> = (1..9).map(|n| point(100 * n, noisy(n))).collect();
        let [low, middle, high] = forecast(&curve).unwrap().token_f1;
        assert!(low < middle - 0.02 && high > middle + 0.02 && high <= 1.0);
        let falling: Vec<Point> = (1..9).map(|n| point(100 * n, 0.8 - 0.02 * n as f64)).collect();
        let [_, middle, _] = forecast(&falling).unwrap().token_f1;
        assert!((middle - 0.64).abs() < 1e-12, "no harm is expected");
    }

    #[test]
    fn too_little_tells_nothing() {
        assert_eq!(forecast(&[]), None);
        let same: Vec<Point> = (0..9).map(|_| point(100, 0.5)).collect();
        assert_eq!(forecast(&same), None);
        assert_eq!(forecast(&[point(1, 0.1), point(2, 0.2), point(3, 0.3)]), None);
        let perfect: Vec<Point> = (1..9).map(|n| point(100 * n, 1.0)).collect();
        assert!(forecast(&perfect).unwrap().token_f1[0] > 0.99);
    }
}

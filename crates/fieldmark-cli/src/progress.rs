//! [`Watcher`]: shows how training goes, as a bar, as lines or as JSON events.

use crate::console::Console;
use crate::failure::Failure;
use crate::{interrupt, memory};
use fieldmark::graph::Convergence;
use fieldmark::{Flow, Observer, Prepared, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Watches training for the user.
pub struct Watcher<'a> {
    console: &'a Console,
    view: View,
    started: Instant,
    /// The largest number of iterations, when there is one.
    iterations: Option<u64>,
    /// Why events could not be written.
    unwritten: Option<Failure>,
    /// When the features were chosen and the data laid out.
    pub prepared: Option<(Prepared, f64)>,
}

enum View {
    Bar(ProgressBar),
    Lines,
    Json,
    Nothing,
}

/// What `--json` prints, one object per line.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// The data were read.
    Read {
        seconds: f64,
        sequences: usize,
        tokens: usize,
        labels: usize,
    },
    /// The features were chosen.
    Prepared {
        seconds: f64,
        features: usize,
        states: usize,
        memory_bytes: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        warm_weights: Option<usize>,
        #[serde(skip_serializing_if = "Option::is_none")]
        resumed_after: Option<u64>,
    },
    /// An iteration is done.
    Iteration(Figures),
    /// The model was written.
    End {
        stop: String,
        best_iteration: Option<u64>,
        model: &'a str,
        model_bytes: u64,
        active: usize,
    },
}

/// One iteration.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    iteration: u64,
    loss: f64,
    gradient_norm: f64,
    active: usize,
    step: f64,
    evaluations: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dev: Option<f64>,
    seconds: f64,
    /// Of inference that is iterative: the share of answers that converged, and the mean number of rounds of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    converged: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_rss_bytes: Option<u64>,
}

impl Figures {
    /// The figures of an iteration, without memory, which is known only as it happens.
    pub fn new(progress: &Progress) -> Self {
        let Progress {
            iteration,
            dev,
            seconds,
            convergence,
        } = progress;
        Self {
            iteration: iteration.iteration,
            loss: iteration.loss,
            gradient_norm: iteration.gradient_norm,
            active: iteration.active,
            step: iteration.step,
            evaluations: iteration.evaluations,
            dev: *dev,
            seconds: *seconds,
            converged: convergence.map(|convergence| convergence.fraction()),
            rounds: convergence
                .filter(|convergence| convergence.converged > 0)
                .map(|convergence| convergence.mean_iterations()),
            peak_rss_bytes: None,
        }
    }
}

impl<'a> Watcher<'a> {
    /// `iterations` is the largest number of them, when there is one.
    pub fn new(console: &'a Console, json: bool, iterations: Option<u64>) -> Self {
        let view = if json {
            View::Json
        } else if console.quiet() {
            View::Nothing
        } else if console.watched() {
            View::Bar(bar(iterations))
        } else {
            View::Lines
        };
        Self {
            console,
            view,
            started: Instant::now(),
            iterations,
            unwritten: None,
            prepared: None,
        }
    }

    /// Reports an event to whoever reads JSON.
    pub fn event(&mut self, event: &Event<'_>) {
        if matches!(self.view, View::Json)
            && let Err(failure) = self.console.print_json(event)
        {
            // Training goes on when nobody listens any more; the model is worth more than its events.
            self.view = View::Nothing;
            self.unwritten = Some(failure);
        }
    }

    /// Whether every event was written, or whoever read them has gone.
    pub fn written(self) -> Result<(), Failure> {
        match self.unwritten {
            None | Some(Failure::ClosedPipe) => Ok(()),
            Some(failure) => Err(failure),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let View::Bar(bar) = &self.view {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Watcher<'_> {
    fn prepared(&mut self, prepared: &Prepared) {
        let seconds = self.started.elapsed().as_secs_f64();
        self.prepared = Some((*prepared, seconds));
        let Prepared {
            features,
            states,
            memory,
            warm,
            resumed,
        } = *prepared;
        self.event(&Event::Prepared {
            seconds,
            features,
            states,
            memory_bytes: memory,
            warm_weights: warm,
            resumed_after: resumed,
        });
        let warm = warm.map(|taken| format!(", {taken} of their weights taken over"));
        let warm = warm.unwrap_or_default();
        let resumed = resumed.map(|after| resumption(after, self.iterations));
        if let View::Bar(bar) = &self.view {
            bar.println(format!("{features} features{warm}, {states} states"));
            resumed.iter().for_each(|text| bar.println(text));
        } else if matches!(self.view, View::Lines) {
            self.console.note(&format!(
                "{features} features{warm}, {states} states, {seconds:.2} s"
            ));
            resumed.iter().for_each(|text| self.console.note(text));
            self.console.note(&heading());
        }
    }

    fn iteration(&mut self, progress: &Progress) -> Flow {
        match &self.view {
            View::Bar(bar) => {
                bar.set_position(progress.iteration.iteration);
                bar.set_message(message(progress));
            }
            View::Lines => self.console.note(&line(progress)),
            View::Json => {
                let figures = Figures {
                    peak_rss_bytes: memory::peak(),
                    ..Figures::new(progress)
                };
                self.event(&Event::Iteration(figures));
            }
            View::Nothing => {}
        }
        if interrupt::asked() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

const BAR: &str = "{bar:24.cyan/dim} {pos}/{len}  {msg}";
const SPINNER: &str = "{spinner:.cyan} iteration {pos}  {msg}";

/// A progress bar, or a spinner when the number of iterations is open.
pub fn bar(iterations: Option<u64>) -> ProgressBar {
    let (bar, template) = match iterations {
        Some(iterations) => (ProgressBar::new(iterations), BAR),
        None => (ProgressBar::new_spinner(), SPINNER),
    };
    bar.enable_steady_tick(Duration::from_millis(120));
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.progress_chars("━━─")),
        Err(_) => bar,
    }
}

/// Where a run goes on, and whether `most` iterations leave it anything to do.
fn resumption(after: u64, most: Option<u64>) -> String {
    match most {
        Some(most) if most <= after => {
            format!("resumed after iteration {after}; --max-iterations is {most}, so nothing is left to do")
        }
        _ => format!("resumed after iteration {after}"),
    }
}

/// A number with some decimals; in powers of ten where it would be a long row of digits.
pub fn decimal(number: f64, decimals: usize) -> String {
    if number.is_finite() && number.abs() >= 1e15 {
        format!("{number:.decimals$e}")
    } else {
        format!("{number:.decimals$}")
    }
}

fn message(progress: &Progress) -> String {
    let iteration = &progress.iteration;
    let dev = progress
        .dev
        .map(|dev| format!("  dev {:.2}", 100.0 * dev))
        .unwrap_or_default();
    let gradient = if iteration.gradient_norm.is_nan() {
        String::new()
    } else {
        format!("  |g| {}", decimal(iteration.gradient_norm, 2))
    };
    let loss = decimal(iteration.loss, 2);
    let rounds = rounds(progress.convergence)
        .map(|text| format!("  {text}"))
        .unwrap_or_default();
    format!("loss {loss}{gradient}{dev}{rounds}  {:.2} s", progress.seconds)
}

/// What there is to say of inference that goes in rounds.
fn rounds(convergence: Option<Convergence>) -> Option<String> {
    let convergence = convergence?;
    let mean = convergence.mean_iterations();
    match convergence.converged {
        0 => Some("none converged".to_owned()),
        converged if converged < convergence.answers => Some(format!(
            "{:.1} % converged in {mean:.1} rounds",
            100.0 * convergence.fraction()
        )),
        // What is exact takes one round, of which there is nothing to say.
        _ => (mean > 1.0).then(|| format!("converged in {mean:.1} rounds")),
    }
}

fn heading() -> String {
    format!(
        "{:>5} {:>16} {:>14} {:>11} {:>7} {:>9} {:>9}",
        "iter", "loss", "gradient norm", "active", "dev", "seconds", "memory"
    )
}

fn line(progress: &Progress) -> String {
    let iteration = &progress.iteration;
    let dev = progress
        .dev
        .map_or("-".to_owned(), |dev| format!("{:.2}", 100.0 * dev));
    let memory = memory::peak().map_or("-".to_owned(), memory::shown);
    // Trainers that learn from one sequence at a time have no gradient.
    let gradient = if iteration.gradient_norm.is_nan() {
        "-".to_owned()
    } else {
        decimal(iteration.gradient_norm, 6)
    };
    let rounds = rounds(progress.convergence)
        .map(|text| format!("  {text}"))
        .unwrap_or_default();
    format!(
        "{:5} {:>16} {gradient:>14} {:11} {dev:>7} {:9.3} {memory:>9}{rounds}",
        iteration.iteration,
        decimal(iteration.loss, 6),
        iteration.active,
        progress.seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_their_style() {
        for template in [BAR, SPINNER] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }

    #[test]
    fn rounds_are_told_where_there_are_any() {
        let told = |answers, converged, iterations| {
            rounds(Some(Convergence {
                answers,
                converged,
                iterations,
            }))
        };
        assert_eq!(rounds(None), None);
        // Exact.
        assert_eq!(told(4, 4, 4), None);
        assert_eq!(told(4, 4, 10).as_deref(), Some("converged in 2.5 rounds"));
        assert_eq!(told(4, 2, 12).as_deref(), Some("50.0 % converged in 6.0 rounds"));
        assert_eq!(told(4, 0, 0).as_deref(), Some("none converged"));
    }

    #[test]
    fn large_numbers_are_short() {
        assert_eq!(decimal(-12.5, 2), "-12.50");
        assert_eq!(decimal(999_999_999_999_999.0, 6), "999999999999999.000000");
        assert_eq!(decimal(-1.25e60, 6), "-1.250000e60");
        assert_eq!(decimal(f64::INFINITY, 2), "inf");
    }
}

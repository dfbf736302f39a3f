//! Sequences for which there is no answer, and why.

use super::answer::Answers;
use super::limits::Limits;
use crate::memory;
use fieldmark::chain::Tagger;
use fieldmark::chain::inference::{Constraints, Error};
use fieldmark::core::Instance;
use fieldmark::core::kernels::Dispatch;
use fieldmark::text::Part;

/// A sequence for which there is no answer.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// Its first line.
    pub line: u64,
    /// What is wrong.
    pub problem: String,
}

impl Trouble {
    pub fn new<T: Dispatch>(
        error: &Error,
        answers: &Answers<'_>,
        tagger: &mut Tagger<'_, T>,
        part: &Part,
        instance: Instance<'_>,
        constraints: &Constraints,
    ) -> Self {
        let start = instance.positions().start;
        let rule = match error {
            Error::Infeasible => answers.impossible_rule(tagger, instance, constraints),
            _ => None,
        };
        let place = |position| format!("in line {}", part.line_number(start + position));
        let wide = size_of::<T>() == size_of::<f64>();
        Self {
            line: part.line_number(start),
            problem: problem(error, answers.limits, rule, wide, place),
        }
    }
}

/// Why there is no answer. `rule` alone is to blame, if it is known; `wide` numbers have 64 bits; `place` names a position
/// of the sequence.
pub fn problem(
    error: &Error,
    limits: &Limits,
    rule: Option<String>,
    wide: bool,
    place: impl Fn(usize) -> String,
) -> String {
    match (error, rule) {
        (Error::NoSequence { position }, _) => {
            let mut options = limits.transitions.clone();
            options.extend(limits.fix_labels.then_some("--fix-labels"));
            let limits = match &options[..] {
                [] => "is possible in this model".to_owned(),
                options => format!("satisfies {}", options.join(" and ")),
            };
            format!(
                "no label sequence {limits}: no label is left {}",
                place(*position)
            )
        }
        (Error::Infeasible, Some(rule)) => format!("no label sequence satisfies the rule `{rule}`"),
        (Error::Infeasible, None) => {
            let rules: Vec<String> = limits.rules.iter().map(ToString::to_string).collect();
            let rules = rules.join("; ");
            match limits.rules.len() {
                1 => format!("no label sequence satisfies the rule `{rules}`"),
                _ => format!("no label sequence satisfies all of the rules `{rules}`"),
            }
        }
        (other, _) => match too_large(other) {
            Some(problem) if !wide => format!("{problem}. Compute with --precision f64, or check {WHERE}"),
            Some(problem) => format!("{problem}. Check {WHERE}"),
            None => other.to_string(),
        },
    }
}

/// Where scores come from.
pub const WHERE: &str = "the weights of the model and the values in the data";

/// That scores overflow, if they do.
pub fn too_large(error: &Error) -> Option<String> {
    let what = match error {
        Error::NotFinite {
            what: "arc scores", ..
        } => "the weights of a step between two labels add up to more than a number can hold".to_owned(),
        Error::NotFinite { .. } => {
            "the weights of a label at one position add up to more than a number can hold".to_owned()
        }
        Error::TooLarge { .. } => error.to_string(),
        _ => return None,
    };
    Some(format!("the scores are too large to compute with: {what}"))
}

/// What finding and writing one of several sequences takes for each of its positions, besides the text of
/// its line: entries of the search, copies of labels.
const BYTES_PER_LABEL: f64 = 120.0;
const BYTES_PER_SEQUENCE: f64 = 256.0;

/// Where the system does not tell how much memory there is.
const ASSUMED_MEMORY: u64 = 4 << 30;

/// Why the `most` best label sequences of an instance do not fit in memory, if they do not. `text` is the length of its
/// lines.
pub fn too_many(most: usize, labels: usize, length: usize, text: usize) -> Option<String> {
    let each = BYTES_PER_SEQUENCE + length as f64 * BYTES_PER_LABEL + 2.0 * text as f64;
    // There are no more than this.
    let all = (labels as f64).powf(length as f64);
    let needed = each * all.min(most as f64);
    // Every thread may have such a sequence in hand, and the results of another.
    let shares = 2 * rayon::current_num_threads() as u64;
    let free = memory::available().unwrap_or(ASSUMED_MEMORY) / shares;
    (needed > free as f64).then(|| {
        format!(
            "the {most} best label sequences of the {length} positions that start here take about {}, and {} are free \
             for each thread. Ask for at most --nbest {}",
            memory::shown(needed as u64),
            memory::shown(free),
            ((free as f64 / each) as u64).max(1),
        )
    })
}

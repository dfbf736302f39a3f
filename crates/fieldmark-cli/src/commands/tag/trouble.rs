//! Sequences for which there is no answer: why, and how many.

use super::answer::Answers;
use super::limits::Limits;
use super::tables::beginning;
use crate::console::Console;
use crate::failure::Failure;
use crate::memory;
use fieldmark::ImpossibleInstance;
use fieldmark::chain::Tagger;
use fieldmark::chain::inference::{Constraints, Error, Rule};
use fieldmark::core::Instance;
use fieldmark::core::kernels::Dispatch;
use fieldmark::text::Part;
use std::fmt;

/// A sequence for which there is no answer.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// Where it is: file, line and column, or a document.
    place: String,
    /// What it is called there.
    sequence: String,
    /// What is wrong.
    pub problem: String,
    /// Whether label sequences are possible and were not found.
    gave_up: bool,
}

impl Trouble {
    /// A sequence of the lines of a file.
    pub fn of_lines<T: Dispatch>(
        error: &Error,
        answers: &Answers<'_>,
        tagger: &mut Tagger<'_, T>,
        (file, part): (&str, &Part),
        instance: Instance<'_>,
        constraints: &Constraints,
    ) -> Self {
        let start = instance.positions().start;
        let rule = answers.impossible_rule(error, tagger, instance, constraints);
        let place = |position| format!("in line {}", part.line_number(start + position));
        let wide = size_of::<T>() == size_of::<f64>();
        Self {
            place: format!("{file}:{}:1", part.line_number(start)),
            sequence: "the sequence that starts here".to_owned(),
            problem: problem(error, answers.limits, rule, wide, place),
            gave_up: false,
        }
    }

    /// A sentence of a document.
    pub fn of_sentence(document: &str, text: &str, problem: String) -> Self {
        Self {
            place: document.to_owned(),
            sequence: sentence_name(text),
            problem,
            gave_up: false,
        }
    }

    /// An instance of a graph.
    pub fn of_instance(instance: &ImpossibleInstance) -> Self {
        Self {
            gave_up: !instance.is_ruled_out,
            ..Self::of_sentence(&instance.document, &instance.text, instance.problem.clone())
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: in {}, {}", self.place, self.sequence, self.problem)
    }
}

/// A sentence for messages.
pub fn sentence_name(text: &str) -> String {
    format!("the sentence \"{}\"", beginning(text))
}

/// At most this many sequences without an answer are named in warnings.
const NAMED: u64 = 10;

/// What went wrong with single sequences: the first are told at once, all are counted.
pub struct Tally<'a> {
    console: &'a Console,
    first: Option<Trouble>,
    troubles: u64,
    /// Whether label sequences are possible somewhere and were not found.
    gave_up: bool,
    /// At how many positions something was known.
    pub known: u64,
}

impl<'a> Tally<'a> {
    pub fn new(console: &'a Console) -> Self {
        Self {
            console,
            first: None,
            troubles: 0,
            gave_up: false,
            known: 0,
        }
    }

    pub fn add(&mut self, trouble: Trouble) {
        self.troubles += 1;
        self.gave_up |= trouble.gave_up;
        if self.troubles <= NAMED {
            self.console.warn(&trouble.to_string());
        }
        self.first.get_or_insert(trouble);
    }

    /// Whether every sequence has an answer. `input` is what labels may have been known in.
    pub fn finish(self, fix_labels: bool, input: &str) -> Result<(), Failure> {
        if let Some(unanswered) = self.unanswered() {
            return Err(Failure::user(format_args!(
                "{unanswered}, for the reasons above: `?` stands for their labels, and no span is marked there. All others are \
                 labelled"
            )));
        }
        if fix_labels && self.known == 0 {
            self.console.warn(&format!(
                "{input}: --fix-labels made no difference: every label in it is open or unknown to the model"
            ));
        }
        Ok(())
    }

    /// Whether every sequence has an explanation.
    pub fn finish_explained(self) -> Result<(), Failure> {
        match self.unanswered() {
            Some(unanswered) => Err(Failure::user(format_args!(
                "{unanswered}, for the reasons above. All others are explained"
            ))),
            None => Ok(()),
        }
    }

    /// Which sequences have no answer, if there are some.
    fn unanswered(&self) -> Option<String> {
        self.first.as_ref().map(|Trouble { place, sequence, .. }| {
            let others = match self.troubles {
                1 => " has".to_owned(),
                2 => " and one other have".to_owned(),
                count => format!(" and {} others have", count - 1),
            };
            let what = if self.gave_up { "labels" } else { "label sequence" };
            format!("{place}: {sequence}{others} no {what}")
        })
    }
}

/// Why there is no answer. `rule` alone is to blame, if it is known; `wide` numbers have 64 bits; `place` names a position
/// of the sequence.
pub fn problem(
    error: &Error,
    limits: &Limits,
    rule: Option<&Rule>,
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

//! Options that rule label sequences out: schemes, forbidden pairs, rules, labels that are known.

use crate::commands::eval::SchemeName;
use crate::failure::Failure;
use fieldmark::Model;
use fieldmark::chain::inference::{Constraints, Rule};
use fieldmark::core::{Alphabet, Gold, Instance, Scheme};

/// What label sequences may not be.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Constraints")]
pub struct LimitOptions {
    /// Forbid what is illegal in this scheme, such as I-X after O in IOB2
    #[arg(long, value_enum, value_name = "SCHEME")]
    scheme: Option<SchemeName>,

    /// Forbid label B after label A; `^:B` forbids it at the start, `A:$` at the end. May be repeated
    #[arg(long, value_name = "A:B")]
    forbid: Vec<String>,

    /// Rules on the spans of a sequence, separated by `;` or given one by one
    ///
    /// `at-most N TYPE`, `at-least N TYPE`, `exactly N TYPE`, `must TYPE`, `never TYPE`, `TYPE implies TYPE`.
    /// The best sequence under the rules is found by integer linear programming; probabilities are still
    /// those of the model without them.
    #[arg(long, value_name = "RULES")]
    rule: Vec<String>,

    /// Take the labels in the data as known: `?` is open, `A|B` is A or B
    #[arg(long)]
    fix_labels: bool,
}

/// [`LimitOptions`] over the labels of a model.
pub struct Limits {
    /// What holds for every sequence.
    pub constraints: Constraints,
    pub rules: Vec<Rule>,
    /// The scheme that spans are read in, if labels mark spans.
    pub scheme: Option<Scheme>,
    pub fix_labels: bool,
}

impl LimitOptions {
    /// Whether labels in the data count.
    pub fn fixes_labels(&self) -> bool {
        self.fix_labels
    }

    pub fn resolve(&self, model: &Model) -> Result<Limits, Failure> {
        let labels = model.chain.labels();
        let scheme = self.scheme.map(Scheme::from);
        let mut constraints = match scheme {
            Some(scheme) => Constraints::of_scheme(scheme, labels),
            None => Constraints::none(),
        };
        for pair in &self.forbid {
            forbid(pair, labels, &mut constraints)?;
        }
        let rules: Result<Vec<Vec<Rule>>, Failure> = self
            .rule
            .iter()
            .map(|text| {
                Rule::parse_all(text).map_err(|error| Failure::user(format_args!("--rule {text:?}: {error}")))
            })
            .collect();
        Ok(Limits {
            constraints,
            rules: rules?.concat(),
            scheme: scheme.or_else(|| Scheme::detect(labels.iter())),
            fix_labels: self.fix_labels,
        })
    }
}

/// Labels may hold colons, so every one of them is tried as the border.
fn forbid(pair: &str, labels: &Alphabet, constraints: &mut Constraints) -> Result<(), Failure> {
    for (at, _) in pair.match_indices(':') {
        let (from, to) = (&pair[..at], &pair[at + 1..]);
        match (labels.get(from), labels.get(to)) {
            (Some(from), Some(to)) => constraints.forbid_pair(from, to),
            (None, Some(to)) if from == "^" => constraints.forbid_first(to),
            (Some(from), None) if to == "$" => constraints.forbid_last(from),
            _ => continue,
        };
        return Ok(());
    }
    let known: Vec<&str> = labels.iter().collect();
    Err(Failure::user(format_args!(
        "--forbid {pair}: expected two labels of the model with a colon between them; it has {}",
        known.join(", ")
    )))
}

impl Limits {
    /// Whether anything is ruled out.
    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty() && self.rules.is_empty() && !self.fix_labels
    }

    /// Puts what is known of an instance into `constraints`.
    pub fn apply(&self, instance: Instance<'_>, constraints: &mut Constraints) {
        if !self.fix_labels {
            return;
        }
        constraints.clear_positions();
        for position in 0..instance.len() {
            match instance.gold(position) {
                Gold::Known(label) => {
                    constraints.fix(position, label);
                }
                Gold::Ambiguous(set) => {
                    constraints.allow(position, set.iter().copied());
                }
                Gold::Unknown => {}
            }
        }
    }
}

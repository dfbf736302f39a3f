//! Options that rule label sequences out: schemes, forbidden pairs, rules, labels that are known.

use crate::console::Console;
use crate::failure::Failure;
use fieldmark::chain::inference::{Constraints, Rule};
use fieldmark::config::SchemeName;
use fieldmark::core::scheme::{Prefix, Tag};
use fieldmark::core::{Alphabet, Gold, Instance, Scheme};

/// What label sequences may not be.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Constraints")]
pub struct LimitOptions {
    /// Forbid what is illegal in this scheme, such as I-X after O in IOB2
    ///
    /// The labels of the model must be of this scheme.
    #[arg(long, value_enum, value_name = "SCHEME")]
    scheme: Option<SchemeName>,

    /// Forbid label B after label A; `^:B` forbids it at the start, `A:$` at the end. May be repeated
    #[arg(long, value_name = "A:B", allow_hyphen_values = true)]
    forbid: Vec<String>,

    /// Rules on the spans of a sequence, separated by `;` or given one by one
    ///
    /// `at-most N TYPE`, `at-least N TYPE`, `exactly N TYPE`, `must TYPE`, `never TYPE`, `TYPE implies TYPE`.
    /// The best sequence under the rules is found by integer linear programming; probabilities are still
    /// those of the model without them.
    #[arg(long, value_name = "RULES")]
    rule: Vec<String>,

    /// Take the labels in the data as known: `?` is open, `A|B` is A or B
    ///
    /// A model that reads text takes the annotations of its input as known spans and looks for more around them; in
    /// columns with open labels (`?`, `A|B`), all other labels are known, `O`, too.
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
    /// The options that rule out transitions, for messages.
    pub transitions: Vec<&'static str>,
}

impl LimitOptions {
    /// Whether any option was given.
    pub fn given(&self) -> bool {
        self.given_name().is_some()
    }

    /// The first of the options that were given, by name.
    pub fn given_name(&self) -> Option<&'static str> {
        let given = [
            ("scheme", self.scheme.is_some()),
            ("forbid", !self.forbid.is_empty()),
            ("rule", !self.rule.is_empty()),
            ("fix-labels", self.fix_labels),
        ];
        given.iter().find(|(_, given)| *given).map(|(name, _)| *name)
    }

    /// Whether labels in the data count.
    pub fn fixes_labels(&self) -> bool {
        self.fix_labels
    }

    /// The limits of a model of observations, or of one that labels tokens.
    pub fn resolve(&self, labels: &Alphabet, console: &Console) -> Result<Limits, Failure> {
        let scheme = self.scheme.map(Scheme::from);
        let mut constraints = Constraints::none();
        if let Some(scheme) = scheme {
            check_scheme(scheme, labels, console)?;
            constraints = Constraints::of_scheme(scheme, labels);
        }
        let read = scheme.or_else(|| Scheme::detect(labels.iter()));
        self.over(labels, constraints, read)
    }

    /// The limits of a model that marks spans, whose labels are always of its own scheme.
    pub fn resolve_spans(&self, labels: &Alphabet, own: Scheme) -> Result<Limits, Failure> {
        match self.scheme.map(Scheme::from).filter(|scheme| *scheme != own) {
            Some(other) => Err(Failure::user(format_args!(
                "--scheme {other} does not fit this model: its labels are of the scheme {own}, which holds without the \
                 option"
            ))),
            None => self.over(labels, Constraints::of_scheme(own, labels), Some(own)),
        }
    }

    /// The limits beyond those of a scheme, in which spans are read.
    fn over(
        &self,
        labels: &Alphabet,
        mut constraints: Constraints,
        scheme: Option<Scheme>,
    ) -> Result<Limits, Failure> {
        for pair in &self.forbid {
            forbid(pair, labels, &mut constraints)?;
        }
        let rules: Result<Vec<Vec<Rule>>, Failure> = self.rule.iter().map(|text| parse_rules(text)).collect();
        let transitions = [
            ("--scheme", self.scheme.is_some()),
            ("--forbid", !self.forbid.is_empty()),
        ];
        Ok(Limits {
            constraints,
            rules: rules?.concat(),
            scheme,
            fix_labels: self.fix_labels,
            transitions: transitions
                .iter()
                .filter(|used| used.1)
                .map(|used| used.0)
                .collect(),
        })
    }
}

fn parse_rules(text: &str) -> Result<Vec<Rule>, Failure> {
    let fail = |problem: &dyn std::fmt::Display| Failure::user(format_args!("--rule {text:?}: {problem}"));
    let rules = Rule::parse_all(text).map_err(|error| fail(&error))?;
    if rules.is_empty() {
        return Err(fail(
            &"there is no rule in it. Write, for example, `at-most 1 PER`",
        ));
    }
    Ok(rules)
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

/// A scheme to which the labels of the model do not belong is a mistake. A stray label that no legal sequence
/// holds may be noise in the training data; that is what the scheme is to rule out.
fn check_scheme(scheme: Scheme, labels: &Alphabet, console: &Console) -> Result<(), Failure> {
    let refuse = |problem: String| {
        let advice = match Scheme::detect(labels.iter()) {
            Some(detected) => format!("The labels look like {detected}"),
            None => "Leave the option out".to_owned(),
        };
        Err(Failure::user(format_args!(
            "--scheme {scheme} does not fit the labels of this model: {problem}. {advice}"
        )))
    };
    let marks = |&label: &&str| Tag::parse(label).kind().is_some();
    let parts: Vec<&str> = labels.iter().filter(marks).collect();
    if parts.is_empty() {
        return refuse("none of them marks a span".to_owned());
    }
    let known =
        |label: &&&str| matches!(Tag::parse(label), Tag::Part(prefix, _) if has_prefix(scheme, prefix));
    if let Some(foreign) = parts.iter().find(|label| !known(label)) {
        return refuse(format!("{scheme} has no labels such as {foreign}"));
    }
    let impossible = impossible(scheme, labels);
    if impossible.len() == parts.len() {
        return refuse("no legal sequence holds any of those that mark spans".to_owned());
    }
    if !impossible.is_empty() {
        console.warn(&format!(
            "--scheme {scheme} rules out these labels of the model altogether: {}",
            impossible.join(", ")
        ));
    }
    Ok(())
}

fn has_prefix(scheme: Scheme, prefix: Prefix) -> bool {
    match scheme {
        Scheme::Io => prefix == Prefix::Inside,
        Scheme::Iob1 | Scheme::Iob2 => matches!(prefix, Prefix::Begin | Prefix::Inside),
        Scheme::Iobes => true,
    }
}

/// The labels that occur in no legal sequence.
fn impossible(scheme: Scheme, labels: &Alphabet) -> Vec<&str> {
    let tags: Vec<Tag<'_>> = labels.iter().map(Tag::parse).collect();
    let reachable = |allows: &dyn Fn(Option<Tag<'_>>, Tag<'_>) -> bool| {
        let mut reached: Vec<bool> = tags.iter().map(|&tag| allows(None, tag)).collect();
        let mut waiting: Vec<usize> = (0..tags.len()).filter(|&label| reached[label]).collect();
        while let Some(from) = waiting.pop() {
            for to in 0..tags.len() {
                if !reached[to] && allows(Some(tags[from]), tags[to]) {
                    reached[to] = true;
                    waiting.push(to);
                }
            }
        }
        reached
    };
    let from_start = reachable(&|before, tag| scheme.allows_tags(before, Some(tag)));
    let from_end = reachable(&|after, tag| scheme.allows_tags(Some(tag), after));
    let both = from_start.into_iter().zip(from_end);
    let names = labels.iter().zip(both);
    names
        .filter(|(_, (start, end))| !(*start && *end))
        .map(|(name, _)| name)
        .collect()
}

impl Limits {
    /// Whether anything is ruled out.
    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty() && self.rules.is_empty() && !self.fix_labels
    }

    /// Puts what is known of an instance into `constraints`; at how many positions something is known.
    pub fn apply(&self, instance: Instance<'_>, constraints: &mut Constraints) -> u64 {
        if !self.fix_labels {
            return 0;
        }
        constraints.clear_positions();
        allow_gold(instance, constraints)
    }
}

/// Allows only the gold labels of an instance; at how many positions something is known.
pub fn allow_gold(instance: Instance<'_>, constraints: &mut Constraints) -> u64 {
    let mut known = 0;
    for position in 0..instance.len() {
        match instance.gold(position) {
            Gold::Known(label) => constraints.fix(position, label),
            Gold::Ambiguous(set) => constraints.allow(position, set.iter().copied()),
            Gold::Unknown => continue,
        };
        known += 1;
    }
    known
}

//! [`Rule`]: a Boolean constraint on the spans of a whole sequence, and its text form.

use std::fmt;
use std::str::FromStr;

/// A condition on how many spans of a type a sequence has.
///
/// | text | meaning |
/// |---|---|
/// | `at-most 2 PER` | no more than two spans of type `PER` |
/// | `at-least 1 PER` | one or more |
/// | `exactly 3 PER` | three |
/// | `must PER` | the same as `at-least 1 PER` |
/// | `never PER` | the same as `at-most 0 PER` |
/// | `PER implies LOC` | a sequence with a span of type `PER` has one of type `LOC` as well |
///
/// ```
/// use fieldmark_chain::inference::Rule;
/// let rule: Rule = "DOSE implies DRUG".parse()?;
/// assert_eq!(rule, Rule::Implies("DOSE".into(), "DRUG".into()));
/// let error = "at-most two DRUG".parse::<Rule>().unwrap_err();
/// assert_eq!(error.to_string(), "line 1, column 9: expected a number of spans, found \"two\"");
/// # Ok::<(), fieldmark_chain::inference::RuleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// No more than so many spans of the type.
    AtMost(usize, String),
    /// No fewer than so many spans of the type.
    AtLeast(usize, String),
    /// So many spans of the type.
    Exactly(usize, String),
    /// If there is a span of the first type, there is one of the second.
    Implies(String, String),
}

/// Why a text is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
pub struct RuleError {
    line: usize,
    column: usize,
    expected: &'static str,
    found: String,
}

impl RuleError {
    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The character in the line, counted from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

const FORMS: &str = "`at-most N TYPE`, `at-least N TYPE`, `exactly N TYPE`, `must TYPE`, `never TYPE` or \
                     `TYPE implies TYPE`";

impl Rule {
    /// Reads rules that are separated by line ends or semicolons. What follows `#` in a line is a comment.
    pub fn parse_all(text: &str) -> Result<Vec<Rule>, RuleError> {
        let mut rules = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let code = line.split('#').next().unwrap_or_default();
            let mut column = 1;
            for part in code.split(';') {
                if !part.trim().is_empty() {
                    rules.push(Words::new(part, index + 1, column).rule()?);
                }
                column += part.chars().count() + 1;
            }
        }
        Ok(rules)
    }

    /// The types that the rule speaks of.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        let (first, second) = match self {
            Rule::AtMost(_, kind) | Rule::AtLeast(_, kind) | Rule::Exactly(_, kind) => (kind, None),
            Rule::Implies(premise, conclusion) => (premise, Some(conclusion)),
        };
        [Some(first), second].into_iter().flatten().map(String::as_str)
    }

    /// Whether the rule holds for a sequence with so many spans of each type.
    pub fn holds(&self, count: impl Fn(&str) -> usize) -> bool {
        match self {
            Rule::AtMost(bound, kind) => count(kind) <= *bound,
            Rule::AtLeast(bound, kind) => count(kind) >= *bound,
            Rule::Exactly(number, kind) => count(kind) == *number,
            Rule::Implies(premise, conclusion) => count(premise) == 0 || count(conclusion) > 0,
        }
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        Words::new(text, 1, 1).rule()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::AtMost(bound, kind) => write!(f, "at-most {bound} {kind}"),
            Rule::AtLeast(bound, kind) => write!(f, "at-least {bound} {kind}"),
            Rule::Exactly(number, kind) => write!(f, "exactly {number} {kind}"),
            Rule::Implies(premise, conclusion) => write!(f, "{premise} implies {conclusion}"),
        }
    }
}

/// The words of one rule with their columns.
struct Words<'a> {
    words: Vec<(usize, &'a str)>,
    line: usize,
    end: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str, line: usize, column: usize) -> Self {
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            let offset = word.as_ptr() as usize - text.as_ptr() as usize;
            words.push((column + text[..offset].chars().count(), word));
        }
        let end = column + text.trim_end().chars().count();
        Self { words, line, end }
    }

    fn rule(&self) -> Result<Rule, RuleError> {
        let implication = self.words.get(1).is_some_and(|(_, word)| *word == "implies");
        let head = self.words.first().map(|(_, word)| *word);
        let (rule, length) = match head {
            Some(premise) if implication => (Rule::Implies(premise.into(), self.kind(2)?), 3),
            Some("at-most") => (Rule::AtMost(self.number(1)?, self.kind(2)?), 3),
            Some("at-least") => (Rule::AtLeast(self.number(1)?, self.kind(2)?), 3),
            Some("exactly") => (Rule::Exactly(self.number(1)?, self.kind(2)?), 3),
            Some("must") => (Rule::AtLeast(1, self.kind(1)?), 2),
            Some("never") => (Rule::AtMost(0, self.kind(1)?), 2),
            _ => return Err(self.error(0, FORMS)),
        };
        if self.words.len() > length {
            return Err(self.error(length, "the end of the rule"));
        }
        Ok(rule)
    }

    fn kind(&self, index: usize) -> Result<String, RuleError> {
        let word = self
            .words
            .get(index)
            .ok_or_else(|| self.error(index, "a type of span"))?;
        Ok(word.1.to_owned())
    }

    fn number(&self, index: usize) -> Result<usize, RuleError> {
        let word = self.words.get(index).and_then(|(_, word)| word.parse().ok());
        word.ok_or_else(|| self.error(index, "a number of spans"))
    }

    fn error(&self, index: usize, expected: &'static str) -> RuleError {
        let (column, found) = match self.words.get(index) {
            Some((column, word)) => (*column, format!("{word:?}")),
            None => (self.end, "nothing more".to_owned()),
        };
        RuleError {
            line: self.line,
            column,
            expected,
            found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_written() {
        let text = "at-most 1 PER; must DRUG # a comment; with more\n\n  never DOSE ;PER implies LOC\n";
        let rules = Rule::parse_all(text).unwrap();
        let written: Vec<String> = rules.iter().map(Rule::to_string).collect();
        assert_eq!(
            written,
            [
                "at-most 1 PER",
                "at-least 1 DRUG",
                "at-most 0 DOSE",
                "PER implies LOC"
            ]
        );
        let again: Vec<Rule> = written.iter().map(|rule| rule.parse().unwrap()).collect();
        assert_eq!(again, rules);
        assert_eq!(
            "must implies never".parse(),
            Ok(Rule::Implies("must".into(), "never".into()))
        );
    }

    #[test]
    fn errors_name_the_place() {
        let error = Rule::parse_all("must A\nmust é; at-least B").unwrap_err();
        assert_eq!((error.line(), error.column()), (2, 18));
        let error = Rule::parse_all("must A B").unwrap_err();
        assert_eq!((error.line(), error.column()), (1, 8));
        let error = "at-most 3".parse::<Rule>().unwrap_err();
        assert_eq!((error.line(), error.column()), (1, 10));
        let error = "at-most -3 X".parse::<Rule>().unwrap_err();
        assert_eq!(error.column(), 9);
        let error = "  sometimes X".parse::<Rule>().unwrap_err();
        assert_eq!(error.column(), 3);
        assert!("".parse::<Rule>().is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([a-z;# \n-]|must |at-most |implies |[0-9]|é){0,12}") {
            match Rule::parse_all(&text) {
                Ok(rules) => {
                    let written: Vec<String> = rules.iter().map(Rule::to_string).collect();
                    proptest::prop_assert_eq!(Rule::parse_all(&written.join("\n")), Ok(rules));
                }
                Err(error) => {
                    let line = text.lines().nth(error.line() - 1).unwrap();
                    proptest::prop_assert!(error.column() <= line.chars().count() + 1);
                }
            }
        }
    }
}

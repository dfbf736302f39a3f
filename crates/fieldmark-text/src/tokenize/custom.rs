//! [`Expressions`]: a tokenizer as a list of regular expressions.

use super::clusters::Clusters;
use super::scan::Output;
use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_syntax::hir::Hir;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Regular expressions that say what a token is, checked and compiled.
///
/// From left to right, what an expression matches is a token; where several match at the same place, the
/// first of the list does. What no expression matches becomes one token per character, so nothing of a text
/// is lost. White space inside of a match cuts it, and a match that ends inside of a grapheme cluster takes the
/// rest of the cluster.
///
/// The syntax is that of the crate [`regex`]; look-around is not supported, and time is linear in practice.
///
/// ```
/// use fieldmark_text::tokenize::{Expressions, Tokenizer, TokenizerProfile};
/// let list = Expressions::new(["rs[0-9]+", "[0-9]+", r"\p{L}+"])?;
/// let tokenizer = Tokenizer::new(TokenizerProfile::Custom(list));
/// let text = "SNP rs334 (A1627G)";
/// let words: Vec<_> = tokenizer.tokenize(text).iter().map(|token| token.text(text)).collect();
/// assert_eq!(words, ["SNP", "rs334", "(", "A", "1627", "G", ")"]);
/// # Ok::<(), fieldmark_text::tokenize::ExpressionError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Expressions {
    patterns: Vec<String>,
    regex: Regex,
}

/// Memory that a compiled list may take, in bytes.
const SIZE_LIMIT: usize = 10 << 20;

impl Expressions {
    /// Checks and compiles expressions. An empty list cuts between all characters.
    ///
    /// An expression that can match without a character is an error: it would hide those after it.
    pub fn new<P: Into<String>>(patterns: impl IntoIterator<Item = P>) -> Result<Self, ExpressionError> {
        let patterns: Vec<String> = patterns.into_iter().map(P::into).collect();
        let mut parsed = Vec::with_capacity(patterns.len());
        for (index, pattern) in patterns.iter().enumerate() {
            parsed.push(parse(pattern).map_err(|problem| ExpressionError {
                number: index + 1,
                pattern: pattern.clone(),
                problem,
            })?);
        }
        let mut builder = Regex::builder();
        builder.configure(Regex::config().nfa_size_limit(Some(SIZE_LIMIT)));
        match builder.build_many_from_hir(&parsed) {
            Ok(regex) => Ok(Self { patterns, regex }),
            Err(error) => Err(ExpressionError {
                number: patterns.len(),
                problem: format!("makes the list too large to compile: {error}"),
                pattern: patterns.last().cloned().unwrap_or_default(),
            }),
        }
    }

    /// The expressions as they were given.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    pub(super) fn scan(&self, text: &str, output: &mut Output<'_>) {
        let clusters = Clusters::new(text);
        let mut at = 0;
        while let Some(found) = self.regex.find(Input::new(text).range(at..)) {
            at = one_by_one(text, at, found.start(), output);
            // Otherwise the match begins inside of a cluster that is a token now.
            if at == found.start() {
                at = matched(clusters, text, at, found.end(), output);
            }
        }
        one_by_one(text, at, text.len(), output);
    }
}

/// One token per cluster, up to the first border of clusters that is not before `until`.
fn one_by_one(text: &str, mut at: usize, until: usize, output: &mut Output<'_>) -> usize {
    while at < until {
        at = match Clusters::new(text).get(at) {
            Some(cluster) => {
                output.push(at, cluster.end);
                cluster.end
            }
            None => at + white_space_len(&text[at..]),
        };
    }
    at
}

/// What was matched as one token, or as several if there is white space in it.
fn matched(
    clusters: Clusters<'_>,
    text: &str,
    mut at: usize,
    until: usize,
    output: &mut Output<'_>,
) -> usize {
    let mut start = at;
    while at < until {
        match clusters.get(at) {
            Some(cluster) => at = cluster.end,
            None => {
                output.push(start, at);
                at += white_space_len(&text[at..]);
                start = at;
            }
        }
    }
    output.push(start, at);
    at
}

fn white_space_len(rest: &str) -> usize {
    rest.chars().next().map_or(0, char::len_utf8)
}

fn parse(pattern: &str) -> Result<Hir, String> {
    let parsed =
        regex_syntax::parse(pattern).map_err(|error| format!("is no regular expression: {error}"))?;
    match parsed.properties().minimum_len() {
        Some(0) => Err("can match nothing at all; a token has at least one character".to_owned()),
        _ => Ok(parsed),
    }
}

/// Two lists are the same if their expressions are.
impl PartialEq for Expressions {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns
    }
}

impl Eq for Expressions {}

impl TryFrom<Vec<String>> for Expressions {
    type Error = ExpressionError;

    fn try_from(patterns: Vec<String>) -> Result<Self, ExpressionError> {
        Self::new(patterns)
    }
}

impl From<Expressions> for Vec<String> {
    fn from(list: Expressions) -> Self {
        list.patterns
    }
}

/// An expression that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expression {number} `{pattern}` {problem}")]
pub struct ExpressionError {
    number: usize,
    pattern: String,
    problem: String,
}

#[cfg(test)]
mod tests {
    use crate::tokenize::{Expressions, Tokenizer, TokenizerProfile};

    fn words<'a>(patterns: &[&str], text: &'a str) -> Vec<&'a str> {
        let list = Expressions::new(patterns.iter().copied()).unwrap();
        let tokens = Tokenizer::new(TokenizerProfile::Custom(list)).tokenize(text);
        tokens.iter().map(|token| token.text(text)).collect()
    }

    #[test]
    fn the_first_of_the_list_wins() {
        assert_eq!(words(&["a", "ab"], "ab"), ["a", "b"]);
        assert_eq!(words(&["ab", "a"], "ab"), ["ab"]);
    }

    #[test]
    fn nothing_is_lost() {
        assert_eq!(words(&["[0-9]+"], "a12, b"), ["a", "12", ",", "b"]);
        assert_eq!(words(&[], "ab c"), ["a", "b", "c"]);
        assert_eq!(words(&[r"[a&&b]"], "ab"), ["a", "b"]);
    }

    #[test]
    fn comments_of_an_expression_end_with_it() {
        assert_eq!(words(&["(?x) ab # two letters", "cd"], "abcd"), ["ab", "cd"]);
    }

    #[test]
    fn white_space_cuts_a_match() {
        assert_eq!(words(&["new york", r"\s+x"], "new york  x"), ["new", "york", "x"]);
    }

    #[test]
    fn clusters_stay_whole() {
        assert_eq!(words(&["e"], "e\u{301}e"), ["e\u{301}", "e"]);
        assert_eq!(words(&["\u{301}e"], "e\u{301}e"), ["e\u{301}", "e"]);
        assert_eq!(words(&["👧"], "👩‍👩‍👧👧"), ["👩‍👩‍👧", "👧"]);
    }

    #[test]
    fn chinese_by_character() {
        assert_eq!(
            words(&[r"\p{Han}", r"\p{L}+"], "基因BRCA1"),
            ["基", "因", "BRCA", "1"]
        );
    }

    #[test]
    fn expressions_are_checked() {
        let error = |pattern| Expressions::new(["x", pattern]).unwrap_err().to_string();
        assert!(error("(").starts_with("expression 2 `(` is no regular expression: "));
        assert!(error("a*").starts_with("expression 2 `a*` can match nothing"));
        assert!(error(r"\b").starts_with(r"expression 2 `\b` can match nothing"));
        assert!(error(r"(?:\w{200}){200}").contains("too large to compile"));
    }
}

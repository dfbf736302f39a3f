//! [`PolarityLexicon`]: words that speak for or against something.

use super::lines::{Problem, for_each_line, is_comment};
use crate::error::{ReadError, shown};
use crate::source::Source;
use fieldmark_core::Alphabet;
use serde::{Deserialize, Serialize};

/// Words with a value that is above 0 for good ones and below 0 for bad ones, in any letter case.
///
/// A line of its file is `word<TAB>value`, with a number or `positive`, `negative` or `neutral` (1, -1 and 0) as
/// value; `#` begins a comment. A word that comes again has to have the same value.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::dictionaries::{Polarity, PolarityLexicon};
/// let lexicon = PolarityLexicon::read(&Source::text("words.tsv", "nice\tpositive\ndirty\t-0.75\n"))?;
/// assert_eq!(lexicon.polarity("Nice"), Some(Polarity::Positive));
/// assert_eq!(lexicon.value("dirty"), Some(-0.75));
/// assert_eq!(lexicon.value("hotel"), None);
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PolarityLexicon {
    words: Alphabet,
    values: Vec<f64>,
}

/// Which way a word speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Polarity {
    /// For it.
    Positive,
    /// Against it.
    Negative,
    /// Neither.
    Neutral,
}

impl Polarity {
    /// `positive`, `negative` or `neutral`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Negative => "negative",
            Self::Neutral => "neutral",
        }
    }

    /// That of a value: its sign.
    pub fn of(value: f64) -> Self {
        if value > 0.0 {
            Self::Positive
        } else if value < 0.0 {
            Self::Negative
        } else {
            Self::Neutral
        }
    }
}

impl PolarityLexicon {
    /// Reads a file.
    pub fn read(source: &Source) -> Result<Self, ReadError> {
        let mut lexicon = Self::default();
        let mut lines = Vec::new();
        for_each_line(source, |number, line| lexicon.add(line, number, &mut lines))?;
        Ok(lexicon)
    }

    /// Adds the word of a line; `lines` knows where each word stood first.
    fn add(&mut self, line: &str, number: u64, lines: &mut Vec<u64>) -> Result<(), Problem> {
        if is_comment(line) {
            return Ok(());
        }
        let (word, value) = match line.split_once('\t') {
            Some((word, value)) if !word.trim().is_empty() => (word.trim(), value),
            _ => return Err(Problem::line(line, "`word<TAB>value`")),
        };
        let Some(parsed) = parse_value(value.trim()) else {
            let message = format!(
                "the value of `{}` is `{}`, expected a finite number, `positive`, `negative` or `neutral`",
                shown(word),
                shown(value)
            );
            return Err(Problem::new(line.len() - value.len(), message));
        };
        let id = self.words.intern(&word.to_lowercase()) as usize;
        match self.values.get(id) {
            None => {
                self.values.push(parsed);
                lines.push(number);
                Ok(())
            }
            Some(&before) if before == parsed => Ok(()),
            Some(before) => {
                let message = format!(
                    "`{}` has the value {parsed} here, but {before} in line {}",
                    shown(word),
                    lines[id]
                );
                Err(Problem::new(0, message))
            }
        }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value of a word.
    pub fn value(&self, word: &str) -> Option<f64> {
        let id = if word.contains(char::is_uppercase) {
            self.words.get(&word.to_lowercase())
        } else {
            self.words.get(word)
        };
        id.map(|id| self.values[id as usize])
    }

    /// Which way a word speaks.
    pub fn polarity(&self, word: &str) -> Option<Polarity> {
        self.value(word).map(Polarity::of)
    }

    /// All words in small letters, with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.words.iter().zip(self.values.iter().copied())
    }
}

fn parse_value(value: &str) -> Option<f64> {
    match value {
        "positive" => Some(1.0),
        "negative" => Some(-1.0),
        "neutral" => Some(0.0),
        _ => value.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}

impl PartialEq for PolarityLexicon {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl std::fmt::Debug for PolarityLexicon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl From<PolarityLexicon> for String {
    fn from(lexicon: PolarityLexicon) -> Self {
        let line = |(word, value): (&str, f64)| format!("{word}\t{value}\n");
        lexicon.iter().map(line).collect()
    }
}

impl TryFrom<String> for PolarityLexicon {
    type Error = ReadError;

    fn try_from(lines: String) -> Result<Self, ReadError> {
        Self::read(&Source::text("polarity lexicon", lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PolarityLexicon, ReadError> {
        PolarityLexicon::read(&Source::text("words.tsv", text))
    }

    #[test]
    fn names_and_numbers_say_the_same() {
        let lexicon = read("# words\ngood\tpositive\nOK\t0\nbad\t -1.5 \r\nGOOD\t1\n").unwrap();
        assert_eq!(lexicon.len(), 3);
        assert_eq!(lexicon.polarity("good"), Some(Polarity::Positive));
        assert_eq!(lexicon.polarity("ok"), Some(Polarity::Neutral));
        assert_eq!(lexicon.polarity("BAD"), Some(Polarity::Negative));
        assert_eq!(lexicon.polarity("badly"), None);
        let json = serde_json::to_string(&lexicon).unwrap();
        assert_eq!(serde_json::from_str::<PolarityLexicon>(&json).unwrap(), lexicon);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, expected) in [
            ("good\n", "words.tsv:1:1: found `good`, expected `word<TAB>value`"),
            ("\t1\n", "words.tsv:1:1: found `\\t1`, expected"),
            (
                "a\t1\ngood\tvery\n",
                "words.tsv:2:6: the value of `good` is `very`, expected",
            ),
            ("good\tNaN\n", "words.tsv:1:6: the value of `good` is `NaN`"),
            ("good\t1\t2\n", "words.tsv:1:6: the value of `good` is `1\\t2`"),
            (
                "a\t1\n\nA\t2\n",
                "words.tsv:3:1: `A` has the value 2 here, but 1 in line 1",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}

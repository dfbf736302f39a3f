//! [`WordClasses`]: words in classes, such as the clusters of Brown et al. (1992).

use super::lines::{Problem, for_each_line};
use crate::error::{ReadError, shown};
use crate::source::Source;
use fieldmark_core::Alphabet;
use serde::{Deserialize, Serialize};

/// How a file of [`WordClasses`] is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClassFormat {
    /// `pairs`: `word<TAB>class`. A line that starts with `#` and has no tab is a comment.
    #[default]
    Pairs,
    /// `brown`: `bits<TAB>word<TAB>count`, the `paths` file of Brown clustering. The count may be missing.
    Brown,
}

/// A class for each word of a list. It never changes, and threads can share it.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::dictionaries::{ClassFormat, WordClasses};
/// let source = Source::text("paths", "0010\tlung\t31\n0011\tliver\t12\n110\tnormal\t80\n");
/// let clusters = WordClasses::read(&source, ClassFormat::Brown)?;
/// assert_eq!(clusters.class("lung"), Some("0010"));
/// assert_eq!(clusters.prefix("liver", 3), clusters.prefix("lung", 3));
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WordClasses {
    words: Alphabet,
    classes: Alphabet,
    class_of: Vec<u32>,
}

impl WordClasses {
    /// Reads a file. A word that comes again has to be in the same class.
    pub fn read(source: &Source, format: ClassFormat) -> Result<Self, ReadError> {
        let mut classes = Self::default();
        let mut lines = Vec::new();
        for_each_line(source, |number, line| {
            let entry = match format {
                ClassFormat::Pairs => pair(line)?,
                ClassFormat::Brown => path(line)?,
            };
            match entry {
                Some((word, class)) => classes.add(word, class, number, &mut lines),
                None => Ok(()),
            }
        })?;
        Ok(classes)
    }

    /// Adds a word; `lines` knows where each word stood first.
    fn add(&mut self, word: &str, class: &str, number: u64, lines: &mut Vec<u64>) -> Result<(), Problem> {
        let class = self.classes.intern(class);
        let id = self.words.intern(word) as usize;
        match self.class_of.get(id) {
            None => {
                self.class_of.push(class);
                lines.push(number);
                Ok(())
            }
            Some(&before) if before == class => Ok(()),
            Some(&before) => {
                let message = format!(
                    "`{}` is in class `{}` here, but in `{}` in line {}",
                    shown(word),
                    shown(self.classes.name(class)),
                    shown(self.classes.name(before)),
                    lines[id]
                );
                Err(Problem::new(0, message))
            }
        }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.class_of.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.class_of.is_empty()
    }

    /// The class of a word as it is written or, if that has none, of the word in small letters.
    pub fn class(&self, word: &str) -> Option<&str> {
        let small = || match word.contains(char::is_uppercase) {
            true => self.words.get(&word.to_lowercase()),
            false => None,
        };
        let word = self.words.get(word).or_else(small)?;
        Some(self.classes.name(self.class_of[word as usize]))
    }

    /// At most `length` characters of the class of a word: a larger cluster, of Brown clusters.
    pub fn prefix(&self, word: &str, length: usize) -> Option<&str> {
        let class = self.class(word)?;
        let end = class.char_indices().nth(length).map_or(class.len(), |(at, _)| at);
        Some(&class[..end])
    }

    /// All words with their classes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let classes = self.class_of.iter().map(|&class| self.classes.name(class));
        self.words.iter().zip(classes)
    }
}

fn pair(line: &str) -> Result<Option<(&str, &str)>, Problem> {
    let Some((word, class)) = line.split_once('\t') else {
        return match line.starts_with('#') || line.trim().is_empty() {
            true => Ok(None),
            false => Err(Problem::line(line, "`word<TAB>class`")),
        };
    };
    if word.is_empty() || class.trim().is_empty() || class.contains('\t') {
        return Err(Problem::line(line, "`word<TAB>class`"));
    }
    Ok(Some((word, class.trim())))
}

fn path(line: &str) -> Result<Option<(&str, &str)>, Problem> {
    if line.is_empty() {
        return Ok(None);
    }
    let mut parts = line.split('\t');
    let (bits, word, count) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let word = match (word, parts.next()) {
        (Some(word), None) if !word.is_empty() => word,
        _ => return Err(Problem::line(line, "`bits<TAB>word<TAB>count`")),
    };
    if bits.is_empty() || !bits.bytes().all(|bit| matches!(bit, b'0' | b'1')) {
        let message = format!(
            "found `{}`, expected the bits of a path, such as `00101`",
            shown(bits)
        );
        return Err(Problem::new(0, message));
    }
    if let Some(count) = count.filter(|count| count.trim().parse::<u64>().is_err()) {
        let message = format!(
            "the count of `{}` is `{}`, expected a number",
            shown(word),
            shown(count)
        );
        return Err(Problem::new(line.len() - count.len(), message));
    }
    Ok(Some((word, bits)))
}

impl PartialEq for WordClasses {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for WordClasses {}

impl std::fmt::Debug for WordClasses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WordClasses")
            .field("words", &self.len())
            .field("classes", &self.classes.len())
            .finish_non_exhaustive()
    }
}

impl From<WordClasses> for String {
    fn from(classes: WordClasses) -> Self {
        let line = |(word, class): (&str, &str)| format!("{word}\t{class}\n");
        classes.iter().map(line).collect()
    }
}

impl TryFrom<String> for WordClasses {
    type Error = ReadError;

    fn try_from(lines: String) -> Result<Self, ReadError> {
        Self::read(&Source::text("word classes", lines), ClassFormat::Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, format: ClassFormat) -> Result<WordClasses, ReadError> {
        WordClasses::read(&Source::text("file", text), format)
    }

    #[test]
    fn pairs_may_be_about_signs() {
        let classes = read(
            "# signs\n#\tsign\n\nLung\torgan\nlung\torgan part\n",
            ClassFormat::Pairs,
        )
        .unwrap();
        assert_eq!(classes.class("#"), Some("sign"));
        assert_eq!(classes.class("Lung"), Some("organ"));
        assert_eq!(classes.class("LUNG"), Some("organ part"));
        assert_eq!(classes.class("liver"), None);
        assert_eq!(classes.prefix("Lung", 99), Some("organ"));
        assert_eq!(classes.prefix("Lung", 0), Some(""));
        let json = serde_json::to_string(&classes).unwrap();
        assert_eq!(serde_json::from_str::<WordClasses>(&json).unwrap(), classes);
    }

    #[test]
    fn brown_paths_with_and_without_counts() {
        let classes = read("0\t#\t3\n01\tb\n", ClassFormat::Brown).unwrap();
        assert_eq!((classes.class("#"), classes.class("b")), (Some("0"), Some("01")));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        use ClassFormat::{Brown, Pairs};
        for (format, text, expected) in [
            (
                Pairs,
                "a\tx\nb\n",
                "file:2:1: found `b`, expected `word<TAB>class`",
            ),
            (Pairs, "a\t\n", "file:1:1: found `a\\t`, expected"),
            (Pairs, "a\tx\ty\n", "file:1:1: found `a\\tx\\ty`, expected"),
            (
                Pairs,
                "a\tx\na\ty\n",
                "file:2:1: `a` is in class `y` here, but in `x` in line 1",
            ),
            (
                Brown,
                "lung\t0010\t3\n",
                "file:1:1: found `lung`, expected the bits",
            ),
            (
                Brown,
                "0010\tlung\tmany\n",
                "file:1:11: the count of `lung` is `many`",
            ),
            (
                Brown,
                "0010\n",
                "file:1:1: found `0010`, expected `bits<TAB>word<TAB>count`",
            ),
            (Brown, "01\ta\t1\t1\n", "file:1:1: found `01\\ta"),
        ] {
            let error = read(text, format).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}

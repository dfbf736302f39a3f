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
    /// `pairs`: `word<TAB>class`, or several classes with tabs between them, as a word that may be a noun or a verb
    /// has them. A line that starts with `#` and has no tab is a comment.
    #[default]
    Pairs,
    /// `brown`: `bits<TAB>word<TAB>count`, the `paths` file of Brown clustering. The count may be missing.
    Brown,
}

/// One class or several for each word of a list. It never changes, and threads can share it.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::dictionaries::{ClassFormat, WordClasses};
/// let source = Source::text("paths", "0010\tlung\t31\n0011\tliver\t12\n110\tnormal\t80\n");
/// let clusters = WordClasses::read(&source, ClassFormat::Brown)?;
/// assert!(clusters.classes("lung").eq(["0010"]));
/// assert!(clusters.prefixes("liver", 3).eq(clusters.prefixes("lung", 3)));
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
    /// Reads a file. A word that comes again has to be in the same classes.
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

    /// The classes of a word as it is written or, if that has none, of the word in small letters.
    pub fn classes(&self, word: &str) -> impl Iterator<Item = &str> {
        let small = || match word.contains(char::is_uppercase) {
            true => self.words.get(&word.to_lowercase()),
            false => None,
        };
        let word = self.words.get(word).or_else(small);
        let classes = word.map(|word| self.classes.name(self.class_of[word as usize]));
        classes.into_iter().flat_map(|classes| classes.split('\t'))
    }

    /// At most `length` characters of the classes of a word, each once: larger clusters, of Brown clusters.
    pub fn prefixes(&self, word: &str, length: usize) -> impl Iterator<Item = &str> {
        let mut prefixes: Vec<&str> = Vec::new();
        for class in self.classes(word) {
            let end = class.char_indices().nth(length).map_or(class.len(), |(at, _)| at);
            if !prefixes.contains(&&class[..end]) {
                prefixes.push(&class[..end]);
            }
        }
        prefixes.into_iter()
    }

    /// All words with their classes, which have tabs between them.
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
    let mut classes: Vec<&str> = class.trim_end().split('\t').collect();
    let is_filled = |class: &&str| !class.is_empty() && *class == class.trim();
    classes.sort_unstable();
    if word.is_empty() || !classes.iter().all(is_filled) || classes.windows(2).any(|two| two[0] == two[1]) {
        return Err(Problem::line(
            line,
            "`word<TAB>class`, with a tab before each further class",
        ));
    }
    Ok(Some((word, class.trim_end())))
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
        assert!(classes.classes("#").eq(["sign"]));
        assert!(classes.classes("Lung").eq(["organ"]));
        assert!(classes.classes("LUNG").eq(["organ part"]));
        assert_eq!(classes.classes("liver").count(), 0);
        assert!(classes.prefixes("Lung", 99).eq(["organ"]));
        assert!(classes.prefixes("Lung", 0).eq([""]));
        let json = serde_json::to_string(&classes).unwrap();
        assert_eq!(serde_json::from_str::<WordClasses>(&json).unwrap(), classes);
    }

    #[test]
    fn brown_paths_with_and_without_counts() {
        let classes = read("0\t#\t3\n01\tb\n", ClassFormat::Brown).unwrap();
        assert!(classes.classes("#").eq(["0"]) && classes.classes("b").eq(["01"]));
    }

    #[test]
    fn words_may_be_in_several_classes() {
        let classes = read("can\tNN\tMD\ncat\tNN\n", ClassFormat::Pairs).unwrap();
        assert!(classes.classes("Can").eq(["NN", "MD"]));
        assert!(classes.prefixes("can", 0).eq([""]));
        let json = serde_json::to_string(&classes).unwrap();
        assert_eq!(serde_json::from_str::<WordClasses>(&json).unwrap(), classes);
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
            (Pairs, "a\tx\t\ty\n", "file:1:1: found `a\\tx\\t\\ty`, expected"),
            (Pairs, "a\tx\tx\n", "file:1:1: found `a\\tx\\tx`, expected"),
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

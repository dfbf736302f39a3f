//! [`FeatureConfig`]: the entries of the list `features` in a config.

use super::patterns::Pattern;
use crate::dictionaries::{ClassFormat, Fold, HierarchyFormat};
use crate::normalize::StemLanguage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One kind of fact about a token, and where around the position it is looked for.
///
/// Every kind has the keys `name` (what the names of its observations begin with) and `offsets` (which tokens
/// it looks at: 0 is the position itself, 1 the next token; without it, the window of the whole list counts).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FeatureConfig {
    /// Always there: how frequent labels are.
    Bias(Bias),
    /// The token itself.
    Word(Word),
    /// The stem of the token (Snowball).
    Stem(Stem),
    /// The first characters, if the token is longer than that.
    Prefix(Affix),
    /// The last characters, if the token is longer than that.
    Suffix(Affix),
    /// Each character replaced by its class: `Htr1b` is `Aaa0a`.
    Shape(Shape),
    /// `upper`, `lower`, `title`, `mixed` or `none`, the letters of the token seen together.
    Capitalisation(Capitalisation),
    /// The 25 static patterns of Klinger (2011), Table 2.3.
    Pattern(Patterns),
    /// A regular expression of one's own.
    Regex(Regex),
    /// Runs of characters inside the token.
    Ngrams(Ngrams),
    /// White space before and after the token.
    Space(Space),
    /// Where in the sentence or document the token stands.
    Position(Position),
    /// The words around the position, with counts as values, wherever they stand.
    Bag(Bag),
    /// A list of names, with one weight for the whole list.
    Dictionary(Dictionary),
    /// What stands above a name in a hierarchy such as RadLex.
    Ancestors(Ancestors),
    /// Whether a word is positive, negative or neutral.
    Polarity(Polarity),
    /// Classes of words, such as Brown clusters.
    Class(Class),
    /// A column of the input, such as parts of speech.
    Column(Column),
    /// The labels that another model gives to the tokens.
    Model(Model),
    /// Several facts at once.
    Conjunction(Conjunction),
}

/// Which tokens an entry looks at: 0 is the position itself, 1 the next token.
pub type Offsets = Option<Vec<i32>>;

macro_rules! entry {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            /// What the names of its observations begin with.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub name: Option<String>,
            /// Which tokens it looks at: 0 is the position itself, 1 the next token.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub offsets: Offsets,
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* name: None, offsets: None }
            }
        }
    };
}

entry! {
    /// Settings of `bias`.
    Bias {}
}
entry! {
    /// Settings of `word`.
    Word {
        /// In small letters.
        lower: bool = false,
    }
}
entry! {
    /// Settings of `stem`.
    Stem {
        /// The language of the stemmer.
        language: StemLanguage = StemLanguage::English,
    }
}
entry! {
    /// Settings of `prefix` and `suffix`.
    Affix {
        /// Numbers of characters.
        lengths: Vec<usize> = vec![2, 3, 4],
        /// In small letters.
        lower: bool = false,
    }
}
entry! {
    /// Settings of `shape`.
    Shape {
        /// How classes are written.
        style: ShapeStyle = ShapeStyle::Letters,
        /// Runs of one class count as one.
        brief: bool = false,
    }
}
entry! {
    /// Settings of `capitalisation`.
    Capitalisation {}
}
entry! {
    /// Settings of `pattern`.
    Patterns {
        /// The patterns; without it, all of them.
        only: Option<Vec<Pattern>> = None,
    }
}
entry! {
    /// Settings of `regex`.
    Regex {
        /// The expression.
        pattern: String = String::new(),
        /// Whether it has to match a whole token, or is searched in the text, where it may cover several.
        on: RegexTarget = RegexTarget::Token,
        /// Whether capital and small letters are the same.
        ignore_case: bool = false,
    }
}
entry! {
    /// Settings of `ngrams`. Tokens of more than 10,000 bytes are no words and have none.
    Ngrams {
        /// Numbers of characters.
        lengths: Vec<usize> = vec![2, 3, 4],
        /// In small letters.
        lower: bool = false,
        /// Whether the ends of the token count as characters, written `^` and `$`.
        ends: bool = true,
    }
}
entry! {
    /// Settings of `space`.
    Space {}
}
entry! {
    /// Settings of `position`.
    Position {
        /// The sentence or the document.
        of: Extent = Extent::Sentence,
        /// Into how many parts of equal length it is cut: the part is a fact.
        parts: Vec<usize> = Vec::new(),
        /// So many tokens at the beginning and at the end get a fact of their own.
        edges: usize = 0,
    }
}
entry! {
    /// Settings of `bag`.
    Bag {
        /// So many tokens to either side, the position included.
        window: usize = 5,
        /// What goes into the bag.
        of: BagContent = BagContent::Lower,
        /// A file of names and identifiers (tabs between them): a known name goes in as its identifiers.
        concepts: Option<PathBuf> = None,
        /// Of which language stems are.
        language: StemLanguage = StemLanguage::English,
    }
}
entry! {
    /// Settings of `dictionary`.
    Dictionary {
        /// A file with one name in a line.
        file: Option<PathBuf> = None,
        /// Instead of a file: names of this type in the training data. Each part of the data is described with
        /// the names of the other parts, so that a model does not learn to trust a list that knows the answers.
        training: Option<String> = None,
        /// Into how many parts the training data are cut.
        folds: usize = 10,
        /// Names from training that occur less often than this are left out.
        min_count: usize = 1,
        /// Whether names are found as a whole, or single words of them, too.
        by: DictionaryMatch = DictionaryMatch::Name,
        /// Whether capital and small letters are the same.
        ignore_case: bool = true,
        /// What hyphens and dashes count.
        dashes: Fold = Fold::Alike,
        /// What white space counts.
        spaces: Fold = Fold::Alike,
        /// Whether the first token of a name differs from the others.
        borders: bool = false,
        /// A further fact for tokens that are at most so many tokens away from a name.
        within: Option<usize> = None,
    }
}
entry! {
    /// Settings of `ancestors`.
    Ancestors {
        /// The file of the hierarchy.
        file: PathBuf = PathBuf::new(),
        /// How the file is written.
        format: HierarchyFormat = HierarchyFormat::Pairs,
        /// Depths in the hierarchy; the root has depth 1.
        depths: Vec<usize> = vec![2, 3, 4],
        /// Whether capital and small letters are the same.
        ignore_case: bool = true,
    }
}
entry! {
    /// Settings of `polarity`.
    Polarity {
        /// A file with a word and its polarity in a line, a tab between them.
        file: PathBuf = PathBuf::new(),
        /// Also pairs of neighbouring words in which those of the lexicon are replaced by their polarity.
        bigrams: bool = false,
    }
}
entry! {
    /// Settings of `class`.
    Class {
        /// The file of the classes.
        file: PathBuf = PathBuf::new(),
        /// How the file is written.
        format: ClassFormat = ClassFormat::Pairs,
        /// Also the first characters of the class: the inner nodes of a Brown clustering.
        prefixes: Vec<usize> = Vec::new(),
    }
}
entry! {
    /// Settings of `column`.
    Column {
        /// The name of the column in the data.
        column: String = String::new(),
    }
}
entry! {
    /// Settings of `model`.
    Model {
        /// The model file; a copy of it is kept in the new model.
        ///
        /// It labels the tokens of the new model, so it should have been trained with the same tokenizer, and on other
        /// data: what it has seen it knows better than anything new, and would be trusted too much.
        file: PathBuf = PathBuf::new(),
    }
}
entry! {
    /// Settings of `conjunction`.
    Conjunction {
        /// Names of other entries, each perhaps with an offset: `["W@-1", "W"]`.
        of: Vec<String> = Vec::new(),
    }
}

/// How classes of characters are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeStyle {
    /// `A`, `a`, `0`.
    #[default]
    Letters,
    /// `[A-Z]`, `[a-z]`, `[0-9]`, and in brief form with `+` after each.
    Classes,
}

/// What a regular expression is held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RegexTarget {
    /// A whole token.
    #[default]
    Token,
    /// The text of the sequence; every token that it touches gets the fact.
    Text,
}

/// What a position is one of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// The sequence: a sentence, or the text if it is not cut.
    #[default]
    Sentence,
    /// The document.
    Document,
}

/// What goes into a bag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BagContent {
    /// Words as written.
    Word,
    /// Words in small letters.
    #[default]
    Lower,
    /// Stems.
    Stem,
    /// Nothing but `concepts`.
    Concept,
}

/// How a dictionary is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DictionaryMatch {
    /// The longest names, found from left to right.
    #[default]
    Name,
    /// Every token that is a word of some name.
    Word,
}

impl FeatureConfig {
    /// What the names of its observations begin with, unless a `name` is given.
    pub fn default_name(&self) -> String {
        match self {
            Self::Bias(_) => "BIAS".to_owned(),
            Self::Word(word) => if word.lower { "L" } else { "W" }.to_owned(),
            Self::Stem(_) => "STEM".to_owned(),
            Self::Prefix(_) => "PREFIX".to_owned(),
            Self::Suffix(_) => "SUFFIX".to_owned(),
            Self::Shape(shape) => if shape.brief { "BWC" } else { "WC" }.to_owned(),
            Self::Capitalisation(_) => "CAP".to_owned(),
            Self::Pattern(_) => "PATTERN".to_owned(),
            Self::Regex(_) => "REGEX".to_owned(),
            Self::Ngrams(_) => "GRAM".to_owned(),
            Self::Space(_) => "SPACE".to_owned(),
            Self::Position(position) => match position.of {
                Extent::Sentence => "SENTENCE",
                Extent::Document => "DOCUMENT",
            }
            .to_owned(),
            Self::Bag(_) => "BAG".to_owned(),
            Self::Dictionary(list) => {
                let file = list.file.as_ref().and_then(|file| file.file_stem());
                let file = file.map(|stem| stem.to_string_lossy().replace(char::is_whitespace, "_"));
                let name = list.training.clone().or(file);
                format!("LIST:{}", name.unwrap_or_default())
            }
            Self::Ancestors(_) => "ABOVE".to_owned(),
            Self::Polarity(_) => "POLARITY".to_owned(),
            Self::Class(_) => "CLASS".to_owned(),
            Self::Column(column) => column.column.clone(),
            Self::Model(_) => "MODEL".to_owned(),
            Self::Conjunction(_) => "AND".to_owned(),
        }
    }

    /// What the names of its observations begin with.
    pub fn name(&self) -> String {
        self.common().0.clone().unwrap_or_else(|| self.default_name())
    }

    /// Its own offsets, if it has some.
    pub fn offsets(&self) -> Option<&[i32]> {
        self.common().1.as_deref()
    }

    fn common(&self) -> (&Option<String>, &Offsets) {
        macro_rules! common {
            ($($kind:ident)*) => {
                match self { $(Self::$kind(entry) => (&entry.name, &entry.offsets),)* }
            };
        }
        common!(Bias Word Stem Prefix Suffix Shape Capitalisation Pattern Regex Ngrams Space Position Bag
            Dictionary Ancestors Polarity Class Column Model Conjunction)
    }
}

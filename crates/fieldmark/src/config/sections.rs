//! The sections `data`, `text` and `labels`.

use fieldmark_core::Scheme;
use fieldmark_text::formats::ReadOptions;
use fieldmark_text::normalize::Normalizer;
use fieldmark_text::sentences::SentenceOptions;
use fieldmark_text::tokenize::TokenizerProfile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where the data are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DataConfig {
    /// Files to learn from. Paths are relative to the config.
    pub train: Vec<PathBuf>,
    /// Files to choose settings and stop training by.
    pub dev: Vec<PathBuf>,
    /// Files to test on.
    pub test: Vec<PathBuf>,
    /// How they are read.
    pub read: ReadOptions,
}

/// From text to tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TextConfig {
    /// Where sentences end; `mode = "none"` takes a text as it is. What has more than 32,768 tokens is cut between words
    /// all the same.
    pub sentences: SentenceOptions,
    /// Where tokens end.
    pub tokenizer: TokenizerProfile,
    /// Cuts texts anew whose source gives tokens already.
    pub retokenize: bool,
    /// One spelling for many, for the eyes of tokenizer, features and lists; the text stays as it is.
    pub normalize: Normalizer,
}

/// From annotations to labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LabelConfig {
    /// How spans become labels of tokens.
    pub scheme: SchemeName,
    /// Instead of spans: this column of the data is the label of each token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Types to learn; without it, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<String>>,
    /// Types that count as another one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rename: BTreeMap<String, String>,
}

/// The schemes by the names that they have in configs and options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum SchemeName {
    /// I inside, O outside
    Io,
    /// As IO, with B only between spans of one type that touch
    Iob1,
    /// Every span begins with B (also BIO)
    #[default]
    #[cfg_attr(feature = "clap", value(alias = "bio"))]
    #[serde(alias = "bio")]
    Iob2,
    /// B, I, E, and S for a span of one token (also BIOES, BILOU)
    #[cfg_attr(feature = "clap", value(aliases = ["bioes", "bilou"]))]
    #[serde(alias = "bioes", alias = "bilou")]
    Iobes,
}

impl From<SchemeName> for Scheme {
    fn from(name: SchemeName) -> Self {
        match name {
            SchemeName::Io => Scheme::Io,
            SchemeName::Iob1 => Scheme::Iob1,
            SchemeName::Iob2 => Scheme::Iob2,
            SchemeName::Iobes => Scheme::Iobes,
        }
    }
}

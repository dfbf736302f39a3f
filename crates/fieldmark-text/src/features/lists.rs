//! Facts from lists: names, hierarchies and polarities.

use super::FeatureError;
use super::config::{self, DictionaryMatch};
use super::context::{Facts, Phrase, Solid};
use super::extraction::Sequence;
use super::extractor::distinct;
use super::normal::Preprocessor;
use super::resources::Resources;
use crate::dictionaries::{Dictionary, DictionaryOptions, Fold, Hierarchy, HierarchyFormat, PolarityLexicon};

/// A list of names, with one weight for the whole list.
#[derive(Debug)]
pub(super) struct Names {
    names: Dictionary,
    /// What is said of the first token of a name, and of the others.
    first: Phrase,
    others: Phrase,
    /// What is said of tokens with a name so near.
    within: Option<(usize, Phrase)>,
}

impl Names {
    pub fn new(
        name: &str,
        list: &config::Dictionary,
        resources: &Resources,
        preprocessor: &Preprocessor,
    ) -> Result<Self, FeatureError> {
        let source = match (&list.file, &list.training) {
            (Some(file), None) => resources.file(file)?,
            (None, Some(kind)) => resources.get(&Resources::training_list(kind, list.min_count))?,
            _ => return Err(FeatureError::Resource("give `file` or `training`".to_owned())),
        };
        let options = DictionaryOptions {
            ignore_case: list.ignore_case,
            dashes: list.dashes,
            spaces: list.spaces,
        };
        let names = Dictionary::read(&source, options)?;
        let names = match list.by {
            DictionaryMatch::Name => names,
            DictionaryMatch::Word => words(&names, options, preprocessor)?,
        };
        let names = preprocessor.normalize(names)?;
        let part = |border: &str| match list.borders {
            true => Phrase::from(format!("{name}:{border}")),
            false => Phrase::from(name.to_owned()),
        };
        Ok(Self {
            names,
            first: part("B"),
            others: part("I"),
            within: list
                .within
                .map(|within| (within, Phrase::from(format!("{name}~{within}")))),
        })
    }

    pub fn facts(&self, sequence: &Sequence<'_>, numbers: &[u32], facts: &mut Facts) {
        let tokens = sequence.tokens.len();
        // 1 for the first token of a name, 2 for the others.
        let mut found = vec![0u8; tokens];
        self.names.for_each_match_from(
            sequence.text,
            sequence.tokens,
            |token| {
                facts.beginning(numbers[token], &self.names, || {
                    sequence.tokens[token].text(sequence.text)
                })
            },
            |range, _| {
                found[range.clone()].fill(2);
                found[range.start] = 1;
            },
        );
        for token in 0..tokens {
            match found[token] {
                0 => {}
                1 => facts.repeat(&self.first),
                _ => facts.repeat(&self.others),
            }
            if let Some((within, phrase)) = &self.within {
                let near = token.saturating_sub(*within)..(token + within + 1).min(tokens);
                if found[near].iter().any(|&found| found > 0) {
                    facts.repeat(phrase);
                }
            }
            facts.end_token();
        }
    }
}

/// Every word of every name, as a list of its own: what is a token in a text is one in a name.
fn words(
    names: &Dictionary,
    options: DictionaryOptions,
    preprocessor: &Preprocessor,
) -> Result<Dictionary, FeatureError> {
    let mut words: Vec<&str> = Vec::new();
    for (name, _) in names.entries() {
        let tokens = preprocessor.tokens(name);
        let tokens = tokens.iter().map(|token| token.text(name));
        words.extend(tokens.filter(|word| word.contains(char::is_alphanumeric)));
    }
    words.sort_unstable();
    words.dedup();
    let entries = words.into_iter().map(|word| (word, []));
    Dictionary::new(options, entries).map_err(|error| FeatureError::Resource(error.to_string()))
}

/// What stands above names in a hierarchy.
#[derive(Debug)]
pub(super) struct Above {
    names: Dictionary,
    hierarchy: Hierarchy,
    depths: Vec<usize>,
}

impl Above {
    pub fn new(
        config: &config::Ancestors,
        resources: &Resources,
        preprocessor: &Preprocessor,
    ) -> Result<Self, FeatureError> {
        let hierarchy = Hierarchy::read(&resources.file(&config.file)?, config.format)?;
        let spaces = match config.format {
            // Its names are identifiers.
            HierarchyFormat::Mrrel => Fold::Exact,
            _ => Fold::Alike,
        };
        let options = DictionaryOptions {
            ignore_case: config.ignore_case,
            dashes: Fold::Alike,
            spaces,
        };
        let names = hierarchy
            .dictionary(options)
            .map_err(|error| FeatureError::Resource(error.to_string()))?;
        Ok(Self {
            names: preprocessor.normalize(names)?,
            hierarchy,
            depths: distinct(&config.depths),
        })
    }

    pub fn facts(&self, name: &str, sequence: &Sequence<'_>, facts: &mut Facts) {
        let mut said: Vec<Vec<String>> = vec![Vec::new(); sequence.tokens.len()];
        self.names
            .for_each_match(sequence.text, sequence.tokens, |range, found| {
                let mut texts = Vec::new();
                for term in self
                    .names
                    .identifiers(found)
                    .filter_map(|id| self.hierarchy.get(id))
                {
                    for &depth in &self.depths {
                        for above in self.hierarchy.ancestors_at_depth(term, depth as u32) {
                            let above = self.hierarchy.name(above).replace(char::is_whitespace, "_");
                            texts.push(format!("{name}{depth}={above}"));
                        }
                    }
                }
                texts.sort_unstable();
                texts.dedup();
                said[range].fill(texts);
            });
        for texts in said {
            texts
                .iter()
                .for_each(|text| facts.say(1.0, format_args!("{text}")));
            facts.end_token();
        }
    }
}

/// Positive, negative and neutral words.
#[derive(Debug)]
pub(super) struct Polarities {
    lexicon: PolarityLexicon,
    bigrams: bool,
}

impl Polarities {
    pub fn new(config: &config::Polarity, resources: &Resources) -> Result<Self, FeatureError> {
        let lexicon = PolarityLexicon::read(&resources.file(&config.file)?)?;
        Ok(Self {
            lexicon,
            bigrams: config.bigrams,
        })
    }

    pub fn facts(&self, name: &str, sequence: &Sequence<'_>, facts: &mut Facts) {
        let words: Vec<&str> = sequence
            .tokens
            .iter()
            .map(|token| token.text(sequence.text))
            .collect();
        let polarities: Vec<Option<&str>> = words
            .iter()
            .map(|word| self.lexicon.polarity(word).map(|polarity| polarity.name()))
            .collect();
        for token in 0..words.len() {
            if let Some(polarity) = polarities[token] {
                facts.say(1.0, format_args!("{name}={polarity}"));
            }
            let known = polarities[token..].iter().take(2).any(Option::is_some);
            if let (true, true, Some(next)) = (self.bigrams, known, words.get(token + 1)) {
                let left = polarities[token]
                    .map_or_else(|| words[token].to_lowercase(), |polarity| format!(":{polarity}"));
                let right = polarities[token + 1]
                    .map_or_else(|| next.to_lowercase(), |polarity| format!(":{polarity}"));
                facts.say(1.0, format_args!("{name}2={}_{}", Solid(&left), Solid(&right)));
            }
            facts.end_token();
        }
    }
}

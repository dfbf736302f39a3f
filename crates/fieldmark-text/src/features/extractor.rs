//! [`Extractor`]: a list of features, ready for use.

use super::FeatureError;
use super::collisions;
use super::config::{BagContent, Conjunction, FeatureConfig};
use super::context::Context;
use super::local::Local;
use super::normal::Preprocessor;
use super::resources::Resources;
use fieldmark_core::name_hash::{self, MAX_OFFSET};

/// Describes tokens by a list of features. It never changes, and threads can share it.
#[derive(Debug)]
pub struct Extractor {
    pub(super) preprocessor: Preprocessor,
    pub(super) local: Vec<LocalEntry>,
    pub(super) context: Vec<ContextEntry>,
    pub(super) conjunctions: Vec<Vec<Operand>>,
    /// Every offset at which some local entry looks, rising.
    pub(super) offsets: Vec<i32>,
    /// Whether some entry looks at white space.
    pub(super) sees_space: bool,
    /// How many local entries conjunctions ask for.
    pub(super) local_operands: usize,
    columns: Vec<String>,
}

#[derive(Debug)]
pub(super) struct LocalEntry {
    pub name: String,
    pub local: Local,
    /// Which of the extractor's offsets it looks at.
    pub at: Vec<usize>,
    /// Whether a conjunction asks for it.
    pub operand: Option<usize>,
}

#[derive(Debug)]
pub(super) struct ContextEntry {
    pub name: String,
    pub context: Context,
    pub offsets: Vec<i32>,
}

/// A part of a conjunction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub of: OperandOf,
    pub offset: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandOf {
    /// A local entry, by its number among the local operands.
    Local(usize),
    /// A context entry.
    Context(usize),
}

impl Extractor {
    /// Gets a list ready. `window` is the offset conjunction of the whole list: entries without offsets of
    /// their own look at so many tokens to either side. Every token, and every name of a list, is seen as the
    /// preprocessor leaves it.
    pub fn new(
        features: &[FeatureConfig],
        window: usize,
        preprocessor: Preprocessor,
        resources: &Resources,
    ) -> Result<Self, FeatureError> {
        let mut extractor = Self {
            preprocessor,
            local: Vec::new(),
            context: Vec::new(),
            conjunctions: Vec::new(),
            offsets: Vec::new(),
            sees_space: false,
            local_operands: 0,
            columns: Vec::new(),
        };
        let wide = i32::try_from(window)
            .ok()
            .filter(|window| *window <= MAX_OFFSET)
            .ok_or(FeatureError::Window(window))?;
        let wide: Vec<i32> = (-wide..=wide).collect();
        let mut all: Vec<Vec<i32>> = Vec::new();
        for (index, config) in features.iter().enumerate() {
            let problem = |problem: String| FeatureError::Entry {
                entry: index,
                problem,
            };
            check(config).map_err(problem)?;
            collisions::check(&features[..index], config, window).map_err(problem)?;
            let name = config.name();
            let offsets = match config {
                // It is the same everywhere.
                FeatureConfig::Bias(_) => vec![0],
                _ => config.offsets().map_or_else(|| wide.clone(), distinct),
            };
            let inside = |error: FeatureError| problem(error.to_string());
            if let FeatureConfig::Conjunction(_) = config {
                continue;
            }
            if let Some(local) = Local::new(config, resources).map_err(inside)? {
                all.push(offsets);
                extractor.sees_space |= local.sees_space();
                extractor.local.push(LocalEntry {
                    name,
                    local,
                    at: Vec::new(),
                    operand: None,
                });
            } else if let Some(context) =
                Context::new(config, resources, &extractor.preprocessor, &mut extractor.columns)
                    .map_err(inside)?
            {
                extractor.context.push(ContextEntry {
                    name,
                    context,
                    offsets,
                });
            } else {
                return Err(problem("this kind is not known here".to_owned()));
            }
        }
        extractor.offsets = all.iter().flatten().copied().collect();
        extractor.offsets.sort_unstable();
        extractor.offsets.dedup();
        for (entry, offsets) in extractor.local.iter_mut().zip(&all) {
            let at = |offset| extractor.offsets.binary_search(offset).ok();
            entry.at = offsets.iter().filter_map(at).collect();
        }
        for (index, config) in features.iter().enumerate() {
            if let FeatureConfig::Conjunction(conjunction) = config {
                let operands = extractor.operands(conjunction);
                let operands = operands.map_err(|problem| FeatureError::Entry {
                    entry: index,
                    problem,
                })?;
                extractor.conjunctions.push(operands);
            }
        }
        Ok(extractor)
    }

    /// The columns of the input that it looks at, in the order in which a sequence has to give them.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    fn operands(&mut self, conjunction: &Conjunction) -> Result<Vec<Operand>, String> {
        if conjunction.of.len() < 2 {
            return Err("a conjunction needs at least two names in `of`".to_owned());
        }
        let operands: Vec<Operand> = conjunction
            .of
            .iter()
            .map(|text| self.operand(text))
            .collect::<Result<_, _>>()?;
        let ngrams = |operand: &&Operand| match operand.of {
            OperandOf::Local(number) => self
                .local
                .iter()
                .any(|entry| entry.operand == Some(number) && matches!(entry.local, Local::Ngrams { .. })),
            OperandOf::Context(_) => false,
        };
        if operands.iter().filter(ngrams).count() > 1 {
            return Err(
                "two names of `ngrams` in one conjunction: every run of characters with every other one \
                 would be an observation"
                    .to_owned(),
            );
        }
        Ok(operands)
    }

    fn operand(&mut self, text: &str) -> Result<Operand, String> {
        let (name, offset) = name_hash::split(text).unwrap_or((text, 0));
        let local = self.local.iter().filter(|entry| entry.name == name).count();
        let context = self.context.iter().filter(|entry| entry.name == name).count();
        if local + context > 1 {
            return Err(format!(
                "there are {} entries with the name {name:?}; give the one that is meant another `name`",
                local + context
            ));
        }
        if let Some(entry) = self.local.iter_mut().find(|entry| entry.name == name) {
            let number = *entry.operand.get_or_insert(self.local_operands);
            self.local_operands = self.local_operands.max(number + 1);
            return Ok(Operand {
                of: OperandOf::Local(number),
                offset,
            });
        }
        if let Some(number) = self.context.iter().position(|entry| entry.name == name) {
            return Ok(Operand {
                of: OperandOf::Context(number),
                offset,
            });
        }
        let names = self
            .local
            .iter()
            .map(|entry| &entry.name)
            .chain(self.context.iter().map(|entry| &entry.name));
        let names: Vec<&str> = names.map(String::as_str).collect();
        Err(format!(
            "there is no entry with the name {name:?}; there are {}",
            names.join(", ")
        ))
    }
}

/// Each value once, in the order in which they come first.
pub(super) fn distinct<T: Copy + PartialEq>(values: &[T]) -> Vec<T> {
    let mut all = Vec::with_capacity(values.len());
    for &value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

fn check(config: &FeatureConfig) -> Result<(), String> {
    let name = config.name();
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '@') || name.starts_with('&') {
        return Err(format!(
            "the name {name:?} is empty, has a blank or `@` in it, or begins with `&`"
        ));
    }
    if let Some(offset) = config
        .offsets()
        .and_then(|offsets| offsets.iter().find(|offset| offset.abs() > MAX_OFFSET))
    {
        return Err(format!(
            "the offset {offset} is not between -{MAX_OFFSET} and {MAX_OFFSET}"
        ));
    }
    let empty = match config {
        FeatureConfig::Prefix(affix) | FeatureConfig::Suffix(affix) => affix.lengths.contains(&0),
        FeatureConfig::Ngrams(ngrams) => ngrams.lengths.contains(&0),
        FeatureConfig::Position(position) => position.parts.contains(&0),
        _ => false,
    };
    if empty {
        return Err("a length of 0".to_owned());
    }
    match config {
        FeatureConfig::Conjunction(Conjunction { offsets: Some(_), .. }) => {
            Err("a conjunction has no `offsets` of its own; write them in `of`, as in \"W@-1\"".to_owned())
        }
        FeatureConfig::Conjunction(Conjunction { name: Some(_), .. }) => {
            Err("a conjunction has no `name`; its observations have those of the entries in `of`".to_owned())
        }
        FeatureConfig::Regex(regex) if regex.pattern.is_empty() => Err("`pattern` is missing".to_owned()),
        FeatureConfig::Column(column) if column.column.is_empty() => Err("`column` is missing".to_owned()),
        FeatureConfig::Bag(bag) if bag.of == BagContent::Concept && bag.concepts.is_none() => {
            Err("a bag of concepts needs a file of `concepts`".to_owned())
        }
        FeatureConfig::Dictionary(list) if list.training.is_some() && list.folds < 2 => Err(format!(
            "`folds` is {}, expected 2 or more: each part is described with the names of the others",
            list.folds
        )),
        FeatureConfig::Position(position) if position.parts.is_empty() && position.edges == 0 => {
            Err("give `parts` or `edges`".to_owned())
        }
        _ => Ok(()),
    }
}

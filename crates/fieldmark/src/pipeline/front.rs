//! [`Front`]: everything before the model, from a text to observations.

use super::card::{ModelCard, input_columns};
use super::sequences::Cutter;
use super::stack::Stack;
use crate::Error;
use crate::config::Config;
use fieldmark_core::container::{Container, ContainerWriter};
use fieldmark_text::document::Document;
use fieldmark_text::features::{Extractor, Preprocessor, Resources};
use fieldmark_text::tokenize::Tokenizer;

/// Sentences, tokens and features, by a config and the files that it names.
#[derive(Debug)]
pub(crate) struct Front {
    pub config: Config,
    pub extractor: Extractor,
    pub cutter: Cutter,
    pub resources: Resources,
    pub stack: Stack,
}

/// The section that holds the config.
const CONFIG: &str = "config";

/// The section that names the files that the config names, whose contents have sections of their own.
const RESOURCES: &str = "resources";

fn resource(index: usize) -> String {
    format!("resource.{index}")
}

impl Front {
    pub fn new(config: Config, resources: Resources) -> Result<Self, Error> {
        Ok(Self {
            extractor: extractor(&config, &resources)?,
            cutter: Cutter::new(&config.text),
            stack: Stack::new(&config, &resources)?,
            config,
            resources,
        })
    }

    /// The columns that the model was trained with and that a document lacks.
    pub fn missing_columns<'a>(&'a self, card: &'a ModelCard, document: &Document) -> Vec<&'a str> {
        let given = document.given.as_ref().filter(|_| !self.config.text.retokenize);
        self.missing_of(card, given.map_or(&[], |given| &given.columns))
    }

    /// The columns that the model and those below it were trained with and that are not among these.
    pub fn missing_of<'a>(&'a self, card: &'a ModelCard, given: &[String]) -> Vec<&'a str> {
        let lacks = |column: &&str| !given.iter().any(|given| given == column);
        let mut missing: Vec<&str> = match &card.data.columns {
            Some(columns) => columns.iter().map(String::as_str).filter(lacks).collect(),
            // A model that does not know: of an earlier version, or of an annotation project.
            None => input_columns(&self.config).filter(lacks).collect(),
        };
        for column in self.stack.missing_of(given) {
            if !missing.contains(&column) {
                missing.push(column);
            }
        }
        missing
    }

    /// Whether a container holds one.
    pub fn is_in(container: &Container) -> bool {
        container.has(CONFIG)
    }

    pub fn read(container: &Container) -> Result<Self, Error> {
        let text = container.str(CONFIG)?;
        let config = Config::parse(text, &[])
            .map_err(|error| container.wrong_section(CONFIG, error.to_string(), "a config"))?;
        let mut resources = Resources::default();
        let names = container.str(RESOURCES)?;
        for (index, name) in names.lines().enumerate() {
            resources.insert(name, container.section(&resource(index))?.to_vec());
        }
        Self::new(config, resources)
    }

    pub fn write<'a>(&'a self, writer: &mut ContainerWriter<'a>) {
        writer.add_str(CONFIG, self.config.to_toml());
        let names: Vec<&str> = self.resources.iter().map(|(name, _)| name).collect();
        writer.add_str(RESOURCES, names.join("\n"));
        for (index, (_, content)) in self.resources.iter().enumerate() {
            writer.add_section(&resource(index), content);
        }
    }
}

/// The extractor of a config.
pub(super) fn extractor(config: &Config, resources: &Resources) -> Result<Extractor, Error> {
    if config.features.is_empty() {
        return Err(Error::Option(
            "the config has no features: add at least `[[features]]` with `kind = \"word\"`".into(),
        ));
    }
    let preprocessor = Preprocessor {
        tokenizer: Tokenizer::new(config.text.tokenizer.clone()),
        normalizer: config.text.normalize.clone(),
    };
    Ok(Extractor::new(
        &config.features,
        config.window,
        preprocessor,
        resources,
    )?)
}

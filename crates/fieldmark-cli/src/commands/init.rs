//! `fieldmark init`: a config to start from.

use crate::console::Console;
use crate::failure::Failure;
use crate::paths::write_whole;
use clap::ValueEnum;
use std::path::PathBuf;

/// Write a commented config to start from
///
/// A recipe is a config for a kind of task: what the text is cut into, what the model looks at, how it is trained.
/// Change the files under `data`, and train with it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The kind of task
    #[arg(value_enum, value_name = "RECIPE", required_unless_present = "schema")]
    recipe: Option<Recipe>,

    /// File to write; standard output without it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the file if it is there
    #[arg(long, requires = "output")]
    force: bool,

    /// Print the JSON schema of configs instead, for editors
    #[arg(long, conflicts_with = "recipe")]
    schema: bool,
}

const EXAMPLES: &str = "\
Examples:
  fieldmark init ner > ner.toml
  fieldmark init gene --output gene.toml
  fieldmark init --schema > fieldmark.schema.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Recipe {
    /// Phrases of sentences, from words and parts of speech
    Chunking,
    /// Parts of speech
    Pos,
    /// Names of persons, organisations and places
    Ner,
    /// Genes and proteins in abstracts
    Gene,
    /// Systematic names of chemicals
    Iupac,
    /// Mutations and polymorphisms
    Variation,
    /// Findings in radiology reports
    Radiology,
    /// Diseases in abstracts
    Disease,
    /// Parts of speech and phrases in one model: a graph
    Joint,
}

impl Recipe {
    fn text(self) -> &'static str {
        match self {
            Recipe::Chunking => include_str!("../../../../recipes/chunking.toml"),
            Recipe::Pos => include_str!("../../../../recipes/pos.toml"),
            Recipe::Ner => include_str!("../../../../recipes/ner.toml"),
            Recipe::Gene => include_str!("../../../../recipes/gene.toml"),
            Recipe::Iupac => include_str!("../../../../recipes/iupac.toml"),
            Recipe::Variation => include_str!("../../../../recipes/variation.toml"),
            Recipe::Radiology => include_str!("../../../../recipes/radiology.toml"),
            Recipe::Disease => include_str!("../../../../recipes/disease.toml"),
            Recipe::Joint => include_str!("../../../../recipes/joint.toml"),
        }
    }
}

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let Some(recipe) = self.recipe else {
            let schema = serde_json::to_string_pretty(&fieldmark::config::Config::schema())?;
            return console.print(&format!("{schema}\n"));
        };
        let Some(output) = &self.output else {
            return console.print(recipe.text());
        };
        if output.exists() && !self.force {
            return Err(Failure::writing(
                output,
                "it is there already. Choose another name, or add --force",
            ));
        }
        write_whole(output, recipe.text())?;
        let name = output.display();
        console.note(&format!(
            "wrote {name}: name your files under `data`, then `fieldmark train {name} --model NAME.fmk`"
        ));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark::config::Config;

    #[test]
    fn every_recipe_is_a_config_that_works() {
        for &recipe in Recipe::value_variants() {
            let config = Config::parse(recipe.text(), &[]);
            let config = config.unwrap_or_else(|error| panic!("{recipe:?}: {error}"));
            assert!(
                !config.features.is_empty() && !config.name.is_empty(),
                "{recipe:?}"
            );
            assert!(!config.data.train.is_empty(), "{recipe:?}");
            config.model.structure().unwrap();
            config.max_iterations().unwrap();
            assert_eq!(config.graph.is_some(), recipe == Recipe::Joint);
        }
    }
}

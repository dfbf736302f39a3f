//! Reading a config with errors that help.
//!
//! Before the config is read into its types, every key is held against the schema, which knows all keys and
//! where they belong.

mod overrides;
mod schema;
#[cfg(test)]
mod tests;

use super::Config;
use overrides::override_one;
use schema::{unknown_key, wrong_value};
use serde::Deserialize;
use std::fmt;
use toml::de::DeTable;

/// What is wrong with a config, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Line and column of the text, from 1; an override has none.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "{line}:{column}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for ConfigError {}

pub(super) fn parse(text: &str, overrides: &[String]) -> Result<Config, ConfigError> {
    let at = |offset: usize| {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some((
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        ))
    };
    let syntax = |error: toml::de::Error| ConfigError {
        place: at(error.span().map_or(0, |span| span.start)),
        problem: error.message().trim().to_owned(),
    };
    let schema = Config::schema();
    let table = DeTable::parse(text).map_err(syntax)?;
    if let Some((offset, problem)) = unknown_key(&schema, table.get_ref()) {
        return Err(ConfigError {
            place: at(offset),
            problem,
        });
    }
    let config: Config = match toml::from_str(text) {
        Ok(config) => config,
        Err(error) => {
            let found = wrong_value(&schema, table.get_ref());
            return Err(found.map_or_else(
                || syntax(error),
                |(offset, problem)| ConfigError {
                    place: at(offset),
                    problem,
                },
            ));
        }
    };
    if overrides.is_empty() {
        return Ok(config);
    }
    let mut table: toml::Table = toml::from_str(text).map_err(syntax)?;
    let fail = |problem: String| ConfigError { place: None, problem };
    // A value of a wrong type is blamed on the override after which the config cannot be read.
    let mut wrong = None;
    for text in overrides {
        override_one(&mut table, text).map_err(fail)?;
        let read = Config::deserialize(toml::Value::Table(table.clone()));
        wrong = read.err().and(wrong.or(Some(text)));
    }
    let after = |problem: &str| {
        let blamed = wrong.map_or("after overrides".to_owned(), |text| format!("-o {text}"));
        fail(format!("{blamed}: {}", problem.trim()))
    };
    let written = toml::to_string(&table).map_err(|error| after(&error.to_string()))?;
    let spanned = DeTable::parse(&written).map_err(|error| after(error.message()))?;
    if let Some((_, problem)) = unknown_key(&schema, spanned.get_ref()) {
        return Err(fail(problem));
    }
    Config::deserialize(toml::Value::Table(table)).map_err(|error| {
        let found = wrong_value(&schema, spanned.get_ref());
        match found {
            Some((_, problem)) => after(&problem),
            None => after(error.message()),
        }
    })
}

//! [`check_config`]: mistakes that a config has whatever the data are.

use super::front::extractor;
use super::lists;
use super::stack::Stack;
use crate::Error;
use crate::config::Config;
use fieldmark_graph::EngineChoice;
use fieldmark_text::features::Resources;
use fieldmark_text::identify::Mapper;
use fieldmark_text::postprocess::{Filter, Step};
use std::path::Path;

/// Sees whether a model can be made of a config, before any data are read: its features and the files that they name, the
/// shape of the model, the options of training, and what happens to annotations. Files are relative to `folder`.
///
/// # Errors
/// The first mistake.
pub fn check_config(config: &Config, folder: &Path) -> Result<(), Error> {
    for (name, value) in [("c1", config.training.c1), ("c2", config.training.c2)] {
        if let Some(value) = value.filter(|value| !(value.is_finite() && *value >= 0.0)) {
            return Err(Error::Option(format!(
                "training.{name} is {value}, expected a number that is not negative"
            )));
        }
    }
    if let Some(graph) = &config.graph {
        config.check_graph()?;
        for (key, choice) in [
            ("inference", Some(&graph.inference)),
            ("training_inference", graph.training_inference.as_ref()),
        ] {
            if let Some(Err(error)) = choice.map(EngineChoice::engine) {
                return Err(Error::Option(format!("graph.{key}: {error}")));
            }
        }
    } else {
        config.model.structure()?;
        config.training.algorithm(&[])?.check()?;
    }
    check_steps(config)?;
    config.postprocess.clone().load(folder)?;
    config.identify.clone().load(folder)?;
    let mut resources = Resources::read(&config.features, folder)?;
    Stack::new(config, &resources)?;
    // Names of the training data are not known yet.
    lists::fill(config, &[], None, &mut resources);
    extractor(config, &resources)?;
    Ok(())
}

/// Steps that could not do anything.
fn check_steps(config: &Config) -> Result<(), Error> {
    for (index, step) in config.postprocess.steps().iter().enumerate() {
        let lacks = match step {
            Step::StopList(list) if list.options().names.is_empty() && list.options().files.is_empty() => {
                "names nothing to drop: give `names` or `files`"
            }
            Step::Filter(filter) if drops_nothing(filter) => {
                "has no condition: give `matching`, `not_matching`, `min_length` or `max_length`"
            }
            _ => continue,
        };
        return Err(Error::Option(format!("postprocess[{index}] {lacks}")));
    }
    for (index, mapper) in config.identify.mappers().iter().enumerate() {
        if let Mapper::Dictionary(names) = mapper
            && names.options().names.is_empty()
            && names.options().files.is_empty()
        {
            return Err(Error::Option(format!(
                "identify[{index}] knows no name: give `names` or `files`"
            )));
        }
    }
    Ok(())
}

fn drops_nothing(filter: &Filter) -> bool {
    filter.matching.is_none()
        && filter.not_matching.is_none()
        && filter.min_length == 0
        && filter.max_length.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_found_without_data() {
        let word = "features = [{ kind = 'word' }]";
        for (text, expected) in [
            ("", "the config has no features"),
            ("features = [{ kind = 'prefix', lengths = [0] }]", "length of 0"),
            (
                "features = [{ kind = 'conjunction', of = ['X', 'Y'] }]",
                "no entry with the name \"X\"",
            ),
            (
                "features = [{ kind = 'dictionary', file = 'none.txt' }]",
                "none.txt",
            ),
            (&format!("{word}\nmodel = {{ order = 7 }}"), "7"),
            (&format!("{word}\ntraining = {{ c2 = -1 }}"), "training.c2 is -1"),
            (
                &format!("{word}\n[[postprocess]]\nkind = 'stop-list'"),
                "postprocess[0] names nothing to drop",
            ),
            (
                &format!("{word}\n[[postprocess]]\nkind = 'filter'"),
                "postprocess[0] has no condition",
            ),
            (
                &format!("{word}\n[[identify]]\nkind = 'dictionary'"),
                "identify[0] knows no name",
            ),
        ] {
            let config = Config::parse(text, &[]).unwrap();
            let error = check_config(&config, Path::new("")).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}\n{error}");
        }
        let fine = format!("{word}\n[[postprocess]]\nkind = 'filter'\nmin_length = 2");
        assert!(check_config(&Config::parse(&fine, &[]).unwrap(), Path::new("")).is_ok());
    }
}

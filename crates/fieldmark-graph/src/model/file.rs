//! A [`GraphModel`] in a model file: sections whose names begin with `graph.`.
//!
//! | section | content |
//! |---|---|
//! | `graph.description` | text: the line `graph ⇥ 1` (the version of this table), then the description as JSON |
//! | `graph.labels` | text: JSON, the list of labels of each layer |
//! | `graph.observations.*` | [`Names`] |
//! | `graph.rows.N.offsets`, `.entries` | u32: observation × label assignment of template N, both empty without features |
//! | `graph.bias.N` | u32: the label assignments of template N with a bias |
//! | `graph.forbidden.N` | u32: the impossible label assignments of template N |
//! | `graph.algorithm` | text: the name of the training algorithm; absent if it was not noted |
//! | `graph.weights` | f64: the weights in the numbering of [`Structure`] |
//!
//! Templates are numbered with those that stand for several written out. The checksums of the container say that a
//! file is as it was written, not that it was written by this program: everything that later code relies on is checked
//! here.

use super::GraphModel;
use crate::describe::Description;
use crate::structure::{Relations, Structure};
use fieldmark_core::container::{Container, ContainerError, ContainerWriter, Shared};
use fieldmark_core::feature_table::FeatureTable;
use fieldmark_core::{Alphabet, Names};
use std::sync::Arc;

const VERSION_LINE: &str = "graph\t1\n";
const DESCRIPTION: &str = "graph.description";
const LABELS: &str = "graph.labels";
const OBSERVATIONS: &str = "graph.observations";
const ALGORITHM: &str = "graph.algorithm";
const WEIGHTS: &str = "graph.weights";

impl GraphModel {
    /// Whether a container holds a graph model.
    pub fn is_in(container: &Container) -> bool {
        container.has(DESCRIPTION)
    }

    /// Adds the model to a container as sections that begin with `graph.`.
    pub fn write<'a>(&'a self, writer: &mut ContainerWriter<'a>) {
        let structure = &self.structure;
        writer.add_str(DESCRIPTION, format!("{VERSION_LINE}{}", json(self.description())));
        let labels: Vec<Vec<&str>> = self.labels.iter().map(|labels| labels.iter().collect()).collect();
        writer.add_str(LABELS, json(&labels));
        self.observations.write(OBSERVATIONS, writer);
        for (number, template) in structure.templates.iter().enumerate() {
            let [offsets, entries, bias, forbidden] = sections(number);
            writer.add_u32s(&offsets, template.rows.offsets());
            writer.add_u32s(&entries, template.rows.all_columns());
            writer.add_u32s(&bias, &template.bias[..]);
            writer.add_u32s(&forbidden, &template.forbidden[..]);
        }
        if let Some(algorithm) = &self.algorithm {
            writer.add_str(ALGORITHM, algorithm.as_str());
        }
        writer.add_f64s(WEIGHTS, &self.weights[..]);
    }

    /// A hash of description, names, features and weights: equal for equal models.
    pub fn fingerprint(&self) -> u64 {
        let mut writer = ContainerWriter::new();
        self.write(&mut writer);
        writer.fingerprint()
    }

    /// The model in a container, checked. Names, features and weights stay where they lie. Code of custom relations
    /// is not in files: see [`GraphModel::with_relations`].
    pub fn read(container: &Arc<Container>) -> Result<Self, ContainerError> {
        let description = read_description(container)?;
        let labels = read_labels(container, description.layers.len())?;
        let observations = Names::read(OBSERVATIONS, container)?;
        let mut structure = Structure::skeleton(&description, labels.iter(), Relations::none())
            .map_err(|error| container.wrong_section(DESCRIPTION, error, "a model that fits its labels"))?;
        structure.observations = observations.len();
        let mut weights = 0;
        for number in 0..structure.templates.len() {
            read_template(container, &mut structure, number)?;
            let template = &structure.templates[number];
            weights += template.rows.len() + template.bias.len();
        }
        structure.number();
        let weights = read_weights(container, weights)?;
        let algorithm = if container.has(ALGORITHM) {
            Some(container.str(ALGORITHM)?.to_owned())
        } else {
            None
        };
        Ok(Self {
            labels,
            observations,
            structure,
            weights,
            algorithm,
        })
    }
}

/// Values of this crate always have a form in JSON.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn sections(template: usize) -> [String; 4] {
    [
        format!("graph.rows.{template}.offsets"),
        format!("graph.rows.{template}.entries"),
        format!("graph.bias.{template}"),
        format!("graph.forbidden.{template}"),
    ]
}

fn read_description(container: &Container) -> Result<Description, ContainerError> {
    let text = container.str(DESCRIPTION)?;
    let Some(text) = text.strip_prefix(VERSION_LINE) else {
        let version = text.lines().next().unwrap_or_default();
        let found = format!("{version:?}");
        let expected = format!(
            "{:?}, the version that this program reads",
            VERSION_LINE.trim_end()
        );
        return Err(container.wrong_section(DESCRIPTION, found, expected));
    };
    let description: Description = serde_json::from_str(text)
        .map_err(|error| container.wrong_section(DESCRIPTION, error, "the description of a graph model"))?;
    match description.check() {
        Ok(()) => Ok(description),
        Err(error) => Err(container.wrong_section(DESCRIPTION, error, "a sound description")),
    }
}

fn read_labels(container: &Container, layers: usize) -> Result<Vec<Alphabet>, ContainerError> {
    let lists: Vec<Vec<String>> = serde_json::from_str(container.str(LABELS)?)
        .map_err(|error| container.wrong_section(LABELS, error, "lists of labels"))?;
    if lists.len() != layers {
        let found = format!("{} lists of labels", lists.len());
        return Err(container.wrong_section(LABELS, found, format!("one for each of {layers} layers")));
    }
    let mut alphabets = Vec::new();
    for list in lists {
        let mut alphabet = Alphabet::new();
        for (count, label) in list.iter().enumerate() {
            if alphabet.intern(label) as usize != count {
                return Err(container.wrong_section(LABELS, format!("{label:?} twice"), "distinct labels"));
            }
        }
        alphabets.push(alphabet);
    }
    Ok(alphabets)
}

fn read_template(
    container: &Arc<Container>,
    structure: &mut Structure,
    number: usize,
) -> Result<(), ContainerError> {
    let observations = structure.observations;
    let template = &mut structure.templates[number];
    let width = template.width();
    let [offsets_name, entries_name, bias_name, forbidden_name] = sections(number);
    let offsets: Shared<u32> = container.shared(&offsets_name)?;
    let entries: Shared<u32> = container.shared(&entries_name)?;
    let rows = if offsets.is_empty() && entries.is_empty() {
        Some(FeatureTable::default())
    } else {
        let table = FeatureTable::from_parts(offsets, entries, width);
        table.filter(|table| table.rows() == observations)
    };
    template.rows = rows.ok_or_else(|| {
        container.wrong_section(
            &offsets_name,
            "borders that do not fit the entries",
            format!("rising borders of {observations} rows with distinct sorted entries below {width}"),
        )
    })?;
    template.bias = read_entries(container, &bias_name, width)?;
    template.forbidden = read_entries(container, &forbidden_name, width)?;
    Ok(())
}

fn read_entries(container: &Container, section: &str, width: usize) -> Result<Vec<u32>, ContainerError> {
    let entries = container.u32s(section)?.into_owned();
    let sound = entries.is_sorted_by(|one, next| one < next)
        && entries.last().is_none_or(|&entry| (entry as usize) < width);
    if sound {
        Ok(entries)
    } else {
        let expected = format!("distinct sorted numbers below {width}");
        Err(container.wrong_section(section, "other numbers", expected))
    }
}

fn read_weights(container: &Arc<Container>, count: usize) -> Result<Shared<f64>, ContainerError> {
    let weights: Shared<f64> = container.shared(WEIGHTS)?;
    if weights.len() != count {
        let expected = format!("one for each of {count} features");
        return Err(container.wrong_section(WEIGHTS, format!("{} weights", weights.len()), expected));
    }
    if weights.iter().all(|weight| weight.is_finite()) {
        Ok(weights)
    } else {
        Err(container.wrong_section(WEIGHTS, "a weight that is not finite", "finite weights"))
    }
}

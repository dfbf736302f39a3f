//! [`GraphInspection`]: what is in a graph model, for people and programs to read.

use super::GraphModel;
use crate::describe::{Form, Per};
use crate::structure::TemplateFeatures;
use serde::Serialize;
use std::fmt;

/// Sizes and strongest weights of a [`GraphModel`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphInspection {
    /// The algorithm by which the weights were found, if it was noted.
    pub algorithm: Option<String>,
    /// Kinds of variables.
    pub layers: Vec<LayerSizes>,
    /// Number of observations with a weight.
    pub observations: usize,
    /// Number of weights.
    pub weights: usize,
    /// Those that are not zero.
    pub active_weights: usize,
    /// Templates: those of distant positions and of several layers first, then chains, then single variables.
    pub templates: Vec<TemplateWeights>,
}

/// The size of a layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerSizes {
    /// Its name.
    pub name: String,
    /// How many variables it has.
    pub per: Per,
    /// Number of labels.
    pub labels: usize,
}

/// The strongest weights of a template.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TemplateWeights {
    /// The template.
    pub template: String,
    /// The layers of the variables that it joins.
    pub layers: Vec<String>,
    /// Weights of observation × labels.
    pub observed: usize,
    /// Weights of labels alone.
    pub biases: usize,
    /// Label assignments that are impossible.
    pub forbidden: usize,
    /// The strongest weights, by absolute value.
    pub strongest: Vec<StrongWeight>,
}

/// A feature with its weight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StrongWeight {
    /// What is observed; nothing for a weight of labels alone.
    pub observation: Option<String>,
    /// The labels, in the order of the variables.
    pub labels: Vec<String>,
    /// The weight.
    pub weight: f64,
}

impl GraphModel {
    /// What is in the model, with the `most` strongest weights of each template.
    pub fn inspect(&self, most: usize) -> GraphInspection {
        let layers = self.description().layers.iter().zip(&self.labels);
        let mut templates: Vec<&TemplateFeatures> = self.structure.templates.iter().collect();
        templates.sort_by_key(|template| rank(template));
        GraphInspection {
            algorithm: self.algorithm.clone(),
            layers: layers
                .map(|(layer, labels)| LayerSizes {
                    name: layer.name.clone(),
                    per: layer.per,
                    labels: labels.len(),
                })
                .collect(),
            observations: self.observations.len(),
            weights: self.weights.len(),
            active_weights: self.active(),
            templates: templates
                .into_iter()
                .map(|template| self.template_weights(template, most))
                .collect(),
        }
    }

    fn template_weights(&self, template: &TemplateFeatures, most: usize) -> TemplateWeights {
        let layers = template.elementary.layers.iter();
        let strongest = self.strongest(template, most).into_iter();
        TemplateWeights {
            template: template.elementary.name.clone(),
            layers: layers
                .map(|&layer| self.description().layers[layer].name.clone())
                .collect(),
            observed: template.row_weights().len(),
            biases: template.bias_weights().len(),
            forbidden: template.forbidden.len(),
            strongest: strongest
                .map(|(weight, row, entry)| StrongWeight {
                    observation: row.map(|row| self.observations.name(row).to_owned()),
                    labels: self.label_names(template, entry),
                    weight,
                })
                .collect(),
        }
    }

    /// The strongest weights of a template with observation and entry; of equally strong ones the first.
    fn strongest(&self, template: &TemplateFeatures, most: usize) -> Vec<(f64, Option<u32>, u32)> {
        let (rows, weights) = (&template.rows, &self.weights[template.row_weights()]);
        let observed = (0..self.observations.len() as u32).flat_map(|row| {
            let features = rows.features(row);
            let entries = rows.columns(row).iter();
            entries
                .zip(&weights[features])
                .map(move |(&entry, &weight)| (weight, Some(row), entry))
        });
        let biases = template.bias.iter().zip(&self.weights[template.bias_weights()]);
        let biases = biases.map(|(&entry, &weight)| (weight, None, entry));
        let mut list = Vec::new();
        for feature in biases.chain(observed).filter(|feature| feature.0 != 0.0) {
            list.push(feature);
            // Sorting now and then keeps the list short at a constant cost for each weight.
            if list.len() >= most.saturating_mul(2).max(64) {
                cut(&mut list, most);
            }
        }
        cut(&mut list, most);
        list
    }

    fn label_names(&self, template: &TemplateFeatures, entry: u32) -> Vec<String> {
        let layers = template.elementary.layers.iter().zip(template.labels_of(entry));
        layers
            .map(|(&layer, label)| self.labels[layer].name(label).to_owned())
            .collect()
    }
}

fn cut(list: &mut Vec<(f64, Option<u32>, u32)>, most: usize) {
    list.sort_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
    list.truncate(most);
}

/// What is not told by single positions or neighbours comes first.
fn rank(template: &TemplateFeatures) -> u8 {
    match (&template.elementary.form, template.shape.len()) {
        (Form::Skip(_), _) => 0,
        (Form::Between | Form::Window(_), _) => 1,
        (Form::Custom(_), 2..) => 2,
        (Form::Chain, _) => 3,
        (Form::Custom(_) | Form::Start | Form::End, _) => 4,
        (Form::Unary, _) => 5,
    }
}

impl fmt::Display for GraphInspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Graph model of {} and {}",
            counted(self.layers.len(), "layer"),
            counted(self.templates.len(), "template")
        )?;
        if let Some(algorithm) = &self.algorithm {
            writeln!(f, "  trained by {algorithm}")?;
        }
        for layer in &self.layers {
            let per = match layer.per {
                Per::Position => "position",
                Per::Instance => "instance",
            };
            let labels = counted(layer.labels, "label");
            writeln!(
                f,
                "  layer {}: {labels}, one variable per {per}",
                one_line(&layer.name)
            )?;
        }
        for (name, count) in [
            ("observations", self.observations),
            ("weights", self.weights),
            ("  not zero", self.active_weights),
        ] {
            writeln!(f, "  {name:<28} {:>15}", grouped(count))?;
        }
        self.templates
            .iter()
            .try_for_each(|template| write!(f, "{template}"))
    }
}

impl fmt::Display for TemplateWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layers: Vec<String> = self.layers.iter().map(|name| one_line(name)).collect();
        write!(
            f,
            "\n{} ({}): {} of observations, {} of labels",
            one_line(&self.template),
            layers.join(", "),
            counted(self.observed, "weight"),
            grouped(self.biases)
        )?;
        if self.forbidden > 0 {
            write!(f, ", {} impossible", grouped(self.forbidden))?;
        }
        writeln!(f)?;
        let joined = |labels: &[String]| {
            let names: Vec<String> = labels.iter().map(|name| one_line(name)).collect();
            names.join(" · ")
        };
        let labels: Vec<String> = self.strongest.iter().map(|one| joined(&one.labels)).collect();
        let column = labels
            .iter()
            .map(|label| label.chars().count())
            .max()
            .unwrap_or(0);
        for (feature, labels) in self.strongest.iter().zip(&labels) {
            let observation = feature.observation.as_deref().map(one_line).unwrap_or_default();
            let line = format!(
                "  {:>9}  {labels:<column$}  {observation}",
                signed(feature.weight)
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A name without line ends and other controls.
pub(super) fn one_line(name: &str) -> String {
    let symbol = |symbol: char| match symbol.is_control() {
        true => symbol.escape_default().to_string(),
        false => symbol.to_string(),
    };
    name.chars().map(symbol).collect()
}

fn counted(count: usize, unit: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {unit}{plural}", grouped(count))
}

/// A count with its thousands set apart.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

/// A weight in few characters, with its sign.
pub(super) fn signed(weight: f64) -> String {
    match weight.abs() {
        0.0 | 1e-3..1e6 => format!("{weight:+.3}"),
        _ => format!("{weight:+.2e}"),
    }
}

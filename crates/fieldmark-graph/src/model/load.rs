//! Text dumps of graph models, read back line by line. [`super::dump`] has the form of the lines.

use super::GraphModel;
use super::dump::FIRST;
use crate::describe::Description;
use crate::structure::{Relations, Structure, TemplateFeatures};
use fieldmark_core::dump::{DumpError, Lines, Wrong, parse_weight};
use fieldmark_core::feature_table::{FeatureTable, TooManyFeatures};
use fieldmark_core::{Alphabet, Names};
use std::io::BufRead;

impl GraphModel {
    /// Whether a text begins as [`GraphModel::dump`] writes it.
    pub fn is_dump(text: &[u8]) -> bool {
        text.starts_with(FIRST.as_bytes())
    }

    /// The model that [`GraphModel::dump`] wrote, equal in every bit. Code of custom relations is not in texts: see
    /// [`GraphModel::with_relations`].
    pub fn from_dump(text: impl BufRead) -> Result<Self, DumpError> {
        let mut lines = Lines::new(text);
        lines.begin(FIRST)?;
        let description = description(&mut lines)?;
        let (labels, structure) = layers(&mut lines, &description)?;
        let mut loader = Loader {
            labels,
            structure,
            observations: Alphabet::new(),
            template: None,
            open: Open::default(),
            weights: Vec::new(),
            algorithm: None,
        };
        while let Some(line) = lines.before_end()? {
            loader.line(line).map_err(|wrong| lines.wrong(wrong))?;
        }
        let model = loader.finish().map_err(|wrong| lines.wrong(wrong))?;
        lines.finish()?;
        Ok(model)
    }
}

fn description<R: BufRead>(lines: &mut Lines<R>) -> Result<Description, DumpError> {
    lines.advance()?;
    let Some(text) = lines.current()?.strip_prefix("description\t") else {
        return Err(lines.wrong(Wrong::expected("`description`, a tab and a description in JSON")));
    };
    let parsed: Result<Description, _> = serde_json::from_str(text);
    let checked =
        parsed
            .map_err(|error| error.to_string())
            .and_then(|description| match description.check() {
                Ok(()) => Ok(description),
                Err(error) => Err(error.to_string()),
            });
    checked.map_err(|error| {
        lines.wrong(Wrong::Expected(format!(
            "the description of a graph model: {error}"
        )))
    })
}

/// The lines of all layers, and the model without features that they make.
fn layers<R: BufRead>(
    lines: &mut Lines<R>,
    description: &Description,
) -> Result<(Vec<Alphabet>, Structure), DumpError> {
    let mut alphabets = Vec::new();
    for layer in &description.layers {
        lines.advance()?;
        let expected = || {
            let expected = format!(
                "`layer`, the name {:?} and distinct labels, separated by tabs",
                layer.name
            );
            lines.wrong(Wrong::Expected(expected))
        };
        let mut fields = lines.current()?.split('\t');
        if fields.next() != Some("layer") {
            return Err(expected());
        }
        let names: Option<Vec<String>> = fields.map(unquoted).collect();
        let Some([name, labels @ ..]) = names.as_deref() else {
            return Err(expected());
        };
        let alphabet: Alphabet = labels.iter().collect();
        if *name != layer.name || alphabet.len() != labels.len() {
            return Err(expected());
        }
        alphabets.push(alphabet);
    }
    let skeleton = Structure::skeleton(description, alphabets.iter(), Relations::none());
    let structure = skeleton.map_err(|error| lines.wrong(Wrong::Limit(error.to_string())))?;
    Ok((alphabets, structure))
}

/// A model that grows line by line.
struct Loader {
    labels: Vec<Alphabet>,
    structure: Structure,
    observations: Alphabet,
    /// The template that the lines belong to; `None` while observations are named.
    template: Option<usize>,
    open: Open,
    weights: Vec<f64>,
    algorithm: Option<String>,
}

/// The features of the template that is being read.
#[derive(Default)]
struct Open {
    /// Start of each row that was begun.
    offsets: Vec<u32>,
    entries: Vec<u32>,
    weights: Vec<f64>,
    bias: Vec<u32>,
    bias_weights: Vec<f64>,
    forbidden: Vec<u32>,
}

impl Loader {
    fn line(&mut self, line: &str) -> Result<(), Wrong> {
        let mut fields = line.split('\t');
        let kind = fields.next().unwrap_or_default();
        let fields: Vec<&str> = fields.collect();
        if self.algorithm.is_some() {
            return Err(Wrong::expected("`end` after `algorithm`"));
        }
        match (kind, &fields[..]) {
            ("observation", [name]) => self.observation(name),
            ("template", [name, layers @ ..]) => self.begin_template(name, layers),
            ("weight", [name, labels @ .., weight]) => self.weight(name, labels, weight),
            ("bias", [labels @ .., weight]) => self.bias(labels, weight),
            ("forbid", labels) => self.forbid(labels),
            ("algorithm", [name]) => {
                self.algorithm = Some(name_in(name)?);
                Ok(())
            }
            _ => Err(Wrong::expected(
                "`observation`, `template`, `weight`, `bias`, `forbid`, `algorithm` or `end` with its fields, \
                 separated by tabs",
            )),
        }
    }

    fn observation(&mut self, name: &str) -> Result<(), Wrong> {
        if self.template.is_some() {
            return Err(Wrong::expected(
                "this line further up: observations come before templates",
            ));
        }
        let count = self.observations.len();
        if self.observations.intern(&name_in(name)?) as usize == count {
            Ok(())
        } else {
            Err(Wrong::expected("an observation that has not been named yet"))
        }
    }

    fn begin_template(&mut self, name: &str, layers: &[&str]) -> Result<(), Wrong> {
        let next = match self.template {
            Some(template) => {
                self.close_template(template)?;
                template + 1
            }
            None => 0,
        };
        let Some(template) = self.structure.templates.get(next) else {
            return Err(Wrong::expected("`end`: the description has no more templates"));
        };
        let own = template.elementary.layers.iter();
        let own = own.map(|&layer| Some(self.structure.description().layers[layer].name.clone()));
        let is_expected = unquoted(name).as_ref() == Some(&template.elementary.name)
            && own.eq(layers.iter().map(|layer| unquoted(layer)));
        if !is_expected {
            let name = &template.elementary.name;
            return Err(Wrong::Expected(format!("the template {name:?} with its layers")));
        }
        self.template = Some(next);
        Ok(())
    }

    /// The template that is being read.
    fn template(&self) -> Result<&TemplateFeatures, Wrong> {
        let template = self.template.map(|template| &self.structure.templates[template]);
        template.ok_or_else(|| Wrong::expected("`template` before its weights"))
    }

    /// The number of a label assignment.
    fn entry(&self, labels: &[&str]) -> Result<u32, Wrong> {
        let template = self.template()?;
        if labels.len() != template.shape.len() {
            let expected = format!("a label for each of {} variables", template.shape.len());
            return Err(Wrong::Expected(expected));
        }
        let places = labels
            .iter()
            .zip(&template.elementary.layers)
            .zip(&template.shape);
        let mut entry = 0;
        for ((label, &layer), &count) in places {
            let found = self.labels[layer].get(&name_in(label)?);
            let expected = || Wrong::Expected(format!("a label of the layer in place of {label}"));
            entry = entry * count + found.ok_or_else(expected)?;
        }
        Ok(entry)
    }

    fn weight(&mut self, name: &str, labels: &[&str], weight: &str) -> Result<(), Wrong> {
        let entry = self.entry(labels)?;
        let row = self.observations.get(&name_in(name)?);
        let row = row.ok_or_else(|| Wrong::expected("an observation that was named before"))? as usize;
        let open = &mut self.open;
        if !(open.bias.is_empty() && open.forbidden.is_empty()) {
            return Err(Wrong::expected(
                "weights of observations before biases and forbidden labels",
            ));
        }
        let is_new = row >= open.offsets.len();
        while open.offsets.len() <= row {
            let start = u32::try_from(open.entries.len());
            open.offsets
                .push(start.map_err(|_| Wrong::Limit(TooManyFeatures.to_string()))?);
        }
        let in_order = row + 1 == open.offsets.len() && (is_new || open.entries.last() < Some(&entry));
        if !in_order {
            return Err(Wrong::expected(
                "each weight once, in the order of observations and labels",
            ));
        }
        open.entries.push(entry);
        open.weights.push(parse_weight(weight)?);
        Ok(())
    }

    fn bias(&mut self, labels: &[&str], weight: &str) -> Result<(), Wrong> {
        let entry = self.entry(labels)?;
        let open = &mut self.open;
        if open.bias.last() >= Some(&entry) || !open.forbidden.is_empty() {
            return Err(Wrong::expected(
                "each bias once, in the order of labels, before forbidden labels",
            ));
        }
        open.bias.push(entry);
        open.bias_weights.push(parse_weight(weight)?);
        Ok(())
    }

    fn forbid(&mut self, labels: &[&str]) -> Result<(), Wrong> {
        let entry = self.entry(labels)?;
        if self.open.forbidden.last() >= Some(&entry) {
            return Err(Wrong::expected("each of them once, in the order of labels"));
        }
        self.open.forbidden.push(entry);
        Ok(())
    }

    fn close_template(&mut self, template: usize) -> Result<(), Wrong> {
        let mut open = std::mem::take(&mut self.open);
        let template = &mut self.structure.templates[template];
        if !open.entries.is_empty() {
            let end = u32::try_from(open.entries.len());
            let end = end.map_err(|_| Wrong::Limit(TooManyFeatures.to_string()))?;
            open.offsets.resize(self.observations.len() + 1, end);
            let rows = FeatureTable::from_parts(open.offsets.into(), open.entries.into(), template.width());
            // The rows were checked when they were filled.
            template.rows = rows.ok_or_else(|| Wrong::expected("weights that fit together"))?;
        }
        template.bias = open.bias;
        template.forbidden = open.forbidden;
        self.weights.extend(open.weights);
        self.weights.extend(open.bias_weights);
        Ok(())
    }

    fn finish(mut self) -> Result<GraphModel, Wrong> {
        if let Some(template) = self.template {
            self.close_template(template)?;
        }
        let read = self.template.map_or(0, |template| template + 1);
        if let Some(missing) = self.structure.templates.get(read) {
            let name = &missing.elementary.name;
            return Err(Wrong::Expected(format!("the template {name:?} before `end`")));
        }
        self.structure.observations = self.observations.len();
        self.structure.number();
        Ok(GraphModel {
            labels: self.labels,
            observations: Names::new(self.observations.iter()),
            structure: self.structure,
            weights: self.weights.into(),
            algorithm: self.algorithm,
        })
    }
}

fn name_in(field: &str) -> Result<String, Wrong> {
    unquoted(field).ok_or_else(|| Wrong::Expected(format!("a name as a JSON string in place of {field}")))
}

fn unquoted(field: &str) -> Option<String> {
    serde_json::from_str(field).ok()
}

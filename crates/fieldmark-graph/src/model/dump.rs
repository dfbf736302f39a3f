//! A [`GraphModel`] as text: every weight on a line of its own, and the same model back from it.

use super::GraphModel;
use super::file::json;
use crate::structure::TemplateFeatures;
use std::io::{self, BufWriter, Write};

pub(super) const FIRST: &str = "fieldmark-graph\t1";

impl GraphModel {
    /// Writes the model as text; [`GraphModel::from_dump`] makes the same model of it.
    ///
    /// Fields are separated by tabs, names are JSON strings. Numbers are written in the shortest form that reads as the
    /// same number.
    ///
    /// ```text
    /// fieldmark-graph  1
    /// description  {"layers":[{"name":"pos","per":"position"}],"templates":[…],…}
    /// layer        "pos"        "NN"           "VB"
    /// observation  "word=Paris"
    /// template     "unary:pos"  "pos"
    /// weight       "word=Paris" "NN"  1.25
    /// template     "chain:pos"  "pos"          "pos"
    /// bias         "NN"         "VB"  0.5
    /// forbid       "VB"         "VB"
    /// algorithm    "lbfgs"
    /// end
    /// ```
    ///
    /// There is a line for each layer, observation and template. After a template come its weights, observation by
    /// observation in the order of labels, then the biases of label assignments, then the impossible ones. The
    /// line `algorithm` is there if it was noted.
    pub fn dump(&self, to: impl Write) -> io::Result<()> {
        let mut to = BufWriter::new(to);
        writeln!(to, "{FIRST}")?;
        writeln!(to, "description\t{}", json(self.description()))?;
        for (layer, labels) in self.description().layers.iter().zip(&self.labels) {
            let labels = labels.iter().map(|label| format!("\t{}", json(&label)));
            writeln!(to, "layer\t{}{}", json(&layer.name), labels.collect::<String>())?;
        }
        for observation in self.observations.iter() {
            writeln!(to, "observation\t{}", json(&observation))?;
        }
        for template in &self.structure.templates {
            self.dump_template(template, &mut to)?;
        }
        if let Some(algorithm) = &self.algorithm {
            writeln!(to, "algorithm\t{}", json(algorithm))?;
        }
        writeln!(to, "end")?;
        to.flush()
    }

    fn dump_template(&self, template: &TemplateFeatures, to: &mut impl Write) -> io::Result<()> {
        let layers = template.elementary.layers.iter();
        let layers = layers.map(|&layer| format!("\t{}", json(&self.description().layers[layer].name)));
        let name = json(&template.elementary.name);
        writeln!(to, "template\t{name}{}", layers.collect::<String>())?;
        let weights = &self.weights[template.row_weights()];
        for (row, observation) in self.observations.iter().enumerate() {
            let features = template.rows.features(row as u32);
            let entries = template.rows.columns(row as u32);
            for (&entry, weight) in entries.iter().zip(&weights[features]) {
                let labels = self.label_fields(template, entry);
                writeln!(to, "weight\t{}{labels}\t{weight:?}", json(&observation))?;
            }
        }
        for (&entry, weight) in template.bias.iter().zip(&self.weights[template.bias_weights()]) {
            writeln!(to, "bias{}\t{weight:?}", self.label_fields(template, entry))?;
        }
        for &entry in &template.forbidden {
            writeln!(to, "forbid{}", self.label_fields(template, entry))?;
        }
        Ok(())
    }

    fn label_fields(&self, template: &TemplateFeatures, entry: u32) -> String {
        let labels = template.labels_of(entry);
        let layers = template.elementary.layers.iter().zip(labels);
        layers
            .map(|(&layer, label)| format!("\t{}", json(&self.labels[layer].name(label))))
            .collect()
    }
}

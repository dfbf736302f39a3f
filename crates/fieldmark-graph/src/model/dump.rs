//! A [`GraphModel`] as text, for human eyes and other programs: one line for each weight, fields between tabs, names as
//! JSON strings.

use super::GraphModel;
use crate::structure::TemplateFeatures;
use std::io::{self, Write};

impl GraphModel {
    /// Writes the model as text.
    ///
    /// ```text
    /// graph      1
    /// layer      "pos"      "NN"           "VB"
    /// template   "unary:pos"  "pos"
    /// weight     "unary:pos"  "word=Paris" "NN"  1.25
    /// bias       "chain:pos"  "NN"         "VB"  0.5
    /// forbid     "chain:pos"  "VB"         "VB"
    /// end
    /// ```
    pub fn dump(&self, mut to: impl Write) -> io::Result<()> {
        writeln!(to, "graph\t1")?;
        if let Some(algorithm) = &self.algorithm {
            writeln!(to, "algorithm\t{}", quoted(algorithm))?;
        }
        for (layer, labels) in self.description().layers.iter().zip(&self.labels) {
            let labels = labels.iter().map(|label| format!("\t{}", quoted(label)));
            writeln!(to, "layer\t{}{}", quoted(&layer.name), labels.collect::<String>())?;
        }
        for template in &self.structure.templates {
            self.dump_template(template, &mut to)?;
        }
        writeln!(to, "end")
    }

    fn dump_template(&self, template: &TemplateFeatures, to: &mut impl Write) -> io::Result<()> {
        let name = quoted(&template.elementary.name);
        let layers = template.elementary.layers.iter();
        let layers = layers.map(|&layer| format!("\t{}", quoted(&self.description().layers[layer].name)));
        writeln!(to, "template\t{name}{}", layers.collect::<String>())?;
        let weights = &self.weights[template.row_weights()];
        for (row, observation) in self.observations.iter().enumerate() {
            let features = template.rows.features(row as u32);
            let entries = template.rows.columns(row as u32);
            for (&entry, weight) in entries.iter().zip(&weights[features]) {
                let labels = self.label_fields(template, entry);
                writeln!(to, "weight\t{name}\t{}{labels}\t{weight:?}", quoted(observation))?;
            }
        }
        for (&entry, weight) in template.bias.iter().zip(&self.weights[template.bias_weights()]) {
            writeln!(
                to,
                "bias\t{name}{}\t{weight:?}",
                self.label_fields(template, entry)
            )?;
        }
        for &entry in &template.forbidden {
            writeln!(to, "forbid\t{name}{}", self.label_fields(template, entry))?;
        }
        Ok(())
    }

    fn label_fields(&self, template: &TemplateFeatures, entry: u32) -> String {
        let labels = template.labels_of(entry);
        let layers = template.elementary.layers.iter().zip(labels);
        layers
            .map(|(&layer, label)| format!("\t{}", quoted(self.labels[layer].name(label))))
            .collect()
    }
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

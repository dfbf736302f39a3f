//! Hidden layers: those of which training data say no label, and the weights from which their training starts.
//!
//! From weights of 0 all labels of a hidden layer are alike, and so is the gradient of their weights: training would never
//! tell them apart. So the weights of its templates start with small random numbers, which depend on nothing but a seed and
//! their place.

use crate::Error;
use crate::config::{GraphConfig, LayerConfig, ObjectiveName, StartConfig};
use fieldmark_core::random::SplitMix64;
use fieldmark_graph::{GraphDataset, Structure};
use fieldmark_text::formats::{NoticeKind, Notices};

/// The weights that training starts from if no model gives others. What there is to tell of hidden layers is a notice.
///
/// # Errors
/// If the objective can learn nothing about a hidden layer.
pub(super) fn start_weights(
    graph: &GraphConfig,
    layers: &[LayerConfig],
    structure: &Structure,
    data: &GraphDataset,
    notices: &mut Notices,
) -> Result<Vec<f64>, Error> {
    let hidden: Vec<bool> = (0..layers.len()).map(|layer| data.is_hidden(layer)).collect();
    let learned = Learned::find(graph.objective, structure, &hidden);
    for (layer, config) in layers.iter().enumerate() {
        if hidden[layer] {
            learned.check(layer, &config.name, graph.objective)?;
        }
    }
    let mut weights = vec![0.0; structure.weights()];
    let start = graph.start.clone().unwrap_or_default();
    let mut random = SplitMix64(start.seed);
    let names: Vec<&str> = structure.template_names().collect();
    for (template, name) in names.iter().enumerate() {
        let is_hidden = structure
            .template_layers(template)
            .iter()
            .any(|&layer| hidden[layer]);
        if !learned.templates[template] {
            let message = format!(
                "graph.objective is \"pseudolikelihood\", which learns nothing about the template {name:?}: no label of what it \
                 joins is known. Its weights stay 0; the objective \"likelihood\" learns them"
            );
            notices.add(NoticeKind::Note, "", None, message);
        } else if is_hidden || graph.start.is_some() {
            for weight in &mut weights[structure.template_weights(template)] {
                *weight = start.scale * (2.0 * random.unit() - 1.0);
            }
        }
    }
    tell(&start, layers, &hidden, notices);
    Ok(weights)
}

fn tell(start: &StartConfig, layers: &[LayerConfig], hidden: &[bool], notices: &mut Notices) {
    let names = layers.iter().zip(hidden).filter(|(_, hidden)| **hidden);
    for (layer, _) in names {
        let message = format!(
            "no label of the layer {:?} is known: it is trained as a hidden layer, and its weights start with random numbers \
             between {} and {}, of the seed {} (graph.start)",
            layer.name, -start.scale, start.scale, start.seed
        );
        notices.add(NoticeKind::Note, "", None, message);
    }
}

/// What an objective learns something about.
struct Learned {
    templates: Vec<bool>,
    layers: Vec<bool>,
}

impl Learned {
    /// The likelihood learns about everything that is joined with known labels in some way. Factors of pseudolikelihood see
    /// no further than to neighbours that are known. The others learn from labels that are known alone.
    fn find(objective: ObjectiveName, structure: &Structure, hidden: &[bool]) -> Self {
        let scopes: Vec<&[usize]> = (0..structure.template_names().len())
            .map(|template| structure.template_layers(template))
            .collect();
        let known = |layer: &usize| !hidden[*layer];
        let mut layers: Vec<bool> = hidden.iter().map(|hidden| !hidden).collect();
        let rounds = match objective {
            ObjectiveName::Likelihood => hidden.len(),
            ObjectiveName::Pseudolikelihood => 1,
            ObjectiveName::Piecewise | ObjectiveName::SampleRank => 0,
        };
        for _ in 0..rounds {
            let before = layers.clone();
            for scope in &scopes {
                if scope.iter().any(|&layer| before[layer]) {
                    scope.iter().for_each(|&layer| layers[layer] = true);
                }
            }
        }
        let is_local = objective == ObjectiveName::Pseudolikelihood;
        let templates = scopes
            .iter()
            .map(|scope| !is_local || scope.len() == 1 || scope.iter().any(known));
        Self {
            templates: templates.collect(),
            layers,
        }
    }

    fn check(&self, layer: usize, name: &str, objective: ObjectiveName) -> Result<(), Error> {
        if self.layers[layer] {
            return Ok(());
        }
        let no_label = format!("no label of the layer {name:?} is known");
        Err(Error::Option(match objective {
            ObjectiveName::Likelihood => format!(
                "{no_label}, and no template joins it with a layer of which labels are known, so that nothing can be learned \
                 about it: join them in [[graph.templates]]"
            ),
            ObjectiveName::Pseudolikelihood => format!(
                "{no_label}, and no template joins it with a layer of which labels are known, as graph.objective = \
                 \"pseudolikelihood\" needs it to learn something about it: join them in [[graph.templates]], or take the \
                 objective \"likelihood\""
            ),
            ObjectiveName::Piecewise => format!(
                "{no_label}, and graph.objective is \"piecewise\", which learns from labels that are known alone: take the \
                 objective \"likelihood\""
            ),
            ObjectiveName::SampleRank => format!(
                "{no_label}, and graph.objective is \"sample-rank\", which learns from labels that are known alone: take the \
                 objective \"likelihood\""
            ),
        }))
    }
}

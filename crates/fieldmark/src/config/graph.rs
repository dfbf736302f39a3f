//! [`GraphConfig`]: models that are more than one chain.

use super::{Config, LabelConfig, SchemeName};
use crate::Error;
use fieldmark_graph::{
    Description, EngineChoice, Layer, Loss, Per, Relation, SampleRankOptions, Skip, Template,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A model of any structure, in the place of a chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphConfig {
    /// Which variables are joined.
    pub kind: KindName,
    /// What one graph is made of.
    pub instance: InstanceName,
    /// The kinds of labels. Without any there is one layer, of the labels that the section `labels` describes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerConfig>,
    /// In multi-label and hierarchical models: whether neighbouring positions are joined.
    pub chains: bool,
    /// In hierarchical models: whether layers are joined with each other at each position.
    pub pairs: bool,
    /// In skip-chain models: which distant positions are joined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skips: Vec<Skip>,
    /// What else is joined, in models of any kind. A template without a name, with the relation of one that the kind has
    /// already, takes its place; if it says nothing but what is forbidden, the rest of that one stays as it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<Template>,
    /// Features whose values sum to less than this get no weight.
    pub min_freq: f64,
    /// Observations in fewer instances than this get no weight.
    pub min_instances: usize,
    /// What training makes small.
    pub objective: ObjectiveName,
    /// The engine that marks texts.
    pub inference: EngineChoice,
    /// The engine of the likelihood in training; without it, that of `inference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_inference: Option<EngineChoice>,
    /// Options of the objective `sample-rank`.
    pub sample_rank: SampleRankOptions,
    /// Random weights to start training from, in the place of 0. Without it, only the weights of templates over a hidden
    /// layer, of which no label is known, start like that, with the defaults: from 0 its labels would all stay alike. Weights
    /// of a model to start from (`--warm-start`) go before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartConfig>,
}

/// Random weights to start training from: the same for the same seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StartConfig {
    /// Start of the random numbers.
    pub seed: u64,
    /// Weights lie between −scale and scale.
    pub scale: f64,
}

impl Default for StartConfig {
    fn default() -> Self {
        Self { seed: 0, scale: 0.5 }
    }
}

/// Larger random weights would decide everything before training begins.
const LARGEST_SCALE: f64 = 100.0;

/// One kind of labels, and where the data have them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LayerConfig {
    /// What it is called in templates, scores and columns.
    pub name: String,
    /// Whether there is a label for each token or for each instance.
    pub per: Per,
    /// Labels are in this column: `?` is open, `A|B` is one of both. Without it, they are made from spans, unless `labels`
    /// says what they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Labels that the layer has, in this order, whether the data show them or not; others that the data have come after
    /// them. A layer with `labels` and neither `column` nor `meta` is hidden: no label of it is known, and training finds out
    /// what its labels are good for (by the objectives likelihood and, next to layers with known labels, pseudolikelihood).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Of a layer per position: a token may only have the labels that this column says, `A|B` for one of both, in training as
    /// in use: what a lexicon or another model leaves possible. `?` leaves all. In training, the label of a token is always
    /// possible. Labels that only this column has are labels of the model, too; in use, a cell of which the model knows no
    /// label leaves all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<String>,
    /// Of a layer per instance: labels are what the documents say under this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<String>,
    /// How spans become labels of tokens.
    pub scheme: SchemeName,
    /// Of spans that lie over each other, which: 0 has the longest ones, 1 those for which 0 has no room, and so on.
    /// Without it, as 0, and what has no room is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<usize>,
    /// Types to learn; without it, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<String>>,
    /// Types that count as another one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rename: BTreeMap<String, String>,
}

/// Which variables are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KindName {
    /// Neighbours in one layer.
    LinearChain,
    /// Neighbours in each layer, and each layer with the next one at every position.
    #[default]
    Factorial,
    /// Neighbours in one layer, and distant positions that share an observation.
    SkipChain,
    /// All pairs of layers at every position.
    MultiLabel,
    /// A layer per instance with all layers per position.
    Hierarchical,
    /// Nothing but what `templates` say.
    Templates,
}

/// What one graph is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InstanceName {
    /// A sentence.
    #[default]
    Sentence,
    /// All sentences of a document.
    Document,
}

/// What training makes small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveName {
    /// The negative log-likelihood, exact or as the engine estimates it.
    #[default]
    Likelihood,
    /// That of every factor given the labels around it: the same time for any structure.
    Pseudolikelihood,
    /// That of every factor on its own.
    Piecewise,
    /// Wrong orders of neighbouring labellings that a sampler meets.
    SampleRank,
}

impl LayerConfig {
    /// What the section `labels` would say about this layer alone.
    pub(crate) fn labels(&self) -> LabelConfig {
        LabelConfig {
            scheme: self.scheme,
            column: self.column.clone(),
            types: self.types.clone(),
            rename: self.rename.clone(),
        }
    }

    /// How many labels it has in an instance of so many tokens.
    pub(crate) fn variables(&self, tokens: usize) -> usize {
        match self.per {
            Per::Position => tokens,
            Per::Instance => 1,
        }
    }

    /// Whether its labels are made from spans, and spans from its labels.
    pub fn has_spans(&self) -> bool {
        self.column.is_none() && self.meta.is_none() && self.labels.is_empty()
    }

    /// Whether no label of it is ever known.
    pub fn is_hidden(&self) -> bool {
        self.column.is_none() && self.meta.is_none() && !self.labels.is_empty()
    }
}

/// What a layer is called that has no name.
const ONLY_LAYER: &str = "label";

impl GraphConfig {
    /// The layers: those that are listed, or the one that the section `labels` describes.
    pub(crate) fn layers(&self, labels: &LabelConfig) -> Vec<LayerConfig> {
        if !self.layers.is_empty() {
            return self.layers.clone();
        }
        vec![LayerConfig {
            name: labels.column.clone().unwrap_or_else(|| ONLY_LAYER.to_owned()),
            column: labels.column.clone(),
            scheme: labels.scheme,
            types: labels.types.clone(),
            rename: labels.rename.clone(),
            ..LayerConfig::default()
        }]
    }

    /// Layers and templates.
    pub(crate) fn description(&self, layers: &[LayerConfig]) -> Result<Description, Error> {
        check_layers(layers)?;
        self.check_keys()?;
        if let Some(layer) = layers.iter().find(|layer| layer.meta.is_some())
            && self.instance != InstanceName::Document
        {
            return Err(Error::Option(format!(
                "the layer {:?} has labels of whole documents: graph.instance must be \"document\"",
                layer.name
            )));
        }
        let of = |per| {
            layers
                .iter()
                .filter(move |layer| layer.per == per)
                .map(|layer| layer.name.as_str())
        };
        let (positions, instances): (Vec<&str>, Vec<&str>) =
            (of(Per::Position).collect(), of(Per::Instance).collect());
        let wrong = |expected: &str| {
            let kind = self.kind_word();
            let found = format!(
                "{} layers per position and {} per instance",
                positions.len(),
                instances.len()
            );
            Err(Error::Option(format!(
                "graph.kind is {kind:?} with {found}, expected {expected}"
            )))
        };
        let mut description = match (self.kind, &positions[..], &instances[..]) {
            (KindName::LinearChain, &[layer], []) => Description::linear_chain(layer),
            (KindName::LinearChain, ..) => return wrong("one layer per position"),
            (KindName::SkipChain, &[layer], []) => Description::skip_chain(layer, self.skips_of(layer)),
            (KindName::SkipChain, ..) => return wrong("one layer per position"),
            (KindName::Factorial, [_, _, ..], []) => Description::factorial(&positions),
            (KindName::Factorial, ..) => return wrong("two layers per position or more"),
            (KindName::MultiLabel, [_, _, ..], []) => Description::multi_label(&positions, self.chains),
            (KindName::MultiLabel, ..) => return wrong("two layers per position or more"),
            (KindName::Hierarchical, [_, ..], &[parent]) => {
                Description::hierarchical(parent, &positions, self.chains, self.pairs)
            }
            (KindName::Hierarchical, ..) => return wrong("one per instance, and one or more per position"),
            (KindName::Templates, ..) => Description {
                layers: layers.iter().map(as_layer).collect(),
                ..Description::default()
            },
        };
        // In the order of the config, which is that of columns and scores.
        description.layers = layers.iter().map(as_layer).collect();
        let mut more = Vec::new();
        for template in self.templates.iter().cloned() {
            let template = at_layer(template, &positions);
            let mut of_kind = description.templates.iter_mut();
            match of_kind.find(|own| template.name.is_empty() && own.relation == template.relation) {
                Some(own) => refine(own, template),
                None => more.push(template),
            }
        }
        description.templates.extend(more);
        description.min_freq = self.min_freq;
        description.min_instances = self.min_instances;
        description
            .check()
            .map_err(|error| Error::Option(format!("in the section graph: {error}")))?;
        Ok(description)
    }

    /// The skips of the only layer.
    fn skips_of(&self, layer: &str) -> Vec<Skip> {
        let mut skips = self.skips.clone();
        skips.iter_mut().for_each(|skip| fill_layer(skip, layer));
        skips
    }

    /// A key that would have no effect is a misunderstanding.
    fn check_keys(&self) -> Result<(), Error> {
        let unused = [
            (
                "chains",
                self.chains && !matches!(self.kind, KindName::MultiLabel | KindName::Hierarchical),
                "kinds multi-label and hierarchical",
            ),
            (
                "pairs",
                self.pairs && self.kind != KindName::Hierarchical,
                "kind hierarchical",
            ),
            (
                "skips",
                !self.skips.is_empty() && self.kind != KindName::SkipChain,
                "kind skip-chain; in others, write [[graph.templates]] with relation.skip",
            ),
            (
                "training_inference",
                self.training_inference.is_some() && self.objective != ObjectiveName::Likelihood,
                "objective likelihood",
            ),
            (
                "sample_rank",
                self.sample_rank != SampleRankOptions::default()
                    && self.objective != ObjectiveName::SampleRank,
                "objective sample-rank",
            ),
        ];
        if let Some(start) = &self.start
            && !(start.scale > 0.0 && start.scale <= LARGEST_SCALE)
        {
            return Err(Error::Option(format!(
                "graph.start.scale is {}, expected a number above 0, {LARGEST_SCALE} at most",
                start.scale
            )));
        }
        match unused.iter().find(|(_, given, _)| *given) {
            Some((key, _, place)) => Err(Error::Option(format!("graph.{key} is for {place}"))),
            None if self.kind == KindName::SkipChain && self.skips.is_empty() => Err(Error::Option(
                "graph.kind is \"skip-chain\", but there is no [[graph.skips]] that says which positions are joined".into(),
            )),
            None if self.kind == KindName::Templates && self.templates.is_empty() => Err(Error::Option(
                "graph.kind is \"templates\", but there is no [[graph.templates]]".into(),
            )),
            None => Ok(()),
        }
    }

    /// The loss of the optimisers; `None` for SampleRank, which is an algorithm of its own.
    pub(crate) fn loss(&self) -> Option<Loss> {
        match self.objective {
            ObjectiveName::Likelihood => {
                let engine = self.training_inference.as_ref().unwrap_or(&self.inference);
                Some(Loss::Likelihood(engine.clone()))
            }
            ObjectiveName::Pseudolikelihood => Some(Loss::Pseudolikelihood),
            ObjectiveName::Piecewise => Some(Loss::Piecewise),
            ObjectiveName::SampleRank => None,
        }
    }

    fn kind_word(&self) -> &'static str {
        match self.kind {
            KindName::LinearChain => "linear-chain",
            KindName::Factorial => "factorial",
            KindName::SkipChain => "skip-chain",
            KindName::MultiLabel => "multi-label",
            KindName::Hierarchical => "hierarchical",
            KindName::Templates => "templates",
        }
    }
}

impl Config {
    /// The largest number of iterations of training, when there is one.
    pub fn max_iterations(&self) -> Result<Option<u64>, Error> {
        match &self.graph {
            Some(graph) if graph.objective == ObjectiveName::SampleRank => {
                Ok(Some(graph.sample_rank.max_iterations))
            }
            _ => Ok(self.training.algorithm(&[])?.max_iterations()),
        }
    }

    /// Keys about chains are of no use to a graph.
    pub(crate) fn check_graph(&self) -> Result<(), Error> {
        let Some(graph) = &self.graph else {
            return Ok(());
        };
        if self.model != super::ModelConfig::default() {
            return Err(Error::Option(
                "the section model is about chains, and this config has a section graph: leave one of them out".into(),
            ));
        }
        if !graph.layers.is_empty() && self.labels != LabelConfig::default() {
            return Err(Error::Option(
                "the section labels describes the only layer of a model, and graph.layers lists several: leave one of them \
                 out"
                    .into(),
            ));
        }
        Ok(())
    }
}

fn as_layer(layer: &LayerConfig) -> Layer {
    Layer {
        name: layer.name.clone(),
        per: layer.per,
    }
}

fn fill_layer(skip: &mut Skip, layer: &str) {
    if skip.layer.is_empty() {
        skip.layer = layer.to_owned();
    }
}

/// Lets a template of a config speak about one that a kind has already.
fn refine(own: &mut Template, given: Template) {
    let rest = Template {
        forbid: Vec::new(),
        forbid_unseen: false,
        ..given.clone()
    };
    if rest == Template::new(rest.relation.clone()) {
        own.forbid.extend(given.forbid);
        own.forbid_unseen |= given.forbid_unseen;
    } else {
        let name = std::mem::take(&mut own.name);
        *own = Template { name, ..given };
    }
}

/// A skip that names no layer is about the only one.
fn at_layer(mut template: Template, positions: &[&str]) -> Template {
    if let (Relation::Skip(skip), &[layer]) = (&mut template.relation, positions) {
        fill_layer(skip, layer);
    }
    template
}

fn check_layers(layers: &[LayerConfig]) -> Result<(), Error> {
    for (index, layer) in layers.iter().enumerate() {
        let wrong = |problem: &str| Err(Error::Option(format!("graph.layers[{index}] {problem}")));
        let spans = layer.scheme != SchemeName::default()
            || layer.depth.is_some()
            || layer.types.is_some()
            || !layer.rename.is_empty();
        match layer {
            LayerConfig { name, .. } if name.is_empty() => return wrong("has no name"),
            LayerConfig {
                column: Some(_),
                meta: Some(_),
                ..
            } => return wrong("has its labels both from a column and from metadata: choose one"),
            LayerConfig {
                column: Some(column),
                candidates: Some(candidates),
                ..
            } if column == candidates => {
                return wrong(
                    "has its candidates from the column of its labels: they are to be known where labels are not",
                );
            }
            LayerConfig {
                column: Some(column),
                per,
                ..
            } if layers[..index]
                .iter()
                .any(|other| other.column.as_ref() == Some(column) && other.per == *per) =>
            {
                return wrong(&format!(
                    "has the labels of the column {column:?}, as a layer before it: each needs one of its own"
                ));
            }
            LayerConfig {
                per: Per::Position,
                meta: Some(_),
                ..
            } => return wrong("has `meta`, which is for layers with per = \"instance\""),
            LayerConfig {
                per: Per::Instance,
                candidates: Some(_),
                ..
            } => {
                return wrong(
                    "has `candidates`, which are those of tokens, and is per instance: leave them out",
                );
            }
            layer if layer.per == Per::Instance && layer.has_spans() => {
                return wrong(
                    "is per instance: `column` or `meta` says where its labels are, or `labels` what they are if it is hidden",
                );
            }
            layer if !layer.has_spans() && spans => {
                return wrong(
                    "does not make labels from spans: scheme, depth, types and rename mean nothing to it",
                );
            }
            layer if layer.is_hidden() && layer.labels.len() < 2 => {
                return wrong(
                    "is hidden, as it has `labels` and neither `column` nor `meta`: it needs two labels or more",
                );
            }
            layer => check_names(&layer.labels).or_else(|problem| wrong(&problem))?,
        }
    }
    Ok(())
}

/// The labels that a config lists.
fn check_names(labels: &[String]) -> Result<(), String> {
    for (index, label) in labels.iter().enumerate() {
        if matches!(label.as_str(), "" | "_" | "?") || label.contains('|') {
            return Err(format!(
                "has {label:?} among its labels: `?` and `_` stand for unknown ones, and `|` stands between several"
            ));
        }
        if labels[..index].contains(label) {
            return Err(format!("has {label:?} among its labels twice"));
        }
    }
    Ok(())
}

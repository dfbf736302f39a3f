//! What a [`GraphAnnotator`](super::GraphAnnotator) says about instances, and about its own work.

use fieldmark_graph::Cut;
use fieldmark_text::formats::Notices;
use std::collections::BTreeMap;
use std::ops::Range;

/// What a [`GraphAnnotator`](super::GraphAnnotator) has to tell.
#[derive(Clone, Debug, Default)]
pub struct GraphReport {
    /// Instances that were labelled.
    pub instances: u64,
    /// Those whose labelling an engine could not bring to its goal before its limit.
    pub unsettled: u64,
    /// Those whose labelling is proved to be the best.
    pub proved: u64,
    /// Those with a bound that does not prove their labelling to be the best.
    pub unproved: u64,
    /// By how much a labelling that was not found may score higher than what was found, at most.
    pub largest_gap: f64,
    /// Those whose probabilities belong to messages that did not settle before the limit.
    pub unsettled_probabilities: u64,
    /// How many labels were known.
    pub known: u64,
    /// Spans whose probability is an estimate although the engine is exact, because their instances have cycles and too
    /// many spans for a sum each.
    pub estimated: u64,
    /// What limits of templates cut, by template.
    pub cuts: BTreeMap<String, CutCounts>,
    /// Instances without an answer in a comparison with gold, where `?` counts as wrong.
    pub unanswered: u64,
    /// Instances without an answer. Their labels are `?`.
    pub impossible: Vec<ImpossibleInstance>,
    /// Instances with labels, about which not all numbers that were asked for are known.
    pub unsure: Vec<ImpossibleInstance>,
    /// What of the labels that are known could not be used as it was.
    pub notices: Notices,
}

/// What the limit of a template cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutCounts {
    /// In how many instances.
    pub instances: u64,
    /// How many pairs of positions were not joined.
    pub pairs: u64,
}

/// An instance without an answer, or without a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImpossibleInstance {
    /// The id of its document.
    pub document: String,
    /// Its text.
    pub text: String,
    /// Why.
    pub problem: String,
    /// Whether no labelling is possible, and not that an engine gave up.
    pub is_ruled_out: bool,
}

impl GraphReport {
    /// Adds what happened elsewhere.
    pub fn extend(&mut self, other: GraphReport) {
        self.instances += other.instances;
        self.unsettled += other.unsettled;
        self.proved += other.proved;
        self.unproved += other.unproved;
        self.largest_gap = self.largest_gap.max(other.largest_gap);
        self.unsettled_probabilities += other.unsettled_probabilities;
        self.unanswered += other.unanswered;
        self.known += other.known;
        self.estimated += other.estimated;
        for (template, counts) in other.cuts {
            let own = self.cuts.entry(template).or_default();
            own.instances += counts.instances;
            own.pairs += counts.pairs;
        }
        self.impossible.extend(other.impossible);
        self.unsure.extend(other.unsure);
        self.notices.extend(other.notices);
    }

    pub(super) fn count_cut(&mut self, cut: &Cut) {
        let counts = self.cuts.entry(cut.template.clone()).or_default();
        counts.instances += 1;
        counts.pairs += cut.found.saturating_sub(cut.kept as u64);
    }
}

/// What a model says about one instance.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphAnswer {
    /// The bytes of each token.
    pub tokens: Vec<Range<usize>>,
    /// For each layer, the label of each token, or of the instance; `?` where there is no answer.
    pub labels: Vec<Vec<String>>,
    /// For each layer, the probability of each of these labels, if the engine knows it.
    pub probabilities: Option<Vec<Vec<f64>>>,
    /// For each layer and token, the probabilities of all labels, if they were asked for.
    pub marginals: Option<Vec<Vec<Vec<f64>>>>,
    /// For each layer and token, and for each label, the logarithm of the probability of the best labelling that has it, if
    /// they were asked for.
    pub max_marginals: Option<Vec<Vec<Vec<f64>>>>,
    /// The probabilities of the labels of every two variables that a factor joins, if they were asked for.
    pub pair_marginals: Option<Vec<GraphPair>>,
    /// Several labellings, best first, with the logarithm of their probabilities.
    pub best: Vec<(Vec<Vec<String>>, f64)>,
    /// The spans of the layers that have them.
    pub spans: Vec<GraphSpan>,
    /// The logarithm of the probability of the labelling, if the engine knows log Z.
    pub log_probability: Option<f64>,
    /// The logarithm of the sum of the exponentiated scores of all labellings, if the engine knows it.
    pub log_z: Option<f64>,
    /// The logarithm of the probability of all labellings that the labels of the document allow, if it was asked for and the
    /// document has labels; −∞ if they are ruled out.
    pub gold_log_probability: Option<f64>,
    /// How the labelling was found; nothing if there is none.
    pub decoding: Option<GraphDecoding>,
    /// Whether the messages settled from which probabilities come; nothing if there are none, or if they were sampled.
    pub probabilities_converged: Option<bool>,
    /// Why there is no answer.
    pub problem: Option<String>,
    /// Whether there is no answer because no labelling is possible, and not because an engine gave up.
    pub is_ruled_out: bool,
    /// Why not all numbers that were asked for are there.
    pub unsure: Option<String>,
}

/// The labels of two variables that depend on each other.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphPair {
    /// The number of the layer and the token of each; the token is 0 in layers with one variable per instance.
    pub places: [(usize, usize); 2],
    /// For each label of the first, the probability of each label of the second beside it.
    pub probabilities: Vec<Vec<f64>>,
}

/// How a labelling was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphDecoding {
    /// Whether the engine reached its goal; nothing for a sampler, which has none but its number of sweeps.
    pub converged: Option<bool>,
    /// Whether no labelling has a higher score.
    pub proved: bool,
    /// Its score.
    pub score: f64,
    /// What no labelling scores higher than, if the engine knows.
    pub bound: Option<f64>,
    /// Rounds of the engine.
    pub iterations: usize,
    /// How far the engine was from its goal.
    pub residual: f64,
}

/// A span that the labels of a layer make.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphSpan {
    /// The number of the layer.
    pub layer: usize,
    /// Its tokens in the instance.
    pub tokens: Range<usize>,
    /// Its type.
    pub kind: String,
    /// The probability of all labellings that have it, if the engine knows marginals.
    ///
    /// With an exact engine it is exact where the variables of the span and beside it are a path in a graph without
    /// cycles, as in chains, and in all instances with at most 100 spans; elsewhere it is estimated from the beliefs of
    /// neighbours.
    pub probability: Option<f64>,
}

/// The label of a whole instance.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphLabel {
    /// The number of the layer.
    pub layer: usize,
    /// From the start of the first token of the instance to the end of its last.
    pub bytes: Range<usize>,
    /// The label; `?` if there is no answer.
    pub label: String,
    /// Its probability, if the engine knows it.
    pub probability: Option<f64>,
}

impl GraphAnswer {
    /// The labels of each layer.
    pub(super) fn names(&self) -> Vec<Vec<&str>> {
        let layers = self.labels.iter();
        layers
            .map(|labels| labels.iter().map(String::as_str).collect())
            .collect()
    }

    /// No answer, for so many labels in each layer.
    pub(super) fn none(
        tokens: Vec<Range<usize>>,
        labels: impl Iterator<Item = usize>,
        problem: String,
        is_ruled_out: bool,
    ) -> Self {
        let open = |count| vec![super::gold::OPEN.to_owned(); count];
        Self {
            tokens,
            labels: labels.map(open).collect(),
            probabilities: None,
            marginals: None,
            max_marginals: None,
            pair_marginals: None,
            best: Vec::new(),
            spans: Vec::new(),
            log_probability: None,
            log_z: None,
            gold_log_probability: None,
            decoding: None,
            probabilities_converged: None,
            problem: Some(problem),
            is_ruled_out,
            unsure: None,
        }
    }
}

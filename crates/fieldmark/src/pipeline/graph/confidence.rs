//! How sure a model is of a span.

use fieldmark_chain::inference::SpanReader;
use fieldmark_core::scheme::Forbidden;
use fieldmark_core::{Alphabet, Scheme};
use fieldmark_graph::{Beliefs, Engine, Error, FactorGraph, LabelSets};
use std::ops::Range;

/// How the labels of a layer make spans.
pub(super) struct SpanRules {
    reader: SpanReader,
    /// For each label and each label after it: whether the graph forbids them to be neighbours.
    forbidden: Vec<bool>,
    /// Labels that graphs must not begin with.
    pub starts: Vec<u32>,
    /// Labels that graphs must not end with.
    pub ends: Vec<u32>,
}

impl SpanRules {
    /// The rules of a scheme; `forbidden` is what cannot be in graphs.
    pub fn new(scheme: Scheme, labels: &Alphabet, forbidden: Forbidden) -> Self {
        let mut pairs = vec![false; labels.len() * labels.len()];
        for (before, label) in forbidden.pairs {
            pairs[before as usize * labels.len() + label as usize] = true;
        }
        Self {
            reader: SpanReader::new(scheme, labels),
            forbidden: pairs,
            starts: forbidden.starts,
            ends: forbidden.ends,
        }
    }

    fn forbids(&self, before: u32, label: u32) -> bool {
        self.forbidden[before as usize * self.reader.labels() + label as usize]
    }
}

/// A span of a layer and what is beside it: the variables that decide whether it is there.
///
/// Labels make this span if it begins at its first token, goes on at the others, and does not go on behind them (Culotta
/// & McCallum 2004), whichever labels say so.
pub(super) struct Window<'a> {
    /// The variable before it if there is one, those of its tokens, the one after it if there is one.
    variables: &'a [u32],
    /// The place of its first token among them.
    start: usize,
    /// The place after its last token.
    end: usize,
    kind: u32,
    rules: &'a SpanRules,
}

impl<'a> Window<'a> {
    /// The window of a span in a layer with these variables; `None` if no label is of its type.
    pub fn new(layer: &'a [u32], tokens: &Range<usize>, kind: &str, rules: &'a SpanRules) -> Option<Self> {
        let first = tokens.start.saturating_sub(1);
        Some(Self {
            variables: &layer[first..(tokens.end + 1).min(layer.len())],
            start: tokens.start - first,
            end: tokens.end - first,
            kind: rules.reader.kinds().get(kind)?,
            rules,
        })
    }

    /// Whether a label at a place, behind another one, is as the span wants it.
    fn allows(&self, place: usize, before: Option<u32>, label: u32) -> bool {
        let reader = &self.rules.reader;
        if place < self.start {
            true
        } else if place == self.start {
            reader.begins(before, label) == Some(self.kind)
        } else {
            (reader.continues(before, label) == Some(self.kind)) == (place < self.end)
        }
    }

    /// Whether [`Window::probability_by_beliefs`] is exact if beliefs are, in a graph of these trees: every variable is
    /// joined to the one before it, or independent of all before it.
    pub fn is_path(&self, graph: &FactorGraph, trees: &[u32]) -> bool {
        let tree = |place: usize| trees[self.variables[place] as usize];
        (1..self.variables.len()).all(|place| {
            let [before, own] = [self.variables[place - 1], self.variables[place]];
            joint(graph, before, own).is_some() || (0..place).all(|other| tree(other) != tree(place))
        })
    }

    /// The probability of the span from beliefs of its variables and of the factors between neighbours alone, as if each
    /// variable depended on no other one before it.
    pub fn probability_by_beliefs(&self, graph: &FactorGraph, beliefs: &Beliefs<'_>) -> f64 {
        let mut mass: Vec<f64> = beliefs.variable(self.variables[0]).to_vec();
        for (label, mass) in (0..).zip(&mut mass) {
            if !self.allows(0, None, label) {
                *mass = 0.0;
            }
        }
        let mut pair = Vec::new();
        for place in 1..self.variables.len() {
            let [before, own] = [self.variables[place - 1], self.variables[place]];
            let alone = beliefs.variable(own);
            let factor = joint(graph, before, own);
            factor.inspect(|&factor| beliefs.factor(factor, &mut pair));
            let is_turned = factor.is_some_and(|factor| graph.scope(factor)[0] == own);
            let entry = |one: u32, other: u32| match (factor, is_turned) {
                (None, _) => alone[other as usize],
                (_, false) => pair[one as usize * alone.len() + other as usize],
                (_, true) => pair[other as usize * mass.len() + one as usize],
            };
            let mut next = vec![0.0; alone.len()];
            for (one, &mass) in (0..).zip(&mass).filter(|(_, mass)| **mass > 0.0) {
                let all: f64 = (0..alone.len() as u32).map(|other| entry(one, other)).sum();
                for (other, next) in (0..).zip(&mut next) {
                    if all > 0.0 && self.allows(place, Some(one), other) {
                        *next += mass * entry(one, other) / all;
                    }
                }
            }
            mass = next;
        }
        mass.iter().sum::<f64>().min(1.0)
    }

    /// The ways to label the window that make the span, in parts: all combinations of the labels of one part do, and no
    /// combination is in two parts.
    pub fn parts(&self, sets: &LabelSets) -> Vec<Vec<Vec<u32>>> {
        let first = sets.iter(self.variables[0]);
        let first: Vec<u32> = first.filter(|&label| self.allows(0, None, label)).collect();
        let mut parts = vec![vec![first]];
        for place in 1..self.variables.len() {
            let next = |&label: &u32| -> Vec<u32> {
                let next = sets.iter(self.variables[place]);
                next.filter(|&next| self.allows(place, Some(label), next) && !self.rules.forbids(label, next))
                    .collect()
            };
            let mut longer: Vec<Vec<Vec<u32>>> = Vec::new();
            for mut part in parts {
                // Labels with the same labels behind them go on together.
                let mut groups: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
                for label in part.pop().unwrap_or_default() {
                    let behind = next(&label);
                    match groups.iter_mut().find(|(_, other)| *other == behind) {
                        Some((labels, _)) => labels.push(label),
                        None => groups.push((vec![label], behind)),
                    }
                }
                for (labels, behind) in groups.into_iter().filter(|(_, behind)| !behind.is_empty()) {
                    longer.push(part.iter().cloned().chain([labels, behind]).collect());
                }
            }
            parts = longer;
        }
        parts.retain(|part| part.iter().all(|labels| !labels.is_empty()));
        parts
    }

    /// The exact probability of the span by an exact engine, from one sum over the whole graph for each of its
    /// [`Window::parts`].
    pub fn probability_by_sums(
        &self,
        parts: &[Vec<Vec<u32>>],
        graph: &mut FactorGraph,
        engine: &mut (dyn Engine + Send),
        log_z: f64,
    ) -> Result<f64, Error> {
        let sets = graph.label_sets().clone();
        let mut probability = 0.0;
        for part in parts {
            let mut restricted = self.variables.iter().zip(part);
            let part = restricted
                .try_for_each(|(&variable, labels)| graph.restrict(variable, labels.iter().copied()))
                .and_then(|()| Ok(engine.sum(graph)?.log_z().value()));
            *graph.label_sets_mut() = sets.clone();
            match part {
                Ok(part) => probability += part.map_or(0.0, |part| (part - log_z).exp()),
                Err(Error::Contradiction { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(probability.min(1.0))
    }
}

/// The factor that joins two variables and no other.
fn joint(graph: &FactorGraph, one: u32, other: u32) -> Option<usize> {
    graph.factors_of(other).find(|&factor| {
        let scope = graph.scope(factor);
        scope.len() == 2 && scope.contains(&one)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_core::random::SplitMix64;
    use fieldmark_graph::exact::{JunctionTree, Tree};
    use fieldmark_graph::{FactorGraphBuilder, LogZ};

    const NAMES: [&str; 5] = ["O", "B-X", "I-X", "I-Y", "S-X"];
    const LENGTH: usize = 3;

    /// A chain over labels of spans, with another chain joined to it or not; a transition of the first is impossible.
    fn graph(seed: u64, factorial: bool, forbidden: &[(u32, u32)]) -> FactorGraph {
        let mut random = SplitMix64(seed);
        let mut scores =
            |count: usize| -> Vec<f64> { (0..count).map(|_| 3.0 * random.unit() - 1.5).collect() };
        let mut builder = FactorGraphBuilder::default();
        let labels = NAMES.len();
        for _ in 0..LENGTH {
            builder.variable(labels as u32).unwrap();
        }
        for variable in 0..LENGTH as u32 {
            builder.factor_with(0, &[variable], &scores(labels)).unwrap();
        }
        for variable in 1..LENGTH as u32 {
            let mut table = scores(labels * labels);
            for &(one, other) in forbidden {
                table[one as usize * labels + other as usize] = f64::NEG_INFINITY;
            }
            builder.factor_with(1, &[variable - 1, variable], &table).unwrap();
        }
        if factorial {
            for variable in 0..LENGTH as u32 {
                let beside = builder.variable(2).unwrap();
                builder
                    .factor_with(2, &[beside, variable], &scores(2 * labels))
                    .unwrap();
                if variable > 0 {
                    builder.factor_with(3, &[beside - 1, beside], &scores(4)).unwrap();
                }
            }
        }
        builder.build()
    }

    /// The share of all labellings that have a span.
    fn enumerated(graph: &FactorGraph, scheme: Scheme, tokens: &Range<usize>, kind: &str) -> f64 {
        let counts: Vec<u32> = (0..graph.variables() as u32)
            .map(|variable| graph.labels(variable))
            .collect();
        let (mut with, mut all) = (0.0, 0.0);
        let mut labels = vec![0; counts.len()];
        loop {
            let weight = graph.score(&labels).unwrap().exp();
            all += weight;
            let names: Vec<&str> = labels[..LENGTH]
                .iter()
                .map(|&label| NAMES[label as usize])
                .collect();
            let mut spans = scheme.spans(&names).into_iter();
            if spans.any(|span| (span.start..span.end, span.kind) == (tokens.clone(), kind)) {
                with += weight;
            }
            let Some(place) = (0..labels.len()).find(|&place| labels[place] + 1 < counts[place]) else {
                return with / all;
            };
            labels[place] += 1;
            labels[..place].fill(0);
        }
    }

    #[test]
    fn spans_are_as_probable_as_enumeration_says() {
        let names: Alphabet = NAMES.iter().collect();
        let variables: Vec<u32> = (0..LENGTH as u32).collect();
        let mut several = false;
        for (seed, scheme) in (0..).zip(Scheme::ALL.into_iter().flat_map(|scheme| [scheme; 2])) {
            let is_legal = seed % 2 == 0;
            let forbidden = if is_legal {
                scheme.forbidden_pairs(&names)
            } else {
                Forbidden::default()
            };
            let (tree, mut loopy) = (
                graph(seed, false, &forbidden.pairs),
                graph(seed, true, &forbidden.pairs),
            );
            let rules = SpanRules::new(scheme, &names, forbidden);
            for (start, end) in
                (0..LENGTH).flat_map(|start| (start + 1..=LENGTH).map(move |end| (start, end)))
            {
                for kind in ["X", "Y"] {
                    let window = Window::new(&variables, &(start..end), kind, &rules).unwrap();
                    let trees = tree.trees().unwrap();
                    assert!(window.is_path(&tree, &trees) && loopy.trees().is_none());
                    let mut engine = Tree::new();
                    let found = window.probability_by_beliefs(&tree, &engine.sum(&tree).unwrap());
                    let expected = enumerated(&tree, scheme, &(start..end), kind);
                    assert!((found - expected).abs() < 1e-12, "{scheme:?} {found} {expected}");
                    let parts = window.parts(loopy.label_sets());
                    several |= parts.len() > 1;
                    let mut engine = JunctionTree::with_budget(1 << 20);
                    let LogZ::Exact(log_z) = engine.sum(&loopy).unwrap().log_z() else {
                        panic!()
                    };
                    let found = window
                        .probability_by_sums(&parts, &mut loopy, &mut engine, log_z)
                        .unwrap();
                    let expected = enumerated(&loopy, scheme, &(start..end), kind);
                    assert!((found - expected).abs() < 1e-12, "{scheme:?} {found} {expected}");
                }
            }
        }
        assert!(several);
    }

    #[test]
    fn variables_that_depend_on_each_other_from_afar_are_no_path() {
        let names: Alphabet = NAMES.iter().collect();
        let mut builder = FactorGraphBuilder::default();
        for _ in 0..4 {
            builder.variable(NAMES.len() as u32).unwrap();
        }
        let rules = SpanRules::new(Scheme::Iob2, &names, Forbidden::default());
        let variables = [0, 1, 2];
        let window = Window::new(&variables, &(0..2), "X", &rules).unwrap();
        let apart = builder.build();
        assert!(window.is_path(&apart, &apart.trees().unwrap()));
        let mut builder = apart.recycle();
        for _ in 0..4 {
            builder.variable(NAMES.len() as u32).unwrap();
        }
        for variable in [0, 2] {
            builder.factor_with(0, &[3, variable], &[0.0; 25]).unwrap();
        }
        let below = builder.build();
        assert!(!window.is_path(&below, &below.trees().unwrap()));
    }
}

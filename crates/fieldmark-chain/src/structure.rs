//! [`Structure`]: the features of a chain model, chosen from data by strategy.
//!
//! Weights are numbered: observation × label, observation × label pair, label tuples, label biases.

use crate::automaton::Automaton;
use crate::features::{FeatureTable, Occurrences, TooManyFeatures, instance_of_position};
use crate::transitions::{ForbiddenError, Transitions};
use crate::tuples::{Lengths, TooManyArcs, Tuples, Unrolled, for_each_tuple};
use fieldmark_core::{Dataset, Gold, Observations};
use std::ops::Range;

/// Which features a template gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// A weight for every observation with every label assignment: can speak against a label, too.
    All,
    /// Weights for the combinations that occur in the training data.
    #[default]
    Supported,
    /// One bias weight for each label assignment and none for observations.
    DefaultOnly,
}

/// What becomes of label pairs that are no neighbours in the training data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnseenTransitions {
    /// They are possible, and unlikely only as far as weights say so.
    #[default]
    Free,
    /// They are impossible, in training as in decoding: log Z is the sum over the other sequences.
    Forbid,
}

/// The shape of a chain model.
#[derive(Clone, Debug, PartialEq)]
pub struct StructureOptions {
    /// 0 (maximum entropy: positions are independent) to 3.
    pub order: usize,
    /// Features of single positions.
    pub states: Strategy,
    /// Features of label tuples, and of label pairs with pair observations.
    pub transitions: Strategy,
    /// Whether each label has a bias weight.
    pub label_bias: bool,
    /// Whether the start and the end of the sequence have weights with the labels next to them.
    pub boundaries: bool,
    /// In a chain of order 2 or 3: whether shorter tuples have weights too.
    pub lower_orders: bool,
    /// Features whose values sum to less than this in the training data get no weight.
    pub min_freq: f64,
    /// Observations that occur in fewer instances than this get no weight.
    pub min_instances: usize,
    /// What becomes of label pairs that are no neighbours in the training data.
    pub unseen_transitions: UnseenTransitions,
}

impl Default for StructureOptions {
    fn default() -> Self {
        Self {
            order: 1,
            states: Strategy::Supported,
            transitions: Strategy::Supported,
            label_bias: false,
            boundaries: false,
            lower_orders: true,
            min_freq: 0.0,
            min_instances: 0,
            unseen_transitions: UnseenTransitions::Free,
        }
    }
}

/// Why a structure cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StructureError {
    /// The training data have no label.
    #[error("the training data have no label")]
    NoLabels,
    /// An order that is not supported.
    #[error("order {0} is not supported: choose 0, 1, 2 or 3")]
    Order(usize),
    /// All tuples were asked for and there are too many.
    #[error(
        "all label tuples of order {order} over {labels} labels are more than {most}; use supported transitions"
    )]
    TooManyTuples {
        /// The order asked for.
        order: usize,
        /// Number of labels.
        labels: usize,
        /// The largest number of tuples.
        most: usize,
    },
    /// More features than can be numbered.
    #[error(transparent)]
    TooManyFeatures(#[from] TooManyFeatures),
    /// Unseen transitions cannot be forbidden.
    #[error(transparent)]
    Forbidden(#[from] ForbiddenError),
    /// Values below zero, which counting cannot take.
    #[error(
        "the value of `{observation}` is negative, but naive Bayes and hidden Markov models count how often observations \
         occur; use another algorithm, or values of at least 0"
    )]
    NegativeValue {
        /// The first observation with such a value.
        observation: String,
        /// The number of its instance, from 1 on.
        first: usize,
    },
    /// More steps between states than an automaton can hold.
    #[error(transparent)]
    TooManyArcs(#[from] TooManyArcs),
}

/// All label tuples are built up to this number.
const MOST_TUPLES: usize = 10_000_000;
/// Marks an arc whose label pair has no weights with observations.
pub(crate) const NO_PAIR: u32 = u32::MAX;

/// The features of a chain model, without their weights.
#[derive(Debug)]
pub struct Structure {
    options: StructureOptions,
    labels: usize,
    unary: FeatureTable,
    pairs: Vec<[u32; 2]>,
    pair: FeatureTable,
    tuples: Tuples,
    unrolled: Unrolled,
    pair_of_arc: Vec<u32>,
}

impl Structure {
    /// Chooses the features for training on `data`.
    pub fn build(data: &Dataset, options: &StructureOptions) -> Result<Self, StructureError> {
        let labels = data.labels.len();
        if labels == 0 {
            return Err(StructureError::NoLabels);
        }
        if options.order > 3 {
            return Err(StructureError::Order(options.order));
        }
        let lengths = Lengths {
            order: options.order,
            lower_orders: options.lower_orders,
            boundaries: options.boundaries,
        };
        let allowed = match options.unseen_transitions {
            UnseenTransitions::Free => None,
            UnseenTransitions::Forbid if options.order == 0 => return Err(ForbiddenError::Order0.into()),
            UnseenTransitions::Forbid => Some(Transitions::seen(data)?),
        };
        let tuples = match options.transitions {
            _ if options.order == 0 => Tuples::from_list(labels, 0, []),
            Strategy::Supported => Tuples::seen(data, lengths, options.min_freq),
            Strategy::All | Strategy::DefaultOnly => {
                Tuples::all(labels, lengths, MOST_TUPLES).ok_or(StructureError::TooManyTuples {
                    order: options.order,
                    labels,
                    most: MOST_TUPLES,
                })?
            }
        };
        let tuples = tuples.only(allowed);
        tuples.check_size()?;
        let owners = if options.min_instances > 1 {
            instance_of_position(data)
        } else {
            Vec::new()
        };
        let select = Selection {
            data,
            options,
            owners,
        };
        let unary = select.unary()?;
        let (pairs, pair) = select.pair(tuples.allowed())?;
        Ok(Self::assemble(
            options.clone(),
            labels,
            unary,
            pairs,
            pair,
            tuples,
        ))
    }

    pub(crate) fn assemble(
        options: StructureOptions,
        labels: usize,
        unary: FeatureTable,
        pairs: Vec<[u32; 2]>,
        pair: FeatureTable,
        tuples: Tuples,
    ) -> Self {
        let unrolled = tuples.unroll();
        let pair_of_arc = if pairs.is_empty() {
            Vec::new()
        } else {
            let labels = unrolled.automaton.label_of();
            let arcs = unrolled.automaton.arcs().iter();
            arcs.map(|arc| {
                let pair = [labels[arc.from as usize], labels[arc.to as usize]];
                pairs.binary_search(&pair).map_or(NO_PAIR, |index| index as u32)
            })
            .collect()
        };
        Self {
            options,
            labels,
            unary,
            pairs,
            pair,
            tuples,
            unrolled,
            pair_of_arc,
        }
    }

    /// The options that it was built with.
    pub fn options(&self) -> &StructureOptions {
        &self.options
    }

    /// Number of labels.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Observation × label.
    pub fn unary(&self) -> &FeatureTable {
        &self.unary
    }

    /// Observation × label pair; the columns are indices into [`Structure::pairs`].
    pub fn pair(&self) -> &FeatureTable {
        &self.pair
    }

    /// The label pairs that have weights with observations, sorted.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Which labels may be neighbours and begin a sequence; `None` when all may.
    pub fn allowed_transitions(&self) -> Option<&Transitions> {
        self.tuples.allowed()
    }

    /// Whether some label may not follow another, or not begin a sequence.
    pub(crate) fn is_restricted(&self) -> bool {
        self.allowed_transitions()
            .is_some_and(|allowed| !allowed.allow_all())
    }

    /// Whether a label may begin a sequence.
    pub(crate) fn may_begin(&self, label: u32) -> bool {
        self.allowed_transitions()
            .is_none_or(|allowed| allowed.allows(self.labels as u32, label))
    }

    /// Takes the labels that may not begin a sequence out of their scores for doing so.
    pub(crate) fn forbid_starts(&self, start: &mut [f64]) {
        if self.is_restricted() {
            for (score, label) in start.iter_mut().zip(0..) {
                if !self.may_begin(label) {
                    *score = f64::NEG_INFINITY;
                }
            }
        }
    }

    /// Label tuples with a weight.
    pub fn tuples(&self) -> &Tuples {
        &self.tuples
    }

    /// The automaton that sequences are unrolled over.
    pub fn automaton(&self) -> &Automaton {
        &self.unrolled.automaton
    }

    pub(crate) fn unrolled(&self) -> &Unrolled {
        &self.unrolled
    }

    /// For each arc the index of its label pair, [`NO_PAIR`] when it has none; empty without pair features.
    pub(crate) fn pair_of_arc(&self) -> &[u32] {
        &self.pair_of_arc
    }

    /// Number of weights.
    pub fn weights(&self) -> usize {
        self.bias_weights().end
    }

    /// The weights of observation × label.
    pub fn unary_weights(&self) -> Range<usize> {
        0..self.unary.len()
    }

    /// The weights of observation × label pair.
    pub fn pair_weights(&self) -> Range<usize> {
        let start = self.unary.len();
        start..start + self.pair.len()
    }

    /// The weights of label tuples.
    pub fn tuple_weights(&self) -> Range<usize> {
        let start = self.pair_weights().end;
        start..start + self.tuples.len()
    }

    /// The biases of labels.
    pub fn bias_weights(&self) -> Range<usize> {
        let start = self.tuple_weights().end;
        start..start + if self.has_bias() { self.labels } else { 0 }
    }

    fn has_bias(&self) -> bool {
        self.options.label_bias || self.options.states == Strategy::DefaultOnly
    }
}

/// Chooses the columns of each observation.
struct Selection<'a> {
    data: &'a Dataset,
    options: &'a StructureOptions,
    /// The instance of each position, when the number of instances matters.
    owners: Vec<u32>,
}

impl Selection<'_> {
    fn unary(&self) -> Result<FeatureTable, TooManyFeatures> {
        let labels = self.data.labels.len();
        let visit = |position: usize, add: &mut dyn FnMut(u32)| match self.data.gold(position) {
            Gold::Known(label) => add(label),
            Gold::Ambiguous(set) => set.iter().for_each(|&label| add(label)),
            Gold::Unknown => {}
        };
        self.table(&self.data.unary, labels, self.options.states, visit)
    }

    fn pair(&self, allowed: Option<&Transitions>) -> Result<(Vec<[u32; 2]>, FeatureTable), TooManyFeatures> {
        let rows = self.data.observations.len();
        let strategy = self.options.transitions;
        if self.data.pair.is_empty() || self.options.order == 0 || strategy == Strategy::DefaultOnly {
            return Ok((Vec::new(), FeatureTable::empty(rows)));
        }
        let labels = self.data.labels.len() as u32;
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        if strategy == Strategy::All {
            pairs.extend((0..labels).flat_map(|from| (0..labels).map(move |to| [from, to])));
        } else {
            let mut seen = std::collections::BTreeSet::new();
            for_each_tuple(self.data, 2, false, |tuple| {
                seen.insert([tuple[0], tuple[1]]);
            });
            pairs.extend(seen);
        }
        if let Some(allowed) = allowed {
            pairs.retain(|&[from, to]| allowed.allows(from, to));
        }
        let first: std::collections::HashSet<usize> = self
            .data
            .instances()
            .map(|instance| instance.positions().start)
            .collect();
        let visit = |position: usize, add: &mut dyn FnMut(u32)| {
            if first.contains(&position) {
                return;
            }
            let each = |gold: Gold<'_>| -> Vec<u32> {
                match gold {
                    Gold::Known(label) => vec![label],
                    Gold::Ambiguous(set) => set.to_vec(),
                    Gold::Unknown => Vec::new(),
                }
            };
            for from in each(self.data.gold(position - 1)) {
                for to in each(self.data.gold(position)) {
                    if let Ok(index) = pairs.binary_search(&[from, to]) {
                        add(index as u32);
                    }
                }
            }
        };
        let table = self.table(&self.data.pair, pairs.len(), strategy, visit)?;
        Ok((pairs, table))
    }

    /// The table for observations whose columns at a position are told by `visit`.
    fn table(
        &self,
        observations: &Observations,
        width: usize,
        strategy: Strategy,
        visit: impl Fn(usize, &mut dyn FnMut(u32)),
    ) -> Result<FeatureTable, TooManyFeatures> {
        let rows = self.data.observations.len();
        if strategy == Strategy::DefaultOnly {
            return Ok(FeatureTable::empty(rows));
        }
        let occurrences = Occurrences::new(observations, rows, self.data.positions());
        let mut frequency = vec![0.0f64; width];
        let mut seen = vec![false; width];
        FeatureTable::build(rows, |row, columns| {
            if !self.in_enough_instances(&occurrences, row) {
                return;
            }
            let mut occurs = false;
            for (position, value) in occurrences.of(row) {
                occurs = true;
                visit(position, &mut |column| {
                    if !seen[column as usize] {
                        seen[column as usize] = true;
                        columns.push(column);
                    }
                    frequency[column as usize] += f64::from(value);
                });
            }
            if strategy == Strategy::All && occurs {
                columns.clear();
                columns.extend(0..width as u32);
            }
            columns.sort_unstable();
            let least = self.options.min_freq;
            columns.retain(|&column| {
                let kept = least <= 0.0 || frequency[column as usize] >= least;
                frequency[column as usize] = 0.0;
                seen[column as usize] = false;
                kept
            });
        })
    }

    fn in_enough_instances(&self, occurrences: &Occurrences, row: usize) -> bool {
        if self.options.min_instances <= 1 {
            return true;
        }
        // Positions come in order, so an instance is new when it differs from the last one.
        let mut last = None;
        let mut instances = 0;
        for (position, _) in occurrences.of(row) {
            let owner = Some(self.owners[position]);
            instances += usize::from(owner != last);
            last = owner;
        }
        instances >= self.options.min_instances
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_core::DatasetBuilder;

    /// Two instances; observation 0 occurs everywhere, 1 in the first only, twice.
    fn data() -> Dataset {
        let mut builder = DatasetBuilder::new();
        for name in ["x", "y", "z"] {
            builder.observations.intern(name);
        }
        for name in ["A", "B", "C"] {
            builder.labels.intern(name);
        }
        for (t, (gold, pair)) in [(0, false), (1, true), (1, true), (0, true)]
            .into_iter()
            .enumerate()
        {
            builder.observe(0, 1.0);
            if t < 2 {
                builder.observe(1, 0.75);
            }
            if pair {
                builder.observe_pair(2, 1.0);
            }
            builder.end_position(Gold::Known(gold)).unwrap();
            if t == 2 {
                builder.end_instance().unwrap();
            }
        }
        builder.finish()
    }

    fn build(change: impl Fn(&mut StructureOptions)) -> Structure {
        let mut options = StructureOptions::default();
        change(&mut options);
        Structure::build(&data(), &options).unwrap()
    }

    #[test]
    fn supported_features_are_those_seen() {
        let structure = build(|_| {});
        assert_eq!(structure.unary().columns(0), [0, 1]);
        assert_eq!(structure.unary().columns(1), [0, 1]);
        assert_eq!(structure.pairs(), [[0, 1], [1, 1]]);
        // The pair observation at the start of the second instance has no step to describe.
        assert_eq!(structure.pair().columns(2), [0, 1]);
        assert_eq!(structure.tuples().len(), 2);
        assert_eq!(structure.weights(), 4 + 2 + 2);
    }

    #[test]
    fn all_features_and_default_only() {
        let all = build(|o| (o.states, o.transitions) = (Strategy::All, Strategy::All));
        assert_eq!(
            (all.unary().len(), all.pair().len(), all.tuples().len()),
            (6, 9, 9)
        );
        let bias = build(|o| (o.states, o.transitions) = (Strategy::DefaultOnly, Strategy::DefaultOnly));
        assert_eq!(
            (bias.unary().len(), bias.pair().len(), bias.tuples().len()),
            (0, 0, 9)
        );
        assert_eq!(bias.bias_weights().len(), 3);
    }

    #[test]
    fn pruning_by_frequency_and_by_instances() {
        let structure = build(|o| o.min_freq = 1.0);
        assert_eq!(structure.unary().columns(1), [0; 0], "0.75 with each label");
        let structure = build(|o| o.min_instances = 2);
        assert_eq!(structure.unary().columns(0), [0, 1]);
        assert_eq!(structure.unary().columns(1), [0; 0], "in one instance only");
    }
}

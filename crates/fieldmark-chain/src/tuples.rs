//! [`Tuples`]: the runs of neighbouring labels that have a weight of their own, and the automaton that
//! remembers just enough labels to know which of them are active.
//!
//! A chain of order k has weights for tuples of up to k + 1 labels. Only tuples that occur in the training
//! data get one (unless all are asked for), and a tuple that has none contributes nothing. So a state need not
//! be every tuple of k labels: it is the longest run of last labels that some longer tuple begins with
//! (Ye et al. 2009; Cuong et al. 2014). Every label sequence has exactly one path, and the model is exact.

use crate::automaton::{Arc, Automaton};
use crate::structure::StructureOptions;
use crate::transitions::Transitions;
use fieldmark_core::{Dataset, Gold};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Ambiguous positions are spelled out when a tuple has no more readings than this.
const MOST_READINGS: usize = 64;

/// Label tuples of two or more labels, numbered by length and then alphabetically by label ids.
///
/// With boundaries, the id one past the last label stands for the start of the sequence when it comes first
/// in a tuple and for its end when it comes last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuples {
    labels: usize,
    order: usize,
    list: Vec<Box<[u32]>>,
    /// Which labels may be neighbours, when not all may.
    allowed: Option<Transitions>,
}

/// More states and arcs than an automaton can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{arcs} steps between {states} states of {labels} labels, more than {MOST_ARCS}; choose fewer labels, of which there \
     can be {MOST_LABELS} at most, or a lower order"
)]
pub struct TooManyArcs {
    /// Number of arcs.
    pub arcs: usize,
    /// Number of states.
    pub states: usize,
    /// Number of labels.
    pub labels: usize,
}

/// An automaton has at most this many arcs: they take some gigabytes, and so do the tables of a short sequence.
const MOST_ARCS: usize = 1 << 26;
/// So many labels can follow each other in any order.
const MOST_LABELS: usize = MOST_ARCS.isqrt();

/// Which lengths of tuples are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    /// The order of the chain: the longest tuple has one label more.
    pub order: usize,
    /// Whether shorter tuples count too.
    pub lower_orders: bool,
    /// Whether tuples may contain the start or the end of the sequence.
    pub boundaries: bool,
}

impl Lengths {
    fn range(self) -> std::ops::RangeInclusive<usize> {
        let longest = self.order + 1;
        if self.lower_orders {
            2..=longest
        } else {
            longest.max(2)..=longest
        }
    }
}

impl Tuples {
    /// Tuples from a list, for a chain of the given order.
    pub(crate) fn from_list(labels: usize, order: usize, list: impl IntoIterator<Item = Box<[u32]>>) -> Self {
        let sorted: BTreeSet<(usize, Box<[u32]>)> =
            list.into_iter().map(|tuple| (tuple.len(), tuple)).collect();
        Self {
            labels,
            order,
            list: sorted.into_iter().map(|(_, tuple)| tuple).collect(),
            allowed: None,
        }
    }

    /// The same tuples without those that the transitions forbid; paths take allowed transitions only.
    pub(crate) fn only(mut self, allowed: Option<Transitions>) -> Self {
        if let Some(allowed) = &allowed {
            self.list.retain(|tuple| allowed.allow_run(tuple));
        }
        self.allowed = allowed;
        self
    }

    /// Which labels may be neighbours; `None` when all may.
    pub fn allowed(&self) -> Option<&Transitions> {
        self.allowed.as_ref()
    }

    /// The tuples that occur in the data at least `least` times.
    pub(crate) fn seen(data: &Dataset, lengths: Lengths, least: f64) -> Self {
        let labels = data.labels.len();
        let mut counts: BTreeMap<Box<[u32]>, f64> = BTreeMap::new();
        for length in lengths.range() {
            for_each_tuple(data, length, lengths.boundaries, |tuple| {
                match counts.get_mut(tuple) {
                    Some(count) => *count += 1.0,
                    None => {
                        counts.insert(tuple.into(), 1.0);
                    }
                }
            });
        }
        let list = counts
            .into_iter()
            .filter(|(_, count)| *count >= least)
            .map(|(tuple, _)| tuple);
        Self::from_list(labels, lengths.order, list)
    }

    /// All tuples over the labels, or `None` when there are more than `most`.
    pub(crate) fn all(labels: usize, lengths: Lengths, most: usize) -> Option<Self> {
        let boundary = labels as u32;
        let mut list: Vec<Box<[u32]>> = Vec::new();
        for length in lengths.range() {
            let mut tuples: Vec<Vec<u32>> = vec![vec![]];
            for place in 0..length {
                let (first, last) = (place == 0, place + 1 == length);
                let end = boundary + u32::from(lengths.boundaries && (first || last));
                if tuples.len().checked_mul(end as usize)? > most {
                    return None;
                }
                tuples = tuples
                    .iter()
                    .flat_map(|tuple| (0..end).map(move |label| [tuple.as_slice(), &[label]].concat()))
                    .collect();
            }
            // The empty sequence has no weight.
            tuples.retain(|tuple| tuple.len() > 2 || tuple[..] != [boundary, boundary]);
            list.extend(tuples.into_iter().map(Vec::into_boxed_slice));
        }
        Some(Self::from_list(labels, lengths.order, list))
    }

    /// Whether a tuple of two or more labels belongs in a model with these options.
    pub(crate) fn may_hold(tuple: &[u32], labels: usize, options: &StructureOptions) -> bool {
        let lengths = Lengths {
            order: options.order,
            lower_orders: options.lower_orders,
            boundaries: options.boundaries,
        };
        let last = tuple.len() - 1;
        let boundary = |place: usize| tuple[place] as usize == labels;
        let edges = usize::from(boundary(0)) + usize::from(boundary(last));
        lengths.range().contains(&tuple.len())
            && (edges == 0 || lengths.boundaries && edges < tuple.len())
            && (0..=last).all(|place| {
                (tuple[place] as usize) < labels || boundary(place) && (place == 0 || place == last)
            })
    }

    /// Whether the automaton can be built.
    pub(crate) fn check_size(&self) -> Result<(), TooManyArcs> {
        let labels = self.labels;
        let most_states = self.list.iter().map(|tuple| tuple.len() - 2).sum::<usize>() + labels;
        if most_states.saturating_mul(labels) <= MOST_ARCS {
            return Ok(());
        }
        // Tuples share their beginnings; counting the states exactly takes longer.
        let states = self.states().len();
        let arcs = states.saturating_mul(labels);
        if arcs <= MOST_ARCS {
            Ok(())
        } else {
            Err(TooManyArcs { arcs, states, labels })
        }
    }

    /// Number of tuples.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The labels of each tuple.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        self.list.iter().map(|tuple| &tuple[..])
    }

    /// The number of a tuple.
    pub fn find(&self, tuple: &[u32]) -> Option<usize> {
        self.list
            .binary_search_by(|other| (other.len(), &other[..]).cmp(&(tuple.len(), tuple)))
            .ok()
    }

    /// The automaton whose arcs know which tuples they complete.
    pub(crate) fn unroll(&self) -> Unrolled {
        let index: HashMap<&[u32], u32> = self
            .list
            .iter()
            .enumerate()
            .map(|(id, tuple)| (&tuple[..], id as u32))
            .collect();
        let boundary = self.labels as u32;
        let suffixes = |history: &[u32], next: u32| -> Vec<u32> {
            let whole = [history, &[next]].concat();
            (0..history.len())
                .rev()
                .filter_map(|start| index.get(&whole[start..]).copied())
                .collect()
        };
        let states = self.states();
        let ids: HashMap<&[u32], u32> = states
            .iter()
            .enumerate()
            .map(|(id, state)| (&state[..], id as u32))
            .collect();
        let successor = |history: &[u32], next: u32| -> u32 {
            let whole = [history, &[next]].concat();
            // A single label is always a state.
            (0..whole.len())
                .find_map(|start| ids.get(&whole[start..]).copied())
                .unwrap_or(next)
        };
        let last = |state: &[u32]| state[state.len() - 1];
        let mut arcs: Vec<(Arc, Vec<u32>)> = Vec::new();
        for (from, state) in states.iter().enumerate() {
            for next in 0..boundary {
                if !self.may_follow(last(state), next) {
                    continue;
                }
                let arc = Arc {
                    from: from as u32,
                    to: successor(state, next),
                };
                arcs.push((arc, suffixes(state, next)));
            }
        }
        arcs.sort_by_key(|(arc, _)| (arc.to, arc.from));
        let automaton = Automaton::new(
            self.labels,
            states.iter().map(|state| last(state)).collect(),
            arcs.iter().map(|(arc, _)| *arc).collect(),
        );
        let starts = (0..boundary).map(|label| (successor(&[boundary], label), suffixes(&[boundary], label)));
        Unrolled {
            automaton,
            arc_tuples: arcs.into_iter().map(|(_, tuples)| tuples).collect(),
            starts: starts.collect(),
            end_tuples: states.iter().map(|state| suffixes(state, boundary)).collect(),
        }
    }

    fn may_follow(&self, from: u32, to: u32) -> bool {
        self.allowed
            .as_ref()
            .is_none_or(|allowed| allowed.allows(from, to))
    }

    /// Every label, and the beginnings of tuples that must be remembered, with all of their own beginnings.
    fn states(&self) -> Vec<Vec<u32>> {
        let boundary = self.labels as u32;
        let mut states: BTreeSet<(usize, Vec<u32>)> = (0..boundary).map(|label| (1, vec![label])).collect();
        for tuple in &self.list {
            for length in 2..tuple.len().min(self.order + 1) {
                states.insert((length, tuple[..length].to_vec()));
            }
        }
        states.into_iter().map(|(_, state)| state).collect()
    }
}

/// An automaton with the tuples that its parts complete.
#[derive(Debug)]
pub(crate) struct Unrolled {
    pub automaton: Automaton,
    /// For each arc, the tuples that end with it.
    pub arc_tuples: Vec<Vec<u32>>,
    /// For each label, the state that a sequence beginning with it is in, and the tuples that it completes.
    pub starts: Vec<(u32, Vec<u32>)>,
    /// For each state, the tuples that the end of the sequence completes.
    pub end_tuples: Vec<Vec<u32>>,
}

/// Calls `visit` for every reading of `length` neighbouring labels in the data.
pub(crate) fn for_each_tuple(data: &Dataset, length: usize, boundaries: bool, mut visit: impl FnMut(&[u32])) {
    let boundary = data.labels.len() as u32;
    let mut tuple = Vec::with_capacity(length);
    let edge = usize::from(boundaries);
    for instance in data.instances() {
        // Position 0 of the padded sequence is its start, when boundaries count.
        let padded = instance.len() + 2 * edge;
        let gold = |place: usize| -> Gold<'_> {
            if boundaries && (place == 0 || place + 1 == padded) {
                Gold::Known(boundary)
            } else {
                instance.gold(place - edge)
            }
        };
        for first in 0..(padded + 1).saturating_sub(length) {
            let readings = (first..first + length).try_fold(1usize, |product, place| match gold(place) {
                Gold::Known(_) => Some(product),
                Gold::Ambiguous(set) => product.checked_mul(set.len()).filter(|&n| n <= MOST_READINGS),
                Gold::Unknown => None,
            });
            for mut reading in 0..readings.unwrap_or(0) {
                tuple.clear();
                for place in first..first + length {
                    tuple.push(match gold(place) {
                        Gold::Ambiguous(set) => {
                            let label = set[reading % set.len()];
                            reading /= set.len();
                            label
                        }
                        Gold::Known(label) => label,
                        Gold::Unknown => unreachable!("a tuple with an unknown label has no reading"),
                    });
                }
                visit(&tuple);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldmark_core::DatasetBuilder;

    fn data(sequences: &[&[&[u32]]], labels: usize) -> Dataset {
        let mut builder = DatasetBuilder::new();
        for label in 0..labels {
            builder.labels.intern(&label.to_string());
        }
        for sequence in sequences {
            for gold in *sequence {
                builder
                    .end_position(if gold.is_empty() {
                        Gold::Unknown
                    } else {
                        Gold::Ambiguous(gold)
                    })
                    .unwrap();
            }
            builder.end_instance().unwrap();
        }
        builder.finish()
    }

    fn lengths(order: usize, boundaries: bool) -> Lengths {
        Lengths {
            order,
            lower_orders: true,
            boundaries,
        }
    }

    #[test]
    fn unknown_positions_support_nothing_and_ambiguous_ones_every_reading() {
        let data = data(&[&[&[0], &[1, 2], &[], &[0]]], 3);
        let tuples = Tuples::seen(&data, lengths(2, false), 0.0);
        assert_eq!(tuples.iter().collect::<Vec<_>>(), [&[0, 1][..], &[0, 2]]);
    }

    #[test]
    fn boundaries_are_one_more_symbol() {
        let data = data(&[&[&[0], &[1]]], 2);
        let tuples = Tuples::seen(&data, lengths(1, true), 0.0);
        assert_eq!(tuples.iter().collect::<Vec<_>>(), [&[0, 1][..], &[1, 2], &[2, 0]]);
        assert_eq!(Tuples::all(2, lengths(1, true), 100).unwrap().len(), 8);
        assert_eq!(Tuples::all(2, lengths(2, false), 100).unwrap().len(), 12);
        assert!(Tuples::all(100, lengths(3, false), 1_000_000).is_none());
    }

    /// Walks every label sequence and compares the tuples met on the arcs with those in the sequence.
    #[test]
    fn paths_complete_exactly_the_tuples_of_their_sequence() {
        let data = data(
            &[
                &[&[0], &[1], &[0], &[0], &[2], &[1], &[1]],
                &[&[2], &[2], &[0], &[1]],
            ],
            3,
        );
        for order in 0..=3 {
            for (lower_orders, boundaries) in [(true, false), (true, true), (false, false), (false, true)] {
                let tuples = Tuples::seen(
                    &data,
                    Lengths {
                        order,
                        lower_orders,
                        boundaries,
                    },
                    0.0,
                );
                let unrolled = tuples.unroll();
                let automaton = &unrolled.automaton;
                for code in 0..3usize.pow(5) {
                    let labels: Vec<u32> = (0..5).map(|t| (code / 3usize.pow(t) % 3) as u32).collect();
                    let &(mut state, ref start) = &unrolled.starts[labels[0] as usize];
                    let mut met = start.clone();
                    for &label in &labels[1..] {
                        let next: Vec<u32> = automaton
                            .outgoing(state as usize)
                            .iter()
                            .copied()
                            .filter(|&arc| {
                                automaton.label_of()[automaton.arcs()[arc as usize].to as usize] == label
                            })
                            .collect();
                        assert_eq!(next.len(), 1, "one arc per label");
                        met.extend(&unrolled.arc_tuples[next[0] as usize]);
                        state = automaton.arcs()[next[0] as usize].to;
                    }
                    met.extend(&unrolled.end_tuples[state as usize]);
                    let padded = if boundaries {
                        [&[3], &labels[..], &[3]].concat()
                    } else {
                        labels.clone()
                    };
                    let mut expected: Vec<u32> = Vec::new();
                    for (id, tuple) in tuples.iter().enumerate() {
                        let times = padded
                            .windows(tuple.len())
                            .filter(|window| *window == tuple)
                            .count();
                        expected.extend(std::iter::repeat_n(id as u32, times));
                    }
                    met.sort_unstable();
                    assert_eq!(met, expected, "order {order}, labels {labels:?}");
                }
            }
        }
    }
}

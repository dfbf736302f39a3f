//! In which order variables come, and which of the earlier ones each step still has to know.

use super::super::clique_tables::Domains;
use super::kernels::padded;
use crate::FactorGraph;
use std::ops::Range;

/// Tables of so many entries at each variable are smaller than what another order could save.
const SMALL_TABLES: u64 = 1 << 9;
/// No budget is as large as the tables of so much work.
const MOST_WORK: u64 = 1 << 48;

/// One variable after the other. Between two steps lies a *frontier*: the variables before it that share a factor with
/// one behind it and may have several labels, and the last one before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    order: Vec<u32>,
    frontier_start: Vec<usize>,
    frontiers: Vec<u32>,
    /// Factors of more than one variable by the step of their last variable.
    factor_start: Vec<usize>,
    factors: Vec<usize>,
    step_of: Vec<u32>,
    /// Entries of the tables over all frontiers, with rows padded.
    pub entries: u64,
    /// Entries of the tables over what each step sees: how much work it is.
    pub work: u64,
    /// Most variables that a step sees.
    pub width: usize,
}

impl Path {
    /// The order of the graph if its tables are small, otherwise the cheapest of four orders: that of the graph, that in
    /// which a search from an end finds variables, and both of them narrowed. Nothing if all are too wide.
    pub fn find(graph: &FactorGraph, domains: &Domains) -> Option<Self> {
        let natural: Vec<u32> = (0..graph.variables() as u32).collect();
        let few = SMALL_TABLES.saturating_mul(natural.len() as u64);
        let mut found = Self::along(&natural, graph, domains, few);
        if found.is_none() {
            let searched = breadth_first(graph);
            let orders = [
                narrowed(&natural, graph, domains),
                narrowed(&searched, graph, domains),
                searched,
                natural,
            ];
            for order in orders {
                let limit = found.as_ref().map_or(MOST_WORK, |path| path.work - 1);
                found = Self::along(&order, graph, domains, limit).or(found);
            }
        }
        let mut path = found?;
        path.assign_factors(graph);
        Some(path)
    }

    /// A path that takes this order; nothing if that is more work than the limit.
    fn along(order: &[u32], graph: &FactorGraph, domains: &Domains, limit: u64) -> Option<Self> {
        let mut step_of = vec![0; order.len()];
        for (step, &variable) in (0..).zip(order) {
            step_of[variable as usize] = step;
        }
        // The last step that needs to know each variable.
        let mut last = step_of.clone();
        for factor in 0..graph.factors() {
            let scope = graph.scope(factor);
            let end = scope.iter().map(|&variable| step_of[variable as usize]).max();
            for &variable in scope {
                let last = &mut last[variable as usize];
                *last = (*last).max(end.unwrap_or(0));
            }
        }
        let mut path = Self {
            step_of,
            ..Self::default()
        };
        let mut frontier: Vec<u32> = Vec::new();
        for (step, &variable) in (0..).zip(order) {
            path.frontier_start.push(path.frontiers.len());
            path.frontiers.extend_from_slice(&frontier);
            let labels = domains.labels(variable).len();
            let seen = domains
                .saturating_size(&frontier)
                .saturating_mul(padded(labels) as u64);
            path.work = path.work.saturating_add(seen);
            if path.work > limit || seen > u64::from(u32::MAX) {
                return None;
            }
            path.width = path.width.max(frontier.len() + 1);
            // What can have one label only needs no place in a table.
            frontier.retain(|&earlier| last[earlier as usize] > step && domains.labels(earlier).len() > 1);
            let states = domains
                .saturating_size(&frontier)
                .saturating_mul(padded(labels) as u64);
            path.entries = path.entries.saturating_add(states);
            frontier.push(variable);
        }
        path.frontier_start.push(path.frontiers.len());
        path.frontiers.extend_from_slice(&frontier);
        path.frontier_start.push(path.frontiers.len());
        path.order = order.to_vec();
        Some(path)
    }

    fn assign_factors(&mut self, graph: &FactorGraph) {
        let step_of_factor = |factor: usize| {
            let steps = graph.scope(factor).iter();
            let last = steps.map(|&variable| self.step_of[variable as usize]).max();
            last.unwrap_or(0) as usize
        };
        let joining = (0..graph.factors()).filter(|&factor| graph.arity(factor) > 1);
        let mut starts = vec![0; self.order.len() + 1];
        for factor in joining.clone() {
            starts[step_of_factor(factor) + 1] += 1;
        }
        for step in 0..self.order.len() {
            starts[step + 1] += starts[step];
        }
        let mut next = starts.clone();
        let mut factors = vec![0; starts[self.order.len()]];
        for factor in joining {
            let place = &mut next[step_of_factor(factor)];
            factors[*place] = factor;
            *place += 1;
        }
        self.factor_start = starts;
        self.factors = factors;
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The variable that a step adds.
    pub fn variable(&self, step: usize) -> u32 {
        self.order[step]
    }

    /// The step that adds a variable.
    pub fn step_of(&self, variable: u32) -> usize {
        self.step_of[variable as usize] as usize
    }

    /// The frontier before a step; before the end, the one after the last.
    pub fn frontier(&self, step: usize) -> &[u32] {
        &self.frontiers[self.frontier_range(step)]
    }

    fn frontier_range(&self, step: usize) -> Range<usize> {
        self.frontier_start[step]..self.frontier_start[step + 1]
    }

    /// The factors of more than one variable whose last variable a step adds.
    pub fn factors(&self, step: usize) -> &[usize] {
        &self.factors[self.factor_start[step]..self.factor_start[step + 1]]
    }
}

/// How many variables may be exchanged with each other.
const WINDOW: usize = 8;
/// A variable with more factors than this is in nearly every frontier, wherever it comes.
const MANY_FACTORS: usize = 32;

/// The same order, but variables with many factors come first, and then of the next few variables always the one that
/// leaves the smallest frontier.
fn narrowed(order: &[u32], graph: &FactorGraph, domains: &Domains) -> Vec<u32> {
    // How many variables of a factor are missing, and how many factors of a variable miss one.
    let mut missing: Vec<usize> = (0..graph.factors()).map(|factor| graph.arity(factor)).collect();
    let mut open: Vec<usize> = (0..graph.variables() as u32)
        .map(|variable| graph.incident(variable).len())
        .collect();
    let mut order = order.to_vec();
    order.sort_by_key(|&variable| open[variable as usize] <= MANY_FACTORS);
    let mut rest = order.iter().copied();
    let mut window: Vec<u32> = rest.by_ref().take(WINDOW).collect();
    let mut narrowed = Vec::with_capacity(order.len());
    let mut closed = Vec::new();
    while !window.is_empty() {
        let growth = window.iter().map(|&variable| {
            if open[variable as usize] > MANY_FACTORS {
                return f64::NEG_INFINITY;
            }
            // Variables are told as often as they have a factor that is complete with this one.
            closed.clear();
            let mut is_joined = false;
            for factor in graph.factors_of(variable) {
                is_joined |= missing[factor] < graph.arity(factor);
                if missing[factor] == 1 {
                    let others = graph.scope(factor).iter().filter(|&&other| other != variable);
                    closed.extend(others.copied());
                }
            }
            if !is_joined {
                return f64::INFINITY;
            }
            closed.sort_unstable();
            let dropped = closed.chunk_by(|one, next| one == next);
            let dropped = dropped.filter(|same| same.len() == open[same[0] as usize]);
            let size = |variable: u32| (domains.labels(variable).len() as f64).ln();
            size(variable) - dropped.map(|same| size(same[0])).sum::<f64>()
        });
        let (mut next, mut least) = (0, f64::INFINITY);
        for (place, growth) in growth.enumerate() {
            if growth < least {
                (next, least) = (place, growth);
            }
        }
        let variable = window.remove(next);
        window.extend(rest.next());
        narrowed.push(variable);
        for factor in graph.factors_of(variable) {
            missing[factor] -= 1;
            if missing[factor] == 0 {
                for &member in graph.scope(factor) {
                    open[member as usize] -= 1;
                }
            }
        }
    }
    narrowed
}

/// The variables of each connected part by their distance from an end of it, those of one distance in the order of the
/// graph.
fn breadth_first(graph: &FactorGraph) -> Vec<u32> {
    let mut order = Vec::with_capacity(graph.variables());
    let mut seen = vec![0u8; graph.variables()];
    for root in 0..graph.variables() as u32 {
        if seen[root as usize] == 0 {
            // The farthest variable of a search is near an end.
            let start = order.len();
            search(graph, root, &mut seen, 1, &mut order);
            let end = order.last().copied().unwrap_or(root);
            order.truncate(start);
            search(graph, end, &mut seen, 2, &mut order);
        }
    }
    order
}

fn search(graph: &FactorGraph, root: u32, seen: &mut [u8], mark: u8, found: &mut Vec<u32>) {
    let mut next = found.len();
    found.push(root);
    seen[root as usize] = mark;
    while next < found.len() {
        // All of one distance, and then all that are one farther.
        let layer = next..found.len();
        found[layer.clone()].sort_unstable();
        for place in layer {
            for factor in graph.factors_of(found[place]) {
                for &other in graph.scope(factor) {
                    if seen[other as usize] < mark {
                        seen[other as usize] = mark;
                        found.push(other);
                    }
                }
            }
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FactorGraphBuilder;

    /// Two layers in turn, with 8 and 4 labels, and the factors of each position.
    fn layers(length: u32, factors: impl Fn(u32) -> Vec<Vec<u32>>) -> FactorGraph {
        let mut builder = FactorGraphBuilder::default();
        for _ in 0..length {
            builder.variable(8).unwrap();
            builder.variable(4).unwrap();
        }
        for scope in (0..length).flat_map(factors) {
            if scope.iter().all(|&variable| variable < 2 * length) {
                let shape = scope.iter().map(|variable| if variable % 2 == 0 { 8 } else { 4 });
                let table = vec![0.0; shape.product()];
                builder.factor_with(0, &scope, &table).unwrap();
            }
        }
        builder.build()
    }

    fn work(graph: &FactorGraph) -> u64 {
        let mut domains = Domains::default();
        domains.fill(graph);
        Path::find(graph, &domains).unwrap().work
    }

    fn chains(at: u32) -> Vec<Vec<u32>> {
        let [one, other] = [2 * at, 2 * at + 1];
        vec![vec![one, other], vec![one, one + 2], vec![other, other + 2]]
    }

    #[test]
    fn the_order_of_layers_follows_their_factors() {
        let length = 50;
        // A step sees 8 · 4 · 8 or 8 · 4 · 4 labellings.
        let plain = u64::from(length) * (256 + 128);
        assert!(work(&layers(length, chains)) <= plain);
        // Three variables that a step sees anyway, in the order of the graph or in the other one.
        let ahead = |at| [chains(at), vec![vec![2 * at, 2 * at + 1, 2 * at + 2]]].concat();
        assert!(work(&layers(length, ahead)) <= plain);
        let behind = |at| [chains(at), vec![vec![2 * at, 2 * at + 2, 2 * at + 3]]].concat();
        assert!(work(&layers(length, behind)) <= plain);
    }

    #[test]
    fn a_variable_joined_to_all_others_is_in_every_frontier() {
        let (length, hub) = (1000, 1999);
        let below = |at| [chains(at), vec![vec![2 * at, hub]]].concat();
        assert!(work(&layers(length, below)) <= 4 * u64::from(length) * (256 + 128));
    }

    /// A chain of some labels whose variables have their numbers in this order.
    fn chain(order: &[u32], labels: u32) -> FactorGraph {
        let mut builder = FactorGraphBuilder::default();
        for _ in order {
            builder.variable(labels).unwrap();
        }
        let table = vec![0.0; (labels * labels) as usize];
        for pair in order.windows(2) {
            builder.factor_with(0, pair, &table).unwrap();
        }
        builder.build()
    }

    #[test]
    fn a_chain_is_found_whatever_the_numbers_of_its_variables() {
        let order = fieldmark_core::random::visiting_order(400, 1, 1);
        // In the order of the numbers nearly all variables would be in one frontier.
        assert!(work(&chain(&order, 40)) <= 400 * 40 * 40);
    }
}

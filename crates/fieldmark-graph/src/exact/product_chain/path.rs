//! In which order variables come, and which of the earlier ones each step still has to know.

use super::super::clique_tables::Domains;
use crate::FactorGraph;
use std::ops::Range;

/// One variable after the other. Between two steps lies a *frontier*: the variables before it that share a factor with
/// one behind it, and the last one before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    order: Vec<u32>,
    frontier_start: Vec<usize>,
    frontiers: Vec<u32>,
    /// Factors of more than one variable by the step of their last variable.
    factor_start: Vec<usize>,
    factors: Vec<usize>,
    step_of: Vec<u32>,
    /// Entries of the tables over all frontiers.
    pub entries: u64,
    /// Entries of the tables over what each step sees: how much work it is.
    pub work: u64,
    /// Most variables that a step sees.
    pub width: usize,
}

impl Path {
    /// The cheaper one of the order of the graph, and of the order in which a search from an end finds variables.
    pub fn find(graph: &FactorGraph, domains: &Domains) -> Self {
        let natural = Self::along((0..graph.variables() as u32).collect(), graph, domains);
        let searched = Self::along(breadth_first(graph), graph, domains);
        let mut path = if searched.work < natural.work {
            searched
        } else {
            natural
        };
        path.assign_factors(graph);
        path
    }

    fn along(order: Vec<u32>, graph: &FactorGraph, domains: &Domains) -> Self {
        let mut step_of = vec![0; order.len()];
        for (step, &variable) in (0..).zip(&order) {
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
        let size = |variables: &[u32]| {
            variables.iter().fold(1u64, |size, &variable| {
                size.saturating_mul(domains.labels(variable).len() as u64)
            })
        };
        let mut frontier: Vec<u32> = Vec::new();
        for (step, &variable) in (0..).zip(&order) {
            path.frontier_start.push(path.frontiers.len());
            path.frontiers.extend_from_slice(&frontier);
            let labels = domains.labels(variable).len() as u64;
            path.work = path.work.saturating_add(size(&frontier).saturating_mul(labels));
            path.width = path.width.max(frontier.len() + 1);
            frontier.retain(|&earlier| last[earlier as usize] > step);
            frontier.push(variable);
            path.entries = path.entries.saturating_add(size(&frontier));
        }
        path.frontier_start.push(path.frontiers.len());
        path.frontiers.extend_from_slice(&frontier);
        path.frontier_start.push(path.frontiers.len());
        path.order = order;
        path
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

//! The integer linear program of decoding under count constraints (Roth & Yih 2005).
//!
//! A labelling is a path through the trellis, that is, one unit of flow from its start to its end: a 0-1
//! variable per arc of the trellis, as much flow into each node as out of it. The number of spans of a type
//! is a sum of such variables, so each bound on it is one more row.

use super::Error;
use microlp::{
    ComparisonOp, OptimizationDirection, Problem, SolutionStatus, SolveOptions, SolveOutcome, Variable,
};
use std::collections::BTreeMap;

/// How many nodes of branch and bound are looked at before the solver gives up: far more than decoding
/// needs, and the same on every machine.
const NODE_LIMIT: u64 = 100_000;

/// An arc of the trellis: into a state at a position, from a state at the one before (or from the start).
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub position: usize,
    pub from: u32,
    pub to: u32,
    /// The type of the span that begins with the step.
    pub kind: Option<u32>,
    pub cost: f64,
}

/// How many spans of a type there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub low: usize,
    pub high: usize,
}

impl Bounds {
    pub const FREE: Bounds = Bounds {
        low: 0,
        high: usize::MAX,
    };

    pub fn contain(&self, count: usize) -> bool {
        (self.low..=self.high).contains(&count)
    }

    pub fn intersect(self, other: Bounds) -> Self {
        Bounds {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        }
    }
}

/// The cheapest path over the given edges with span counts within bounds, or `None` if there is none.
pub(super) fn cheapest_path(
    edges: &[Edge],
    length: usize,
    bounds: &[Bounds],
) -> Result<Option<Vec<u32>>, Error> {
    // Costs of any size are brought to the size that the solver's tolerances are made for.
    let scale = edges
        .iter()
        .fold(1.0f64, |scale, edge| scale.max(edge.cost.abs()));
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let variables: Vec<Variable> = edges
        .iter()
        .map(|edge| problem.add_binary_var(edge.cost / scale))
        .collect();
    let mut nodes: BTreeMap<(usize, u32), Vec<(Variable, f64)>> = BTreeMap::new();
    let mut spans: Vec<Vec<(Variable, f64)>> = vec![Vec::new(); bounds.len()];
    let mut starts = Vec::new();
    for (edge, &variable) in edges.iter().zip(&variables) {
        if edge.position + 1 < length {
            nodes
                .entry((edge.position, edge.to))
                .or_default()
                .push((variable, 1.0));
        }
        match edge.position.checked_sub(1) {
            Some(before) => nodes
                .entry((before, edge.from))
                .or_default()
                .push((variable, -1.0)),
            None => starts.push((variable, 1.0)),
        }
        if let Some(kind) = edge.kind {
            spans[kind as usize].push((variable, 1.0));
        }
    }
    problem.add_constraint(&starts, ComparisonOp::Eq, 1.0);
    for flow in nodes.values() {
        problem.add_constraint(flow, ComparisonOp::Eq, 0.0);
    }
    for (spans, bounds) in spans.iter().zip(bounds) {
        if bounds.low > 0 {
            problem.add_constraint(spans, ComparisonOp::Ge, bounds.low as f64);
        }
        if bounds.high < spans.len() {
            problem.add_constraint(spans, ComparisonOp::Le, bounds.high as f64);
        }
    }
    let mut options = SolveOptions::default();
    options.node_limit = Some(NODE_LIMIT);
    let solution = match problem.solve_with(options) {
        Ok(SolveOutcome::Solution(solution)) if solution.status() == SolutionStatus::Optimal => solution,
        Ok(_) => return Err(Error::Solver(format!("no proof after {NODE_LIMIT} branches"))),
        Err(microlp::Error::Infeasible) => return Ok(None),
        Err(error) => return Err(Error::Solver(error.to_string())),
    };
    let mut path = vec![u32::MAX; length];
    for (edge, &variable) in edges.iter().zip(&variables) {
        if solution.var_value(variable) > 0.5 {
            path[edge.position] = edge.to;
        }
    }
    if path.contains(&u32::MAX) {
        return Err(Error::Solver("the flow has a gap".to_owned()));
    }
    Ok(Some(path))
}

//! Several chains as one: the variables of a slice become one variable whose labels are all their combinations.
//!
//! Slices are the layers of a breadth-first search from an end of each connected part. Neighbours differ by at most
//! one layer, so every factor lies in one slice or in two that follow each other, and the collapsed graph is a chain
//! whatever the graph was. For chains that are joined position by position a slice has one variable of each chain.

use super::clique_tables::{Domains, Walk};
use super::tree::Tree;
use crate::engine::FactorBeliefs;
use crate::{Beliefs, Decoding, Engine, Error, FactorGraph, FactorGraphBuilder, LogZ, MaxMarginals, Report};
use std::collections::HashMap;

/// Exact inference by collapsing slices; for factorial chains with few combinations of labels.
///
/// Steps that have the same factors and label sets share one matrix, so that long instances with tied weights run at
/// the speed of a plain chain. A [`JunctionTree`](super::JunctionTree) needs less memory where label sets are larger.
#[derive(Clone, Debug)]
pub struct ProductChain {
    budget: u64,
    slices: Slices,
    domains: Domains,
    collapsed: FactorGraph,
    tree: Tree,
    marginals: Vec<f64>,
}

impl Default for ProductChain {
    /// A budget of 256 MiB.
    fn default() -> Self {
        Self::with_budget(1 << 28)
    }
}

impl ProductChain {
    /// An engine whose tables may take this many bytes.
    pub fn with_budget(budget: u64) -> Self {
        Self {
            budget,
            slices: Slices::default(),
            domains: Domains::default(),
            collapsed: FactorGraph::default(),
            tree: Tree::new(),
            marginals: Vec::new(),
        }
    }

    fn collapse(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        self.domains.fill(graph);
        self.slices.find(graph);
        let mut collapse = Collapse {
            graph,
            domains: &self.domains,
            builder: std::mem::take(&mut self.collapsed).recycle(),
            shared: HashMap::new(),
            budget: self.budget,
            used: 0,
            walk: Walk::default(),
        };
        let mut factors = self.slices.factors(graph);
        for slice in 0..self.slices.len() {
            collapse.add_variable(self.slices.variables(slice))?;
        }
        for slice in 0..self.slices.len() {
            collapse.add_slice(&self.slices, slice, &factors.inside[slice])?;
            let across = std::mem::take(&mut factors.across[slice]);
            if !across.is_empty() {
                self.slices.step[slice] = Some(collapse.add_step(&self.slices, slice, &across)?);
            }
        }
        self.collapsed = collapse.builder.build();
        Ok(())
    }

    /// One number for each label of each variable, from numbers for the states of each slice.
    fn reduce(
        &mut self,
        graph: &FactorGraph,
        states: &[f64],
        nothing: f64,
        reduce: fn(&mut Walk, &[f64], &mut [f64]),
    ) {
        self.marginals.clear();
        self.marginals.resize(graph.all_states(), nothing);
        let mut walk = Walk::default();
        let mut values = Vec::new();
        for slice in 0..self.slices.len() {
            let table = &states[self.collapsed.states(slice as u32)];
            for &variable in self.slices.variables(slice) {
                let labels = self.domains.labels(variable);
                values.clear();
                values.resize(labels.len(), nothing);
                walk.lead_to_variables(&self.domains, self.slices.variables(slice), &[variable]);
                reduce(&mut walk, table, &mut values);
                for (&label, &value) in labels.iter().zip(&values) {
                    self.marginals[graph.states(variable).start + label as usize] = value;
                }
            }
        }
    }

    /// A contradiction in a slice is one of its variables.
    fn explain(&self, error: Error) -> Error {
        match error {
            Error::Contradiction { variable } => {
                let variable = self.slices.variables(variable as usize)[0];
                Error::Contradiction { variable }
            }
            other => other,
        }
    }
}

impl Engine for ProductChain {
    fn sum<'a>(&'a mut self, graph: &'a FactorGraph) -> Result<Beliefs<'a>, Error> {
        self.collapse(graph)?;
        let (log_z, report, states) = match self.tree.sum(&self.collapsed) {
            Ok(beliefs) => (beliefs.log_z(), beliefs.report(), beliefs.variables.to_vec()),
            Err(error) => return Err(self.explain(error)),
        };
        self.reduce(graph, &states, 0.0, |walk, table, values| {
            walk.sums(table, values)
        });
        debug_assert!(matches!(log_z, LogZ::Exact(_)));
        Ok(Beliefs {
            graph,
            log_z,
            variables: &self.marginals,
            factors: &*self,
            report,
        })
    }

    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, Error> {
        self.collapse(graph)?;
        let inner = self
            .tree
            .max(&self.collapsed)
            .map_err(|error| self.explain(error))?;
        let mut labels = vec![0; graph.variables()];
        for (slice, &state) in inner.labels.iter().enumerate() {
            let mut rest = state as usize;
            for &variable in self.slices.variables(slice).iter().rev() {
                let domain = self.domains.labels(variable);
                labels[variable as usize] = domain[rest % domain.len()];
                rest /= domain.len();
            }
        }
        let score = graph.score(&labels)?;
        Ok(Decoding {
            labels,
            score,
            bound: Some(score),
            report: Report::exact(inner.report.messages),
        })
    }
}

impl MaxMarginals for ProductChain {
    fn max_marginals(&mut self, graph: &FactorGraph) -> Result<&[f64], Error> {
        self.collapse(graph)?;
        let states = match self.tree.max_marginals(&self.collapsed) {
            Ok(states) => states.to_vec(),
            Err(error) => return Err(self.explain(error)),
        };
        self.reduce(graph, &states, f64::NEG_INFINITY, |walk, table, values| {
            walk.maxima(table, values)
        });
        Ok(&self.marginals)
    }
}

impl FactorBeliefs for ProductChain {
    fn factor(&self, graph: &FactorGraph, factor: usize, into: &mut [f64]) {
        let mut walk = Walk::default();
        let (first, last) = self.slices.span(graph, factor);
        let mut clique = self.slices.variables(first).to_vec();
        let mut table = Vec::new();
        if first == last {
            table.extend_from_slice(self.tree.variable(&self.collapsed, first as u32));
        } else {
            clique.extend_from_slice(self.slices.variables(last));
            let step = self.slices.step[first].expect("a factor across makes a step");
            table.resize(self.collapsed.scores(step).len(), 0.0);
            self.tree
                .factor_beliefs()
                .factor(&self.collapsed, step, &mut table);
        }
        walk.lead_to_factor(graph, &self.domains, &clique, factor);
        walk.sums(&table, into);
    }
}

/// The layers of all connected parts, one part after the other.
#[derive(Clone, Debug, Default)]
struct Slices {
    starts: Vec<usize>,
    variables: Vec<u32>,
    of_variable: Vec<u32>,
    /// The collapsed factor between a slice and the next.
    step: Vec<Option<usize>>,
}

/// Factors of each slice, and between each slice and the next.
struct Factors {
    inside: Vec<Vec<usize>>,
    across: Vec<Vec<usize>>,
}

impl Slices {
    fn len(&self) -> usize {
        self.starts.len()
    }

    fn variables(&self, slice: usize) -> &[u32] {
        let end = self
            .starts
            .get(slice + 1)
            .copied()
            .unwrap_or(self.variables.len());
        &self.variables[self.starts[slice]..end]
    }

    fn find(&mut self, graph: &FactorGraph) {
        self.starts.clear();
        self.variables.clear();
        self.of_variable.clear();
        self.of_variable.resize(graph.variables(), u32::MAX);
        let mut seen = vec![0u32; graph.variables()];
        for root in 0..graph.variables() as u32 {
            if self.of_variable[root as usize] == u32::MAX {
                // The farthest variable of a search is near an end of the graph.
                let (far, _) = layers(graph, root, &mut seen, 1);
                let end = *far.last().expect("a search finds its root");
                let (found, starts) = layers(graph, end, &mut seen, 2);
                let before = self.variables.len();
                self.starts.extend(starts.iter().map(|start| before + start));
                self.variables.extend_from_slice(&found);
                for slice in self.starts.len() - starts.len()..self.starts.len() {
                    for place in self.starts[slice]
                        ..self
                            .starts
                            .get(slice + 1)
                            .copied()
                            .unwrap_or(self.variables.len())
                    {
                        self.of_variable[self.variables[place] as usize] = slice as u32;
                    }
                }
            }
        }
        // Within a slice the order of the graph, so that slices that look the same are the same.
        for slice in 0..self.len() {
            let end = self
                .starts
                .get(slice + 1)
                .copied()
                .unwrap_or(self.variables.len());
            self.variables[self.starts[slice]..end].sort_unstable();
        }
        self.step.clear();
        self.step.resize(self.len(), None);
    }

    /// The first and the last slice of a factor.
    fn span(&self, graph: &FactorGraph, factor: usize) -> (usize, usize) {
        let slices = graph
            .scope(factor)
            .iter()
            .map(|&variable| self.of_variable[variable as usize] as usize);
        slices.fold((usize::MAX, 0), |(first, last), slice| {
            (first.min(slice), last.max(slice))
        })
    }

    fn factors(&self, graph: &FactorGraph) -> Factors {
        let empty = vec![Vec::new(); self.len()];
        let mut factors = Factors {
            inside: empty.clone(),
            across: empty,
        };
        for factor in 0..graph.factors() {
            let (first, last) = self.span(graph, factor);
            let list = if first == last {
                &mut factors.inside
            } else {
                &mut factors.across
            };
            list[first].push(factor);
        }
        factors
    }
}

/// Variables by their distance from a root, and where each distance begins.
fn layers(graph: &FactorGraph, root: u32, seen: &mut [u32], mark: u32) -> (Vec<u32>, Vec<usize>) {
    let (mut found, mut starts) = (vec![root], vec![0]);
    seen[root as usize] = mark;
    let (mut next, mut layer_end) = (0, 1);
    while next < found.len() {
        if next == layer_end {
            starts.push(next);
            layer_end = found.len();
        }
        for factor in graph.factors_of(found[next]) {
            for &other in graph.scope(factor) {
                if seen[other as usize] < mark {
                    seen[other as usize] = mark;
                    found.push(other);
                }
            }
        }
        next += 1;
    }
    (found, starts)
}

/// Builds the collapsed graph.
struct Collapse<'a> {
    graph: &'a FactorGraph,
    domains: &'a Domains,
    builder: FactorGraphBuilder,
    /// Matrices by the tables, places and label sets that they are made of.
    shared: HashMap<Vec<u32>, u32>,
    budget: u64,
    used: u64,
    walk: Walk,
}

impl Collapse<'_> {
    fn size(&self, variables: &[u32]) -> Option<usize> {
        variables.iter().try_fold(1usize, |size, &variable| {
            size.checked_mul(self.domains.labels(variable).len())
        })
    }

    /// Refuses a table that does not fit into the budget.
    fn charge(&mut self, variables: &[u32]) -> Result<usize, Error> {
        let size = self.size(variables).unwrap_or(usize::MAX);
        self.used = self.used.saturating_add((size as u64).saturating_mul(8));
        if self.used > self.budget || size > u32::MAX as usize {
            let (width, needed, budget) = (variables.len(), self.used, self.budget);
            return Err(Error::TooWide {
                width,
                needed,
                budget,
            });
        }
        Ok(size)
    }

    fn add_variable(&mut self, variables: &[u32]) -> Result<(), Error> {
        let states = self.charge(variables)?;
        self.builder.variable(states as u32).map(|_| ())
    }

    fn table(&mut self, clique: &[u32], factors: &[usize], size: usize) -> Vec<f64> {
        let mut scores = vec![0.0; size];
        for &factor in factors {
            self.walk.lead_to_factor(self.graph, self.domains, clique, factor);
            self.walk.spread(&mut scores, self.graph.scores(factor));
        }
        scores
    }

    fn add_slice(&mut self, slices: &Slices, slice: usize, factors: &[usize]) -> Result<(), Error> {
        let variables = slices.variables(slice);
        let size = self.domains.size(variables);
        let scores = self.table(variables, factors, size);
        self.builder.factor_with(0, &[slice as u32], &scores).map(|_| ())
    }

    /// Adds the factor between a slice and the next.
    fn add_step(&mut self, slices: &Slices, slice: usize, factors: &[usize]) -> Result<usize, Error> {
        let (first, second) = (slices.variables(slice), slices.variables(slice + 1));
        let clique = [first, second].concat();
        let mut key = Vec::new();
        for &factor in factors {
            key.push(self.graph.table_of(factor));
            let place =
                |variable: &u32| clique.iter().position(|member| member == variable).unwrap_or(0) as u32;
            key.extend(self.graph.scope(factor).iter().map(place));
        }
        for &variable in &clique {
            key.push(u32::MAX);
            key.extend_from_slice(self.domains.labels(variable));
        }
        let table = match self.shared.get(&key) {
            Some(&table) => table,
            None => {
                let size = self.charge(&clique)?;
                let scores = self.table(&clique, factors, size);
                let shape = [self.domains.size(first) as u32, self.domains.size(second) as u32];
                let table = self.builder.table(&shape, &scores)?;
                self.shared.insert(key, table);
                table
            }
        };
        self.builder.factor(1, &[slice as u32, slice as u32 + 1], table)
    }
}

//! Junction trees (Lauritzen & Spiegelhalter 1988; Jensen et al. 1990): exact inference on graphs of small width.

use super::clique_tables::{Domains, Walk};
use super::elimination::{Cliques, NONE, eliminate};
use crate::engine::FactorBeliefs;
use crate::{Beliefs, Decoding, Engine, Error, FactorGraph, LogZ, MaxMarginals, Report};

/// Exact inference on any graph whose cliques are small enough for a budget of memory.
///
/// All is computed in log space. Variables with one allowed label cost nothing, so restricting labels makes a graph
/// narrower.
#[derive(Clone, Debug)]
pub struct JunctionTree {
    budget: u64,
    cliques: Cliques,
    /// Cliques, parents first.
    order: Vec<u32>,
    domains: Domains,
    table_start: Vec<usize>,
    tables: Vec<f64>,
    separator_start: Vec<usize>,
    /// Messages to the parents, each with a largest entry of 0.
    separators: Vec<f64>,
    walk: Walk,
    /// What was taken out of all messages.
    offset: f64,
    marginals: Vec<f64>,
}

/// What a junction tree would need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Most variables in one clique.
    pub width: usize,
    /// Bytes of all tables.
    pub bytes: u64,
}

impl Default for JunctionTree {
    /// A budget of 512 MiB.
    fn default() -> Self {
        Self::with_budget(1 << 29)
    }
}

/// Sum or maximum over what is eliminated.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Sum,
    Max,
}

impl JunctionTree {
    /// An engine whose tables may take this many bytes.
    pub fn with_budget(budget: u64) -> Self {
        Self {
            budget,
            cliques: Cliques::default(),
            order: Vec::new(),
            domains: Domains::default(),
            table_start: Vec::new(),
            tables: Vec::new(),
            separator_start: Vec::new(),
            separators: Vec::new(),
            walk: Walk::default(),
            offset: 0.0,
            marginals: Vec::new(),
        }
    }

    /// What inference on a graph needs; an error if that is more than the budget.
    pub fn cost(&self, graph: &FactorGraph) -> Result<Cost, Error> {
        let cliques = eliminate(graph, self.budget)?;
        Ok(Cost {
            width: cliques.width,
            bytes: cliques.bytes,
        })
    }

    fn prepare(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        self.cliques = eliminate(graph, self.budget)?;
        self.domains.fill(graph);
        self.lay_out();
        self.offset = 0.0;
        self.add_factors(graph)
    }

    fn lay_out(&mut self) {
        let cliques = &self.cliques;
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); cliques.len()];
        self.order.clear();
        self.table_start.clear();
        self.separator_start.clear();
        let (mut entries, mut between) = (0, 0);
        for clique in 0..cliques.len() {
            match cliques.parent[clique] {
                NONE => self.order.push(clique as u32),
                parent => children[parent as usize].push(clique as u32),
            }
            self.table_start.push(entries);
            self.separator_start.push(between);
            entries += self.domains.size(cliques.variables(clique));
            between += self.domains.size(cliques.separator(clique));
        }
        self.table_start.push(entries);
        self.separator_start.push(between);
        let mut next = 0;
        while next < self.order.len() {
            self.order.extend_from_slice(&children[self.order[next] as usize]);
            next += 1;
        }
        self.tables.clear();
        self.tables.resize(entries, 0.0);
        self.separators.clear();
        self.separators.resize(between, 0.0);
    }

    /// Adds each factor to the clique in which the first of its variables is eliminated.
    fn add_factors(&mut self, graph: &FactorGraph) -> Result<(), Error> {
        for factor in 0..graph.factors() {
            let scores = graph.scores(factor);
            match self.clique_of(graph, factor) {
                Some(clique) => {
                    let variables = self.cliques.variables(clique);
                    self.walk.lead_to_factor(graph, &self.domains, variables, factor);
                    let table = self.table_start[clique]..self.table_start[clique + 1];
                    self.walk.spread(&mut self.tables[table], scores);
                }
                None => {
                    let entry = graph.scope(factor).iter().fold(0, |entry, &variable| {
                        entry * graph.labels(variable) as usize + self.domains.labels(variable)[0] as usize
                    });
                    if scores[entry] == f64::NEG_INFINITY {
                        let variable = graph.scope(factor)[0];
                        return Err(Error::Contradiction { variable });
                    }
                    self.offset += scores[entry];
                }
            }
        }
        Ok(())
    }

    /// The clique that contains all free variables of a factor.
    fn clique_of(&self, graph: &FactorGraph, factor: usize) -> Option<usize> {
        let free = graph
            .scope(factor)
            .iter()
            .filter(|&&v| self.cliques.of_variable[v as usize] != NONE);
        let contains = |clique: usize| {
            let members = self.cliques.variables(clique);
            free.clone().all(|variable| members.contains(variable))
        };
        free.clone()
            .map(|&variable| self.cliques.of_variable[variable as usize] as usize)
            .find(|&clique| contains(clique))
    }

    fn table(&self, clique: usize) -> &[f64] {
        &self.tables[self.table_start[clique]..self.table_start[clique + 1]]
    }

    /// Messages from the leaves to the roots.
    fn collect(&mut self, form: Form) -> Result<(), Error> {
        for place in (0..self.order.len()).rev() {
            let clique = self.order[place] as usize;
            let (variables, separator) = (self.cliques.variables(clique), self.cliques.separator(clique));
            let table = &self.tables[self.table_start[clique]..self.table_start[clique + 1]];
            let message =
                &mut self.separators[self.separator_start[clique]..self.separator_start[clique + 1]];
            self.walk.lead_to_variables(&self.domains, variables, separator);
            match form {
                Form::Sum => self.walk.log_sums(table, message),
                Form::Max => self.walk.maxima(table, message),
            }
            let largest = message.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if largest == f64::NEG_INFINITY {
                return Err(Error::Contradiction {
                    variable: variables[0],
                });
            }
            message.iter_mut().for_each(|entry| *entry -= largest);
            self.offset += largest;
            if self.cliques.parent[clique] != NONE {
                let parent = self.cliques.parent[clique] as usize;
                self.walk
                    .lead_to_variables(&self.domains, self.cliques.variables(parent), separator);
                let table = &mut self.tables[self.table_start[parent]..self.table_start[parent + 1]];
                self.walk.spread(table, message);
            }
        }
        Ok(())
    }

    /// Messages from the roots to the leaves; afterwards every table agrees with all others.
    fn distribute(&mut self, form: Form) {
        let mut update = Vec::new();
        for place in 0..self.order.len() {
            let clique = self.order[place] as usize;
            if self.cliques.parent[clique] == NONE {
                continue;
            }
            let parent = self.cliques.parent[clique] as usize;
            let separator = self.cliques.separator(clique);
            let message = &self.separators[self.separator_start[clique]..self.separator_start[clique + 1]];
            update.clear();
            update.resize(message.len(), 0.0);
            self.walk
                .lead_to_variables(&self.domains, self.cliques.variables(parent), separator);
            let table = &self.tables[self.table_start[parent]..self.table_start[parent + 1]];
            match form {
                Form::Sum => self.walk.log_sums(table, &mut update),
                Form::Max => self.walk.maxima(table, &mut update),
            }
            let largest = update.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for (update, message) in update.iter_mut().zip(message) {
                let possible = *message > f64::NEG_INFINITY;
                *update = if possible {
                    *update - largest - message
                } else {
                    f64::NEG_INFINITY
                };
            }
            self.walk
                .lead_to_variables(&self.domains, self.cliques.variables(clique), separator);
            let table = &mut self.tables[self.table_start[clique]..self.table_start[clique + 1]];
            self.walk.spread(table, &update);
        }
    }

    /// Turns log-beliefs into probabilities.
    fn normalise(&mut self) {
        for clique in 0..self.cliques.len() {
            let table = &mut self.tables[self.table_start[clique]..self.table_start[clique + 1]];
            let largest = table.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            table
                .iter_mut()
                .for_each(|entry| *entry = (*entry - largest).exp());
            let sum: f64 = table.iter().sum();
            table.iter_mut().for_each(|entry| *entry /= sum);
        }
    }

    /// One number for each label of each variable: `fixed` for the only label of a variable, what `reduce` makes
    /// of the table of its clique for others, `nothing` for labels that are not allowed.
    fn reduce_variables(
        &mut self,
        graph: &FactorGraph,
        nothing: f64,
        fixed: f64,
        reduce: impl Fn(&mut Walk, &[f64], &mut [f64]),
    ) {
        self.marginals.clear();
        self.marginals.resize(graph.all_states(), nothing);
        let mut values = Vec::new();
        for variable in 0..graph.variables() as u32 {
            let labels = self.domains.labels(variable);
            values.clear();
            match self.cliques.of_variable[variable as usize] {
                NONE => values.push(fixed),
                clique => {
                    let clique = clique as usize;
                    values.resize(labels.len(), nothing);
                    self.walk
                        .lead_to_variables(&self.domains, self.cliques.variables(clique), &[variable]);
                    let table = &self.tables[self.table_start[clique]..self.table_start[clique + 1]];
                    reduce(&mut self.walk, table, &mut values);
                }
            }
            let start = graph.states(variable).start;
            for (&label, &value) in labels.iter().zip(&values) {
                self.marginals[start + label as usize] = value;
            }
        }
    }

    /// The best labels of each clique under those of its parent.
    fn decode(&self, graph: &FactorGraph) -> Vec<u32> {
        let only = |variable: u32| self.domains.labels(variable)[0];
        let mut labels: Vec<u32> = (0..graph.variables() as u32).map(only).collect();
        let mut walk = Walk::default();
        for &clique in &self.order {
            let clique = clique as usize;
            let (variables, separator) = (self.cliques.variables(clique), self.cliques.separator(clique));
            walk.lead_to_variables(&self.domains, variables, separator);
            let given = separator.iter().fold(0, |place, &variable| {
                let domain = self.domains.labels(variable);
                let label = domain.binary_search(&labels[variable as usize]);
                place * domain.len() + label.expect("labels come from the domain")
            });
            let (table, mut best) = (self.table(clique), (f64::NEG_INFINITY, 0));
            walk.rows(|row, base, steps| {
                for (entry, step) in steps.iter().enumerate() {
                    if base + step == given && table[row + entry] > best.0 {
                        best = (table[row + entry], row + entry);
                    }
                }
            });
            let mut rest = best.1;
            for &variable in variables.iter().rev() {
                let domain = self.domains.labels(variable);
                labels[variable as usize] = domain[rest % domain.len()];
                rest /= domain.len();
            }
        }
        labels
    }
}

impl Engine for JunctionTree {
    fn sum<'a>(&'a mut self, graph: &'a FactorGraph) -> Result<Beliefs<'a>, Error> {
        self.prepare(graph)?;
        self.collect(Form::Sum)?;
        let (log_z, messages) = (LogZ::Exact(self.offset), 2 * self.cliques.len() as u64);
        self.distribute(Form::Sum);
        self.normalise();
        self.reduce_variables(graph, 0.0, 1.0, |walk, table, values| walk.sums(table, values));
        let report = Report::exact(messages);
        Ok(Beliefs {
            graph,
            log_z,
            variables: &self.marginals,
            factors: &*self,
            report,
        })
    }

    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, Error> {
        self.prepare(graph)?;
        self.collect(Form::Max)?;
        let labels = self.decode(graph);
        let score = graph.score(&labels)?;
        let report = Report::exact(self.cliques.len() as u64);
        Ok(Decoding {
            labels,
            score,
            bound: Some(score),
            report,
        })
    }
}

impl MaxMarginals for JunctionTree {
    fn max_marginals(&mut self, graph: &FactorGraph) -> Result<&[f64], Error> {
        let best = self.max(graph)?.score;
        self.distribute(Form::Max);
        self.reduce_variables(graph, f64::NEG_INFINITY, best, |walk, table, values| {
            // The best entry of every table stands for the best score of all.
            let largest = table.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            walk.maxima(table, values);
            values.iter_mut().for_each(|value| *value += best - largest);
        });
        Ok(&self.marginals)
    }
}

impl FactorBeliefs for JunctionTree {
    fn factor(&self, graph: &FactorGraph, factor: usize, into: &mut [f64]) {
        let mut walk = Walk::default();
        match self.clique_of(graph, factor) {
            Some(clique) => {
                walk.lead_to_factor(graph, &self.domains, self.cliques.variables(clique), factor);
                walk.sums(self.table(clique), into);
            }
            None => {
                let entry = graph.scope(factor).iter().fold(0, |entry, &variable| {
                    entry * graph.labels(variable) as usize + self.domains.labels(variable)[0] as usize
                });
                into[entry] = 1.0;
            }
        }
    }
}

//! Tables over the variables of a clique, and walks that relate them to smaller tables.

use crate::FactorGraph;
use fieldmark_core::kernels::exp_in_place;

/// The allowed labels of all variables, numbered from 0 for each variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Domains {
    starts: Vec<usize>,
    labels: Vec<u32>,
}

impl Domains {
    pub(super) fn fill(&mut self, graph: &FactorGraph) {
        self.starts.clear();
        self.labels.clear();
        self.starts.push(0);
        for variable in 0..graph.variables() as u32 {
            self.labels.extend(graph.label_sets().iter(variable));
            self.starts.push(self.labels.len());
        }
    }

    pub(super) fn labels(&self, variable: u32) -> &[u32] {
        &self.labels[self.starts[variable as usize]..self.starts[variable as usize + 1]]
    }

    pub(super) fn size(&self, variables: &[u32]) -> usize {
        variables
            .iter()
            .map(|&variable| self.labels(variable).len())
            .product()
    }

    /// The same, or the largest number if it is larger than that.
    pub(super) fn saturating_size(&self, variables: &[u32]) -> u64 {
        variables.iter().fold(1u64, |size, &variable| {
            size.saturating_mul(self.labels(variable).len() as u64)
        })
    }
}

/// A way through a table of a clique, last variable fastest, that knows the place in another table.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    /// How far each label of each variable leads in the other table.
    steps: Vec<usize>,
    starts: Vec<usize>,
    labels: Vec<usize>,
    first: usize,
}

impl Walk {
    /// Relates a clique to a table over allowed labels of some of its variables.
    pub(super) fn lead_to_variables(&mut self, domains: &Domains, clique: &[u32], other: &[u32]) {
        self.begin(0);
        for &variable in clique {
            let stride = other
                .iter()
                .position(|&member| member == variable)
                .map_or(0, |place| domains.size(&other[place + 1..]));
            self.push((0..domains.labels(variable).len()).map(|label| label * stride));
        }
    }

    /// Relates a clique to the table of a factor, whose other variables have one allowed label.
    pub(super) fn lead_to_factor(
        &mut self,
        graph: &FactorGraph,
        domains: &Domains,
        clique: &[u32],
        factor: usize,
    ) {
        let scope = graph.scope(factor);
        let stride = |place: usize| -> usize {
            scope[place + 1..]
                .iter()
                .map(|&variable| graph.labels(variable) as usize)
                .product()
        };
        let fixed = |place: usize| !clique.contains(&scope[place]);
        let first = (0..scope.len()).filter(|&place| fixed(place));
        self.begin(
            first
                .map(|place| domains.labels(scope[place])[0] as usize * stride(place))
                .sum(),
        );
        for &variable in clique {
            let stride = scope
                .iter()
                .position(|&member| member == variable)
                .map_or(0, stride);
            self.push(
                domains
                    .labels(variable)
                    .iter()
                    .map(|&label| label as usize * stride),
            );
        }
    }

    fn begin(&mut self, first: usize) {
        self.first = first;
        self.steps.clear();
        self.starts.clear();
        self.starts.push(0);
    }

    fn push(&mut self, steps: impl Iterator<Item = usize>) {
        self.steps.extend(steps);
        self.starts.push(self.steps.len());
    }

    fn steps(&self, place: usize) -> &[usize] {
        &self.steps[self.starts[place]..self.starts[place + 1]]
    }

    /// Calls back for each row: where it begins, the place of its start in the other table, and how far each of its
    /// entries leads from there.
    pub(super) fn rows(&mut self, mut visit: impl FnMut(usize, usize, &[usize])) {
        let outer = self.starts.len() - 2;
        self.labels.clear();
        self.labels.resize(outer, 0);
        let width = self.steps(outer).len();
        let (mut row, mut base) = (
            0,
            self.first + (0..outer).map(|place| self.steps(place)[0]).sum::<usize>(),
        );
        loop {
            visit(row, base, self.steps(outer));
            row += width;
            let mut place = outer;
            loop {
                if place == 0 {
                    return;
                }
                place -= 1;
                let label = self.labels[place];
                let next = if label + 1 < self.steps(place).len() {
                    label + 1
                } else {
                    0
                };
                base = base + self.steps(place)[next] - self.steps(place)[label];
                self.labels[place] = next;
                if next > 0 {
                    break;
                }
            }
        }
    }

    /// table[x] += other[place of x]
    pub(super) fn spread(&mut self, table: &mut [f64], other: &[f64]) {
        self.rows(|row, base, steps| {
            for (entry, step) in table[row..].iter_mut().zip(steps) {
                *entry += other[base + step];
            }
        });
    }

    /// other[y] = max over the entries of its place
    pub(super) fn maxima(&mut self, table: &[f64], other: &mut [f64]) {
        other.fill(f64::NEG_INFINITY);
        self.rows(|row, base, steps| {
            for (&entry, step) in table[row..].iter().zip(steps) {
                let largest = &mut other[base + step];
                *largest = largest.max(entry);
            }
        });
    }

    /// other[y] = log Σ exp over the entries of its place
    pub(super) fn log_sums(&mut self, table: &[f64], other: &mut [f64]) {
        self.maxima(table, other);
        let largest: Vec<f64> = other
            .iter()
            .map(|&l| if l > f64::NEG_INFINITY { l } else { 0.0 })
            .collect();
        let mut sums = vec![0.0; other.len()];
        let mut terms = Vec::new();
        self.rows(|row, base, steps| {
            terms.clear();
            terms.extend(
                table[row..]
                    .iter()
                    .zip(steps)
                    .map(|(entry, step)| entry - largest[base + step]),
            );
            exp_in_place(&mut terms);
            for (term, step) in terms.iter().zip(steps) {
                sums[base + step] += term;
            }
        });
        for (other, sum) in other.iter_mut().zip(sums) {
            *other += sum.ln();
        }
    }

    /// other[y] += Σ over the entries of its place
    pub(super) fn sums(&mut self, table: &[f64], other: &mut [f64]) {
        self.rows(|row, base, steps| {
            for (entry, step) in table[row..].iter().zip(steps) {
                other[base + step] += entry;
            }
        });
    }
}

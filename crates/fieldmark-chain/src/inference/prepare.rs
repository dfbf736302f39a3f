//! [`Prepared`]: a lattice with the constraints applied, in the shape in which every algorithm reads it.
//!
//! Start and end scores become part of the first and last row of nodes. Every row of nodes and of arcs is
//! shifted so that its maximum is 0; what was taken off is kept in one sum. Shifted rows lose no small
//! differences beside a large common offset, and none of their exponentials overflows.

use super::{ArcScores, Constraints, Error, Lattice};
use crate::Automaton;
use fieldmark_core::kernels::Real;

/// The scores of the loaded sequence.
#[derive(Debug, Default)]
pub(super) struct Prepared<T> {
    pub length: usize,
    pub states: usize,
    /// `length × states`.
    pub nodes: Vec<T>,
    /// Rows of arcs: one for static arcs, else `length − 1`.
    arcs: Vec<T>,
    arc_count: usize,
    arc_rows: usize,
    /// What was taken off the rows, summed over the sequence.
    pub offset: f64,
    /// Whether every state may follow every state at every step, and the spread of all rows is small enough
    /// for scaled linear arithmetic without looking for underflow.
    pub tame: bool,
    /// Changes whenever the rows of arcs do.
    pub arcs_version: u64,
    arcs_prepared: ArcsPrepared<T>,
    forbidden: Vec<usize>,
}

/// What the prepared arcs were made from, so that static arcs are prepared once for many sequences.
#[derive(Debug)]
struct ArcsPrepared<T> {
    valid: bool,
    source: Vec<T>,
    constraints: Constraints,
    automaton: Option<Automaton>,
    summary: Summary,
}

/// What has to be known about rows as a whole.
#[derive(Clone, Copy, Debug, Default)]
struct Summary {
    /// Sum of the maxima.
    offset: f64,
    /// Largest magnitude of a finite score.
    magnitude: f64,
    /// Largest distance between the finite scores of a row.
    spread: f64,
    /// Whether some score is −∞.
    gaps: bool,
}

impl<T> Default for ArcsPrepared<T> {
    fn default() -> Self {
        let (constraints, summary) = (Constraints::none(), Summary::default());
        Self {
            valid: false,
            source: Vec::new(),
            constraints,
            automaton: None,
            summary,
        }
    }
}

impl<T: Real> Prepared<T> {
    /// Copies a lattice, checked and constrained.
    pub fn load(&mut self, lattice: &Lattice<'_, T>, constraints: &Constraints) -> Result<(), Error> {
        lattice.check()?;
        constraints.check(lattice.length, lattice.automaton.labels())?;
        self.length = lattice.length;
        self.states = lattice.automaton.states();
        self.arc_count = lattice.automaton.arcs().len();
        self.offset = 0.0;
        self.tame = true;
        self.nodes.clear();
        if lattice.length == 0 {
            return Ok(());
        }
        let nodes = self.load_nodes(lattice, constraints)?;
        let steps = lattice.length - 1;
        let arcs = if steps == 0 {
            Summary::default()
        } else {
            self.load_arcs(lattice, constraints)?
        };
        let repeats = if self.arc_rows == 1 { steps as f64 } else { 1.0 };
        self.offset = nodes.offset + if steps == 0 { 0.0 } else { arcs.offset * repeats };
        self.tame = lattice.automaton.is_complete()
            && !arcs.gaps
            && nodes.spread + arcs.spread < T::SAFE_RANGE.to_f64();
        Ok(())
    }

    fn load_nodes(&mut self, lattice: &Lattice<'_, T>, constraints: &Constraints) -> Result<Summary, Error> {
        check_numbers("node scores", lattice.nodes)?;
        check_numbers("start scores", lattice.start)?;
        check_numbers("end scores", lattice.end)?;
        let mut summary = Summary::default();
        summary.measure(lattice.nodes);
        summary.measure(lattice.start);
        summary.measure(lattice.end);
        summary.check_magnitude::<T>(self.length)?;
        self.nodes.extend_from_slice(lattice.nodes);
        add(&mut self.nodes[..self.states], lattice.start);
        let last = (self.length - 1) * self.states;
        add(&mut self.nodes[last..], lattice.end);
        constraints.mask_nodes(lattice, &mut self.nodes);
        for (position, row) in self.nodes.chunks_exact_mut(self.states.max(1)).enumerate() {
            if !summary.shift(row) {
                return Err(Error::NoSequence { position });
            }
        }
        if self.states == 0 {
            return Err(Error::NoSequence { position: 0 });
        }
        Ok(summary)
    }

    fn load_arcs(&mut self, lattice: &Lattice<'_, T>, constraints: &Constraints) -> Result<Summary, Error> {
        let scores = lattice.arcs.all();
        let made = &mut self.arcs_prepared;
        let constrained = !constraints.pairs.is_empty();
        let is_static = matches!(lattice.arcs, ArcScores::Static(_));
        if is_static
            && made.valid
            && made.source == scores
            && made.constraints.pairs == constraints.pairs
            && (!constrained || made.automaton.as_ref() == Some(lattice.automaton))
        {
            made.summary.check_magnitude::<T>(self.length)?;
            return Ok(made.summary);
        }
        made.valid = false;
        check_numbers("arc scores", scores)?;
        self.arcs.clear();
        self.arcs.extend_from_slice(scores);
        let mut summary = Summary::default();
        summary.measure(scores);
        summary.check_magnitude::<T>(self.length)?;
        self.arc_rows = if is_static { 1 } else { lattice.length - 1 };
        find_forbidden(lattice.automaton, constraints, &mut self.forbidden);
        for row in self.arcs.chunks_exact_mut(self.arc_count.max(1)) {
            for &arc in &self.forbidden {
                row[arc] = T::NEG_INFINITY;
            }
            summary.shift(row);
        }
        if is_static {
            made.source.clear();
            made.source.extend_from_slice(scores);
            made.constraints.pairs.clone_from(&constraints.pairs);
            made.automaton = constrained.then(|| lattice.automaton.clone());
            made.summary = summary;
            made.valid = true;
        }
        self.arcs_version += 1;
        Ok(summary)
    }

    /// Scores of the states at a position.
    pub fn node_row(&self, position: usize) -> &[T] {
        &self.nodes[position * self.states..(position + 1) * self.states]
    }

    /// Which row of arcs belongs to a step, in tables with the layout of the prepared arcs.
    pub fn arc_range(&self, step: usize) -> std::ops::Range<usize> {
        let row = if self.arc_rows == 1 { 0 } else { step };
        row * self.arc_count..(row + 1) * self.arc_count
    }

    /// From the row of arcs of one step to that of the next.
    pub fn arc_stride(&self) -> usize {
        if self.arc_rows == 1 { 0 } else { self.arc_count }
    }

    /// Scores of the arcs at the step from position `step` to the next.
    pub fn arc_row(&self, step: usize) -> &[T] {
        &self.arcs[self.arc_range(step)]
    }

    /// Scores of all arcs of the loaded sequence.
    pub fn arcs(&self) -> &[T] {
        if self.length < 2 { &[] } else { &self.arcs }
    }

    /// The error for a lattice in which no path is left.
    #[cold]
    pub fn no_sequence(&self, automaton: &Automaton) -> Error {
        let mut reached: Vec<bool> = self.node_row(0).iter().map(|&s| s > T::NEG_INFINITY).collect();
        for position in 1..self.length {
            let (nodes, arcs) = (self.node_row(position), self.arc_row(position - 1));
            reached = (0..self.states)
                .map(|to| {
                    nodes[to] > T::NEG_INFINITY
                        && automaton.incoming(to).any(|arc| {
                            arcs[arc] > T::NEG_INFINITY && reached[automaton.arcs()[arc].from as usize]
                        })
                })
                .collect();
            if !reached.contains(&true) {
                return Error::NoSequence { position };
            }
        }
        Error::NoSequence {
            position: self.length.saturating_sub(1),
        }
    }
}

impl Summary {
    fn measure<T: Real>(&mut self, scores: &[T]) {
        let (mut low, mut high) = (T::ZERO, T::ZERO);
        for &score in scores {
            high = high.max(score);
            low = low.min(if score > T::NEG_INFINITY { score } else { T::ZERO });
        }
        self.magnitude = self.magnitude.max(high.to_f64()).max(-low.to_f64());
    }

    /// Whether no sum over a sequence overflows.
    fn check_magnitude<T: Real>(&self, length: usize) -> Result<(), Error> {
        // No sum that any algorithm forms has more terms than this.
        let terms = 4.0 * (2.0 * length as f64 + 2.0);
        if T::from_f64(self.magnitude * terms).is_finite() {
            Ok(())
        } else {
            Err(Error::TooLarge {
                magnitude: self.magnitude,
                length,
            })
        }
    }

    /// Shifts a row to a maximum of 0. `false` if no score is above −∞.
    fn shift<T: Real>(&mut self, row: &mut [T]) -> bool {
        let max = row.iter().fold(T::NEG_INFINITY, |max, &score| score.max(max));
        if max <= T::NEG_INFINITY {
            self.gaps |= !row.is_empty();
            return false;
        }
        let mut low = T::ZERO;
        let mut gaps = false;
        for score in row {
            *score -= max;
            gaps |= *score <= T::NEG_INFINITY;
            low = low.min(if *score > T::NEG_INFINITY { *score } else { T::ZERO });
        }
        self.gaps |= gaps;
        self.offset += max.to_f64();
        self.spread = self.spread.max(-low.to_f64());
        true
    }
}

fn add<T: Real>(row: &mut [T], other: &[T]) {
    for (score, &other) in row.iter_mut().zip(other) {
        *score += other;
    }
}

fn check_numbers<T: Real>(what: &'static str, scores: &[T]) -> Result<(), Error> {
    let fine = |&score: &T| score.is_finite() || score <= T::NEG_INFINITY;
    if scores.iter().fold(true, |all, score| all & fine(score)) {
        return Ok(());
    }
    let index = scores.iter().position(|score| !fine(score)).unwrap_or(0);
    Err(Error::NotFinite { what, index })
}

/// The arcs between labels that may not follow each other.
fn find_forbidden(automaton: &Automaton, constraints: &Constraints, forbidden: &mut Vec<usize>) {
    forbidden.clear();
    if constraints.pairs.is_empty() {
        return;
    }
    let label = |state: u32| automaton.label_of()[state as usize];
    forbidden.extend((0..automaton.arcs().len()).filter(|&index| {
        let arc = automaton.arcs()[index];
        constraints.pairs.contains(&(label(arc.from), label(arc.to)))
    }));
}

//! The best label sequence under Boolean rules on the whole of it.
//!
//! Bounds on the number of spans are handled in three steps, each of which may be the last:
//! 1. Viterbi. Often the best sequence satisfies the rules as it is.
//! 2. Lagrangian relaxation: a bonus or a price per span of a type, chosen so that the best sequence with
//!    these is the tightest upper bound. If its spans are within bounds and it reaches the upper bound, it is
//!    the answer.
//! 3. The integer program of Roth & Yih (2005) over the part of the trellis that can matter: an arc is left
//!    out only if every sequence through it scores less than a sequence that is known to satisfy the bounds.
//!
//! A rule "A implies B" is branched upon when the best sequence breaks it: either no A, or at least one B.
//! The answer is therefore exact, up to the tolerance of the solver (about 1e-6 of the score differences).

use super::ilp::{Bounds, Edge, cheapest_path};
use super::prepare::Prepared;
use super::{Error, Inference, Path, Rule, SpanReader};
use crate::Automaton;
use fieldmark_core::kernels::Real;

/// Steps of the search for the tightest bound, over all types.
const DUAL_STEPS: usize = 200;
/// Score differences below which the integer program is tried on a first, small part of the trellis.
const FIRST_MARGIN: f64 = 2.0;

/// The trellis with the spans that its steps begin.
struct Trellis<'a, T> {
    prepared: &'a Prepared<T>,
    automaton: &'a Automaton,
    start_kinds: Vec<Option<u32>>,
    arc_kinds: Vec<Option<u32>>,
    kinds: usize,
}

/// A path with its score relative to the prepared lattice.
#[derive(Clone, Debug)]
struct Solution {
    states: Vec<u32>,
    score: f64,
    counts: Vec<usize>,
}

/// The best path when each span of a type earns a bonus, and the upper bound that follows.
struct Relaxed {
    best: Solution,
    backward: Vec<f64>,
    /// Best score with bonuses.
    value: f64,
    /// No sequence within the bounds scores higher.
    bound: f64,
}

impl<'a, T: Real> Trellis<'a, T> {
    fn new(prepared: &'a Prepared<T>, automaton: &'a Automaton, reader: &SpanReader) -> Self {
        let label = |state: u32| automaton.label_of()[state as usize];
        let start_kinds = automaton
            .label_of()
            .iter()
            .map(|&label| reader.begins(None, label))
            .collect();
        let arcs = automaton.arcs().iter();
        let arc_kinds = arcs
            .map(|arc| reader.begins(Some(label(arc.from)), label(arc.to)))
            .collect();
        Self {
            prepared,
            automaton,
            start_kinds,
            arc_kinds,
            kinds: reader.kinds().len(),
        }
    }

    fn bonuses(&self, kinds: &[Option<u32>], bonus: &[f64]) -> Vec<f64> {
        kinds
            .iter()
            .map(|kind| kind.map_or(0.0, |kind| bonus[kind as usize]))
            .collect()
    }

    /// The scores of the first position, with bonuses.
    fn starts(&self, bonus: &[f64]) -> Vec<f64> {
        let bonuses = self.bonuses(&self.start_kinds, bonus);
        let nodes = self.prepared.node_row(0).iter();
        nodes
            .zip(bonuses)
            .map(|(node, bonus)| node.to_f64() + bonus)
            .collect()
    }

    /// Best continuation after each state at each position, with bonuses.
    fn backward(&self, bonus: &[f64]) -> Vec<f64> {
        let (states, length) = (self.prepared.states, self.prepared.length);
        let bonuses = self.bonuses(&self.arc_kinds, bonus);
        let mut table = vec![0.0; length * states];
        for position in (1..length).rev() {
            let (before, after) = table.split_at_mut(position * states);
            let row = &mut before[(position - 1) * states..];
            row.fill(f64::NEG_INFINITY);
            let nodes = self.prepared.node_row(position).iter();
            let next: Vec<f64> = nodes
                .zip(&after[..states])
                .map(|(node, rest)| node.to_f64() + rest)
                .collect();
            let scores = self.prepared.arc_row(position - 1).iter().zip(&bonuses);
            for (arc, (score, bonus)) in self.automaton.arcs().iter().zip(scores) {
                let best = &mut row[arc.from as usize];
                *best = best.max(score.to_f64() + bonus + next[arc.to as usize]);
            }
        }
        table
    }

    /// Best beginning up to each state at each position, with bonuses.
    fn forward(&self, bonus: &[f64]) -> Vec<f64> {
        let states = self.prepared.states;
        let bonuses = self.bonuses(&self.arc_kinds, bonus);
        let mut table = self.starts(bonus);
        for position in 1..self.prepared.length {
            let before = table.len() - states;
            table.resize(table.len() + states, f64::NEG_INFINITY);
            let (before, row) = table[before..].split_at_mut(states);
            let scores = self.prepared.arc_row(position - 1).iter().zip(&bonuses);
            for (arc, (score, bonus)) in self.automaton.arcs().iter().zip(scores) {
                let best = &mut row[arc.to as usize];
                *best = best.max(before[arc.from as usize] + score.to_f64() + bonus);
            }
            for (best, node) in row.iter_mut().zip(self.prepared.node_row(position)) {
                *best += node.to_f64();
            }
        }
        table
    }

    /// Walks along the best continuations; among equals the smallest label goes first.
    fn follow(&self, bonus: &[f64], backward: &[f64]) -> Option<(Vec<u32>, f64)> {
        let (states, label_of) = (self.prepared.states, self.automaton.label_of());
        let bonuses = self.bonuses(&self.arc_kinds, bonus);
        let better = |a: &(f64, u32), b: &(f64, u32)| {
            let labels = || label_of[b.1 as usize].cmp(&label_of[a.1 as usize]);
            a.0.total_cmp(&b.0).then_with(labels)
        };
        let starts = self.starts(bonus).into_iter().zip(&backward[..states]);
        let first = starts.map(|(start, rest)| start + rest).zip(0..).max_by(better)?;
        if first.0 == f64::NEG_INFINITY {
            return None;
        }
        let mut path = vec![first.1];
        for position in 1..self.prepared.length {
            let (nodes, arcs) = (
                self.prepared.node_row(position),
                self.prepared.arc_row(position - 1),
            );
            let from = path[position - 1] as usize;
            let steps = self.automaton.outgoing(from).iter().map(|&arc| {
                let (arc, to) = (arc as usize, self.automaton.arcs()[arc as usize].to);
                let rest = nodes[to as usize].to_f64() + backward[position * states + to as usize];
                (arcs[arc].to_f64() + bonuses[arc] + rest, to)
            });
            path.push(steps.max_by(better)?.1);
        }
        Some((path, first.0))
    }

    /// Counts the spans of a path and adds up its score without bonuses.
    fn measure(&self, states: Vec<u32>) -> Solution {
        let mut counts = vec![0; self.kinds];
        let mut score = 0.0;
        for (position, &to) in states.iter().enumerate() {
            score += self.prepared.node_row(position)[to as usize].to_f64();
            let kind = match position.checked_sub(1) {
                None => self.start_kinds[to as usize],
                Some(before) => {
                    let incoming = self.automaton.incoming(to as usize);
                    let sources = &self.automaton.arcs()[incoming.clone()];
                    let source = sources.binary_search_by_key(&states[before], |arc| arc.from);
                    let arc = incoming.start + source.expect("a path follows arcs");
                    score += self.prepared.arc_row(before)[arc].to_f64();
                    self.arc_kinds[arc]
                }
            };
            if let Some(kind) = kind {
                counts[kind as usize] += 1;
            }
        }
        Solution {
            states,
            score,
            counts,
        }
    }

    fn relax(&self, bonus: &[f64], bounds: &[Bounds]) -> Option<Relaxed> {
        let backward = self.backward(bonus);
        let (states, value) = self.follow(bonus, &backward)?;
        // A forbidden type has a bonus of −∞ and does not occur: it adds nothing to the bound.
        let prices = bonus
            .iter()
            .zip(bounds)
            .filter(|(bonus, _)| **bonus != 0.0 && bonus.is_finite());
        let price: f64 = prices.map(|(&bonus, bounds)| bonus * active(bonus, bounds)).sum();
        Some(Relaxed {
            best: self.measure(states),
            backward,
            value,
            bound: value - price,
        })
    }

    /// Every step that some path takes, with what its best path loses against the best of all.
    fn edges(&self, bonus: &[f64], relaxed: &Relaxed) -> Vec<(f64, Edge)> {
        let (states, length) = (self.prepared.states, self.prepared.length);
        let forward = self.forward(bonus);
        let backward = &relaxed.backward;
        let bonuses = self.bonuses(&self.arc_kinds, bonus);
        let price = |kind: Option<u32>| kind.map_or(0.0, |kind| bonus[kind as usize]);
        let mut edges = Vec::new();
        for (to, (&start, &kind)) in forward[..states].iter().zip(&self.start_kinds).enumerate() {
            let loss = relaxed.value - (start + backward[to]);
            if loss < f64::INFINITY {
                let cost = loss.max(0.0) + price(kind);
                edges.push((
                    loss,
                    Edge {
                        position: 0,
                        from: 0,
                        to: to as u32,
                        kind,
                        cost,
                    },
                ));
            }
        }
        for position in 1..length {
            let (nodes, arcs) = (
                self.prepared.node_row(position),
                self.prepared.arc_row(position - 1),
            );
            for (index, arc) in self.automaton.arcs().iter().enumerate() {
                let (from, to) = (arc.from as usize, arc.to as usize);
                let before = (position - 1) * states + from;
                let rest = nodes[to].to_f64() + backward[position * states + to];
                let ahead = arcs[index].to_f64() + bonuses[index] + rest;
                let loss = relaxed.value - (forward[before] + ahead);
                if loss < f64::INFINITY {
                    let kind = self.arc_kinds[index];
                    // Along a path these sum to what it loses against the best of all, less its bonuses.
                    let cost = (backward[before] - ahead).max(0.0) + price(kind);
                    edges.push((
                        loss,
                        Edge {
                            position,
                            from: arc.from,
                            to: arc.to,
                            kind,
                            cost,
                        },
                    ));
                }
            }
        }
        edges
    }

    /// The best path with span counts within bounds, or `None` if there is none.
    fn best_within(&self, bounds: &[Bounds]) -> Result<Option<Solution>, Error> {
        if bounds.iter().any(|bounds| bounds.low > bounds.high) || !self.can_reach(bounds) {
            return Ok(None);
        }
        let forbidden = bounds
            .iter()
            .map(|b| if b.high == 0 { f64::NEG_INFINITY } else { 0.0 });
        let mut dual = Dual {
            trellis: self,
            bounds,
            bonus: forbidden.collect(),
            incumbent: None,
            steps: 0,
        };
        let Some(relaxed) = dual.tighten() else {
            return Ok(None);
        };
        let Dual { bonus, incumbent, .. } = dual;
        self.close_gap(bounds, &bonus, &relaxed, incumbent)
    }

    /// Whether each bound can be met by itself: the most and the fewest spans of a type on any path.
    fn can_reach(&self, bounds: &[Bounds]) -> bool {
        let extreme = |kind: usize, sign: f64| {
            let count = |kinds: &[Option<u32>], at: usize| {
                if kinds[at] == Some(kind as u32) { sign } else { 0.0 }
            };
            let possible = |score: &T, count: f64| {
                if *score > T::NEG_INFINITY {
                    count
                } else {
                    f64::NEG_INFINITY
                }
            };
            let nodes = self.prepared.node_row(0).iter().enumerate();
            let mut row: Vec<f64> = nodes
                .map(|(s, n)| possible(n, count(&self.start_kinds, s)))
                .collect();
            for position in 1..self.prepared.length {
                let (nodes, arcs) = (
                    self.prepared.node_row(position),
                    self.prepared.arc_row(position - 1),
                );
                let mut next = vec![f64::NEG_INFINITY; row.len()];
                for (index, arc) in self.automaton.arcs().iter().enumerate() {
                    let reached =
                        row[arc.from as usize] + possible(&arcs[index], count(&self.arc_kinds, index));
                    let best = &mut next[arc.to as usize];
                    *best = best.max(reached);
                }
                next.iter_mut()
                    .zip(nodes)
                    .for_each(|(best, node)| *best += possible(node, 0.0));
                row = next;
            }
            sign * row.into_iter().fold(f64::NEG_INFINITY, f64::max)
        };
        bounds.iter().enumerate().all(|(kind, bounds)| {
            (bounds.low == 0 || extreme(kind, 1.0) >= bounds.low as f64)
                && (bounds.high == usize::MAX || extreme(kind, -1.0) <= bounds.high as f64)
        })
    }

    /// Solves the integer program over ever larger parts of the trellis, until what is left out cannot hold
    /// anything better than what was found.
    fn close_gap(
        &self,
        bounds: &[Bounds],
        bonus: &[f64],
        relaxed: &Relaxed,
        mut incumbent: Option<Solution>,
    ) -> Result<Option<Solution>, Error> {
        let slack = 1e-9 * (1.0 + relaxed.bound.abs());
        let gap = |incumbent: &Option<Solution>| {
            incumbent
                .as_ref()
                .map_or(f64::INFINITY, |solution| relaxed.bound - solution.score)
        };
        if gap(&incumbent) <= slack {
            return Ok(incumbent);
        }
        let mut edges = self.edges(bonus, relaxed);
        edges.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut margin = FIRST_MARGIN.min(gap(&incumbent));
        loop {
            let kept = edges.partition_point(|(loss, _)| *loss <= margin + slack);
            let part: Vec<Edge> = edges[..kept].iter().map(|(_, edge)| *edge).collect();
            if let Some(states) = cheapest_path(&part, self.prepared.length, bounds)? {
                let solution = self.measure(states);
                if !bounds
                    .iter()
                    .zip(&solution.counts)
                    .all(|(bounds, &count)| bounds.contain(count))
                {
                    return Err(Error::Solver("the solution breaks a bound".to_owned()));
                }
                if incumbent
                    .as_ref()
                    .is_none_or(|known| solution.score > known.score)
                {
                    incumbent = Some(solution);
                }
            }
            if kept == edges.len() || gap(&incumbent) <= margin + slack {
                return Ok(incumbent);
            }
            let doubled = edges[(2 * kept).min(edges.len() - 1)].0;
            margin = doubled.max(4.0 * margin).min(gap(&incumbent));
        }
    }
}

/// The bound on the count that a bonus (or a price, if negative) stands for.
fn active(bonus: f64, bounds: &Bounds) -> f64 {
    if bonus > 0.0 {
        bounds.low as f64
    } else {
        bounds.high as f64
    }
}

/// The search for bonuses that make the upper bound tight, one type at a time.
struct Dual<'a, T> {
    trellis: &'a Trellis<'a, T>,
    bounds: &'a [Bounds],
    bonus: Vec<f64>,
    incumbent: Option<Solution>,
    steps: usize,
}

/// The upper bound as a function of one bonus: where it was evaluated, its value and its slope there.
#[derive(Clone, Copy)]
struct Tangent {
    at: f64,
    value: f64,
    slope: f64,
}

impl<T: Real> Dual<'_, T> {
    fn evaluate(&mut self) -> Option<Relaxed> {
        self.steps += 1;
        let relaxed = self.trellis.relax(&self.bonus, self.bounds)?;
        let within = self
            .bounds
            .iter()
            .zip(&relaxed.best.counts)
            .all(|(bounds, &count)| bounds.contain(count));
        if within
            && self
                .incumbent
                .as_ref()
                .is_none_or(|known| relaxed.best.score > known.score)
        {
            self.incumbent = Some(relaxed.best.clone());
        }
        Some(relaxed)
    }

    /// Minimises the bound over each bonus in turn, as long as that helps.
    fn tighten(&mut self) -> Option<Relaxed> {
        let mut relaxed = self.evaluate()?;
        loop {
            let before = relaxed.bound;
            for kind in 0..self.bounds.len() {
                if self.slope(kind, &relaxed) != 0.0 && !self.is_closed(&relaxed) {
                    self.minimise(kind, &relaxed)?;
                    relaxed = self.evaluate()?;
                }
            }
            let gain = before - relaxed.bound;
            if gain <= 1e-6 * (1.0 + relaxed.bound.abs())
                || self.steps > DUAL_STEPS
                || self.is_closed(&relaxed)
            {
                return Some(relaxed);
            }
        }
    }

    fn is_closed(&self, relaxed: &Relaxed) -> bool {
        let slack = 1e-9 * (1.0 + relaxed.bound.abs());
        self.incumbent
            .as_ref()
            .is_some_and(|known| relaxed.bound - known.score <= slack)
    }

    /// A slope of the bound in the bonus of a type.
    fn slope(&self, kind: usize, relaxed: &Relaxed) -> f64 {
        let (bonus, bounds, count) = (self.bonus[kind], self.bounds[kind], relaxed.best.counts[kind]);
        if bonus == f64::NEG_INFINITY || (bonus == 0.0 && bounds.contain(count)) {
            return 0.0;
        }
        let target = if bonus == 0.0 {
            count.clamp(bounds.low, bounds.high) as f64
        } else {
            active(bonus, &bounds)
        };
        count as f64 - target
    }

    /// Minimises the bound, which is convex and piecewise linear, over one bonus: the crossing of a falling
    /// and a rising tangent is the next place to look (Kelley 1960).
    fn minimise(&mut self, kind: usize, start: &Relaxed) -> Option<()> {
        let begin = Tangent {
            at: self.bonus[kind],
            value: start.bound,
            slope: self.slope(kind, start),
        };
        let mut best = begin;
        let (mut step, mut near, mut far) = (1.0, begin, None);
        while self.steps <= DUAL_STEPS {
            let at = match far {
                None => near.at - step * begin.slope.signum(),
                Some(far) => crossing(near, far),
            };
            let at = if self.bounds[kind].high == usize::MAX {
                at.max(0.0)
            } else {
                at
            };
            self.bonus[kind] = at;
            let relaxed = self.evaluate()?;
            let tangent = Tangent {
                at,
                value: relaxed.bound,
                slope: self.slope(kind, &relaxed),
            };
            if tangent.value < best.value {
                best = tangent;
            }
            let reached = far.is_some_and(|far: Tangent| {
                let line = near.value + near.slope * (at - near.at);
                tangent.value <= line + 1e-12 * (1.0 + line.abs()) || at == near.at || at == far.at
            });
            if tangent.slope == 0.0 || reached || self.is_closed(&relaxed) {
                break;
            }
            if tangent.slope.signum() == begin.slope.signum() {
                near = tangent;
                step *= 2.0;
            } else {
                far = Some(tangent);
            }
        }
        self.bonus[kind] = best.at;
        Some(())
    }
}

fn crossing(a: Tangent, b: Tangent) -> f64 {
    let at = (b.value - a.value + a.slope * a.at - b.slope * b.at) / (a.slope - b.slope);
    at.clamp(a.at.min(b.at), a.at.max(b.at))
}

/// Bounds on counts, and the best path within them: a node of the search over implications.
struct Branch {
    bounds: Vec<Bounds>,
    solution: Solution,
}

impl<T: Real> Inference<'_, '_, T> {
    /// The best label sequence that satisfies the rules, along with the constraints of the sequence.
    ///
    /// Exact up to the tolerance of the solver. A few hundred positions with some twenty labels take tens of
    /// milliseconds; rules that the best sequence satisfies anyway cost about one Viterbi pass. Each call
    /// allocates. Among equally good sequences any may be returned.
    ///
    /// # Errors
    /// [`Error::Infeasible`] if no sequence satisfies the rules, [`Error::UnknownKind`] for a type that no
    /// label has, [`Error::Solver`] if the integer program is too hard.
    pub fn viterbi_under(&mut self, reader: &SpanReader, rules: &[Rule]) -> Result<Path<'_>, Error> {
        self.check_reader(reader)?;
        let kind = |name: &str| {
            let unknown = || Error::UnknownKind {
                kind: name.to_owned(),
            };
            reader
                .kinds()
                .get(name)
                .map(|kind| kind as usize)
                .ok_or_else(unknown)
        };
        let mut bounds = vec![Bounds::FREE; reader.kinds().len()];
        let mut implications = Vec::new();
        for rule in rules {
            let (name, new) = match rule {
                Rule::AtMost(high, name) => (name, Bounds { low: 0, high: *high }),
                Rule::AtLeast(low, name) => (
                    name,
                    Bounds {
                        low: *low,
                        high: usize::MAX,
                    },
                ),
                Rule::Exactly(number, name) => (
                    name,
                    Bounds {
                        low: *number,
                        high: *number,
                    },
                ),
                Rule::Implies(premise, conclusion) => {
                    implications.push((kind(premise)?, kind(conclusion)?));
                    continue;
                }
            };
            let kind = kind(name)?;
            bounds[kind] = bounds[kind].intersect(new);
        }
        if self.lattice.length == 0 {
            let fine = bounds.iter().all(|bounds| bounds.contain(0));
            return if fine {
                Ok(Path {
                    labels: &[],
                    score: 0.0,
                })
            } else {
                Err(Error::Infeasible)
            };
        }
        let trellis = Trellis::new(&self.worker.prepared, self.lattice.automaton, reader);
        let states = match search(&trellis, bounds, &implications)? {
            Some(solution) => solution.states,
            None => {
                // Without any sequence at all the constraints are to blame, not the rules.
                self.viterbi()?;
                return Err(Error::Infeasible);
            }
        };
        self.worker.states = states;
        self.label_states();
        let score = self.lattice.score(&self.worker.states);
        Ok(Path {
            labels: &self.worker.labels,
            score,
        })
    }
}

/// Best-first search over the ways to satisfy the implications: a branch scores no more than the one it came
/// from, so the first that breaks no implication is the best.
fn search<T: Real>(
    trellis: &Trellis<'_, T>,
    bounds: Vec<Bounds>,
    implications: &[(usize, usize)],
) -> Result<Option<Solution>, Error> {
    let mut branches: Vec<Branch> = Vec::new();
    let root = trellis.best_within(&bounds)?;
    branches.extend(root.map(|solution| Branch { bounds, solution }));
    loop {
        let scores = branches.iter().map(|branch| branch.solution.score).enumerate();
        let Some((best, _)) = scores.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Ok(None);
        };
        let Branch { bounds, solution } = branches.swap_remove(best);
        let broken = |&&(premise, conclusion): &&(usize, usize)| {
            solution.counts[premise] > 0 && solution.counts[conclusion] == 0
        };
        let Some(&(premise, conclusion)) = implications.iter().find(broken) else {
            return Ok(Some(solution));
        };
        let none = (premise, Bounds { low: 0, high: 0 });
        let some = (
            conclusion,
            Bounds {
                low: 1,
                high: usize::MAX,
            },
        );
        for (kind, new) in [none, some] {
            let mut bounds = bounds.clone();
            bounds[kind] = bounds[kind].intersect(new);
            let solution = trellis.best_within(&bounds)?;
            branches.extend(solution.map(|solution| Branch { bounds, solution }));
        }
    }
}

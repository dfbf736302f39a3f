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
use super::trellis::{Best, Solution, Trellis};
use super::{Error, Inference, Path, Rule, SpanReader};
use fieldmark_core::kernels::Real;

/// Steps of the search for the tightest bound, over all types.
const DUAL_STEPS: usize = 200;
/// Steps of the search for a proof that the bounds are out of reach.
const REACH_STEPS: usize = 100;
/// Score differences below which the integer program is tried on a first, small part of the trellis.
const FIRST_MARGIN: f64 = 0.25;

/// The best path with bonuses, and the upper bound that follows.
struct Relaxed {
    best: Best,
    /// No sequence within the bounds scores higher.
    bound: f64,
}

/// The best path with span counts within bounds, or `None` if there is none.
fn best_within(trellis: &Trellis<'_>, bounds: &[Bounds]) -> Result<Option<Solution>, Error> {
    if bounds.iter().any(|bounds| bounds.low > bounds.high) {
        return Ok(None);
    }
    let forbidden = bounds
        .iter()
        .map(|b| if b.high == 0 { f64::NEG_INFINITY } else { 0.0 });
    let mut dual = Dual {
        trellis,
        bounds,
        bonus: forbidden.collect(),
        incumbent: None,
        steps: 0,
    };
    let Some(first) = dual.evaluate() else {
        return Ok(None);
    };
    if dual.is_closed(&first) {
        return Ok(dual.incumbent);
    }
    if out_of_reach(trellis, bounds) {
        return Ok(None);
    }
    match dual.tighten(first) {
        Some(relaxed) => close_gap(trellis, bounds, &dual.bonus, &relaxed, dual.incumbent),
        None => Ok(None),
    }
}

/// Whether some weighted sum of span counts separates all paths from the bounds, which proves that no path
/// is within them.
///
/// Looks for the point nearest to the bounds among the averages of paths (Frank & Wolfe 1956): the direction
/// from there to the bounds separates if anything does.
fn out_of_reach(trellis: &Trellis<'_>, bounds: &[Bounds]) -> bool {
    let plain = trellis.without_scores();
    let counts = |direction: &[f64]| {
        let counts = plain.best(direction)?.solution.counts;
        Some(counts.into_iter().map(|count| count as f64).collect::<Vec<f64>>())
    };
    let Some(mut point) = counts(&vec![0.0; bounds.len()]) else {
        return true;
    };
    for _ in 0..REACH_STEPS {
        let clamped = point
            .iter()
            .zip(bounds)
            .map(|(x, b)| x.clamp(b.low as f64, b.high as f64));
        let nearest: Vec<f64> = clamped.collect();
        let direction: Vec<f64> = nearest.iter().zip(&point).map(|(near, x)| near - x).collect();
        let Some(farthest) = counts(&direction) else {
            return true;
        };
        let along = |from: &[f64]| -> f64 {
            direction
                .iter()
                .zip(&farthest)
                .zip(from)
                .map(|((d, far), x)| d * (far - x))
                .sum()
        };
        if along(&nearest) < -1e-9 {
            return true;
        }
        let (gain, distance) = (
            along(&point),
            farthest.iter().zip(&point).map(|(far, x)| (far - x).powi(2)),
        );
        let distance: f64 = distance.sum();
        if gain <= 0.0 || distance <= 0.0 {
            return false;
        }
        let step = (gain / distance).min(1.0);
        point
            .iter_mut()
            .zip(&farthest)
            .for_each(|(x, far)| *x += step * (far - *x));
    }
    false
}

/// Solves the integer program over ever larger parts of the trellis, until what is left out cannot hold
/// anything better than what was found.
fn close_gap(
    trellis: &Trellis<'_>,
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
    let mut edges = trellis.edges(bonus, &relaxed.best);
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut margin = FIRST_MARGIN.min(gap(&incumbent));
    loop {
        let kept = edges.partition_point(|(loss, _)| *loss <= margin + slack);
        let part: Vec<Edge> = edges[..kept].iter().map(|(_, edge)| *edge).collect();
        if let Some(states) = cheapest_path(&part, trellis.length, bounds)? {
            let solution = trellis.measure(states);
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

/// The bound on the count that a bonus (or a price, if negative) stands for.
fn active(bonus: f64, bounds: &Bounds) -> f64 {
    if bonus > 0.0 {
        bounds.low as f64
    } else {
        bounds.high as f64
    }
}

/// The search for bonuses that make the upper bound tight, one type at a time.
struct Dual<'a> {
    trellis: &'a Trellis<'a>,
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

impl Dual<'_> {
    fn evaluate(&mut self) -> Option<Relaxed> {
        self.steps += 1;
        let best = self.trellis.best(&self.bonus)?;
        let Solution { score, counts, .. } = &best.solution;
        let within = self
            .bounds
            .iter()
            .zip(counts)
            .all(|(bounds, &count)| bounds.contain(count));
        if within && self.incumbent.as_ref().is_none_or(|known| *score > known.score) {
            self.incumbent = Some(best.solution.clone());
        }
        // A forbidden type has a bonus of −∞ and does not occur: it adds nothing to the bound.
        let prices = self
            .bonus
            .iter()
            .zip(self.bounds)
            .filter(|(bonus, _)| **bonus != 0.0 && bonus.is_finite());
        let price: f64 = prices.map(|(&bonus, bounds)| bonus * active(bonus, bounds)).sum();
        let bound = best.value - price;
        Some(Relaxed { best, bound })
    }

    /// Minimises the bound over each bonus in turn, as long as that helps.
    fn tighten(&mut self, mut relaxed: Relaxed) -> Option<Relaxed> {
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
        let (bonus, bounds, count) = (
            self.bonus[kind],
            self.bounds[kind],
            relaxed.best.solution.counts[kind],
        );
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
    /// The first of some rules that no label sequence satisfies even if it is the only one, along with the constraints of
    /// the sequence.
    pub fn impossible_rule<'r>(&mut self, reader: &SpanReader, rules: &'r [Rule]) -> Option<&'r Rule> {
        rules.iter().find(|&rule| {
            let alone = self.viterbi_under(reader, std::slice::from_ref(rule));
            matches!(alone, Err(Error::Infeasible))
        })
    }

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
fn search(
    trellis: &Trellis<'_>,
    bounds: Vec<Bounds>,
    implications: &[(usize, usize)],
) -> Result<Option<Solution>, Error> {
    let mut branches: Vec<Branch> = Vec::new();
    let root = best_within(trellis, &bounds)?;
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
            let solution = best_within(trellis, &bounds)?;
            branches.extend(solution.map(|solution| Branch { bounds, solution }));
        }
    }
}

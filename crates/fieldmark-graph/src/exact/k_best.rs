//! The best labellings of a graph from max-marginals (Yanover & Weiss 2003).
//!
//! Labellings are found in disjoint sets. The best labelling of a set is known; its second best has, for some
//! variable, another label, and max-marginals tell which and how good it is. When it is the best of all that is
//! left, its set is divided: one part has that label there, the other does not. Each further labelling costs two
//! calls for max-marginals.

use crate::{Decoding, Error, FactorGraph, LabelSets, MaxMarginals};

/// A set of labellings, what is best in it, and what comes after that.
struct Part {
    sets: LabelSets,
    best: Vec<u32>,
    next: Option<Next>,
}

#[derive(Clone, Copy)]
struct Next {
    score: f64,
    variable: u32,
    label: u32,
}

/// The `k` labellings with the highest scores, best first; all that are allowed if there are fewer.
///
/// The label sets of the graph are changed on the way and put back, also on errors.
pub fn k_best<E: MaxMarginals + ?Sized>(
    engine: &mut E,
    graph: &mut FactorGraph,
    k: usize,
) -> Result<Vec<Decoding>, Error> {
    let sets = graph.label_sets().clone();
    let result = search(engine, graph, k);
    *graph.label_sets_mut() = sets;
    result
}

fn search<E: MaxMarginals + ?Sized>(
    engine: &mut E,
    graph: &mut FactorGraph,
    k: usize,
) -> Result<Vec<Decoding>, Error> {
    let mut found = Vec::new();
    let mut parts = Vec::new();
    if k > 0 {
        let first = engine.max(graph)?;
        parts.push(part(engine, graph, &first.labels)?);
        found.push(first);
    }
    while found.len() < k {
        let score = |part: &Part| part.next.map_or(f64::NEG_INFINITY, |next| next.score);
        let best = (0..parts.len()).max_by(|&a, &b| score(&parts[a]).total_cmp(&score(&parts[b])));
        let Some((index, next)) = best.and_then(|index| Some((index, parts[index].next?))) else {
            break;
        };
        let old = parts.swap_remove(index);
        graph.label_sets_mut().clone_from(&old.sets);
        graph.clamp(next.variable, next.label)?;
        let decoding = engine.max(graph)?;
        parts.push(part(engine, graph, &decoding.labels)?);
        found.push(decoding);
        graph.label_sets_mut().clone_from(&old.sets);
        graph.label_sets_mut().remove(next.variable, next.label)?;
        parts.push(part(engine, graph, &old.best)?);
    }
    // Scores of max-marginals and of labellings may differ in the last digits.
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(found)
}

/// The set that the graph now allows, whose best labelling is known.
fn part<E: MaxMarginals + ?Sized>(engine: &mut E, graph: &FactorGraph, best: &[u32]) -> Result<Part, Error> {
    let marginals = engine.max_marginals(graph)?;
    let mut next: Option<Next> = None;
    for variable in 0..graph.variables() as u32 {
        for (label, &score) in (0..).zip(&marginals[graph.states(variable)]) {
            let is_other = label != best[variable as usize] && score > f64::NEG_INFINITY;
            if is_other && next.is_none_or(|next| score > next.score) {
                next = Some(Next {
                    score,
                    variable,
                    label,
                });
            }
        }
    }
    Ok(Part {
        sets: graph.label_sets().clone(),
        best: best.to_vec(),
        next,
    })
}

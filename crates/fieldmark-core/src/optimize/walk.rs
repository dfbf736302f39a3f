//! [`Walk`]: the vectors of an optimiser that moves from point to point, and the passes over them.
//!
//! Every pass works on chunks of a fixed size, and sums of chunks are added in order: the result is the same
//! for any number of threads.

use super::Prior;
use super::vector::{Change, move_along, norms, pseudo_gradients};
use crate::large::LargeVec;
use rayon::prelude::*;
use std::mem::swap;
use std::ops::Range;

/// Weights per chunk: the unit of work and of summation. The chunks of one stored pair, the gradient and the
/// newest change fit the fast caches together.
pub(super) const CHUNK: usize = 2048;
/// Chunks that one thread should at least take.
pub(super) const GRAIN: usize = 4;

/// Number of chunks of a vector.
pub(super) fn chunks(len: usize) -> usize {
    len.div_ceil(CHUNK)
}

/// The weights of a chunk.
pub(super) fn chunk_range(index: usize, len: usize) -> Range<usize> {
    index * CHUNK..len.min((index + 1) * CHUNK)
}

/// Adds the rows of `partial` in order.
pub(super) fn sum_chunks(partial: &[f64], total: &mut [f64]) {
    total.fill(0.0);
    for row in partial.chunks_exact(total.len()) {
        for (total, part) in total.iter_mut().zip(row) {
            *total += part;
        }
    }
}

/// The gradient, or with an L1 term the pseudo-gradient of OWL-QN.
pub(super) struct Slope<'a> {
    pub(super) x: &'a [f64],
    pub(super) gradient: &'a [f64],
    pub(super) c1: f64,
}

impl<'a> Slope<'a> {
    /// The part that belongs to a range of at most `CHUNK` weights.
    pub(super) fn part<'b>(&self, range: Range<usize>, scratch: &'b mut [f64; CHUNK]) -> &'b [f64]
    where
        'a: 'b,
    {
        let gradient = &self.gradient[range.clone()];
        if self.c1 == 0.0 {
            return gradient;
        }
        let scratch = &mut scratch[..range.len()];
        pseudo_gradients(scratch, &self.x[range], gradient, self.c1);
        scratch
    }
}

/// What is known of a new point before it is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Norms {
    /// ‖x‖²
    pub(super) square: f64,
    /// Σ|x|
    pub(super) absolute: f64,
    /// Number of weights that are not zero.
    pub(super) active: usize,
    /// With an L1 term: product of the step that was taken and the pseudo-gradient at its start.
    pub(super) along: f64,
}

/// Sums over a chunk that make up [`Norms`].
pub(super) const NORMS: usize = 4;

impl Norms {
    pub(super) fn from_sums([square, absolute, active, along]: [f64; NORMS]) -> Self {
        Norms {
            square,
            absolute,
            active: active as usize,
            along,
        }
    }
}

/// Sets a chunk of x to `from` + `step`·`direction`, with an L1 term projected onto the orthant of `from`
/// (Andrew & Gao 2007, section 3.2), and the gradient to that of c2·‖x‖². `slope` is the (pseudo-)gradient
/// at `from`.
pub(super) fn arrive(
    x: &mut [f64],
    gradient: &mut [f64],
    from: &[f64],
    direction: &[f64],
    slope: &[f64],
    step: f64,
    prior: Prior,
) -> [f64; NORMS] {
    move_along(x, gradient, from, direction, step, prior.c2);
    let along = if prior.c1 > 0.0 {
        project(x, gradient, from, slope)
    } else {
        0.0
    };
    let [square, absolute, active] = norms(x);
    [square, absolute, active, along]
}

/// The current point and the point before it.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub(super) x: LargeVec<f64>,
    pub(super) gradient: LargeVec<f64>,
    pub(super) previous_x: LargeVec<f64>,
    pub(super) previous_gradient: LargeVec<f64>,
    partial: Vec<f64>,
}

impl Walk {
    pub(super) fn new(x: Vec<f64>, gradient: Vec<f64>) -> Self {
        let len = x.len();
        Walk {
            x: x.into(),
            gradient: gradient.into(),
            previous_x: LargeVec::zeroed(len),
            previous_gradient: LargeVec::zeroed(len),
            partial: vec![0.0; NORMS * chunks(len)],
        }
    }

    /// Exchanges the current point and the one before it.
    pub(super) fn turn(&mut self) {
        swap(&mut self.x, &mut self.previous_x);
        swap(&mut self.gradient, &mut self.previous_gradient);
    }

    /// The (pseudo-)gradient at the current point.
    pub(super) fn slope(&self, c1: f64) -> Slope<'_> {
        Slope {
            x: &self.x,
            gradient: &self.gradient,
            c1,
        }
    }

    /// What changed from the point before to the current one.
    pub(super) fn change(&self, lambda: f64) -> Change<'_> {
        Change {
            to: &self.x,
            from: &self.previous_x,
            gradient_to: &self.gradient,
            gradient_from: &self.previous_gradient,
            lambda,
        }
    }

    /// Sets x to `previous_x`, and the gradient to that of c2·‖x‖².
    pub(super) fn stay(&mut self, c2: f64) -> Norms {
        let to = self
            .x
            .par_chunks_mut(CHUNK)
            .zip(self.gradient.par_chunks_mut(CHUNK));
        let from = self.previous_x.par_chunks(CHUNK);
        let work = to.zip(from).zip(self.partial.par_chunks_mut(NORMS));
        let prior = Prior { c1: 0.0, c2 };
        work.with_min_len(GRAIN)
            .for_each(|(((x, gradient), from), sums)| {
                sums.copy_from_slice(&arrive(x, gradient, from, from, &[], 0.0, prior));
            });
        let mut total = [0.0; NORMS];
        sum_chunks(&self.partial, &mut total);
        Norms::from_sums(total)
    }

    /// Squared norm of the (pseudo-)gradient.
    pub(super) fn gradient_square(&mut self, c1: f64) -> f64 {
        let slope = Slope {
            x: &self.x,
            gradient: &self.gradient,
            c1,
        };
        let len = self.x.len();
        self.partial
            .par_chunks_mut(NORMS)
            .with_min_len(GRAIN)
            .enumerate()
            .for_each(|(index, sums)| {
                let mut scratch = [0.0; CHUNK];
                [sums[0], ..] = norms(slope.part(chunk_range(index, len), &mut scratch));
            });
        let mut total = [0.0; NORMS];
        sum_chunks(&self.partial, &mut total);
        total[0]
    }

    /// Bytes of memory in use.
    pub(super) fn memory(&self) -> usize {
        (4 * self.x.len() + self.partial.len()) * size_of::<f64>()
    }
}

/// Sets weights that left the orthant of `from` to zero, with their share of the gradient of the prior, and
/// returns the product of the remaining step with the pseudo-gradient at `from`.
///
/// Where `from` is zero, the direction already points into the right orthant.
fn project(x: &mut [f64], gradient: &mut [f64], from: &[f64], slope: &[f64]) -> f64 {
    let mut along = 0.0;
    for (((x, gradient), &from), &slope) in x.iter_mut().zip(gradient).zip(from).zip(slope) {
        if *x * from < 0.0 {
            (*x, *gradient) = (0.0, 0.0);
        }
        along += slope * (*x - from);
    }
    along
}

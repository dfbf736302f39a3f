//! The three ways to pass messages: sums in linear space, sums in log space, maxima in log space.
//!
//! Maxima need no linear form: an addition and a maximum cost what a multiplication and a maximum cost, and
//! nothing can underflow.

use super::kernels::Scalar;
use fieldmark_core::kernels::exp_in_place;

/// How scores are combined (⊗) and summed up (⊕) over the labels of other variables.
///
/// Messages are normalised so that their largest entry is [`Algebra::ONE`].
pub(crate) trait Algebra<T: Scalar>: Copy + Default + std::fmt::Debug {
    /// Neutral for ⊗.
    const ONE: T;
    /// Neutral for ⊕: what is impossible.
    const ZERO: T;
    /// Whether numbers can become too small to be trusted.
    const CAN_LOSE: bool;
    /// Whether ⊗ is a product and ⊕ a sum.
    const IS_LINEAR: bool;

    /// From log-scores that are at most 0, in place.
    fn from_log(scores: &mut [T]);
    fn times(a: T, b: T) -> T;
    /// acc ⊗= other; whether something was lost that might be needed where some combinations are forbidden.
    fn multiply(acc: &mut [T], other: &[T]) -> bool;
    /// out_j = ⊕_i n_i ⊗ M_ij
    fn rows(matrix: &[T], n: &[T], out: &mut [T]);
    /// acc ⊗= 1 / by
    fn divide(acc: &mut [T], by: T);
    /// ⊕ for tables of three or more variables: `visit` calls back with each place of `out` and its term.
    fn gather(out: &mut [T], visit: impl Fn(&mut dyn FnMut(usize, T)));
    /// Change between two normalised messages; 0 only if they are equal. Where nothing is forbidden, small entries
    /// cannot come to matter and their changes are small.
    fn change(new: &[T], old: &[T], dense: bool) -> f64;
    /// The change below which messages are settled when scores have a spread.
    fn tolerance(tolerance: f64, spread: f64) -> f64;
    /// new := (1 − damping) · new + damping · old; what is impossible is so at once.
    fn damp(new: &mut [T], old: &[T], damping: f64);
    /// The logarithm of what a normaliser stands for.
    fn log(value: T) -> f64;
    /// ⊗ in double precision.
    fn times_f64(a: f64, b: f64) -> f64;
    /// Turns the terms of a distribution into probabilities.
    fn probabilities(terms: &mut [f64]);
    /// log ⊕ a ⊗ b
    fn log_total(a: &[T], b: &[T]) -> f64;
    /// Whether a product whose largest entry is this may have lost entries that still count.
    fn is_too_small(largest: T) -> bool;
}

/// Sums of products, scaled so that the largest entry of a message is 1.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinearSum;
/// Sums of products, as logarithms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LogSum;
/// Maxima of sums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LogMax;

impl<T: Scalar> Algebra<T> for LinearSum {
    const ONE: T = T::ONE;
    const ZERO: T = T::ZERO;
    const CAN_LOSE: bool = true;
    const IS_LINEAR: bool = true;

    fn from_log(scores: &mut [T]) {
        // The vector exponential has no zero: what is impossible is remembered, a bit for each score.
        for scores in scores.chunks_mut(u64::BITS as usize) {
            let bit = |(at, score): (usize, &T)| u64::from(*score == T::NEG_INFINITY) << at;
            let impossible = scores.iter().enumerate().map(bit).fold(0, |all, bit| all | bit);
            exp_in_place(scores);
            if impossible != 0 {
                let scores = scores.iter_mut().enumerate();
                let lost = scores.filter(|(at, _)| impossible >> at & 1 != 0);
                lost.for_each(|(_, score)| *score = T::ZERO);
            }
        }
    }
    #[inline(always)]
    fn times(a: T, b: T) -> T {
        a * b
    }
    fn multiply(acc: &mut [T], other: &[T]) -> bool {
        T::multiply(acc, other)
    }
    fn rows(matrix: &[T], n: &[T], out: &mut [T]) {
        T::sum_rows(matrix, n, out);
    }
    fn divide(acc: &mut [T], by: T) {
        T::scale(acc, T::ONE / by);
    }
    fn gather(out: &mut [T], visit: impl Fn(&mut dyn FnMut(usize, T))) {
        visit(&mut |place, term| out[place] += term);
    }
    fn change(new: &[T], old: &[T], dense: bool) -> f64 {
        if dense {
            return T::distance(new, old).to_f64();
        }
        let relative = |(new, old): (&T, &T)| {
            let larger = new.max(*old).to_f64();
            if larger > 0.0 {
                (new.to_f64() - old.to_f64()).abs() / larger
            } else {
                0.0
            }
        };
        new.iter().zip(old).map(relative).fold(0.0, f64::max)
    }
    fn tolerance(tolerance: f64, _: f64) -> f64 {
        tolerance
    }
    fn damp(new: &mut [T], old: &[T], damping: f64) {
        let (keep, take) = (T::from_f64(damping), T::from_f64(1.0 - damping));
        for (new, &old) in new.iter_mut().zip(old) {
            if *new > T::ZERO {
                *new = take * *new + keep * old;
            }
        }
    }
    fn log(value: T) -> f64 {
        value.to_f64().ln()
    }
    fn times_f64(a: f64, b: f64) -> f64 {
        a * b
    }
    fn probabilities(terms: &mut [f64]) {
        let sum: f64 = terms.iter().sum();
        terms.iter_mut().for_each(|term| *term /= sum);
    }
    fn log_total(a: &[T], b: &[T]) -> f64 {
        let products = a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64());
        products.sum::<f64>().ln()
    }
    fn is_too_small(largest: T) -> bool {
        largest.to_f64() < T::TINY.to_f64().sqrt()
    }
}

impl<T: Scalar> Algebra<T> for LogSum {
    const ONE: T = T::ZERO;
    const ZERO: T = T::NEG_INFINITY;
    const CAN_LOSE: bool = false;
    const IS_LINEAR: bool = false;

    fn from_log(_: &mut [T]) {}
    #[inline(always)]
    fn times(a: T, b: T) -> T {
        a + b
    }
    fn multiply(acc: &mut [T], other: &[T]) -> bool {
        T::accumulate(acc, other);
        false
    }
    fn rows(matrix: &[T], n: &[T], out: &mut [T]) {
        T::log_sum_rows(matrix, n, out);
    }
    fn divide(acc: &mut [T], by: T) {
        T::shift(acc, -by);
    }
    fn gather(out: &mut [T], visit: impl Fn(&mut dyn FnMut(usize, T))) {
        <LogMax as Algebra<T>>::gather(out, &visit);
        let largest = out.to_vec();
        let mut sums = vec![T::ZERO; out.len()];
        visit(&mut |place, term| {
            if term > T::NEG_INFINITY {
                sums[place] += (term - largest[place]).exp();
            }
        });
        for (out, sum) in out.iter_mut().zip(sums) {
            if sum > T::ZERO {
                *out += sum.ln();
            }
        }
    }
    fn change(new: &[T], old: &[T], _: bool) -> f64 {
        T::distance(new, old).to_f64()
    }
    fn tolerance(tolerance: f64, spread: f64) -> f64 {
        tolerance * spread.max(1.0)
    }
    fn damp(new: &mut [T], old: &[T], damping: f64) {
        <LogMax as Algebra<T>>::damp(new, old, damping);
    }
    fn log(value: T) -> f64 {
        value.to_f64()
    }
    fn times_f64(a: f64, b: f64) -> f64 {
        a + b
    }
    fn probabilities(terms: &mut [f64]) {
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        terms.iter_mut().for_each(|term| *term = (*term - largest).exp());
        <LinearSum as Algebra<T>>::probabilities(terms);
    }
    fn log_total(a: &[T], b: &[T]) -> f64 {
        let sum = |(a, b): (&T, &T)| a.to_f64() + b.to_f64();
        let largest = a.iter().zip(b).map(sum).fold(f64::NEG_INFINITY, f64::max);
        let terms = a.iter().zip(b).map(|pair| (sum(pair) - largest).exp());
        largest + terms.sum::<f64>().ln()
    }
    fn is_too_small(_: T) -> bool {
        false
    }
}

impl<T: Scalar> Algebra<T> for LogMax {
    const ONE: T = T::ZERO;
    const ZERO: T = T::NEG_INFINITY;
    const CAN_LOSE: bool = false;
    const IS_LINEAR: bool = false;

    fn from_log(_: &mut [T]) {}
    #[inline(always)]
    fn times(a: T, b: T) -> T {
        a + b
    }
    fn multiply(acc: &mut [T], other: &[T]) -> bool {
        T::accumulate(acc, other);
        false
    }
    fn rows(matrix: &[T], n: &[T], out: &mut [T]) {
        T::max_rows(matrix, n, out);
    }
    fn divide(acc: &mut [T], by: T) {
        T::shift(acc, -by);
    }
    fn gather(out: &mut [T], visit: impl Fn(&mut dyn FnMut(usize, T))) {
        visit(&mut |place, term| out[place] = term.max(out[place]));
    }
    fn change(new: &[T], old: &[T], _: bool) -> f64 {
        T::distance(new, old).to_f64()
    }
    fn tolerance(tolerance: f64, spread: f64) -> f64 {
        tolerance * spread.max(1.0)
    }
    /// The mean of the logarithms: a mean of numbers would move across a wide range by a factor each round.
    fn damp(new: &mut [T], old: &[T], damping: f64) {
        let (keep, take) = (T::from_f64(damping), T::from_f64(1.0 - damping));
        for (new, &old) in new.iter_mut().zip(old) {
            if *new > T::NEG_INFINITY && old > T::NEG_INFINITY {
                *new = take * *new + keep * old;
            }
        }
    }
    fn log(value: T) -> f64 {
        value.to_f64()
    }
    fn times_f64(a: f64, b: f64) -> f64 {
        a + b
    }
    fn probabilities(terms: &mut [f64]) {
        <LogSum as Algebra<T>>::probabilities(terms);
    }
    fn log_total(a: &[T], b: &[T]) -> f64 {
        let sums = a.iter().zip(b).map(|(a, b)| a.to_f64() + b.to_f64());
        sums.fold(f64::NEG_INFINITY, f64::max)
    }
    fn is_too_small(_: T) -> bool {
        false
    }
}

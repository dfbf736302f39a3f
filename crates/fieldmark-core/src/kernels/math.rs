//! `exp` on vectors: a polynomial after reduction to [−ln 2 / 2, ln 2 / 2].

use super::Real;
use super::simd::{Dispatch, Kernel, Simd, dispatch};

/// What the polynomial kernel needs to know about a float type.
struct Constants {
    /// ln 2 in two parts, so that n · ln 2 is exact in the first.
    ln2: [f64; 2],
    /// Arguments below give 0, or the smallest normal number at worst.
    lowest: f64,
    highest: f64,
    /// Adding and subtracting it rounds to an integer.
    round: f64,
    /// Degree of the Taylor polynomial that reaches the type's precision.
    degree: usize,
}

const F64: Constants = Constants {
    ln2: [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10],
    lowest: -708.0,
    highest: 709.0,
    round: 6_755_399_441_055_744.0,
    degree: 12,
};
const F32: Constants = Constants {
    ln2: [0.693_359_375, -2.121_944_4e-4],
    lowest: -87.0,
    highest: 88.0,
    round: 12_582_912.0,
    degree: 7,
};

/// 1/n! for the Taylor polynomial.
const INVERSE_FACTORIAL: [f64; 14] = {
    let mut inverse = [1.0; 14];
    let mut n = 1;
    while n < 14 {
        inverse[n] = inverse[n - 1] / n as f64;
        n += 1;
    }
    inverse
};

/// e^x in every lane, accurate to about one unit in the last place.
///
/// Arguments are clamped to the range in which the result is a normal number, so −∞ gives the smallest
/// normal number rather than 0.
#[inline(always)]
pub fn exp<T: Real, S: Simd<T>>(simd: S, x: S::V) -> S::V {
    // Macros instead of closures: a closure would be compiled without the caller's instruction set.
    let constants = if T::LANES == 4 { F64 } else { F32 };
    macro_rules! number {
        ($value:expr) => {
            simd.splat(T::from_f64($value))
        };
    }
    let x = simd.min(simd.max(x, number!(constants.lowest)), number!(constants.highest));
    let round = number!(constants.round);
    let n = simd.sub(simd.mul_add(x, number!(std::f64::consts::LOG2_E), round), round);
    let r = simd.mul_add(n, number!(-constants.ln2[0]), x);
    let r = simd.mul_add(n, number!(-constants.ln2[1]), r);
    // Estrin's scheme shortens the chain of dependent operations to a third of Horner's.
    let r2 = simd.mul(r, r);
    let r4 = simd.mul(r2, r2);
    macro_rules! pair {
        ($k:expr) => {
            simd.mul_add(
                number!(INVERSE_FACTORIAL[$k + 1]),
                r,
                number!(INVERSE_FACTORIAL[$k]),
            )
        };
    }
    macro_rules! quad {
        ($k:expr) => {
            simd.mul_add(pair!($k + 2), r2, pair!($k))
        };
    }
    let low = simd.mul_add(quad!(4), r4, quad!(0));
    let polynomial = if constants.degree > 7 {
        let r8 = simd.mul(r4, r4);
        let high = simd.mul_add(number!(INVERSE_FACTORIAL[12]), r4, quad!(8));
        simd.mul_add(high, r8, low)
    } else {
        low
    };
    simd.mul(polynomial, simd.exp2_integer(n))
}

/// Replaces each number by its exponential; see [`exp`] for the range.
pub fn exp_in_place<T: Dispatch>(numbers: &mut [T]) {
    dispatch(ExpInPlace(numbers));
}

struct ExpInPlace<'a, T>(&'a mut [T]);

impl<T: Real> Kernel<T> for ExpInPlace<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let mut chunks = self.0.chunks_exact_mut(T::LANES);
        for chunk in &mut chunks {
            simd.store(exp(simd, simd.load(chunk)), chunk);
        }
        let rest = chunks.into_remainder();
        let mut lanes = [T::ZERO; 8];
        lanes[..rest.len()].copy_from_slice(rest);
        let result = exp(simd, simd.load(&lanes));
        simd.store(result, &mut lanes);
        rest.copy_from_slice(&lanes[..rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::dispatch_plain;
    use super::*;

    fn arguments() -> impl Iterator<Item = f64> {
        (-7080..=7090)
            .map(|i| f64::from(i) / 10.0)
            .chain((-1000..1000).map(|i| f64::from(i) * 1.7e-3))
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let mut fast: Vec<f64> = arguments().collect();
        exp_in_place(&mut fast);
        let mut plain: Vec<f64> = arguments().collect();
        dispatch_plain(ExpInPlace(&mut plain));
        for ((x, fast), plain) in arguments().zip(fast).zip(plain) {
            let expected = x.exp();
            assert!(
                (fast / expected - 1.0).abs() < 6e-16,
                "exp({x}) = {expected}, not {fast}"
            );
            assert!(
                (plain / expected - 1.0).abs() < 6e-16,
                "exp({x}) = {expected}, not {plain}"
            );
        }
    }

    #[test]
    fn agrees_with_the_standard_library_in_f32() {
        let x: Vec<f32> = (-870..=880).map(|i| i as f32 / 10.0).collect();
        let mut fast = x.clone();
        exp_in_place(&mut fast);
        for (x, fast) in x.iter().zip(fast) {
            assert!(
                (fast / x.exp() - 1.0).abs() < 4e-7,
                "exp({x}) = {}, not {fast}",
                x.exp()
            );
        }
    }

    #[test]
    fn stays_finite_and_positive_beyond_the_range() {
        let mut numbers = [f64::NEG_INFINITY, -1e300, 1e300, f64::INFINITY, 0.0];
        exp_in_place(&mut numbers);
        assert!(numbers.iter().all(|number| number.is_finite() && *number > 0.0));
        assert_eq!(numbers[4], 1.0);
    }
}

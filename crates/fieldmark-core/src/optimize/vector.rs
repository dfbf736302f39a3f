//! The inner loops: sums and updates over one chunk of weights, run with the best instruction set.

use crate::kernels::{Kernel, Simd, dispatch};
use std::ops::Range;

/// Lanes of the vectors of [`Simd<f64>`](Simd).
const LANES: usize = 4;

/// sᵀa, sᵀb, yᵀa and yᵀb for slices of one length.
pub(super) fn cross(s: &[f32], y: &[f32], a: &[f64], b: &[f64]) -> [f64; 4] {
    dispatch(Cross { s, y, a, b })
}

struct Cross<'a> {
    s: &'a [f32],
    y: &'a [f32],
    a: &'a [f64],
    b: &'a [f64],
}

impl Kernel<f64> for Cross<'_> {
    type Output = [f64; 4];

    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) -> [f64; 4] {
        // Two accumulators for each product hide the latency of an addition.
        let mut sums = [[simd.splat(0.0); 4]; 2];
        let (s_blocks, s_rest) = self.s.as_chunks::<{ 2 * LANES }>();
        let (y_blocks, y_rest) = self.y.as_chunks::<{ 2 * LANES }>();
        let (a_blocks, a_rest) = self.a.as_chunks::<{ 2 * LANES }>();
        let (b_blocks, b_rest) = self.b.as_chunks::<{ 2 * LANES }>();
        for (((s, y), a), b) in s_blocks.iter().zip(y_blocks).zip(a_blocks).zip(b_blocks) {
            for (half, sums) in sums.iter_mut().enumerate() {
                let lanes = half * LANES..(half + 1) * LANES;
                let s = widen(simd, &s[lanes.clone()]);
                let y = widen(simd, &y[lanes.clone()]);
                let a = simd.load(&a[lanes.clone()]);
                let b = simd.load(&b[lanes]);
                sums[0] = simd.mul_add(s, a, sums[0]);
                sums[1] = simd.mul_add(s, b, sums[1]);
                sums[2] = simd.mul_add(y, a, sums[2]);
                sums[3] = simd.mul_add(y, b, sums[3]);
            }
        }
        let [even, odd] = sums;
        let mut total = [0, 1, 2, 3].map(|k| simd.reduce_sum(simd.add(even[k], odd[k])));
        for (((&s, &y), a), b) in s_rest.iter().zip(y_rest).zip(a_rest).zip(b_rest) {
            let (s, y) = (f64::from(s), f64::from(y));
            total[0] += s * a;
            total[1] += s * b;
            total[2] += y * a;
            total[3] += y * b;
        }
        total
    }
}

#[inline(always)]
fn widen<S: Simd<f64>>(simd: S, narrow: &[f32]) -> S::V {
    let mut wide = [0.0; LANES];
    for (wide, &narrow) in wide.iter_mut().zip(narrow) {
        *wide = f64::from(narrow);
    }
    simd.load(&wide)
}

/// vᵀa and vᵀb for slices of one length.
pub(super) fn dots(v: &[f64], a: &[f64], b: &[f64]) -> [f64; 2] {
    dispatch(Dots { v, a, b })
}

struct Dots<'a> {
    v: &'a [f64],
    a: &'a [f64],
    b: &'a [f64],
}

impl Kernel<f64> for Dots<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) -> [f64; 2] {
        let mut sums = [[simd.splat(0.0); 2]; 2];
        let (v_blocks, v_rest) = self.v.as_chunks::<{ 2 * LANES }>();
        let (a_blocks, a_rest) = self.a.as_chunks::<{ 2 * LANES }>();
        let (b_blocks, b_rest) = self.b.as_chunks::<{ 2 * LANES }>();
        for ((v, a), b) in v_blocks.iter().zip(a_blocks).zip(b_blocks) {
            for (half, sums) in sums.iter_mut().enumerate() {
                let lanes = half * LANES..(half + 1) * LANES;
                let v = simd.load(&v[lanes.clone()]);
                sums[0] = simd.mul_add(v, simd.load(&a[lanes.clone()]), sums[0]);
                sums[1] = simd.mul_add(v, simd.load(&b[lanes]), sums[1]);
            }
        }
        let [even, odd] = sums;
        let mut total = [0, 1].map(|k| simd.reduce_sum(simd.add(even[k], odd[k])));
        for ((v, a), b) in v_rest.iter().zip(a_rest).zip(b_rest) {
            total[0] += v * a;
            total[1] += v * b;
        }
        total
    }
}

/// out += a·s + b·y
pub(super) fn add_pair(out: &mut [f64], s: &[f32], y: &[f32], a: f64, b: f64) {
    dispatch(AddPair { out, s, y, a, b });
}

struct AddPair<'a> {
    out: &'a mut [f64],
    s: &'a [f32],
    y: &'a [f32],
    a: f64,
    b: f64,
}

impl Kernel<f64> for AddPair<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<f64>>(self, _: S) {
        for ((out, &s), &y) in self.out.iter_mut().zip(self.s).zip(self.y) {
            *out += self.a * f64::from(s) + self.b * f64::from(y);
        }
    }
}

/// A step from `from` to `to` and the gradients at both ends: s = to − from and
/// y = gradient(to) − gradient(from) + λ·s.
pub(super) struct Change<'a> {
    pub(super) to: &'a [f64],
    pub(super) from: &'a [f64],
    pub(super) gradient_to: &'a [f64],
    pub(super) gradient_from: &'a [f64],
    pub(super) lambda: f64,
}

impl<'a> Change<'a> {
    /// The part that belongs to a range of weights.
    pub(super) fn part(&self, range: Range<usize>) -> Change<'a> {
        Change {
            to: &self.to[range.clone()],
            from: &self.from[range.clone()],
            gradient_to: &self.gradient_to[range.clone()],
            gradient_from: &self.gradient_from[range],
            lambda: self.lambda,
        }
    }
}

/// Writes s and y.
pub(super) fn write_pair(change: &Change, s: &mut [f32], y: &mut [f32]) {
    dispatch(WritePair { change, s, y });
}

struct WritePair<'a> {
    change: &'a Change<'a>,
    s: &'a mut [f32],
    y: &'a mut [f32],
}

impl Kernel<f64> for WritePair<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<f64>>(self, _: S) {
        let Change {
            to,
            from,
            gradient_to,
            gradient_from,
            lambda,
        } = *self.change;
        let out = self.s.iter_mut().zip(self.y);
        let points = to.iter().zip(from);
        let gradients = gradient_to.iter().zip(gradient_from);
        for (((s, y), (to, from)), (gradient_to, gradient_from)) in out.zip(points).zip(gradients) {
            let step = to - from;
            *s = step as f32;
            *y = (gradient_to - gradient_from + lambda * step) as f32;
        }
    }
}

/// The one-sided derivative of f + c1·|x| that descends, or 0 when both sides ascend (the pseudo-gradient
/// of Andrew & Gao 2007, equation 4).
#[inline(always)]
pub(super) fn pseudo_gradient(x: f64, gradient: f64, c1: f64) -> f64 {
    let right = gradient + c1;
    let left = gradient - c1;
    let at_zero = right.min(0.0) + left.max(0.0);
    let one_sided = if x > 0.0 { right } else { left };
    if x == 0.0 { at_zero } else { one_sided }
}

/// Writes the pseudo-gradient of every weight.
pub(super) fn pseudo_gradients(out: &mut [f64], x: &[f64], gradient: &[f64], c1: f64) {
    dispatch(PseudoGradients { out, x, gradient, c1 });
}

struct PseudoGradients<'a> {
    out: &'a mut [f64],
    x: &'a [f64],
    gradient: &'a [f64],
    c1: f64,
}

impl Kernel<f64> for PseudoGradients<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<f64>>(self, _: S) {
        for ((out, &x), &gradient) in self.out.iter_mut().zip(self.x).zip(self.gradient) {
            *out = pseudo_gradient(x, gradient, self.c1);
        }
    }
}

/// Sets x to `from` + `step`·`direction` and the gradient to that of c2·‖x‖².
pub(super) fn move_along(
    x: &mut [f64],
    gradient: &mut [f64],
    from: &[f64],
    direction: &[f64],
    step: f64,
    c2: f64,
) {
    dispatch(MoveAlong {
        x,
        gradient,
        from,
        direction,
        step,
        c2,
    });
}

struct MoveAlong<'a> {
    x: &'a mut [f64],
    gradient: &'a mut [f64],
    from: &'a [f64],
    direction: &'a [f64],
    step: f64,
    c2: f64,
}

impl Kernel<f64> for MoveAlong<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<f64>>(self, _: S) {
        let to = self.x.iter_mut().zip(self.gradient);
        for (((x, gradient), from), direction) in to.zip(self.from).zip(self.direction) {
            *x = from + self.step * direction;
            *gradient = 2.0 * self.c2 * *x;
        }
    }
}

/// ‖x‖², Σ|x| and the number of entries that are not zero.
pub(super) fn norms(x: &[f64]) -> [f64; 3] {
    dispatch(Norms(x))
}

struct Norms<'a>(&'a [f64]);

impl Kernel<f64> for Norms<'_> {
    type Output = [f64; 3];

    #[inline(always)]
    fn run<S: Simd<f64>>(self, simd: S) -> [f64; 3] {
        let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
        let mut sums = [zero; 3];
        let (blocks, rest) = self.0.as_chunks::<LANES>();
        for x in blocks {
            let x = simd.load(x);
            let absolute = simd.max(x, simd.sub(zero, x));
            sums[0] = simd.mul_add(x, x, sums[0]);
            sums[1] = simd.add(sums[1], absolute);
            sums[2] = simd.add(sums[2], simd.select_greater(absolute, zero, one, zero));
        }
        let mut total = sums.map(|sum| simd.reduce_sum(sum));
        for x in rest {
            total[0] += x * x;
            total[1] += x.abs();
            total[2] += if *x == 0.0 { 0.0 } else { 1.0 };
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn widened(v: &[f32]) -> Vec<f64> {
        v.iter().map(|&v| f64::from(v)).collect()
    }

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-12 * (1.0 + expected.abs()),
            "{found} {expected}"
        );
    }

    #[test]
    fn sums_agree_with_plain_loops_at_every_length() {
        for len in 0..40 {
            let mut random = Random::new(len as u64);
            let narrow = |v: Vec<f64>| v.iter().map(|&v| v as f32).collect::<Vec<f32>>();
            let (s, y) = (narrow(random.vector(len)), narrow(random.vector(len)));
            let (a, mut b) = (random.vector(len), random.vector(len));
            let (wide_s, wide_y) = (widened(&s), widened(&y));
            let [sa, sb, ya, yb] = cross(&s, &y, &a, &b);
            close(sa, dot(&wide_s, &a));
            close(sb, dot(&wide_s, &b));
            close(ya, dot(&wide_y, &a));
            close(yb, dot(&wide_y, &b));
            let [va, vb] = dots(&wide_s, &a, &b);
            close(va, sa);
            close(vb, sb);
            b.iter_mut().step_by(3).for_each(|b| *b = 0.0);
            let [square, absolute, active] = norms(&b);
            close(square, dot(&b, &b));
            close(absolute, b.iter().map(|b| b.abs()).sum());
            assert_eq!(active, b.iter().filter(|&&b| b != 0.0).count() as f64);
            let before = a.clone();
            let mut out = a;
            add_pair(&mut out, &s, &y, 2.0, -0.5);
            for i in 0..len {
                close(out[i], before[i] + 2.0 * wide_s[i] - 0.5 * wide_y[i]);
            }
        }
    }

    #[test]
    fn the_pseudo_gradient_is_the_steepest_one_sided_slope() {
        assert_eq!(pseudo_gradient(2.0, 1.0, 0.5), 1.5);
        assert_eq!(pseudo_gradient(-2.0, 1.0, 0.5), 0.5);
        assert_eq!(pseudo_gradient(0.0, 1.0, 0.5), 0.5);
        assert_eq!(pseudo_gradient(0.0, -1.0, 0.5), -0.5);
        assert_eq!(pseudo_gradient(0.0, 0.25, 0.5), 0.0);
        assert_eq!(pseudo_gradient(-0.0, -0.25, 0.5), 0.0);
    }
}

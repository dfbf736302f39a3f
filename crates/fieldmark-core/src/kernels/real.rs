//! [`Real`]: the float types that models compute in.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// `f32` or `f64`.
pub trait Real:
    bytemuck::Pod
    + Debug
    + Display
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
    + Send
    + Sync
    + 'static
    + sealed::Sealed
{
    /// Lanes of a vector: 32 bytes' worth.
    const LANES: usize;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// −∞, the log-potential of what is not allowed.
    const NEG_INFINITY: Self;
    /// The spread of log-potentials, in nats, that scaled linear arithmetic can hold without loss.
    const SAFE_RANGE: Self;
    /// From `f64`, rounded.
    fn from_f64(value: f64) -> Self;
    /// To `f64`.
    fn to_f64(self) -> f64;
    /// From `f32`.
    fn from_f32(value: f32) -> Self;
    /// e to the power of `self` (the standard library's).
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + self).
    fn ln_1p(self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Not a number.
    fn is_nan(self) -> bool;
    /// The larger of the two.
    fn max(self, other: Self) -> Self;
    /// The smaller of the two.
    fn min(self, other: Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! real {
    ($type:ty, $lanes:literal, $safe_range:literal) => {
        impl Real for $type {
            const LANES: usize = $lanes;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NEG_INFINITY: Self = <$type>::NEG_INFINITY;
            const SAFE_RANGE: Self = $safe_range;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                value as Self
            }
            #[inline(always)]
            fn exp(self) -> Self {
                self.exp()
            }
            #[inline(always)]
            fn ln(self) -> Self {
                self.ln()
            }
            #[inline(always)]
            fn ln_1p(self) -> Self {
                self.ln_1p()
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
        }
    };
}

real!(f64, 4, 600.0);
real!(f32, 8, 70.0);

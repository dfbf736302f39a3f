//! SIMD kernels, chosen at run time.
//!
//! A kernel is a [`Kernel`] whose `run` is written once over an abstract instruction set ([`Simd`]);
//! [`dispatch`] runs it with AVX2 and FMA where the processor has them (with the registers of AVX-512, if it has
//! those, too) and with plain code elsewhere. The number of lanes is the same on every machine, so that data layouts
//! do not depend on it. All `unsafe` code of the library, except for the memory map, is in [`simd`](self).
//!
//! ```
//! use fieldmark_core::kernels::{Kernel, Simd, dispatch};
//!
//! struct Sum<'a>(&'a [f64]);
//!
//! impl Kernel<f64> for Sum<'_> {
//!     type Output = f64;
//!     #[inline(always)]
//!     fn run<S: Simd<f64>>(self, simd: S) -> f64 {
//!         let mut sum = simd.splat(0.0);
//!         for chunk in self.0.chunks_exact(4) {
//!             sum = simd.add(sum, simd.load(chunk));
//!         }
//!         simd.reduce_sum(sum)
//!     }
//! }
//!
//! assert_eq!(dispatch(Sum(&[1.0; 8])), 8.0);
//! ```

mod math;
mod real;
mod simd;

pub use math::{exp, exp_in_place};
pub use real::Real;
pub use simd::{
    Dispatch, Kernel, Plain, Simd, dispatch, dispatch_plain, load_vectors, prefetch, store_vectors,
};

//! The abstract instruction set, its implementations, and the choice between them.
//!
//! `Simd` values are proofs: an `Avx2` exists only inside functions that need AVX2, which [`dispatch`] calls after the
//! processor was asked.

use super::Real;

/// A set of vector instructions on `T::LANES` lanes.
///
/// Loads and stores take the first lanes of a slice and panic when it is shorter; inside loops over
/// `chunks_exact` the check costs nothing.
pub trait Simd<T: Real>: Copy + Send + Sync {
    /// A vector.
    type V: Copy;
    /// All lanes equal.
    fn splat(self, value: T) -> Self::V;
    /// The first lanes of a slice.
    fn load(self, from: &[T]) -> Self::V;
    /// Writes the first lanes of a slice.
    fn store(self, vector: Self::V, to: &mut [T]);
    /// a + b
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// a − b
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// a · b
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// a · b + c, fused where the processor can.
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// The larger of each pair of lanes (`b` when one is NaN).
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// The smaller of each pair of lanes (`b` when one is NaN).
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// In each lane `yes` where a > b, else `no`.
    fn select_greater(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// 2 to the power of lanes that hold integers in the range of normal exponents.
    fn exp2_integer(self, n: Self::V) -> Self::V;
    /// Sum of the lanes, as ((0 + 2) + (1 + 3)) folded by halves.
    fn reduce_sum(self, a: Self::V) -> T;
    /// Largest lane.
    fn reduce_max(self, a: Self::V) -> T;
    /// Smallest lane.
    fn reduce_min(self, a: Self::V) -> T;
}

/// Asks for the cache line of an element that will be needed soon; any index is allowed.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, and it never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(index).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// The first `N` vectors of a slice.
#[inline(always)]
pub fn load_vectors<T: Real, S: Simd<T>, const N: usize>(simd: S, from: &[T]) -> [S::V; N] {
    let from = &from[..N * T::LANES];
    let mut vectors = [simd.splat(T::ZERO); N];
    for (vector, from) in vectors.iter_mut().zip(from.chunks_exact(T::LANES)) {
        *vector = simd.load(from);
    }
    vectors
}

/// Writes the first `N` vectors of a slice.
#[inline(always)]
pub fn store_vectors<T: Real, S: Simd<T>, const N: usize>(simd: S, vectors: [S::V; N], to: &mut [T]) {
    let to = &mut to[..N * T::LANES];
    for (vector, to) in vectors.iter().zip(to.chunks_exact_mut(T::LANES)) {
        simd.store(*vector, to);
    }
}

/// Code to be run with the best instruction set.
///
/// `run` and what it calls must be `#[inline(always)]`: only what is inlined into the caller is compiled for the
/// instruction set. Closures and `std::array::from_fn` are not.
pub trait Kernel<T: Real> {
    /// What it computes.
    type Output;
    /// The computation.
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output;
}

/// Runs a kernel with the best instruction set of this machine.
#[inline]
pub fn dispatch<T: Real + Dispatch, K: Kernel<T>>(kernel: K) -> K::Output {
    T::dispatch(kernel)
}

/// Runs a kernel in plain code, to compare with.
pub fn dispatch_plain<T: Real, K: Kernel<T>>(kernel: K) -> K::Output
where
    Plain: Simd<T>,
{
    kernel.run(Plain)
}

/// Implemented for `f32` and `f64`.
pub trait Dispatch: Real {
    #[doc(hidden)]
    fn dispatch<K: Kernel<Self>>(kernel: K) -> K::Output;
}

macro_rules! implement_dispatch {
    ($type:ty) => {
        impl Dispatch for $type {
            #[inline]
            fn dispatch<K: Kernel<Self>>(kernel: K) -> K::Output {
                #[cfg(target_arch = "x86_64")]
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                        // SAFETY: the processor has all four features.
                        return unsafe { avx2::run_with_more_registers(kernel) };
                    }
                    // SAFETY: the processor has both features.
                    return unsafe { avx2::run(kernel) };
                }
                kernel.run(Plain)
            }
        }
    };
}

implement_dispatch!(f32);
implement_dispatch!(f64);

/// Arrays of lanes in plain Rust, which compilers turn into what the target's baseline has.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

macro_rules! implement_plain {
    ($type:ty, $lanes:literal, $magic:expr, $mantissa_bits:literal) => {
        impl Simd<$type> for Plain {
            type V = [$type; $lanes];
            #[inline(always)]
            fn splat(self, value: $type) -> Self::V {
                [value; $lanes]
            }
            #[inline(always)]
            fn load(self, from: &[$type]) -> Self::V {
                std::array::from_fn(|lane| from[..$lanes][lane])
            }
            #[inline(always)]
            fn store(self, vector: Self::V, to: &mut [$type]) {
                to[..$lanes].copy_from_slice(&vector);
            }
            #[inline(always)]
            fn add(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|lane| a[lane] + b[lane])
            }
            #[inline(always)]
            fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|lane| a[lane] - b[lane])
            }
            #[inline(always)]
            fn mul(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|lane| a[lane] * b[lane])
            }
            #[inline(always)]
            fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                std::array::from_fn(|lane| a[lane] * b[lane] + c[lane])
            }
            #[inline(always)]
            fn max(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|lane| Real::max(a[lane], b[lane]))
            }
            #[inline(always)]
            fn min(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|lane| Real::min(a[lane], b[lane]))
            }
            #[inline(always)]
            fn select_greater(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
                std::array::from_fn(|lane| {
                    if a[lane] > b[lane] {
                        yes[lane]
                    } else {
                        no[lane]
                    }
                })
            }
            #[inline(always)]
            fn exp2_integer(self, n: Self::V) -> Self::V {
                // Adding 2^mantissa_bits + bias leaves n + bias in the low bits of the mantissa.
                n.map(|n| <$type>::from_bits((n + $magic).to_bits() << $mantissa_bits))
            }
            #[inline(always)]
            fn reduce_sum(self, mut a: Self::V) -> $type {
                let mut half = $lanes / 2;
                while half > 0 {
                    for lane in 0..half {
                        a[lane] += a[lane + half];
                    }
                    half /= 2;
                }
                a[0]
            }
            #[inline(always)]
            fn reduce_max(self, a: Self::V) -> $type {
                a.into_iter().fold(a[0], Real::max)
            }
            #[inline(always)]
            fn reduce_min(self, a: Self::V) -> $type {
                a.into_iter().fold(a[0], Real::min)
            }
        }
    };
}

/// 2^52 + 1023: see `exp2_integer`.
const MAGIC_64: f64 = 4_503_599_627_370_496.0 + 1023.0;
/// 2^23 + 127.
const MAGIC_32: f32 = 8_388_608.0 + 127.0;

implement_plain!(f64, 4, MAGIC_64, 52);
implement_plain!(f32, 8, MAGIC_32, 23);

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::*;
    use std::arch::x86_64::*;

    /// AVX2 and FMA are there: made only by functions that have them.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2;

    /// Runs a kernel with AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub fn run<T: Real, K: Kernel<T>>(kernel: K) -> K::Output
    where
        Avx2: Simd<T>,
    {
        kernel.run(Avx2)
    }

    /// The same vectors and operations, but AVX-512 has twice as many registers for them, and takes constants as
    /// operands: loops with many sums or constants need no memory for them.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
    pub fn run_with_more_registers<T: Real, K: Kernel<T>>(kernel: K) -> K::Output
    where
        Avx2: Simd<T>,
    {
        kernel.run(Avx2)
    }

    macro_rules! implement_avx2 {
        ($type:ty, $lanes:literal, $vector:ty, $magic:expr, $mantissa_bits:literal, $int_shift:ident,
         $to_int:ident, $from_int:ident, $greater:expr, $set1:ident, $loadu:ident, $storeu:ident, $add:ident,
         $sub:ident, $mul:ident, $fmadd:ident, $max:ident, $min:ident, $blend:ident) => {
            // SAFETY of every intrinsic here: an `Avx2` is a proof of AVX2 and FMA; loads and stores have
            // checked the length of their slice and need no alignment.
            impl Simd<$type> for Avx2 {
                type V = $vector;
                #[inline(always)]
                fn splat(self, value: $type) -> Self::V {
                    unsafe { $set1(value) }
                }
                #[inline(always)]
                fn load(self, from: &[$type]) -> Self::V {
                    let from = &from[..$lanes];
                    unsafe { $loadu(from.as_ptr()) }
                }
                #[inline(always)]
                fn store(self, vector: Self::V, to: &mut [$type]) {
                    let to = &mut to[..$lanes];
                    unsafe { $storeu(to.as_mut_ptr(), vector) }
                }
                #[inline(always)]
                fn add(self, a: Self::V, b: Self::V) -> Self::V {
                    unsafe { $add(a, b) }
                }
                #[inline(always)]
                fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                    unsafe { $sub(a, b) }
                }
                #[inline(always)]
                fn mul(self, a: Self::V, b: Self::V) -> Self::V {
                    unsafe { $mul(a, b) }
                }
                #[inline(always)]
                fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                    unsafe { $fmadd(a, b, c) }
                }
                #[inline(always)]
                fn max(self, a: Self::V, b: Self::V) -> Self::V {
                    unsafe { $max(a, b) }
                }
                #[inline(always)]
                fn min(self, a: Self::V, b: Self::V) -> Self::V {
                    unsafe { $min(a, b) }
                }
                #[inline(always)]
                fn select_greater(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
                    unsafe { $blend(no, yes, $greater(a, b)) }
                }
                #[inline(always)]
                fn exp2_integer(self, n: Self::V) -> Self::V {
                    unsafe {
                        $from_int($int_shift::<$mantissa_bits>($to_int($add(
                            n,
                            $set1($magic),
                        ))))
                    }
                }
                #[inline(always)]
                fn reduce_sum(self, a: Self::V) -> $type {
                    Plain.reduce_sum(self.to_array(a))
                }
                #[inline(always)]
                fn reduce_max(self, a: Self::V) -> $type {
                    Simd::<$type>::reduce_max(Plain, self.to_array(a))
                }
                #[inline(always)]
                fn reduce_min(self, a: Self::V) -> $type {
                    Simd::<$type>::reduce_min(Plain, self.to_array(a))
                }
            }

            impl ToArray<$vector, [$type; $lanes]> for Avx2 {
                #[inline(always)]
                fn to_array(self, vector: $vector) -> [$type; $lanes] {
                    let mut array = [0.0; $lanes];
                    self.store(vector, &mut array);
                    array
                }
            }
        };
    }

    trait ToArray<V, A> {
        fn to_array(self, vector: V) -> A;
    }

    implement_avx2!(
        f64,
        4,
        __m256d,
        MAGIC_64,
        52,
        _mm256_slli_epi64,
        _mm256_castpd_si256,
        _mm256_castsi256_pd,
        _mm256_cmp_pd::<_CMP_GT_OQ>,
        _mm256_set1_pd,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_mul_pd,
        _mm256_fmadd_pd,
        _mm256_max_pd,
        _mm256_min_pd,
        _mm256_blendv_pd
    );
    implement_avx2!(
        f32,
        8,
        __m256,
        MAGIC_32,
        23,
        _mm256_slli_epi32,
        _mm256_castps_si256,
        _mm256_castsi256_ps,
        _mm256_cmp_ps::<_CMP_GT_OQ>,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps,
        _mm256_max_ps,
        _mm256_min_ps,
        _mm256_blendv_ps
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every operation on lanes, as one flat list of results.
    struct Everything<'a, T>(&'a [T], &'a [T], &'a [T]);

    impl<T: Real> Kernel<T> for Everything<'_, T> {
        type Output = Vec<f64>;
        #[inline(always)]
        fn run<S: Simd<T>>(self, simd: S) -> Vec<f64> {
            let (a, b, c) = (simd.load(self.0), simd.load(self.1), simd.load(self.2));
            let mut results = Vec::new();
            let n = simd.sub(
                simd.add(a, simd.splat(T::from_f64(8_388_608.0 * 1.5))),
                simd.splat(T::from_f64(8_388_608.0 * 1.5)),
            );
            let n = if T::LANES == 4 {
                simd.splat(T::from_f64(-37.0))
            } else {
                n
            };
            for vector in [
                simd.add(a, b),
                simd.sub(a, b),
                simd.mul(a, b),
                simd.max(a, b),
                simd.min(a, b),
                simd.select_greater(a, b, c, a),
                simd.exp2_integer(n),
            ] {
                let mut lanes = [T::ZERO; 8];
                simd.store(vector, &mut lanes);
                results.extend(lanes[..T::LANES].iter().map(|lane| lane.to_f64()));
            }
            results.push(simd.reduce_sum(a).to_f64());
            results.push(simd.reduce_max(a).to_f64());
            results.push(simd.reduce_min(a).to_f64());
            results
        }
    }

    struct MulAdd<'a, T>(&'a [T], &'a [T], &'a [T]);

    impl<T: Real> Kernel<T> for MulAdd<'_, T> {
        type Output = f64;
        #[inline(always)]
        fn run<S: Simd<T>>(self, simd: S) -> f64 {
            simd.reduce_sum(simd.mul_add(simd.load(self.0), simd.load(self.1), simd.load(self.2)))
                .to_f64()
        }
    }

    #[test]
    fn any_address_may_be_prefetched() {
        for index in [0, 1, 1 << 40, usize::MAX / 2, usize::MAX] {
            prefetch(&[1.0], index);
            prefetch::<u8>(&[], index);
        }
    }

    /// The results of a kernel with every instruction set that this machine has, the plain one first.
    macro_rules! with_every_set {
        ($kernel:expr) => {{
            let mut results = vec![dispatch_plain($kernel), dispatch($kernel)];
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: the processor has both features.
                results.push(unsafe { avx2::run($kernel) });
            }
            results
        }};
    }

    proptest! {
        #[test]
        fn f64_lanes_equal_plain_code(lanes in prop::array::uniform12(-100.0..100.0f64)) {
            let (a, b, c) = (&lanes[..4], &lanes[4..8], &lanes[8..]);
            let results = with_every_set!(Everything(a, b, c));
            prop_assert!(results.iter().all(|found| *found == results[0]), "{results:?}");
            let sums = with_every_set!(MulAdd(a, b, c));
            prop_assert!(sums.iter().all(|sum| (sum - sums[0]).abs() <= 1e-10), "{sums:?}");
        }

        #[test]
        fn f32_lanes_equal_plain_code(lanes in prop::array::uniform24(-100.0..100.0f32)) {
            let (a, b, c) = (&lanes[..8], &lanes[8..16], &lanes[16..]);
            let results = with_every_set!(Everything(a, b, c));
            prop_assert!(results.iter().all(|found| *found == results[0]), "{results:?}");
            let sums = with_every_set!(MulAdd(a, b, c));
            prop_assert!(sums.iter().all(|sum| (sum - sums[0]).abs() <= 0.1), "{sums:?}");
        }
    }
}

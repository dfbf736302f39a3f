//! [`TrainingReal`]: the float types of training, and where its kernels are compiled.

use super::block::{Scatter, Score};
use super::dense::{AddSteps, Exponentiate, ForwardBackward};
use fieldmark_core::kernels::{Dispatch, dispatch};

/// Float types that training computes in; the optimiser's own vectors are always `f64`.
///
/// The kernels are methods of concrete types, never inlined, so that they are compiled once and in this crate:
/// in generic code every crate that trains would compile all of them again.
#[doc(hidden)]
pub trait TrainingReal: Dispatch {
    fn with_weights<R>(x: &[f64], scratch: &mut Vec<Self>, run: impl FnOnce(&[Self]) -> R) -> R;
    fn with_gradient<R>(
        gradient: &mut [f64],
        scratch: &mut Vec<Self>,
        run: impl FnOnce(&mut [Self]) -> R,
    ) -> R;
    fn score_labels(kernel: Score<'_, Self, u16>);
    fn score_pairs(kernel: Score<'_, Self, u32>);
    fn scatter_labels(kernel: Scatter<'_, '_, Self, u16>);
    fn scatter_pairs(kernel: Scatter<'_, '_, Self, u32>);
    fn exponentiate(kernel: Exponentiate<'_, Self>) -> (f64, Self);
    fn forward_backward(kernel: ForwardBackward<'_, Self>) -> f64;
    fn add_steps(kernel: AddSteps<'_, Self>);
}

macro_rules! kernels {
    () => {
        #[inline(never)]
        fn score_labels(kernel: Score<'_, Self, u16>) {
            dispatch(kernel);
        }
        #[inline(never)]
        fn score_pairs(kernel: Score<'_, Self, u32>) {
            dispatch(kernel);
        }
        #[inline(never)]
        fn scatter_labels(kernel: Scatter<'_, '_, Self, u16>) {
            dispatch(kernel);
        }
        #[inline(never)]
        fn scatter_pairs(kernel: Scatter<'_, '_, Self, u32>) {
            dispatch(kernel);
        }
        #[inline(never)]
        fn exponentiate(kernel: Exponentiate<'_, Self>) -> (f64, Self) {
            dispatch(kernel)
        }
        #[inline(never)]
        fn forward_backward(kernel: ForwardBackward<'_, Self>) -> f64 {
            dispatch(kernel)
        }
        #[inline(never)]
        fn add_steps(kernel: AddSteps<'_, Self>) {
            dispatch(kernel);
        }
    };
}

impl TrainingReal for f64 {
    fn with_weights<R>(x: &[f64], _: &mut Vec<f64>, run: impl FnOnce(&[f64]) -> R) -> R {
        run(x)
    }
    fn with_gradient<R>(gradient: &mut [f64], _: &mut Vec<f64>, run: impl FnOnce(&mut [f64]) -> R) -> R {
        run(gradient)
    }
    kernels!();
}

impl TrainingReal for f32 {
    fn with_weights<R>(x: &[f64], scratch: &mut Vec<f32>, run: impl FnOnce(&[f32]) -> R) -> R {
        scratch.clear();
        scratch.extend(x.iter().map(|&weight| weight as f32));
        run(scratch)
    }
    fn with_gradient<R>(
        gradient: &mut [f64],
        scratch: &mut Vec<f32>,
        run: impl FnOnce(&mut [f32]) -> R,
    ) -> R {
        scratch.clear();
        scratch.resize(gradient.len(), 0.0);
        let result = run(scratch);
        for (to, &from) in gradient.iter_mut().zip(scratch.iter()) {
            *to += f64::from(from);
        }
        result
    }
    kernels!();
}

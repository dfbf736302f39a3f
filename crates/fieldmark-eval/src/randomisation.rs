//! [`Randomisation`]: significance of any measure, by exchanging the outputs of two systems at random.

use crate::EvalError;
use crate::error::{check_lengths, check_number};
use crate::t_test::Tail;
use fieldmark_core::random::SplitMix64;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The outcome of an approximate randomisation test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Randomisation {
    /// The measure of the first system minus that of the second.
    pub difference: f64,
    /// How often outputs were exchanged.
    pub shuffles: u64,
    /// Shuffles with a difference at least as far from 0.
    pub as_far: u64,
    /// Shuffles with a difference at least as high.
    pub as_high: u64,
    /// Shuffles with a difference at least as low.
    pub as_low: u64,
}

impl Randomisation {
    /// (r + 1) / (R + 1), where r of R shuffles are at least as extreme (Noreen 1989).
    pub fn p(&self, tail: Tail) -> f64 {
        let extreme = match tail {
            Tail::Both => self.as_far,
            Tail::Greater => self.as_high,
            Tail::Less => self.as_low,
        };
        (extreme + 1) as f64 / (self.shuffles + 1) as f64
    }
}

/// Approximate randomisation (Noreen 1989; Yeh 2000): if two systems are equally good, it does not matter which of
/// them gave which output for a document. So the outputs for each document are exchanged with probability ½, many
/// times, and one sees how often the systems then differ as much as they did.
///
/// `first` and `second` hold what each system did on the same documents; `measure` turns their sum into a score.
/// That works for scores that are no means of single items, such as micro F1, for which a t-test is wrong. The same
/// seed gives the same result.
///
/// ```
/// use fieldmark_eval::{Counts, Tail, approximate_randomisation};
/// let counts = |correct| Counts { gold: 10, found: 10, correct };
/// let (new, old) = ([9, 8, 9, 10, 9, 8, 9, 10].map(counts), [5, 6, 4, 7, 6, 5, 6, 7].map(counts));
/// let test = approximate_randomisation(&new, &old, Counts::f1, 9999, 1)?;
/// assert!((test.difference - 0.325).abs() < 1e-12);
/// assert!(test.p(Tail::Both) < 0.02);
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
pub fn approximate_randomisation<T>(
    first: &[T],
    second: &[T],
    measure: impl Fn(&T) -> f64,
    shuffles: u64,
    seed: u64,
) -> Result<Randomisation, EvalError>
where
    T: Copy + Default + AddAssign,
{
    check_lengths(first.len(), second.len())?;
    check_number("documents", first.len(), 1)?;
    let difference = |exchanged: &mut dyn FnMut() -> bool| {
        let mut sums = [T::default(), T::default()];
        for (&one, &other) in first.iter().zip(second) {
            let side = usize::from(exchanged());
            sums[side] += one;
            sums[1 - side] += other;
        }
        measure(&sums[0]) - measure(&sums[1])
    };
    let observed = difference(&mut || false);
    // Sums in another order may differ in the last digits from the value that they should equal.
    let slack = 1e-12 * observed.abs();
    let mut coins = Coins::new(seed);
    let mut result = Randomisation {
        difference: observed,
        shuffles,
        as_far: 0,
        as_high: 0,
        as_low: 0,
    };
    for _ in 0..shuffles {
        let shuffled = difference(&mut || coins.toss());
        result.as_far += u64::from(shuffled.abs() >= observed.abs() - slack);
        result.as_high += u64::from(shuffled >= observed - slack);
        result.as_low += u64::from(shuffled <= observed + slack);
    }
    Ok(result)
}

/// Random bits, one at a time.
struct Coins {
    random: SplitMix64,
    bits: u64,
    left: u32,
}

impl Coins {
    fn new(seed: u64) -> Self {
        Coins {
            random: SplitMix64(seed),
            bits: 0,
            left: 0,
        }
    }

    fn toss(&mut self) -> bool {
        if self.left == 0 {
            self.bits = self.random.bits();
            self.left = u64::BITS;
        }
        let heads = self.bits & 1 == 1;
        self.bits >>= 1;
        self.left -= 1;
        heads
    }
}

//! Random numbers that are the same on every machine and in every version.

/// SplitMix64 (Steele, Lea & Flood 2014). The number is the state; any is a good start.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number from 0 on, below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from 0 on, below the limit; 0 if that is 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u32
    }
}

/// The order in which a pass visits the instances: it depends on the seed and the number of the pass alone.
pub fn visiting_order(instances: usize, seed: u64, pass: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..instances as u32).collect();
    let mut random = SplitMix64(seed ^ pass.wrapping_mul(0xD6E8_FEB8_6659_FD93));
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as u32 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_paper() {
        let mut random = SplitMix64(0);
        assert_eq!(
            [random.bits(), random.bits()],
            [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]
        );
    }

    #[test]
    fn numbers_fill_their_range() {
        let mut random = SplitMix64(0);
        let mut counts = [0; 3];
        for _ in 0..3000 {
            counts[random.below(3) as usize] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert!(
            counts.iter().all(|count| (900..1100).contains(count)),
            "{counts:?}"
        );
        let mean = (0..3000).map(|_| random.unit()).sum::<f64>() / 3000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }

    #[test]
    fn an_order_is_a_permutation_and_passes_differ() {
        let mut first = visiting_order(100, 7, 1);
        assert_ne!(first, visiting_order(100, 7, 2));
        first.sort_unstable();
        assert!(first.iter().copied().eq(0..100));
    }
}

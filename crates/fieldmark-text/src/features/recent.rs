//! [`Recent`]: a small memory of answers.

/// Remembers the numbers of observations that were looked up lately: most of those that depend on several tokens
/// come again soon, and the table of a model's names is too large for the caches of a processor.
#[derive(Debug)]
pub(super) struct Recent {
    /// A hash and its number, each at the place that the hash gives.
    slots: Box<[(u64, Answer)]>,
}

/// What is remembered about a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Unknown,
    /// No observation has the hash.
    None,
    Number(u32),
}

const SLOTS: usize = 1 << 14;

impl Default for Recent {
    fn default() -> Self {
        Self {
            slots: vec![(0, Answer::Unknown); SLOTS].into(),
        }
    }
}

impl Recent {
    #[inline]
    pub fn get(&self, hash: u64) -> Answer {
        let (found, answer) = self.slots[hash as usize % SLOTS];
        if found == hash { answer } else { Answer::Unknown }
    }

    #[inline]
    pub fn put(&mut self, hash: u64, number: Option<u32>) {
        let answer = number.map_or(Answer::None, Answer::Number);
        self.slots[hash as usize % SLOTS] = (hash, answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_hash_at_the_same_place_replaces_an_earlier_one() {
        let mut recent = Recent::default();
        assert_eq!(recent.get(0), Answer::Unknown);
        recent.put(7, Some(1));
        recent.put(8, None);
        assert_eq!((recent.get(7), recent.get(8)), (Answer::Number(1), Answer::None));
        recent.put(7 + SLOTS as u64, Some(2));
        assert_eq!(recent.get(7), Answer::Unknown);
        assert_eq!(recent.get(7 + SLOTS as u64), Answer::Number(2));
    }
}

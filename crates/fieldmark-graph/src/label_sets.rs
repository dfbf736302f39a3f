//! Which labels each variable may take, as bits.

use crate::Error;

/// A set of allowed labels for each variable.
///
/// One bit per label, in whole words per variable, so that a copy of all sets (for a question under other
/// constraints) is one copy of a short array.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelSets {
    labels: Vec<u32>,
    first_word: Vec<usize>,
    words: Vec<u64>,
}

impl LabelSets {
    pub(crate) fn clear(&mut self) {
        self.labels.clear();
        self.first_word.clear();
        self.words.clear();
    }

    pub(crate) fn push(&mut self, labels: u32) {
        self.first_word.push(self.words.len());
        self.labels.push(labels);
        self.words
            .extend((0..labels.div_ceil(64)).map(|word| full_word(labels, word)));
    }

    fn words(&self, variable: u32) -> &[u64] {
        let first = self.first_word[variable as usize];
        &self.words[first..first + self.labels[variable as usize].div_ceil(64) as usize]
    }

    fn words_mut(&mut self, variable: u32) -> &mut [u64] {
        let first = self.first_word[variable as usize];
        let count = self.labels[variable as usize].div_ceil(64) as usize;
        &mut self.words[first..first + count]
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.labels.len()
    }

    /// Number of labels of a variable, allowed or not.
    ///
    /// # Panics
    /// If the variable does not exist; so do the other questions about one variable.
    pub fn labels(&self, variable: u32) -> u32 {
        self.labels[variable as usize]
    }

    /// Whether a variable may take a label.
    pub fn contains(&self, variable: u32, label: u32) -> bool {
        label < self.labels(variable) && self.words(variable)[label as usize / 64] >> (label % 64) & 1 == 1
    }

    /// Number of labels that a variable may take.
    pub fn count(&self, variable: u32) -> u32 {
        self.words(variable).iter().map(|word| word.count_ones()).sum()
    }

    /// Whether a variable may take every label.
    pub fn is_full(&self, variable: u32) -> bool {
        self.count(variable) == self.labels(variable)
    }

    /// Whether every variable may take every label.
    pub fn are_full(&self) -> bool {
        (0..self.variables() as u32).all(|variable| self.is_full(variable))
    }

    /// The labels that a variable may take, in order.
    pub fn iter(&self, variable: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        self.words(variable)
            .iter()
            .enumerate()
            .flat_map(|(index, &word)| {
                let mut rest = word;
                std::iter::from_fn(move || {
                    let bit = rest.trailing_zeros();
                    rest &= rest.wrapping_sub(1);
                    (bit < 64).then_some(index as u32 * 64 + bit)
                })
            })
    }

    /// Lets a variable take the given labels only. On errors the old set stays.
    pub fn set(&mut self, variable: u32, allowed: impl IntoIterator<Item = u32>) -> Result<(), Error> {
        self.check(variable)?;
        let labels = self.labels(variable);
        let mut words = vec![0; labels.div_ceil(64) as usize];
        for label in allowed {
            self.check_label(variable, label)?;
            words[label as usize / 64] |= 1u64 << (label % 64);
        }
        if words.iter().all(|&word| word == 0) {
            return Err(Error::EmptyLabelSet { variable, labels });
        }
        self.words_mut(variable).copy_from_slice(&words);
        Ok(())
    }

    /// Lets a variable take one label only.
    pub fn clamp(&mut self, variable: u32, label: u32) -> Result<(), Error> {
        self.check(variable)?;
        self.check_label(variable, label)?;
        let words = self.words_mut(variable);
        words.fill(0);
        words[label as usize / 64] = 1 << (label % 64);
        Ok(())
    }

    /// Forbids one more label of a variable. On errors the old set stays.
    pub fn remove(&mut self, variable: u32, label: u32) -> Result<(), Error> {
        self.check(variable)?;
        self.check_label(variable, label)?;
        if self.count(variable) == 1 && self.contains(variable, label) {
            let labels = self.labels(variable);
            return Err(Error::EmptyLabelSet { variable, labels });
        }
        self.words_mut(variable)[label as usize / 64] &= !(1 << (label % 64));
        Ok(())
    }

    /// Lets a variable take every label again.
    pub fn release(&mut self, variable: u32) -> Result<(), Error> {
        self.check(variable)?;
        let labels = self.labels(variable);
        for (index, word) in self.words_mut(variable).iter_mut().enumerate() {
            *word = full_word(labels, index as u32);
        }
        Ok(())
    }

    fn check(&self, variable: u32) -> Result<(), Error> {
        if variable as usize >= self.variables() {
            let variables = self.variables();
            return Err(Error::UnknownVariable { variable, variables });
        }
        Ok(())
    }

    fn check_label(&self, variable: u32, label: u32) -> Result<(), Error> {
        let labels = self.labels(variable);
        if label >= labels {
            let (of, number) = ("variable", variable);
            return Err(Error::UnknownLabel {
                of,
                number,
                label,
                labels,
            });
        }
        Ok(())
    }
}

/// The bits of labels `64 * word ..` that exist.
fn full_word(labels: u32, word: u32) -> u64 {
    let rest = labels - word * 64;
    if rest >= 64 { u64::MAX } else { (1 << rest) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(labels: &[u32]) -> LabelSets {
        let mut sets = LabelSets::default();
        labels.iter().for_each(|&labels| sets.push(labels));
        sets
    }

    #[test]
    fn sets_of_more_than_a_word_are_kept_apart() {
        let mut sets = sets(&[64, 130, 1]);
        assert!((0..3).all(|variable| sets.is_full(variable)));
        sets.set(1, [0, 63, 64, 129]).unwrap();
        assert_eq!(sets.iter(1).collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert_eq!((sets.count(0), sets.count(1), sets.count(2)), (64, 4, 1));
        sets.remove(1, 64).unwrap();
        assert!(!sets.contains(1, 64) && sets.contains(1, 129) && !sets.contains(1, 200));
        sets.clamp(1, 128).unwrap();
        assert_eq!(sets.iter(1).collect::<Vec<_>>(), [128]);
        sets.release(1).unwrap();
        assert_eq!(sets, self::sets(&[64, 130, 1]));
    }

    #[test]
    fn errors_carry_numbers_and_change_nothing() {
        let mut sets = sets(&[3]);
        let error = sets.set(0, [1, 3]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "label 3 of variable 0 does not exist, there are 3 labels"
        );
        assert!(matches!(
            sets.set(0, []),
            Err(Error::EmptyLabelSet {
                variable: 0,
                labels: 3
            })
        ));
        assert!(matches!(
            sets.clamp(1, 0),
            Err(Error::UnknownVariable {
                variable: 1,
                variables: 1
            })
        ));
        assert!(sets.is_full(0));
        sets.clamp(0, 2).unwrap();
        assert!(sets.remove(0, 2).is_err());
        sets.remove(0, 1).unwrap();
        assert!(sets.contains(0, 2));
    }
}

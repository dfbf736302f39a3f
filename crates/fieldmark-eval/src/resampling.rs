//! [`Groups`], [`Folds`] and [`Bootstrap`]: which items to train on and which to test on.
//!
//! Items of one group, such as the sentences of a document, are never on both sides. All choices follow from the
//! seed alone and are the same on every machine.

use crate::EvalError;
use crate::error::check_number;
use fieldmark_core::random::{SplitMix64, visiting_order};
use std::collections::HashMap;
use std::hash::Hash;

/// Items to train on and items to test on, by index in rising order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Items to train on; a bootstrap may name one several times.
    pub train: Vec<usize>,
    /// Items to test on.
    pub test: Vec<usize>,
}

/// Items in groups that stay together.
///
/// ```
/// use fieldmark_eval::Groups;
/// let sentences = Groups::by(["doc1", "doc1", "doc2", "doc3", "doc3", "doc3"]);
/// assert_eq!((sentences.items(), sentences.groups()), (6, 3));
/// for split in sentences.k_fold(3, 1)?.splits() {
///     assert_eq!(split.train.len() + split.test.len(), 6);
///     assert_eq!(split.train.contains(&0), split.train.contains(&1));
/// }
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The group of each item; groups are numbered in the order of their first items.
    group_of: Vec<usize>,
    /// Number of items in each group.
    sizes: Vec<usize>,
}

impl Groups {
    /// Every item is a group of its own.
    pub fn single(items: usize) -> Self {
        Groups {
            group_of: (0..items).collect(),
            sizes: vec![1; items],
        }
    }

    /// Items with the same key are a group.
    pub fn by<K: Eq + Hash>(keys: impl IntoIterator<Item = K>) -> Self {
        let mut numbers: HashMap<K, usize> = HashMap::new();
        let mut sizes = Vec::new();
        let group_of = keys
            .into_iter()
            .map(|key| {
                let next = numbers.len();
                let group = *numbers.entry(key).or_insert(next);
                if group == sizes.len() {
                    sizes.push(0);
                }
                sizes[group] += 1;
                group
            })
            .collect();
        Groups { group_of, sizes }
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.group_of.len()
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.sizes.len()
    }

    /// Cuts the groups into `folds` parts, each of which is tested once (Stone 1974).
    ///
    /// Groups come in random order, large ones first, and each goes to the fold that has the fewest items. Folds of
    /// single items so differ by one item at most.
    pub fn k_fold(&self, folds: usize, seed: u64) -> Result<Folds, EvalError> {
        check_number("folds", folds, 2)?;
        check_number("groups of items", self.groups(), folds)?;
        let mut order = visiting_order(self.groups(), seed, 0);
        order.sort_by_key(|&group| std::cmp::Reverse(self.sizes[group as usize]));
        let mut fold_of_group = vec![0; self.groups()];
        let mut lightest: std::collections::BTreeSet<(usize, usize)> =
            (0..folds).map(|fold| (0, fold)).collect();
        for group in order {
            let (items, fold) = lightest.pop_first().expect("there are at least two folds");
            fold_of_group[group as usize] = fold;
            lightest.insert((items + self.sizes[group as usize], fold));
        }
        let fold_of = self.group_of.iter().map(|&group| fold_of_group[group]);
        Ok(Folds {
            fold_of: fold_of.collect(),
            folds,
        })
    }

    /// Each group is tested once, after training on all others.
    pub fn leave_one_out(&self) -> Result<Folds, EvalError> {
        check_number("groups of items", self.groups(), 2)?;
        Ok(Folds {
            fold_of: self.group_of.clone(),
            folds: self.groups(),
        })
    }

    /// Draws as many groups as there are, with replacement, to train on, and tests on those that were not drawn
    /// (Efron & Tibshirani 1997); 30 or 50 replicates are customary.
    ///
    /// About 63 % of the groups are trained on. Draws that leave none to test on are drawn again.
    pub fn bootstrap(&self, replicates: usize, seed: u64) -> Result<Bootstrap<'_>, EvalError> {
        check_number("replicates", replicates, 1)?;
        check_number("groups of items", self.groups(), 2)?;
        Ok(Bootstrap {
            groups: self,
            replicates,
            seed,
        })
    }
}

/// Parts of the items, each of which is tested once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    fold_of: Vec<usize>,
    folds: usize,
}

impl Folds {
    /// Number of folds.
    pub fn folds(&self) -> usize {
        self.folds
    }

    /// The fold in which an item is tested.
    pub fn fold_of(&self, item: usize) -> Option<usize> {
        self.fold_of.get(item).copied()
    }

    /// Trains on all folds but one. A fold that does not exist has nothing to test.
    pub fn split(&self, fold: usize) -> Split {
        let (test, train) = (0..self.fold_of.len()).partition(|&item| self.fold_of[item] == fold);
        Split { train, test }
    }

    /// All splits in order, made one at a time.
    pub fn splits(&self) -> impl ExactSizeIterator<Item = Split> + '_ {
        (0..self.folds).map(|fold| self.split(fold))
    }
}

/// Random samples of the items, and what is left of them.
#[derive(Clone, Debug)]
pub struct Bootstrap<'a> {
    groups: &'a Groups,
    replicates: usize,
    seed: u64,
}

impl Bootstrap<'_> {
    /// Number of replicates.
    pub fn replicates(&self) -> usize {
        self.replicates
    }

    /// One replicate. It depends on the seed and its number, and not on those before it.
    ///
    /// ```
    /// use fieldmark_eval::Groups;
    /// let items = Groups::single(10);
    /// let split = items.bootstrap(30, 7)?.split(4);
    /// assert_eq!(split.train.len(), 10);
    /// assert!(split.test.iter().all(|item| !split.train.contains(item)));
    /// # Ok::<(), fieldmark_eval::EvalError>(())
    /// ```
    pub fn split(&self, replicate: usize) -> Split {
        let mut random = SplitMix64(self.seed);
        random.0 = random.bits() ^ (replicate as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let groups = self.groups.groups();
        let mut drawn = vec![0; groups];
        loop {
            for _ in 0..groups {
                // Mapped to 0..groups by multiplication.
                let group = (u128::from(random.bits()) * groups as u128) >> 64;
                drawn[group as usize] += 1;
            }
            if drawn.contains(&0) {
                break;
            }
            drawn.fill(0);
        }
        let mut split = Split {
            train: Vec::new(),
            test: Vec::new(),
        };
        for (item, &group) in self.groups.group_of.iter().enumerate() {
            match drawn[group] {
                0 => split.test.push(item),
                times => split.train.extend(std::iter::repeat_n(item, times)),
            }
        }
        split
    }

    /// All replicates in order, made one at a time.
    pub fn splits(&self) -> impl ExactSizeIterator<Item = Split> + '_ {
        (0..self.replicates).map(|replicate| self.split(replicate))
    }
}

//! [`LargeVec`]: long arrays of numbers that are read here and there.
//!
//! Weights and gradients are read in the order of the data, not of memory. In pages of 4 KiB almost every access then
//! also looks for its page; in large pages, of which a model takes a few, it does not.

use bytemuck::Pod;
use memmap2::MmapMut;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Arrays below are not worth a map of their own: a large page has 2 MiB.
const SMALL: usize = 2 << 20;

/// Numbers of a fixed count, zero at first, in large pages where the system has them.
pub struct LargeVec<T>(Place<T>);

enum Place<T> {
    Heap(Vec<T>),
    /// The map is as long as the array.
    Map(MmapMut),
}

impl<T: Pod> LargeVec<T> {
    /// So many zeros.
    pub fn zeroed(len: usize) -> Self {
        let place = large_pages(len.saturating_mul(size_of::<T>()));
        Self(place.map_or_else(|| Place::Heap(vec![T::zeroed(); len]), Place::Map))
    }
}

/// Memory of so many bytes that asks for large pages; none where that makes no sense or does not work.
fn large_pages(bytes: usize) -> Option<MmapMut> {
    if bytes < SMALL {
        return None;
    }
    let map = MmapMut::map_anon(bytes).ok()?;
    #[cfg(target_os = "linux")]
    map.advise(memmap2::Advice::HugePage).ok()?;
    Some(map)
}

impl<T: Pod> Deref for LargeVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Heap(numbers) => numbers,
            Place::Map(map) => bytemuck::cast_slice(map),
        }
    }
}

impl<T: Pod> DerefMut for LargeVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Place::Heap(numbers) => numbers,
            Place::Map(map) => bytemuck::cast_slice_mut(map),
        }
    }
}

impl<T: Pod> From<Vec<T>> for LargeVec<T> {
    fn from(numbers: Vec<T>) -> Self {
        if size_of_val(&*numbers) < SMALL {
            return Self(Place::Heap(numbers));
        }
        let mut large = Self::zeroed(numbers.len());
        large.copy_from_slice(&numbers);
        large
    }
}

impl<T: Pod> Clone for LargeVec<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl<T: Pod + PartialEq> PartialEq for LargeVec<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Pod> Default for LargeVec<T> {
    fn default() -> Self {
        Self(Place::Heap(Vec::new()))
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for LargeVec<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_arrays_hold_what_was_put_in() {
        for len in [0, 1, 1000, SMALL / 8 - 1, SMALL / 8, SMALL / 8 + 77_777] {
            let mut large = LargeVec::<f64>::zeroed(len);
            assert_eq!(large.len(), len);
            assert!(large.iter().all(|&number| number == 0.0));
            large
                .iter_mut()
                .zip(1..)
                .for_each(|(number, index)| *number = f64::from(index));
            let plain = large.to_vec();
            assert_eq!(*LargeVec::from(plain.clone()), *plain);
            let copy = large.clone();
            large.fill(-1.0);
            assert_eq!(*copy, *plain);
        }
    }

    #[test]
    fn only_long_arrays_have_pages_of_their_own() {
        assert!(matches!(LargeVec::<f32>::zeroed(10).0, Place::Heap(_)));
        assert!(matches!(LargeVec::<f32>::from(vec![0.0; 10]).0, Place::Heap(_)));
    }
}

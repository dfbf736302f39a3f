//! [`Shared`]: an array of a model, wherever it lies.

use super::element::Element;
use super::read::Container;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// An immutable array that is either owned or part of an open [`Container`], which it keeps alive.
///
/// A model built in memory and one opened from a file can so have the same type. Dereferencing costs a few
/// checks: take the slice out of the inner loop. Cloning copies what is owned and shares what is not.
#[derive(Clone)]
pub struct Shared<T: Element>(Place<T>);

#[derive(Clone)]
enum Place<T> {
    Owned(Vec<T>),
    /// The range was seen to be a view of `T` when this was made, and a container never moves its bytes.
    Container(Arc<Container>, Range<usize>),
}

impl<T: Element> Shared<T> {
    pub(super) fn in_container(container: Arc<Container>, range: Range<usize>) -> Self {
        Self(Place::Container(container, range))
    }

    /// Whether the array is owned, and not part of a container.
    pub fn is_owned(&self) -> bool {
        matches!(self.0, Place::Owned(_))
    }

    /// The array as a vector; copies unless it is owned.
    pub fn into_vec(self) -> Vec<T> {
        match self.0 {
            Place::Owned(values) => values,
            Place::Container(..) => self.to_vec(),
        }
    }
}

impl<T: Element> Deref for Shared<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Owned(values) => values,
            Place::Container(container, range) => bytemuck::cast_slice(&container.bytes()[range.clone()]),
        }
    }
}

impl<T: Element> From<Vec<T>> for Shared<T> {
    fn from(values: Vec<T>) -> Self {
        Self(Place::Owned(values))
    }
}

impl<T: Element> Default for Shared<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T: Element> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Element> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

//! [`Element`]: the numbers that a section can hold, viewed in place where the machine allows it.

use std::borrow::Cow;
use std::fmt;

/// What a section says that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Bytes of a meaning known to their reader.
    Bytes,
    /// UTF-8 text.
    Text,
    /// Unsigned integers of 16 bits.
    U16,
    /// Unsigned integers of 32 bits.
    U32,
    /// Unsigned integers of 64 bits.
    U64,
    /// Floating-point numbers of 32 bits.
    F32,
    /// Floating-point numbers of 64 bits.
    F64,
}

impl Kind {
    const ALL: [Kind; 7] = [
        Kind::Bytes,
        Kind::Text,
        Kind::U16,
        Kind::U32,
        Kind::U64,
        Kind::F32,
        Kind::F64,
    ];

    /// The number that stands for the kind in a file.
    pub(super) fn code(self) -> u32 {
        self as u32
    }

    pub(super) fn from_code(code: u32) -> Option<Kind> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// Bytes per element.
    pub fn size(self) -> usize {
        match self {
            Kind::Bytes | Kind::Text => 1,
            Kind::U16 => 2,
            Kind::U32 | Kind::F32 => 4,
            Kind::U64 | Kind::F64 => 8,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Bytes => "bytes",
            Kind::Text => "text",
            Kind::U16 => "u16",
            Kind::U32 => "u32",
            Kind::U64 => "u64",
            Kind::F32 => "f32",
            Kind::F64 => "f64",
        })
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A number that sections hold as a little-endian array: `u8`, `u16`, `u32`, `u64`, `f32` or `f64`.
pub trait Element: bytemuck::Pod + PartialEq + fmt::Debug + Send + Sync + sealed::Sealed {
    /// The kind of a section of such numbers.
    const KIND: Kind;

    /// The little-endian bytes of the numbers, by copying.
    #[doc(hidden)]
    fn encode(values: &[Self]) -> Vec<u8>;

    /// The numbers in little-endian bytes, by copying; a rest shorter than a number is left out.
    #[doc(hidden)]
    fn decode(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! element {
    ($($number:ty => $kind:ident),*) => {$(
        impl sealed::Sealed for $number {}

        impl Element for $number {
            const KIND: Kind = Kind::$kind;

            fn encode(values: &[Self]) -> Vec<u8> {
                values.iter().flat_map(|value| value.to_le_bytes()).collect()
            }

            fn decode(bytes: &[u8]) -> Vec<Self> {
                let (chunks, _) = bytes.as_chunks();
                chunks.iter().map(|chunk| Self::from_le_bytes(*chunk)).collect()
            }
        }
    )*};
}

element!(u8 => Bytes, u16 => U16, u32 => U32, u64 => U64, f32 => F32, f64 => F64);

/// The bytes of numbers as they stand in a file.
pub(super) fn bytes_of<T: Element>(values: &[T]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(values))
    } else {
        Cow::Owned(T::encode(values))
    }
}

/// The numbers in the bytes of a file without a copy, if byte order, alignment and length permit.
pub(super) fn view<T: Element>(bytes: &[u8]) -> Option<&[T]> {
    if cfg!(target_endian = "little") {
        bytemuck::try_cast_slice(bytes).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies and views must agree wherever a view exists, and a view must exist at aligned places.
    fn copies_agree_with_views<T: Element>(values: &[T]) {
        let encoded = T::encode(values);
        assert_eq!(*bytes_of(values), encoded);
        assert_eq!(T::decode(&encoded), values);
        let mut words = vec![0u64; encoded.len() / 8 + 2];
        for shift in 0..8 {
            let buffer: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
            buffer[shift..shift + encoded.len()].copy_from_slice(&encoded);
            let placed = &buffer[shift..shift + encoded.len()];
            assert_eq!(T::decode(placed), values);
            let aligned = shift % size_of::<T>() == 0 && cfg!(target_endian = "little");
            assert_eq!(
                view(placed),
                aligned.then_some(values),
                "{} bytes from alignment",
                shift
            );
        }
    }

    #[test]
    fn every_element_type_is_little_endian_at_every_alignment() {
        copies_agree_with_views(&[1u8, 0xFE, 0]);
        copies_agree_with_views(&[1u16, 0xFEDC]);
        copies_agree_with_views(&[1u32, 0xFEDC_BA98]);
        copies_agree_with_views(&[1u64, 0xFEDC_BA98_7654_3210]);
        copies_agree_with_views(&[-0.1f32, f32::MIN_POSITIVE, f32::INFINITY]);
        copies_agree_with_views(&[-0.1f64, f64::MIN_POSITIVE, f64::NEG_INFINITY]);
        assert_eq!(u32::encode(&[0x0102_0304]), [4, 3, 2, 1]);
        assert_eq!(u32::decode(&[4, 3, 2, 1, 9]), [0x0102_0304]);
    }

    #[test]
    fn codes_of_kinds_come_back() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_code(kind.code()), Some(kind));
        }
        assert_eq!(Kind::from_code(7), None);
        assert_eq!(Kind::from_code(u32::MAX), None);
    }
}

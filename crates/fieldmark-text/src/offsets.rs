//! [`Offsets`]: places in a text by any way of counting, and back.

/// How a format counts the places of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of UTF-8.
    Bytes,
    /// Code points: Python, brat, PubTator, BioC.
    Characters,
    /// Code units of UTF-16: JavaScript, Java.
    Utf16,
    /// Characters that are not white space: BioCreative.
    NonSpace,
}

/// Converts between byte offsets and offsets in a [`Unit`], each in logarithmic time or better.
///
/// ```
/// use fieldmark_text::offsets::{Offsets, Unit};
/// let offsets = Offsets::new("α β-actin", Unit::Characters);
/// assert_eq!(offsets.byte(2), Some(3));
/// assert_eq!(offsets.count(3), Some(2));
/// assert_eq!(offsets.byte(10), None);
/// ```
#[derive(Clone, Debug)]
pub struct Offsets<'a> {
    text: &'a str,
    unit: Unit,
    /// Where counting by `unit` differs from counting bytes: byte and count at the start of each character
    /// after which the difference changes.
    steps: Vec<(usize, usize)>,
    end: usize,
}

impl<'a> Offsets<'a> {
    /// Gets ready for a text.
    pub fn new(text: &'a str, unit: Unit) -> Self {
        let mut steps = vec![(0, 0)];
        if text.is_ascii() && unit != Unit::NonSpace {
            let end = text.len();
            return Self {
                text,
                unit,
                steps,
                end,
            };
        }
        let (mut count, mut difference) = (0, 0);
        for (byte, c) in text.char_indices() {
            if byte - count != difference {
                difference = byte - count;
                steps.push((byte, count));
            }
            count += match unit {
                Unit::Bytes => c.len_utf8(),
                Unit::Characters => 1,
                Unit::Utf16 => c.len_utf16(),
                Unit::NonSpace => usize::from(!c.is_whitespace()),
            };
        }
        if text.len() - count != difference {
            steps.push((text.len(), count));
        }
        Self {
            text,
            unit,
            steps,
            end: count,
        }
    }

    /// The text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// How places are counted.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The count at the end of the text.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The byte offset of a place, or `None` beyond the text or inside a character.
    ///
    /// Where several places have the same count (white space, by [`Unit::NonSpace`]), it is that before the
    /// next counted character.
    pub fn byte(&self, count: usize) -> Option<usize> {
        if count > self.end {
            return None;
        }
        let at = self.steps.partition_point(|&(_, start)| start <= count) - 1;
        let (byte, start) = self.steps[at];
        let found = byte + (count - start);
        let next = self.steps.get(at + 1).map_or(self.text.len(), |&(byte, _)| byte);
        let ends = count == self.end && found == self.text.len();
        ((found < next && self.text.is_char_boundary(found)) || ends).then_some(found)
    }

    /// The count of a byte offset, or `None` beyond the text. Inside a character the answer has no meaning.
    pub fn count(&self, byte: usize) -> Option<usize> {
        if byte > self.text.len() {
            return None;
        }
        let at = self.steps.partition_point(|&(start, _)| start <= byte) - 1;
        let (start, count) = self.steps[at];
        Some(count + (byte - start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counted(c: char, unit: Unit) -> usize {
        match unit {
            Unit::Bytes => c.len_utf8(),
            Unit::Characters => 1,
            Unit::Utf16 => c.len_utf16(),
            Unit::NonSpace => usize::from(!c.is_whitespace()),
        }
    }

    proptest! {
        #[test]
        fn as_counted_one_by_one(text in "[a-c äβ𝄞\u{2003}]{0,40}") {
            for unit in [Unit::Bytes, Unit::Characters, Unit::Utf16, Unit::NonSpace] {
                let offsets = Offsets::new(&text, unit);
                let mut count = 0;
                let mut known = vec![];
                for (byte, c) in text.char_indices() {
                    prop_assert_eq!(offsets.count(byte), Some(count));
                    if counted(c, unit) > 0 {
                        known.push((count, byte));
                    }
                    count += counted(c, unit);
                }
                prop_assert_eq!(offsets.end(), count);
                prop_assert_eq!(offsets.count(text.len()), Some(count));
                prop_assert_eq!(offsets.byte(count), Some(text.len()));
                prop_assert_eq!(offsets.byte(count + 1), None);
                prop_assert_eq!(offsets.count(text.len() + 1), None);
                for asked in 0..count {
                    let expected = known.iter().find(|(count, _)| *count == asked).map(|&(_, byte)| byte);
                    prop_assert_eq!(offsets.byte(asked), expected, "{:?} {}", unit, asked);
                }
            }
        }
    }
}

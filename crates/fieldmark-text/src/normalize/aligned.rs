//! [`Aligned`]: a text and the way back to the text that it was made from.

use std::ops::Range;

/// What was changed: these bytes of the source became those of the text. Between edits, both are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub source: Range<usize>,
    pub text: Range<usize>,
}

/// A text that was made from another one, its source, and knows where everything came from.
///
/// Ranges are byte ranges on character borders, in both directions. A range that begins or ends inside of something
/// that was replaced takes all of it: there is no telling which half of `β` the `be` of `beta` came from. What was
/// deleted belongs to no range next to it, but the whole text always comes from the whole source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    text: String,
    source_len: usize,
    edits: Vec<Edit>,
}

impl Aligned {
    /// A text that is its own source.
    pub fn unchanged(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            source_len: text.len(),
            text,
            edits: Vec::new(),
        }
    }

    pub(super) fn new(text: String, source_len: usize, edits: Vec<Edit>) -> Self {
        Self {
            text,
            source_len,
            edits,
        }
    }

    /// The text after all changes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text alone.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Length of the source in bytes.
    pub fn source_len(&self) -> usize {
        self.source_len
    }

    /// Where a range of the text came from. What is beyond the end counts as the end.
    pub fn to_source(&self, range: Range<usize>) -> Range<usize> {
        let from = |edit: &Edit| edit.text.clone();
        let to = |edit: &Edit| edit.source.clone();
        map(&self.edits, (from, self.text.len()), (to, self.source_len), range)
    }

    /// Where a range of the source went to. What is beyond the end counts as the end.
    pub fn to_text(&self, range: Range<usize>) -> Range<usize> {
        let from = |edit: &Edit| edit.source.clone();
        let to = |edit: &Edit| edit.text.clone();
        map(&self.edits, (from, self.source_len), (to, self.text.len()), range)
    }

    /// What was made of this text, as made of its source. `None` if `next` was made of a text of another length.
    pub fn then(&self, next: Self) -> Option<Self> {
        (next.source_len == self.text.len()).then(|| self.joined(next))
    }

    pub(super) fn joined(&self, next: Self) -> Self {
        Self {
            edits: compose(&self.edits, &next.edits),
            source_len: self.source_len,
            text: next.text,
        }
    }
}

/// Maps a range from one side of the edits to the other. Each side has its length.
fn map(
    edits: &[Edit],
    (from, from_len): (impl Fn(&Edit) -> Range<usize>, usize),
    (to, to_len): (impl Fn(&Edit) -> Range<usize>, usize),
    range: Range<usize>,
) -> Range<usize> {
    let start = range.start.min(from_len);
    let end = range.end.clamp(start, from_len);
    // The borders on the other side, before and after what has no characters on this one.
    let border = |at: usize| -> Range<usize> {
        let passed = |count: usize| match count.checked_sub(1).map(|last| &edits[last]) {
            Some(last) => to(last).end + (at - from(last).end),
            None => at,
        };
        let first = edits
            .partition_point(|edit| from(edit).end < at || from(edit).end == at && from(edit).start < at);
        let last = edits.partition_point(|edit| from(edit).end <= at);
        match edits.get(last).filter(|edit| from(edit).start < at) {
            Some(cut) => to(cut),
            None => passed(first)..passed(last),
        }
    };
    let is_cut = |at: usize| {
        let last = edits.partition_point(|edit| from(edit).end <= at);
        edits.get(last).is_some_and(|edit| from(edit).start < at)
    };
    if start == end && from_len > 0 {
        return border(start);
    }
    let first = match start {
        0 => 0,
        _ if is_cut(start) => border(start).start,
        _ => border(start).end,
    };
    let last = match end {
        _ if end == from_len => to_len,
        _ if is_cut(end) => border(end).end,
        _ => border(end).start,
    };
    first..last
}

/// Edits from the source of `first` to the text of `second`, whose source is the text of `first`.
///
/// Edits that overlap in the text between become one.
fn compose(first: &[Edit], second: &[Edit]) -> Vec<Edit> {
    let mut composed = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.iter().peekable(), second.iter().peekable());
    // What to add to an offset in the text between for one in the source and one in the final text.
    let (mut to_source, mut to_text) = (0_isize, 0_isize);
    let key = |range: &Range<usize>| (range.start, range.end);
    loop {
        let mut group = match (first.peek(), second.peek()) {
            (Some(left), Some(right)) if key(&right.source) < key(&left.text) => right.source.clone(),
            (Some(left), _) => left.text.clone(),
            (None, Some(right)) => right.source.clone(),
            (None, None) => return composed,
        };
        let (source, text) = (to_source, to_text);
        let mut begun = false;
        loop {
            let inside = |range: &Range<usize>| range.start < group.end || !begun && *range == group;
            if let Some(edit) = first.next_if(|edit| inside(&edit.text)) {
                group.end = group.end.max(edit.text.end);
                to_source = offset(edit.text.end, edit.source.end);
            } else if let Some(edit) = second.next_if(|edit| inside(&edit.source)) {
                group.end = group.end.max(edit.source.end);
                to_text = offset(edit.source.end, edit.text.end);
            } else {
                break;
            }
            begun = true;
        }
        composed.push(Edit {
            source: shifted(group.start, source)..shifted(group.end, to_source),
            text: shifted(group.start, text)..shifted(group.end, to_text),
        });
    }
}

fn offset(from: usize, to: usize) -> isize {
    to.wrapping_sub(from).cast_signed()
}

fn shifted(at: usize, by: isize) -> usize {
    at.wrapping_add_signed(by)
}

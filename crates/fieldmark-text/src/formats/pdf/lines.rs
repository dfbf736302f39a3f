//! Lines in reading order: glyphs to rows, rows to columns, columns to lines.

use super::glyphs::{Glyph, PageGlyphs};
use std::ops::Range;

/// A line of text on a page.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The page, from 1.
    pub page: u32,
    pub text: String,
    pub left: f32,
    pub right: f32,
    pub baseline: f32,
    pub size: f32,
    pub bold: bool,
    /// Which part of the text stands from where to where.
    pub glyphs: Vec<(Range<usize>, f32, f32)>,
}

/// Glyphs of a row without a wide gap between them.
#[derive(Clone, Debug)]
struct Segment {
    left: f32,
    right: f32,
    glyphs: Vec<Glyph>,
}

/// A gap of this many times the size of the font may be the border of a column.
const WIDE: f32 = 0.9;
/// A gap of this many times the size of the font is a blank.
const BLANK: f32 = 0.17;
/// Columns in columns.
const DEEPEST: usize = 3;

/// The lines of a page, in reading order.
pub(super) fn lines(page: PageGlyphs, number: u32) -> Vec<Line> {
    let rows = rows(page.glyphs);
    let mut lines = Vec::new();
    order(rows, DEEPEST, &mut |row| {
        let line = line(row, number);
        if !line.text.is_empty() {
            lines.push(line);
        }
    });
    lines
}

/// Glyphs that stand beside each other, from top to bottom, cut at wide gaps.
fn rows(mut glyphs: Vec<Glyph>) -> Vec<Vec<Segment>> {
    glyphs.sort_by(|a, b| b.baseline.total_cmp(&a.baseline).then(a.left.total_cmp(&b.left)));
    let mut rows: Vec<Vec<Glyph>> = Vec::new();
    let mut reference = (0.0, 0.0);
    for glyph in glyphs {
        let (baseline, size): (f32, f32) = reference;
        let near = (glyph.baseline - baseline).abs() <= 0.4 * size.max(glyph.size);
        if !rows.is_empty() && near {
            // Indices hang around the letters, not the other way round.
            if glyph.size > size {
                reference = (glyph.baseline, glyph.size);
            }
        } else {
            rows.push(Vec::new());
            reference = (glyph.baseline, glyph.size);
        }
        if let Some(row) = rows.last_mut() {
            row.push(glyph);
        }
    }
    rows.into_iter()
        .map(segments)
        .filter(|row| !row.is_empty())
        .collect()
}

fn segments(mut row: Vec<Glyph>) -> Vec<Segment> {
    row.sort_by(|a, b| a.left.total_cmp(&b.left));
    let mut segments: Vec<Segment> = Vec::new();
    for glyph in row {
        let is_blank = glyph.text.trim().is_empty();
        match segments.last_mut() {
            Some(last) if is_blank => last.glyphs.push(glyph),
            Some(last) if glyph.left - last.right <= WIDE * glyph.size => {
                last.right = last.right.max(glyph.right);
                last.glyphs.push(glyph);
            }
            _ if is_blank => {}
            _ => segments.push(Segment {
                left: glyph.left,
                right: glyph.right,
                glyphs: vec![glyph],
            }),
        }
    }
    segments
}

/// Hands out rows in reading order: in bands between rows that reach over both columns, the left column first.
fn order(rows: Vec<Vec<Segment>>, depth: usize, put: &mut impl FnMut(Vec<Segment>)) {
    let gutter = if depth == 0 { None } else { gutter(&rows) };
    let Some(x) = gutter else {
        rows.into_iter().for_each(put);
        return;
    };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for row in rows {
        if row.iter().any(|segment| segment.left < x && segment.right > x) {
            order(std::mem::take(&mut left), depth - 1, put);
            order(std::mem::take(&mut right), depth - 1, put);
            put(row);
            continue;
        }
        let (before, after): (Vec<Segment>, Vec<Segment>) =
            row.into_iter().partition(|segment| segment.left < x);
        if !before.is_empty() {
            left.push(before);
        }
        if !after.is_empty() {
            right.push(after);
        }
    }
    order(left, depth - 1, put);
    order(right, depth - 1, put);
}

/// Rows that a column has at least, and characters that its segments have on average: a list of numbers beside
/// a text is no column.
const COLUMN_ROWS: usize = 4;
const COLUMN_CHARACTERS: usize = 10;
const STEPS: usize = 200;

/// Where two columns meet: the place in the middle that the fewest segments cross.
fn gutter(rows: &[Vec<Segment>]) -> Option<f32> {
    let segments: Vec<&Segment> = rows.iter().flatten().collect();
    let left = segments
        .iter()
        .map(|segment| segment.left)
        .fold(f32::INFINITY, f32::min);
    let right = segments
        .iter()
        .map(|segment| segment.right)
        .fold(f32::NEG_INFINITY, f32::max);
    let step = (right - left) / STEPS as f32;
    if !step.is_finite() || step <= 0.0 || segments.len() < 2 * COLUMN_ROWS {
        return None;
    }
    let mut rights: Vec<f32> = segments.iter().map(|segment| segment.right).collect();
    let mut lefts: Vec<f32> = segments.iter().map(|segment| segment.left).collect();
    rights.sort_by(f32::total_cmp);
    lefts.sort_by(f32::total_cmp);
    let counts = |x: f32| {
        let before = rights.partition_point(|right| *right <= x);
        let after = lefts.len() - lefts.partition_point(|left| *left < x);
        (before, after, segments.len().saturating_sub(before + after))
    };
    let good = |x: f32| {
        let (before, after, crossing) = counts(x);
        let fewer = before.min(after);
        (fewer >= COLUMN_ROWS && crossing * 5 <= fewer * 4).then_some(crossing)
    };
    let places = (STEPS / 6..STEPS - STEPS / 6).map(|at| left + step * at as f32);
    let found: Vec<(usize, f32)> = places
        .filter_map(|x| good(x).map(|crossing| (crossing, x)))
        .collect();
    let fewest = found.iter().map(|(crossing, _)| *crossing).min()?;
    let best: Vec<f32> = found
        .iter()
        .filter(|(crossing, _)| *crossing == fewest)
        .map(|(_, x)| *x)
        .collect();
    let x = best[best.len() / 2];
    let characters = |side: &dyn Fn(&Segment) -> bool| {
        let on_side = segments.iter().filter(|segment| side(segment));
        let (count, sum) = on_side.fold((0, 0), |(count, sum), segment| {
            (count + 1, sum + segment.glyphs.len())
        });
        sum / count.max(1)
    };
    let enough = characters(&|segment| segment.right <= x) >= COLUMN_CHARACTERS
        && characters(&|segment| segment.left >= x) >= COLUMN_CHARACTERS;
    enough.then_some(x)
}

fn line(row: Vec<Segment>, page: u32) -> Line {
    let glyphs: Vec<Glyph> = row.into_iter().flat_map(|segment| segment.glyphs).collect();
    let visible = || glyphs.iter().filter(|glyph| !glyph.text.trim().is_empty());
    let size = visible().map(|glyph| glyph.size).fold(0.0, f32::max);
    let baseline = visible()
        .find(|glyph| glyph.size == size)
        .map_or(0.0, |glyph| glyph.baseline);
    let bold = 2 * visible().filter(|glyph| glyph.bold).count() > visible().count();
    let mut line = Line {
        page,
        text: String::new(),
        left: visible().map(|glyph| glyph.left).fold(f32::INFINITY, f32::min),
        right: visible()
            .map(|glyph| glyph.right)
            .fold(f32::NEG_INFINITY, f32::max),
        baseline,
        size,
        bold,
        glyphs: Vec::new(),
    };
    let mut blank = false;
    let mut last: Option<&Glyph> = None;
    for glyph in &glyphs {
        if glyph.text.trim().is_empty() {
            blank = true;
            continue;
        }
        if let Some(last) = last {
            // Some fonts are made bold by printing twice.
            if last.text == glyph.text && (last.left - glyph.left).abs() < 0.1 * glyph.size {
                continue;
            }
            blank |= glyph.left - last.right > BLANK * glyph.size.min(last.size);
        }
        if blank && !line.text.is_empty() {
            line.text.push(' ');
        }
        let start = line.text.len();
        line.text.push_str(&glyph.text);
        line.glyphs
            .push((start..line.text.len(), glyph.left, glyph.right));
        blank = false;
        last = Some(glyph);
    }
    line
}

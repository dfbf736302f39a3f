//! From lines to a document: running heads dropped, paragraphs joined, headings found.

use super::Problems;
use super::lines::Line;
use crate::document::{Document, Element, Place};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// A rectangle in which a part of the text stands.
#[derive(Clone, Debug)]
pub(super) struct TextBox {
    pub range: Range<usize>,
    pub page: u32,
    pub left: f32,
    pub bottom: f32,
    pub right: f32,
    pub top: f32,
}

/// A document and where each of its glyphs stands.
pub(super) struct Laid {
    pub document: Document,
    pub boxes: Vec<TextBox>,
}

/// Lines at the edge of a page that count as such.
const EDGE_LINES: usize = 2;
/// How far from its edge, as a part of its height.
const EDGE: f32 = 0.15;

/// Drops lines that stand at the edges of many pages, numbers aside.
pub(super) fn drop_running_heads(pages: &mut [(f32, Vec<Line>)], problems: &mut Problems) {
    let mut seen: HashMap<EdgeKey, usize> = HashMap::new();
    for (height, lines) in pages.iter() {
        let keys: HashSet<EdgeKey> = edge_lines(*height, lines).map(|(_, key)| key).collect();
        for key in keys {
            *seen.entry(key).or_default() += 1;
        }
    }
    // Left and right pages may have heads of their own; a number at the edge is hardly anything but a page number.
    let many = (pages.len() * 3 / 10).max(3);
    let enough = |key: &EdgeKey| if key.2 == "#" { 2 } else { many };
    for (height, lines) in pages {
        let dropped: HashSet<usize> = edge_lines(*height, lines)
            .filter(|(_, key)| seen[key] >= enough(key))
            .map(|(at, _)| at)
            .collect();
        for &at in &dropped {
            *problems
                .running_heads
                .entry(numbers_aside(&lines[at].text))
                .or_default() += 1;
        }
        let mut at = 0;
        lines.retain(|_| {
            at += 1;
            !dropped.contains(&(at - 1))
        });
    }
}

/// What makes lines at the edges of pages alike: top or bottom, size in points, and text. The size tells a title
/// from the running head that repeats it.
type EdgeKey = (bool, i64, String);

fn edge_lines(height: f32, lines: &[Line]) -> impl Iterator<Item = (usize, EdgeKey)> {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by(|&a, &b| lines[b].baseline.total_cmp(&lines[a].baseline));
    let top = order
        .iter()
        .take(EDGE_LINES)
        .filter(|&&at| lines[at].baseline > height * (1.0 - EDGE));
    let bottom = order
        .iter()
        .rev()
        .take(EDGE_LINES)
        .filter(|&&at| lines[at].baseline < height * EDGE);
    let key = |is_top: bool, at: usize| {
        let line: &Line = &lines[at];
        (at, (is_top, line.size.round() as i64, numbers_aside(&line.text)))
    };
    let found: Vec<_> = top
        .map(|&at| key(true, at))
        .chain(bottom.map(|&at| key(false, at)))
        .collect();
    found.into_iter()
}

/// The text with `#` for every number; Roman ones count if they stand alone.
fn numbers_aside(text: &str) -> String {
    if !text.is_empty() && text.chars().all(|c| "ivxlcIVXLC".contains(c)) {
        return "#".to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}

/// Names of sections, which are headings even if they look like text.
const SECTIONS: [&str; 20] = [
    "abstract",
    "acknowledgements",
    "acknowledgments",
    "appendix",
    "background",
    "conclusion",
    "conclusions",
    "discussion",
    "experimental",
    "introduction",
    "keywords",
    "materials",
    "materials and methods",
    "methods",
    "methods and materials",
    "references",
    "results",
    "results and discussion",
    "summary",
    "supplementary material",
];

/// What is usual in a document.
struct Usual {
    size: f32,
    bold: bool,
    pitch: f32,
}

impl Usual {
    fn of(lines: &[&Line]) -> Self {
        let mut sizes: BTreeMap<(i64, bool), usize> = BTreeMap::new();
        for line in lines {
            *sizes
                .entry(((line.size * 2.0).round() as i64, line.bold))
                .or_default() += line.text.len();
        }
        let most = sizes.iter().max_by_key(|(_, count)| **count);
        let (size, bold) = most.map_or((10.0, false), |((size, bold), _)| (*size as f32 / 2.0, *bold));
        let neighbours = lines.windows(2).filter(|pair| pair[0].page == pair[1].page);
        let mut steps: Vec<f32> = neighbours
            .map(|pair| pair[0].baseline - pair[1].baseline)
            .filter(|step| *step > 0.5 * size && *step < 3.0 * size)
            .collect();
        steps.sort_by(f32::total_cmp);
        let pitch = steps.get(steps.len() / 3).copied().unwrap_or(1.2 * size);
        Self { size, bold, pitch }
    }

    fn is_heading(&self, line: &Line) -> bool {
        let short = line.text.chars().count() <= 120;
        let letters = line.text.chars().filter(|c| c.is_alphabetic()).count() >= 3;
        let large = line.size > 1.15 * self.size;
        let bold =
            line.bold && !self.bold && line.size >= 0.9 * self.size && !line.text.ends_with(['.', ',', ';']);
        let name = line
            .text
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
        let named = SECTIONS.contains(&name.trim_end_matches([':', '.']).to_lowercase().as_str());
        letters && short && (large || bold || named)
    }
}

/// A document out of pages: height, width, lines.
pub(super) fn lay_out(pages: &[(f32, f32, Vec<Line>)]) -> Laid {
    let lines: Vec<&Line> = pages.iter().flat_map(|(_, _, lines)| lines).collect();
    let usual = Usual::of(&lines);
    let title_size = pages
        .first()
        .into_iter()
        .flat_map(|(_, _, lines)| lines)
        .filter(|line| usual.is_heading(line) && line.size > 1.15 * usual.size)
        .map(|line| line.size)
        .fold(0.0, f32::max);
    let mut laid = Laying {
        usual,
        title_size,
        titled: false,
        text: String::new(),
        elements: Vec::new(),
        boxes: Vec::new(),
        block: None,
        page_start: 0,
    };
    for (at, (height, width, lines)) in pages.iter().enumerate() {
        laid.page_start = laid.text.len();
        for line in lines {
            laid.add(line);
        }
        let page = at as u32 + 1;
        let start = laid.page_start;
        let start = start + usize::from(laid.text[start..].starts_with(['\n', ' ']));
        laid.elements.push(Element {
            kind: "page".to_owned(),
            range: start.min(laid.text.len())..laid.text.len(),
            place: Some(Place::Box {
                page,
                left: 0.0,
                bottom: 0.0,
                right: *width,
                top: *height,
            }),
        });
    }
    laid.end_block();
    laid.finish()
}

struct Laying<'a> {
    usual: Usual,
    title_size: f32,
    titled: bool,
    text: String,
    elements: Vec<Element>,
    boxes: Vec<TextBox>,
    block: Option<Block<'a>>,
    /// Where the text of the page begins.
    page_start: usize,
}

/// A heading or paragraph that may go on.
struct Block<'a> {
    start: usize,
    heading: bool,
    first: &'a Line,
    last: &'a Line,
    /// The rectangle around its lines on its first page.
    frame: TextBox,
}

impl<'a> Laying<'a> {
    fn add(&mut self, line: &'a Line) {
        let heading = self.usual.is_heading(line);
        let goes_on = self
            .block
            .as_ref()
            .is_some_and(|block| self.goes_on(block, line, heading));
        if goes_on {
            self.join(&line.text);
        } else {
            self.end_block();
            if !self.text.is_empty() {
                self.text.push('\n');
            }
        }
        let start = self.text.len();
        self.text.push_str(&line.text);
        let (bottom, top) = (line.baseline - 0.25 * line.size, line.baseline + 0.8 * line.size);
        let frame = TextBox {
            range: start..self.text.len(),
            page: line.page,
            left: line.left,
            bottom,
            right: line.right,
            top,
        };
        self.elements.push(element("line", &frame));
        let glyphs = line.glyphs.iter().map(|(range, left, right)| TextBox {
            range: start + range.start..start + range.end,
            left: *left,
            right: *right,
            ..frame.clone()
        });
        self.boxes.extend(glyphs);
        match &mut self.block {
            Some(block) => {
                block.last = line;
                if block.frame.page == frame.page {
                    block.frame.left = block.frame.left.min(frame.left);
                    block.frame.bottom = block.frame.bottom.min(frame.bottom);
                    block.frame.right = block.frame.right.max(frame.right);
                    block.frame.top = block.frame.top.max(frame.top);
                }
            }
            None => {
                self.block = Some(Block {
                    start,
                    heading,
                    first: line,
                    last: line,
                    frame,
                });
            }
        }
    }

    /// Whether a line belongs to the block before it.
    fn goes_on(&self, block: &Block<'_>, line: &Line, heading: bool) -> bool {
        let last = block.last;
        let same_look = (last.size - line.size).abs() <= 0.15 * last.size.max(line.size);
        if heading != block.heading || !same_look || (heading && last.bold != line.bold) {
            return false;
        }
        let ended = last.text.ends_with(['.', '!', '?', ':']);
        let small = line.text.starts_with(char::is_lowercase);
        let step = last.baseline - line.baseline;
        let below = last.page == line.page && step > 0.0 && line.left < last.right && last.left < line.right;
        if !below {
            // The next column or page: only a sentence that is not over goes on.
            return !heading && !ended && small;
        }
        if step > 1.35 * self.usual.pitch.max(1.1 * line.size) {
            return false;
        }
        let indented =
            line.left > last.left + 0.8 * line.size && line.left > block.first.left + 0.5 * line.size;
        let broken = last.right < block.frame.right - 4.0 * last.size && !small;
        heading || !(ended && (indented || broken))
    }

    /// Joins a line to what stands before it; a word that was cut at a hyphen is whole again.
    fn join(&mut self, next: &str) {
        let small = next.starts_with(char::is_lowercase);
        let hyphen = self
            .text
            .chars()
            .next_back()
            .filter(|c| matches!(c, '-' | '\u{2010}' | '\u{AD}'));
        if let Some(hyphen) = hyphen {
            let word = &self.text[..self.text.len() - hyphen.len_utf8()];
            if hyphen == '\u{AD}' || (small && word.ends_with(char::is_alphabetic)) {
                let len = word.len();
                self.cut(len);
                return;
            }
        }
        self.text.push(' ');
    }

    /// Takes back the end of the text.
    fn cut(&mut self, len: usize) {
        self.text.truncate(len);
        self.page_start = self.page_start.min(len);
        while self.boxes.last().is_some_and(|last| last.range.start >= len) {
            self.boxes.pop();
        }
        if let Some(last) = self.boxes.last_mut() {
            last.range.end = last.range.end.min(len);
        }
        for element in self
            .elements
            .iter_mut()
            .rev()
            .take_while(|element| element.range.end > len)
        {
            element.range.end = len;
            element.range.start = element.range.start.min(len);
        }
    }

    fn end_block(&mut self) {
        let Some(block) = self.block.take() else {
            return;
        };
        let is_title =
            block.heading && !self.titled && block.first.page == 1 && block.first.size == self.title_size;
        self.titled |= is_title;
        let kind = match (block.heading, is_title) {
            (_, true) => "title",
            (true, false) => "heading",
            (false, false) => "paragraph",
        };
        let frame = TextBox {
            range: block.start..self.text.len(),
            ..block.frame
        };
        self.elements.push(element(kind, &frame));
    }

    fn finish(self) -> Laid {
        let mut elements = self.elements;
        elements.sort_by_key(|element| (element.range.start, std::cmp::Reverse(element.range.end)));
        Laid {
            document: Document {
                text: self.text,
                elements,
                ..Document::default()
            },
            boxes: self.boxes,
        }
    }
}

fn element(kind: &str, frame: &TextBox) -> Element {
    Element {
        kind: kind.to_owned(),
        range: frame.range.clone(),
        place: Some(Place::Box {
            page: frame.page,
            left: frame.left,
            bottom: frame.bottom,
            right: frame.right,
            top: frame.top,
        }),
    }
}

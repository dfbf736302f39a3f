//! The glyphs of a page: its content stream, run as far as text is concerned (ISO 32000-1, section 9).

use super::font::Font;
use super::{LARGEST_STREAM, Problems};
use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, ObjectId};
use std::collections::HashMap;
use std::rc::Rc;

/// A character (or a ligature, or a few) on a page, in points from the lower left corner of the page as it is
/// shown.
#[derive(Clone, Debug)]
pub(super) struct Glyph {
    pub text: String,
    pub left: f32,
    pub right: f32,
    pub baseline: f32,
    pub size: f32,
    pub bold: bool,
}

/// A page and its glyphs, in the order of the content stream.
#[derive(Debug)]
pub(super) struct PageGlyphs {
    pub width: f32,
    pub height: f32,
    pub glyphs: Vec<Glyph>,
}

/// Operations that a page may have, with what its forms repeat: a page that draws forms that draw forms can be
/// short and never end.
const MOST_OPERATIONS: usize = 4_000_000;
/// Forms inside forms.
const DEEPEST_FORM: usize = 12;

/// Fonts that have been read, by object.
pub(super) type Fonts = HashMap<ObjectId, Rc<Font>>;

type Matrix = [f32; 6];

fn times(a: Matrix, b: Matrix) -> Matrix {
    [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    ]
}

const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

#[derive(Clone)]
struct State {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f32,
    char_space: f32,
    word_space: f32,
    scale: f32,
    leading: f32,
    rise: f32,
}

struct Interpreter<'a> {
    document: &'a Document,
    fonts: &'a mut Fonts,
    problems: &'a mut Problems,
    state: State,
    stack: Vec<State>,
    text: Matrix,
    line: Matrix,
    glyphs: Vec<Glyph>,
    operations: usize,
}

pub(super) fn read_page(
    document: &Document,
    page: ObjectId,
    fonts: &mut Fonts,
    problems: &mut Problems,
) -> PageGlyphs {
    let (matrix, width, height) = frame(document, page);
    let mut interpreter = Interpreter {
        document,
        fonts,
        problems,
        state: State {
            matrix,
            font: None,
            size: 1.0,
            char_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        },
        stack: Vec::new(),
        text: IDENTITY,
        line: IDENTITY,
        glyphs: Vec::new(),
        operations: 0,
    };
    let mut resources = Vec::new();
    if let Ok((own, ids)) = document.get_page_resources(page) {
        resources.extend(own);
        resources.extend(ids.into_iter().filter_map(|id| document.get_dictionary(id).ok()));
    }
    match document.get_page_content_with_limit(page, LARGEST_STREAM) {
        Ok(content) => interpreter.run(&content, &resources, 0),
        Err(_) => interpreter.problems.cut_pages += 1,
    }
    PageGlyphs {
        width,
        height,
        glyphs: interpreter.glyphs,
    }
}

/// From the coordinates of a page to those in which it is shown, and its size there.
fn frame(document: &Document, page: ObjectId) -> (Matrix, f32, f32) {
    let mut media = None;
    let mut rotate = None;
    let mut node = document.get_dictionary(page).ok();
    // Both are inherited; a tree of pages is never this deep.
    for _ in 0..64 {
        let Some(dict) = node else { break };
        let is_box = |numbers: &[f32]| numbers.len() == 4 && numbers.iter().all(|number| number.is_finite());
        media = media.or_else(|| numbers(dict, b"MediaBox", document).filter(|numbers| is_box(numbers)));
        rotate = rotate.or_else(|| dict.get_deref(b"Rotate", document).and_then(Object::as_i64).ok());
        node = dict.get_deref(b"Parent", document).and_then(Object::as_dict).ok();
    }
    let media = media.unwrap_or_else(|| vec![0.0, 0.0, 612.0, 792.0]);
    let (left, right) = (media[0].min(media[2]), media[0].max(media[2]));
    let (bottom, top) = (media[1].min(media[3]), media[1].max(media[3]));
    let (width, height) = (right - left, top - bottom);
    match rotate.unwrap_or(0).rem_euclid(360) {
        90 => ([0.0, -1.0, 1.0, 0.0, -bottom, right], height, width),
        180 => ([-1.0, 0.0, 0.0, -1.0, right, top], width, height),
        270 => ([0.0, 1.0, -1.0, 0.0, top, -left], height, width),
        _ => ([1.0, 0.0, 0.0, 1.0, -left, -bottom], width, height),
    }
}

/// From the coordinates in which a page is shown to its own.
pub(super) fn frame_of(document: &Document, page: ObjectId) -> impl Fn(f32, f32) -> (f32, f32) {
    let ([a, b, c, d, e, f], _, _) = frame(document, page);
    // A turn by right angles: its inverse is its transpose.
    move |x, y| ((x - e) * a + (y - f) * b, (x - e) * c + (y - f) * d)
}

fn numbers(dict: &Dictionary, key: &[u8], document: &Document) -> Option<Vec<f32>> {
    let array = dict.get_deref(key, document).and_then(Object::as_array).ok()?;
    let float = |object| document.dereference(object).ok()?.1.as_float().ok();
    array.iter().map(float).collect()
}

impl Interpreter<'_> {
    fn run(&mut self, content: &[u8], resources: &[&Dictionary], depth: usize) {
        let Ok(content) = Content::decode(content) else {
            self.problems.cut_pages += 1;
            return;
        };
        let floor = self.stack.len();
        for operation in &content.operations {
            self.operations += 1;
            if self.operations == MOST_OPERATIONS {
                self.problems.cut_pages += 1;
            }
            if self.operations >= MOST_OPERATIONS {
                return;
            }
            self.step(operation, resources, depth, floor);
        }
    }

    fn step(&mut self, operation: &Operation, resources: &[&Dictionary], depth: usize, floor: usize) {
        let operands = &operation.operands;
        let number = |at: usize| {
            operands
                .get(at)
                .and_then(|operand| operand.as_float().ok())
                .unwrap_or(0.0)
        };
        let matrix = || [number(0), number(1), number(2), number(3), number(4), number(5)];
        match operation.operator.as_str() {
            "q" => self.stack.push(self.state.clone()),
            "Q" if self.stack.len() > floor => {
                if let Some(state) = self.stack.pop() {
                    self.state = state;
                }
            }
            "cm" => self.state.matrix = times(matrix(), self.state.matrix),
            "BT" => (self.text, self.line) = (IDENTITY, IDENTITY),
            "Tf" => {
                self.state.size = number(1);
                if let Some(Ok(name)) = operands.first().map(Object::as_name) {
                    self.state.font = self.font(name, resources);
                }
            }
            "Tc" => self.state.char_space = number(0),
            "Tw" => self.state.word_space = number(0),
            "Tz" => self.state.scale = number(0) / 100.0,
            "TL" => self.state.leading = number(0),
            "Ts" => self.state.rise = number(0),
            "Td" => self.move_line(number(0), number(1)),
            "TD" => {
                self.state.leading = -number(1);
                self.move_line(number(0), number(1));
            }
            "Tm" => (self.text, self.line) = (matrix(), matrix()),
            "T*" => self.move_line(0.0, -self.state.leading),
            "Tj" => self.show(operands.first()),
            "'" => {
                self.move_line(0.0, -self.state.leading);
                self.show(operands.first());
            }
            "\"" => {
                self.state.word_space = number(0);
                self.state.char_space = number(1);
                self.move_line(0.0, -self.state.leading);
                self.show(operands.get(2));
            }
            "TJ" => {
                for part in operands
                    .first()
                    .and_then(|array| array.as_array().ok())
                    .into_iter()
                    .flatten()
                {
                    match part.as_float() {
                        Ok(back) => {
                            let by = -back / 1000.0 * self.state.size * self.state.scale;
                            self.text = times([1.0, 0.0, 0.0, 1.0, by, 0.0], self.text);
                        }
                        Err(_) => self.show(Some(part)),
                    }
                }
            }
            "Do" => {
                if let Some(Ok(name)) = operands.first().map(Object::as_name) {
                    self.form(name, resources, depth);
                }
            }
            _ => {}
        }
    }

    fn move_line(&mut self, x: f32, y: f32) {
        self.line = times([1.0, 0.0, 0.0, 1.0, x, y], self.line);
        self.text = self.line;
    }

    fn font(&mut self, name: &[u8], resources: &[&Dictionary]) -> Option<Rc<Font>> {
        let document = self.document;
        let entry = resources.iter().find_map(|resources| {
            let fonts = resources
                .get_deref(b"Font", document)
                .and_then(Object::as_dict)
                .ok()?;
            fonts.get(name).ok()
        })?;
        let make = || {
            let (_, font) = document.dereference(entry).ok()?;
            Some(Rc::new(Font::new(font.as_dict().ok()?, document)))
        };
        let font = match entry.as_reference() {
            Ok(id) => match self.fonts.get(&id) {
                Some(font) => font.clone(),
                None => {
                    let font = make()?;
                    self.fonts.insert(id, font.clone());
                    font
                }
            },
            Err(_) => make()?,
        };
        if font.mute {
            self.problems
                .mute_fonts
                .insert(String::from_utf8_lossy(name).into_owned());
        }
        Some(font)
    }

    fn show(&mut self, string: Option<&Object>) {
        let (Some(Ok(string)), Some(font)) = (string.map(Object::as_str), self.state.font.clone()) else {
            return;
        };
        let state = &self.state;
        let (text, glyphs, problems) = (&mut self.text, &mut self.glyphs, &mut *self.problems);
        font.decode(string, |meaning, width, is_blank| {
            let width = width / 1000.0 * state.size;
            let spaces = state.char_space + if is_blank { state.word_space } else { 0.0 };
            let placed = times(
                [state.scale, 0.0, 0.0, 1.0, 0.0, state.rise],
                times(*text, state.matrix),
            );
            let along = (placed[0] * width, placed[1] * width);
            let size = (placed[2] * placed[2] + placed[3] * placed[3]).sqrt() * state.size.abs();
            let numbers = placed.iter().chain([&along.0, &along.1, &size]);
            let finite = numbers.into_iter().all(|number| number.is_finite());
            if meaning.is_empty() || !finite {
                problems.lost_glyphs += usize::from(!is_blank);
            } else if along.0 < along.1.abs() {
                problems.turned_glyphs += usize::from(!meaning.trim().is_empty());
            } else {
                glyphs.push(Glyph {
                    text: meaning.to_owned(),
                    left: placed[4],
                    right: placed[4] + along.0,
                    baseline: placed[5],
                    size,
                    bold: font.bold,
                });
            }
            *text = times([1.0, 0.0, 0.0, 1.0, (width + spaces) * state.scale, 0.0], *text);
        });
    }

    fn form(&mut self, name: &[u8], resources: &[&Dictionary], depth: usize) {
        let document = self.document;
        let form = resources.iter().find_map(|resources| {
            let forms = resources
                .get_deref(b"XObject", document)
                .and_then(Object::as_dict)
                .ok()?;
            forms.get_deref(name, document).and_then(Object::as_stream).ok()
        });
        let Some(form) = form else { return };
        let subtype = form.dict.get(b"Subtype").and_then(Object::as_name).ok();
        if subtype == Some(b"Image") {
            self.problems.images += 1;
            return;
        }
        if subtype.is_some_and(|name| name != b"Form") {
            return;
        }
        if depth == DEEPEST_FORM {
            self.problems.cut_pages += 1;
            return;
        }
        let Ok(content) = form.decompressed_content_with_limit(LARGEST_STREAM) else {
            self.problems.cut_pages += 1;
            return;
        };
        let own = form
            .dict
            .get_deref(b"Resources", document)
            .and_then(Object::as_dict)
            .ok();
        let resources: Vec<&Dictionary> = own
            .into_iter()
            .chain(resources.iter().copied())
            .take(32)
            .collect();
        let matrix = numbers(&form.dict, b"Matrix", document).and_then(|all| all.try_into().ok());
        let (before, text, line) = (self.state.clone(), self.text, self.line);
        self.state.matrix = times(matrix.unwrap_or(IDENTITY), self.state.matrix);
        let open = self.stack.len();
        self.run(&content, &resources, depth + 1);
        self.stack.truncate(open);
        (self.state, self.text, self.line) = (before, text, line);
    }
}

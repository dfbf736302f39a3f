//! Fonts: what the codes of a string mean, and how wide they are.

use super::LARGEST_STREAM;
use lopdf::{Dictionary, Document, Encoding, Object};

/// A font, as far as text needs it.
pub(super) struct Font {
    codes: Codes,
    widths: Widths,
    pub(super) bold: bool,
    /// Whether nothing says what its codes mean.
    pub(super) mute: bool,
}

enum Codes {
    /// The meaning of each byte.
    Bytes(Vec<String>),
    /// Two bytes each.
    Wide(Option<Encoding<'static>>),
}

/// Widths in thousandths of the size of the font.
struct Widths {
    /// First and last code, and the widths of the codes from the first on or one for all.
    ranges: Vec<(u32, u32, Vec<f32>)>,
    missing: f32,
}

impl Widths {
    fn of(&self, code: u32) -> f32 {
        let at = self.ranges.partition_point(|(first, _, _)| *first <= code);
        let Some((first, last, widths)) = at.checked_sub(1).map(|at| &self.ranges[at]) else {
            return self.missing;
        };
        match widths.as_slice() {
            _ if code > *last => self.missing,
            [width] => *width,
            widths => widths
                .get((code - first) as usize)
                .copied()
                .unwrap_or(self.missing),
        }
    }
}

impl Font {
    pub(super) fn new(dict: &Dictionary, document: &Document) -> Self {
        let is_wide = dict
            .get(b"Subtype")
            .and_then(Object::as_name)
            .is_ok_and(|name| name == b"Type0");
        let name = dict
            .get(b"BaseFont")
            .and_then(Object::as_name)
            .unwrap_or_default();
        let name = String::from_utf8_lossy(name).to_lowercase();
        let codes = if is_wide {
            Codes::Wide(wide(dict, document))
        } else {
            Codes::Bytes(bytes(dict, document))
        };
        let widths = if is_wide {
            wide_widths(dict, document)
        } else {
            byte_widths(dict, document, &name)
        };
        Self {
            mute: match &codes {
                Codes::Bytes(meanings) => meanings.iter().all(String::is_empty),
                Codes::Wide(encoding) => encoding.is_none(),
            },
            codes,
            widths: widths.sorted(),
            bold: ["bold", "black", "heavy", "semibold", "-bd"]
                .iter()
                .any(|mark| name.contains(mark)),
        }
    }

    /// Calls `put` with the meaning of each code of a string, its width in thousandths, and whether it is the
    /// blank that word spacing is about.
    pub(super) fn decode(&self, string: &[u8], mut put: impl FnMut(&str, f32, bool)) {
        match &self.codes {
            Codes::Bytes(meanings) => {
                for &byte in string {
                    let meaning = meanings.get(usize::from(byte)).map_or("", String::as_str);
                    put(meaning, self.widths.of(byte.into()), byte == b' ');
                }
            }
            Codes::Wide(encoding) => {
                for code in string.chunks(2) {
                    let meaning = encoding
                        .as_ref()
                        .and_then(|encoding| encoding.bytes_to_string(code).ok());
                    let number = code.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
                    put(
                        &plain(&meaning.unwrap_or_default()),
                        self.widths.of(number),
                        false,
                    );
                }
            }
        }
    }
}

impl Widths {
    fn sorted(mut self) -> Self {
        self.ranges.sort_by_key(|(first, _, _)| *first);
        self
    }
}

/// What the stream `ToUnicode` of a font says.
fn to_unicode(dict: &Dictionary, document: &Document) -> Option<Encoding<'static>> {
    let mut dict = dict.clone();
    dict.get(b"ToUnicode").ok()?;
    // lopdf looks at `Encoding` first, which says less.
    dict.remove(b"Encoding");
    dict.set("Type", Object::Name(b"Font".to_vec()));
    match dict.get_font_encoding_with_limit(document, LARGEST_STREAM) {
        Ok(Encoding::UnicodeMapEncoding(map)) => Some(Encoding::UnicodeMapEncoding(map)),
        _ => None,
    }
}

fn wide(dict: &Dictionary, document: &Document) -> Option<Encoding<'static>> {
    to_unicode(dict, document).or_else(|| {
        let name = dict.get(b"Encoding").and_then(Object::as_name).ok()?;
        let known: [&'static [u8]; 2] = [b"UniGB-UCS2-H", b"UniGB-UTF16-H"];
        known
            .into_iter()
            .find(|known| *known == name)
            .map(Encoding::SimpleEncoding)
    })
}

fn bytes(dict: &Dictionary, document: &Document) -> Vec<String> {
    let unicode = to_unicode(dict, document);
    let mut named = dict.clone();
    named.remove(b"ToUnicode");
    named.set("Type", Object::Name(b"Font".to_vec()));
    let named = named
        .get_font_encoding_with_limit(document, LARGEST_STREAM)
        .ok()
        .map(|encoding| {
            let meaning = |byte| encoding.bytes_to_string(&[byte]).unwrap_or_default();
            (0..=255).map(meaning).collect::<Vec<String>>()
        });
    let meaning = |byte: u8| {
        let told = unicode
            .as_ref()
            .and_then(|encoding| encoding.bytes_to_string(&[byte]).ok());
        let told = told.filter(|told| !told.is_empty() && !told.contains('\u{FFFD}'));
        let named = || named.as_ref().map(|named| named[usize::from(byte)].clone());
        plain(&told.or_else(named).unwrap_or_default())
    };
    (0..=255).map(meaning).collect()
}

/// Ligatures in letters, without control characters.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'ﬀ' => out.push_str("ff"),
            'ﬁ' => out.push_str("fi"),
            'ﬂ' => out.push_str("fl"),
            'ﬃ' => out.push_str("ffi"),
            'ﬄ' => out.push_str("ffl"),
            'ﬅ' | 'ﬆ' => out.push_str("st"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

fn byte_widths(dict: &Dictionary, document: &Document, name: &str) -> Widths {
    let first = number(dict, b"FirstChar", document).unwrap_or(0.0) as u32;
    let widths = array(dict, b"Widths", document).unwrap_or_default();
    let scale = match dict.get_deref(b"FontMatrix", document).and_then(Object::as_array) {
        Ok(matrix) => matrix.first().and_then(|x| x.as_float().ok()).unwrap_or(0.001) * 1000.0,
        Err(_) => 1.0,
    };
    let descriptor = dict
        .get_deref(b"FontDescriptor", document)
        .and_then(Object::as_dict);
    let missing = descriptor
        .ok()
        .and_then(|descriptor| number(descriptor, b"MissingWidth", document));
    // The fourteen standard fonts may come without widths: those of Courier are known, others about half as
    // wide as high.
    let usual = if name.contains("courier") { 600.0 } else { 500.0 };
    let missing = missing.filter(|width| *width > 0.0).unwrap_or(usual) * scale;
    let widths: Vec<f32> = widths.into_iter().take(256).map(|width| width * scale).collect();
    let ranges = match widths.len() {
        0 => Vec::new(),
        len => vec![(first, first.saturating_add(len as u32 - 1), widths)],
    };
    Widths { ranges, missing }
}

fn wide_widths(dict: &Dictionary, document: &Document) -> Widths {
    let fonts = dict
        .get_deref(b"DescendantFonts", document)
        .and_then(Object::as_array);
    let font = fonts.ok().and_then(|fonts| fonts.first()).and_then(|font| {
        let (_, font) = document.dereference(font).ok()?;
        font.as_dict().ok()
    });
    let mut widths = Widths {
        ranges: Vec::new(),
        missing: 1000.0,
    };
    let Some(font) = font else {
        return widths;
    };
    widths.missing = number(font, b"DW", document).unwrap_or(1000.0);
    let Ok(entries) = font.get_deref(b"W", document).and_then(Object::as_array) else {
        return widths;
    };
    let float = |object: &Object| document.dereference(object).ok()?.1.as_float().ok();
    let mut at = 0;
    while let Some(first) = entries.get(at).and_then(float) {
        let first = first as u32;
        let Some(next) = entries
            .get(at + 1)
            .and_then(|next| document.dereference(next).ok())
        else {
            break;
        };
        if let Ok(list) = next.1.as_array() {
            let list: Vec<f32> = list.iter().filter_map(float).collect();
            if !list.is_empty() {
                let last = first.saturating_add(list.len() as u32 - 1);
                widths.ranges.push((first, last, list));
            }
            at += 2;
        } else {
            let (Some(last), Some(width)) = (float(next.1), entries.get(at + 2).and_then(float)) else {
                break;
            };
            widths.ranges.push((first, last as u32, vec![width]));
            at += 3;
        }
    }
    widths
}

fn number(dict: &Dictionary, key: &[u8], document: &Document) -> Option<f32> {
    dict.get_deref(key, document).and_then(Object::as_float).ok()
}

fn array(dict: &Dictionary, key: &[u8], document: &Document) -> Option<Vec<f32>> {
    let array = dict.get_deref(key, document).and_then(Object::as_array).ok()?;
    let float = |object| document.dereference(object).ok()?.1.as_float().ok();
    Some(array.iter().map(|object| float(object).unwrap_or(0.0)).collect())
}

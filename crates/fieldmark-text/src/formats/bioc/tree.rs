//! The `document` elements of a BioC file, as small trees.

use crate::error::ReadError;
use crate::formats::lines::{malformed, place, quoted};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::io::Cursor;
use std::sync::Arc;

/// No element of BioC is deeper than ten.
const DEEPEST: usize = 64;

/// An element.
#[derive(Debug, Default)]
pub struct Node {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub text: String,
    pub children: Vec<Node>,
    pub line: u64,
}

impl Node {
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Node> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of a child.
    pub fn child(&self, name: &str) -> Option<&str> {
        let child = self.children.iter().find(|child| child.name == name);
        child.map(|child| child.text.as_str())
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Keys and values of the infons.
    pub fn infons(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all("infon")
            .map(|infon| (infon.attribute("key").unwrap_or_default(), infon.text.as_str()))
    }
}

/// Hands out the documents of a collection.
pub struct Trees {
    pub file: String,
    text: Arc<[u8]>,
    reader: Reader<Cursor<Arc<[u8]>>>,
    open: Vec<Node>,
    /// Elements of the collection that are no documents.
    pub collection: Vec<Node>,
    /// Line ends up to a byte, for the lines of elements.
    counted: (usize, u64),
    ended: bool,
}

impl Trees {
    pub fn new(file: String, text: String) -> Self {
        let text: Arc<[u8]> = text.into_bytes().into();
        let mut reader = Reader::from_reader(Cursor::new(text.clone()));
        reader.config_mut().expand_empty_elements = true;
        Self {
            file,
            text,
            reader,
            open: Vec::new(),
            collection: Vec::new(),
            counted: (0, 1),
            ended: false,
        }
    }

    fn fail(&self, byte: u64, found: impl Into<String>, expected: &'static str) -> ReadError {
        let text = std::str::from_utf8(&self.text).unwrap_or_default();
        let (line, column) = place(text, usize::try_from(byte).unwrap_or(usize::MAX));
        malformed(&self.file, line, column, found, expected)
    }

    /// The line of a byte after those asked for before.
    fn line(&mut self, byte: u64) -> u64 {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX).min(self.text.len());
        let (from, line) = self.counted;
        if byte > from {
            let more = self.text[from..byte]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count();
            self.counted = (byte, line + more as u64);
        }
        self.counted.1
    }

    /// The next document, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<Node>, ReadError> {
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            let before = self.reader.buffer_position();
            let event = match self.reader.read_event_into(&mut buffer) {
                Ok(event) => event.into_owned(),
                Err(error) => {
                    return Err(self.fail(
                        self.reader.error_position(),
                        format!("no XML ({error})"),
                        "a BioC collection",
                    ));
                }
            };
            match event {
                Event::Start(tag) => self.start(&tag, before)?,
                Event::End(_) => {
                    if let Some(document) = self.end() {
                        return Ok(Some(document));
                    }
                }
                Event::Text(text) => self.add(&text.replace("\r\n", "\n").replace('\r', "\n"), before)?,
                Event::CData(text) => self.add(&text, before)?,
                Event::GeneralRef(reference) => {
                    let character = reference.resolve_char_ref().ok().flatten();
                    let name: &str = &reference;
                    let meaning = character
                        .map(String::from)
                        .or_else(|| entity(name).map(str::to_owned));
                    let meaning = meaning.ok_or_else(|| {
                        let found = format!("the reference {}", quoted(&format!("&{name};")));
                        self.fail(
                            before,
                            found,
                            "a character reference, or one of &lt; &gt; &amp; &quot; &apos;",
                        )
                    })?;
                    self.add(&meaning, before)?;
                }
                Event::Eof => return self.finish(before),
                _ => {}
            }
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, at: u64) -> Result<(), ReadError> {
        let name = tag.local_name().as_ref().to_owned();
        if self.open.is_empty() && (self.ended || !matches!(name.as_str(), "collection" | "document")) {
            return Err(self.fail(at, quoted(&format!("<{name}>")), "one `<collection>`"));
        }
        if self.open.len() >= DEEPEST {
            return Err(self.fail(
                at,
                format!("elements nested more than {DEEPEST} deep"),
                "a BioC collection",
            ));
        }
        let mut attributes = Vec::new();
        for attribute in tag.attributes() {
            let value = attribute.map_err(quick_xml::Error::from).and_then(|attribute| {
                let key = attribute.key.as_ref().to_owned();
                Ok((key, quick_xml::escape::unescape(&attribute.value)?.into_owned()))
            });
            attributes
                .push(value.map_err(|error| {
                    self.fail(at, format!("no attribute ({error})"), "attributes of XML")
                })?);
        }
        let line = self.line(at);
        self.open.push(Node {
            name,
            attributes,
            line,
            ..Node::default()
        });
        Ok(())
    }

    /// Closes an element; gives it back if it is a document.
    fn end(&mut self) -> Option<Node> {
        let node = self.open.pop()?;
        let inside = self.open.iter().any(|open| open.name == "document");
        let top = !inside && self.open.len() == 1;
        match self.open.last_mut() {
            _ if node.name == "document" && !inside => {
                self.ended |= self.open.is_empty();
                return Some(node);
            }
            None => self.ended = true,
            Some(_) if top => self.collection.push(node),
            Some(parent) => parent.children.push(node),
        }
        None
    }

    fn add(&mut self, text: &str, at: u64) -> Result<(), ReadError> {
        match self.open.last_mut() {
            Some(node) => node.text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return Err(self.fail(at, quoted(text.trim()), "a `<collection>` and nothing else")),
        }
        Ok(())
    }

    fn finish(&mut self, at: u64) -> Result<Option<Node>, ReadError> {
        if let Some(open) = self.open.last() {
            let found = format!(
                "the end of the file inside {}",
                quoted(&format!("<{}>", open.name))
            );
            return Err(self.fail(at, found, "its end. Is the file complete?"));
        }
        if !self.ended {
            return Err(self.fail(at, "no element", "a `<collection>`"));
        }
        Ok(None)
    }
}

fn entity(name: &str) -> Option<&'static str> {
    Some(match name {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        _ => return None,
    })
}

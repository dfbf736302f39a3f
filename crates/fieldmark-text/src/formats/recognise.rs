//! The format of a source by what it begins with, for names that do not tell it.

use super::DocumentFormat;
use crate::error::ReadError;
use crate::source::Source;
use std::borrow::Cow;

/// How much of a source is looked at. Declarations and comments come before the first element.
const LOOKED_AT: usize = 1 << 16;

/// What the first bytes of a source say about its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// It has this format.
    Known(DocumentFormat),
    /// XML of no kind that is known.
    OtherXml,
    /// Anything else: text, as it mostly is.
    Other,
}

/// A source that can be read twice: what comes through a pipe is kept in memory.
pub(super) fn repeatable(source: &Source) -> Result<Cow<'_, Source>, ReadError> {
    if source.is_complete() {
        return Ok(Cow::Borrowed(source));
    }
    let (mut input, mut bytes) = (source.open()?, Vec::new());
    while input.append(&mut bytes)? > 0 {}
    let name = source.name();
    Ok(Cow::Owned(Source::Memory { name, bytes }))
}

/// Looks at the beginning of a source.
pub(super) fn content(source: &Source) -> Result<Content, ReadError> {
    let (mut input, mut bytes) = (source.open()?, Vec::new());
    while bytes.len() < LOOKED_AT && input.append(&mut bytes)? > 0 {}
    bytes.truncate(LOOKED_AT);
    Ok(content_of(&String::from_utf8_lossy(&bytes)))
}

fn content_of(text: &str) -> Content {
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    match root(text) {
        Some("PubmedArticleSet" | "PubmedArticle" | "PubmedBookArticleSet" | "PubmedBookArticle") => {
            Content::Known(DocumentFormat::Pubmed)
        }
        Some("article" | "pmc-articleset") => Content::Known(DocumentFormat::Jats),
        Some("collection") => Content::Known(DocumentFormat::Bioc),
        Some(name) if name.eq_ignore_ascii_case("html") => Content::Known(DocumentFormat::Html),
        _ if text.starts_with("<?xml") => Content::OtherXml,
        _ if is_pubtator(text) => Content::Known(DocumentFormat::PubTator),
        _ => Content::Other,
    }
}

/// The name of the first element.
fn root(mut text: &str) -> Option<&str> {
    loop {
        text = text.trim_start().strip_prefix('<')?;
        text = if let Some(comment) = text.strip_prefix("!--") {
            comment.split_once("-->")?.1
        } else if text.starts_with('?') {
            text.split_once("?>")?.1
        } else if let Some(declaration) = text.strip_prefix('!') {
            after_declaration(declaration)?
        } else {
            let end = text.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
            return Some(&text[..end]).filter(|name| !name.is_empty());
        };
    }
}

/// What follows `<!DOCTYPE … [ … ]>`.
fn after_declaration(text: &str) -> Option<&str> {
    let end = text.find(['>', '['])?;
    let rest = match text.as_bytes()[end] {
        b'[' => text[end..].split_once(']')?.1,
        _ => &text[end..],
    };
    Some(rest.split_once('>')?.1)
}

/// Whether the first line is `id|t|title`.
fn is_pubtator(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let id = line.split_once("|t|").map_or("", |(id, _)| id);
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_their_first_bytes() {
        let known = Content::Known;
        for (text, expected) in [
            (
                "<?xml version='1.0'?>\n<!DOCTYPE PubmedArticleSet PUBLIC \"a\" \"b\">\n<PubmedArticleSet>",
                known(DocumentFormat::Pubmed),
            ),
            (
                "\u{FEFF}<!-- <collection> --><article xmlns:x='y'>",
                known(DocumentFormat::Jats),
            ),
            (
                "<!DOCTYPE article [ <!ENTITY a \"b>\"> ]>\n<article>",
                known(DocumentFormat::Jats),
            ),
            (
                "<?xml version='1.0'?><collection><source/>",
                known(DocumentFormat::Bioc),
            ),
            ("<!doctype html>\n<HTML lang=en>", known(DocumentFormat::Html)),
            (
                "\n12345|t|A title\n12345|a|Text\n",
                known(DocumentFormat::PubTator),
            ),
            ("<?xml version='1.0'?><other/>", Content::OtherXml),
            ("<5 mg was given", Content::Other),
            ("<article", Content::Other),
            ("a line with |t| in it", Content::Other),
            ("", Content::Other),
        ] {
            assert_eq!(content_of(text), expected, "{text}");
        }
    }
}

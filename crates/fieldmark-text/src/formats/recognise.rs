//! The format of a source by what it begins with, for names that do not tell it.

use super::DocumentFormat;
use super::brat::text_files;
use super::conll::Column;
use super::table;
use crate::error::ReadError;
use crate::source::Source;
use std::path::Path;

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

/// Looks at the beginning of a source.
pub(super) fn content(source: &Source) -> Result<Content, ReadError> {
    Ok(content_of(&beginning(source)?))
}

/// The first bytes of a source as text.
fn beginning(source: &Source) -> Result<String, ReadError> {
    let (mut input, mut bytes) = (source.open()?, Vec::new());
    while bytes.len() < LOOKED_AT && input.append(&mut bytes)? > 0 {}
    bytes.truncate(LOOKED_AT);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether there are texts in or below a directory, as brat has them.
pub(super) fn has_texts(directory: &Path) -> Result<bool, ReadError> {
    Ok(!text_files(directory)?.is_empty())
}

/// Whether a source with tabs is a table with a column of texts: `text`, if it is known which one that is.
pub(super) fn is_table(source: &Source, text: Option<&Column>) -> Result<bool, ReadError> {
    Ok(is_table_of(&beginning(source)?, text))
}

/// In columns, the first line is a token with its labels and no other cell has white space. A table begins with the
/// names of its columns, and has an id, or texts of more than one word.
fn is_table_of(head: &str, text: Option<&Column>) -> bool {
    let head = head.trim_start_matches('\u{FEFF}');
    let mut rows = csv::ReaderBuilder::new()
        .delimiter(b'\t')
        .has_headers(false)
        .flexible(true)
        .from_reader(head.as_bytes());
    let mut rows = rows.records().map_while(Result::ok);
    let Some(header) = rows.next() else { return false };
    let names: Vec<String> = header.iter().map(str::to_owned).collect();
    if let Some(column) = text {
        return column.find(&names).is_some();
    }
    let is_label = |cell: &str| cell == "O" || cell.starts_with("B-") || cell.starts_with("I-");
    let Some(at) = table::text_column(&names).filter(|_| !header.iter().any(is_label)) else {
        return false;
    };
    let is_named = |name: &String| name.eq_ignore_ascii_case("id") || name == table::ANNOTATIONS;
    let has_words = |cell: &str| cell.trim().contains(char::is_whitespace);
    names.iter().any(is_named) || rows.any(|row| row.get(at).is_some_and(has_words))
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
    fn tables_with_tabs_begin_with_the_name_of_a_column_of_texts() {
        for (head, expected) in [
            ("id\ttext\n1\tHello\n", true),
            ("\u{FEFF}Text\tlabel\nHello Germany\tpos\n", true),
            ("label\tsentence\r\npos\tHello Germany\r\n", true),
            ("label\tcontent\npos\t\"Hello\n\nGermany\"\n", true),
            ("EU\tB-ORG\nrejects\tO\n", false),
            ("text\tO\nmining\tO\n\nNew York\tB-LOC\n", false),
            ("Text\tNN\nmining\tNN\n", false),
            ("token\tlabel\nEU\tB-ORG\n", false),
            ("### 7\niron\tB-DRUG\n", false),
            ("", false),
        ] {
            assert_eq!(is_table_of(head, None), expected, "{head:?}");
        }
        let named = Column::Named("words".to_owned());
        assert!(is_table_of("a\twords\n1\tHello\n", Some(&named)));
        assert!(!is_table_of("EU\tB-ORG\n", Some(&named)));
    }

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

//! A document seen as a title and an abstract, for the formats that know nothing else.

use super::{NoticeKind, Notices};
use crate::document::{Document, Element};
use std::ops::Range;

/// What the formats of PubMed have a place for.
#[derive(Debug, PartialEq)]
pub(super) struct TitleAbstract<'a> {
    pub title: Option<&'a str>,
    /// Label and text of each section of the abstract.
    pub sections: Vec<(Option<&'a str>, &'a str)>,
}

impl<'a> TitleAbstract<'a> {
    /// The first title is the title, everything else the abstract. Sections are the elements of that kind in the
    /// abstract, their labels the headings that they begin with; `notices` tells what is cut where the source
    /// had no border.
    pub(super) fn of(document: &'a Document, notices: &mut Notices) -> Self {
        let text = &document.text;
        let title = find(document, "title").next().cloned();
        let rest = match &title {
            Some(title) => {
                if !text[..title.start].trim().is_empty() {
                    notices.add(
                        NoticeKind::OtherText,
                        &document.id,
                        None,
                        "text before the title comes after it now",
                    );
                }
                vec![0..title.start, title.end..text.len()]
            }
            None => vec![0..0, 0..text.len()],
        };
        let sections: Vec<&Range<usize>> = find(document, "section").collect();
        let parts = rest.into_iter().flat_map(|rest| cut(rest, &sections));
        let parts = parts.map(|(range, is_section)| {
            let label = is_section.then(|| label(document, &range)).flatten();
            let body = label.as_ref().map_or(range.start, |label| label.end);
            let body = text[body..range.end].trim();
            let body = if label.is_some() {
                body.trim_start_matches(':').trim_start()
            } else {
                body
            };
            (label.map(|label| &text[label]), body)
        });
        Self {
            title: title.map(|title| &text[title]),
            sections: parts
                .filter(|(label, body)| label.is_some() || !body.is_empty())
                .collect(),
        }
    }
}

fn find<'a>(document: &'a Document, kind: &'a str) -> impl Iterator<Item = &'a Range<usize>> {
    let text = document.text.as_str();
    let of_kind = move |element: &&Element| element.kind == kind && text.get(element.range.clone()).is_some();
    document
        .elements
        .iter()
        .filter(of_kind)
        .map(|element| &element.range)
}

/// Cuts a range at the outermost sections inside it.
fn cut(rest: Range<usize>, sections: &[&Range<usize>]) -> Vec<(Range<usize>, bool)> {
    let mut parts = Vec::new();
    let mut at = rest.start;
    for section in sections {
        if section.start >= at && section.end <= rest.end && !section.is_empty() {
            parts.push((at..section.start, false));
            parts.push(((*section).clone(), true));
            at = section.end;
        }
    }
    parts.push((at..rest.end, false));
    parts
}

/// The heading that a section begins with.
fn label(document: &Document, section: &Range<usize>) -> Option<Range<usize>> {
    let found = find(document, "heading")
        .find(|heading| heading.start == section.start && heading.end <= section.end && !heading.is_empty());
    found.cloned()
}

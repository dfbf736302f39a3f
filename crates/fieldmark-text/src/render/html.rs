//! Annotated text as one HTML page that needs nothing from outside: no script, no font, no image.
//!
//! Each span carries its type and confidence beside it, thicker underlines are surer spans (a dashed one is a span
//! without confidence), spans inside of others have lines of their own, and a note with
//! the details opens under the pointer and on keyboard focus. The page follows the reader's light or dark
//! scheme, meets the contrast of WCAG 2.2 AA and fits a phone. All text is escaped, and a content security
//! policy forbids scripts even so.

mod excerpt;
mod marks;
mod section;
mod table;

pub use excerpt::{Excerpt, Mark};
pub use section::Section;
pub use table::{Cell, Table};

use super::palette::COLOURS;
use super::plot::SERIES_SLOTS;
use super::{Annotation, Palette, RenderError, visible};
use marks::Layers;
use std::fmt::{self, Write};

/// What says that a page is one of ours.
pub(crate) const GENERATOR: &str = "fieldmark";

/// What a page shows, from top to bottom.
///
/// ```
/// use fieldmark_text::render::{Annotation, html::{Document, Page, Section}};
/// let spans = [Annotation::new(5, 9, "DRUG").with_confidence(0.93)];
/// let page = Page {
///     title: "One sentence",
///     lead: "Tagged by a model that knows one drug.",
///     documents: &[Document { heading: "", text: "Give iron now.", annotations: &spans, tokens: false }],
///     sections: &[Section::paragraph("Next", "Write more sentences.")],
/// };
/// assert!(page.to_html()?.contains("iron"));
/// # Ok::<(), fieldmark_text::render::RenderError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page<'a> {
    /// Title of the page.
    pub title: &'a str,
    /// A sentence or two under the title; may be empty.
    pub lead: &'a str,
    /// The annotated texts.
    pub documents: &'a [Document<'a>],
    /// What follows the texts, such as tables of scores.
    pub sections: &'a [Section],
}

/// An annotated text on a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Document<'a> {
    /// Its heading; may be empty.
    pub heading: &'a str,
    /// The text.
    pub text: &'a str,
    /// Its spans, in any order; they may nest and overlap.
    pub annotations: &'a [Annotation<'a>],
    /// Whether the spans are the labels of tokens: then types stand under the words.
    pub tokens: bool,
}

impl Page<'_> {
    /// The page.
    pub fn to_html(&self) -> Result<String, RenderError> {
        let mut cut = Vec::with_capacity(self.documents.len());
        for document in self.documents {
            cut.push((document, Layers::new(document.text, document.annotations)?));
        }
        for section in self.sections {
            section.check()?;
        }
        let marks = || self.documents.iter().flat_map(|document| document.annotations);
        let excerpted = self.sections.iter().flat_map(Section::kinds);
        let palette = Palette::new(marks().map(|mark| mark.kind).chain(excerpted));
        let mut out = Html {
            out: String::new(),
            notes: 0,
        };
        out.head(self, &palette);
        out.legend(&palette, marks);
        out.raw("</header>\n<main>\n");
        for (document, layers) in &cut {
            out.document(document, layers, &palette);
        }
        for section in self.sections {
            out.section(section, &palette);
        }
        out.raw("</main>\n</body>\n</html>\n");
        Ok(out.out)
    }
}

/// Text as it stands in HTML, in an element or in a quoted attribute.
pub(super) struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(visible(c))?,
            }
        }
        Ok(())
    }
}

/// The page as far as it is written.
struct Html {
    out: String,
    /// Number of notes so far: each has an id.
    notes: usize,
}

impl Html {
    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn put(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(text);
    }

    fn head(&mut self, page: &Page<'_>, palette: &Palette<'_>) {
        let title = Escaped(page.title);
        self.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        self.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        self.raw("<meta http-equiv=\"Content-Security-Policy\" ");
        self.raw("content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n");
        // Whoever reads the page again can tell what it adds to the texts.
        self.put(format_args!(
            "<meta name=\"generator\" content=\"{GENERATOR}\">\n"
        ));
        // Without an icon of its own, a page that is served makes the browser ask for one.
        self.raw("<link rel=\"icon\" href=\"data:,\">\n");
        self.put(format_args!("<title>{title}</title>\n<style>\n"));
        self.raw(include_str!("page.css"));
        let report = page.sections.iter().any(Section::is_report);
        if report {
            self.raw(include_str!("report.css"));
        }
        self.colours(palette, report);
        self.put(format_args!(
            "</style>\n</head>\n<body>\n<header>\n<h1 dir=\"auto\">{title}</h1>\n"
        ));
        if !page.lead.is_empty() {
            self.put(format_args!(
                "<p class=\"lead\" dir=\"auto\">{}</p>\n",
                Escaped(page.lead)
            ));
        }
    }

    fn colours(&mut self, palette: &Palette<'_>, report: bool) {
        let mut slots: Vec<usize> = palette.kinds().map(|kind| palette.slot(kind)).collect();
        // Curves have colours, too.
        slots.extend(SERIES_SLOTS.iter().filter(|_| report));
        slots.sort_unstable();
        slots.dedup();
        for &slot in &slots {
            let light = &COLOURS[slot].light;
            self.put(format_args!(
                ".c{slot} {{ --tint: {}; --strong: {}; }}\n",
                light.tint, light.ink
            ));
        }
        self.raw("@media (prefers-color-scheme: dark) {\n");
        for &slot in &slots {
            let dark = &COLOURS[slot].dark;
            self.put(format_args!(
                "  .c{slot} {{ --tint: {}; --strong: {}; }}\n",
                dark.tint, dark.ink
            ));
        }
        self.raw("}\n");
    }

    fn legend<'a, I: Iterator<Item = &'a Annotation<'a>>>(
        &mut self,
        palette: &Palette<'_>,
        marks: impl Fn() -> I,
    ) {
        if marks().next().is_none() {
            return;
        }
        self.raw("<ul class=\"legend\" aria-label=\"Types of spans\">\n");
        for kind in palette
            .kinds()
            .filter(|kind| marks().any(|mark| mark.kind == *kind))
        {
            let count = marks().filter(|mark| mark.kind == kind).count();
            let slot = palette.slot(kind);
            self.put(format_args!(
                "<li><span class=\"kind c{slot}\">{}</span> {count}</li>\n",
                Escaped(kind)
            ));
        }
        self.raw("</ul>\n");
        if marks().any(|mark| mark.confidence.is_some()) {
            self.raw("<p class=\"key\">How sure: <span><i class=\"doubt\"></i>less than even</span> ");
            self.raw(
                "<span><i style=\"--sure:.5\"></i>even</span> <span><i style=\"--sure:1\"></i>certain</span>",
            );
            if marks().any(|mark| mark.confidence.is_none()) {
                self.raw(" <span><i class=\"unsaid\"></i>not said</span>");
            }
            self.raw(". ");
            self.raw("Point at a span, or press Tab, for details.</p>\n");
        }
    }

    fn document(&mut self, document: &Document<'_>, layers: &Layers<'_>, palette: &Palette<'_>) {
        self.raw("<article class=\"card\">\n");
        if !document.heading.is_empty() {
            self.put(format_args!(
                "<h2 dir=\"auto\">{}</h2>\n",
                Escaped(document.heading)
            ));
        }
        let tokens = if document.tokens { " tokens" } else { "" };
        self.put(format_args!("<div class=\"text{tokens}\" dir=\"auto\">"));
        self.layers(layers, document.tokens, palette);
        self.end_layers(layers);
        self.raw("</div>\n</article>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(text: &str, annotations: &[Annotation<'_>]) -> Result<String, RenderError> {
        let documents = [Document {
            heading: "",
            text,
            annotations,
            tokens: false,
        }];
        Page {
            title: "t",
            lead: "",
            documents: &documents,
            sections: &[],
        }
        .to_html()
    }

    fn body(html: &str) -> &str {
        html.split_once("<body>").unwrap().1
    }

    #[test]
    fn everything_is_escaped() {
        let evil = "<script>alert('1')</script>\" onfocus=\"x &amp;";
        let mark = Annotation::new(0, 8, evil).with_confidence(0.25);
        let documents = [Document {
            heading: evil,
            text: evil,
            annotations: &[mark],
            tokens: false,
        }];
        let row = vec![evil.to_owned()];
        let sections = [
            Section::paragraph(evil, evil),
            Section::table(evil, row.clone(), vec![row]),
        ];
        let html = Page {
            title: evil,
            lead: evil,
            documents: &documents,
            sections: &sections,
        }
        .to_html()
        .unwrap();
        assert!(!html.contains("<script") && !html.contains("onfocus=\"") && !html.contains("alert('"));
        assert!(html.contains(">&lt;script&gt;<span"), "the marked text");
        // Title, lead, heading and text; the type in legend, tag and note; sections, with the table's label.
        assert_eq!(html.matches("&amp;amp;").count(), (2 + 1 + 1 + 1) + 3 + (2 + 4));
    }

    #[test]
    fn nothing_comes_from_outside() {
        let html = page("Give iron.", &[Annotation::new(5, 9, "DRUG")]).unwrap();
        for outside in ["http:", "https:", "//", "url(", "@import", "src=", "<script"] {
            assert!(!html.contains(outside), "{outside}");
        }
    }

    #[test]
    fn a_span_shows_type_and_confidence_and_takes_focus() {
        let html = page(
            "Give 💊 iron.",
            &[Annotation::new(5, 9, "DRUG").with_confidence(0.934)],
        )
        .unwrap();
        assert!(html.contains("tabindex=\"0\" aria-describedby=\"n1\" style=\"--sure:0.934\">💊"));
        assert!(html.contains("<span class=\"tag\">DRUG 93%</span>"));
        assert!(html.contains("id=\"n1\"><b>DRUG</b>Confidence 0.9340<br>Characters 5 to 6</span>"));
        assert!(html.contains("mark:hover > .tip, mark:focus > .tip { display: block; }"));
        assert!(!body(&html).contains("class=\"c3 doubt\""));
        let unsure = page(
            "Give iron.",
            &[Annotation::new(5, 9, "DRUG").with_confidence(0.49)],
        )
        .unwrap();
        assert!(body(&unsure).contains("class=\"c3 doubt\""));
    }

    #[test]
    fn labels_of_tokens_stand_under_the_words_and_their_confidence_in_the_notes() {
        let documents = [Document {
            heading: "",
            text: "Give iron.",
            annotations: &[Annotation::new(5, 9, "NOUN").with_confidence(0.93)],
            tokens: true,
        }];
        let page = Page {
            title: "t",
            lead: "",
            documents: &documents,
            sections: &[],
        };
        let html = page.to_html().unwrap();
        assert!(body(&html).contains("<div class=\"text tokens\""), "{html}");
        assert!(body(&html).contains("<span class=\"tag\">NOUN</span>"), "{html}");
        assert!(body(&html).contains("Confidence 0.9300"), "{html}");
    }

    #[test]
    fn unknown_confidence_is_not_invented() {
        let html = page("Give iron.", &[Annotation::new(5, 9, "DRUG")]).unwrap();
        assert!(
            !body(&html).contains('%')
                && !body(&html).contains("Confidence")
                && !body(&html).contains("--sure")
        );
        // It is not drawn as if it were even.
        assert!(body(&html).contains("class=\"c3 unsaid\""), "{html}");
        assert!(html.contains("mark.unsaid { border-bottom:"));
        let marks = [
            Annotation::new(0, 4, "X"),
            Annotation::new(5, 9, "X").with_confidence(0.5),
        ];
        let both = page("Give iron.", &marks).unwrap();
        assert!(body(&both).contains("not said"), "{both}");
    }

    #[test]
    fn notes_have_distinct_ids_over_all_documents() {
        let marks = [Annotation::new(0, 1, "A"), Annotation::new(1, 2, "B")];
        let documents = [Document {
            heading: "x",
            text: "ab",
            annotations: &marks,
            tokens: false,
        }; 2];
        let html = Page {
            title: "t",
            lead: "",
            documents: &documents,
            sections: &[],
        }
        .to_html()
        .unwrap();
        for note in 1..=4 {
            assert_eq!(html.matches(&format!(" id=\"n{note}\"")).count(), 1);
        }
        assert!(html.contains(">A</span> 2</li>"));
    }

    #[test]
    fn bad_spans_and_tables_are_errors() {
        assert!(matches!(
            page("é", &[Annotation::new(0, 1, "X")]),
            Err(RenderError::InsideCharacter { .. })
        ));
        assert!(matches!(
            page("a", &[Annotation::new(0, 2, "X")]),
            Err(RenderError::OutOfRange { .. })
        ));
        let ragged = [Section::table(
            "Scores",
            vec!["a".into()],
            vec![vec!["1".into()], vec![]],
        )];
        let error = Page {
            title: "",
            lead: "",
            documents: &[],
            sections: &ragged,
        }
        .to_html()
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "row 2 of the table `Scores` has 0 cells, expected 1 as in its header"
        );
    }

    #[test]
    fn an_empty_page_is_a_page() {
        let html = Page {
            title: "",
            lead: "",
            documents: &[],
            sections: &[],
        }
        .to_html()
        .unwrap();
        assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
        assert!(!html.contains("class=\"legend\""));
    }

    proptest! {
        #[test]
        fn text_survives_escaping(text in "[<>&\"'a-z💊 ;#]{0,20}") {
            let escaped = Escaped(&text).to_string();
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            let back = escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
            prop_assert_eq!(back.replace("&amp;", "&"), text);
        }
    }
}

use super::*;
use crate::document::Element;
use crate::formats::tests::{read_all, read_ok, written};
use proptest::prelude::*;

fn reader(text: &str) -> JatsReader {
    JatsReader::new(&Source::text("a.xml", text), Encoding::DETECT).unwrap()
}

const ARTICLE: &str = r#"<!DOCTYPE article PUBLIC "-//NLM//DTD JATS" "x.dtd">
<article xmlns:mml="http://www.w3.org/1998/Math/MathML">
<front><journal-meta><journal-title-group><journal-title>J. Test</journal-title></journal-title-group></journal-meta>
<article-meta><article-id pub-id-type="pmid">5</article-id><article-id pub-id-type="pmc">PMC5</article-id>
<title-group><article-title>On <italic>E.&#160;coli</italic></article-title></title-group>
<contrib-group><contrib><name><surname>Wu</surname><given-names>Ann</given-names></name></contrib></contrib-group>
<pub-date><year>2004</year></pub-date><pub-date><year>2005</year></pub-date>
<permissions><license><p>CC BY</p></license></permissions>
<abstract><sec><title>Aim</title><p>To see.</p></sec></abstract></article-meta></front>
<body>
  <sec><label>1</label><title>Methods</title>
    <p>We used x<sup>2</sup> [<xref>1</xref>]
       and <inline-formula><tex-math>\x</tex-math><mml:math><mml:mi>y</mml:mi></mml:math></inline-formula>.</p>
    <fig><label>Figure 1</label><caption><p>A picture.</p></caption></fig>
    <table-wrap><label>Table 1</label><caption><title>Numbers</title></caption>
      <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></table-wrap>
    <list><list-item><p>one</p></list-item><list-item><p>two</p></list-item></list>
  </sec>
</body>
<back><ref-list><ref><mixed-citation><article-title>Not this</article-title></mixed-citation></ref></ref-list></back>
</article>"#;

fn parts(document: &Document) -> Vec<(&str, &str)> {
    let parts = document.elements.iter();
    parts
        .map(|element| (element.kind.as_str(), &document.text[element.range.clone()]))
        .collect()
}

#[test]
fn articles_become_text_with_parts() {
    let (documents, notices) = read_all(&mut reader(ARTICLE));
    let documents = documents.unwrap();
    let document = &documents[0];
    assert_eq!(
        document.text,
        "On E.\u{a0}coli\nAim\nTo see.\n1 Methods\nWe used x2 [1] and y.\nFigure 1 A picture.\nTable 1 Numbers\na\tb\n1\t2\none\ntwo"
    );
    assert_eq!(document.id, "PMC5");
    assert_eq!(document.meta["year"], "2004");
    assert_eq!(document.meta["authors"], "Wu, Ann");
    let parts = parts(document);
    for expected in [
        ("title", "On E.\u{a0}coli"),
        ("abstract", "Aim\nTo see."),
        ("section", "Aim\nTo see."),
        ("heading", "Aim"),
        ("heading", "Methods"),
        ("caption", "A picture."),
        ("caption", "Numbers"),
        ("table", "a\tb\n1\t2"),
        ("list", "one\ntwo"),
        ("paragraph", "two"),
    ] {
        assert!(parts.contains(&expected), "{expected:?} in {parts:?}");
    }
    let skipped: Vec<String> = notices
        .all()
        .iter()
        .map(|notice| notice.message.clone())
        .collect();
    assert_eq!(
        skipped,
        [
            "1 `ref-list` left out of the text",
            "1 `tex-math` left out of the text"
        ]
    );
}

#[test]
fn many_articles_come_one_by_one() {
    let many = format!(
        "<set>{0}{0}</set>",
        ARTICLE.split_once('\n').map(|(_, article)| article).unwrap()
    );
    let cut = &many[..many.len() - 20];
    let mut reader = reader(cut);
    let mut notices = Notices::new();
    assert!(reader.next(&mut notices).unwrap().is_some());
    let error = reader.next(&mut notices).unwrap_err().to_string();
    assert!(error.contains("well-formed"), "{error}");
    assert!(matches!(reader.next(&mut notices), Ok(None)));
}

#[test]
fn depth_and_length_are_no_danger() {
    for name in ["sec", "p", "article", "list", "label", "td", "preformat"] {
        let deep = format!(
            "<article><body>{}x{}</body></article>",
            format!("<{name}>").repeat(100_000),
            format!("</{name}>").repeat(100_000)
        );
        assert_eq!(read_ok(&mut reader(&deep))[0].text, "x", "{name}");
    }
    let long = format!(
        "<article><body><p>{}</p></body></article>",
        "word ".repeat(2_000_000)
    );
    assert_eq!(read_ok(&mut reader(&long))[0].text.len(), 9_999_999);
}

#[test]
fn another_format_is_called_so() {
    let error = read_all(&mut reader("<html/>")).0.unwrap_err().to_string();
    assert!(error.contains("no element `article`"), "{error}");
}

/// A document from a list of blocks: (kind, text), where `section` opens one that goes to the end.
fn document_of(title: &str, blocks: &[(usize, String)]) -> Document {
    let mut document = Document::new("PMC9", title);
    document.meta.insert("pmc".to_owned(), "PMC9".to_owned());
    let add = |document: &mut Document, kind: &str, start: usize| {
        document.elements.push(Element {
            kind: kind.to_owned(),
            range: start..document.text.len(),
            place: None,
        });
    };
    add(&mut document, "title", 0);
    let mut section = None;
    for (choice, text) in blocks {
        let before = document.text.len();
        document.text.push('\n');
        let start = document.text.len();
        let kinds: &[&str] = match choice {
            0 => {
                if let Some(section) = section.replace(start) {
                    document.elements.push(Element {
                        kind: "section".to_owned(),
                        range: section..before,
                        place: None,
                    });
                }
                &["heading"]
            }
            1 => &["caption", "paragraph"],
            2 => &["list", "paragraph"],
            3 => &["table"],
            _ => &["paragraph"],
        };
        document.text.push_str(text);
        for kind in kinds {
            add(&mut document, kind, start);
        }
    }
    if let Some(section) = section {
        add(&mut document, "section", section);
    }
    document
}

fn sorted(document: &Document) -> Vec<(usize, usize, String)> {
    let elements = document.elements.iter();
    let mut all: Vec<_> = elements
        .map(|element| (element.range.start, element.range.end, element.kind.clone()))
        .collect();
    all.sort();
    all
}

proptest! {
    #[test]
    fn round_trips(
        title in "[a-c<&α]([a-c ]{0,5}[a-c])?",
        blocks in prop::collection::vec((0usize..5, "[a-c<&\"α]([a-c]( [a-c]){0,5})?"), 0..8),
    ) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let document = document_of(&title, &blocks);
        let (bytes, notices) = written(&[document.clone(), document.clone()], JatsWriter::new);
        prop_assert!(notices.is_empty(), "{:?}", notices.all());
        let back = read_ok(&mut reader(std::str::from_utf8(&bytes).unwrap()));
        prop_assert_eq!(back.len(), 2);
        prop_assert_eq!(&back[0].text, &document.text);
        prop_assert_eq!(&back[0].id, &document.id);
        prop_assert_eq!(sorted(&back[0]), sorted(&document));
    }

    #[test]
    fn any_document_is_written_well_formed(
        text in "[a-c \n\t<&]{0,30}",
        elements in prop::collection::vec((0usize..9, 0usize..30, 0usize..30), 0..8),
    ) {
        let kinds = ["title", "abstract", "section", "heading", "paragraph", "list", "table", "caption", "footnote"];
        let mut document = Document::new("x", text);
        for (kind, a, b) in elements {
            let (a, b) = (a.min(document.text.len()), b.min(document.text.len()));
            document.elements.push(Element { kind: kinds[kind].to_owned(), range: a.min(b)..a.max(b), place: None });
        }
        let (bytes, _) = written(&[document.clone()], JatsWriter::new);
        let back = read_ok(&mut reader(std::str::from_utf8(&bytes).unwrap()));
        let letters = |text: &str| {
            let mut letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
            letters.sort();
            letters
        };
        prop_assert_eq!(letters(&back[0].text), letters(&document.text));
    }

    #[test]
    fn any_nesting_is_read_or_refused(parts in prop::collection::vec(0usize..16, 0..40)) {
        let pieces = ["<article>", "</article>", "<body>", "</body>", "<sec>", "</sec>", "<label>", "</label>",
            "<title>", "</title>", "<td>", "</td>", "<preformat>", "</preformat>", " x\n ", "&amp;"];
        let text: String = parts.iter().map(|&at| pieces[at]).collect();
        let _ = read_all(&mut reader(&format!("<r>{text}</r>")));
    }
}

use super::*;
use crate::document::Element;
use crate::formats::NoticeKind;
use crate::formats::tests::{read_all, read_ok, written};
use proptest::prelude::*;

fn source(html: &str) -> Source {
    Source::text("a.html", html)
}

fn read(html: &str) -> Document {
    read_ok(&mut HtmlReader::new(&source(html), Encoding::DETECT).unwrap()).remove(0)
}

fn parts<'a>(document: &'a Document, kind: &str) -> Vec<&'a str> {
    let of_kind = document.elements.iter().filter(|element| element.kind == kind);
    of_kind
        .map(|element| &document.text[element.range.clone()])
        .collect()
}

#[test]
fn tag_soup_becomes_text() {
    let html = "<!DOCTYPE html><html><head><title>A &amp; B</title><style>p { a: b }</style></head>
        <body><h1>Head<h2>Two</h2><p>One <b>bold <i>both</b> italic</i>
        <p>Two<br>lines<ul><li>x<li>y<p>z</ul>after</div></p>
        <table><caption>Cap</caption><tr><td>1<td>2<tr><td>3</table><pre>a\r\n  b</pre>
        <!-- c --><script>if (1 < 2) '<p>'</script><noscript>n</noscript>&copyright &#x3b1;&#945 &bogus; 3 < 4 &";
    let document = read(html);
    assert_eq!(
        document.text,
        "A & B\nHead\nTwo\nOne bold both italic\nTwo\nlines\nx\ny\nz\nafter\nCap\n1\t2\n3\na\n  b\n©right αα &bogus; 3 < 4 &"
    );
    assert_eq!(parts(&document, "title"), ["A & B"]);
    assert_eq!(parts(&document, "heading"), ["Head", "Two"]);
    assert_eq!(
        parts(&document, "paragraph"),
        ["One bold both italic", "Two\nlines", "z", "a\n  b"]
    );
    assert_eq!(parts(&document, "list"), ["x\ny\nz"]);
    assert_eq!(parts(&document, "table"), ["Cap\n1\t2\n3"]);
    assert_eq!(parts(&document, "caption"), ["Cap"]);
}

#[test]
fn every_stretch_stands_where_it_says() {
    let html = "<p>a  b&alpha;c</p> d";
    let document = read(html);
    for element in document.elements.iter().filter(|element| element.kind == "text") {
        let Element {
            range,
            place: Some(Place::Bytes(place)),
            ..
        } = element
        else {
            panic!("no place")
        };
        let (text, there) = (&document.text[range.clone()], &html[place.clone()]);
        assert!(
            text == there || (text, there) == (" ", "  ") || (text, there) == ("α", "&alpha;"),
            "{text} {there}"
        );
    }
    assert_eq!(parts(&document, "text"), ["a", " ", "b", "α", "c", "d"]);
}

#[test]
fn the_encoding_is_that_of_the_page() {
    let mut bytes =
        b"<meta http-equiv=Content-Type content='text/html; charset=iso-8859-15'><p>\xA4 5 &amp; \xE4"
            .to_vec();
    let source = Source::Memory {
        name: "l.html".to_owned(),
        bytes: bytes.clone(),
    };
    let mut document = read_ok(&mut HtmlReader::new(&source, Encoding::DETECT).unwrap()).remove(0);
    assert_eq!(document.text, "€ 5 & ä");
    document.annotations.push(Annotation::new(0..5, "PREIS €"));
    let (marked, _) = written(&[document], |out| {
        HtmlWriter::over(out, &source, Encoding::DETECT).unwrap()
    });
    let at = bytes.iter().position(|byte| *byte == 0xA4).unwrap();
    let tag = b"<mark data-span=\"0.0\" data-kind=\"PREIS &#8364;\" title=\"PREIS &#8364;\">";
    bytes.splice(at + 3..at + 3, *b"</mark>");
    bytes.splice(at..at, *tag);
    assert_eq!(marked, bytes);
}

#[test]
fn titles_cannot_be_marked() {
    let html = "<title>iron</title><p>iron";
    let mut document = read(html);
    document.annotations = vec![Annotation::new(0..4, "METAL"), Annotation::new(5..9, "METAL")];
    let (marked, notices) = written(&[document.clone()], |out| {
        HtmlWriter::over(out, &source(html), Encoding::DETECT).unwrap()
    });
    let marked = String::from_utf8(marked).unwrap();
    assert!(marked.starts_with("<title>iron</title><p><mark "));
    assert_eq!(notices.counts()[&NoticeKind::Skipped], 1);
    document.text.push('!');
    let mut writer = HtmlWriter::over(Vec::new(), &source(html), Encoding::DETECT).unwrap();
    use crate::formats::DocumentWriter;
    assert!(writer.write(&document, &mut Notices::new()).is_err());
}

#[test]
fn a_page_of_its_own() {
    let mut document = Document::new("note", "iron and zinc");
    document.annotations = vec![
        Annotation::new(0..8, "A").with_score(0.5),
        Annotation::new(5..13, "B"),
        Annotation::new(0..4, "C"),
        Annotation::new(3..99, "D"),
    ];
    let (page, notices) = written(&[document], |out| HtmlWriter::new(out, "Title"));
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("<title>Title</title>") && page.contains(" zinc"));
    // Spans that nest and overlap are all shown.
    for tag in [">A 50%</span>", ">B</span>", ">C</span>"] {
        assert!(page.contains(&format!("<span class=\"tag\"{tag}")), "{page}");
    }
    let kinds: Vec<NoticeKind> = notices.all().iter().map(|notice| notice.kind).collect();
    assert_eq!(kinds, [NoticeKind::OutsideText]);
    // It is read again with what it shows, and written as another page.
    let again = read(&page);
    assert_eq!(
        (again.id.as_str(), again.text.as_str()),
        ("note", "iron and zinc")
    );
    let shown = |document: &Document| {
        let spans = document.annotations.iter();
        let mut spans: Vec<_> = spans
            .map(|span| (span.kind.clone(), span.range(), span.score))
            .collect();
        spans.sort_by(|one, other| one.0.cmp(&other.0));
        spans
    };
    let expected = [("A", 0..8, Some(0.5)), ("B", 5..13, None), ("C", 0..4, None)];
    assert_eq!(
        shown(&again),
        expected.map(|(kind, range, score)| (kind.to_owned(), range, score))
    );
    let (second, _) = written(std::slice::from_ref(&again), |out| {
        HtmlWriter::over(out, &source(&page), Encoding::DETECT).unwrap()
    });
    assert_eq!(shown(&read(&String::from_utf8(second).unwrap())), shown(&again));
    assert!(read("<header>Head</header><h2>Two</h2>").text.contains("Head"));
}

#[test]
fn all_documents_of_a_page_are_read_again() {
    let mut documents = vec![
        Document::new("a & <b>", " Two\nlines\t\n  and <blanks> "),
        Document::new("", "Größe"),
    ];
    documents[0].annotations = vec![Annotation::new(1..4, "X & Y").with_score(0.1234)];
    documents[1].annotations = vec![Annotation::new(0..7, "Z")];
    let (page, _) = written(&documents, |out| HtmlWriter::new(out, "Title"));
    let source = source(&String::from_utf8(page).unwrap());
    let again = read_ok(&mut HtmlReader::new(&source, Encoding::DETECT).unwrap());
    documents[1].id = again[1].id.clone();
    assert!(again[1].id.ends_with(":2"), "{}", again[1].id);
    assert_eq!(again, documents);
}

#[test]
fn marks_of_an_earlier_run_are_replaced() {
    let html = "<h1>On <a href='x'>iron</a></h1><p>Give <mark>iron</mark> &amp; zinc";
    let mut document = read(html);
    document.annotations = vec![Annotation::new(3..7, "A"), Annotation::new(5..12, "B")];
    let lay = |html: &str, document: &Document| {
        let (marked, _) = written(std::slice::from_ref(document), |out| {
            HtmlWriter::over(out, &source(html), Encoding::DETECT).unwrap()
        });
        String::from_utf8(marked).unwrap()
    };
    let marked = lay(html, &document);
    assert_eq!(read(&marked).annotations, document.annotations);
    assert_eq!(lay(&marked, &document), marked);
    let mut other = document.clone();
    other.annotations = vec![Annotation::new(13..17, "C")];
    let again = lay(&marked, &other);
    assert_eq!(again, lay(html, &other));
    other.annotations.clear();
    assert_eq!(lay(&again, &other), html);
}

#[test]
fn blanks_at_the_beginning_of_an_input_are_not_marked() {
    let html = "word<pre> \n<textarea> &amp;";
    let mut document = read(html);
    assert_eq!(document.text, "word\n \n &");
    document.annotations = vec![Annotation::new(0..9, "A")];
    let (marked, notices) = written(std::slice::from_ref(&document), |out| {
        HtmlWriter::over(out, &source(html), Encoding::DETECT).unwrap()
    });
    assert_eq!(notices.all().len(), 1);
    let marked = String::from_utf8(marked).unwrap();
    assert_eq!(read(&marked).text, document.text, "{marked}");
}

#[test]
fn a_page_cut_off_at_an_end_tag_keeps_its_text() {
    for (html, marked_spans) in [
        ("<p>Give <b>iron</b> now</", 1),
        ("7A &amp; B</", 0),
        ("Give y</> B</", 0),
    ] {
        let mut document = read(html);
        assert!(document.text.ends_with("</"), "{:?}", document.text);
        let end = document.text.len();
        document.annotations = vec![Annotation::new(5..end, "A")];
        let (marked, notices) = written(std::slice::from_ref(&document), |out| {
            HtmlWriter::over(out, &source(html), Encoding::DETECT).unwrap()
        });
        let back = read(&String::from_utf8(marked).unwrap());
        assert_eq!(back.text, document.text);
        assert_eq!((back.annotations.len(), notices.all().len()), (marked_spans, 1));
    }
}

#[test]
fn depth_and_length_are_no_danger() {
    for name in [
        "div",
        "p",
        "b",
        "table",
        "pre",
        "mark data-span='1.1' data-kind='x'",
        "ul",
        "svg",
        "li",
    ] {
        let end = name.split(' ').next().unwrap();
        let deep = format!("<{name}>").repeat(100_000) + "x" + &format!("</{end}>").repeat(100_000);
        let text = read(&deep).text;
        assert!(text == "x" || end == "svg", "{name}");
        read(&format!("<{name}></q></div>").repeat(10_000));
    }
    assert_eq!(read(&"word ".repeat(1_000_000)).text.len(), 4_999_999);
    read(&"&".repeat(200_000));
    read(&"<".repeat(200_000));
    read(&"a&amp;".repeat(200_000));
}

#[test]
fn truncated_pages_are_read_as_far_as_they_go() {
    let html = "<p>Text &amp; <b title=\"x\">more</b> <script>x</script> &eacute;";
    for end in 0..html.len() {
        let (documents, _) = read_all(&mut HtmlReader::new(&source(&html[..end]), Encoding::DETECT).unwrap());
        assert_eq!(documents.unwrap().len(), 1);
    }
}

const PIECES: [&str; 31] = [
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<b>",
    "</b>",
    "<ul>",
    "<li>",
    "</ul>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<pre>",
    "</pre>",
    "<br>",
    "<title>",
    "</title>",
    "<script>",
    "</script>",
    " ",
    "\n",
    "word",
    "é",
    "&amp;",
    "&alpha",
    "<",
    "&#x;",
    "\r\n",
    "<textarea>",
    "</",
];

proptest! {
    #[test]
    fn marks_over_the_file_are_read_back(
        parts in prop::collection::vec(0usize..PIECES.len(), 0..30),
        spans in prop::collection::vec((0usize..40, 0usize..40, 0usize..3), 0..5),
    ) {
        let html: String = parts.iter().map(|&at| PIECES[at]).collect();
        let mut document = read(&html);
        let borders: Vec<usize> = document.text.char_indices().map(|(at, _)| at).chain([document.text.len()]).collect();
        for (at, &(a, b, kind)) in spans.iter().enumerate() {
            let (a, b) = (borders[a % borders.len()], borders[b % borders.len()]);
            let range = a.min(b)..a.max(b);
            if document.text[range.clone()].trim() == &document.text[range.clone()] && !range.is_empty() {
                let mut annotation = Annotation::new(range, ["GENE", "a<\"b", "ä"][kind]);
                annotation.id = format!("T{at}");
                annotation.score = Some(0.5);
                document.annotations.push(annotation);
            }
        }
        let (marked, notices) = written(std::slice::from_ref(&document), |out| {
            HtmlWriter::over(out, &source(&html), Encoding::DETECT).unwrap()
        });
        let marked = String::from_utf8(marked).unwrap();
        let back = read(&marked);
        prop_assert_eq!(&back.text, &document.text, "{:?}", marked);
        if notices.is_empty() {
            prop_assert_eq!(&back.annotations, &document.annotations, "{:?}", marked);
        }
        // Without its marks it is the file again.
        let mut plain = String::new();
        let mut rest = marked.as_str();
        while let Some((before, after)) = rest.split_once("<mark data-span") {
            plain.push_str(&before.replace("</mark>", ""));
            rest = after.split_once('>').unwrap().1;
        }
        plain.push_str(&rest.replace("</mark>", ""));
        prop_assert_eq!(plain, html);
    }

    #[test]
    fn any_text_is_read(html in any::<String>()) {
        prop_assume!(!html.contains('\0'));
        read(&html);
    }
}

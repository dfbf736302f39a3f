use super::*;
use crate::document::{Annotation, Place};
use crate::formats::DocumentWriter;
use crate::formats::tests::{read_all, written};
use lopdf::{Dictionary, Object, Stream, dictionary};
use proptest::prelude::*;

/// A file with these content streams as pages, in Helvetica (`F`) and its bold sister (`B`).
fn pdf(pages: &[String]) -> Vec<u8> {
    made(pages, |_| {})
}

fn made(pages: &[String], change: impl FnOnce(&mut lopdf::Document)) -> Vec<u8> {
    let mut pdf = lopdf::Document::with_version("1.5");
    let tree = pdf.new_object_id();
    let font = |name: &str| {
        Object::Dictionary(dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => name, "Encoding" => "WinAnsiEncoding",
        })
    };
    let fonts = dictionary! { "F" => pdf.add_object(font("Helvetica")), "B" => pdf.add_object(font("Helvetica-Bold")) };
    let resources = pdf.add_object(dictionary! { "Font" => fonts });
    let mut kids = Vec::new();
    for page in pages {
        let content = pdf.add_object(Stream::new(Dictionary::new(), page.clone().into_bytes()));
        kids.push(Object::Reference(pdf.add_object(dictionary! {
            "Type" => "Page", "Parent" => tree, "Contents" => content,
        })));
    }
    let pages = dictionary! {
        "Type" => "Pages", "Count" => kids.len() as i64, "Kids" => kids, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 600.into(), 800.into()],
    };
    pdf.objects.insert(tree, Object::Dictionary(pages));
    let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    pdf.trailer.set("Root", catalog);
    change(&mut pdf);
    let mut bytes = Vec::new();
    pdf.save_to(&mut bytes).unwrap();
    bytes
}

/// A line at a place; every character of a font without widths is half as wide as high.
fn at(x: f32, y: f32, size: f32, text: &str) -> String {
    font_at("F", x, y, size, text)
}

fn font_at(font: &str, x: f32, y: f32, size: f32, text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
    format!("BT /{font} {size} Tf {x} {y} Td ({text}) Tj ET\n")
}

fn source(bytes: Vec<u8>) -> Source {
    Source::Memory {
        name: "dir/a.pdf".to_owned(),
        bytes,
    }
}

fn read_bytes_of(bytes: Vec<u8>) -> (Document, Notices) {
    let (documents, notices) = read_all(&mut PdfReader::new(&source(bytes)).unwrap());
    (documents.unwrap().remove(0), notices)
}

fn parts<'a>(document: &'a Document, kind: &str) -> Vec<&'a str> {
    let of_kind = document.elements.iter().filter(|element| element.kind == kind);
    of_kind
        .map(|element| &document.text[element.range.clone()])
        .collect()
}

#[test]
fn lines_are_joined_and_headings_found() {
    let page = at(50.0, 700.0, 20.0, "A great title")
        + &font_at("B", 50.0, 660.0, 10.0, "Methods")
        + &at(50.0, 640.0, 10.0, "This is the first line of a para-")
        + &at(50.0, 628.0, 10.0, "graph (with an index x")
        + &at(50.0 + 22.0 * 5.0, 631.0, 6.0, "2")
        + &at(50.0, 616.0, 10.0, "and a last line that ends here.")
        + &at(50.0, 590.0, 10.0, "Another paragraph of text, a bit longer.");
    let (document, notices) = read_bytes_of(pdf(&[page]));
    assert_eq!(
        document.text,
        "A great title\nMethods\nThis is the first line of a paragraph (with an index x2 and a last line that ends here.\nAnother paragraph of text, a bit longer."
    );
    assert_eq!(parts(&document, "title"), ["A great title"]);
    assert_eq!(parts(&document, "heading"), ["Methods"]);
    assert_eq!(parts(&document, "paragraph").len(), 2);
    assert_eq!(parts(&document, "page"), [document.text.as_str()]);
    assert!(notices.is_empty(), "{:?}", notices.all());
    let line = document
        .elements
        .iter()
        .find(|element| element.kind == "line")
        .unwrap();
    let Some(Place::Box {
        page: 1,
        left,
        bottom,
        ..
    }) = line.place
    else {
        panic!("{:?}", line.place)
    };
    assert_eq!((left, bottom), (50.0, 695.0));
}

#[test]
fn a_word_cut_at_the_end_of_a_page_is_whole() {
    let pages = [
        at(50.0, 100.0, 10.0, "The end is cut in a para-"),
        at(50.0, 700.0, 10.0, "g"),
    ];
    let (document, _) = read_bytes_of(pdf(&pages));
    assert_eq!(document.text, "The end is cut in a parag");
    assert_eq!(parts(&document, "page"), ["The end is cut in a para", "g"]);
}

#[test]
fn columns_come_one_after_the_other() {
    let mut page = at(50.0, 760.0, 18.0, "A title over both columns of the text");
    for row in 0..20 {
        let y = 700.0 - 12.0 * row as f32;
        page += &at(
            50.0,
            y,
            10.0,
            &format!("left line {row} of the column with words"),
        );
        // Lines of columns need not stand side by side.
        page += &at(
            320.0,
            y - 5.0,
            10.0,
            &format!("right line {row} of the column with words"),
        );
    }
    let (document, _) = read_bytes_of(pdf(&[page]));
    let at = |text: &str| document.text.find(text).unwrap();
    assert!(at("A title") < at("left line 0"));
    assert!(at("left line 19") < at("right line 0"));
    assert!(at("right line 0") < at("right line 19"));
}

#[test]
fn what_repeats_at_the_edges_is_dropped_and_told() {
    let pages: Vec<String> = (1..=4)
        .map(|page| {
            let words = ["alpha", "beta", "gamma", "delta"][page - 1];
            at(50.0, 780.0, 9.0, "Journal of Tests 12, 2004")
                + &at(50.0, 700.0, 10.0, &format!("The text of the page is {words}."))
                + &at(50.0, 688.0, 10.0, "Journal of Tests 12, 2004")
                + &at(300.0, 20.0, 9.0, &format!("{page}"))
        })
        .collect();
    let (document, notices) = read_bytes_of(pdf(&pages));
    assert_eq!(document.text.matches("Journal").count(), 4, "{}", document.text);
    assert!(!document.text.contains("\n2\n"));
    let messages: Vec<&str> = notices
        .all()
        .iter()
        .map(|notice| notice.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "`#` stands at the edge of 4 pages and is left out",
            "`Journal of Tests #, #` stands at the edge of 4 pages and is left out"
        ]
    );
    assert_eq!(parts(&document, "page").len(), 4);
}

#[test]
fn turned_text_and_empty_pages_are_told() {
    let turned = "BT /F 10 Tf 0 1 -1 0 20 300 Tm (arXiv) Tj ET\n".to_owned();
    let (document, notices) = read_bytes_of(pdf(&[turned]));
    assert_eq!(document.text, "");
    let kinds = notices.counts();
    assert_eq!(kinds[&NoticeKind::Skipped], 2);
    // The same on a page that is turned itself is upright.
    let upright = made(
        &["BT /F 10 Tf 0 1 -1 0 20 300 Tm (arXiv) Tj ET\n".to_owned()],
        |pdf| {
            let page = pdf.page_iter().next().unwrap();
            pdf.get_dictionary_mut(page).unwrap().set("Rotate", 90);
        },
    );
    assert_eq!(read_bytes_of(upright).0.text, "arXiv");
}

#[test]
fn what_is_no_pdf_file_is_an_error() {
    for (bytes, message) in [
        (b"plain text".to_vec(), "does not begin with"),
        (b"%PDF-1.5\n%%EOF\n".to_vec(), "cannot read this PDF file"),
        (Vec::new(), "does not begin with"),
    ] {
        let error = PdfReader::new(&source(bytes)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let whole = pdf(&[at(50.0, 700.0, 10.0, "Some text")]);
    for end in (0..whole.len()).step_by(7) {
        let _ = PdfReader::new(&source(whole[..end].to_vec()));
    }
}

#[test]
fn deep_and_endless_files_end() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let _ = PdfReader::new(&source(pdf(&[deep])));
    let states = "q ".repeat(100_000) + &at(50.0, 700.0, 10.0, "in") + &"Q ".repeat(100_001);
    assert_eq!(read_bytes_of(pdf(&[states])).0.text, "in");
    // A form that draws itself twice.
    let endless = made(&["/X Do".to_owned()], |pdf| {
        let form = pdf.new_object_id();
        let own = dictionary! { "XObject" => dictionary! { "X" => form } };
        let dict = dictionary! { "Subtype" => "Form", "Resources" => own.clone() };
        pdf.objects
            .insert(form, Object::Stream(Stream::new(dict, b"/X Do /X Do".to_vec())));
        let page = pdf.page_iter().next().unwrap();
        pdf.get_dictionary_mut(page).unwrap().set("Resources", own);
    });
    let (_, notices) = read_bytes_of(endless);
    assert!(notices.counts().contains_key(&NoticeKind::Skipped));
}

#[test]
fn highlights_are_added_to_a_copy() {
    let bytes = pdf(&[
        at(50.0, 700.0, 10.0, "Give iron and"),
        at(50.0, 700.0, 10.0, "zinc daily."),
    ]);
    let (mut document, _) = read_bytes_of(bytes.clone());
    assert_eq!(document.text, "Give iron and zinc daily.");
    document.annotations = vec![
        Annotation::new(5..18, "METALS").with_score(0.5),
        Annotation::new(20..99, "X"),
    ];
    let (copy, notices) = written(&[document.clone()], |out| {
        PdfWriter::over(out, &source(bytes.clone())).unwrap()
    });
    assert_eq!(
        notices.all().len(),
        0,
        "a span that reaches too far is cut at the end of the text"
    );
    let pdf = lopdf::Document::load_mem(&copy).unwrap();
    let found: Vec<(String, Vec<f32>)> = pdf
        .page_iter()
        .flat_map(|page| pdf.get_page_annotations(page).unwrap())
        .map(|annotation| {
            let note = lopdf::decode_text_string(annotation.get(b"Contents").unwrap()).unwrap();
            let rect = annotation.get(b"Rect").unwrap().as_array().unwrap();
            (
                note,
                rect.iter().map(|number| number.as_float().unwrap()).collect(),
            )
        })
        .collect();
    assert_eq!(found.len(), 3);
    assert_eq!(
        found[0],
        ("METALS (0.500)".to_owned(), vec![75.0, 697.5, 115.0, 708.0])
    );
    assert_eq!(found[1].1, [50.0, 697.5, 70.0, 708.0]);
    assert_eq!(read_bytes_of(copy).0.text, document.text);
    document.text.push('!');
    let mut writer = PdfWriter::over(Vec::new(), &source(bytes)).unwrap();
    assert!(writer.write(&document, &mut Notices::new()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_files_are_read_or_refused(flips in prop::collection::vec((0usize..2000, any::<u8>()), 1..20)) {
        let mut bytes = pdf(&[at(50.0, 700.0, 10.0, "Some text of a page"), at(50.0, 700.0, 10.0, "More")]);
        for (at, byte) in flips {
            let len = bytes.len();
            bytes[at % len] = byte;
        }
        if let Ok(mut reader) = PdfReader::new(&source(bytes)) {
            let _ = read_all(&mut reader);
        }
    }

    #[test]
    fn any_content_is_read(operations in prop::collection::vec(0usize..14, 0..40)) {
        let known = ["BT", "ET", "/F 10 Tf", "(text) Tj", "[(a) -2000 (b)] TJ", "10 20 Td", "T*", "1 0 0 1 50 50 cm", "q", "Q",
            "0 0 0 0 0 0 Tm", "1e30 0 0 1e30 1e38 1e38 cm", "(x) '", "-10 0 0 10 500 500 Tm"];
        let content: Vec<&str> = operations.iter().map(|&at| known[at]).collect();
        read_bytes_of(pdf(&[content.join(" ")]));
    }
}

use super::*;
use crate::document::{Document, Element, Relation};
use crate::formats::testing::{annotations, kinds, read_all, write_all};
use crate::formats::{NoticeKind, Notices};
use crate::source::Source;
use proptest::prelude::*;

fn read(text: &str) -> (Vec<Document>, Notices) {
    read_all(BiocReader::new(&Source::text("t", text)).unwrap()).unwrap()
}

fn refused(text: &str) -> String {
    read_all(BiocReader::new(&Source::text("t", text)).unwrap())
        .unwrap_err()
        .to_string()
}

fn write(documents: &[Document]) -> (String, Notices) {
    let mut writer = BiocWriter::new(Vec::new());
    let notices = write_all(&mut writer, documents);
    (String::from_utf8(writer.into_inner()).unwrap(), notices)
}

const SAMPLE: &str = r#"<?xml version="1.0"?><!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>PubMed</source><date/><key>k</key><infon key="tool">x</infon>
<document><id>12</id><infon key="year">2013</infon>
<passage><infon key="type">title</infon><infon key="section_type">TITLE</infon><offset>0</offset><text>β &lt; α&#x21;</text>
 <annotation id="T1"><infon key="type">Gene</infon><infon key="identifier">1;2</infon><infon key="score">0.5</infon><infon key="note">n</infon><location offset="4" length="1"/><text>α</text></annotation></passage>
<passage><infon key="type">abstract</infon><offset>8</offset>
 <sentence><offset>8</offset><text>Left and right.</text><annotation id="T2"><infon key="type">X</infon><location offset="8" length="4"/><location offset="17" length="5"/><text>Left right</text></annotation></sentence>
 <sentence><offset>25</offset><text>End.</text></sentence>
 <relation id="R1"><infon key="type">r</infon><infon key="k">v</infon><node refid="T1" role="a"/><node refid="T2" role="b"/></relation></passage>
</document></collection>"#;

#[test]
fn a_collection_is_read_and_written() {
    let (documents, notices) = read(SAMPLE);
    assert!(notices.is_empty(), "{notices:?}");
    let document = &documents[0];
    assert_eq!(document.text, "β < α!\n Left and right.  End.");
    assert_eq!(document.meta["collection: source"], "PubMed");
    assert_eq!(document.meta["passage 1: section_type"], "TITLE");
    let kinds: Vec<&str> = document
        .elements
        .iter()
        .map(|element| element.kind.as_str())
        .collect();
    assert_eq!(kinds, ["title", "abstract", "sentence", "sentence"]);
    assert_eq!(document.annotations[0].identifiers, ["1", "2"]);
    assert_eq!(document.annotations[0].text(&document.text), "α");
    assert_eq!(document.annotations[1].fragments.len(), 2);
    assert_eq!(
        document.relations[0].arguments[1],
        ("b".to_owned(), "T2".to_owned())
    );
    let (written, notices) = write(&documents);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(read(&written).0, documents);
}

#[test]
fn annotations_without_id_get_a_number() {
    let mut document = Document::new("d", "a b c");
    document.annotations = [(0..1, ""), (2..3, "1"), (4..5, "")]
        .map(|(range, id)| crate::document::Annotation {
            id: id.to_owned(),
            ..crate::document::Annotation::new(range, "X")
        })
        .to_vec();
    let (written, notices) = write(&[document]);
    assert!(notices.is_empty());
    let ids: Vec<String> = read(&written).0[0]
        .annotations
        .iter()
        .map(|annotation| annotation.id.clone())
        .collect();
    assert_eq!(ids, ["2", "1", "3"]);
}

fn one(offset: &str, length: &str, said: &str) -> String {
    format!(
        "<collection><document><id>1</id><passage><offset>0</offset><text>βγ ab</text><annotation id=\"1\"><infon key=\"type\">X</infon><location offset=\"{offset}\" length=\"{length}\"/><text>{said}</text></annotation></passage></document></collection>"
    )
}

#[test]
fn places_are_checked_against_the_text() {
    let (documents, notices) = read(&one("3", "2", "ab"));
    assert!(notices.is_empty());
    assert_eq!(documents[0].annotations[0].range(), 5..7);
    // Bytes.
    let (documents, notices) = read(&one("5", "2", "ab"));
    assert_eq!(documents[0].annotations[0].range(), 5..7);
    assert_eq!(kinds(&notices), [NoticeKind::OtherText]);
    let (documents, notices) = read(&one("2", "2", "γ"));
    assert_eq!(documents[0].annotations[0].range(), 2..4);
    assert_eq!(kinds(&notices), [NoticeKind::OtherText]);
    let (documents, notices) = read(&one("3", "2", "zz"));
    assert_eq!(
        (documents[0].annotations.len(), kinds(&notices)),
        (1, vec![NoticeKind::OtherText])
    );
    for (offset, length, kind) in [
        ("90", "2", NoticeKind::OutsideText),
        ("3", "0", NoticeKind::Empty),
    ] {
        let (documents, notices) = read(&one(offset, length, ""));
        assert_eq!((documents[0].annotations.len(), kinds(&notices)), (0, vec![kind]));
    }
    assert!(refused(&one("x", "1", "")).contains("expected an offset or a length"));
    let huge = one("3", "2", "ab").replace("<offset>0</offset>", "<offset>99999999999</offset>");
    assert_eq!(read(&huge).1.all()[0].kind, NoticeKind::OtherText);
}

#[test]
fn broken_xml_has_a_place() {
    for (text, message) in [
        ("", "t:1:1: found no element"),
        ("<html/>", "t:1:1: found `<html>`, expected one `<collection>`"),
        (
            "<collection>\n <document>",
            "t:2:12: found the end of the file inside `<document>`",
        ),
        ("<collection><document></collection>", "t:1:23: found no XML"),
        (
            "<collection>\n&laugh;</collection>",
            "t:2:1: found the reference `&laugh;`",
        ),
        ("<collection></collection>x", "t:1:26: found `x`"),
        ("<collection/><collection/>", "t:1:14: found `<collection>`"),
    ] {
        assert!(refused(text).starts_with(message), "{}", refused(text));
    }
    let deep = format!("<collection>{}", "<a>".repeat(100_000));
    assert!(refused(&deep).contains("more than 64 deep"));
    let laughs = "<!DOCTYPE c [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><collection><source>&b;</source></collection>";
    assert!(refused(laughs).contains("`&b;`"));
}

proptest! {
    #[test]
    fn written_and_read_again(
        (text, spans) in annotations("[a-cäβ𝄞 <&\n\r\"]{0,14}"), cut in 0..20_usize, gap in 0..3_usize
    ) {
        let mut document = Document::new("d", text);
        document.annotations = spans;
        let borders: Vec<usize> = document.text.char_indices().map(|(at, _)| at).collect();
        if let Some(&first) = borders.get(cut).filter(|_| cut > 0) {
            let second = borders.get(cut + gap).copied().unwrap_or(document.text.len());
            let element = |kind: &str, range| Element { kind: kind.to_owned(), range, place: None };
            document.elements = vec![element("title", 0..first), element("abstract", second..document.text.len())];
        }
        document.relations.push(Relation { id: "R".to_owned(), kind: "k".to_owned(), arguments: vec![("r".to_owned(), "T1".to_owned())], ..Relation::default() });
        document.meta.insert("a <b>".to_owned(), "c\n&d".to_owned());
        let (written, notices) = write(std::slice::from_ref(&document));
        prop_assert!(notices.is_empty());
        let (mut again, _) = read(&written);
        again[0].annotations.sort_by(|one, other| one.id.cmp(&other.id));
        document.annotations.sort_by(|one, other| one.id.cmp(&other.id));
        prop_assert_eq!(&again[0], &document, "{}", written);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "<collection>(<document>|</document>|<passage>|</passage>|<offset>0</offset>|<text>aä</text>|<annotation>|</annotation>|<location offset=\"1\" length=\"1\"/>|&amp;|x){0,12}</collection>") {
        if let Ok((documents, _)) = read_all(BiocReader::new(&Source::text("t", text)).unwrap()) {
            write(&documents);
        }
    }
}

use super::*;
use crate::formats::tests::{read_all, read_ok, written};
use proptest::prelude::*;

fn reader(text: &str) -> InlineXmlReader {
    InlineXmlReader::new(&Source::text("dir/a.txt", text), InlineXmlOptions::default()).unwrap()
}

fn marked(document: &Document) -> Vec<(&str, &str)> {
    let annotations = document.annotations.iter();
    annotations
        .map(|annotation| (annotation.kind.as_str(), annotation.text(&document.text)))
        .collect()
}

#[test]
fn tags_of_a_mail_are_found_and_addresses_stay() {
    let mail = "<0.18.3@andrew.cmu.edu.0>\nTime: <stime>3:30</stime>\n\n<paragraph><sentence>See <speaker>Dr. Wu</speaker> & co</sentence>.</paragraph> <nch@cs.cmu.edu>";
    let (documents, notices) = read_all(&mut reader(mail));
    let document = &documents.unwrap()[0];
    assert_eq!(document.id, "a.txt");
    assert_eq!(
        document.text,
        "<0.18.3@andrew.cmu.edu.0>\nTime: 3:30\n\nSee Dr. Wu & co. <nch@cs.cmu.edu>"
    );
    assert_eq!(
        marked(document),
        [
            ("stime", "3:30"),
            ("paragraph", "See Dr. Wu & co."),
            ("sentence", "See Dr. Wu & co"),
            ("speaker", "Dr. Wu")
        ]
    );
    assert!(notices.is_empty());
}

#[test]
fn tags_without_their_other_half_are_told() {
    let (documents, notices) = read_all(&mut reader("<doc>He is\n<PER>Bob and <PER>Ann</LOC>"));
    assert_eq!(
        documents.unwrap()[0].text,
        "<doc>He is\n<PER>Bob and <PER>Ann</LOC>"
    );
    let told: Vec<String> = notices.all().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].contains("line 2") && told[0].contains("`</LOC>` has no beginning"),
        "{told:?}"
    );
    assert!(
        told[1].contains("`<PER>` has no end and is taken for text (2 times)"),
        "{told:?}"
    );
    assert!(
        told[2].contains("line 1") && told[2].contains("`<doc>`"),
        "{told:?}"
    );
}

#[test]
fn overlapping_nested_and_broken_tags() {
    let (documents, notices) = read_all(&mut reader("<a>x<b>y</a>z</b><a>1<a>2</a>3</a></b><a></a><b>end"));
    let documents = documents.unwrap();
    assert_eq!(
        marked(&documents[0]),
        [("a", "xy"), ("b", "yz"), ("a", "123"), ("a", "2")]
    );
    let kinds: Vec<NoticeKind> = notices.all().iter().map(|notice| notice.kind).collect();
    assert_eq!(
        kinds,
        [NoticeKind::Skipped, NoticeKind::Empty, NoticeKind::Skipped]
    );
}

#[test]
fn named_tags_alone_are_tags() {
    let options = InlineXmlOptions {
        annotation_tags: Some(vec!["GENE".to_owned()]),
        ..InlineXmlOptions::default()
    };
    let source = Source::text(
        "a",
        "<i>A</i> <GENE id='T1' score='0.5' identifiers='x y' k='&lt;'>CUL4A</GENE>",
    );
    let documents = read_ok(&mut InlineXmlReader::new(&source, options).unwrap());
    assert_eq!(documents[0].text, "<i>A</i> CUL4A");
    let annotation = &documents[0].annotations[0];
    assert_eq!((annotation.id.as_str(), annotation.score), ("T1", Some(0.5)));
    assert_eq!(annotation.identifiers, ["x", "y"]);
    assert_eq!(annotation.attributes["k"], "<");
}

#[test]
fn documents_with_tags_of_their_own() {
    let text = "<?xml version='1.0'?>\n<documents>\nlost\n<document id='1'>a <X>b</X></document>\n<document>c</document>\n<document id='3'>cut <X>off</X>";
    let (documents, notices) = read_all(&mut reader(text));
    let documents = documents.unwrap();
    let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
    assert_eq!(ids, ["1", "a.txt:5", "3"]);
    assert_eq!(documents[2].text, "cut off");
    let messages: Vec<String> = notices.all().iter().map(ToString::to_string).collect();
    assert!(messages[0].contains("text outside of documents"), "{messages:?}");
    assert!(messages[1].contains("has no end"), "{messages:?}");
}

#[test]
fn depth_and_length_are_no_danger() {
    let deep = format!("{}x{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert_eq!(read_ok(&mut reader(&deep))[0].annotations.len(), 100_000);
    let crossed = format!("{}{}", "<a>x<b>y".repeat(50_000), "</a></b>".repeat(50_000));
    assert_eq!(read_ok(&mut reader(&crossed))[0].annotations.len(), 100_000);
    let long = "word ".repeat(2_000_000);
    assert_eq!(read_ok(&mut reader(&long))[0].text.len(), 10_000_000);
    let bomb = "<!DOCTYPE a [<!ENTITY l \"lol\">]><a>&l;</a>";
    assert_eq!(read_ok(&mut reader(bomb))[0].text, "&l;");
}

#[test]
fn overlaps_and_odd_types_are_told() {
    let mut document = Document::new("1", "abcdef");
    document.annotations = vec![
        Annotation::new(0..3, "A B"),
        Annotation::new(2..5, "C"),
        Annotation {
            fragments: vec![3..4, 5..6],
            ..Annotation::new(0..1, "D")
        },
        Annotation::new(4..9, "E"),
    ];
    let (bytes, notices) = written(&[document], |out| {
        InlineXmlWriter::new(out, InlineXmlOptions::default())
    });
    assert!(
        String::from_utf8(bytes)
            .unwrap()
            .contains(">abc</A_B><D>def</D></document>")
    );
    let kinds: Vec<NoticeKind> = notices.all().iter().map(|notice| notice.kind).collect();
    use NoticeKind::{Fragments, OutsideText, Overlap, TypeName};
    assert_eq!(kinds, [TypeName, Fragments, OutsideText, Overlap]);
}

/// Annotations that nest: each pair of numbers splits what is left.
fn nested(text: &str, cuts: &[(usize, usize, usize)]) -> Vec<Annotation> {
    let borders: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let mut annotations: Vec<Annotation> = Vec::new();
    for &(a, b, kind) in cuts {
        let (a, b) = (a % borders.len(), b % borders.len());
        let range = borders[a.min(b)]..borders[a.max(b)];
        let crosses = |other: &Annotation| {
            let other = other.range();
            let apart = other.end <= range.start || range.end <= other.start;
            let inside = other.start >= range.start && other.end <= range.end;
            let outside = other.start <= range.start && other.end >= range.end;
            !(apart || inside || outside)
        };
        if !range.is_empty() && !annotations.iter().any(crosses) {
            annotations.push(Annotation::new(range, ["GENE", "type_2", "ä"][kind]));
        }
    }
    annotations.sort_by_key(|annotation| {
        (
            annotation.range().start,
            std::cmp::Reverse(annotation.range().end),
        )
    });
    annotations
}

#[test]
fn what_begins_in_the_name_of_a_document_begins_behind_it() {
    let options = InlineXmlOptions {
        id_tag: Some("id".to_owned()),
        element_tags: vec!["e".to_owned()],
        ..InlineXmlOptions::default()
    };
    let text = "<document><id>7é<e>b</id>éé</e></document>";
    let mut reader = InlineXmlReader::new(&Source::text("a", text), options).unwrap();
    let documents = read_ok(&mut reader);
    assert_eq!(
        (documents[0].id.as_str(), documents[0].text.as_str()),
        ("7éb", "éé")
    );
    assert_eq!(documents[0].elements[0].range, 0..4);
}

proptest! {
    #[test]
    fn round_trips(
        texts in prop::collection::vec("[a-c<>&;\"' \n\rα]{0,20}", 0..3),
        cuts in prop::collection::vec((0usize..30, 0usize..30, 0usize..3), 0..8),
        value in "[a-c<>&\" ]{0,5}",
    ) {
        let documents: Vec<Document> = texts.iter().enumerate().map(|(at, text)| {
            let mut document = Document::new(format!("<{at}>"), text.as_str());
            document.annotations = nested(text, &cuts);
            if let Some(first) = document.annotations.first_mut() {
                first.id = "T1".to_owned();
                first.score = Some(0.25);
                first.identifiers = vec!["x:1".to_owned(), "y".to_owned()];
                first.attributes.insert("key".to_owned(), value.clone());
            }
            document
        }).collect();
        let (bytes, notices) = written(&documents, |out| InlineXmlWriter::new(out, InlineXmlOptions::default()));
        prop_assert!(notices.is_empty(), "{:?}", notices.all());
        let (back, notices) = read_all(&mut reader(std::str::from_utf8(&bytes).unwrap()));
        prop_assert!(notices.is_empty(), "{:?}", notices.all());
        if !documents.is_empty() {
            prop_assert_eq!(back.unwrap(), documents);
        }
    }

    #[test]
    fn any_text_is_read(parts in prop::collection::vec(0usize..15, 0..40), structured in any::<bool>()) {
        let pieces = ["<document>", "</document>", "<document id='1'>", "<a>", "</a>", "<b k='v'>", "</b>", "<id>", "</id>",
            "<e>", "</e>", " x\n", "&amp;", "<a/>", "é"];
        let text: String = parts.iter().map(|&at| pieces[at]).collect();
        let options = match structured {
            false => InlineXmlOptions::default(),
            true => InlineXmlOptions {
                id_tag: Some("id".to_owned()),
                element_tags: vec!["e".to_owned()],
                ..InlineXmlOptions::default()
            },
        };
        let mut reader = InlineXmlReader::new(&Source::text("a", text), options).unwrap();
        read_ok(&mut reader);
    }
}

use super::*;
use crate::document::{Annotation, Document, Relation};
use crate::formats::testing::{annotations, kinds, read_all, write_all};
use crate::formats::{NoticeKind, Notices};
use crate::source::Source;
use proptest::prelude::*;

fn read(text: &str, marks: &str) -> (Document, Notices) {
    let reader = BratReader::new(
        "d",
        &Source::text("d.txt", text),
        Some(&Source::text("d.ann", marks)),
    );
    let (mut documents, notices) = read_all(reader).unwrap();
    (documents.remove(0), notices)
}

fn write(document: &Document) -> (String, String, Notices) {
    let mut writer = BratWriter::new(Vec::new(), Vec::new());
    let notices = write_all(&mut writer, std::slice::from_ref(document));
    let [text, marks] = writer
        .into_inner()
        .map(|output| String::from_utf8(output).unwrap());
    (text, marks, notices)
}

const TEXT: &str = "Größe of left and right lung\r\nsaw it";
const MARKS: &str = "T1\tSize 0 5\tGröße\n\
    A1\tscore T1 0.25\nN1\tReference T1 MESH:D1\tthe size\nN2\tReference T1 X:2\nA2\tNegation T1\n#1\tAnnotatorNotes T1\tfirst note\n#2\tAnnotatorNotes T1\tsecond note\n#3\tNormalization T1\tother\n\
    T2\tLung 9 13;24 28\tleft lung\nT7\tSee 30 33\tsaw\n\
    R1\tPart Arg1:T1 Arg2:T2\nA3\tSure R1 very much\nE1\tSeeing:T7 Theme:T2 Theme2:T1\n*\tEquiv T1 T2 T7\n";

#[test]
fn everything_survives() {
    let (document, notices) = read(TEXT, MARKS);
    assert!(notices.is_empty(), "{notices:?}");
    let first = &document.annotations[0];
    assert_eq!(
        (first.score, first.attributes["note"].as_str()),
        (Some(0.25), "first note\nsecond note")
    );
    assert_eq!(first.attributes["name of MESH:D1"], "the size");
    assert_eq!(document.annotations[1].fragments, [11..15, 26..30]);
    assert_eq!(
        document.relations[1].arguments[0],
        ("trigger".to_owned(), "T7".to_owned())
    );
    let (text, marks, notices) = write(&document);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!((text.as_str(), marks.as_str()), (TEXT, MARKS));
}

#[test]
fn what_does_not_fit_is_told() {
    let marks = "T1\tX 0 99\tx\nT2\tX 1 1\t\nT3\tX 0 1\tb\nA1\tN T9\nA2\tN T3\nA3\tN T3 no\nT4\tX 0 2\tab\nT5\tY 1 3\tbc\n";
    let (document, notices) = read("abc", marks);
    assert_eq!(document.annotations.len(), 3);
    let expected = [
        NoticeKind::OutsideText,
        NoticeKind::Empty,
        NoticeKind::OtherText,
        NoticeKind::Skipped,
        NoticeKind::Skipped,
    ];
    assert_eq!(kinds(&notices), expected);
    for (marks, line) in [
        ("T1\tX 0\tx\n", 1),
        ("\nT1", 2),
        ("R1\tX T1\n", 1),
        ("Q1\tX\n", 1),
        ("T1\tX 0 1\ta\nE1\tX\n", 2),
    ] {
        let reader = BratReader::new(
            "d",
            &Source::text("d.txt", "abc"),
            Some(&Source::text("d.ann", marks)),
        );
        let error = read_all(reader).unwrap_err();
        assert_eq!((error.file(), error.line()), ("d.ann", Some(line)), "{error}");
    }
}

#[test]
fn ids_are_made_where_they_are_missing() {
    let mut document = Document::new("d", "a b");
    document.annotations.push(Annotation::new(0..1, "X y"));
    document.annotations.push(Annotation {
        id: "T1".to_owned(),
        ..Annotation::new(2..3, "Y")
    });
    document.annotations.push(Annotation {
        id: "17".to_owned(),
        ..Annotation::new(0..3, "Z")
    });
    let relation = |part: &str| Relation {
        kind: "r".to_owned(),
        arguments: vec![
            ("a".to_owned(), "17".to_owned()),
            ("b".to_owned(), part.to_owned()),
        ],
        ..Relation::default()
    };
    document.relations = vec![relation("T1"), relation("T9")];
    let (_, marks, notices) = write(&document);
    assert_eq!(
        marks,
        "T2\tX_y 0 1\ta\nT1\tY 2 3\tb\nT3\tZ 0 3\ta b\nR1\tr a:T3 b:T1\n"
    );
    assert_eq!(kinds(&notices), [NoticeKind::Detail, NoticeKind::Relation]);
}

#[test]
fn directories_are_read_and_written() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = BratDirectory::new(directory.path()).unwrap();
    let mut notices = Notices::new();
    use crate::formats::DocumentWriter;
    for id in ["b/x.1", "a", "a", "../up?", "n.txt"] {
        let mut document = Document::new(id, "text");
        document.annotations.push(Annotation {
            id: "T1".to_owned(),
            ..Annotation::new(0..4, "X")
        });
        writer.write(&document, &mut notices).unwrap();
    }
    assert_eq!(kinds(&notices), [NoticeKind::Detail, NoticeKind::Detail]);
    assert!(!directory.path().join("a.txt").exists());
    writer.finish().unwrap();
    drop(writer);
    assert!(directory.path().join("n.ann").exists());
    std::fs::create_dir(directory.path().join(".fieldmark-left")).unwrap();
    std::fs::write(
        directory.path().join(".fieldmark-left/d.txt"),
        "by a writer that was killed",
    )
    .unwrap();
    std::fs::write(directory.path().join("c.txt"), "no marks").unwrap();
    let (documents, notices) = read_all(BratReader::open(directory.path()).unwrap()).unwrap();
    assert!(notices.is_empty());
    let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
    assert_eq!(ids, ["_/up_", "a", "a-2", "b/x.1", "c", "n"]);
    assert_eq!(documents[3].annotations.len(), 1);
    let (documents, _) = read_all(BratReader::open(&directory.path().join("a.ann")).unwrap()).unwrap();
    assert_eq!(
        (documents[0].id.as_str(), documents[0].annotations.len()),
        ("a", 1)
    );
    assert!(BratReader::open(&directory.path().join("none.txt")).is_err());
}

proptest! {
    #[test]
    fn written_and_read_again((text, spans) in annotations("[a-cäβ \n\r\t]{0,12}")) {
        let mut document = Document::new("d", text);
        document.annotations = spans;
        let (text, marks, notices) = write(&document);
        prop_assert!(notices.is_empty());
        let (again, notices) = read(&text, &marks);
        prop_assert!(notices.is_empty(), "{:?} {}", notices, marks);
        prop_assert_eq!(again, document);
    }

    #[test]
    fn any_text_is_read_or_refused(marks in "([TREANM#*][0-9]?[ \t]?([A-Z]|T1|:|0 1|;)?[ \t]?[0-9]? ?[0-9]?\n?){0,6}") {
        let reader = BratReader::new("d", &Source::text("d.txt", "aäb"), Some(&Source::text("d.ann", marks)));
        if let Ok((documents, _)) = read_all(reader) {
            write(&documents[0]);
        }
    }
}

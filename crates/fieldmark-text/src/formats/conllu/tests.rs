use super::super::testing::{annotations, kinds, read_all, write_all};
use super::super::{NoticeKind, Notices};
use super::*;
use crate::document::{Annotation, Document};
use crate::source::Source;
use proptest::prelude::*;

fn read(text: &str) -> (Vec<Document>, Notices) {
    read_all(ConlluReader::new(&Source::text("t", text)).unwrap()).unwrap()
}

fn write(documents: &[Document]) -> (String, Notices) {
    let mut writer = ConlluWriter::new(Vec::new(), ConlluWriterOptions::default());
    let notices = write_all(&mut writer, documents);
    (String::from_utf8(writer.into_inner()).unwrap(), notices)
}

const SAMPLE: &str = "# newdoc id = d1\n# sent_id = s1\n# text = Don't go, vámonos!\n\
    1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDo\tdo\tAUX\tVBP\tMood=Imp\t3\taux\t_\t_\n2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n\
    3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No|NER=B-X\n3.1\tyou\tyou\tPRON\t_\t_\t_\t_\t3:nsubj\t_\n4\t,\t,\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\
    5-6\tvámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n5\tvamos\tir\tVERB\t_\t_\t3\tx\t_\t_\n6\tnos\tnos\tPRON\t_\t_\t5\tobj\t_\t_\n7\t!\t!\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\n\
    # sent_id = s2\n# newpar\n1\tBye\tbye\tINTJ\t_\t_\t0\troot\t_\t_\n\n\
    # newdoc\n1\tNew\tnew\tADJ\t_\t_\t0\troot\t_\t_\n\n";

#[test]
fn the_sample_survives() {
    let (documents, notices) = read(SAMPLE);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[0].text, "Don't go, vámonos!\nBye");
    assert_eq!(documents[1].id, "2");
    let words: Vec<&str> = documents[0].given.as_ref().unwrap().sentences[0]
        .iter()
        .map(|token| &documents[0].text[token.range.clone()])
        .collect();
    assert_eq!(words, ["Do", "n't", "go", ",", "vámonos", "vámonos", "!"]);
    assert_eq!(documents[0].annotations[0].text(&documents[0].text), "go");
    let (written, notices) = write(&documents);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(written, SAMPLE);
}

#[test]
fn sentences_before_a_document_are_alone() {
    let text = SAMPLE
        .replace("# newdoc id = d1\n", "")
        .replace("# newdoc\n", "# sent_id = s3\n");
    let (documents, _) = read(&text);
    let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
    assert_eq!(ids, ["s1", "s2", "s3"]);
    assert_eq!(write(&documents).0, text);
}

#[test]
fn a_text_that_differs_is_told() {
    let (_, notices) =
        read("# text = a b\n1\ta\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\tb\t_\t_\t_\t_\t_\t_\t_\tNER=I-X\n");
    assert_eq!(kinds(&notices), [NoticeKind::OtherText, NoticeKind::Scheme]);
}

#[test]
fn white_space_that_is_not_one_blank_or_none_is_told() {
    for (text, told) in [
        ("E. coli grew", false),
        ("E.  coli grew", true),
        ("One line.\nOther.", true),
    ] {
        let (_, notices) = write(&[Document::new("d", text)]);
        let expected: &[NoticeKind] = if told { &[NoticeKind::Spacing] } else { &[] };
        assert_eq!(kinds(&notices), expected, "{text}");
    }
}

#[test]
fn a_type_with_a_bar_has_another_name_and_is_told() {
    let mut document = Document::new("1", "Ada met");
    document.annotations.push(Annotation::new(0..3, "A|B"));
    let (text, notices) = write(&[document]);
    assert!(text.contains("NER=B-A_B"), "{text}");
    assert_eq!(notices.counts()[&NoticeKind::TypeName], 1);
}

#[test]
fn what_cannot_be_read_has_a_place() {
    let row = "\t_\t_\t_\t_\t_\t_\t_\t_\n";
    for (text, line) in [
        ("1\ta\n".to_owned(), 1),
        (format!("1\ta{row}x\ta{row}"), 2),
        (format!("1\t{row}"), 1),
        (format!("2-1\ta{row}"), 1),
    ] {
        let error = read_all(ConlluReader::new(&Source::text("t", text)).unwrap()).unwrap_err();
        assert_eq!(error.line(), Some(line), "{error}");
    }
}

proptest! {
    #[test]
    fn any_document_is_written_and_read_again((text, spans) in annotations("[a-cäβ,]{1,3}( ?[a-cäβ,]{1,3}){0,6}")) {
        let mut document = Document::new("d", text);
        document.annotations = spans;
        let (written, _) = write(std::slice::from_ref(&document));
        let (again, notices) = read(&written);
        prop_assert!(notices.is_empty(), "{:?} {}", notices, written);
        prop_assert_eq!(&again[0].text, &document.text);
        let (twice, notices) = write(&again);
        prop_assert!(notices.is_empty(), "{:?}", notices);
        prop_assert_eq!(twice, written);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(([0-3]|1-2|1.1)\t[ab]\t_\t_\t_\t_\t_\t_\t_\t(_|NER=B-X)\n|\n|# newdoc\n|x){0,8}") {
        if let Ok((documents, _)) = read_all(ConlluReader::new(&Source::text("t", text)).unwrap()) {
            write(&documents);
        }
    }
}

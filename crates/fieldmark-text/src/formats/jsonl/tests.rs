use super::*;
use crate::document::{Annotation, Element, GivenToken, GivenTokens, OpenLabel, Place, Relation};
use crate::formats::testing::{annotations, kinds, read_all, write_all};
use crate::formats::{Notice, NoticeKind};
use proptest::prelude::*;

fn read(text: &str) -> (Vec<Document>, Notices) {
    read_all(JsonlReader::new(&Source::text("t", text), JsonlOptions::default()).unwrap()).unwrap()
}

fn refused(text: &str) -> String {
    let reader = JsonlReader::new(&Source::text("t", text), JsonlOptions::default()).unwrap();
    read_all(reader).unwrap_err().to_string()
}

fn write(documents: &[Document], flavour: Flavour) -> (String, Notices) {
    let mut writer = JsonlWriter::new(
        Vec::new(),
        JsonlWriterOptions {
            flavour,
            ..JsonlWriterOptions::default()
        },
    );
    let notices = write_all(&mut writer, documents);
    (String::from_utf8(writer.into_inner()).unwrap(), notices)
}

fn spans(document: &Document) -> Vec<(&str, &str)> {
    let spans = document.annotations.iter();
    spans
        .map(|annotation| (annotation.text(&document.text), annotation.kind.as_str()))
        .collect()
}

#[test]
fn doccano_old_and_new() {
    for key in ["label", "labels"] {
        let line = format!(r#"{{"id":3,"{key}":[[2,5,"X"]],"text":"α iron","who":["a",1]}}"#);
        let (documents, notices) = read(&line);
        assert!(notices.is_empty());
        assert_eq!(
            (documents[0].id.as_str(), spans(&documents[0])),
            ("3", vec![("iro", "X")])
        );
        assert_eq!(documents[0].meta["who"], r#"["a",1]"#);
        let (written, notices) = write(&documents, Flavour::Doccano);
        assert!(notices.is_empty());
        assert_eq!(written.trim_end(), line.replace("labels", "label"));
    }
    let line = r#"{"Comments":[],"entities":[{"end_offset":1,"id":7,"label":"X","start_offset":0},{"end_offset":3,"id":8,"label":"Y","start_offset":2}],"id":1,"relations":[{"from_id":7,"id":1,"to_id":8,"type":"r"}],"text":"a b"}"#;
    let (documents, notices) = read(line);
    assert!(notices.is_empty());
    assert_eq!(
        documents[0].relations[0].arguments[1],
        ("to".to_owned(), "8".to_owned())
    );
    assert_eq!(write(&documents, Flavour::Doccano).0.trim_end(), line);
}

#[test]
fn labels_of_a_whole_document_are_facts() {
    let (documents, _) = read(r#"{"text":"fine","label":["positive"]}"#);
    assert!(documents[0].annotations.is_empty());
    assert_eq!(documents[0].meta["label"], r#"["positive"]"#);
}

#[test]
fn spacy_and_prodigy() {
    let (documents, _) =
        read("{\"text\":\"a b\",\"entities\":[[2,3,\"X\"]]}\n[\"a b\",{\"entities\":[[0,1,\"Y\"]]}]\n");
    assert_eq!(
        (spans(&documents[0]), spans(&documents[1])),
        (vec![("b", "X")], vec![("a", "Y")])
    );
    assert_eq!(documents[1].id, "2");
    let line = r#"{"answer":"accept","id":"q","spans":[{"end":4,"label":"X","start":2,"token_end":2,"token_start":1}],"text":"α b,","tokens":[{"end":1,"id":0,"start":0,"text":"α","ws":true},{"end":3,"id":1,"start":2,"text":"b","ws":false},{"end":4,"id":2,"start":3,"text":",","ws":false}]}"#;
    let (documents, notices) = read(line);
    assert!(notices.is_empty());
    assert_eq!(spans(&documents[0]), [("b,", "X")]);
    assert_eq!(documents[0].given.as_ref().unwrap().sentences[0].len(), 3);
    let (written, notices) = write(&documents, Flavour::Prodigy);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(written.trim_end(), line);
}

#[test]
fn hugging_face_with_texts_and_numbers() {
    let line = r#"{"id":"x","ner_tags":["B-X","I-X","O"],"pos_tags":["1","2","3"],"tokens":["a","b","c"]}"#;
    let (documents, notices) = read(line);
    assert!(notices.is_empty());
    assert_eq!(spans(&documents[0]), [("a b", "X")]);
    assert_eq!(documents[0].given.as_ref().unwrap().columns, ["pos_tags"]);
    assert_eq!(write(&documents, Flavour::HuggingFace).0.trim_end(), line);
    let numbers = r#"{"tokens":["a","b"],"ner_tags":[2,0]}"#;
    let (documents, _) = read(&format!(
        "{{\"label_names\":[\"O\",\"B-X\",\"B-Y\"]}}\n{numbers}\n"
    ));
    assert_eq!(spans(&documents[0]), [("a", "Y")]);
    let (documents, _) = read(&format!(
        "{{\"features\":{{\"ner_tags\":{{\"feature\":{{\"names\":[\"O\",\"I-X\",\"I-Y\"]}}}}}}}}\n{numbers}\n"
    ));
    assert_eq!(spans(&documents[0]), [("a", "Y")]);
    assert!(refused(numbers).starts_with("t:1:1: found the tag `2` and 0 label names"));
    assert!(refused(r#"{"tokens":["a","b"],"ner_tags":["O"]}"#).contains("1 tags for 2 tokens"));
    let (documents, notices) = read(r#"{"tokens":["a","","b"],"ner_tags":["NN","X","VB"]}"#);
    assert_eq!(kinds(&notices), [NoticeKind::Skipped]);
    let given = documents[0].given.as_ref().unwrap();
    assert_eq!(
        (
            given.columns[0].as_str(),
            given.sentences[0][1].columns[0].as_str()
        ),
        ("ner_tags", "VB")
    );
}

#[test]
fn facts_that_look_like_spans_are_not_written_as_such() {
    let line = r#"{"tokens":["a","b"],"ner_tags":["B-X","O"],"spans":[{"starv":0,"end":1}]}"#;
    let (documents, _) = read(line);
    assert!(documents[0].meta.contains_key("spans"));
    for flavour in [Flavour::Doccano, Flavour::Spacy] {
        let (text, notices) = write(&documents, flavour);
        let told = |notice: &Notice| notice.message.contains("`spans` was left out");
        assert!(notices.all().iter().any(told), "{notices:?}");
        assert_eq!(spans(&read(&text).0[0]), [("a", "X")]);
    }
    let (text, _) = write(&documents, Flavour::HuggingFace);
    assert_eq!(read(&text).0[0].meta, documents[0].meta);
}

#[test]
fn spans_that_do_not_fit_are_told_and_broken_json_has_a_place() {
    let (documents, notices) =
        read(r#"{"text":"abc","label":[[0,9,"X"],[2,2,"X"],[3,1,"X"],[0,2,"X"],[1,3,"Y"]]}"#);
    assert_eq!(spans(&documents[0]), [("ab", "X"), ("bc", "Y")]);
    assert_eq!(
        kinds(&notices),
        [NoticeKind::OutsideText, NoticeKind::Empty, NoticeKind::Empty]
    );
    assert!(refused("{\"text\":\"a\"}\n{\"text\":\"ä\", b}").starts_with("t:2:14: found no JSON"));
    assert!(refused(r#"{"text":"a","label":[[0,"x","X"]]}"#).contains("expected the offset of a character"));
    assert!(refused(r#"{"text":"a","label":[[0,1]]}"#).contains("expected a span"));
    assert!(refused(r#"{"nothing":1}"#).contains("a document with a `text`"));
    assert!(refused("[1,2]").contains("a list"));
    assert!(refused(r#"{"text":"a","annotations":[{"fragments":7}]}"#).contains("does not fit"));
    assert!(refused(r#"{"text":"a","offsets":"words"}"#).contains("`bytes`"));
    let (documents, notices) = read(
        r#"{"text":"a","offsets":"bytes","annotations":[{"kind":"X","fragments":[{"start":0,"end":4}]},{"kind":"Y"}],"given":{"columns":[],"sentences":[[{"range":{"start":1,"end":1},"columns":[]}]]},"elements":[{"kind":"e","range":{"start":0,"end":9},"place":null}],"more":1}"#,
    );
    assert!(
        documents[0].annotations.is_empty()
            && documents[0].given.is_none()
            && documents[0].elements.is_empty()
    );
    assert_eq!(documents[0].meta["more"], "1");
    assert_eq!(notices.all().len(), 4);
}

#[test]
fn deep_nesting_is_an_error() {
    for open in ["[", "{\"text\":", "{\"a\":["] {
        assert!(refused(&open.repeat(200_000)).contains("no JSON"));
    }
}

fn whole() -> impl Strategy<Value = Document> {
    let meta = prop::collection::btree_map("[a-z]{1,3}", "[a-z\"\\[\\]1,{}\n]{0,4}", 0..3);
    (
        annotations("[a-cäβ𝄞 \n\"\\\\]{0,12}"),
        meta,
        "[a-z0-9]{0,4}",
        any::<f32>(),
    )
        .prop_map(|((text, spans), meta, id, left)| {
            let mut document = Document::new(id, text);
            let end = document.text.len();
            document.relations.push(Relation {
                id: "R1".to_owned(),
                kind: "r".to_owned(),
                ..Relation::default()
            });
            let left = if left.is_finite() { left } else { 0.5 };
            let place = Some(Place::Box {
                page: 1,
                left,
                bottom: 0.0,
                right: 1.5,
                top: 2.0,
            });
            document.elements.push(Element {
                kind: "title".to_owned(),
                range: 0..end,
                place,
            });
            if end > 0 {
                let token = GivenToken {
                    range: 0..end,
                    columns: vec!["NN".to_owned()],
                    ..GivenToken::default()
                };
                document.given = Some(GivenTokens {
                    columns: vec!["pos".to_owned()],
                    sentences: vec![vec![token]],
                    ..GivenTokens::default()
                });
            }
            let open = spans.iter().map(|span| OpenLabel {
                range: span.range(),
                labels: vec!["O".to_owned(), "S-X".to_owned()],
                ..OpenLabel::default()
            });
            document.open = (end > 2).then(|| open.collect());
            document.annotations = spans;
            document.meta = meta;
            document
        })
}

#[test]
fn white_space_between_tokens_is_told() {
    for (text, told) in [("E coli grew", false), ("E. coli grew", true)] {
        let (_, notices) = write(&[Document::new("d", text)], Flavour::HuggingFace);
        let expected: &[NoticeKind] = if told { &[NoticeKind::Spacing] } else { &[] };
        assert_eq!(kinds(&notices), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn the_own_flavour_loses_nothing(document in whole()) {
        let (written, notices) = write(std::slice::from_ref(&document), Flavour::Fieldmark);
        prop_assert!(notices.is_empty());
        let (again, notices) = read(&written);
        prop_assert!(notices.is_empty());
        prop_assert_eq!(again, [document]);
    }

    #[test]
    fn other_flavours_keep_text_spans_and_facts(document in whole(), spacy in any::<bool>()) {
        let mut plain = Document::new("7", document.text);
        let spans = document.annotations.iter();
        plain.annotations = spans.map(|annotation| Annotation::new(annotation.range(), annotation.kind.clone())).collect();
        plain.meta = document.meta;
        let flavour = if spacy { Flavour::Spacy } else { Flavour::Doccano };
        prop_assume!(!["id", "text", "label", "entities"].iter().any(|key| plain.meta.contains_key(*key)));
        let (written, notices) = write(std::slice::from_ref(&plain), flavour);
        prop_assert!(notices.is_empty());
        let (again, notices) = read(&written);
        prop_assert!(notices.is_empty());
        prop_assert_eq!(again, [plain]);
    }
}

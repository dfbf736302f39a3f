use super::*;
use crate::Source;
use crate::document::{Annotation, Document, GivenToken, GivenTokens};
use crate::formats::{DocumentReader, DocumentWriter, NoticeKind, Notices};
use proptest::prelude::*;

fn read_with(text: &str, options: ColumnOptions) -> (Vec<Document>, Notices) {
    let mut notices = Notices::new();
    let mut reader = ColumnReader::new(&Source::text("t", text), options).unwrap();
    let mut documents = Vec::new();
    while let Some(document) = reader.next(&mut notices).unwrap() {
        assert_eq!(document.check(), Ok(()));
        documents.push(document);
    }
    (documents, notices)
}

fn read(text: &str) -> (Vec<Document>, Notices) {
    read_with(text, ColumnOptions::default())
}

fn write(documents: &[Document], options: ColumnWriterOptions) -> (String, Notices) {
    let mut notices = Notices::new();
    let mut writer = ColumnWriter::new(Vec::new(), options);
    for document in documents {
        writer.write(document, &mut notices).unwrap();
    }
    writer.finish().unwrap();
    (String::from_utf8(writer.into_inner()).unwrap(), notices)
}

fn spans(document: &Document) -> Vec<(&str, &str)> {
    let spans = document
        .annotations
        .iter()
        .map(|annotation| (annotation.text(&document.text), annotation.kind.as_str()));
    spans.collect()
}

fn ids(documents: &[Document]) -> Vec<&str> {
    documents.iter().map(|document| document.id.as_str()).collect()
}

#[test]
fn conll_2003_has_documents_sentences_and_columns() {
    let text = "-DOCSTART- -X- O O\n\nWest NNP I-NP I-MISC\nIndian NNP I-NP I-MISC\nPhil NNP I-NP B-MISC\n\n. . O O\n\n\
                -DOCSTART- -X- O O\n\nLONDON NNP I-NP I-LOC\n";
    let (documents, notices) = read(text);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(ids(&documents), ["1", "2"]);
    assert_eq!(documents[0].text, "West Indian Phil\n.");
    assert_eq!(spans(&documents[0]), [("West Indian", "MISC"), ("Phil", "MISC")]);
    let given = documents[0].given.as_ref().unwrap();
    assert_eq!(given.columns, ["c1", "c2"]);
    assert_eq!(given.sentences[1][0].columns, [".", "O"]);
}

#[test]
fn marks_of_all_kinds_and_tokens_that_look_like_them() {
    let (documents, _) = read("###MEDLINE:95\n\na\tO\n\nb\tO\n\n###MEDLINE:96\n\n#\tO\nc\tB-X\n");
    assert_eq!(ids(&documents), ["95", "96"]);
    assert_eq!(documents[1].text, "# c");
    let (documents, _) = read("### one two\na O X\n# # O\n\n### three\n### four\nb c d\n");
    assert_eq!(ids(&documents), ["one two", "three", "four"]);
    let (documents, _) = read("### one\na O\n### O\n");
    assert_eq!((documents.len(), documents[0].text.as_str()), (1, "a ###"));
    let (documents, _) = read("# id 7\n# text = a b\na\tX\tO\n# id 8\nb\tX\tO\n");
    assert_eq!(ids(&documents), ["id 7", "id 8"]);
    assert_eq!(documents[0].meta["comment"], "text = a b");
    assert!(documents[1].meta.is_empty());
}

#[test]
fn documents_are_marked_as_they_were() {
    let options = ColumnWriterOptions::default;
    for text in [
        "-DOCSTART-\t-X-\tO\n\na\tNN\tB-X\n\nb\tNN\tO\n\n-DOCSTART-\t-X-\tO\n\nc\tNN\tO\n\n",
        "-DOCSTART-(d 7)\t-X-\tO\n\na\tNN\tB-X\n\n-DOCSTART-(2009)\t-X-\tO\n\nc\tNN\tO\n\n",
        "a\tNN\tB-X\n\nb\tNN\tO\n\n",
    ] {
        let (documents, _) = read(text);
        let (written, notices) = write(&documents, options());
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(written, text);
    }
    let (documents, _) = read("-DOCSTART- (1 EU)\na O\n\n-DOCSTART- -X-\nb O\n\n-DOCSTART-s O\n");
    assert_eq!(ids(&documents), ["1 EU", "2"]);
    assert_eq!(documents[1].text, "b\n-DOCSTART-s");
    let (written, notices) = write(&documents[1..], options());
    assert!(
        written.ends_with("_\tO\n\n") && notices.all().len() == 1,
        "{written}"
    );
    // A document after sentences that are none.
    let (mut mixed, _) = read("a\tO\n\nb\tO\n");
    mixed.push(Document::new("x", "c"));
    let (written, notices) = write(&mixed, options());
    assert_eq!(written, "a\tO\n\nb\tO\n\n-DOCSTART-(x)\tO\n\nc\tO\n\n");
    assert_eq!(notices.all().len(), 1);
}

#[test]
fn without_marks_each_sentence_is_a_document() {
    let (documents, _) = read("a O\n\n\nb B-X\nc O\n");
    assert_eq!(ids(&documents), ["1", "2"]);
    let whole = ColumnOptions {
        documents: DocumentBorders::File,
        ..ColumnOptions::default()
    };
    let (documents, _) = read_with("a O\n\n\nb B-X\nc O\n", whole);
    assert_eq!(documents[0].text, "a\nb c");
    let split = ColumnOptions {
        documents: DocumentBorders::Sentences,
        ..ColumnOptions::default()
    };
    let (documents, _) = read_with("#p\na O\n\nb O\n#q\nc O\n\n", split);
    assert_eq!(ids(&documents), ["p-1", "p-2", "q-1"]);
}

#[test]
fn words_before_commas_may_be_commas() {
    let (documents, notices) =
        read("Word,Tag\n#107\nBCL10,B-Gene\n,,I-Gene\n1,000,O\n\",O\n , \n.,O\n#108\nx,O\n");
    assert!(notices.is_empty());
    assert_eq!(ids(&documents), ["107", "108"]);
    assert_eq!(documents[0].text, "BCL10 , 1,000 \"\n.");
    assert_eq!(spans(&documents[0]), [("BCL10 ,", "Gene")]);
}

#[test]
fn offsets_rebuild_the_text() {
    let (documents, notices) =
        read("### a.txt\n(\t1\t2\t|B-IUPAC\npropyl\t2\t8\t|I-IUPAC\nβ\t10\t11\t|O\n\n");
    assert!(notices.is_empty());
    assert_eq!(documents[0].text, " (propyl  β");
    assert_eq!(spans(&documents[0]), [("(propyl", "IUPAC")]);
    assert!(documents[0].given.as_ref().unwrap().columns.is_empty());
    let (written, notices) = write(
        &documents,
        ColumnWriterOptions {
            offsets: true,
            mark: DocumentMark::Hashes,
            ..ColumnWriterOptions::default()
        },
    );
    assert!(notices.is_empty());
    assert_eq!(
        written,
        "### a.txt\n(\t1\t2\t|B-IUPAC\npropyl\t2\t8\t|I-IUPAC\nβ\t10\t11\t|O\n\n"
    );
}

#[test]
fn offsets_that_do_not_fit_are_told_and_wild_ones_refused() {
    let (documents, notices) = read("a\t0\t1\t|O\nbc\t1\t2\t|O\nd\t1\t2\t|O\ne\t3\t4\t|O\n");
    assert_eq!(documents[0].text, "abcd e");
    let kinds: Vec<_> = notices
        .all()
        .iter()
        .map(|notice| (notice.kind, notice.line))
        .collect();
    assert_eq!(
        kinds,
        [(NoticeKind::OtherText, Some(2)), (NoticeKind::OtherText, Some(3))]
    );
    let source = Source::text("t", "a\t0\t1\t|O\nb\t99999999999\t100000000000\t|O\n");
    let mut reader = ColumnReader::new(&source, ColumnOptions::default()).unwrap();
    let error = reader.next(&mut Notices::new()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("t:2:1: found a token at 99999999999"),
        "{error}"
    );
}

#[test]
fn several_label_columns_are_layers() {
    let text = "-DOCSTART-\tO\tO\n\nthe\tO\tO\nIL\tB-DNA\tB-protein\n2\tI-DNA\tO\n\n";
    let options = ColumnOptions {
        names: vec!["word".to_owned(), "outer".to_owned(), "inner".to_owned()],
        labels: Some(vec!["outer".parse().unwrap(), Column::FromEnd(1)]),
        ..ColumnOptions::default()
    };
    let (documents, notices) = read_with(text, options);
    assert!(notices.is_empty());
    assert_eq!(spans(&documents[0]), [("IL 2", "DNA"), ("IL", "protein")]);
    assert_eq!(documents[0].annotations[1].attributes["column"], "inner");
    let labels = vec!["outer".to_owned(), "inner".to_owned()];
    let (written, notices) = write(
        &documents,
        ColumnWriterOptions {
            labels,
            ..ColumnWriterOptions::default()
        },
    );
    assert!(notices.is_empty());
    assert_eq!(written, text);
}

#[test]
fn labels_that_are_no_spans_stay_columns() {
    for labels in [["NN", "VB"], ["NN", "?"], ["B_X", "O"]] {
        let text = format!("-DOCSTART-\t?\n\na\t{}\nb\t{}\n\n", labels[0], labels[1]);
        let (documents, notices) = read(&text);
        assert!(notices.is_empty() && documents[0].annotations.is_empty());
        assert_eq!(documents[0].given.as_ref().unwrap().columns, ["label"]);
        let (written, notices) = write(&documents, ColumnWriterOptions::default());
        assert!(notices.is_empty());
        assert_eq!(written, text);
    }
}

#[test]
fn unknown_and_ambiguous_labels_leave_the_others() {
    let text = "a B-X\nb I-X\nc O\n\nd ?\ne B-X|B-Y\nf I-X|O\ng B-Y\n\n";
    let (documents, notices) = read(text);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(spans(&documents[0]), [("a b", "X")]);
    assert_eq!(documents[0].open.as_deref(), Some(&[][..]), "all is known here");
    assert_eq!(spans(&documents[1]), [("g", "Y")]);
    let open = documents[1].open.as_deref().unwrap();
    let labels: Vec<String> = open.iter().map(|open| open.labels.join("|")).collect();
    assert_eq!(labels, ["", "B-X|S-X|S-Y", "E-X|O"]);
    let options = ColumnWriterOptions {
        separator: CellSeparator::Whitespace,
        ..ColumnWriterOptions::default()
    };
    let (written, notices) = write(&documents, options);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(written, text);
}

#[test]
fn a_label_of_no_scheme_is_told_and_unknown() {
    for odd in ["foo", "B_X", "B-", "B"] {
        let (documents, notices) = read(&format!("a B-X\nb {odd}\nc O\n\nd B-X\n"));
        assert_eq!(spans(&documents[0]), [("a", "X")]);
        assert_eq!(spans(&documents[1]), [("d", "X")]);
        let open = documents[0].open.as_deref().unwrap();
        // What comes after it may belong to the first span.
        assert_eq!(open[0].labels, ["B-X", "S-X"]);
        assert_eq!((open[1].range.clone(), open[1].labels.len()), (2..3, 0));
        let [notice] = notices.all() else {
            panic!("{notices:?}");
        };
        assert_eq!((notice.kind, notice.line), (NoticeKind::OddLabel, Some(2)));
        let expected = format!("`{odd}` in t is no label of IOB2");
        assert!(notice.message.starts_with(&expected), "{notice}");
    }
}

#[test]
fn types_with_bars_are_written_and_read_again() {
    let mut document = Document::new("1", "a b");
    document.annotations.push(Annotation::new(0..1, "X|Y"));
    let (written, _) = write(&[document], ColumnWriterOptions::default());
    let (documents, notices) = read(&written);
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!(spans(&documents[0]), [("a", "X|Y")]);
    assert_eq!(documents[0].open, None);
}

#[test]
fn labels_against_the_scheme_are_told() {
    let (documents, notices) = read("a B-X\nb I-X\nc I-Y\nd O\ne B-Y\nf B-X\n");
    assert_eq!(spans(&documents[0]).len(), 4);
    assert_eq!(notices.all().len(), 1);
    assert_eq!(
        (notices.all()[0].kind, notices.all()[0].line),
        (NoticeKind::Scheme, Some(3))
    );
}

#[test]
fn rows_without_a_word_are_told() {
    let (documents, notices) = read("a\tO\n\tO\nb\tO\n");
    assert_eq!(documents[0].text, "a b");
    assert_eq!(
        (notices.all()[0].kind, notices.all()[0].line),
        (NoticeKind::Skipped, Some(2))
    );
}

#[test]
fn what_cannot_be_read_has_a_place() {
    let fail = |text: &str, options: ColumnOptions| {
        ColumnReader::new(&Source::text("t", text), options)
            .unwrap_err()
            .to_string()
    };
    let message = fail("a b O\nc O\n", ColumnOptions::default());
    assert!(
        message.starts_with("t:2:1: found 2 columns, expected 3 as in line 1"),
        "{message}"
    );
    let message = fail(&"a ".repeat(1001), ColumnOptions::default());
    assert!(
        message.starts_with("t:1:1: found a line of 1001 columns, expected at most 1000"),
        "{message}"
    );
    let labels = Some(vec![Column::Named("ner".to_owned())]);
    let message = fail(
        "a O\n",
        ColumnOptions {
            labels,
            ..ColumnOptions::default()
        },
    );
    assert!(
        message.contains("no column `ner`; the columns are word, label"),
        "{message}"
    );
    let word = Some(Column::At(1));
    let message = fail(
        "a O\n",
        ColumnOptions {
            word,
            ..ColumnOptions::default()
        },
    );
    assert!(message.contains("only be one"), "{message}");
}

#[test]
fn an_empty_file_has_no_document() {
    for text in ["", "\n\n", "\u{feff}"] {
        assert!(read(text).0.is_empty());
    }
    assert_eq!(ids(&read("### a\n").0), ["a"]);
}

#[test]
fn any_document_can_be_written() {
    let mut document = Document::new("x\ty", "Take 40mg.\nNow");
    document
        .annotations
        .push(Annotation::new(5..7, "DOSE").with_score(0.5));
    document.annotations.push(Annotation::new(0..10, "ALL"));
    let (written, notices) = write(&[document], ColumnWriterOptions::default());
    assert_eq!(
        written,
        "-DOCSTART-(x y)\tO\n\nTake\tB-ALL\n40mg\tI-ALL\n.\tI-ALL\n\nNow\tO\n\n"
    );
    let kinds: Vec<_> = notices.all().iter().map(|notice| notice.kind).collect();
    assert_eq!(
        kinds,
        [
            NoticeKind::Detail,
            NoticeKind::Detail,
            NoticeKind::Spacing,
            NoticeKind::InsideToken,
            NoticeKind::Nested
        ]
    );
    assert!(
        notices.all()[2]
            .message
            .contains("at 1 place, such as in `40mg.`"),
        "{}",
        notices.all()[2]
    );
}

#[test]
fn blank_words_and_empty_cells_are_kept_or_told() {
    let token = |range, column: &str| GivenToken {
        range,
        columns: vec![column.to_owned()],
        ..GivenToken::default()
    };
    let mut document = Document::new("1", "a  b");
    document.given = Some(GivenTokens {
        columns: vec!["c1".to_owned()],
        sentences: vec![vec![token(0..1, ""), token(1..3, "x"), token(3..4, "y z")]],
        ..GivenTokens::default()
    });
    for separator in [CellSeparator::Tab, CellSeparator::Comma] {
        let options = ColumnWriterOptions {
            separator,
            ..ColumnWriterOptions::default()
        };
        let (written, notices) = write(std::slice::from_ref(&document), options);
        let kinds: Vec<_> = notices.all().iter().map(|notice| notice.kind).collect();
        assert_eq!(kinds, [NoticeKind::Spacing]);
        let options = ColumnOptions {
            separator: Some(separator),
            ..ColumnOptions::default()
        };
        let (again, _) = read_with(&written, options);
        let given = again[0].given.as_ref().unwrap();
        let cells: Vec<&str> = given.sentences[0]
            .iter()
            .map(|token| token.columns[0].as_str())
            .collect();
        assert_eq!((again[0].text.as_str(), cells), ("a    b", vec!["", "x", "y z"]));
    }
    let options = ColumnWriterOptions {
        separator: CellSeparator::Whitespace,
        ..ColumnWriterOptions::default()
    };
    let (written, notices) = write(std::slice::from_ref(&document), options);
    assert_eq!(written, "-DOCSTART- -X- O\n\na _ O\n__ x O\nb y_z O\n\n");
    assert_eq!(notices.all().len(), 4);
}

#[test]
fn changed_white_space_is_told() {
    for (text, places) in [
        ("E. coli grows", 1),
        ("so it is", 0),
        (" so  it\tis", 3),
        ("so it is \n", 0),
    ] {
        let document = Document::new("d", text);
        let (written, notices) = write(std::slice::from_ref(&document), ColumnWriterOptions::default());
        let (again, _) = read(&written);
        let told = notices.counts().get(&NoticeKind::Spacing).copied().unwrap_or(0);
        assert_eq!(told, usize::from(places > 0), "{text}");
        assert_eq!(again[0].text == text.trim_end(), places == 0, "{text}");
        if places > 0 {
            let message = &notices.all()[0].message;
            assert!(message.contains(&format!("at {places} place")), "{message}");
        }
    }
}

fn arbitrary() -> impl Strategy<Value = Vec<Document>> {
    let token = ("[a-zA-Zäβ#,0-9]{1,4}", "[A-Z]{1,2}");
    let sentence = prop::collection::vec((token, 0..4_usize), 1..6);
    let document = ("[a-z][a-z0-9.]{0,5}", prop::collection::vec(sentence, 0..4));
    prop::collection::vec(document.prop_map(|(id, sentences)| build(id, sentences)), 1..4)
}

fn build(id: String, sentences: Vec<Vec<((String, String), usize)>>) -> Document {
    let mut document = Document::new(id, "");
    let mut given = GivenTokens {
        columns: vec!["c1".to_owned()],
        sentences: vec![],
        ..GivenTokens::default()
    };
    for sentence in sentences {
        let mut tokens: Vec<GivenToken> = Vec::new();
        let mut free = 0;
        for ((word, tag), kind) in sentence {
            if !document.text.is_empty() {
                document.text.push(if tokens.is_empty() { '\n' } else { ' ' });
            }
            let start = document.text.len();
            document.text += &word;
            tokens.push(GivenToken {
                range: start..document.text.len(),
                columns: vec![tag],
                ..GivenToken::default()
            });
            // Kind 1 begins a span, kind 2 continues it, the others are outside.
            match (kind, document.annotations.last_mut()) {
                (1, _) => document
                    .annotations
                    .push(Annotation::new(start..document.text.len(), "X-y")),
                (2, Some(last)) if free > 0 => last.fragments[0].end = document.text.len(),
                _ => {}
            }
            free = if kind == 1 || (kind == 2 && free > 0) {
                1
            } else {
                0
            };
        }
        given.sentences.push(tokens);
    }
    document.given = Some(given);
    document
}

proptest! {
    #[test]
    fn written_and_read_again(documents in arbitrary(), tabs in any::<bool>(), scheme in 1..4_usize) {
        let separator = if tabs { CellSeparator::Tab } else { CellSeparator::Whitespace };
        let scheme = fieldmark_core::scheme::Scheme::ALL[scheme];
        let options = ColumnWriterOptions { separator, scheme, ..ColumnWriterOptions::default() };
        let (written, notices) = write(&documents, options);
        prop_assert!(notices.is_empty());
        if documents.iter().any(|document| !document.text.is_empty()) {
            let (mut again, notices) = read(&written);
            prop_assert!(notices.is_empty(), "{:?}", notices);
            let (mut expected, mut no_names) = (documents.clone(), false);
            for document in expected.iter_mut().chain(&mut again) {
                no_names |= document.given.as_ref().unwrap().sentences.is_empty();
            }
            prop_assert_eq!(&mut again, &mut expected, "{} {}", written, no_names);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ab#,|\t\n 0-9OBI-]{0,60}") {
        if let Ok(mut reader) = ColumnReader::new(&Source::text("t", text), ColumnOptions::default()) {
            let mut notices = Notices::new();
            while let Ok(Some(document)) = reader.next(&mut notices) {
                prop_assert_eq!(document.check(), Ok(()));
            }
        }
    }
}

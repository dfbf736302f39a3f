//! Documents: texts of any script, lists, import and export.

use super::*;
use crate::engine::{EXPORT_FORMATS, ExportOptions, ListRequest};
use fieldmark::Pipeline;
use fieldmark::text::Source;
use fieldmark::text::document::{Annotation, OpenLabel};
use fieldmark::text::formats::{DocumentFormat, Notices, ReadOptions};

/// Texts that are hard to count.
const TEXTS: [&str; 6] = [
    "<script>alert('Ada')</script> met <b>Grace</b> &amp; co.",
    "👩🏽‍⚕️ Ada 🧬 met 🇩🇪 Grace 👨‍👩‍👧.",
    "Zoe\u{308} met Ame\u{301}lie in Ko\u{308}ln.",
    "פגשתי את עדה בלונדון אתמול.",
    "エイダはロンドンで会った。王小明去了北京。",
    "line one\r\n\r\n\tline\u{a0}two\u{2028}three 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 end",
];

#[test]
fn offsets_are_those_of_javascript() {
    let place = Place::new(&TEXTS, &["NAME"], everything());
    let mut han = 0;
    for id in 1..=TEXTS.len() as i64 {
        let view = serde_json::to_value(place.engine().document("ada", id).unwrap()).unwrap();
        let text = view["text"].as_str().unwrap();
        assert_eq!(text, TEXTS[id as usize - 1]);
        let units: Vec<u16> = text.encode_utf16().collect();
        let words: Vec<String> = view["tokens"]
            .as_array()
            .unwrap()
            .iter()
            .map(|token| {
                let at = |side: usize| token[side].as_u64().unwrap() as usize;
                String::from_utf16(&units[at(0)..at(1)]).expect("no half of a character")
            })
            .collect();
        let state = place.engine().state();
        let own = state.corpus.get(id as usize - 1);
        let expected: Vec<&str> = (0..own.tokens())
            .map(|token| own.words(token..token + 1))
            .collect();
        assert_eq!(words, expected);
        assert!(words.iter().all(|word| !word.trim().is_empty()), "{words:?}");
        let whole: String = words.concat();
        assert_eq!(
            whole,
            text.split_whitespace().collect::<String>(),
            "nothing is lost"
        );
        han += words
            .iter()
            .filter(|word| ["北", "京"].contains(&word.as_str()))
            .count();
        assert!(
            !words
                .iter()
                .any(|word| word.starts_with('\u{308}') || word.starts_with('\u{301}'))
        );
    }
    assert_eq!(han, 2, "scripts without spaces are cut between characters");
}

/// Characters of scripts without spaces are tokens, wherever they stand; marks stay with their letters.
#[test]
fn digits_and_letters_do_not_swallow_what_comes_after_them() {
    let words = |text: &str| {
        let place = Place::new(&[text], &["NAME"], everything());
        let state = place.engine().state();
        let own = state.corpus.get(0);
        (0..own.tokens())
            .map(|token| own.words(token..token + 1).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        words("2024年3月DNA鑑定"),
        ["2024", "年", "3", "月", "DNA", "鑑", "定"]
    );
    assert_eq!(
        words("か\u{3099}くせいＡＢ"),
        ["か\u{3099}", "く", "せ", "い", "ＡＢ"]
    );
    assert_eq!(words("ที่นี่ 12ก"), ["ที่", "นี่", "12", "ก"]);
    assert_eq!(words("Ko\u{308}ln שָׁלוֹם"), ["Ko\u{308}ln", "שָׁלוֹם"]);
}

fn sent(name: &str, text: &str) -> crate::engine::SentFile {
    crate::engine::SentFile {
        name: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
    }
}

#[test]
fn files_that_belong_together_come_together() {
    let mut place = Place::new(&["Alan slept."], &[], everything());
    let files = vec![
        sent("two.ann", ""),
        sent("one.txt", "Ada met Grace."),
        sent("one.ann", "T1\tNAME 0 3\tAda\nT2\tNAME 8 13\tGrace\n"),
        sent("two.txt", "Nobody came."),
        sent("x.in", "P1 Serum gamma GT\n"),
        sent("x.GENE.eval", "P1|0 11|Serum gamma GT\n"),
        sent("notes.txt", "Tony wrote."),
    ];
    let imported = place.engine().add_files(files.clone(), None).unwrap();
    assert_eq!((imported.added, imported.labelled), (4, 3));
    let name = |id: i64| {
        let view = serde_json::to_value(place.engine().document("ada", id).unwrap()).unwrap();
        view["name"].as_str().unwrap().to_owned()
    };
    assert_eq!([2, 3, 4, 5].map(name), ["two", "one", "P1", "notes.txt"]);
    place.reopen();
    let named = |word: &str, kind: &str| (word.to_owned(), Some(kind.to_owned()));
    assert_eq!(place.known("ada", 3)[0], named("Ada", "NAME"));
    assert_eq!(place.known("ada", 3)[2], named("Grace", "NAME"));
    assert_eq!(
        place.known("ada", 2).len(),
        1,
        "an empty file of annotations says that there are none"
    );
    assert_eq!(place.known("ada", 4), [named("Serum gamma GT", "GENE")]);
    assert_eq!(place.known("ada", 5), [], "a text alone is open");
    let again = place.engine().add_files(files, None).unwrap();
    assert_eq!((again.added, again.repeated), (0, 4));
}

#[test]
fn several_files_come_all_or_not_at_all() {
    let mut place = Place::new(&["Alan slept."], &[], everything());
    for (files, problem) in [
        (vec![sent("a.ann", "T1\tNAME 0 3\tAda\n")], "there is no a.txt"),
        (
            vec![
                sent("b.txt", "Tony wrote."),
                sent("a.txt", "Ada met"),
                sent("a.ann", "nonsense\n"),
            ],
            "a.ann",
        ),
        (
            vec![sent("b.txt", "Tony wrote."), sent("c.jsonl", "{")],
            "c.jsonl",
        ),
        (
            vec![
                sent("a.txt", "Ada met"),
                sent("a.ann", &format!("T1\t{} 0 3\tAda\n", "X".repeat(150))),
            ],
            "too long",
        ),
    ] {
        let error = place.engine().add_files(files, None).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    place.reopen();
    let overview = place.engine().overview("ada").unwrap();
    assert_eq!((overview.documents, overview.types.len()), (1, 0));
}

/// What was exported as an archive comes back as it was.
#[test]
fn archives_are_read_back() {
    let place = Place::new(&["Ada met Grace.", "Alan wrote."], &["NAME"], everything());
    for document in [1, 2] {
        let spans = json!([{ "start": 0, "end": 1, "type": "NAME" }]);
        place
            .act(
                "ada",
                json!({ "kind": "document", "document": document, "spans": spans }),
            )
            .unwrap();
    }
    let archive = place
        .engine()
        .export(DocumentFormat::Brat, &ExportOptions::default())
        .unwrap();
    assert!(archive.name.ends_with(".tar"), "{}", archive.name);
    let other = Place::new(&[], &[], everything());
    let imported = other
        .engine()
        .add_file(&archive.name, None, archive.bytes)
        .unwrap();
    assert_eq!((imported.added, imported.labelled), (2, 2));
    for (id, word) in [(1, "Ada"), (2, "Alan")] {
        assert_eq!(
            other.known("ada", id)[0],
            (word.to_owned(), Some("NAME".to_owned()))
        );
    }
}

#[test]
fn a_table_is_told_from_columns_by_what_is_in_it() {
    let place = Place::new(&[], &["NAME"], everything());
    let table = b"id\ttext\n1\tAda met Grace.\n2\tWe met.\n".to_vec();
    assert_eq!(
        place.engine().add_file("notes.tsv", None, table).unwrap().added,
        2
    );
    let columns = b"Ada\tB-NAME\nmet\tO\n\nWe\tO\n".to_vec();
    let imported = place.engine().add_file("labels.tsv", None, columns).unwrap();
    assert!(imported.labelled > 0);
    assert_eq!(
        place.known("ada", 3)[0],
        ("Ada".to_owned(), Some("NAME".to_owned()))
    );
}

#[test]
fn tokens_that_a_source_leaves_open_stay_open() {
    let place = Place::new(&[], &["NAME"], everything());
    let columns = b"Ada\tB-NAME\nmet\tO\nGrace\t?\nHopper\tI-NAME\nsaid\tB-NAME|O\nyes\tO\n".to_vec();
    let imported = place.engine().add_file("partial.conll", None, columns).unwrap();
    assert_eq!((imported.added, imported.labelled), (1, 1));
    let told = imported
        .notices
        .all()
        .iter()
        .map(|notice| notice.message.as_str());
    assert!(told.collect::<String>().contains("choice of labels"));
    let name = || Some("NAME".to_owned());
    let known = place.known("ada", 1);
    let expected = [("Ada", name()), ("met", None), ("Hopper", name()), ("yes", None)];
    assert_eq!(known, expected.map(|(word, kind)| (word.to_owned(), kind)));
}

/// A source that says `?` means its other labels: outside is outside, even if it is taken as partial.
#[test]
fn partial_documents_keep_what_they_say_is_outside() {
    let partial = ImportOptions {
        partial: true,
        ..ImportOptions::default()
    };
    let mut spans = Document::new("spans", "Ada met Grace");
    spans.annotations.push(Annotation::new(0..3, "NAME"));
    let mut labels = Document::new("labels", "Ada met Grace");
    labels.annotations.push(Annotation::new(0..3, "NAME"));
    labels.open = Some(vec![OpenLabel {
        range: 8..13,
        ..OpenLabel::default()
    }]);
    let place = Place::with(vec![spans, labels], &[], everything(), partial);
    let name = ("Ada".to_owned(), Some("NAME".to_owned()));
    assert_eq!(place.known("ada", 1), std::slice::from_ref(&name));
    assert_eq!(place.known("ada", 2), [name, ("met".to_owned(), None)]);
}

#[test]
fn sentences_have_offsets_of_their_own() {
    let text = "🧬 first one. 👩🏽‍⚕️ Ada met Zoe\u{308} <b>there</b>. The last.";
    let place = Place::new(&[text], &["NAME"], everything());
    let state = place.engine().state();
    for index in 0..state.corpus.get(0).sentences() {
        let sentence = state.estimating().sentence(state.draw(0, index, 2)).unwrap();
        let units: Vec<u16> = sentence.text.encode_utf16().collect();
        for (token, [start, end]) in (sentence.start..sentence.end).zip(&sentence.tokens) {
            let word = String::from_utf16(&units[*start..*end]).unwrap();
            assert_eq!(word, state.corpus.get(0).words(token..token + 1));
        }
        let whole = format!("{}{}{}", sentence.before, sentence.text, sentence.after);
        assert_eq!(whole, text, "what is around it is shown");
    }
}

#[test]
fn equal_strings_get_equal_types() {
    let texts = ["Ada met Ada Bell. Adalbert saw Ada.", "Ada too."];
    let place = Place::new(&texts, &["NAME"], everything());
    place
        .act("ada", json!({ "kind": "assert", "document": 1, "assertions": [{ "start": 2, "end": 4, "type": "NAME" }] }))
        .unwrap();
    let equal = |scope: &str| {
        place
            .act("ada", json!({ "kind": "equal", "document": 1, "start": 0, "end": 1, "type": "NAME", "scope": scope }))
            .unwrap()
            .action
            .summary
    };
    assert_eq!(
        equal("document"),
        "2 places: NAME",
        "what is known stays as it is"
    );
    assert_eq!(
        equal("project"),
        "2 places: NAME",
        "the place itself, and the other document"
    );
    assert_eq!(
        place.known("ada", 2),
        [("Ada".to_owned(), Some("NAME".to_owned()))]
    );
    place.engine().undo("ada", "u", true).unwrap();
    assert_eq!(place.known("ada", 2), []);
}

#[test]
fn documents_are_listed_by_what_was_done() {
    let place = Place::new(
        &["Ada met.", "Grace saw.", "Alan wrote."],
        &["NAME"],
        everything(),
    );
    place
        .act("ada", json!({ "kind": "document", "document": 1 }))
        .unwrap();
    place
        .act("ada", json!({ "kind": "flag", "document": 2 }))
        .unwrap();
    place
        .act("ada", json!({ "kind": "skip", "document": 3 }))
        .unwrap();
    place
        .act(
            "ada",
            json!({ "kind": "comment", "document": 2, "text": "<b>who?</b>" }),
        )
        .unwrap();
    let list = |search: &str, status: &str| {
        let request = ListRequest {
            search: search.into(),
            status: status.into(),
            page: 0,
        };
        let list = serde_json::to_value(place.engine().documents("ada", &request).unwrap()).unwrap();
        let names = list["documents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(list("", ""), ["d0", "d1", "d2"]);
    assert_eq!(list("", "done"), ["d0"]);
    assert_eq!(list("", "new"), ["d1"]);
    assert_eq!(list("", "skipped"), ["d2"]);
    assert_eq!(list("", "flagged"), ["d1"]);
    assert_eq!(list("", "commented"), ["d1"]);
    assert_eq!(list("ALAN", ""), ["d2"]);
    let view = serde_json::to_value(place.engine().document("ada", 2).unwrap()).unwrap();
    assert_eq!(view["comments"][0]["text"], "<b>who?</b>");
    assert_eq!((&view["flagged"], &view["status"]), (&json!(true), &json!("new")));
    assert!(matches!(
        place.engine().document("ada", 9),
        Err(Error::Missing(_))
    ));
}

#[test]
fn what_comes_with_labels_is_known() {
    let documents = sentences(40, 3);
    let place = Place::with(documents.clone(), &[], everything(), ImportOptions::default());
    let overview = place.engine().overview("ada").unwrap();
    assert_eq!(overview.types[0].name, "NAME");
    assert_eq!(overview.progress.labelled_tokens, 320);
    assert_eq!(
        (overview.progress.answers, overview.users),
        (0, vec!["ada".to_owned()])
    );
    assert_eq!(
        place.engine().question("ada", None).unwrap().reason,
        Some("everything is labelled")
    );
    let options = ImportOptions {
        partial: true,
        ..ImportOptions::default()
    };
    let partial = Place::with(documents.clone(), &[], everything(), options);
    let names: usize = documents.iter().map(|document| document.annotations.len()).sum();
    assert_eq!(
        partial.engine().overview("ada").unwrap().progress.labelled_tokens,
        names
    );
    let options = ImportOptions {
        unlabelled: true,
        ..ImportOptions::default()
    };
    let none = Place::with(documents, &["NAME"], everything(), options);
    assert_eq!(none.engine().overview("ada").unwrap().progress.labelled_tokens, 0);
}

#[test]
fn documents_can_be_added_while_people_work() {
    let mut place = Place::new(&["Ada met Grace."], &["NAME"], everything());
    place
        .act("ada", json!({ "kind": "assert", "document": 1, "assertions": [{ "start": 0, "end": 1, "type": "NAME" }] }))
        .unwrap();
    let columns = b"Alan B-PER\nwrote O\n\nTony B-PER\nslept O\n".to_vec();
    let imported = place
        .engine()
        .add_file("../../x/more.iob", None, columns.clone())
        .unwrap();
    assert_eq!((imported.added, imported.labelled), (2, 2));
    let again = place.engine().add_file("more.iob", None, columns).unwrap();
    assert_eq!((again.added, again.repeated), (0, 2));
    let text = place
        .engine()
        .add_file("t.txt", None, "Edsger <i>wrote</i>".into())
        .unwrap();
    assert_eq!((text.added, text.labelled), (1, 0));
    let before = place.engine().overview("ada").unwrap();
    assert_eq!(
        (
            before.documents,
            before.types.len(),
            before.progress.labelled_tokens
        ),
        (4, 2, 5)
    );
    assert_eq!(
        place.known("ada", 1),
        [("Ada".to_owned(), Some("NAME".to_owned()))]
    );
    assert_eq!(
        place.known("ada", 3)[0],
        ("Tony".to_owned(), Some("PER".to_owned()))
    );
    place.reopen();
    let after = place.engine().overview("ada").unwrap();
    assert_eq!((after.documents, after.progress.labelled_tokens), (4, 5));
    assert!(
        place
            .engine()
            .add_file("a.bioc", None, b"<nothing".to_vec())
            .is_err()
    );
    assert!(place.engine().add_file("a.jsonl", None, b"{".to_vec()).is_err());
}

/// What was marked is read back from every format that can hold it.
#[test]
fn exports_are_read_back() {
    let place = Place::new(
        &["Ada met Grace Bell in Paris.", "Alan slept."],
        &["NAME", "PLACE"],
        everything(),
    );
    place
        .act(
            "ada",
            json!({ "kind": "document", "document": 1, "spans": [
            { "start": 0, "end": 1, "type": "NAME" }, { "start": 2, "end": 4, "type": "NAME" },
            { "start": 5, "end": 6, "type": "PLACE" }] }),
        )
        .unwrap();
    place
        .act(
            "ada",
            json!({ "kind": "document", "document": 2, "spans": [{ "start": 0, "end": 1, "type": "NAME" }] }),
        )
        .unwrap();
    let expected = [
        ("Ada", "NAME"),
        ("Grace Bell", "NAME"),
        ("Paris", "PLACE"),
        ("Alan", "NAME"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for &format in EXPORT_FORMATS {
        let options = ExportOptions::default();
        let exported = place.engine().export(format, &options).unwrap();
        assert!(!exported.bytes.is_empty(), "{format}");
        let path = folder.path().join(format!("out-{format}"));
        place.engine().export_to(format, &path, &options).unwrap();
        let has_spans = !matches!(
            format,
            DocumentFormat::Text
                | DocumentFormat::Medline
                | DocumentFormat::Pubmed
                | DocumentFormat::Jats
                | DocumentFormat::Csv
                | DocumentFormat::Tsv
                | DocumentFormat::GeneMention
                | DocumentFormat::Html
        );
        if !has_spans {
            continue;
        }
        let read = ReadOptions {
            format: Some(format),
            ..ReadOptions::default()
        };
        let mut reader = read.open(&Source::File(path)).unwrap();
        let mut found = Vec::new();
        while let Some(document) = reader.next(&mut Notices::new()).unwrap() {
            let text = |one: &Annotation| (one.text(&document.text).to_owned(), one.kind.clone());
            found.extend(document.annotations.iter().map(text));
        }
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(text, kind)| (text.as_str(), kind.as_str()))
            .collect();
        assert_eq!(found, expected, "{format}");
    }
    let error = place
        .engine()
        .export(DocumentFormat::Pdf, &ExportOptions::default())
        .unwrap_err();
    assert!(error.to_string().contains("pdf"), "{error}");
}

#[test]
fn an_export_of_one_person_or_with_the_model() {
    let documents = sentences(30, 4);
    let place = Place::with(documents.clone(), &[], everything(), ImportOptions::default());
    place
        .engine()
        .add_file("new.txt", None, b"Ada met Grace".to_vec())
        .unwrap();
    place.add_user("bob");
    place
        .act("bob", json!({ "kind": "assert", "document": 31, "assertions": [{ "start": 0, "end": 1, "type": "NAME" }] }))
        .unwrap();
    let spans = |options: &ExportOptions| {
        let exported = place.engine().export(DocumentFormat::Jsonl, options).unwrap();
        let text = String::from_utf8(exported.bytes).unwrap();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Document>(line).unwrap());
        lines
            .map(|document| document.annotations.len())
            .collect::<Vec<_>>()
    };
    let all = spans(&ExportOptions::default());
    assert_eq!((all.len(), all[30]), (31, 1));
    let bob = spans(&ExportOptions {
        user: Some("bob".into()),
        labelled_only: true,
        ..ExportOptions::default()
    });
    assert_eq!(bob, [1]);
    place.engine().train_now();
    let filled = spans(&ExportOptions {
        fill: true,
        ..ExportOptions::default()
    });
    assert_eq!(filled[30], 2, "the model finds the other name");
    assert!(
        place
            .engine()
            .export(
                DocumentFormat::Jsonl,
                &ExportOptions {
                    user: Some("eve".into()),
                    ..ExportOptions::default()
                }
            )
            .is_err()
    );
}

#[test]
fn the_model_is_a_file_that_marks_text() {
    let place = Place::new(&["nothing"], &["NAME"], everything());
    assert!(matches!(place.engine().model_file(), Err(Error::Conflict(_))));
    let place = Place::with(sentences(30, 5), &[], everything(), ImportOptions::default());
    let path = place.engine().model_file().unwrap();
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    let pipeline = Pipeline::open(&path).unwrap();
    assert_eq!(pipeline.card.data.documents, 30);
    let mut document = Document::new("", "then Konrad met Grace");
    pipeline.annotator().annotate(&mut document).unwrap();
    let found: Vec<&str> = document
        .annotations
        .iter()
        .map(|one| one.text(&document.text))
        .collect();
    assert_eq!(found, ["Konrad", "Grace"]);
    place.engine().model_file().unwrap();
    assert_eq!(
        std::fs::metadata(&path).unwrap().modified().unwrap(),
        written,
        "it is as good as new"
    );
}

/// A file that cannot be used leaves nothing behind, so that its mended version can be sent.
#[test]
fn a_file_with_a_bad_type_leaves_nothing_behind() {
    let mut place = Place::new(&["Ada met Grace."], &["NAME"], everything());
    let columns = |kind: &str| format!("Alan B-PER\nwrote O\n\nTony B-{kind}\nslept O\n").into_bytes();
    let bad = place
        .engine()
        .add_file("a.iob", None, columns(&"X".repeat(150)))
        .unwrap_err();
    assert!(bad.to_string().contains("too long"), "{bad}");
    let overview = place.engine().overview("ada").unwrap();
    assert_eq!((overview.documents, overview.types.len()), (1, 1));
    place.engine().add_type("ada", &new_type("NEW")).unwrap();
    let mended = place.engine().add_file("a.iob", None, columns("PLACE")).unwrap();
    assert_eq!((mended.added, mended.labelled, mended.repeated), (2, 2, 0));
    for _ in 0..2 {
        let names: Vec<String> = place
            .engine()
            .overview("ada")
            .unwrap()
            .types
            .iter()
            .map(|one| one.name.clone())
            .collect();
        assert_eq!(names, ["NAME", "NEW", "PER", "PLACE"]);
        assert_eq!(
            place.known("ada", 3)[0],
            ("Tony".to_owned(), Some("PLACE".to_owned()))
        );
        place.reopen();
    }
}

/// No file of text has a place for NUL: it comes in as a blank, and every export is read back.
#[test]
fn characters_that_no_file_can_hold_become_blanks() {
    let place = Place::new(&[], &["NAME"], everything());
    let json = br#"{"id":"a\u0000b","text":"Ada\u0000met Gra\u0000ce","who":"x\u0000y"}"#.to_vec();
    let imported = place.engine().add_file("a.jsonl", None, json).unwrap();
    let told: Vec<String> = imported.notices.all().iter().map(ToString::to_string).collect();
    assert!(
        told[0].contains("a b: ") && told[0].contains("4 NUL characters"),
        "{told:?}"
    );
    let folder = tempfile::tempdir().unwrap();
    for &format in EXPORT_FORMATS {
        let path = folder.path().join(format!("out-{format}"));
        place
            .engine()
            .export_to(format, &path, &ExportOptions::default())
            .unwrap();
        // What only whole articles have is written, but there is none.
        if matches!(format, DocumentFormat::GeneMention | DocumentFormat::Html) {
            continue;
        }
        let read = ReadOptions {
            format: Some(format),
            ..ReadOptions::default()
        };
        let mut reader = read
            .open(&Source::File(path))
            .unwrap_or_else(|error| panic!("{format}: {error}"));
        let found = reader.next(&mut Notices::new());
        let found = found.unwrap_or_else(|error| panic!("{format}: {error}")).unwrap();
        assert!(!found.text.contains('\0'), "{format}");
        assert!(
            found.text.contains("Ada met Gra ce"),
            "{format}: {:?}",
            found.text
        );
    }
}

/// A type whose name a format cannot hold has another one there, and people are told.
#[test]
fn other_names_of_types_are_told_at_the_export() {
    let place = Place::new(
        &["Ada met Grace."],
        &["A|B", "Gr\u{f6}\u{df}e", "C++"],
        everything(),
    );
    let spans = json!([
        { "start": 0, "end": 1, "type": "A|B" }, { "start": 1, "end": 2, "type": "Gr\u{f6}\u{df}e" },
        { "start": 2, "end": 3, "type": "C++" }]);
    place
        .act(
            "ada",
            json!({ "kind": "document", "document": 1, "spans": spans }),
        )
        .unwrap();
    let export = |format| place.engine().export(format, &ExportOptions::default()).unwrap();
    let warning = export(DocumentFormat::Conllu).warning.unwrap();
    let told = "the type `A|B` has no place in the last column and is `A_B` now";
    assert_eq!(warning, told);
    let warning = export(DocumentFormat::InlineXml).warning.unwrap();
    assert!(
        warning.contains("`A|B`") && warning.contains("`C__`"),
        "{warning}"
    );
    assert!(warning.is_ascii());
    for format in [
        DocumentFormat::Jsonl,
        DocumentFormat::Columns,
        DocumentFormat::Brat,
        DocumentFormat::Bioc,
        DocumentFormat::Doccano,
    ] {
        assert_eq!(export(format).warning, None, "{format}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let notices = place
        .engine()
        .export_to(DocumentFormat::Conllu, &path, &ExportOptions::default())
        .unwrap();
    let told = notices
        .all()
        .iter()
        .filter(|one| one.message.contains("A_B"))
        .count();
    assert_eq!(told, 1, "{notices:?}");
}

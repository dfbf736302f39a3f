//! The pages in a real browser, used as people use them.
//!
//! Pictures of every view are kept in `target/tmp/screenshots`. Nothing here is measured by the clock.

mod chromium;
#[path = "../common/mod.rs"]
mod common;
mod oracle;
mod scripts;
mod served;
mod tab;
mod try_page;

use chromium::{Browser, Person};
use served::Served;
use std::path::Path;
use tab::Tab;

const AUDIT: &str = include_str!("audit.js");

/// What the page would tell about itself.
fn get(tab: &Tab, path: &str) -> serde_json::Value {
    tab.eval(&format!("fetch('{path}').then((answer) => answer.json())"))
}

/// Looks at the page in both widths and both schemes.
fn look_around(tab: &Tab, name: &str) {
    for (width, height, dark) in [
        (1280, 900, false),
        (1280, 900, true),
        (390, 844, false),
        (390, 844, true),
    ] {
        tab.look(width, height, dark);
        let scheme = if dark { "dark" } else { "light" };
        tab.picture(&format!("{name}-{width}-{scheme}"));
        let problems = tab.eval(AUDIT);
        assert_eq!(problems, serde_json::json!([]), "{name} at {width}, {scheme}");
    }
    tab.look(1280, 900, false);
}

fn open(person: &Person, link: &str) -> Tab {
    let tab = Tab::open(person, link);
    tab.until("document.querySelector('#views a')");
    tab
}

fn calm(tab: &Tab) {
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

/// The parts of the page that only compute, as the browser runs them.
#[test]
fn what_the_page_computes() {
    let place = tempfile::tempdir().unwrap();
    let served = Served::start(place.path(), "--port 0");
    let browser = Browser::start();
    let tab = open(&browser.person(), &served.link);
    assert_eq!(tab.eval(include_str!("units.js")), serde_json::json!([]));
    calm(&tab);
}

#[test]
fn fifty_answers_by_keyboard_teach_a_model() {
    let place = tempfile::tempdir().unwrap();
    let notes = place.path().join("notes.jsonl");
    std::fs::write(&notes, oracle::notes(40)).unwrap();
    let served = Served::start(place.path(), "--port 0 --batch 10 --seed 7");
    let browser = Browser::start();
    let person = browser.person();
    let tab = open(&person, &served.link);

    // A project without anything: texts and types come from the page.
    tab.until("document.querySelector('.welcome')");
    look_around(&tab, "welcome");
    tab.choose_files("#files", &[notes]);
    tab.until("document.querySelector('.upload .said')?.innerText.includes('40 documents added')");
    for name in ["DRUG", "PROBLEM"] {
        tab.focus(".welcome form input[maxlength]");
        tab.write(name);
        tab.press("Enter");
        let made = format!(
            "[...document.querySelectorAll('.typelist li > input')].some((field) => field.value === '{name}')"
        );
        tab.until(&made);
    }
    tab.focus(".welcome p.row:last-child button");
    tab.press("Enter");

    // Most of the test is there before the first model, so that all models are measured by nearly the same.
    for id in held_out(&tab).into_iter().skip(2) {
        tab.visit(&format!("read/{id}"), ".paper [data-token]");
        oracle::mark_document(&tab);
    }
    let before = get(&tab, "/api/project")["progress"]["answers"].as_u64().unwrap();
    tab.visit("ask", ".question [data-token]");
    let mut sentences = 0;
    for _ in 0..50 {
        if tab.text(".question h2") == "Is every span of this sentence right?" {
            sentences += 1;
            tab.press("n");
            if sentences == 1 {
                look_around(&tab, "sentence");
            }
        }
        oracle::answer(&tab);
    }
    assert!(
        sentences >= 4,
        "every tenth question is a sentence that is held out"
    );
    look_around(&tab, "ask");
    let progress = get(&tab, "/api/project")["progress"].clone();
    assert_eq!(progress["answers"], before + 50);

    undo_and_redo(&tab);
    the_curve_rises(&tab);
    the_rest_of_the_page(&tab);
    saved_files_can_be_read(&tab, &person, place.path());
    calm(&tab);
    a_type_goes_and_comes_back(&open(&person, &served.link));
}

/// A type that something is marked with goes after a second word, and takes nothing with it.
fn a_type_goes_and_comes_back(tab: &Tab) {
    let labelled = || {
        get(tab, "/api/project")["progress"]["labelled_tokens"]
            .as_u64()
            .unwrap()
    };
    let types = |count: usize| {
        tab.until(&format!(
            "!document.querySelector('dialog') && document.querySelectorAll('.typelist li').length === {count}"
        ));
    };
    tab.visit("types", ".typelist li");
    let (before, remove) = (labelled(), || {
        tab.click(".typelist li button.round");
        tab.until("document.querySelector('dialog[open]')?.innerText.includes('marked as')");
    });
    remove();
    look_around(tab, "remove-type");
    tab.press("Escape");
    types(2);
    assert_eq!(labelled(), before);
    remove();
    tab.press("Enter");
    types(1);
    assert!(labelled() < before);
    tab.focus("form input[maxlength]");
    tab.write("DRUG");
    tab.press("Enter");
    types(2);
    assert_eq!(labelled(), before);
    let complaints = tab.complaints();
    assert!(
        complaints.len() == 2 && complaints.iter().all(|one| one.contains("409")),
        "the server asked twice, and that is all: {complaints:?}"
    );
    // What was found before the type went is of no use any more, and the page says so.
    tab.visit("doubts", "main button");
    tab.until("document.querySelector('main [role=alert]')?.innerText.includes('out of date')");
    look_around(tab, "doubts-outdated");
    tab.click("main button.primary");
    tab.until("document.querySelector('.doubts li') || document.querySelector('main').innerText.includes('No label is')");
}

fn held_out(tab: &Tab) -> Vec<u64> {
    let list = get(tab, "/api/documents?status=held-out&search=&page=1");
    let documents = list["documents"].as_array().unwrap();
    documents
        .iter()
        .map(|document| document["id"].as_u64().unwrap())
        .collect()
}

/// An answer that is taken back is asked again, and comes back with redo.
fn undo_and_redo(tab: &Tab) {
    let tokens = |tab: &Tab| {
        get(tab, "/api/project")["progress"]["labelled_tokens"]
            .as_u64()
            .unwrap()
    };
    let before = tokens(tab);
    oracle::answer(tab);
    let after = tokens(tab);
    assert!(after > before);
    let shown = oracle::shown(tab);
    tab.press("u");
    tab.until(&format!(
        "document.querySelector('.question').dataset.shown > {shown}"
    ));
    assert_eq!(tokens(tab), before);
    tab.press("shift+z");
    tab.until("document.querySelector('#redo').disabled");
    assert_eq!(tokens(tab), after);
}

fn the_curve_rises(tab: &Tab) {
    tab.until("fetch('/api/progress').then((answer) => answer.json()).then(({ curve }) => curve.length > 2)");
    let curve = get(tab, "/api/progress")["curve"].clone();
    let points = curve.as_array().unwrap();
    let f1 = |point: &serde_json::Value| point["token_f1"].as_f64().unwrap();
    println!("{curve}");
    let (first, last) = (f1(&points[0]), f1(points.last().unwrap()));
    assert!(last > first + 0.2 && last > 0.7, "{curve}");
    tab.visit("progress", ".plot polyline");
    assert!(tab.text(".gain").contains("Token F1 is"));
    look_around(tab, "progress");
}

fn the_rest_of_the_page(tab: &Tab) {
    tab.visit("documents", ".documents li");
    look_around(tab, "documents");
    tab.focus("input[type=search]");
    tab.write("note-03");
    tab.until("document.querySelectorAll('.documents li').length === 1");
    tab.click(".documents .name");
    tab.until("document.querySelector('.paper [data-token]')");
    tab.press("n");
    look_around(tab, "read");
    tab.visit("types", ".typelist li");
    look_around(tab, "types");
    tab.visit("agreement", ".card");
    tab.visit("take", ".formats button");
    look_around(tab, "take");
    tab.visit("settings", ".settings");
    look_around(tab, "settings");
    a_mistake_is_found(tab);
    tab.press("?");
    tab.until("document.querySelector('dialog[open] dt')");
    look_around(tab, "shortcuts");
    tab.press("Escape");
    tab.until("!document.querySelector('dialog')");
}

/// One drug is called a problem; the model, which has seen the others, does not believe it.
fn a_mistake_is_found(tab: &Tab) {
    let list = get(tab, "/api/documents?search=aspirin&status=&page=1");
    let documents = list["documents"].as_array().unwrap();
    let document = documents
        .iter()
        .find(|document| document["held_out"] == false)
        .unwrap();
    tab.visit(&format!("read/{}", document["id"]), ".paper [data-token]");
    choose_word(tab, "aspirin");
    tab.press("2");
    saved(tab);
    tab.visit("doubts", "main button");
    tab.click("main button.primary");
    // Others may be doubted as well.
    let doubt = "[...document.querySelectorAll('.doubts li')].findIndex((doubt) =>
        doubt.querySelector('q').innerText === 'aspirin' && doubt.querySelector('.kind').innerText === 'PROBLEM')";
    tab.until(&format!("{doubt} >= 0"));
    look_around(tab, "doubts");
    let before = tab
        .eval("document.querySelectorAll('.doubts li').length")
        .as_u64()
        .unwrap();
    let at = tab.eval(doubt).as_u64().unwrap();
    tab.press_all("n", at as usize);
    tab.until("document.querySelector('.question h2').innerText === 'Is “aspirin” really PROBLEM?'");
    tab.press("1");
    tab.until(&format!(
        "document.querySelectorAll('.doubts li').length < {before}"
    ));
    tab.until(&format!("{doubt} < 0"));
}

/// The export is read by the program, and the model tags.
fn saved_files_can_be_read(tab: &Tab, person: &Person, place: &Path) {
    let saved = place.join("saved");
    std::fs::create_dir(&saved).unwrap();
    person.save_in(&saved);
    tab.visit("take", ".formats button");
    tab.eval("[...document.querySelectorAll('.formats button')].find((format) => format.innerText === 'jsonl').click()");
    tab.until("document.querySelector('main [role=status]').innerText.startsWith('Saved as')");
    tab.until("document.querySelector('main [role=status]').innerText.includes('nothing is known of them')");
    tab.click("main .primary");
    tab.until("document.querySelector('main [role=status]').innerText === 'Saved as model.fmk.'");
    let annotations = wait_for_file(&saved, |name| name.ends_with(".jsonl"));
    wait_for_file(&saved, |name| name == "model.fmk");
    let lines = std::fs::read_to_string(saved.join(&annotations)).unwrap();
    assert_eq!(lines.lines().count(), 40, "one line for each document");
    assert!(lines.contains("\"DRUG\""), "{lines}");
    served::run(
        place,
        &format!("convert saved/{annotations} read-back.txt --to columns"),
    );
    let columns = std::fs::read_to_string(place.join("read-back.txt")).unwrap();
    assert!(columns.contains("B-DRUG"), "{columns}");
    std::fs::write(place.join("new.txt"), "We gave furosemide for gout on Monday.\n").unwrap();
    let tagged = served::run(place, "tag saved/model.fmk new.txt --to jsonl");
    assert!(tagged.contains("DRUG"), "{tagged}");
}

fn wait_for_file(directory: &Path, wanted: impl Fn(&str) -> bool) -> String {
    for _ in 0..1000 {
        let names = std::fs::read_dir(directory).unwrap();
        let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        if let Some(name) = names.find(|name| wanted(name)) {
            return name;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("nothing was saved in {}", directory.display());
}

/// Clicks on the token of a document with these words.
fn choose_word(tab: &Tab, word: &str) {
    let token = format!(
        "[...document.querySelectorAll('.paper [data-token]')].find((token) => token.textContent === '{word}')"
    );
    tab.until(&token);
    let (x, y) = tab.place(&token, 0.5);
    tab.drag((x, y), (x, y));
    tab.until(&format!("({token}).classList.contains('chosen')"));
}

fn saved(tab: &Tab) {
    tab.until("document.querySelector('#saving').hidden && !document.querySelector('mark.sent')");
}

#[test]
fn two_annotators_differ_and_one_key_decides() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(
        place.path().join("a.txt"),
        "We gave furosemide for gout on Monday.\n",
    )
    .unwrap();
    let link = served::run(
        place.path(),
        "annotate project a.txt --type DRUG --type PROBLEM --add-user ben",
    );
    let token = link
        .split("token=")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap()
        .to_owned();
    let served = Served::start(place.path(), "--port 0 --user anna");
    let address = served.link.split("?token=").next().unwrap();
    let browser = Browser::start();
    let (anna, ben) = (browser.person(), browser.person());
    let hers = open(&anna, &served.link);
    let his = open(&ben, &format!("{address}?token={token}"));
    for (tab, key) in [(&hers, "1"), (&his, "2")] {
        tab.visit("read/1", ".paper [data-token]");
        choose_word(tab, "furosemide");
        tab.press(key);
        tab.until("document.querySelector('mark.known')");
        saved(tab);
        choose_word(tab, "gout");
        tab.press("2");
        tab.until("document.querySelectorAll('mark.known').length === 2");
        saved(tab);
    }
    look_around(&his, "read-known");
    hers.visit("agreement", ".figures");
    hers.until("document.querySelector('main').innerText.includes('1 conflict')");
    look_around(&hers, "agreement");
    hers.click(".documents .name");
    hers.until(
        "document.querySelectorAll('.version').length === 2 && document.querySelector('.version .asked')",
    );
    look_around(&hers, "adjudicate");
    let words = hers.text("main");
    assert!(
        words.contains("DRUG “furosemide”") && words.contains("PROBLEM “furosemide”"),
        "{words}"
    );
    let users =
        hers.eval("[...document.querySelectorAll('.version h3 bdi')].map((user) => user.textContent)");
    let right = if users[0] == "ben" { "b" } else { "a" };
    hers.press(right);
    hers.until(
        "document.querySelector('main').innerText.includes('All conflicts of this document are decided')",
    );
    let decided = [("furosemide", "DRUG"), ("gout", "PROBLEM")]
        .map(|(words, kind)| (words.to_owned(), kind.to_owned()));
    assert_eq!(spans_with(&hers, "gout"), decided);
    calm(&hers);
    calm(&his);
}

/// Fills a field and leaves it.
fn rewrite(tab: &Tab, field: &str, text: &str) {
    tab.focus(field);
    tab.eval(&format!("document.querySelector('{field}').select()"));
    tab.write(text);
}

#[test]
fn settings_are_changed_by_keyboard_and_kept() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("notes.jsonl"), oracle::notes(30)).unwrap();
    let arguments = "--port 0 --type DRUG --type PROBLEM notes.jsonl";
    let served = Served::start(place.path(), arguments);
    let browser = Browser::start();
    let tab = open(&browser.person(), &served.link);
    tab.visit("settings", ".settings");
    let before = held_out(&tab).len();

    // From field to field with the tab key: all of them can be reached, in the order of the page.
    tab.focus("#setting-strategy");
    let mut reached = Vec::new();
    for _ in 0..11 {
        reached.push(tab.eval("document.activeElement.name || document.activeElement.innerText"));
        tab.press("Tab");
    }
    let expected = [
        "strategy", "unit", "held_out", "shared", "seed", "batch", "order", "c2", "c1", "patterns", "Save",
    ];
    assert_eq!(reached, expected);

    tab.focus("#setting-unit");
    tab.press("ArrowDown");
    tab.until("document.querySelector('#setting-unit').value === 'sentence'");
    rewrite(&tab, "#setting-held_out", "0.5");
    rewrite(&tab, "#setting-patterns", "DRUG=aspirin|heparin");
    tab.focus("#setting-batch");
    tab.press("Enter");
    tab.until("document.querySelector('main > section > [role=status]').innerText === 'Saved.'");
    let settings = get(&tab, "/api/settings");
    assert_eq!(
        (&settings["held_out"], &settings["unit"]),
        (&serde_json::json!(0.5), &serde_json::json!("sentence"))
    );
    assert!(held_out(&tab).len() > before);
    look_around(&tab, "settings-saved");

    // What cannot be is refused with a sentence, and stays in the form to be mended.
    rewrite(&tab, "#setting-patterns", "DRUG=(");
    tab.focus("#setting-batch");
    tab.press("Enter");
    tab.until("document.querySelector('main > section > [role=status]').innerText.includes('not a regular expression')");
    assert_eq!(
        tab.eval("document.querySelector('#setting-patterns').value"),
        "DRUG=("
    );
    assert_eq!(get(&tab, "/api/settings"), settings);
    tab.visit("ask", ".question [data-token]");
    assert_eq!(tab.text(".question .chip.held"), "whole sentence");
    look_around(&tab, "ask-sentence");
    drop(served);

    let served = Served::start(place.path(), "--port 0");
    let tab = open(&browser.person(), &served.link);
    assert_eq!(get(&tab, "/api/settings"), settings);
    calm(&tab);
}

/// A text and its annotations are chosen together.
#[test]
fn brat_files_come_in_together() {
    let place = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        std::fs::write(place.path().join(name), text).unwrap();
        place.path().join(name)
    };
    let text = file("a.txt", "We gave furosemide for gout on Monday.\n");
    let annotations = file("a.ann", "T1\tDRUG 8 18\tfurosemide\nT2\tPROBLEM 23 27\tgout\n");
    let other = file("b.txt", "Nothing to see.\n");
    let bad = file("b.ann", "this is no annotation\n");
    let served = Served::start(place.path(), "--port 0");
    let browser = Browser::start();
    let tab = open(&browser.person(), &served.link);
    tab.visit("documents", ".adding summary");
    tab.click(".adding summary");
    let said = |words: &str| {
        tab.until(&format!(
            "document.querySelector('.upload .said').innerText.includes('{words}')"
        ))
    };
    tab.choose_files("#files", std::slice::from_ref(&annotations));
    said("there is no a.txt among the files");
    tab.choose_files("#files", &[text.clone(), annotations.clone(), other.clone(), bad]);
    said("Nothing of 4 files was added");
    look_around(&tab, "upload");
    assert_eq!(get(&tab, "/api/project")["documents"], 0);
    tab.choose_files("#files", &[annotations, text, other]);
    said("2 documents added");
    tab.visit("read/1", ".paper mark.known");
    let marks = tab.eval(
        "[...document.querySelectorAll('.paper mark.known')].map((mark) =>
            [mark.querySelector('[data-token]').textContent, mark.querySelector('.tag bdi').textContent])",
    );
    assert_eq!(
        marks,
        serde_json::json!([["furosemide", "DRUG"], ["gout", "PROBLEM"]])
    );
    // The two that were refused, and nothing else.
    let complaints = tab.complaints();
    let refused = |complaint: &&String| complaint.contains("status of 422");
    assert_eq!(
        (complaints.len(), complaints.iter().filter(refused).count()),
        (2, 2),
        "{complaints:?}"
    );
}

const STRANGE: &str = "Takes 💊 aspirin <script>window.hacked = 1</script> with cafe\u{301} 👩‍👩‍👧‍👦 and <img src=x \
    onerror=\"window.hacked = 1\"> no gout.\n";

#[test]
fn strange_texts_stay_texts_and_keep_their_offsets() {
    let place = tempfile::tempdir().unwrap();
    let name = "<b onclick=alert(1)>.txt";
    std::fs::write(place.path().join(name), STRANGE).unwrap();
    std::fs::write(place.path().join("rtl.txt"), "يتناول المريض الأسبرين يوميا.\n").unwrap();
    let served = Served::start(
        place.path(),
        &format!("--port 0 --type DRUG --type PROBLEM {}", "rtl.txt"),
    );
    let browser = Browser::start();
    let person = browser.person();
    let tab = open(&person, &served.link);
    tab.visit("documents", ".documents li");
    tab.choose_files("#files", &[place.path().join(name)]);
    tab.until("document.querySelectorAll('.documents li').length === 2");
    tab.visit("read/2", ".paper [data-token]");
    assert_eq!(
        tab.eval("document.querySelector('.paper .text').textContent.includes('<script>window.hacked')"),
        true
    );

    // From the middle of one token to the middle of another: the range is made of whole tokens.
    let token = |word: &str| {
        format!(
            "[...document.querySelectorAll('.paper [data-token]')].find((token) => token.textContent === '{word}')"
        )
    };
    let from = tab.place(&token("aspirin"), 0.4);
    tab.drag(tab.place(&token("💊"), 0.5), from);
    tab.until("document.querySelectorAll('[data-token].chosen').length >= 2");
    tab.press("1");
    saved(&tab);
    choose_word(&tab, "gout");
    tab.press("2");
    saved(&tab);
    tab.until("document.querySelectorAll('mark.known').length === 2");
    look_around(&tab, "strange");
    assert_eq!(tab.eval("window.hacked === undefined"), true);
    assert_eq!(
        spans_with(&tab, "gout"),
        [
            ("💊 aspirin".to_owned(), "DRUG".to_owned()),
            ("gout".to_owned(), "PROBLEM".to_owned())
        ]
    );

    // In Arabic, the next word is on the left.
    tab.visit("read/1", ".paper [data-token]");
    tab.until("document.querySelector('.paper .text').textContent.includes('الأسبرين')");
    tab.press("ArrowLeft");
    tab.press("ArrowLeft");
    tab.press("ArrowLeft");
    tab.until("document.querySelector('.chosen')?.textContent === 'الأسبرين'");
    tab.press("1");
    saved(&tab);
    look_around(&tab, "right-to-left");
    assert_eq!(
        spans_with(&tab, "الأسبرين"),
        [("الأسبرين".to_owned(), "DRUG".to_owned())]
    );
    calm(&tab);
}

/// The exported spans of the document with a word: their texts, by offsets in characters, and types.
fn spans_with(tab: &Tab, word: &str) -> Vec<(String, String)> {
    let lines = tab.eval("fetch('/api/export?format=doccano').then((answer) => answer.text())");
    let documents = lines.as_str().unwrap().lines();
    let mut documents = documents.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let document = documents
        .find(|document| document["text"].as_str().unwrap().contains(word))
        .unwrap();
    let text: Vec<char> = document["text"].as_str().unwrap().chars().collect();
    let number = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    let span = |span: &serde_json::Value| {
        let inside = &text[number(&span[0])..number(&span[1])];
        (inside.iter().collect(), span[2].as_str().unwrap().to_owned())
    };
    document["label"].as_array().unwrap().iter().map(span).collect()
}

#[test]
fn an_answer_without_a_network_is_not_called_saved_and_is_not_lost() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("notes.jsonl"), oracle::notes(3)).unwrap();
    let served = Served::start(place.path(), "--port 0 --type DRUG --type PROBLEM notes.jsonl");
    let browser = Browser::start();
    let person = browser.person();
    let tab = open(&person, &served.link);
    oracle::answer(&tab);
    let shown = oracle::shown(&tab);
    tab.offline(true);
    tab.press("o");
    tab.until("!document.querySelector('#trouble').hidden");
    assert!(
        tab.text("#trouble").contains("1 change will be sent again"),
        "{}",
        tab.text("#trouble")
    );
    assert_eq!(
        oracle::shown(&tab),
        shown,
        "the question stays until its answer is stored"
    );
    tab.picture("offline");
    tab.offline(false);
    tab.until(&format!(
        "document.querySelector('.question').dataset.shown > {shown}"
    ));
    tab.until("document.querySelector('#trouble').hidden");
    assert_eq!(get(&tab, "/api/project")["progress"]["answers"], 2, "stored once");
}

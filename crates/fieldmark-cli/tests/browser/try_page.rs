//! The page to try a model, in the same browser.

use crate::chromium::Browser;
use crate::common::Place;
use crate::common::serving::Serving;
use crate::tab::Tab;
use crate::{calm, look_around};

/// A type that a page would run, if it took it for HTML.
const SCRIPT: &str = "<img/src=x/onerror=window.hacked=1>";

fn has_marks(tab: &Tab, marks: usize) {
    tab.until(&format!(
        "document.querySelectorAll('#marked mark').length === {marks}"
    ));
}

/// Marks a text and asks why, by the keyboard alone.
#[test]
fn spans_and_reasons_are_shown_as_text() {
    let place = Place::with_data();
    place.write(
        "train.txt",
        place.read("train.txt").replace("-PER", &format!("-{SCRIPT}")),
    );
    place.run("init chunking --output names.toml");
    place.run("train names.toml --model names.fmk");
    let server = Serving::start(&place, "fieldmark serve names.fmk other=names.fmk");
    let browser = Browser::start();
    let tab = Tab::open(&browser.person(), &server.link);
    tab.until("document.querySelectorAll('#model option').length === 2");
    look_around(&tab, "try-empty");

    tab.focus("#text");
    let text = "<script>window.hacked = 1</script> 💊 Ada met Babbage in London.";
    tab.write(text);
    tab.press("Tab");
    tab.press("Enter");
    tab.until("document.querySelector('#marked mark')");
    tab.until("document.querySelector('#status').innerText.startsWith('Found')");
    look_around(&tab, "try");
    let shown = tab.eval(
        "(() => { const copy = document.querySelector('#marked').cloneNode(true);
            for (const tag of copy.querySelectorAll('.tag')) tag.remove();
            return copy.textContent; })()",
    );
    assert_eq!(shown, text);
    let places =
        tab.eval("[...document.querySelectorAll('#list tbody tr')].map((row) => row.children[0].innerText)");
    assert!(places.as_array().unwrap().contains(&"London".into()), "{places}");
    assert!(tab.text("#legend").contains(SCRIPT), "{}", tab.text("#legend"));

    tab.focus("[data-why='0']");
    tab.press("Enter");
    tab.until("!document.querySelector('#why').hidden");
    tab.until("document.activeElement.id === 'why-heading'");
    let why = tab.text("#why");
    assert!(why.contains("rather than") && why.contains("Weight"), "{why}");
    look_around(&tab, "try-why");
    tab.press("Escape");
    tab.until("document.querySelector('#why').hidden && document.activeElement.dataset.why === '0'");

    assert_eq!(
        tab.eval("document.querySelector('main img, main script') === null"),
        true
    );
    assert_eq!(tab.eval("window.hacked === undefined"), true);
    calm(&tab);
}

/// Graphs nest spans; a click on the inner one asks about it.
#[test]
fn nested_spans_are_nested_marks() {
    let place = Place::new();
    let documents = [
        r#"{"text": "We saw cul4a promoter today.", "spans": [[7, 21, "DNA"], [7, 12, "PROTEIN"]]}"#,
        r#"{"text": "The xyz promoter is new.", "spans": [[4, 16, "DNA"], [4, 7, "PROTEIN"]]}"#,
        r#"{"text": "It was small today.", "spans": []}"#,
    ];
    let doccano = documents
        .map(|line| line.replace("\"spans\"", "\"label\"") + "\n")
        .concat();
    place.write("train.jsonl", doccano);
    place.write(
        "nested.toml",
        "features = [{ kind = 'word', offsets = [-1, 0, 1] }, { kind = 'suffix', lengths = [2, 3] }]\n\
         [data]\ntrain = ['train.jsonl']\nread = { format = 'doccano' }\n\
         [text]\ntokenizer = 'punctuation'\n[training]\nc2 = 0.01\n[graph]\nkind = 'factorial'\n\
         [[graph.layers]]\nname = 'outer'\ndepth = 0\n[[graph.layers]]\nname = 'inner'\ndepth = 1\n",
    );
    place.run("train nested.toml --model nested.fmk");
    let server = Serving::start(&place, "fieldmark serve nested.fmk");
    let browser = Browser::start();
    let address = format!("{}#text=We%20saw%20xyz%20promoter%20today.", server.link);
    let tab = Tab::open(&browser.person(), &address);
    has_marks(&tab, 2);
    let inner = tab.eval("document.querySelector('mark mark').firstChild.data");
    assert_eq!(inner, "xyz");
    tab.click("mark mark .tag");
    tab.until("!document.querySelector('#why').hidden");
    assert!(
        tab.text("#why-heading").contains("PROTEIN"),
        "{}",
        tab.text("#why")
    );
    assert!(
        tab.text("#why").contains("This model is a graph"),
        "{}",
        tab.text("#why")
    );
    look_around(&tab, "try-nested");
    calm(&tab);
}

/// The link with the token opens the page, and the page may ask.
#[test]
fn the_page_of_a_guarded_server_works_by_its_link() {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    place.run("train names.toml --model names.fmk");
    place.write("token.txt", "a-token-of-our-own\n");
    let server = Serving::start(&place, "fieldmark serve names.fmk --token-file token.txt");
    let browser = Browser::start();
    let person = browser.person();
    let tab = Tab::open(&person, &server.link);
    tab.until("document.querySelector('#model option')");
    assert_eq!(tab.eval("location.search + document.cookie"), "");
    tab.focus("#text");
    tab.write("Ada met Babbage in London.");
    tab.click("#form button");
    tab.until("document.querySelector('#marked mark')");
    calm(&tab);
    let stranger = Tab::open(&browser.person(), &format!("http://{}/", server.address()));
    stranger.until("document.querySelector('input[name=token]')");
    look_around(&stranger, "sign-in");
    stranger.focus("input[name=token]");
    stranger.write("a-token-of-our-own");
    stranger.press("Enter");
    stranger.until("document.querySelector('#model option')");
}

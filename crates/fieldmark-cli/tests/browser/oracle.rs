//! An annotator who knows the truth, and says it with the keyboard.
//!
//! The notes are made of a few patterns with names of drugs and problems, so that the words of a sentence tell what is
//! right.

use super::tab::Tab;
use serde_json::Value;

const DRUGS: [&str; 5] = ["furosemide", "naproxen", "ramipril", "aspirin", "insulin"];
const PROBLEMS: [&str; 5] = ["chest pain", "heart failure", "gout", "migraine", "dry cough"];
const PATTERNS: [&str; 6] = [
    "We gave D for P on Monday.",
    "The patient took D and has no P today.",
    "P was treated with D in the clinic.",
    "There is P without any change.",
    "Please stop D next week.",
    "Because of P he takes D twice.",
];

/// Notes of three sentences each, as one file with a document in each line.
pub fn notes(number: usize) -> String {
    let line =
        |note| serde_json::json!({"id": format!("note-{note:02}"), "text": text(note)}).to_string() + "\n";
    (0..number).map(line).collect()
}

fn text(note: usize) -> String {
    let sentence = |line: usize| {
        let at = note * 3 + line;
        let words = PATTERNS[at % PATTERNS.len()].split(' ').map(|word| match word {
            "D" => DRUGS[(at + note / 2) % DRUGS.len()],
            "P" => PROBLEMS[(at * 3 + note / 3) % PROBLEMS.len()],
            word => word,
        });
        words.collect::<Vec<_>>().join(" ")
    };
    (0..3).map(sentence).collect::<Vec<_>>().join(" ")
}

/// A span of tokens, as numbers of the document.
type Span = (usize, usize, String);

/// What a person sees of a question, or of a document.
struct Seen {
    whole: bool,
    first: usize,
    words: Vec<String>,
    asked: Option<(usize, usize)>,
    marks: Vec<Span>,
    heading: String,
}

const SEE: &str = r#"((place) => {
    const tokens = [...document.querySelectorAll(`${place} .text [data-token]`)];
    const number = (token) => Number(token.dataset.token);
    const asked = tokens.filter((token) => token.classList.contains("asked")).map(number);
    return {
        whole: Boolean(document.querySelector(`${place} .chip.held`)),
        first: number(tokens[0]),
        words: tokens.map((token) => token.textContent),
        asked: asked.length ? [asked[0], asked.at(-1) + 1] : null,
        marks: [...document.querySelectorAll(`${place} .text mark`)].map((mark) => {
            const own = [...mark.querySelectorAll("[data-token]")].map(number);
            return [own[0], own.at(-1) + 1, mark.querySelector(".tag bdi").textContent];
        }),
        heading: document.querySelector(`${place} h2`).textContent,
    };
})"#;

impl Seen {
    /// What is on the screen, in the elements of a selector.
    fn on(tab: &Tab, place: &str) -> Self {
        let seen: Value = tab.eval(&format!("{SEE}('{place}')"));
        let number = |value: &Value| value.as_u64().unwrap() as usize;
        let span = |value: &Value| {
            (
                number(&value[0]),
                number(&value[1]),
                value[2].as_str().unwrap().to_owned(),
            )
        };
        let words = seen["words"].as_array().unwrap();
        Self {
            whole: seen["whole"] == true,
            first: number(&seen["first"]),
            words: words
                .iter()
                .map(|word| word.as_str().unwrap().to_owned())
                .collect(),
            asked: (!seen["asked"].is_null()).then(|| (number(&seen["asked"][0]), number(&seen["asked"][1]))),
            marks: seen["marks"].as_array().unwrap().iter().map(span).collect(),
            heading: seen["heading"].as_str().unwrap().to_owned(),
        }
    }

    /// The spans that the sentence really has.
    fn truth(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        for at in 0..self.words.len() {
            let one = self.words[at].as_str();
            let two = self.words[at..]
                .iter()
                .take(2)
                .cloned()
                .collect::<Vec<_>>()
                .join(" ");
            let start = self.first + at;
            if DRUGS.contains(&one) {
                spans.push((start, start + 1, "DRUG".to_owned()));
            } else if PROBLEMS.contains(&two.as_str()) {
                spans.push((start, start + 2, "PROBLEM".to_owned()));
            } else if PROBLEMS.contains(&one) {
                spans.push((start, start + 1, "PROBLEM".to_owned()));
            }
        }
        spans
    }

    fn text(&self, &(start, end, _): &Span) -> String {
        self.words[start - self.first..end - self.first].join(" ")
    }
}

fn key_of(kind: &str) -> &'static str {
    if kind == "DRUG" { "1" } else { "2" }
}

/// Answers the question on the screen, and waits for the next one.
pub fn answer(tab: &Tab) {
    let shown = shown(tab);
    let seen = Seen::on(tab, ".question");
    if seen.whole {
        correct(tab, &seen);
        tab.press("Enter");
    } else {
        judge(tab, &seen);
    }
    tab.until(&format!(
        "(document.querySelector('.question').dataset.shown > {shown})
            && document.querySelector('#saving').hidden"
    ));
}

/// How many questions were shown so far.
pub fn shown(tab: &Tab) -> u64 {
    tab.until("document.querySelector('.question .text [data-token]')");
    tab.eval("Number(document.querySelector('.question').dataset.shown)")
        .as_u64()
        .unwrap()
}

fn judge(tab: &Tab, seen: &Seen) {
    let (start, end) = seen.asked.unwrap();
    let truth = seen.truth();
    let right = truth.iter().find(|span| span.0 < end && start < span.1);
    let Some(right) = right else {
        return tab.press("o");
    };
    let suggested = format!("Is “{}” a {}?", seen.text(right), right.2);
    if seen.heading == suggested {
        tab.press("Enter");
    } else if seen.heading.ends_with(&format!("a {}?", right.2)) {
        // The type is right, the borders are not: to the token that was asked, and from there to the true ones.
        tab.press("ArrowRight");
        tab.press("ArrowLeft");
        tab.press_all("shift+ArrowUp", start.saturating_sub(right.0));
        tab.press_all("shift+ArrowRight", right.1.saturating_sub(end));
        tab.press("Enter");
    } else {
        tab.press(key_of(&right.2));
    }
}

/// Marks the whole document on the screen as it really is, and accepts it.
pub fn mark_document(tab: &Tab) {
    let seen = Seen::on(tab, ".paper");
    let truth = seen.truth();
    for (number, span) in truth.iter().enumerate() {
        choose(tab, &seen, span.0, span.1);
        tab.press(key_of(&span.2));
        tab.until(&format!(
            "document.querySelectorAll('.paper mark.known').length === {}",
            number + 1
        ));
    }
    tab.press("a");
    tab.until("document.querySelector('.chip.is-done')");
    assert_eq!(
        Seen::on(tab, ".paper").marks,
        truth,
        "the document as it was accepted"
    );
}

/// Makes the marks of a whole sentence those that it really has.
fn correct(tab: &Tab, seen: &Seen) {
    let truth = seen.truth();
    for wrong in seen.marks.iter().filter(|mark| !truth.contains(mark)) {
        choose(tab, seen, wrong.0, wrong.1);
        tab.press("o");
    }
    for missing in truth.iter().filter(|span| !seen.marks.contains(span)) {
        choose(tab, seen, missing.0, missing.1);
        tab.press(key_of(&missing.2));
    }
    assert_eq!(
        Seen::on(tab, ".question").marks,
        truth,
        "the sentence as it is confirmed"
    );
}

/// Chooses tokens with the arrow keys, from the start of the sentence.
fn choose(tab: &Tab, seen: &Seen, start: usize, end: usize) {
    tab.press("Escape");
    tab.press_all("ArrowRight", start - seen.first + 1);
    tab.press_all("shift+ArrowRight", end - start - 1);
}

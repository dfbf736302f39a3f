//! Texts of scripts whose characters are hard to count: what is selected on the screen is what is stored and exported.

use super::chromium::Browser;
use super::served::{self, Served};
use super::tab::Tab;
use super::{calm, get, look_around, open, saved};
use serde_json::Value;
use std::path::Path;

/// How a place is chosen.
#[derive(Clone, Copy)]
enum By {
    Mouse,
    /// With the mouse, from the end to the start.
    MouseBack,
    Keys,
}

/// A text, a part of it, which of its occurrences is meant, and how that is chosen.
struct Case {
    name: &'static str,
    text: &'static str,
    part: &'static str,
    occurrence: usize,
    by: By,
}

/// Letters outside of the first plane, marks that follow their letters, and words before the place: bytes, characters and
/// units of UTF-16 all have other numbers there.
const CASES: [Case; 10] = [
    Case {
        name: "zh",
        text: "🧬患者于2024年3月服用阿司匹林，停用阿司匹林后无头痛。",
        part: "阿司匹林",
        occurrence: 1,
        by: By::Mouse,
    },
    Case {
        name: "zh-rare",
        text: "𠮷田𠮟先生服用𠮷阿司匹林。",
        part: "𠮷阿司",
        occurrence: 0,
        by: By::Keys,
    },
    Case {
        name: "ja",
        text: "か\u{3099}ん患者は20mgのアスヒ\u{309a}リンを毎日飲んた\u{3099}。",
        part: "アスヒ\u{309a}リン",
        occurrence: 0,
        by: By::MouseBack,
    },
    Case {
        name: "ja-half",
        text: "田中さんはﾍﾟﾆｼﾘﾝとDNA鑑定で頭痛がした。",
        part: "ﾍﾟﾆｼﾘﾝ",
        occurrence: 0,
        by: By::Keys,
    },
    Case {
        name: "he",
        text: "הַחוֹלֶה קִבֵּל 100 mg אַסְפִּירִין אתמול.",
        part: "אַסְפִּירִין",
        occurrence: 0,
        by: By::Keys,
    },
    Case {
        name: "he-mixed",
        text: "קיבל (aspirin 100 mg) ואז אספירין שוב.",
        part: "aspirin 100 mg) ואז אספירין",
        occurrence: 0,
        by: By::Mouse,
    },
    Case {
        name: "ar",
        text: "أُعطِيَ المَرِيضُ أَسْبِرِين ثم أَسْبِرِين للصُّداع 💊.",
        part: "أَسْبِرِين",
        occurrence: 1,
        by: By::Mouse,
    },
    Case {
        name: "ar-keys",
        text: "تناول المريض ٥٠٠ ملغ من الأسبرين.",
        part: "٥٠٠ ملغ",
        occurrence: 0,
        by: By::Keys,
    },
    Case {
        name: "marks",
        text: "Ko\u{308}ln: cafe\u{301} mit a\u{300}\u{301}\u{302}b\u{323} 𝒳\u{302} nai\u{308}ve.",
        part: "a\u{300}\u{301}\u{302}b\u{323} 𝒳\u{302}",
        occurrence: 0,
        by: By::Mouse,
    },
    Case {
        name: "hindi",
        text: "रोगी को 👩🏽‍⚕️ ने क्षयरोग की दवा दी।",
        part: "क्षयरोग की",
        occurrence: 0,
        by: By::MouseBack,
    },
];

impl Case {
    /// Where the part begins and ends, in characters.
    fn place(&self) -> (usize, usize) {
        let (byte, _) = self.text.match_indices(self.part).nth(self.occurrence).unwrap();
        let start = self.text[..byte].chars().count();
        (start, start + self.part.chars().count())
    }
}

/// The first and the last token of the part, as they are drawn.
fn tokens(tab: &Tab, area: &str, case: &Case) -> (usize, usize) {
    let wanted = case.part.split_whitespace().collect::<String>();
    let found = tab.eval(&format!(
        "(() => {{
            const words = [...document.querySelectorAll('{area} [data-token]')].map((token) => token.textContent);
            const all = [];
            for (let first = 0; first < words.length; first++) {{
                for (let text = '', last = first; last < words.length && text.length < {length}; last++) {{
                    text += words[last];
                    if (text === {wanted}) all.push([first, last]);
                }}
            }}
            return all[{occurrence}] ?? words;
        }})()",
        length = wanted.encode_utf16().count(),
        wanted = serde_json::json!(wanted),
        occurrence = case.occurrence,
    ));
    let number = |at: usize| {
        let number = found[at].as_u64();
        number.unwrap_or_else(|| panic!("{}: no token begins or ends there: {found}", case.name)) as usize
    };
    (number(0), number(1))
}

fn choose(tab: &Tab, area: &str, case: &Case) {
    let (first, last) = tokens(tab, area, case);
    let token = |at: usize| format!("document.querySelectorAll('{area} [data-token]')[{at}]");
    match case.by {
        By::Mouse => {
            let to = tab.place(&token(last), 0.5);
            tab.drag(tab.place(&token(first), 0.5), to);
        }
        By::MouseBack => {
            let to = tab.place(&token(first), 0.5);
            tab.drag(tab.place(&token(last), 0.5), to);
        }
        By::Keys => {
            let direction = tab.eval(&format!(
                "getComputedStyle(document.querySelector('{area} .text')).direction"
            ));
            let [forward, back] = match direction.as_str() {
                Some("rtl") => ["ArrowLeft", "ArrowRight"],
                _ => ["ArrowRight", "ArrowLeft"],
            };
            tab.press("Escape");
            tab.focus(&format!("{area} .text"));
            // Keys go on from what is asked, or begin with the text.
            let asked = tab.eval(&format!(
                "[...document.querySelectorAll('{area} [data-token]')].findIndex((token) => token.classList.contains('asked'))"
            ));
            match asked.as_u64().map(|asked| asked as usize) {
                None => tab.press_all(forward, first + 1),
                Some(asked) if first < asked => tab.press_all(back, asked - first),
                Some(asked) => {
                    tab.press(forward);
                    tab.press(back);
                    tab.press_all(forward, first - asked);
                }
            }
            tab.press_all(&format!("shift+{forward}"), last - first);
        }
    }
    let length = last - first + 1;
    tab.until(&format!(
        "document.querySelectorAll('{area} [data-token].chosen').length === {length}"
    ));
}

/// The stored answers of a document, as ranges of its text in characters, with their types.
fn stored(tab: &Tab, id: u64) -> Vec<(usize, usize, String)> {
    let document = get(tab, &format!("/api/documents/{id}"));
    let units: Vec<u16> = document["text"].as_str().unwrap().encode_utf16().collect();
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    let characters = |unit: usize| String::from_utf16(&units[..unit]).unwrap().chars().count();
    let spans = document["known"].as_array().unwrap().iter();
    spans
        .filter(|span| span["type"].is_string())
        .map(|span| {
            let (first, last) = (number(&span["start"]), number(&span["end"]) - 1);
            let border = |token: usize, side: usize| characters(number(&document["tokens"][token][side]));
            let kind = span["type"].as_str().unwrap().to_owned();
            (border(first, 0), border(last, 1), kind)
        })
        .collect()
}

/// The spans of a brat file: offsets in characters, and what they cover by the file itself.
fn exported(directory: &Path, case: &Case) -> Vec<(usize, usize, String, String)> {
    let find = |ending: &str| {
        let name = format!("{}{ending}", case.name);
        std::fs::read_to_string(directory.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    assert_eq!(find(".txt"), case.text);
    let annotations = find(".ann");
    let span = |line: &str| {
        let mut cells = line.split('\t').skip(1);
        let mut place = cells.next().unwrap().split(' ');
        let kind = place.next().unwrap().to_owned();
        let mut number = || place.next().unwrap().parse::<usize>().unwrap();
        (number(), number(), kind, cells.next().unwrap().to_owned())
    };
    annotations.lines().map(span).collect()
}

/// What is chosen on the screen lands on the right offsets, in the answer that is stored and in the export.
fn selections_land(mode: &str) {
    let place = tempfile::tempdir().unwrap();
    for case in &CASES {
        std::fs::write(place.path().join(format!("{}.txt", case.name)), case.text).unwrap();
    }
    let names: Vec<String> = CASES.iter().map(|case| format!("{}.txt", case.name)).collect();
    let served = Served::start(
        place.path(),
        &format!(
            "--port 0 --held-out 0 --type DRUG --type OTHER {}",
            names.join(" ")
        ),
    );
    let browser = Browser::start();
    let tab = open(&browser.person(), &served.link);
    for (id, case) in (1..).zip(&CASES) {
        let area = match mode {
            "read" => ".paper",
            _ => ".question",
        };
        tab.visit(&format!("{mode}/{id}"), &format!("{area} [data-token]"));
        tab.until(&format!(
            "document.querySelector('{area} .from, {area} h2').closest('{area}').textContent.includes('{}.txt')",
            case.name
        ));
        choose(&tab, area, case);
        look_at(&tab, &format!("{mode}-{}", case.name));
        tab.press("1");
        saved(&tab);
        let (start, end) = case.place();
        tab.until(&format!(
            "fetch('/api/documents/{id}').then((answer) => answer.json()).then(({{ known }}) => known.length > 0)"
        ));
        let expected = [(start, end, "DRUG".to_owned())];
        assert_eq!(stored(&tab, id), expected, "{}", case.name);
    }
    tab.visit("read/5", ".paper mark.known");
    look_around(&tab, &format!("scripts-{mode}"));
    calm(&tab);
    drop(served);

    served::run(place.path(), "annotate project --no-page --export brat out");
    for case in &CASES {
        let (start, end) = case.place();
        let expected = [(start, end, "DRUG".to_owned(), case.part.to_owned())];
        assert_eq!(
            exported(&place.path().join("out"), case),
            expected,
            "{}",
            case.name
        );
    }
}

fn look_at(tab: &Tab, name: &str) {
    tab.picture(&format!("chosen-{name}"));
}

#[test]
fn selections_in_documents_of_any_script_land_on_their_offsets() {
    selections_land("read");
}

#[test]
fn answers_about_sentences_of_any_script_land_on_their_offsets() {
    selections_land("ask");
}

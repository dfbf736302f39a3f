//! `fieldmark simulate`: what it prints, writes, keeps and refuses.

mod common;
use common::{Place, errors, output};

const SMALL: &str = "simulate train.txt --test test.txt --template template.txt --initial 6 --batch 3 --iterations 2 --runs 2";

#[test]
fn tables_curves_and_pages() {
    let place = Place::with_data();
    let table = place.run(&format!("{SMALL} --csv curves.csv --html curves.html"));
    for strategy in ["MTP", "MTE", "MTM", "MVP", "MVPE", "MVM", "ME", "MED", "RAND"] {
        assert!(
            table
                .lines()
                .any(|line| line.starts_with(&format!("{strategy} "))),
            "{table}"
        );
    }
    assert!(table.contains("tokens labelled:"), "{table}");
    let csv = place.read("curves.csv");
    assert_eq!(csv.lines().count(), 1 + 9 * 2 * 3, "{csv}");
    let page = place.read("curves.html");
    assert!(page.contains("Which strategy needs the fewest labels") && page.contains("<polyline"));
    let json = place.run(&format!("{SMALL} --json --strategies mtm,nse,rand"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["curves"].as_array().unwrap().len(), 6);
    assert_eq!(json["settings"]["strategies"][1], "NSE");
}

#[test]
fn threads_and_formats_do_not_change_results() {
    let place = Place::with_data();
    let with = |more: &str| place.run(&format!("{SMALL} --strategies MVM,RAND --json {more}"));
    assert_eq!(with("--threads 1"), with("--threads 2"));
    assert_ne!(with("--seed 0"), with("--seed 1"));
    let attributes =
        "simulate train.crfsuite --test test.crfsuite --initial 6 --batch 3 --iterations 1 --runs 1";
    assert!(
        place
            .run(&format!(
                "{attributes} --unit three-tokens --precision f32 --cold"
            ))
            .contains("MVM ")
    );
}

#[test]
fn a_run_goes_on_with_what_is_complete() {
    let place = Place::with_data();
    let first = place.run(&format!("{SMALL} --strategies MTM --state state.json --json"));
    let both = place
        .command(&format!(
            "{SMALL} --strategies MTM,RAND --state state.json --json"
        ))
        .done();
    let said = errors(&both);
    assert!(said.contains("2 of 4 curves were complete already"), "{said}");
    let [first, both]: [serde_json::Value; 2] =
        [first, output(both)].map(|text| serde_json::from_str(&text).unwrap());
    let margin = |value: &serde_json::Value| -> Vec<serde_json::Value> {
        let curves = value["curves"].as_array().unwrap().iter();
        curves
            .filter(|curve| curve["strategy"] == "MTM")
            .cloned()
            .collect()
    };
    assert_eq!(margin(&first), margin(&both));
    let error = place.refuse(&format!("{SMALL} --batch 4 --state state.json").replace("--batch 3 ", ""));
    assert!(
        error.contains("state.json: it holds the state of another experiment"),
        "{error}"
    );
    place.write("state.json", "nothing");
    let error = place.refuse(&format!("{SMALL} --state state.json"));
    assert!(error.contains("not the state of a simulation"), "{error}");
}

#[test]
fn configs() {
    let place = Place::with_data();
    place.run("init chunking --output asked.toml");
    let small = "--initial 6 --batch 3 --iterations 1 --runs 1 --strategies MTM";
    let with = |test: &str| {
        let run = place.command(&format!("simulate asked.toml {small}"));
        run.args(["-o", test]).done()
    };
    let table = output(with("data.test=[\"test.txt\"]").success());
    assert!(table.contains("\nMTM "), "{table}");
    let error = errors(&with("data.test=[]").code(2));
    assert!(error.contains("data.test names no file"), "{error}");
    let error = place.refuse(&format!("simulate asked.toml --c2 1 {small}"));
    assert!(error.contains("--c2 is for data without a config"), "{error}");
}

#[test]
fn mistakes_get_a_sentence() {
    let place = Place::with_data();
    place.write("partly.txt", "Ada Aa B-PER\nsleeps a ?\n");
    let config = "[data]\ntrain = ['none.txt']\ntest = ['none.txt']\n[[features]]\nkind = 'model'\nfile = 'none.fmk'\n";
    place.write("wrong.toml", config);
    for (arguments, expected) in [
        ("train.txt", "--test is missing"),
        (
            "train.txt --test test.txt --strategies BEST",
            "there is no strategy \"BEST\"",
        ),
        (
            "train.txt --test test.txt --strategies MTM,MTM",
            "MTM is named twice",
        ),
        (
            "train.txt --test test.txt --unit word",
            "there is no unit \"word\"",
        ),
        ("train.txt --test test.txt --batch 0", "a batch has 0 questions"),
        ("train.txt --test test.txt --similarity 3", "at most 1"),
        ("train.txt --test test.txt --c2 -1", "--c2 is -1"),
        ("partly.txt --test test.txt", "token 2 of sequence 1 has none"),
        ("train.txt --test none.txt", "none.txt"),
        ("train.txt --test test.txt --csv train.txt", "the same file"),
        ("train.txt --test test.txt -o a=b", "changes a config"),
        // Before data are read.
        ("wrong.toml", "none.fmk"),
    ] {
        let error = place.refuse(&format!("simulate {arguments}"));
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}

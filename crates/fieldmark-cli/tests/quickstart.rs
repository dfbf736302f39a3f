//! `fieldmark quickstart`, and the help that leads to it.

mod common;
use common::{Place, errors, output};

#[test]
fn trains_scores_tags_and_writes_a_page() {
    let place = Place::new();
    let done = place.command("quickstart").done().success();
    let notes = errors(&done);
    let text = output(done);
    assert!(text.contains("a demonstration, not a benchmark"), "{text}");
    assert!(text.contains("processed ") && text.contains("FB1:"), "{text}");
    assert!(
        text.contains("](DRUG "),
        "spans in brackets where there is no colour: {text}"
    );
    assert!(
        notes.contains("quickstart.html") && notes.contains("What to try next"),
        "{notes}"
    );
    let page = place.read("quickstart.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<mark"));
    let coloured = place.command("quickstart --color always").done().success();
    assert!(output(coloured).contains("\x1b["));
    let plain = place.command("quickstart").env("NO_COLOR", "1").done().success();
    assert!(!output(plain).contains("\x1b["));
}

#[test]
fn a_page_that_cannot_be_written_is_no_disaster() {
    let place = Place::new();
    std::fs::create_dir(place.path("quickstart.html")).unwrap();
    let done = place.command("quickstart").done().success();
    let notes = errors(&done);
    assert!(
        notes.contains("the web page could not be written here") && notes.contains("--html"),
        "{notes}"
    );
    let error = place.refuse("quickstart --html no/such/directory/page.html");
    assert!(
        error.contains("no/such/directory/page.html: cannot write"),
        "{error}"
    );
}

#[test]
fn the_files_of_the_sample_work_with_the_other_commands() {
    let place = Place::new();
    place.run("quickstart --files sample");
    place.run("check --template sample/template.txt sample/train.txt --test sample/test.txt");
    for (options, test) in [
        (
            "--template sample/template.txt sample/train.txt",
            "sample/test.txt",
        ),
        ("sample/train.crfsuite", "sample/test.crfsuite"),
    ] {
        place.run(&format!("train --max-iterations 20 --model notes.fmk {options}"));
        place.run(&format!("tag --model notes.fmk {test}"));
    }
}

#[test]
fn every_command_has_help_with_examples() {
    let place = Place::new();
    for command in ["quickstart", "train", "tag", "eval", "check", "inspect"] {
        let help = place.run(&format!("{command} --help"));
        assert!(help.contains("Examples:\n"), "{help}");
        assert_eq!(help, place.run(&format!("help {command}")));
    }
    assert!(place.run("--help").contains("quickstart"));
}

#[test]
fn manual_pages_and_completions() {
    let place = Place::new();
    place.run("generate man man1");
    for page in ["fieldmark.1", "fieldmark-train.1", "fieldmark-tag.1"] {
        assert!(place.read(&format!("man1/{page}")).contains(".TH"), "{page}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            place
                .run(&format!("generate completions {shell}"))
                .contains("quickstart")
        );
    }
}

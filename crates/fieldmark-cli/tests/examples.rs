//! The commands in the README and in the help do what they say: each of them is run.
#![cfg(unix)]

mod common;
use common::serving::Serving;
use common::{PROGRAM, Place};
use std::process::Command;

/// Runs shell commands in order, with the program on the path. Servers are started, asked for their health and stopped.
fn run_all(place: &Place, commands: &[String]) {
    let path = format!(
        "{}:{}",
        std::path::Path::new(PROGRAM).parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    for command in commands {
        if command.starts_with("fieldmark serve ") {
            let server = Serving::start(place, command);
            assert_eq!(server.ask("GET /health", &[], "").0, 200, "{command}");
            let (status, errors) = server.stop();
            assert!(
                status.success() && !errors.contains("error:"),
                "{command}\n{errors}"
            );
            continue;
        }
        let done = Command::new("sh")
            .args(["-ec", command])
            .env("PATH", &path)
            .env("HOME", place.root())
            .current_dir(place.root())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(
            done.status.success() && !errors.contains("error:"),
            "{command}\n{errors}"
        );
    }
}

const COMMANDS: [&str; 13] = [
    "quickstart",
    "init",
    "train",
    "tag",
    "eval",
    "check",
    "cv",
    "inspect",
    "convert",
    "serve",
    "simulate",
    "annotate",
    "generate",
];

#[test]
fn commands_of_the_readme() {
    let readme = include_str!("../../../README.md");
    let blocks = readme
        .split("```sh\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap());
    let commands: Vec<String> = blocks
        .flat_map(|block| block.lines().map(str::to_owned))
        .collect();
    assert!(commands.len() > 10);
    run_all(&Place::new(), &commands);
    // Set-up must stay two commands.
    assert!(
        readme.contains("\ncargo run --release -- quickstart\n") && readme.contains("\n./scripts/test.sh\n")
    );
}

#[test]
fn examples_of_the_help() {
    for command in COMMANDS.into_iter().chain([""]) {
        let place = Place::with_data();
        place.write("dev.txt", place.read("test.txt"));
        place.write("partly.txt", "Ada Aa B-PER\nsleeps a ?\nhere a O|B-LOC\n");
        for model in ["chunker.fmk", "ner.fmk"] {
            place.run(&format!(
                "train --template template.txt --model {model} train.txt"
            ));
        }
        place.write("tagged.txt", place.run("tag --model ner.fmk test.txt"));
        place.run("init chunking --output names.toml");
        place.run("train names.toml --model names.fmk");
        place.run("init joint --output joint.toml");
        place.run("train joint.toml --model joint.fmk");
        place.write("notes.txt", "Ada sleeps here.\n");
        let help = place.run(&format!("{command} --help"));
        let examples = help.split("Examples:\n").nth(1).unwrap().replace("\\\n", " ");
        let lines = examples.lines().map(str::trim);
        let commands: Vec<String> = lines
            .filter(|line| line.starts_with("fieldmark "))
            .map(str::to_owned)
            .collect();
        assert!(!commands.is_empty(), "{help}");
        run_all(&place, &commands);
    }
}

#[test]
fn manual_pages_and_completions_know_every_option() {
    let place = Place::new();
    assert!(place.run("--help").contains("  generate "));
    place.run("generate man man");
    let page = place.read("man/fieldmark-train.1");
    assert!(page.contains("unseen") && page.contains(".SH OPTIONS"), "{page}");
    for command in COMMANDS {
        assert!(
            place.path(&format!("man/fieldmark-{command}.1")).exists(),
            "{command}"
        );
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&format!("generate completions {shell}"));
        for option in ["max-iterations", "unseen-transitions"] {
            assert!(script.contains(option), "{shell}: {option}");
        }
        place.write(shell, script);
    }
    let bash = Command::new("bash").arg("-n").arg(place.path("bash")).status();
    assert!(
        bash.map_or(true, |status| status.success()),
        "bash understands its completions"
    );
    place.write("file", "");
    let error = place.refuse("generate man file");
    assert!(error.contains("file: cannot write"), "{error}");
}

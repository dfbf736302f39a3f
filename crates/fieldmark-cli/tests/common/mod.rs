//! A directory with small data, and the program run in it.
#![allow(dead_code, reason = "every test file uses its own part of it")]

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory that is deleted after the test.
pub struct Place {
    directory: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// A directory with `train.txt`, `test.txt`, `template.txt` and the attribute files of the same data.
    pub fn with_data() -> Self {
        let place = Self::new();
        place.write("train.txt", &columns(TRAIN));
        place.write("test.txt", &columns(TEST));
        place.write("train.crfsuite", &attributes(TRAIN));
        place.write("test.crfsuite", &attributes(TEST));
        place.write(
            "template.txt",
            "U00:%x[0,0]\nU01:%x[0,1]\nU02:%x[-1,0]/%x[0,1]\nB\n",
        );
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The program with arguments that are separated by spaces.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::cargo_bin("fieldmark").unwrap();
        command
            .current_dir(self.root())
            .args(arguments.split_whitespace());
        command.env_remove("NO_COLOR");
        command
    }

    /// Runs the program and expects that all goes well; what it prints.
    pub fn run(&self, arguments: &str) -> String {
        output(self.command(arguments).assert().success())
    }

    /// Runs the program and expects a mistake of the user; what it says.
    pub fn refuse(&self, arguments: &str) -> String {
        let assert = self.command(arguments).assert().code(2);
        errors(&assert)
    }

    /// The model `model.fmk` for the column files.
    pub fn train(&self) {
        self.run("train --template template.txt --model model.fmk train.txt");
    }
}

pub fn output(assert: Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

pub fn errors(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

/// Words, with their labels after a slash; sentences end at a semicolon.
const TRAIN: &str = "Ada/B-PER Lovelace/I-PER met/O Babbage/B-PER in/O London/B-LOC ; \
    Grace/B-PER Hopper/I-PER wrote/O code/O in/O New/B-LOC York/I-LOC ; \
    we/O met/O in/O Paris/B-LOC ; code/O is/O law/O ; \
    Alan/B-PER Turing/I-PER lived/O in/O London/B-LOC ; they/O wrote/O to/O Ada/B-PER";
const TEST: &str = "Alan/B-PER met/O Ada/B-PER Lovelace/I-PER in/O New/B-LOC York/I-LOC ; \
    they/O lived/O in/O Paris/B-LOC ; Emmy/B-PER Noether/I-PER wrote/O";

fn sentences(source: &str) -> impl Iterator<Item = Vec<(&str, &str)>> {
    source.split(';').map(|sentence| {
        let words = sentence.split_whitespace();
        words.map(|word| word.split_once('/').unwrap()).collect()
    })
}

fn shape(word: &str) -> &str {
    if word.starts_with(char::is_uppercase) {
        "Aa"
    } else {
        "a"
    }
}

fn columns(source: &str) -> String {
    let line = |(word, label): (&str, &str)| format!("{word} {} {label}\n", shape(word));
    sentences(source)
        .map(|words| words.into_iter().map(line).collect::<String>() + "\n")
        .collect()
}

fn attributes(source: &str) -> String {
    let mut text = String::new();
    for words in sentences(source) {
        for (t, (word, label)) in words.iter().enumerate() {
            let before = t.checked_sub(1).map_or("-", |before| words[before].0);
            text += &format!("{label}\tw={word}\tshape={}:1.5\tw-1={before}\n", shape(word));
        }
        text += "\n";
    }
    text
}

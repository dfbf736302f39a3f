//! A directory with small data, and the program run in it.
#![allow(dead_code, reason = "every test file uses its own part of it")]

pub mod serving;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_fieldmark");

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
        place.write("train.txt", columns(TRAIN));
        place.write("test.txt", columns(TEST));
        place.write("train.crfsuite", attributes(TRAIN));
        place.write("test.crfsuite", attributes(TEST));
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
    pub fn command(&self, arguments: &str) -> Run {
        let mut command = Command::new(PROGRAM);
        command
            .current_dir(self.root())
            .args(arguments.split_whitespace());
        command.env_remove("NO_COLOR");
        Run {
            command,
            input: Vec::new(),
        }
    }

    /// Runs the program and expects that all goes well; what it prints.
    pub fn run(&self, arguments: &str) -> String {
        output(self.command(arguments).done().success())
    }

    /// Runs the program and expects a mistake of the user; what it says.
    pub fn refuse(&self, arguments: &str) -> String {
        errors(&self.command(arguments).done().code(2))
    }

    /// The model `model.fmk` for the column files.
    pub fn train(&self) {
        self.run("train --template template.txt --model model.fmk train.txt");
    }
}

/// A run of the program that is being prepared.
pub struct Run {
    command: Command,
    input: Vec<u8>,
}

impl Run {
    pub fn args<const N: usize>(mut self, arguments: [&str; N]) -> Self {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn input(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.input = text.into();
        self
    }

    /// Runs the program to its end.
    pub fn done(mut self) -> Done {
        let command = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || stdin.write_all(&self.input));
        let output = child.wait_with_output().unwrap();
        // A program that does not read its input is free to do so.
        let _ = writer.join().unwrap();
        Done(output)
    }
}

/// A run of the program that has ended.
pub struct Done(Output);

impl Done {
    pub fn success(self) -> Self {
        self.code(0)
    }

    pub fn code(self, expected: i32) -> Self {
        assert_eq!(self.0.status.code(), Some(expected), "{}", errors(&self));
        self
    }
}

pub fn output(done: Done) -> String {
    String::from_utf8(done.0.stdout).unwrap()
}

pub fn errors(done: &Done) -> String {
    String::from_utf8(done.0.stderr.clone()).unwrap()
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

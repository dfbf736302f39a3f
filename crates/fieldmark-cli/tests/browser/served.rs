//! A project that is served by the program.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fieldmark");

/// A running `fieldmark annotate`; it ends with the value.
pub struct Served {
    child: Child,
    /// The link that lets its reader in.
    pub link: String,
}

impl Served {
    /// Serves the project `project` of a directory; arguments are separated by spaces.
    pub fn start(directory: &Path, arguments: &str) -> Self {
        let child = Command::new(PROGRAM)
            .current_dir(directory)
            .args(["annotate", "project"])
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It ends with the value also if no link comes.
        let mut served = Self {
            child,
            link: String::new(),
        };
        let (sender, lines) = channel();
        forward(served.child.stdout.take().unwrap(), sender.clone());
        forward(served.child.stderr.take().unwrap(), sender);
        let mut said = String::new();
        loop {
            let line = lines.recv_timeout(Duration::from_secs(120));
            let line = line.unwrap_or_else(|_| panic!("no link was printed:\n{said}"));
            if let Some(link) = link_in(&line) {
                // What comes later is read as well, so that the program never waits for its reader.
                std::thread::spawn(move || lines.into_iter().for_each(drop));
                served.link = link;
                return served;
            }
            said += &line;
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward(pipe: impl Read + Send + 'static, to: Sender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if to.send(line + "\n").is_err() {
                return;
            }
        }
    });
}

/// The first address of a line.
pub fn link_in(line: &str) -> Option<String> {
    let link = &line[line.find("http://")?..];
    Some(link.split_whitespace().next()?.to_owned())
}

/// Runs the program to its end and expects that all goes well; what it prints.
pub fn run(directory: &Path, arguments: &str) -> String {
    let mut command = Command::new(PROGRAM);
    let done = command
        .current_dir(directory)
        .args(arguments.split_whitespace())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{arguments}: {errors}");
    String::from_utf8(done.stdout).unwrap() + &errors
}

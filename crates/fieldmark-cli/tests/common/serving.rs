//! A server that the program runs, and a client for it.

use super::{PROGRAM, Place};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};

/// A server, until it is dropped.
pub struct Serving {
    child: Child,
    /// What it printed: the link to open.
    pub link: String,
}

impl Serving {
    /// Runs a command such as `fieldmark serve names.fmk` at a port of its own.
    pub fn start(place: &Place, command: &str) -> Self {
        let mut words: Vec<&str> = command.split_whitespace().skip(1).collect();
        if let Some(at) = words.iter().position(|word| *word == "--port") {
            words.drain(at..at + 2);
        }
        let mut child = Command::new(PROGRAM)
            .args(words)
            .args(["--port", "0"])
            .current_dir(place.root())
            .env_remove("FIELDMARK_TOKEN")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut link = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut link).unwrap();
        let link = link.trim().to_owned();
        if !link.starts_with("http://") {
            child.kill().unwrap();
            let mut errors = String::new();
            child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
            panic!("{command}: {link:?} {errors}");
        }
        Self { child, link }
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        self.link
            .strip_prefix("http://")
            .unwrap()
            .split('/')
            .next()
            .unwrap()
    }

    /// The token in the link.
    pub fn token(&self) -> Option<&str> {
        self.link.split_once("?token=").map(|(_, token)| token)
    }

    /// Status and body of an answer. `headers` are lines.
    pub fn ask(&self, request: &str, headers: &[&str], body: &str) -> (u16, String) {
        let address = self.address();
        let mut stream = TcpStream::connect(address).unwrap();
        let mut text = format!("{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        for line in headers {
            text += &format!("{line}\r\n");
        }
        let length = body.len();
        write!(stream, "{text}Content-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    /// Asks the server to stop, and waits until it has; what it said meanwhile.
    #[cfg(unix)]
    pub fn stop(mut self) -> (ExitStatus, String) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        let mut errors = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut errors).unwrap();
        (self.child.wait().unwrap(), errors)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

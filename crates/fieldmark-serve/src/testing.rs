//! Servers and clients of tests, over real sockets.

use crate::http::{Ended, Limits, Shutdown, Stop, bind, serve};
use axum::Router;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// Long enough for anything that shall happen, on any machine.
pub const LONG: Duration = Duration::from_secs(60);

/// A server on a port of its own, until it is dropped.
pub struct Running {
    pub address: SocketAddr,
    pub stop: Stop,
    ended: Option<JoinHandle<Ended>>,
    runtime: Option<Runtime>,
}

impl Running {
    pub fn start(router: Router, limits: Limits) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (stop, shutdown) = Shutdown::new();
        let (address, ended) = runtime.block_on(async {
            let listener = bind("127.0.0.1".parse().unwrap(), 0).await.unwrap();
            let address = listener.local_addr().unwrap();
            let ended = tokio::spawn(serve(listener, router, limits, shutdown));
            (address, ended)
        });
        Self {
            address,
            stop,
            ended: Some(ended),
            runtime: Some(runtime),
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        stream
    }

    /// Sends bytes as they are and reads until the server closes.
    pub fn raw(&self, bytes: impl AsRef<[u8]>) -> Reply {
        let mut stream = self.connect();
        stream.write_all(bytes.as_ref()).unwrap();
        Reply::read(&mut stream)
    }

    /// `request` is a method and a path, `headers` are lines.
    pub fn ask(&self, request: &str, headers: &[&str], body: &str) -> Reply {
        self.raw(self.request(request, headers, body))
    }

    /// The bytes of a request after which the server closes.
    pub fn request(&self, request: &str, headers: &[&str], body: &str) -> String {
        let port = self.address.port();
        let mut text = format!("{request} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|line| line.starts_with("Host:")) {
            text += &format!("Host: 127.0.0.1:{port}\r\n");
        }
        for line in headers {
            text += &format!("{line}\r\n");
        }
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        text + "\r\n" + body
    }

    pub fn json(&self, request: &str, body: &str) -> Reply {
        self.ask(request, &["Content-Type: application/json"], body)
    }

    /// Waits for the end of a server that was asked to stop.
    pub fn ended(&mut self) -> Ended {
        let ended = self.ended.take().unwrap();
        self.runtime.as_ref().unwrap().block_on(ended).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.now();
        self.runtime.take().unwrap().shutdown_background();
    }
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// In lower case.
    pub head: String,
    pub body: String,
}

impl Reply {
    /// Reads until the server closes. Chunks are put together.
    pub fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let head = head.to_ascii_lowercase();
        let body = match head.contains("\r\ntransfer-encoding: chunked") {
            true => unchunked(body),
            false => body.to_owned(),
        };
        Self {
            status: status.unwrap_or(0),
            head,
            body,
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
    }

    pub fn value(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The sentence of a refusal.
    pub fn error(&self) -> String {
        let value = self.value();
        value["error"]
            .as_str()
            .unwrap_or_else(|| panic!("{self:?}"))
            .to_owned()
    }
}

fn unchunked(body: &str) -> String {
    let mut whole = String::new();
    let mut rest = body;
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return whole;
        }
        whole.push_str(&after[..length]);
        rest = after[length..].strip_prefix("\r\n").unwrap();
    }
    panic!("the chunks have no end: {body:?}")
}

pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

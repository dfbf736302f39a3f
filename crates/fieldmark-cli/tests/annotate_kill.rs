//! Two people annotate over HTTP while the server is killed again and again: what was acknowledged is there afterwards, and
//! nothing is there twice.
#![cfg(unix)]

mod common;
use common::{PROGRAM, Place};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often the server is killed at least.
const KILLS: usize = 50;
/// How many answers each person gives at least.
const ANSWERS: usize = 50;

/// A server that may be killed.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(place: &Place) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["annotate", "project", "--port", "0", "--user", "owner", "--quiet"])
            .current_dir(place.root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut link = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut link)
            .unwrap();
        let address = link
            .strip_prefix("http://")
            .and_then(|link| link.split('/').next());
        let address = address.unwrap_or_else(|| panic!("no link: {link:?}")).to_owned();
        Self { child, address }
    }

    /// SIGKILL: no time to say anything.
    fn kill(self) {}
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that fails leaves no server behind, either.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One request and its answer; an error if the server goes away in between.
fn ask(address: &str, token: &str, method: &str, path: &str, body: &str) -> io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let gone = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let text = String::from_utf8(answer).map_err(|_| gone())?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(gone)?;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .ok_or_else(gone)?;
    // An answer that was cut off in the middle is none.
    Ok((status, serde_json::from_str(body).map_err(|_| gone())?))
}

/// What somebody was told to be stored: the last type of each token, by document.
type Acknowledged = BTreeMap<(i64, u64), Value>;

struct Annotator {
    name: &'static str,
    token: String,
    address: Arc<Mutex<String>>,
    stop: Arc<AtomicBool>,
}

impl Annotator {
    /// Asks until there is an answer; the request stays the same.
    fn persist(&self, method: &str, path: &str, body: &str) -> Value {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let address = self.address.lock().unwrap().clone();
            match ask(&address, &self.token, method, path, body) {
                Ok((200, answer)) => return answer,
                Ok((status, answer)) => panic!("{}: {method} {path}: {status} {answer}", self.name),
                Err(_) => std::thread::sleep(Duration::from_millis(3)),
            }
            assert!(
                Instant::now() < deadline,
                "{}: the server does not come back",
                self.name
            );
        }
    }

    fn work(&self) -> (usize, Acknowledged) {
        let (mut known, mut answers) = (Acknowledged::new(), 0);
        // Unlike questions, tokens one after the other hit the same sentence again and again.
        while !(self.stop.load(Ordering::SeqCst) && answers >= ANSWERS) {
            let request = format!("{}-{answers}", self.name);
            let kind = [json!("NAME"), json!("X"), Value::Null][answers % 3].clone();
            let body = if answers.is_multiple_of(2) {
                let question = self.persist("GET", "/api/question", "")["question"].clone();
                if question.is_null() {
                    break;
                }
                let token = question["target"]["start"].as_u64().unwrap();
                let document = question["document"]["id"].as_i64().unwrap();
                known.insert((document, token), kind.clone());
                json!({ "request": request, "kind": "assert", "document": document, "question": question["id"],
                    "assertions": [{ "start": token, "end": token + 1, "type": kind, "borders": "open" }] })
            } else {
                let (document, token) = (1 + (answers / 2) as i64 % 5, (answers / 10) as u64 % 6);
                known.insert((document, token), kind.clone());
                json!({ "request": request, "kind": "assert", "document": document,
                    "assertions": [{ "start": token, "end": token + 1, "type": kind, "borders": "open" }] })
            };
            let answer = self.persist("POST", "/api/actions", &body.to_string());
            assert_eq!(answer["action"]["document"], body["document"]);
            answers += 1;
        }
        (answers, known)
    }
}

fn new_link(place: &Place, name: &str) -> String {
    let link = place.run(&format!("annotate project --add-user {name}"));
    link.trim().split_once("?token=").unwrap().1.to_owned()
}

#[test]
fn nothing_that_was_acknowledged_is_lost() {
    let place = Place::new();
    let lines: String = (0..60)
        .map(|line| format!("{{\"id\": \"d{line}\", \"text\": \"Ada met Grace in town number {line}.\"}}\n"))
        .collect();
    place.write("notes.jsonl", lines);
    // Everybody is asked about everything, and sees only his own answers.
    place
        .run("annotate project notes.jsonl --type NAME --type X --held-out 0 --shared 1 --batch 5 --no-page");
    let people = ["ada", "bob"].map(|name| (name, new_link(&place, name)));

    let mut server = Server::start(&place);
    let address = Arc::new(Mutex::new(server.address.clone()));
    let stop = Arc::new(AtomicBool::new(false));
    let workers: Vec<_> = people
        .iter()
        .map(|(name, token)| {
            let annotator = Annotator {
                name,
                token: token.clone(),
                address: address.clone(),
                stop: stop.clone(),
            };
            std::thread::spawn(move || annotator.work())
        })
        .collect();
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    for _ in 0..KILLS {
        random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        std::thread::sleep(Duration::from_millis(random >> 32 & 0x7F));
        server.kill();
        server = Server::start(&place);
        *address.lock().unwrap() = server.address.clone();
    }
    stop.store(true, Ordering::SeqCst);
    let done: Vec<(usize, Acknowledged)> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
    server.kill();

    let server = Server::start(&place);
    let get = |token: &str, path: &str| ask(&server.address, token, "GET", path, "").unwrap().1;
    let given: usize = done.iter().map(|(answers, _)| answers).sum();
    let project = get(&people[0].1, "/api/project");
    assert_eq!(project["progress"]["answers"], json!(given), "every answer once");
    assert!(given >= 2 * ANSWERS, "{given} answers");
    for ((name, token), (_, known)) in people.iter().zip(&done) {
        let mut stored = Acknowledged::new();
        for document in 1..=60 {
            let view = get(token, &format!("/api/documents/{document}"));
            for one in view["known"].as_array().unwrap() {
                for at in one["start"].as_u64().unwrap()..one["end"].as_u64().unwrap() {
                    stored.insert((document, at), one["type"].clone());
                }
            }
        }
        assert_eq!(&stored, known, "what {name} said");
    }
    server.kill();
}

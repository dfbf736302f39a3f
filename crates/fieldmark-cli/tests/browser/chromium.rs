//! Chromium without a window, driven by the DevTools protocol.
//!
//! The protocol runs over a pair of pipes (`--remote-debugging-pipe`), in JSON that ends with a zero byte: the standard
//! library is all that it needs.

use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tempfile::TempDir;

/// Nothing in these tests takes that long; whatever does has got stuck.
pub const PATIENCE: Duration = Duration::from_secs(120);

const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

const OPTIONS: [&str; 14] = [
    "--headless",
    "--remote-debugging-pipe",
    // Containers run tests as root, and have little shared memory.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--lang=en",
];

/// A browser with a fresh profile; it ends with the value.
pub struct Browser {
    child: Child,
    connection: Rc<Connection>,
    _profile: TempDir,
}

impl Browser {
    pub fn start() -> Self {
        let program = find();
        let profile = tempfile::tempdir().unwrap();
        let words = profile.path().join("last-words.txt");
        // The protocol wants the descriptors 3 and 4, which only a shell can give without unsafe code.
        let mut child = Command::new("sh")
            .args([
                "-c",
                r#"words=$1; shift; exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>"$words""#,
                "sh",
            ])
            .arg(&words)
            .arg(&program)
            .args(OPTIONS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let connection = Rc::new(Connection {
            to: RefCell::new(child.stdin.take().unwrap()),
            from: listen(child.stdout.take().unwrap()),
            calls: Cell::new(0),
            events: RefCell::new(Vec::new()),
            words,
        });
        connection.call(None, "Browser.getVersion", json!({}));
        Self {
            child,
            connection,
            _profile: profile,
        }
    }

    /// A tab of somebody with cookies of his own.
    pub fn person(&self) -> Person {
        let made = self
            .connection
            .call(None, "Target.createBrowserContext", json!({}));
        Person {
            connection: self.connection.clone(),
            context: made["browserContextId"].as_str().unwrap().to_owned(),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Somebody who has opened the browser.
pub struct Person {
    connection: Rc<Connection>,
    context: String,
}

impl Person {
    /// A session with a new tab, and the connection that it is on.
    pub fn attach(&self) -> (Rc<Connection>, String) {
        let connection = &self.connection;
        let target = json!({"url": "about:blank", "browserContextId": self.context});
        let made = connection.call(None, "Target.createTarget", target);
        let attach = json!({"targetId": made["targetId"], "flatten": true});
        let attached = connection.call(None, "Target.attachToTarget", attach);
        (
            connection.clone(),
            attached["sessionId"].as_str().unwrap().to_owned(),
        )
    }

    /// Lets files be saved in a directory.
    pub fn save_in(&self, directory: &Path) {
        let how = json!({"behavior": "allow", "browserContextId": self.context, "downloadPath": directory,
            "eventsEnabled": true});
        self.connection.call(None, "Browser.setDownloadBehavior", how);
    }
}

/// Both ends of the pipes.
pub struct Connection {
    to: RefCell<ChildStdin>,
    from: Receiver<Value>,
    calls: Cell<u64>,
    events: RefCell<Vec<Value>>,
    words: PathBuf,
}

impl Connection {
    /// Calls a method and waits for its result.
    pub fn call(&self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        let answer = self.try_call(session, method, parameters);
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Calls a method and waits for its result, or for why there is none.
    pub fn try_call(&self, session: Option<&str>, method: &str, parameters: Value) -> Result<Value, String> {
        let id = self.calls.get() + 1;
        self.calls.set(id);
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        let sent = self.to.borrow_mut().write_all(&bytes);
        sent.unwrap_or_else(|_| panic!("Chromium has ended. {}", self.last_words()));
        loop {
            let answer = self.receive();
            if answer["id"] != id {
                self.events.borrow_mut().push(answer);
                continue;
            }
            return match &answer["error"] {
                Value::Null => Ok(answer["result"].clone()),
                error => Err(error.to_string()),
            };
        }
    }

    /// What was reported so far.
    pub fn events(&self) -> Vec<Value> {
        self.events.borrow().clone()
    }

    fn receive(&self) -> Value {
        match self.from.recv_timeout(PATIENCE) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("Chromium does not answer. {}", self.last_words()),
            Err(RecvTimeoutError::Disconnected) => panic!("Chromium has ended. {}", self.last_words()),
        }
    }

    fn last_words(&self) -> String {
        let words = std::fs::read_to_string(&self.words).unwrap_or_default();
        format!("It has written:\n{words}")
    }
}

fn listen(pipe: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut message = Vec::new();
        while pipe.read_until(0, &mut message).is_ok_and(|length| length > 0) {
            message.pop();
            let Ok(value) = serde_json::from_slice(&message) else {
                return;
            };
            if sender.send(value).is_err() {
                return;
            }
            message.clear();
        }
    });
    receiver
}

/// The program: what the environment names, or what is installed.
fn find() -> PathBuf {
    if let Some(program) = std::env::var_os("FIELDMARK_CHROMIUM") {
        return program.into();
    }
    let runs = |name: &&&str| {
        let mut version = Command::new(name);
        let tried = version
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        tried.status().is_ok_and(|status| status.success())
    };
    let found = NAMES.iter().find(runs).unwrap_or_else(|| {
        panic!(
            "the tests of the annotation page need Chromium, and none of {} runs. `scripts/test.sh` installs it where \
             there is apt-get; otherwise install it, or name it in FIELDMARK_CHROMIUM",
            NAMES.join(", ")
        )
    });
    found.into()
}

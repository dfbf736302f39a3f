//! A tab of the browser, used as a person uses it: keys, mouse, eyes.

use super::chromium::{Connection, PATIENCE, Person};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

pub struct Tab {
    connection: Rc<Connection>,
    session: String,
}

/// Where pictures are kept.
pub fn pictures() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

impl Tab {
    pub fn open(person: &Person, address: &str) -> Self {
        let (connection, session) = person.attach();
        let tab = Self { connection, session };
        for domain in ["Page", "Runtime", "Log", "Network", "DOM"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.look(1280, 900, false);
        tab.call("Page.navigate", json!({"url": address}));
        tab
    }

    fn call(&self, method: &str, parameters: Value) -> Value {
        self.connection.call(Some(&self.session), method, parameters)
    }

    /// The value of an expression; promises are waited for.
    pub fn eval(&self, expression: &str) -> Value {
        let value = self.try_eval(expression);
        value.unwrap_or_else(|error| panic!("{expression}\n{error}"))
    }

    /// The value of an expression, or why there is none: a page that is left while it is asked has no values.
    fn try_eval(&self, expression: &str) -> Result<Value, String> {
        let how = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let session = Some(self.session.as_str());
        let answer = self.connection.try_call(session, "Runtime.evaluate", how)?;
        let failed = &answer["exceptionDetails"];
        assert!(
            failed.is_null(),
            "{expression}\n{}",
            failed["exception"]["description"]
        );
        Ok(answer["result"]["value"].clone())
    }

    pub fn text(&self, selector: &str) -> String {
        let value = self.eval(&format!(
            "document.querySelector({})?.innerText ?? ''",
            json!(selector)
        ));
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression is true; promises are waited for.
    pub fn until(&self, expression: &str) {
        let began = Instant::now();
        // A page that is being loaded has no values yet.
        let safe = format!(
            "(async () => {{ try {{ return Boolean(await ({expression})); }} catch {{ return false; }} }})()"
        );
        while self.try_eval(&safe) != Ok(Value::Bool(true)) {
            if began.elapsed() > PATIENCE {
                let picture = self.picture("stuck");
                panic!(
                    "waited in vain for {expression}; {} shows the page:\n{}",
                    picture.display(),
                    self.text("body")
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Goes to a view.
    pub fn visit(&self, view: &str, ready: &str) {
        self.eval(&format!("void (location.hash = {})", json!(format!("#{view}"))));
        self.until(&format!("document.querySelector({})", json!(ready)));
    }

    /// Presses a key: `a`, `Enter`, `shift+ArrowLeft`.
    pub fn press(&self, key: &str) {
        let (shift, key) = match key.strip_prefix("shift+") {
            Some(key) => (true, key),
            None => (false, key),
        };
        let shown = if shift && key.len() == 1 {
            key.to_uppercase()
        } else {
            key.to_owned()
        };
        let code = match key.as_bytes() {
            [b'a'..=b'z'] => format!("Key{}", key.to_uppercase()),
            [b'0'..=b'9'] => format!("Digit{key}"),
            _ => key.to_owned(),
        };
        let text = match key {
            "Enter" => Some("\r".to_owned()),
            _ => (key.chars().count() == 1).then(|| shown.clone()),
        };
        let number = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        let modifiers = if shift { 8 } else { 0 };
        let mut event = json!({"type": "keyDown", "key": shown, "code": code, "modifiers": modifiers,
            "windowsVirtualKeyCode": number});
        let up = json!({"type": "keyUp", "key": shown, "code": code, "modifiers": modifiers});
        if let Some(text) = text {
            event["text"] = text.into();
        }
        self.call("Input.dispatchKeyEvent", event);
        self.call("Input.dispatchKeyEvent", up);
    }

    pub fn press_all(&self, key: &str, times: usize) {
        for _ in 0..times {
            self.press(key);
        }
    }

    /// Writes into the field that has the focus.
    pub fn write(&self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    pub fn focus(&self, selector: &str) {
        self.until(&format!("document.querySelector({})", json!(selector)));
        self.eval(&format!("document.querySelector({}).focus()", json!(selector)));
    }

    /// Clicks into the middle of an element.
    pub fn click(&self, selector: &str) {
        self.until(&format!("document.querySelector({})", json!(selector)));
        let (x, y) = self.place(&format!("document.querySelector({})", json!(selector)), 0.5);
        self.drag((x, y), (x, y));
    }

    /// The place of an element on the screen, at a share of its width.
    pub fn place(&self, element: &str, share: f64) -> (f64, f64) {
        let place = self.eval(&format!(
            "(() => {{ const element = {element}; element.scrollIntoView({{ block: 'center' }});
                const box = element.getClientRects()[0];
                return [box.left + box.width * {share}, (box.top + box.bottom) / 2]; }})()"
        ));
        (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
    }

    /// Presses the mouse at one place and lets it go at another.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        let steps = [
            ("mouseMoved", from, 0),
            ("mousePressed", from, 1),
            ("mouseMoved", middle, 1),
            ("mouseMoved", to, 1),
            ("mouseReleased", to, 0),
        ];
        for (kind, (x, y), buttons) in steps {
            let event =
                json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Chooses files as if in the window of the system.
    pub fn choose_files(&self, selector: &str, files: &[PathBuf]) {
        self.until(&format!("document.querySelector({})", json!(selector)));
        let document = self.call("DOM.getDocument", json!({}));
        let query = json!({"nodeId": document["root"]["nodeId"], "selector": selector});
        let node = self.call("DOM.querySelector", query);
        self.call(
            "DOM.setFileInputFiles",
            json!({"nodeId": node["nodeId"], "files": files}),
        );
    }

    /// A window of another size, in light or dark colours.
    pub fn look(&self, width: u32, height: u32, dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"}]});
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Cuts the network, or mends it.
    pub fn offline(&self, offline: bool) {
        let how = json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        self.call("Network.emulateNetworkConditions", how);
    }

    /// Keeps a picture of what is on the screen.
    pub fn picture(&self, name: &str) -> PathBuf {
        let shot = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let path = pictures().join(format!("{name}.png"));
        std::fs::write(&path, base64(shot["data"].as_str().unwrap())).unwrap();
        path
    }

    /// Exceptions and what the browser refused, such as scripts that the page may not run.
    pub fn complaints(&self) -> Vec<String> {
        self.connection
            .events()
            .iter()
            .filter(|event| event["sessionId"] == self.session.as_str())
            .filter_map(complaint)
            .collect()
    }
}

fn complaint(event: &Value) -> Option<String> {
    let details = &event["params"];
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(details["exceptionDetails"].to_string()),
        "Log.entryAdded" if details["entry"]["level"] == "error" => Some(details["entry"].to_string()),
        _ => None,
    }
}

/// The bytes of a base64 text (RFC 4648), as the protocol sends pictures.
fn base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|&c| c != b'=').collect();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let bits = four.iter().fold(0u32, |bits, &c| bits << 6 | u32::from(value(c)));
        let bits = bits << (6 * (4 - four.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}

//! Projects from the first document to the model.

mod answers;
mod documents;
mod layers;
mod learning;
mod people;
mod settings;

use super::import::{ImportOptions, NewProject};
use super::wire::{ActionAnswer, ActionRequest, NewType};
use super::{Engine, Question};
use crate::project::{Error, Project, Settings};
use fieldmark::core::random::SplitMix64;
use fieldmark::text::document::Document;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A project in a directory of its own.
pub struct Place {
    folder: tempfile::TempDir,
    pub engine: Option<Arc<Engine>>,
}

impl Place {
    /// A project with texts and types, and the people `ada` and `bob`.
    pub fn new(texts: &[&str], types: &[&str], settings: Settings) -> Self {
        let documents = texts.iter().enumerate();
        let documents = documents.map(|(number, text)| Document::new(format!("d{number}"), *text));
        Self::with(documents.collect(), types, settings, ImportOptions::default())
    }

    pub fn with(
        documents: Vec<Document>,
        types: &[&str],
        settings: Settings,
        options: ImportOptions,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p");
        let mut project = NewProject::open(&path, None, Path::new(""), settings).unwrap();
        project.add_types(types.iter().copied()).unwrap();
        project.add(documents, options).unwrap();
        project.add_user("ada", "a").unwrap();
        let engine = Engine::open(project.into_project()).unwrap();
        Self {
            folder,
            engine: Some(engine),
        }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("p")
    }

    pub fn engine(&self) -> &Arc<Engine> {
        self.engine.as_ref().unwrap()
    }

    /// Adds somebody beside the engine.
    pub fn add_user(&self, name: &str) {
        let mut store = Project::database_beside(&self.path()).unwrap();
        store.user(name).unwrap();
    }

    /// Closes the project and opens it again.
    pub fn reopen(&mut self) {
        self.engine = None;
        self.engine = Some(Engine::open(Project::open(&self.path()).unwrap()).unwrap());
    }

    pub fn act(&self, user: &str, action: Value) -> Result<ActionAnswer, Error> {
        self.engine().act(user, &request(action))
    }

    pub fn ask(&self, user: &str) -> Option<Question> {
        self.engine().question(user, None).unwrap().question
    }

    /// What somebody sees of a document: words with their types.
    pub fn known(&self, user: &str, document: i64) -> Vec<(String, Option<String>)> {
        let state = self.engine().state();
        let user = state.users.iter().find(|(_, name)| name == user).unwrap().0;
        let number = state.corpus.find(document).unwrap();
        let text = state.corpus.get(number);
        let cells = state.view(number, user, 0..text.tokens());
        let all = state.named(super::agreement::all_assertions(&state, number, &cells));
        all.into_iter()
            .map(|one| {
                (
                    text.words(one.start as usize..one.end as usize).to_owned(),
                    one.kind,
                )
            })
            .collect()
    }
}

/// A request, with a name of its own unless it has one.
pub fn request(mut action: Value) -> ActionRequest {
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    if action.get("request").is_none() {
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        action["request"] = json!(format!("request-{number}"));
    }
    serde_json::from_value(action).unwrap()
}

pub fn new_type(name: &str) -> NewType {
    NewType {
        request: format!("type-{name}"),
        name: name.to_owned(),
    }
}

/// Everything is asked, nothing held out.
pub fn everything() -> Settings {
    Settings {
        held_out: 0.0,
        ..Settings::default()
    }
}

/// Sentences about people: names have capital letters, and nothing else has.
pub fn sentences(count: usize, seed: u64) -> Vec<Document> {
    let mut random = SplitMix64(seed);
    let names = [
        "Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Tony", "Niklaus",
    ];
    let others = [
        "met", "saw", "wrote", "with", "and", "a", "the", "of", "book", "letter", "often", "then",
    ];
    let mut one = |number: usize| {
        let (mut text, mut spans) = (String::new(), Vec::new());
        for at in 0..8 {
            if at > 0 {
                text.push(' ');
            }
            let start = text.len();
            if random.below(4) == 0 {
                text.push_str(names[random.below(8) as usize]);
                spans.push(start..text.len());
            } else {
                text.push_str(others[random.below(12) as usize]);
            }
        }
        let mut document = Document::new(format!("s{number}"), text);
        let annotation = |range| fieldmark::text::document::Annotation::new(range, "NAME");
        document.annotations = spans.into_iter().map(annotation).collect();
        document
    };
    (0..count).map(&mut one).collect()
}

/// The same without what is marked.
pub fn plain(documents: &[Document]) -> Vec<Document> {
    documents
        .iter()
        .map(|document| Document::new(document.id.clone(), document.text.clone()))
        .collect()
}

/// What is true of a token of such a sentence.
pub fn truth(word: &str) -> Option<&'static str> {
    word.starts_with(char::is_uppercase).then_some("NAME")
}

/// Answers a question as it is true.
pub fn answer(place: &Place, user: &str, question: &Question) -> ActionAnswer {
    let sentence = &question.sentence;
    let words: Vec<u16> = sentence.text.encode_utf16().collect();
    let word = |token: usize| {
        let [start, end] = sentence.tokens[token - sentence.start];
        String::from_utf16(&words[start..end]).unwrap()
    };
    let action = if question.kind == "sentence" {
        let names = (sentence.start..sentence.end).filter(|&token| truth(&word(token)).is_some());
        let spans: Vec<Value> = names
            .map(|token| json!({ "start": token, "end": token + 1, "type": "NAME" }))
            .collect();
        json!({
            "kind": "sentence", "document": question.document.id, "question": question.id,
            "start": sentence.start, "end": sentence.end, "spans": spans, "seconds": 2.0,
        })
    } else {
        let token = question.target.start;
        json!({
            "kind": "assert", "document": question.document.id, "question": question.id, "seconds": 1.0,
            "assertions": [{ "start": token, "end": token + 1, "type": truth(&word(token)) }],
        })
    };
    place.act(user, action).unwrap()
}

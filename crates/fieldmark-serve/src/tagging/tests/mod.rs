//! The API over real sockets, with small models of all kinds.

mod api;
mod description;
mod page;
mod streams;
mod work;

use super::Models;
use crate::http::{Access, Guard, Hosts, Limits};
use crate::testing::{Reply, Running};
use fieldmark::config::Config;
use fieldmark::text::document::{Annotation, Document, GivenToken, GivenTokens};
use fieldmark::{AnyPipeline, RunOptions, train_config};
use std::path::Path;
use std::sync::Arc;

const FEATURES: &str = "
    window = 1
    [text]
    tokenizer = 'punctuation'
    [training]
    c2 = 0.01
    [[features]]
    kind = 'word'
    [[features]]
    kind = 'suffix'
    lengths = [2, 3]
";

/// Text with marks as `{GENE abc}`; they may nest.
fn marked(markup: &str) -> Document {
    let mut document = Document::new("d", "");
    let mut open = Vec::new();
    let mut rest = markup;
    while let Some(at) = rest.find(['{', '}']) {
        document.text.push_str(&rest[..at]);
        if rest[at..].starts_with('{') {
            let (kind, after) = rest[at + 1..].split_once(' ').unwrap();
            open.push((kind, document.text.len()));
            rest = after;
        } else {
            let (kind, start) = open.pop().unwrap();
            let span = Annotation::new(start..document.text.len(), kind);
            document.annotations.push(span);
            rest = &rest[at + 1..];
        }
    }
    document.text.push_str(rest);
    document
}

fn trained(config: &str, documents: &[Document]) -> AnyPipeline {
    let config = Config::parse(config, &[]).unwrap();
    let options = RunOptions::default();
    train_config(&config, Path::new(""), documents, &[], &options, &mut ())
        .unwrap()
        .pipeline
}

/// A chain that marks genes.
pub fn genes() -> AnyPipeline {
    let documents = [
        "The {GENE Htr1b} gene is new. We saw {GENE cul4a} protein.",
        "A mutant of the {GENE abc2} gene was found. It was small.",
        "We saw {GENE xyz} protein in the cell.",
    ];
    trained(FEATURES, &documents.map(marked))
}

/// A chain whose type would be a script if a page took it for HTML.
pub fn scripts() -> AnyPipeline {
    let kind = "<img/src=x/onerror=alert(1)>";
    let documents = [
        format!("The {{{kind} Htr1b}} gene is new. We saw {{{kind} cul4a}} protein."),
        format!("We saw {{{kind} xyz}} protein in the cell."),
    ];
    trained(FEATURES, &documents.map(|text| marked(&text)))
}

/// A graph with two layers of spans, one inside of the other.
pub fn nested() -> AnyPipeline {
    let layers = "
        [graph]
        kind = 'factorial'
        [[graph.layers]]
        name = 'outer'
        depth = 0
        [[graph.layers]]
        name = 'inner'
        depth = 1
    ";
    let documents = [
        "We saw {DNA {PROTEIN cul4a} promoter} today.",
        "The {DNA {PROTEIN xyz} promoter} is new.",
        "It was small today.",
    ];
    trained(&format!("{FEATURES}{layers}"), &documents.map(marked))
}

/// A document of words with a label in each of two columns.
fn columns(words: &[[&str; 3]]) -> Document {
    let mut document = Document::new("d", "");
    let mut sentence = Vec::new();
    for [word, pos, chunk] in words {
        let start = document.text.len();
        document.text.push_str(word);
        sentence.push(GivenToken {
            range: start..document.text.len(),
            columns: vec![(*pos).to_owned(), (*chunk).to_owned()],
            score: None,
        });
        document.text.push(' ');
    }
    document.given = Some(GivenTokens {
        columns: vec!["pos".to_owned(), "chunk".to_owned()],
        sentences: vec![sentence],
        labels: None,
    });
    document
}

fn words() -> Vec<Document> {
    vec![
        columns(&[["the", "DT", "B"], ["cat", "NN", "I"], ["sleeps", "VB", "O"]]),
        columns(&[["a", "DT", "B"], ["dog", "NN", "I"], ["barks", "VB", "O"]]),
    ]
}

/// A chain that labels every token.
pub fn parts_of_speech() -> AnyPipeline {
    trained(&format!("{FEATURES}[labels]\ncolumn = 'pos'\n"), &words())
}

/// A graph that labels every token in two columns.
pub fn joint() -> AnyPipeline {
    let layers = "
        [graph]
        kind = 'factorial'
        [[graph.layers]]
        name = 'pos'
        column = 'pos'
        [[graph.layers]]
        name = 'chunk'
        column = 'chunk'
    ";
    trained(&format!("{FEATURES}{layers}"), &words())
}

pub fn serve(models: Vec<(&str, AnyPipeline)>) -> Running {
    serve_with(models, Access::Open, Limits::default())
}

pub fn serve_with(models: Vec<(&str, AnyPipeline)>, access: Access, limits: Limits) -> Running {
    let models = models.into_iter().map(|(name, model)| (name.to_owned(), model));
    let guard = Guard {
        access,
        hosts: Hosts::Loopback,
        limits,
        public: super::PUBLIC,
        metrics: Arc::default(),
    };
    let router = super::router(Models::new(models).unwrap(), 2, guard).unwrap();
    Running::start(router, limits)
}

fn ok(reply: Reply) -> serde_json::Value {
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.value()
}

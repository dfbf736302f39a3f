//! [`Workers`]: threads that mark texts, each with annotators of its own.

use super::answer::{TextAnswer, UnitName};
use super::models::Models;
use crate::http::ApiError;
use fieldmark::text::document::Document;
use fieldmark::text::formats::Notices;
use fieldmark::{Annotator, AnyPipeline, Error, GraphAnnotator, GraphAnnotatorOptions, GraphPipeline};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// Threads that wait for work. They end when this is dropped.
pub(super) struct Workers {
    queue: Sender<Job>,
    threads: usize,
}

type Job = Box<dyn FnOnce(&mut Bench<'_>) + Send>;

/// What a thread works with: annotators of the models that it was asked for.
pub(super) struct Bench<'m> {
    models: &'m Models,
    chains: Vec<Option<Annotator<'m>>>,
    graphs: Vec<Option<GraphAnnotator<'m>>>,
    /// Those of graphs whose answers have the probabilities of all labels.
    thorough: Vec<Option<GraphAnnotator<'m>>>,
}

/// What can say why.
pub(super) enum Explainer<'b, 'm> {
    Chain(&'b mut Annotator<'m>),
    Graph(&'m GraphPipeline, &'b mut GraphAnnotator<'m>),
}

/// Whether somebody still waits for what is being done.
pub(super) struct Wanted<'a>(&'a dyn Fn() -> bool);

impl Wanted<'_> {
    pub fn still(&self) -> bool {
        (self.0)()
    }
}

/// An answer that will come.
pub(super) struct Coming<T>(oneshot::Receiver<T>);

impl<T> Coming<T> {
    /// Waits for it.
    pub async fn answer(self) -> Result<T, ApiError> {
        self.0.await.map_err(|_| {
            ApiError::internal("the server failed at this text; this is a bug in fieldmark, please report it")
        })
    }
}

impl Workers {
    /// Starts threads.
    pub fn start(models: &Arc<Models>, threads: usize) -> io::Result<Self> {
        let threads = threads.max(1);
        let (queue, jobs) = channel();
        let jobs = Arc::new(Mutex::new(jobs));
        for number in 0..threads {
            let (models, jobs) = (models.clone(), jobs.clone());
            std::thread::Builder::new()
                .name(format!("tagger {number}"))
                .spawn(move || work(&models, &jobs))?;
        }
        Ok(Self { queue, threads })
    }

    /// How many there are.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Has something done as soon as a thread is free. Nothing is begun that nobody waits for any longer.
    pub fn begin<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Bench<'_>, &Wanted<'_>) -> T + Send + 'static,
    ) -> Coming<T> {
        let (reply, coming) = oneshot::channel();
        let job = Box::new(move |bench: &mut Bench<'_>| {
            if reply.is_closed() {
                return;
            }
            let wanted = || !reply.is_closed();
            let done = work(bench, &Wanted(&wanted));
            // Whoever asked may have gone meanwhile.
            let _ = reply.send(done);
        });
        // Threads live as long as the queue, so that somebody takes it.
        let _ = self.queue.send(job);
        Coming(coming)
    }
}

fn work(models: &Models, jobs: &Mutex<Receiver<Job>>) {
    let mut bench = Bench::new(models);
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else {
            return;
        };
        if catch_unwind(AssertUnwindSafe(|| job(&mut bench))).is_err() {
            // Nobody knows in which state the annotators are.
            bench = Bench::new(models);
        }
    }
}

impl<'m> Bench<'m> {
    fn new(models: &'m Models) -> Self {
        fn none<T>(models: &Models) -> Vec<Option<T>> {
            models.all().iter().map(|_| None).collect()
        }
        Self {
            models,
            chains: none(models),
            graphs: none(models),
            thorough: none(models),
        }
    }

    /// All models.
    pub fn models(&self) -> &'m Models {
        self.models
    }

    /// Marks a text.
    pub fn tag(&mut self, model: usize, text: String, unit: UnitName) -> Result<TextAnswer, Error> {
        let counts = &self.models.all()[model].counts;
        counts.texts.fetch_add(1, Ordering::Relaxed);
        counts.bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
        let answer = self.marked(model, text, unit);
        match &answer {
            Ok(answer) => counts
                .spans
                .fetch_add(answer.spans.len() as u64, Ordering::Relaxed),
            Err(_) => counts.failures.fetch_add(1, Ordering::Relaxed),
        };
        answer
    }

    fn marked(&mut self, model: usize, text: String, unit: UnitName) -> Result<TextAnswer, Error> {
        let mut document = Document::new("", text);
        let notices = match &self.models.all()[model].pipeline {
            AnyPipeline::Chain(pipeline) => {
                let annotator = ready(&mut self.chains[model], || Ok(pipeline.annotator()))?;
                let done = annotator.annotate(&mut document);
                let report = annotator.take_report();
                done?;
                let missed = report.impossible.iter();
                told(
                    missed.map(|one| (&one.text, one.error.to_string())),
                    &report.notices,
                )
            }
            AnyPipeline::Graph(pipeline) => {
                let annotator = ready(&mut self.graphs[model], || pipeline.annotator())?;
                let done = annotator.annotate(&mut document);
                let report = annotator.take_report();
                done?;
                let missed = report.impossible.iter();
                let missed = missed.map(|one| (&one.text, one.problem.clone()));
                let mut notices = told(missed, &report.notices);
                if report.unsettled > 0 {
                    notices.push(format!(
                        "inference stopped at its limit in {} of {} sentences: their labels are the best that were \
                         found",
                        report.unsettled, report.instances
                    ));
                }
                notices
            }
        };
        Ok(TextAnswer::new(&document, unit, notices))
    }

    /// The annotator of a chain, or one of a graph whose answers have the probabilities of all labels.
    pub fn explainer(&mut self, model: usize) -> Result<Explainer<'_, 'm>, Error> {
        match &self.models.all()[model].pipeline {
            AnyPipeline::Chain(pipeline) => {
                ready(&mut self.chains[model], || Ok(pipeline.annotator())).map(Explainer::Chain)
            }
            AnyPipeline::Graph(pipeline) => {
                let options = GraphAnnotatorOptions {
                    marginals: true,
                    ..GraphAnnotatorOptions::default()
                };
                ready(&mut self.thorough[model], || pipeline.annotator_with(options))
                    .map(|annotator| Explainer::Graph(pipeline, annotator))
            }
        }
    }
}

/// What is there, or is made now.
fn ready<T>(own: &mut Option<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<&mut T, Error> {
    match own {
        Some(own) => Ok(own),
        None => Ok(own.insert(make()?)),
    }
}

/// Sentences without an answer, and what could not be treated as usual.
fn told<'a>(missed: impl Iterator<Item = (&'a String, String)>, notices: &Notices) -> Vec<String> {
    let missed = missed.map(|(text, error)| format!("nothing is marked in {text:?}: {error}"));
    missed
        .chain(notices.all().iter().map(ToString::to_string))
        .collect()
}

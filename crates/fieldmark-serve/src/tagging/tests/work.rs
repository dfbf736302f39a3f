//! Threads and models.

use super::*;
use crate::tagging::OpenError;
use crate::tagging::workers::Workers;
use fieldmark::text::{Source, read_training};
use fieldmark::{InputFormat, Model, TrainOptions, train};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

fn workers() -> Workers {
    let models = Models::new([("genes".to_owned(), genes())]).unwrap();
    Workers::start(&Arc::new(models), 1).unwrap()
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

#[test]
fn a_thread_goes_on_after_a_panic() {
    let workers = workers();
    let broken = workers.begin(|_, _| panic!("as a test wants"));
    let error = wait(broken.answer()).map(|(): ()| ()).unwrap_err();
    assert_eq!(error.status().as_u16(), 500);
    let tagged = workers.begin(|bench, _| bench.tag(0, "We saw klm protein.".to_owned(), Default::default()));
    assert_eq!(wait(tagged.answer()).unwrap().unwrap().spans.len(), 1);
}

#[test]
fn nothing_is_begun_that_nobody_waits_for() {
    let workers = workers();
    let (open, gate) = channel::<()>();
    let (begun, has_begun) = channel::<()>();
    let first = workers.begin(move |_, wanted| {
        begun.send(()).unwrap();
        gate.recv().unwrap();
        wanted.still()
    });
    has_begun.recv().unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let noted = done.clone();
    drop(workers.begin(move |_, _| noted.store(true, Ordering::SeqCst)));
    // The first one is told that it is not wanted any more.
    drop(first);
    open.send(()).unwrap();
    wait(workers.begin(|_, _| ()).answer()).unwrap();
    assert!(!done.load(Ordering::SeqCst));
}

#[test]
fn models_that_cannot_be_served_are_refused_with_their_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    genes().save(path("genes.fmk")).unwrap();
    let names = |models: Models| models.names().map(str::to_owned).collect::<Vec<_>>();
    let files = [("b", path("genes.fmk")), ("a", path("genes.fmk"))];
    assert_eq!(names(Models::open(files).unwrap()), ["b", "a"]);

    let input = InputFormat::attributes();
    let text = "B-PER\tw=Ada\nO\tw=wrote\n";
    let data = read_training(&Source::text("sample", text), &input.format().unwrap()).unwrap();
    let chain = train(data, None, None, &TrainOptions::default(), &mut ())
        .unwrap()
        .model;
    Model { chain, input }.save(path("columns.fmk")).unwrap();
    let message = |files: Vec<(&str, std::path::PathBuf)>| Models::open(files).unwrap_err().to_string();
    let columns = message(vec![("x", path("columns.fmk"))]);
    assert!(
        columns.contains("columns.fmk: this model reads attributes or columns"),
        "{columns}"
    );
    let twice = message(vec![("x", path("genes.fmk")), ("x", path("genes.fmk"))]);
    assert!(twice.contains("two models are called x"), "{twice}");
    assert!(message(vec![("a b", path("genes.fmk"))]).contains("\"a b\""));
    assert!(message(vec![("x", path("nothing.fmk"))]).contains("nothing.fmk"));
    std::fs::write(path("broken.fmk"), b"broken").unwrap();
    assert!(message(vec![("x", path("broken.fmk"))]).contains("broken.fmk"));
    assert!(matches!(Models::open::<String, &Path>([]), Err(OpenError::None)));
}

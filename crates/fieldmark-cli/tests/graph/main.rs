//! Models with several layers: `train`, `tag`, `eval`, `cv` and `inspect` on graphs.

#[path = "../common/mod.rs"]
mod common;

mod engines;
mod labels;
mod models;
mod numbers;
mod scores;
mod training;
mod unanswered;

use common::Place;

const DATA: &str = "the DT B-NP\ncat NN I-NP\nsleeps VB O\n\na DT B-NP\ndog NN I-NP\nbarks VB O\n\n\
                    the DT B-NP\ndog NN I-NP\nsleeps VB O\n\na DT B-NP\ncat NN I-NP\nbarks VB O\n";

fn joint() -> Place {
    let place = Place::new();
    place.write("train.txt", DATA);
    place.write("new.txt", "the dog barks");
    place.run("init joint --output joint.toml");
    place.run("train joint.toml --model joint.fmk");
    place
}

fn words(text: &str) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(words).collect()
}

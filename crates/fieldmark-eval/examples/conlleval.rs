//! Prints what the `conlleval` script prints for columns on standard input: the last two are the gold and the
//! predicted label, an empty line ends a sequence.
//!
//! `cargo run -p fieldmark-eval --example conlleval < tagged.txt`; with `--original` under the script's own
//! rules for every label, with `--full` the whole report.

use fieldmark_eval::{BOUNDARY, Evaluation, Rules};
use std::error::Error;
use std::io::{self, BufRead};

fn main() -> Result<(), Box<dyn Error>> {
    let flags: Vec<String> = std::env::args().skip(1).collect();
    let given = |flag: &str| flags.iter().any(|given| given == flag);
    let rules = if given("--original") {
        Rules::Original
    } else {
        Rules::Extended
    };

    let mut evaluation = Evaluation::conlleval_with(rules);
    let (mut gold, mut predicted) = (Vec::new(), Vec::new());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let columns: Vec<&str> = line.split_whitespace().collect();
        match columns[..] {
            [] | [BOUNDARY, ..] => {
                evaluation.add(&gold, &predicted)?;
                gold.clear();
                predicted.clear();
            }
            [.., right, guess] => {
                gold.push(right.to_owned());
                predicted.push(guess.to_owned());
            }
            [_] => {
                return Err(
                    format!("a gold and a predicted label were expected in the line {line:?}").into(),
                );
            }
        }
    }
    evaluation.add(&gold, &predicted)?;

    let report = evaluation.report();
    if given("--full") {
        print!("{report}")
    } else {
        print!("{}", report.spans)
    }
    Ok(())
}

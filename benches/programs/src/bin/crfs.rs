//! The crate `crfs`, called as its documentation shows.
//!
//!     crfs train DATA MODEL ITERATIONS
//!     crfs tag DATA MODEL REPEATS
//!
//! `train` minimises −log-likelihood + Σw² and prints crfs's own lines as it goes. `tag` labels the sequences of a
//! file and prints, in seconds: `file` for reading, parsing and tagging them once per repeat, and `ready` for
//! tagging attributes that are in memory; with the number of tokens that were tagged each time.

use crfs::{Attribute, Model, Tagger, Trainer};
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

type Anything<T> = Result<T, Box<dyn Error>>;

fn main() -> Anything<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["train", data, model, iterations] => train(data, model, iterations.parse()?),
        ["tag", data, model, repeats] => tag(data, model, repeats.parse()?),
        _ => Err("usage: crfs train DATA MODEL ITERATIONS | crfs tag DATA MODEL REPEATS".into()),
    }
}

fn train(data: &str, model: &str, iterations: usize) -> Anything<()> {
    let mut trainer = Trainer::lbfgs()
        .with_c2(1.0)?
        .with_max_iterations(iterations)?
        .with_epsilon(0.0)?;
    trainer.params_mut().set_delta(0.0)?;
    trainer.verbose(true);
    for_each_sequence(data, |items, labels| Ok(trainer.append(items, labels)?))?;
    Ok(trainer.train(Path::new(model))?)
}

fn tag(data: &str, model: &str, repeats: usize) -> Anything<()> {
    let bytes = std::fs::read(model)?;
    let model = Model::new(&bytes)?;
    let tagger = model.tagger()?;
    let started = Instant::now();
    for _ in 0..repeats {
        for_each_sequence(data, |items, _| tag_one(&tagger, items))?;
    }
    println!("file\t{}", started.elapsed().as_secs_f64());

    let mut sequences = Vec::new();
    for_each_sequence(data, |items, _| {
        sequences.push(items.to_vec());
        Ok(())
    })?;
    let started = Instant::now();
    for _ in 0..repeats {
        for items in &sequences {
            tag_one(&tagger, items)?;
        }
    }
    println!("ready\t{}", started.elapsed().as_secs_f64());
    println!(
        "tokens\t{}",
        repeats * sequences.iter().map(Vec::len).sum::<usize>()
    );
    Ok(())
}

fn tag_one(tagger: &Tagger<'_>, items: &[Vec<Attribute>]) -> Anything<()> {
    black_box(tagger.tag(items)?);
    Ok(())
}

/// Calls `take` with the attributes and labels of each sequence of an attribute file.
///
/// The names are the only strings that are made: `crfs` wants to own them. Attributes have no values here.
fn for_each_sequence(
    path: &str,
    mut take: impl FnMut(&[Vec<Attribute>], &[String]) -> Anything<()>,
) -> Anything<()> {
    let mut file = BufReader::with_capacity(1 << 18, File::open(path)?);
    let (mut line, mut items, mut labels) = (String::new(), Vec::new(), Vec::new());
    loop {
        line.clear();
        let end = file.read_line(&mut line)? == 0;
        let mut fields = line.trim_end_matches('\n').split('\t');
        let label = fields.next().unwrap_or_default();
        if !label.is_empty() {
            labels.push(label.to_owned());
            items.push(fields.map(attribute).collect());
        } else if !items.is_empty() {
            take(&items, &labels)?;
            items.clear();
            labels.clear();
        }
        if end {
            return Ok(());
        }
    }
}

fn attribute(field: &str) -> Attribute {
    if !field.contains('\\') {
        return Attribute::from(field);
    }
    let mut name = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        name.push(match character {
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        });
    }
    Attribute::from(name)
}

//! The sample corpus as files, to try the other commands on.

use super::corpus::labelled;
use crate::console::Console;
use crate::failure::Failure;
use crate::paths::write_whole;
use fieldmark::sample;
use fieldmark::text::{escape_attribute, surface};
use std::error::Error;
use std::path::Path;

/// Word, lower case, shape and suffix are columns, so that a CRF++ template can speak of them.
const TEMPLATE: &str = "\
# Words
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]
# Lower case, shape and last letters
U10:%x[0,1]
U11:%x[0,2]
U12:%x[-1,2]/%x[0,2]/%x[1,2]
U13:%x[0,3]
# Neighbouring labels
B
";

/// Writes columns, attribute files, a template and raw text.
pub fn write(directory: &Path, console: &Console) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|error| Failure::writing(directory, error))?;
    let (train, test) = (sample::TRAIN, sample::TEST);
    let files = [
        ("template.txt", TEMPLATE.to_owned()),
        ("train.txt", columns(train).map_err(Failure::ours)?),
        ("test.txt", columns(test).map_err(Failure::ours)?),
        ("train.crfsuite", attributes(train).map_err(Failure::ours)?),
        ("test.crfsuite", attributes(test).map_err(Failure::ours)?),
        ("note.txt", sample::PARAGRAPH.to_owned()),
    ];
    for (name, text) in files {
        let path = directory.join(name);
        write_whole(&path, &text)?;
        console.note(&format!("wrote {}", path.display()));
    }
    Ok(())
}

fn columns(source: &str) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for sentence in &sample::parse(source)? {
        let (tokens, labels) = labelled(sentence)?;
        for (token, label) in tokens.iter().zip(&labels) {
            let lower = token.to_lowercase();
            let suffix = lower
                .char_indices()
                .rev()
                .nth(2)
                .map_or(&lower[..], |(at, _)| &lower[at..]);
            text += &format!(
                "{token}\t{lower}\t{}\t{suffix}\t{label}\n",
                surface::brief_shape(token)
            );
        }
        text.push('\n');
    }
    Ok(text)
}

fn attributes(source: &str) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for sentence in &sample::parse(source)? {
        let (tokens, labels) = labelled(sentence)?;
        for (position, label) in labels.iter().enumerate() {
            text += label;
            surface::observe(&tokens, position, &mut |name| {
                text.push('\t');
                text += &escape_attribute(name);
            });
            text.push('\n');
        }
        text.push('\n');
    }
    Ok(text)
}

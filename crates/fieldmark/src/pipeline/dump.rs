//! Pipelines as text: the dump of the model, then the card, the config and the files that the config names.

use super::front::Front;
use super::{AnyPipeline, GraphPipeline, ModelCard, Pipeline};
use crate::Error;
use crate::config::Config;
use fieldmark_chain::ChainModel;
use fieldmark_graph::GraphModel;
use fieldmark_text::features::Resources;
use std::io::{self, Write};

/// The line that ends the dump of a chain.
const END: &[u8] = b"\nend\n";

/// Bytes of a file that is no text in one line.
const ROW: usize = 64;

/// Splits a dump after its weights; nothing follows in a dump that is cut off.
fn after_weights(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.windows(END.len()).position(|window| window == END);
    text.split_at(end.map_or(text.len(), |at| at + END.len()))
}

impl Pipeline {
    /// Writes the pipeline as text; [`Pipeline::from_dump`] makes the same pipeline of it.
    ///
    /// After the lines of [`ChainModel::dump`], each with a tab after its first word:
    ///
    /// | line | how many |
    /// |---|---|
    /// | `card` the model card, as JSON | one |
    /// | `config` a line of the config | one for each |
    /// | `file` the name of a file that the config names, or of a list made from training data | one for each |
    /// | `text` a line of the file, or `bytes` in hexadecimal digits if it is no text | after its `file` |
    pub fn dump(&self, out: &mut dyn Write) -> io::Result<()> {
        self.chain.dump(&mut *out)?;
        dump_front(&self.front, &self.card, out)
    }

    /// The pipeline that was dumped as this text.
    pub fn from_dump(text: &[u8]) -> Result<Self, Error> {
        let (weights, rest) = after_weights(text);
        let chain = ChainModel::from_dump(weights).map_err(|error| Error::Option(error.to_string()))?;
        let (front, card) = read_front(weights, rest)?;
        Ok(Self { front, chain, card })
    }
}

impl GraphPipeline {
    /// Writes the pipeline as text, with the lines of [`GraphModel::dump`] in the place of those of a chain; see
    /// [`Pipeline::dump`].
    pub fn dump(&self, out: &mut dyn Write) -> io::Result<()> {
        self.model.dump(&mut *out)?;
        dump_front(&self.front, &self.card, out)
    }

    /// The pipeline that was dumped as this text.
    pub fn from_dump(text: &[u8]) -> Result<Self, Error> {
        let (weights, rest) = after_weights(text);
        let model = GraphModel::from_dump(weights).map_err(|error| Error::Option(error.to_string()))?;
        let (front, card) = read_front(weights, rest)?;
        Self::new(front, model, card)
    }
}

impl AnyPipeline {
    /// Whether a text is the dump of a pipeline, and not that of a model that wants observations.
    pub fn is_dump(text: &[u8]) -> bool {
        // Graphs are dumped as pipelines only, even if a text is cut off.
        GraphModel::is_dump(text) || after_weights(text).1.starts_with(b"card\t")
    }

    /// Writes the pipeline as text; see [`Pipeline::dump`].
    pub fn dump(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            AnyPipeline::Chain(pipeline) => pipeline.dump(out),
            AnyPipeline::Graph(pipeline) => pipeline.dump(out),
        }
    }

    /// The pipeline that was dumped as this text.
    pub fn from_dump(text: &[u8]) -> Result<Self, Error> {
        if GraphModel::is_dump(text) {
            GraphPipeline::from_dump(text).map(|graph| AnyPipeline::Graph(Box::new(graph)))
        } else {
            Pipeline::from_dump(text).map(|chain| AnyPipeline::Chain(Box::new(chain)))
        }
    }
}

/// Card, config and files.
fn dump_front(front: &Front, card: &ModelCard, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "card\t{}", serde_json::to_string(card)?)?;
    for line in front.config.to_toml().lines() {
        writeln!(out, "config\t{line}")?;
    }
    for (name, content) in front.resources.iter() {
        writeln!(out, "file\t{name}")?;
        match std::str::from_utf8(content) {
            Ok(text) => text
                .split('\n')
                .try_for_each(|line| writeln!(out, "text\t{line}"))?,
            Err(_) => content
                .chunks(ROW)
                .try_for_each(|row| writeln!(out, "bytes\t{}", hexadecimal(row)))?,
        }
    }
    Ok(())
}

/// What follows the weights of a dump.
fn read_front(weights: &[u8], rest: &[u8]) -> Result<(Front, ModelCard), Error> {
    let mut parts = Parts::default();
    let before = weights.iter().filter(|&&byte| byte == b'\n').count();
    for (index, line) in rest
        .strip_suffix(b"\n")
        .unwrap_or(rest)
        .split(|&byte| byte == b'\n')
        .enumerate()
    {
        let wrong = |problem| Error::Option(format!("line {}: {problem}", before + index + 1));
        parts.add(line).map_err(wrong)?;
    }
    let card = parts
        .card
        .ok_or_else(|| Error::Option("there is no line with `card`".into()))?;
    let config = Config::parse(&parts.config, &[])
        .map_err(|error| Error::Option(format!("in the lines of `config`: {error}")))?;
    let mut resources = Resources::default();
    for (name, content) in parts.files {
        resources.insert(name, content.unwrap_or_default());
    }
    Ok((Front::new(config, resources)?, card))
}

/// What the lines after the weights have told so far.
#[derive(Default)]
struct Parts {
    card: Option<ModelCard>,
    config: String,
    /// Each with its content, once there is a line of it.
    files: Vec<(String, Option<Vec<u8>>)>,
}

impl Parts {
    fn add(&mut self, line: &[u8]) -> Result<(), String> {
        let line = std::str::from_utf8(line).map_err(|_| "found text that is not UTF-8".to_owned())?;
        let (key, value) = line.split_once('\t').unwrap_or((line, ""));
        match (key, self.files.last_mut()) {
            ("card", None) if self.card.is_none() => {
                let card = serde_json::from_str(value);
                self.card = Some(card.map_err(|error| format!("this is no model card: {error}"))?);
            }
            ("config", None) => {
                self.config.push_str(value);
                self.config.push('\n');
            }
            ("file", _) => self.files.push((value.to_owned(), None)),
            ("text", Some((_, content))) => match content {
                Some(content) => {
                    content.push(b'\n');
                    content.extend_from_slice(value.as_bytes());
                }
                None => *content = Some(value.as_bytes().to_vec()),
            },
            ("bytes", Some((_, content))) => {
                let bytes = from_hexadecimal(value).ok_or_else(|| {
                    format!("found {value:?}; expected bytes as pairs of hexadecimal digits")
                })?;
                content.get_or_insert_default().extend(bytes);
            }
            _ => {
                return Err(format!(
                    "found {key:?}; expected one `card`, then `config`, then `file`, each `file` with its `text` or \
                     `bytes`"
                ));
            }
        }
        Ok(())
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let pairs = digits.filter(|digits| digits.len() % 2 == 0)?;
    // Two digits below 16 are a byte.
    Some(
        pairs
            .chunks(2)
            .map(|pair| (16 * pair[0] + pair[1]) as u8)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunOptions;
    use crate::pipeline::tests::{CONFIG_TEXT, corpus};
    use crate::train_pipeline;
    use fieldmark_text::document::Document;

    /// A pipeline with a list of its own, a list of its training data and another model.
    fn stacked(folder: &std::path::Path) -> Pipeline {
        let c2 = "training.c2=0.01".to_owned();
        let first = Config::parse(CONFIG_TEXT, std::slice::from_ref(&c2)).unwrap();
        let first = train_pipeline(&first, folder, &corpus(), &[], &RunOptions::default(), &mut ()).unwrap();
        first.pipeline.save(folder.join("genes.fmk")).unwrap();
        std::fs::write(folder.join("names.txt"), "cul4a\r\n\nxyz\tid\n").unwrap();
        let text = "
            [[features]]
            kind = 'model'
            file = 'genes.fmk'
            name = 'GENES'
            [[features]]
            kind = 'dictionary'
            file = 'names.txt'
            [[features]]
            kind = 'dictionary'
            training = 'GENE'
            [[postprocess]]
            kind = 'brackets'
        ";
        let config = Config::parse(text, &["text.tokenizer=dash".to_owned(), c2]).unwrap();
        let trained =
            train_pipeline(&config, folder, &corpus(), &[], &RunOptions::default(), &mut ()).unwrap();
        trained.pipeline
    }

    fn dump(pipeline: &Pipeline) -> Vec<u8> {
        let mut text = Vec::new();
        pipeline.dump(&mut text).unwrap();
        text
    }

    #[test]
    fn a_pipeline_survives_its_dump_in_every_byte() {
        let folder = tempfile::tempdir().unwrap();
        let pipeline = stacked(folder.path());
        let text = dump(&pipeline);
        assert!(AnyPipeline::is_dump(&text));
        assert!(!AnyPipeline::is_dump(after_weights(&text).0));
        let again = Pipeline::from_dump(&text).unwrap();
        assert_eq!(again.to_bytes().unwrap(), pipeline.to_bytes().unwrap());
        for document in corpus() {
            let annotated = |pipeline: &Pipeline| {
                let mut document = Document::new("d", document.text.clone());
                pipeline.annotator().annotate(&mut document).unwrap();
                document
            };
            assert_eq!(annotated(&again), annotated(&pipeline));
            assert!(!annotated(&again).annotations.is_empty());
        }
    }

    #[test]
    fn text_of_several_lines_survives_in_a_config() {
        let mut config = Config::parse(CONFIG_TEXT, &["training.c2=0.01".to_owned()]).unwrap();
        config.description = "\none\r\ntwo\r\n\n\t'''\n\"\"\"\r".to_owned();
        let pipeline = train_pipeline(
            &config,
            "".as_ref(),
            &corpus(),
            &[],
            &RunOptions::default(),
            &mut (),
        )
        .unwrap()
        .pipeline;
        let again = Pipeline::from_dump(&dump(&pipeline)).unwrap();
        assert_eq!(again.config(), pipeline.config());
    }

    #[test]
    fn a_dump_that_is_damaged_is_an_error_with_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let text = String::from_utf8(dump(&stacked(folder.path()))).unwrap();
        let number = |start: &str| text.lines().position(|line| line.starts_with(start)).unwrap() + 1;
        let (card, file, bytes) = (number("card\t"), number("file\t"), number("bytes\t"));
        for (from, to, expected) in [
            (
                "\ncard\t{",
                "\ncard\t",
                format!("line {card}: this is no model card"),
            ),
            (
                "\nend\ncard",
                "\nend\nextra\ncard",
                format!("line {card}: found \"extra\""),
            ),
            (
                "\nfile\t",
                "\ntext\tx\nfile\t",
                format!("line {file}: found \"text\""),
            ),
            ("\nbytes\t", "\nbytes\tg", format!("line {bytes}: found \"g")),
            ("\nbytes\t", "\nbytes\t0", format!("line {bytes}: found \"0")),
            (
                "\nfile\tgenes.fmk",
                "\nfile\tother.fmk",
                "there is no file \"genes.fmk\"".to_owned(),
            ),
            (
                "\nconfig\tkind",
                "\nconfig\tkin",
                "in the lines of `config`: ".to_owned(),
            ),
            ("\nlabel\t", "\nlable\t", "line ".to_owned()),
            (
                "\nconfig\t",
                "\ncard\t{}\nconfig\t",
                format!("line {}: found \"card\"", card + 1),
            ),
            (
                "\nbytes\t",
                "\nconfig\tname = 'x'\nbytes\t",
                format!("line {bytes}: found \"config\""),
            ),
        ] {
            let damaged = text.replacen(from, to, 1);
            assert_ne!(damaged, text, "{from}");
            let error = Pipeline::from_dump(damaged.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&expected), "{error}\n{expected}");
        }
        let (before, after) = text.split_once("card\t").unwrap();
        let cardless = format!("{before}{}", after.split_once('\n').unwrap().1);
        let error = Pipeline::from_dump(cardless.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("no line with `card`"), "{error}");
    }
}

//! Answers about the tokens of documents, for models that read text.

use super::Arguments;
use super::answer::{Answer, Answers, FoundSpan, Wanted};
use super::documents::{INPUT, each_share};
use super::json;
use super::limits::Limits;
use super::tables::plain;
use super::trouble::{Tally, Trouble, problem, sentence_name, too_many};
use super::write::{SMALLEST, View, label_cells};
use crate::console::Console;
use crate::documents::tell;
use crate::failure::Failure;
use fieldmark::chain::Tagger;
use fieldmark::chain::inference::Constraints;
use fieldmark::core::Instance;
use fieldmark::text::LabelSyntax;
use fieldmark::text::document::Document;
use fieldmark::text::formats::Notices;
use fieldmark::text::offsets::{Offsets, Unit};
use fieldmark::{Annotator, AnnotatorOptions, Described, Error, Pipeline};
use serde::Serialize;
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;

/// What a thread needs.
struct Worker<'p> {
    annotator: Annotator<'p>,
    tagger: Tagger<'p, f64>,
    constraints: Constraints,
}

/// The answers about a document.
#[derive(Default)]
struct Written {
    text: Vec<u8>,
    troubles: Vec<Trouble>,
    known: u64,
}

impl Arguments {
    /// Says what the model thinks of every token.
    pub(super) fn tag_tokens(
        &self,
        pipeline: &Pipeline,
        files: &[PathBuf],
        limits: &Limits,
        (wanted, view): (Wanted, View),
        console: &Console,
    ) -> Result<(), Failure> {
        let answers = &Answers::new(pipeline.chain.labels(), limits, wanted, LabelSyntax::Literal)?;
        let options = AnnotatorOptions {
            fix_labels: limits.fix_labels,
            ..AnnotatorOptions::default()
        };
        let worker = || Worker {
            annotator: pipeline.annotator_with(options.clone()),
            tagger: pipeline.chain.tagger_with(self.space()),
            constraints: answers.constraints(),
        };
        let mut workers: Vec<Option<Worker<'_>>> = Vec::new();
        workers.resize_with(rayon::current_num_threads(), || None);
        let mut notices = Notices::new();
        let mut tally = Tally::new(console);
        let mut output = console.output();
        output.write_all(header(view, wanted).as_bytes())?;
        let files = self.inputs(pipeline.config(), files)?;
        self.for_each_group(pipeline.config(), &files, &mut notices, console, |group, _| {
            let written = each_share(
                group,
                &mut workers,
                || Ok(worker()),
                |worker, document| worker.answer(view, answers, document),
            )?;
            for written in written {
                output.write_all(&written.text)?;
                tally.known += written.known;
                written
                    .troubles
                    .into_iter()
                    .for_each(|trouble| tally.add(trouble));
            }
            Ok(())
        })?;
        output.flush()?;
        for worker in workers.iter_mut().flatten() {
            notices.extend(worker.annotator.take_report().notices);
        }
        tell(&notices, console);
        tally.finish(limits.fix_labels, INPUT)
    }
}

/// The first line of a table.
fn header(view: View, wanted: Wanted) -> String {
    match view {
        View::Pairs => "document\tstart\tend\tlabel\tnext\tprobability\n".to_owned(),
        View::Sequences => "document\tstart\tend\tlog_z\tbest\tgold\n".to_owned(),
        View::Json => String::new(),
        View::Labels | View::Columns | View::Spans => {
            let mut header = "document\tstart\tend\ttext\tlabel".to_owned();
            for (name, is_wanted) in [
                ("probability", wanted.label_probabilities),
                ("marginals", wanted.marginals),
                ("max_marginals", wanted.max_marginals),
            ] {
                if is_wanted {
                    header = header + "\t" + name;
                }
            }
            header + "\n"
        }
    }
}

impl Worker<'_> {
    fn answer(&mut self, view: View, answers: &Answers<'_>, document: &Document) -> Result<Written, Error> {
        let described = self.annotator.describe(document)?;
        let offsets = Offsets::new(&document.text, Unit::Characters);
        let mut written = Written::default();
        for instance in described.data.instances() {
            let sentence = Sentence::new(document, &offsets, &described, &instance);
            if let Some(most) = answers.wanted().best
                && let Some(problem) = too_many(
                    most,
                    answers.labels().len(),
                    instance.len(),
                    instance.len() * document.id.len() + sentence.all().len(),
                )
            {
                let (id, name) = (&document.id, sentence_name(sentence.all()));
                return Err(Error::Option(format!("{id}: in {name}: {problem}")));
            }
            let answer = answers.answer(&mut self.tagger, instance, &mut self.constraints);
            let problem = answer.as_ref().err().map(|error| {
                let rule = answers.impossible_rule(error, &mut self.tagger, instance, &self.constraints);
                let place = |position| format!("at the token {:?}", sentence.text(position..position + 1));
                problem(error, answers.limits, rule, true, place)
            });
            let answer = answer.unwrap_or_else(|_| answers.none(instance.len()));
            written.known += answer.known;
            // Writing to memory cannot fail.
            sentence
                .write(view, answers, &answer, problem.as_deref(), &mut written.text)
                .map_err(|error| Error::Option(error.to_string()))?;
            let trouble = |problem| Trouble::of_sentence(&document.id, sentence.all(), problem);
            written.troubles.extend(problem.map(trouble));
        }
        Ok(written)
    }
}

/// A sentence of a document.
struct Sentence<'a> {
    document: &'a Document,
    offsets: &'a Offsets<'a>,
    tokens: &'a [Range<usize>],
    labelled: bool,
}

impl<'a> Sentence<'a> {
    fn new(
        document: &'a Document,
        offsets: &'a Offsets<'a>,
        described: &'a Described,
        instance: &Instance<'_>,
    ) -> Self {
        Self {
            document,
            offsets,
            tokens: &described.tokens[instance.positions()],
            labelled: described.labelled,
        }
    }

    /// Its text.
    fn all(&self) -> &'a str {
        self.text(0..self.tokens.len())
    }

    /// What some of its tokens cover.
    fn text(&self, tokens: Range<usize>) -> &'a str {
        let bytes = self.bytes(tokens);
        self.document.text.get(bytes).unwrap_or_default()
    }

    fn bytes(&self, tokens: Range<usize>) -> Range<usize> {
        self.tokens[tokens.start].start..self.tokens[tokens.end - 1].end
    }

    /// The characters that some of its tokens cover.
    fn place(&self, tokens: Range<usize>) -> (usize, usize) {
        let bytes = self.bytes(tokens);
        let count = |byte| self.offsets.count(byte).unwrap_or_default();
        (count(bytes.start), count(bytes.end))
    }

    fn write(
        &self,
        view: View,
        answers: &Answers<'_>,
        answer: &Answer,
        problem: Option<&str>,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        match view {
            View::Json => self.json(answers, answer, problem, out),
            View::Pairs => self.pairs(answers, answer, out),
            View::Sequences => self.log_probabilities(answer, out),
            View::Labels | View::Columns | View::Spans if answer.best.is_empty() => {
                self.labels(answers, answer, &answer.labels, out)
            }
            View::Labels | View::Columns | View::Spans => {
                for (rank, (labels, probability)) in answer.best.iter().enumerate() {
                    writeln!(out, "# {rank} {probability:.6}")?;
                    self.labels(answers, answer, labels, out)?;
                }
                Ok(())
            }
        }
    }

    fn labels(
        &self,
        answers: &Answers<'_>,
        answer: &Answer,
        labels: &[u32],
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let id = plain(&self.document.id);
        for (t, &label) in labels.iter().enumerate() {
            let (start, end) = self.place(t..t + 1);
            write!(out, "{id}\t{start}\t{end}\t{}\t", plain(self.text(t..t + 1)))?;
            label_cells(answers, answer, t, label, b'\t', out)?;
            out.push(b'\n');
        }
        out.push(b'\n');
        Ok(())
    }

    fn pairs(&self, answers: &Answers<'_>, answer: &Answer, out: &mut Vec<u8>) -> io::Result<()> {
        let id = plain(&self.document.id);
        let width = answers.labels().len();
        for (step, pairs) in answer.pair_marginals.iter().enumerate() {
            let (start, end) = self.place(step..step + 2);
            for (pair, &probability) in pairs.iter().enumerate() {
                if probability >= SMALLEST {
                    let label = answers.written((pair / width) as u32);
                    let next = answers.written((pair % width) as u32);
                    writeln!(out, "{id}\t{start}\t{end}\t{label}\t{next}\t{probability:.6}")?;
                }
            }
        }
        Ok(())
    }

    fn log_probabilities(&self, answer: &Answer, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(all) = answer.log_probabilities else {
            return Ok(());
        };
        let (start, end) = self.place(0..self.tokens.len());
        let gold = match self.labelled {
            true => format!("{:.6}", all.gold),
            false => "-".to_owned(),
        };
        let id = plain(&self.document.id);
        writeln!(out, "{id}\t{start}\t{end}\t{:.6}\t{:.6}\t{gold}", all.z, all.best)
    }

    fn json(
        &self,
        answers: &Answers<'_>,
        answer: &Answer,
        problem: Option<&str>,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let token = |t: usize| {
            let (start, end) = self.place(t..t + 1);
            JsonToken {
                start,
                end,
                text: self.text(t..t + 1),
            }
        };
        let place = JsonPlace {
            document: &self.document.id,
            tokens: (0..self.tokens.len()).map(token).collect(),
        };
        if let Some(problem) = problem {
            return json::write_problem(out, place, problem);
        }
        let text = |span: &FoundSpan| self.text(span.start..span.end).to_owned();
        json::write(out, place, answers, answer, self.labelled, text)
    }
}

/// Where a sentence is. Offsets count characters.
#[derive(Serialize)]
struct JsonPlace<'a> {
    document: &'a str,
    tokens: Vec<JsonToken<'a>>,
}

#[derive(Serialize)]
struct JsonToken<'a> {
    start: usize,
    end: usize,
    text: &'a str,
}

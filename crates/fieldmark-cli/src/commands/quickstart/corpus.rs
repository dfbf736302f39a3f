//! The sample corpus as data: tokens, labels and observations of its sentences.

use fieldmark::chain::ChainModel;
use fieldmark::chain::inference::{Constraints, SpanReader};
use fieldmark::core::{Alphabet, Dataset, DatasetBuilder, Gold, Scheme};
use fieldmark::sample;
use fieldmark::text::markup::Sentence;
use fieldmark::text::render::Annotation;
use fieldmark::text::sentences::SentenceSplitter;
use fieldmark::text::surface;
use fieldmark::text::tokenize::{Tokenizer, TokenizerProfile};
use std::error::Error;

const SCHEME: Scheme = Scheme::Iob2;

const TOKENIZER: Tokenizer = Tokenizer::new(TokenizerProfile::Clinical);

/// The sample is part of the program, so whatever goes wrong with it is a mistake of ours.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Tokens and labels of a marked sentence.
pub fn labelled<'a>(sentence: &'a Sentence<'_>) -> Result<(Vec<&'a str>, Vec<String>)> {
    let tokens = TOKENIZER.tokenize(&sentence.text);
    let labels = SCHEME.labels_of(&sentence.align(&tokens)?, tokens.len())?;
    Ok((
        tokens.iter().map(|token| token.text(&sentence.text)).collect(),
        labels,
    ))
}

/// The training part.
pub fn training_data() -> Result<Dataset> {
    let mut builder = DatasetBuilder::new();
    for sentence in &sample::parse(sample::TRAIN)? {
        let (tokens, labels) = labelled(sentence)?;
        for (position, label) in labels.iter().enumerate() {
            surface::observe(&tokens, position, &mut |name| {
                let id = builder.observations.intern(name);
                builder.observe(id, 1.0);
            });
            let label = builder.labels.intern(label);
            builder.end_position(Gold::Known(label))?;
        }
        builder.end_instance()?;
    }
    Ok(builder.finish())
}

/// One sentence with the observations that the model knows.
fn observed(model: &ChainModel, tokens: &[&str]) -> Result<Dataset> {
    let mut builder = DatasetBuilder::new();
    for position in 0..tokens.len() {
        surface::observe(tokens, position, &mut |name| {
            if let Some(id) = model.find_observation(Alphabet::hash(name), name) {
                builder.observe(id, 1.0);
            }
        });
        builder.end_position(Gold::Unknown)?;
    }
    Ok(builder.finish())
}

/// Gold and predicted labels of the test part.
pub fn test_labels(model: &ChainModel) -> Result<Vec<(Vec<String>, Vec<String>)>> {
    let mut tagger = model.tagger();
    let mut all = Vec::new();
    for sentence in &sample::parse(sample::TEST)? {
        let (tokens, gold) = labelled(sentence)?;
        let data = observed(model, &tokens)?;
        let found = tagger.tag(data.instance(0))?;
        all.push((
            gold,
            found
                .iter()
                .map(|&label| model.labels().name(label).to_owned())
                .collect(),
        ));
    }
    Ok(all)
}

/// A text with the spans that a model found in it.
pub struct Tagged<'a> {
    pub text: &'a str,
    spans: Vec<(usize, usize, String, f64)>,
}

impl Tagged<'_> {
    pub fn annotations(&self) -> Vec<Annotation<'_>> {
        let spans = self.spans.iter();
        spans
            .map(|(start, end, kind, confidence)| {
                Annotation::new(*start, *end, kind).with_confidence(*confidence)
            })
            .collect()
    }
}

/// Tags raw text. Only labels that are legal in the scheme are considered.
pub fn tag<'a>(model: &ChainModel, text: &'a str) -> Result<Tagged<'a>> {
    let reader = SpanReader::new(SCHEME, model.labels());
    let legal = Constraints::of_scheme(SCHEME, model.labels());
    let mut tagger = model.tagger();
    let mut spans = Vec::new();
    for range in SentenceSplitter::default().split(text) {
        let sentence = &text[range.clone()];
        let tokens = TOKENIZER.tokenize(sentence);
        let words: Vec<&str> = tokens.iter().map(|token| token.text(sentence)).collect();
        let data = observed(model, &words)?;
        let mut inference = tagger.load(data.instance(0), &legal)?;
        let labels = inference.viterbi()?.labels.to_vec();
        let names: Vec<&str> = labels.iter().map(|&label| model.labels().name(label)).collect();
        for span in SCHEME.spans(&names) {
            let kind = reader.kinds().get(span.kind).unwrap_or_default();
            let confidence = inference.span_probability(&reader, span.start..span.end, kind)?;
            let start = range.start + tokens[span.start].start;
            let end = range.start + tokens[span.end - 1].end;
            spans.push((start, end, span.kind.to_owned(), confidence));
        }
    }
    Ok(Tagged { text, spans })
}

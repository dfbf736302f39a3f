//! From the database to what is in memory: the config, and documents with what it observes of their tokens.

use super::corpus::Corpus;
use super::settings::holds_out_sentence;
use super::state::share_of;
use crate::project::{DocumentId, Error, Project, Settings, StoredDocument, Writing};
use fieldmark::Describer;
use fieldmark::config::{Config, SchemeName, UnseenName};
use fieldmark::core::DatasetBuilder;
use fieldmark::text::document::{Document, GivenToken, GivenTokens};
use fieldmark::text::features::Resources;
use std::borrow::Cow;
use std::ops::Range;

/// The config of projects that are given none.
pub const DEFAULT_CONFIG: &str = include_str!("default.toml");

const CONFIG: &str = "config";

/// Prepares a config for a project: labels are those of IOB2, and every label may follow every other, because nobody knows
/// yet what does.
pub(super) fn describer(mut config: Config, resources: Resources) -> Result<Describer, Error> {
    config.labels.scheme = SchemeName::Iob2;
    config.model.unseen_transitions = UnseenName::Free;
    Ok(Describer::new(config, resources)?)
}

/// Keeps the config of a project.
pub(super) fn write_config(writing: &Writing<'_>, describer: &Describer) -> Result<(), Error> {
    writing.set_resources(describer.resources().iter())?;
    writing.set_meta(CONFIG, &describer.config().to_toml())
}

pub(super) fn load_config(project: &Project) -> Result<Describer, Error> {
    let text = project.store().meta(CONFIG)?;
    let text = text.as_deref().unwrap_or(DEFAULT_CONFIG);
    let config = Config::parse(text, &[])
        .map_err(|error| Error::refused(format_args!("the config of the project cannot be used: {error}")))?;
    let mut resources = Resources::default();
    for (name, content) in project.store().resources()? {
        resources.insert(name, content);
    }
    describer(config, resources)
}

/// A document with the tokens that it had when it was added.
pub(super) fn with_tokens(stored: &StoredDocument) -> Cow<'_, Document> {
    if stored.document.given.is_some() {
        return Cow::Borrowed(&stored.document);
    }
    let token = |range: &Range<usize>| GivenToken {
        range: range.clone(),
        ..GivenToken::default()
    };
    let sentences = stored.cut.sentences.iter();
    let sentences = sentences.map(|sentence| stored.cut.tokens[sentence.clone()].iter().map(token).collect());
    let mut document = stored.document.clone();
    document.given = Some(GivenTokens {
        sentences: sentences.collect(),
        ..GivenTokens::default()
    });
    Cow::Owned(document)
}

/// Decides what everybody annotates: some documents or, where these are few, some sentences, at least one. Sentences that
/// are not held out come first, because the others are asked as a whole and seldom.
pub(super) fn share(settings: &Settings, corpus: &mut Corpus) {
    if !settings.held_out_sentences {
        corpus.share(|id| share_of(settings.seed, id as u64, 0) < settings.shared);
        return;
    }
    let rank = |id: DocumentId, index: usize| {
        let share = share_of(!settings.seed, id as u64, index as u64);
        (holds_out_sentence(settings, id, index), share)
    };
    let texts = corpus.iter();
    let mut ranks: Vec<(bool, f64)> = texts
        .flat_map(|text| (0..text.sentences()).map(|index| rank(text.id, index)))
        .collect();
    ranks.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    // A product that should be a whole number may be a little more.
    let count = (settings.shared * ranks.len() as f64 - 1e-9).ceil() as usize;
    let last = count.checked_sub(1).and_then(|last| ranks.get(last)).copied();
    corpus.share_sentences(|id, index| last.is_some_and(|last| rank(id, index) <= last));
}

/// Adds the documents of a project from a number on, with what is observed of their tokens.
pub(super) fn add_documents(
    project: &Project,
    describer: &Describer,
    first: DocumentId,
    builder: &mut DatasetBuilder,
    corpus: &mut Corpus,
) -> Result<(), Error> {
    describer.describe(builder, |describe| {
        project.store().for_each_document(first, |stored| {
            describe(&with_tokens(&stored))?;
            corpus.add(stored);
            Ok(())
        })
    })?;
    if builder.positions() != corpus.positions() {
        return Err(Error::refused(format_args!(
            "the documents have {} tokens, but had {} when they were added; was the project made with another version of \
             fieldmark?",
            builder.positions(),
            corpus.positions()
        )));
    }
    Ok(())
}

/// Adds the documents of a project from a number on to another, without what is observed.
pub(super) fn add_texts(
    project: &Project,
    first: DocumentId,
    end: DocumentId,
    corpus: &mut Corpus,
) -> Result<(), Error> {
    project.store().for_each_document(first, |stored| {
        if stored.id < end {
            corpus.add(stored);
        }
        Ok(())
    })
}

//! Documents and the model as files.

use super::Engine;
use super::agreement::all_assertions;
use super::cells::{self, Cell};
use super::state::{Layer, State, with_tokens};
use crate::project::{DocumentId, Error, StoredDocument, UserId};
use fieldmark::core::Gold;
use fieldmark::learn::{Fitted, LearnOptions};
use fieldmark::text::document::{Annotation, Document};
use fieldmark::text::formats::{DocumentFormat, DocumentWriter, Notices, Target, WriteOptions};
use fieldmark::{DataCounts, Pipeline};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Formats that documents can be exported in: all but PDF, which can only be written over the file that was read.
pub const EXPORT_FORMATS: &[DocumentFormat] = &[
    DocumentFormat::Jsonl,
    DocumentFormat::Columns,
    DocumentFormat::Conllu,
    DocumentFormat::Brat,
    DocumentFormat::Bioc,
    DocumentFormat::PubTator,
    DocumentFormat::Doccano,
    DocumentFormat::Spacy,
    DocumentFormat::Prodigy,
    DocumentFormat::HuggingFace,
    DocumentFormat::InlineXml,
    DocumentFormat::Html,
    DocumentFormat::Csv,
    DocumentFormat::GeneMention,
    DocumentFormat::Medline,
    DocumentFormat::Pubmed,
    DocumentFormat::Jats,
    DocumentFormat::Text,
];

/// Which labels are exported.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Those of one person; without it, what was decided, else what people say, else what documents came with.
    pub user: Option<String>,
    /// Whether the model's labels are added where nobody said anything; they have a score.
    pub fill: bool,
    /// Whether documents are left out of which nothing is known.
    pub labelled_only: bool,
}

/// A file to be downloaded.
#[derive(Debug)]
pub struct Exported {
    /// Its name.
    pub name: String,
    /// What it is.
    pub content_type: &'static str,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl Engine {
    /// Writes all documents to a file, or for brat to a directory.
    pub fn export_to(
        &self,
        format: DocumentFormat,
        path: &Path,
        options: &ExportOptions,
    ) -> Result<Notices, Error> {
        check_format(format)?;
        let write = self.state().write_options();
        let mut writer = write.create(format, Target::<Vec<u8>>::Path(path), None)?;
        self.write_all(format, &mut *writer, options)
    }

    /// All documents as one file; formats of several files as an archive of them.
    pub fn export(&self, format: DocumentFormat, options: &ExportOptions) -> Result<Exported, Error> {
        check_format(format)?;
        let (name, write) = {
            let state = self.state();
            (state.project.name(), state.write_options())
        };
        let extension = format.extensions().first().copied().unwrap_or(match format {
            DocumentFormat::InlineXml | DocumentFormat::Pubmed => "xml",
            _ => "jsonl",
        });
        if matches!(format, DocumentFormat::Brat | DocumentFormat::GeneMention) {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join(match format {
                DocumentFormat::Brat => name.clone(),
                _ => format!("{name}.{extension}"),
            });
            let mut writer = write.create(format, Target::<Vec<u8>>::Path(&path), None)?;
            self.write_all(format, &mut *writer, options)?;
            drop(writer);
            let mut archive = tar::Builder::new(Vec::new());
            archive.append_dir_all(".", folder.path())?;
            return Ok(Exported {
                name: format!("{name}-{format}.tar"),
                content_type: "application/x-tar",
                bytes: archive.into_inner()?,
            });
        }
        let mut bytes = Vec::new();
        let mut writer = write.create(format, Target::Stream(&mut bytes), None)?;
        self.write_all(format, &mut *writer, options)?;
        drop(writer);
        Ok(Exported {
            name: format!("{name}-{format}.{extension}"),
            content_type: "application/octet-stream",
            bytes,
        })
    }

    /// Writes one document after the other; answers come in between.
    fn write_all(
        &self,
        format: DocumentFormat,
        writer: &mut dyn DocumentWriter,
        options: &ExportOptions,
    ) -> Result<Notices, Error> {
        let of_tokens = matches!(
            format,
            DocumentFormat::Columns | DocumentFormat::Conllu | DocumentFormat::HuggingFace
        );
        let (user, ids) = {
            let mut state = self.state();
            let user = options.user.as_deref();
            let user = user.map(|name| self.user(&mut state, name)).transpose()?;
            let ids: Vec<DocumentId> = state.corpus.iter().map(|text| text.id).collect();
            (user, ids)
        };
        let mut notices = Notices::new();
        for id in ids {
            let document = {
                let state = self.state();
                match state.project.store().document(id)? {
                    Some(mut stored) => {
                        if of_tokens {
                            stored.document = with_tokens(&stored).into_owned();
                        }
                        state.exported(stored, user, options)?
                    }
                    None => None,
                }
            };
            if let Some(document) = document {
                writer
                    .write(&document, &mut notices)
                    .map_err(|error| io::Error::new(error.kind(), format!("document {id}: {error}")))?;
            }
        }
        writer.finish()?;
        Ok(notices)
    }

    /// The model as a file that `fieldmark tag` opens: trained anew on everything that is known, unless it was already.
    pub fn model_file(&self) -> Result<PathBuf, Error> {
        let (pool, learning, describer, changes, path, counts) = {
            let state = self.state();
            let path = state.project.model_file();
            if state.model_of == Some(state.changes) && path.is_file() {
                return Ok(path);
            }
            if state.pool.labelled_positions() == 0 {
                return Err(Error::Conflict(
                    "there is no model yet, because nothing is labelled".to_owned(),
                ));
            }
            let counts = state.counts();
            let state = &*state;
            (
                state.pool.clone(),
                state.learning.clone(),
                state.describer.clone(),
                state.changes,
                path,
                counts,
            )
        };
        let scores = {
            let learned = self.learned();
            let point = learned.curve.last();
            let named = point.map(|point| {
                [
                    ("held-out token F1 during annotation".to_owned(), point.token_f1),
                    ("held-out span F1 during annotation".to_owned(), point.span_f1),
                ]
            });
            named.into_iter().flatten().collect::<Vec<_>>()
        };
        let usual = fieldmark::core::optimize::LbfgsOptions::default();
        // What is kept is trained to the end, and from nothing: the same answers give the same model.
        let mut learning = LearnOptions {
            warm: false,
            ..learning
        };
        (learning.lbfgs.delta, learning.lbfgs.period) = (usual.delta, usual.period);
        let fitted =
            super::train::Threads::new().install(|| Fitted::train_part(&pool, &learning, None, |_| true))?;
        let pipeline: Pipeline = describer.pipeline(
            fitted.to_model(&pool),
            counts,
            fitted.iterations() as usize,
            scores,
        )?;
        pipeline.save(&path)?;
        self.state().model_of = Some(changes);
        Ok(path)
    }
}

fn check_format(format: DocumentFormat) -> Result<(), Error> {
    if EXPORT_FORMATS.contains(&format) {
        return Ok(());
    }
    let names: Vec<&str> = EXPORT_FORMATS.iter().map(|format| format.name()).collect();
    Err(Error::refused(format_args!(
        "documents cannot be exported as {format}; choose from {}",
        names.join(", ")
    )))
}

impl State {
    fn write_options(&self) -> WriteOptions {
        let text = &self.describer.config().text;
        WriteOptions {
            tokenizer: fieldmark::text::tokenize::Tokenizer::new(text.tokenizer.clone()),
            sentences: fieldmark::text::sentences::SentenceSplitter::new(text.sentences.clone()),
            title: self.project.name(),
            ..WriteOptions::default()
        }
    }

    /// A document with the labels of the project.
    fn exported(
        &self,
        stored: StoredDocument,
        user: Option<UserId>,
        options: &ExportOptions,
    ) -> Result<Option<Document>, Error> {
        let id: DocumentId = stored.id;
        let mut document = stored.document;
        let Some(number) = self.corpus.find(id) else {
            return Ok(None);
        };
        let text = self.corpus.get(number);
        let cells: Vec<Cell> = match user {
            Some(user) => {
                let own = self.layer(number, Layer::Person(user));
                own.map_or_else(|| vec![Cell::default(); text.tokens()], <[Cell]>::to_vec)
            }
            None => self.decided(number),
        };
        if options.labelled_only && cells.iter().all(|cell| !cell.said.is_something()) {
            return Ok(None);
        }
        document.annotations.clear();
        document.relations.clear();
        for assertion in self.named(all_assertions(self, number, &cells)) {
            let tokens = assertion.start as usize..assertion.end as usize;
            if let Some(kind) = assertion.kind {
                document
                    .annotations
                    .push(Annotation::new(text.bytes_of(tokens), kind));
            }
        }
        if options.fill {
            for index in 0..text.sentences() {
                let tokens = text.sentence(index);
                let own = &cells[tokens.clone()];
                let estimated = self.estimate(number, index, own)?;
                for suggestion in super::view::suggestions(own, &estimated, tokens.start) {
                    let bytes = text.bytes_of(suggestion.start..suggestion.end);
                    let over = |other: &Annotation| {
                        let other = other.range();
                        other.start < bytes.end && bytes.start < other.end
                    };
                    if !document.annotations.iter().any(over) {
                        let kind = suggestion.kind.unwrap_or_default();
                        let annotation = Annotation::new(bytes.clone(), kind);
                        document
                            .annotations
                            .push(annotation.with_score(suggestion.probability));
                    }
                }
            }
            document
                .annotations
                .sort_by_key(|annotation| annotation.range().start);
        }
        Ok(Some(document))
    }

    /// What holds of a document, token by token: what was decided, else the words of the first who says something, else
    /// what the document came with.
    fn decided(&self, number: usize) -> Vec<Cell> {
        let text = self.corpus.get(number);
        let people = self.annotators(number).into_iter().map(Layer::Person);
        let layers = std::iter::once(Layer::Adjudicated)
            .chain(people)
            .chain([Layer::Person(self.import)]);
        let layers: Vec<&[Cell]> = layers.filter_map(|layer| self.layer(number, layer)).collect();
        super::state::layered(&layers, 0..text.tokens())
    }

    /// What a model of now is trained on.
    fn counts(&self) -> DataCounts {
        let mut spans: BTreeMap<String, usize> = BTreeMap::new();
        let (mut documents, mut sequences, mut tokens) = (0, 0, 0);
        for number in self.touched_documents() {
            let text = self.corpus.get(number);
            let before = sequences;
            for sequence in text.first_sequence..text.first_sequence + text.sentences() {
                if self.pool.labelled_of(sequence) > 0 {
                    sequences += 1;
                    tokens += self.pool.labelled_of(sequence);
                }
            }
            documents += usize::from(sequences > before);
            for (_, kind) in cells::spans(&self.decided(number), 0) {
                *spans.entry(self.type_name(kind).to_owned()).or_default() += 1;
            }
        }
        let known = (0..self.pool.data().positions()).map(|position| match self.pool.known(position) {
            Gold::Known(label) => u64::from(label) + 1,
            Gold::Ambiguous(labels) => labels
                .iter()
                .fold(1 << 32, |sum, &label| sum * 31 + u64::from(label)),
            Gold::Unknown => 0,
        });
        let answers = known.fold(0u64, |hash, code| hash.wrapping_mul(0x0100_0000_01B3) ^ code);
        DataCounts {
            documents,
            sequences,
            tokens,
            spans,
            columns: None,
            fingerprint: format!("{:016x}", self.pool.data().fingerprint() ^ answers),
        }
    }
}

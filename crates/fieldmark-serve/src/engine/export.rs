//! Documents and the model as files.

use super::Engine;
use super::cells::{self, Cell};
use super::load::with_tokens;
use super::state::State;
use super::take::{Losses, Taken};
use super::words::Layer;
use crate::project::{DocumentId, Error, UserId};
use fieldmark::core::Gold;
use fieldmark::learn::{Fitted, LearnOptions};
use fieldmark::text::formats::{DocumentFormat, DocumentWriter, NoticeKind, Notices, Target, WriteOptions};
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
    DocumentFormat::Tsv,
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
    /// What the format has no place for, as a sentence in ASCII.
    pub warning: Option<String>,
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
        let (mut notices, losses) = self.write_all(format, &mut *writer, options)?;
        if let Some(warning) = losses.warning() {
            notices.add(NoticeKind::Detail, "", None, warning);
        }
        Ok(notices)
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
            DocumentFormat::Tsv => "tsv",
            _ => "jsonl",
        });
        if matches!(format, DocumentFormat::Brat | DocumentFormat::GeneMention) {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join(match format {
                DocumentFormat::Brat => name.clone(),
                _ => format!("{name}.{extension}"),
            });
            let mut writer = write.create(format, Target::<Vec<u8>>::Path(&path), None)?;
            let (notices, mut losses) = self.write_all(format, &mut *writer, options)?;
            losses.rename(&notices);
            drop(writer);
            let mut archive = tar::Builder::new(Vec::new());
            archive.append_dir_all(".", folder.path())?;
            return Ok(Exported {
                name: format!("{name}-{format}.tar"),
                content_type: "application/x-tar",
                bytes: archive.into_inner()?,
                warning: losses.warning(),
            });
        }
        let mut bytes = Vec::new();
        let mut writer = write.create(format, Target::Stream(&mut bytes), None)?;
        let (notices, mut losses) = self.write_all(format, &mut *writer, options)?;
        losses.rename(&notices);
        drop(writer);
        Ok(Exported {
            name: format!("{name}-{format}.{extension}"),
            content_type: "application/octet-stream",
            bytes,
            warning: losses.warning(),
        })
    }

    /// Writes one document after the other; answers come in between.
    fn write_all(
        &self,
        format: DocumentFormat,
        writer: &mut dyn DocumentWriter,
        options: &ExportOptions,
    ) -> Result<(Notices, Losses), Error> {
        let of_tokens = matches!(
            format,
            DocumentFormat::Columns | DocumentFormat::Conllu | DocumentFormat::HuggingFace
        );
        let (user, ids, mut losses) = {
            let mut state = self.state();
            let user = options.user.as_deref();
            let user = user.map(|name| self.user(&mut state, name)).transpose()?;
            let ids: Vec<DocumentId> = state.corpus.iter().map(|text| text.id).collect();
            let losses = Losses {
                unfilled: options.fill && !state.warm,
                ..state.losses(user)
            };
            (user, ids, losses)
        };
        let mut notices = Notices::new();
        for id in ids {
            let taken = {
                let state = self.state();
                state.taken(id, user, of_tokens)?
            };
            let Some(taken) = taken.filter(|taken| taken.says_something() || !options.labelled_only) else {
                continue;
            };
            let document = taken.document(format, options.fill, &mut losses)?;
            writer
                .write(&document, &mut notices)
                .map_err(|error| io::Error::new(error.kind(), format!("document {id}: {error}")))?;
        }
        writer.finish()?;
        Ok((notices, losses))
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

    /// A document with what holds for it, or what one person says of it.
    fn taken(&self, id: DocumentId, user: Option<UserId>, of_tokens: bool) -> Result<Option<Taken>, Error> {
        let (Some(number), Some(stored)) = (self.corpus.find(id), self.project.store().document(id)?) else {
            return Ok(None);
        };
        let tokens = 0..self.corpus.get(number).tokens();
        let cells: Vec<Cell> = match user {
            Some(user) => match self.layer(number, Layer::Person(user), tokens.clone()) {
                Some(cells) => cells.into_owned(),
                None => vec![Cell::default(); tokens.len()],
            },
            None => self.decided(number),
        };
        let document = match of_tokens {
            true => with_tokens(&stored).into_owned(),
            false => stored.document,
        };
        Ok(Some(Taken::new(document, number, cells, self.estimating())))
    }

    /// What is not exported, whatever the format.
    fn losses(&self, user: Option<UserId>) -> Losses {
        let open = |number: usize| self.open_conflicts(number).len();
        let removed = self.types.iter().filter(|one| one.removed);
        Losses {
            conflicts: match user {
                Some(_) => 0,
                None => self.words.documents().into_iter().map(open).sum(),
            },
            removed: removed.map(|one| self.words.spans_of(one.id)).sum(),
            ..Losses::default()
        }
    }

    /// What a model of now is trained on.
    fn counts(&self) -> DataCounts {
        let mut spans: BTreeMap<String, usize> = BTreeMap::new();
        let (mut documents, mut sequences, mut tokens) = (0, 0, 0);
        for number in self.words.documents() {
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

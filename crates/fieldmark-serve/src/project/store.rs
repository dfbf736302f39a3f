//! [`Store`]: the database of a project.
//!
//! One connection writes. Every method that changes something returns when the change is on the disk
//! (`synchronous=FULL` in write-ahead mode syncs the log at each commit), and rows of actions are never changed or
//! deleted.

use super::action::{Action, ActionId, Deed, DocumentId, TypeId, UserId};
use super::{Error, schema};
use fieldmark::Cut;
use fieldmark::text::document::Document;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A type of spans.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Type {
    /// Its number, which never changes.
    pub id: TypeId,
    /// Its name.
    pub name: String,
    /// The key that chooses it, or nothing.
    pub key: String,
    /// Its place in the palette.
    pub colour: u32,
    /// Whether it is gone; what was marked with it is kept.
    pub removed: bool,
}

/// A document as it is stored.
#[derive(Clone, Debug)]
pub struct StoredDocument {
    /// Its number.
    pub id: DocumentId,
    /// Everything that its source said.
    pub document: Document,
    /// Its tokens and sentences, found when it was added.
    pub cut: Cut,
    /// Whether it is for tests.
    pub held_out: bool,
}

/// An action that is to be stored.
#[derive(Clone, Debug)]
pub struct NewAction<'a> {
    /// What the client calls it.
    pub request: &'a str,
    /// Who does it.
    pub user: UserId,
    /// The document.
    pub document: Option<DocumentId>,
    /// The question that it answers.
    pub question: Option<&'a str>,
    /// How long it took.
    pub seconds: Option<f64>,
    /// What is done.
    pub deed: &'a Deed,
}

/// The database of a project.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

impl Store {
    /// Opens a database, or makes one.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let fail = |error| Error::Database {
            path: path.to_owned(),
            error,
        };
        let mut connection = Connection::open(path).map_err(fail)?;
        let open = |connection: &Connection| -> rusqlite::Result<()> {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "foreign_keys", "ON")?;
            connection.busy_timeout(std::time::Duration::from_secs(10))
        };
        open(&connection).map_err(fail)?;
        schema::migrate(&mut connection)
            .map_err(fail)?
            .map_err(|problem| Error::File {
                path: path.to_owned(),
                problem,
            })?;
        Ok(Self {
            connection,
            path: path.to_owned(),
        })
    }

    fn fail(&self, error: rusqlite::Error) -> Error {
        Error::Database {
            path: self.path.clone(),
            error,
        }
    }

    /// A row that this program did not write.
    fn damaged(&self, what: impl std::fmt::Display) -> Error {
        Error::File {
            path: self.path.clone(),
            problem: format!("{what}; was the database changed by another program?"),
        }
    }

    /// All rows of a question.
    fn rows<T>(
        &self,
        statement: &str,
        row: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let read = || {
            let mut statement = self.connection.prepare(statement)?;
            let rows = statement.query_map([], row)?;
            rows.collect::<rusqlite::Result<Vec<T>>>()
        };
        read().map_err(|error| self.fail(error))
    }

    /// What was kept under a name.
    pub fn meta(&self, key: &str) -> Result<Option<String>, Error> {
        let found = self
            .connection
            .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
            .optional();
        found.map_err(|error| self.fail(error))
    }

    /// Keeps something under a name.
    pub fn set_meta(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let statement = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
        let done = self.connection.execute(statement, [key, value]);
        done.map(drop).map_err(|error| self.fail(error))
    }

    /// Files that the config names.
    pub fn resources(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let statement = "SELECT name, content FROM resources ORDER BY name";
        self.rows(statement, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Keeps a file that the config names.
    pub fn add_resource(&mut self, name: &str, content: &[u8]) -> Result<(), Error> {
        let statement = "INSERT OR REPLACE INTO resources VALUES (?1, ?2)";
        let done = self.connection.execute(statement, params![name, content]);
        done.map(drop).map_err(|error| self.fail(error))
    }

    /// All people, in the order in which they came.
    pub fn users(&self) -> Result<Vec<(UserId, String)>, Error> {
        self.rows("SELECT id, name FROM users ORDER BY id", |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
    }

    /// The number of a person, who is new if there is nobody of that name.
    pub fn user(&mut self, name: &str) -> Result<UserId, Error> {
        let find = |connection: &Connection| -> rusqlite::Result<UserId> {
            connection.execute("INSERT OR IGNORE INTO users (name) VALUES (?1)", [name])?;
            connection.query_row("SELECT id FROM users WHERE name = ?1", [name], |row| row.get(0))
        };
        find(&self.connection).map_err(|error| self.fail(error))
    }

    /// Lets whoever has the token with this hash act as a person.
    pub fn add_token(&mut self, user: UserId, hash: &str) -> Result<(), Error> {
        let statement = "INSERT OR IGNORE INTO tokens VALUES (?1, ?2, ?3)";
        let done = self.connection.execute(statement, params![hash, user, now()]);
        done.map(drop).map_err(|error| self.fail(error))
    }

    /// Lets nobody act as a person any longer, until there is another token. Returns how many tokens there were.
    pub fn remove_tokens(&mut self, user: UserId) -> Result<usize, Error> {
        let done = self
            .connection
            .execute("DELETE FROM tokens WHERE user = ?1", [user]);
        done.map_err(|error| self.fail(error))
    }

    /// The hashes of all tokens, with the people who have them.
    pub fn tokens(&self) -> Result<Vec<(String, String)>, Error> {
        let statement = "SELECT hash, name FROM tokens JOIN users ON user = id ORDER BY time, hash";
        self.rows(statement, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// All types, the removed ones included, in the order in which they came.
    pub fn types(&self) -> Result<Vec<Type>, Error> {
        self.rows(
            "SELECT id, name, key, colour, removed FROM types ORDER BY id",
            |row| {
                Ok(Type {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    key: row.get(2)?,
                    colour: row.get(3)?,
                    removed: row.get(4)?,
                })
            },
        )
    }

    /// Writes several things, all or none: nothing of them is there if `work` fails or the program ends within it.
    pub fn atomically<T>(&mut self, work: impl FnOnce(&Writing<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let transaction = begun.map_err(|error| self.fail(error))?;
        let done = work(&Writing { store: self })?;
        transaction.commit().map_err(|error| self.fail(error))?;
        Ok(done)
    }

    /// Stores a new type, with the action that made it.
    pub fn add_type(&mut self, new: &Type, user: UserId, request: &str) -> Result<(), Error> {
        self.atomically(|writing| writing.add_type(new, user, request))
    }

    /// Changes a type, with the action that did it.
    pub fn change_type(&mut self, new: &Type, user: UserId, request: &str) -> Result<(), Error> {
        self.atomically(|writing| writing.change_type(new, user, request))
    }

    /// Stores documents, all or none, each for tests if `held_out` says so of its number. The first number that they get
    /// is returned; the others follow.
    pub fn add_documents(
        &mut self,
        documents: &[(Document, Cut)],
        held_out: impl Fn(DocumentId) -> bool,
    ) -> Result<DocumentId, Error> {
        self.atomically(|writing| writing.add_documents(documents, held_out))
    }

    /// Calls `each` with every document from a number on, in their order.
    pub fn for_each_document(
        &self,
        first: DocumentId,
        mut each: impl FnMut(StoredDocument) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut read = || -> rusqlite::Result<Result<(), Error>> {
            let statement =
                "SELECT id, document, tokens, sentences, held_out FROM documents WHERE id >= ?1 ORDER BY id";
            let mut statement = self.connection.prepare(statement)?;
            let mut rows = statement.query([first])?;
            while let Some(row) = rows.next()? {
                let document = self.document_of(row)?;
                if let Err(error) = document.and_then(&mut each) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        };
        read().map_err(|error| self.fail(error))?
    }

    /// One document.
    pub fn document(&self, id: DocumentId) -> Result<Option<StoredDocument>, Error> {
        let statement = "SELECT id, document, tokens, sentences, held_out FROM documents WHERE id = ?1";
        let found = self
            .connection
            .query_row(statement, [id], |row| self.document_of(row))
            .optional();
        found.map_err(|error| self.fail(error))?.transpose()
    }

    fn document_of(&self, row: &Row<'_>) -> rusqlite::Result<Result<StoredDocument, Error>> {
        let id: DocumentId = row.get(0)?;
        let json: String = row.get(1)?;
        let (tokens, sentences): (Vec<u8>, Vec<u8>) = (row.get(2)?, row.get(3)?);
        let held_out = row.get(4)?;
        Ok(match serde_json::from_str(&json) {
            Ok(document) => Ok(StoredDocument {
                id,
                document,
                cut: Cut {
                    tokens: ranges_of(&tokens),
                    sentences: ranges_of(&sentences),
                },
                held_out,
            }),
            Err(error) => Err(self.damaged(format_args!("document {id} cannot be read: {error}"))),
        })
    }

    fn payload(&self, deed: &Deed) -> Result<String, Error> {
        serde_json::to_string(deed).map_err(|error| self.damaged(error))
    }

    /// Stores an action. It is on the disk when this returns.
    pub fn record(&mut self, new: &NewAction<'_>) -> Result<Action, Error> {
        // One statement is a transaction of its own.
        Writing { store: self }.record(new)
    }

    /// Stores many actions at once, all or none.
    pub fn record_all(&mut self, all: &[NewAction<'_>]) -> Result<Vec<Action>, Error> {
        self.atomically(|writing| all.iter().map(|new| writing.record(new)).collect())
    }

    /// The action that somebody's request made, if it was made before.
    pub fn repeated(&self, user: UserId, request: &str) -> Result<Option<Action>, Error> {
        let statement = "SELECT id, request, user, time, document, payload, seconds, question FROM actions \
                         WHERE user = ?1 AND request = ?2";
        let mut statement = self
            .connection
            .prepare_cached(statement)
            .map_err(|error| self.fail(error))?;
        let found = statement.query_row(params![user, request], |row| self.action_of(row));
        found.optional().map_err(|error| self.fail(error))?.transpose()
    }

    /// What somebody's request asked for, as a fingerprint; `None` if it is new, or of an older program.
    pub fn content(&self, user: UserId, request: &str) -> Result<Option<String>, Error> {
        let statement = "SELECT content FROM requests WHERE user = ?1 AND request = ?2";
        let found = self
            .connection
            .query_row(statement, params![user, request], |row| row.get(0));
        found.optional().map_err(|error| self.fail(error))
    }

    /// An action by its number.
    pub fn action(&self, id: ActionId) -> Result<Option<Action>, Error> {
        let statement = "SELECT id, request, user, time, document, payload, seconds, question FROM actions \
                         WHERE id = ?1";
        let found = self
            .connection
            .query_row(statement, [id], |row| self.action_of(row));
        found.optional().map_err(|error| self.fail(error))?.transpose()
    }

    /// Calls `each` with every action, in their order.
    pub fn for_each_action(&self, mut each: impl FnMut(Action) -> Result<(), Error>) -> Result<(), Error> {
        let mut read = || -> rusqlite::Result<Result<(), Error>> {
            let statement = "SELECT id, request, user, time, document, payload, seconds, question FROM actions ORDER BY id";
            let mut statement = self.connection.prepare(statement)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if let Err(error) = self.action_of(row)?.and_then(&mut each) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        };
        read().map_err(|error| self.fail(error))?
    }

    fn action_of(&self, row: &Row<'_>) -> rusqlite::Result<Result<Action, Error>> {
        let id: ActionId = row.get(0)?;
        let payload: String = row.get(5)?;
        let deed = match serde_json::from_str(&payload) {
            Ok(deed) => deed,
            Err(error) => {
                return Ok(Err(
                    self.damaged(format_args!("action {id} cannot be read: {error}"))
                ));
            }
        };
        Ok(Ok(Action {
            id,
            request: row.get(1)?,
            user: row.get(2)?,
            time: row.get(3)?,
            document: row.get(4)?,
            deed,
            seconds: row.get(6)?,
            question: row.get(7)?,
        }))
    }

    /// Adds a point of the learning curve.
    pub fn add_point(&mut self, labels: usize, answers: usize, point: &str) -> Result<(), Error> {
        let statement = "INSERT INTO curve (time, labels, answers, point) VALUES (?1, ?2, ?3, ?4)";
        let values = params![now(), labels as i64, answers as i64, point];
        let done = self.connection.execute(statement, values);
        done.map(drop).map_err(|error| self.fail(error))
    }

    /// All points of the learning curve.
    pub fn points(&self) -> Result<Vec<String>, Error> {
        self.rows("SELECT point FROM curve ORDER BY id", |row| row.get(0))
    }
}

/// What can be written together, see [`Store::atomically`].
#[derive(Debug)]
pub struct Writing<'s> {
    store: &'s Store,
}

impl Writing<'_> {
    fn execute(&self, statement: &str, values: impl rusqlite::Params) -> Result<usize, Error> {
        let write = || self.store.connection.prepare_cached(statement)?.execute(values);
        write().map_err(|error| self.store.fail(error))
    }

    /// Keeps something under a name.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), Error> {
        let statement = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2";
        self.execute(statement, [key, value]).map(drop)
    }

    /// Keeps the files that the config names, and no others.
    pub fn set_resources<'a>(
        &self,
        resources: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<(), Error> {
        self.execute("DELETE FROM resources", [])?;
        for (name, content) in resources {
            self.execute("INSERT INTO resources VALUES (?1, ?2)", params![name, content])?;
        }
        Ok(())
    }

    /// Keeps what a request asks for, as a fingerprint: a request of the same name can be held against it later.
    pub fn keep_content(&self, user: UserId, request: &str, content: &str) -> Result<(), Error> {
        self.execute(
            "INSERT INTO requests VALUES (?1, ?2, ?3)",
            params![user, request, content],
        )
        .map(drop)
    }

    /// Decides anew which documents are for tests.
    pub fn hold_out(&self, held_out: impl Fn(DocumentId) -> bool) -> Result<(), Error> {
        for id in self.store.rows("SELECT id FROM documents", |row| row.get(0))? {
            self.execute(
                "UPDATE documents SET held_out = ?2 WHERE id = ?1 AND held_out <> ?2",
                params![id, held_out(id)],
            )?;
        }
        Ok(())
    }

    /// The number that the next action gets.
    pub fn next_action(&self) -> Result<ActionId, Error> {
        let connection = &self.store.connection;
        let last = connection.query_row("SELECT max(id) FROM actions", [], |row| row.get(0));
        let last: Option<ActionId> = last.map_err(|error| self.store.fail(error))?;
        Ok(last.unwrap_or(0) + 1)
    }

    /// Stores a new type; its number must be new, too.
    pub fn add_type(&self, new: &Type, user: UserId, request: &str) -> Result<(), Error> {
        let values = params![new.id, new.name, new.key, new.colour, new.removed];
        self.execute(
            "INSERT INTO types (id, name, key, colour, removed) VALUES (?1, ?2, ?3, ?4, ?5)",
            values,
        )?;
        self.record_type(new.id, user, request)
    }

    /// Changes a type.
    pub fn change_type(&self, new: &Type, user: UserId, request: &str) -> Result<(), Error> {
        let values = params![new.id, new.name, new.key, new.colour, new.removed];
        let changed = self.execute(
            "UPDATE types SET name = ?2, key = ?3, colour = ?4, removed = ?5 WHERE id = ?1",
            values,
        )?;
        if changed == 0 {
            return Err(Error::missing(format_args!("there is no type {}", new.id)));
        }
        self.record_type(new.id, user, request)
    }

    fn record_type(&self, id: TypeId, user: UserId, request: &str) -> Result<(), Error> {
        let new = NewAction {
            request,
            user,
            document: None,
            question: None,
            seconds: None,
            deed: &Deed::Type { id },
        };
        self.record(&new).map(drop)
    }

    /// Stores documents, see [`Store::add_documents`].
    pub fn add_documents(
        &self,
        documents: &[(Document, Cut)],
        held_out: impl Fn(DocumentId) -> bool,
    ) -> Result<DocumentId, Error> {
        let connection = &self.store.connection;
        let last = connection.query_row("SELECT max(id) FROM documents", [], |row| row.get(0));
        let last: Option<DocumentId> = last.map_err(|error| self.store.fail(error))?;
        let first = last.unwrap_or(0) + 1;
        for (id, (document, cut)) in (first..).zip(documents) {
            // Its fields are numbers and text.
            let json = serde_json::to_string(document).unwrap_or_default();
            let (tokens, sentences) = (bytes_of(&cut.tokens), bytes_of(&cut.sentences));
            self.execute(
                "INSERT INTO documents VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![id, document.id, json, tokens, sentences, held_out(id)],
            )?;
        }
        Ok(first)
    }

    /// Stores an action.
    pub fn record(&self, new: &NewAction<'_>) -> Result<Action, Error> {
        let payload = self.store.payload(new.deed)?;
        let time = now();
        self.execute(
            "INSERT INTO actions (request, user, time, document, kind, payload, seconds, question) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                new.request,
                new.user,
                time,
                new.document,
                new.deed.name(),
                payload,
                new.seconds,
                new.question
            ],
        )?;
        Ok(Action {
            id: self.store.connection.last_insert_rowid(),
            request: new.request.to_owned(),
            user: new.user,
            time,
            document: new.document,
            question: new.question.map(str::to_owned),
            seconds: new.seconds,
            deed: new.deed.clone(),
        })
    }
}

/// Ranges as pairs of numbers; no text has more bytes than they can count, see [`super::LONGEST_TEXT`].
fn bytes_of(ranges: &[Range<usize>]) -> Vec<u8> {
    let borders = ranges.iter().flat_map(|range| [range.start, range.end]);
    borders.flat_map(|border| (border as u32).to_le_bytes()).collect()
}

fn ranges_of(bytes: &[u8]) -> Vec<Range<usize>> {
    let (borders, _) = bytes.as_chunks::<4>();
    let borders: Vec<usize> = borders
        .iter()
        .map(|&border| u32::from_le_bytes(border) as usize)
        .collect();
    borders.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;

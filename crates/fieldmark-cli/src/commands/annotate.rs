//! `fieldmark annotate`: a page on which people mark text, with a model that learns while they do.

use crate::console::Console;
use crate::documents::{self, Names};
use crate::failure::Failure;
use crate::paths::Files;
use fieldmark::config::Config;
use fieldmark::learn::Strategy;
use fieldmark::text::document::Document;
use fieldmark::text::formats::{DocumentFormat, Notices, ReadOptions};
use fieldmark_serve::annotate::{self, ServeOptions};
use fieldmark_serve::engine::{DEFAULT_CONFIG, Engine, ExportOptions, ImportOptions, NewProject, reshaped};
use fieldmark_serve::http::Token;
use fieldmark_serve::project::{
    Error, IMPORT, Project, Settings, SettingsChange, Store, Unit, UserId, check_user_name, strategy_named,
};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Mark text on a page that asks what helps most, while a model learns from the answers
///
/// Makes a project, or opens one: a directory with one database that holds documents, types, people and every answer.
/// Adds documents of any format (text, PDF, HTML, PubMed, CoNLL, brat and others), and serves a page on this machine. The
/// link to open is printed; who has it may annotate. Ctrl-C ends the server, and the same command goes on later.
///
/// The page asks about the word of which the answer helps most, and learns from each: a sentence is learned from as soon
/// as one word of it is known. Training goes on in the background. An answer is on the disk before the page says so.
///
/// Labels that documents come with are known from the start. If any document of a file has one, all of that file count as
/// complete: what is not marked is outside. --partial says that it is open instead, --unlabelled leaves labels behind.
/// Columns in which `?` stands for an open token say themselves what is outside: their O is known, with and without
/// --partial.
///
/// Before there is a model, questions are random, or those that --dictionary and --pattern find.
///
/// A part of the documents (of the sentences, if there are fewer than 20 documents) is held out to measure the model:
/// every tenth question is a whole sentence of it. Another part is shared: where several people annotate, every fifth
/// question is about it, nobody sees the answers of others, and the page shows how far they agree.
///
/// Settings and the config belong to the project. They are chosen when it is made, and changed by giving them again, or on
/// the page; only how texts are cut into tokens stays, because answers are about tokens.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Directory of the project
    #[arg(value_name = "PROJECT")]
    project: PathBuf,

    /// Documents to add; those that are there already are left out
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    documents: DocumentOptions,

    #[command(flatten)]
    settings: SettingOptions,

    #[command(flatten)]
    server: ServerOptions,

    #[command(flatten)]
    instead: InsteadOptions,
}

/// How documents are read, and what is marked in them.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Documents")]
struct DocumentOptions {
    /// Format of the documents [default: told by their names or first bytes]
    #[arg(long, value_name = "FORMAT")]
    format: Option<DocumentFormat>,

    /// A type of spans to mark; may be repeated. Types can be made on the page, too
    #[arg(long = "type", value_name = "NAME")]
    types: Vec<String>,

    /// File with types, one name in each line
    #[arg(long = "types", value_name = "FILE")]
    type_file: Option<PathBuf>,

    /// Take labels that documents come with as known, and the rest of the text as open. O is a label in columns with `?`
    #[arg(long, conflicts_with = "unlabelled")]
    partial: bool,

    /// Leave labels behind that documents come with
    #[arg(long)]
    unlabelled: bool,
}

/// What is decided when a project is made, and can be decided anew.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Settings of the project")]
struct SettingOptions {
    /// Config (.toml) with tokenizer, features and training, for a chain [default: features for names of any kind]
    #[arg(long, value_name = "CONFIG")]
    config: Option<PathBuf>,

    /// Suggest the names in a file, one in each line, as spans of a type; may be repeated. `TYPE=` takes those of a type away
    #[arg(long = "dictionary", value_name = "TYPE=FILE", value_parser = pair)]
    dictionaries: Vec<(String, String)>,

    /// Suggest what a regular expression matches as spans of a type; may be repeated. `TYPE=` takes those of a type away
    #[arg(long = "pattern", value_name = "TYPE=REGEX", value_parser = pair)]
    patterns: Vec<(String, String)>,

    /// What is asked next: MTP, MTE, MTM, MVP, MVPE, MVM, ME, MED or RAND; see `fieldmark simulate` [default: MTM]
    #[arg(long, value_name = "NAME", value_parser = strategy_named)]
    strategy: Option<Strategy>,

    /// How much a question asks: token or sentence [default: token]
    #[arg(long, value_name = "NAME")]
    unit: Option<Unit>,

    /// Answers between two trainings [default: 10]
    #[arg(long, value_name = "N")]
    batch: Option<usize>,

    /// Part to measure the model on, from 0 to 0.9 [default: 0.1]
    #[arg(long, value_name = "SHARE")]
    held_out: Option<f64>,

    /// Part that everybody annotates, from 0 to 1 [default: 0.2]
    #[arg(long, value_name = "SHARE")]
    shared: Option<f64>,

    /// Decides what is random [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Labels before a label that it depends on, 0 to 3 [default: 1, or as the config says]
    #[arg(long, value_name = "N")]
    order: Option<usize>,

    /// Coefficient of the L1 norm; above 0 many weights become zero [default: 0, or as the config says]
    #[arg(long, value_name = "X")]
    c1: Option<f64>,

    /// Coefficient of the squared L2 norm [default: 0.1, or as the config says]
    #[arg(long, value_name = "X")]
    c2: Option<f64>,
}

impl SettingOptions {
    /// The options that are given, as a change; lists and patterns come later.
    fn change(&self) -> SettingsChange {
        SettingsChange {
            strategy: self.strategy,
            unit: self.unit,
            batch: self.batch,
            held_out: self.held_out,
            shared: self.shared,
            seed: self.seed,
            order: self.order,
            c1: self.c1,
            c2: self.c2,
            ..SettingsChange::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.config.is_none()
            && self.dictionaries.is_empty()
            && self.patterns.is_empty()
            && self.change().is_empty()
    }
}

/// Where the page is.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Server")]
struct ServerOptions {
    /// Address to listen on; others than that of this machine let others in who have a link
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,

    /// Port to listen on; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 8787)]
    port: u16,

    /// Name by which the server is reached, such as that of a proxy before it; may be repeated
    #[arg(long = "allow-host", value_name = "NAME")]
    allowed_hosts: Vec<String>,

    /// Your name in the project [default: that of your account on this machine]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

/// What to do instead of serving the page.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Instead of the page")]
struct InsteadOptions {
    /// Add somebody, print the link for that person, and end. The page may be open
    #[arg(long, value_name = "NAME")]
    add_user: Option<String>,

    /// Take back all links of somebody, and end; --add-user gives a new one. What was said stays. The page may be open,
    /// and lets the person in no longer
    #[arg(long, value_name = "NAME")]
    remove_user: Option<String>,

    /// Write the annotated documents to a file (brat: a directory), and end
    #[arg(long, value_names = ["FORMAT", "OUT"], num_args = 2)]
    export: Option<Vec<String>>,

    /// With --export: only what this person marked
    #[arg(long, value_name = "NAME", requires = "export")]
    of_user: Option<String>,

    /// With --export: add the spans that the model finds where nobody said anything; they have a score
    #[arg(long, requires = "export")]
    fill: bool,

    /// Write the model to a file, for `fieldmark tag` and `fieldmark serve`, and end
    #[arg(long, value_name = "FILE")]
    export_model: Option<PathBuf>,

    /// Make the project, add documents, change settings, export, and end
    #[arg(long)]
    no_page: bool,
}

const EXAMPLES: &str = "\
Examples:
  Make a project with two types of spans and some documents. Without --no-page, the page is served as well:
      fieldmark annotate letters notes.txt --type DRUG --type PROBLEM --no-page

  Let somebody else annotate, too:
      fieldmark annotate letters --add-user ada

  Take a link back, here to give another:
      fieldmark annotate letters --remove-user ada --add-user ada

  Begin with labels that are there, and with names in a list:
      fieldmark annotate chunks train.txt --format columns --pattern 'NUMBER=[0-9]+' --no-page

  Ask about whole sentences from now on, and measure models on a fifth of the text:
      fieldmark annotate letters --unit sentence --held-out 0.2 --no-page

  Take the annotations and the model away:
      fieldmark annotate chunks --export jsonl chunks.jsonl
      fieldmark annotate chunks --export-model annotated.fmk
      fieldmark tag annotated.fmk notes.txt";

/// The two parts of `TYPE=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((kind, value)) if !kind.trim().is_empty() => Ok((kind.trim().to_owned(), value.to_owned())),
        _ => Err("expected a type, `=` and a value, such as DRUG=drugs.txt".to_owned()),
    }
}

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        self.check_outputs()?;
        self.check_people()?;
        let beside = !self.changes_documents() && !self.exports() && self.settings.is_empty();
        if self.changes_people() && beside && Project::exists(&self.project) {
            return self.change_people(console);
        }
        let project = self.open(console)?;
        if self.exports() {
            let engine = Engine::open(project.into_project()).map_err(failure)?;
            self.export(&engine, console)?;
        } else if !self.changes_people() && !self.instead.no_page {
            return self.serve_as_somebody(project, console);
        } else {
            drop(project);
        }
        match self.changes_people() {
            true => self.change_people(console),
            false => Ok(()),
        }
    }

    /// Sees to it that nothing is written onto what is read, or onto the project.
    fn check_outputs(&self) -> Result<(), Failure> {
        let lists = self.settings.dictionaries.iter().map(|(_, file)| file);
        let new = Some(&self.project).filter(|folder| !folder.exists());
        Files::default()
            .reads("one of the documents", &self.files)
            .reads("--types", &self.documents.type_file)
            .reads("--config", &self.settings.config)
            .reads("--dictionary", lists.filter(|file| !file.is_empty()))
            .reads("the project", new)
            .reads("part of the project", Project::files(&self.project))
            .writes("--export", self.instead.export.iter().map(|values| &values[1]))
            .writes("--export-model", &self.instead.export_model)
            .check()
    }

    fn changes_people(&self) -> bool {
        self.instead.add_user.is_some() || self.instead.remove_user.is_some()
    }

    /// Finds out before anything changes whether people can be added and removed.
    fn check_people(&self) -> Result<(), Failure> {
        if let Some(name) = &self.instead.add_user {
            check_user_name(name).map_err(failure)?;
        }
        if let Some(name) = &self.instead.remove_user {
            person(name, &Project::database_beside(&self.project).map_err(failure)?)?;
        }
        Ok(())
    }

    fn change_people(&self, console: &Console) -> Result<(), Failure> {
        let mut store = Project::database_beside(&self.project).map_err(failure)?;
        if let Some(name) = &self.instead.remove_user {
            let user = person(name, &store)?;
            let links = store.remove_tokens(user).map_err(failure)?;
            console.note(&match links {
                0 => format!("{name} has no link"),
                1 => format!("took back 1 link of {name}"),
                _ => format!("took back {links} links of {name}"),
            });
        }
        match &self.instead.add_user {
            Some(name) => self.add_user(name, store, console),
            None => Ok(()),
        }
    }

    fn exports(&self) -> bool {
        self.instead.export.is_some() || self.instead.export_model.is_some()
    }

    fn serve_as_somebody(&self, mut project: NewProject, console: &Console) -> Result<(), Failure> {
        let name = self.own_name();
        check_user_name(&name).map_err(failure)?;
        let token = Token::random().map_err(Failure::ours)?;
        project.add_user(&name, &token.hash().to_hex()).map_err(failure)?;
        let engine = Engine::open(project.into_project()).map_err(failure)?;
        self.serve(&engine, &token, console)
    }

    fn changes_documents(&self) -> bool {
        let documents = &self.documents;
        !self.files.is_empty() || !documents.types.is_empty() || documents.type_file.is_some()
    }

    fn own_name(&self) -> String {
        let account = || std::env::var("USER").or_else(|_| std::env::var("USERNAME")).ok();
        let name = self.server.user.clone().or_else(account);
        name.filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| "annotator".to_owned())
    }

    /// Makes or opens the project, and adds what there is to add.
    fn open(&self, console: &Console) -> Result<NewProject, Failure> {
        let exists = Project::exists(&self.project);
        if !exists && !self.changes_documents() && self.changes_people() {
            // Says that there is no project.
            Project::database_beside(&self.project).map_err(failure)?;
        }
        let path = self.settings.config.as_deref();
        let config = path
            .map(|path| super::train::config::read(path, &[]))
            .transpose()?;
        let folder = path.map_or(Path::new(""), super::train::config::folder);
        let config = match exists {
            true => config,
            false => self.shaped(config)?,
        };
        let settings = match exists {
            true => Settings::default(),
            false => self.new_settings()?,
        };
        let types = self.all_types()?;
        // What cannot be read is found out before there is a project, or before it changes.
        let early = match (&config, exists) {
            (Some(config), _) => Some(self.read(&config.data.read)?),
            (None, false) => Some(self.read(&ReadOptions::default())?),
            (None, true) => None,
        };
        let (first, later) = match exists {
            true => (None, config),
            false => (config, None),
        };
        let mut project = NewProject::open(&self.project, first, folder, settings).map_err(failure)?;
        let files = match early {
            Some(files) => files,
            None => self.read(project.read_options())?,
        };
        let listed = [&self.settings.dictionaries, &self.settings.patterns];
        let listed = listed
            .into_iter()
            .flatten()
            .filter(|(_, value)| !value.is_empty());
        let listed = listed.map(|(kind, _)| kind);
        let types = types.iter().chain(listed).map(String::as_str);
        project.add_types(types).map_err(failure)?;
        if exists && !self.settings.is_empty() {
            let change = self.change(project.settings())?;
            let changed = project.change(&change, later, folder).map_err(failure)?;
            for what in &changed {
                console.note(&format!("changed {what}"));
            }
            if changed.is_empty() {
                console.note("the settings are as they were");
            }
        }
        self.add_documents(&mut project, files, console)?;
        Ok(project)
    }

    /// The documents of each file, with what could not be read as it is.
    fn read(&self, usual: &ReadOptions) -> Result<Vec<(Vec<Document>, Notices)>, Failure> {
        let read = ReadOptions {
            format: self.documents.format.or(usual.format),
            ..usual.clone()
        };
        let names = Names::new(&self.files);
        let one = |file: &PathBuf| {
            let mut notices = Notices::new();
            let alone = std::slice::from_ref(file);
            let mut found = documents::read_all(alone, Path::new(""), &read, &mut notices)?;
            found
                .iter_mut()
                .for_each(|document| names.tell_apart(file, document));
            Ok((found, notices))
        };
        self.files.iter().map(one).collect()
    }

    fn add_documents(
        &self,
        project: &mut NewProject,
        files: Vec<(Vec<Document>, Notices)>,
        console: &Console,
    ) -> Result<(), Failure> {
        let options = ImportOptions {
            partial: self.documents.partial,
            unlabelled: self.documents.unlabelled,
        };
        let (mut added, mut labelled, mut repeated) = (0, 0, 0);
        for (found, notices) in files {
            let imported = project.add(found, options).map_err(failure)?;
            documents::tell(&notices, console);
            documents::tell(&imported.notices, console);
            added += imported.added;
            labelled += imported.labelled;
            repeated += imported.repeated;
        }
        if !self.files.is_empty() {
            let there = match repeated {
                0 => String::new(),
                _ => format!("; {repeated} were there already"),
            };
            let s = if added == 1 { "" } else { "s" };
            console.note(&format!(
                "added {added} document{s}, {labelled} of them with labels{there}"
            ));
        }
        Ok(())
    }

    /// The config of a new project, with the order and the coefficients of the options; `None` for the default.
    fn shaped(&self, config: Option<Config>) -> Result<Option<Config>, Failure> {
        let change = self.settings.change();
        if change.order.is_none() && change.c1.is_none() && change.c2.is_none() {
            return Ok(config);
        }
        let config = match config {
            Some(config) => config,
            None => Config::parse(DEFAULT_CONFIG, &[]).map_err(Failure::ours)?,
        };
        let shaped = reshaped(&config, &change).map_err(failure)?;
        Ok(Some(shaped.unwrap_or(config)))
    }

    /// What is to change in a project with these settings.
    fn change(&self, now: &Settings) -> Result<SettingsChange, Failure> {
        let given = &self.settings;
        let mut patterns = now.patterns.clone();
        patterns.retain(|(kind, _)| !given.patterns.iter().any(|(other, _)| other == kind));
        patterns.extend(
            given
                .patterns
                .iter()
                .filter(|(_, pattern)| !pattern.is_empty())
                .cloned(),
        );
        let dictionaries = self.dictionaries()?;
        Ok(SettingsChange {
            dictionaries: (!dictionaries.is_empty()).then_some(dictionaries),
            patterns: (!given.patterns.is_empty()).then_some(patterns),
            ..given.change()
        })
    }

    /// The names of each type, one in a line.
    fn dictionaries(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut dictionaries: Vec<(String, String)> = Vec::new();
        for (kind, file) in &self.settings.dictionaries {
            let names = match file.as_str() {
                "" => String::new(),
                file => std::fs::read_to_string(file).map_err(|error| {
                    Failure::user(format_args!("{file}: cannot read the names of {kind}: {error}"))
                })?,
            };
            match dictionaries.iter_mut().find(|(other, _)| other == kind) {
                Some((_, all)) => {
                    all.push('\n');
                    all.push_str(&names);
                }
                None => dictionaries.push((kind.clone(), names)),
            }
        }
        Ok(dictionaries)
    }

    fn new_settings(&self) -> Result<Settings, Failure> {
        let given = &self.settings;
        let usual = Settings::default();
        let empty = given
            .dictionaries
            .iter()
            .chain(&given.patterns)
            .find(|(_, value)| value.is_empty());
        if let Some((kind, _)) = empty {
            return Err(Failure::user(format_args!(
                "{kind}= takes away what a project has, and this one is new; expected a value, such as DRUG=drugs.txt"
            )));
        }
        let dictionaries = self.dictionaries()?;
        let settings = Settings {
            strategy: given.strategy.unwrap_or(usual.strategy),
            unit: given.unit.unwrap_or(usual.unit),
            batch: given.batch.unwrap_or(usual.batch),
            held_out: given.held_out.unwrap_or(usual.held_out),
            shared: given.shared.unwrap_or(usual.shared),
            seed: given.seed.unwrap_or(usual.seed),
            dictionaries,
            patterns: given.patterns.clone(),
            ..usual
        };
        settings.check().map_err(failure)?;
        Ok(settings)
    }

    fn all_types(&self) -> Result<Vec<String>, Failure> {
        let mut types = self.documents.types.clone();
        if let Some(file) = &self.documents.type_file {
            let text = std::fs::read_to_string(file).map_err(|error| {
                Failure::user(format_args!("{}: cannot read the types: {error}", file.display()))
            })?;
            let lines = text.lines().map(str::trim);
            types.extend(
                lines
                    .filter(|line| !line.is_empty() && !line.starts_with('#'))
                    .map(str::to_owned),
            );
        }
        Ok(types)
    }

    fn add_user(&self, name: &str, mut store: Store, console: &Console) -> Result<(), Failure> {
        let token = Token::random().map_err(Failure::ours)?;
        let user = store.user(name).map_err(failure)?;
        store.add_token(user, &token.hash().to_hex()).map_err(failure)?;
        // Where the page is, or was the last time.
        let known = store.meta(ADDRESS).map_err(failure)?;
        let known = known.and_then(|address| address.parse::<SocketAddr>().ok());
        let address = known.unwrap_or(SocketAddr::new(self.server.host, self.server.port));
        console.print(&format!("{}\n", annotate::link(address, &token)))
    }

    fn export(&self, engine: &Arc<Engine>, console: &Console) -> Result<(), Failure> {
        if let Some(values) = &self.instead.export {
            let format: DocumentFormat = values[0].parse().map_err(Failure::user)?;
            let out = Path::new(&values[1]);
            if self.instead.fill {
                engine.train_now();
            }
            let options = ExportOptions {
                user: self.instead.of_user.clone(),
                fill: self.instead.fill,
                labelled_only: false,
            };
            let notices = engine
                .export_to(format, out, &options)
                .map_err(|error| match error {
                    Error::Write(error) => Failure::writing(out, error),
                    error => failure(error),
                })?;
            documents::tell(&notices, console);
            console.note(&format!("wrote {}", out.display()));
        }
        if let Some(out) = &self.instead.export_model {
            let model = engine.model_file().map_err(failure)?;
            std::fs::copy(&model, out).map_err(|error| Failure::writing(out, error))?;
            console.note(&format!("wrote {}", out.display()));
        }
        Ok(())
    }

    fn serve(&self, engine: &Arc<Engine>, token: &Token, console: &Console) -> Result<(), Failure> {
        let trainer = engine.start().map_err(failure)?;
        let options = ServeOptions {
            host: self.server.host,
            port: self.server.port,
            allowed_hosts: self.server.allowed_hosts.clone(),
        };
        if !self.server.host.is_loopback() {
            console.warn(
                "the page is served to other machines without encryption; who can read the traffic can read the documents",
            );
        }
        let mut printed = Ok(());
        let ended = annotate::serve(engine, &self.project, &options, |address| {
            printed = engine
                .keep(ADDRESS, &address.to_string())
                .map_err(failure)
                .and_then(|()| console.print(&format!("{}\n", annotate::link(address, token))));
            console.note("open this link in a browser; Ctrl-C ends the server");
        });
        drop(trainer);
        ended.map_err(failure)?;
        printed
    }
}

/// Where the project keeps the address of its page.
const ADDRESS: &str = "address";

/// The number of somebody who is in a project.
fn person(name: &str, store: &Store) -> Result<UserId, Failure> {
    let mut users = store.users().map_err(failure)?;
    users.retain(|(_, other)| other != IMPORT);
    if let Some((id, _)) = users.iter().find(|(_, other)| other == name) {
        return Ok(*id);
    }
    let names: Vec<&str> = users.iter().map(|(_, name)| name.as_str()).collect();
    Err(Failure::user(format_args!(
        "there is nobody named {name:?} in this project; {}",
        match names.as_slice() {
            [] => "it has no people yet".to_owned(),
            names => format!("choose from {}", names.join(", ")),
        }
    )))
}

/// What the user can mend, and what is ours.
fn failure(error: Error) -> Failure {
    match error {
        Error::Fieldmark(error) => super::train::config::failure(error),
        Error::Learn(error) => fieldmark::Error::from(error).into(),
        Error::Database { .. } | Error::Write(_) => Failure::ours(error),
        error => Failure::user(error),
    }
}

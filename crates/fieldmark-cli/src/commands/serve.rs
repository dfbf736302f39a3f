//! `fieldmark serve`: models as a service.

use crate::console::Console;
use crate::failure::Failure;
use fieldmark_serve::http::{Limits, Token};
use fieldmark_serve::tagging::{self, Models, ServeError, ServeOptions};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Mark texts over HTTP, and try a model on a page
///
/// Serves any number of models that were trained with a config (chains and graphs), each under a name: that of its file,
/// or another one as NAME=FILE. Prints the address of a page on which texts can be tried: what the model finds, how sure
/// it is, and why. Programs use the same address, with the paths below.
///
/// Places are counted in characters; the units utf16 (JavaScript, Java) and bytes count otherwise. What is wrong with a
/// request is told as {"error": "a sentence"}, with the status that belongs to it.
///
/// The server listens on this machine only. At another address (--host) it wants a token from everybody: that of
/// --token-file or of the variable FIELDMARK_TOKEN, or a new one that it prints. People open the printed link once;
/// programs send it as `Authorization: Bearer TOKEN`. The server speaks plain HTTP: for use over a network, put a proxy
/// with TLS before it.
///
/// Ctrl-C or SIGTERM stops it: requests under way are answered first. A second Ctrl-C does not wait for them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Model files, as FILE or NAME=FILE; the first answers requests that name none
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<String>,

    /// Threads that mark texts [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,

    #[command(flatten)]
    address: AddressOptions,

    #[command(flatten)]
    limits: LimitOptions,
}

/// Where the server is, and who may come.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Address")]
struct AddressOptions {
    /// Address to listen on; 0.0.0.0 is every one of this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,

    /// Port to listen on; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 7878)]
    port: u16,

    /// File whose first line is the token that requests must have
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// A name that the server answers to, besides that of this machine for itself; may be repeated
    ///
    /// For servers behind a proxy. Requests for other names are refused, since any web site can make its name point to
    /// this machine.
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
}

/// How much clients may take.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
struct LimitOptions {
    /// Mebibytes of a request, or of a line of a stream
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=2048))]
    max_body: u32,

    /// Seconds until the answer to a request must have begun
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    max_time: u32,

    /// Requests at a time; more are told to come again (503)
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_requests: u32,

    /// Connections at a time; more wait
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections: u32,

    /// Seconds for which a client may neither send nor take what belongs to its request
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    max_silence: u32,

    /// Seconds for which requests under way may go on when the server is stopped
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    stop_time: u32,
}

const EXAMPLES: &str = "\
Paths:
  POST /v1/tag        {\"text\": \"…\"} or {\"texts\": [\"…\", …]}; also \"model\", \"unit\"
  POST /v1/tag.jsonl  a stream of JSON lines, answered line by line as it comes
  POST /v1/explain    {\"text\": \"…\", \"start\": 0, \"end\": 3}: why these labels
  GET  /v1/models     what is served
  GET  /openapi.json  all of this for programs (OpenAPI 3.1)
  GET  /health, /metrics (Prometheus)

Examples:
  fieldmark serve names.fmk
  fieldmark serve names.fmk both=joint.fmk --port 8080
  fieldmark serve names.fmk --host 0.0.0.0 --max-requests 16 --max-time 10

  Ask it:
      curl http://127.0.0.1:7878/v1/tag --json '{\"text\": \"Ada sleeps here.\", \"unit\": \"utf16\"}'
      curl http://127.0.0.1:7878/v1/tag.jsonl --data-binary @notes.jsonl \\
          -H 'Content-Type: application/x-ndjson'";

/// The variable with the token.
const TOKEN_VARIABLE: &str = "FIELDMARK_TOKEN";

impl LimitOptions {
    fn limits(&self) -> Limits {
        let seconds = |seconds: u32| Duration::from_secs(u64::from(seconds));
        Limits {
            body: (self.max_body as usize) << 20,
            request: seconds(self.max_time),
            concurrency: self.max_requests as usize,
            connections: self.max_connections as usize,
            head: seconds(self.max_silence),
            silence: seconds(self.max_silence),
            shutdown: seconds(self.stop_time),
        }
    }
}

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let models = Models::open(self.models.iter().map(|text| named(text))).map_err(Failure::user)?;
        for (model, columns) in models.missing_columns() {
            let columns: Vec<String> = columns.iter().map(|column| format!("`{column}`")).collect();
            console.warn(&format!(
                "{model} was trained with columns of its input, which texts do not have ({}): expect worse labels",
                columns.join(", ")
            ));
        }
        let names: Vec<&str> = models.names().collect();
        let names = names.join(", ");
        let token = self.address.token()?;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let options = ServeOptions {
            host: self.address.host,
            port: self.address.port,
            token,
            allowed_hosts: self.address.allow_host,
            limits: self.limits.limits(),
            threads: self.threads.map_or_else(cores, usize::from),
        };
        // A reader of the link who has gone is no reason not to serve others.
        let ready = |link: &str| {
            console.note(&format!("serving {names}; Ctrl-C stops. Open this link:"));
            let _ = console.print(&format!("{link}\n"));
        };
        let ended = tagging::serve(models, options, ready).map_err(|error| match error {
            ServeError::Address(_) => Failure::user(error),
            error => Failure::ours(error),
        })?;
        match ended.cut_off {
            0 => console.note("stopped"),
            1 => console.warn("stopped; one connection was cut off"),
            several => console.warn(&format!("stopped; {several} connections were cut off")),
        }
        Ok(())
    }
}

impl AddressOptions {
    /// The token that the user chose, if there is one.
    fn token(&self) -> Result<Option<Token>, Failure> {
        let chosen = |from: &str, secret: &str| {
            Token::chosen(secret.trim())
                .map(Some)
                .map_err(|problem| Failure::user(format_args!("{from}: {problem}")))
        };
        if let Some(file) = &self.token_file {
            let name = file.display();
            let text = std::fs::read_to_string(file)
                .map_err(|error| Failure::user(format_args!("{name}: cannot read: {error}")))?;
            return chosen(&name.to_string(), text.lines().next().unwrap_or_default());
        }
        match std::env::var(TOKEN_VARIABLE) {
            Ok(secret) => chosen(TOKEN_VARIABLE, &secret),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(error) => Err(Failure::user(format_args!("{TOKEN_VARIABLE}: {error}"))),
        }
    }
}

/// The name and the file of a model. A file whose name has an equals sign is found all the same.
fn named(text: &str) -> (String, PathBuf) {
    if let Some((name, file)) = text.split_once('=').filter(|_| !Path::new(text).exists()) {
        return (name.to_owned(), file.into());
    }
    let path = PathBuf::from(text);
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    (name, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_by_their_files_or_by_the_user() {
        assert_eq!(named("a/drugs.fmk"), ("drugs".into(), "a/drugs.fmk".into()));
        assert_eq!(named("x=a/drugs.fmk"), ("x".into(), "a/drugs.fmk".into()));
        assert_eq!(named("x=a=b.fmk"), ("x".into(), "a=b.fmk".into()));
    }
}

//! `fieldmark generate`: manual pages and shell completions, from the same definitions as the help.

use crate::console::Console;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::PathBuf;

/// Write manual pages or shell completions
///
/// Both are made of the same definitions as the help, so they fit the program that writes them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  fieldmark generate man ~/.local/share/man/man1
  fieldmark generate completions bash > fieldmark.bash";

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Manual pages, one file for each command
    Man {
        /// Directory to write to; it is made when it does not exist
        directory: PathBuf,
    },
    /// Completions for a shell, to standard output
    Completions {
        /// The shell
        shell: Shell,
    },
}

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        match self.what {
            What::Man { directory } => {
                let written = std::fs::create_dir_all(&directory)
                    .and_then(|()| clap_mangen::generate_to(crate::Arguments::command(), &directory));
                written.map_err(|error| Failure::writing(&directory, error))
            }
            What::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut crate::Arguments::command(), "fieldmark", &mut script);
                console.print(&String::from_utf8_lossy(&script))
            }
        }
    }
}

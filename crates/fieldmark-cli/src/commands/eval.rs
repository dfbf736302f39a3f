//! `fieldmark eval`: how good are the predicted labels, or annotations?

mod columns;
mod documents;
mod graph;
mod layers;
mod read;
mod rows;

pub use documents::write as write_page;

use crate::console::Console;
use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// Score predicted labels or annotations against gold ones
///
/// Of documents, GOLD and PRED are files of any format that `fieldmark convert` reads. Documents are matched by their
/// ids; a gold document that was not predicted counts as one in which nothing was found. Instead of PRED, --model names
/// a model, which marks the texts first. The report has precision, recall and F of spans by several measures, what was
/// wrong with the others, and what confidences are worth; --html writes it as one page, with the worst errors in their
/// sentences. All that follows is about columns.
///
/// The last two columns of TAGGED are the gold and the predicted label, and a blank line ends a
/// sequence: that is what `fieldmark tag` writes, and what the `conlleval` script of the CoNLL shared
/// tasks reads. The report begins with exactly what that script prints, for IOB1, IOB2 and IOBES; token
/// accuracy, scores of each label and a confusion table follow.
///
/// Every token needs the same number of columns; a line that begins with `-X-` ends a sequence, as for the
/// script. Columns are separated by white space, or by tabs where the first line has tabs around its labels.
///
/// Gold labels may be partial. A token whose gold label is `?` is left out, and so is every span, gold or
/// predicted, on such a token or next to one; the report says how many tokens and predicted spans that
/// were. A predicted label is right beside `A|B` if it is A or B; if it is neither, A counts as the gold label.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Tagged columns, plain, .gz or .zst (`-` is standard input); or gold and predicted documents
    #[arg(value_name = "TAGGED | GOLD PRED", num_args = 0..=2)]
    files: Vec<PathBuf>,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    documents: documents::DocumentOptions,

    #[command(flatten)]
    columns: columns::ColumnOptions,
}

const EXAMPLES: &str = "\
Examples:
  fieldmark eval tagged.txt
  fieldmark tag --model chunker.fmk test.txt | fieldmark eval
  fieldmark eval --strict iob2 tagged.txt
  fieldmark eval --skip-lines -DOCSTART- tagged.txt
  fieldmark eval --json tagged.txt

  Mark gold documents with a model and score it, as a page:
      fieldmark eval --model names.fmk test.txt --format columns --html scores.html

  A graph with another engine than that of its config:
      fieldmark eval --model joint.fmk test.txt --inference loopy

  Documents of any format against each other, by other measures:
      fieldmark tag names.fmk test.txt --format columns --output found.jsonl
      fieldmark eval test.txt found.jsonl --format columns --pred-format jsonl
      fieldmark eval test.txt found.jsonl --format columns --pred-format jsonl --measure tokens

  From which confidence on is nine in ten right? Is another model better by more than chance?
      fieldmark eval --model names.fmk test.txt --precision 0.9
      fieldmark eval --model names.fmk test.txt --against found.jsonl --pred-format jsonl
      fieldmark eval --model names.fmk test.txt --against found.jsonl --pred-format jsonl \\
          --test randomisation,paired-t,welch --tails 1";

impl Arguments {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let is_documents = self.documents.has_model() || self.files.len() == 2;
        if is_documents {
            if let Some(option) = self.columns.given().next() {
                return Err(Failure::user(format_args!(
                    "--{option} is for tagged columns, which are one file without --model"
                )));
            }
            return self.documents.run(&self.files, self.json, console);
        }
        if let Some(option) = self.documents.given().next() {
            return Err(Failure::user(format_args!(
                "--{option} is for documents: name a gold and a predicted file, or a gold file and --model. (Tagged \
                 columns are documents, too: `fieldmark eval FILE FILE --format columns --label-columns -2 \
                 --pred-label-columns -1`)"
            )));
        }
        let file = self.files.first().map_or(Path::new("-"), PathBuf::as_path);
        self.columns.run(file, self.json, console)
    }
}

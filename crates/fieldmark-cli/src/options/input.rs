//! How input files are to be read.

use crate::failure::Failure;
use clap::ValueEnum;
use fieldmark::core::StepEnd;
use fieldmark::text::{Separator, Template};
use fieldmark::{InputFormat, InputKind};
use std::path::{Path, PathBuf};

/// How training data and the like are read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input options")]
pub struct InputOptions {
    /// Format of the data [default: crfsuite for files named *.crfsuite, otherwise columns]
    #[arg(long, value_enum)]
    format: Option<FormatName>,

    /// CRF++ or Wapiti template that makes observations of columns
    ///
    /// Without it, each column of the current line is an observation.
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,

    /// What separates columns
    #[arg(long, value_enum, default_value_t, value_name = "KIND")]
    separator: SeparatorName,

    /// Skip lines of column files that begin with this text; may be repeated
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    skip_lines: Vec<String>,

    /// What labels may be [default: partial for columns, literal for crfsuite]
    #[arg(long, value_enum, value_name = "SYNTAX")]
    labels: Option<LabelsName>,
}

/// The formats by the names that they have in options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// Attribute files: label, tab, attributes separated by tabs
    Crfsuite,
    /// One token per line, the label in the last column
    Columns,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum SeparatorName {
    /// Tabs if the first line has one, otherwise spaces
    #[default]
    Auto,
    /// One tab; cells may hold spaces
    Tab,
    /// One or more spaces
    Space,
    /// Any run of tabs and spaces, as in CRF++
    Whitespace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LabelsName {
    /// Every label is a plain name
    Literal,
    /// `?` is unknown, `A|B` is A or B
    Partial,
}

/// Which end of a step describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StepEndName {
    /// The observations of the earlier position
    Left,
    /// The observations of the later position
    Right,
}

impl From<StepEndName> for StepEnd {
    fn from(name: StepEndName) -> Self {
        match name {
            StepEndName::Left => StepEnd::Left,
            StepEndName::Right => StepEnd::Right,
        }
    }
}

impl InputOptions {
    /// The options that were given and would change something, by name.
    pub fn given(&self) -> [(&'static str, bool); 5] {
        [
            ("format", self.format.is_some()),
            ("template", self.template.is_some()),
            ("separator", self.separator != SeparatorName::Auto),
            ("skip-lines", !self.skip_lines.is_empty()),
            ("labels", self.labels.is_some()),
        ]
    }

    /// The file of the template.
    pub fn template_file(&self) -> Option<&Path> {
        self.template.as_deref()
    }

    /// The format of `data`, and the parsed template if there is one.
    pub fn resolve(&self, data: &Path) -> Result<(InputFormat, Option<Template>), Failure> {
        let format = self.format.unwrap_or_else(|| guess(data));
        let mut template = None;
        let mut input = match format {
            FormatName::Crfsuite => {
                if self.template.is_some() {
                    return Err(Failure::user(
                        "--template makes observations of columns, but crfsuite files hold observations already. \
                         Use --format columns, or leave the template out",
                    ));
                }
                InputFormat::attributes()
            }
            FormatName::Columns => {
                let text = self.template.as_deref().map(read_template).transpose()?;
                let (text, parsed) = text.unzip();
                template = parsed;
                InputFormat::columns(text)
            }
        };
        input.separator = match self.separator {
            SeparatorName::Auto => Separator::Auto,
            SeparatorName::Tab => Separator::Tab,
            SeparatorName::Space => Separator::Space,
            SeparatorName::Whitespace => Separator::Whitespace,
        };
        input.skip.clone_from(&self.skip_lines);
        if let Some(labels) = self.labels {
            input.partial_labels = labels == LabelsName::Partial;
        }
        Ok((input, template))
    }
}

impl FormatName {
    /// Whether a model's input has this format.
    pub fn is(self, input: &InputFormat) -> bool {
        matches!(
            (self, &input.kind),
            (FormatName::Crfsuite, InputKind::Attributes) | (FormatName::Columns, InputKind::Columns { .. })
        )
    }
}

fn guess(data: &Path) -> FormatName {
    let name = data.file_name().unwrap_or_default().to_string_lossy();
    let name = name
        .strip_suffix(".gz")
        .or(name.strip_suffix(".zst"))
        .unwrap_or(&name);
    if name.ends_with(".crfsuite") {
        FormatName::Crfsuite
    } else {
        FormatName::Columns
    }
}

fn read_template(path: &Path) -> Result<(String, Template), Failure> {
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::user(format_args!(
            "{}: cannot read the template: {error}",
            path.display()
        ))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = sound.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Failure::user(format_args!(
            "{}:{line}: this is not valid UTF-8; is it the template?",
            path.display()
        ))
    })?;
    let template = Template::parse(&text).map_err(|error| {
        let (line, column, message) = (error.line, error.column, &error.message);
        Failure::user(format_args!("{}:{line}:{column}: {message}", path.display()))
    })?;
    Ok((text, template))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_guessed_by_name() {
        for (name, format) in [
            ("train.crfsuite", FormatName::Crfsuite),
            ("dir.crfsuite/train.crfsuite.gz", FormatName::Crfsuite),
            ("train.txt", FormatName::Columns),
            ("crfsuite", FormatName::Columns),
            ("-", FormatName::Columns),
        ] {
            assert_eq!(guess(Path::new(name)), format, "{name}");
        }
    }
}

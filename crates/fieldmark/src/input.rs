//! [`InputFormat`]: how a model's input is to be read. It is kept in the model file.

use crate::Error;
use fieldmark_core::StepEnd;
use fieldmark_text::{Format, LabelSyntax, Separator, Template};

/// How the input of a model is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputFormat {
    /// The kind of file.
    pub kind: InputKind,
    /// What separates columns.
    pub separator: Separator,
    /// Lines of column files that begin with one of these are not read.
    pub skip: Vec<String>,
    /// Whether `?` is an unknown label and `A|B` an ambiguous one.
    pub partial_labels: bool,
    /// Whether the step between positions is described by all observations of one of its ends.
    pub step_observations: Option<StepEnd>,
    /// Columns of observations that the model was trained on; set by training.
    pub observed_columns: Option<usize>,
}

/// Why a text does not say how input is to be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found}")]
pub struct InputTextError {
    /// The number of the line, from 1 on.
    pub line: usize,
    /// What is wrong there.
    pub found: String,
}

/// A kind of file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InputKind {
    /// CRFsuite's attribute files.
    #[default]
    Attributes,
    /// Column files with a CRF++ or Wapiti template; without one, each column is an observation.
    Columns {
        /// The text of the template.
        template: Option<String>,
    },
}

impl InputFormat {
    /// CRFsuite's attribute files.
    pub fn attributes() -> Self {
        Self::default()
    }

    /// Column files with the text of a template; without one, each column is an observation.
    pub fn columns(template: Option<String>) -> Self {
        Self {
            kind: InputKind::Columns { template },
            partial_labels: true,
            ..Self::default()
        }
    }

    /// The format for the readers of [`fieldmark_text`].
    pub fn format(&self) -> Result<Format, Error> {
        let mut format = match &self.kind {
            InputKind::Attributes => Format::attributes(),
            InputKind::Columns { template: None } => Format::plain_columns(),
            InputKind::Columns { template: Some(text) } => Format::columns(Template::parse(text)?),
        };
        format = format.separator(self.separator).labels(if self.partial_labels {
            LabelSyntax::Partial
        } else {
            LabelSyntax::Literal
        });
        for prefix in &self.skip {
            format = format.skip_lines(prefix);
        }
        if let Some(columns) = self.observed_columns {
            format = format.observed_columns(columns);
        }
        Ok(format)
    }

    /// As lines of text, for the model file.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |key: &str, value: &str| {
            text.push_str(key);
            text.push('\t');
            text.push_str(
                &value
                    .replace('\\', "\\\\")
                    .replace('\n', "\\n")
                    .replace('\t', "\\t"),
            );
            text.push('\n');
        };
        match &self.kind {
            InputKind::Attributes => line("format", "crfsuite"),
            InputKind::Columns { template } => {
                line("format", "columns");
                if let Some(template) = template {
                    line("template", template);
                }
            }
        }
        line("separator", separator_name(self.separator));
        self.skip.iter().for_each(|prefix| line("skip", prefix));
        line("partial-labels", if self.partial_labels { "yes" } else { "no" });
        match self.step_observations {
            None => {}
            Some(StepEnd::Left) => line("step-observations", "left"),
            Some(StepEnd::Right) => line("step-observations", "right"),
        }
        if let Some(columns) = self.observed_columns {
            line("observed-columns", &columns.to_string());
        }
        text
    }

    /// The opposite of [`InputFormat::to_text`].
    pub fn from_text(text: &str) -> Result<Self, InputTextError> {
        let mut input = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let error = |found| InputTextError {
                line: index + 1,
                found,
            };
            let wrong = || error(format!("the line {line:?}"));
            let (key, value) = line.split_once('\t').ok_or_else(wrong)?;
            if seen.contains(&key) && key != "skip" {
                return Err(error(format!("{key:?} for the second time")));
            }
            seen.push(key);
            let value = unescape(value).ok_or_else(wrong)?;
            match (key, value.as_str(), &mut input.kind) {
                ("format", "crfsuite", kind) => *kind = InputKind::Attributes,
                ("format", "columns", kind) => *kind = InputKind::Columns { template: None },
                ("template", _, InputKind::Columns { template }) => {
                    Template::parse(&value)
                        .map_err(|problem| error(format!("a template that cannot be read: {problem}")))?;
                    *template = Some(value);
                }
                ("separator", name, _) => input.separator = separator(name).ok_or_else(wrong)?,
                ("skip", _, _) => input.skip.push(value),
                ("partial-labels", "yes", _) => input.partial_labels = true,
                ("partial-labels", "no", _) => input.partial_labels = false,
                ("step-observations", "left", _) => input.step_observations = Some(StepEnd::Left),
                ("step-observations", "right", _) => input.step_observations = Some(StepEnd::Right),
                ("observed-columns", number, _) => {
                    input.observed_columns = Some(number.parse().map_err(|_| wrong())?);
                }
                _ => return Err(wrong()),
            }
        }
        match ["format", "separator", "partial-labels"]
            .iter()
            .find(|key| !seen.contains(key))
        {
            None => Ok(input),
            Some(key) => Err(InputTextError {
                line: text.lines().count() + 1,
                found: format!("the end, but no {key:?}"),
            }),
        }
    }
}

const SEPARATORS: [(Separator, &str); 4] = [
    (Separator::Auto, "auto"),
    (Separator::Tab, "tab"),
    (Separator::Space, "space"),
    (Separator::Whitespace, "whitespace"),
];

fn separator_name(separator: Separator) -> &'static str {
    SEPARATORS
        .iter()
        .find(|(known, _)| *known == separator)
        .map_or("auto", |(_, name)| name)
}

fn separator(name: &str) -> Option<Separator> {
    SEPARATORS
        .iter()
        .find(|(_, known)| *known == name)
        .map(|(separator, _)| *separator)
}

fn unescape(text: &str) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        result.push(match character {
            '\\' => match characters.next()? {
                'n' => '\n',
                't' => '\t',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_a_round_trip() {
        let columns = InputFormat {
            separator: Separator::Whitespace,
            skip: vec!["#".into(), "-DOC\\START\t-".into()],
            step_observations: Some(StepEnd::Left),
            observed_columns: Some(3),
            ..InputFormat::columns(Some("U00:%x[0,0]\tand\\so on\nB\n".into()))
        };
        for input in [InputFormat::attributes(), InputFormat::columns(None), columns] {
            assert_eq!(InputFormat::from_text(&input.to_text()), Ok(input));
        }
        let twice = format!("{0}partial-labels\tno\n", InputFormat::attributes().to_text());
        assert_eq!(InputFormat::from_text(&twice).unwrap_err().line, 4);
        assert_eq!(InputFormat::from_text("").unwrap_err().line, 1);
        assert_eq!(
            InputFormat::from_text("format\tcrfsuite\nseparator\ttab\n")
                .unwrap_err()
                .line,
            3
        );
        assert!(InputFormat::from_text("format\tpdf\n").is_err());
        assert!(InputFormat::from_text("nothing").is_err());
        assert!(InputFormat::from_text("skip\t\\x").is_err());
    }
}

//! [`Report`]: the figures of an evaluation, to read, print or serialise.

use crate::counts::ratio;
use crate::{Counts, Score};
use serde::{Deserialize, Serialize};

/// Everything that an [`Evaluation`](crate::Evaluation) measures. Shares lie between 0 and 1.
///
/// `to_string` gives the span scores in the format of `conlleval`, then tokens, labels and confusions; each
/// part can also be printed by itself. Serialised, it is one object:
///
/// ```
/// use fieldmark_eval::Evaluation;
/// let mut evaluation = Evaluation::conlleval();
/// evaluation.add(&["B-X", "O"], &["B-X", "B-X"])?;
/// let json = serde_json::to_value(evaluation.report())?;
/// assert_eq!(json["accuracy"], 0.5);
/// assert_eq!(json["spans"]["total"]["precision"], 0.5);
/// assert_eq!(json["labels"]["rows"][0]["name"], "B-X");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Number of sequences.
    pub sequences: u64,
    /// Sequences in which every label is right.
    pub correct_sequences: u64,
    /// Number of tokens.
    pub tokens: u64,
    /// Tokens whose label is right.
    pub correct_tokens: u64,
    /// Share of the tokens whose label is right.
    pub accuracy: f64,
    /// What does not count, because gold labels are unknown.
    #[serde(default)]
    pub left_out: LeftOut,
    /// Span by span.
    pub spans: SpanReport,
    /// Token by token, per label.
    pub labels: LabelReport,
    /// Which labels were taken for which.
    pub confusion: Confusion,
}

/// What does not count, because gold labels are unknown; see [`Evaluation::add_partial`].
///
/// [`Evaluation::add_partial`]: crate::Evaluation::add_partial
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Tokens whose gold label is unknown.
    pub tokens: u64,
    /// Predicted spans that hold or touch such a token.
    pub spans: u64,
}

/// Counts and scores of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The type of spans or the label.
    pub name: String,
    /// The numbers.
    #[serde(flatten)]
    pub counts: Counts,
    /// What follows from them.
    #[serde(flatten)]
    pub score: Score,
}

impl Row {
    fn new(name: &str, counts: Counts) -> Self {
        Row {
            name: name.to_owned(),
            counts,
            score: counts.score(),
        }
    }
}

/// Means over the classes that occur in gold or predicted labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Averages {
    /// Every class counts the same.
    #[serde(rename = "macro")]
    pub unweighted: Score,
    /// Every class counts by the number of its gold members.
    pub weighted: Score,
}

impl Averages {
    fn of(rows: &[Row]) -> Self {
        let occurs = |row: &&Row| row.counts.gold + row.counts.found > 0;
        Averages {
            unweighted: Score::mean(rows.iter().filter(occurs).map(|row| (1.0, row.score))),
            weighted: Score::mean(rows.iter().map(|row| (row.counts.gold as f64, row.score))),
        }
    }
}

/// Scores of spans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpanReport {
    /// How spans were read out of labels: `conlleval`, or `strict` and the scheme.
    pub rules: String,
    /// Whether only well-formed spans were counted.
    pub strict: bool,
    /// Number of tokens.
    pub tokens: u64,
    /// Tokens with the right label, where labels that the rules cannot tell apart (`B` and `B-`) are the same.
    pub correct_tokens: u64,
    /// Spans of all types (the micro average).
    pub total: Row,
    /// Means over the types.
    pub averages: Averages,
    /// Type by type, in the order of their names.
    pub types: Vec<Row>,
}

impl SpanReport {
    pub(crate) fn new(rules: String, strict: bool, tokens: (u64, u64), types: &[(&str, Counts)]) -> Self {
        let rows: Vec<Row> = types
            .iter()
            .map(|&(kind, counts)| Row::new(kind, counts))
            .collect();
        SpanReport {
            rules,
            strict,
            tokens: tokens.0,
            correct_tokens: tokens.1,
            total: Row::new("all", types.iter().map(|&(_, counts)| counts).sum()),
            averages: Averages::of(&rows),
            types: rows,
        }
    }
}

/// Scores of labels, token by token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelReport {
    /// Means over the labels.
    pub averages: Averages,
    /// Label by label, in the order of their names.
    pub rows: Vec<Row>,
}

impl LabelReport {
    pub(crate) fn new(labels: &[(&str, Counts)]) -> Self {
        let rows: Vec<Row> = labels
            .iter()
            .map(|&(label, counts)| Row::new(label, counts))
            .collect();
        LabelReport {
            averages: Averages::of(&rows),
            rows,
        }
    }
}

/// How often each label was predicted where each label is right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// The labels, sorted.
    pub labels: Vec<String>,
    /// Tokens by gold label (outer) and predicted label (inner), both in the order of `labels`.
    pub counts: Vec<Vec<u64>>,
}

/// Tokens of one gold label that got one other label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The right label.
    pub gold: String,
    /// The label that was predicted.
    pub predicted: String,
    /// Number of tokens.
    pub count: u64,
    /// Their share of the tokens with this gold label.
    pub share: f64,
}

impl Confusion {
    /// The `most` most frequent confusions, the most frequent first, then by gold and predicted label.
    pub fn largest(&self, most: usize) -> Vec<Cell> {
        let mut cells = self.errors();
        cells.sort_by_key(|&(_, _, count)| std::cmp::Reverse(count));
        cells.truncate(most);
        let cell = |(gold, predicted, count): (usize, usize, u64)| Cell {
            gold: self.labels[gold].clone(),
            predicted: self.labels[predicted].clone(),
            count,
            share: ratio(count, self.counts[gold].iter().sum()),
        };
        cells.into_iter().map(cell).collect()
    }

    /// Number of different confusions.
    pub fn distinct(&self) -> usize {
        self.errors().len()
    }

    fn errors(&self) -> Vec<(usize, usize, u64)> {
        let rows = self.counts.iter().enumerate();
        rows.flat_map(|(gold, row)| {
            row.iter()
                .enumerate()
                .map(move |(found, &count)| (gold, found, count))
        })
        .filter(|&(gold, found, count)| gold != found && count > 0)
        .collect()
    }
}

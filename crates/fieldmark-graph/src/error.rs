//! What can be wrong with a graph or with a question about it.

/// A number and what it counts, in the singular or the plural.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// How many there are, with the verb.
pub(crate) fn there_are(count: u64, noun: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("there {verb} {}", counted(count, noun))
}

/// A size that may be too large for its type.
fn at_least(bytes: u64) -> String {
    match bytes {
        u64::MAX => "more bytes than can be counted".into(),
        _ => format!("at least {}", counted(bytes, "byte")),
    }
}

/// Why a graph cannot be built, or inference on it is not possible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A variable that the graph does not have.
    #[error("variable {variable} does not exist, {}", there_are(*variables as u64, "variable"))]
    UnknownVariable {
        /// The variable.
        variable: u32,
        /// Number of variables.
        variables: usize,
    },
    /// A table that the pool does not have.
    #[error("table {table} does not exist, {}", there_are(*tables as u64, "table"))]
    UnknownTable {
        /// The table.
        table: u32,
        /// Number of tables.
        tables: usize,
    },
    /// A label that a variable, or the side of a table, does not have.
    #[error("label {label} of {of} {number} does not exist, {}", there_are((*labels).into(), "label"))]
    UnknownLabel {
        /// "variable" or "side" of a table.
        of: &'static str,
        /// Which variable or side.
        number: u32,
        /// The label.
        label: u32,
        /// Number of labels.
        labels: u32,
    },
    /// A variable that may take no label.
    #[error("variable {variable} has {} and may take none of them", counted((*labels).into(), "label"))]
    EmptyLabelSet {
        /// The variable.
        variable: u32,
        /// Number of labels, allowed or not.
        labels: u32,
    },
    /// The number of scores is not the product of the label counts.
    #[error("a table of shape {shape:?} has {}, expected {expected}", counted(*found as u64, "score"))]
    TableSize {
        /// Label counts.
        shape: Vec<u32>,
        /// Number of scores given.
        found: usize,
        /// Product of the shape.
        expected: usize,
    },
    /// A factor whose table was made for other label counts.
    #[error(
        "factor {factor} joins variables with {expected:?} labels, but its table {table} has shape {found:?}"
    )]
    TableShape {
        /// The factor.
        factor: usize,
        /// Its table.
        table: u32,
        /// Shape of the table.
        found: Vec<u32>,
        /// Label counts of the variables.
        expected: Vec<u32>,
    },
    /// A score is NaN or +∞.
    #[error("score {index} of table {table} is {score}, expected a number below +∞")]
    NotANumber {
        /// The table.
        table: u32,
        /// Index of the score in the table.
        index: usize,
        /// The score.
        score: f64,
    },
    /// Scores whose sum over the factors could overflow.
    #[error("a score of magnitude {magnitude:e} overflows when it is summed over {}", counted(*factors as u64, "factor"))]
    TooLarge {
        /// The largest magnitude of a score.
        magnitude: f64,
        /// Number of factors.
        factors: usize,
    },
    /// More parts than 32-bit numbers count.
    #[error("the graph has more than {limit} {what}")]
    TooMany {
        /// Which parts.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// A factor that joins no variable.
    #[error("factor {factor} joins no variable")]
    EmptyScope {
        /// The factor.
        factor: usize,
    },
    /// A factor that joins a variable to itself.
    #[error("factor {factor} joins variable {variable} to itself")]
    RepeatedVariable {
        /// The factor.
        factor: usize,
        /// The variable.
        variable: u32,
    },
    /// A labelling with too few or too many labels.
    #[error("{} for {}", counted(*found as u64, "label"), counted(*expected as u64, "variable"))]
    Length {
        /// Number of labels.
        found: usize,
        /// Number of variables.
        expected: usize,
    },
    /// Label sets and forbidden combinations contradict each other: no labelling is left.
    #[error("no labelling satisfies the constraints: nothing is left for variable {variable}")]
    Contradiction {
        /// A variable for which no label is left.
        variable: u32,
    },
    /// An approximate method met only forbidden labellings.
    #[error("{method} found no labelling that the constraints allow; there may be one: use an exact engine")]
    NothingFound {
        /// The method.
        method: &'static str,
    },
    /// A graph with a cycle where a forest is needed.
    #[error("factor {factor} closes a cycle; use a junction tree or loopy belief propagation")]
    Cycle {
        /// The first factor that closes a cycle.
        factor: usize,
    },
    /// Exact inference would need more memory than allowed.
    #[error(
        "exact inference needs tables over {} at once and {}, {budget} are allowed; raise the budget, restrict labels or \
         use loopy belief propagation",
        counted(*width as u64, "variable"),
        at_least(*needed)
    )]
    TooWide {
        /// Most variables in one table, as far as it was looked for.
        width: usize,
        /// Bytes of the tables that were counted until the budget was exceeded.
        needed: u64,
        /// Bytes that may be used.
        budget: u64,
    },
    /// Too many labellings to enumerate.
    #[error("enumeration needs more than {budget} labellings")]
    TooManyLabellings {
        /// How many labellings may be visited.
        budget: u64,
    },
    /// Marginals from a method that has none.
    #[error("{method} finds labellings only; use another engine for log Z and marginals")]
    NoSumForm {
        /// The method.
        method: &'static str,
    },
    /// An option outside of its range.
    #[error("{option} is {found}, expected {expected}")]
    Option {
        /// The name of the option.
        option: &'static str,
        /// Its value.
        found: f64,
        /// What it may be.
        expected: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_with_their_nouns() {
        let too_large = |factors| Error::TooLarge {
            magnitude: 1e300,
            factors,
        };
        let end = |error: Error| {
            error
                .to_string()
                .split_off("a score of magnitude 1e300 overflows ".len())
        };
        assert_eq!(end(too_large(1)), "when it is summed over 1 factor");
        assert_eq!(end(too_large(2)), "when it is summed over 2 factors");
        let unknown = |labels| Error::UnknownLabel {
            of: "variable",
            number: 0,
            label: 7,
            labels,
        };
        assert!(unknown(1).to_string().ends_with("there is 1 label"));
        assert!(unknown(2).to_string().ends_with("there are 2 labels"));
        let (found, expected) = (1, 2);
        assert_eq!(
            Error::Length { found, expected }.to_string(),
            "1 label for 2 variables"
        );
    }

    #[test]
    fn sizes_beyond_all_numbers_are_told_as_such() {
        let message = |width, needed| {
            let budget = 8;
            Error::TooWide {
                width,
                needed,
                budget,
            }
            .to_string()
        };
        let start = "exact inference needs tables over 3 variables at once and";
        assert!(message(3, 9).starts_with(&format!("{start} at least 9 bytes, 8 are allowed;")));
        let more = format!("{start} more bytes than can be counted, 8 are allowed;");
        assert!(
            message(3, u64::MAX).starts_with(&more),
            "{}",
            message(3, u64::MAX)
        );
    }
}

//! What can be wrong with a graph or with a question about it.

/// Why a graph cannot be built, or inference on it is not possible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A variable that the graph does not have.
    #[error("variable {variable} does not exist, there are {variables} variables")]
    UnknownVariable {
        /// The variable.
        variable: u32,
        /// Number of variables.
        variables: usize,
    },
    /// A table that the pool does not have.
    #[error("table {table} does not exist, there are {tables} tables")]
    UnknownTable {
        /// The table.
        table: u32,
        /// Number of tables.
        tables: usize,
    },
    /// A label that a variable, or the side of a table, does not have.
    #[error("label {label} of {of} {number} does not exist, there are {labels} labels")]
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
    #[error("variable {variable} has {labels} labels and may take none of them")]
    EmptyLabelSet {
        /// The variable.
        variable: u32,
        /// Number of labels, allowed or not.
        labels: u32,
    },
    /// The number of scores is not the product of the label counts.
    #[error("a table of shape {shape:?} has {found} scores, expected {expected}")]
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
    #[error("a score of magnitude {magnitude:e} overflows when it is summed over {factors} factors")]
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
    #[error("{found} labels for {expected} variables")]
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
        "exact inference needs tables over {width} variables at once and at least {needed} bytes, {budget} are \
         allowed; raise the budget, restrict labels or use loopy belief propagation"
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

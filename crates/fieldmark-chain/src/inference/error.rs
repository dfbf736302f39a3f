//! What can be wrong with a lattice or with a question about it.

/// Why inference on a sequence is not possible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An array of the lattice does not have the size that the automaton and the length ask for.
    #[error("the lattice has {found} {what}, expected {expected}")]
    Shape {
        /// Which array.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that it should have.
        expected: usize,
    },
    /// A score is NaN or +∞.
    #[error("entry {index} of the {what} is not a number below +∞")]
    NotFinite {
        /// Which array.
        what: &'static str,
        /// Index in the array.
        index: usize,
    },
    /// Scores are so large that their sum over the sequence would overflow.
    #[error("a score of magnitude {magnitude:e} overflows when it is summed over {length} positions")]
    TooLarge {
        /// The largest magnitude of a score.
        magnitude: f64,
        /// Number of positions.
        length: usize,
    },
    /// The constraints and what the model rules out leave no sequence.
    #[error(
        "no label sequence satisfies the constraints: nothing is left at position {position} (counted from 0)"
    )]
    NoSequence {
        /// The first position that no allowed sequence reaches.
        position: usize,
    },
    /// The rules on the whole sequence leave no sequence.
    #[error("no label sequence satisfies all of the rules")]
    Infeasible,
    /// A label that the automaton does not have.
    #[error("label {label} does not exist, there are {labels} labels")]
    UnknownLabel {
        /// The label.
        label: u32,
        /// Number of labels.
        labels: usize,
    },
    /// A position outside of the sequence.
    #[error("position {position} is outside of the sequence of {length} positions")]
    UnknownPosition {
        /// The position.
        position: usize,
        /// Number of positions.
        length: usize,
    },
    /// A span without positions, or one that reaches beyond the sequence.
    #[error("{start}..{end} is no span of a sequence of {length} positions")]
    NoSpan {
        /// The first position.
        start: usize,
        /// One past the last position.
        end: usize,
        /// Number of positions.
        length: usize,
    },
    /// A type of spans that no label belongs to.
    #[error("no label belongs to a span of type {kind:?}")]
    UnknownKind {
        /// The type.
        kind: String,
    },
    /// A labelling whose length is not that of the sequence.
    #[error("{found} labels for a sequence of {expected} positions")]
    Length {
        /// Number of labels.
        found: usize,
        /// Number of positions.
        expected: usize,
    },
    /// The solver of integer programs gave up.
    #[error("the integer program could not be solved: {0}")]
    Solver(String),
}

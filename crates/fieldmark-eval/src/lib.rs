//! How good are the predicted labels?
//!
//! # A tour
//!
//! [`Evaluation`] takes gold and predicted labels, one sequence at a time, and gives a [`Report`] that can
//! be printed, serialised, or asked for single figures:
//!
//! ```
//! use fieldmark_eval::Evaluation;
//!
//! let mut evaluation = Evaluation::conlleval();
//! evaluation.add(&["B-PER", "I-PER", "O", "B-LOC"], &["B-PER", "I-PER", "O", "O"])?;
//! evaluation.add(&["O", "B-LOC"], &["O", "B-PER"])?;
//!
//! let report = evaluation.report();
//! assert_eq!(report.spans.total.counts.correct, 1);
//! assert_eq!(report.spans.total.score.precision, 0.5);
//! assert_eq!(report.confusion.largest(1)[0].gold, "B-LOC");
//! println!("{report}");
//! # Ok::<(), fieldmark_eval::EvalError>(())
//! ```
//!
//! **Which spans count.** [`Evaluation::conlleval`] reads spans out of labels as the `conlleval` script of
//! the CoNLL shared tasks does, which makes a span out of an `I-X` that has no `B-X`; [`ConllEval`] alone
//! prints what the script prints, to the last digit. [`Evaluation::strict`] counts only spans that are
//! well-formed in the scheme that you name, and its report says so. On legal labels the two agree. Use the
//! first to compare with published figures, and the second when an ill-formed span is of no use to you.
//!
//! **Gold labels that are not known.** [`Evaluation::add_partial`] takes gold labels that are unknown or
//! ambiguous ([`GoldLabel`]); tokens with an unknown label and the spans at them are left out, and the report
//! says how many.
//!
//! **In parallel.** Every accumulator can be [merged](Evaluation::merge) with another of its kind; the
//! result does not depend on where the data were cut.
//!
//! **During training.** [`span_counts`] works on label ids and does nothing but count:
//!
//! ```
//! use fieldmark_core::Alphabet;
//! use fieldmark_eval::{Counts, LabelTable, span_counts};
//!
//! let labels: Alphabet = ["O", "B-PER", "I-PER"].into_iter().collect();
//! let table = LabelTable::new(&labels);
//! let dev = [(vec![1, 2, 0], vec![1, 2, 0]), (vec![0, 1, 0], vec![1, 1, 0])];
//! let counts: Counts = dev.iter().map(|(gold, found)| span_counts(gold, found, &table)).sum();
//! assert_eq!((counts.gold, counts.found, counts.correct), (2, 3, 2));
//! assert_eq!(counts.f1(), 0.8);
//! ```
//!
//! # Beyond labels
//!
//! | question | names |
//! |---|---|
//! | Spans that overlap or nest: strict, boundary, type, partial | [`SpanScores`], [`Matching`] |
//! | What is wrong with each span | [`align`], [`ErrorTally`] |
//! | Entities that count once per document | [`DistinctScores`] |
//! | Gene mentions with alternatives (BioCreative II) | [`GeneMentionScores`] |
//! | Tokens with several tags; several label columns | [`TokenF1`], [`JointAccuracy`] |
//! | Labels that have an order; segments | [`macro_mae`], [`symmetric_macro_mae`], [`window_diff`] |
//! | Do annotators agree? | [`Agreement`], [`Contingency::kappa`], [`Confusion::kappa`] |
//! | Can confidence be trusted, and where to cut? | [`Calibration`], [`PrecisionRecall`] |
//! | What to train and test on | [`Groups`], [`Folds`], [`Bootstrap`] |
//! | Is it chance? | [`Summary`], [`paired_t_test`], [`welch_t_test`], [`approximate_randomisation`] |
//!
//! A cross-validation by document of a measure `score`, and whether it is better than another:
//!
//! ```
//! use fieldmark_eval::{Groups, Split, Summary, Tail, paired_t_test};
//! # let documents = ["a", "a", "b", "c", "c", "d"];
//! # let score = |split: &Split| 0.8 + split.test.len() as f64 / 100.0;
//! # let score_of_other = |split: &Split| 0.7 + split.train.len() as f64 / 100.0;
//! let folds = Groups::by(documents).k_fold(3, 1)?;
//! let scores: Vec<f64> = folds.splits().map(|split| score(&split)).collect();
//! let others: Vec<f64> = folds.splits().map(|split| score_of_other(&split)).collect();
//! let summary = Summary::new(&scores)?;
//! println!("{:.3} ± {:.3}", summary.mean(), summary.deviation());
//! println!("p = {:.3}", paired_t_test(&scores, &others)?.p(Tail::Greater));
//! # Ok::<(), fieldmark_eval::EvalError>(())
//! ```
//!
//! # Nothing divided by nothing
//!
//! is 0, as in the script: precision when nothing was found, recall when there was nothing to find, F when both are
//! 0, accuracy without tokens, an average over no classes, an error over no items. It is 1 where finding nothing is
//! a success: in [`Counts::f1_or_one`] and [`TokenF1`], and for κ when there is nothing to disagree on.

mod agreement;
mod alignment;
mod calibration;
mod conlleval;
mod contingency;
mod counts;
mod distinct;
mod error;
mod evaluation;
mod fast;
mod gene_mention;
mod joint;
mod matching;
mod ordinal;
mod partial;
mod precision_recall;
mod randomisation;
mod report;
mod resampling;
mod rules;
mod span_scores;
mod strict;
mod student;
mod summary;
mod t_test;
mod text;
mod token_f1;
mod tokens;
mod window_diff;

pub use agreement::{Agreement, AgreementReport, TypeAgreement};
pub use alignment::{Aligned, ErrorCounts, ErrorTally, NO_SPAN, Verdict, align};
pub use calibration::{Binning, Calibration, Judged, ReliabilityBin};
pub use conlleval::{BOUNDARY, ConllEval};
pub use contingency::Contingency;
pub use counts::{Counts, Score};
pub use distinct::DistinctScores;
pub use error::EvalError;
pub use evaluation::Evaluation;
pub use fast::span_counts;
pub use fieldmark_core::scheme::Span;
pub use gene_mention::GeneMentionScores;
pub use joint::JointAccuracy;
pub use matching::Matching;
pub use ordinal::{macro_mae, symmetric_macro_mae};
pub use partial::GoldLabel;
pub use precision_recall::{OperatingPoint, PrecisionRecall};
pub use randomisation::{Randomisation, approximate_randomisation};
pub use report::{Averages, Cell, Confusion, LabelReport, LeftOut, Report, Row, SpanReport};
pub use resampling::{Bootstrap, Folds, Groups, Split};
pub use rules::{LabelTable, Rules};
pub use span_scores::{MatchCounts, SpanMeans, SpanRow, SpanScores, SpanTable};
pub use summary::{Interval, Summary};
pub use t_test::{TTest, Tail, paired_t_test, welch_t_test};
pub use token_f1::TokenF1;
pub use window_diff::{WindowDiff, WindowWidth, window_diff};

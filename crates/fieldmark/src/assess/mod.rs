//! Predicted annotations against gold ones, document by document.
//!
//! [`pair_documents`] brings the two sides together by the ids of their documents, an [`Assessment`] measures them, and
//! [`compare`] asks whether one system is better than another by more than chance. An assessment can be printed,
//! serialised, and laid out as [sections](Assessment::sections) of a page.
//!
//! ```
//! use fieldmark::assess::{AssessOptions, Assessment, pair_documents};
//! use fieldmark::text::document::{Annotation, Document};
//!
//! let mut gold = Document::new("note-1", "Give iron and zinc.");
//! gold.annotations = vec![Annotation::new(5..9, "DRUG"), Annotation::new(14..18, "DRUG")];
//! let mut predicted = Document::new("note-1", "Give iron and zinc.");
//! predicted.annotations = vec![Annotation::new(5..9, "DRUG").with_score(0.9)];
//!
//! let pairing = pair_documents(vec![gold], vec![predicted])?;
//! let assessment = Assessment::new(&pairing.pairs, &AssessOptions::default())?;
//! assert_eq!(assessment.spans[0].micro.recall, 0.5);
//! assert_eq!(assessment.errors.missed, 1);
//! println!("{assessment}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cases;
mod compare;
mod labels;
mod measures;
mod page;
mod pairs;
mod significance;
mod text;
mod tokens;

pub use cases::{Case, CaseSpan, Cases};
pub use compare::{CompareOptions, Comparison, compare};
pub use labels::{LabelAssessment, LabelTest};
pub use measures::{DistinctTable, GeneMentionTable, Measure, NamedScore, OrdinalErrors, TokenTable};
pub use page::{test_table, write_page};
pub use pairs::{Pair, PairError, Pairing, pair_documents};
pub use significance::{Significance, Test, TestList};

use fieldmark_eval::{
    AgreementReport, Binning, Calibration, Confusion, ErrorCounts, ErrorTally, EvalError, Judged, Matching,
    OperatingPoint, PrecisionRecall, SpanScores, SpanTable, Verdict, WindowDiff,
};
use fieldmark_text::tokenize::TokenizerProfile;
use serde::Serialize;

/// What to measure, and how.
#[derive(Clone, Debug)]
pub struct AssessOptions {
    /// The measures.
    pub measures: Vec<Measure>,
    /// How much recall weighs against precision in F.
    pub beta: f64,
    /// For [`Measure::Ordinal`]: the types from the lowest to the highest; without them, types are whole numbers.
    pub order: Vec<String>,
    /// Tokens of documents that come without, for measures that count tokens.
    pub tokenizer: TokenizerProfile,
    /// A precision to find a threshold for.
    pub precision: Option<f64>,
    /// How many errors of each kind to keep as [`Cases`].
    pub cases: usize,
}

impl Default for AssessOptions {
    fn default() -> Self {
        Self {
            measures: vec![Measure::Exact],
            beta: 1.0,
            order: Vec::new(),
            tokenizer: TokenizerProfile::default(),
            precision: None,
            cases: 10,
        }
    }
}

/// How good predicted annotations are. Shares lie between 0 and 1.
#[derive(Clone, Debug, Serialize)]
pub struct Assessment {
    /// Number of documents.
    pub documents: usize,
    /// How much recall weighs against precision in F.
    pub beta: f64,
    /// All types together, for each way of matching spans.
    pub overview: Vec<NamedScore>,
    /// Type by type, for those ways of matching that were asked for.
    pub spans: Vec<SpanTable>,
    /// What was wrong with how many spans.
    pub errors: ErrorCounts,
    /// Gold types against predicted types.
    pub confusion: Confusion,
    /// The other measures that were asked for.
    #[serde(flatten)]
    pub others: Others,
    /// What the confidences of predicted spans are worth, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The errors that are worth a look.
    pub cases: Cases,
}

/// Measures that are made when they are asked for.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Others {
    /// Entities that count once per document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct: Option<DistinctTable>,
    /// Token by token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenTable>,
    /// The scoring of BioCreative II.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gene_mention: Option<GeneMentionTable>,
    /// Spans as segments of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_diff: Option<WindowDiff>,
    /// Types that have an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<OrdinalErrors>,
    /// Two annotators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<AgreementReport>,
}

/// What the confidences of predicted spans are worth; a span is right if type and borders are.
#[derive(Clone, Debug, Serialize)]
pub struct Confidence {
    /// Predicted spans without a confidence between 0 and 1, which are left out here.
    pub unscored: u64,
    /// Whether confidence can be taken for a probability.
    pub calibration: Calibration,
    /// What is left when uncertain spans are dropped.
    pub curve: PrecisionRecall,
    /// The threshold with the best F1.
    pub best: Option<OperatingPoint>,
    /// The threshold for the wanted precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Wanted>,
}

/// A threshold for a precision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wanted {
    /// The precision that was wanted.
    pub precision: f64,
    /// The lowest threshold that reaches it, if one does.
    pub point: Option<OperatingPoint>,
}

/// Why annotations cannot be measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssessError {
    /// A type without a place in the order.
    #[error(
        "the type {0:?} has no place in an order: it is neither a whole number nor one of the types that were named, \
         from the lowest to the highest"
    )]
    Order(String),
    /// A threshold without confidences.
    #[error(
        "no predicted span has a confidence, so there is no threshold to find. Formats such as jsonl keep \
         confidences; a model knows them by itself"
    )]
    NoConfidence,
    /// A threshold of nothing.
    #[error("nothing was predicted, so there is no threshold to find")]
    NothingFound,
    /// A weight of recall that is none.
    #[error("beta is {0}, expected a number above 0")]
    Beta(f64),
    /// A test that cannot be done.
    #[error("{}: {error}", test.name())]
    Test {
        /// The test.
        test: Test,
        /// Why not.
        error: EvalError,
    },
    /// Figures that cannot be computed.
    #[error(transparent)]
    Eval(#[from] EvalError),
}

/// Bins of the reliability table.
const BINS: usize = 10;

impl Assessment {
    /// Measures pairs of gold and predicted annotations.
    pub fn new(pairs: &[Pair], options: &AssessOptions) -> Result<Self, AssessError> {
        let beta = options.beta;
        if !(beta > 0.0 && beta.is_finite()) {
            return Err(AssessError::Beta(beta));
        }
        let mut scores = Matching::ALL.map(SpanScores::new);
        let mut tally = ErrorTally::default();
        let mut found = Vec::new();
        let mut unscored = 0;
        let mut cases = cases::Collector::default();
        for pair in pairs {
            let (gold, spans) = (pair.gold_spans(), pair.found_spans());
            for scores in &mut scores {
                scores.add(&gold, &spans);
            }
            for aligned in tally.add(&gold, &spans) {
                if let Some(at) = aligned.found {
                    match pair.found[at].score.filter(|score| (0.0..=1.0).contains(score)) {
                        Some(score) => found.push(Judged::new(score, aligned.verdict == Verdict::Correct)),
                        None => unscored += 1,
                    }
                }
                cases.add(pair, aligned);
            }
        }
        let tables = scores.each_ref().map(|scores| scores.table(beta));
        let gold = tables[0].micro.counts.gold;
        Ok(Self {
            documents: pairs.len(),
            beta,
            overview: tables.iter().map(NamedScore::of).collect(),
            spans: asked(options, tables),
            errors: tally.counts(),
            confusion: tally.confusion(),
            others: measures::others(pairs, options)?,
            confidence: confidence(&found, gold, unscored, options.precision)?,
            cases: cases.finish(options.cases),
        })
    }
}

/// The tables that were asked for, in that order.
fn asked(options: &AssessOptions, tables: [SpanTable; 4]) -> Vec<SpanTable> {
    let wanted = options.measures.iter().filter_map(|measure| measure.matching());
    wanted
        .filter_map(|matching| tables.iter().find(|table| table.matching == matching).cloned())
        .collect()
}

fn confidence(
    found: &[Judged],
    gold: u64,
    unscored: u64,
    wanted: Option<f64>,
) -> Result<Option<Confidence>, AssessError> {
    if found.is_empty() {
        return match wanted {
            Some(_) if unscored == 0 => Err(AssessError::NothingFound),
            Some(_) => Err(AssessError::NoConfidence),
            None => Ok(None),
        };
    }
    let curve = PrecisionRecall::new(found, gold)?;
    Ok(Some(Confidence {
        unscored,
        calibration: Calibration::new(found, BINS, Binning::Width)?,
        best: curve.best_f1().copied(),
        wanted: wanted.map(|precision| Wanted {
            precision,
            point: curve.reaching(precision).copied(),
        }),
        curve,
    }))
}

#[cfg(test)]
mod tests;

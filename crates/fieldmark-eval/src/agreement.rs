//! [`Agreement`]: how far two annotators agree.

use crate::contingency::Contingency;
use crate::matching::Matching;
use crate::span_scores::SpanScores;
use crate::token_f1::{TokenF1, check_ends, covered};
use crate::{EvalError, SpanTable};
use fieldmark_core::scheme::Span;
use serde::{Deserialize, Serialize};

/// Compares the spans of two annotators. Neither is the truth: every figure of [`AgreementReport`] stays the same
/// when they change places, except that precision and recall do so, too.
///
/// κ is that of tokens, because there is no number of spans that both left unmarked (Carletta 1996; Hripcsak &
/// Rothschild 2005); F1 takes one annotator for gold and the other for found. A system that scores far above the
/// agreement of people has learned the habits of one of them.
///
/// ```
/// use fieldmark_eval::{Agreement, Span};
/// let mut agreement = Agreement::default();
/// let first = [Span::new(0, 2, "PER"), Span::new(4, 5, "LOC")];
/// let second = [Span::new(0, 2, "PER"), Span::new(4, 6, "LOC")];
/// agreement.add(&first, &second, 10)?;
/// let report = agreement.report();
/// assert_eq!(report.spans.micro.f, 0.5);
/// // P(A) = 9/10, P(E) = (3·4 + 7·6) / 100
/// assert!((report.entity_kappa - (0.9 - 0.54) / (1.0 - 0.54)).abs() < 1e-15);
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Agreement {
    spans: SpanScores,
    tokens: TokenF1,
    entity: Contingency,
}

impl Default for Agreement {
    fn default() -> Self {
        Agreement::new(Matching::Strict)
    }
}

impl Agreement {
    /// Nothing compared yet; spans agree by `matching`.
    pub fn new(matching: Matching) -> Self {
        Agreement {
            spans: SpanScores::new(matching),
            tokens: TokenF1::default(),
            entity: Contingency::default(),
        }
    }

    /// Compares the spans in one text of so many tokens.
    pub fn add(&mut self, first: &[Span<'_>], second: &[Span<'_>], tokens: usize) -> Result<(), EvalError> {
        check_ends(first, tokens)?;
        check_ends(second, tokens)?;
        self.tokens.add_spans(first, second, tokens)?;
        self.spans.add(first, second);
        self.entity += Contingency::new(covered(first.iter(), second.iter()), tokens as u64);
        Ok(())
    }

    /// Adds what `other` has compared. Both must match spans in the same way.
    pub fn merge(&mut self, other: &Agreement) -> Result<(), EvalError> {
        self.spans.merge(&other.spans)?;
        self.tokens.merge(&other.tokens);
        self.entity += other.entity;
        Ok(())
    }

    /// All figures.
    pub fn report(&self) -> AgreementReport {
        let types: Vec<TypeAgreement> = self
            .tokens
            .tags()
            .map(|(name, tokens)| TypeAgreement {
                name: name.to_owned(),
                kappa: tokens.kappa(),
                token_f1: tokens.counts().f1_or_one(),
                tokens,
            })
            .collect();
        let mean = types.iter().map(|kind| kind.kappa).sum::<f64>() / types.len().max(1) as f64;
        AgreementReport {
            spans: self.spans.table(1.0),
            entity_kappa: self.entity.kappa(),
            micro_kappa: self.tokens.total().kappa(),
            macro_kappa: if types.is_empty() { 1.0 } else { mean },
            token_f1: self.tokens.micro(),
            types,
        }
    }
}

/// How far two annotators agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgreementReport {
    /// Span by span: F1 per type, micro and macro.
    pub spans: SpanTable,
    /// κ of "is part of a span" against "is not", token by token.
    pub entity_kappa: f64,
    /// κ of the decisions for all types together.
    pub micro_kappa: f64,
    /// The mean κ of the types; 1 without types.
    pub macro_kappa: f64,
    /// F1 of the tokens of all types together.
    pub token_f1: f64,
    /// Token by token, type by type, in the order of their names.
    pub types: Vec<TypeAgreement>,
}

/// How far two annotators agree on the tokens of one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TypeAgreement {
    /// The type.
    pub name: String,
    /// Cohen's κ.
    pub kappa: f64,
    /// F1 of the tokens.
    pub token_f1: f64,
    /// The decisions behind both.
    pub tokens: Contingency,
}

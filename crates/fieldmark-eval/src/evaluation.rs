//! [`Evaluation`]: every measure at once, one sequence at a time.

use crate::conlleval::ConllEval;
use crate::error::check_lengths;
use crate::report::{LabelReport, Report, SpanReport};
use crate::strict::StrictSpans;
use crate::tokens::TokenTally;
use crate::{Counts, EvalError, Rules};
use fieldmark_core::Scheme;

/// Collects spans, labels and confusions, and gives a [`Report`].
///
/// ```
/// use fieldmark_core::Scheme;
/// use fieldmark_eval::Evaluation;
/// let gold = ["B-LOC", "O"];
/// let predicted = ["I-LOC", "O"];
///
/// let mut generous = Evaluation::conlleval();
/// generous.add(&gold, &predicted)?;
/// assert_eq!(generous.spans().correct, 1);
///
/// let mut strict = Evaluation::strict(Scheme::Iob2);
/// strict.add(&gold, &predicted)?;
/// assert_eq!(strict.spans().found, 0);
/// assert!(strict.report().to_string().starts_with("strict IOB2"));
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Evaluation {
    spans: Spans,
    tokens: TokenTally,
}

#[derive(Clone, Debug)]
enum Spans {
    Conlleval(Box<ConllEval>),
    Strict(StrictSpans),
}

impl Evaluation {
    /// Spans as by the `conlleval` script, see [`ConllEval`].
    pub fn conlleval() -> Self {
        Self::with_spans(Spans::Conlleval(Box::default()))
    }

    /// Spans as by the `conlleval` script, under the given version of its rules.
    pub fn conlleval_with(rules: Rules) -> Self {
        Self::with_spans(Spans::Conlleval(Box::new(ConllEval::with_rules(rules))))
    }

    /// Labels are types without prefixes, see [`ConllEval::raw`].
    pub fn raw(outside: &str) -> Self {
        Self::with_spans(Spans::Conlleval(Box::new(ConllEval::raw(outside))))
    }

    /// Only spans that are well-formed in `scheme`, see [`Scheme::strict_spans`].
    pub fn strict(scheme: Scheme) -> Self {
        Self::with_spans(Spans::Strict(StrictSpans::new(scheme)))
    }

    fn with_spans(spans: Spans) -> Self {
        Evaluation {
            spans,
            tokens: TokenTally::default(),
        }
    }

    /// Counts one sequence.
    pub fn add<G, P>(&mut self, gold: &[G], predicted: &[P]) -> Result<(), EvalError>
    where
        G: AsRef<str>,
        P: AsRef<str>,
    {
        check_lengths(gold.len(), predicted.len())?;
        match &mut self.spans {
            Spans::Conlleval(spans) => spans.add(gold, predicted)?,
            Spans::Strict(spans) => spans.add(gold, predicted),
        }
        self.tokens.add(gold, predicted);
        Ok(())
    }

    /// Adds what `other` has counted. Both must read spans by the same rules.
    pub fn merge(&mut self, other: &Evaluation) -> Result<(), EvalError> {
        if self.rules_name() != other.rules_name() {
            return Err(EvalError::Rules {
                left: self.rules_name(),
                right: other.rules_name(),
            });
        }
        match (&mut self.spans, &other.spans) {
            (Spans::Conlleval(spans), Spans::Conlleval(others)) => spans.merge(others)?,
            (Spans::Strict(spans), Spans::Strict(others)) => spans.merge(others),
            _ => {}
        }
        self.tokens.merge(&other.tokens);
        Ok(())
    }

    /// Spans of all types.
    pub fn spans(&self) -> Counts {
        self.types().into_iter().map(|(_, counts)| counts).sum()
    }

    /// Everything that was measured.
    pub fn report(&self) -> Report {
        let tokens = &self.tokens;
        let strict = matches!(self.spans, Spans::Strict(_));
        let script_tokens = match &self.spans {
            Spans::Conlleval(spans) => (spans.tokens(), spans.correct_tokens()),
            Spans::Strict(_) => (tokens.tokens, tokens.correct_tokens),
        };
        Report {
            sequences: tokens.sequences,
            correct_sequences: tokens.correct_sequences,
            tokens: tokens.tokens,
            correct_tokens: tokens.correct_tokens,
            accuracy: crate::counts::ratio(tokens.correct_tokens, tokens.tokens),
            spans: SpanReport::new(self.rules_name(), strict, script_tokens, &self.types()),
            labels: LabelReport::new(&tokens.labels()),
            confusion: tokens.confusion(),
        }
    }

    fn types(&self) -> Vec<(&str, Counts)> {
        match &self.spans {
            Spans::Conlleval(spans) => spans.types(),
            Spans::Strict(spans) => spans.types(),
        }
    }

    fn rules_name(&self) -> String {
        match &self.spans {
            Spans::Conlleval(spans) => spans.rules_name(),
            Spans::Strict(spans) => spans.rules_name(),
        }
    }
}

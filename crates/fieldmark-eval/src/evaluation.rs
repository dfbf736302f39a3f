//! [`Evaluation`]: every measure at once, one sequence at a time.

use crate::conlleval::ConllEval;
use crate::error::check_lengths;
use crate::partial::GoldLabel;
use crate::report::{LabelReport, LeftOut, Report, SpanReport};
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
        let gold: Vec<Option<&str>> = gold.iter().map(|label| Some(label.as_ref())).collect();
        let predicted: Vec<&str> = predicted.iter().map(AsRef::as_ref).collect();
        self.add_known(&gold, &predicted)
    }

    /// Counts one sequence of which some gold labels are unknown or ambiguous.
    ///
    /// Tokens with an unknown gold label are left out, and so are spans that hold or touch one; a predicted
    /// label that an ambiguous gold label allows is right. [`Report::left_out`] says how much was left out.
    ///
    /// ```
    /// use fieldmark_eval::{Evaluation, GoldLabel};
    /// let gold = [GoldLabel::Known("O"), GoldLabel::OneOf(vec!["B-X", "B-Y"]), GoldLabel::Unknown];
    /// let mut evaluation = Evaluation::conlleval();
    /// evaluation.add_partial(&gold, &["O", "B-Y", "O"])?;
    /// let report = evaluation.report();
    /// assert_eq!((report.correct_tokens, report.tokens), (2, 2));
    /// assert_eq!((report.left_out.tokens, report.left_out.spans), (1, 1));
    /// # Ok::<(), fieldmark_eval::EvalError>(())
    /// ```
    pub fn add_partial<G, P>(&mut self, gold: &[GoldLabel<G>], predicted: &[P]) -> Result<(), EvalError>
    where
        G: AsRef<str>,
        P: AsRef<str>,
    {
        check_lengths(gold.len(), predicted.len())?;
        let predicted: Vec<&str> = predicted.iter().map(AsRef::as_ref).collect();
        let pairs = gold.iter().zip(&predicted);
        let gold: Vec<Option<&str>> = pairs.map(|(gold, found)| gold.beside(found)).collect();
        self.add_known(&gold, &predicted)
    }

    fn add_known(&mut self, gold: &[Option<&str>], predicted: &[&str]) -> Result<(), EvalError> {
        check_lengths(gold.len(), predicted.len())?;
        match &mut self.spans {
            Spans::Conlleval(spans) => spans.add_known(gold, predicted),
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
        let left_out = LeftOut {
            tokens: tokens.left_out,
            spans: match &self.spans {
                Spans::Conlleval(spans) => spans.left_out(),
                Spans::Strict(spans) => spans.left_out,
            },
        };
        Report {
            left_out,
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

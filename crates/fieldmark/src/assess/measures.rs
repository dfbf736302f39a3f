//! [`Measure`]: what can be measured besides spans and their errors.

use super::tokens::Tokens;
use super::{AssessError, AssessOptions, Others, Pair};
use fieldmark_eval::{
    Agreement, Counts, DistinctScores, GeneMentionScores, Matching, Span, SpanTable, TokenF1, WindowWidth,
    macro_mae, symmetric_macro_mae, window_diff,
};
use fieldmark_text::document::Annotation;
use fieldmark_text::offsets::{Offsets, Unit};
use serde::Serialize;
use std::ops::Range;

/// A measure, by the name that it has on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Measure {
    /// Spans with the right type and borders
    #[cfg_attr(feature = "clap", value(alias = "strict"))]
    Exact,
    /// Spans with the right borders, whatever their type
    #[cfg_attr(feature = "clap", value(alias = "untyped"))]
    Boundary,
    /// Spans that overlap and have the right type
    Type,
    /// Spans that overlap
    Partial,
    /// Entities, each of which counts once per document: by identifier, or by text
    Distinct,
    /// Token by token, where finding nothing of nothing is right
    Tokens,
    /// Gene mentions with alternatives, as in BioCreative II
    GeneMention,
    /// WindowDiff of the segments that spans cut the text into
    WindowDiff,
    /// Mean absolute error of types that have an order (--order), for spans with the right borders
    Ordinal,
    /// Cohen's κ and F1 between two annotators
    Agreement,
}

impl Measure {
    /// How spans are matched, of measures that match spans.
    pub fn matching(self) -> Option<Matching> {
        match self {
            Measure::Exact => Some(Matching::Strict),
            Measure::Boundary => Some(Matching::Boundary),
            Measure::Type => Some(Matching::Type),
            Measure::Partial => Some(Matching::Partial),
            _ => None,
        }
    }
}

/// The name of a way of matching in reports.
pub(super) fn matching_name(matching: Matching) -> &'static str {
    match matching {
        Matching::Strict => "exact",
        other => other.name(),
    }
}

/// Counts and scores under a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedScore {
    /// What they are of.
    pub name: String,
    /// The numbers.
    #[serde(flatten)]
    pub counts: Counts,
    /// Share of the found things that are right.
    pub precision: f64,
    /// Share of the gold things that were found.
    pub recall: f64,
    /// F_β.
    pub f: f64,
}

impl NamedScore {
    /// Scores of counts.
    pub fn new(name: &str, counts: Counts, beta: f64) -> Self {
        Self {
            name: name.to_owned(),
            counts,
            precision: counts.precision(),
            recall: counts.recall(),
            f: counts.f_beta(beta),
        }
    }

    /// The scores of all types together.
    pub(super) fn of(table: &SpanTable) -> Self {
        let micro = &table.micro;
        Self {
            name: matching_name(table.matching).to_owned(),
            counts: Counts {
                gold: micro.counts.gold,
                found: micro.counts.found,
                correct: micro.counts.gold_matched,
            },
            precision: micro.precision,
            recall: micro.recall,
            f: micro.f,
        }
    }
}

/// Scores of entities that count once per document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DistinctTable {
    /// Whether entities are the same by their identifiers, or by their texts without regard to case and space.
    pub by_identifier: bool,
    /// All types together.
    pub total: NamedScore,
    /// Type by type.
    pub types: Vec<NamedScore>,
}

/// Scores of tokens, each a decision for each type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TokenTable {
    /// Number of tokens.
    pub tokens: u64,
    /// F1 of all decisions.
    pub micro_f1: f64,
    /// Mean F1 of the types.
    pub macro_f1: f64,
    /// Type by type; here F is F1, and 1 if there was nothing to find and nothing was found.
    pub types: Vec<NamedScore>,
}

/// What the script of BioCreative II prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GeneMentionTable {
    /// With alternatives: gold is TP + FN, found is TP + FP, correct is TP.
    pub with_alternatives: NamedScore,
    /// Without alternatives.
    pub strict: NamedScore,
    /// Number of guesses, of which some may count nowhere or twice.
    pub guesses: u64,
}

/// Errors of types that have an order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OrdinalErrors {
    /// Spans with the right borders.
    pub spans: usize,
    /// Macro-averaged mean absolute error.
    pub macro_mae: f64,
    /// The same with neither side as the truth.
    pub symmetric_macro_mae: f64,
}

/// The measures that were asked for.
pub(super) fn others(pairs: &[Pair], options: &AssessOptions) -> Result<Others, AssessError> {
    let mut others = Others::default();
    for measure in &options.measures {
        match measure {
            Measure::Distinct => others.distinct = Some(distinct(pairs, options.beta)),
            Measure::Tokens => others.tokens = Some(tokens(pairs, options)?),
            Measure::GeneMention => others.gene_mention = Some(gene_mention(pairs, options.beta)),
            Measure::WindowDiff => {
                let documents: Vec<(Vec<bool>, Vec<bool>)> = pairs
                    .iter()
                    .map(|pair| Tokens::of(pair, &options.tokenizer).borders(pair))
                    .collect();
                others.window_diff = Some(window_diff(&documents, WindowWidth::Corpus)?);
            }
            Measure::Ordinal => others.ordinal = Some(ordinal(pairs, &options.order)?),
            Measure::Agreement => {
                let mut agreement = Agreement::default();
                for pair in pairs {
                    let tokens = Tokens::of(pair, &options.tokenizer);
                    let (gold, found) = (tokens.spans(&pair.gold), tokens.spans(&pair.found));
                    agreement.add(&gold, &found, tokens.len())?;
                }
                others.agreement = Some(agreement.report());
            }
            Measure::Exact | Measure::Boundary | Measure::Type | Measure::Partial => {}
        }
    }
    Ok(others)
}

fn distinct(pairs: &[Pair], beta: f64) -> DistinctTable {
    let has = |side: fn(&Pair) -> &[Annotation]| {
        let mut annotations = pairs.iter().flat_map(side);
        annotations.any(|annotation| !annotation.identifiers.is_empty())
    };
    let by_identifier = has(|pair| &pair.gold) && has(|pair| &pair.found);
    let mut scores = DistinctScores::default();
    for (number, pair) in pairs.iter().enumerate() {
        let entities = |annotations: &[Annotation]| -> Vec<(String, String)> {
            let entity = |annotation: &Annotation| match by_identifier && !annotation.identifiers.is_empty() {
                true => annotation.identifiers.clone(),
                false => vec![canonical(&pair.text, annotation)],
            };
            let all = annotations.iter().flat_map(|annotation| {
                let kind = annotation.kind.clone();
                entity(annotation)
                    .into_iter()
                    .map(move |entity| (kind.clone(), entity))
            });
            all.collect()
        };
        let (gold, found) = (entities(&pair.gold), entities(&pair.found));
        scores.add(
            &number.to_string(),
            gold.iter().map(|(kind, entity)| (kind.as_str(), entity.as_str())),
            found
                .iter()
                .map(|(kind, entity)| (kind.as_str(), entity.as_str())),
        );
    }
    DistinctTable {
        by_identifier,
        total: NamedScore::new("all", scores.total(), beta),
        types: named(scores.types(), beta),
    }
}

fn named<'a>(types: impl IntoIterator<Item = (&'a str, Counts)>, beta: f64) -> Vec<NamedScore> {
    let types = types.into_iter();
    types
        .map(|(kind, counts)| NamedScore::new(kind, counts, beta))
        .collect()
}

/// The text of an annotation in lower case, with one blank for any white space.
fn canonical(text: &str, annotation: &Annotation) -> String {
    let text = text.get(annotation.range()).unwrap_or_default().to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn tokens(pairs: &[Pair], options: &AssessOptions) -> Result<TokenTable, AssessError> {
    let mut scores = TokenF1::default();
    for pair in pairs {
        let tokens = Tokens::of(pair, &options.tokenizer);
        scores.add_spans(
            &tokens.spans(&pair.gold),
            &tokens.spans(&pair.found),
            tokens.len(),
        )?;
    }
    let types = scores.tags().map(|(kind, decisions)| NamedScore {
        f: decisions.counts().f1_or_one(),
        ..NamedScore::new(kind, decisions.counts(), 1.0)
    });
    Ok(TokenTable {
        tokens: scores.tokens(),
        micro_f1: scores.micro(),
        macro_f1: scores.macro_average(),
        types: types.collect(),
    })
}

/// The counts of one document, with and without alternatives.
pub(super) fn gene_mentions(pair: &Pair) -> GeneMentionScores {
    let offsets = Offsets::new(&pair.text, Unit::NonSpace);
    let places = |annotations: &[Annotation]| -> Vec<Span<'static>> {
        let place = |range: Range<usize>| {
            Some(Span::new(
                offsets.count(range.start)?,
                offsets.count(range.end)?,
                "",
            ))
        };
        let ranges = annotations.iter().map(Annotation::range);
        ranges.filter_map(place).collect()
    };
    let mut scores = GeneMentionScores::default();
    scores.add(
        &places(&pair.gold),
        &places(&pair.alternatives),
        &places(&pair.found),
    );
    scores
}

fn gene_mention(pairs: &[Pair], beta: f64) -> GeneMentionTable {
    let mut scores = GeneMentionScores::default();
    pairs.iter().for_each(|pair| scores.merge(&gene_mentions(pair)));
    GeneMentionTable {
        with_alternatives: NamedScore::new("with alternatives", scores.counts(), beta),
        strict: NamedScore::new("without", scores.strict(), beta),
        guesses: scores.guesses(),
    }
}

fn ordinal(pairs: &[Pair], order: &[String]) -> Result<OrdinalErrors, AssessError> {
    let grade = |kind: &str| match order.iter().position(|name| name == kind) {
        Some(place) => Ok(place as i64),
        None => kind
            .parse()
            .ok()
            .filter(|_| order.is_empty())
            .ok_or_else(|| AssessError::Order(kind.to_owned())),
    };
    let (mut gold, mut found) = (Vec::new(), Vec::new());
    for pair in pairs {
        let (ones, others) = (pair.gold_spans(), pair.found_spans());
        for span in ones.iter().chain(&others) {
            grade(span.kind)?;
        }
        for (one, other) in Matching::Boundary.pairs(&ones, &others) {
            gold.push(grade(ones[one].kind)?);
            found.push(grade(others[other].kind)?);
        }
    }
    Ok(OrdinalErrors {
        spans: gold.len(),
        macro_mae: macro_mae(&gold, &found)?,
        symmetric_macro_mae: symmetric_macro_mae(&gold, &found)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assess, document, example, pair};
    use super::super::{AssessOptions, Assessment};
    use super::*;
    use fieldmark_text::formats::GENE;

    fn distinct(pairs: &[Pair]) -> Counts {
        let assessment = assess(pairs, &[Measure::Distinct]);
        assessment.others.distinct.unwrap().total.counts
    }

    #[test]
    fn texts_are_the_same_up_to_case_and_space() {
        let names = pair(
            "Iron  II or iron ii or ironii",
            &[(0, 8, "X"), (12, 19, "X"), (23, 29, "X")],
            &[(12, 19, "X", 0.5)],
        );
        let counts = distinct(std::slice::from_ref(&names));
        assert_eq!((counts.gold, counts.found, counts.correct), (2, 1, 1));
        assert_eq!(distinct(&[names.clone(), names]).gold, 4, "once in each document");
    }

    #[test]
    fn a_span_without_identifiers_counts_by_its_text() {
        let mut gold = document("d", "ERK1 and p38", &[(0, 4, "X", None), (9, 12, "X", None)]);
        gold.annotations[0].identifiers = vec!["5595".to_owned()];
        let found = gold.annotations.clone();
        assert_eq!(distinct(&[Pair::new(gold, found)]).correct, 2);
    }

    #[test]
    fn genes_of_all_documents_count_in_characters_without_space() {
        let text = "a b  c d";
        let gold = |id: &str| document(id, text, &[(0, 1, GENE, None), (5, 6, GENE, None)]);
        // The space before a gene is none of it.
        let found = || vec![Annotation::new(0..1, GENE), Annotation::new(4..6, GENE)];
        let pairs = ["1", "2"].map(|id| Pair::new(gold(id), found()));
        let table = assess(&pairs, &[Measure::GeneMention])
            .others
            .gene_mention
            .unwrap();
        assert_eq!((table.strict.counts.correct, table.guesses), (4, 4));
    }

    #[test]
    fn orders_are_for_spans_with_the_right_borders() {
        let graded = pair(
            "fine day",
            &[(0, 4, "1"), (5, 8, "1")],
            &[(0, 4, "2"), (5, 7, "9")].map(|(start, end, kind)| (start, end, kind, 0.5)),
        );
        let options = |order: &[&str]| AssessOptions {
            measures: vec![Measure::Ordinal],
            order: order.iter().map(|&kind| kind.to_owned()).collect(),
            ..AssessOptions::default()
        };
        let assessment = Assessment::new(std::slice::from_ref(&graded), &options(&[])).unwrap();
        let errors = assessment.others.ordinal.unwrap();
        assert_eq!((errors.spans, errors.macro_mae), (1, 1.0));
        // Where an order is given, a number that is not in it has no place.
        assert_eq!(
            Assessment::new(&[graded], &options(&["1", "2"])).unwrap_err(),
            AssessError::Order("9".to_owned())
        );
    }

    #[test]
    fn measures_of_tokens_know_how_many_there_are() {
        let example = example();
        let others = assess(
            std::slice::from_ref(&example),
            &[Measure::Tokens, Measure::Agreement],
        )
        .others;
        assert_eq!(others.tokens.unwrap().tokens, 11);
        let tokens = Tokens::of(&example, &AssessOptions::default().tokenizer);
        let mut agreement = Agreement::default();
        agreement
            .add(&tokens.spans(&example.gold), &tokens.spans(&example.found), 11)
            .unwrap();
        assert_eq!(
            others.agreement.unwrap().entity_kappa,
            agreement.report().entity_kappa
        );
    }
}

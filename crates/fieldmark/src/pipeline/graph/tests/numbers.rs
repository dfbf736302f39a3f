//! Numbers beside labels, and what happens where there is no memory for them.

use super::*;
use crate::GraphAnnotatorOptions;
use fieldmark_graph::{Beliefs, Decoding, Engine, Error as GraphError, FactorGraph, MaxMarginals};

/// An engine that finds labels and has no memory for the rest.
struct Narrow(Box<dyn Engine + Send>);

fn too_wide() -> GraphError {
    GraphError::TooWide {
        width: 3,
        needed: 100,
        budget: 10,
    }
}

impl Engine for Narrow {
    fn sum<'a>(&'a mut self, _: &'a FactorGraph) -> Result<Beliefs<'a>, GraphError> {
        Err(too_wide())
    }

    fn max(&mut self, graph: &FactorGraph) -> Result<Decoding, GraphError> {
        self.0.max(graph)
    }
}

impl MaxMarginals for Narrow {
    fn max_marginals(&mut self, _: &FactorGraph) -> Result<&[f64], GraphError> {
        Err(too_wide())
    }
}

#[test]
fn labels_stay_where_there_is_no_memory_for_probabilities() {
    let trained = train(&parse(FACTORIAL, &[]), &corpus());
    let options = GraphAnnotatorOptions {
        best: Some(2),
        ..GraphAnnotatorOptions::default()
    };
    let document = Document::new("new", "the dog sleeps");
    let narrow = || Narrow(EngineChoice::default().engine().unwrap());
    let mut annotator = trained.pipeline.annotator_with(options.clone()).unwrap();
    annotator.engine = Box::new(narrow());
    let answer = annotator.answers(&document).unwrap().remove(0);
    assert_eq!(answer.labels[0], ["DT", "NN", "VB"]);
    assert_eq!((answer.probabilities, answer.problem), (None, None));
    assert!(answer.unsure.unwrap().contains("exact inference needs tables"));
    let report = annotator.take_report();
    assert!(report.impossible.is_empty());
    assert_eq!(report.unsure.len(), 1);
    assert_eq!(
        (report.unsure[0].document.as_str(), report.unsure[0].text.as_str()),
        ("new", "the dog sleeps")
    );

    // Several labellings alone are too much.
    let mut annotator = trained.pipeline.annotator_with(options).unwrap();
    annotator.best = Some(Box::new(narrow()));
    let answer = annotator.answers(&document).unwrap().remove(0);
    assert!(answer.probabilities.is_some() && answer.unsure.is_some() && answer.best.is_empty());

    // Scores need labels alone.
    let mut annotator = trained.pipeline.annotator().unwrap();
    annotator.engine = Box::new(narrow());
    let mut test = trained.pipeline.test(&[]).unwrap();
    annotator.test(&corpus()[0], true, &mut test).unwrap();
    assert_eq!(test.scores.tokens, 6);
    assert_eq!(annotator.take_report().unsure.len(), 2);
}

#[test]
fn chains_of_any_length_have_several_labellings() {
    let chain = [
        "graph.kind=linear-chain",
        "graph.inference={engine='exact',budget=10}",
    ];
    let text = "[[features]]\nkind = 'word'\n[labels]\ncolumn = 'pos'\n";
    let trained = train(&parse(text, &chain), &corpus());
    let options = GraphAnnotatorOptions {
        best: Some(3),
        ..GraphAnnotatorOptions::default()
    };
    let mut annotator = trained.pipeline.annotator_with(options).unwrap();
    let answer = annotator
        .answers(&Document::new("new", "the dog sleeps"))
        .unwrap()
        .remove(0);
    assert_eq!((answer.unsure, answer.best.len()), (None, 3));
    assert_eq!(answer.best[0].0, answer.labels);
}

/// Every two of three variables that one factor joins have their pair, whatever their order.
#[test]
fn pairs_of_larger_factors_are_sums_over_the_rest() {
    let window = "graph.templates=[{relation={window={layers=['chunk','pos','pos'],offsets=[0,1,0]}}}]";
    let trained = train(&parse(FACTORIAL, &[window]), &corpus());
    let options = GraphAnnotatorOptions {
        marginals: true,
        pair_marginals: true,
        ..GraphAnnotatorOptions::default()
    };
    let mut annotator = trained.pipeline.annotator_with(options).unwrap();
    let answer = annotator
        .answers(&Document::new("new", "the dog sleeps"))
        .unwrap()
        .remove(0);
    let (pairs, marginals) = (answer.pair_marginals.unwrap(), answer.marginals.unwrap());
    // Neighbours in both layers, both layers at a token, and a chunk with the next part of speech.
    assert_eq!(pairs.len(), 4 + 3 + 2);
    let diagonal = pairs.iter().filter(|pair| pair.places == [(1, 0), (0, 1)]);
    assert_eq!(diagonal.count(), 1);
    for pair in &pairs {
        let [first, second] = pair.places.map(|(layer, position)| &marginals[layer][position]);
        for (row, share) in pair.probabilities.iter().zip(first) {
            assert!((row.iter().sum::<f64>() - share).abs() < 1e-9);
        }
        for (label, share) in second.iter().enumerate() {
            let sum: f64 = pair.probabilities.iter().map(|row| row[label]).sum();
            assert!((sum - share).abs() < 1e-9);
        }
    }
}

#[test]
fn gold_that_is_ruled_out_has_no_probability() {
    let forbid = "graph.templates=[{relation={chain='pos'},forbid=[['VB','VB']]}]";
    let trained = train(&parse(FACTORIAL, &[forbid]), &corpus());
    let options = GraphAnnotatorOptions {
        log_probabilities: true,
        ..GraphAnnotatorOptions::default()
    };
    let mut annotator = trained.pipeline.annotator_with(options).unwrap();
    let gold = |annotator: &mut GraphAnnotator<'_>, cells: &[&[&str]]| {
        let document = columns(&["pos", "chunk"], &[cells]);
        annotator
            .answers(&document)
            .unwrap()
            .remove(0)
            .gold_log_probability
    };
    let ruled_out = gold(&mut annotator, &[&["dog", "VB", "?"], &["barks", "VB", "?"]]);
    assert_eq!(ruled_out, Some(f64::NEG_INFINITY));
    let mut sum = 0.0;
    for label in ["DT", "NN", "VB"] {
        let share = gold(&mut annotator, &[&["dog", label, "?"], &["barks", "?", "?"]]);
        sum += share.unwrap().exp();
    }
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    // Labels that are new and labels that are open say nothing.
    assert_eq!(gold(&mut annotator, &[&["dog", "?", "NEW"]]), None);
}

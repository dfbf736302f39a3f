//! [`Scorer`]: what the labels of a sentence score.

use fieldmark_chain::Tagger;
use fieldmark_core::kernels::prefetch;
use fieldmark_core::{Names, Observed};
use fieldmark_text::features::{Description, Extraction, Extractor, Sequence};

/// Scores the labels of sentences.
///
/// It remembers how the observations score that a token always brings along, so that those of a word that was
/// seen before cost one addition for each label.
pub(super) struct Scorer<'p> {
    extraction: Extraction<'p, &'p Names>,
    /// For every piece of a description that was seen, the scores of labels.
    pieces: Vec<f64>,
    /// Observations of new pieces, each piece a position.
    observations: Vec<Observed>,
    /// For every token of the sentence, the scores of labels.
    scores: Vec<f64>,
    /// So many bytes are used to remember; then it begins anew.
    most_remembered: usize,
}

/// So many tokens ahead memory is asked for.
const AHEAD: usize = 3;

impl<'p> Scorer<'p> {
    pub fn new(extractor: &'p Extractor, observations: &'p Names) -> Self {
        Self {
            extraction: Extraction::new(extractor, observations),
            pieces: Vec::new(),
            observations: Vec::new(),
            scores: Vec::new(),
            most_remembered: 64 << 20,
        }
    }

    /// What gives the observations themselves.
    pub fn extraction(&mut self) -> &mut Extraction<'p, &'p Names> {
        &mut self.extraction
    }

    /// A score for each token and label.
    pub fn score(&mut self, tagger: &Tagger<'p, f64>, sequence: &Sequence<'_>) -> &[f64] {
        if size_of_val(&self.pieces[..]) > self.most_remembered {
            self.extraction.forget();
            self.pieces.clear();
        }
        let Self {
            extraction,
            pieces,
            observations,
            scores,
            ..
        } = self;
        let description = extraction.describe(sequence);
        score_new_pieces(tagger, &description, pieces, observations);
        scores.clear();
        for _ in 0..description.len() {
            scores.extend_from_slice(tagger.bias());
        }
        add_pieces(&description, tagger.bias().len().max(1), pieces, scores);
        tagger.observe(description.others, scores);
        scores
    }
}

fn score_new_pieces(
    tagger: &Tagger<'_, f64>,
    description: &Description<'_>,
    pieces: &mut Vec<f64>,
    observations: &mut Vec<Observed>,
) {
    let labels = tagger.bias().len().max(1);
    let first = pieces.len() / labels;
    let count = description.pieces.len();
    if first == count {
        return;
    }
    observations.clear();
    for piece in first..count {
        let ids = description.pieces.get(piece).iter();
        observations.extend(ids.map(|&id| Observed {
            position: (piece - first) as u32,
            id,
            value: 1.0,
        }));
    }
    pieces.resize(count * labels, 0.0);
    tagger.observe(observations, &mut pieces[first * labels..]);
}

fn add_pieces(description: &Description<'_>, labels: usize, pieces: &[f64], scores: &mut [f64]) {
    let mut ahead = description.tokens().skip(AHEAD);
    for (numbers, positions) in description.tokens() {
        if let Some((numbers, _)) = ahead.next() {
            for at in (numbers.start * labels..numbers.end * labels).step_by(8) {
                prefetch(pieces, at);
            }
        }
        let pieces = &pieces[numbers.start * labels..numbers.end * labels];
        for (piece, position) in pieces.chunks_exact(labels).zip(positions) {
            let Some(position) = position else { continue };
            let row = &mut scores[position * labels..][..labels];
            row.iter_mut()
                .zip(piece)
                .for_each(|(score, piece)| *score += piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::sequences::{Sentences, describe};
    use crate::pipeline::tests::{corpus, trained};
    use fieldmark_core::{DatasetBuilder, Gold};
    use fieldmark_text::formats::Notices;

    /// Scores from whole data sets, without remembering anything.
    #[test]
    fn remembered_scores_are_those_of_the_observations() {
        let trained = trained();
        let pipeline = &trained.pipeline;
        let tagger = pipeline.chain.tagger_with(Default::default());
        let labels = pipeline.chain.labels().len();
        for most_remembered in [usize::MAX, 2000, 0] {
            let mut scorer = Scorer::new(&pipeline.front.extractor, pipeline.chain.observations());
            scorer.most_remembered = most_remembered;
            let mut fresh = Extraction::new(&pipeline.front.extractor, pipeline.chain.observations());
            for document in corpus().into_iter().chain(corpus()) {
                let mut sentences = Sentences::default();
                let cutter = &pipeline.front.cutter;
                cutter.cut(&document, &mut sentences, &mut Notices::new());
                sentences
                    .try_for_each(&document.text, &[], |_, sequence| {
                        let mut builder = DatasetBuilder::new();
                        describe(&mut fresh, sequence, &mut builder, |_, _| Gold::Unknown)?;
                        let data = builder.finish_part();
                        let scores = scorer.score(&tagger, sequence);
                        assert_eq!(scores.len(), sequence.tokens.len() * labels);
                        for (position, scores) in scores.chunks_exact(labels).enumerate() {
                            let mut expected = tagger.bias().to_vec();
                            for (id, value) in data.unary.iter(position) {
                                let observed = Observed {
                                    position: 0,
                                    id,
                                    value,
                                };
                                tagger.observe(&[observed], &mut expected);
                            }
                            for (score, expected) in scores.iter().zip(expected) {
                                assert!((score - expected).abs() < 1e-12, "{score} {expected}");
                            }
                        }
                        Ok(())
                    })
                    .unwrap();
            }
        }
    }
}

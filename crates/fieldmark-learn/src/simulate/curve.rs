//! One learning curve: a strategy, from random sequences to the last batch.

use super::SimulationOptions;
use crate::{
    Behaviour, Diversity, Error, Estimator, Fitted, Pool, Ranking, RankingOptions, Scores, Strategy, Tags,
    TestSet, Unit,
};
use fieldmark_core::random::{SplitMix64, visiting_order};
use fieldmark_core::{Dataset, Gold};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The scores of one strategy in one run, batch by batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The strategy.
    pub strategy: Strategy,
    /// Number of the run, from 0.
    pub run: usize,
    /// Before the first batch, and after each. There are fewer batches when nothing was left to ask.
    pub points: Vec<Point>,
}

/// A point of a learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Number of batches so far.
    pub iteration: usize,
    /// Labelled tokens.
    pub labelled_tokens: usize,
    /// Sequences with a labelled token.
    pub labelled_sequences: usize,
    /// The last batch.
    pub behaviour: Behaviour,
    /// The model that was trained on these labels.
    pub scores: Scores,
}

/// What a curve is made from.
pub(super) struct Setting<'a> {
    pub data: &'a Arc<Dataset>,
    pub gold: &'a [u32],
    pub test: &'a TestSet,
    pub options: &'a SimulationOptions,
}

impl Setting<'_> {
    /// Simulates; `None` if `observe` breaks it off.
    pub fn simulate(
        &self,
        strategy: Strategy,
        run: usize,
        mut observe: impl FnMut(&Point) -> ControlFlow<()>,
    ) -> Result<Option<Curve>, Error> {
        let mut pool = Pool::unlabelled(self.data.clone());
        self.label_at_random(&mut pool, run)?;
        let mut model: Option<Fitted> = None;
        let mut behaviour = Behaviour::default();
        let mut points = Vec::with_capacity(self.options.iterations + 1);
        for iteration in 0..=self.options.iterations {
            if let Some(model) = &model {
                behaviour = self.ask_batch(&mut pool, model, strategy, run)?;
                if behaviour.questions == 0 {
                    break;
                }
            }
            let trained = Fitted::train(&pool, &self.options.learning, model.as_ref())?;
            let point = Point {
                iteration,
                labelled_tokens: pool.labelled_positions(),
                labelled_sequences: pool.labelled_sequences(),
                behaviour,
                scores: self.test.score(&trained)?,
            };
            model = Some(trained);
            points.push(point);
            if observe(&point).is_break() {
                return Ok(None);
            }
        }
        Ok(Some(Curve {
            strategy,
            run,
            points,
        }))
    }

    /// Labels random sequences until there are enough tokens; the same in every run with this number.
    fn label_at_random(&self, pool: &mut Pool, run: usize) -> Result<(), Error> {
        for sequence in visiting_order(pool.len(), self.options.seed, run as u64) {
            if pool.labelled_positions() >= self.options.initial_tokens {
                break;
            }
            let sequence = sequence as usize;
            for position in pool.positions(sequence) {
                pool.answer(sequence, position, self.gold[position])?;
            }
        }
        Ok(())
    }

    fn ask_batch(
        &self,
        pool: &mut Pool,
        model: &Fitted,
        strategy: Strategy,
        run: usize,
    ) -> Result<Behaviour, Error> {
        let unit = self.options.unit_of(strategy);
        let tags = Tags::new(&self.data.labels);
        let options = RankingOptions {
            strategy,
            seed: SplitMix64(self.options.seed.wrapping_add(run as u64)).bits(),
            n_best: self.options.n_best,
        };
        let mut ranking = Ranking::new(pool, model, options)?;
        let mut estimator = Estimator::new(model);
        let mut diversity = self
            .options
            .similarity
            .map(|similarity| Diversity::new(similarity, unit == Unit::Sequence))
            .transpose()?;
        let mut behaviour = Behaviour::default();
        let before = pool.labelled_positions();
        loop {
            let done = match unit {
                Unit::Sequence => pool.labelled_positions() - before,
                _ => behaviour.questions,
            };
            if done >= self.options.batch {
                break;
            }
            let Some(question) = ranking.ask() else { break };
            if diversity
                .as_mut()
                .is_some_and(|diversity| diversity.is_repeated(pool, &question))
            {
                ranking.pass(pool, &question);
                continue;
            }
            behaviour.add(pool, &question);
            let positions = pool.positions(question.sequence);
            let gold = &self.gold[positions.clone()];
            for t in unit.positions(question.position, gold, &tags) {
                pool.answer(question.sequence, positions.start + t, gold[t])?;
            }
            ranking.answered(pool, question.sequence, &mut estimator)?;
        }
        Ok(behaviour)
    }
}

/// The gold labels of data in which every label is known.
pub(super) fn gold_labels(data: &Dataset) -> Result<Vec<u32>, Error> {
    let mut labels = Vec::with_capacity(data.positions());
    for (sequence, instance) in data.instances().enumerate() {
        for t in 0..instance.len() {
            let Gold::Known(label) = instance.gold(t) else {
                return Err(Error::Option(format!(
                    "the annotator is played from gold labels, so every label must be known, but token {} of sequence {} \
                     has none",
                    t + 1,
                    sequence + 1
                )));
            };
            labels.push(label);
        }
    }
    if labels.is_empty() {
        return Err(Error::Option("there are no sequences to learn from".into()));
    }
    Ok(labels)
}

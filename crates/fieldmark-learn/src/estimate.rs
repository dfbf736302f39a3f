//! [`Estimator`]: what a model says of a sequence, under what is known of its labels.

use crate::strategy::Needs;
use crate::{Error, Fitted, Pool};
use fieldmark_chain::Tagger;
use fieldmark_chain::inference::{Constraints, Inference, Space};
use fieldmark_core::{Gold, Instance};

/// What a model says of one sequence: as much as was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    labels: usize,
    marginals: Vec<f64>,
    max_marginals: Vec<f64>,
    path: Vec<u32>,
    confidence: f64,
    best: Vec<f64>,
}

impl Estimate {
    /// The probability of each label at a position of the sequence.
    ///
    /// # Panics
    /// When marginals were not asked for.
    pub fn marginals(&self, position: usize) -> &[f64] {
        &self.marginals[position * self.labels..][..self.labels]
    }

    /// For each label the log-probability of the best sequence that has it at a position; −∞ if there is none.
    ///
    /// # Panics
    /// When max-marginals were not asked for.
    pub fn max_marginals(&self, position: usize) -> &[f64] {
        &self.max_marginals[position * self.labels..][..self.labels]
    }

    /// The best labels; empty if they were not asked for.
    pub fn path(&self) -> &[u32] {
        &self.path
    }

    /// The log-probability of the best labels, if it was asked for.
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// The log-probabilities of the best sequences, best first, if they were asked for.
    pub fn best(&self) -> &[f64] {
        &self.best
    }
}

/// Memory to ask a model with; one for each thread.
pub struct Estimator<'m> {
    tagger: Tagger<'m>,
    constraints: Constraints,
    labels: usize,
}

impl<'m> Estimator<'m> {
    /// An estimator for a model.
    pub fn new(model: &'m Fitted) -> Self {
        Self {
            tagger: Tagger::new(model.structure(), model.weights(), Space::default()),
            constraints: Constraints::none(),
            labels: model.structure().labels(),
        }
    }

    /// Everything that can be asked about a sequence of the pool, under what `known` says of its positions, by their
    /// numbers in the pool.
    ///
    /// Labels that were added to the pool after the model was trained tell it nothing.
    pub fn load<'g>(
        &mut self,
        pool: &Pool,
        sequence: usize,
        known: impl Fn(usize) -> Gold<'g>,
    ) -> Result<Inference<'_, '_, f64>, Error> {
        self.load_instance(pool.instance(sequence), known)
    }

    /// The same of a sequence of the data of a pool, for which the pool itself is not needed.
    pub fn load_instance<'g>(
        &mut self,
        instance: Instance<'_>,
        known: impl Fn(usize) -> Gold<'g>,
    ) -> Result<Inference<'_, '_, f64>, Error> {
        let of_model = |label: &u32| (*label as usize) < self.labels;
        self.constraints.clear_positions();
        for (t, position) in instance.positions().enumerate() {
            let one;
            let labels = match known(position) {
                Gold::Known(label) => {
                    one = [label];
                    &one[..]
                }
                Gold::Ambiguous(labels) => labels,
                Gold::Unknown => &[],
            };
            if labels.iter().any(of_model) {
                self.constraints.allow(t, labels.iter().copied().filter(of_model));
            }
        }
        Ok(self.tagger.load(instance, &self.constraints)?)
    }

    /// Estimates a sequence of the pool under what is known of it (constrained forward–backward and Viterbi;
    /// Culotta & McCallum 2004).
    pub fn run(
        &mut self,
        pool: &Pool,
        sequence: usize,
        needs: Needs,
        out: &mut Estimate,
    ) -> Result<(), Error> {
        let mut inference = self.load(pool, sequence, |position| pool.known(position))?;
        out.labels = inference.labels();
        if needs.marginals {
            inference.marginals(&mut out.marginals)?;
        }
        if needs.max_marginals {
            let length = inference.length();
            let best = inference.max_marginals()?;
            let labels = out.labels as u32;
            let cells = (0..length).flat_map(|t| (0..labels).map(move |label| (t, label)));
            out.max_marginals.clear();
            out.max_marginals
                .extend(cells.map(|(t, label)| best.get(t, label).unwrap_or(f64::NEG_INFINITY)));
        }
        if needs.path || needs.confidence {
            out.path.clear();
            out.path.extend_from_slice(inference.viterbi()?.labels);
        }
        if needs.confidence {
            // The best sequence is allowed.
            out.confidence = inference.log_probability(&out.path)?.unwrap_or(0.0);
        }
        if needs.best > 0 {
            let log_z = inference.log_z()?;
            let best = inference.kbest(needs.best)?;
            out.best.clear();
            out.best.extend(best.iter().map(|path| path.score - log_z));
        }
        Ok(())
    }
}

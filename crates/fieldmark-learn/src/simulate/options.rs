//! [`SimulationOptions`]: what is simulated.

use crate::{Diversity, Error, LearnOptions, Strategy, Unit};

/// What is simulated. The defaults are those of Marcheggiani & Artières (2014).
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationOptions {
    /// The strategies to compare.
    pub strategies: Vec<Strategy>,
    /// How much is labelled at each question. Strategies that ask for sequences label sequences.
    pub unit: Unit,
    /// Random sequences are labelled at the start until they have so many tokens.
    pub initial_tokens: usize,
    /// Questions between two trainings; where whole sequences are labelled, tokens.
    pub batch: usize,
    /// Number of batches.
    pub iterations: usize,
    /// How often everything is done, each time from other random sequences.
    pub runs: usize,
    /// Decides what is random.
    pub seed: u64,
    /// Questions at least so similar to another of the batch are not asked.
    pub similarity: Option<f64>,
    /// The N of [`Strategy::NBestEntropy`].
    pub n_best: usize,
    /// The shape of models, and how they are trained.
    pub learning: LearnOptions,
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self {
            strategies: Strategy::TOKENS.to_vec(),
            unit: Unit::Token,
            initial_tokens: 100,
            batch: 50,
            iterations: 40,
            runs: 3,
            seed: 0,
            similarity: None,
            n_best: 10,
            learning: LearnOptions::default(),
        }
    }
}

impl SimulationOptions {
    /// What is labelled at each question of a strategy.
    pub fn unit_of(&self, strategy: Strategy) -> Unit {
        if strategy.asks_sequences() {
            Unit::Sequence
        } else {
            self.unit
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let problem = if self.strategies.is_empty() {
            "there is no strategy to simulate".to_owned()
        } else if let Some(twice) = first_repeated(&self.strategies) {
            format!("the strategy {twice} is named twice")
        } else if self.initial_tokens == 0 {
            "0 tokens are labelled at the start, expected at least 1".to_owned()
        } else if self.batch == 0 {
            "a batch has 0 questions, expected at least 1".to_owned()
        } else if self.runs == 0 {
            "there are 0 runs, expected at least 1".to_owned()
        } else if self.n_best == 0 {
            "the entropy of 0 best sequences tells nothing, expected at least 1".to_owned()
        } else {
            // The same complaint that the first batch would bring.
            self.similarity
                .map(|similarity| Diversity::new(similarity, false))
                .transpose()?;
            return Ok(());
        };
        Err(Error::Option(problem))
    }
}

fn first_repeated(strategies: &[Strategy]) -> Option<Strategy> {
    let repeated = |&(index, strategy): &(usize, &Strategy)| strategies[..index].contains(strategy);
    let found = strategies.iter().enumerate().find(repeated);
    found.map(|(_, &strategy)| strategy)
}

//! [`Behaviour`]: what kind of tokens a strategy chooses.

use crate::{Pool, Question};
use serde::{Deserialize, Serialize};

/// What the questions of a batch have in common (Marcheggiani & Artières 2014, figure 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Behaviour {
    /// Number of questions.
    pub questions: usize,
    /// Number of positions in their sequences, together.
    lengths: usize,
    /// Questions about sequences in which something was labelled before.
    begun: usize,
    /// Distances from the position to the nearest labelled one, where there was one, together.
    distances: usize,
}

impl Behaviour {
    /// Counts a question, before it is answered.
    pub fn add(&mut self, pool: &Pool, question: &Question) {
        let position = pool.positions(question.sequence).start + question.position;
        self.questions += 1;
        self.lengths += pool.instance(question.sequence).len();
        if let Some(distance) = pool.distance_to_labelled(question.sequence, position) {
            self.begun += 1;
            self.distances += distance;
        }
    }

    /// Mean length of the sequences that tokens were chosen from; `None` without a question.
    pub fn mean_length(&self) -> Option<f64> {
        mean(self.lengths, self.questions)
    }

    /// Mean distance to the nearest labelled token of the sequence, over sequences that have one.
    pub fn mean_distance(&self) -> Option<f64> {
        mean(self.distances, self.begun)
    }

    /// Share of questions about sequences in which nothing was labelled.
    pub fn untouched(&self) -> Option<f64> {
        mean(self.questions.saturating_sub(self.begun), self.questions)
    }
}

fn mean(sum: usize, count: usize) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small_data;
    use std::sync::Arc;

    #[test]
    fn means_of_a_batch() {
        let mut pool = Pool::unlabelled(Arc::new(small_data()));
        let question = |sequence, position| Question {
            sequence,
            position,
            key: 0.0,
        };
        let mut behaviour = Behaviour::default();
        assert_eq!((behaviour.mean_length(), behaviour.untouched()), (None, None));
        behaviour.add(&pool, &question(1, 3));
        pool.answer(1, pool.positions(1).start + 3, 0).unwrap();
        behaviour.add(&pool, &question(1, 1));
        behaviour.add(&pool, &question(0, 0));
        let lengths = (2 * pool.instance(1).len() + pool.instance(0).len()) as f64;
        assert_eq!(behaviour.mean_length(), Some(lengths / 3.0));
        assert_eq!(behaviour.mean_distance(), Some(2.0));
        assert_eq!(behaviour.untouched(), Some(2.0 / 3.0));
    }
}

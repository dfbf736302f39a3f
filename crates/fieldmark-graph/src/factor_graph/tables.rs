//! The pool of score tables.

use crate::Error;

/// Tables of log-scores of any shape, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    shape_end: Vec<usize>,
    shape: Vec<u32>,
    score_end: Vec<usize>,
    scores: Vec<f64>,
    /// Largest finite magnitude of each table.
    magnitude: Vec<f64>,
}

impl Tables {
    pub(super) fn truncate(&mut self, tables: usize) {
        self.shape_end.truncate(tables);
        self.score_end.truncate(tables);
        self.magnitude.truncate(tables);
        self.shape.truncate(self.shape_end.last().copied().unwrap_or(0));
        self.scores.truncate(self.score_end.last().copied().unwrap_or(0));
    }

    pub(super) fn len(&self) -> usize {
        self.score_end.len()
    }

    pub(super) fn shape(&self, table: u32) -> &[u32] {
        &self.shape[start(&self.shape_end, table)..self.shape_end[table as usize]]
    }

    pub(super) fn scores(&self, table: u32) -> &[f64] {
        &self.scores[start(&self.score_end, table)..self.score_end[table as usize]]
    }

    pub(super) fn magnitude(&self, table: u32) -> f64 {
        self.magnitude[table as usize]
    }

    pub(super) fn push(&mut self, shape: &[u32], scores: &[f64]) -> Result<u32, Error> {
        let table = u32::try_from(self.len()).map_err(|_| Error::TooMany {
            what: "tables",
            limit: u32::MAX as usize,
        })?;
        let expected = shape
            .iter()
            .try_fold(1usize, |product, &side| product.checked_mul(side as usize))
            .unwrap_or(usize::MAX);
        if shape.is_empty() || expected == 0 || scores.len() != expected {
            let (shape, found) = (shape.to_vec(), scores.len());
            return Err(Error::TableSize {
                shape,
                found,
                expected,
            });
        }
        let mut magnitude = 0.0f64;
        for (index, &score) in scores.iter().enumerate() {
            if score.is_nan() || score == f64::INFINITY {
                return Err(Error::NotANumber { table, index, score });
            }
            if score.is_finite() {
                magnitude = magnitude.max(score.abs());
            }
        }
        self.shape.extend_from_slice(shape);
        self.shape_end.push(self.shape.len());
        self.scores.extend_from_slice(scores);
        self.score_end.push(self.scores.len());
        self.magnitude.push(magnitude);
        Ok(table)
    }

    pub(super) fn forbid(&mut self, table: u32, labels: &[u32]) -> Result<(), Error> {
        let shape = self.shape(table);
        if labels.len() != shape.len() {
            let (found, expected) = (labels.len(), shape.len());
            return Err(Error::Length { found, expected });
        }
        let mut entry = 0;
        for (side, (&label, &labels)) in (0..).zip(labels.iter().zip(shape)) {
            if label >= labels {
                let (of, number) = ("side", side);
                return Err(Error::UnknownLabel {
                    of,
                    number,
                    label,
                    labels,
                });
            }
            entry = entry * labels as usize + label as usize;
        }
        let first = start(&self.score_end, table);
        self.scores[first + entry] = f64::NEG_INFINITY;
        Ok(())
    }
}

fn start(ends: &[usize], index: u32) -> usize {
    if index == 0 { 0 } else { ends[index as usize - 1] }
}

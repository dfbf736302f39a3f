//! A [`ChainModel`] as text: every weight on a line of its own, and the same model back from it.

use super::ChainModel;
use super::text::{OPTIONS, escape, option};
use crate::transitions::Transitions;
pub use fieldmark_core::dump::DumpError;
use std::io::{self, BufWriter, Write};

pub(super) const FIRST: &str = "fieldmark-chain\t1";
pub(super) const START: &str = "\\start";
pub(super) const END: &str = "\\end";

impl ChainModel {
    /// Writes the model as text; [`ChainModel::from_dump`] makes the same model of it.
    ///
    /// Fields are separated by tabs; in names, `\t`, `\n`, `\r` and `\\` stand for what would break a line. Numbers
    /// are written in the shortest form that reads as the same number. The lines come in this order:
    ///
    /// | line | how many |
    /// |---|---|
    /// | `fieldmark-chain` version | the first |
    /// | option, value | one for each option |
    /// | `label` name | one for each label |
    /// | `bias` label, weight | none, or one for each label |
    /// | `allow` two labels | where unseen transitions are forbidden: the labels that may be neighbours, in their order, then `\start` and the labels that may begin a sequence |
    /// | `tuple` two to four labels, weight | by length, then in the order of labels; `\start` and `\end` are the ends of the sequence |
    /// | `pair` two labels | the label pairs that may have weights with observations, in the order of labels |
    /// | `state` observation, label, weight | the weights of one observation in the order of labels |
    /// | `step` observation, two labels, weight | after its states, in the order of pairs |
    /// | `observation` name | in place of weights for an observation without any |
    /// | `unknown` observation | if one stands for unknown names |
    /// | `algorithm` name | if the training algorithm was noted |
    /// | `end` | the last |
    pub fn dump(&self, out: &mut dyn Write) -> io::Result<()> {
        let out = &mut BufWriter::new(out);
        let structure = self.structure();
        let labels: Vec<String> = self
            .labels
            .iter()
            .map(|label| escape(label).into_owned())
            .collect();
        writeln!(out, "{FIRST}")?;
        for key in OPTIONS {
            writeln!(out, "{key}\t{}", option(structure.options(), key))?;
        }
        for label in &labels {
            writeln!(out, "label\t{label}")?;
        }
        for (label, weight) in labels.iter().zip(&self.weights[structure.bias_weights()]) {
            writeln!(out, "bias\t{label}\t{weight:?}")?;
        }
        for [from, to] in structure
            .allowed_transitions()
            .map_or(&[][..], Transitions::pairs_and_starts)
        {
            let from = labels.get(*from as usize).map_or(START, |label| label);
            writeln!(out, "allow\t{from}\t{}", labels[*to as usize])?;
        }
        for (tuple, weight) in structure
            .tuples()
            .iter()
            .zip(&self.weights[structure.tuple_weights()])
        {
            out.write_all(b"tuple")?;
            for (place, &label) in tuple.iter().enumerate() {
                let edge = if place == 0 { START } else { END };
                write!(
                    out,
                    "\t{}",
                    labels.get(label as usize).map_or(edge, |label| label)
                )?;
            }
            writeln!(out, "\t{weight:?}")?;
        }
        for [from, to] in structure.pairs() {
            writeln!(out, "pair\t{}\t{}", labels[*from as usize], labels[*to as usize])?;
        }
        self.dump_observations(&labels, out)?;
        if let Some(unknown) = self.unknown {
            writeln!(out, "unknown\t{}", escape(self.observations.name(unknown)))?;
        }
        if let Some(algorithm) = &self.algorithm {
            writeln!(out, "algorithm\t{}", escape(algorithm))?;
        }
        writeln!(out, "end")?;
        out.flush()
    }

    fn dump_observations(&self, labels: &[String], out: &mut dyn Write) -> io::Result<()> {
        let (unary, pair) = (self.structure.unary(), self.structure.pair());
        let states = &self.weights[self.structure.unary_weights()];
        let steps = &self.weights[self.structure.pair_weights()];
        for (id, name) in self.observations.iter().enumerate() {
            let (id, name) = (id as u32, escape(name));
            for (&label, weight) in unary.columns(id).iter().zip(&states[unary.features(id)]) {
                writeln!(out, "state\t{name}\t{}\t{weight:?}", labels[label as usize])?;
            }
            for (&column, weight) in pair.columns(id).iter().zip(&steps[pair.features(id)]) {
                let [from, to] = self.structure.pairs()[column as usize].map(|label| &labels[label as usize]);
                writeln!(out, "step\t{name}\t{from}\t{to}\t{weight:?}")?;
            }
            if unary.columns(id).is_empty() && pair.columns(id).is_empty() {
                writeln!(out, "observation\t{name}")?;
            }
        }
        Ok(())
    }
}

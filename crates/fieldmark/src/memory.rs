//! [`estimate_memory`]: how much memory training will take, before it takes it.

use crate::Error;
use fieldmark_chain::train::{Arithmetic, ChainObjective};
use fieldmark_chain::{Structure, StructureOptions};
use fieldmark_core::Dataset;
use fieldmark_core::optimize::Objective;
use serde::Serialize;

/// The memory that training with L-BFGS in double precision takes.
///
/// The features are chosen and the data laid out as training does it, so these numbers are exact. For the rest, with
/// `n` cells for weights and `m` remembered pairs, L-BFGS keeps the weights, the gradient and their previous values in
/// numbers of 8 bytes, and `2(m + 1)` vectors of history in numbers of 4 (Nocedal 1980):
///
/// `training = program + layout + n (40 + 8m) + work + reading`
///
/// `work` is what the objective takes for sums and for the sequences that threads have in hand, and `reading` is what the readers of several
/// threads leave unused in their heaps. Other algorithms take less; L1 regularisation, a development set and
/// checkpoints take a few vectors of weights more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryEstimate {
    /// Bytes of the data, as they are read.
    pub dataset_bytes: u64,
    /// Number of features.
    pub features: u64,
    /// States of the automaton.
    pub states: u64,
    /// Number of threads.
    pub threads: u64,
    /// Bytes of the data, the features and the automaton in the layout of training.
    pub layout_bytes: u64,
    /// Bytes of the vectors of L-BFGS.
    pub optimizer_bytes: u64,
    /// Bytes of the process at its peak.
    pub training_bytes: u64,
}

/// The program itself.
const PROGRAM: u64 = 7_000_000;
/// What each of several threads leaves unused after reading, unless the data are small.
const HEAP: u64 = 4_000_000;

/// Estimates the memory of training on the threads of the current rayon pool, with L-BFGS and `memories` pairs of
/// vectors.
pub fn estimate_memory(
    data: Dataset,
    options: &StructureOptions,
    memories: u64,
) -> Result<MemoryEstimate, Error> {
    let threads = rayon::current_num_threads().max(1);
    let dataset = data.memory() as u64;
    let structure = Structure::build(&data, options)?;
    let objective = ChainObjective::<f64>::new(&structure, data, Arithmetic::default());
    let layout = objective.memory() as u64 + structure_bytes(&structure);
    let optimizer = objective.len() as u64 * (4 * 8 + 2 * (memories + 1) * 4);
    let work = objective.memory_of_evaluation() as u64;
    let reading = match threads {
        1 => 0,
        threads => HEAP.min(dataset / 2) * threads as u64 + dataset / 3,
    };
    // While the data are laid out they are there twice, but no vector of weights is.
    let laying_out = dataset + layout;
    Ok(MemoryEstimate {
        dataset_bytes: dataset,
        features: structure.weights() as u64,
        states: structure.automaton().states() as u64,
        threads: threads as u64,
        layout_bytes: layout,
        optimizer_bytes: optimizer,
        training_bytes: PROGRAM + reading + laying_out.max(layout + optimizer + work),
    })
}

/// The tables of features, and arcs with the lists of their tuples.
fn structure_bytes(structure: &Structure) -> u64 {
    let tables = [structure.unary(), structure.pair()];
    let numbers: usize = tables.iter().map(|table| table.rows() + table.len()).sum();
    let arcs = structure.automaton().arcs().len();
    let tuples = structure.tuples().len();
    (4 * numbers + 64 * arcs + 48 * tuples) as u64
}

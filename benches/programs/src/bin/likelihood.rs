//! The log-likelihood of the labels in a file, by the two ways in which fieldmark computes it.
//!
//!     likelihood MODEL DATA
//!
//! Prints the log-probability of each sequence's labels, one per line as inference gives it (`unknown` where a
//! label is not in the model), and last `sum` and the log-likelihood of all others as the objective of training
//! gives it. Numbers are printed with as many digits as it takes to read them back unchanged.

use fieldmark::Model;
use fieldmark::chain::inference::Constraints;
use fieldmark::chain::train::{Arithmetic, ChainObjective};
use fieldmark::core::optimize::{Objective, StochasticObjective};
use fieldmark::core::{Dataset, Gold};
use fieldmark::text::{Source, read_against};
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [model, data] = &paths[..] else {
        return Err("usage: likelihood MODEL DATA".into());
    };
    let model = Model::open(model)?;
    let format = model.input.format()?;
    let (data, _) = read_against(
        &Source::from_argument(data),
        &format,
        model.chain.labels(),
        &model,
    )?;
    let mut known = Vec::new();
    for index in 0..data.len() {
        match log_probability(&model, &data, index)? {
            Some(value) => {
                known.push(index as u32);
                println!("{value:?}");
            }
            None => println!("unknown"),
        }
    }
    println!("sum\t{:?}", -loss(&model, data, &known));
    Ok(())
}

fn log_probability(model: &Model, data: &Dataset, index: usize) -> Result<Option<f64>, Box<dyn Error>> {
    let instance = data.instance(index);
    let label = |t| match instance.gold(t) {
        Gold::Known(label) => Some(label),
        Gold::Unknown | Gold::Ambiguous(_) => None,
    };
    let Some(labels) = (0..instance.len()).map(label).collect::<Option<Vec<u32>>>() else {
        return Ok(None);
    };
    let mut tagger = model.chain.tagger();
    let value = tagger
        .load(instance, &Constraints::none())?
        .log_probability(&labels)?;
    Ok(Some(value.ok_or("a label sequence is not allowed by the model")?))
}

/// What training minimises, without the prior.
fn loss(model: &Model, mut data: Dataset, instances: &[u32]) -> f64 {
    data.observations = model.chain.observations().to_alphabet();
    let mut objective = ChainObjective::<f64>::new(model.chain.structure(), data, Arithmetic::Scaled);
    let weights = objective.import(model.chain.weights());
    let mut gradient = vec![0.0; objective.len()];
    objective.evaluate_batch(instances, &weights, &mut gradient)
}

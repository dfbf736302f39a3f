//! How long a pass of training takes on synthetic reports: 3 chains of 7, 84 and 46 labels, 500 to 1000 positions, a few
//! hundred thousand observations.
//!
//!     cargo run --release -p fieldmark-graph --example train_speed [INSTANCES] [THREADS] [pseudolikelihood|piecewise|loopy] [POSITIONS] [MODEL]
//!
//! More data have more observations, each with more labels, so that a position has more features. To see how time grows with
//! data alone, MODEL says of how many instances (or with POSITIONS, of positions as long as that) features are chosen.

use fieldmark_core::Gold;
use fieldmark_core::optimize::{Lbfgs, LbfgsOptions, Objective, Prior};
use fieldmark_core::random::SplitMix64;
use fieldmark_graph::loopy::LoopyOptions;
use fieldmark_graph::{
    Description, EngineChoice, GraphDataset, GraphDatasetBuilder, GraphObjective, Loss, Relations, Structure,
};
use std::time::Instant;

type Error = Box<dyn std::error::Error + Send + Sync>;

const LABELS: [u32; 3] = [7, 84, 46];
const WORDS: f64 = 25_000.0;
/// Words of neighbours that are observed at a position.
const WINDOW: i64 = 7;

struct Noise(SplitMix64);

impl Noise {
    /// Frequent words have small numbers.
    fn word(&mut self, topic: u32) -> u32 {
        let rank = WORDS.powf(self.0.unit()) as u32;
        if self.0.unit() < 0.4 {
            rank
        } else {
            rank.wrapping_mul(7).wrapping_add(topic * 131) % WORDS as u32
        }
    }
}

fn description() -> Description {
    Description::factorial(&["sentence", "subsection", "section"])
}

/// Reports, of which a smaller number are the first of a larger one. With `known`, observations and labels have its numbers.
fn synthetic(
    instances: usize,
    positions: Option<usize>,
    known: Option<&GraphDataset>,
) -> Result<GraphDataset, Error> {
    let description = description();
    let mut builder = match known {
        Some(known) => {
            let labels = (0..LABELS.len())
                .map(|layer| known.labels(layer).clone())
                .collect();
            GraphDatasetBuilder::with_alphabets(&description, known.observations.clone(), labels)
        }
        None => GraphDatasetBuilder::new(&description),
    };
    for (layer, &count) in LABELS.iter().enumerate() {
        (0..count).for_each(|label| {
            builder.label(layer, &format!("label {label}"));
        });
    }
    let mut noise = Noise(SplitMix64(1));
    for _ in 0..instances {
        let length = positions.unwrap_or(500 + (noise.0.unit() * 500.0) as usize);
        let mut current = [0u32; 3];
        let mut words = Vec::with_capacity(length);
        let mut truth = Vec::with_capacity(length);
        for position in 0..length {
            for (layer, mean) in [(2usize, 60.0), (1, 20.0), (0, 5.0)] {
                if position == 0 || noise.0.unit() < 1.0 / mean {
                    current[layer] = (f64::from(LABELS[layer]) * noise.0.unit()) as u32;
                }
            }
            truth.push(current);
            words.push(noise.word(current[0] + 7 * current[1] + 600 * current[2]));
        }
        for (position, labels) in truth.iter().enumerate() {
            for offset in -WINDOW..=WINDOW {
                if let Some(word) = usize::try_from(position as i64 + offset)
                    .ok()
                    .and_then(|at| words.get(at))
                {
                    builder.observe(&format!("{offset}:{word}"), 1.0)?;
                }
            }
            builder.observe(&format!("eighth {}", 8 * position / length), 1.0)?;
            builder.end_position(&labels.map(Gold::Known))?;
        }
        builder.end_instance(&[])?;
    }
    Ok(builder.finish())
}

/// The most memory that the process had, in megabytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1000)
}

/// Seconds of processor time of all threads, where the system tells them: other work does not count.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    // The unit is a hundredth of a second on every system that has this file.
    Some((ticks()? + ticks()?) / 100.0)
}

/// How many reports of which length.
#[derive(Clone, Copy)]
struct Size {
    instances: usize,
    positions: Option<usize>,
}

fn run(size: Size, model: Option<Size>, loss: Loss) -> Result<(), Error> {
    let start = Instant::now();
    let seen = model
        .map(|model| synthetic(model.instances, model.positions, None))
        .transpose()?;
    let data = synthetic(size.instances, size.positions, seen.as_ref())?;
    println!(
        "{} instances, {} positions, {} observations, {} MB: {:.1} s",
        data.len(),
        data.positions(),
        data.observations.len(),
        data.memory() / 1_000_000,
        start.elapsed().as_secs_f64()
    );
    let start = Instant::now();
    let structure = Structure::build(seen.as_ref().unwrap_or(&data), &description(), Relations::none())?;
    drop(seen);
    println!(
        "{} weights: {:.1} s",
        structure.weights(),
        start.elapsed().as_secs_f64()
    );
    let mut objective = GraphObjective::new(&structure, &data, loss)?;
    let options = LbfgsOptions {
        prior: Prior { c1: 0.0, c2: 0.0005 },
        num_memories: 3,
        max_iterations: Some(3),
        ..LbfgsOptions::default()
    };
    let mut optimizer = Lbfgs::new(vec![0.0; structure.weights()], options)?;
    let mut start = Instant::now();
    while let Some(iteration) = optimizer.step(&mut objective)? {
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "iteration {}: loss {:.1}, {} evaluations in {seconds:.1} s ({:.1} s each); {}",
            iteration.iteration,
            iteration.loss,
            iteration.evaluations,
            seconds / iteration.evaluations.max(1) as f64,
            objective.convergence(),
        );
        start = Instant::now();
    }
    let weights = optimizer.into_weights();
    let mut gradient = vec![0.0; weights.len()];
    let (start, processor) = (Instant::now(), processor_seconds());
    objective.evaluate(&weights, &mut gradient);
    let processor = processor_seconds().zip(processor).map(|(end, start)| end - start);
    println!(
        "one pass: {:.2} s, processor time {processor:.2?} s; peak memory {:?} MB",
        start.elapsed().as_secs_f64(),
        peak_memory()
    );
    Ok(())
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| arguments.get(place).and_then(|text| text.parse::<usize>().ok());
    let loss = match arguments.get(2).map(String::as_str) {
        Some("piecewise") => Loss::Piecewise,
        Some("loopy") => Loss::Likelihood(EngineChoice::LoopySingle(LoopyOptions::default())),
        _ => Loss::Pseudolikelihood,
    };
    let threads = number(1).unwrap_or(2);
    let size = Size {
        instances: number(0).unwrap_or(1000),
        positions: number(3).filter(|&positions| positions > 0),
    };
    let model = number(4).map(|model| match size.positions {
        Some(_) => Size {
            positions: Some(model),
            ..size
        },
        None => Size {
            instances: model,
            ..size
        },
    });
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| run(size, model, loss))
}

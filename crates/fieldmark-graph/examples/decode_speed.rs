//! How long decoding of one long factorial instance takes: 3 chains of 7, 84 and 46 labels, 700 positions.
//!
//!     cargo run --release -p fieldmark-graph --example decode_speed [POSITIONS] [SEED]

use fieldmark_core::random::SplitMix64;
use fieldmark_graph::loopy::{LoopyBp, LoopyOptions, Schedule};
use fieldmark_graph::{
    Annealing, DualDecoder, DualOptions, Engine, Error, FactorGraph, FactorGraphBuilder, Gibbs, GibbsOptions,
    Scalar,
};

const LABELS: [u32; 3] = [7, 84, 46];

/// Seconds of processor time of this process, where the system tells them: other work does not count.
fn processor_seconds() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    let wall = START.get_or_init(Instant::now).elapsed().as_secs_f64();
    let nanoseconds = std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or(wall, |nanoseconds| nanoseconds * 1e-9)
}

struct Noise(SplitMix64);

impl Noise {
    /// Roughly normal with standard deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.0.unit()).sum::<f64>() - 6.0
    }
}

/// A hidden truth of segments on three levels, and scores that favour it with noise.
fn unroll(positions: u32, noise_level: f64, seed: u64) -> Result<(FactorGraph, Vec<u32>), Error> {
    let mut noise = Noise(SplitMix64(seed));
    let mut truth = Vec::new();
    let mut current = [0, 0, 0];
    for position in 0..positions {
        for (chain, length) in [(2usize, 60.0), (1, 20.0), (0, 5.0)] {
            if position == 0 || noise.0.unit() < 1.0 / length {
                current[chain] = noise.0.below(LABELS[chain]);
            }
        }
        truth.extend(current);
    }
    let mut builder = FactorGraphBuilder::default();
    for _ in 0..positions {
        for labels in LABELS {
            builder.variable(labels)?;
        }
    }
    let stay = |a: u32, b: u32| if a == b { 3.0 } else { 0.0 };
    let mut tables = Vec::new();
    for (rows, columns, chain) in [
        (0, 0, true),
        (1, 1, true),
        (2, 2, true),
        (0, 1, false),
        (1, 2, false),
    ] {
        let (rows, columns): (u32, u32) = (LABELS[rows], LABELS[columns]);
        let mut scores = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                scores.push(noise.normal() * 1.0 + if chain { stay(row, column) } else { 0.0 });
            }
        }
        tables.push(builder.table(&[rows, columns], &scores)?);
    }
    for position in 0..positions {
        for chain in 0..3 {
            let variable = position * 3 + chain;
            let mut scores: Vec<f64> = (0..LABELS[chain as usize])
                .map(|_| noise_level * noise.normal())
                .collect();
            scores[truth[variable as usize] as usize] += 2.0 * noise_level;
            builder.factor_with(chain, &[variable], &scores)?;
            if position + 1 < positions {
                builder.factor(3 + chain, &[variable, variable + 3], tables[chain as usize])?;
            }
            if chain < 2 {
                builder.factor(6 + chain, &[variable, variable + 1], tables[3 + chain as usize])?;
            }
        }
    }
    Ok((builder.build(), truth))
}

fn measure<E: Engine>(name: &str, engine: &mut E, graph: &FactorGraph, truth: &[u32]) -> Result<(), Error> {
    let start = processor_seconds();
    let decoding = engine.max(graph)?;
    let seconds = processor_seconds() - start;
    let right = decoding.labels.iter().zip(truth).filter(|(a, b)| a == b).count();
    println!(
        "{name:28} {seconds:7.3} s  {:5} rounds  {:8} messages  converged {:5}  score {:10.3}  bound {}  truth {:.3}",
        decoding.report.iterations,
        decoding.report.messages,
        decoding.report.converged,
        decoding.score,
        decoding.bound.map_or("-".into(), |bound| format!("{bound:.3}")),
        right as f64 / truth.len() as f64,
    );
    Ok(())
}

fn loopy<T: Scalar>(options: LoopyOptions) -> Result<LoopyBp<T>, Error> {
    LoopyBp::new(options)
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        arguments
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (positions, seed) = (number(700) as u32, number(1));
    for noise in [3.0, 1.5, 0.5] {
        let (graph, truth) = unroll(positions, noise, seed)?;
        println!(
            "{positions} positions, observations of strength {noise}, score of the truth {:.3}",
            graph.score(&truth)?
        );
        let options = LoopyOptions::default();
        measure("TRP, f32", &mut loopy::<f32>(options.clone())?, &graph, &truth)?;
        measure("TRP, f64", &mut loopy::<f64>(options.clone())?, &graph, &truth)?;
        let damped = LoopyOptions {
            damping: 0.3,
            ..options.clone()
        };
        measure(
            "TRP, f32, damping 0.3",
            &mut loopy::<f32>(damped)?,
            &graph,
            &truth,
        )?;
        let flooding = LoopyOptions {
            schedule: Schedule::Flooding,
            ..options.clone()
        };
        measure("flooding, f32", &mut loopy::<f32>(flooding)?, &graph, &truth)?;
        let residual = LoopyOptions {
            schedule: Schedule::Residual,
            iterations: 100,
            ..options.clone()
        };
        measure(
            "residual, f32, 100 rounds",
            &mut loopy::<f32>(residual)?,
            &graph,
            &truth,
        )?;
        let dual = DualOptions {
            iterations: 100,
            ..DualOptions::default()
        };
        measure("dual, 100 rounds", &mut DualDecoder::new(dual)?, &graph, &truth)?;
        measure(
            "Gibbs, 100 sweeps",
            &mut Gibbs::new(GibbsOptions::default())?,
            &graph,
            &truth,
        )?;
        let annealing = Some(Annealing { from: 3.0, to: 0.1 });
        let annealed = GibbsOptions {
            annealing,
            ..GibbsOptions::default()
        };
        measure("Gibbs, annealed", &mut Gibbs::new(annealed)?, &graph, &truth)?;
        let mut engine = loopy::<f32>(options)?;
        let start = processor_seconds();
        let beliefs = engine.sum(&graph)?;
        let seconds = processor_seconds() - start;
        println!("{:28} {seconds:7.3} s  {beliefs:?}", "TRP, f32, marginals");
    }
    Ok(())
}

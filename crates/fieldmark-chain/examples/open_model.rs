//! How long it takes to open a model of about 100 MB, checksums and content verified.
//!
//! ```sh
//! cargo run --release -p fieldmark-chain --example open_model
//! ```

use fieldmark_chain::{ChainModel, Structure, StructureOptions};
use fieldmark_core::container::{Container, ContainerWriter};
use fieldmark_core::{DatasetBuilder, Gold};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const OBSERVATIONS: u32 = 1_000_000;
const LABELS: u32 = 22;
/// Labels that an observation occurs with.
const LABELS_EACH: u32 = 4;
const ROUNDS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let model = synthetic()?;
    let directory = std::env::temp_dir().join(format!("fieldmark-open-{}", std::process::id()));
    std::fs::create_dir(&directory)?;
    let result = measure(&model, &directory.join("model.fmk"));
    std::fs::remove_dir_all(&directory)?;
    result
}

fn measure(model: &ChainModel, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut writer = ContainerWriter::new();
    model.write(&mut writer);
    writer.write_to(path)?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let container = Arc::new(Container::open(path)?);
        let opened = start.elapsed();
        let read = ChainModel::read(&container)?;
        times.push((start.elapsed(), opened));
        assert_eq!(read.weights().len(), model.weights().len());
    }
    times.sort();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let (median, opened) = times[ROUNDS / 2];
    println!(
        "{} weights, {:.1} MB: opened in {:.1} ms (best {:.1} ms), {:.1} ms of them for checksums",
        model.weights().len(),
        std::fs::metadata(path)?.len() as f64 / 1e6,
        milliseconds(median),
        milliseconds(times[0].0),
        milliseconds(opened),
    );
    Ok(())
}

/// Observations like those of a large tagger: a million, with a few labels each.
fn synthetic() -> Result<ChainModel, Box<dyn Error>> {
    let mut builder = DatasetBuilder::new();
    for label in 0..LABELS {
        builder.labels.intern(&format!("B-{label}"));
    }
    for id in 0..OBSERVATIONS {
        builder.observations.intern(&format!("w[0]=token{id}"));
    }
    for turn in 0..LABELS_EACH {
        for first in (0..OBSERVATIONS).step_by(20) {
            (first..first + 20).for_each(|id| builder.observe(id, 1.0));
            builder.end_position(Gold::Known((first / 20 * 7 + turn * 5) % LABELS))?;
        }
        builder.end_instance()?;
    }
    let data = builder.finish();
    let structure = Structure::build(&data, &StructureOptions::default())?;
    let weights: Vec<f64> = (0..structure.weights())
        .map(|i| (i as f64 * 0.37).sin() + 2.0)
        .collect();
    Ok(ChainModel::new(
        data.labels.clone(),
        &data.observations,
        &structure,
        &weights,
    ))
}

//! Opens any bytes as a graph model: it is an error, or a model that works and is written as it was read.

#![no_main]

use fieldmark_core::container::{Container, ContainerError, ContainerWriter};
use fieldmark_fuzz::graph_sample::{exercise, sample};
use fieldmark_fuzz::seal::seal;
use fieldmark_graph::GraphModel;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::sync::{Arc, LazyLock};

fuzz_target!(|data: &[u8]| {
    let Ok(model) = read(data.to_vec()) else {
        return;
    };
    exercise(&model);
    let bytes = write(&model);
    let again = read(bytes.clone()).unwrap();
    assert_eq!(write(&again), bytes);
});

fn read(bytes: Vec<u8>) -> Result<GraphModel, ContainerError> {
    GraphModel::read(&Arc::new(Container::from_bytes(bytes)?))
}

fn write(model: &GraphModel) -> Vec<u8> {
    let mut writer = ContainerWriter::new();
    model.write(&mut writer);
    writer.to_bytes().unwrap()
}

static START: LazyLock<Vec<u8>> = LazyLock::new(|| write(&sample()));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let start = &**START;
    if !data.starts_with(&start[..4]) && start.len() <= max_size {
        data[..start.len()].copy_from_slice(start);
        return start.len();
    }
    let size = fuzzer_mutate(data, size, max_size);
    if !seed.is_multiple_of(8) {
        seal(&mut data[..size], seed.is_multiple_of(2));
    }
    size
});

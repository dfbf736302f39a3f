//! Loads any text as the dump of a graph model: it is an error with a line, or a model that is dumped again.

#![no_main]

use fieldmark_fuzz::graph_sample::{exercise, sample};
use fieldmark_graph::GraphModel;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::sync::LazyLock;

fuzz_target!(|data: &[u8]| {
    match GraphModel::from_dump(data) {
        Ok(model) => {
            exercise(&model);
            let text = dump(&model);
            let again = GraphModel::from_dump(&text[..]).unwrap();
            assert_eq!(dump(&again), text);
        }
        Err(error) => {
            let lines = data.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
            assert!((1..=lines).contains(&error.line()), "{error}");
        }
    }
});

fn dump(model: &GraphModel) -> Vec<u8> {
    let mut text = Vec::new();
    model.dump(&mut text).unwrap();
    text
}

static START: LazyLock<Vec<u8>> = LazyLock::new(|| dump(&sample()));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, _seed: u32| {
    let start = &**START;
    if !data.starts_with(&start[..4]) && start.len() <= max_size {
        data[..start.len()].copy_from_slice(start);
        return start.len();
    }
    fuzzer_mutate(data, size, max_size)
});

//! Opens any bytes as a model file: it is an error, or exactly what a writer makes of the same sections.
//!
//! Checksums stop blind mutations at the door. So most mutated inputs get right checksums (as far as their
//! numbers point into the file), and the checks behind the checksums meet them.

#![no_main]

use fieldmark_core::container::{Container, ContainerWriter, Kind};
use fieldmark_fuzz::seal::seal;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let Ok(container) = Container::from_bytes(data.to_vec()) else {
        return;
    };
    let container = Arc::new(container);
    let mut writer = ContainerWriter::new();
    for section in container.sections() {
        read_as_everything(&container, section.name);
        match section.kind {
            Kind::Bytes => writer.add_section(section.name, section.bytes),
            // A checked file may still hold text that is not UTF-8: that is an error at access.
            Kind::Text => match container.str(section.name) {
                Ok(text) => writer.add_str(section.name, text),
                Err(_) => return,
            },
            Kind::U16 => writer.add_u16s(section.name, container.u16s(section.name).unwrap()),
            Kind::U32 => writer.add_u32s(section.name, container.u32s(section.name).unwrap()),
            Kind::U64 => writer.add_u64s(section.name, container.u64s(section.name).unwrap()),
            Kind::F32 => writer.add_f32s(section.name, container.f32s(section.name).unwrap()),
            Kind::F64 => writer.add_f64s(section.name, container.f64s(section.name).unwrap()),
            kind => panic!("no test for sections of {kind}"),
        };
    }
    assert_eq!(writer.to_bytes().unwrap(), data);
});

/// Views of the wrong type may be errors, but nothing else.
fn read_as_everything(container: &Arc<Container>, name: &str) {
    let length = container.section(name).unwrap().len();
    let _ = container.str(name);
    let _ = container.f32s(name);
    if let Ok(values) = container.shared::<u16>(name) {
        assert_eq!(values.len() * 2, length);
    }
    if let Ok(values) = container.shared::<f64>(name) {
        assert_eq!(values.len() * 8, length);
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let sample = sample();
    if !data.starts_with(&sample[..4]) && sample.len() <= max_size {
        data[..sample.len()].copy_from_slice(&sample);
        return sample.len();
    }
    let size = fuzzer_mutate(data, size, max_size);
    if !seed.is_multiple_of(4) {
        seal(&mut data[..size], seed.is_multiple_of(2));
    }
    size
});

/// A sound file to start from.
fn sample() -> Vec<u8> {
    let mut writer = ContainerWriter::new();
    writer
        .add_str("about", "text")
        .add_u16s("a", vec![1, 2, 3])
        .add_f64s("b", vec![0.5])
        .add_section("c", vec![1; 70]);
    writer.to_bytes().unwrap_or_default()
}

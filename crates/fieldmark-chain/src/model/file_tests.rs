//! Model files: what is written is read, and nothing else is.

use super::samples::{Random, from_bytes, model, same, to_bytes};
use super::*;
use fieldmark_core::container::{Container, ContainerErrorKind, ContainerWriter};
use std::sync::Arc;

#[test]
fn every_model_comes_back_in_every_bit() {
    let mut random = Random::new(1);
    for round in 0..400 {
        let model = model(&mut random);
        let bytes = to_bytes(&model);
        let read = from_bytes(bytes.clone()).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert!(same(&read, &model), "round {round}");
        assert_eq!(to_bytes(&read), bytes, "round {round}");
    }
}

#[test]
fn other_sections_may_stand_beside_it_and_large_parts_are_not_copied() {
    let model = model(&mut Random::new(2));
    let mut writer = ContainerWriter::new();
    writer.add_str("reader", "crfsuite");
    model.write(&mut writer);
    writer.add_str("chain-of-title", "not ours");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.fmk");
    writer.write_to(&path).unwrap();
    let read = ChainModel::read(&Arc::new(Container::open(&path).unwrap())).unwrap();
    assert!(same(&read, &model));
    assert!(!read.weights.is_owned() || cfg!(target_endian = "big"));
}

/// Accidents to whole files: an error or a model that was written.
#[test]
fn damage_gives_an_error_or_a_model_that_was_written() {
    let mut random = Random::new(3);
    let models: Vec<ChainModel> = (0..6).map(|_| model(&mut random)).collect();
    let originals: Vec<Vec<u8>> = models.iter().map(to_bytes).collect();
    let mut errors = 0;
    for round in 0..6000 {
        let mut bytes = originals[random.below(6)].clone();
        for _ in 0..=random.below(2) {
            let other = random.below(6);
            damage(&mut bytes, &originals[other], &mut random);
        }
        match from_bytes(bytes) {
            Ok(read) => assert!(models.iter().any(|model| same(model, &read)), "round {round}"),
            Err(_) => errors += 1,
        }
    }
    assert!(errors > 5000, "only {errors} rounds did any damage");
}

/// Flips a bit, cuts the end off, or puts a part of another file in.
fn damage(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len().max(1));
    match random.below(4) {
        _ if bytes.is_empty() => bytes.push(random.next() as u8),
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes.truncate(at),
        2 => {
            let range = random.range(bytes.len().min(other.len()));
            bytes[range.clone()].copy_from_slice(&other[range]);
        }
        _ => {
            let range = random.range(other.len());
            bytes.splice(at.., other[range].iter().copied());
        }
    }
}

/// Files with right checksums and wrong content: an error, or a model that works like any other.
#[test]
fn forged_content_gives_an_error_or_a_model_that_is_sound() {
    let mut random = Random::new(4);
    let (mut errors, mut sound) = (0, 0);
    for round in 0..4000 {
        let container = Container::from_bytes(to_bytes(&model(&mut random))).unwrap();
        let target = random.below(container.sections().len());
        let mut writer = ContainerWriter::new();
        for (index, section) in container.sections().enumerate() {
            let mut bytes = section.bytes.to_vec();
            if index == target {
                forge(&mut bytes, section.kind.size(), &mut random);
            }
            // A section of bytes may be read as any kind.
            writer.add_section(section.name, bytes);
        }
        let bytes = writer.to_bytes().unwrap();
        match from_bytes(bytes.clone()) {
            Ok(read) => {
                sound += 1;
                exercise(&read);
                let again =
                    from_bytes(to_bytes(&read)).unwrap_or_else(|error| panic!("round {round}: {error}"));
                assert!(same(&read, &again), "round {round}");
            }
            Err(error) => {
                errors += 1;
                assert_eq!(error.kind(), ContainerErrorKind::Section);
            }
        }
    }
    assert!(errors > 1000 && sound > 500, "{errors} errors, {sound} sound");
}

/// Changes one number of a section, or takes some away or adds some.
fn forge(bytes: &mut Vec<u8>, size: usize, random: &mut Random) {
    let count = bytes.len() / size;
    let at = random.below(count.max(1)) * size;
    match random.below(4) {
        _ if bytes.is_empty() => bytes.resize((1 + random.below(3)) * size, random.below(3) as u8),
        0 => bytes[at] = bytes[at].wrapping_add([1, 2, 255][random.below(3)]),
        1 => bytes[at + size - 1] = random.next() as u8,
        2 => drop(bytes.drain(at..at + size)),
        _ => {
            let copy = bytes[at..at + size].to_vec();
            bytes.splice(at..at, copy);
        }
    }
}

/// Uses every part of a model once.
fn exercise(model: &ChainModel) {
    for id in 0..model.observations().len() as u32 {
        let name = model.observations().name(id).to_owned();
        let _ = model.observations().get(&name);
    }
    let mut builder = fieldmark_core::DatasetBuilder::new();
    for position in 0..3 {
        for id in 0..model.observations().len() as u32 {
            builder.observe(id, 0.5);
            if position > 0 {
                builder.observe_pair(id, 0.5);
            }
        }
        builder.end_position(fieldmark_core::Gold::Unknown).unwrap();
    }
    let data = builder.finish();
    let mut tagger = model.tagger();
    // Extreme weights may overflow, which is an error and not a panic.
    if let Ok(labels) = tagger.tag(data.instance(0)) {
        assert!(
            labels
                .iter()
                .all(|&label| (label as usize) < model.labels().len())
        );
    }
    if let Ok(mut inference) = tagger.load(data.instance(0), &Constraints::none()) {
        let _ = inference.marginals(&mut Vec::new());
    }
}

/// A file in which one section is replaced.
fn with_section(model: &ChainModel, name: &str, bytes: &[u8]) -> Result<ChainModel, String> {
    let container = Container::from_bytes(to_bytes(model)).unwrap();
    assert!(container.has(name), "no section {name}");
    let mut writer = ContainerWriter::new();
    for section in container.sections() {
        let bytes = if section.name == name {
            bytes
        } else {
            section.bytes
        };
        writer.add_section(section.name, bytes.to_vec());
    }
    from_bytes(writer.to_bytes().unwrap()).map_err(|error| error.to_string())
}

/// Two labels, two observations, order 2, with boundaries, pairs and bias.
fn small() -> ChainModel {
    let mut builder = fieldmark_core::DatasetBuilder::new();
    for t in 0..3u32 {
        let name = ["x", "y"][t as usize % 2];
        let observation = builder.observations.intern(name);
        let label = builder.labels.intern(["A", "B"][t as usize % 2]);
        builder.observe(observation, 1.0);
        builder.observe_pair(observation, 1.0);
        builder.end_position(fieldmark_core::Gold::Known(label)).unwrap();
    }
    let data = builder.finish();
    let options = StructureOptions {
        order: 2,
        label_bias: true,
        boundaries: true,
        ..StructureOptions::default()
    };
    let structure = Structure::build(&data, &options).unwrap();
    let weights: Vec<f64> = (1..=structure.weights()).map(|i| i as f64).collect();
    ChainModel::new(data.labels.clone(), &data.observations, &structure, &weights)
}

#[test]
fn each_wrong_section_is_named() {
    let numbers = |numbers: &[u32]| -> Vec<u8> { numbers.iter().flat_map(|n| n.to_le_bytes()).collect() };
    let options = |change: (&str, &str)| {
        let container = Container::from_bytes(to_bytes(&small())).unwrap();
        let text = container.str("chain.options").unwrap().to_owned();
        assert!(text.contains(change.0));
        text.replace(change.0, change.1).into_bytes()
    };
    let weights = small().weights().len();
    let infinite: Vec<u8> = std::iter::repeat_n(f64::INFINITY.to_le_bytes(), weights)
        .flatten()
        .collect();
    let cases: &[(&str, Vec<u8>)] = &[
        ("chain.options", options(("chain\t1", "chain\t2"))),
        ("chain.options", options(("order\t2", "order\t4"))),
        ("chain.options", options(("order\t2\n", ""))),
        ("chain.options", options(("instances\t0\n", "instances\t0"))),
        (
            "chain.options",
            options(("instances\t0\n", "instances\t0\nmore\t1\n")),
        ),
        ("chain.labels", Vec::new()),
        ("chain.labels", b"A".to_vec()),
        ("chain.labels", b"A\nA\n".to_vec()),
        ("chain.labels", b"A\nB\\\n".to_vec()),
        ("chain.labels", b"A\nB\xff\n".to_vec()),
        ("chain.unknown", numbers(&[2])),
        ("chain.unknown", numbers(&[0, 1])),
        ("chain.unary.offsets", Vec::new()),
        ("chain.unary.offsets", numbers(&[0, 2])),
        ("chain.unary.offsets", numbers(&[0, 3, 2])),
        ("chain.unary.offsets", numbers(&[0, 1, u32::MAX])),
        ("chain.unary.columns", numbers(&[0, 2])),
        ("chain.pairs", numbers(&[0, 1, 1])),
        ("chain.pairs", numbers(&[1, 0, 0, 1])),
        ("chain.pairs", numbers(&[0, 1, 1, 2])),
        ("chain.pair.columns", numbers(&[1, 9])),
        ("chain.tuples.2", numbers(&[0])),
        ("chain.tuples.2", numbers(&[0, 1, 1, 3])),
        ("chain.tuples.2", numbers(&[0, 1, 0, 1])),
        ("chain.tuples.2", numbers(&[2, 2])),
        ("chain.tuples.3", numbers(&[0, 2, 1])),
        ("chain.weights", Vec::new()),
        ("chain.weights", infinite),
    ];
    for (section, bytes) in cases {
        let error = with_section(&small(), section, bytes).map(|_| ()).unwrap_err();
        let named = error.contains(&section[..section.rfind('.').unwrap()]);
        assert!(named, "{section} {bytes:?}: {error}");
    }
    let no_order = options(("order\t2", "order\t0"));
    assert!(with_section(&small(), "chain.options", &no_order).is_err());
    let no_boundaries = options(("boundaries\tyes", "boundaries\tno"));
    assert!(with_section(&small(), "chain.options", &no_boundaries).is_err());
    let no_bias = options(("label-bias\tyes", "label-bias\tno"));
    assert!(with_section(&small(), "chain.options", &no_bias).is_err());
}

#[test]
fn too_many_labels_are_refused_before_the_memory_is_gone() {
    let labels: String = (0..100_000).map(|label| format!("{label}\n")).collect();
    let error = with_section(&small(), "chain.labels", labels.as_bytes())
        .map(|_| ())
        .unwrap_err();
    assert!(error.contains("steps between"), "{error}");
}

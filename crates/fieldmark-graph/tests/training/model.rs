//! Models in files, as text, and as a start for others.

use crate::models::*;
use fieldmark_core::Gold;
use fieldmark_core::container::{Container, ContainerWriter, Kind};
use fieldmark_core::random::SplitMix64;
use fieldmark_graph::loopy::LoopyOptions;
use fieldmark_graph::{
    Description, EngineChoice, GraphDataset, GraphModel, Observe, Per, Relation, Relations, Skip, Structure,
    StructureError, Template,
};
use std::collections::HashSet;
use std::sync::Arc;

fn bytes(model: &GraphModel) -> Vec<u8> {
    let mut writer = ContainerWriter::new();
    model.write(&mut writer);
    writer.to_bytes().unwrap()
}

fn read(bytes: Vec<u8>) -> Result<GraphModel, String> {
    let container = Container::from_bytes(bytes).map_err(|error| error.to_string())?;
    GraphModel::read(&Arc::new(container)).map_err(|error| error.to_string())
}

fn model(description: &Description, seed: u64) -> (GraphDataset, GraphModel) {
    let data = data(description, Labels::Complete, seed);
    let structure = Structure::build(&data, description, relations()).unwrap();
    let mut weights = random_weights(structure.weights(), 2.0, seed);
    weights.iter_mut().step_by(3).for_each(|weight| *weight = 0.0);
    let model = GraphModel::new(&data, &structure, &weights).unwrap();
    for index in 0..data.len() {
        let expected = graph(&structure, &weights, &data, index);
        let mut tagger = model.tagger(&EngineChoice::default()).unwrap();
        let same = renamed(&data, &model, index);
        let found = tagger.unroll(same.instance(0)).unwrap().graph();
        let labels: Vec<u32> = (0..expected.variables() as u32)
            .map(|v| v % expected.labels(v))
            .collect();
        let (found, expected) = (found.score(&labels).unwrap(), expected.score(&labels).unwrap());
        // Forbidden labellings have the same score, too.
        assert!(
            found == expected || (found - expected).abs() < 1e-12,
            "{found} against {expected}"
        );
    }
    (data, model)
}

/// One instance of data, read again with the names of a model.
fn renamed(data: &GraphDataset, model: &GraphModel, index: usize) -> GraphDataset {
    let mut builder = model.dataset_builder();
    let instance = data.instance(index);
    let layers: Vec<_> = data.layers().cloned().collect();
    let gold = |per| vec![Gold::Unknown; layers.iter().filter(|layer| layer.per == per).count()];
    for position in 0..instance.len() as u32 {
        for (id, value) in instance.observations(position) {
            builder.observe(data.observations.name(id), value).unwrap();
        }
        builder.end_position(&gold(Per::Position)).unwrap();
    }
    for (id, value) in instance.instance_observations() {
        builder
            .observe_instance(data.observations.name(id), value)
            .unwrap();
    }
    builder.end_instance(&gold(Per::Instance)).unwrap();
    builder.finish()
}

#[test]
fn models_come_back_from_files_bit_by_bit() {
    for (seed, (name, description)) in descriptions().into_iter().enumerate() {
        let (data, model) = model(&description, seed as u64);
        let model = model.with_algorithm("pseudolikelihood");
        let file = bytes(&model);
        let again = read(file.clone()).unwrap().with_relations(relations());
        assert_eq!(bytes(&again), file, "{name}");
        assert_eq!(again.fingerprint(), model.fingerprint());
        assert_eq!(again.description(), &description);
        assert_eq!(again.algorithm(), Some("pseudolikelihood"));
        let mut taggers = [&model, &again].map(|model| model.tagger(&EngineChoice::default()).unwrap());
        for index in 0..data.len() {
            let same = renamed(&data, &model, index);
            let [one, other] = taggers
                .each_mut()
                .map(|tagger| tagger.tag(same.instance(0)).unwrap());
            assert_eq!(one, other, "{name}");
        }
    }
}

#[test]
fn a_model_with_custom_relations_asks_for_their_code() {
    let (_, description) = &descriptions()[5];
    let (data, model) = model(description, 1);
    let again = read(bytes(&model)).unwrap();
    let error = again
        .tagger(&EngineChoice::default())
        .unwrap()
        .tag(renamed(&data, &again, 0).instance(0))
        .unwrap_err();
    assert!(matches!(error, StructureError::UnknownRelation { .. }));
    assert!(error.to_string().contains("needs the relation \"triples\""));
}

#[test]
fn every_damaged_byte_is_an_error() {
    let (_, model) = model(&descriptions()[3].1, 1);
    let file = bytes(&model);
    for place in 0..file.len() {
        let mut damaged = file.clone();
        damaged[place] ^= 1 << (place % 8);
        assert!(read(damaged).is_err(), "byte {place}");
    }
    for length in (0..file.len()).step_by(7) {
        assert!(read(file[..length].to_vec()).is_err());
    }
}

/// Writes the sections of a model again, one of them changed, with sound checksums.
fn with_section(model: &GraphModel, name: &str, change: &dyn Fn(&mut ContainerWriter<'static>)) -> Vec<u8> {
    let container = Container::from_bytes(bytes(model)).unwrap();
    let mut writer = ContainerWriter::new();
    for section in container.sections() {
        if section.name == name {
            change(&mut writer);
            continue;
        }
        assert!(copy(
            &mut writer,
            section.name,
            section.kind,
            section.bytes.to_vec()
        ));
    }
    writer.to_bytes().unwrap()
}

/// Copies a section, whose bytes were changed, with a sound checksum; `false` if they make no section of its kind.
fn copy(writer: &mut ContainerWriter<'static>, name: &str, kind: Kind, bytes: Vec<u8>) -> bool {
    match kind {
        Kind::Text => match String::from_utf8(bytes) {
            Ok(text) => writer.add_str(name, text),
            Err(_) => return false,
        },
        Kind::U32 => {
            let (numbers, _) = bytes.as_chunks();
            writer.add_u32s(
                name,
                numbers
                    .iter()
                    .map(|&bytes| u32::from_le_bytes(bytes))
                    .collect::<Vec<_>>(),
            )
        }
        Kind::U64 => {
            let (numbers, _) = bytes.as_chunks();
            writer.add_u64s(
                name,
                numbers
                    .iter()
                    .map(|&bytes| u64::from_le_bytes(bytes))
                    .collect::<Vec<_>>(),
            )
        }
        Kind::F64 => {
            let (numbers, _) = bytes.as_chunks();
            writer.add_f64s(
                name,
                numbers
                    .iter()
                    .map(|&bytes| f64::from_le_bytes(bytes))
                    .collect::<Vec<_>>(),
            )
        }
        _ => writer.add_section(name, bytes),
    };
    true
}

#[test]
fn random_changes_with_sound_checksums_are_errors_or_models_that_work() {
    let mut random = SplitMix64(1);
    let mut working = 0;
    for (seed, (_, description)) in descriptions().into_iter().enumerate() {
        let (_, model) = model(&description, seed as u64);
        let container = Container::from_bytes(bytes(&model)).unwrap();
        let sections: Vec<_> = container.sections().collect();
        for _ in 0..300 {
            let changed = random.below(sections.len() as u32) as usize;
            let mut writer = ContainerWriter::new();
            let mut sound = true;
            for (index, section) in sections.iter().enumerate() {
                let mut bytes = section.bytes.to_vec();
                if index == changed && !bytes.is_empty() {
                    let place = random.below(bytes.len() as u32) as usize;
                    match random.below(4) {
                        0 => bytes[place] = random.below(256) as u8,
                        1 => bytes[place] = bytes[place].wrapping_add(1),
                        2 => bytes.truncate(place),
                        _ => bytes.extend_from_within(place..),
                    }
                }
                sound &= copy(&mut writer, section.name, section.kind, bytes);
            }
            if !sound {
                continue;
            }
            let Ok(model) = read(writer.to_bytes().unwrap()) else {
                continue;
            };
            working += 1;
            exercise(&model.with_relations(relations()));
        }
    }
    assert!(working > 100, "{working} changes left a model");
}

/// Uses a model; errors are allowed, panics are not.
fn exercise(model: &GraphModel) {
    let mut builder = model.dataset_builder();
    let count = |per| {
        model
            .description()
            .layers
            .iter()
            .filter(|layer| layer.per == per)
            .count()
    };
    for word in ["w=0", "w=1", "w=0", "x"] {
        builder.observe(word, 1.0).unwrap();
        builder
            .end_position(&vec![Gold::Unknown; count(Per::Position)])
            .unwrap();
    }
    builder.observe_instance("d=0", 1.0).unwrap();
    builder
        .end_instance(&vec![Gold::Unknown; count(Per::Instance)])
        .unwrap();
    let data = builder.finish();
    if let Ok(mut tagger) = model.tagger(&EngineChoice::default()) {
        let _ = tagger.tag(data.instance(0));
    }
    let text = dump(model);
    match GraphModel::from_dump(text.as_bytes()) {
        Ok(loaded) => assert_eq!(dump(&loaded), text),
        // A file may hold a name twice, which no program writes.
        Err(error) => {
            let names: HashSet<&str> = model.observations().iter().collect();
            assert!(names.len() < model.observations().len(), "{error}");
        }
    }
    let file = bytes(model);
    assert_eq!(bytes(&read(file.clone()).unwrap()), file);
}

#[test]
fn sections_that_mean_nothing_are_named() {
    let (_, model) = model(&descriptions()[2].1, 1);
    let description = serde_json::to_string(model.description()).unwrap();
    let text = |name: &'static str, text: String| {
        with_section(&model, name, &move |writer| {
            writer.add_str(name, text.clone());
        })
    };
    let numbers = |name: &'static str, numbers: Vec<u32>| {
        with_section(&model, name, &move |writer| {
            writer.add_u32s(name, numbers.clone());
        })
    };
    let weights = |weights: Vec<f64>| {
        with_section(&model, "graph.weights", &move |writer| {
            writer.add_f64s("graph.weights", weights.clone());
        })
    };
    let mut infinite = model.weights().to_vec();
    infinite[0] = f64::NAN;
    let other = Description::factorial(&["a", "b", "c"]);
    let other = serde_json::to_string(&other).unwrap();
    let cases = [
        (text("graph.description", description.clone()), "\"graph\\t1\""),
        (
            text("graph.description", "graph\t2\n{}".into()),
            "the version that this program reads",
        ),
        (text("graph.description", "graph\t1\n{}".into()), "missing field"),
        (
            text("graph.description", format!("graph\t1\n{other}")),
            "one for each of 3 layers",
        ),
        (
            text(
                "graph.description",
                format!("graph\t1\n{}", description.replace("\"a\"", "\"b\"")),
            ),
            "names must differ",
        ),
        (
            text("graph.labels", "[[\"L0\", \"L0\"], [\"x\"]]".into()),
            "\"L0\" twice",
        ),
        (text("graph.labels", "[[], [\"x\"]]".into()), "has no label"),
        (
            text("graph.labels", "[[\"L0\"]]".into()),
            "one for each of 2 layers",
        ),
        (text("graph.labels", "{".into()), "lists of labels"),
        (
            numbers("graph.rows.0.offsets", vec![0, 1]),
            "borders that do not fit",
        ),
        (
            numbers("graph.rows.0.entries", vec![9]),
            "borders that do not fit",
        ),
        (
            numbers("graph.bias.0", vec![1, 0]),
            "distinct sorted numbers below 2",
        ),
        (
            numbers("graph.bias.2", vec![4]),
            "distinct sorted numbers below 4",
        ),
        (
            numbers("graph.forbidden.1", vec![3]),
            "distinct sorted numbers below 3",
        ),
        (weights(vec![1.0]), "one for each of"),
        (weights(infinite), "not finite"),
    ];
    for (file, expected) in cases {
        let error = read(file).unwrap_err();
        assert!(error.contains(expected), "{error}: expected {expected}");
    }
    for name in [
        "graph.labels",
        "graph.weights",
        "graph.bias.1",
        "graph.observations.text",
    ] {
        let error = read(with_section(&model, name, &|_| {})).unwrap_err();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn unknown_words_still_make_skip_edges() {
    let description = Description::skip_chain("a", [Skip::same("a", "w=")]);
    let (_, model) = model(&description, 3);
    let mut builder = model.dataset_builder();
    for word in ["new", "w=0", "other", "new"] {
        builder.observe(&format!("w={word}"), 1.0).unwrap();
        builder.end_position(&[Gold::Unknown]).unwrap();
    }
    builder.end_instance(&[]).unwrap();
    let data = builder.finish();
    let mut tagger = model.tagger(&EngineChoice::default()).unwrap();
    let graph = tagger.unroll(data.instance(0)).unwrap().graph();
    let skips: Vec<&[u32]> = (0..graph.factors())
        .filter(|&factor| graph.template_of(factor) == 2)
        .map(|factor| graph.scope(factor))
        .collect();
    assert_eq!(skips, [[0, 3]]);
    let decoding = tagger.tag(data.instance(0)).unwrap();
    let name = tagger.label(data.instance(0), &decoding, 0, 3).unwrap();
    assert_eq!(model.labels(0).get(name), Some(decoding.labels[3]));
    let beliefs = tagger.marginals(data.instance(0)).unwrap();
    assert!((beliefs.variable(0).iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn a_model_with_fewer_templates_is_a_start() {
    let small = Description::factorial(&["a", "b"]);
    let (data, model) = model(&small, 4);
    let mut large = small.clone();
    large.templates.insert(
        0,
        Template::new(Relation::Skip(Skip::same("a", "w="))).observe(Observe::Either),
    );
    let structure = Structure::build(&data, &large, Relations::none()).unwrap();
    let start = model.project(&data, &structure);
    assert_eq!(start.taken, model.weights().len());
    let new = structure.template_weights(0);
    assert!(start.weights[new.clone()].iter().all(|&weight| weight == 0.0));
    // What the old model knew scores as before.
    for index in 0..data.len() {
        let small_structure = Structure::build(&data, &small, Relations::none()).unwrap();
        let old = model.project(&data, &small_structure).weights;
        let (one, other) = (
            graph(&small_structure, &old, &data, index),
            graph(&structure, &start.weights, &data, index),
        );
        let labels: Vec<u32> = (0..one.variables() as u32).map(|v| v % one.labels(v)).collect();
        assert!((one.score(&labels).unwrap() - other.score(&labels).unwrap()).abs() < 1e-12);
    }
    // A template of the same name that joins other layers has nothing to give.
    let mut other = Description::factorial(&["b", "a"]);
    other.templates[4].name = "between:a-b".into();
    let mut twisted = crate::models::data(&other, Labels::Complete, 4);
    twisted.observations = data.observations.clone();
    let structure = Structure::build(&twisted, &other, Relations::none()).unwrap();
    let start = model.project(&twisted, &structure);
    assert!(
        start.weights[structure.template_weights(4)]
            .iter()
            .all(|&weight| weight == 0.0)
    );
}

#[test]
fn the_dump_has_a_line_for_each_weight() {
    let (_, model) = model(&descriptions()[10].1, 2);
    let model = model.with_algorithm("sample-rank");
    let text = dump(&model);
    let count = |word: &str| {
        text.lines()
            .filter(|line| line.split('\t').next() == Some(word))
            .count()
    };
    assert_eq!(count("weight") + count("bias"), model.weights().len());
    assert_eq!((count("layer"), count("template"), count("end")), (2, 5, 1));
    assert!(count("forbid") > 0);
    assert!(text.starts_with("fieldmark-graph\t1\ndescription\t{"));
    assert!(text.contains("\nlayer\t\"a\"\t\"L0\"\t\"L1\"\n"));
    assert!(text.ends_with("\nalgorithm\t\"sample-rank\"\nend\n"));
    let mut sum = 0.0;
    for line in text
        .lines()
        .filter(|line| line.starts_with("weight") || line.starts_with("bias"))
    {
        sum += line.rsplit('\t').next().unwrap().parse::<f64>().unwrap();
    }
    assert!((sum - model.weights().iter().sum::<f64>()).abs() < 1e-9);
}

fn dump(model: &GraphModel) -> String {
    let mut text = Vec::new();
    model.dump(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn every_model_comes_back_from_its_dump_in_every_bit() {
    for (name, description) in descriptions() {
        let (_, model) = model(&description, 3);
        for model in [model.clone(), model.with_algorithm("l\tbfgs\n")] {
            let text = dump(&model);
            let loaded = GraphModel::from_dump(text.as_bytes())
                .unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
            assert_eq!(bytes(&loaded), bytes(&model), "{name}");
            assert_eq!(loaded.fingerprint(), model.fingerprint(), "{name}");
            assert_eq!(dump(&loaded), text, "{name}");
        }
    }
}

#[test]
fn a_damaged_dump_is_an_error_with_a_line_or_a_model_that_works() {
    let mut random = SplitMix64(9);
    let (mut errors, mut models) = (0, 0);
    for (_, description) in descriptions() {
        let (_, model) = model(&description, 3);
        for _ in 0..150 {
            let mut text = dump(&model).into_bytes();
            let place = random.below(text.len() as u32) as usize;
            match random.below(4) {
                0 => text[place] ^= 1 << random.below(8),
                1 => text.truncate(place),
                2 => text[place] = b"\t\n\"0"[random.below(4) as usize],
                _ => {
                    let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
                    let count = lines.len() as u32;
                    lines.swap(random.below(count) as usize, random.below(count) as usize);
                    text = lines.concat();
                }
            }
            match GraphModel::from_dump(&text[..]) {
                Ok(model) => {
                    models += 1;
                    exercise(&model.with_relations(relations()));
                }
                Err(error) => {
                    errors += 1;
                    let lines = text.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
                    assert!((1..=lines).contains(&error.line()), "{error}");
                }
            }
        }
    }
    assert!(errors > 500 && models > 50, "{errors} errors, {models} models");
}

#[test]
fn lines_of_a_dump_that_are_wrong_are_named() {
    let (_, model) = model(&descriptions()[10].1, 2);
    let text = dump(&model);
    let line_of = |start: &str| text.lines().position(|line| line.starts_with(start)).unwrap() as u64 + 1;
    let first = |start: &str| {
        text.lines()
            .find(|line| line.starts_with(start))
            .unwrap()
            .to_owned()
            + "\n"
    };
    let doubled = |start: &str| (first(start), first(start).repeat(2), line_of(start) + 1);
    let (observation, double_observation, observation_line) = doubled("observation");
    let (weight, double_weight, weight_line) = doubled("weight");
    let (bias, double_bias, bias_line) = doubled("bias");
    let (forbid, double_forbid, forbid_line) = doubled("forbid");
    let cases = [
        ("graph\t1", "chain\t1", 1, "expected \"fieldmark-graph\\t1\""),
        ("description\t", "description", 2, "a description in JSON"),
        (
            "\"layers\":[",
            "\"layers\":[0,",
            2,
            "the description of a graph model",
        ),
        (
            "layer\t\"a\"",
            "layer\t\"z\"",
            3,
            "the name \"a\" and distinct labels",
        ),
        ("\t\"L0\"\t\"L1\"", "\t\"L0\"\t\"L0\"", 3, "distinct labels"),
        (
            &observation,
            &double_observation,
            observation_line,
            "not been named yet",
        ),
        (&weight, &double_weight, weight_line, "each weight once"),
        (&bias, &double_bias, bias_line, "each bias once"),
        (
            &forbid,
            &double_forbid,
            forbid_line,
            "once, in the order of labels",
        ),
        (
            "template\t\"",
            "template\t\"x",
            line_of("template"),
            "the template",
        ),
        ("weight\t\"w=", "weight\t\"v=", line_of("weight"), "named before"),
        (
            &weight,
            "weight\t\"w=0\"\t\"L9\"\t1.0\n",
            line_of("weight"),
            "a label of the layer",
        ),
        (
            &weight,
            "weight\t\"w=0\"\t\"L0\"\tinf\n",
            line_of("weight"),
            "a finite weight",
        ),
        (
            &weight,
            "weight\t\"w=0\"\t1.0\n",
            line_of("weight"),
            "a label for each of 1 variables",
        ),
        (
            &weight,
            &observation,
            line_of("weight"),
            "observations come before templates",
        ),
        (
            "\nend\n",
            "\n",
            text.lines().count() as u64,
            "the text is cut off",
        ),
        (
            "\nend\n",
            "\nend\nend\n",
            text.lines().count() as u64 + 1,
            "nothing after `end`",
        ),
    ];
    for (from, to, line, expected) in cases {
        assert!(text.contains(from), "{from}");
        let error = GraphModel::from_dump(text.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert!(
            error.line() == line && error.to_string().contains(expected),
            "{from:?} → {to:?}: {error}"
        );
    }
}

#[test]
fn labels_are_those_of_the_layer_and_only_where_there_is_a_variable() {
    let description = Description::hierarchical("all", &["a", "b"], true, false);
    let (data, model) = model(&description, 4);
    let mut tagger = model.tagger(&EngineChoice::default()).unwrap();
    let layer = |name: &str| {
        description
            .layers
            .iter()
            .position(|layer| layer.name == name)
            .unwrap()
    };
    let (a, b, all) = (layer("a"), layer("b"), layer("all"));
    for index in 0..data.len() {
        let same = renamed(&data, &model, index);
        let instance = same.instance(0);
        let decoding = tagger.tag(instance).unwrap();
        let length = instance.len() as u32;
        for position in 0..length + 3 {
            for layer in [a, b] {
                let label = tagger.label(instance, &decoding, layer, position);
                assert_eq!(label.is_some(), position < length, "{layer} {position}");
            }
            assert!(tagger.label(instance, &decoding, all, position).is_some());
            assert_eq!(tagger.label(instance, &decoding, 3, position), None);
        }
        // The labels of a decoding that belongs to another graph are not those of this model.
        let mut foreign = decoding.clone();
        foreign.labels.fill(77);
        assert_eq!(tagger.label(instance, &foreign, all, 0), None);
        foreign.labels.clear();
        assert_eq!(tagger.label(instance, &foreign, all, 0), None);
    }
}

#[test]
#[should_panic(expected = "no variable in layer 0 at position 3 of 3")]
fn a_variable_beyond_the_end_is_not_that_of_another_layer() {
    let (data, model) = model(&descriptions()[2].1, 4);
    let tagger = model.tagger(&EngineChoice::default()).unwrap();
    tagger.variable(data.instance(0), 0, 3);
}

#[test]
fn wrong_options_of_an_engine_are_not_the_fault_of_an_instance() {
    let (_, model) = model(&descriptions()[2].1, 4);
    let damping = EngineChoice::Loopy(LoopyOptions {
        damping: 2.0,
        ..LoopyOptions::default()
    });
    let error = model.tagger(&damping).map(|_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "damping is 2, expected a number from 0 to below 1"
    );
}

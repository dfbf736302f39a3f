//! A [`ChainModel`] in a model file: sections whose names begin with `chain.`.
//!
//! | section | content |
//! |---|---|
//! | `chain.options` | text: `chain ⇥ 1` (the version of this table), then one option per line |
//! | `chain.labels` | text: one label per line, with `\t`, `\n`, `\r` and `\\` for what would break it |
//! | `chain.observations.*` | [`Names`] |
//! | `chain.unknown` | u32: the observation that stands for unknown names, or nothing |
//! | `chain.transitions` | u32, two each: the labels that may be neighbours, then, after the number of labels, those that may begin a sequence; only where unseen transitions are forbidden |
//! | `chain.unary.offsets`, `.columns` | u32: observation × label, see [`FeatureTable`] |
//! | `chain.pairs` | u32, two each: the label pairs that are columns of the next table |
//! | `chain.pair.offsets`, `.columns` | u32: observation × label pair |
//! | `chain.tuples.2` to `chain.tuples.4` | u32, as many each as the name says: label tuples, as the order permits |
//! | `chain.algorithm` | text: the name of the training algorithm; absent if it was not noted |
//! | `chain.weights` | f64: the weights in the numbering of [`Structure`] |
//!
//! The checksums of the container say that a file is as it was written, not that it was written by this
//! program. So everything is checked here that later code relies on, in one pass over each array; the large
//! ones stay where they lie.

use super::ChainModel;
use super::text::{OPTIONS, escape, option, set_option, unescape};
use crate::features::FeatureTable;
use crate::structure::{Structure, StructureOptions, UnseenTransitions};
use crate::transitions::Transitions;
use crate::tuples::Tuples;
use fieldmark_core::container::{Container, ContainerError, ContainerWriter, Shared};
use fieldmark_core::{Alphabet, Names};
use std::sync::Arc;

const VERSION_LINE: &str = "chain\t1";
const OBSERVATIONS: &str = "chain.observations";
const ALGORITHM: &str = "chain.algorithm";
const TRANSITIONS: &str = "chain.transitions";

impl ChainModel {
    /// Adds the model to a container as sections that begin with `chain.`.
    pub fn write<'a>(&'a self, writer: &mut ContainerWriter<'a>) {
        let structure = &self.structure;
        writer.add_str("chain.options", options_text(structure.options()));
        writer.add_str("chain.labels", labels_text(&self.labels));
        self.observations.write(OBSERVATIONS, writer);
        writer.add_u32s("chain.unknown", Vec::from_iter(self.unknown));
        if let Some(allowed) = structure.allowed_transitions() {
            writer.add_u32s(TRANSITIONS, allowed.pairs_and_starts().as_flattened());
        }
        write_table("chain.unary", structure.unary(), writer);
        writer.add_u32s("chain.pairs", structure.pairs().as_flattened());
        write_table("chain.pair", structure.pair(), writer);
        for length in tuple_lengths(structure.options()) {
            let tuples = structure.tuples().iter().filter(|tuple| tuple.len() == length);
            writer.add_u32s(
                &tuple_section(length),
                tuples.flatten().copied().collect::<Vec<_>>(),
            );
        }
        if let Some(algorithm) = &self.algorithm {
            writer.add_str(ALGORITHM, algorithm.as_str());
        }
        writer.add_f64s("chain.weights", &self.weights[..]);
    }

    /// A hash of labels, names, features and weights: equal for equal models.
    pub fn fingerprint(&self) -> u64 {
        let mut writer = ContainerWriter::new();
        self.write(&mut writer);
        writer.fingerprint()
    }

    /// The model in a container, checked. Names, features and weights stay where they lie.
    pub fn read(container: &Arc<Container>) -> Result<Self, ContainerError> {
        let options = read_options(container)?;
        let labels = read_labels(container)?;
        let observations = Names::read(OBSERVATIONS, container)?;
        let unknown = read_unknown(container, observations.len())?;
        let unary = read_table("chain.unary", container, observations.len(), labels.len())?;
        let pairs = read_pairs(container, &options, labels.len())?;
        let pair = read_table("chain.pair", container, observations.len(), pairs.len())?;
        let allowed = read_transitions(container, &options, labels.len())?;
        let tuples = read_tuples(container, &options, labels.len())?.only(allowed);
        let structure = Structure::assemble(options, labels.len(), unary, pairs, pair, tuples);
        let weights = read_weights(container, structure.weights())?;
        let model = Self::assemble(labels, observations, unknown, structure, weights);
        if !container.has(ALGORITHM) {
            return Ok(model);
        }
        Ok(model.with_algorithm(container.str(ALGORITHM)?))
    }
}

fn options_text(options: &StructureOptions) -> String {
    let mut text = format!("{VERSION_LINE}\n");
    for key in OPTIONS {
        text += &format!("{key}\t{}\n", option(options, key));
    }
    text
}

fn read_options(container: &Container) -> Result<StructureOptions, ContainerError> {
    const SECTION: &str = "chain.options";
    let text = container.str(SECTION)?;
    let wrong =
        |found: &str, expected: String| container.wrong_section(SECTION, format!("{found:?}"), expected);
    let mut lines = text.split_terminator('\n');
    let version = lines.next().unwrap_or_default();
    if version != VERSION_LINE {
        return Err(wrong(
            version,
            format!("{VERSION_LINE:?}, the version that this program reads"),
        ));
    }
    let mut options = StructureOptions::default();
    for key in OPTIONS {
        let line = lines.next().unwrap_or_default();
        let value = line.strip_prefix(key).and_then(|rest| rest.strip_prefix('\t'));
        let set = value
            .ok_or("its value")
            .and_then(|value| set_option(&mut options, key, value));
        set.map_err(|expected| wrong(line, format!("`{key}`, a tab and {expected}")))?;
    }
    match lines.next() {
        Some(line) => Err(wrong(line, "no further option".to_owned())),
        None if !text.ends_with('\n') => Err(wrong(text, "complete lines".to_owned())),
        None => Ok(options),
    }
}

fn labels_text(labels: &Alphabet) -> String {
    let mut text = String::new();
    for label in labels.iter() {
        text += &escape(label);
        text.push('\n');
    }
    text
}

fn read_labels(container: &Container) -> Result<Alphabet, ContainerError> {
    const SECTION: &str = "chain.labels";
    let text = container.str(SECTION)?;
    let wrong = |found: String, expected: &str| Err(container.wrong_section(SECTION, found, expected));
    if !text.ends_with('\n') {
        return wrong(
            format!("{} bytes", text.len()),
            "at least one label, and complete lines",
        );
    }
    let mut labels = Alphabet::new();
    for (count, line) in text.split_terminator('\n').enumerate() {
        let Some(label) = unescape(line) else {
            return wrong(format!("{line:?}"), "a label without stray backslashes and tabs");
        };
        if labels.intern(&label) as usize != count {
            return wrong(format!("{line:?} twice"), "distinct labels");
        }
    }
    Ok(labels)
}

fn read_unknown(container: &Container, observations: usize) -> Result<Option<u32>, ContainerError> {
    match container.u32s("chain.unknown")?[..] {
        [] => Ok(None),
        [id] if (id as usize) < observations => Ok(Some(id)),
        ref found => Err(container.wrong_section(
            "chain.unknown",
            format!("{} numbers from {:?}", found.len(), found[0]),
            format!("nothing or one of the {observations} observations"),
        )),
    }
}

fn write_table<'a>(prefix: &str, table: &'a FeatureTable, writer: &mut ContainerWriter<'a>) {
    writer.add_u32s(&format!("{prefix}.offsets"), table.offsets());
    writer.add_u32s(&format!("{prefix}.columns"), table.all_columns());
}

fn read_table(
    prefix: &str,
    container: &Arc<Container>,
    rows: usize,
    width: usize,
) -> Result<FeatureTable, ContainerError> {
    let section = format!("{prefix}.offsets");
    let offsets = container.shared(&section)?;
    let columns = container.shared(&format!("{prefix}.columns"))?;
    match FeatureTable::from_parts(offsets, columns, width) {
        Some(table) if table.rows() == rows => Ok(table),
        Some(table) => Err(container.wrong_section(
            &section,
            format!("{} rows", table.rows()),
            format!("one row for each of {rows} observations"),
        )),
        None => Err(container.wrong_section(
            &section,
            "borders that do not fit the columns",
            format!("rising borders of rows with distinct sorted columns below {width}"),
        )),
    }
}

fn read_pairs(
    container: &Container,
    options: &StructureOptions,
    labels: usize,
) -> Result<Vec<[u32; 2]>, ContainerError> {
    const SECTION: &str = "chain.pairs";
    let numbers = container.u32s(SECTION)?;
    let wrong = |found: String, expected: &str| Err(container.wrong_section(SECTION, found, expected));
    let (pairs, []) = numbers.as_chunks() else {
        return wrong(format!("{} numbers", numbers.len()), "two labels for each pair");
    };
    if options.order == 0 && !pairs.is_empty() {
        return wrong(format!("{} pairs", pairs.len()), "none in a model of order 0");
    }
    if let Some(pair) = pairs
        .iter()
        .find(|pair| pair.iter().any(|&label| label as usize >= labels))
    {
        return wrong(format!("{pair:?}"), &format!("numbers of {labels} labels"));
    }
    if !pairs.is_sorted_by(|a, b| a < b) {
        return wrong("pairs out of order".to_owned(), "distinct sorted pairs");
    }
    Ok(pairs.to_vec())
}

fn read_transitions(
    container: &Container,
    options: &StructureOptions,
    labels: usize,
) -> Result<Option<Transitions>, ContainerError> {
    if options.unseen_transitions == UnseenTransitions::Free {
        return Ok(None);
    }
    let wrong = |found: String, expected: &str| Err(container.wrong_section(TRANSITIONS, found, expected));
    if options.order == 0 {
        return wrong(
            "order 0".to_owned(),
            "an order with transitions that can be forbidden",
        );
    }
    let numbers = container.u32s(TRANSITIONS)?;
    let (pairs, []) = numbers.as_chunks() else {
        return wrong(format!("{} numbers", numbers.len()), "two labels for each pair");
    };
    match Transitions::from_pairs(labels, pairs.to_vec()) {
        None => wrong(
            format!("{} pairs that do not fit together", pairs.len()),
            "distinct sorted pairs that allow sequences of any length",
        ),
        allowed => Ok(allowed),
    }
}

/// The lengths of tuples that have a section of their own.
fn tuple_lengths(options: &StructureOptions) -> std::ops::RangeInclusive<usize> {
    2..=options.order + 1
}

fn tuple_section(length: usize) -> String {
    format!("chain.tuples.{length}")
}

fn read_tuples(
    container: &Container,
    options: &StructureOptions,
    labels: usize,
) -> Result<Tuples, ContainerError> {
    let mut list: Vec<Box<[u32]>> = Vec::new();
    for length in tuple_lengths(options) {
        let section = tuple_section(length);
        let numbers = container.u32s(&section)?;
        let wrong = |found: String, expected: String| Err(container.wrong_section(&section, found, expected));
        if !numbers.len().is_multiple_of(length) {
            return wrong(
                format!("{} numbers", numbers.len()),
                format!("{length} for each tuple"),
            );
        }
        let tuples = numbers.chunks_exact(length);
        if let Some(tuple) = tuples
            .clone()
            .find(|tuple| !Tuples::may_hold(tuple, labels, options))
        {
            let expected = format!("tuples that order, options and {labels} labels permit");
            return wrong(format!("the tuple {tuple:?}"), expected);
        }
        if !tuples.clone().is_sorted_by(|a, b| a < b) {
            return wrong(
                "tuples out of order".to_owned(),
                "distinct sorted tuples".to_owned(),
            );
        }
        list.extend(tuples.map(Box::from));
    }
    let tuples = Tuples::from_list(labels, options.order, list);
    match tuples.check_size() {
        Ok(()) => Ok(tuples),
        Err(error) => Err(container.wrong_section("chain.labels", error, "a smaller automaton")),
    }
}

fn read_weights(container: &Arc<Container>, count: usize) -> Result<Shared<f64>, ContainerError> {
    const SECTION: &str = "chain.weights";
    let weights: Shared<f64> = container.shared(SECTION)?;
    if weights.len() != count {
        let expected = format!("one for each of {count} features");
        return Err(container.wrong_section(SECTION, format!("{} weights", weights.len()), expected));
    }
    // Without an early exit, the loop is done in vectors.
    let finite = weights
        .iter()
        .fold(true, |finite, weight| finite & weight.is_finite());
    if finite {
        Ok(weights)
    } else {
        Err(container.wrong_section(SECTION, "a weight that is not finite", "finite weights"))
    }
}

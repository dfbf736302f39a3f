//! Text dumps of models, read back line by line. [`super::dump`] has the form of the lines.

use super::ChainModel;
use super::dump::{DumpError, END, FIRST, START};
use super::text::{OPTIONS, set_option, unescape};
use crate::features::{FeatureTable, TooManyFeatures};
use crate::structure::{Strategy, Structure, StructureOptions, UnseenTransitions};
use crate::transitions::Transitions;
use crate::tuples::Tuples;
use fieldmark_core::dump::{Lines, Wrong, parse_weight};
use fieldmark_core::{Alphabet, Names};
use std::borrow::Cow;
use std::io::BufRead;

impl ChainModel {
    /// The model that [`ChainModel::dump`] wrote, equal in every bit.
    pub fn from_dump(text: impl BufRead) -> Result<Self, DumpError> {
        let mut lines = Lines::new(text);
        let mut loader = Loader::new(options(&mut lines)?);
        while let Some(line) = lines.before_end()? {
            loader.line(line).map_err(|wrong| lines.wrong(wrong))?;
        }
        let model = loader.finish().map_err(|wrong| lines.wrong(wrong))?;
        lines.finish()?;
        Ok(model)
    }
}

/// The first line and the options.
fn options<R: BufRead>(lines: &mut Lines<R>) -> Result<StructureOptions, DumpError> {
    lines.begin(FIRST)?;
    let mut options = StructureOptions::default();
    for key in OPTIONS {
        lines.advance()?;
        let line = lines.current()?;
        let value = line.strip_prefix(key).and_then(|rest| rest.strip_prefix('\t'));
        let set = value
            .ok_or("its value")
            .and_then(|value| set_option(&mut options, key, value));
        set.map_err(|expected| lines.wrong(Wrong::expected(format!("`{key}`, a tab and {expected}"))))?;
    }
    if options.order == 0 && options.unseen_transitions == UnseenTransitions::Forbid {
        return Err(lines.wrong(Wrong::expected("`free` in a model of order 0")));
    }
    Ok(options)
}

/// The parts of the text, in order; the lines of a part may not come after those of a later one.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Part {
    Labels,
    Biases,
    Transitions,
    Tuples,
    Pairs,
    Observations,
    Unknown,
}

/// A model that grows line by line.
struct Loader {
    options: StructureOptions,
    part: Part,
    labels: Alphabet,
    biases: Vec<f64>,
    transitions: Vec<[u32; 2]>,
    /// What they allow, once all are read; `None` when everything is allowed.
    allowed: Option<Transitions>,
    tuples: Vec<Box<[u32]>>,
    tuple_weights: Vec<f64>,
    pairs: Vec<[u32; 2]>,
    observations: Alphabet,
    unary: Rows,
    pair: Rows,
    /// Whether the last observation was said to have no weight.
    closed: bool,
    unknown: Option<u32>,
    algorithm: Option<String>,
}

/// The features of one table, row by row.
#[derive(Default)]
struct Rows {
    /// Start of each row.
    offsets: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

impl Rows {
    fn begin_row(&mut self) -> Result<(), Wrong> {
        let start =
            u32::try_from(self.columns.len()).map_err(|_| Wrong::Limit(TooManyFeatures.to_string()))?;
        self.offsets.push(start);
        Ok(())
    }

    /// Adds a feature to the last row; `false` when its column does not come after the others.
    fn push(&mut self, column: u32, weight: f64) -> bool {
        let start = self.offsets.last().map_or(0, |&start| start as usize);
        let rising = self.columns[start..].last().is_none_or(|&last| last < column);
        self.columns.push(column);
        self.weights.push(weight);
        rising
    }

    fn finish(mut self, width: usize) -> Result<(FeatureTable, Vec<f64>), Wrong> {
        self.begin_row()?;
        let table = FeatureTable::from_parts(self.offsets.into(), self.columns.into(), width);
        // The rows were checked when they were filled.
        let table = table.ok_or_else(|| Wrong::expected("features that fit together"))?;
        Ok((table, self.weights))
    }
}

impl Loader {
    fn new(options: StructureOptions) -> Self {
        Self {
            options,
            part: Part::Labels,
            labels: Alphabet::new(),
            biases: Vec::new(),
            transitions: Vec::new(),
            allowed: None,
            tuples: Vec::new(),
            tuple_weights: Vec::new(),
            pairs: Vec::new(),
            observations: Alphabet::new(),
            unary: Rows::default(),
            pair: Rows::default(),
            closed: false,
            unknown: None,
            algorithm: None,
        }
    }

    fn line(&mut self, line: &str) -> Result<(), Wrong> {
        let mut fields = line.split('\t');
        let kind = fields.next().unwrap_or_default();
        let fields: Vec<&str> = fields.collect();
        match (kind, &fields[..]) {
            ("label", [name]) => self.enter(Part::Labels).and_then(|()| self.label(name)),
            ("bias", [label, weight]) => self.enter(Part::Biases).and_then(|()| self.bias(label, weight)),
            ("allow", [from, to]) => self
                .enter(Part::Transitions)
                .and_then(|()| self.transition(from, to)),
            ("tuple", [labels @ .., weight]) if labels.len() >= 2 => {
                self.enter(Part::Tuples).and_then(|()| self.tuple(labels, weight))
            }
            ("pair", [from, to]) => self.enter(Part::Pairs).and_then(|()| self.label_pair(from, to)),
            ("state", [name, label, weight]) => self
                .enter(Part::Observations)
                .and_then(|()| self.state(name, label, weight)),
            ("step", [name, from, to, weight]) => self
                .enter(Part::Observations)
                .and_then(|()| self.step(name, [from, to], weight)),
            ("observation", [name]) => self
                .enter(Part::Observations)
                .and_then(|()| self.lone_observation(name)),
            ("unknown", [name]) => self.enter(Part::Unknown).and_then(|()| self.unknown(name)),
            ("algorithm", [name]) => self.enter(Part::Unknown).and_then(|()| self.algorithm(name)),
            _ => Err(Wrong::expected(
                "`label`, `bias`, `allow`, `tuple`, `pair`, `state`, `step`, `observation`, `unknown`, `algorithm` or `end` with \
                 its fields, separated by tabs",
            )),
        }
    }

    fn enter(&mut self, part: Part) -> Result<(), Wrong> {
        if part < self.part {
            return Err(Wrong::expected(
                "this line further up: labels, biases, transitions, tuples, pairs, observations, in this order",
            ));
        }
        if self.part == Part::Labels && part > Part::Labels {
            self.finish_labels()?;
        }
        if part > Part::Biases && self.part <= Part::Biases {
            self.finish_biases()?;
        }
        if part > Part::Transitions && self.part <= Part::Transitions {
            self.finish_transitions()?;
        }
        self.part = part;
        Ok(())
    }

    fn finish_labels(&self) -> Result<(), Wrong> {
        if self.labels.is_empty() {
            Err(Wrong::expected(
                "`label` and a name: a model has at least one label",
            ))
        } else {
            Ok(())
        }
    }

    fn finish_biases(&self) -> Result<(), Wrong> {
        let missing = self.has_bias() && self.biases.len() < self.labels.len();
        match self.labels.iter().nth(self.biases.len()) {
            Some(label) if missing => Err(Wrong::expected(format!("`bias` of the label {label:?}"))),
            _ => Ok(()),
        }
    }

    fn finish_transitions(&mut self) -> Result<(), Wrong> {
        if self.options.unseen_transitions == UnseenTransitions::Free {
            return Ok(());
        }
        let pairs = std::mem::take(&mut self.transitions);
        self.allowed = Transitions::from_pairs(self.labels.len(), pairs);
        match self.allowed {
            Some(_) => Ok(()),
            None => Err(Wrong::expected(
                "lines `allow` before this one that allow sequences of any length",
            )),
        }
    }

    fn has_bias(&self) -> bool {
        self.options.label_bias || self.options.states == Strategy::DefaultOnly
    }

    fn label(&mut self, name: &str) -> Result<(), Wrong> {
        let count = self.labels.len();
        if self.labels.intern(&unescaped(name)?) as usize == count {
            Ok(())
        } else {
            Err(Wrong::expected("a label that has not been named yet"))
        }
    }

    fn bias(&mut self, label: &str, weight: &str) -> Result<(), Wrong> {
        if !self.has_bias() {
            return Err(Wrong::expected("no bias, as the options say"));
        }
        if self.find_label(label)? as usize != self.biases.len() {
            return Err(Wrong::expected("one bias for each label, in the order of labels"));
        }
        self.biases.push(parse_weight(weight)?);
        Ok(())
    }

    fn transition(&mut self, from: &str, to: &str) -> Result<(), Wrong> {
        if self.options.unseen_transitions == UnseenTransitions::Free {
            return Err(Wrong::expected("no line `allow`, as the options say"));
        }
        let from = match from {
            START => self.labels.len() as u32,
            label => self.find_label(label)?,
        };
        let pair = [from, self.find_label(to)?];
        if self.transitions.last().is_some_and(|&before| before >= pair) {
            return Err(Wrong::expected(
                "each pair once, in the order of labels, `\\start` last",
            ));
        }
        self.transitions.push(pair);
        Ok(())
    }

    fn tuple(&mut self, labels: &[&str], weight: &str) -> Result<(), Wrong> {
        let boundary = self.labels.len() as u32;
        let last = labels.len() - 1;
        let mut tuple = Vec::with_capacity(labels.len());
        for (place, &label) in labels.iter().enumerate() {
            tuple.push(match label {
                START if place == 0 => boundary,
                END if place == last => boundary,
                label => self.find_label(label)?,
            });
        }
        if !Tuples::may_hold(&tuple, self.labels.len(), &self.options) {
            return Err(Wrong::expected("a tuple that order and options permit"));
        }
        if self
            .allowed
            .as_ref()
            .is_some_and(|allowed| !allowed.allow_run(&tuple))
        {
            return Err(Wrong::expected("a tuple of transitions that were allowed"));
        }
        let rising = |before: &[u32]| (before.len(), before) < (tuple.len(), &tuple[..]);
        if !self.tuples.last().is_none_or(|before| rising(before)) {
            return Err(Wrong::expected(
                "each tuple once, by length and then in the order of labels",
            ));
        }
        self.tuples.push(tuple.into());
        self.tuple_weights.push(parse_weight(weight)?);
        Ok(())
    }

    fn label_pair(&mut self, from: &str, to: &str) -> Result<(), Wrong> {
        if self.options.order == 0 {
            return Err(Wrong::expected("no pair in a model of order 0"));
        }
        let pair = [self.find_label(from)?, self.find_label(to)?];
        if self.pairs.last().is_some_and(|&before| before >= pair) {
            return Err(Wrong::expected("each pair once, in the order of labels"));
        }
        self.pairs.push(pair);
        Ok(())
    }

    fn state(&mut self, name: &str, label: &str, weight: &str) -> Result<(), Wrong> {
        let label = self.find_label(label)?;
        self.observation(name)?;
        let no_step = self.pair.offsets.last().copied() == u32::try_from(self.pair.columns.len()).ok();
        if no_step && self.unary.push(label, parse_weight(weight)?) {
            Ok(())
        } else {
            Err(Wrong::expected(
                "each label once and in order, states before steps",
            ))
        }
    }

    fn step(&mut self, name: &str, labels: [&str; 2], weight: &str) -> Result<(), Wrong> {
        let pair = [self.find_label(labels[0])?, self.find_label(labels[1])?];
        let column = self.pairs.binary_search(&pair);
        let column = column.map_err(|_| Wrong::expected("labels that were named in a line `pair`"))?;
        self.observation(name)?;
        if self.pair.push(column as u32, parse_weight(weight)?) {
            Ok(())
        } else {
            Err(Wrong::expected("each pair once, in order"))
        }
    }

    fn lone_observation(&mut self, name: &str) -> Result<(), Wrong> {
        if self.observation(name)? {
            self.closed = true;
            Ok(())
        } else {
            Err(Wrong::expected("an observation without weights in other lines"))
        }
    }

    /// Makes `name` the last observation; `false` when it was before.
    fn observation(&mut self, name: &str) -> Result<bool, Wrong> {
        let count = self.observations.len();
        let id = self.observations.intern(&unescaped(name)?) as usize;
        if id < count {
            return if id + 1 == count && !self.closed {
                Ok(false)
            } else {
                Err(Wrong::expected("all lines of an observation next to each other"))
            };
        }
        self.closed = false;
        self.unary.begin_row()?;
        self.pair.begin_row()?;
        Ok(true)
    }

    fn algorithm(&mut self, name: &str) -> Result<(), Wrong> {
        if self.algorithm.is_some() {
            return Err(Wrong::expected("one line `algorithm` at most"));
        }
        self.algorithm = Some(unescaped(name)?.into_owned());
        Ok(())
    }

    fn unknown(&mut self, name: &str) -> Result<(), Wrong> {
        if self.unknown.is_some() || self.algorithm.is_some() {
            return Err(Wrong::expected("one line `unknown` at most, before `algorithm`"));
        }
        self.unknown = self.observations.get(&unescaped(name)?);
        match self.unknown {
            Some(_) => Ok(()),
            None => Err(Wrong::expected("the name of an observation of the model")),
        }
    }

    fn find_label(&self, name: &str) -> Result<u32, Wrong> {
        let label = self.labels.get(&unescaped(name)?);
        label.ok_or_else(|| Wrong::expected(format!("a label of the model in place of {name:?}")))
    }

    fn finish(mut self) -> Result<ChainModel, Wrong> {
        // What the lines of later parts would have finished.
        self.enter(Part::Unknown)?;
        let labels = self.labels.len();
        let (unary, mut weights) = self.unary.finish(labels)?;
        let (pair, pair_weights) = self.pair.finish(self.pairs.len())?;
        let tuples = Tuples::from_list(labels, self.options.order, self.tuples).only(self.allowed);
        tuples
            .check_size()
            .map_err(|error| Wrong::Limit(error.to_string()))?;
        weights.extend(pair_weights);
        weights.extend(self.tuple_weights);
        weights.extend(self.biases);
        let structure = Structure::assemble(self.options, labels, unary, self.pairs, pair, tuples);
        let names = Names::new(self.observations.iter());
        let mut model = ChainModel::assemble(self.labels, names, self.unknown, structure, weights.into());
        model.algorithm = self.algorithm;
        Ok(model)
    }
}

fn unescaped(field: &str) -> Result<Cow<'_, str>, Wrong> {
    unescape(field)
        .ok_or_else(|| Wrong::expected("a name with no escapes but `\\t`, `\\n`, `\\r` and `\\\\`"))
}

//! From weights to the [`FactorGraph`] of one instance.
//!
//! Each template has a *base table*, made of its biases, which all its factors share that see no observation with a
//! weight. Other factors have a table of their own.

use crate::data::GraphInstance;
use crate::describe::Form;
use crate::structure::{Edges, Places, Structure, StructureError};
use crate::{Cut, Error, FactorGraph, FactorGraphBuilder};
use fieldmark_core::Gold;
use fieldmark_core::feature_table::features_of;
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes the graphs of instances, one after the other, in the same memory.
///
/// ```
/// use fieldmark_core::Gold;
/// use fieldmark_graph::{Description, GraphDatasetBuilder, Relations, Structure, Unroller};
///
/// let description = Description::factorial(&["pos", "chunk"]);
/// let mut builder = GraphDatasetBuilder::new(&description);
/// let gold = [builder.label(0, "NN"), builder.label(1, "B-NP")].map(Gold::Known);
/// for _ in 0..3 {
///     builder.observe("word=Paris", 1.0)?;
///     builder.end_position(&gold)?;
/// }
/// builder.end_instance(&[])?;
/// let data = builder.finish();
/// let structure = Structure::build(&data, &description, Relations::none())?;
/// let weights = vec![0.0; structure.weights()];
/// let graph = Unroller::new(&structure, &weights)?.unroll(data.instance(0))?.into_graph();
/// assert_eq!((graph.variables(), graph.factors()), (6, 6 + 4 + 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Unroller<'m> {
    structure: &'m Structure,
    weights: &'m [f64],
    base: BaseTables,
    memory: Unrolled,
    cuts: Vec<Cut>,
}

/// The scores that need no observation, by template.
#[derive(Clone, Debug, Default)]
pub(crate) struct BaseTables {
    tables: Vec<Vec<f64>>,
    /// Another one whenever tables were set; 0 before.
    stamp: u64,
}

/// Weights as numbers and their common factor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights<'a> {
    pub x: &'a [f64],
    pub scale: f64,
}

impl<'a> Weights<'a> {
    pub fn new(x: &'a [f64]) -> Self {
        Self { x, scale: 1.0 }
    }
}

/// The graph of one instance.
#[derive(Clone, Debug, Default)]
pub struct Unrolled {
    pub(crate) graph: FactorGraph,
    /// The factor of each table that is not a base table.
    pub(crate) own: Vec<u32>,
    /// Where the positions of the variables of each factor begin.
    pub(crate) scopes: Vec<u32>,
    /// Where the scopes of each template begin.
    first_position: Vec<usize>,
    /// The first factor of each template, and the end.
    pub(crate) first_factor: Vec<usize>,
    scores: Vec<f64>,
    pub(crate) scratch: Vec<(u32, f32)>,
    variables: Vec<u32>,
    /// The base tables that the graph has; 0 if it is not complete.
    stamp: u64,
}

impl Unrolled {
    /// The graph. Variables are numbered position by position in the order of layers; those of the whole instance come
    /// last. The templates of factors are those of [`Structure::template_names`].
    pub fn graph(&self) -> &FactorGraph {
        &self.graph
    }

    /// The graph, to restrict labels.
    pub fn graph_mut(&mut self) -> &mut FactorGraph {
        &mut self.graph
    }

    /// The positions of the variables of a factor.
    pub(crate) fn positions(&self, factor: usize) -> &[u32] {
        let template = self.graph.template_of(factor) as usize;
        let arity = self.graph.arity(factor);
        let start = self.first_position[template] + (factor - self.first_factor[template]) * arity;
        &self.scopes[start..start + arity]
    }

    /// The graph alone.
    pub fn into_graph(self) -> FactorGraph {
        self.graph
    }
}

impl BaseTables {
    /// The base table of a template.
    pub(crate) fn table(&self, template: usize) -> &[f64] {
        &self.tables[template]
    }

    /// The base tables of all templates.
    pub(crate) fn tables(&self) -> &[Vec<f64>] {
        &self.tables
    }

    /// Notes that tables are others than before.
    fn renew(&mut self) {
        static STAMPS: AtomicU64 = AtomicU64::new(1);
        self.stamp = STAMPS.fetch_add(1, Ordering::Relaxed);
    }

    /// The base tables of a structure with some weights.
    pub(crate) fn set(&mut self, structure: &Structure, weights: Weights<'_>) {
        self.renew();
        self.tables.resize(structure.templates.len(), Vec::new());
        for (template, table) in structure.templates.iter().zip(&mut self.tables) {
            table.clear();
            table.resize(template.width(), 0.0);
            for (&entry, weight) in template.bias.iter().zip(&weights.x[template.bias_weights()]) {
                table[entry as usize] = weights.scale * weight;
            }
            for &entry in &template.forbidden {
                table[entry as usize] = f64::NEG_INFINITY;
            }
        }
    }
}

impl<'m> Unroller<'m> {
    /// An unroller for some weights.
    pub fn new(structure: &'m Structure, weights: &'m [f64]) -> Result<Self, StructureError> {
        let (found, expected) = (weights.len(), structure.weights());
        if found != expected {
            return Err(StructureError::Weights { found, expected });
        }
        let mut base = BaseTables::default();
        base.set(structure, Weights::new(weights));
        Ok(Self {
            structure,
            weights,
            base,
            memory: Unrolled::default(),
            cuts: Vec::new(),
        })
    }

    /// Forbids pairs of labels of neighbours in a layer, besides what templates forbid. Returns whether a template joins
    /// neighbours of the layer; without one, nothing can be forbidden.
    ///
    /// # Panics
    /// If the layer does not have the labels.
    pub fn forbid_neighbours(&mut self, layer: usize, pairs: &[(u32, u32)]) -> bool {
        let mut templates = self.structure.templates.iter();
        let chain = templates.position(|template| {
            template.elementary.form == Form::Chain && template.elementary.layers[0] == layer
        });
        if let Some(template) = chain {
            let labels = self.structure.labels[layer];
            for &(before, label) in pairs {
                self.base.tables[template][(before * labels + label) as usize] = f64::NEG_INFINITY;
            }
            self.base.renew();
        }
        chain.is_some()
    }

    /// The graph of an instance, in which every candidate is allowed that templates do not forbid.
    pub fn unroll(mut self, instance: GraphInstance<'_>) -> Result<Unrolled, StructureError> {
        self.unroll_in_place(instance)?;
        Ok(self.memory)
    }

    /// The graph of an instance, which the unroller keeps until the next one.
    pub fn unroll_in_place(&mut self, instance: GraphInstance<'_>) -> Result<&mut Unrolled, StructureError> {
        self.structure.check_data(instance.data(), false)?;
        self.cuts.clear();
        let edges = self.structure.edges(instance, &mut self.cuts)?;
        unroll(
            self.structure,
            Some(Weights::new(self.weights)),
            &self.base,
            instance,
            &edges,
            &mut self.memory,
        )
        .map_err(|error| StructureError::Graph {
            instance: instance.index(),
            error,
        })?;
        Ok(&mut self.memory)
    }

    /// Edges that limits of templates cut from the graph that was made last.
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// The graph that was made last.
    pub fn last_mut(&mut self) -> &mut Unrolled {
        &mut self.memory
    }

    /// The number of the variable of a layer at a position of an instance; the position does not matter in layers with
    /// one variable per instance.
    ///
    /// # Panics
    /// If there is no such variable.
    pub fn variable(&self, instance: GraphInstance<'_>, layer: usize, position: u32) -> u32 {
        let variable = self.structure.variable(instance, layer, position);
        assert!(
            variable.is_some(),
            "no variable in layer {layer} at position {position} of {}",
            instance.len()
        );
        variable.unwrap_or_default()
    }
}

/// Makes the graph of an instance in the memory of the last one; without weights, observations are left out.
pub(crate) fn unroll(
    structure: &Structure,
    weights: Option<Weights<'_>>,
    base: &BaseTables,
    instance: GraphInstance<'_>,
    edges: &Edges,
    into: &mut Unrolled,
) -> Result<(), Error> {
    let kept = if into.stamp == base.stamp {
        base.tables.len()
    } else {
        0
    };
    into.stamp = 0;
    let mut builder = std::mem::take(&mut into.graph).recycle_keeping_tables(kept);
    into.own.clear();
    into.scopes.clear();
    into.first_factor.clear();
    into.first_position.clear();
    let places = structure.places(instance.len());
    for (_, layer, _) in places.variables(instance.len()) {
        builder.variable(structure.labels[layer])?;
    }
    for (template, table) in structure.templates.iter().zip(&base.tables).skip(kept) {
        builder.table(&template.shape, table)?;
    }
    let mut factors = 0;
    for template in 0..structure.templates.len() {
        into.first_factor.push(factors);
        into.first_position.push(into.scopes.len());
        factors = add_factors(
            structure,
            weights,
            base,
            instance,
            edges,
            template,
            &places,
            &mut builder,
            into,
        )?;
    }
    into.first_factor.push(factors);
    into.graph = builder.build();
    keep_candidates(instance, &places, &mut into.graph)?;
    into.stamp = base.stamp;
    Ok(())
}

/// Lets variables take their candidates only.
fn keep_candidates(
    instance: GraphInstance<'_>,
    places: &Places,
    graph: &mut FactorGraph,
) -> Result<(), Error> {
    for (variable, layer, position) in places.variables(instance.len()) {
        match instance.candidates(layer, position) {
            Gold::Unknown => {}
            Gold::Known(label) => graph.clamp(variable, label)?,
            Gold::Ambiguous(labels) => graph.restrict(variable, labels.iter().copied())?,
        }
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "one step of `unroll`")]
fn add_factors(
    structure: &Structure,
    weights: Option<Weights<'_>>,
    base: &BaseTables,
    instance: GraphInstance<'_>,
    edges: &Edges,
    template: usize,
    places: &Places,
    builder: &mut FactorGraphBuilder,
    into: &mut Unrolled,
) -> Result<usize, Error> {
    let features = &structure.templates[template];
    let (offsets, entries) = (features.rows.offsets(), features.rows.all_columns());
    let scale = weights.map_or(1.0, |weights| weights.scale);
    let row_weights = weights.map(|weights| &weights.x[features.row_weights()]);
    let number = template as u32;
    let Unrolled {
        own,
        scopes,
        first_factor,
        scores,
        scratch,
        variables,
        ..
    } = into;
    let mut factor = first_factor.last().copied().unwrap_or(0);
    structure.for_each_factor(template, instance.len(), edges, |positions| {
        scopes.extend_from_slice(positions);
        variables.clear();
        let layers = features.elementary.layers.iter().zip(positions);
        variables.extend(layers.map(|(&layer, &position)| places.variable(layer, position)));
        let mut is_observed = false;
        if let Some(row_weights) = row_weights.filter(|weights| !weights.is_empty()) {
            structure.for_each_observation(template, instance, positions, scratch, |id, value| {
                let row = features_of(offsets, id);
                if row.is_empty() {
                    return;
                }
                if !is_observed {
                    is_observed = true;
                    scores.clear();
                    scores.extend_from_slice(&base.tables[template]);
                }
                let value = scale * f64::from(value);
                for (&entry, weight) in entries[row.clone()].iter().zip(&row_weights[row]) {
                    scores[entry as usize] += value * weight;
                }
            });
        }
        if is_observed {
            own.push(factor as u32);
            builder.factor_with(number, variables, scores)?;
        } else {
            builder.factor(number, variables, number)?;
        }
        factor += 1;
        Ok::<(), Error>(())
    })?;
    Ok(factor)
}

//! Which variables the factors of an instance join: implied by the form of a template, or computed once.

use super::{Structure, StructureError};
use crate::data::{GraphDataset, GraphInstance};
use crate::describe::{Cut, Form};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Rust code that tells which variables of an instance a template joins.
///
/// Implemented for functions that call `join` for each factor, with the position of each of its variables; for a
/// variable of the whole instance the position does not matter.
pub trait Relate: Send + Sync {
    /// Calls `join` for each factor.
    fn factors(&self, instance: GraphInstance<'_>, join: &mut dyn FnMut(&[u32]));
}

impl<F: Fn(GraphInstance<'_>, &mut dyn FnMut(&[u32])) + Send + Sync> Relate for F {
    fn factors(&self, instance: GraphInstance<'_>, join: &mut dyn FnMut(&[u32])) {
        self(instance, join);
    }
}

/// The code of custom relations, by name. A model file holds only the names.
#[derive(Clone, Default)]
pub struct Relations(BTreeMap<String, Arc<dyn Relate>>);

impl Relations {
    /// No custom relations.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds code under a name.
    #[must_use]
    pub fn with(
        mut self,
        name: &str,
        relation: impl Fn(GraphInstance<'_>, &mut dyn FnMut(&[u32])) + Send + Sync + 'static,
    ) -> Self {
        self.0.insert(name.to_owned(), Arc::new(relation));
        self
    }

    /// Adds any relation under a name.
    #[must_use]
    pub fn with_relation(mut self, name: &str, relation: Arc<dyn Relate>) -> Self {
        self.0.insert(name.to_owned(), relation);
        self
    }

    pub(super) fn get(&self, name: &str) -> Option<&dyn Relate> {
        self.0.get(name).map(|relation| &**relation)
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

impl fmt::Debug for Relations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Relations").field(&self.names()).finish()
    }
}

/// The computed factors of one instance: for each template the positions of their variables, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    positions: Vec<Vec<u32>>,
}

/// What templates whose factors are computed from observations make of data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComputedFactors {
    /// Edges that limits cut.
    pub cuts: Vec<Cut>,
    /// How many factors each of these templates has in all instances.
    pub counts: Vec<(String, u64)>,
}

impl Structure {
    /// What the templates whose factors are computed from observations make of data.
    pub fn computed_factors(&self, data: &GraphDataset) -> Result<ComputedFactors, StructureError> {
        let mut cuts = Vec::new();
        let mut counts = vec![0; self.templates.len()];
        for instance in data.instances() {
            let edges = self.edges(instance, &mut cuts)?;
            for (count, positions) in counts.iter_mut().zip(&edges.positions) {
                *count += positions.len() as u64;
            }
        }
        let of_templates = self.templates.iter().zip(counts);
        let computed = of_templates.filter(|(template, _)| template.elementary.form.is_computed());
        let counts = computed.map(|(template, positions)| {
            let arity = template.elementary.layers.len() as u64;
            (template.elementary.name.clone(), positions / arity)
        });
        Ok(ComputedFactors {
            cuts,
            counts: counts.collect(),
        })
    }

    /// The names of the templates of windows that do not fit into any instance of data.
    pub fn empty_windows<'a>(&'a self, data: &'a GraphDataset) -> impl Iterator<Item = &'a str> {
        let is_window = |form: &Form| matches!(form, Form::Window(_));
        let templates = self.templates.iter().enumerate();
        let empty = templates.filter(move |(number, template)| {
            is_window(&template.elementary.form)
                && data.instances().all(|instance| {
                    let first = |_: &[u32]| Err(());
                    self.for_each_factor(*number, instance.len(), &Edges::default(), first)
                        .is_ok()
                })
        });
        empty.map(|(_, template)| &template.elementary.name[..])
    }

    /// Whether a template computes its factors from observations.
    fn has_computed_factors(&self) -> bool {
        let mut forms = self.templates.iter().map(|template| &template.elementary.form);
        forms.any(Form::is_computed)
    }

    /// The computed factors of an instance; what a limit cut is added to `cuts`.
    pub(crate) fn edges(
        &self,
        instance: GraphInstance<'_>,
        cuts: &mut Vec<Cut>,
    ) -> Result<Edges, StructureError> {
        if !self.has_computed_factors() {
            return Ok(Edges::default());
        }
        let mut positions = vec![Vec::new(); self.templates.len()];
        for (template, into) in self.templates.iter().zip(&mut positions) {
            match &template.elementary.form {
                Form::Skip(skip) => {
                    let (edges, found) = skip.edges(instance);
                    if let Some(found) = found {
                        cuts.push(Cut {
                            template: template.elementary.name.clone(),
                            instance: instance.index(),
                            found,
                            kept: edges.len(),
                        });
                    }
                    into.extend_from_slice(edges.as_flattened());
                }
                Form::Custom(name) => self.custom(template, name, instance, into)?,
                _ => {}
            }
        }
        Ok(Edges { positions })
    }

    /// The computed factors of all instances.
    pub(crate) fn all_edges(&self, data: &GraphDataset) -> Result<Vec<Edges>, StructureError> {
        data.instances()
            .map(|instance| self.edges(instance, &mut Vec::new()))
            .collect()
    }

    fn custom(
        &self,
        template: &super::TemplateFeatures,
        name: &str,
        instance: GraphInstance<'_>,
        into: &mut Vec<u32>,
    ) -> Result<(), StructureError> {
        let layers = &template.elementary.layers;
        let relation = self
            .relations
            .get(name)
            .ok_or_else(|| StructureError::UnknownRelation {
                template: template.elementary.name.clone(),
                relation: name.to_owned(),
                known: self.relations.names(),
            })?;
        let mut wrong = None;
        relation.factors(instance, &mut |positions| {
            let exists = |(&layer, &position): (&usize, &u32)| {
                self.description.is_per_instance(layer) || (position as usize) < instance.len()
            };
            let repeated = |place: usize| {
                (0..place).any(|other| {
                    layers[other] == layers[place]
                        && (self.description.is_per_instance(layers[place])
                            || positions[other] == positions[place])
                })
            };
            let sound = positions.len() == layers.len()
                && layers.iter().zip(positions).all(exists)
                && !(0..positions.len()).any(repeated);
            if sound {
                into.extend_from_slice(positions);
            } else if wrong.is_none() {
                wrong = Some(StructureError::Factor {
                    template: template.elementary.name.clone(),
                    instance: instance.index(),
                    positions: positions.to_vec(),
                    variables: layers.len(),
                    length: instance.len(),
                });
            }
        });
        wrong.map_or(Ok(()), Err)
    }

    /// Calls `visit` with the positions of the variables of each factor of a template.
    pub(crate) fn for_each_factor<E>(
        &self,
        template: usize,
        length: usize,
        edges: &Edges,
        mut visit: impl FnMut(&[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(last) = (length as u32).checked_sub(1) else {
            return self.for_each_factor_without_positions(template, edges, visit);
        };
        let elementary = &self.templates[template].elementary;
        let per_instance = |place: usize| self.description.is_per_instance(elementary.layers[place]);
        match &elementary.form {
            Form::Unary if per_instance(0) => visit(&[0]),
            Form::Unary => (0..=last).try_for_each(|position| visit(&[position])),
            Form::Start => visit(&[0]),
            Form::End => visit(&[last]),
            Form::Chain => (0..last).try_for_each(|position| visit(&[position, position + 1])),
            Form::Between if per_instance(0) && per_instance(1) => visit(&[0, 0]),
            Form::Between => (0..=last).try_for_each(|position| visit(&[position, position])),
            Form::Window(offsets) => {
                let ends = |offset: &i32| (-i64::from(*offset), i64::from(last) - i64::from(*offset));
                let (first, end) = offsets
                    .iter()
                    .map(ends)
                    .fold((i64::MIN, i64::MAX), |(first, end), (from, to)| {
                        (first.max(from), end.min(to))
                    });
                let mut positions = vec![0; offsets.len()];
                (first..=end).try_for_each(|center| {
                    for (position, &offset) in positions.iter_mut().zip(offsets) {
                        *position = (center + i64::from(offset)) as u32;
                    }
                    visit(&positions)
                })
            }
            Form::Skip(_) | Form::Custom(_) => edges.positions[template]
                .chunks_exact(elementary.layers.len())
                .try_for_each(visit),
        }
    }

    /// Variables of the whole instance are there even if it is empty.
    fn for_each_factor_without_positions<E>(
        &self,
        template: usize,
        edges: &Edges,
        mut visit: impl FnMut(&[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let elementary = &self.templates[template].elementary;
        let mut layers = elementary.layers.iter();
        if !layers.all(|&layer| self.description.is_per_instance(layer)) {
            return Ok(());
        }
        match &elementary.form {
            Form::Unary => visit(&[0]),
            Form::Between => visit(&[0, 0]),
            Form::Custom(_) => edges.positions[template]
                .chunks_exact(elementary.layers.len())
                .try_for_each(visit),
            _ => Ok(()),
        }
    }
}

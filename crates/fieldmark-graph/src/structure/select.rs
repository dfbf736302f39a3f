//! Chooses the features of each template from training data.
//!
//! What occurs is what gold sets allow, and where nothing is known, what candidates leave. Where all labels are possible
//! nothing occurs, unless nothing is known of the whole layer: a hidden variable may have each of its labels.

use super::{Edges, Structure, StructureError};
use crate::data::{GraphDataset, GraphInstance};
use crate::describe::{Bias, Observe, Strategy};
use crate::factor_graph::AllowedEntries;
use fieldmark_core::Gold;
use fieldmark_core::feature_table::FeatureTable;
use std::convert::Infallible;

/// Fills in rows, biases and forbidden entries of all templates.
pub(super) fn select(structure: &mut Structure, data: &GraphDataset) -> Result<(), StructureError> {
    let edges = structure.all_edges(data)?;
    let layers = 0..structure.labels.len();
    let hidden: Vec<bool> = layers.map(|layer| data.is_hidden(layer)).collect();
    for template in 0..structure.templates.len() {
        let selection = Selection {
            structure,
            data,
            edges: &edges,
            hidden: &hidden,
            template,
        };
        let readings = selection.readings();
        let (bias, forbidden) = selection.entries(&readings);
        let rows = selection.rows(&readings, &forbidden)?;
        let template = &mut structure.templates[template];
        (template.bias, template.forbidden, template.rows) = (bias, forbidden, rows);
    }
    Ok(())
}

struct Selection<'a> {
    structure: &'a Structure,
    data: &'a GraphDataset,
    edges: &'a [Edges],
    /// The layers of which nothing is known.
    hidden: &'a [bool],
    template: usize,
}

/// The label assignments that gold sets and candidates allow, for each factor of a template; none where a label is open of a
/// layer of which others are known.
#[derive(Default)]
struct Readings {
    ends: Vec<usize>,
    entries: Vec<u32>,
    /// The instance of each factor.
    instance: Vec<u32>,
}

impl Readings {
    fn of(&self, factor: usize) -> &[u32] {
        let start = if factor == 0 { 0 } else { self.ends[factor - 1] };
        &self.entries[start..self.ends[factor]]
    }
}

/// Where each observation occurs: factors and values, by observation.
struct Occurrences {
    starts: Vec<usize>,
    factors: Vec<u32>,
    values: Vec<f32>,
}

impl Selection<'_> {
    fn for_each_factor(&self, mut visit: impl FnMut(GraphInstance<'_>, &[u32])) {
        for (instance, edges) in self.data.instances().zip(self.edges) {
            let done: Result<(), Infallible> =
                self.structure
                    .for_each_factor(self.template, instance.len(), edges, |positions| {
                        visit(instance, positions);
                        Ok(())
                    });
            done.unwrap_or_else(|never| match never {});
        }
    }

    fn readings(&self) -> Readings {
        let template = &self.structure.templates[self.template];
        let mut readings = Readings::default();
        let asked = &template.elementary.template;
        let is_asked = asked.bias == Bias::Supported || asked.forbid_unseen;
        if !is_asked && asked.observed() == Observe::Neither {
            // What nobody asks for may be large: hidden neighbours have every pair of labels everywhere.
            return readings;
        }
        let mut allowed = AllowedEntries::default();
        self.for_each_factor(|instance, positions| {
            allowed.start();
            let places = template
                .elementary
                .layers
                .iter()
                .zip(positions)
                .zip(&template.shape);
            for ((&layer, &position), &labels) in places {
                let possible = match instance.gold(layer, position) {
                    Gold::Unknown => instance.candidates(layer, position),
                    gold => gold,
                };
                match possible {
                    Gold::Unknown if self.hidden[layer] => allowed.extend(labels, 0..labels),
                    Gold::Known(label) => allowed.extend(labels, std::iter::once(label)),
                    Gold::Ambiguous(set) => allowed.extend(labels, set.iter().copied()),
                    Gold::Unknown => allowed.extend(labels, std::iter::empty()),
                }
            }
            readings.entries.extend_from_slice(allowed.entries());
            readings.ends.push(readings.entries.len());
            readings.instance.push(instance.index() as u32);
        });
        readings
    }

    /// The entries with a bias, and the forbidden ones.
    fn entries(&self, readings: &Readings) -> (Vec<u32>, Vec<u32>) {
        let features = &self.structure.templates[self.template];
        let template = &features.elementary.template;
        let width = features.width();
        let mut counts = vec![0.0; width];
        for &entry in &readings.entries {
            counts[entry as usize] += 1.0;
        }
        let mut forbidden = features.forbidden.clone();
        if template.forbid_unseen {
            forbidden.extend((0..width as u32).filter(|&entry| counts[entry as usize] == 0.0));
            forbidden.sort_unstable();
            forbidden.dedup();
        }
        let least = self.structure.description.min_freq;
        let allowed = (0..width as u32).filter(|entry| forbidden.binary_search(entry).is_err());
        let bias = match template.bias {
            Bias::None => Vec::new(),
            Bias::All => allowed.collect(),
            Bias::Supported => allowed
                .filter(|&entry| counts[entry as usize] > 0.0 && counts[entry as usize] >= least)
                .collect(),
        };
        (bias, forbidden)
    }

    fn rows(&self, readings: &Readings, forbidden: &[u32]) -> Result<FeatureTable, StructureError> {
        let features = &self.structure.templates[self.template];
        let template = &features.elementary.template;
        if template.observed() == Observe::Neither {
            return Ok(FeatureTable::default());
        }
        let occurrences = self.occurrences();
        let width = features.width();
        let (least, least_instances) = (
            self.structure.description.min_freq,
            self.structure.description.min_instances,
        );
        let mut frequency = vec![0.0f64; width];
        let mut seen = vec![false; width];
        let rows = FeatureTable::build(self.data.observations.len(), |row, entries| {
            let places = occurrences.starts[row]..occurrences.starts[row + 1];
            if least_instances > 1 {
                let mut instances: Vec<u32> = Vec::new();
                instances.extend(
                    occurrences.factors[places.clone()]
                        .iter()
                        .map(|&factor| readings.instance[factor as usize]),
                );
                instances.dedup();
                if instances.len() < least_instances {
                    return;
                }
            }
            for place in places.clone() {
                let value = occurrences.values.get(place).copied().unwrap_or(1.0);
                for &entry in readings.of(occurrences.factors[place] as usize) {
                    if !seen[entry as usize] {
                        seen[entry as usize] = true;
                        entries.push(entry);
                    }
                    frequency[entry as usize] += f64::from(value);
                }
            }
            if template.strategy == Strategy::All && !places.is_empty() {
                entries.clear();
                entries.extend(0..width as u32);
            }
            entries.sort_unstable();
            entries.retain(|&entry| {
                let kept = least <= 0.0 || frequency[entry as usize] >= least;
                frequency[entry as usize] = 0.0;
                seen[entry as usize] = false;
                kept && forbidden.binary_search(&entry).is_err()
            });
        });
        let template = features.elementary.name.clone();
        rows.map(FeatureTable::compact)
            .map_err(|_| StructureError::TooManyFeatures { template })
    }

    /// Sorts occurrences by observation, by counting.
    fn occurrences(&self) -> Occurrences {
        let mut starts = vec![0usize; self.data.observations.len() + 1];
        let mut ones = true;
        self.for_each_occurrence(|_, id, value| {
            starts[id as usize] += 1;
            ones &= value == 1.0;
        });
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end - *start;
        }
        let mut next = starts.clone();
        let mut factors = vec![0u32; end];
        let mut values = vec![0.0f32; if ones { 0 } else { end }];
        self.for_each_occurrence(|factor, id, value| {
            let place = &mut next[id as usize];
            factors[*place] = factor;
            if !ones {
                values[*place] = value;
            }
            *place += 1;
        });
        Occurrences {
            starts,
            factors,
            values,
        }
    }

    /// Calls `visit` with each observation of each factor: the number of the factor, the observation and its value.
    fn for_each_occurrence(&self, mut visit: impl FnMut(u32, u32, f32)) {
        let mut scratch = Vec::new();
        let mut factor = 0;
        self.for_each_factor(|instance, positions| {
            self.structure.for_each_observation(
                self.template,
                instance,
                positions,
                &mut scratch,
                |id, value| {
                    visit(factor, id, value);
                },
            );
            factor += 1;
        });
    }
}

//! [`Skip`]: which distant positions are joined, by what is observed there.

use super::DescriptionError;
use crate::data::GraphInstance;
use crate::error::counted;
use fieldmark_core::Alphabet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::ops::Range;

/// Joins positions u < v of an instance that share an observation.
///
/// `same = "w="` with `capitalised` joins equal capitalised words where words are observed as `w=…`; `shared =
/// "W=alpha@2"` joins all positions that have this one observation (Klinger 2011, ch. 9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skip {
    /// The layer whose variables are joined.
    #[serde(default)]
    pub layer: String,
    /// Positions with the same observation whose name begins like this.
    #[serde(default)]
    pub same: Option<String>,
    /// Positions with this observation.
    #[serde(default)]
    pub shared: Option<String>,
    /// Whether what follows `same` in the name must begin with an upper-case letter.
    #[serde(default)]
    pub capitalised: bool,
    /// Observations that both positions must have besides.
    #[serde(default)]
    pub require: Vec<String>,
    /// Which of several positions with the same observation are joined.
    #[serde(default)]
    pub partners: Partners,
    /// Smallest distance v − u.
    #[serde(default = "one")]
    pub min_distance: u32,
    /// Largest distance v − u.
    #[serde(default)]
    pub max_distance: Option<u32>,
    /// Most edges in an instance; the nearest occurrences are joined first, and what is cut is reported.
    #[serde(default = "thousand")]
    pub max_edges: usize,
}

/// Which positions with the same observation are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Partners {
    /// Every one with every other.
    #[default]
    All,
    /// Every one with the next.
    Next,
}

/// Edges of an instance that a template could not have because of its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The template.
    pub template: String,
    /// The instance.
    pub instance: usize,
    /// How many edges there would have been; those that share several observations count once for each.
    pub found: u64,
    /// How many there are.
    pub kept: usize,
}

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "template {:?} would join {} of positions in instance {}, its limit is {}: the pairs of nearest \
             occurrences were kept; raise max_edges or choose rarer observations",
            self.template,
            counted(self.found, "pair"),
            self.instance + 1,
            self.kept
        )
    }
}

fn one() -> u32 {
    1
}

fn thousand() -> usize {
    1000
}

impl Skip {
    fn new(layer: &str) -> Self {
        Self {
            layer: layer.into(),
            same: None,
            shared: None,
            capitalised: false,
            require: Vec::new(),
            partners: Partners::All,
            min_distance: one(),
            max_distance: None,
            max_edges: thousand(),
        }
    }

    /// Joins positions that have the same observation with this prefix.
    pub fn same(layer: &str, prefix: &str) -> Self {
        Self {
            same: Some(prefix.into()),
            ..Self::new(layer)
        }
    }

    /// Joins positions that have this observation.
    pub fn shared(layer: &str, observation: &str) -> Self {
        Self {
            shared: Some(observation.into()),
            ..Self::new(layer)
        }
    }

    pub(super) fn check(&self, template: &str) -> Result<(), DescriptionError> {
        let wrong = |option: &str, found: String, expected| {
            Err(DescriptionError::Option {
                option: format!("{option} of template {template:?}"),
                found,
                expected,
            })
        };
        if self.same.is_some() == self.shared.is_some() {
            let found = if self.same.is_some() { "both" } else { "neither" };
            return wrong("same or shared", found.into(), "one of the two");
        }
        if self.capitalised && self.same.is_none() {
            return wrong("capitalised", "set".into(), "nothing without `same`");
        }
        if self.min_distance == 0 {
            return wrong("min_distance", "0".into(), "at least 1");
        }
        if self.max_distance.is_some_and(|most| most < self.min_distance) {
            return wrong(
                "max_distance",
                format!("{:?}", self.max_distance.unwrap_or(0)),
                "at least min_distance",
            );
        }
        Ok(())
    }

    /// The positions that are joined, in order, and how many pairs there would be if that is more.
    pub(crate) fn edges(&self, instance: GraphInstance<'_>) -> (Vec<[u32; 2]>, Option<u64>) {
        let groups = self.groups(instance);
        let mut found = 0;
        let mut waiting = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            for (place, partners) in self.partners_of(group).enumerate() {
                found += partners.len() as u64;
                let rank = partners.start - place;
                waiting.push(Reverse((rank, number, place, partners.end)));
            }
        }
        waiting.retain(|Reverse((rank, _, place, end))| place + rank < *end);
        // Neighbouring occurrences of every group first, then those with one between them, and so on.
        let mut waiting = BinaryHeap::from(waiting);
        let mut seen = HashSet::new();
        let mut edges = Vec::new();
        while let Some(Reverse((rank, number, place, end))) = waiting.pop() {
            let group = &groups[number];
            let pair = [group[place], group[place + rank]];
            if !seen.contains(&pair) {
                if edges.len() == self.max_edges {
                    edges.sort_unstable();
                    return (edges, Some(found));
                }
                seen.insert(pair);
                edges.push(pair);
            }
            if place + rank + 1 < end {
                waiting.push(Reverse((rank + 1, number, place, end)));
            }
        }
        edges.sort_unstable();
        (edges, None)
    }

    /// For each position of a group, the places in the group of those that it is joined to.
    fn partners_of<'g>(&self, group: &'g [u32]) -> impl Iterator<Item = Range<usize>> + 'g {
        let (min, max, partners) = (self.min_distance.max(1), self.max_distance, self.partners);
        let (mut first, mut end) = (0, 0);
        group.iter().enumerate().map(move |(place, &from)| {
            while first < group.len() && group[first] < from.saturating_add(min) {
                first += 1;
            }
            let most = max.map_or(u32::MAX, |most| from.saturating_add(most));
            end = end.max(first);
            while end < group.len() && group[end] <= most {
                end += 1;
            }
            match partners {
                Partners::All => first..end,
                Partners::Next if first == place + 1 => first..end.min(first + 1),
                Partners::Next => first..first,
            }
        })
    }

    /// Positions that share an observation, by observation in the order of its first position.
    fn groups(&self, instance: GraphInstance<'_>) -> Vec<Vec<u32>> {
        let names = &instance.data().observations;
        let Some(required) = ids(&self.require, names) else {
            return Vec::new();
        };
        let shared = self.shared.as_ref().map(|name| names.get(name));
        let mut group_of: HashMap<u32, usize> = HashMap::new();
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for position in 0..instance.len() as u32 {
            let observed = instance.ids(position);
            if !required.iter().all(|id| observed.contains(id)) {
                continue;
            }
            for &id in observed {
                let wanted = match (&self.same, shared) {
                    (Some(prefix), _) => self.matches(prefix, names.name(id)),
                    (_, shared) => shared == Some(Some(id)),
                };
                if wanted {
                    let group = *group_of.entry(id).or_insert_with(|| {
                        groups.push(Vec::new());
                        groups.len() - 1
                    });
                    if groups[group].last() != Some(&position) {
                        groups[group].push(position);
                    }
                }
            }
        }
        groups.retain(|group| group.len() > 1);
        groups
    }

    fn matches(&self, prefix: &str, name: &str) -> bool {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !self.capitalised || rest.starts_with(char::is_uppercase))
    }
}

/// The ids of names, or `None` when one of them never occurs.
fn ids(names: &[String], alphabet: &Alphabet) -> Option<Vec<u32>> {
    names.iter().map(|name| alphabet.get(name)).collect()
}

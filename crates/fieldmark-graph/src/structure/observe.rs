//! Which observations a factor sees.

use super::Structure;
use crate::data::GraphInstance;
use crate::describe::Observe;

impl Structure {
    /// Calls `visit` with each observation that a factor sees, and its value.
    #[inline]
    pub(crate) fn for_each_observation(
        &self,
        template: usize,
        instance: GraphInstance<'_>,
        positions: &[u32],
        scratch: &mut Vec<(u32, f32)>,
        mut visit: impl FnMut(u32, f32),
    ) {
        let elementary = &self.templates[template].elementary;
        let end = |place: usize| instance.observed(elementary.layers[place], positions[place]);
        let last = positions.len() - 1;
        let (observations, row) = match elementary.template.observed() {
            Observe::Neither => return,
            Observe::First => end(0),
            Observe::Last => end(last),
            Observe::Step => instance.observed_step(positions[last]),
            Observe::Either => {
                scratch.clear();
                (0..=last).for_each(|place| {
                    let (observations, row) = end(place);
                    scratch.extend(observations.iter(row));
                });
                scratch.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
                scratch.dedup_by_key(|(id, _)| *id);
                scratch.iter().for_each(|&(id, value)| visit(id, value));
                return;
            }
            Observe::Both => {
                let (observations, row) = end(0);
                for (id, value) in observations.iter(row) {
                    let others = (1..=last).try_fold(value, |least, place| {
                        let (observations, row) = end(place);
                        let found = observations.iter(row).find(|(other, _)| *other == id);
                        found.map(|(_, value)| value.min(least))
                    });
                    if let Some(least) = others {
                        visit(id, least);
                    }
                }
                return;
            }
        };
        for (id, value) in observations.iter(row) {
            visit(id, value);
        }
    }
}

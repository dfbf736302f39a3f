//! What there is to tell of the templates of a graph.

use super::place::Origin;
use crate::Error;
use fieldmark_graph::{EngineChoice, GraphDataset, Structure};
use fieldmark_text::formats::{NoticeKind, Notices};

/// What templates that join distant positions did not find, or found too often.
pub(super) fn tell_computed_factors(
    structure: &Structure,
    data: &GraphDataset,
    origins: &[Origin<'_>],
    notices: &mut Notices,
) -> Result<(), Error> {
    let found = structure.computed_factors(data)?;
    for cut in &found.cuts {
        let message = format!(
            "the template {:?} would join {} {} of positions here, and its limit is {}: those of nearest occurrences are \
             joined. Raise max_edges, or join rarer observations",
            cut.template,
            cut.found,
            if cut.found == 1 { "pair" } else { "pairs" },
            cut.kept
        );
        let origin = origins.get(cut.instance).map(Origin::to_string);
        notices.add(NoticeKind::Skipped, &origin.unwrap_or_default(), None, message);
    }
    let is_cut = |template: &String| found.cuts.iter().any(|cut| cut.template == *template);
    for (template, _) in found
        .counts
        .iter()
        .filter(|(template, count)| *count == 0 && !is_cut(template))
    {
        let observations: Vec<&str> = data.observations.iter().take(SHOWN).collect();
        let message = format!(
            "the template {template:?} joins nothing in the training data: no two positions share an observation as it wants \
             them to. Observations are called {observations:?}, …"
        );
        notices.add(NoticeKind::Skipped, "", None, message);
    }
    for template in structure.empty_windows(data) {
        let message = format!(
            "the template {template:?} joins nothing in the training data: no instance is long enough for its offsets"
        );
        notices.add(NoticeKind::Skipped, "", None, message);
    }
    Ok(())
}

/// Observations that are shown as examples of their names.
const SHOWN: usize = 3;

/// Why a sampler may stay where it begins: it changes one label at a time, and what is between two labellings may be
/// forbidden.
pub(super) fn stuck_sampler(structure: &Structure, choice: &EngineChoice) -> Option<String> {
    let templates: Vec<String> = structure
        .forbidding_templates()
        .map(|name| format!("{name:?}"))
        .collect();
    let is_concerned = matches!(choice, EngineChoice::Gibbs(_)) && !templates.is_empty();
    let which = match &templates[..] {
        [template] => format!("the template {template} forbids"),
        templates => format!("the templates {} forbid", templates.join(", ")),
    };
    is_concerned.then(|| {
        format!(
            "a Gibbs sampler changes one label at a time, and {which} combinations of labels: it may not get from one \
             labelling to another, and its labels and probabilities may be those of where it began. Use another engine, \
             such as exact or loopy"
        )
    })
}

/// Tells of it in training.
pub(super) fn tell_stuck_sampler(structure: &Structure, choice: &EngineChoice, notices: &mut Notices) {
    if let Some(message) = stuck_sampler(structure, choice) {
        notices.add(NoticeKind::Note, "", None, message);
    }
}

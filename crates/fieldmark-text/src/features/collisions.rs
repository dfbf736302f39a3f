//! Entries whose observations would have the same names.
//!
//! Two facts under one name are one fact to a model, and nobody would notice.

use super::config::FeatureConfig;
use super::patterns::Pattern;

/// Refuses an entry if one before it gives the same names at the same offsets.
pub(super) fn check(before: &[FeatureConfig], config: &FeatureConfig, window: usize) -> Result<(), String> {
    let collides = |other: &FeatureConfig| {
        config.name() == other.name() && is_same(config, other) && meet(config, other, window)
    };
    match before.iter().position(collides) {
        Some(other) => Err(format!(
            "features[{other}] has the name {:?} at the same offsets, and their observations could not be told \
             apart; give one of them another `name`",
            config.name()
        )),
        None => Ok(()),
    }
}

/// Whether two entries of one name can give observations of one name.
fn is_same(one: &FeatureConfig, other: &FeatureConfig) -> bool {
    use FeatureConfig::{Ancestors, Conjunction, Ngrams, Pattern, Position, Prefix, Suffix};
    match (one, other) {
        (Conjunction(_), _) | (_, Conjunction(_)) => false,
        (Prefix(one) | Suffix(one), Prefix(other) | Suffix(other)) => share(&one.lengths, &other.lengths),
        (Ngrams(one), Ngrams(other)) => share(&one.lengths, &other.lengths),
        (Ancestors(one), Ancestors(other)) => share(&one.depths, &other.depths),
        (Position(one), Position(other)) => share(&one.parts, &other.parts) || one.edges.min(other.edges) > 0,
        (Pattern(one), Pattern(other)) => share(wanted(&one.only), wanted(&other.only)),
        _ => true,
    }
}

fn wanted(only: &Option<Vec<Pattern>>) -> &[Pattern] {
    only.as_deref().unwrap_or(&Pattern::ALL)
}

/// Whether two entries look at some offset both. Labels of models are columns, which have only their name.
fn meet(one: &FeatureConfig, other: &FeatureConfig, window: usize) -> bool {
    if let (FeatureConfig::Model(_), FeatureConfig::Model(_)) = (one, other) {
        return true;
    }
    if let (FeatureConfig::Bias(_), FeatureConfig::Bias(_)) = (one, other) {
        return true;
    }
    let in_window = |offset: &i32| offset.unsigned_abs() as usize <= window;
    match (one.offsets(), other.offsets()) {
        (Some(one), Some(other)) => share(one, other),
        (Some(offsets), None) | (None, Some(offsets)) => offsets.iter().any(in_window),
        (None, None) => true,
    }
}

fn share<T: PartialEq>(one: &[T], other: &[T]) -> bool {
    one.iter().any(|value| other.contains(value))
}

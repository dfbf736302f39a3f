//! Values that the parser of options refuses, in the words in which commands refuse the others.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use std::error::Error as _;

/// `--option is value, expected …`, for errors that are about a value.
pub fn in_own_words(error: &Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let name = text(ContextKind::InvalidArg)?.split(' ').next()?;
    let value = text(ContextKind::InvalidValue).filter(|value| !value.is_empty())?;
    let expected = match (error.kind(), error.get(ContextKind::ValidValue)) {
        (ErrorKind::InvalidValue, Some(ContextValue::Strings(valid))) => one_of(valid),
        (ErrorKind::ValueValidation, _) => expected(&error.source()?.to_string()),
        _ => return None,
    };
    Some(format!("{name} is {value}, expected {expected}"))
}

fn one_of(valid: &[String]) -> String {
    match valid {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => valid.join(""),
    }
}

/// What would have been right, from what the parser of a value says is wrong.
fn expected(problem: &str) -> String {
    if let Some(expected) = problem.strip_prefix("expected ") {
        return expected.to_owned();
    }
    match problem.split_once(" is not in ") {
        Some((_, range)) => match range.split_once("..") {
            Some((low, high)) => match high.trim_start_matches('=') {
                high if unlimited(high) => format!("a whole number from {low} up"),
                high => format!("{low} to {high}"),
            },
            None => range.to_owned(),
        },
        None if problem.contains("float") => "a number".to_owned(),
        None if problem.contains("digit") || problem.contains("integer") => "a whole number".to_owned(),
        None => format!("another value: {problem}"),
    }
}

/// Whether the end of a range is only that of its type.
fn unlimited(end: &str) -> bool {
    end.parse().is_ok_and(|end: u64| end >= u64::from(u32::MAX)) || end.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_become_expectations() {
        for (problem, words) in [
            ("0 is not in 1..", "a whole number from 1 up"),
            ("0 is not in 1..=18446744073709551615", "a whole number from 1 up"),
            ("0 is not in 1..=4294967295", "a whole number from 1 up"),
            ("4 is not in 0..=3", "0 to 3"),
            ("invalid digit found in string", "a whole number"),
            ("invalid float literal", "a number"),
            ("expected a time", "a time"),
            ("odd", "another value: odd"),
        ] {
            assert_eq!(expected(problem), words);
        }
        let valid = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(one_of(&valid), "a, b or c");
        assert_eq!(one_of(&valid[..1]), "a");
    }
}

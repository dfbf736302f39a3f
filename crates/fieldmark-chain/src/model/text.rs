//! What a model file and a text dump write alike: names on one line, and options as `key ⇥ value`.

use crate::structure::{Strategy, StructureOptions, UnseenTransitions};
use std::borrow::Cow;

/// A name without tabs and line ends, for one field of a line.
pub(super) fn escape(name: &str) -> Cow<'_, str> {
    if !name.contains(['\\', '\t', '\n', '\r']) {
        return Cow::Borrowed(name);
    }
    let mut escaped = String::with_capacity(name.len() + 8);
    for symbol in name.chars() {
        match symbol {
            '\\' => escaped.push_str("\\\\"),
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// The name that [`escape`] wrote, or `None` when it writes no name in this way.
pub(super) fn unescape(field: &str) -> Option<Cow<'_, str>> {
    if field.contains(['\t', '\n', '\r']) {
        return None;
    }
    if !field.contains('\\') {
        return Some(Cow::Borrowed(field));
    }
    let mut name = String::with_capacity(field.len());
    let mut symbols = field.chars();
    while let Some(symbol) = symbols.next() {
        name.push(match symbol {
            '\\' => match symbols.next()? {
                '\\' => '\\',
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            other => other,
        });
    }
    Some(Cow::Owned(name))
}

/// The names of options, in the order in which they are written.
pub(super) const OPTIONS: [&str; 9] = [
    "order",
    "states",
    "transitions",
    "label-bias",
    "boundaries",
    "lower-orders",
    "min-freq",
    "min-instances",
    "unseen-transitions",
];

/// The value of an option.
pub(super) fn option(options: &StructureOptions, key: &str) -> String {
    match key {
        "order" => options.order.to_string(),
        "states" => strategy_name(options.states).to_owned(),
        "transitions" => strategy_name(options.transitions).to_owned(),
        "label-bias" => yes_or_no(options.label_bias).to_owned(),
        "boundaries" => yes_or_no(options.boundaries).to_owned(),
        "lower-orders" => yes_or_no(options.lower_orders).to_owned(),
        "min-freq" => format!("{:?}", options.min_freq),
        "min-instances" => options.min_instances.to_string(),
        "unseen-transitions" => unseen_name(options.unseen_transitions).to_owned(),
        _ => String::new(),
    }
}

/// Sets an option to a value as [`option`] writes it; otherwise says what was expected.
pub(super) fn set_option(options: &mut StructureOptions, key: &str, value: &str) -> Result<(), &'static str> {
    let expected = match key {
        "order" => "0, 1, 2 or 3",
        "states" | "transitions" => "`all`, `supported` or `default-only`",
        "min-freq" => "a number",
        "min-instances" => "a count",
        "unseen-transitions" => "`free` or `forbid`",
        _ => "`yes` or `no`",
    };
    let strategy = [Strategy::All, Strategy::Supported, Strategy::DefaultOnly]
        .into_iter()
        .find(|&strategy| strategy_name(strategy) == value);
    let unseen = [UnseenTransitions::Free, UnseenTransitions::Forbid]
        .into_iter()
        .find(|&unseen| unseen_name(unseen) == value);
    let flag = [true, false].into_iter().find(|&flag| yes_or_no(flag) == value);
    match key {
        "order" => {
            let order = value.parse().ok().filter(|&order| order <= 3);
            options.order = order.ok_or(expected)?;
        }
        "states" => options.states = strategy.ok_or(expected)?,
        "transitions" => options.transitions = strategy.ok_or(expected)?,
        "label-bias" => options.label_bias = flag.ok_or(expected)?,
        "boundaries" => options.boundaries = flag.ok_or(expected)?,
        "lower-orders" => options.lower_orders = flag.ok_or(expected)?,
        "min-freq" => options.min_freq = value.parse().map_err(|_| expected)?,
        "min-instances" => options.min_instances = value.parse().map_err(|_| expected)?,
        "unseen-transitions" => options.unseen_transitions = unseen.ok_or(expected)?,
        _ => return Err("the name of an option"),
    }
    // One value has one spelling, so that what is read is written again as it was.
    if option(options, key) == value {
        Ok(())
    } else {
        Err(expected)
    }
}

pub(super) fn strategy_name(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::All => "all",
        Strategy::Supported => "supported",
        Strategy::DefaultOnly => "default-only",
    }
}

fn unseen_name(unseen: UnseenTransitions) -> &'static str {
    match unseen {
        UnseenTransitions::Free => "free",
        UnseenTransitions::Forbid => "forbid",
    }
}

fn yes_or_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prop_assert, prop_assert_eq, proptest};

    proptest! {
        #[test]
        fn every_name_comes_back_from_one_field(name in "(\\\\|\t|\n|\r|t|ä|\u{2028}){0,12}") {
            let field = escape(&name);
            prop_assert!(!field.contains(['\t', '\n', '\r']));
            prop_assert_eq!(unescape(&field), Some(Cow::Borrowed(name.as_str())));
        }

        #[test]
        fn what_is_no_field_is_not_read_as_one(field in "(\\\\|\t|r|t|x){0,8}") {
            if let Some(name) = unescape(&field) {
                prop_assert_eq!(escape(&name), field.as_str());
            }
        }
    }

    #[test]
    fn options_have_one_spelling() {
        let original = StructureOptions {
            order: 3,
            states: Strategy::All,
            transitions: Strategy::DefaultOnly,
            label_bias: true,
            boundaries: true,
            lower_orders: false,
            min_freq: 0.1,
            min_instances: 7,
            unseen_transitions: UnseenTransitions::Forbid,
        };
        let mut read = StructureOptions::default();
        for key in OPTIONS {
            set_option(&mut read, key, &option(&original, key)).unwrap();
        }
        assert_eq!(read, original);
        let wrong = [
            ("order", "4"),
            ("order", "01"),
            ("order", "+1"),
            ("states", "All"),
            ("label-bias", "true"),
            ("min-freq", "0"),
            ("min-freq", "x"),
            ("min-instances", "-1"),
            ("unseen-transitions", "no"),
            ("colour", "red"),
        ];
        for (key, value) in wrong {
            assert!(set_option(&mut read, key, value).is_err(), "{key} {value}");
        }
    }
}

//! Wapiti's patterns, translated to regular expressions.
//!
//! The dialect is small: `.` any character; `\d` digit, `\a` letter, `\w` letter or digit, `\l` lower case,
//! `\u` upper case, `\p` punctuation, `\s` space (upper case for the complement); `\` before anything else
//! makes it literal; `^` at the beginning and `$` at the end are anchors; `*` repeats the character before
//! it as few times as possible and `?` makes it optional. Everything else stands for itself, as in Wapiti: there
//! are no groups, alternatives, bracketed sets, `+` or counts, and `[` is a bracket.
//!
//! Wapiti looks at bytes in the C locale; here `.` is a whole character and the classes know all of Unicode.
//! On ASCII text both agree.

use regex::Regex;

/// Compiles a pattern. An error says at which byte of the pattern and what is wrong.
pub(super) fn compile(pattern: &str) -> Result<Regex, (usize, String)> {
    let expression = translate(pattern)?;
    Regex::new(&expression).map_err(|error| (0, format!("cannot compile this pattern: {error}")))
}

fn translate(pattern: &str) -> Result<String, (usize, String)> {
    let mut expression = String::from("(?s)");
    let mut rest = pattern.char_indices().peekable();
    if rest.next_if(|&(_, c)| c == '^').is_some() {
        expression.push('^');
    }
    while let Some((at, c)) = rest.next() {
        match c {
            '$' if rest.peek().is_none() => {
                expression.push_str(r"\z");
                break;
            }
            '*' | '?' => {
                return Err((
                    at,
                    format!("there is no character before `{c}`. Write `\\{c}` for the character itself"),
                ));
            }
            '.' => expression.push('.'),
            '\\' => match rest.next() {
                Some((_, class)) => expression.push_str(&escaped(class)),
                None => return Err((at, "nothing follows the backslash".to_owned())),
            },
            literal => push_literal(&mut expression, literal),
        }
        if rest.next_if(|&(_, c)| c == '*').is_some() {
            expression.push_str("*?");
        } else if rest.next_if(|&(_, c)| c == '?').is_some() {
            expression.push('?');
        }
    }
    Ok(expression)
}

fn escaped(class: char) -> String {
    let set = match class.to_ascii_lowercase() {
        'a' => r"\p{Alphabetic}",
        'd' => r"\p{Nd}",
        'l' => r"\p{Lowercase}",
        'p' => r"[:punct:]\p{P}\p{S}",
        's' => r"\s",
        'u' => r"\p{Uppercase}",
        'w' => r"\p{Alphabetic}\p{Nd}",
        _ => {
            let mut literal = String::new();
            push_literal(&mut literal, class);
            return literal;
        }
    };
    let complement = if class.is_ascii_uppercase() { "^" } else { "" };
    // The POSIX class exists only inside brackets.
    format!("[{complement}{set}]")
}

fn push_literal(expression: &mut String, literal: char) {
    expression.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wapiti's matcher by its description, on characters: where the first match is and how long.
    fn reference(pattern: &[char], text: &[char]) -> Option<(usize, usize)> {
        let (anchored, pattern) = match pattern {
            ['^', rest @ ..] => (true, rest),
            _ => (false, pattern),
        };
        let starts = if anchored { 0..1 } else { 0..text.len() + 1 };
        starts
            .into_iter()
            .find_map(|start| here(pattern, &text[start..]).map(|length| (start, length)))
    }

    fn here(pattern: &[char], text: &[char]) -> Option<usize> {
        match pattern {
            [] => return Some(0),
            ['$'] => return text.is_empty().then_some(0),
            _ => {}
        }
        let (one, rest) = pattern.split_at(1 + usize::from(pattern[0] == '\\'));
        let fits = |text: &[char]| text.first().is_some_and(|&c| single(one, c));
        match rest {
            ['*', rest @ ..] => {
                let mut taken = 0;
                loop {
                    if let Some(length) = here(rest, &text[taken..]) {
                        return Some(taken + length);
                    }
                    if !fits(&text[taken..]) {
                        return None;
                    }
                    taken += 1;
                }
            }
            ['?', rest @ ..] => {
                let with = if fits(text) {
                    here(rest, &text[1..]).map(|length| length + 1)
                } else {
                    None
                };
                with.or_else(|| here(rest, text))
            }
            _ if fits(text) => here(rest, &text[1..]).map(|length| length + 1),
            _ => None,
        }
    }

    fn single(one: &[char], c: char) -> bool {
        let class = match one {
            ['.'] => return true,
            ['\\', class] => *class,
            _ => return one[0] == c,
        };
        let inside = match class.to_ascii_lowercase() {
            'a' => c.is_ascii_alphabetic(),
            'd' => c.is_ascii_digit(),
            'l' => c.is_ascii_lowercase(),
            'p' => c.is_ascii_punctuation(),
            's' => c.is_ascii_whitespace(),
            'u' => c.is_ascii_uppercase(),
            'w' => c.is_ascii_alphanumeric(),
            _ => return class == c,
        };
        inside != class.is_ascii_uppercase()
    }

    proptest::proptest! {
        #[test]
        fn translation_matches_what_wapiti_matches(
            pattern in r"\^?(([ab.(+|$\[\]-]|\\[adlpsuwADLPSUW.*b])[*?]?){0,5}\$?",
            text in r"[abAB1 .(+|$^_\[\]-]{0,7}",
        ) {
            let found = compile(&pattern).unwrap().find(&text).map(|found| (found.start(), found.len()));
            let pattern: Vec<char> = pattern.chars().collect();
            let text: Vec<char> = text.chars().collect();
            proptest::prop_assert_eq!(found, reference(&pattern, &text));
        }
    }

    #[test]
    fn repetition_of_nothing_is_an_error() {
        for (pattern, at) in [("*a", 0), ("^?", 1), ("a**", 2), ("a*?", 2)] {
            assert_eq!(translate(pattern).unwrap_err().0, at, "{pattern}");
        }
    }

    #[test]
    fn brackets_are_no_sets() {
        let pattern = compile("[ab]").unwrap();
        assert!(pattern.is_match("x[ab]") && !pattern.is_match("a"));
    }

    #[test]
    fn classes_know_unicode() {
        assert!(compile(r"^\u\l\l$").unwrap().is_match("Été"));
        assert_eq!(compile("^.?.?").unwrap().find("œuf").unwrap().as_str(), "œu");
    }
}

//! Character references of HTML and XML.

use super::rewriter::Rewriter;
use htmlize::{ENTITIES, ENTITY_MAX_LENGTH};

/// Characters that a numeric reference has, at most; more digits can only be zeros in front.
const NUMERIC_MAX_LENGTH: usize = 32;

pub(super) fn decode(text: &mut Rewriter<'_>) {
    let source = text.source();
    let mut done = 0;
    for start in memchr::memchr_iter(b'&', source.as_bytes()) {
        if start < done {
            continue;
        }
        let rest = &source[start..];
        if let Some(len) = numeric(rest) {
            text.replace(start..start + len, &htmlize::unescape(&rest[..len]));
            done = start + len;
        } else if let Some((len, characters)) = named(rest) {
            text.replace(start..start + len, characters);
            done = start + len;
        }
    }
}

/// Length of `&#233;` or `&#xE9;` at the beginning, with or without its semicolon.
fn numeric(rest: &str) -> Option<usize> {
    let digits = rest.strip_prefix("&#")?;
    let (digits, is_digit): (_, fn(&u8) -> bool) = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, u8::is_ascii_hexdigit),
        None => (digits, u8::is_ascii_digit),
    };
    let prefix = rest.len() - digits.len();
    let len = digits
        .bytes()
        .take(NUMERIC_MAX_LENGTH)
        .take_while(is_digit)
        .count();
    let semicolon = usize::from(digits[len..].starts_with(';'));
    (len > 0).then_some(prefix + len + semicolon)
}

/// Length and meaning of `&eacute;` at the beginning, or of `&eacute` where it cannot mean anything else.
fn named(rest: &str) -> Option<(usize, &'static str)> {
    let name = rest[1..]
        .bytes()
        .take(ENTITY_MAX_LENGTH)
        .take_while(u8::is_ascii_alphanumeric);
    let end = 1 + name.count();
    let len = match rest.as_bytes().get(end) {
        Some(b';') => end + 1,
        // The parameter of a web address: `?a=1&copy=2`.
        Some(b'=') => return None,
        _ => end,
    };
    let characters = ENTITIES.get(&rest.as_bytes()[..len])?;
    Some((len, std::str::from_utf8(characters).ok()?))
}

//! Dashes and quotation marks: many characters, few meanings.

use super::rewriter::Rewriter;
use crate::characters::{is_dash, is_double_quote, is_quote};

pub(super) fn dashes(text: &mut Rewriter<'_>) {
    text.replace_chars(is_dash, |_, out| out.push('-'));
}

pub(super) fn quotes(text: &mut Rewriter<'_>) {
    text.replace_chars(is_quote, |c, out| {
        out.push(if is_double_quote(c) { '"' } else { '\'' })
    });
}

//! Parses any text as a template and applies it: an error, or observations at every row.

#![no_main]

use fieldmark_text::{Rows, Template};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    let Ok(template) = Template::parse(source) else {
        return;
    };
    let rows = Rows::new(3, ["The", "DT", "1", "cat", "NN", "-9", "École", "", "x"]);
    let mut name = String::new();
    for t in 0..rows.len() {
        template.observe(&rows, t, &mut name, |_, name| assert!(!name.contains('\n')));
    }
    assert_eq!(template.source(), source);
});

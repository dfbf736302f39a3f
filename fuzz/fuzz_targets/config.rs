//! Reads any text as a config, with what stands before the first NUL as overrides, one in a line: it is an error with a
//! place in the text, or a config that is the same after it was written and read.

#![no_main]

use fieldmark::config::Config;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &str| {
    let (overrides, text) = data.split_once('\0').unwrap_or(("", data));
    let overrides: Vec<String> = overrides.lines().map(str::to_owned).collect();
    match Config::parse(text, &overrides) {
        Ok(config) => {
            let written = config.to_toml();
            let again = Config::parse(&written, &[]).unwrap();
            // As text: a number that is none is not the same as itself.
            assert_eq!(again.to_toml(), written);
        }
        Err(error) => {
            assert!(!error.problem.is_empty());
            match error.place {
                Some((line, column)) => {
                    let lines = text.split('\n').count();
                    assert!((1..=lines).contains(&line), "{error}");
                    let length = text
                        .split('\n')
                        .nth(line - 1)
                        .map_or(0, |line| line.chars().count());
                    assert!((1..=length + 1).contains(&column), "{error}");
                }
                None => assert!(!overrides.is_empty(), "{error}"),
            }
        }
    }
});

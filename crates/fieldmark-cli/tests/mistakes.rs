//! Broken input and broken surroundings: a sentence and the right exit code, never a crash.

mod common;
use common::{PROGRAM, Place, errors};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Text of a file, and what the message of `train` must hold.
const BROKEN_COLUMNS: &[(&str, &str)] = &[
    ("", "bad.txt: there is no sequence in this input"),
    ("\n \n\n", "bad.txt: there is no sequence in this input"),
    (
        "a b O\nc d\n",
        "bad.txt:2:4: found 2 columns, expected 3 as in line 1",
    ),
    ("a b O\nc d e O\n", "bad.txt:2:7: found 4 columns, expected 3"),
    (
        "a\tb\tO\nc d O\n",
        "bad.txt:2:2: found spaces between columns, expected tabs",
    ),
    (
        "a b O\nc\td\tO\n",
        "bad.txt:2:2: found a tab between columns, expected spaces",
    ),
    ("a\tO\nb\t\n", "bad.txt:2:3: the label is missing"),
    ("word\n", "bad.txt:1:5: the label is missing"),
    ("a O\nb A|\n", "bad.txt:2:3: found the label `A|`"),
    ("a O\n\0 O\n", "bad.txt:2:1: byte 4 is NUL"),
];

const BROKEN_ATTRIBUTES: &[(&str, &str)] = &[
    (
        "O\tx:high\n",
        "bad.crfsuite:1:5: the value of `x` is `high`, expected a finite number",
    ),
    (
        "O\tx:inf\n",
        "bad.crfsuite:1:5: the value of `x` is `inf`, expected a finite number",
    ),
    ("O\tx:1e999\n", "expected a finite number"),
    (
        "O\tx:1e39\n",
        "bad.crfsuite:1:5: the value of `x` is `1e39`, which is too large",
    ),
    ("\tx\n", "bad.crfsuite:1:1: the label is missing"),
    ("O\tx\nO x y\n", "bad.crfsuite:2:2: found spaces and no tab"),
];

#[test]
fn broken_data_get_file_line_and_column() {
    let place = Place::new();
    for (name, table) in [("bad.txt", BROKEN_COLUMNS), ("bad.crfsuite", BROKEN_ATTRIBUTES)] {
        for (text, expected) in table {
            place.write(name, text);
            for command in ["train --model m.fmk", "check"] {
                let error = place.refuse(&format!("{command} {name}"));
                assert!(error.contains(expected), "{command} on {text:?}: {error}");
                assert_eq!(error.trim_end().lines().count(), 1, "one sentence: {error}");
                assert!(error.starts_with("error: "), "{error}");
            }
        }
    }
    place.write("latin1.txt", b"caf\xe9 O\n");
    let error = place.refuse("train --model m.fmk latin1.txt");
    assert!(
        error.contains("latin1.txt:1:4: byte 3 (0xE9) is not valid UTF-8"),
        "{error}"
    );
    assert!(!place.path("m.fmk").exists());
}

#[test]
fn broken_data_are_reported_by_tag_too() {
    let place = Place::with_data();
    place.train();
    place.write("bad.txt", "Ada Aa O\nmet a\n");
    let error = place.refuse("tag --model model.fmk bad.txt");
    assert!(
        error.contains("bad.txt:2:6: found 2 columns, expected 3 as in line 1"),
        "{error}"
    );
    place.write("narrow.txt", "Ada\n");
    assert!(
        place
            .refuse("tag --model model.fmk narrow.txt")
            .contains("narrow.txt:1:")
    );
}

/// Bytes of an input, and what the messages of `tag` and `eval` must hold; `None` where the input is fine.
const ODD_INPUT: &[(&[u8], Option<&str>, Option<&str>)] = &[
    (
        b"",
        Some("there is no sequence"),
        Some("there is no tagged token"),
    ),
    (
        b"\n \n",
        Some("there is no sequence"),
        Some("there is no tagged token"),
    ),
    (
        b"a a O\n\0 a O\n",
        Some(":2:1: byte 6 is NUL"),
        Some(":2:1: byte 6 is NUL"),
    ),
    (
        b"a a O\ncaf\xe9 a O\n",
        Some(":2:4: byte 9 (0xE9)"),
        Some(":2:4: byte 9 (0xE9)"),
    ),
    (
        b"\xff\xfea\0",
        Some(":1:1: this is UTF-16"),
        Some(":1:1: this is UTF-16"),
    ),
    (
        b"a\ta\tO\nb a O\n",
        Some(":2:2: found spaces"),
        Some(":2:6: found 1 column"),
    ),
    (b"a a O\nb\ta\tO\n", Some(":2:2: found a tab"), None),
    (
        b"a a O\nb\n",
        Some(":2:2: found 1 columns"),
        Some(":2:2: found 1 column"),
    ),
    (b"a a O\r\n\r\nb a O\r\n", None, None),
    (b"\xef\xbb\xbfa a O\n", None, None),
    (b"a a O", None, None),
    (
        b"\x1f\x8b\x08\x00",
        Some("cannot decompress"),
        Some("cannot decompress"),
    ),
];

#[test]
fn odd_input_to_tag_and_eval() {
    let place = Place::with_data();
    place.train();
    for &(bytes, tag, eval) in ODD_INPUT {
        place.write("odd.txt", bytes);
        for (command, expected) in [("tag --model model.fmk", tag), ("eval", eval)] {
            let file = place.command(&format!("{command} odd.txt")).done();
            let pipe = place.command(command).input(bytes).done();
            for (done, name) in [(file, "odd.txt"), (pipe, "standard input")] {
                match expected {
                    None => drop(done.success()),
                    Some(expected) => {
                        let error = errors(&done.code(2));
                        assert!(
                            error.contains(name) && error.contains(expected),
                            "{command} on {bytes:?}: {error}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn lines_and_sequences_may_be_long() {
    let place = Place::with_data();
    place.train();
    place.write("wide.txt", "x".repeat(3_000_000) + " a O\n");
    place.write("long.txt", "met a O\n".repeat(50_000));
    for options in ["", "--probs", "--max-marginals", "--log-probs", "--json"] {
        place.run(&format!("tag {options} --model model.fmk wide.txt"));
        place.run(&format!("tag {options} --model model.fmk long.txt"));
    }
    let tagged = place.run("tag --model model.fmk long.txt");
    assert_eq!(tagged.lines().count(), 50_000);
    place.write("tagged.txt", tagged);
    assert!(place.run("eval tagged.txt").contains("processed 50000 tokens"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let place = Place::with_data();
    place.train();
    place.write("tagged.txt", "a O O\n");
    for arguments in ["tag --model model.fmk test.txt", "eval tagged.txt"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let done = Command::new(PROGRAM)
            .args(arguments.split_whitespace())
            .current_dir(place.root())
            .stdout(full)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(
            error.contains("cannot write the output") && !done.status.success(),
            "{error}"
        );
    }
}

#[test]
fn templates_are_checked() {
    let place = Place::with_data();
    place.write("t.txt", "U00:%x[0,7]\n");
    let error = place.refuse("train --template t.txt --model m.fmk train.txt");
    assert!(error.contains("asks for column 7"), "{error}");
    place.write("t.txt", "U00:%x[0,0]\nU01:%x[0\n");
    let error = place.refuse("train --template t.txt --model m.fmk train.txt");
    assert!(error.contains("t.txt:2:"), "{error}");
    assert!(
        place
            .refuse("train --template no.txt --model m.fmk train.txt")
            .contains("no.txt: cannot read")
    );
}

#[test]
fn files_that_are_not_there_or_not_models() {
    let place = Place::with_data();
    for arguments in [
        "train --model m.fmk absent.txt",
        "train --model no/such/place/m.fmk train.txt",
        "train --model . train.txt",
        "tag --model absent.fmk test.txt",
        "tag --model train.txt test.txt",
        "tag --model template.txt test.txt",
        "eval absent.txt",
        "eval .",
        "check absent.txt",
        "inspect absent.fmk",
        "inspect train.txt",
        "inspect --load absent.txt m.fmk",
        "train --warm-start absent.fmk --model m.fmk train.txt",
        "train --dev absent.txt --model m.fmk train.txt",
        "train --report no/such/r.json --model m.fmk train.txt",
    ] {
        let error = place.refuse(arguments);
        assert!(error.contains("error: "), "{arguments}: {error}");
        assert!(
            !error.contains("panicked") && !error.contains("Os {"),
            "{arguments}: {error}"
        );
    }
}

#[test]
fn a_damaged_model_is_refused() {
    let place = Place::with_data();
    place.train();
    let mut bytes = place.bytes("model.fmk");
    place.write("short.fmk", &bytes[..bytes.len() / 2]);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    place.write("flipped.fmk", &bytes);
    for model in ["short.fmk", "flipped.fmk"] {
        let error = place.refuse(&format!("tag --model {model} test.txt"));
        assert!(error.contains(model), "{error}");
    }
}

#[test]
fn the_wrong_format_is_named() {
    let place = Place::with_data();
    place.train();
    let error = place.refuse("tag --format crfsuite --model model.fmk test.crfsuite");
    assert!(error.contains("this model reads --format columns"), "{error}");
}

#[test]
fn a_closed_pipe_is_normal() {
    let place = Place::with_data();
    place.train();
    place.write("long.txt", place.read("test.txt").repeat(20_000));
    for arguments in [
        "tag --model model.fmk long.txt",
        "tag --json --marginals --model model.fmk long.txt",
    ] {
        let mut child = Command::new(PROGRAM)
            .args(arguments.split_whitespace())
            .current_dir(place.root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
        assert_eq!(done.status.code(), Some(0));
    }
}

#[test]
fn usage_mistakes_have_the_exit_code_of_users() {
    let place = Place::new();
    for arguments in [
        "",
        "trian",
        "train",
        "tag --nbest 0 --model m.fmk",
        "eval --strict iob9 x",
    ] {
        place.command(arguments).done().code(2);
    }
    place.command("--version").done().success();
    let done = place.command("help train").done().success();
    assert_eq!(errors(&done), "");
}

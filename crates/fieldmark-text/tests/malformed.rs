//! Every malformed input gets a message with file, line, column and advice.

use fieldmark_text::{BlockOptions, ErrorKind, Format, LabelSyntax, Source, Template, read_training};
use std::io::Write;

fn message(format: &Format, bytes: &[u8]) -> String {
    let source = Source::Memory {
        name: "data".to_owned(),
        bytes: bytes.to_vec(),
    };
    let serial = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let error = serial
        .install(|| read_training(&source, format))
        .unwrap_err()
        .to_string();
    // Where blocks end and who parses them does not change what is reported.
    let small = format.clone().blocks(BlockOptions {
        size: 16,
        ..BlockOptions::default()
    });
    let parallel = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    assert_eq!(
        parallel
            .install(|| read_training(&source, &small))
            .unwrap_err()
            .to_string(),
        error
    );
    error
}

#[test]
fn attribute_files() {
    let cases: &[(&str, &str)] = &[
        ("", "data: there is no sequence"),
        ("\n \r\n\n", "data: there is no sequence"),
        (
            "A\ta\n\tb\n",
            "data:2:1: the label is missing: the line begins with a tab",
        ),
        (
            "A\ta\n\nA\té\tb:1:2\n",
            "data:3:8: found `b:1:2`, expected `name` or `name:value`: there are two colons",
        ),
        (
            "A\t:1\n",
            "data:1:3: found `:1`, expected `name` or `name:value`: the name is empty",
        ),
        ("A\t::\n", "data:1:3: found `::`"),
        (
            "A\tx:high\n",
            "data:1:5: the value of `x` is `high`, expected a finite number",
        ),
        ("A\tx:nan\n", "data:1:5: the value of `x` is `nan`"),
        ("A\tx:inf\n", "data:1:5: the value of `x` is `inf`"),
        ("A\tx:1e99\n", "data:1:5: the value of `x` is `1e99`"),
        ("A\tx:1 \n", "data:1:5: the value of `x` is `1 `"),
        ("A\tx:0x10\n", "data:1:5: the value of `x` is `0x10`"),
        (
            "a:b\tx\n",
            "data:1:2: found the label `a:b`: a colon in a label is written `\\:`",
        ),
        ("A\ta\n\nB\tb\n\nB\t\0\n", "data:5:3: byte 12 is NUL"),
        ("\u{FEFF}A\t\0\n", "data:1:3: byte 5 is NUL"),
    ];
    for (text, expected) in cases {
        let message = message(&Format::attributes(), text.as_bytes());
        assert!(
            message.starts_with(expected),
            "{text:?}\n  gave     {message}\n  expected {expected}"
        );
    }
}

#[test]
fn column_files() {
    let cases: &[(&str, &str)] = &[
        ("", "data: there is no sequence"),
        (
            "a\n",
            "data:1:2: the label is missing: the line has only one column. The last column",
        ),
        (
            "a b A\nc C\n",
            "data:2:4: found 2 columns, expected 3 as in line 1. Is the label missing",
        ),
        (
            "\n\na b A\n\nc\n",
            "data:5:2: found 1 columns, expected 3 as in line 3. Every line",
        ),
        (
            "a b A\nc d e C\n",
            "data:2:7: found 4 columns, expected 3 as in line 1. A cell cannot hold spaces",
        ),
        (
            "a\tb\tA\nc d\tC\n",
            "data:2:2: found spaces between columns, expected tabs as in line 1",
        ),
        (
            "a\tb\tA\né d C\n",
            "data:2:2: found spaces between columns, expected tabs as in line 1",
        ),
        (
            "a b A\nc d\tC\n",
            "data:2:4: found a tab between columns, expected spaces as in line 1",
        ),
        (
            "a\tb\tA\nc\t\td\tC\n",
            "data:2:6: found 4 columns, expected 3 as in line 1. Two tabs in a row",
        ),
        (
            "a\tb\tA\nc\td\t\n",
            "data:2:5: the label is missing: the last column is empty",
        ),
        (
            "a A\nb A|\n",
            "data:2:3: found the label `A|`: an alternative is empty",
        ),
        (
            "a A\nb A|?\n",
            "data:2:3: found the label `A|?`: `?` allows every label",
        ),
    ];
    let format = Format::columns(Template::parse("U:%x[0,0]").unwrap());
    for (text, expected) in cases {
        let message = message(&format, text.as_bytes());
        assert!(
            message.starts_with(expected),
            "{text:?}\n  gave     {message}\n  expected {expected}"
        );
    }
}

#[test]
fn templates_that_ask_for_missing_columns() {
    let format = Format::columns(Template::parse("# words\nU:%x[0,0]/%x[-1,2]\n").unwrap());
    let expected = "data:2:1: `%x[-1,2]` in line 2 of the template asks for column 2, \
                    but the data have only columns 0 to 1 and the label";
    assert_eq!(message(&format, b"\na b A\n"), expected);
    let message = message(&format.unlabelled(), b"a b\n");
    assert!(message.ends_with("only columns 0 to 1"), "{message}");
}

#[test]
fn bytes_that_are_not_text() {
    let format = Format::attributes();
    let cases: &[(&[u8], &str)] = &[
        (
            b"A\ta\n\nB\t\xC3\xA9\xFFx\n",
            "data:3:4: byte 9 (0xFF) is not valid UTF-8",
        ),
        (b"\xFF\xFEA\0", "data:1:1: this is UTF-16"),
        (b"\xFE\xFF\0A", "data:1:1: this is UTF-16"),
        (b"\0\0\xFE\xFF", "data:1:1: this is UTF-16"),
        (b"\xC3", "data:1:1: byte 0 (0xC3) is not valid UTF-8"),
    ];
    for (bytes, expected) in cases {
        let message = message(&format, bytes);
        assert!(
            message.starts_with(expected),
            "{bytes:?}\n  gave     {message}\n  expected {expected}"
        );
    }
}

#[test]
fn damaged_compressed_files() {
    let text = "A\ta\tb\tc\n".repeat(1000);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    for (name, bytes) in [
        ("gzip", encoder.finish().unwrap()),
        ("zstd", zstd::encode_all(text.as_bytes(), 1).unwrap()),
    ] {
        let source = Source::Memory {
            name: "data".to_owned(),
            bytes: bytes[..bytes.len() - 9].to_vec(),
        };
        let error = read_training(&source, &Format::attributes()).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Compressed { format, .. } if *format == name),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .starts_with(&format!("data: cannot decompress ({name})")),
            "{error}"
        );
    }
}

#[test]
fn files_that_are_not_there() {
    let directory = tempfile::tempdir().unwrap();
    for path in [directory.path().join("absent.txt"), directory.path().to_owned()] {
        let error = read_training(&Source::File(path.clone()), &Format::attributes()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
        assert_eq!(error.file(), path.display().to_string());
    }
}

#[test]
fn sequences_beyond_the_memory() {
    let text = format!("A\ta\n\n\n{}", "B\tb\n".repeat(11));
    let format = Format::attributes().memory_limit(10 * 64, 64);
    let serial = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let error = serial
        .install(|| read_training(&Source::text("data", text), &format))
        .unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(4), Some(1)));
    assert!(error.to_string().contains("more than 10 positions"), "{error}");

    let endless = format!("A\ta\n\n{}", "B\tb\n".repeat(100_000));
    let options = BlockOptions {
        size: 100,
        longest_sequence: 5000,
        ..BlockOptions::default()
    };
    let error = read_training(
        &Source::text("data", endless),
        &Format::attributes().blocks(options),
    )
    .unwrap_err();
    assert_eq!(error.line(), Some(3));
    assert!(error.to_string().contains("more than 5000 bytes"), "{error}");
}

#[test]
fn long_text_is_cut_in_messages() {
    let text = format!("A\tx:{}\n", "y".repeat(1000));
    let message = message(
        &Format::attributes().labels(LabelSyntax::Partial),
        text.as_bytes(),
    );
    assert!(message.len() < 250 && message.contains('…'), "{message}");
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_data_or_an_error_whatever_the_blocks(
        bytes in proptest::collection::vec(proptest::sample::select(&b"aB\t\t \n\n\r:\\|?#\xC3\xA9\0\xFF"[..]), 0..60),
        clean in proptest::bool::ANY,
        size in 1usize..20,
    ) {
        let bytes: Vec<u8> = bytes.into_iter().filter(|byte| !clean || (1..0x80).contains(byte)).collect();
        let source = Source::Memory { name: "data".to_owned(), bytes };
        let template = Template::parse("U:%x[-1,0]\n*:%X[0,0]\n").unwrap();
        let partial = Format::attributes().labels(LabelSyntax::Partial);
        for format in [Format::attributes(), partial, Format::plain_columns().skip_lines("#"), Format::columns(template)] {
            let small = format.clone().blocks(BlockOptions { size, ..BlockOptions::default() });
            match (read_training(&source, &format), read_training(&source, &small)) {
                (Ok(whole), Ok(in_blocks)) => proptest::prop_assert_eq!(whole, in_blocks),
                (Err(_), Err(_)) => {}
                (whole, in_blocks) => proptest::prop_assert!(false, "{:?} {:?}", whole.err(), in_blocks.err()),
            }
        }
    }
}

//! Reading well-formed inputs: every format, every way of reading, every packing.

use fieldmark_core::{Alphabet, Dataset, Gold};
use fieldmark_text::{
    BlockOptions, Format, LabelSyntax, Reader, Separator, Source, Template, escape_attribute, read_against,
    read_for_scoring, read_training,
};
use proptest::prelude::*;
use std::io::Write;

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

/// Every sequence as lines of `label observation=value …`.
fn described(data: &Dataset) -> Vec<Vec<String>> {
    let label = |id: &u32| data.labels.name(*id).to_owned();
    let position = |t: usize| {
        let mut words = vec![match data.gold(t) {
            Gold::Known(id) => label(&id),
            Gold::Unknown => "<any>".to_owned(),
            Gold::Ambiguous(set) => format!("<{}>", set.iter().map(label).collect::<Vec<_>>().join(" or ")),
        }];
        let name = |(id, value): (u32, f32)| match value {
            1.0 => data.observations.name(id).to_owned(),
            value => format!("{}={value}", data.observations.name(id)),
        };
        words.extend(data.unary.iter(t).map(name));
        words.extend(data.pair.iter(t).map(name).map(|name| format!("step:{name}")));
        words.join(" ")
    };
    data.instances()
        .map(|instance| instance.positions().map(position).collect())
        .collect()
}

fn attributes(text: &str) -> Vec<Vec<String>> {
    described(&read_training(&Source::text("text", text), &Format::attributes()).unwrap())
}

fn columns(template: &str, text: &str) -> Vec<Vec<String>> {
    let format = Format::columns(Template::parse(template).unwrap());
    described(&read_training(&Source::text("text", text), &format).unwrap())
}

#[test]
fn attributes_have_names_values_and_escapes() {
    let text = "B\tw=a\tn:0.5\tx:-2e1\tw=a\nI\n\n\nO\tt=10\\:30:3\tb=\\\\\tc=\\n\tempty:\n";
    let expected = [
        vec!["B w=a n=0.5 x=-20 w=a", "I"],
        vec!["O t=10:30=3 b=\\ c=\\n empty"],
    ];
    assert_eq!(attributes(text), expected);
}

#[test]
fn tabs_at_the_end_and_runs_of_tabs_mean_nothing() {
    assert_eq!(attributes("B\ta\t\tb\t\t\nI\t\n"), [["B a b", "I"]]);
    assert_eq!(attributes("B\ta:2\t\tb\t\t\n"), [["B a=2 b"]]);
}

#[test]
fn line_ends_marks_and_blank_lines() {
    let expected = [vec!["B a", "I b"], vec!["O c"]];
    let texts = [
        "B\ta\nI\tb\n\nO\tc\n",
        "B\ta\nI\tb\n\nO\tc",
        "\u{FEFF}B\ta\r\nI\tb\r\n\r\nO\tc\r\n",
        "\n \n\nB\ta\nI\tb\n \t \n\n\nO\tc\n\n\n",
        "B\ta\nI\tb\n\nO\tc\r",
    ];
    for text in texts {
        assert_eq!(attributes(text), expected, "{text:?}");
    }
}

#[test]
fn labels_of_attribute_files_are_literal_unless_asked() {
    assert_eq!(
        attributes("?\ta\nA|B\tb\nx\\:y\tc\n"),
        [["? a", "A|B b", "x:y c"]]
    );
    let format = Format::attributes().labels(LabelSyntax::Partial);
    let source = Source::text("text", "?\ta\nA|B\tb\n\\?\nB|A|B\nA|A\nx\\|y\nx?\n");
    let data = read_training(&source, &format).unwrap();
    let expected = ["<any> a", "<A or B> b", "?", "<A or B>", "A", "x|y", "x?"];
    assert_eq!(described(&data), [expected]);
}

#[test]
fn columns_with_a_template() {
    let template = "U0:%x[-1,0]/%x[0,0]\nU1:%X[0,0]\n*:%x[0,1]\nB\n";
    let expected = [
        vec![
            "B-NP U0:_B-1/The U1:the *:DT",
            "I-NP U0:The/Cat U1:cat *:NN step:*:NN",
        ],
        vec!["O U0:_B-1/. U1:. *:."],
    ];
    assert_eq!(columns(template, "The DT B-NP\nCat NN I-NP\n\n. . O\n"), expected);
    assert_eq!(
        columns(template, "The\tDT\tB-NP\nCat\tNN\tI-NP\n\n.\t.\tO"),
        expected
    );
    assert_eq!(
        columns(template, " The   DT B-NP \nCat NN  I-NP\r\n\r\n. . O\n"),
        expected
    );
}

#[test]
fn tabs_let_cells_hold_spaces_or_nothing() {
    assert_eq!(
        columns("U:%x[0,0]_%x[0,1]", "New York\tx\tB\n\ty z\tI\n"),
        [["B U:New York_x", "I U:_y z"]]
    );
}

#[test]
fn any_whitespace_separates_when_asked() {
    let format = Format::plain_columns().separator(Separator::Whitespace);
    let data = read_training(&Source::text("text", "a b\tX\nc\td  Y\n"), &format).unwrap();
    assert_eq!(described(&data), [["X U00:a U01:b", "Y U00:c U01:d"]]);
}

#[test]
fn column_labels_may_be_unknown_or_ambiguous() {
    let text = "a ?\nb X|Y\nc \\?\nd X\\|Y\ne X\n";
    let expected = [["<any> U:a", "<X or Y> U:b", "? U:c", "X|Y U:d", "X U:e"]];
    assert_eq!(columns("U:%x[0,0]", text), expected);
    let format = Format::columns(Template::parse("U").unwrap()).labels(LabelSyntax::Literal);
    let data = read_training(&Source::text("text", text), &format).unwrap();
    assert_eq!(
        data.labels.iter().collect::<Vec<_>>(),
        ["?", "X|Y", "\\?", "X\\|Y", "X"]
    );
}

#[test]
fn comments_are_skipped_and_kept_for_the_output() {
    let text = "# id 1\n-DOCSTART- X\n\n# id 2\na A\n# inside\nb B\n";
    let format = Format::plain_columns().skip_lines("# ").skip_lines("-DOCSTART-");
    let mut reader = Reader::open(&Source::text("text", text), &format).unwrap();
    let block = reader.next_block().unwrap().unwrap();
    let part = reader.parser().parse_part(block).unwrap();
    assert_eq!(part.data.positions(), 2);
    let lines: Vec<_> = part.lines().map(|line| (line.position, line.text)).collect();
    assert_eq!(
        lines,
        [
            (None, "# id 1"),
            (None, "-DOCSTART- X"),
            (None, ""),
            (None, "# id 2"),
            (Some(0), "a A"),
            (None, "# inside"),
            (Some(1), "b B"),
        ]
    );
    assert_eq!(
        (part.line(1), part.line_number(0), part.line_number(1)),
        ("b B", 5, 7)
    );
}

#[test]
fn lines_put_together_are_the_input() {
    for text in [
        "\n\na A\r\n \t\r\n\nb B\n\n\n\nc C",
        "a A\n",
        "a A\n\n\n",
        "\r\na A\r\n",
    ] {
        for size in [1, 1 << 20] {
            let blocks = BlockOptions {
                size,
                ..BlockOptions::default()
            };
            let format = Format::plain_columns().blocks(blocks);
            let mut reader = Reader::open(&Source::text("text", text), &format).unwrap();
            let (mut together, mut positions) = (String::new(), Vec::new());
            while let Some(block) = reader.next_block().unwrap() {
                let part = reader.parser().parse_part(block).unwrap();
                for line in part.lines() {
                    together += line.text;
                    together += line.end;
                    positions.extend(line.position.map(|position| part.line(position) == line.text));
                }
            }
            assert_eq!(together, text);
            assert_eq!(positions, vec![true; text.matches(char::is_uppercase).count()]);
        }
    }
}

#[test]
fn a_model_says_how_many_columns_there_are() {
    let read = |text: &str| {
        let format = Format::plain_columns().observed_columns(1);
        Reader::open(&Source::text("text", text), &format).map(|reader| reader.parser().labelled())
    };
    assert!(read("a X\n").unwrap());
    assert!(!read("a\n").unwrap());
    let error = read("\na b X\n").unwrap_err().to_string();
    assert!(
        error.starts_with("text:2:5: found 3 columns, expected 2 as in training, the last of them the label"),
        "{error}"
    );
    let format = Format::plain_columns().observed_columns(3);
    let error = Reader::open(&Source::text("text", "a\n"), &format).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("text:1:2: found 1 column, expected 4"),
        "{error}"
    );
}

#[test]
fn unlabelled_columns_are_unknown() {
    let format = Format::columns(Template::parse("U:%x[0,1]").unwrap()).unlabelled();
    let data = read_training(&Source::text("text", "a b\n"), &format).unwrap();
    assert_eq!(described(&data), [["<any> U:b"]]);
}

#[test]
fn names_unknown_to_a_model_are_counted() {
    let labels: Alphabet = ["A", "B"].iter().collect();
    let observations: Alphabet = ["a", "b"].iter().collect();
    let format = Format::attributes().labels(LabelSyntax::Partial);
    let text = "A\ta\tx\nC\tb:2\ny\ty\n\nA|C\tz\nC|D\ta\nB\n";
    let (data, unseen) = read_against(&Source::text("text", text), &format, &labels, &observations).unwrap();
    assert_eq!(unseen.observations, 3);
    assert_eq!(
        unseen
            .labels
            .iter()
            .map(|(name, n)| (&**name, *n))
            .collect::<Vec<_>>(),
        [("C", 3), ("D", 1), ("y", 1)]
    );
    let gold: Vec<_> = (0..6).map(|t| data.gold(t)).collect();
    let (known, any) = (Gold::Known, Gold::Unknown);
    assert_eq!(gold, [known(0), any, any, known(0), any, known(1)]);
    assert_eq!((data.len(), data.unary.all_ids()), (2, &[0, 1, 0][..]));
    assert_eq!(data.unary.iter(1).collect::<Vec<_>>(), [(1, 2.0)]);
    assert_eq!(data.labels, labels);
}

#[test]
fn labels_unknown_to_a_model_can_be_numbered() {
    let labels: Alphabet = ["A", "B"].iter().collect();
    let observations: Alphabet = ["a"].iter().collect();
    let text = "A\ta\nC\ta\n\nD\ta\nB\n\nC|D\ta\nB|C\n?\n";
    for size in [1, 1 << 20] {
        let blocks = BlockOptions {
            size,
            ..BlockOptions::default()
        };
        let format = Format::attributes().labels(LabelSyntax::Partial).blocks(blocks);
        let source = Source::text("text", text);
        let (data, unseen) = read_for_scoring(&source, &format, &labels, &observations).unwrap();
        assert_eq!(data.labels.iter().collect::<Vec<_>>(), ["A", "B", "C", "D"]);
        let gold: Vec<_> = (0..data.positions()).map(|t| data.gold(t)).collect();
        let (known, some) = (Gold::Known, Gold::Ambiguous);
        assert_eq!(
            gold,
            [
                known(0),
                known(2),
                known(3),
                known(1),
                some(&[2, 3]),
                some(&[1, 2]),
                Gold::Unknown
            ]
        );
        assert_eq!(unseen.labels.values().sum::<u64>(), 5);
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

#[test]
fn compressed_files_are_known_by_their_first_bytes() {
    let (head, tail) = ("A\ta\nB\tb\n\n", "C\tc\n");
    let expected = attributes(&format!("{head}{tail}"));
    let directory = tempfile::tempdir().unwrap();
    for pack in [gzip, zstd] {
        // Several members or frames in one file are one text.
        let bytes = [pack(head.as_bytes()), pack(tail.as_bytes())].concat();
        let path = directory.path().join("train.txt");
        std::fs::write(&path, bytes).unwrap();
        let data = read_training(&Source::from_argument(&path), &Format::attributes()).unwrap();
        assert_eq!(described(&data), expected);
    }
}

#[test]
fn an_eager_reader_hands_out_what_has_arrived() {
    struct Slow(Vec<&'static str>);
    impl std::io::Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let Some(text) = self.0.pop() else { return Ok(0) };
            let now = text.len().min(buffer.len());
            buffer[..now].copy_from_slice(&text.as_bytes()[..now]);
            if now < text.len() {
                self.0.push(&text[now..]);
            }
            Ok(now)
        }
    }
    let input = fieldmark_text::Input::new(
        "slow".into(),
        Box::new(Slow(vec![
            "O\te\n",
            "d\n\n",
            "O\t",
            "\nO\tb\n\nO\tc\n\n",
            "O\ta\n",
        ])),
    )
    .unwrap();
    let options = BlockOptions {
        eager: true,
        ..BlockOptions::default()
    };
    let blocks: Vec<_> = fieldmark_text::Blocks::new(input, options)
        .unwrap()
        .map(|block| block.unwrap())
        .collect();
    let texts: Vec<_> = blocks
        .iter()
        .map(|block| std::str::from_utf8(block.bytes()).unwrap())
        .collect();
    assert_eq!(texts, ["O\ta\n\nO\tb\n\nO\tc\n\n", "O\td\n\n", "O\te\n"]);
    let lines: Vec<_> = blocks.iter().map(|block| block.first_line()).collect();
    assert_eq!(lines, [1, 7, 9]);
}

/// A label and attributes with values for every position.
type Sequence = Vec<(String, Vec<(String, f32)>)>;

/// Labels and attributes with everything that needs care.
fn any_sequences() -> impl Strategy<Value = Vec<Sequence>> {
    let name = "[ab:\\\\é= ]{1,4}";
    let value = prop_oneof![
        Just(1.0f32),
        Just(1.0f32),
        -5.0f32..5.0,
        Just(f32::MIN_POSITIVE),
        Just(f32::MAX)
    ];
    let position = ("[A-C:\\\\|?]{1,3}", prop::collection::vec((name, value), 0..4));
    prop::collection::vec(prop::collection::vec(position, 1..5), 1..20)
}

fn written(sequences: &[Sequence]) -> String {
    let mut text = String::new();
    for sequence in sequences {
        for (label, attributes) in sequence {
            text.push_str(&escape_attribute(label));
            for (name, value) in attributes {
                text.push('\t');
                text.push_str(&escape_attribute(name));
                if *value != 1.0 {
                    text.push_str(&format!(":{value}"));
                }
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(sequences in any_sequences()) {
        let data = read_training(&Source::text("text", written(&sequences)), &Format::attributes()).unwrap();
        prop_assert_eq!(data.len(), sequences.len());
        for (instance, sequence) in data.instances().zip(&sequences) {
            prop_assert_eq!(instance.len(), sequence.len());
            for (t, (label, attributes)) in instance.positions().zip(sequence) {
                prop_assert_eq!(data.gold(t), Gold::Known(data.labels.get(label).unwrap()));
                let read: Vec<_> =
                    data.unary.iter(t).map(|(id, value)| (data.observations.name(id).to_owned(), value)).collect();
                prop_assert_eq!(&read, attributes);
            }
        }
    }

    #[test]
    fn threads_and_block_sizes_do_not_change_the_result(
        sequences in any_sequences(),
        size in 1usize..200,
        threads in 2usize..4,
    ) {
        let source = Source::text("text", written(&sequences));
        let format = Format::attributes().labels(LabelSyntax::Literal);
        let serial = with_threads(1, || read_training(&source, &format)).unwrap();
        let small = format.blocks(BlockOptions { size, ..BlockOptions::default() });
        let parallel = with_threads(threads, || read_training(&source, &small)).unwrap();
        prop_assert_eq!(&serial, &parallel);
        let (against, unseen) = with_threads(threads, || {
            read_against(&source, &small, &serial.labels, &serial.observations)
        }).unwrap();
        prop_assert_eq!(against.unary, serial.unary);
        prop_assert_eq!(unseen, fieldmark_text::Unseen::default());
    }

    #[test]
    fn column_files_read_the_same_in_blocks(
        rows in prop::collection::vec(("[ab]{1,2}", "[xy]", "A|B|\\?|A\\|B|B\\|A\\|C"), 1..30),
        breaks in prop::collection::vec(any::<bool>(), 30),
        size in 1usize..60,
    ) {
        let mut text = String::new();
        for ((word, tag, label), end) in rows.iter().zip(breaks) {
            text.push_str(&format!("{word} {tag} {label}\n{}", if end { "\n" } else { "" }));
        }
        let template = Template::parse("U0:%x[-1,0]%x[1,0]\nB0:%x[0,1]\nB\n").unwrap();
        let format = Format::columns(template).labels(LabelSyntax::Partial);
        let source = Source::text("text", text);
        let serial = with_threads(1, || read_training(&source, &format));
        let small = format.blocks(BlockOptions { size, ..BlockOptions::default() });
        let parallel = with_threads(2, || read_training(&source, &small));
        prop_assert_eq!(serial.unwrap(), parallel.unwrap());
    }
}

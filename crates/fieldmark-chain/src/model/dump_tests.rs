//! Text dumps: what is written is loaded, and what is not written says on which line.

use super::ChainModel;
use super::samples::{Random, model, same};

fn dump(model: &ChainModel) -> String {
    let mut text = Vec::new();
    model.dump(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// With `from` replaced by `to`, the dump is refused at this line, with this message.
fn assert_refused(dump: &str, (from, to, line, expected): (&str, &str, u64, &str)) {
    assert!(dump.contains(from), "{from}");
    let text = dump.replacen(from, to, 1);
    let error = ChainModel::from_dump(text.as_bytes()).map(|_| ()).unwrap_err();
    let message = error.to_string();
    assert!(
        error.line() == line && message.contains(expected),
        "{from:?} → {to:?}: {message}"
    );
}

#[test]
fn every_model_comes_back_in_every_bit() {
    let mut random = Random::new(11);
    for round in 0..400 {
        let model = model(&mut random);
        let text = dump(&model);
        let loaded = ChainModel::from_dump(text.as_bytes());
        let loaded = loaded.unwrap_or_else(|error| panic!("round {round}: {error}\n{text}"));
        assert!(same(&loaded, &model), "round {round}\n{text}");
        assert_eq!(dump(&loaded), text, "round {round}");
        let weights = text.lines().filter(|line| {
            ["state\t", "step\t", "tuple\t", "bias\t"]
                .iter()
                .any(|kind| line.starts_with(kind))
        });
        assert_eq!(weights.count(), model.weights().len(), "round {round}");
    }
}

#[test]
fn damage_gives_an_error_or_a_model_that_is_dumped_as_it_was_read() {
    let mut random = Random::new(12);
    let (mut errors, mut models) = (0, 0);
    for round in 0..4000 {
        let mut text = dump(&model(&mut random)).into_bytes();
        let at = random.below(text.len());
        match random.below(5) {
            0 => text[at] ^= 1 << random.below(8),
            1 => text.truncate(at),
            2 => drop(text.drain(random.range(text.len()))),
            3 => text[at] = b"\t\n\\0"[random.below(4)],
            _ => {
                let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
                let (one, other) = (random.below(lines.len()), random.below(lines.len()));
                lines.swap(one, other);
                text = lines.concat();
            }
        }
        match ChainModel::from_dump(&text[..]) {
            Ok(loaded) => {
                models += 1;
                let again = ChainModel::from_dump(dump(&loaded).as_bytes()).unwrap();
                assert!(same(&loaded, &again), "round {round}");
            }
            Err(error) => {
                errors += 1;
                let lines = text.split(|&byte| byte == b'\n').count() as u64;
                assert!((1..=lines).contains(&error.line()), "round {round}: {error}");
            }
        }
    }
    assert!(errors > 2000 && models > 100, "{errors} errors, {models} models");
}

const GOOD: &str = "\
fieldmark-chain\t1
order\t1
states\tsupported
transitions\tsupported
label-bias\tyes
boundaries\tyes
lower-orders\tyes
min-freq\t0.0
min-instances\t0
unseen-transitions\tfree
label\tA
label\tB\\tC
bias\tA\t0.5
bias\tB\\tC\t-0.0
tuple\tA\tB\\tC\t1.5
tuple\tA\t\\end\t1e-300
tuple\t\\start\tA\t-2.25
pair\tA\tA
pair\tA\tB\\tC
state\tx\tA\t3.0
state\tx\tB\\tC\t4.0
step\tx\tA\tA\t5.0
observation\ty
step\tz\tA\tB\\tC\t5e-324
unknown\ty
end
";

#[test]
fn the_form_of_the_text() {
    let model = ChainModel::from_dump(GOOD.as_bytes()).unwrap();
    assert_eq!(model.labels().iter().collect::<Vec<_>>(), ["A", "B\tC"]);
    assert_eq!(model.observations().iter().collect::<Vec<_>>(), ["x", "y", "z"]);
    assert_eq!(model.unknown(), Some(1));
    assert_eq!(
        model.weights(),
        [3.0, 4.0, 5.0, 5e-324, 1.5, 1e-300, -2.25, 0.5, -0.0]
    );
    assert_eq!(dump(&model), GOOD);
}

#[test]
fn each_mistake_is_told_with_its_line() {
    let cases = [
        (
            "fieldmark-chain\t1",
            "fieldmark-chain\t2",
            1,
            "beginning of a text dump",
        ),
        ("order\t1", "order\t9", 2, "0, 1, 2 or 3"),
        ("states\tsupported", "states supported", 3, "`states`, a tab"),
        ("label\tB\\tC\n", "label\tA\n", 12, "not been named"),
        ("label\tB\\tC\n", "label\tB\\x\n", 12, "escapes"),
        ("bias\tA\t0.5\n", "", 13, "in the order of labels"),
        ("bias\tB\\tC\t-0.0\n", "", 14, "`bias` of the label \"B\\tC\""),
        ("label-bias\tyes", "label-bias\tno", 13, "no bias"),
        ("1.5", "inf", 15, "finite"),
        ("1.5", "1,5", 15, "finite"),
        (
            "tuple\tA\tB\\tC",
            "tuple\tA\tB",
            15,
            "a label of the model in place of \"B\"",
        ),
        ("tuple\tA\t\\end", "tuple\tA\t\\start", 16, "escapes"),
        ("tuple\tA\tB\\tC", "tuple\tA\tA\tB\\tC", 15, "order and options"),
        ("boundaries\tyes", "boundaries\tno", 16, "order and options"),
        ("tuple\t\\start\tA", "tuple\tA\tA", 17, "each tuple once"),
        ("pair\tA\tA\n", "pair\tB\\tC\tA\n", 19, "each pair once"),
        ("state\tx\tB\\tC", "state\tx\tA", 21, "each label once"),
        ("step\tx\tA\tA", "step\tx\tB\\tC\tA", 22, "line `pair`"),
        ("observation\ty", "observation\tx", 23, "without weights"),
        ("step\tz\tA", "step\tx\tA", 24, "next to each other"),
        ("step\tz\tA", "step\ty\tA", 24, "next to each other"),
        ("unknown\ty", "unknown\tq", 25, "an observation of the model"),
        ("unknown\ty", "label\tq", 25, "further up"),
        ("unknown\ty", "colour\tq", 25, "separated by tabs"),
        ("end\n", "", 26, "cut off"),
        ("end\n", "end", 26, "cut off"),
        ("end\n", "end\nend\n", 27, "nothing after"),
        (
            "unseen-transitions\tfree",
            "unseen-transitions\tno",
            10,
            "`free` or `forbid`",
        ),
        (
            "tuple\tA\tB\\tC",
            "allow\tA\tA\ntuple\tA\tB\\tC",
            15,
            "no line `allow`",
        ),
    ];
    for case in cases {
        assert_refused(GOOD, case);
    }
    let mut bytes = GOOD.as_bytes().to_vec();
    let x = GOOD.find("state\tx").unwrap() + 6;
    bytes[x] = 0xff;
    let error = ChainModel::from_dump(&bytes[..]).map(|_| ()).unwrap_err();
    assert!(
        error.line() == 20 && error.to_string().contains("UTF-8"),
        "{error}"
    );
}

const RESTRICTED: &str = "\
fieldmark-chain\t1
order\t2
states\tsupported
transitions\tsupported
label-bias\tno
boundaries\tno
lower-orders\tyes
min-freq\t0.0
min-instances\t0
unseen-transitions\tforbid
label\tA
label\tB
allow\tA\tA
allow\tA\tB
allow\tB\tA
allow\t\\start\tA
tuple\tA\tB\t1.5
tuple\tA\tB\tA\t0.5
end
";

#[test]
fn allowed_transitions_are_part_of_the_text() {
    let model = ChainModel::from_dump(RESTRICTED.as_bytes()).unwrap();
    let allowed = model.structure().allowed_transitions().unwrap();
    assert_eq!(allowed.pairs(), [[0, 0], [0, 1], [1, 0]]);
    assert_eq!(allowed.starts().collect::<Vec<_>>(), [0]);
    assert_eq!(dump(&model), RESTRICTED);
    let cases = [
        ("order\t2", "order\t0", 10, "`free` in a model of order 0"),
        ("allow\tA\tB\n", "allow\tA\tA\n", 14, "each pair once"),
        ("allow\tA\tB\n", "", 16, "transitions that were allowed"),
        ("allow\t\\start\tA\n", "", 16, "sequences of any length"),
        (
            "tuple\tA\tB\t1.5",
            "tuple\tB\tB\t1.5",
            17,
            "transitions that were allowed",
        ),
        ("allow\tA\tA\nallow\tA\tB\n", "", 15, "sequences of any length"),
        (
            "tuple\tA\tB\tA\t0.5\n",
            "tuple\tA\tB\tA\t0.5\nallow\tB\tB\n",
            19,
            "further up",
        ),
    ];
    for case in cases {
        assert_refused(RESTRICTED, case);
    }
    let without = RESTRICTED
        .lines()
        .filter(|line| !line.starts_with("allow") && !line.starts_with("tuple"));
    let without: String = without.map(|line| format!("{line}\n")).collect();
    let error = ChainModel::from_dump(without.as_bytes()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("sequences of any length"), "{error}");
}

#[test]
fn the_algorithm_is_kept() {
    let model = ChainModel::from_dump(GOOD.as_bytes()).unwrap();
    assert_eq!(model.algorithm(), None);
    let text = GOOD.replace("\nend\n", "\nalgorithm\tarow\nend\n");
    let model = ChainModel::from_dump(text.as_bytes()).unwrap();
    assert_eq!(model.algorithm(), Some("arow"));
    let mut again = Vec::new();
    model.dump(&mut again).unwrap();
    assert!(again.ends_with(b"unknown\ty\nalgorithm\tarow\nend\n"));
    for (wrong, expected) in [
        ("algorithm\tarow\nalgorithm\tap", "one line `algorithm` at most"),
        ("algorithm\tarow\nunknown\ty", "one line `unknown` at most"),
    ] {
        let text = text.replace("algorithm\tarow", wrong);
        let error = ChainModel::from_dump(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

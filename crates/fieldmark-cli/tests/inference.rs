//! The numbers that `fieldmark tag` prints, against enumeration over all label sequences.

mod common;
use common::Place;
use std::collections::HashMap;

/// Scores of a first-order model, out of its text dump.
struct Scores {
    labels: Vec<String>,
    state: HashMap<(String, String), f64>,
    tuple: HashMap<(String, String), f64>,
}

impl Scores {
    fn new(dump: &str) -> Self {
        let mut scores = Scores {
            labels: Vec::new(),
            state: HashMap::new(),
            tuple: HashMap::new(),
        };
        for line in dump.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["label", label] => scores.labels.push(label.to_owned()),
                ["state", name, label, weight] => {
                    let key = (name.to_owned(), label.to_owned());
                    scores.state.insert(key, weight.parse().unwrap());
                }
                ["tuple", from, to, weight] => {
                    let key = (from.to_owned(), to.to_owned());
                    scores.tuple.insert(key, weight.parse().unwrap());
                }
                _ => {}
            }
        }
        scores
    }

    /// Every label sequence with its score.
    fn all(&self, attributes: &[Vec<&str>]) -> Vec<(Vec<usize>, f64)> {
        let weight = |map: &HashMap<(String, String), f64>, a: &str, b: &str| {
            map.get(&(a.to_owned(), b.to_owned())).copied().unwrap_or(0.0)
        };
        let mut all = vec![(Vec::new(), 0.0)];
        for names in attributes {
            let mut longer = Vec::new();
            for (labels, score) in &all {
                for (label, name) in self.labels.iter().enumerate() {
                    let states: f64 = names
                        .iter()
                        .map(|observed| weight(&self.state, observed, name))
                        .sum();
                    let step = labels.last().map_or(0.0, |&before: &usize| {
                        weight(&self.tuple, &self.labels[before], name)
                    });
                    let mut labels = labels.clone();
                    labels.push(label);
                    longer.push((labels, score + states + step));
                }
            }
            all = longer;
        }
        all
    }
}

/// Every label sequence with its probability, and log Z.
fn distribution(all: &[(Vec<usize>, f64)]) -> (Vec<(&[usize], f64)>, f64) {
    let z: f64 = all.iter().map(|(_, score)| score.exp()).sum();
    let shares = all.iter().map(|(labels, score)| (&labels[..], score.exp() / z));
    (shares.collect(), z.ln())
}

const TRAIN: &str =
    "B-X\tw=a\tcap\nI-X\tw=b\nO\tw=c\n\nO\tw=c\nB-X\tw=a\nO\tw=b\n\nB-X\tw=b\tcap\nB-X\tw=a\n";
const TEST: &str = "B-X\tw=a\nI-X\tw=b\tcap\nO\tw=c\nO\tw=b\n\nO\tw=c\nO\tw=a\n";

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 2e-6 * right.abs().max(1.0)
}

struct Case {
    place: Place,
    scores: Scores,
    sequences: Vec<Vec<Vec<&'static str>>>,
}

impl Case {
    fn new() -> Self {
        let place = Place::new();
        place.write("train.crfsuite", TRAIN);
        place.write("test.crfsuite", TEST);
        place.run("train --c2 0.5 --model m.fmk train.crfsuite");
        let scores = Scores::new(&place.run("inspect --dump m.fmk"));
        assert_eq!(scores.labels.len(), 3);
        assert!(scores.tuple.len() > 3 && scores.state.len() > 5);
        let sequence = |lines: &'static str| {
            let line = |line: &'static str| line.split('\t').skip(1).collect();
            lines.lines().map(line).collect()
        };
        let sequences = TEST.split("\n\n").map(sequence).collect();
        Self {
            place,
            scores,
            sequences,
        }
    }

    fn tag(&self, options: &str) -> String {
        self.place
            .run(&format!("tag {options} --model m.fmk test.crfsuite"))
    }

    fn label(&self, name: &str) -> usize {
        self.scores.labels.iter().position(|label| label == name).unwrap()
    }
}

#[test]
fn max_marginals_are_the_best_sequences_through_each_label() {
    let case = Case::new();
    let text = case.tag("--max-marginals");
    let json = case.tag("--max-marginals --json");
    let mut lines = text.lines();
    for (attributes, object) in case.sequences.iter().zip(json.lines()) {
        let all = case.scores.all(attributes);
        let (shares, _) = distribution(&all);
        let object: serde_json::Value = serde_json::from_str(object).unwrap();
        for t in 0..attributes.len() {
            let cells: Vec<&str> = lines.next().unwrap().split('\t').skip(1).collect();
            assert_eq!(cells.len(), 3);
            for cell in cells {
                let (name, number) = cell.rsplit_once(':').unwrap();
                let label = case.label(name);
                let through = shares.iter().filter(|(labels, _)| labels[t] == label);
                let best = through.map(|share| share.1).fold(0.0, f64::max);
                let printed: f64 = number.parse().unwrap();
                assert!((printed / best - 1.0).abs() < 2e-6, "{name} {printed} {best}");
                let exact = object["max_marginals"][t][name].as_f64().unwrap();
                assert!((exact / best - 1.0).abs() < 1e-9);
            }
        }
        assert_eq!(lines.next(), Some(""));
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn pair_marginals_are_sums_over_sequences() {
    let case = Case::new();
    let text = case.tag("--pair-marginals");
    let mut rows: HashMap<(String, String, String), f64> = HashMap::new();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("line\tlabel\tnext\tprobability"));
    for line in lines {
        let [line, label, next, share] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let key = (line.to_owned(), label.to_owned(), next.to_owned());
        rows.insert(key, share.parse().unwrap());
    }
    let json = case.tag("--pair-marginals --json");
    let mut first = 1;
    let mut seen = 0;
    for (attributes, object) in case.sequences.iter().zip(json.lines()) {
        let all = case.scores.all(attributes);
        let (shares, _) = distribution(&all);
        let object: serde_json::Value = serde_json::from_str(object).unwrap();
        let steps = object["pair_marginals"].as_array().unwrap();
        assert_eq!(steps.len(), attributes.len() - 1);
        for (t, step) in steps.iter().enumerate() {
            for (a, left) in case.scores.labels.iter().enumerate() {
                for (b, right) in case.scores.labels.iter().enumerate() {
                    let with = shares.iter().filter(|(labels, _)| labels[t..t + 2] == [a, b]);
                    let expected: f64 = with.map(|share| share.1).sum();
                    let key = ((first + t).to_string(), left.clone(), right.clone());
                    let printed = rows.get(&key).copied();
                    seen += usize::from(printed.is_some());
                    assert!(close(printed.unwrap_or(0.0), expected), "{key:?}");
                    let exact = step[left][right].as_f64().unwrap();
                    assert!((exact - expected).abs() < 1e-12);
                }
            }
        }
        first += attributes.len() + 1;
    }
    assert_eq!(seen, rows.len(), "no row without a place");
}

/// A label per position: known, one of some, or any.
fn allows(labels: &[usize], allowed: &[&[usize]]) -> bool {
    let fits = |(label, set): (&usize, &&[usize])| set.is_empty() || set.contains(label);
    labels.iter().zip(allowed).all(fits)
}

#[test]
fn log_probabilities_of_the_best_and_of_the_gold_labels() {
    let case = Case::new();
    let text = case.tag("--log-probs");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("first\tlast\tlog_z\tbest\tgold"));
    let (b, i, o) = (case.label("B-X"), case.label("I-X"), case.label("O"));
    let gold = [vec![b, i, o, o], vec![o, o]];
    let json = case.tag("--log-probs --json");
    for (((attributes, gold), place), object) in case
        .sequences
        .iter()
        .zip(&gold)
        .zip(["1\t4", "6\t7"])
        .zip(json.lines())
    {
        let all = case.scores.all(attributes);
        let (shares, log_z) = distribution(&all);
        let best = shares.iter().map(|share| share.1).fold(0.0, f64::max).ln();
        let right = shares.iter().find(|share| share.0 == gold).unwrap().1.ln();
        let line = lines.next().unwrap();
        let numbers = line.strip_prefix(place).unwrap().split('\t').skip(1);
        let numbers: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
        assert!(
            close(numbers[0], log_z) && close(numbers[1], best) && close(numbers[2], right),
            "{line}"
        );
        let object: serde_json::Value = serde_json::from_str(object).unwrap();
        for (field, expected) in [
            ("log_z", log_z),
            ("log_probability", best),
            ("gold_log_probability", right),
        ] {
            assert!(
                (object[field].as_f64().unwrap() - expected).abs() < 1e-9,
                "{field}"
            );
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn partial_gold_labels_have_the_probability_of_what_they_allow() {
    let case = Case::new();
    let place = &case.place;
    place.write("train.txt", "a B-X\nb I-X\nc O\n\nc O\na B-X\nb O\n");
    place.run("train --c2 0.5 --model c.fmk train.txt");
    let scores = Scores::new(&place.run("inspect --dump c.fmk"));
    let label = |name: &str| scores.labels.iter().position(|label| label == name).unwrap();
    let (b, i, o) = (label("B-X"), label("I-X"), label("O"));
    let all = scores.all(&[vec!["U00:a"], vec!["U00:b"], vec!["U00:c"]]);
    let (shares, log_z) = distribution(&all);
    let gold = |text: &str, options: &str| -> f64 {
        place.write("gold.txt", text);
        let table = place.run(&format!("tag --log-probs {options} --model c.fmk gold.txt"));
        let cells: Vec<&str> = table.lines().nth(1).unwrap().split('\t').collect();
        assert!(
            !options.is_empty() || close(cells[2].parse().unwrap(), log_z),
            "{table}"
        );
        cells[4].parse().unwrap()
    };
    for (text, allowed) in [
        ("a B-X\nb ?\nc O\n", [&[b][..], &[], &[o]]),
        ("a B-X|O\nb I-X|O\nc ?\n", [&[b, o], &[i, o], &[]]),
        ("a ?\nb ?\nc ?\n", [&[], &[], &[]]),
        // A label that the model does not know says nothing.
        ("a B-X\nb NEW\nc O\n", [&[b], &[], &[o]]),
    ] {
        let inside = shares.iter().filter(|share| allows(share.0, &allowed));
        let expected = inside.map(|share| share.1).sum::<f64>().ln();
        assert!(close(gold(text, ""), expected), "{text}");
    }
    assert_eq!(gold("a I-X\nb O\nc O\n", "--scheme iob2"), f64::NEG_INFINITY);
    assert_eq!(gold("a I-X\nb ?\nc O\n", "--scheme iob2"), f64::NEG_INFINITY);
    place.write("bare.txt", "a\nb\nc\n");
    let table = place.run("tag --log-probs --model c.fmk bare.txt");
    assert!(table.lines().nth(1).unwrap().ends_with("\t-"), "{table}");
}

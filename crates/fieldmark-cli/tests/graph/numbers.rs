//! Numbers about tokens in several layers: against chains, against each other, and as JSON.

use crate::common::{Place, errors, output};
use crate::{DATA, joint};
use serde_json::Value;
use std::collections::BTreeMap;

/// Two layers that nothing joins, and a chain for each of them.
fn apart() -> Place {
    let place = Place::new();
    place.write("train.txt", DATA);
    place.write("new.txt", "the dog barks a sleeps");
    let config = "features = [{ kind = 'word', offsets = [-1, 0, 1] }]\n[data]\ntrain = ['train.txt']\n\
                  read = { format = 'columns', columns = ['word', 'pos', 'chunk'], labels = [] }\n\
                  [training]\nc2 = 0.3\ndelta = 0\nepsilon = 1e-9\n";
    // The features of chains.
    let of_layer = |layer: &str| {
        format!(
            "{{ relation = {{ unary = '{layer}' }}, bias = 'none' }}, \
             {{ relation = {{ chain = '{layer}' }}, bias = 'supported' }}"
        )
    };
    let templates = ["pos", "chunk"].map(of_layer);
    place.write(
        "graph.toml",
        format!(
            "{config}[graph]\nkind = 'templates'\ntemplates = [{}]\n\
             layers = [{{ name = 'pos', column = 'pos' }}, {{ name = 'chunk', column = 'chunk' }}]\n",
            templates.join(", ")
        ),
    );
    place.run("train graph.toml --model graph.fmk");
    for column in ["pos", "chunk"] {
        place.write(
            &format!("{column}.toml"),
            format!("{config}[labels]\ncolumn = '{column}'\n"),
        );
        place.run(&format!("train {column}.toml --model {column}.fmk"));
    }
    place
}

/// The cells of a table, without its first line and blank lines.
fn rows(table: &str) -> Vec<Vec<String>> {
    let lines = table.lines().skip(1).filter(|line| !line.is_empty());
    lines
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or_else(|_| panic!("{cell} is no number"))
}

/// Equal as far as six digits after the point tell.
fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 4e-6
}

/// The numbers of a list such as `A:0.25 B:0.75`.
fn listed<'c>(cells: impl Iterator<Item = &'c str>) -> BTreeMap<String, f64> {
    let split = |cell: &str| {
        let (label, share) = cell.rsplit_once(':').unwrap();
        (label.to_owned(), number(share))
    };
    cells.map(split).collect()
}

/// The probability of the best labelling.
fn best(place: &Place, model: &str) -> f64 {
    let table = place.run(&format!("tag {model}.fmk new.txt --nbest 1"));
    number(table.lines().nth(1).unwrap().strip_prefix("# 0 ").unwrap())
}

#[test]
fn layers_that_nothing_joins_have_the_probabilities_of_chains() {
    let place = apart();
    let graph = place.run("tag graph.fmk new.txt --probs");
    assert_eq!(
        graph.lines().next(),
        Some("document\tstart\tend\ttext\tpos\tpos.probability\tchunk\tchunk.probability")
    );
    let graph = rows(&graph);
    assert_eq!(graph.len(), 5);
    for (column, first) in [("pos", 4), ("chunk", 6)] {
        let chain = rows(&place.run(&format!("tag {column}.fmk new.txt --probs")));
        for (one, other) in graph.iter().zip(&chain) {
            assert_eq!(one[..4], other[..4]);
            assert_eq!(one[first], other[4]);
            let [one, other] = [number(&one[first + 1]), number(&other[5])];
            assert!(close(one, other), "{column}: {one} {other}");
        }
    }
    let [pos, chunk] = ["pos", "chunk"].map(|model| best(&place, model));
    let together = best(&place, "graph");
    assert!(close(together, pos * chunk), "{together} {pos} {chunk}");
    for (option, others) in [("--marginals", [1.0, 1.0]), ("--max-marginals", [chunk, pos])] {
        let graph = rows(&place.run(&format!("tag graph.fmk new.txt {option}")));
        for ((column, at), other) in [("pos", 5), ("chunk", 7)].into_iter().zip(others) {
            let chain = rows(&place.run(&format!("tag {column}.fmk new.txt {option}")));
            for (one, row) in graph.iter().zip(&chain) {
                let found = listed(one[at].split(' '));
                let expected = listed(row[5..].iter().map(String::as_str));
                assert_eq!(found.len(), 3);
                for (label, share) in &expected {
                    let found = found[label];
                    let is_equal = option == "--marginals" || (found / (share * other) - 1.0).abs() < 2e-5;
                    assert!(
                        close(found, share * other) && is_equal,
                        "{option} {label} {found} {share}"
                    );
                }
            }
        }
    }
}

#[test]
fn pairs_and_log_probabilities_are_those_of_chains() {
    let place = apart();
    let graph = place.run("tag graph.fmk new.txt --pair-marginals");
    let header =
        "document\tlayer\tstart\tend\tlabel\tother_layer\tother_start\tother_end\tother_label\tprobability";
    assert_eq!(graph.lines().next(), Some(header));
    let graph = rows(&graph);
    let mut found = 0;
    for column in ["pos", "chunk"] {
        let chain = rows(&place.run(&format!("tag {column}.fmk new.txt --pair-marginals")));
        found += chain.len();
        for row in &chain {
            let same = graph.iter().find(|one| {
                one[1] == column
                    && one[5] == column
                    && [&one[2], &one[7], &one[4], &one[8]] == [&row[1], &row[2], &row[3], &row[4]]
            });
            let [one, other] = [number(&same.unwrap()[9]), number(&row[5])];
            assert!((one - other).abs() < 4e-6, "{row:?} {one}");
        }
    }
    // Rows that are zero in six digits may differ.
    assert!(graph.len().abs_diff(found) < 3, "{} {found}", graph.len());

    let sums = |model: &str, data: &str| -> Vec<Vec<f64>> {
        let table = place.run(&format!("tag {model}.fmk {data} --log-probs"));
        assert_eq!(
            table.lines().next(),
            Some("document\tstart\tend\tlog_z\tbest\tgold")
        );
        let numbers = |row: &Vec<String>| row[3..].iter().map(|cell| number(cell)).collect();
        rows(&table).iter().map(numbers).collect()
    };
    place.write(
        "gold.txt",
        DATA.replacen("VB O", "? O", 1).replacen("DT", "NN|DT", 1),
    );
    let data = "gold.txt --format columns";
    let [all, pos, chunk] = ["graph", "pos", "chunk"].map(|model| sums(model, data));
    assert_eq!(all.len(), 4);
    for ((all, pos), chunk) in all.iter().zip(&pos).zip(&chunk) {
        for ((all, pos), chunk) in all.iter().zip(pos).zip(chunk) {
            assert!((all - pos - chunk).abs() < 1e-4, "{all} {pos} {chunk}");
        }
    }
    let json = place.run(&format!("tag graph.fmk {data} --log-probs --json"));
    for (line, row) in json.lines().zip(&all) {
        let answer: Value = serde_json::from_str(line).unwrap();
        for (key, expected) in ["log_z", "log_probability", "gold_log_probability"]
            .iter()
            .zip(row)
        {
            assert!((answer[key].as_f64().unwrap() - expected).abs() < 1e-5, "{line}");
        }
    }
    let open = rows(&place.run("tag graph.fmk new.txt --log-probs"));
    assert_eq!(open[0][5], "-");
}

#[test]
fn several_labellings_are_a_table_with_a_column_for_each_layer() {
    let place = apart();
    let shares = |model: &str, count: usize| -> Vec<f64> {
        let table = place.run(&format!("tag {model}.fmk new.txt --nbest {count}"));
        let ranks = table.lines().filter_map(|line| line.strip_prefix("# "));
        let split = ranks.map(|line| line.split_once(' ').unwrap()).enumerate();
        split
            .map(|(at, (rank, share))| {
                assert_eq!(rank, at.to_string());
                number(share)
            })
            .collect()
    };
    let (pos, chunk) = (shares("pos", 20), shares("chunk", 20));
    let mut products: Vec<f64> = pos
        .iter()
        .flat_map(|one| chunk.iter().map(move |other| one * other))
        .collect();
    products.sort_by(|one, other| other.total_cmp(one));
    for (one, other) in shares("graph", 12).iter().zip(&products) {
        assert!((one - other).abs() < 4e-6, "{one} {other}");
    }

    let place = joint();
    let table = place.run("tag joint.fmk new.txt --nbest 3");
    let json = place.run("tag joint.fmk new.txt --nbest 3 --json");
    let answer: Value = serde_json::from_str(&json).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("document\tstart\tend\ttext\tpos\tchunk"));
    for (rank, one) in answer["nbest"].as_array().unwrap().iter().enumerate() {
        let share = one["probability"].as_f64().unwrap();
        assert_eq!(lines.next(), Some(&format!("# {rank} {share:.6}")[..]));
        for token in 0..3 {
            let row: Vec<&str> = lines.next().unwrap().split('\t').collect();
            assert_eq!(row[0], "new.txt");
            assert_eq!(row[4], one["labels"]["pos"][token]);
            assert_eq!(row[5], one["labels"]["chunk"][token]);
        }
        assert_eq!(lines.next(), Some(""));
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn layers_that_are_joined_agree_about_pairs_and_the_best_labelling() {
    let place = joint();
    let json = place
        .run("tag joint.fmk new.txt --json --probs --marginals --max-marginals --pair-marginals --log-probs");
    let answer: Value = serde_json::from_str(&json).unwrap();
    let best = answer["log_probability"].as_f64().unwrap().exp();
    for layer in ["pos", "chunk"] {
        let labels = answer["labels"][layer].as_array().unwrap();
        for (token, label) in labels.iter().enumerate() {
            let row = answer["max_marginals"][layer][token].as_object().unwrap();
            let share = row[label.as_str().unwrap()].as_f64().unwrap();
            assert!((share - best).abs() < 1e-9, "{layer} {token}");
            assert!(row.values().all(|other| other.as_f64().unwrap() <= share + 1e-12));
        }
    }
    let pairs = answer["pair_marginals"].as_array().unwrap();
    // Two neighbours in each of two layers, and three tokens.
    assert_eq!(pairs.len(), 2 + 2 + 3);
    for pair in pairs {
        let place = |at: usize| {
            let layer = pair["layers"][at].as_str().unwrap();
            let position = pair["positions"][at].as_u64().unwrap() as usize;
            answer["marginals"][layer][position].as_object().unwrap()
        };
        let rows = pair["probabilities"].as_object().unwrap();
        for (label, share) in place(0) {
            let row = rows[label].as_object().unwrap().values();
            let sum: f64 = row.map(|one| one.as_f64().unwrap()).sum();
            assert!((sum - share.as_f64().unwrap()).abs() < 1e-9);
        }
        for (label, share) in place(1) {
            let sum: f64 = rows.values().map(|row| row[label].as_f64().unwrap()).sum();
            assert!((sum - share.as_f64().unwrap()).abs() < 1e-9);
        }
    }
    let table = rows(&place.run("tag joint.fmk new.txt --pair-marginals"));
    let joined = table
        .iter()
        .filter(|row| row[1] == "pos" && row[5] == "chunk" && row[2..4] == row[6..8]);
    let sum: f64 = joined.map(|row| number(&row[9])).sum();
    assert!((sum - 3.0).abs() < 1e-4, "{sum}");
}

/// Reviews with a number of stars, and words of a tone.
fn reviews() -> Place {
    let place = Place::new();
    let review = |id: usize, [one, other]: [&str; 2], tone: &str, stars: &str| {
        let token = |start: usize, word: &str, tone: &str| {
            let range = serde_json::json!({ "start": start, "end": start + word.len() });
            serde_json::json!({ "range": range, "columns": [tone] })
        };
        let tokens = [token(0, one, tone), token(one.len() + 1, other, "0")];
        let given = serde_json::json!({ "columns": ["tone"], "sentences": [tokens] });
        serde_json::json!({
            "id": id.to_string(), "text": format!("{one} {other}"), "annotations": [],
            "meta": { "stars": stars }, "given": given,
        })
        .to_string()
    };
    let lines = [
        review(1, ["good", "phone"], "+", "5"),
        review(2, ["bad", "phone"], "-", "1"),
        review(3, ["bad", "screen"], "-", "1"),
        review(4, ["good", "screen"], "+", "5"),
    ];
    place.write("train.jsonl", lines.join("\n"));
    let tones = "{ name = 'tone', column = 'tone' }, ";
    let config = |layers: &str| {
        format!(
            "features = [{{ kind = 'word' }}]\n[data]\ntrain = ['train.jsonl']\n[graph]\ninstance = 'document'\n\
             kind = 'hierarchical'\nlayers = [{layers}{{ name = 'review', per = 'instance', meta = 'stars' }}]\n\
             [training]\nc2 = 0.05\n"
        )
    };
    place.write("review.toml", config(tones));
    place.run("train review.toml --model review.fmk");
    let alone = config("").replace("'hierarchical'", "'templates'");
    let alone = alone.replace(
        "[training]",
        "templates = [{ relation = { unary = 'review' } }]\n[training]",
    );
    place.write("alone.toml", alone);
    place.run("train alone.toml --model alone.fmk");
    place.write("new.txt", "good screen");
    place
}

#[test]
fn labels_of_documents_are_in_every_table() {
    let place = reviews();
    let table = place.run("tag review.fmk new.txt --probs");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "document\tstart\tend\ttext\ttone\ttone.probability");
    let share = number(lines[1].strip_prefix("# review\t5\t").unwrap());
    assert!(share > 0.5 && share <= 1.0, "{table}");
    assert!(lines[2].starts_with("new.txt\t0\t4\tgood\t+\t"), "{table}");
    let several = place.run("tag review.fmk new.txt --nbest 2");
    assert!(several.lines().nth(2) == Some("# review\t5"), "{several}");
    let json = place.run("tag review.fmk new.txt --json --pair-marginals --probs");
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert!((answer["probabilities"]["review"][0].as_f64().unwrap() - share).abs() < 1e-6);
    assert_eq!(
        answer["pair_marginals"][0]["positions"],
        serde_json::json!([0, null])
    );
    let pairs = place.run("tag review.fmk new.txt --pair-marginals");
    assert!(
        pairs.contains("new.txt\ttone\t0\t4\t+\treview\t0\t11\t5\t"),
        "{pairs}"
    );

    let table = place.run("tag review.fmk new.txt");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "document\tstart\tend\ttone\treview\tconfidence\ttext");
    assert!(lines[1].starts_with("new.txt\t0\t4\t+\t5\t"), "{table}");
    let table = place.run("tag alone.fmk new.txt");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[0],
        "document\tstart\tend\ttype\tconfidence\tidentifiers\ttext"
    );
    let row: Vec<&str> = lines[1].split('\t').collect();
    assert_eq!(row[..4], ["new.txt", "0", "11", "review=5"]);
    assert_eq!(row[5..], ["-", "good screen"]);
    let only = place.run("tag alone.fmk new.txt --probs");
    let share = number(
        only.lines()
            .nth(1)
            .unwrap()
            .strip_prefix("# review\t5\t")
            .unwrap(),
    );
    assert!((share - number(row[4])).abs() < 1e-4, "{only}{table}");
    let scores = place.run("eval --model alone.fmk train.jsonl");
    assert!(
        scores.contains("accuracy") && !scores.contains("joint"),
        "{scores}"
    );
}

#[test]
fn an_engine_is_chosen_when_a_model_is_used() {
    let place = joint();
    let exact = place.run("tag joint.fmk new.txt --probs");
    let loopy = place.run("tag joint.fmk new.txt --probs --inference loopy");
    assert_ne!(exact, loopy);
    for (one, other) in rows(&exact).iter().zip(rows(&loopy)) {
        assert_eq!((&one[4], &one[6]), (&other[4], &other[6]));
        assert!((number(&one[5]) - number(&other[5])).abs() < 0.1);
    }
    let sampled = |samples: &str| {
        let engine = format!("engine=\"gibbs\",samples={samples}");
        let done = place
            .command("tag joint.fmk new.txt --marginals --inference")
            .args([engine.as_str()])
            .done();
        output(done.success())
    };
    let [few, many] = ["5", "20000"].map(|samples| rows(&sampled(samples)));
    let distance = |table: &[Vec<String>]| {
        let both = table.iter().zip(rows(&exact));
        let far = both.map(|(one, other)| (listed(one[5].split(' '))[&other[4]] - number(&other[5])).abs());
        far.fold(0.0, f64::max)
    };
    assert!(few != many && distance(&many) < 0.01, "{few:?} {many:?}");
    let exact = place.run("eval --model joint.fmk train.txt --json");
    let other = place.run("eval --model joint.fmk train.txt --json --inference loopy");
    let measures = |json: &str| serde_json::from_str::<Value>(json).unwrap()["measures"].clone();
    assert_eq!(measures(&exact), measures(&other));
    let done = place
        .command("eval --model joint.fmk train.txt --inference")
        .args(["engine='loopy', iterations=1"])
        .done()
        .success();
    assert!(errors(&done).contains("inference stopped at its limit"));
    place.run("init chunking --output chain.toml");
    place.run("train chain.toml -o data.train=[\"train.txt\"] --model chain.fmk");
    for (arguments, engine, expected) in [
        (
            "tag joint.fmk new.txt",
            "lopy",
            "--inference: unknown engine 'lopy' in graph.inference, did you mean 'loopy'?",
        ),
        (
            "tag joint.fmk new.txt",
            "engine='gibbs', sample=5",
            "unknown key 'sample' in graph.inference, did you mean 'samples'?",
        ),
        (
            "eval --model joint.fmk train.txt",
            "engine='loopy', damping=-1",
            "--inference: graph.inference: damping",
        ),
        (
            "tag joint.fmk new.txt",
            "5 sweeps",
            "expected an engine such as loopy",
        ),
        (
            "tag joint.fmk new.txt --max-marginals",
            "loopy",
            "max-marginals are found by exact engines alone",
        ),
        (
            "tag joint.fmk new.txt --log-probs",
            "gibbs",
            "log-probabilities need log Z",
        ),
        (
            "tag joint.fmk new.txt --probs",
            "dual",
            "dual finds labels and a bound",
        ),
        (
            "tag joint.fmk new.txt --pair-marginals",
            "dual",
            "the engine dual finds labels and a bound",
        ),
        ("tag chain.fmk new.txt", "loopy", "--inference is for graphs"),
        (
            "eval --model chain.fmk train.txt",
            "loopy",
            "--inference is for graphs",
        ),
        ("inspect chain.fmk", "loopy", "--inference is for graphs"),
        ("eval train.txt train.txt", "loopy", "is for the graph of --model"),
    ] {
        let done = place
            .command(&format!("{arguments} --inference"))
            .args([engine])
            .done();
        let told = errors(&done.code(2));
        assert!(told.contains(expected), "{arguments} {engine}: {told}");
    }
}

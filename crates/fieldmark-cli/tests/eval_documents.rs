//! `eval` and `cv` of documents: measures, mistakes, comparison, thresholds and pages.

mod common;
use common::{Place, errors, output};
use std::fmt::Write;

/// A line of JSON for a document with spans given as start, end, type and score.
fn line(id: &str, text: &str, spans: &[(usize, usize, &str, Option<f64>)]) -> String {
    let mut annotations = String::new();
    for (at, (start, end, kind, score)) in spans.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let score = score.map_or_else(String::new, |score| format!(",\"score\":{score}"));
        let _ = write!(
            annotations,
            "{comma}{{\"kind\":\"{kind}\",\"fragments\":[{{\"start\":{start},\"end\":{end}}}]{score}}}"
        );
    }
    format!("{{\"id\":\"{id}\",\"text\":\"{text}\",\"annotations\":[{annotations}]}}\n")
}

const FIRST: &str = "Ada met Bob Lee in Rome.";
const SECOND: &str = "Eve left Paris.";

/// Gold and predicted documents, and those of another system.
fn place() -> Place {
    let place = Place::new();
    let gold = line(
        "1",
        FIRST,
        &[(0, 3, "PER", None), (8, 15, "PER", None), (19, 23, "LOC", None)],
    ) + &line("2", SECOND, &[(0, 3, "PER", None), (9, 14, "LOC", None)]);
    let found = line(
        "1",
        FIRST,
        &[
            (0, 3, "PER", Some(0.9)),
            (8, 11, "PER", Some(0.6)),
            (19, 23, "ORG", Some(0.7)),
        ],
    ) + &line(
        "2",
        SECOND,
        &[(4, 8, "PER", Some(0.8)), (9, 14, "LOC", Some(0.95))],
    );
    let other = line("1", FIRST, &[(0, 3, "PER", None)]) + &line("2", SECOND, &[]);
    place.write("gold.jsonl", gold);
    place.write("found.jsonl", found);
    place.write("other.jsonl", other);
    place
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn documents_are_scored_by_every_way_of_matching() {
    let place = place();
    let text = place.run("eval gold.jsonl found.jsonl");
    assert!(
        text.starts_with("2 documents, 5 gold spans, 5 predicted\n"),
        "{text}"
    );
    for expected in [
        "exact        40.00%    40.00%    40.00%         5         5         2",
        "boundary     60.00%    60.00%    60.00%         5         5         3",
        "type         60.00%    60.00%    60.00%         5         5         3",
        "partial      80.00%    80.00%    80.00%         5         5         4",
        "PER              33.33%    33.33%    33.33%         3         3         1",
        "errors: 1 wrong type, 1 wrong borders, 0 wrong type and borders, 1 missed, 1 spurious",
        "confidence: expected calibration error",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn json_holds_the_same_numbers() {
    let place = place();
    let options = "--measure exact,partial,distinct,tokens,window-diff,agreement --precision 0.9";
    let text = place.run(&format!("eval gold.jsonl found.jsonl {options}"));
    let value = json(&place.run(&format!("eval gold.jsonl found.jsonl --json {options}")));
    let percent = |share: &serde_json::Value| format!("{:.2}%", 100.0 * share.as_f64().unwrap());
    assert_eq!(value["overview"][0]["correct"], 2);
    assert_eq!(value["spans"][1]["matching"], "partial");
    for row in value["overview"].as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        for share in ["precision", "recall", "f"] {
            assert!(line.contains(&percent(&row[share])), "{name} {share}: {line}");
        }
    }
    let confidence = &value["confidence"];
    let error = confidence["calibration"]["expected_error"].as_f64().unwrap();
    assert!(text.contains(&format!("expected calibration error {error:.4}")));
    let point = &confidence["wanted"]["point"];
    assert_eq!(point["threshold"], 0.9);
    assert!(
        text.contains("precision of 90.00%: keep a confidence of at least 0.9000"),
        "{text}"
    );
    assert!(text.contains(&percent(&point["recall"])));
    let kappa = value["agreement"]["entity_kappa"].as_f64().unwrap();
    assert!(text.contains(&format!("in a span or not {kappa:.4}")), "{text}");
    let segments = value["window_diff"]["pooled"].as_f64().unwrap();
    assert!(text.contains(&format!("WindowDiff: {segments:.4}")), "{text}");
    let micro = &value["tokens"]["micro_f1"];
    assert!(text.contains(&format!("micro F1 {}", percent(micro))), "{text}");
    assert_eq!(value["cases"]["missed"][0]["gold"]["text"], "Eve");
    assert_eq!(value["cases"]["spurious"][0]["found"]["confidence"], 0.8);
}

#[test]
fn formats_may_differ_and_so_may_white_space() {
    let place = place();
    place.run("convert gold.jsonl gold.conll");
    place.run("convert gold.jsonl brat --to brat");
    let done = place.command("eval gold.jsonl gold.conll").done().success();
    assert!(errors(&done).contains("white space"), "{}", errors(&done));
    assert!(output(done).contains("exact       100.00%   100.00%   100.00%"));
    let text = place.run("eval brat found.jsonl --format brat --pred-format jsonl");
    assert!(text.contains("exact        40.00%"), "{text}");
}

#[test]
fn documents_without_a_partner_are_named() {
    let place = place();
    place.write("part.jsonl", line("2", SECOND, &[]) + &line("7", "Else.", &[]));
    let done = place.command("eval gold.jsonl part.jsonl").done().success();
    let said = errors(&done);
    assert!(
        said.contains("1 gold document was not predicted") && said.contains(": 1\n"),
        "{said}"
    );
    assert!(
        said.contains("1 predicted document is not in gold and does not count: 7"),
        "{said}"
    );
    let value = json(&place.run("eval gold.jsonl part.jsonl --json -q"));
    assert_eq!(
        (&value["missing"][0], &value["extra"][0]),
        (&"1".into(), &"7".into())
    );
    assert_eq!(value["errors"]["missed"], 5);
}

#[test]
fn mistakes_get_a_sentence() {
    let place = place();
    place.write(
        "changed.jsonl",
        line("1", FIRST, &[]) + &line("2", "Eve left London.", &[]),
    );
    place.write("foreign.jsonl", line("x", "Something else.", &[]));
    place.write("empty.jsonl", "");
    place.write("bare.jsonl", line("1", FIRST, &[]));
    place.write("gold.txt", FIRST);
    let data = Place::with_data();
    place.write("train.txt", data.read("train.txt"));
    place.write("template.txt", data.read("template.txt"));
    place.run("train --template template.txt --model model.fmk train.txt");
    for (arguments, expected) in [
        (
            "eval gold.jsonl changed.jsonl",
            "changed.jsonl: the text of \"2\" differs from character 10: gold has \"Paris.\", predicted has \"London.\"",
        ),
        (
            "eval gold.jsonl foreign.jsonl",
            "no document is in both: gold has 2 (the first is \"1\")",
        ),
        ("eval gold.jsonl empty.jsonl", "no document is in both"),
        (
            "eval empty.jsonl gold.jsonl",
            "empty.jsonl: there is no document in it",
        ),
        (
            "eval bare.jsonl found.jsonl",
            "bare.jsonl: none of its documents has an annotation",
        ),
        (
            "eval gold.txt found.jsonl",
            "It was read as text: if it is something else, say it with --format",
        ),
        (
            "eval gold.jsonl other.jsonl --precision 0.9",
            "no predicted span has a confidence",
        ),
        (
            "eval gold.jsonl found.jsonl --precision 90",
            "--precision is 90, expected a number above 0 and up to 1",
        ),
        (
            "eval gold.jsonl found.jsonl --beta 0",
            "beta is 0, expected a number above 0",
        ),
        (
            "eval gold.jsonl found.jsonl --measure kappa",
            "--measure is kappa, expected exact, boundary",
        ),
        (
            "eval gold.jsonl found.jsonl --measure ordinal",
            "the type \"PER\" has no place in an order",
        ),
        (
            "eval gold.jsonl found.jsonl --strict iob2",
            "--strict is for tagged columns",
        ),
        (
            "eval gold.jsonl found.jsonl --html nowhere/page.html",
            "does not exist",
        ),
        ("eval gold.jsonl --html page.html", "--html is for documents"),
        ("eval gold.jsonl --measure exact", "--measure is for documents"),
        (
            "eval --model model.fmk gold.jsonl",
            "this model reads observations",
        ),
        (
            "eval --model model.fmk",
            "--model needs a file with gold documents",
        ),
        (
            "eval --model model.fmk gold.jsonl found.jsonl",
            "give one file, with gold documents",
        ),
        ("eval gold.jsonl missing.jsonl", "missing.jsonl: cannot read"),
    ] {
        let error = place.refuse(arguments);
        assert!(error.contains(expected), "{arguments}\n{error}");
    }
    assert!(!place.path("page.html").exists());
}

#[test]
fn documents_are_counted_in_proper_words() {
    let place = place();
    let lines = |name: &str| place.read(name).lines().map(str::to_owned).collect::<Vec<_>>();
    let found = lines("found.jsonl");
    place.write("twice.jsonl", format!("{}\n{}\n", found[0], found.join("\n")));
    let told = |command: &str| errors(&place.command(command).done().code(0));
    let errors = told("eval gold.jsonl twice.jsonl");
    assert!(
        errors.contains("1 predicted document has the id of one before it and does not count"),
        "{errors}"
    );
    place.write("one.jsonl", format!("{}\n", found[0]));
    let errors = told("eval gold.jsonl one.jsonl");
    assert!(
        errors.contains("1 gold document was not predicted and counts"),
        "{errors}"
    );
    let error = place.refuse("eval gold.jsonl found.jsonl --html .");
    assert!(
        error.contains("this is a directory. Give the name of a file"),
        "{error}"
    );
}

#[test]
fn parts_are_counted_and_scores_stay_shares() {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    let text = place.run("cv names.toml --held-out -o data.test=[\"test.txt\"]");
    assert!(text.contains("95 % interval, 1 part\n"), "{text}");
    let f1 = text.lines().find(|line| line.contains("F1")).unwrap();
    assert_eq!(
        f1.split_whitespace().skip(3).collect::<Vec<_>>(),
        ["–", "–"],
        "{text}"
    );
    let value = json(&place.run("cv names.toml --folds 2 --json"));
    for row in value[0]["measures"].as_array().unwrap() {
        let (low, high) = (row["low"].as_f64(), row["high"].as_f64());
        assert!(
            low.is_none_or(|low| low >= 0.0) && high.is_none_or(|high| high <= 1.0),
            "{row}"
        );
    }
    let error = place.refuse("cv names.toml --folds 100000");
    assert!(
        error.contains("there are only 6 documents") && error.contains("at most --folds 6"),
        "{error}"
    );
}

#[test]
fn two_systems_are_compared() {
    let place = place();
    let text = place.run("eval gold.jsonl found.jsonl --against other.jsonl");
    assert!(
        text.contains("found.jsonl (first) and other.jsonl (second)"),
        "{text}"
    );
    assert!(
        text.contains("approximate randomisation (9999 shuffles of documents"),
        "{text}"
    );
    assert!(text.contains("paired t-test over documents"), "{text}");
    let value = json(&place.run("eval gold.jsonl found.jsonl --against other.jsonl --json"));
    let comparison = &value["comparison"];
    assert_eq!(comparison["first"]["correct"], 2);
    assert_eq!(comparison["second"]["correct"], 1);
    let p = comparison["tests"][2]["p"].as_f64().unwrap();
    // Of two documents, one exchanged or both: all four ways are as extreme, or half of them.
    assert!(p > 0.4, "{p}");
    assert!(text.contains(&format!("p = {p:.4}")), "{text}");
    let again = place.run("eval gold.jsonl found.jsonl --against other.jsonl");
    assert_eq!(text, again);
}

#[test]
fn the_test_and_its_tails_are_chosen() {
    let place = place();
    let command = "eval gold.jsonl found.jsonl --against other.jsonl --test welch,paired-t";
    let text = place.run(&format!("{command} --tails 1 --html page.html"));
    for expected in [
        "Welch's t-test over documents (one-tailed: is the first better?)",
        "paired t-test over documents (one-tailed",
        "df = 1, p = ",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(!text.contains("randomisation"), "{text}");
    let page = place.read("page.html");
    assert!(
        page.contains("Welch&#39;s t-test, one-tailed") && page.contains("df = 1"),
        "{page}"
    );
    let tests = |tails| {
        let value = json(&place.run(&format!("{command} --tails {tails} --json")));
        value["comparison"]["tests"].clone()
    };
    let (one, two) = (tests(1), tests(2));
    assert_eq!(
        (one[0]["test"].as_str(), one[1]["test"].as_str()),
        (Some("welch"), Some("paired-t"))
    );
    assert_eq!(
        (one[1]["tail"].as_str(), two[1]["tail"].as_str()),
        (Some("greater"), Some("both"))
    );
    let p = |tests: &serde_json::Value| tests[1]["p"].as_f64().unwrap();
    assert!(
        (2.0 * p(&one) - p(&two)).abs() < 1e-9,
        "the first is better: half of the tails"
    );
    assert_eq!(one[1]["degrees_of_freedom"], 1.0);
    let error = place.refuse("eval gold.jsonl found.jsonl --test welch");
    assert!(error.contains("--against"), "{error}");
}

#[test]
fn two_cross_validations_are_compared() {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    place.write("one.json", place.run("cv names.toml --folds 3 --json"));
    let text =
        place.run("cv names.toml --folds 3 -o training.max_iterations=1 --against one.json --html page.html");
    assert!(
        text.contains("this config (first) minus one.json (second)"),
        "{text}"
    );
    assert!(text.contains("paired t-test over parts (two-tailed):"), "{text}");
    assert!(text.contains("df = 2, p = "), "{text}");
    assert!(place.read("page.html").contains("Difference"));
    let value =
        json(&place.run("cv names.toml --folds 3 --against one.json --test welch,randomisation --json"));
    let tests = &value[0]["difference"]["tests"];
    assert_eq!(
        (tests[0]["test"].as_str(), tests[0]["difference"].as_f64()),
        (Some("welch"), Some(0.0))
    );
    assert_eq!(tests[0]["p"], 1.0, "a config does not differ from itself");
    let error = place.refuse("cv names.toml --folds 2 --against one.json --test paired-t");
    assert!(
        error.contains("needs the same parts") && error.contains("--test welch"),
        "{error}"
    );
    assert!(
        place
            .run("cv names.toml --folds 2 --against one.json")
            .contains("Welch's t-test over parts")
    );
    // Mistakes are told before anything is read or trained.
    let error = place.refuse("cv names.toml -o data.train=[\"missing.txt\"] --against names.toml");
    assert!(
        error.contains("not what `fieldmark cv CONFIG --json` prints"),
        "{error}"
    );
    let untrained = "cv names.toml -o labels.types=[\"NONE\"] --against one.json";
    let error = place.refuse(&format!("{untrained} --folds 2 --test paired-t"));
    assert!(error.contains("needs the same parts"), "{error}");
    let error = place.refuse(&format!("{untrained} --folds 3 -o labels.column=\"2\""));
    assert!(error.contains("it has no accuracy"), "{error}");
    // As many other documents are not the same.
    place.write("train.txt", place.read("train.txt").replace("Ada", "Eva"));
    let error = place.refuse(&format!("{untrained} --folds 3 --test paired-t"));
    assert!(error.contains("the texts are others"), "{error}");
}

#[test]
fn a_test_that_cannot_be_done_is_refused() {
    let place = place();
    for name in ["gold", "found", "other"] {
        let documents = place.read(&format!("{name}.jsonl"));
        place.write(&format!("{name}1.jsonl"), documents.lines().next().unwrap());
    }
    let command = "eval gold1.jsonl found1.jsonl --against other1.jsonl";
    let value = json(&place.run(&format!("{command} --json")));
    assert_eq!(value["comparison"]["tests"].as_array().unwrap().len(), 3);
    assert_eq!(value["comparison"]["shuffles"], 9999);
    let error = place.refuse(&format!("{command} --test welch"));
    assert!(error.contains("Welch's t-test: 1 values in a sample"), "{error}");
    let value = json(&place.run("eval gold.jsonl found.jsonl --against other.jsonl --test welch --json"));
    assert!(value["comparison"].get("shuffles").is_none(), "{value}");
}

#[test]
fn a_page_changes_no_figure_of_a_model_that_labels_tokens() {
    let place = Place::with_data();
    let sentence = |words: &str| {
        let lines = words.split(' ').enumerate().map(|(at, word)| {
            let (word, label) = word.split_once('/').unwrap();
            format!("{}\t{word}\t_\t{label}\t_\t_\t_\t_\t_\t_\n", at + 1)
        });
        lines.collect::<String>() + "\n"
    };
    let sentences = [
        "A/DET jay/NOUN calls/VERB",
        "The/DET owl/NOUN sleeps/VERB",
        "Jays/NOUN call/VERB often/ADV",
        "An/DET owl/NOUN calls/VERB",
    ];
    place.write("train.conllu", sentences.map(sentence).concat());
    place.run("init pos --output pos.toml");
    let plain = place.run("cv pos.toml --folds 2");
    assert!(plain.contains("accuracy"), "{plain}");
    assert_eq!(place.run("cv pos.toml --folds 2 --html cv.html"), plain);
    assert!(place.read("cv.html").contains("Wrong labels"));
}

#[test]
fn gene_mentions_have_alternatives() {
    let place = Place::new();
    place.write("a.in", "P1 Serum gamma GT and p53 rose\nP2 the HLA B5 gene\n");
    place.write(
        "a.GENE.eval",
        "P1|0 11|Serum gamma GT\nP1|15 17|p53\nP2|3 7|HLA B5\n",
    );
    place.write("a.ALTGENE.eval", "P1|5 11|gamma GT\nP2|3 11|HLA B5 gene\n");
    // An alternative, a gene, an alternative that overlaps the same gene again, and nothing that is one.
    place.write(
        "guess.eval",
        "P1|5 11|gamma GT\nP1|0 4|Serum\nP2|3 7|HLA B5\nP2|3 11|HLA B5 gene\n",
    );
    let text = place.run("eval a.in guess.eval");
    assert!(
        text.contains("with alternatives: TP 2, FP 1, FN 1; 4 guesses"),
        "{text}"
    );
    let value = json(&place.run("eval a.in guess.eval --json"));
    let genes = &value["gene_mention"];
    assert_eq!(genes["with_alternatives"]["precision"], 2.0 / 3.0);
    assert_eq!(genes["strict"]["correct"], 1);
    // Alternatives are no genes that could be missed.
    assert_eq!(value["overview"][0]["gold"], 3);
    place.write("b.in", place.read("a.in"));
    let error = place.refuse("eval a.in b.in");
    assert!(
        error.contains("b.in: there is no file with its genes beside it, such as b.GENE.eval"),
        "{error}"
    );
    place.write("b.GENE.eval", place.read("guess.eval"));
    assert_eq!(place.run("eval a.in b.in"), text);
    // Alternatives that were converted along are no guesses.
    place.run("convert a.in a.jsonl");
    assert!(place.read("a.jsonl").contains("ALTGENE"));
    let value = json(&place.run("eval a.in a.jsonl --json"));
    assert_eq!(value["overview"][0]["precision"], 1.0, "{value}");
    let perfect = place.run("eval a.in a.in --against guess.eval");
    assert!(
        perfect.contains("with alternatives   100.00%   100.00%   100.00%"),
        "{perfect}"
    );
    assert!(perfect.contains("gene mentions precision"), "{perfect}");
}

#[test]
fn a_model_marks_and_is_scored_in_one_go() {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    place.run("train names.toml --model names.fmk -o training.c2=0.01");
    let text = place.run("eval --model names.fmk test.txt --html page.html --precision 0.5");
    place.run("tag names.fmk test.txt --format columns --output found.jsonl");
    let later = place.run("eval test.txt found.jsonl --format columns --pred-format jsonl --precision 0.5");
    assert_eq!(text, later);
    let page = place.read("page.html");
    for part in ["Calibration", "Precision and recall", "Confusion", "<polyline"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("<script") && !page.contains("http:") && !page.contains("https:"));
    // Tagged columns are documents, too.
    place.run("train --template template.txt --model columns.fmk train.txt");
    place.write("tagged.txt", place.run("tag --model columns.fmk test.txt"));
    let script = place.run("eval tagged.txt --json");
    let options = "--format columns --label-columns -2 --pred-label-columns -1";
    let documents = place.run(&format!("eval tagged.txt tagged.txt {options} --json"));
    let (script, documents) = (json(&script), json(&documents));
    assert_eq!(
        script["spans"]["total"]["correct"],
        documents["overview"][0]["correct"]
    );
    assert_eq!(
        script["spans"]["total"]["found"],
        documents["overview"][0]["found"]
    );
}

#[test]
fn models_that_label_tokens_are_scored_by_labels() {
    let place = Place::with_data();
    place.run("init pos --output pos.toml");
    let conllu = |words: &[(&str, &str)]| {
        let line = |(at, (word, tag)): (usize, &(&str, &str))| {
            format!("{}\t{word}\t{word}\t{tag}\t_\t_\t_\t_\t_\t_\n", at + 1)
        };
        words.iter().enumerate().map(line).collect::<String>() + "\n"
    };
    let data = conllu(&[("we", "PRON"), ("sleep", "VERB")]) + &conllu(&[("they", "PRON"), ("eat", "VERB")]);
    place.write("train.conllu", data);
    place.run("train pos.toml --model pos.fmk -o data.train=[\"train.conllu\"]");
    let text = place.run("eval --model pos.fmk train.conllu --html pos.html");
    assert!(text.starts_with("tokens: 4 of 4 right (100.00%)"), "{text}");
    assert!(place.read("pos.html").contains("Accuracy"));
    assert!(text.contains("confidence: expected calibration error"), "{text}");
    place.write("test.conllu", conllu(&[("we", "PRON"), ("eat", "NOUN")]));
    place.run("eval --model pos.fmk test.conllu --html pos.html");
    let page = place.read("pos.html");
    for expected in [
        "Calibration: is it right as often as it is sure?",
        "predicted labels; large dots",
        "Wrong labels: the surest first",
        "gold <span class=\"kind",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    let excerpt = page.split("class=\"excerpt\"").nth(1).unwrap();
    let excerpt = excerpt.split("</p>").next().unwrap();
    assert_eq!(
        excerpt.matches("class=\"gold").count(),
        1,
        "only the wrong word is marked: {excerpt}"
    );
    let value = json(&place.run("eval --model pos.fmk test.conllu --json"));
    assert_eq!(value["cases"][0]["gold"]["type"], "NOUN");
    assert!(value["calibration"]["brier"].as_f64().unwrap() > 0.0);
    let error = place.refuse("eval --model pos.fmk train.conllu --precision 0.9");
    assert!(
        error.contains("--precision is for models that mark spans"),
        "{error}"
    );
}

#[test]
fn several_label_columns_are_right_alone_and_together() {
    let place = Place::new();
    place.write("tagged.txt", "a N B N B\nb V O N O\n\nc V B V O\nd N O N O\n");
    let text = place.run("eval --joint 2 tagged.txt");
    assert!(text.contains("column 1:  75.00%\ncolumn 2:  75.00%\n"), "{text}");
    assert!(text.contains("joint:     50.00%"), "{text}");
    let value = json(&place.run("eval --joint 2 tagged.txt --json"));
    assert_eq!((&value["joint"], &value["tokens"]), (&0.5.into(), &4.into()));
    let error = place.refuse("eval --joint 3 tagged.txt");
    assert!(
        error.contains("tagged.txt:1:1: found 5 columns, expected at least 6"),
        "{error}"
    );
    place.write("empty.txt", "\n\n");
    assert!(
        place
            .refuse("eval --joint 1 empty.txt")
            .contains("no tagged token")
    );
    assert!(place.refuse("eval --joint 1 --raw tagged.txt").contains("--raw"));
}

#[test]
fn cross_validation_has_a_page_with_a_learning_curve() {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    let plain = place.run("cv names.toml --folds 3 --curve");
    let paged = place.run("cv names.toml --folds 3 --curve --html cv.html");
    assert_eq!(plain, paged, "a page changes no figure");
    let page = place.read("cv.html");
    for part in [
        "Summary",
        "95 % interval",
        "Learning curve",
        "class=\"band\"",
        "Confusion",
        "Calibration",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let value = json(&place.run("cv names.toml --folds 3 --json"));
    let mean = value[0]["measures"][2]["mean"].as_f64().unwrap();
    assert!(
        page.contains(&format!("<td class=\"number\">{:.2}</td>", 100.0 * mean)),
        "{mean}"
    );
    assert!(
        place
            .refuse("cv names.toml --folds 3 --html nowhere/cv.html")
            .contains("does not exist")
    );
}

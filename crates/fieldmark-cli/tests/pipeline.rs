//! From a recipe to annotations: `init`, `train CONFIG`, `tag` on text, `cv`, `convert`.

mod common;
use common::Place;

fn trained() -> Place {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    place.run("train names.toml --model names.fmk -o training.c2=0.01");
    place
}

#[test]
fn raw_text_becomes_spans_with_confidence() {
    let place = trained();
    place.write("notes.txt", "Ada sleeps here.\n");
    let table = place.run("tag names.fmk notes.txt");
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some("document\tstart\tend\ttype\tconfidence\tidentifiers\ttext")
    );
    let row: Vec<&str> = lines.next().unwrap().split('\t').collect();
    assert_eq!(row[..4], ["notes.txt", "0", "3", "PER"]);
    let confidence: f64 = row[4].parse().unwrap();
    assert!(confidence > 0.3 && confidence <= 1.0, "{table}");
    assert_eq!(row[5..], ["-", "Ada"]);
}

#[test]
fn what_was_noticed_before_a_failure_is_told() {
    let place = trained();
    let beyond = "{\"text\": \"Ada sleeps here.\", \"label\": [[0, 99, \"PER\"]]}\n";
    place.write("notes.jsonl", format!("{beyond}{{\"text\": 7}}\n"));
    for command in ["tag names.fmk notes.jsonl", "eval notes.jsonl notes.jsonl"] {
        let told = place.refuse(command);
        assert!(
            told.contains("99") && told.contains("notes.jsonl"),
            "{command}: {told}"
        );
    }
}

#[test]
fn texts_have_an_encoding_of_their_own() {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    place.run("train names.toml --model names.fmk -o training.c2=0.01 -o data.read.encoding=latin1");
    place.write("notes.txt", "β: Ada sleeps here.\n");
    let table = place.run("tag names.fmk notes.txt");
    assert!(table.contains("\t3\t6\tPER\t"), "{table}");
    // Read as latin1, the letter is two characters.
    let table = place.run("tag names.fmk notes.txt --encoding latin1");
    assert!(table.contains("\t4\t7\tPER\t"), "{table}");
}

#[test]
fn every_format_can_be_written_and_nothing_else_is_needed() {
    let place = trained();
    place.write("notes.txt", "Ada sleeps here.\n");
    for name in ["train.txt", "names.toml"] {
        std::fs::remove_file(place.path(name)).unwrap();
    }
    let json = place.run("tag names.fmk notes.txt --to jsonl");
    assert!(json.contains("\"PER\"") && json.lines().count() == 1, "{json}");
    let columns = place.run("tag names.fmk notes.txt --to columns");
    assert!(columns.contains("Ada\tS-PER\nsleeps\tO"), "{columns}");
    place.run("tag names.fmk notes.txt --output page.html");
    assert!(
        place.read("page.html").contains("<mark"),
        "{}",
        place.read("page.html")
    );
    place.run("tag names.fmk notes.txt --to brat --output brat");
    assert!(place.read("brat/notes.ann").contains("T1\tPER 0 3\tAda"));
    assert_eq!(place.read("brat/notes.txt"), place.read("notes.txt"));
    let bioc = place.run("tag names.fmk notes.txt --to bioc");
    assert!(bioc.contains("<annotation id=\"1\">"), "{bioc}");
    assert_eq!(
        place.run("tag --model names.fmk --to spans notes.txt"),
        place.run("tag names.fmk notes.txt")
    );
}

#[test]
fn labels_in_a_column_that_is_not_there_are_told() {
    let place = Place::with_data();
    place.write("tags.txt", "Ada NNP\nsleeps VBZ\n\n");
    place.run("init pos --output tags.toml");
    let command = "train tags.toml --model tags.fmk -o data.train=[\"tags.txt\"] \
                   -o data.read={format=\"columns\",columns=[\"word\",\"tag\"],labels=[]}";
    let errors = common::errors(&place.command(command).done().code(2));
    assert!(
        errors.contains("labels.column is \"upos\", and the columns beside the word are: tag."),
        "{errors}"
    );
    place.run(&format!("{command} -o labels.column=\"tag\""));
}

#[test]
fn a_tokenizer_that_cuts_otherwise_than_the_data_is_told() {
    let place = Place::with_data();
    place.write("doses.txt", "take O\n3.75 B-DOSE\nmg I-DOSE\n\n");
    place.run("init ner --output doses.toml");
    let command = "train doses.toml --model doses.fmk -o data.train=[\"doses.txt\"] -o data.read.columns=[]";
    let told = |command: &str| common::errors(&place.command(command).done().code(0));
    let errors = told(command);
    assert!(
        errors.contains("the tokenizer punctuation would cut 1 of 3 tokens of the training data otherwise"),
        "{errors}"
    );
    let errors = told(&format!("{command} -o text.tokenizer=clinical"));
    assert!(!errors.contains("tokenizer"), "{errors}");
}

#[test]
fn a_model_tells_what_it_is_and_why_it_decides() {
    let place = trained();
    place.write("notes.txt", "Ada sleeps here.\n");
    let overview = place.run("inspect names.fmk");
    assert!(
        overview.contains("reads text") && overview.contains("Phrases of sentences"),
        "{overview}"
    );
    assert!(
        overview.contains("W=Ada") && overview.contains("spans"),
        "{overview}"
    );
    let why = place.run("inspect --explain notes.txt names.fmk");
    assert!(why.contains("Ada") && why.contains("W=Ada"), "{why}");
    let dump = place.run("inspect --dump names.fmk");
    assert!(dump.contains("config\tname = \"chunking\""), "{dump}");
    place.write("names.dump", &dump);
    place.run("inspect --load names.dump again.fmk");
    let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert!(bytes("again.fmk") == bytes("names.fmk"));
    assert_eq!(
        place.run("tag again.fmk notes.txt"),
        place.run("tag names.fmk notes.txt")
    );
    place.write("names.dump", dump.replace("\ncard\t{", "\ncard\t"));
    let error = place.refuse("inspect --load names.dump damaged.fmk");
    assert!(
        error.contains("names.dump: line ") && error.contains("no model card"),
        "{error}"
    );
    let error = place.refuse("inspect --explain notes.txt --line 1 names.fmk");
    assert!(error.contains("--line is for models of observations"), "{error}");
}

#[test]
fn options_that_do_not_fit_the_model_are_refused() {
    let place = trained();
    place.write("notes.txt", "Ada sleeps here.\n");
    place.run("train --template template.txt --model model.fmk train.txt");
    place.write("train.xyz", "Ada");
    for (arguments, expected) in [
        (
            "tag names.fmk notes.txt --precision f32",
            "always computes with 64 bits",
        ),
        (
            "tag names.fmk notes.txt --skip-lines x",
            "this one reads documents",
        ),
        (
            "tag names.fmk notes.txt --marginals --to jsonl",
            "--marginals prints what the model thinks of every token, and --to is for documents",
        ),
        (
            "tag names.fmk notes.txt --scheme iob2",
            "its labels are of the scheme IOBES",
        ),
        (
            "tag names.fmk notes.txt --forbid O:B-DRUG",
            "expected two labels of the model",
        ),
        ("tag names.fmk notes.txt --rule never=DRUG", "--rule"),
        ("tag names.fmk notes.txt --to docx", "there is no format \"docx\""),
        (
            "tag names.fmk notes.txt --to pubmed --output nowhere/x",
            "cannot write",
        ),
        ("tag names.fmk missing.txt", "missing.txt: cannot read"),
        ("tag", "there is no model"),
        (
            "tag model.fmk test.txt --to jsonl",
            "--to is for models that read text",
        ),
        ("tag model.fmk test.txt train.txt", "one file at a time"),
        (
            "train names.toml --model x.fmk --order 2",
            "--order is for data without a config",
        ),
        (
            "train names.toml --model x.fmk --c2 2",
            "--c2 is for data without a config: set training.c2 in the config",
        ),
        (
            "train names.toml --model x.fmk --algorithm ap",
            "--algorithm is for data without a config: set training.algorithm",
        ),
        (
            "train names.toml --model x.fmk --template template.txt",
            "--template is for data without a config: a config lists its features",
        ),
        (
            "train names.toml --model x.fmk --separator tab",
            "--separator is for data without a config: columns of documents",
        ),
        (
            "train names.toml --model x.fmk --skip-lines #",
            "--skip-lines is for data without a config: the reader",
        ),
        (
            "train names.toml --model x.fmk --labels literal",
            "--labels is for data without a config: labels of documents",
        ),
        (
            "train names.toml --model x.fmk --format columns",
            "--format is for data without a config: set data.read.format",
        ),
        (
            "train names.toml --model x.fmk --no-lower-orders",
            "set model.lower_orders in the config",
        ),
        (
            "train names.toml --model x.fmk -o training.c3=1",
            "unknown key 'c3' in training, did you mean",
        ),
        (
            "train names.toml --model x.fmk -o training.c2=-1",
            "training.c2 is -1, expected",
        ),
        (
            "cv names.toml --folds 2 -o training.c2=-1",
            "training.c2 is -1, expected",
        ),
        (
            "train names.toml --model x.fmk -o training.algorithm=ap -o training.c2=1",
            "training.c2 means nothing to training.algorithm ap",
        ),
        (
            "train names.toml --model x.fmk -o training.c2=much",
            "-o training.c2=much: training.c2 should be a number, and is the text \"much\"",
        ),
        (
            "train names.toml --model x.fmk -o data.train=[]",
            "data.train names no file",
        ),
        (
            "train train.txt --model x.fmk -o training.c2=1",
            "changes a config, but train.txt is none",
        ),
        ("init chunking --output names.toml", "it is there already"),
        ("cv names.toml --folds 1", "folds"),
        (
            "convert train.txt train.txt --from columns --to columns",
            "the output and the input are the same file",
        ),
        ("convert train.txt out.xyz --from columns", "say it with --to"),
        ("convert train.xyz out.jsonl", "does not tell the format"),
    ] {
        let error = place.refuse(arguments);
        assert!(error.contains(expected), "{arguments}\n{error}");
    }
    place.write("bad.toml", "[[features]]\nkind = 'prefix'\nlengts = [1]\n");
    let error = place.refuse("train bad.toml --model x.fmk");
    assert!(
        error.contains("bad.toml:3:1: unknown key 'lengts' in features[0], did you mean 'lengths'?"),
        "{error}"
    );
}

/// The rows of a table, without its header and blank lines.
fn cells(table: &str) -> Vec<Vec<String>> {
    let rows = table.lines().skip(1).filter(|line| !line.is_empty());
    rows.map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

#[test]
fn models_that_read_text_answer_questions_about_tokens() {
    let place = trained();
    place.write("notes.txt", "Ada sleeps here.\n");
    let spans = cells(&place.run("tag names.fmk notes.txt"));
    let table = place.run("tag names.fmk notes.txt --probs");
    assert!(
        table.starts_with("document\tstart\tend\ttext\tlabel\tprobability\n"),
        "{table}"
    );
    let rows = cells(&table);
    assert_eq!(
        rows[0][..5],
        ["notes.txt", "0", "3", "Ada", "S-PER"].map(str::to_owned)
    );
    // The only token of a span is as probable as the span.
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    assert!(
        (number(&rows[0][5]) - number(&spans[0][4])).abs() < 1e-4,
        "{table}"
    );
    assert_eq!(rows.len(), 4);
    let marginals = cells(&place.run("tag names.fmk notes.txt --marginals"));
    let sum: f64 = marginals[1][5..]
        .iter()
        .map(|cell| number(cell.rsplit_once(':').unwrap().1))
        .sum();
    assert!((sum - 1.0).abs() < 1e-4, "{marginals:?}");
    let best = place.run("tag names.fmk notes.txt --nbest 2");
    let ranks: Vec<f64> = best
        .lines()
        .filter_map(|line| line.strip_prefix("# ")?.split(' ').nth(1)?.parse().ok())
        .collect();
    assert!(ranks.len() == 2 && ranks[0] > ranks[1], "{best}");
    let pairs = cells(&place.run("tag names.fmk notes.txt --pair-marginals"));
    assert_eq!(pairs[0][..3], ["notes.txt", "0", "10"].map(str::to_owned));
    let sequences = cells(&place.run("tag names.fmk notes.txt --log-probs"));
    assert_eq!((sequences[0][2].as_str(), sequences[0][5].as_str()), ("16", "-"));
    assert!(
        (number(&sequences[0][4]).exp() - ranks[0]).abs() < 1e-4,
        "{sequences:?}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&place.run("tag names.fmk notes.txt --json --spans --probs")).unwrap();
    assert_eq!(
        (json["document"].as_str(), json["tokens"][1]["text"].as_str()),
        (Some("notes.txt"), Some("sleeps"))
    );
    assert_eq!(json["spans"][0]["text"], "Ada");
    // Documents with annotations have gold labels.
    place.run("tag names.fmk notes.txt --output found.jsonl");
    let sequences = cells(&place.run("tag names.fmk found.jsonl --log-probs"));
    assert_eq!(sequences[0][4], sequences[0][5]);
}

#[test]
fn models_that_read_text_take_constraints() {
    let place = trained();
    place.write("notes.txt", "Ada sleeps here.\n");
    let free = place.run("tag names.fmk notes.txt");
    assert_eq!(place.run("tag names.fmk notes.txt --scheme iobes"), free);
    assert_eq!(place.run("tag names.fmk notes.txt --log-space"), free);
    assert!(cells(&free).iter().any(|row| row[3] == "PER"), "{free}");
    let forbidden = place.run("tag names.fmk notes.txt --forbid ^:S-PER --forbid ^:B-PER");
    assert!(
        !cells(&forbidden)
            .iter()
            .any(|row| row[1] == "0" && row[3] == "PER"),
        "{forbidden}"
    );
    let never = place
        .command("tag names.fmk notes.txt")
        .args(["--rule", "never PER"]);
    let never = common::output(never.done().success());
    assert!(!cells(&never).iter().any(|row| row[3] == "PER"), "{never}");
    // What is known stays, with certainty, and what is beside it is found as before.
    place.write(
        "known.jsonl",
        "{\"id\":\"n\",\"text\":\"Ada sleeps here.\",\"annotations\":[{\"kind\":\"PER\",\"fragments\":[{\"start\":4,\"end\":10}]}]}\n",
    );
    let fixed = cells(&place.run("tag names.fmk known.jsonl --fix-labels"));
    let known = fixed.iter().find(|row| row[6] == "sleeps").unwrap();
    assert_eq!((known[3].as_str(), known[4].as_str()), ("PER", "1.0000"));
    assert!(
        !cells(&place.run("tag names.fmk known.jsonl"))
            .iter()
            .any(|row| row[6] == "sleeps")
    );
    // Where nothing is possible, the rest is done all the same.
    let never = place
        .command("tag names.fmk known.jsonl --fix-labels")
        .args(["--rule", "at-most 9 LOC; never PER"]);
    let errors = common::errors(&never.done().code(2));
    assert!(
        errors.contains(
            "n: in the sentence \"Ada sleeps here.\", no label sequence satisfies the rule `at-most 0 PER`\n"
        ),
        "{errors}"
    );
    assert!(
        errors.contains("error: n: the sentence \"Ada sleeps here.\" has no label sequence"),
        "{errors}"
    );
}

#[test]
fn cross_validation_is_repeatable_and_says_how_sure_it_is() {
    let place = trained();
    let table = place.run("cv names.toml --folds 2");
    assert!(
        table.contains("all") && table.contains("F1") && table.contains(" to "),
        "{table}"
    );
    assert_eq!(table, place.run("cv names.toml --folds 2 --threads 1"));
    let json = place.run("cv names.toml --bootstrap 3 --curve --json");
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value.as_array().unwrap().len(), 6);
    assert_eq!(value[0]["share"], 0.1);
    assert_eq!(value[5]["splits"], 3);
}

#[test]
fn conversion_tells_what_is_lost() {
    let place = Place::with_data();
    place.run("convert train.txt train.jsonl --from columns");
    place.run("convert train.jsonl back.txt --to columns");
    let columns = |name: &str| -> Vec<(String, String)> {
        let pair = |line: &str| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            (cells[0].to_owned(), cells[cells.len() - 1].to_owned())
        };
        let text = place.read(name);
        text.lines()
            .filter(|line| !line.trim().is_empty())
            .map(pair)
            .collect()
    };
    assert_eq!(columns("back.txt"), columns("train.txt"));
    place.write(
        "nested.jsonl",
        "{\"id\":\"1\",\"text\":\"ab cd\",\"entities\":[[0,5,\"X\"],[3,5,\"Y\"],[0,1,\"Z\"]]}\n",
    );
    let done = place
        .command("convert nested.jsonl out.txt --to columns --notices lost.txt")
        .done();
    let errors = common::errors(&done.code(0));
    assert!(errors.contains("nested span"), "{errors}");
    assert_eq!(
        place.read("lost.txt").lines().count(),
        3,
        "{}",
        place.read("lost.txt")
    );
}

#[test]
fn a_model_that_labels_tokens_prints_a_line_for_each() {
    let place = Place::with_data();
    place.write(
        "train.conllu",
        "1\tEin\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tHäher\t_\tNOUN\t_\t_\t_\t_\t_\t_\n3\truft\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n",
    );
    place.run("init pos --output pos.toml");
    place.run("train pos.toml --model pos.fmk");
    place.write("notes.txt", "Ein Häher ruft\n");
    let table = place.run("tag pos.fmk notes.txt");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(
        rows[0],
        ["document", "start", "end", "label", "confidence", "text"]
    );
    for (row, expected) in rows[1..].iter().zip([
        ["0", "3", "DET", "Ein"],
        ["4", "9", "NOUN", "Häher"],
        ["10", "14", "VERB", "ruft"],
    ]) {
        assert_eq!([row[1], row[2], row[3], row[5]], expected, "{table}");
        let confidence: f64 = row[4].parse().unwrap();
        assert!(confidence > 1.0 / 3.0 && confidence < 1.0, "{table}");
    }
    assert_eq!(place.run("tag pos.fmk notes.txt --to spans"), table);
    let columns = place.run("tag pos.fmk notes.txt --to columns");
    assert!(
        columns.ends_with("Ein\tDET\nHäher\tNOUN\nruft\tVERB\n\n"),
        "{columns}"
    );
    let universal = place.run("tag pos.fmk notes.txt --to conllu");
    assert!(universal.contains("\tHäher\t_\tNOUN\t"), "{universal}");
    let page = place.run("tag pos.fmk notes.txt --to html");
    assert!(page.contains("<span class=\"tag\">NOUN</span>"), "{page}");
    let json: serde_json::Value =
        serde_json::from_str(&place.run("tag pos.fmk notes.txt --to jsonl")).unwrap();
    let token = &json["given"]["sentences"][0][1];
    assert_eq!(token["columns"][0], "NOUN");
    assert_eq!(format!("{:.4}", token["score"].as_f64().unwrap()), rows[2][4]);
    let done = place.command("tag pos.fmk notes.txt --to spacy").done();
    let errors = common::errors(&done.code(0));
    assert!(
        errors.contains("the labels that the model gave to 3 tokens"),
        "{errors}"
    );
    assert!(place.run("tag --help").contains("has a line for each token"));
}

#[test]
fn labels_that_are_open_or_odd_do_not_hide_the_others() {
    let place = Place::with_data();
    let train = place.read("train.txt");
    place.write(
        "train.txt",
        format!("{train}\nBob Aa ?\nsat a foo\nthere a O|B-LOC\n"),
    );
    place.run("init chunking --output names.toml");
    let told = common::errors(&place.command("train names.toml --model names.fmk").done().code(0));
    assert!(
        told.contains("label of no scheme: `foo` in ") && told.contains(", line "),
        "{told}"
    );
    assert!(!told.contains("wrote names.fmk: 0 weights"), "{told}");
    let columns = place.run("convert train.txt --from columns --to columns");
    assert!(
        columns.contains("Bob\tAa\t?\nsat\ta\t?\nthere\ta\tO|B-LOC\n"),
        "{columns}"
    );
    let told = common::errors(
        &place
            .command("convert train.txt --from columns --to doccano")
            .done()
            .code(0),
    );
    assert!(
        told.contains("labels that are unknown (`?`) or one of several"),
        "{told}"
    );
    place.write(
        "all.jsonl",
        place.run("convert train.txt --from columns --to jsonl"),
    );
    assert_eq!(place.run("convert all.jsonl --from jsonl --to columns"), columns);
}

#[test]
fn training_without_any_span_is_refused() {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    let error = place.refuse("train names.toml --model names.fmk -o labels.types=[\"PRE\"]");
    assert!(
        error.contains("no span of the type PRE is in the training data; they have"),
        "{error}"
    );
    assert!(error.contains("Did you mean PER?"), "{error}");
    assert!(!place.path("names.fmk").exists());
    let error = place.refuse("cv names.toml --folds 2 -o labels.types=[\"PRE\"]");
    assert!(error.contains("Did you mean PER?"), "{error}");
    place.write("raw.txt", "Ada sleeps here.\n");
    let error = place.refuse(
        "train names.toml --model names.fmk -o data.train=[\"raw.txt\"] -o data.read={format=\"text\"}",
    );
    assert!(
        error.contains("the documents come without annotations"),
        "{error}"
    );
}

#[test]
fn columns_that_the_model_was_trained_with_are_missed() {
    let place = trained();
    place.write("notes.txt", "Ada sleeps here.\n");
    let told = |arguments: &str| common::errors(&place.command(arguments).done().code(0));
    let warning =
        "the model was trained with the column `pos`, which these documents lack: expect worse labels";
    let errors = told("tag names.fmk notes.txt");
    assert_eq!(errors.matches(warning).count(), 1, "{errors}");
    place.write("short.txt", "Ada B-PER\nsleeps O\n");
    let errors = told("eval --model names.fmk short.txt --columns word,ner");
    assert!(errors.contains(warning), "{errors}");
    for fitting in [
        "eval --model names.fmk test.txt",
        "tag names.fmk test.txt --format columns",
    ] {
        let errors = told(fitting);
        assert!(!errors.contains("expect worse"), "{errors}");
    }
    // What a model below another one looks at is missed as well.
    place.write("stack.toml", "[data]\ntrain = ['train.txt']\nread = { format = 'columns', columns = ['word', 'pos', 'ner'], labels = ['ner'] }\n[[features]]\nkind = 'model'\nfile = 'names.fmk'\n");
    told("train stack.toml --model stack.fmk");
    let errors = told("tag stack.fmk notes.txt");
    assert_eq!(errors.matches(warning).count(), 1, "{errors}");
    let errors = told("tag stack.fmk test.txt --format columns");
    assert!(!errors.contains("expect worse"), "{errors}");
    // What training did not have cannot be missed.
    let command = "train names.toml --model without.fmk -o data.read.columns=[]";
    told(command);
    let errors = told("tag without.fmk notes.txt");
    assert!(!errors.contains("expect worse"), "{errors}");
}

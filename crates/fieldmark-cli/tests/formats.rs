//! Formats at the command line: tables with tabs, pages that are marked, compressed outputs, encodings.

mod common;
use common::{Place, errors};

const PAGE: &str = "<html><body><h1>On <a href=\"x\">Ada</a></h1>\
                    <table><tr><td>Ada sleeps here.</td></tr></table></body></html>";

fn trained() -> Place {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    place.run("train names.toml --model names.fmk -o training.c2=0.01");
    place
}

#[test]
fn tables_with_tabs_are_read_and_written() {
    let place = Place::new();
    place.write("t.tsv", "id\ttext\n1\tHello Germany\n2\tBye Britain\n");
    let json = place.run("convert t.tsv --to jsonl");
    assert_eq!(json.lines().count(), 2, "{json}");
    assert!(json.contains("\"Hello Germany\""), "{json}");
    place.run("convert t.tsv again.tsv");
    assert_eq!(
        place.read("again.tsv"),
        "id\ttext\tannotations\n1\tHello Germany\t[]\n2\tBye Britain\t[]\n"
    );
    place.run("convert t.tsv t.csv");
    place.run("convert t.csv again.tsv.gz --notices told");
    assert_eq!(
        place.run("convert again.tsv.gz --to tsv"),
        place.read("again.tsv")
    );
    place.run("convert t.tsv t.jsonl");
    assert_eq!(place.run("convert t.jsonl --to tsv"), place.read("again.tsv"));
    assert_eq!(place.run("convert t.jsonl - --from jsonl --to jsonl"), json);
    // Columns stay columns.
    place.write("c.tsv", "EU\tB-ORG\nrejects\tO\n\nBye\tO\n");
    assert_eq!(place.run("convert c.tsv --to jsonl").lines().count(), 2);
    place.run("convert c.tsv out.tsv");
    assert!(
        place.read("out.tsv").starts_with("EU\tB-ORG\n"),
        "{}",
        place.read("out.tsv")
    );
}

#[test]
fn marks_are_laid_over_the_page_that_was_read() {
    let place = trained();
    place.write("page.html", PAGE);
    place.write("notes.txt", "Ada sleeps here.\n");
    place.run("tag names.fmk page.html --output marked.html");
    let marked = place.read("marked.html");
    assert!(marked.contains("<h1>On <a href=\"x\">"), "{marked}");
    assert!(marked.contains("<table><tr><td><mark data-span="), "{marked}");
    let tag = |text: &str| text.split('<').filter(|tag| !tag.contains("mark")).count();
    assert_eq!(tag(&marked), tag(PAGE));
    // The same through a pipe, and again over what is marked.
    let piped = place
        .command("tag names.fmk - --format html --to html")
        .input(PAGE)
        .done();
    assert_eq!(common::output(piped.success()), marked);
    place.run("tag names.fmk marked.html --output twice.html");
    assert_eq!(place.read("twice.html"), marked);
    place.run("convert marked.html copy.html");
    assert_eq!(place.read("copy.html"), marked);
    // Texts, and several pages, give a page of their own, which can be read again.
    place.write("other.html", PAGE);
    for input in ["notes.txt", "page.html other.html"] {
        place.run(&format!("tag names.fmk {input} --output texts.html"));
        assert!(
            place.read("texts.html").contains("<article class=\"card\">"),
            "{input}"
        );
    }
    let again = place.run("convert texts.html --to jsonl");
    assert_eq!(again.lines().count(), 2, "{again}");
    assert!(
        again.contains("\"PER\"") && again.contains("other.html"),
        "{again}"
    );
}

#[test]
fn names_with_gz_or_zst_give_compressed_files() {
    let place = trained();
    place.write("notes.txt", "Ada sleeps here.\n");
    for (name, magic) in [
        ("found.jsonl.gz", &[0x1F, 0x8B][..]),
        ("found.jsonl.zst", &[0x28, 0xB5]),
    ] {
        place.run(&format!("tag names.fmk notes.txt --output {name}"));
        assert!(place.bytes(name).starts_with(magic), "{name}");
        assert!(
            place
                .run(&format!("convert {name} --to columns"))
                .contains("Ada\tB-PER")
        );
    }
    place.run("tag names.fmk notes.txt --to spans --output found.txt.gz");
    assert!(place.bytes("found.txt.gz").starts_with(&[0x1F, 0x8B]));
    place.run("convert notes.txt copy.html.gz");
    assert!(place.bytes("copy.html.gz").starts_with(&[0x1F, 0x8B]));
}

#[test]
fn standard_input_is_read_from_its_beginning() {
    let place = Place::new();
    place.write("notes.txt", "Ada sleeps here.\n");
    let file = std::fs::File::open(place.path("notes.txt")).unwrap();
    let output = std::process::Command::new(common::PROGRAM)
        .args(["convert", "-", "--to", "jsonl"])
        .stdin(file)
        .output()
        .unwrap();
    let json = String::from_utf8(output.stdout).unwrap();
    assert!(json.contains("Ada sleeps here."), "{json}");
}

#[test]
fn what_was_lost_before_an_error_is_told() {
    let place = Place::new();
    place.write(
        "bad.jsonl",
        "{\"id\":\"a\",\"text\":\"Ada\",\"annotations\":[{\"start\":0,\"end\":0,\"type\":\"PER\"}]}\nnonsense\n",
    );
    let told = place.refuse("convert bad.jsonl --to columns");
    assert!(told.contains("empty span: 1"), "{told}");
    assert!(told.contains("bad.jsonl:2:"), "{told}");
}

#[test]
fn numbers_of_labels_get_their_names() {
    let place = Place::new();
    place.write(
        "h.jsonl",
        "{\"id\":\"1\",\"tokens\":[\"Ada\",\"sleeps\"],\"ner_tags\":[1,0]}\n",
    );
    assert!(
        place
            .refuse("convert h.jsonl --to columns")
            .contains("label names")
    );
    let columns = place.run("convert h.jsonl --to columns --label-names O,B-PER,I-PER");
    assert!(columns.contains("Ada\tB-PER"), "{columns}");
    let score = place.run("eval h.jsonl h.jsonl --label-names O,B-PER,I-PER");
    assert!(score.contains("PER"), "{score}");
}

#[test]
fn a_directory_is_one_of_brat_or_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("brat")).unwrap();
    assert!(
        place
            .refuse("convert brat --to html")
            .contains("a directory without texts of brat")
    );
    place.write("brat/a.txt", "Ada sleeps.");
    place.write("brat/a.ann", "T1\tPER 0 3\tAda\n");
    assert!(place.run("convert brat --to html").contains("<mark"));
    let wrong = errors(
        &place
            .command("convert brat --to jsonl --from columns")
            .done()
            .code(2),
    );
    assert!(wrong.contains("directory"), "{wrong}");
}

#[test]
fn numbers_of_columns_count_from_0() {
    let place = Place::new();
    place.write("c.conll", "EU\tNNP\tB-ORG\n");
    assert!(
        place
            .refuse("convert c.conll --to jsonl --labels 3")
            .contains("Numbers count from 0")
    );
    assert!(place.run("convert c.conll --to jsonl --labels 2").contains("ORG"));
    assert!(place.run("convert --help").contains("0 is the first"));
}

#[test]
fn a_stated_encoding_counts_in_tables_too() {
    let place = Place::new();
    place.write("t.csv", b"id,text\n1,Gr\xF6\xDFe\n");
    assert!(place.refuse("convert t.csv --to jsonl").contains("UTF-8"));
    assert!(
        place
            .run("convert t.csv --to jsonl --encoding latin1")
            .contains("Größe")
    );
}

//! What commands do to files that are there already: they replace no input, and lose nothing when they fail.

mod common;
use common::{Place, errors};

fn trained() -> Place {
    let place = Place::with_data();
    place.run("init chunking --output names.toml");
    place.run("train names.toml --model names.fmk -o training.c2=0.01");
    place.write("notes.txt", "Ada sleeps here.\n");
    place.run("convert test.txt gold.jsonl --from columns");
    place.run("tag names.fmk gold.jsonl --output found.jsonl");
    place
}

#[test]
fn no_command_writes_onto_what_it_reads() {
    let place = trained();
    place.write("list.txt", "Ada\n");
    std::fs::create_dir(place.path("texts")).unwrap();
    place.write("texts/a.txt", "Ada sleeps.\n");
    std::fs::create_dir(place.path("texts/deep")).unwrap();
    place.write("texts/deep/b.txt", "Ada sleeps.\n");
    place.write("one.json", place.run("cv names.toml --folds 2 --json"));
    let listed = "-o features=[{kind=\"dictionary\",name=\"names\",file=\"list.txt\"}]";
    let with_list = format!("train names.toml --model list.txt {listed}");
    for (arguments, file) in [
        ("tag names.fmk notes.txt --output notes.txt", "notes.txt"),
        ("tag names.fmk notes.txt --output ./names.fmk", "names.fmk"),
        (
            "tag names.fmk texts/a.txt --to brat --output texts",
            "texts/a.txt",
        ),
        (
            "tag names.fmk texts/deep/b.txt notes.txt --to brat --output texts",
            "texts/deep/b.txt",
        ),
        ("eval gold.jsonl found.jsonl --html gold.jsonl", "gold.jsonl"),
        ("eval gold.jsonl found.jsonl --html found.jsonl", "found.jsonl"),
        ("eval --model names.fmk gold.jsonl --html names.fmk", "names.fmk"),
        (
            "eval --model names.fmk gold.jsonl --against found.jsonl --html found.jsonl",
            "found.jsonl",
        ),
        ("train names.toml --model names.toml", "names.toml"),
        ("train names.toml --model train.txt", "train.txt"),
        (&with_list, "list.txt"),
        ("cv names.toml --html names.toml", "names.toml"),
        ("cv names.toml --html train.txt", "train.txt"),
        (
            "cv names.toml --folds 2 --against one.json --html one.json",
            "one.json",
        ),
        ("convert gold.jsonl gold.jsonl", "gold.jsonl"),
        ("convert gold.jsonl new.html --notices gold.jsonl", "gold.jsonl"),
        ("convert gold.jsonl new.html --notices new.html", "gold.jsonl"),
        ("inspect --load list.txt list.txt", "list.txt"),
    ] {
        let before = place.bytes(file);
        let error = place.refuse(arguments);
        assert!(
            error.contains("are the same file") || error.contains("is in this directory"),
            "{arguments}\n{error}"
        );
        assert!(place.bytes(file) == before, "{arguments}");
    }
}

#[test]
fn a_run_that_fails_leaves_the_old_output() {
    let place = trained();
    let complete = place.read("gold.jsonl");
    let first = complete.lines().next().unwrap();
    place.write("cut.jsonl", format!("{first}\n{}", &first[..first.len() / 2]));
    std::fs::create_dir(place.path("brat")).unwrap();
    let kept = [
        "keep",
        "keep.pdf",
        "keep.jsonl",
        "keep.html",
        "keep.txt",
        "keep.in",
        "brat/1.txt",
        "brat/1.ann",
    ];
    for file in kept {
        place.write(file, "old\n");
    }
    for arguments in [
        "tag names.fmk missing.txt --output keep",
        "tag names.fmk notes.txt missing.txt --output keep",
        "tag names.fmk notes.txt missing.txt --output keep.jsonl",
        "tag names.fmk notes.txt missing.txt --to columns --output keep.txt",
        "tag names.fmk cut.jsonl --output keep",
        "convert gold.jsonl keep.pdf",
        "convert cut.jsonl keep.jsonl",
        "convert cut.jsonl keep.html",
        "convert cut.jsonl keep.in",
        "convert cut.jsonl brat --to brat",
        "convert cut.jsonl keep.txt --to columns --notices keep",
        "eval gold.jsonl cut.jsonl --html keep.html",
    ] {
        place.refuse(arguments);
        for file in kept {
            assert_eq!(place.read(file), "old\n", "{arguments}: {file}");
        }
    }
    let beside = |directory: &str| -> Vec<String> {
        let entries = std::fs::read_dir(place.path(directory)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(".fieldmark")).collect()
    };
    assert!(beside(".").is_empty() && beside("brat").is_empty());
    // What goes well replaces it.
    place.run("tag names.fmk notes.txt --output keep");
    place.run("convert gold.jsonl brat --to brat");
    assert!(place.read("keep").contains("Ada") && place.read("brat/1.txt") != "old\n");
}

/// Annotations of a file in JSON lines, as text.
fn marked(place: &Place, file: &str) -> Vec<String> {
    let documents = place.read(file);
    let annotations = documents.lines().map(|line| {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        format!("{}: {}", document["text"], document["annotations"])
    });
    annotations.collect()
}

#[test]
fn gene_mentions_go_round_in_three_files() {
    let place = Place::new();
    place.write("a.in", "P1 Serum gamma GT and p53 rose\nP2 the HLA B5 gene\n");
    place.write(
        "a.GENE.eval",
        "P1|0 11|Serum gamma GT\nP1|15 17|p53\nP2|3 7|HLA B5\n",
    );
    place.write("a.ALTGENE.eval", "P1|5 11|gamma GT\n");
    let told = errors(&place.command("convert a.in a.jsonl").done().success());
    assert!(
        told.contains("a.in: its genes are in a.GENE.eval, their alternatives in a.ALTGENE.eval"),
        "{told}"
    );
    place.run("convert a.jsonl b.in");
    for name in ["in", "GENE.eval", "ALTGENE.eval"] {
        assert_eq!(place.read(&format!("a.{name}")), place.read(&format!("b.{name}")));
    }
    place.run("convert b.in b.jsonl");
    assert_eq!(marked(&place, "a.jsonl"), marked(&place, "b.jsonl"));
    assert!(marked(&place, "b.jsonl")[0].contains("ALTGENE"));

    // Training learns the genes and not their other forms.
    place.run("init gene --output gene.toml");
    let train = "train gene.toml --model gene.fmk -o data.train=[\"a.in\"] -o data.read={}";
    let told = errors(&place.command(train).done().success());
    assert!(told.contains("its genes are in a.GENE.eval"), "{told}");
    let labels = place.run("inspect gene.fmk --json");
    assert!(
        labels.contains("-GENE") && !labels.contains("-ALTGENE"),
        "{labels}"
    );

    // Files of genes are where the config is, as all that it names.
    std::fs::create_dir(place.path("deep")).unwrap();
    for (from, to) in [
        ("a.in", "a.in"),
        ("a.GENE.eval", "g.eval"),
        ("gene.toml", "gene.toml"),
    ] {
        std::fs::copy(place.path(from), place.path("deep").join(to)).unwrap();
    }
    let genes = "-o data.train=[\"a.in\"] -o data.read={genes=\"g.eval\"}";
    let train = format!("train deep/gene.toml --model deep.fmk {genes}");
    let told = errors(&place.command(&train).done().success());
    assert!(told.contains("its genes are in deep/g.eval"), "{told}");
    let error = place.refuse(&format!("train deep/gene.toml --model deep/g.eval {genes}"));
    assert!(error.contains("are the same file"), "{error}");
    let error = place.refuse("tag gene.fmk a.in --output a.GENE.eval");
    assert!(error.contains("a file of genes are the same file"), "{error}");

    std::fs::remove_file(place.path("b.ALTGENE.eval")).unwrap();
    let told = errors(&place.command("tag gene.fmk b.in").done().success());
    assert!(
        told.contains("there is no file of alternatives, such as b.ALTGENE.eval"),
        "{told}"
    );
    std::fs::remove_file(place.path("b.GENE.eval")).unwrap();
    let told = errors(&place.command("convert b.in c.jsonl").done().success());
    assert!(
        told.contains("there is no file with its genes, such as b.GENE.eval"),
        "{told}"
    );
    // All three files are written.
    let error = place.refuse("convert a.in a --to gene-mention");
    assert!(error.contains("are the same file"), "{error}");
}

#[test]
fn texts_in_disguise_are_recognised() {
    let place = trained();
    let pubmed = "<?xml version=\"1.0\"?>\n<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>77</PMID><Article>\
                  <ArticleTitle>Ada sleeps here.</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>";
    place.write("pubmed.xml", pubmed);
    place.write("pubmed.txt", pubmed);
    place.write("titles.txt", "77|t|Ada sleeps here.\n77|a|\n");
    for file in ["pubmed.xml", "pubmed.txt", "titles.txt"] {
        let table = place.run(&format!("tag names.fmk {file}"));
        assert!(table.contains("77\t0\t3\tPER"), "{file}: {table}");
        let piped = place
            .command("tag names.fmk")
            .input(place.read(file))
            .done()
            .success();
        assert_eq!(common::output(piped), table, "{file}");
        assert!(
            place
                .run(&format!("convert {file} - --to jsonl"))
                .contains("\"77\"")
        );
    }
    place.write(
        "other.xml",
        "<?xml version=\"1.0\"?><notes>Ada sleeps here.</notes>",
    );
    let error = place.refuse("tag names.fmk other.xml");
    assert!(error.contains("the name does not tell the format"), "{error}");
    assert!(
        place
            .run("tag names.fmk other.xml --format inline-xml")
            .contains("Ada")
    );
    place.write("notes", "Ada sleeps here.");
    assert!(place.run("tag names.fmk notes").contains("notes\t0\t3\tPER"));
}

#[test]
fn columns_that_convert_writes_are_read_by_all_commands() {
    let place = trained();
    place.write(
        "notes.jsonl",
        "{\"id\":\"a b\",\"text\":\"Ada sleeps here. Bob too.\",\"entities\":[[0,3,\"PER\"],[17,20,\"PER\"]]}\n\
         {\"id\":\"2\",\"text\":\"Bob sleeps.\",\"entities\":[[0,3,\"PER\"]]}\n",
    );
    place.run("convert notes.jsonl notes.tsv");
    let columns = place.read("notes.tsv");
    assert!(
        columns.starts_with("-DOCSTART-(a b)\tO\n\nAda\tB-PER\n"),
        "{columns}"
    );
    assert!(columns.contains("\n-DOCSTART-\tO\n\nBob\tB-PER\n"), "{columns}");
    place.run("check notes.tsv");
    place.run("train notes.tsv --model words.fmk");
    let tagged = place.run("tag --model words.fmk notes.tsv");
    assert!(tagged.starts_with("-DOCSTART-(a b)\tO\tO\n"), "{tagged}");
    place.write("tagged.tsv", &tagged);
    assert!(place.run("eval tagged.tsv").contains("found: 3 phrases"));
    assert!(
        place
            .run("eval --skip-lines -DOCSTART- tagged.tsv")
            .contains("processed 10 tokens")
    );
    // Documents come back with their ids; two sentences of one stay together.
    place.run("convert notes.tsv back.jsonl");
    let back = marked(&place, "back.jsonl");
    assert!(back.len() == 2 && back[0].contains("\\nBob"), "{back:?}");
    assert!(place.read("back.jsonl").contains("\"id\":\"a b\""));
    place.run("eval notes.tsv back.jsonl");
    // Marks stay marks, and data without them stay without.
    place.write(
        "marked.txt",
        "-DOCSTART- -X- O\n\nAda NN B-PER\n\nhere RB O\n\n-DOCSTART- -X- O\n\nso RB O\n\n",
    );
    place.run("convert marked.txt again.tsv --from columns");
    assert_eq!(
        place.read("again.tsv"),
        place.read("marked.txt").replace(' ', "\t")
    );
    place.run("convert train.txt train.tsv --from columns");
    assert!(!place.read("train.tsv").contains("-DOCSTART-"));
    assert!(place.run("convert --help").contains("-DOCSTART-(id)"));
}

#[test]
fn documents_are_told_apart_and_equal_losses_told_once() {
    let place = trained();
    for folder in ["one", "two"] {
        std::fs::create_dir(place.path(folder)).unwrap();
        place.write(&format!("{folder}/n.txt"), "Ada sleeps here.\n");
    }
    let table = place.run("tag names.fmk one/n.txt two/n.txt notes.txt");
    for id in ["one/n.txt\t", "two/n.txt\t", "notes.txt\t"] {
        assert!(table.contains(&format!("\n{id}")), "{table}");
    }
    place.run("tag names.fmk one/n.txt two/n.txt --to brat --output marked");
    assert!(place.read("marked/two/n.ann").contains("Ada"));

    let line = |id: usize| {
        format!("{{\"id\":\"d{id}\",\"text\":\"β Ada\",\"meta\":{{\"year\":\"1843\"}},\"annotations\":[]}}\n")
    };
    place.write("meta.jsonl", (1..=9).map(line).collect::<String>());
    let told = errors(&place.command("convert meta.jsonl meta.tsv").done().success());
    assert_eq!(told.matches("the facts year").count(), 1, "{told}");
    assert!(told.contains("9 times (d1; d2; d3, …)"), "{told}");
    place.run("convert meta.jsonl meta.tsv --notices lost.txt");
    assert_eq!(place.read("lost.txt").lines().count(), 9);
}

#[test]
fn places_in_messages_and_pages_count_characters() {
    let place = Place::new();
    place.write(
        "a.jsonl",
        "{\"id\":\"1\",\"text\":\"ββ Ada sleeps\",\"entities\":[[3,6,\"PER\"],[3,13,\"X\"]]}\n",
    );
    place.run("convert a.jsonl a.html");
    let page = place.read("a.html");
    assert!(page.contains("Characters 3 to 13") && page.contains("Characters 3 to 6"));
    let told = errors(&place.command("convert a.jsonl a.tsv").done().success());
    assert!(told.contains("`PER` at 3..6"), "{told}");
}

#[test]
fn pdf_files_are_only_marked() {
    let place = trained();
    let error = place.refuse("convert gold.jsonl new.pdf");
    assert!(
        error.contains("gold.jsonl is no PDF file. To look at annotations, write html"),
        "{error}"
    );
    let error = place.refuse("tag names.fmk notes.txt --output new.pdf");
    assert!(error.contains("notes.txt is no PDF file"), "{error}");
}

#[test]
fn our_own_page_is_read_as_its_texts() {
    let place = trained();
    place.run("tag names.fmk notes.txt --output notes.html");
    assert!(place.read("notes.html").contains("class=\"legend\""));
    assert_eq!(
        place.run("convert notes.html - --to text").trim(),
        "Ada sleeps here."
    );
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_cannot_be_written_is_no_mistake_of_the_user() {
    let place = trained();
    for arguments in [
        "tag names.fmk notes.txt",
        "tag names.fmk notes.txt --to jsonl",
        "convert gold.jsonl - --to doccano",
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let status = std::process::Command::new(common::PROGRAM)
            .current_dir(place.root())
            .args(arguments.split_whitespace())
            .stdout(full)
            .stderr(std::process::Stdio::null())
            .status();
        assert_eq!(status.unwrap().code(), Some(1), "{arguments}");
    }
    place.refuse("tag names.fmk notes.txt --output /dev/full");
}

use super::*;

fn problem(text: &str) -> String {
    Config::parse(text, &[]).unwrap_err().to_string()
}

#[test]
fn errors_say_where_and_what_was_meant() {
    for (text, expected) in [
        (
            "features = [{ kind = 'word' }, { kind = 'prefix', lengts = [1] }]",
            "1:51: unknown key 'lengts' in features[1], did you mean 'lengths'?",
        ),
        (
            "[training]\nc3 = 1",
            "2:1: unknown key 'c3' in training, did you mean 'c2'?",
        ),
        (
            "[trainig]\n",
            "1:2: unknown key 'trainig' in the config, did you mean 'training'?",
        ),
        (
            "[[features]]\nkind = 'sufix'",
            "2:8: unknown kind 'sufix' in features[0], did you mean 'suffix'?",
        ),
        (
            "[[features]]\nlower = true",
            "2:1: the key 'kind' is missing in features[0]; kinds are bias",
        ),
        (
            "[model]\norder = 'two'",
            "2:9: model.order should be a whole number from 0, and is the text \"two\"",
        ),
        (
            "[model]\norder = -1",
            "2:9: model.order should be a whole number from 0, and is the number -1",
        ),
        (
            "[labels]\nscheme = 'iobs'",
            "2:10: unknown value 'iobs' of labels.scheme, did you mean 'iobes'?",
        ),
        (
            "[text]\ntokenizer = 'fin'",
            "2:13: unknown value 'fin' of text.tokenizer, did you mean 'fine'?",
        ),
        (
            "[data.read]\nformat = 'conl'",
            "2:10: unknown value 'conl' of data.read.format, did you mean 'conllu'?",
        ),
        ("[data]\ntrain = 'x'", "2:9: data.train is a list: write [\"x\"]"),
        (
            "[training]\nc2 = 'much'",
            "2:6: training.c2 should be a number, and is the text \"much\"",
        ),
        (
            "[features]\nkind = 'word'",
            "1:1: features should be a list, and is a table",
        ),
        (
            "features = [\n{ kind = 'word' },\n{ kind = 'position', of = 'documnt' },\n]",
            "3:27: unknown value 'documnt' of features[1].of, did you mean 'document'?",
        ),
        (
            "[[postprocess]]\nkind = 'confidence'\nmin = 0.5",
            "3:1: unknown key 'min' in postprocess[0], did you mean 'threshold'?",
        ),
        ("window = \n", "1:10: "),
        (
            "zzzzz = 1",
            "1:1: unknown key 'zzzzz' in the config; known are data, description",
        ),
    ] {
        let found = problem(text);
        assert!(found.starts_with(expected), "{text}\n{found}\n{expected}");
    }
}

#[test]
fn schemes_have_the_names_of_the_command_line() {
    for (name, scheme) in [("bio", "iob2"), ("bioes", "iobes"), ("bilou", "iobes")] {
        let config = Config::parse(&format!("[labels]\nscheme = '{name}'"), &[]).unwrap();
        assert!(
            config.to_toml().contains(&format!("scheme = \"{scheme}\"")),
            "{name}"
        );
    }
}

#[test]
fn of_several_mistakes_the_first_is_told() {
    for (text, expected) in [
        (
            "features = [{ kind = 'wrd' }, { kind = 'sufix' }]",
            "1:22: unknown kind 'wrd' in features[0], did you mean 'word'?",
        ),
        (
            "[[features]]\nkind = 'word'\nlowr = true\n[[features]]\nkind = 'word'\nlowwer = true",
            "3:1: unknown key 'lowr' in features[0], did you mean 'lower'?",
        ),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
}

#[test]
fn every_section_knows_its_keys() {
    for (text, expected) in [
        (
            "[data]\ntrian = []",
            "2:1: unknown key 'trian' in data, did you mean 'train'?",
        ),
        (
            "[data.read]\nlabel_name = []",
            "2:1: unknown key 'label_name' in data.read, did you mean 'label_names'?",
        ),
        (
            "[text]\nsentences = { mod = 'none' }",
            "2:15: unknown key 'mod' in text.sentences, did you mean 'mode'?",
        ),
        (
            "[text]\ntokenizer = { custm = ['a'] }",
            "2:15: unknown key 'custm' in text.tokenizer, did you mean 'custom'?",
        ),
        (
            "[text]\nnormalize = ['case', { grek = 'name' }]",
            "2:24: unknown key 'grek' in text.normalize[1], did you mean 'greek'?",
        ),
        (
            "[text]\nnormalize = [{ replace = { pair = {} } }]",
            "2:28: unknown key 'pair' in text.normalize[0].replace, did you mean 'pairs'?",
        ),
        (
            "[labels]\ntype = ['X']",
            "2:1: unknown key 'type' in labels, did you mean 'types'?",
        ),
        (
            "[model]\nordr = 1",
            "2:1: unknown key 'ordr' in model, did you mean 'order'?",
        ),
        (
            "[training]\nmax_iteration = 1",
            "2:1: unknown key 'max_iteration' in training, did you mean 'max_iterations'?",
        ),
        (
            "[[postprocess]]\nkind = 'trim'\n[[postprocess]]\nkind = 'confidence'\ntreshold = 0.5",
            "5:1: unknown key 'treshold' in postprocess[1], did you mean 'threshold'?",
        ),
        (
            "[[postprocess]]\nkind = 'stop-list'\nname = ['a']",
            "3:1: unknown key 'name' in postprocess[0], did you mean 'names'?",
        ),
        (
            "[[postprocess]]\nkind = 'stop-list'\ncompare = { ignore_cases = true }",
            "3:13: unknown key 'ignore_cases' in postprocess[0].compare, did you mean 'ignore_case'?",
        ),
        (
            "[[postprocess]]\nkind = 'repeat'\nwithin = { token = 3 }",
            "3:12: unknown key 'token' in postprocess[0].within, did you mean 'tokens'?",
        ),
        (
            "[[postprocess]]\nkind = 'bracket'",
            "2:8: unknown kind 'bracket' in postprocess[0], did you mean 'brackets'?",
        ),
        (
            "[[identify]]\nkind = 'rs-numbers'\nkeyword = []",
            "3:1: unknown key 'keyword' in identify[0], did you mean 'keywords'?",
        ),
        (
            "[[identify]]\nkind = 'dictionary'\nform = { stemm = true }",
            "3:10: unknown key 'stemm' in identify[0].form, did you mean 'stem'?",
        ),
        (
            "[[identify]]\nkind = 'rs-number'",
            "2:8: unknown kind 'rs-number' in identify[0], did you mean 'rs-numbers'?",
        ),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
}

/// What the schema refuses, serde would accept, were a name spelt otherwise there.
#[test]
fn every_key_that_can_be_written_is_known() {
    let text = "
        [text]
        sentences = { mode = 'rules', languages = ['german'], abbreviations = ['o. B.'] }
        tokenizer = { custom = ['[0-9]+'] }
        normalize = ['entities', 'dashes', 'quotes', 'case', { greek = 'letter' }, { unicode = 'nfc' },
            { spelling = 'american' }, { replace = { pairs = { a = 'b' }, words = false, ignore-case = true } }]
        [[postprocess]]
        kind = 'stop-list'
        names = ['a']
        compare = { ignore_case = true, dashes = 'alike', spaces = 'ignore' }
        [[postprocess]]
        kind = 'filter'
        matching = 'a'
        not_matching = 'b'
        max_length = 3
        [[postprocess]]
        kind = 'repeat'
        within = { characters = 4 }
        [[postprocess]]
        kind = 'split'
        at = '/'
        [[postprocess]]
        kind = 'confidence'
        types = { GENE = 0.5 }
        [[identify]]
        kind = 'dictionary'
        names = { iron = ['Fe'] }
        form = { normalize = ['entities'], ph_is_f = false }
        [[identify]]
        kind = 'rs-numbers'
        type = 'RS'
    ";
    let config = Config::parse(text, &[]).unwrap();
    assert_eq!(Config::parse(&config.to_toml(), &[]), Ok(config));
}

#[test]
fn overrides_set_keys_at_any_depth() {
    let text = "[[features]]\nkind = 'prefix'\nlengths = [2]\n";
    let set = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        Config::parse(text, &overrides).map_err(|error| error.to_string())
    };
    let config = set(&[
        "training.c2=0.5",
        "model.order=2",
        "features[0].lengths=[3, 4]",
        "text.tokenizer=fine",
        "features.0.lower=true",
    ])
    .unwrap();
    assert_eq!(config.training.c2, Some(0.5));
    assert_eq!(config.model.order, 2);
    assert_eq!(config.text.tokenizer.to_string(), "fine");
    assert!(
        config.to_toml().contains("lengths = [3, 4]"),
        "{}",
        config.to_toml()
    );
    for (text, expected) in [
        ("training.c3=1", "unknown key 'c3' in training"),
        ("training", "not of the form"),
        ("training..c2=1", "no path"),
        ("features[7].lower=true", "entry 7 of a list with 1"),
        ("features.7.lower=true", "entry 7 of a list with 1"),
        (
            "features.lower=true",
            "name an entry by its number, from 0, as in features[3].lengths",
        ),
        ("window.size=1", "-o window.size=1: "),
        (
            "model.order=many",
            "-o model.order=many: model.order should be a whole number from 0, and is the text \"many\"",
        ),
        (
            "features[0].lengts=[1]",
            "unknown key 'lengts' in features[0], did you mean 'lengths'?",
        ),
        (
            "postprocess=[{kind='brackets', quote=true}]",
            "unknown key 'quote' in postprocess[0], did you mean 'quotes'?",
        ),
    ] {
        let error = set(&[text]).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn of_several_overrides_the_wrong_one_is_named() {
    let set = |overrides: [&str; 3]| {
        let overrides: Vec<String> = overrides.map(str::to_owned).to_vec();
        Config::parse("", &overrides).map_err(|error| error.to_string())
    };
    let error = set(["training.c2=1", "training.c1=much", "window=2"]).unwrap_err();
    assert!(
        error.starts_with("-o training.c1=much: training.c1 should be a number"),
        "{error}"
    );
    // Only the whole of them has to make sense.
    let feature = set(["training.c2=1", "text.tokenizer.custom=1", "text.tokenizer=fine"]);
    assert_eq!(feature.unwrap().text.tokenizer.to_string(), "fine");
}

#[test]
fn a_config_survives_its_toml() {
    let text = "name = 'x'\nwindow = 2\n[labels]\nscheme = 'iobes'\n[training]\nc2 = 0.1\n[[features]]\nkind = 'word'\nlower = true\n";
    let config = Config::parse(text, &[]).unwrap();
    assert_eq!(Config::parse(&config.to_toml(), &[]), Ok(config));
}

//! Reads any bytes as every kind of word list and uses what it gets: an error with a line, or a list that comes out
//! of a file as it went in.

#![no_main]

use fieldmark_text::Source;
use fieldmark_text::dictionaries::{
    ClassFormat, Dictionary, DictionaryOptions, Fold, Hierarchy, HierarchyFormat, PolarityLexicon,
    WordClasses,
};
use fieldmark_text::tokenize::{Tokenizer, TokenizerProfile};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};

fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

fn options(choice: u8) -> DictionaryOptions {
    let fold = |choice: u8| [Fold::Exact, Fold::Alike, Fold::Ignore][usize::from(choice % 3)];
    DictionaryOptions {
        ignore_case: choice & 1 == 1,
        dashes: fold(choice / 2),
        spaces: fold(choice / 6),
    }
}

fn use_dictionary(names: &Dictionary) {
    assert!(again(names) == *names);
    let lines: Vec<&str> = names.entries().map(|(name, _)| name).collect();
    for name in &lines {
        let found = names.get(name).unwrap();
        assert!(names.names(found).any(|other| other == *name));
    }
    let text = lines.join(" ");
    let tokens = Tokenizer::new(TokenizerProfile::Fine).tokenize(&text);
    let mut end = 0;
    names.for_each_match(&text, &tokens, |range, name| {
        assert!(end <= range.start && range.start < range.end && range.end <= tokens.len());
        end = range.end;
        names.identifiers(name).for_each(drop);
    });
}

fuzz_target!(|data: &[u8]| {
    let [choice, bytes @ ..] = data else { return };
    let source = Source::Memory {
        name: "list".to_owned(),
        bytes: bytes.to_vec(),
    };
    match choice % 7 {
        0 => match PolarityLexicon::read(&source) {
            Ok(lexicon) => assert!(again(&lexicon) == lexicon),
            Err(error) => drop(error.to_string()),
        },
        format @ (1 | 2) => {
            let format = [ClassFormat::Pairs, ClassFormat::Brown][usize::from(format - 1)];
            if let Ok(classes) = WordClasses::read(&source, format) {
                assert!(again(&classes) == classes);
                for (word, class) in classes.iter() {
                    assert!(classes.classes(word).eq(class.split('\t')));
                    assert!(classes.prefixes(word, 2).count() > 0);
                }
            }
        }
        format @ (3..=5) => {
            let formats = [
                HierarchyFormat::Pairs,
                HierarchyFormat::Obo,
                HierarchyFormat::Mrrel,
            ];
            if let Ok(hierarchy) = Hierarchy::read(&source, formats[usize::from(format - 3)]) {
                assert!(again(&hierarchy) == hierarchy);
                // A name with a line break in it is refused.
                let Ok(names) = hierarchy.dictionary(options(choice / 7)) else {
                    return;
                };
                use_dictionary(&names);
                for (_, mut ids) in names.entries() {
                    let term = hierarchy.get(ids.next().unwrap()).unwrap();
                    hierarchy.ancestors_at_depth(term, 2);
                    hierarchy.ancestors_above(term, 3);
                }
            }
        }
        _ => {
            if let Ok(names) = Dictionary::read(&source, options(choice / 7)) {
                use_dictionary(&names);
            }
        }
    }
});

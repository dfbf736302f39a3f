use super::*;
use crate::project::{Assertion, Borders};
use fieldmark::core::random::SplitMix64;

const LENGTH: usize = 6;

fn map() -> LabelMap {
    LabelMap::new([(7, "X".to_owned()), (9, "Y".to_owned())])
}

/// A sentence in words like `x..` for exact spans, each `.` goes on; `p` and `q` for open tokens of both types, `o` for
/// outside, `-` for nothing, `c` for cleared.
fn cells(words: &str) -> Vec<Cell> {
    let sentence = 0..words.len();
    let mut cells = vec![Cell::default(); words.len()];
    let bytes = words.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let more = bytes[at + 1..].iter().take_while(|&&next| next == b'.').count();
        let (kind, borders) = match byte {
            b'x' => (Some(7), Borders::Exact),
            b'y' => (Some(9), Borders::Exact),
            b'p' => (Some(7), Borders::Open),
            b'q' => (Some(9), Borders::Open),
            b'o' => (None, Borders::Exact),
            b'c' => {
                cells[at].said = Said::Cleared;
                continue;
            }
            _ => continue,
        };
        let assertion = Assertion {
            start: at as u32,
            end: (at + 1 + more) as u32,
            kind,
            borders,
        };
        cells::assert(&mut cells, std::slice::from_ref(&sentence), &assertion);
    }
    cells
}

/// What cells say, in the same words.
fn words(cells: &[Cell]) -> String {
    let letter = |cell: &Cell| match cell.said {
        Said::Nothing => '-',
        Said::Cleared => 'c',
        Said::Outside => 'o',
        Said::Begin(7) => 'x',
        Said::Begin(_) => 'y',
        Said::Inside(_) => '.',
        Said::Part(7) => 'p',
        Said::Part(_) => 'q',
    };
    cells.iter().map(letter).collect()
}

fn laid_under(above: &str, below: &str) -> String {
    let mut all = cells(above);
    under(&mut all, &cells(below));
    words(&all)
}

/// The labels of people, or of `!` and what was decided, or of `<` and what a sentence came with.
fn shown(layers: &[&str]) -> String {
    let (mut people, mut adjudicated, mut import) = (Vec::new(), None, None);
    for layer in layers {
        match layer.as_bytes()[0] {
            b'!' => adjudicated = Some(cells(&layer[1..])),
            b'<' => import = Some(cells(&layer[1..])),
            _ => people.push(cells(layer)),
        }
    }
    let length = layers[0].trim_start_matches(['!', '<']).len();
    let people: Vec<&[Cell]> = people.iter().map(Vec::as_slice).collect();
    let all = labels(adjudicated.as_deref(), &people, import.as_deref(), length, &map());
    let names = ["O", "Bx", "Ix", "By", "Iy"];
    let word = |labels: &Labels| match labels {
        Labels::Open => "?".to_owned(),
        Labels::Limited(set) => {
            let gone = (0..5).filter(|label| !set.contains(label));
            format!("!{}", gone.map(|label| names[label as usize]).collect::<String>())
        }
        Labels::Answered(set) => {
            let set: Vec<&str> = set.iter().map(|&label| names[label as usize]).collect();
            set.join("|")
        }
    };
    all.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn open_answers_agree_with_an_exact_span() {
    assert_eq!(laid_under("--p---", "-x..--"), "-x..--");
    assert_eq!(laid_under("-x..--", "--p---"), "-x..--");
    assert_eq!(laid_under("-ppp--", "-xx.--"), "-xx.--");
    assert_eq!(shown(&["--p---", "-x..--"]), "? Bx Ix Ix !Ix ?");
    assert_eq!(shown(&["-x..--", "<--p---"]), "? Bx Ix Ix !Ix ?");
    // An open token behind a span is the first of the next one.
    assert_eq!(shown(&["---p--", "-x.---"]), "? Bx Ix Bx ? ?");
    assert_eq!(laid_under("--q---", "-x..--"), "--q---", "another type");
}

#[test]
fn a_span_that_is_contradicted_is_given_up() {
    assert_eq!(laid_under("--o---", "-x..--"), "--o---");
    assert_eq!(shown(&["--o---", "<ox..oo"]), "O ? O ? O O");
    assert_eq!(
        shown(&["-o----", "<ox..oo"]),
        "O O ? ? O O",
        "nothing goes on after outside"
    );
    assert_eq!(laid_under("-x.---", "-x..--"), "-x.---", "it ends before");
    assert_eq!(laid_under("--x.--", "-x..--"), "--x.--", "it begins later");
    assert_eq!(laid_under("-x..--", "-x.---"), "-x..--");
    assert_eq!(laid_under("--c---", "-x..o-"), "--c-o-");
    // What is left of a span whose end was cleared has an open end.
    let mut open = cells("-x..--");
    cells::clear(&mut open, std::slice::from_ref(&(0..LENGTH)), 3..4);
    let mut all = cells("-x..--");
    under(&mut all, &open);
    assert_eq!(words(&all), "-x..--");
    let mut all = open;
    all[3].said = Said::Nothing;
    under(&mut all, &cells("-x..--"));
    assert_eq!(words(&all), "-x..--");
}

#[test]
fn what_somebody_cleared_is_not_imported() {
    assert_eq!(shown(&["-ccc--", "<ox..oo"]), "O ? ? ? O O");
    assert_eq!(
        shown(&["--c---", "<ox..oo"]),
        "O ? ? ? O O",
        "a span with a hole is none"
    );
    assert_eq!(
        shown(&["-ccc--", "-x----", "<ox..oo"]),
        "O Bx !Ix ? O O",
        "others may know it"
    );
    assert_eq!(
        shown(&["!-ccc--", "-x..--", "<ox..oo"]),
        "O ? ? ? O O",
        "but not after a decision"
    );
}

#[test]
fn people_who_differ_leave_a_choice() {
    assert_eq!(shown(&["-x----", "-o----"]), "? O|Bx ? ? ? ?");
    assert_eq!(shown(&["-x----", "-x----"]), "? Bx !Ix ? ? ?");
    assert_eq!(shown(&["-x.---", "-oo---"]), "? O|Bx O|Ix ? ? ?");
    // One of them is right about all of it: nobody can tell the first token.
    assert_eq!(shown(&["-x..--", "--o---"]), "? ? O|Ix ? ? ?");
    assert_eq!(shown(&["-x.---", "-x..--"]), "? Bx Ix ? ? ?");
    assert_eq!(shown(&["-x.o--", "-x..--"]), "? Bx Ix O|Ix ? ?");
    // Somebody who is not part of it is heard.
    assert_eq!(shown(&["-x.---", "-oo---", "---o-p"]), "? O|Bx O|Ix O ? Bx|Ix");
    assert_eq!(shown(&["-x.---", "-oo---", "<--xo--"]), "? O|Bx O|Ix O ? ?");
    assert_eq!(
        shown(&["!-x.---", "-oo---", "-xx---"]),
        "? Bx Ix !Ix ? ?",
        "what is decided holds"
    );
}

#[test]
fn borders_and_types_are_disputes() {
    let found = |one: &str, other: &str| {
        let (one, other) = (cells(one), cells(other));
        let all = disputes(&[&one, &other], &map());
        let words = all
            .iter()
            .map(|dispute| format!("{:?}{:?}", dispute.range, dispute.tokens));
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("-x.---", "-x..--"), "1..4[3]");
    assert_eq!(found("-x..--", "-x.---"), "1..4[3]");
    assert_eq!(found("--x.--", "-x..--"), "1..4[2]");
    assert_eq!(found("-x----", "-y----"), "1..2[1]");
    assert_eq!(found("xx.---", "x.xo--"), "0..3[1, 2]", "chains are one conflict");
    assert_eq!(found("-x.---", "-pp---"), "");
    assert_eq!(
        found("-ppp--", "--o---"),
        "2..3[2]",
        "open tokens are said one by one"
    );
    assert_eq!(found("-x.---", "---p--"), "");
    assert_eq!(found("-c----", "-x----"), "");
    assert_eq!(found("xo----", "o--x--"), "0..1[0]");
}

fn random_layer(random: &mut SplitMix64) -> Vec<Cell> {
    let sentence = 0..LENGTH;
    let mut cells = vec![Cell::default(); LENGTH];
    for _ in 0..random.below(4) {
        let start = random.below(LENGTH as u32);
        let end = start + 1 + random.below(LENGTH as u32 - start).min(3);
        let sentences = std::slice::from_ref(&sentence);
        if random.below(6) == 0 {
            cells::clear(&mut cells, sentences, start as usize..end as usize);
            continue;
        }
        let assertion = Assertion {
            start,
            end,
            kind: [None, Some(7), Some(9)][random.below(3) as usize],
            borders: [Borders::Exact, Borders::Open][random.below(2) as usize],
        };
        cells::assert(&mut cells, sentences, &assertion);
    }
    cells
}

/// Whether a label can stand after another.
fn may_follow(before: Option<u32>, label: u32) -> bool {
    let goes_on = label != 0 && label.is_multiple_of(2);
    !goes_on || before.is_some_and(|before| before == label || before + 1 == label)
}

#[test]
fn whatever_is_said_labels_are_legal() {
    let map = map();
    let all_labels: Vec<u32> = (0..map.len() as u32).collect();
    let mut random = SplitMix64(5);
    for case in 0..20_000 {
        let layers: Vec<Vec<Cell>> = (0..5).map(|_| random_layer(&mut random)).collect();
        let layer = |at: usize, there: bool| there.then_some(layers[at].as_slice());
        let people: Vec<&[Cell]> = layers[..1 + random.below(3) as usize]
            .iter()
            .map(Vec::as_slice)
            .collect();
        let (adjudicated, import) = (layer(3, random.below(2) == 0), layer(4, random.below(2) == 0));
        let sets = labels(adjudicated, &people, import, LENGTH, &map);
        // Every label of an answer has one before it, and there is a whole sequence.
        let mut reached: Vec<Option<u32>> = vec![None];
        for labels in &sets {
            let set = labels.set().unwrap_or(&all_labels);
            assert!(!set.is_empty(), "{case}");
            let can = |label: &&u32| reached.iter().any(|&before| may_follow(before, **label));
            if let Labels::Answered(set) = labels {
                assert!(set.iter().all(|label| can(&label)), "{case}: {sets:?}");
            }
            reached = set.iter().filter(can).map(|&label| Some(label)).collect();
            assert!(!reached.is_empty(), "{case}: {sets:?}");
        }
        // What is decided holds, and so does what nobody contradicts.
        for (at, cell) in adjudicated.into_iter().flatten().enumerate() {
            match cell.said {
                Said::Nothing => {}
                Said::Cleared => assert!(!matches!(sets[at], Labels::Answered(_)), "{case}: {sets:?}"),
                said => {
                    let own = sets[at].set().unwrap();
                    assert!(
                        own.iter().all(|&label| map.kind_of(label) == said.kind()),
                        "{case}"
                    );
                }
            }
        }
        if let ([only], None) = (people.as_slice(), adjudicated) {
            for (own, all) in cells::labels(only, &map).iter().zip(&sets) {
                if let (Labels::Answered(own), Some(all)) = (own, all.set()) {
                    assert!(all.iter().all(|label| own.contains(label)), "{case}");
                }
            }
        }
    }
}

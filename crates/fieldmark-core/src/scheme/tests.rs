use super::*;
use proptest::prelude::*;

#[test]
fn labels_are_taken_apart_at_the_first_dash() {
    assert_eq!(Tag::parse("O"), Tag::Outside);
    assert_eq!(Tag::parse("B-NP"), Tag::Part(Prefix::Begin, "NP"));
    assert_eq!(Tag::parse("I-a-b"), Tag::Part(Prefix::Inside, "a-b"));
    assert_eq!(Tag::parse("L-X"), Tag::parse("E-X"));
    assert_eq!(Tag::parse("U-X"), Tag::parse("S-X"));
    assert_eq!(Tag::parse("B"), Tag::Part(Prefix::Begin, ""));
    for other in ["", "NN", "-LRB-", "O-X", "Bx-NP", "b-NP"] {
        assert_eq!(Tag::parse(other), Tag::Other(other));
    }
}

#[test]
fn schemes_are_told_apart() {
    assert_eq!(Scheme::detect(["O", "I-X"]), Some(Scheme::Io));
    assert_eq!(Scheme::detect(["O", "I-X", "I-Y", "B-Y"]), Some(Scheme::Iob1));
    assert_eq!(Scheme::detect(["O", "B-X", "I-Y", "B-Y"]), Some(Scheme::Iob2));
    assert_eq!(Scheme::detect(["O", "B-X", "L-X", "U-X"]), Some(Scheme::Iobes));
    assert_eq!(Scheme::detect(["NN", "DT", "O"]), None);
    assert_eq!(Scheme::detect(["O"]), None);
    let iob1 = [["O", "I-X", "B-X"], ["I-X", "O", "O"]];
    assert_eq!(Scheme::detect(iob1.iter().flatten()), Some(Scheme::Iob2));
    assert_eq!(Scheme::detect_in(iob1), Some(Scheme::Iob1));
    assert_eq!(Scheme::detect_in([["O", "B-X", "I-X"]]), Some(Scheme::Iob2));
    for scheme in Scheme::ALL {
        assert_eq!(scheme.to_string().parse(), Ok(scheme));
    }
    assert!("IOB3".parse::<Scheme>().unwrap_err().to_string().contains("IOB3"));
}

#[test]
fn strict_spans_drop_what_the_scheme_does_not_know() {
    let labels = ["I-X", "O", "B-X", "I-Y", "B-X", "I-X"];
    let x = |start, end| Span::new(start, end, "X");
    assert_eq!(
        Scheme::Iob2.spans(&labels),
        [x(0, 1), x(2, 3), Span::new(3, 4, "Y"), x(4, 6)]
    );
    assert_eq!(Scheme::Iob2.strict_spans(&labels), [x(2, 3), x(4, 6)]);
    assert_eq!(
        Scheme::Iob1.strict_spans(&labels),
        [x(0, 1), Span::new(3, 4, "Y")]
    );
    assert_eq!(Scheme::Iob1.strict_spans(&["I-X", "B-X"]), [x(0, 1), x(1, 2)]);
    assert_eq!(Scheme::Io.strict_spans(&["I-X", "I-X", "B-Y"]), [x(0, 2)]);
    let labels = ["B-X", "I-X", "O", "B-X", "E-X", "E-X", "S-X", "I-X", "E-X"];
    assert_eq!(Scheme::Iobes.strict_spans(&labels), [x(3, 5), x(6, 7)]);
}

#[test]
fn spans_that_cannot_be_written_are_refused() {
    let write = |spans: &[Span<'_>]| Scheme::Iob2.labels_of(spans, 3);
    let x = |start, end| Span::new(start, end, "X");
    assert_eq!(write(&[x(1, 1)]), Err(SpanError::Empty { start: 1, end: 1 }));
    assert_eq!(
        write(&[x(2, 4)]),
        Err(SpanError::Beyond {
            start: 2,
            end: 4,
            length: 3
        })
    );
    assert_eq!(
        write(&[x(1, 3), x(0, 2)]),
        Err(SpanError::Overlap {
            start: 0,
            end: 2,
            position: 1
        })
    );
}

/// For every label sequence of length 4 over two types: it has no violation exactly if it is what the
/// encoder writes for some set of spans, which is if it is what the encoder writes for its own spans.
#[test]
fn legal_sequences_are_exactly_those_that_the_encoder_writes() {
    let labels = ["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y"];
    for code in 0..labels.len().pow(4) {
        let sequence: Vec<&str> = (0..4)
            .map(|place| labels[code / labels.len().pow(place) % labels.len()])
            .collect();
        for scheme in [Scheme::Iob1, Scheme::Iob2, Scheme::Iobes] {
            let written = scheme.labels_of(&scheme.spans(&sequence), 4).unwrap();
            let legal = scheme.violations(&sequence).is_empty();
            assert_eq!(legal, written == sequence, "{scheme} {sequence:?}");
            if legal {
                assert_eq!(scheme.strict_spans(&sequence), scheme.spans(&sequence));
            }
        }
    }
}

#[test]
fn forbidden_pairs_are_those_that_are_not_allowed() {
    let labels: Alphabet = ["B-X", "I-X", "O", "I-Y", "NN"].into_iter().collect();
    let forbidden = Scheme::Iob2.forbidden_pairs(&labels);
    assert_eq!(forbidden.starts, [1, 3]);
    assert_eq!(forbidden.ends, [] as [u32; 0]);
    assert_eq!(
        forbidden.pairs,
        [(0, 3), (1, 3), (2, 1), (2, 3), (3, 1), (4, 1), (4, 3)]
    );
    let labels: Alphabet = ["B-X", "E-X", "S-X", "O"].into_iter().collect();
    let forbidden = Scheme::Iobes.forbidden_pairs(&labels);
    assert_eq!((forbidden.starts, forbidden.ends), (vec![1], vec![0]));
    assert_eq!(forbidden.pairs, [(0, 0), (0, 2), (0, 3), (1, 1), (2, 1), (3, 1)]);
    assert_eq!(Scheme::Io.forbidden_pairs(&labels), Forbidden::default());
}

fn arbitrary_spans() -> impl Strategy<Value = (usize, Vec<Span<'static>>)> {
    let kind = prop::sample::select(vec!["X", "Y-Z", "", "O", "B-"]);
    let pieces = prop::collection::vec((0usize..3, 1usize..5, kind), 0..12);
    (pieces, 0usize..3).prop_map(|(pieces, tail)| {
        let mut spans = Vec::new();
        let mut end = 0;
        for (gap, length, kind) in pieces {
            let start = end + gap;
            end = start + length;
            spans.push(Span::new(start, end, kind));
        }
        (end + tail, spans)
    })
}

proptest! {
    #[test]
    fn written_spans_are_read_back((length, spans) in arbitrary_spans()) {
        for scheme in Scheme::ALL {
            let labels = scheme.labels_of(&spans, length).unwrap();
            prop_assert_eq!(scheme.violations(&labels), [] as [usize; 0]);
            let mut expected = spans.clone();
            if scheme == Scheme::Io {
                expected.dedup_by(|next, span| {
                    let melts = span.end == next.start && span.kind == next.kind;
                    if melts { span.end = next.end; }
                    melts
                });
            }
            prop_assert_eq!(&scheme.spans(&labels), &expected);
            prop_assert_eq!(&scheme.strict_spans(&labels), &expected);
        }
    }
}

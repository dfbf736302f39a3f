use super::*;

#[test]
fn values_appear_with_the_first_one_that_is_not_one() {
    let mut builder = DatasetBuilder::new();
    builder.observe(3, 1.0);
    builder.end_position(Gold::Known(0)).unwrap();
    builder.observe(4, 0.5);
    builder.observe(5, 1.0);
    builder.end_position(Gold::Unknown).unwrap();
    builder.end_position(Gold::Ambiguous(&[2, 1, 2])).unwrap();
    let data = builder.finish();
    assert_eq!(data.len(), 1);
    assert_eq!(data.unary.values(0), Some(&[1.0][..]));
    assert_eq!(data.unary.iter(1).collect::<Vec<_>>(), [(4, 0.5), (5, 1.0)]);
    assert_eq!(data.unary.ids(2), [0; 0]);
    assert_eq!(data.gold(1), Gold::Unknown);
    assert_eq!(data.gold(2), Gold::Ambiguous(&[1, 2]));
    assert!(data.pair.is_empty() && data.pair.ids(1).is_empty());
}

#[test]
fn pair_observations_may_start_late() {
    let mut builder = DatasetBuilder::new();
    for t in 0..4 {
        if t == 2 {
            builder.observe_pair(7, 1.0);
        }
        builder.end_position(Gold::Known(0)).unwrap();
    }
    let data = builder.finish();
    let rows: Vec<Vec<u32>> = (0..4).map(|t| data.pair.ids(t).to_vec()).collect();
    assert_eq!(rows, [vec![], vec![], vec![7], vec![]]);
}

#[test]
fn many_observations_at_once_are_the_same_as_one_by_one() {
    let (mut one_by_one, mut at_once) = (DatasetBuilder::new(), DatasetBuilder::new());
    for value in [1.0, 0.5, 1.0] {
        for name in ["a", "b", "a"] {
            let id = one_by_one.observations.intern(name);
            one_by_one.observe(id, 1.0);
        }
        at_once.observe_names(&["a", "b"]);
        at_once.observe_all(&[0]);
        one_by_one.observe(1, value);
        at_once.observe(1, value);
        one_by_one.end_position(Gold::Unknown).unwrap();
        at_once.end_position(Gold::Unknown).unwrap();
    }
    assert_eq!(one_by_one.finish(), at_once.finish());
}

#[test]
fn parts_make_the_same_data_set_as_one_go() {
    let fill = |builder: &mut DatasetBuilder, step: usize| {
        let names = ["a", "b", "c"].map(|name| builder.observations.intern(&format!("{name}{}", step % 2)));
        let labels = ["X", "Y"].map(|name| builder.labels.intern(name));
        builder.observe(names[step % 3], if step == 4 { 2.0 } else { 1.0 });
        if step >= 3 {
            builder.observe_pair(names[0], 1.0);
        }
        builder.end_position(Gold::Known(labels[step % 2])).unwrap();
        builder.end_position(Gold::Ambiguous(&labels)).unwrap();
        builder.end_position(Gold::Unknown).unwrap();
        builder.end_instance().unwrap();
    };
    let (mut whole, mut appended) = (DatasetBuilder::new(), DatasetBuilder::new());
    for step in 0..7 {
        fill(&mut whole, step);
        let mut part = DatasetBuilder::new();
        fill(&mut part, step);
        appended.append(&part.finish_part()).unwrap();
    }
    appended.append(&DatasetBuilder::new().finish()).unwrap();
    let whole = whole.finish();
    assert_eq!(appended.finish(), whole);

    let mut numbered = DatasetBuilder::with_alphabets(whole.labels.clone(), whole.observations.clone());
    numbered.append_numbered(&whole).unwrap();
    assert_eq!(numbered.finish(), whole);
}

#[test]
fn instances_tile_the_positions() {
    let mut builder = DatasetBuilder::new();
    for _ in 0..2 {
        builder.end_position(Gold::Known(0)).unwrap();
        builder.end_instance().unwrap();
        builder.end_instance().unwrap();
    }
    builder.end_position(Gold::Known(1)).unwrap();
    let data = builder.finish();
    let ranges: Vec<_> = data.instances().map(|instance| instance.positions()).collect();
    assert_eq!(ranges, [0..1, 1..2, 2..3]);
}

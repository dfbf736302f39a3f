//! Inspections tell what is in the model.

use super::ChainModel;
use super::inspect::Transitions;
use super::samples::{Random, model};

#[test]
fn the_strongest_features_are_the_ends_of_the_sorted_list() {
    let mut random = Random::new(31);
    for round in 0..300 {
        let model = model(&mut random);
        let most = random.below(4);
        let inspection = model.inspect(most);
        let structure = model.structure();
        for (id, label) in inspection.labels.iter().enumerate() {
            let mut all: Vec<(f64, String)> = Vec::new();
            for row in 0..structure.unary().rows() as u32 {
                if let Some(feature) = structure.unary().find(row, id as u32) {
                    all.push((
                        model.weights()[feature],
                        model.observations().name(row).to_owned(),
                    ));
                }
            }
            assert_eq!(
                (label.count, &label.label[..]),
                (all.len(), model.labels().name(id as u32))
            );
            all.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap());
            let positive: Vec<_> = all.iter().filter(|one| one.0 > 0.0).take(most).cloned().collect();
            all.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
            let negative: Vec<_> = all.iter().filter(|one| one.0 < 0.0).take(most).cloned().collect();
            let found = |list: &[super::inspect::StateFeature]| -> Vec<(f64, String)> {
                list.iter()
                    .map(|one| (one.weight, one.observation.clone()))
                    .collect()
            };
            assert_eq!(found(&label.strongest.positive), positive, "round {round}");
            assert_eq!(found(&label.strongest.negative), negative, "round {round}");
        }
        check_transitions(&model, &inspection.transitions);
        let sizes = &inspection.sizes;
        assert_eq!(
            sizes.state_weights + sizes.step_weights + sizes.transition_weights + sizes.bias_weights,
            model.weights().len()
        );
        assert!(inspection.steps.positive.iter().all(|step| step.weight > 0.0));
        assert!(!inspection.to_string().contains(['\t', '\r']), "round {round}");
        serde_json::to_string(&inspection).unwrap();
    }
}

fn check_transitions(model: &ChainModel, transitions: &Transitions) {
    let tuples = model.structure().tuples();
    let weights = &model.weights()[model.structure().tuple_weights()];
    match transitions {
        Transitions::None => assert!(tuples.is_empty()),
        Transitions::Table { weights: table, .. } => {
            for (tuple, &weight) in tuples.iter().zip(weights) {
                assert_eq!(table[tuple[0] as usize][tuple[1] as usize], Some(weight));
            }
            assert_eq!(table.iter().flatten().flatten().count(), tuples.len());
        }
        Transitions::Tuples(strongest) => {
            let largest = weights.iter().copied().filter(|&w| w > 0.0).reduce(f64::max);
            if let Some(first) = strongest.positive.first() {
                assert_eq!(Some(first.weight), largest);
            }
        }
    }
}

#[test]
fn more_features_than_are_kept_at_a_time_are_cut_right() {
    let mut text =
        "fieldmark-chain\t1\norder\t0\nstates\tsupported\ntransitions\tsupported\nlabel-bias\tno\n\
        boundaries\tno\nlower-orders\tyes\nmin-freq\t0.0\nmin-instances\t0\n\
        unseen-transitions\tfree\nlabel\tA\n"
            .to_owned();
    for id in 0..1000 {
        let weight = f64::from((id * 7919 + 13) % 1000 - 500);
        text += &format!("state\tw{id}\tA\t{weight:?}\n");
    }
    let model = ChainModel::from_dump((text + "end\n").as_bytes()).unwrap();
    let label = &model.inspect(5).labels[0];
    let weights =
        |list: &[super::inspect::StateFeature]| list.iter().map(|one| one.weight).collect::<Vec<_>>();
    assert_eq!(
        weights(&label.strongest.positive),
        [499.0, 498.0, 497.0, 496.0, 495.0]
    );
    assert_eq!(
        weights(&label.strongest.negative),
        [-500.0, -499.0, -498.0, -497.0, -496.0]
    );
}

#[test]
fn a_person_can_read_it() {
    let text = "fieldmark-chain\t1\norder\t1\nstates\tsupported\ntransitions\tall\nlabel-bias\tyes\n\
        boundaries\tyes\nlower-orders\tyes\nmin-freq\t0.0\nmin-instances\t0\n\
        unseen-transitions\tfree\nlabel\tO\nlabel\tDRUG\n\
        bias\tO\t0.25\nbias\tDRUG\t-0.25\ntuple\tO\tDRUG\t0.5\ntuple\tDRUG\tDRUG\t-1.0\n\
        tuple\t\\start\tO\t0.75\npair\tO\tDRUG\nstate\tw=aspirin\tO\t-1.5\nstate\tw=aspirin\tDRUG\t2.0\n\
        state\tw=took\tO\t1.5\nstep\tafter verb\tO\tDRUG\t0.125\nend\n";
    let model = ChainModel::from_dump(text.as_bytes()).unwrap();
    let text = model.inspect(3).to_string();
    let (sizes, rest) = text.split_once("\nTransitions\n").unwrap();
    assert!(sizes.starts_with("Chain model of order 1, states supported, transitions all\n  labels "));
    let expected = [
        "  from \\ to       O    DRUG  (end)",
        "  O               ·  +0.500      ·",
        "  DRUG            ·  -1.000      ·",
        "  (start)    +0.750       ·      ·",
        "",
        "O: 2 observations, bias +0.250",
        "     +1.500  w=took            -1.500  w=aspirin",
        "",
        "DRUG: 1 observation, bias -0.250",
        "     +2.000  w=aspirin",
        "",
        "Strongest observations of label pairs",
        "     +0.125  after verb  O → DRUG",
    ];
    assert_eq!(rest.lines().collect::<Vec<_>>(), expected);
}

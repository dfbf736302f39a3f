//! Explanations add up to the scores that they explain, and read well.

use super::ChainModel;
use super::explain::Decision;
use super::samples::{Random, model_and_data};
use crate::inference::Constraints;
use fieldmark_core::{DatasetBuilder, Gold};

fn label(model: &ChainModel, name: &str) -> u32 {
    model.labels().get(name).unwrap()
}

/// The score of the best sequence minus that of the one with the runner-up, from inference alone.
fn margin(
    model: &ChainModel,
    instance: fieldmark_core::Instance<'_>,
    chosen: &[u32],
    decision: &Decision,
) -> Option<f64> {
    let mut tagger = model.tagger();
    let mut inference = tagger.load(instance, &Constraints::none()).unwrap();
    let mut other = chosen.to_vec();
    other[decision.position] = label(model, &decision.runner_up.as_ref().unwrap().label);
    let best = inference.log_probability(chosen).unwrap().unwrap();
    // A label that is possible here may still be forbidden between just these neighbours.
    inference
        .log_probability(&other)
        .unwrap()
        .map(|other| best - other)
}

#[test]
fn contributions_add_up_to_the_difference_of_scores() {
    let mut random = Random::new(21);
    let mut decisions = 0;
    for round in 0..150 {
        let (model, data) = model_and_data(&mut random);
        for instance in data.instances() {
            let explanation = model.explain(instance, &Constraints::none(), 2).unwrap();
            let chosen = model.tagger().tag(instance).unwrap().to_vec();
            let mut marginals = Vec::new();
            let mut tagger = model.tagger();
            let mut inference = tagger.load(instance, &Constraints::none()).unwrap();
            inference.marginals(&mut marginals).unwrap();
            let rows = marginals.chunks(model.labels().len());
            assert_eq!(explanation.decisions.len(), instance.len());
            for ((decision, row), &chosen_label) in explanation.decisions.iter().zip(rows).zip(&chosen) {
                assert_eq!(label(&model, &decision.label), chosen_label);
                assert_eq!(decision.probability, row[chosen_label as usize]);
                let listed: f64 = decision.contributions.iter().map(|one| one.difference).sum();
                let all = listed + decision.others.difference;
                assert!(
                    (all - decision.margin).abs() < 1e-9,
                    "round {round}: {decision:?}"
                );
                let sizes: Vec<f64> = decision
                    .contributions
                    .iter()
                    .map(|one| one.difference.abs())
                    .collect();
                assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes.len() <= 2);
                let others = row
                    .iter()
                    .enumerate()
                    .filter(|(id, _)| *id != chosen_label as usize);
                let best_other = others.map(|(_, &p)| p).fold(0.0, f64::max);
                match &decision.runner_up {
                    Some(other) => {
                        assert_eq!(other.probability, best_other);
                        if let Some(expected) = margin(&model, instance, &chosen, decision) {
                            assert!(
                                (decision.margin - expected).abs() < 1e-9,
                                "round {round}: {decision:?}"
                            );
                            decisions += 1;
                        }
                    }
                    None => assert_eq!(best_other, 0.0),
                }
            }
        }
    }
    assert!(decisions > 500, "only {decisions} decisions");
}

#[test]
fn constraints_hold_in_what_is_explained() {
    let mut random = Random::new(22);
    for _ in 0..60 {
        let (model, data) = model_and_data(&mut random);
        let instance = data.instance(0);
        let last = model.labels().len() as u32 - 1;
        let mut constraints = Constraints::none();
        constraints.fix(0, last);
        let Ok(explanation) = model.explain(instance, &constraints, 5) else {
            let allowed = model.structure().allowed_transitions();
            assert!(allowed.is_some(), "only forbidden transitions leave no sequence");
            continue;
        };
        let first = &explanation.decisions[0];
        assert_eq!((label(&model, &first.label), &first.runner_up), (last, &None));
        assert!((first.probability - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_person_can_read_it() {
    let text = "fieldmark-chain\t1\norder\t1\nstates\tsupported\ntransitions\tsupported\nlabel-bias\tyes\n\
        boundaries\tyes\nlower-orders\tyes\nmin-freq\t0.0\nmin-instances\t0\n\
        unseen-transitions\tfree\nlabel\tO\nlabel\tDRUG\n\
        bias\tO\t0.25\nbias\tDRUG\t-0.25\ntuple\tO\tDRUG\t0.5\ntuple\tDRUG\tDRUG\t-1.0\n\
        tuple\t\\start\tO\t0.75\npair\tO\tDRUG\nstate\tw=aspirin\tO\t-1.5\nstate\tw=aspirin\tDRUG\t2.0\n\
        state\tw=took\tO\t1.5\nstep\tafter verb\tO\tDRUG\t0.125\nend\n";
    let model = ChainModel::from_dump(text.as_bytes()).unwrap();
    let mut builder = DatasetBuilder::with_alphabets(Default::default(), model.observations().to_alphabet());
    builder.observe(1, 1.0);
    builder.end_position(Gold::Unknown).unwrap();
    builder.observe(0, 0.5);
    builder.observe_pair(2, 1.0);
    builder.end_position(Gold::Unknown).unwrap();
    let data = builder.finish();
    let explanation = model.explain(data.instance(0), &Constraints::none(), 3).unwrap();
    let explanation = explanation.with_tokens(["took", "aspirin"]);
    assert_eq!(
        explanation.to_string(),
        "\
1  took  O 98.1 %, rather than DRUG 1.9 % (+4.375)
     +1.500  w=took         +1.500 against +0.000
     +1.500  [O] → DRUG     +0.500 against -1.000
     +0.750  (start) → [O]  +0.750 against +0.000
     +0.625  2 more

2  aspirin  DRUG 86.1 %, rather than O 13.9 % (+1.875)
     +1.750  w=aspirin × 0.5    +1.000 against -0.750
     +0.500  O → [DRUG]         +0.500 against +0.000
     -0.500  bias of the label  -0.250 against +0.250
     +0.125  1 more
"
    );
    let json = serde_json::to_value(&explanation).unwrap();
    let strongest = &json["decisions"][1]["contributions"][0];
    assert_eq!(strongest["kind"], "observation");
    assert_eq!(strongest["name"], "w=aspirin");
    assert_eq!(strongest["difference"], 1.75);
}

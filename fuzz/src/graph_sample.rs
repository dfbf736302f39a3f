//! A graph model with templates of every kind to start from, and the use of any graph model.

use fieldmark_core::Gold;
use fieldmark_graph::{
    Description, EngineChoice, ExactOptions, GraphDatasetBuilder, GraphModel, Observe, Per, Relation,
    Relations, Skip, Structure, Template,
};

/// A small model of two chains with skip edges, a variable of the whole instance and forbidden labels.
pub fn sample() -> GraphModel {
    let mut description = Description::hierarchical("all", &["a", "b"], true, false);
    description.templates[0].forbid_unseen = true;
    let skip = Relation::Skip(Skip::same("a", "w="));
    description
        .templates
        .push(Template::new(skip).observe(Observe::Both));
    let mut builder = GraphDatasetBuilder::new(&description);
    let labels = [0, 1, 2].map(|layer| ["x", "y\t"].map(|label| builder.label(layer, label)));
    for position in 0..4 {
        builder
            .observe(&format!("w={}", position % 2), 1.0 + position as f32)
            .unwrap();
        let gold = [Gold::Known(labels[0][position % 2]), Gold::Known(labels[1][position / 2])];
        builder.end_position(&gold).unwrap();
    }
    builder.observe_instance("long", 1.0).unwrap();
    builder.end_instance(&[Gold::Known(labels[2][1])]).unwrap();
    let data = builder.finish();
    let structure = Structure::build(&data, &description, Relations::none()).unwrap();
    let weights: Vec<f64> = (1..=structure.weights()).map(|i| i as f64 / 4.0 - 2.0).collect();
    GraphModel::new(&data, &structure, &weights)
        .unwrap()
        .with_algorithm("lbfgs")
}

/// Tags an instance and asks for marginals: whatever a model is, nothing of this may panic.
pub fn exercise(model: &GraphModel) {
    let mut builder = model.dataset_builder();
    let layers = &model.description().layers;
    let unknown = |per| vec![Gold::Unknown; layers.iter().filter(|layer| layer.per == per).count()];
    let names: Vec<&str> = model.observations().iter().take(20).collect();
    for position in 0..3 {
        for name in names.iter().skip(position) {
            builder.observe(name, 0.5).unwrap();
        }
        builder.end_position(&unknown(Per::Position)).unwrap();
    }
    builder.end_instance(&unknown(Per::Instance)).unwrap();
    let data = builder.finish();
    let instance = data.instance(0);
    // Tables of a few megabytes, so that no input is slow.
    let choice = EngineChoice::Exact(ExactOptions { budget: 1 << 22 });
    let Ok(mut tagger) = model.tagger(&choice) else {
        return;
    };
    if let Ok(decoding) = tagger.tag(instance) {
        for layer in 0..layers.len() + 1 {
            for position in 0..4 {
                let label = tagger.label(instance, &decoding, layer, position);
                let exists = layer < layers.len() && (position < 3 || layers[layer].per == Per::Instance);
                assert_eq!(label.is_some(), exists);
            }
        }
    }
    if let Ok(beliefs) = tagger.marginals(instance) {
        assert!(beliefs.log_z().value().is_some_and(f64::is_finite));
    }
}

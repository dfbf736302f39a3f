use super::*;

fn pair() -> FactorGraphBuilder {
    let mut builder = FactorGraphBuilder::default();
    builder.variable(2).unwrap();
    builder.variable(3).unwrap();
    builder
}

#[test]
fn the_last_variable_of_a_scope_runs_fastest() {
    let mut builder = pair();
    builder
        .factor_with(5, &[1, 0], &[0.0, 1.0, 10.0, 11.0, 20.0, 21.0])
        .unwrap();
    builder.factor_with(6, &[1], &[100.0, 200.0, 300.0]).unwrap();
    let graph = builder.build();
    assert_eq!(graph.score(&[1, 2]).unwrap(), 321.0);
    assert_eq!((graph.template_of(0), graph.template_of(1)), (5, 6));
    assert_eq!(graph.factors_of(1).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(graph.incident(0), [1]);
}

#[test]
fn errors_carry_numbers() {
    let mut builder = pair();
    let table = builder.table(&[2, 3], &[0.0; 6]).unwrap();
    let text = |error: Error| error.to_string();
    assert_eq!(
        text(builder.factor(0, &[1, 0], table).unwrap_err()),
        "factor 0 joins variables with [3, 2] labels, but its table 0 has shape [2, 3]"
    );
    assert_eq!(
        text(builder.table(&[2, 2], &[0.0; 5]).unwrap_err()),
        "a table of shape [2, 2] has 5 scores, expected 4"
    );
    assert_eq!(
        text(builder.table(&[2], &[0.0, f64::NAN]).unwrap_err()),
        "score 1 of table 1 is NaN, expected a number below +∞"
    );
    assert_eq!(
        text(builder.factor_with(0, &[0], &[f64::INFINITY, 0.0]).unwrap_err()),
        "score 0 of table 1 is inf, expected a number below +∞"
    );
    assert_eq!(
        text(builder.factor(0, &[0, 0], table).unwrap_err()),
        "factor 0 joins variable 0 to itself"
    );
    assert_eq!(
        text(builder.factor(0, &[0, 9], table).unwrap_err()),
        "variable 9 does not exist, there are 2 variables"
    );
    assert_eq!(
        text(builder.factor(0, &[], table).unwrap_err()),
        "factor 0 joins no variable"
    );
    assert_eq!(
        text(builder.factor(0, &[0, 1], 3).unwrap_err()),
        "table 3 does not exist, there is 1 table"
    );
    assert_eq!(
        text(builder.forbid(table, &[0, 3]).unwrap_err()),
        "label 3 of side 1 does not exist, there are 3 labels"
    );
    assert_eq!(
        text(builder.variable(0).unwrap_err()),
        "variable 2 has 0 labels and may take none of them"
    );
    builder.factor_with(0, &[0], &[9e299, 0.0]).unwrap();
    assert!(matches!(
        builder.factor_with(0, &[0], &[9e299, 0.0]),
        Err(Error::TooLarge { factors: 2, .. })
    ));
    let graph = builder.build();
    assert_eq!((graph.factors(), graph.tables()), (1, 2));
    assert!(matches!(
        graph.score(&[0]),
        Err(Error::Length {
            found: 1,
            expected: 2
        })
    ));
    assert!(matches!(
        graph.score(&[0, 3]),
        Err(Error::UnknownLabel { label: 3, .. })
    ));
}

#[test]
fn a_recycled_graph_is_like_new() {
    let mut builder = pair();
    let table = builder.table(&[2, 3], &[1.0; 6]).unwrap();
    builder.factor(0, &[0, 1], table).unwrap();
    builder.factor_with(0, &[0], &[1.0, 2.0]).unwrap();
    let mut graph = builder.build();
    graph.clamp(1, 2).unwrap();
    let mut builder = graph.recycle_keeping_tables(1);
    assert_eq!((builder.tables(), builder.variables()), (1, 0));
    builder.variable(2).unwrap();
    builder.variable(3).unwrap();
    builder.variable(3).unwrap();
    builder.forbid(table, &[1, 1]).unwrap();
    builder.factor(0, &[0, 2], table).unwrap();
    let graph = builder.build();
    assert_eq!(graph.score(&[0, 0, 0]).unwrap(), 1.0);
    assert_eq!(graph.score(&[1, 0, 1]).unwrap(), f64::NEG_INFINITY);
    assert!(graph.label_sets().is_full(1));
    assert_eq!(graph.recycle().build().score(&[]).unwrap(), 0.0);
}

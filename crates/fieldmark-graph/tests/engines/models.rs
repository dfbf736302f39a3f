//! The table of small random models that runs through every engine.

use fieldmark_core::random::SplitMix64;
use fieldmark_graph::{FactorGraph, FactorGraphBuilder};

/// A graph with the name of its kind.
pub struct Model {
    pub name: String,
    pub graph: FactorGraph,
    /// Whether it has no cycle.
    pub is_forest: bool,
    /// Whether no table forbids anything.
    pub is_dense: bool,
    /// Largest magnitude of a score.
    pub weight: f64,
}

/// How tables are filled and label sets restricted.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub weight: f64,
    pub forbidden: f64,
    pub restricted: f64,
    pub shared: bool,
    /// Whether scores are whole numbers, so that many labellings tie.
    pub whole: bool,
}

pub const SOFT: Style = Style {
    weight: 2.0,
    forbidden: 0.0,
    restricted: 0.0,
    shared: false,
    whole: false,
};

pub const STYLES: [(&str, Style); 7] = [
    ("soft", SOFT),
    (
        "shared tables",
        Style {
            weight: 1.0,
            shared: true,
            ..SOFT
        },
    ),
    (
        "restricted",
        Style {
            restricted: 0.5,
            ..SOFT
        },
    ),
    (
        "shared and restricted",
        Style {
            restricted: 0.3,
            forbidden: 0.1,
            shared: true,
            ..SOFT
        },
    ),
    (
        "forbidden",
        Style {
            forbidden: 0.25,
            restricted: 0.2,
            ..SOFT
        },
    ),
    (
        "ties",
        Style {
            weight: 1.0,
            forbidden: 0.05,
            whole: true,
            ..SOFT
        },
    ),
    (
        "huge weights",
        Style {
            weight: 1e4,
            forbidden: 0.05,
            restricted: 0.2,
            ..SOFT
        },
    ),
];

/// Scopes of a structure, given its number of variables.
type Structure = (&'static str, u32, bool, Vec<Vec<u32>>);

fn structures(random: &mut SplitMix64) -> Vec<Structure> {
    let pairs = |pairs: &[(u32, u32)]| pairs.iter().map(|&(a, b)| vec![a, b]).collect::<Vec<_>>();
    let mut list: Vec<Structure> = vec![
        ("empty", 0, true, vec![]),
        ("isolated", 3, true, vec![vec![1]]),
        ("chain", 6, true, pairs(&[(0, 1), (2, 1), (2, 3), (3, 4), (5, 4)])),
        ("two trees", 6, true, pairs(&[(0, 1), (0, 2), (4, 3), (4, 5)])),
        ("hub", 8, true, (1..8).map(|leaf| vec![0, leaf]).collect()),
        (
            "tree of cliques",
            7,
            true,
            vec![vec![0, 1, 2], vec![3, 2], vec![4, 3, 5], vec![6, 0]],
        ),
        (
            "cycle",
            5,
            false,
            pairs(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]),
        ),
        ("double edge", 3, false, pairs(&[(0, 1), (0, 1), (1, 2)])),
        ("all pairs", 5, false, all_pairs(5)),
        (
            "cliques in a cycle",
            6,
            false,
            vec![vec![0, 1, 2], vec![2, 3, 4], vec![4, 5, 0], vec![1, 5]],
        ),
        (
            "four at once",
            6,
            false,
            vec![
                vec![0, 1, 2, 3],
                vec![3, 4],
                vec![4, 5],
                vec![5, 0],
                vec![2, 5, 4],
            ],
        ),
        ("hub and chain", 7, false, hub_and_chain(7)),
    ];
    list.push(("grid", 9, false, grid(3, 3)));
    list.push(("factorial", 8, false, factorial(2, 4)));
    let mut skip = factorial(1, 8);
    skip.push(vec![0, 4]);
    skip.push(vec![2 + random.below(2), 7]);
    list.push(("skip chain", 8, false, skip));
    list.push((
        "random tree",
        7,
        true,
        (1..7).map(|child| vec![random.below(child), child]).collect(),
    ));
    list
}

fn all_pairs(n: u32) -> Vec<Vec<u32>> {
    (0..n).flat_map(|a| (a + 1..n).map(move |b| vec![a, b])).collect()
}

fn hub_and_chain(n: u32) -> Vec<Vec<u32>> {
    (1..n)
        .map(|v| vec![v, 0])
        .chain((1..n - 1).map(|v| vec![v, v + 1]))
        .collect()
}

/// Variables by rows.
pub fn grid(rows: u32, columns: u32) -> Vec<Vec<u32>> {
    let at = |row: u32, column: u32| row * columns + column;
    let mut scopes = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            if column + 1 < columns {
                scopes.push(vec![at(row, column), at(row, column + 1)]);
            }
            if row + 1 < rows {
                scopes.push(vec![at(row, column), at(row + 1, column)]);
            }
        }
    }
    scopes
}

/// Variable of chain c at position t: t · chains + c.
pub fn factorial(chains: u32, length: u32) -> Vec<Vec<u32>> {
    grid(length, chains)
}

pub fn scores(random: &mut SplitMix64, count: usize, style: Style) -> Vec<f64> {
    let score = |random: &mut SplitMix64| {
        if random.unit() < style.forbidden {
            f64::NEG_INFINITY
        } else {
            let score = (random.unit() * 2.0 - 1.0) * style.weight;
            if style.whole { score.round() } else { score }
        }
    };
    (0..count).map(|_| score(random)).collect()
}

/// A graph with the given factors, unary factors on most variables, and tables in a style.
pub fn unroll(random: &mut SplitMix64, variables: u32, scopes: &[Vec<u32>], style: Style) -> FactorGraph {
    let mut builder = FactorGraphBuilder::default();
    let labels: Vec<u32> = (0..variables)
        .map(|_| if style.shared { 3 } else { 1 + random.below(3) })
        .collect();
    for &labels in &labels {
        builder.variable(labels).unwrap();
    }
    for variable in 0..variables {
        if random.unit() < 0.8 {
            let soft = Style {
                forbidden: 0.0,
                ..style
            };
            let scores = scores(random, labels[variable as usize] as usize, soft);
            builder.factor_with(0, &[variable], &scores).unwrap();
        }
    }
    let mut shared = [None; 5];
    for scope in scopes {
        let sides: Vec<u32> = scope.iter().map(|&v| labels[v as usize]).collect();
        let size = sides.iter().product::<u32>() as usize;
        if style.shared {
            let table = *shared[scope.len()]
                .get_or_insert_with(|| builder.table(&sides, &scores(random, size, style)).unwrap());
            builder.factor(scope.len() as u32, scope, table).unwrap();
        } else {
            builder
                .factor_with(scope.len() as u32, scope, &scores(random, size, style))
                .unwrap();
        }
    }
    for variable in 0..variables {
        if random.unit() < style.restricted {
            let count = labels[variable as usize];
            let allowed: Vec<u32> = (0..count).filter(|_| random.unit() < 0.6).collect();
            if !allowed.is_empty() {
                builder.restrict(variable, allowed).unwrap();
            }
        }
    }
    builder.build()
}

/// Every structure in every style.
pub fn models(seed: u64) -> Vec<Model> {
    let mut random = SplitMix64(seed);
    let mut models = Vec::new();
    for (style_name, style) in STYLES {
        for (structure, variables, is_forest, scopes) in structures(&mut random) {
            models.push(Model {
                name: format!("{structure}, {style_name}, seed {seed}"),
                graph: unroll(&mut random, variables, &scopes, style),
                is_forest,
                is_dense: style.forbidden == 0.0,
                weight: style.weight,
            });
        }
    }
    models
}

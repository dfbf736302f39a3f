//! Pictures have every variable and factor, are well formed, and no line runs through what it does not belong to.

use super::layout::{Layout, Node, Point, RADIUS, SQUARE};
use super::*;
use crate::describe::Template as Described;
use crate::{
    Description, GraphDataset, GraphDatasetBuilder, Layer, Per, Relation, Relations, Skip, Structure,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Data of one instance with words that repeat, and a model with a weight for each feature.
fn model(description: &Description, length: u32, relations: Relations) -> (GraphDataset, GraphModel) {
    let mut builder = GraphDatasetBuilder::new(description);
    for layer in 0..description.layers.len() {
        (0..3).for_each(|label| {
            builder.label(layer, &format!("L{label}"));
        });
    }
    let count = |per| description.layers.iter().filter(|layer| layer.per == per).count();
    for position in 0..length {
        builder.observe(&format!("w={}", position % 7), 1.0).unwrap();
        let gold = vec![Gold::Known(position % 3); count(Per::Position)];
        builder.end_position(&gold).unwrap();
    }
    builder
        .end_instance(&vec![Gold::Known(1); count(Per::Instance)])
        .unwrap();
    let data = builder.finish();
    let structure = Structure::build(&data, description, relations).unwrap();
    let model = GraphModel::new(&data, &structure, &vec![0.5; structure.weights()]).unwrap();
    (data, model)
}

fn draw(description: &Description, length: u32, options: &DrawOptions) -> Drawing {
    let (data, model) = model(description, length, relations());
    Drawing::new(&model, data.instance(0), options).unwrap()
}

fn relations() -> Relations {
    Relations::none()
        .with("triples", |instance, join| {
            for first in 0..(instance.len() as u32).saturating_sub(2) {
                join(&[first, first + 1, first + 2]);
            }
        })
        .with("corners", |instance, join| {
            for first in 0..(instance.len() as u32).saturating_sub(3) {
                join(&[first, first + 1, first + 3, first]);
            }
        })
        .with("whole", |_, join| join(&[0]))
}

fn custom(name: &str, layers: &[&str]) -> Described {
    Described::new(Relation::Custom {
        name: name.into(),
        layers: layers.iter().map(|&layer| layer.into()).collect(),
    })
}

/// Descriptions of every kind, with a length.
fn kinds() -> Vec<(Description, u32)> {
    let mut triples = Description::factorial(&["a", "b", "c"]);
    triples.templates.push(custom("triples", &["a", "a", "a"]));
    triples.templates.push(custom("corners", &["a", "b", "c", "c"]));
    let mut twice = Description::linear_chain("a");
    for name in ["again", "and again"] {
        twice
            .templates
            .push(Described::new(Relation::Chain("a".into())).named(name));
        twice
            .templates
            .push(Described::new(Relation::Unary("a".into())).named(format!("{name} alone")));
    }
    twice.templates.push(Described::new(Relation::Start("a".into())));
    let mut below = Description::hierarchical("all", &["a", "b", "c"], true, true);
    below.layers.push(Layer {
        name: "more".into(),
        per: Per::Instance,
    });
    below
        .templates
        .push(Described::new(Relation::Between(["all".into(), "more".into()])));
    below
        .templates
        .push(Described::new(Relation::Between(["more".into(), "a".into()])));
    below.templates.push(custom("corners", &["all", "b", "c", "a"]));
    vec![
        (Description::factorial(&["a", "b", "c"]), 8),
        (Description::skip_chain("a", [Skip::same("a", "w=")]), 40),
        (Description::multi_label(&["a", "b", "c", "d"], true), 5),
        (Description::hierarchical("all", &["a", "b"], true, false), 6),
        (triples, 7),
        (twice, 4),
        (below, 5),
        (Description::factorial(&["a", "b"]), 1),
        (Description::hierarchical("all", &["a"], true, false), 0),
        (Description::linear_chain("a"), 0),
    ]
}

#[test]
fn every_variable_and_every_factor_is_in_the_picture() {
    for (description, length) in kinds() {
        let (data, model) = model(&description, length, relations());
        let unroller = Unroller::new(model.structure(), model.weights()).unwrap();
        let graph = unroller.unroll(data.instance(0)).unwrap().into_graph();
        let options = DrawOptions {
            gold: true,
            positions: Some(0..length),
            ..DrawOptions::default()
        };
        let drawing = Drawing::new(&model, data.instance(0), &options).unwrap();
        let svg = elements(&drawing.to_svg());
        let with_class = |class: &str| {
            let classes = svg.iter().filter_map(|element| element.attribute("class"));
            classes
                .filter(|found| found.split(' ').any(|one| one == class))
                .count()
        };
        assert_eq!(with_class("variable"), graph.variables());
        let templates = model.structure().template_names().len();
        assert_eq!(with_class("factor"), graph.factors() + templates);
        for (number, factor) in drawing.factors.iter().enumerate() {
            assert_eq!(factor.scope.len(), graph.scope(number).len());
            assert_eq!(factor.template, graph.template_of(number) as usize);
        }
        let dot = dot_statements(&drawing.to_dot());
        let nodes = |kind: &str| {
            dot.iter()
                .filter(|statement| statement.edge.is_none() && statement.name.starts_with(kind))
                .count()
        };
        assert_eq!(
            (nodes("v"), nodes("f"), nodes("t")),
            (graph.variables(), graph.factors(), templates)
        );
        let edges: Vec<(String, String)> = dot
            .iter()
            .filter_map(|one| Some((one.name.clone(), one.edge.clone()?)))
            .collect();
        let expected: Vec<(String, String)> = (0..graph.factors())
            .flat_map(|factor| graph.scope(factor).iter().map(move |variable| (factor, variable)))
            .map(|(factor, variable)| (format!("f{factor}"), format!("v{variable}")))
            .collect();
        assert_eq!(edges, expected);
    }
}

#[test]
fn no_line_runs_through_a_variable_of_others() {
    for (description, length) in kinds() {
        check_lines(&draw(&description, length, &DrawOptions::default()));
    }
}

fn check_lines(drawing: &Drawing) {
    let layout = Layout::new(drawing);
    for (factor, route) in drawing.factors.iter().zip(&layout.factors) {
        for (variable, node) in layout.nodes.iter().enumerate() {
            let is_bar = matches!(drawing.variables[variable].place, Place::Bar(_));
            if factor.scope.contains(&variable) || is_bar && layout.bars.len() > 1 {
                continue;
            }
            for line in &route.lines {
                for pair in line.windows(2) {
                    assert!(
                        !crosses(pair[0], pair[1], node),
                        "{} runs through {}: {pair:?}, {node:?}",
                        factor.title,
                        drawing.variables[variable].title
                    );
                }
            }
            assert!(!covers(route.square, node), "{}", factor.title);
        }
        // Every variable of the factor is reached.
        for &variable in &factor.scope {
            let node = &layout.nodes[variable];
            let mut ends = route.lines.iter().flatten();
            assert!(ends.any(|&end| covers(end, node)), "{}", factor.title);
        }
        let (x, y) = route.square;
        assert!(x > 0.0 && x < layout.width && y > 0.0 && y < layout.height);
    }
    for (index, one) in layout.factors.iter().enumerate() {
        for other in &layout.factors[..index] {
            let (dx, dy) = (one.square.0 - other.square.0, one.square.1 - other.square.1);
            assert!(
                dx.abs().max(dy.abs()) > SQUARE,
                "{} lies on another",
                drawing.factors[index].title
            );
        }
    }
}

/// Whether a line comes into the box of a node.
fn crosses(from: Point, to: Point, node: &Node) -> bool {
    let steps = 400;
    (0..=steps).any(|step| {
        let share = f64::from(step) / f64::from(steps);
        let point = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
        covers(point, node)
    })
}

fn covers((x, y): Point, node: &Node) -> bool {
    (x - node.middle.0).abs() < node.half_width && (y - node.middle.1).abs() < RADIUS
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn relations_of_any_shape_are_drawn_around_variables(
        factors in vec(vec((0usize..5, 0u32..6), 1..5), 1..12),
    ) {
        let names = ["a", "b", "c", "d", "all"];
        let mut description = Description::default();
        for name in names {
            let per = if name == "all" { Per::Instance } else { Per::Position };
            description.layers.push(Layer { name: name.into(), per });
        }
        let mut relations = Relations::none();
        for (number, factor) in factors.iter().enumerate() {
            let mut scope: Vec<(usize, u32)> =
                factor.iter().map(|&(layer, position)| (layer, if layer == 4 { 0 } else { position })).collect();
            scope.sort_unstable();
            scope.dedup();
            let name = format!("relation {number}");
            let layers: Vec<&str> = scope.iter().map(|one| names[one.0]).collect();
            description.templates.push(custom(&name, &layers).named(&name));
            let positions: Vec<u32> = scope.iter().map(|one| one.1).collect();
            relations = relations.with(&name, move |_, join| join(&positions));
        }
        let (data, model) = model(&description, 6, relations);
        let drawing = Drawing::new(&model, data.instance(0), &DrawOptions::default()).unwrap();
        prop_assert_eq!(drawing.factors.len(), factors.len());
        check_lines(&drawing);
    }

    #[test]
    fn names_may_be_anything(
        layer in ".{1,12}", label in "(<|>|&|\"|\\\\|\n|\u{1}|'|ä|\\]\\]>|x){1,8}", token in ".{0,9}",
    ) {
        let description = Description::linear_chain(&layer);
        let mut builder = GraphDatasetBuilder::new(&description);
        let gold = builder.label(0, &label);
        builder.observe("w", 1.0).unwrap();
        builder.end_position(&[Gold::Known(gold)]).unwrap();
        builder.end_instance(&[]).unwrap();
        let data = builder.finish();
        let structure = Structure::build(&data, &description, Relations::none()).unwrap();
        let model = GraphModel::new(&data, &structure, &vec![1.0; structure.weights()]).unwrap();
        let options = DrawOptions { gold: true, tokens: vec![token.clone()], ..DrawOptions::default() };
        let drawing = Drawing::new(&model, data.instance(0), &options).unwrap();
        let title = format!("{layer} at 1{}: gold {label}", match &token[..] {
            "" => String::new(),
            token => format!(" ({token})"),
        });
        let clean = |text: &str, space: &[char]| -> String {
            let replace = |symbol: char| match symbol {
                symbol if space.contains(&symbol) => ' ',
                '\n' => '\n',
                symbol if symbol.is_control() || matches!(symbol, '\u{fffe}' | '\u{ffff}') && space.len() > 1 => '\u{fffd}',
                symbol => symbol,
            };
            text.chars().map(replace).collect()
        };
        let svg = elements(&drawing.to_svg());
        let expected = clean(&title, &['\t', '\n', '\r']);
        prop_assert!(svg.iter().any(|element| element.name == "title" && element.text == expected));
        let dot = dot_statements(&drawing.to_dot());
        let expected = clean(&title, &['\t']);
        let found = dot.iter().find(|one| one.name == "v0").unwrap();
        prop_assert_eq!(&found.attributes.iter().find(|one| one.0 == "tooltip").unwrap().1, &expected);
    }
}

#[test]
fn a_long_instance_is_shown_in_part_and_says_so() {
    let description = Description::skip_chain("a", [Skip::same("a", "w=")]);
    let drawing = draw(&description, 50, &DrawOptions::default());
    assert_eq!((drawing.columns.len(), drawing.variables.len()), (40, 40));
    // Words repeat every seven positions: every pair of the same word, and one step, from the part to the rest.
    let rest = |first: u32| {
        (0..first)
            .map(|at| ((first..50).filter(|to| to % 7 == at % 7)).count())
            .sum::<usize>()
    };
    let beyond = rest(40) + 1;
    assert_eq!(
        drawing.caption,
        format!("instance 1: positions 1–40 of 50; {beyond} factors that lead to others are not drawn")
    );
    assert!(drawing.to_svg().contains(&drawing.caption) && drawing.to_dot().contains(&drawing.caption));
    let options = DrawOptions {
        positions: Some(45..50),
        ..DrawOptions::default()
    };
    let drawing = draw(&description, 50, &options);
    assert_eq!(drawing.columns[0].number, 46);
    assert_eq!(drawing.factors.len(), 5 + 4);
    assert!(drawing.caption.starts_with("instance 1: positions 46–50 of 50"));
    let width = Layout::new(&drawing).width;
    assert!(width < 800.0, "{width}");
    let all_but_one = DrawOptions {
        positions: Some(0..3),
        ..DrawOptions::default()
    };
    let drawing = draw(&Description::linear_chain("a"), 4, &all_but_one);
    assert_eq!(
        drawing.caption,
        "instance 1: positions 1–3 of 4; 1 factor that leads to others is not drawn"
    );
}

#[test]
fn labels_and_scores_are_told() {
    let description = Description::factorial(&["a", "b"]);
    let options = DrawOptions {
        labels: vec![0, 1, 1, 2],
        tokens: vec!["one".into(), "other".into()],
        gold: true,
        ..DrawOptions::default()
    };
    let drawing = draw(&description, 2, &options);
    let shown: Vec<(&str, bool)> = drawing
        .variables
        .iter()
        .map(|one| (&one.text[..], one.differs))
        .collect();
    assert_eq!(shown, [("L0", false), ("L1", true), ("L1", false), ("L2", true)]);
    assert_eq!(drawing.variables[1].title, "b at 1 (one): L1, gold L0");
    assert!(
        drawing
            .caption
            .ends_with("; dashed: not the gold label, which stands below")
    );
    let svg = elements(&drawing.to_svg());
    let gold = svg.iter().filter(|element| {
        let classes = element.attribute("class").unwrap_or("");
        classes.split(' ').any(|class| class == "gold")
    });
    assert_eq!(gold.map(|one| &one.text[..]).collect::<Vec<_>>(), ["L0", "L1"]);
    let nodes = dot_statements(&drawing.to_dot());
    let label = |name: &str| {
        let node = nodes.iter().find(|one| one.name == name).unwrap();
        let label = node.attributes.iter().find(|one| one.0 == "label");
        label.unwrap().1.clone()
    };
    assert_eq!(label("v0"), "1\none\nL0");
    assert_eq!(label("v1"), "1\none\nL1\ngold: L0");
    let dashed = dot_statements(&drawing.to_dot());
    let dashed = dashed
        .iter()
        .filter(|one| one.attributes.contains(&("style".into(), "dashed".into())));
    assert_eq!(dashed.map(|one| &one.name[..]).collect::<Vec<_>>(), ["v1", "v3"]);
    let titles: Vec<&str> = drawing.factors.iter().map(|factor| &factor.title[..]).collect();
    // Every weight is 0.5; the unary factor sees a bias and the word, but L1 of `b` was never seen with it.
    assert!(
        titles.contains(&"unary:a: a at 1; L0 scores +1.000"),
        "{titles:?}"
    );
    assert!(
        titles.contains(&"unary:b: b at 1; L1 scores +0.500"),
        "{titles:?}"
    );
    assert!(titles.contains(&"between:a-b: a at 2, b at 2; L1, L2 scores +0.500"));
}

#[test]
fn mistakes_are_named() {
    let description = Description::factorial(&["a", "b"]);
    let (data, model) = model(&description, 500, Relations::none());
    let error = |options: DrawOptions| {
        Drawing::new(&model, data.instance(0), &options)
            .unwrap_err()
            .to_string()
    };
    let of = |positions: Range<u32>| DrawOptions {
        positions: Some(positions),
        ..DrawOptions::default()
    };
    assert_eq!(
        error(of(3..501)),
        "positions 4 to 501 are to be drawn, expected a part of 1 to 500"
    );
    assert_eq!(
        error(of(3..3)),
        "positions 4 to 3 are to be drawn, expected a part of 1 to 500"
    );
    assert_eq!(
        error(of(0..450)),
        "450 positions are too many for a picture, the most is 400; draw a part of them"
    );
    let tokens = vec!["one".to_owned()];
    assert_eq!(
        error(DrawOptions {
            tokens,
            ..DrawOptions::default()
        }),
        "1 names for positions, expected one for each of 500"
    );
    let labels = vec![3; 1000];
    assert_eq!(
        error(DrawOptions {
            labels,
            ..DrawOptions::default()
        }),
        "label 3 of layer \"a\" does not exist, there are 3 labels"
    );
}

/// An element of an XML document.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
}

impl Element {
    fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes.find(|one| one.0 == name).map(|one| &one.1[..])
    }
}

/// The elements of a document, which must be well formed.
fn elements(mut text: &str) -> Vec<Element> {
    let mut all: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    assert!(
        !text.contains(|symbol: char| symbol.is_control() && symbol != '\n'),
        "a control character"
    );
    while let Some((before, rest)) = text.split_once('<') {
        if let Some(&element) = open.last() {
            all[element].text += &unescaped(before);
        } else {
            assert!(before.trim().is_empty(), "text outside of elements: {before:?}");
        }
        let (tag, after) = rest.split_once('>').expect("a tag that ends");
        text = after;
        if let Some(name) = tag.strip_prefix('/') {
            let element = open.pop().expect("an element that began");
            assert_eq!(all[element].name, name);
            continue;
        }
        let (tag, is_empty) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut attributes = Vec::new();
        while !rest.trim().is_empty() {
            let (name, value) = rest.split_once("=\"").expect("an attribute with a value");
            let (value, after) = value.split_once('"').expect("a value that ends");
            attributes.push((name.trim().to_owned(), unescaped(value)));
            rest = after;
        }
        if !is_empty {
            open.push(all.len());
        }
        all.push(Element {
            name: name.to_owned(),
            attributes,
            text: String::new(),
        });
    }
    assert!(open.is_empty() && text.trim().is_empty());
    all
}

fn unescaped(text: &str) -> String {
    assert!(!text.contains('>'));
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').expect("an entity that ends");
        plain.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            other => panic!("entity {other}"),
        });
        plain += rest;
    }
    plain
}

/// A node, or an edge from a node to another.
struct Statement {
    name: String,
    edge: Option<String>,
    attributes: Vec<(String, String)>,
}

/// The statements of a graph in the language of Graphviz, which must follow its grammar.
fn dot_statements(text: &str) -> Vec<Statement> {
    let mut tokens = dot_tokens(text).into_iter().peekable();
    let mut next = move || tokens.next();
    assert_eq!(next().as_deref(), Some("graph"));
    let _name = next();
    assert_eq!(next().as_deref(), Some("{"));
    let mut depth = 1;
    let mut all = Vec::new();
    while depth > 0 {
        let word = next().expect("a statement or an end");
        match &word[..] {
            "}" => depth -= 1,
            "subgraph" => {
                next();
                assert_eq!(next().as_deref(), Some("{"));
                depth += 1;
            }
            _ => {
                let mut statement = Statement {
                    name: word,
                    edge: None,
                    attributes: Vec::new(),
                };
                loop {
                    match next().as_deref() {
                        Some(";") => break,
                        Some("=") => {
                            next();
                            statement.name = "=".into();
                        }
                        Some("--") => statement.edge = next(),
                        Some("[") => loop {
                            let key = next().expect("a key");
                            assert_eq!(next().as_deref(), Some("="));
                            let value = next().expect("a value");
                            statement.attributes.push((key, value));
                            match next().as_deref() {
                                Some("]") => break,
                                found => assert_eq!(found, Some(",")),
                            }
                        },
                        found => panic!("{found:?} in a statement"),
                    }
                }
                all.push(statement);
            }
        }
    }
    assert_eq!(next(), None);
    all.retain(|statement| !["=", "graph", "node"].contains(&&statement.name[..]));
    all
}

fn dot_tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut symbols = text.chars().peekable();
    while let Some(symbol) = symbols.next() {
        match symbol {
            symbol if symbol.is_whitespace() => {}
            '"' => {
                let mut token = String::new();
                loop {
                    match symbols.next().expect("a quote that ends") {
                        '"' => break,
                        '\\' => token.push(match symbols.next() {
                            Some('n') => '\n',
                            Some(symbol @ ('"' | '\\')) => symbol,
                            other => panic!("escape {other:?}"),
                        }),
                        '&' => {
                            let name: String = symbols.by_ref().take_while(|&symbol| symbol != ';').collect();
                            assert_eq!(name, "amp");
                            token.push('&');
                        }
                        '\n' => panic!("a line that ends in quotes"),
                        symbol => token.push(symbol),
                    }
                }
                tokens.push(token);
            }
            '-' => {
                assert_eq!(symbols.next(), Some('-'));
                tokens.push("--".into());
            }
            '{' | '}' | '[' | ']' | '=' | ';' | ',' => tokens.push(symbol.to_string()),
            symbol => {
                let mut token = symbol.to_string();
                while let Some(next) =
                    symbols.next_if(|&next| next.is_alphanumeric() || matches!(next, '_' | '.'))
                {
                    token.push(next);
                }
                tokens.push(token);
            }
        }
    }
    tokens
}

//! Ready-made descriptions.

use super::{Bias, Description, Layer, Per, Relation, Skip, Strategy, Template};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of model; becomes a [`Description`].
///
/// ```
/// use fieldmark_graph::Kind;
///
/// let kind: Kind = serde_json::from_str(r#"{"kind": "factorial", "layers": ["sentence", "section"]}"#)?;
/// assert_eq!(kind.describe().template_names().unwrap().len(), 5);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", deny_unknown_fields, rename_all = "kebab-case")]
pub enum Kind {
    /// [`Description::linear_chain`].
    LinearChain {
        /// The layer.
        layer: String,
    },
    /// [`Description::factorial`].
    Factorial {
        /// The layers, neighbours next to each other.
        layers: Vec<String>,
    },
    /// [`Description::skip_chain`].
    SkipChain {
        /// Which positions are joined besides neighbours.
        skips: Vec<Skip>,
        /// The layer, which all skips are about.
        layer: String,
    },
    /// [`Description::multi_label`].
    MultiLabel {
        /// The layers.
        layers: Vec<String>,
        /// Whether neighbouring positions are joined.
        #[serde(default)]
        chains: bool,
    },
    /// [`Description::hierarchical`].
    Hierarchical {
        /// The layer with one variable per instance.
        parent: String,
        /// The layers with one variable per position.
        layers: Vec<String>,
        /// Whether neighbouring positions are joined.
        #[serde(default)]
        chains: bool,
        /// Whether the layers are joined with each other at each position.
        #[serde(default)]
        pairs: bool,
    },
    /// Layers and templates one by one.
    Templates(Description),
}

impl Kind {
    /// Layers and templates.
    pub fn describe(&self) -> Description {
        match self {
            Kind::LinearChain { layer } => Description::linear_chain(layer),
            Kind::Factorial { layers } => Description::factorial(layers),
            Kind::SkipChain { layer, skips } => Description::skip_chain(layer, skips.iter().cloned()),
            Kind::MultiLabel { layers, chains } => Description::multi_label(layers, *chains),
            Kind::Hierarchical {
                parent,
                layers,
                chains,
                pairs,
            } => Description::hierarchical(parent, layers, *chains, *pairs),
            Kind::Templates(description) => description.clone(),
        }
    }
}

impl Description {
    /// A first-order chain with the features that `fieldmark-chain` and CRFsuite give it by default: those that
    /// occur, and no biases of labels.
    pub fn linear_chain(layer: &str) -> Self {
        Self {
            layers: layers(&[layer]),
            templates: vec![
                Template::new(Relation::Unary(layer.into())).bias(Bias::None),
                transitions(Relation::Chain(layer.into())).bias(Bias::Supported),
            ],
            ..Self::default()
        }
    }

    /// n chains, each joined to the next at every position (Sutton, Rohanimanesh & McCallum 2004; Jancsary 2008): n
    /// unary templates, n chains and n − 1 between them.
    pub fn factorial<N: AsRef<str>>(names: &[N]) -> Self {
        let mut description = Self::chains(names);
        let neighbours = names.iter().zip(names.iter().skip(1));
        description.templates.extend(
            neighbours.map(|(one, next)| transitions(Relation::Between([one, next].map(|name| owned(name))))),
        );
        description
    }

    /// A chain with edges between distant positions (Sutton & McCallum 2004), which see the observations of either
    /// end.
    pub fn skip_chain(layer: &str, skips: impl IntoIterator<Item = Skip>) -> Self {
        let mut description = Self::linear_chain(layer);
        description
            .templates
            .extend(skips.into_iter().enumerate().map(|(index, skip)| {
                Template::new(Relation::Skip(skip))
                    .named(format!("skip{index}"))
                    .observe(super::Observe::Either)
            }));
        description
    }

    /// Several labels at each position, every pair of layers joined (Ghamrawi & McCallum 2005), positions independent
    /// or in chains.
    pub fn multi_label<N: AsRef<str>>(names: &[N], chains: bool) -> Self {
        let mut description = if chains {
            Self::chains(names)
        } else {
            Self::alone(names)
        };
        let names = names.iter().map(owned).collect();
        description
            .templates
            .push(transitions(Relation::Pairs(names)).named("pair"));
        description
    }

    /// Layers of positions below one variable of the whole instance (McDonald et al. 2007).
    pub fn hierarchical<N: AsRef<str>>(parent: &str, names: &[N], chains: bool, pairs: bool) -> Self {
        let mut description = match (chains, pairs) {
            (_, true) => Self::multi_label(names, chains),
            (true, false) => Self::chains(names),
            (false, false) => Self::alone(names),
        };
        description.layers.push(Layer {
            name: parent.into(),
            per: Per::Instance,
        });
        description
            .templates
            .push(Template::new(Relation::Unary(parent.into())));
        description.templates.push(
            transitions(Relation::Hierarchy {
                parent: parent.into(),
                children: Vec::new(),
            })
            .named("below"),
        );
        description
    }

    fn alone<N: AsRef<str>>(names: &[N]) -> Self {
        let unary = names
            .iter()
            .map(|name| Template::new(Relation::Unary(owned(name))));
        Self {
            layers: layers(names),
            templates: unary.collect(),
            ..Self::default()
        }
    }

    fn chains<N: AsRef<str>>(names: &[N]) -> Self {
        let mut description = Self::alone(names);
        let chains = names.iter().map(|name| transitions(Relation::Chain(owned(name))));
        description.templates.extend(chains);
        description
    }
}

/// A template whose weights are those of label pairs alone.
fn transitions(relation: Relation) -> Template {
    Template::new(relation).strategy(Strategy::DefaultOnly)
}

fn layers<N: AsRef<str>>(names: &[N]) -> Vec<Layer> {
    let layer = |name: &N| Layer {
        name: owned(name),
        per: Per::Position,
    };
    names.iter().map(layer).collect()
}

fn owned<N: AsRef<str> + ?Sized>(name: &N) -> String {
    name.as_ref().to_owned()
}

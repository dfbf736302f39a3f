//! What a model looks like, before any data are seen: layers of variables, and templates that join them.
//!
//! A [`Description`] is a plain value that a config file can hold. The [`Kind`]s are ready-made ones.

mod kinds;
mod skip;

pub use kinds::Kind;
pub use skip::{Cut, Partners, Skip};

use crate::error::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One kind of variable, with labels of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// By which templates and data call it.
    pub name: String,
    /// How many variables of this kind an instance has.
    #[serde(default)]
    pub per: Per,
}

/// How many variables a layer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// One at each position.
    #[default]
    Position,
    /// One for the whole instance.
    Instance,
}

/// Which features a template gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// A weight for every observation with every label assignment: can speak against an assignment, too.
    All,
    /// Weights for the combinations that occur in the training data.
    #[default]
    Supported,
    /// None for observations; only the weights that [`Bias`] tells.
    DefaultOnly,
}

/// Which label assignments of a template have a weight that needs no observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bias {
    /// None.
    None,
    /// Those that occur in the training data.
    Supported,
    /// Every one, so that what never occurs can be made unlikely.
    #[default]
    All,
}

/// Of which ends of a factor the observations count. To tell the ends apart, use two templates, one with `First` and
/// one with `Last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Observe {
    /// Of neither.
    Neither,
    /// Of the first variable.
    First,
    /// Of the last variable.
    Last,
    /// What is observed at any end, once, with the largest value (Klinger 2011, eq. 9.3).
    Either,
    /// What is observed at all ends, with the smallest value.
    Both,
    /// Observations of the step into a position; for chains.
    Step,
}

/// Which variables a template joins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Relation {
    /// Each variable of a layer alone.
    Unary(String),
    /// The variable of a layer at the first position.
    Start(String),
    /// The variable of a layer at the last position.
    End(String),
    /// Neighbours in a layer.
    Chain(String),
    /// Two layers at each position; a variable of the whole instance is joined to every position.
    Between([String; 2]),
    /// Two or more variables at given distances from each position, as far as all of them are there: the label of a
    /// position in one layer together with those of the position and the next one in another, say.
    Window {
        /// The layer of each variable; one layer may come several times.
        layers: Vec<String>,
        /// The distance of each variable: 0 for the position itself, 1 for the next one, −1 for the one before.
        offsets: Vec<i32>,
    },
    /// Distant positions of a layer.
    Skip(Skip),
    /// Every pair of these layers at each position, with weights of its own: a template for each pair.
    Pairs(Vec<String>),
    /// A layer per instance with each of several layers (all others if none are named), with weights of its own: a
    /// template for each.
    Hierarchy {
        /// The layer per instance.
        parent: String,
        /// The layers below it.
        #[serde(default)]
        children: Vec<String>,
    },
    /// What Rust code tells, found by its name (see [`Relations`](crate::Relations)).
    Custom {
        /// The name of the code.
        name: String,
        /// The layers of the variables that a factor joins.
        layers: Vec<String>,
    },
}

/// Variables tied by a relation, sharing weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// By which reports and warm starts know it. Empty: made from the relation.
    #[serde(default)]
    pub name: String,
    /// Which variables it joins.
    pub relation: Relation,
    /// Which observations have weights.
    #[serde(default)]
    pub strategy: Strategy,
    /// Which label assignments have weights without observations.
    #[serde(default)]
    pub bias: Bias,
    /// Of which ends observations count; unless told, of the only end of a unary template and of neither of others.
    #[serde(default)]
    pub observe: Option<Observe>,
    /// Label assignments that are impossible, in the order of the variables.
    #[serde(default)]
    pub forbid: Vec<Vec<String>>,
    /// Whether label assignments that do not occur in the training data are impossible.
    #[serde(default)]
    pub forbid_unseen: bool,
}

impl Template {
    /// A template with supported observations and a bias for every label assignment.
    pub fn new(relation: Relation) -> Self {
        Self {
            name: String::new(),
            relation,
            strategy: Strategy::default(),
            bias: Bias::default(),
            observe: None,
            forbid: Vec::new(),
            forbid_unseen: false,
        }
    }

    /// Gives it a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Chooses which observations have weights.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Chooses which label assignments have weights without observations.
    #[must_use]
    pub fn bias(mut self, bias: Bias) -> Self {
        self.bias = bias;
        self
    }

    /// Chooses of which ends observations count.
    #[must_use]
    pub fn observe(mut self, observe: Observe) -> Self {
        self.observe = Some(observe);
        self
    }

    /// Of which ends observations count, whether told or not.
    pub fn observed(&self) -> Observe {
        let unary = matches!(
            self.relation,
            Relation::Unary(_) | Relation::Start(_) | Relation::End(_)
        );
        match (self.strategy, self.observe) {
            (Strategy::DefaultOnly, _) => Observe::Neither,
            (_, Some(observe)) => observe,
            (_, None) if unary => Observe::First,
            _ => Observe::Neither,
        }
    }
}

/// Layers, templates and how rare features may be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Kinds of variables.
    pub layers: Vec<Layer>,
    /// How they are joined.
    pub templates: Vec<Template>,
    /// Features whose values sum to less than this in the training data get no weight.
    #[serde(default)]
    pub min_freq: f64,
    /// Observations that occur in fewer instances than this get no weight.
    #[serde(default)]
    pub min_instances: usize,
}

/// What is wrong with a description.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptionError {
    /// No layer.
    #[error("the model has no layer; name at least one")]
    NoLayer,
    /// Two layers or templates of one name.
    #[error("two {what}s are called {name:?}; names must differ")]
    Repeated {
        /// "layer" or "template".
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A template about a layer that is not there.
    #[error("template {template:?} joins the layer {layer:?}, which is not one of {layers:?}")]
    UnknownLayer {
        /// The template.
        template: String,
        /// The layer that was not found.
        layer: String,
        /// The layers that there are.
        layers: Vec<String>,
    },
    /// A template whose layer has no name.
    #[error("template {template:?} names no layer; it must name one of {layers:?}")]
    UnnamedLayer {
        /// The template.
        template: String,
        /// The layers that there are.
        layers: Vec<String>,
    },
    /// A template that needs other layers than it was given.
    #[error("template {template:?} is about {found}, expected {expected}")]
    Relation {
        /// The template.
        template: String,
        /// What it joins.
        found: String,
        /// What it may join.
        expected: &'static str,
    },
    /// A template that forbids something that is not there.
    #[error("template {template:?} forbids {found:?}, expected {expected}")]
    Forbid {
        /// The template.
        template: String,
        /// The labels.
        found: Vec<String>,
        /// What was expected.
        expected: String,
    },
    /// An option outside of its range.
    #[error("{option} is {found}, expected {expected}")]
    Option {
        /// The option.
        option: String,
        /// Its value.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
}

/// A template of one weight vector: what sugar like [`Relation::Pairs`] stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Elementary {
    pub name: String,
    pub template: Template,
    pub form: Form,
    /// The layer of each variable of a factor.
    pub layers: Vec<usize>,
}

/// How the factors of a template are found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Unary,
    Start,
    End,
    Chain,
    Between,
    Window(Vec<i32>),
    Skip(Skip),
    Custom(String),
}

impl Description {
    /// The number of a layer.
    pub fn layer(&self, name: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer.name == name)
    }

    /// Whether a layer has one variable for the whole instance.
    pub(crate) fn is_per_instance(&self, layer: usize) -> bool {
        self.layers[layer].per == Per::Instance
    }

    /// The names of templates, those that stand for several written out.
    pub fn template_names(&self) -> Result<Vec<String>, DescriptionError> {
        Ok(self.expand()?.into_iter().map(|template| template.name).collect())
    }

    /// Checks everything that can be wrong without data.
    pub fn check(&self) -> Result<(), DescriptionError> {
        self.expand().map(|_| ())
    }

    /// One template for each weight vector, checked.
    pub(crate) fn expand(&self) -> Result<Vec<Elementary>, DescriptionError> {
        if self.layers.is_empty() {
            return Err(DescriptionError::NoLayer);
        }
        distinct("layer", self.layers.iter().map(|layer| &layer.name))?;
        if !(self.min_freq.is_finite() && self.min_freq >= 0.0) {
            return Err(DescriptionError::Option {
                option: "min_freq".into(),
                found: self.min_freq.to_string(),
                expected: "a number that is not negative",
            });
        }
        let mut list = Vec::new();
        for template in &self.templates {
            self.expand_one(template, &mut list)?;
        }
        distinct("template", list.iter().map(|template| &template.name))?;
        Ok(list)
    }

    fn expand_one(&self, template: &Template, list: &mut Vec<Elementary>) -> Result<(), DescriptionError> {
        let mut add = |form: Form, names: &[&String], several: bool| {
            list.push(self.elementary(template, form, names, several)?);
            Ok(())
        };
        match &template.relation {
            Relation::Unary(layer) => add(Form::Unary, &[layer], false),
            Relation::Start(layer) => add(Form::Start, &[layer], false),
            Relation::End(layer) => add(Form::End, &[layer], false),
            Relation::Chain(layer) => add(Form::Chain, &[layer, layer], false),
            Relation::Between([one, other]) => add(Form::Between, &[one, other], false),
            Relation::Window { layers, offsets } => add(
                Form::Window(offsets.clone()),
                &layers.iter().collect::<Vec<_>>(),
                false,
            ),
            Relation::Skip(skip) => add(Form::Skip(skip.clone()), &[&skip.layer, &skip.layer], false),
            Relation::Custom { name, layers } => add(
                Form::Custom(name.clone()),
                &layers.iter().collect::<Vec<_>>(),
                false,
            ),
            Relation::Pairs(layers) => {
                for (index, one) in layers.iter().enumerate() {
                    for other in &layers[index + 1..] {
                        add(Form::Between, &[one, other], true)?;
                    }
                }
                Ok(())
            }
            Relation::Hierarchy { parent, children } => {
                let others: Vec<&String> = match &children[..] {
                    [] => self
                        .layers
                        .iter()
                        .map(|layer| &layer.name)
                        .filter(|name| *name != parent)
                        .collect(),
                    children => children.iter().collect(),
                };
                others
                    .into_iter()
                    .try_for_each(|child| add(Form::Between, &[parent, child], true))
            }
        }
    }

    fn elementary(
        &self,
        template: &Template,
        form: Form,
        names: &[&String],
        several: bool,
    ) -> Result<Elementary, DescriptionError> {
        let shown = match form {
            Form::Chain | Form::Skip(_) => &names[..1],
            _ => names,
        };
        let joined = shown
            .iter()
            .map(|name| name.as_str())
            .collect::<Vec<_>>()
            .join("-");
        let name = match (&template.name, several) {
            (name, false) if !name.is_empty() => name.clone(),
            (name, true) if !name.is_empty() => format!("{name}:{joined}"),
            _ => match &form {
                Form::Window(offsets) => {
                    let offsets: Vec<String> = offsets.iter().map(i32::to_string).collect();
                    format!("{}:{joined}:{}", form.word(), offsets.join(","))
                }
                _ => format!("{}:{joined}", form.word()),
            },
        };
        let mut layers = Vec::new();
        for &layer in names {
            layers.push(
                self.layer(layer)
                    .ok_or_else(|| self.unknown_layer(&name, layer))?,
            );
        }
        let elementary = Elementary {
            name,
            template: template.clone(),
            form,
            layers,
        };
        self.check_elementary(&elementary)?;
        Ok(elementary)
    }

    fn unknown_layer(&self, template: &str, layer: &str) -> DescriptionError {
        let layers = self.layers.iter().map(|layer| layer.name.clone()).collect();
        let template = template.to_owned();
        if layer.is_empty() {
            return DescriptionError::UnnamedLayer { template, layers };
        }
        let layer = layer.to_owned();
        DescriptionError::UnknownLayer {
            template,
            layer,
            layers,
        }
    }

    fn check_elementary(&self, template: &Elementary) -> Result<(), DescriptionError> {
        let wrong = |found: &str, expected| {
            Err(DescriptionError::Relation {
                template: template.name.clone(),
                found: found.into(),
                expected,
            })
        };
        let per_instance = template.layers.iter().any(|&layer| self.is_per_instance(layer));
        match &template.form {
            Form::Start | Form::End | Form::Chain | Form::Window(_) | Form::Skip(_) if per_instance => {
                return wrong("a layer with one variable per instance", "one per position");
            }
            Form::Between if template.layers[0] == template.layers[1] => {
                return wrong("one layer twice", "two different layers");
            }
            Form::Window(offsets) if offsets.len() != template.layers.len() || offsets.len() < 2 => {
                let layers = counted(template.layers.len() as u64, "layer");
                let found = format!("{layers} and {}", counted(offsets.len() as u64, "offset"));
                return wrong(&found, "two or more layers, and an offset for each");
            }
            Form::Window(offsets) => {
                let variable = |place: usize| (template.layers[place], offsets[place]);
                let repeated = |place: usize| (0..place).any(|other| variable(other) == variable(place));
                if (0..offsets.len()).any(repeated) {
                    return wrong("one layer twice at the same offset", "different variables");
                }
            }
            Form::Custom(_) if template.layers.is_empty() => {
                return wrong("no layer", "at least one");
            }
            Form::Skip(skip) => skip.check(&template.name)?,
            _ => {}
        }
        if template.template.observed() == Observe::Step && template.form != Form::Chain {
            return wrong("observations of steps without being a chain", "a chain");
        }
        Ok(())
    }
}

impl Form {
    /// Whether factors are computed from observations.
    pub fn is_computed(&self) -> bool {
        matches!(self, Form::Skip(_) | Form::Custom(_))
    }

    fn word(&self) -> &'static str {
        match self {
            Form::Unary => "unary",
            Form::Start => "start",
            Form::End => "end",
            Form::Chain => "chain",
            Form::Between => "between",
            Form::Window(_) => "window",
            Form::Skip(_) => "skip",
            Form::Custom(_) => "custom",
        }
    }
}

fn distinct<'a>(what: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), DescriptionError> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            let name = name.clone();
            return Err(DescriptionError::Repeated { what, name });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

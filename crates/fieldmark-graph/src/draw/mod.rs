//! [`Drawing`]: one unrolled instance as a picture, for people who want to see what a description means.
//!
//! Layers are rows, positions are columns; variables of the whole instance lie above all as bars. Factors are small
//! squares in the colour of their template, joined to their variables by lines that do not run through others. Instances
//! and positions count from 1 in pictures and messages.

mod dot;
mod layout;
mod palette;
mod svg;
#[cfg(test)]
mod tests;

use crate::error::there_are;
use crate::{FactorGraph, GraphInstance, GraphModel, StructureError, Unroller};
use fieldmark_core::Gold;
use std::ops::Range;

/// How many positions are drawn unless told otherwise.
const POSITIONS: u32 = 40;
/// More than this many would be neither legible nor a picture.
const MOST_POSITIONS: u32 = 400;

/// What a [`Drawing`] shows besides variables and factors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawOptions {
    /// What the picture is called; unless told, by the number of the instance in its data.
    pub title: Option<String>,
    /// Which positions are drawn; unless told, all of a short instance and the first 40 of a long one. The picture says
    /// so when it does not show all.
    pub positions: Option<Range<u32>>,
    /// A name for each position of the instance, such as its token; none for numbers alone.
    pub tokens: Vec<String>,
    /// A label for each variable, as [`Decoding::labels`](crate::Decoding::labels) has them; none for empty variables.
    pub labels: Vec<u32>,
    /// Whether the gold of the instance is shown: in variables, or, if there are `labels`, under these where they differ.
    pub gold: bool,
}

/// Why an instance cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    /// Positions that the instance does not have.
    #[error(
        "positions {} to {} are to be drawn, expected a part of 1 to {length}",
        u64::from(found.start) + 1,
        found.end
    )]
    Positions {
        /// The positions.
        found: Range<u32>,
        /// The length of the instance.
        length: usize,
    },
    /// More positions than fit into a picture.
    #[error("{found} positions are too many for a picture, the most is {most}; draw a part of them")]
    TooMany {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: u32,
    },
    /// Names or labels for another instance.
    #[error("{found} {what}, expected one for each of {expected}")]
    Count {
        /// What was counted.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A label that is not one of its layer.
    #[error("label {label} of layer {layer:?} does not exist, {}", there_are(*labels as u64, "label"))]
    UnknownLabel {
        /// The layer.
        layer: String,
        /// The label.
        label: u32,
        /// Number of labels.
        labels: usize,
    },
    /// The model does not fit the instance.
    #[error(transparent)]
    Structure(#[from] StructureError),
}

/// The variables and factors of one instance, ready to be drawn.
///
/// ```
/// use fieldmark_core::Gold;
/// use fieldmark_graph::{Description, DrawOptions, Drawing, GraphDatasetBuilder, GraphModel, Relations, Structure};
///
/// let description = Description::factorial(&["pos", "chunk"]);
/// let mut builder = GraphDatasetBuilder::new(&description);
/// let gold = [builder.label(0, "NN"), builder.label(1, "B-NP")].map(Gold::Known);
/// for _ in 0..3 {
///     builder.observe("word=Paris", 1.0)?;
///     builder.end_position(&gold)?;
/// }
/// builder.end_instance(&[])?;
/// let data = builder.finish();
/// let structure = Structure::build(&data, &description, Relations::none())?;
/// let model = GraphModel::new(&data, &structure, &vec![0.5; structure.weights()])?;
/// let options = DrawOptions { gold: true, ..DrawOptions::default() };
/// let drawing = Drawing::new(&model, data.instance(0), &options)?;
/// assert!(drawing.to_svg().starts_with("<svg"));
/// assert!(drawing.to_dot().starts_with("graph"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    caption: String,
    /// Rows of the picture from top to foot: layers per position.
    rows: Vec<String>,
    /// Layers per instance, from top to foot.
    bars: Vec<String>,
    columns: Vec<Column>,
    templates: Vec<Template>,
    variables: Vec<Variable>,
    factors: Vec<Factor>,
}

#[derive(Clone, Debug, PartialEq)]
struct Column {
    /// From 1.
    number: u32,
    /// Empty if it has no name.
    token: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Template {
    name: String,
    /// How many of its factors are drawn.
    factors: usize,
}

/// Where a variable stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Of the whole instance.
    Bar(usize),
    /// At a position.
    Cell { row: usize, column: usize },
}

#[derive(Clone, Debug, PartialEq)]
struct Variable {
    place: Place,
    /// What stands in it.
    text: String,
    /// What it is, in full.
    title: String,
    /// Whether its label is not the gold one.
    differs: bool,
    /// The gold label if it differs, else nothing.
    gold: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Factor {
    template: usize,
    /// Indices of drawn variables.
    scope: Vec<usize>,
    title: String,
}

impl Drawing {
    /// Unrolls an instance and keeps what is to be drawn.
    pub fn new(
        model: &GraphModel,
        instance: GraphInstance<'_>,
        options: &DrawOptions,
    ) -> Result<Self, DrawError> {
        let unrolled = Unroller::new(model.structure(), model.weights())?.unroll(instance)?;
        let graph = unrolled.graph();
        let shown = shown(instance.len(), options)?;
        let subject = Subject::new(model, instance, options, graph)?;
        let names = model.structure().template_names();
        let templates = names.map(|name| Template {
            name: name.to_owned(),
            factors: 0,
        });
        let mut drawing = Self {
            caption: String::new(),
            rows: subject.names(&subject.cells),
            bars: subject.names(&subject.whole),
            columns: shown
                .clone()
                .map(|position| Column {
                    number: position + 1,
                    token: subject.token(position).to_owned(),
                })
                .collect(),
            templates: templates.collect(),
            variables: Vec::new(),
            factors: Vec::new(),
        };
        let drawn = drawing.add_variables(&subject, &shown);
        let beyond = drawing.add_factors(&subject, &drawn);
        drawing.caption = caption(instance, options, &shown, beyond);
        if drawing.variables.iter().any(|variable| variable.differs) {
            drawing.caption += "; dashed: not the gold label, which stands below";
        }
        Ok(drawing)
    }

    /// Adds the variables that are shown; gives the index of each variable of the graph among them.
    fn add_variables(&mut self, subject: &Subject<'_>, shown: &Range<u32>) -> Vec<Option<usize>> {
        let variables = 0..subject.graph.variables() as u32;
        let add = |variable| {
            let (place, position) = subject.place(variable);
            let place = match place {
                Place::Cell { .. } if !shown.contains(&position) => return None,
                Place::Cell { row, .. } => Place::Cell {
                    row,
                    column: (position - shown.start) as usize,
                },
                bar => bar,
            };
            self.variables.push(subject.variable(variable, place, position));
            Some(self.variables.len() - 1)
        };
        variables.map(add).collect()
    }

    /// Adds the factors between variables that are shown; tells how many lead from those to others.
    fn add_factors(&mut self, subject: &Subject<'_>, drawn: &[Option<usize>]) -> usize {
        let mut beyond = 0;
        for number in 0..subject.graph.factors() {
            let variables = subject.graph.scope(number);
            let scope: Vec<usize> = variables
                .iter()
                .filter_map(|&variable| drawn[variable as usize])
                .collect();
            if scope.len() < variables.len() {
                let mut places = scope.iter().map(|&index| self.variables[index].place);
                beyond += usize::from(places.any(|place| matches!(place, Place::Cell { .. })));
                continue;
            }
            let template = subject.graph.template_of(number) as usize;
            self.templates[template].factors += 1;
            self.factors.push(Factor {
                template,
                scope,
                title: subject.factor_title(number),
            });
        }
        beyond
    }

    /// The picture as a complete SVG document: no script, no other files, light or dark as the reader prefers.
    pub fn to_svg(&self) -> String {
        svg::write(self)
    }

    /// The graph in the language of Graphviz, for `dot`.
    pub fn to_dot(&self) -> String {
        dot::write(self)
    }
}

/// The positions that are shown.
fn shown(length: usize, options: &DrawOptions) -> Result<Range<u32>, DrawError> {
    let all = u32::try_from(length).unwrap_or(u32::MAX);
    let Some(found) = options.positions.clone() else {
        return Ok(0..all.min(POSITIONS));
    };
    if found.start > found.end || found.end > all || found.is_empty() && all > 0 {
        return Err(DrawError::Positions { found, length });
    }
    if found.len() > MOST_POSITIONS as usize {
        return Err(DrawError::TooMany {
            found: found.len(),
            most: MOST_POSITIONS,
        });
    }
    Ok(found)
}

fn caption(instance: GraphInstance<'_>, options: &DrawOptions, shown: &Range<u32>, beyond: usize) -> String {
    let numbered = || format!("instance {}", instance.index() + 1);
    let mut caption = options.title.clone().unwrap_or_else(numbered);
    if shown.len() < instance.len() {
        caption += &format!(
            ": positions {}–{} of {}",
            shown.start + 1,
            shown.end,
            instance.len()
        );
        let (factor, lead, are) = if beyond == 1 {
            ("factor", "leads", "is")
        } else {
            ("factors", "lead", "are")
        };
        caption += &format!("; {beyond} {factor} that {lead} to others {are} not drawn");
    }
    caption
}

/// The instance, its graph and what is known about its labels.
struct Subject<'a> {
    model: &'a GraphModel,
    instance: GraphInstance<'a>,
    graph: &'a FactorGraph,
    options: &'a DrawOptions,
    /// Layers per position, and per instance.
    cells: Vec<usize>,
    whole: Vec<usize>,
}

impl<'a> Subject<'a> {
    fn new(
        model: &'a GraphModel,
        instance: GraphInstance<'a>,
        options: &'a DrawOptions,
        graph: &'a FactorGraph,
    ) -> Result<Self, DrawError> {
        let description = model.description();
        let layers = 0..description.layers.len();
        let (whole, cells) = layers.partition(|&layer| description.is_per_instance(layer));
        let subject = Self {
            model,
            instance,
            graph,
            options,
            cells,
            whole,
        };
        let counted = |what, found: usize, expected| {
            if found == 0 || found == expected {
                Ok(())
            } else {
                Err(DrawError::Count {
                    what,
                    found,
                    expected,
                })
            }
        };
        counted("names for positions", options.tokens.len(), instance.len())?;
        counted("labels for variables", options.labels.len(), graph.variables())?;
        for (variable, &label) in (0..).zip(&options.labels) {
            if label >= graph.labels(variable) {
                return Err(DrawError::UnknownLabel {
                    layer: subject.layer_name(subject.layer(variable)).to_owned(),
                    label,
                    labels: graph.labels(variable) as usize,
                });
            }
        }
        Ok(subject)
    }

    fn names(&self, layers: &[usize]) -> Vec<String> {
        layers
            .iter()
            .map(|&layer| self.layer_name(layer).to_owned())
            .collect()
    }

    fn layer_name(&self, layer: usize) -> &'a str {
        &self.model.description().layers[layer].name
    }

    fn token(&self, position: u32) -> &'a str {
        self.options
            .tokens
            .get(position as usize)
            .map_or("", |token| token)
    }

    /// Row or bar of a variable of the graph, and its position: variables are numbered position by position, those of
    /// the whole instance last.
    fn place(&self, variable: u32) -> (Place, u32) {
        let (variable, rows) = (variable as usize, self.cells.len());
        match variable.checked_sub(rows * self.instance.len()) {
            Some(bar) => (Place::Bar(bar), 0),
            None => {
                let (row, column) = (variable % rows, variable / rows);
                (Place::Cell { row, column }, column as u32)
            }
        }
    }

    fn layer(&self, variable: u32) -> usize {
        match self.place(variable).0 {
            Place::Bar(bar) => self.whole[bar],
            Place::Cell { row, .. } => self.cells[row],
        }
    }

    /// The label that a variable has in the picture, if it is one.
    fn label(&self, variable: u32) -> Option<u32> {
        if let Some(&label) = self.options.labels.get(variable as usize) {
            return Some(label);
        }
        match self.gold(variable) {
            Gold::Known(label) if self.options.gold => Some(label),
            _ => None,
        }
    }

    fn gold(&self, variable: u32) -> Gold<'a> {
        self.instance.gold(self.layer(variable), self.place(variable).1)
    }

    /// The gold of a variable in words.
    fn gold_text(&self, variable: u32) -> String {
        let labels = self.instance.data().labels(self.layer(variable));
        match self.gold(variable) {
            Gold::Known(label) => labels.name(label).to_owned(),
            Gold::Ambiguous(set) => {
                let names: Vec<&str> = set.iter().map(|&label| labels.name(label)).collect();
                names.join(" | ")
            }
            Gold::Unknown => "?".to_owned(),
        }
    }

    fn variable(&self, variable: u32, place: Place, position: u32) -> Variable {
        let decoded = self.options.labels.get(variable as usize).copied();
        let layer = self.layer(variable);
        let mut title = self.variable_name(variable);
        if let (Place::Cell { .. }, false) = (place, self.token(position).is_empty()) {
            title += &format!(" ({})", self.token(position));
        }
        let mut text = String::new();
        if let Some(label) = decoded {
            text = self.model.labels(layer).name(label).to_owned();
            title += &format!(": {text}");
        }
        let mut gold = String::new();
        let differs = self.options.gold && decoded.is_some_and(|label| !self.gold(variable).allows(label));
        if self.options.gold {
            let known = self.gold_text(variable);
            title += &format!("{} gold {known}", if decoded.is_some() { "," } else { ":" });
            match decoded {
                None => text = known,
                Some(_) if differs => gold = known,
                Some(_) => {}
            }
        }
        Variable {
            place,
            text,
            title,
            differs,
            gold,
        }
    }

    /// Layer and position.
    fn variable_name(&self, variable: u32) -> String {
        let layer = self.layer_name(self.layer(variable));
        match self.place(variable) {
            (Place::Bar(_), _) => format!("{layer} of the instance"),
            (Place::Cell { .. }, position) => format!("{layer} at {}", position + 1),
        }
    }

    /// Template, variables and, if their labels are known, the score that these have.
    fn factor_title(&self, factor: usize) -> String {
        let scope = self.graph.scope(factor);
        let template = self.graph.template_of(factor) as usize;
        let template = self
            .model
            .structure()
            .template_names()
            .nth(template)
            .unwrap_or("");
        let variables: Vec<String> = scope
            .iter()
            .map(|&variable| self.variable_name(variable))
            .collect();
        let mut title = format!("{template}: {}", variables.join(", "));
        let labels: Option<Vec<u32>> = scope.iter().map(|&variable| self.label(variable)).collect();
        // Gold may have labels that the model has not.
        let labels = labels.filter(|labels| {
            let mut pairs = scope.iter().zip(labels);
            pairs.all(|(&variable, &label)| label < self.graph.labels(variable))
        });
        if let Some(labels) = labels {
            let names: Vec<&str> = scope
                .iter()
                .zip(&labels)
                .map(|(&variable, &label)| self.model.labels(self.layer(variable)).name(label))
                .collect();
            let entry = scope.iter().zip(&labels).fold(0, |entry, (&variable, &label)| {
                entry * self.graph.labels(variable) as usize + label as usize
            });
            let score = self.graph.scores(factor)[entry];
            title += &format!("; {} scores {score:+.3}", names.join(", "));
        }
        title
    }
}

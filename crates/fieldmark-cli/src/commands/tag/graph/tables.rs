//! Answers of graphs as tables.

use super::super::answer::Wanted;
use super::super::tables::{plain, plain_row};
use super::super::write::{SMALLEST, View, scientific};
use fieldmark::GraphAnswer;
use fieldmark::config::LayerConfig;
use fieldmark::graph::Per;
use fieldmark::text::document::Document;
use fieldmark::text::offsets::Offsets;
use std::io::{self, Write};

/// Answers as a table.
pub struct TableView<'a> {
    pub layers: &'a [LayerConfig],
    /// The labels of each layer.
    pub names: &'a [Vec<&'a str>],
    pub wanted: Wanted,
    pub view: View,
}

/// What stands for a number that is not known.
const NOTHING: &str = "-";

impl TableView<'_> {
    /// The first line.
    pub fn header(&self) -> String {
        match self.view {
            View::Pairs => {
                "document\tlayer\tstart\tend\tlabel\tother_layer\tother_start\tother_end\tother_label\t\
                            probability\n"
                    .to_owned()
            }
            View::Sequences => "document\tstart\tend\tlog_z\tbest\tgold\n".to_owned(),
            _ => {
                let mut cells: Vec<String> = ["document", "start", "end", "text"].map(str::to_owned).to_vec();
                for number in self.layers_per(Per::Position) {
                    let name = &self.layers[number].name;
                    cells.push(name.clone());
                    let numbers = [
                        ("probability", self.wanted.label_probabilities),
                        ("marginals", self.wanted.marginals),
                        ("max_marginals", self.wanted.max_marginals),
                    ];
                    let wanted = numbers.iter().filter(|(_, is_wanted)| *is_wanted);
                    cells.extend(wanted.map(|(what, _)| format!("{name}.{what}")));
                }
                plain_row(cells.iter()) + "\n"
            }
        }
    }

    /// The lines of an instance.
    pub fn write(
        &self,
        document: &Document,
        offsets: &Offsets<'_>,
        answer: &GraphAnswer,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let instance = Instance {
            table: self,
            document,
            offsets,
            answer,
        };
        match self.view {
            View::Pairs => instance.pairs(out),
            View::Sequences => instance.log_probabilities(out),
            _ => instance.all_labellings(out),
        }
    }

    fn layers_per(&self, per: Per) -> impl Iterator<Item = usize> + '_ {
        (0..self.layers.len()).filter(move |&layer| self.layers[layer].per == per)
    }
}

/// An instance of a document.
struct Instance<'a> {
    table: &'a TableView<'a>,
    document: &'a Document,
    offsets: &'a Offsets<'a>,
    answer: &'a GraphAnswer,
}

impl Instance<'_> {
    /// The characters of a token, or of the whole instance.
    fn place(&self, token: Option<usize>) -> (usize, usize) {
        let tokens = &self.answer.tokens;
        let last = tokens.len().saturating_sub(1);
        let (first, last) = token.map_or((0, last), |token| (token, token));
        let count = |byte: Option<usize>| byte.and_then(|byte| self.offsets.count(byte)).unwrap_or_default();
        let start = tokens.get(first).map(|token| token.start);
        let end = tokens.get(last).map(|token| token.end);
        (count(start), count(end))
    }

    fn all_labellings(&self, out: &mut impl Write) -> io::Result<()> {
        let answer = self.answer;
        if self.table.wanted.best.is_none() {
            return self.labels(&answer.labels, out);
        }
        for (rank, (labels, logarithm)) in answer.best.iter().enumerate() {
            writeln!(out, "# {rank} {:.6}", logarithm.exp())?;
            self.labels(labels, out)?;
        }
        if answer.best.is_empty() {
            writeln!(out, "# 0 {NOTHING}")?;
            self.labels(&answer.labels, out)?;
        }
        Ok(())
    }

    /// Labels of the whole instance, then a line for each token.
    fn labels(&self, labels: &[Vec<String>], out: &mut impl Write) -> io::Result<()> {
        for layer in self.table.layers_per(Per::Instance) {
            let name = &self.table.layers[layer].name;
            let cells = self.cells(layer, 0, &labels[layer][0]);
            writeln!(out, "# {}\t{}", plain(name), plain_row(cells.iter()))?;
        }
        let id = plain(&self.document.id);
        for (token, range) in self.answer.tokens.iter().enumerate() {
            let (start, end) = self.place(Some(token));
            let text = plain(self.document.text.get(range.clone()).unwrap_or_default());
            write!(out, "{id}\t{start}\t{end}\t{text}")?;
            for layer in self.table.layers_per(Per::Position) {
                let cells = self.cells(layer, token, &labels[layer][token]);
                write!(out, "\t{}", plain_row(cells.iter()))?;
            }
            writeln!(out)?;
        }
        writeln!(out)
    }

    /// A label, and the numbers of its variable that are wanted.
    fn cells(&self, layer: usize, position: usize, label: &str) -> Vec<String> {
        let (wanted, answer) = (self.table.wanted, self.answer);
        let mut cells = vec![label.to_owned()];
        let nothing = || NOTHING.to_owned();
        if wanted.label_probabilities {
            let known = answer.probabilities.as_ref();
            let shown = known.map(|layers| format!("{:.6}", layers[layer][position]));
            cells.push(shown.unwrap_or_else(nothing));
        }
        if wanted.marginals {
            let known = answer.marginals.as_ref();
            let shown =
                known.map(|layers| self.row(layer, &layers[layer][position], |share| format!("{share:.6}")));
            cells.push(shown.unwrap_or_else(nothing));
        }
        if wanted.max_marginals {
            let known = answer.max_marginals.as_ref();
            let shown = known.map(|layers| self.row(layer, &layers[layer][position], scientific));
            cells.push(shown.unwrap_or_else(nothing));
        }
        cells
    }

    /// Each label with its number.
    fn row(&self, layer: usize, numbers: &[f64], shown: impl Fn(f64) -> String) -> String {
        let labels = self.table.names[layer].iter().zip(numbers);
        let cells: Vec<String> = labels
            .map(|(label, &number)| format!("{label}:{}", shown(number)))
            .collect();
        cells.join(" ")
    }

    fn pairs(&self, out: &mut impl Write) -> io::Result<()> {
        let id = plain(&self.document.id);
        for pair in self.answer.pair_marginals.iter().flatten() {
            let cells = pair.places.map(|(layer, position)| {
                let described = &self.table.layers[layer];
                let (start, end) = self.place((described.per == Per::Position).then_some(position));
                format!("{}\t{start}\t{end}", plain(&described.name))
            });
            let [first, second] = pair.places.map(|(layer, _)| &self.table.names[layer]);
            for (label, row) in first.iter().zip(&pair.probabilities) {
                for (other, probability) in second.iter().zip(row).filter(|(_, share)| **share >= SMALLEST) {
                    let (label, other) = (plain(label), plain(other));
                    let [one, two] = &cells;
                    writeln!(out, "{id}\t{one}\t{label}\t{two}\t{other}\t{probability:.6}")?;
                }
            }
        }
        Ok(())
    }

    fn log_probabilities(&self, out: &mut impl Write) -> io::Result<()> {
        let (start, end) = self.place(None);
        let answer = self.answer;
        let ruled_out = answer.is_ruled_out.then_some(f64::NEG_INFINITY);
        let [z, best] = [answer.log_z, answer.log_probability].map(|number| shown(number.or(ruled_out)));
        let gold = shown(answer.gold_log_probability);
        writeln!(
            out,
            "{}\t{start}\t{end}\t{z}\t{best}\t{gold}",
            plain(&self.document.id)
        )
    }
}

fn shown(number: Option<f64>) -> String {
    number.map_or_else(|| NOTHING.to_owned(), |number| format!("{number:.6}"))
}

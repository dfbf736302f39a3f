//! Line plots as SVG that stands in a page: no script, the colours of the page, legible on a phone.
//!
//! ```
//! use fieldmark_text::render::plot::{Axis, LinePlot, Point, Series};
//! let plot = LinePlot::new(
//!     "Learning curve",
//!     Axis::numbers("Documents", 0.0, 100.0),
//!     Axis::shares("F1", 0.0, 1.0),
//! )
//! .with(Series::line(
//!     "order 1",
//!     vec![Point::new(10.0, 0.6).with_band(0.5, 0.7), Point::new(100.0, 0.8).with_band(0.77, 0.83)],
//! ));
//! assert!(plot.to_svg().starts_with("<figure"));
//! ```

use super::html::Escaped;
use std::fmt::{self, Write};

/// Curves over two axes, with bands of uncertainty, reference lines and single places of note.
///
/// What lies outside of the axes is drawn at their border; what is no finite number is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct LinePlot {
    /// What it shows, for those who do not see it.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From the foot to the top.
    pub y: Axis,
    /// The curves; the legend names them.
    pub series: Vec<Series>,
    /// Straight lines to compare with.
    pub references: Vec<Reference>,
    /// Places of note.
    pub marks: Vec<Place>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub title: String,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Whether values are shares, written as percentages.
    pub shares: bool,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<Point>,
    /// Whether points are joined by a line.
    pub joined: bool,
    /// Whether points are dots.
    pub dots: bool,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it is.
    pub x: f64,
    /// How high it is.
    pub y: f64,
    /// Between what it may be in truth.
    pub band: Option<(f64, f64)>,
    /// Size of its dot, where 1 is usual.
    pub size: f64,
}

/// A straight line to compare with.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// What it means.
    pub name: String,
    /// One end.
    pub from: (f64, f64),
    /// The other.
    pub to: (f64, f64),
}

/// A place of note.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// What it is.
    pub name: String,
    /// Where it is.
    pub x: f64,
    /// How high it is.
    pub y: f64,
}

impl LinePlot {
    /// Axes without anything between them.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series: Vec::new(),
            references: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// The same with one more curve.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The same with one more line to compare with.
    pub fn with_reference(mut self, name: impl Into<String>, from: (f64, f64), to: (f64, f64)) -> Self {
        self.references.push(Reference {
            name: name.into(),
            from,
            to,
        });
        self
    }

    /// The same with one more place of note.
    pub fn with_mark(mut self, name: impl Into<String>, x: f64, y: f64) -> Self {
        self.marks.push(Place {
            name: name.into(),
            x,
            y,
        });
        self
    }

    /// An HTML `figure` with the drawing and its legend, for a page with the styles of [`super::html`].
    pub fn to_svg(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }
}

impl Axis {
    /// An axis of numbers.
    pub fn numbers(title: impl Into<String>, low: f64, high: f64) -> Self {
        Self {
            title: title.into(),
            low,
            high,
            shares: false,
        }
    }

    /// An axis of shares, written as percentages.
    pub fn shares(title: impl Into<String>, low: f64, high: f64) -> Self {
        Self {
            shares: true,
            ..Self::numbers(title, low, high)
        }
    }

    /// The same, as long as all values need: from a round number below the least to one above the greatest.
    pub fn around(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = values
            .into_iter()
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low <= high {
            let step = step((high - low).max(if self.shares { 0.05 } else { 1e-9 }));
            self.low = (low / step).floor() * step;
            self.high = ((high / step).ceil() * step).max(self.low + step);
        }
        if self.shares {
            (self.low, self.high) = (self.low.max(0.0), self.high.min(1.0));
        }
        self
    }

    /// How far along a value is, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let length = self.high - self.low;
        if length > 0.0 && length.is_finite() {
            ((value - self.low) / length).clamp(0.0, 1.0)
        } else {
            0.5
        }
    }

    fn ticks(&self) -> Vec<f64> {
        if !(self.high - self.low).is_finite() {
            return Vec::new();
        }
        let step = step(self.high - self.low);
        let first = (self.low / step - 1e-9).ceil();
        let last = (self.high / step + 1e-9).floor();
        let count = (last - first).clamp(0.0, 20.0) as usize;
        let ticks = (0..=count).map(|tick| (first + tick as f64) * step);
        ticks
            .filter(|tick| tick.is_finite() && (self.low - step..=self.high + step).contains(tick))
            .collect()
    }

    fn shown(&self, value: f64) -> String {
        let (factor, unit) = if self.shares { (100.0, "%") } else { (1.0, "") };
        let step = step(self.high - self.low) * factor;
        let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
        // No minus before a zero.
        let value = value * factor + 0.0;
        let value = if value.abs() < step / 1e6 { 0.0 } else { value };
        format!("{value:.digits$}{unit}")
    }
}

/// The round number (1, 2 or 5 times a power of ten) of which about five make the length.
fn step(length: f64) -> f64 {
    if !(length.is_finite() && length > 0.0) {
        return 1.0;
    }
    let rough = length / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= rough * 0.999)
        .unwrap_or(10.0);
    factor * power
}

impl Series {
    /// A line without dots.
    pub fn line(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            points,
            joined: true,
            dots: false,
        }
    }

    /// The same with a dot at every point.
    pub fn with_dots(self) -> Self {
        Self { dots: true, ..self }
    }
}

impl Point {
    /// A point of usual size.
    pub fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            band: None,
            size: 1.0,
        }
    }

    /// The same, known to lie between two values.
    pub fn with_band(self, low: f64, high: f64) -> Self {
        Self {
            band: Some((low, high)),
            ..self
        }
    }

    /// The same with a dot of another size.
    pub fn with_size(self, size: f64) -> Self {
        Self { size, ..self }
    }

    fn is_finite(&self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.size.is_finite()
    }
}

/// Width and height of the drawing, in units that are about a pixel on a phone.
const SIZE: (f64, f64) = (420.0, 300.0);
/// Room for ticks and titles at the left, top, right and foot.
const ROOM: [f64; 4] = [62.0, 12.0, 16.0, 50.0];
/// The radius of a dot of usual size.
const DOT: f64 = 4.0;

/// The colours of curves: neighbours differ in hue and in lightness.
pub(super) const SERIES_SLOTS: [usize; 6] = [3, 7, 1, 2, 0, 6];
/// Beside colour, curves differ in their dashes.
const DASHES: [&str; 6] = ["", "7 4", "2 4", "10 3 2 3", "14 5", "8 3 2 3 2 3"];

/// Colour and dashes of a curve. Curves of one colour have other dashes, up to 36 of them.
fn look(number: usize) -> (usize, &'static str) {
    let round = number / SERIES_SLOTS.len();
    let slot = SERIES_SLOTS[number % SERIES_SLOTS.len()];
    (slot, DASHES[(number + round) % DASHES.len()])
}

impl LinePlot {
    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let [left, top, right, foot] = ROOM;
        let width = SIZE.0 - left - right;
        let height = SIZE.1 - top - foot;
        (
            left + width * self.x.share(x),
            top + height * (1.0 - self.y.share(y)),
        )
    }

    fn drawn_references(&self) -> impl Iterator<Item = &Reference> {
        let is_finite = |(x, y): (f64, f64)| x.is_finite() && y.is_finite();
        self.references
            .iter()
            .filter(move |reference| is_finite(reference.from) && is_finite(reference.to))
    }

    fn drawn_marks(&self) -> impl Iterator<Item = &Place> {
        self.marks
            .iter()
            .filter(|mark| mark.x.is_finite() && mark.y.is_finite())
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let title = Escaped(&self.title);
        write!(
            out,
            "<figure class=\"plot\">\n<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{title}\">\n",
            SIZE.0, SIZE.1
        )?;
        self.write_axes(out)?;
        for reference in self.drawn_references() {
            let (x1, y1) = self.place(reference.from.0, reference.from.1);
            let (x2, y2) = self.place(reference.to.0, reference.to.1);
            writeln!(
                out,
                "<line class=\"reference\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
            )?;
        }
        for (number, series) in self.series.iter().enumerate() {
            self.write_series(out, number, series)?;
        }
        for (number, mark) in self.drawn_marks().enumerate() {
            let (x, y) = self.place(mark.x, mark.y);
            writeln!(
                out,
                "<g class=\"spot\"><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\"/><text x=\"{x:.1}\" y=\"{:.1}\">{}</text><title>{}</title></g>",
                y + 4.0,
                number + 1,
                Escaped(&mark.name)
            )?;
        }
        out.write_str("</svg>\n")?;
        self.write_legend(out)?;
        out.write_str("</figure>\n")
    }

    fn write_axes(&self, out: &mut String) -> fmt::Result {
        let [left, top, right, foot] = ROOM;
        let (end, base) = (SIZE.0 - right, SIZE.1 - foot);
        out.write_str("<g class=\"axes\">\n")?;
        for tick in self.y.ticks() {
            let (_, y) = self.place(self.x.low, tick);
            writeln!(
                out,
                "<line x1=\"{left}\" y1=\"{y:.1}\" x2=\"{end}\" y2=\"{y:.1}\"/><text class=\"left\" x=\"{}\" y=\"{:.1}\">{}</text>",
                left - 7.0,
                y + 4.5,
                Escaped(&self.y.shown(tick))
            )?;
        }
        for tick in self.x.ticks() {
            let (x, _) = self.place(tick, self.y.low);
            writeln!(
                out,
                "<line x1=\"{x:.1}\" y1=\"{base}\" x2=\"{x:.1}\" y2=\"{}\"/><text x=\"{x:.1}\" y=\"{}\">{}</text>",
                base + 5.0,
                base + 19.0,
                Escaped(&self.x.shown(tick))
            )?;
        }
        let (middle, half) = ((left + end) / 2.0, (top + base) / 2.0);
        writeln!(
            out,
            "<text class=\"title\" x=\"{middle}\" y=\"{}\">{}</text>\n<text class=\"title\" x=\"14\" y=\"{half}\" transform=\"rotate(-90 14 {half})\">{}</text>\n</g>",
            SIZE.1 - 8.0,
            Escaped(&self.x.title),
            Escaped(&self.y.title)
        )
    }

    fn write_series(&self, out: &mut String, number: usize, series: &Series) -> fmt::Result {
        let (slot, dash) = look(number);
        let points: Vec<&Point> = series.points.iter().filter(|point| point.is_finite()).collect();
        writeln!(out, "<g class=\"series c{slot}\">")?;
        let banded: Vec<(f64, f64, f64)> = points
            .iter()
            .filter_map(|point| {
                let (low, high) = point.band?;
                (low.is_finite() && high.is_finite()).then_some((point.x, low, high))
            })
            .collect();
        if banded.len() > 1 {
            let upper = banded.iter().map(|&(x, _, high)| self.place(x, high));
            let lower = banded.iter().rev().map(|&(x, low, _)| self.place(x, low));
            writeln!(
                out,
                "<polygon class=\"band\" points=\"{}\"/>",
                joined(upper.chain(lower))
            )?;
        } else if let [(x, low, high)] = banded[..] {
            let ((x, from), (_, to)) = (self.place(x, low), self.place(x, high));
            writeln!(
                out,
                "<line class=\"whisker\" x1=\"{x:.1}\" y1=\"{from:.1}\" x2=\"{x:.1}\" y2=\"{to:.1}\"/>"
            )?;
        }
        let places = || points.iter().map(|point| self.place(point.x, point.y));
        if series.joined && points.len() > 1 {
            writeln!(
                out,
                "<polyline points=\"{}\" stroke-dasharray=\"{dash}\"/>",
                joined(places())
            )?;
        }
        if series.dots || points.len() == 1 {
            for (point, (x, y)) in points.iter().zip(places()) {
                let radius = DOT * point.size.clamp(0.3, 4.0);
                writeln!(
                    out,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{}: {}</title></circle>",
                    Escaped(&exact(&self.x, point.x)),
                    Escaped(&exact(&self.y, point.y))
                )?;
            }
        }
        out.write_str("</g>\n")
    }

    fn write_legend(&self, out: &mut String) -> fmt::Result {
        out.write_str("<figcaption><ul>\n")?;
        for (number, series) in self.series.iter().enumerate() {
            let (slot, dash) = look(number);
            writeln!(
                out,
                "<li class=\"c{slot}\"><svg class=\"sample\" viewBox=\"0 0 28 10\" aria-hidden=\"true\"><line class=\"drawn\" x1=\"1\" y1=\"5\" x2=\"27\" y2=\"5\" stroke-dasharray=\"{dash}\"/></svg>{}</li>",
                Escaped(&series.name)
            )?;
        }
        for reference in self.drawn_references() {
            writeln!(
                out,
                "<li><svg class=\"sample\" viewBox=\"0 0 28 10\" aria-hidden=\"true\"><line class=\"reference\" x1=\"1\" y1=\"5\" x2=\"27\" y2=\"5\"/></svg>{}</li>",
                Escaped(&reference.name)
            )?;
        }
        for (number, mark) in self.drawn_marks().enumerate() {
            writeln!(
                out,
                "<li><b class=\"spot\">{}</b>{}</li>",
                number + 1,
                Escaped(&mark.name)
            )?;
        }
        out.write_str("</ul></figcaption>\n")
    }
}

fn joined(places: impl Iterator<Item = (f64, f64)>) -> String {
    let places: Vec<String> = places.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    places.join(" ")
}

fn exact(axis: &Axis, value: f64) -> String {
    if axis.shares {
        format!("{:.1}%", 100.0 * value)
    } else {
        format!("{value}")
    }
}

#[cfg(test)]
mod tests;

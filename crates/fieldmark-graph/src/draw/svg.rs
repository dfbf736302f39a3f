//! A drawing as SVG.

use super::layout::{CHARACTER, LABEL, Layout, NARROW, Point, RADIUS, Route, SQUARE};
use super::palette::{COLOURS, colour_of, dash_of};
use super::{Drawing, Place};
use std::fmt::{self, Display, Write};

/// Corners of lines are rounded.
const CORNER: f64 = 5.0;
/// The height of a line of the legend.
const LEGEND: f64 = 20.0;
const MARGIN: f64 = 14.0;

pub(super) fn write(drawing: &Drawing) -> String {
    let layout = Layout::new(drawing);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_svg(drawing, &layout, &mut out);
    out
}

fn write_svg(drawing: &Drawing, layout: &Layout, out: &mut String) -> fmt::Result {
    let legend = Legend::new(drawing, layout);
    let (width, height) = (layout.width.ceil(), (layout.height + legend.height).ceil());
    let caption = Escaped(&drawing.caption);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fieldmark-graph\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{caption}\">"
    )?;
    write_style(drawing, out)?;
    writeln!(
        out,
        "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>"
    )?;
    writeln!(
        out,
        "<text class=\"caption\" x=\"{MARGIN}\" y=\"24\">{caption}</text>"
    )?;
    write_names(drawing, layout, out)?;
    write_lines(drawing, layout, out)?;
    write_variables(drawing, layout, out)?;
    write_squares(drawing, layout, out)?;
    legend.write(drawing, layout.height, out)?;
    writeln!(out, "</svg>")
}

fn write_style(drawing: &Drawing, out: &mut String) -> fmt::Result {
    let used = COLOURS.iter().enumerate().take(drawing.templates.len());
    out.push_str(
        "<style>\n\
         .fieldmark-graph{font:12px system-ui,sans-serif}\n\
         .fieldmark-graph text{fill:#1b2027}\n\
         .fieldmark-graph .page{fill:#fff}\n\
         .fieldmark-graph .caption{font-size:13px;font-weight:600}\n\
         .fieldmark-graph .faint{fill:#5b6572}\n\
         .fieldmark-graph .small{font-size:11px}\n\
         .fieldmark-graph .middle{text-anchor:middle}\n\
         .fieldmark-graph .variable{fill:#f5f7fa;stroke:#4a5462;stroke-width:1.3}\n\
         .fieldmark-graph .gold{fill:#b3123f}\n\
         .fieldmark-graph .differs{stroke:#b3123f;stroke-width:2.4;stroke-dasharray:5 3}\n\
         .fieldmark-graph path{fill:none;stroke-width:1.3}\n",
    );
    for (number, colour) in used.clone() {
        let light = colour.light;
        writeln!(
            out,
            ".fieldmark-graph .c{number}{{stroke:{light}}}.fieldmark-graph .s{number}{{fill:{light};stroke:#fff}}"
        )?;
    }
    out.push_str(
        "@media (prefers-color-scheme:dark){\n\
         .fieldmark-graph text{fill:#e8ecf2}\n\
         .fieldmark-graph .page{fill:#14181e}\n\
         .fieldmark-graph .faint{fill:#a3adba}\n\
         .fieldmark-graph .variable{fill:#222831;stroke:#a3adba}\n\
         .fieldmark-graph .gold{fill:#ff9fb2}\n\
         .fieldmark-graph .differs{stroke:#ff9fb2}\n",
    );
    for (number, colour) in used {
        let dark = colour.dark;
        writeln!(
            out,
            ".fieldmark-graph .c{number}{{stroke:{dark}}}.fieldmark-graph .s{number}{{fill:{dark};stroke:#14181e}}"
        )?;
    }
    out.push_str("}\n</style>\n");
    Ok(())
}

/// The names of layers at the left, of positions at the foot.
fn write_names(drawing: &Drawing, layout: &Layout, out: &mut String) -> fmt::Result {
    let rows = drawing.rows.iter().zip(&layout.rows);
    let bars = drawing.bars.iter().zip(&layout.bars);
    for (name, y) in bars.chain(rows) {
        writeln!(
            out,
            "<text class=\"name\" x=\"{MARGIN}\" y=\"{}\">{}<title>{}</title></text>",
            y + 4.0,
            Escaped(&shortened(name, 2 * LABEL)),
            Escaped(name)
        )?;
    }
    let pitch = match &layout.columns[..] {
        [one, next, ..] => next - one,
        _ => 140.0,
    };
    let room = (pitch / NARROW) as usize;
    for (column, x) in drawing.columns.iter().zip(&layout.columns) {
        if !column.token.is_empty() {
            writeln!(
                out,
                "<text class=\"token middle\" x=\"{x:.1}\" y=\"{:.1}\">{}<title>{}</title></text>",
                layout.foot + 2.0,
                Escaped(&shortened(&column.token, room.saturating_sub(2))),
                Escaped(&column.token)
            )?;
        }
        writeln!(
            out,
            "<text class=\"faint small middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            layout.foot + if column.token.is_empty() { 2.0 } else { 18.0 },
            column.number
        )?;
    }
    Ok(())
}

fn write_lines(drawing: &Drawing, layout: &Layout, out: &mut String) -> fmt::Result {
    for (factor, route) in drawing.factors.iter().zip(&layout.factors) {
        write!(out, "<path class=\"c{}\"", colour_of(factor.template))?;
        if !dash_of(factor.template).is_empty() {
            write!(out, " stroke-dasharray=\"{}\"", dash_of(factor.template))?;
        }
        write!(out, " d=\"")?;
        write_path(route, out)?;
        writeln!(out, "\"><title>{}</title></path>", Escaped(&factor.title))?;
    }
    Ok(())
}

fn write_path(route: &Route, out: &mut String) -> fmt::Result {
    for line in &route.lines {
        let Some((&(x, y), rest)) = line.split_first() else {
            continue;
        };
        write!(out, "M{x:.1} {y:.1}")?;
        let mut from = (x, y);
        for (index, &corner) in rest.iter().enumerate() {
            match rest.get(index + 1) {
                Some(&next) => {
                    let (start, end) = (towards(corner, from), towards(corner, next));
                    write!(
                        out,
                        "L{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
                        start.0, start.1, corner.0, corner.1, end.0, end.1
                    )?;
                }
                None => write!(out, "L{:.1} {:.1}", corner.0, corner.1)?,
            }
            from = corner;
        }
    }
    Ok(())
}

/// A point on the way from a corner to another, where the curve of the corner ends.
fn towards(corner: Point, other: Point) -> Point {
    let (dx, dy) = (other.0 - corner.0, other.1 - corner.1);
    let length = dx.hypot(dy);
    if length == 0.0 {
        return corner;
    }
    let share = CORNER.min(length / 2.0) / length;
    (corner.0 + dx * share, corner.1 + dy * share)
}

fn write_variables(drawing: &Drawing, layout: &Layout, out: &mut String) -> fmt::Result {
    for (variable, node) in drawing.variables.iter().zip(&layout.nodes) {
        let (x, y) = node.middle;
        let room = match variable.place {
            Place::Cell { .. } => LABEL,
            Place::Bar(_) => (2.0 * node.half_width / NARROW) as usize,
        };
        write!(
            out,
            "<g><title>{}</title><rect class=\"variable{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\" \
             rx=\"{RADIUS}\"/><text class=\"small middle\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            Escaped(&variable.title),
            if variable.differs { " differs" } else { "" },
            x - node.half_width,
            y - RADIUS,
            2.0 * node.half_width,
            2.0 * RADIUS,
            if variable.differs { y - 3.0 } else { y + 4.0 },
            Escaped(&shortened(&variable.text, room))
        )?;
        if variable.differs {
            write!(
                out,
                "<text class=\"small middle gold\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                y + 10.0,
                Escaped(&shortened(&variable.gold, room))
            )?;
        }
        writeln!(out, "</g>")?;
    }
    Ok(())
}

fn write_squares(drawing: &Drawing, layout: &Layout, out: &mut String) -> fmt::Result {
    for (factor, route) in drawing.factors.iter().zip(&layout.factors) {
        write_square(factor.template, route.square, out)?;
        writeln!(out, "<title>{}</title></rect>", Escaped(&factor.title))?;
    }
    Ok(())
}

fn write_square(template: usize, (x, y): Point, out: &mut String) -> fmt::Result {
    write!(
        out,
        "<rect class=\"factor s{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\">",
        colour_of(template),
        x - SQUARE,
        y - SQUARE,
        2.0 * SQUARE,
        2.0 * SQUARE
    )
}

/// Where the names of templates stand.
struct Legend {
    /// From the top of the legend.
    places: Vec<Point>,
    height: f64,
}

/// Most characters of the name of a template.
const TEMPLATE: usize = 60;

impl Legend {
    fn new(drawing: &Drawing, layout: &Layout) -> Self {
        let mut places = Vec::new();
        let (mut x, mut y) = (MARGIN, LEGEND);
        for (number, _) in drawing.templates.iter().enumerate() {
            let width = 50.0 + text(drawing, number).chars().count() as f64 * CHARACTER;
            if x > MARGIN && x + width > layout.width {
                (x, y) = (MARGIN, y + LEGEND);
            }
            places.push((x, y));
            x += width;
        }
        Self {
            places,
            height: y + LEGEND,
        }
    }

    fn write(&self, drawing: &Drawing, top: f64, out: &mut String) -> fmt::Result {
        for (number, &(x, y)) in self.places.iter().enumerate() {
            let y = top + y;
            let dash = dash_of(number);
            writeln!(
                out,
                "<path class=\"c{}\" stroke-dasharray=\"{}\" d=\"M{x:.1} {y:.1}h26\"/>",
                colour_of(number),
                if dash.is_empty() { "none" } else { dash }
            )?;
            write_square(number, (x + 13.0, y), out)?;
            writeln!(
                out,
                "</rect><text class=\"template\" x=\"{:.1}\" y=\"{:.1}\">{}<title>{}</title></text>",
                x + 33.0,
                y + 4.0,
                Escaped(&text(drawing, number)),
                Escaped(&drawing.templates[number].name)
            )?;
        }
        Ok(())
    }
}

fn text(drawing: &Drawing, template: usize) -> String {
    let template = &drawing.templates[template];
    format!("{} ({})", shortened(&template.name, TEMPLATE), template.factors)
}

/// A text of so many characters at most.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A text with everything replaced that XML does not allow in texts and attributes.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for symbol in self.0.chars() {
            match symbol {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\t' | '\n' | '\r' => f.write_char(' ')?,
                symbol if symbol.is_control() || matches!(symbol, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char('\u{fffd}')?;
                }
                symbol => f.write_char(symbol)?,
            }
        }
        Ok(())
    }
}

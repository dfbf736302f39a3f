//! A drawing in the language of Graphviz.

use super::palette::{COLOURS, colour_of};
use super::{Drawing, Place, Variable};
use std::fmt::{self, Write};

pub(super) fn write(drawing: &Drawing) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_graph(drawing, &mut out);
    out
}

fn write_graph(drawing: &Drawing, out: &mut String) -> fmt::Result {
    writeln!(out, "graph {} {{", quoted(&drawing.caption))?;
    writeln!(
        out,
        "  graph [label={}, labelloc=t, nodesep=0.15, ranksep=0.3, fontname=\"sans-serif\"];",
        quoted(&drawing.caption)
    )?;
    writeln!(out, "  node [fontname=\"sans-serif\", fontsize=11];")?;
    write_variables(drawing, out)?;
    write_factors(drawing, out)?;
    write_legend(drawing, out)?;
    writeln!(out, "}}")
}

/// One rank for each layer.
fn write_variables(drawing: &Drawing, out: &mut String) -> fmt::Result {
    let variables = || drawing.variables.iter().enumerate();
    for (number, variable) in variables() {
        if let Place::Bar(bar) = variable.place {
            writeln!(
                out,
                "  v{number} [shape=box, style=rounded, label={}, tooltip={}];",
                quoted(&lines(&[&drawing.bars[bar], &variable.text, &gold(variable)])),
                quoted(&variable.title)
            )?;
        }
    }
    for (index, name) in drawing.rows.iter().enumerate() {
        writeln!(out, "  subgraph row{index} {{")?;
        writeln!(out, "    rank=same;")?;
        writeln!(out, "    name{index} [shape=plaintext, label={}];", quoted(name))?;
        for (number, variable) in variables() {
            let Place::Cell { row, column } = variable.place else {
                continue;
            };
            if row != index {
                continue;
            }
            let column = &drawing.columns[column];
            let position = column.number.to_string();
            let label = lines(&[&position, &column.token, &variable.text, &gold(variable)]);
            writeln!(
                out,
                "    v{number} [shape=ellipse, style={}, label={}, tooltip={}];",
                if variable.differs { "dashed" } else { "solid" },
                quoted(&label),
                quoted(&variable.title)
            )?;
        }
        writeln!(out, "  }}")?;
    }
    Ok(())
}

fn write_factors(drawing: &Drawing, out: &mut String) -> fmt::Result {
    for (number, factor) in drawing.factors.iter().enumerate() {
        let colour = COLOURS[colour_of(factor.template)].light;
        writeln!(
            out,
            "  f{number} [shape=square, width=0.12, fixedsize=true, label=\"\", style=filled, color=\"{colour}\", \
             fillcolor=\"{colour}\", tooltip={}];",
            quoted(&factor.title)
        )?;
        for variable in &factor.scope {
            writeln!(out, "  f{number} -- v{variable} [color=\"{colour}\"];")?;
        }
    }
    Ok(())
}

fn write_legend(drawing: &Drawing, out: &mut String) -> fmt::Result {
    writeln!(out, "  subgraph cluster_legend {{")?;
    writeln!(out, "    label=\"templates\";")?;
    for (number, template) in drawing.templates.iter().enumerate() {
        let colour = COLOURS[colour_of(number)].light;
        let label = format!("{} ({})", template.name, template.factors);
        writeln!(
            out,
            "    t{number} [shape=plaintext, fontcolor=\"{colour}\", label={}];",
            quoted(&label)
        )?;
    }
    writeln!(out, "  }}")
}

/// The gold label where another was found.
fn gold(variable: &Variable) -> String {
    if variable.differs {
        format!("gold: {}", variable.gold)
    } else {
        String::new()
    }
}

/// The texts that are not empty, one on each line.
fn lines(texts: &[&str]) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

/// A text in quotes. Backslashes and ampersands begin escapes there.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for symbol in text.chars() {
        match symbol {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '&' => quoted.push_str("&amp;"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push(' '),
            symbol if symbol.is_control() => quoted.push('\u{fffd}'),
            symbol => quoted.push(symbol),
        }
    }
    quoted.push('"');
    quoted
}

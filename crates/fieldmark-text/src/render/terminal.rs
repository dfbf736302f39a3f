//! Annotated text on a terminal.

use super::palette::COLOURS;
use super::{Annotation, Palette, Piece, RenderError, percent, pieces, visible};
use std::fmt::Write;

/// The text with its annotations, and below it a legend with the number of spans of each type.
///
/// With `colour`, spans have a background (256 colours, black text); without, they stand in brackets as in
/// [`markup`](crate::markup). Type and confidence are written beside each span either way. Control characters
/// of the text are made visible, so that it cannot steer the terminal.
///
/// ```
/// use fieldmark_text::render::{Annotation, terminal};
/// let spans = [Annotation::new(5, 9, "DRUG").with_confidence(0.93)];
/// assert_eq!(terminal::render("Give iron now.", &spans, false)?, "Give [iron](DRUG 93%) now.\n\nDRUG 1\n");
/// # Ok::<(), fieldmark_text::render::RenderError>(())
/// ```
pub fn render(text: &str, annotations: &[Annotation<'_>], colour: bool) -> Result<String, RenderError> {
    let pieces = pieces(text, annotations)?;
    let palette = Palette::new(annotations.iter().map(|annotation| annotation.kind));
    let mut out = String::new();
    for piece in &pieces {
        match piece.mark {
            None => out.extend(piece.text.chars().map(visible)),
            Some(mark) if colour => coloured(&mut out, piece, mark, palette.slot(mark.kind)),
            Some(mark) => bracketed(&mut out, piece, mark),
        }
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    legend(&mut out, annotations, &palette, colour);
    Ok(out)
}

fn coloured(out: &mut String, piece: &Piece<'_>, mark: &Annotation<'_>, slot: usize) {
    for (index, line) in piece.text.split('\n').enumerate() {
        if index > 0 {
            // A background that is on at the end of a line fills the next one on some terminals.
            out.push_str("\x1b[0m\n");
        }
        begin(out, slot);
        out.extend(line.chars().map(visible));
    }
    out.push_str("\x1b[22m ");
    out.push_str(&tag(mark));
    out.push_str("\x1b[0m");
}

fn bracketed(out: &mut String, piece: &Piece<'_>, mark: &Annotation<'_>) {
    out.push('[');
    out.extend(piece.text.chars().map(visible));
    out.push_str("](");
    out.push_str(&tag(mark));
    out.push(')');
}

fn legend(out: &mut String, annotations: &[Annotation<'_>], palette: &Palette<'_>, colour: bool) {
    for (index, kind) in palette.kinds().enumerate() {
        let count = annotations
            .iter()
            .filter(|annotation| annotation.kind == kind)
            .count();
        out.push_str(if index == 0 { "\n" } else { "  " });
        let name: String = kind.chars().map(line_character).collect();
        if colour {
            begin(out, palette.slot(kind));
            push(out, format_args!(" {name} \x1b[0m {count}"));
        } else {
            push(out, format_args!("{name} {count}"));
        }
    }
    if !annotations.is_empty() {
        out.push('\n');
    }
}

fn begin(out: &mut String, slot: usize) {
    push(
        out,
        format_args!("\x1b[1;38;5;16;48;5;{}m", COLOURS[slot].terminal),
    );
}

fn tag(mark: &Annotation<'_>) -> String {
    let kind: String = mark.kind.chars().map(line_character).collect();
    match mark.confidence {
        Some(confidence) => format!("{kind} {}", percent(confidence)),
        None => kind,
    }
}

/// A type is shown in one line.
fn line_character(c: char) -> char {
    if c == '\n' { '\u{240A}' } else { visible(c) }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left when the escape sequences are taken away.
    fn stripped(out: &str) -> String {
        let mut parts = out.split("\x1b[");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            text + part.split_once('m').expect("every sequence sets a colour").1
        })
    }

    #[test]
    fn plain_text_uses_brackets() {
        let spans = [
            Annotation::new(10, 15, "DOSE").with_confidence(0.5),
            Annotation::new(5, 9, "DRUG"),
        ];
        let out = render("Give iron 40 mg\n", &spans, false).unwrap();
        assert_eq!(out, "Give [iron](DRUG) [40 mg](DOSE 50%)\n\nDOSE 1  DRUG 1\n");
    }

    #[test]
    fn colour_adds_only_sequences() {
        let spans = [Annotation::new(5, 9, "DRUG").with_confidence(0.934)];
        let out = render("Give iron now", &spans, true).unwrap();
        assert_eq!(stripped(&out), "Give iron DRUG 93% now\n\n DRUG  1\n");
        assert!(out.contains("iron\x1b[22m DRUG 93%\x1b[0m now"));
    }

    #[test]
    fn colour_stops_at_the_end_of_a_line() {
        let out = render("a\nb", &[Annotation::new(0, 3, "X")], true).unwrap();
        let first = out.lines().next().unwrap();
        assert!(first.ends_with("a\x1b[0m"), "{first:?}");
    }

    #[test]
    fn the_text_cannot_steer_the_terminal() {
        let text = "\x1b[2J evil \u{9b}2J";
        for colour in [false, true] {
            let out = render(text, &[Annotation::new(5, 9, "X\x1b[2J\n")], colour).unwrap();
            assert!(!out.contains("\x1b[2J") && !out.contains('\u{9b}'), "{out:?}");
            assert!(stripped(&out).contains("␛[2J"));
        }
    }

    #[test]
    fn nothing_marked_no_legend() {
        assert_eq!(render("All well.", &[], true).unwrap(), "All well.\n");
        assert_eq!(render("", &[], false).unwrap(), "\n");
    }

    #[test]
    fn bad_spans_are_errors() {
        assert!(render("é", &[Annotation::new(0, 1, "X")], true).is_err());
        assert!(render("é", &[Annotation::new(0, 3, "X")], false).is_err());
    }
}

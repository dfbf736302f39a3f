//! Text tables with aligned columns.

use std::fmt;

/// Rows of cells; the first column is aligned to the left, the others to the right.
pub(super) struct Table {
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Wider tables are broken into blocks of columns.
const MOST_WIDTH: usize = 100;

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = || std::iter::once(&self.head).chain(&self.rows);
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| rows().map(|row| width(&row[column])).max().unwrap_or(0))
            .collect();
        let mut first = 1;
        while first < widths.len() {
            let mut end = first;
            let mut total = widths[0];
            while end < widths.len() && (end == first || total + 2 + widths[end] <= MOST_WIDTH) {
                total += 2 + widths[end];
                end += 1;
            }
            if first > 1 {
                writeln!(f)?;
            }
            for row in rows() {
                write!(f, "  {:<1$}", row[0], widths[0])?;
                for column in first..end {
                    write!(f, "  {:>1$}", row[column], widths[column])?;
                }
                writeln!(f)?;
            }
            first = end;
        }
        Ok(())
    }
}

/// The columns that a text takes on a terminal, as far as one per character.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// A count with its thousands set apart.
pub(super) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A weight in few characters, with its sign.
pub(super) fn signed(weight: f64) -> String {
    if weight != 0.0 && !(1e-3..1e6).contains(&weight.abs()) {
        format!("{weight:+.2e}")
    } else {
        format!("{weight:+.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_broken_into_blocks() {
        let cells = |texts: &[&str]| -> Vec<String> { texts.iter().map(|&text| text.to_owned()).collect() };
        let table = Table {
            head: cells(&["", "Ä", "long"]),
            rows: vec![cells(&["row", "+1.5", "-"]), cells(&["r", "-", "2"])],
        };
        assert_eq!(
            table.to_string(),
            "          Ä  long\n  row  +1.5     -\n  r       -     2\n"
        );

        let wide = Table {
            head: (0..40).map(|i| format!("column {i}")).collect(),
            rows: vec![(0..40).map(|i| i.to_string()).collect()],
        };
        let text = wide.to_string();
        assert!(text.lines().all(|line| width(line) <= MOST_WIDTH + 2));
        assert!((0..40).all(|i| text.contains(&format!("column {i}"))));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            ["0", "999", "1,000", "1,234,567"],
            [0, 999, 1000, 1_234_567].map(grouped).each_ref().map(|s| &s[..])
        );
        let weights = [0.0, -1.5, 2e-9, -3.25e120].map(signed);
        assert_eq!(
            ["+0.000", "-1.500", "+2.00e-9", "-3.25e120"],
            weights.each_ref().map(|s| &s[..])
        );
    }
}

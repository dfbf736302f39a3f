//! From the text of a template to its lines.

use super::{Apply, Item, Line, Macro, Row, Template, TemplateError, pattern};

impl Template {
    /// Parses a template.
    ///
    /// Patterns of `%t` and `%m` are those of Wapiti: `.`, the classes `\a \d \l \p \s \u \w` (letter, digit,
    /// lower case, punctuation, space, upper case, letter or digit) and their complements in upper case,
    /// `^` and `$` at the ends, `*` (as few as possible) and `?` after a single character, `\` before a
    /// character that stands for itself. They are compiled once.
    ///
    /// A line that begins with `#` is a comment, and so is what follows a `#` after a blank. Blanks at the
    /// end of a line do not count.
    ///
    /// ```
    /// use fieldmark_text::Template;
    /// let error = Template::parse("U00:%x[0,0]\nU01:%x[0;1]\n").unwrap_err();
    /// assert_eq!((error.line, error.column), (2, 9));
    /// ```
    pub fn parse(source: &str) -> Result<Self, TemplateError> {
        let template = Self::from_lines(source.to_owned())?;
        if template.lines.is_empty() && !template.label_bigram {
            let message =
                "there is no line that begins with U, B or *. Is this the template file?".to_owned();
            return Err(TemplateError {
                line: 1,
                column: 1,
                message,
            });
        }
        Ok(template)
    }

    pub(super) fn from_lines(source: String) -> Result<Self, TemplateError> {
        let mut lines = Vec::new();
        let mut label_bigram = false;
        let mut start = 0;
        for (index, text) in source.split('\n').enumerate() {
            // A byte order mark is no part of the first line.
            let skipped = if index == 0 && text.starts_with('\u{FEFF}') {
                '\u{FEFF}'.len_utf8()
            } else {
                0
            };
            let mut parser = LineParser {
                source: &source,
                start: start + skipped,
                text: &text[skipped..],
                at: 0,
            };
            let line = parser.line().map_err(|(at, message)| {
                let at = (skipped + at).min(text.len());
                let column = text[skipped..at].chars().count() + 1;
                TemplateError {
                    line: index + 1,
                    column,
                    message,
                }
            })?;
            match line {
                Some(mut line)
                    if line.step && !line.items.iter().any(|item| matches!(item, Item::Macro(_))) =>
                {
                    label_bigram = true;
                    line.step = false;
                    lines.extend(line.position.then_some(line));
                }
                line => lines.extend(line),
            }
            start += text.len() + 1;
        }
        Ok(Self {
            source,
            lines,
            label_bigram,
        })
    }
}

/// What is wrong, at a byte of the line.
type Problem = (usize, String);

struct LineParser<'a> {
    source: &'a str,
    /// Where the line starts in the source.
    start: usize,
    text: &'a str,
    at: usize,
}

impl LineParser<'_> {
    fn line(&mut self) -> Result<Option<Line>, Problem> {
        let (position, step) = match self.text.chars().next() {
            None | Some('#') => return Ok(None),
            Some('U' | 'u') => (true, false),
            Some('B' | 'b') => (false, true),
            Some('*') => (true, true),
            Some(_) if self.text.trim().is_empty() => return Ok(None),
            Some(other) => {
                return Err((
                    0,
                    format!(
                        "found `{}`, expected U, B, * or # at the beginning",
                        other.escape_debug()
                    ),
                ));
            }
        };
        let mut items = Vec::new();
        while self.at < self.text.len() {
            if self.rest().starts_with('%') {
                items.push(Item::Macro(self.parse_macro()?));
                continue;
            }
            let (text, more) = self.plain_text();
            if !text.is_empty() {
                items.push(Item::Text(text.to_owned()));
            }
            if !more {
                break;
            }
        }
        Ok(Some(Line {
            position,
            step,
            items,
        }))
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// The text up to the next macro, and whether the line goes on after it.
    fn plain_text(&mut self) -> (&str, bool) {
        let rest = &self.text[self.at..];
        let mut previous = None;
        let end = rest.char_indices().find(|&(_, c)| {
            let comment = c == '#' && previous.is_some_and(char::is_whitespace);
            previous = Some(c);
            c == '%' || comment
        });
        match end {
            Some((end, '%')) => {
                self.at += end;
                (&rest[..end], true)
            }
            Some((end, _)) => (rest[..end].trim_end(), false),
            None => (rest.trim_end(), false),
        }
    }

    fn parse_macro(&mut self) -> Result<Macro, Problem> {
        let begin = self.at;
        self.at += 1;
        let kind = self.rest().chars().next();
        let Some(kind @ ('x' | 'X' | 't' | 'T' | 'm' | 'M')) = kind else {
            let found: String = kind.map(|c| c.escape_debug().to_string()).unwrap_or_default();
            let message = format!("found `%{found}`, expected %x, %t or %m (%X, %T or %M for lower case)");
            return Err((begin, message));
        };
        self.at += 1;
        self.expect('[', "after the name of the macro")?;
        let row = self.row()?;
        self.expect(',', "between row and column")?;
        let column = self.number::<u16>("a column (0, 1, …)")?;
        let apply = match kind.to_ascii_lowercase() {
            'x' => Apply::Copy,
            kind => {
                self.expect(',', "between the column and the pattern in quotes")?;
                let pattern = self.pattern()?;
                if kind == 't' {
                    Apply::Test(pattern)
                } else {
                    Apply::First(pattern)
                }
            }
        };
        self.expect(']', "at the end of the macro")?;
        let span = self.start + begin..self.start + self.at;
        debug_assert!(self.source[span.clone()].starts_with('%'));
        Ok(Macro {
            row,
            column: usize::from(column),
            apply,
            lower_case: kind.is_ascii_uppercase(),
            span,
        })
    }

    fn row(&mut self) -> Result<Row, Problem> {
        self.skip_blanks();
        match self.rest().chars().next() {
            Some('@') => {
                self.at += 1;
                Ok(Row::Absolute(
                    self.number("a row of the sequence (1 is the first, -1 the last)")?,
                ))
            }
            Some('*') => {
                self.at += 1;
                Ok(Row::Indirect(usize::from(
                    self.number::<u16>("the column that holds the distance")?,
                )))
            }
            _ => Ok(Row::Relative(self.number("a row (… -1, 0, 1 …)")?)),
        }
    }

    fn number<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, Problem> {
        self.skip_blanks();
        let rest = self.rest();
        let sign = usize::from(rest.starts_with(['-', '+']));
        let length = sign + rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[..length].parse().map_err(|_| {
            let found: String = rest.chars().take(length.max(1)).collect();
            (
                self.at,
                format!("found `{}`, expected {expected}", found.escape_debug()),
            )
        })?;
        self.at += length;
        Ok(number)
    }

    fn pattern(&mut self) -> Result<regex::Regex, Problem> {
        self.expect('"', "before the pattern")?;
        let begin = self.at;
        loop {
            match self.rest().chars().next() {
                None => return Err((begin - 1, "the quote that begins here does not end".to_owned())),
                Some('"') => break,
                Some('\\') => {
                    self.at += 1;
                    self.at += self.rest().chars().next().map_or(0, char::len_utf8);
                }
                Some(c) => self.at += c.len_utf8(),
            }
        }
        let compiled =
            pattern::compile(&self.text[begin..self.at]).map_err(|(at, message)| (begin + at, message))?;
        self.at += 1;
        Ok(compiled)
    }

    fn expect(&mut self, expected: char, place: &str) -> Result<(), Problem> {
        self.skip_blanks();
        match self.rest().chars().next() {
            Some(found) if found == expected => {
                self.at += 1;
                Ok(())
            }
            Some(found) => Err((
                self.at,
                format!("found `{}`, expected `{expected}` {place}", found.escape_debug()),
            )),
            None => Err((self.at, format!("the line ends, expected `{expected}` {place}"))),
        }
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }
}

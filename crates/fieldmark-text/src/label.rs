//! [`LabelSyntax`]: what the text of a label means.

/// Whether labels may be unknown or ambiguous.
///
/// | text | [`Literal`](LabelSyntax::Literal) | [`Partial`](LabelSyntax::Partial) |
/// |---|---|---|
/// | `B-NP` | the label `B-NP` | the label `B-NP` |
/// | `?` | the label `?` | unknown: every label is allowed |
/// | `A\|B` | the label `A\|B` | ambiguous: `A` or `B` |
/// | `\?`, `\|`, `\\` | as it stands | a question mark, a bar, a backslash that is part of the name |
///
/// A question mark is special only where it is the whole label, and a backslash only before `?`, `|` and
/// `\`. Column files are read as `Partial` unless told otherwise; data whose labels hold bars (the
/// morphological features of Universal Dependencies) want `Literal`. Attribute files are read as
/// `Literal`, as CRFsuite reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LabelSyntax {
    /// Every label is a plain name.
    Literal,
    /// `?` is unknown, `A|B` is ambiguous.
    #[default]
    Partial,
}

impl LabelSyntax {
    /// Whether `label` is more than a plain name.
    #[inline]
    pub(crate) fn is_special(label: &str) -> bool {
        label == "?" || label.bytes().any(|byte| matches!(byte, b'|' | b'\\'))
    }

    /// Calls `each` with the name of every alternative of a label other than `?`.
    pub(crate) fn for_each_alternative(
        label: &str,
        scratch: &mut String,
        mut each: impl FnMut(&str),
    ) -> Result<(), &'static str> {
        scratch.clear();
        let mut empty = true;
        let mut lone_question_mark = false;
        let mut rest = label.chars().peekable();
        loop {
            match rest.next() {
                Some('\\') if matches!(rest.peek(), Some('?' | '|' | '\\')) => {
                    scratch.extend(rest.next());
                }
                Some('|') | None if empty => {
                    return Err("an alternative is empty. Write `\\|` for a bar in a name");
                }
                Some('|') | None if lone_question_mark => {
                    return Err(
                        "`?` allows every label and cannot be an alternative. Write `\\?` for the name",
                    );
                }
                next @ (Some('|') | None) => {
                    each(scratch);
                    if next.is_none() {
                        return Ok(());
                    }
                    scratch.clear();
                    empty = true;
                    lone_question_mark = false;
                    continue;
                }
                Some(c) => {
                    lone_question_mark = empty && c == '?';
                    scratch.push(c);
                    empty = false;
                    continue;
                }
            }
            lone_question_mark = false;
            empty = false;
        }
    }

    /// The names that `label` allows: one, or the alternatives of an ambiguous label, or none for an unknown
    /// one, which allows every name. What is wrong with the label otherwise.
    ///
    /// ```
    /// use fieldmark_text::LabelSyntax;
    /// assert_eq!(LabelSyntax::Partial.names(r"A|B\|C"), Ok(vec!["A".to_owned(), "B|C".to_owned()]));
    /// assert_eq!(LabelSyntax::Partial.names("?"), Ok(vec![]));
    /// assert_eq!(LabelSyntax::Literal.names("?"), Ok(vec!["?".to_owned()]));
    /// assert!(LabelSyntax::Partial.names("A|").is_err());
    /// ```
    pub fn names(self, label: &str) -> Result<Vec<String>, &'static str> {
        if self == LabelSyntax::Literal || !Self::is_special(label) {
            return Ok(vec![label.to_owned()]);
        }
        let mut names = Vec::new();
        if label != "?" {
            Self::for_each_alternative(label, &mut String::new(), |name| names.push(name.to_owned()))?;
        }
        Ok(names)
    }

    /// The text that this syntax reads as the plain label `name`.
    ///
    /// ```
    /// use fieldmark_text::LabelSyntax;
    /// assert_eq!(LabelSyntax::Partial.escape("Case=Nom|Number=Sing"), r"Case=Nom\|Number=Sing");
    /// assert_eq!(LabelSyntax::Partial.escape("?"), r"\?");
    /// assert_eq!(LabelSyntax::Literal.escape("?"), "?");
    /// ```
    pub fn escape(self, name: &str) -> String {
        match self {
            LabelSyntax::Literal => name.to_owned(),
            LabelSyntax::Partial if name == "?" => "\\?".to_owned(),
            LabelSyntax::Partial => name.replace('\\', "\\\\").replace('|', "\\|"),
        }
    }
}

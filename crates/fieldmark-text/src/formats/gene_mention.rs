//! The files of the gene mention task of BioCreative II.
//!
//! ```text
//! train.in            P00027739T0000 Serum gamma glutamyltransferase in the diagnosis of liver disease.
//! train.GENE.eval     P00027739T0000|0 28|Serum gamma glutamyltransferase
//! train.ALTGENE.eval  P00027739T0000|5 28|gamma glutamyltransferase
//! ```
//!
//! Offsets are those of the first and of the last character, and count characters that are not white space. A
//! sentence is a document; its genes are annotations of type [`GENE`], other forms that are as good are of type
//! [`ALTGENE`]. [`Mentions`] leaves one form of each gene, for training: the annotated one, the shortest or the
//! longest (Klinger et al. 2007, where models of short and of long forms are combined).

use super::lines::{Lines, quoted};
use super::losses::{Holds, Places, one_line};
use super::{DocumentReader, DocumentWriter, NoticeKind, Notices};
use crate::document::{Annotation, Document};
use crate::error::ReadError;
use crate::offsets::{Offsets, Unit};
use crate::source::Source;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The type of genes.
pub const GENE: &str = "GENE";
/// The type of other forms of genes.
pub const ALTGENE: &str = "ALTGENE";

/// The files of genes and of alternatives that belong to a file of sentences: `x.GENE.eval` and `x.ALTGENE.eval`
/// to `x.in`, beside it.
///
/// ```
/// use fieldmark_text::formats::mention_files;
/// use std::path::Path;
/// let [genes, alternatives] = mention_files(Path::new("data/train.in.gz"));
/// assert_eq!(genes, Path::new("data/train.GENE.eval"));
/// assert_eq!(alternatives, Path::new("data/train.ALTGENE.eval"));
/// ```
pub fn mention_files(sentences: &Path) -> [PathBuf; 2] {
    let name = sentences.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst"));
    let plain = plain.unwrap_or(&name);
    let stem = plain.strip_suffix(".in").unwrap_or(plain);
    [GENE, ALTGENE].map(|kind| sentences.with_file_name(format!("{stem}.{kind}.eval")))
}

/// The files of mentions beside a file of sentences that are there, plain or compressed.
pub(crate) fn mention_files_beside(sentences: &Path) -> [Option<PathBuf>; 2] {
    mention_files(sentences).map(|file| {
        let compressed = |ending: &str| {
            let mut name = file.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        [file.clone(), compressed(".gz"), compressed(".zst")]
            .into_iter()
            .find(|file| file.is_file())
    })
}

/// Which forms of genes become annotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mentions {
    /// The annotated ones and, with a type of their own, the alternatives: for evaluation and for conversion.
    #[default]
    All,
    /// The annotated ones.
    Gold,
    /// For each gene the shortest of the annotated form and the alternatives that overlap it. Where two of these
    /// overlap, the shorter one stays and the other gene takes its next form that overlaps nothing.
    Short,
    /// The same with the longest.
    Long,
}

/// Reads the [files of the gene mention task](self).
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{DocumentReader, GeneMentionReader, Mentions, Notices};
/// let sentences = Source::text("a.in", "P1 Serum gamma GT\n");
/// let genes = Source::text("a.GENE.eval", "P1|0 11|Serum gamma GT\n");
/// let alternatives = Source::text("a.ALTGENE.eval", "P1|5 11|gamma GT\n");
/// let mut reader = GeneMentionReader::new(&sentences, Some(&genes), Some(&alternatives), Mentions::Short)?;
/// let document = reader.next(&mut Notices::new())?.unwrap();
/// assert_eq!(document.annotations[0].text(&document.text), "gamma GT");
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
pub struct GeneMentionReader {
    lines: Lines,
    mentions: Mentions,
    genes: MentionFile,
    alternatives: MentionFile,
}

/// The mentions of a file, by sentence.
#[derive(Default)]
struct MentionFile {
    by_id: HashMap<String, Vec<Mention>>,
    /// Ids in the order of the file.
    order: Vec<String>,
}

struct Mention {
    line: u64,
    first: usize,
    last: usize,
    text: String,
}

impl MentionFile {
    fn read(source: Option<&Source>) -> Result<Self, ReadError> {
        let mut file = MentionFile::default();
        let Some(source) = source else { return Ok(file) };
        let mut lines = Lines::new(source)?;
        while let Some(line) = lines.next()?.map(str::to_owned) {
            if line.trim().is_empty() {
                continue;
            }
            let Some((id, mention)) = parse(&line, lines.number()) else {
                return Err(lines.malformed(1, quoted(&line), "`id|first last|text`"));
            };
            if !file.by_id.contains_key(id) {
                file.order.push(id.to_owned());
            }
            file.by_id.entry(id.to_owned()).or_default().push(mention);
        }
        Ok(file)
    }

    fn take(&mut self, document: &Document, kind: &str, notices: &mut Notices) -> Vec<Annotation> {
        let offsets = Offsets::new(&document.text, Unit::NonSpace);
        let mentions = self.by_id.remove(&document.id).unwrap_or_default();
        let place = |mention: Mention| {
            let Mention {
                line,
                first,
                last,
                text,
            } = mention;
            let mut tell = |kind, message| notices.add(kind, &document.id, Some(line), message);
            let start = offsets.byte(first).filter(|_| first < offsets.end());
            let last_byte = offsets.byte(last).filter(|_| last < offsets.end());
            let (Some(start), Some(at)) = (start, last_byte) else {
                let message = format!(
                    "`{text}` at {first} to {last} was left out: the text has {} characters without spaces",
                    offsets.end()
                );
                tell(NoticeKind::OutsideText, message);
                return None;
            };
            if last < first {
                tell(
                    NoticeKind::Empty,
                    format!("`{text}` at {first} to {last} was left out"),
                );
                return None;
            }
            let end = at + document.text[at..].chars().next().map_or(0, char::len_utf8);
            let found = &document.text[start..end];
            if !found.split_whitespace().eq(text.split_whitespace()) {
                tell(
                    NoticeKind::OtherText,
                    format!("the text at {first} to {last} is `{found}`, the file says `{text}`"),
                );
            }
            Some(Annotation::new(start..end, kind))
        };
        mentions.into_iter().filter_map(place).collect()
    }

    fn tell_rest(&mut self, file: &str, notices: &mut Notices) {
        for id in self.order.drain(..) {
            for mention in self.by_id.remove(&id).unwrap_or_default() {
                let message = format!(
                    "`{}` of {file} was left out: there is no such sentence",
                    mention.text
                );
                notices.add(NoticeKind::Skipped, &id, Some(mention.line), message);
            }
        }
    }
}

fn parse(line: &str, number: u64) -> Option<(&str, Mention)> {
    let (id, rest) = line.split_once('|')?;
    let (place, text) = rest.split_once('|')?;
    let (first, last) = place.trim().split_once(' ')?;
    let mention = Mention {
        line: number,
        first: first.parse().ok()?,
        last: last.trim_start().parse().ok()?,
        text: text.to_owned(),
    };
    Some((id, mention))
}

impl GeneMentionReader {
    /// Reads the two files of mentions, if there are any, and opens that of the sentences.
    pub fn new(
        sentences: &Source,
        genes: Option<&Source>,
        alternatives: Option<&Source>,
        mentions: Mentions,
    ) -> Result<Self, ReadError> {
        Ok(Self {
            lines: Lines::new(sentences)?,
            mentions,
            genes: MentionFile::read(genes)?,
            alternatives: MentionFile::read(alternatives)?,
        })
    }
}

impl DocumentReader for GeneMentionReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        loop {
            let Some(line) = self.lines.next()? else {
                self.genes.tell_rest("the genes", notices);
                self.alternatives.tell_rest("the alternatives", notices);
                return Ok(None);
            };
            if line.trim().is_empty() {
                continue;
            }
            let (id, text) = line.split_once([' ', '\t']).unwrap_or((line, ""));
            if id.is_empty() {
                let found = quoted(line);
                return Err(self.lines.malformed(
                    1,
                    found,
                    "the id of a sentence, a blank, and the sentence",
                ));
            }
            let mut document = Document::new(id, text);
            let genes = self.genes.take(&document, GENE, notices);
            let alternatives = self.alternatives.take(&document, ALTGENE, notices);
            document.annotations = match self.mentions {
                Mentions::All => genes.into_iter().chain(alternatives).collect(),
                Mentions::Gold => genes,
                Mentions::Short => forms(&document, &genes, &alternatives, false, notices),
                Mentions::Long => forms(&document, &genes, &alternatives, true, notices),
            };
            return Ok(Some(document));
        }
    }
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// One form of each gene, the shortest or the longest, none overlapping another.
fn forms(
    document: &Document,
    genes: &[Annotation],
    alternatives: &[Annotation],
    long: bool,
    notices: &mut Notices,
) -> Vec<Annotation> {
    let length = |range: &Range<usize>| {
        document.text[range.clone()]
            .chars()
            .filter(|c| !c.is_whitespace())
            .count()
    };
    let rank = |range: &Range<usize>| {
        let length = length(range);
        if long {
            (Some(Reverse(length)), 0, range.start)
        } else {
            (None, length, range.start)
        }
    };
    let mut choices: Vec<Vec<Range<usize>>> = Vec::new();
    for gene in genes {
        let own = gene.range();
        let others = alternatives
            .iter()
            .map(Annotation::range)
            .filter(|other| overlap(&own, other));
        let mut forms: Vec<Range<usize>> = others.chain([own.clone()]).collect();
        forms.sort_by_key(rank);
        choices.push(forms);
    }
    let places = Places::new(&document.text);
    let mut order: Vec<usize> = (0..genes.len()).collect();
    order.sort_by_key(|&at| rank(&choices[at][0]));
    let mut chosen: Vec<Range<usize>> = Vec::new();
    for at in order {
        let taken = |form: &&Range<usize>| !chosen.iter().any(|other| overlap(form, other));
        // Genes that share their best form are one mention.
        if chosen.contains(&choices[at][0]) {
            continue;
        }
        match choices[at].iter().find(taken) {
            Some(form) => {
                if *form != choices[at][0] {
                    let message = format!(
                        "{}: its {} form overlaps another gene",
                        places.name(&genes[at]),
                        if long { "longest" } else { "shortest" }
                    );
                    notices.add(NoticeKind::Overlap, &document.id, None, message);
                }
                let form = form.clone();
                chosen.push(form);
            }
            None => {
                let message = format!(
                    "{} was left out: all its forms overlap other genes",
                    places.name(&genes[at])
                );
                notices.add(NoticeKind::Overlap, &document.id, None, message);
            }
        }
    }
    chosen.sort_by_key(|range| range.start);
    chosen
        .into_iter()
        .map(|range| Annotation::new(range, GENE))
        .collect()
}

/// Genes or alternatives of a document, counted as the files of the task do: from the first character to one past
/// the last, without white space. That is what `fieldmark_eval::GeneMentionScores` compares.
///
/// ```
/// use fieldmark_text::document::{Annotation, Document};
/// use fieldmark_text::formats::{GENE, mention_places};
/// let mut document = Document::new("P1", "the HLA B5 gene");
/// document.annotations.push(Annotation::new(4..10, GENE));
/// assert_eq!(mention_places(&document, GENE), [3..8]);
/// ```
pub fn mention_places(document: &Document, kind: &str) -> Vec<Range<usize>> {
    let offsets = Offsets::new(&document.text, Unit::NonSpace);
    let annotations = document
        .annotations
        .iter()
        .filter(|annotation| annotation.kind == kind);
    let place = |annotation: &Annotation| {
        let range = annotation.range();
        Some(offsets.count(range.start)?..offsets.count(range.end)?)
    };
    annotations.filter_map(place).collect()
}

/// Writes the [files of the gene mention task](self): sentences, genes and alternatives.
///
/// A document is one line. Annotations of type [`ALTGENE`] are alternatives, all others genes.
#[derive(Debug)]
pub struct GeneMentionWriter<W> {
    sentences: W,
    genes: W,
    alternatives: W,
    count: usize,
}

impl<W: Write> GeneMentionWriter<W> {
    /// Writes to three outputs.
    pub fn new(sentences: W, genes: W, alternatives: W) -> Self {
        Self {
            sentences,
            genes,
            alternatives,
            count: 0,
        }
    }

    /// The outputs: sentences, genes, alternatives.
    pub fn into_inner(self) -> [W; 3] {
        [self.sentences, self.genes, self.alternatives]
    }

    fn write_mention(
        &mut self,
        id: &str,
        annotation: &Annotation,
        document: &Document,
        (offsets, places): (&Offsets<'_>, &Places<'_>),
        notices: &mut Notices,
    ) -> io::Result<()> {
        let mut tell = |kind, what: &str| {
            notices.add(
                kind,
                &document.id,
                None,
                format!("{} {what}", places.name(annotation)),
            );
        };
        if annotation.fragments.len() > 1 {
            tell(NoticeKind::Fragments, "was written with its gaps");
        }
        if annotation.kind != GENE && annotation.kind != ALTGENE {
            tell(
                NoticeKind::Detail,
                "was written as a gene: the format has no types",
            );
        }
        let range = annotation.range();
        let text = document.text.get(range.clone()).unwrap_or_default();
        let (Some(first), Some(end)) = (offsets.count(range.start), offsets.count(range.end)) else {
            tell(NoticeKind::OutsideText, "was left out");
            return Ok(());
        };
        if first >= end {
            tell(
                NoticeKind::Empty,
                "was left out: it holds nothing but white space",
            );
            return Ok(());
        }
        let output = if annotation.kind == ALTGENE {
            &mut self.alternatives
        } else {
            &mut self.genes
        };
        let (text, _) = one_line(text.trim(), |_| false);
        writeln!(output, "{id}|{first} {}|{text}", end - 1)
    }
}

impl<W: Write> DocumentWriter for GeneMentionWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        Holds::default().tell(document, notices);
        self.count += 1;
        let id: String = document
            .id
            .chars()
            .map(|c| {
                // A mark of the byte order would not be part of the id at the beginning of a file.
                if c.is_whitespace() || matches!(c, '|' | '\0' | '\u{FEFF}') {
                    '_'
                } else {
                    c
                }
            })
            .collect();
        let id = if id.is_empty() {
            format!("S{}", self.count)
        } else {
            id
        };
        if id != document.id {
            notices.add(
                NoticeKind::Detail,
                &document.id,
                None,
                format!("the id was written as `{id}`"),
            );
        }
        let (text, broken) = one_line(&document.text, |_| false);
        if broken {
            notices.add(
                NoticeKind::OtherText,
                &document.id,
                None,
                "line breaks were written as blanks",
            );
        }
        writeln!(self.sentences, "{id} {text}")?;
        let offsets = Offsets::new(&document.text, Unit::NonSpace);
        let places = Places::new(&document.text);
        for annotation in &document.annotations {
            self.write_mention(&id, annotation, document, (&offsets, &places), notices)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.sentences.flush()?;
        self.genes.flush()?;
        self.alternatives.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{annotations, kinds, read_all, write_all};
    use super::*;
    use proptest::prelude::*;

    fn read(files: [&str; 3], mentions: Mentions) -> (Vec<Document>, Notices) {
        let [sentences, genes, alternatives] = files.map(|text| Source::text("t", text));
        read_all(GeneMentionReader::new(&sentences, Some(&genes), Some(&alternatives), mentions).unwrap())
            .unwrap()
    }

    fn texts(document: &Document) -> Vec<&str> {
        document
            .annotations
            .iter()
            .map(|annotation| annotation.text(&document.text))
            .collect()
    }

    /// The example of Klinger et al. 2007.
    const SENTENCE: &str = "P1 of fibrinogen degradation products (FDP) in";
    const GENES: &str = "P1|2 30|fibrinogen degradation products\nP1|32 34|FDP\n";
    const ALTERNATIVES: &str = "P1|2 11|fibrinogen\n";

    #[test]
    fn short_and_long_forms() {
        let (documents, notices) = read([SENTENCE, GENES, ALTERNATIVES], Mentions::All);
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(
            texts(&documents[0]),
            ["fibrinogen degradation products", "FDP", "fibrinogen"]
        );
        assert_eq!(mention_places(&documents[0], ALTGENE)[0], 2..12);
        let (documents, _) = read([SENTENCE, GENES, ALTERNATIVES], Mentions::Short);
        assert_eq!(texts(&documents[0]), ["fibrinogen", "FDP"]);
        let (documents, _) = read([SENTENCE, GENES, ALTERNATIVES], Mentions::Long);
        assert_eq!(texts(&documents[0]), ["fibrinogen degradation products", "FDP"]);
        let (documents, _) = read([SENTENCE, GENES, ALTERNATIVES], Mentions::Gold);
        assert_eq!(texts(&documents[0]).len(), 2);
    }

    #[test]
    fn forms_that_two_genes_share_or_that_overlap() {
        // An alternative over both genes is the long form of both.
        let shared = "P1|2 35|fibrinogen degradation products (FDP)\n";
        let (documents, notices) = read([SENTENCE, GENES, shared], Mentions::Long);
        assert_eq!(texts(&documents[0]), ["fibrinogen degradation products (FDP)"]);
        assert!(notices.is_empty());
        // `a b` and `b c` are longest and overlap: the first stays, the second gene takes its own form.
        let files = ["P1 a b c", "P1|0 0|a\nP1|2 2|c\n", "P1|0 1|a b\nP1|1 2|b c\n"];
        let (documents, notices) = read(files, Mentions::Long);
        assert_eq!(texts(&documents[0]), ["a b", "c"]);
        assert_eq!(kinds(&notices), [NoticeKind::Overlap]);
        let (documents, notices) = read(["P1 a b", "P1|0 1|a b\nP1|1 1|b\n", ""], Mentions::Short);
        assert_eq!(texts(&documents[0]), ["b"]);
        assert_eq!(kinds(&notices), [NoticeKind::Overlap]);
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let genes = "P1|0 99|x\nP1|2 1|x\nP1|0 0|x\nP2|0 0|x\n";
        let (documents, notices) = read(["P1 abc\n", genes, ""], Mentions::All);
        assert_eq!(texts(&documents[0]), ["a"]);
        let expected = [
            NoticeKind::OutsideText,
            NoticeKind::Empty,
            NoticeKind::OtherText,
            NoticeKind::Skipped,
        ];
        assert_eq!(kinds(&notices), expected);
        let bad = Source::text("g", "P1|0 1|x\nP1|zero 1|x\n");
        let error = GeneMentionReader::new(&Source::text("s", ""), Some(&bad), None, Mentions::All)
            .err()
            .unwrap();
        assert!(
            error.to_string().starts_with("g:2:1: found `P1|zero 1|x`"),
            "{error}"
        );
    }

    #[test]
    fn an_id_is_one_word() {
        for (id, expected) in [("\u{FEFF}", "_"), ("a|b c", "a_b_c"), ("", "S1")] {
            let mut document = Document::new(id, "abc");
            document.annotations.push(Annotation::new(0..3, GENE));
            let mut writer = GeneMentionWriter::new(Vec::new(), Vec::new(), Vec::new());
            let notices = write_all(&mut writer, std::slice::from_ref(&document));
            assert_eq!(kinds(&notices), [NoticeKind::Detail]);
            let files = writer.into_inner().map(|file| String::from_utf8(file).unwrap());
            let (again, _) = read(files.each_ref().map(String::as_str), Mentions::All);
            assert_eq!((again[0].id.as_str(), again[0].annotations.len()), (expected, 1));
        }
    }

    proptest! {
        #[test]
        fn written_and_read_again((text, spans) in annotations("[a-cäβ| ]{0,12}"), id in "[0-9a-z]{1,5}") {
            let mut document = Document::new(id, text);
            let solid = |range: &Range<usize>| {
                let part = &document.text[range.clone()];
                part.trim() == part
            };
            let mut ranges: Vec<Range<usize>> = spans.iter().map(Annotation::range).filter(solid).collect();
            let half = ranges.split_off(ranges.len() / 2);
            document.annotations = ranges.into_iter().map(|range| Annotation::new(range, GENE)).collect();
            document.annotations.extend(half.into_iter().map(|range| Annotation::new(range, ALTGENE)));
            let mut writer = GeneMentionWriter::new(Vec::new(), Vec::new(), Vec::new());
            let notices = write_all(&mut writer, std::slice::from_ref(&document));
            prop_assert!(notices.is_empty());
            let files = writer.into_inner().map(|file| String::from_utf8(file).unwrap());
            let (again, notices) = read(files.each_ref().map(String::as_str), Mentions::All);
            prop_assert!(notices.is_empty(), "{:?}", notices);
            prop_assert_eq!(again, [document]);
        }
    }
}

//! PubMed XML: a `PubmedArticleSet`, as PubMed exports it and as the baseline files hold it.
//!
//! The text is the title and the abstract, each section of it on a line of its own that begins with its label
//! (`METHODS: `). Elements: `title`, `abstract`, `section`, `heading` (the label). Inline markup is dropped.
//! [`Document::meta`] has `journal`, `year`, `authors`, `language`, `publication_types`, `mesh`, `substances`,
//! `keywords`, `doi`, `pmc`, `vernacular_title` and `other_abstract`, several values on lines of their own;
//! the rest of a record (dates of processing, affiliations, references, grants) is not read.
//!
//! Articles are handed out one by one while the file is read, so that its size does not matter.

use super::article_facts::ArticleFacts;
use super::encoding::Encoding;
use super::flow::Flow;
use super::title_abstract::TitleAbstract;
use super::xml::{Escaped, Part, Tag, XmlStream, tell_characters, tell_white_space};
use super::{DocumentReader, DocumentWriter, NoticeKind, Notices, tell_unwritten};
use crate::document::Document;
use crate::error::{ErrorKind, ReadError};
use crate::source::Source;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Reads PubMed XML.
///
/// ```
/// use fieldmark_text::Source;
/// use fieldmark_text::formats::{DocumentReader, Notices};
/// use fieldmark_text::formats::pubmed::PubmedReader;
/// let xml = "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article>
///     <ArticleTitle>On <i>E. coli</i>.</ArticleTitle>
///     <Abstract><AbstractText Label='AIM'>To see.</AbstractText></Abstract>
///     </Article></MedlineCitation></PubmedArticle></PubmedArticleSet>";
/// let mut reader = PubmedReader::new(&Source::text("p.xml", xml), Default::default())?;
/// let document = reader.next(&mut Notices::new())?.unwrap();
/// assert_eq!(document.text, "On E. coli.\nAIM: To see.");
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
pub struct PubmedReader {
    stream: XmlStream,
    open: Vec<Open>,
    article: Option<Article>,
    root: String,
    any: bool,
}

/// An element that has not ended.
struct Open {
    name: String,
    /// Where it begins in the file and in the text.
    start: usize,
    mark: usize,
    target: Target,
}

/// Where text goes.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Nowhere,
    Text,
    Value(&'static str),
}

#[derive(Default)]
struct Article {
    flow: Flow,
    id: String,
    line: u64,
    meta: BTreeMap<String, String>,
    /// The value of the element that is being read.
    value: String,
    /// The parts of the name of an author.
    name: (String, String),
}

impl PubmedReader {
    /// Reads a source.
    pub fn new(source: &Source, encoding: Encoding) -> Result<Self, ReadError> {
        Ok(Self {
            stream: XmlStream::new(source, encoding)?,
            open: Vec::new(),
            article: None,
            root: String::new(),
            any: false,
        })
    }

    fn start(&mut self, tag: &Tag) {
        if self.open.is_empty() {
            self.root = tag.name.clone();
        }
        let parent = self.open.last();
        let is_article = matches!(tag.name.as_str(), "PubmedArticle" | "PubmedBookArticle");
        if self.article.is_none() && is_article {
            self.stream.forget();
            self.any = true;
            self.article = Some(Article {
                line: self.stream.line(),
                ..Article::default()
            });
        }
        let mut target = parent.map_or(Target::Nowhere, |open| open.target);
        let mut mark = 0;
        if let Some(article) = &mut self.article {
            if target == Target::Nowhere {
                target = target_of(tag, &self.open);
                article.value.clear();
            }
            if matches!(tag.name.as_str(), "ArticleTitle" | "Abstract" | "AbstractText")
                && target != Target::Value("other_abstract")
            {
                article.flow.line();
            }
            mark = article.flow.mark();
            if let (true, Target::Text, Some(label)) =
                (tag.name == "AbstractText", target, tag.attribute("Label"))
            {
                article.label(label, self.stream.range().end);
            }
        }
        self.open.push(Open {
            name: tag.name.clone(),
            start: self.stream.range().start,
            mark,
            target,
        });
    }

    fn text(&mut self, text: &str) {
        let target = self.open.last().map_or(Target::Nowhere, |open| open.target);
        let Some(article) = &mut self.article else {
            return;
        };
        match target {
            Target::Nowhere => {}
            Target::Text => article.flow.push(text, self.stream.range()),
            Target::Value(_) => article.value.push_str(text),
        }
    }

    /// Ends an element; gives the document that ends with it.
    fn end(&mut self) -> Option<Article> {
        let open = self.open.pop()?;
        let article = self.article.as_mut()?;
        let outer = self.open.last().map_or(Target::Nowhere, |open| open.target);
        let place = open.start..self.stream.range().end;
        match open.name.as_str() {
            "PubmedArticle" | "PubmedBookArticle" => return self.article.take(),
            "ArticleTitle" if outer != Target::Text => {
                article.flow.element("title", open.mark, place);
            }
            "Abstract" => {
                article.flow.element("abstract", open.mark, place);
            }
            "AbstractText" if open.target == Target::Text => {
                article.flow.element("section", open.mark, place);
            }
            "Author" => article.author(),
            _ => {}
        }
        if let (Target::Value(key), Target::Nowhere) = (open.target, outer) {
            article.value(key);
        }
        None
    }
}

/// Where the text of an element goes, by its name and that of its parents.
fn target_of(tag: &Tag, open: &[Open]) -> Target {
    let above = |levels: usize| {
        let at = open.len().checked_sub(levels);
        at.map_or("", |at| open[at].name.as_str())
    };
    match (above(1), tag.name.as_str()) {
        ("Article" | "BookDocument", "ArticleTitle") | ("Abstract", "AbstractText") => Target::Text,
        ("MedlineCitation" | "BookDocument", "PMID") => Target::Value("id"),
        ("Journal", "Title") => Target::Value("journal"),
        ("PubDate", "Year") => Target::Value("year"),
        ("Author", "LastName" | "CollectiveName") => Target::Value("last_name"),
        ("Author", "ForeName") => Target::Value("fore_name"),
        ("Article", "Language") => Target::Value("language"),
        ("Article", "VernacularTitle") => Target::Value("vernacular_title"),
        ("PublicationTypeList", "PublicationType") => Target::Value("publication_types"),
        ("MeshHeading", "DescriptorName") => Target::Value("mesh"),
        ("Chemical", "NameOfSubstance") => Target::Value("substances"),
        ("KeywordList", "Keyword") => Target::Value("keywords"),
        ("OtherAbstract", "AbstractText") => Target::Value("other_abstract"),
        ("ArticleIdList", "ArticleId") if above(2) == "PubmedData" || above(2) == "PubmedBookData" => {
            match tag.attribute("IdType") {
                Some("doi") => Target::Value("doi"),
                Some("pmc") => Target::Value("pmc"),
                _ => Target::Nowhere,
            }
        }
        _ => Target::Nowhere,
    }
}

impl Article {
    /// The label of a section of the abstract, as text; it stands in a tag that ends at `end`.
    fn label(&mut self, label: &str, end: usize) {
        let label = label.trim();
        if label.is_empty() {
            return;
        }
        let mark = self.flow.mark();
        self.flow.push(label, end..end);
        self.flow.element("heading", mark, end..end);
        self.flow.push(": ", end..end);
    }

    fn value(&mut self, key: &'static str) {
        let value = self.value.split_whitespace().collect::<Vec<_>>().join(" ");
        self.value.clear();
        match key {
            "id" if self.id.is_empty() => self.id = value,
            "id" => {}
            "last_name" => self.name.0 = value,
            "fore_name" => self.name.1 = value,
            _ if value.is_empty() => {}
            _ => self.add(key, &value),
        }
    }

    fn add(&mut self, key: &str, value: &str) {
        let values = self.meta.entry(key.to_owned()).or_default();
        if !values.is_empty() {
            values.push('\n');
        }
        values.push_str(value);
    }

    fn author(&mut self) {
        let (last, fore) = std::mem::take(&mut self.name);
        let name = [last.as_str(), fore.as_str()];
        let name: Vec<&str> = name.into_iter().filter(|part| !part.is_empty()).collect();
        if !name.is_empty() {
            self.add("authors", &name.join(", "));
        }
    }

    fn document(self, file: &str, notices: &mut Notices) -> Document {
        let mut document = self.flow.finish();
        document.meta = self.meta;
        document.id = self.id;
        if document.id.is_empty() {
            document.id = format!("{file}:{}", self.line);
            let message = "this article has no PMID and is named after its line";
            notices.add(NoticeKind::Detail, &document.id, Some(self.line), message);
        }
        document
    }
}

impl DocumentReader for PubmedReader {
    fn next(&mut self, notices: &mut Notices) -> Result<Option<Document>, ReadError> {
        loop {
            // After an error, nothing is missing any more.
            match self.stream.next(notices).inspect_err(|_| self.any = true)? {
                Part::Start(tag) => {
                    if tag.name == "DeleteCitation" {
                        let message = "the list of deleted articles (`DeleteCitation`) is not read";
                        notices.add(NoticeKind::Skipped, "", Some(self.stream.line()), message);
                    }
                    self.start(&tag);
                }
                Part::Text(text) | Part::Resolved(text) => self.text(&text),
                Part::End => {
                    if let Some(article) = self.end() {
                        return Ok(Some(article.document(self.stream.file(), notices)));
                    }
                }
                Part::Done if self.any || self.root == "PubmedArticleSet" => return Ok(None),
                Part::Done => {
                    self.any = true;
                    return Err(self.stream.error(ErrorKind::NoElement {
                        expected: "PubmedArticle",
                        found: std::mem::take(&mut self.root),
                    }));
                }
            }
        }
    }
}

/// Writes PubMed XML with what the reader reads. Annotations have no place, and each is told.
#[derive(Debug)]
pub struct PubmedWriter<W> {
    out: W,
    begun: bool,
}

impl<W: Write> PubmedWriter<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, begun: false }
    }

    fn begin(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            writeln!(
                self.out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PubmedArticleSet>"
            )?;
        }
        Ok(())
    }

    /// One element for each value of a fact.
    fn values(&mut self, facts: &ArticleFacts, key: &str, open: &str, close: &str) -> io::Result<()> {
        for value in facts.values(key) {
            write!(self.out, "{open}{}{close}", Escaped(value))?;
        }
        Ok(())
    }

    /// The same inside of an element that is there only if there are values.
    fn list(
        &mut self,
        facts: &ArticleFacts,
        key: &str,
        name: &str,
        [open, close]: [&str; 2],
    ) -> io::Result<()> {
        if facts.values(key).is_empty() {
            return Ok(());
        }
        write!(self.out, "<{name}>")?;
        self.values(facts, key, open, close)?;
        write!(self.out, "</{name}>")
    }

    fn abstract_of(&mut self, parts: &TitleAbstract<'_>) -> io::Result<()> {
        if parts.sections.is_empty() {
            return Ok(());
        }
        write!(self.out, "\n<Abstract>")?;
        for (label, body) in &parts.sections {
            for (at, line) in body.split('\n').enumerate() {
                match label {
                    Some(label) if at == 0 => {
                        write!(self.out, "<AbstractText Label=\"{}\">", Escaped(label))?
                    }
                    _ => write!(self.out, "<AbstractText>")?,
                }
                write!(self.out, "{}</AbstractText>", Escaped(line))?;
            }
        }
        writeln!(self.out, "</Abstract>")
    }

    fn authors(&mut self, authors: &[String]) -> io::Result<()> {
        if authors.is_empty() {
            return Ok(());
        }
        write!(self.out, "<AuthorList>")?;
        for author in authors {
            let (last, fore) = author.split_once(", ").unwrap_or((author, ""));
            write!(self.out, "<Author><LastName>{}</LastName>", Escaped(last))?;
            if !fore.is_empty() {
                write!(self.out, "<ForeName>{}</ForeName>", Escaped(fore))?;
            }
            write!(self.out, "</Author>")?;
        }
        writeln!(self.out, "</AuthorList>")
    }
}

const FACTS: [&str; 13] = [
    "pmid",
    "journal",
    "year",
    "authors",
    "language",
    "publication_types",
    "mesh",
    "substances",
    "keywords",
    "doi",
    "pmc",
    "vernacular_title",
    "other_abstract",
];

impl<W: Write> DocumentWriter for PubmedWriter<W> {
    fn write(&mut self, document: &Document, notices: &mut Notices) -> io::Result<()> {
        self.begin()?;
        tell_unwritten(document, "PubMed XML", true, notices);
        tell_characters(&document.id, &document.text, notices);
        tell_white_space(document, notices);
        let facts = ArticleFacts::of(document, &FACTS);
        for key in facts.unused(document) {
            let message = format!("`{key}` is left out: it has no place in PubMed XML");
            notices.add(NoticeKind::Detail, &document.id, None, message);
        }
        for lost in &facts.lost {
            notices.add(NoticeKind::Detail, &document.id, None, lost.as_str());
        }
        let parts = TitleAbstract::of(document, notices);
        let id = Escaped(facts.values("pmid").first().unwrap_or(&document.id));
        write!(
            self.out,
            "<PubmedArticle><MedlineCitation><PMID Version=\"1\">{id}</PMID>\n<Article><Journal><JournalIssue><PubDate>"
        )?;
        self.values(&facts, "year", "<Year>", "</Year>")?;
        write!(self.out, "</PubDate></JournalIssue>")?;
        self.values(&facts, "journal", "<Title>", "</Title>")?;
        let title = Escaped(parts.title.unwrap_or_default());
        write!(self.out, "</Journal>\n<ArticleTitle>{title}</ArticleTitle>")?;
        self.abstract_of(&parts)?;
        self.authors(facts.values("authors"))?;
        self.values(&facts, "language", "<Language>", "</Language>")?;
        let around = ["<PublicationType>", "</PublicationType>"];
        self.list(&facts, "publication_types", "PublicationTypeList", around)?;
        self.values(
            &facts,
            "vernacular_title",
            "<VernacularTitle>",
            "</VernacularTitle>",
        )?;
        writeln!(self.out, "</Article>")?;
        let around = ["<Chemical><NameOfSubstance>", "</NameOfSubstance></Chemical>"];
        self.list(&facts, "substances", "ChemicalList", around)?;
        let around = ["<MeshHeading><DescriptorName>", "</DescriptorName></MeshHeading>"];
        self.list(&facts, "mesh", "MeshHeadingList", around)?;
        let (open, close) = ("<OtherAbstract><AbstractText>", "</AbstractText></OtherAbstract>");
        self.values(&facts, "other_abstract", open, close)?;
        self.list(&facts, "keywords", "KeywordList", ["<Keyword>", "</Keyword>"])?;
        write!(self.out, "</MedlineCitation>\n<PubmedData><ArticleIdList>")?;
        self.values(&facts, "doi", "<ArticleId IdType=\"doi\">", "</ArticleId>")?;
        self.values(&facts, "pmc", "<ArticleId IdType=\"pmc\">", "</ArticleId>")?;
        writeln!(self.out, "</ArticleIdList></PubmedData></PubmedArticle>")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin()?;
        writeln!(self.out, "</PubmedArticleSet>")?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Annotation, Element, Place};
    use crate::formats::tests::{read_all, read_ok, written};
    use proptest::prelude::*;

    fn reader(text: &str) -> PubmedReader {
        PubmedReader::new(&Source::text("p.xml", text), Encoding::DETECT).unwrap()
    }

    const SET: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" "x.dtd">
<PubmedArticleSet>
<PubmedArticle>
  <MedlineCitation Status="MEDLINE"><PMID Version="1">11</PMID>
    <Article><Journal><JournalIssue><PubDate><Year>2004</Year></PubDate></JournalIssue><Title>J. Test</Title></Journal>
      <ArticleTitle>Role of CD4<sup>+</sup> T&#xa0;cells &amp; <i>TGF-&beta;</i>.</ArticleTitle>
      <Abstract>
        <AbstractText Label="AIM" NlmCategory="OBJECTIVE">To   see
          if.</AbstractText>
        <AbstractText Label="RESULT">We saw.</AbstractText>
        <CopyrightInformation>Copyright</CopyrightInformation>
      </Abstract>
      <AuthorList><Author><LastName>Wu</LastName><ForeName>Ann</ForeName></Author>
      <Author><CollectiveName>The Group</CollectiveName></Author></AuthorList>
    </Article>
    <CommentsCorrectionsList><CommentsCorrections><PMID>99</PMID></CommentsCorrections></CommentsCorrectionsList>
    <MeshHeadingList><MeshHeading><DescriptorName>Mice</DescriptorName></MeshHeading>
    <MeshHeading><DescriptorName>Rats</DescriptorName></MeshHeading></MeshHeadingList>
  </MedlineCitation>
  <PubmedData><ArticleIdList><ArticleId IdType="doi">10.1/x</ArticleId></ArticleIdList>
  <ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">other</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData>
</PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>12</PMID><Article><ArticleTitle>Only a title</ArticleTitle></Article></MedlineCitation></PubmedArticle>
</PubmedArticleSet>"#;

    #[test]
    fn articles_become_documents() {
        let documents = read_ok(&mut reader(SET));
        let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
        assert_eq!(ids, ["11", "12"]);
        let first = &documents[0];
        assert_eq!(
            first.text,
            "Role of CD4+ T\u{a0}cells & TGF-β.\nAIM: To see if.\nRESULT: We saw."
        );
        let parts: Vec<(&str, &str)> = first
            .elements
            .iter()
            .map(|element| (element.kind.as_str(), &first.text[element.range.clone()]))
            .collect();
        let expected = [
            ("title", "Role of CD4+ T\u{a0}cells & TGF-β."),
            ("abstract", "AIM: To see if.\nRESULT: We saw."),
            ("section", "AIM: To see if."),
            ("heading", "AIM"),
            ("section", "RESULT: We saw."),
            ("heading", "RESULT"),
        ];
        assert_eq!(parts, expected);
        let Some(Place::Bytes(place)) = first.elements[4].place.clone() else {
            panic!("no place")
        };
        assert_eq!(
            &SET[place],
            "<AbstractText Label=\"RESULT\">We saw.</AbstractText>"
        );
        assert_eq!(first.meta["authors"], "Wu, Ann\nThe Group");
        assert_eq!(first.meta["mesh"], "Mice\nRats");
        assert_eq!(first.meta["doi"], "10.1/x");
        assert_eq!(documents[1].text, "Only a title");
    }

    #[test]
    fn articles_before_the_damage_are_read() {
        let cut = &SET[..SET.len() - 100];
        let mut reader = reader(cut);
        let mut notices = Notices::new();
        assert_eq!(reader.next(&mut notices).unwrap().unwrap().id, "11");
        let error = reader.next(&mut notices).unwrap_err().to_string();
        assert!(error.contains("well-formed"), "{error}");
        assert!(matches!(reader.next(&mut notices), Ok(None)));
    }

    #[test]
    fn another_format_is_called_so() {
        let (result, _) = read_all(&mut reader("<html><p>x</p></html>"));
        assert!(
            result
                .unwrap_err()
                .to_string()
                .contains("outermost element is `html`")
        );
        assert!(read_ok(&mut reader("<PubmedArticleSet/>")).is_empty());
    }

    #[test]
    fn depth_and_length_are_no_danger() {
        let article = |inner: &str| {
            format!(
                "<PubmedArticle><MedlineCitation><Article><ArticleTitle>{inner}</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
            )
        };
        let deep = format!("{}x{}", "<i>".repeat(100_000), "</i>".repeat(100_000));
        let (documents, notices) = read_all(&mut reader(&article(&deep)));
        assert_eq!(documents.unwrap()[0].text, "x");
        assert_eq!(notices.all().len(), 1, "no PMID");
        let long = "word ".repeat(2_000_000);
        assert_eq!(read_ok(&mut reader(&article(&long)))[0].text.len(), 9_999_999);
    }

    #[test]
    fn annotations_are_told_one_by_one() {
        let mut document = Document::new("1", "iron and zinc");
        document.annotations = vec![Annotation::new(0..4, "METAL"), Annotation::new(9..13, "METAL")];
        let (_, notices) = written(&[document], PubmedWriter::new);
        assert_eq!(notices.all().len(), 2);
    }

    proptest! {
        #[test]
        fn round_trips(
            title in "[a-c&<>α\"]{1,5}( [a-c&<>α]{1,5}){0,4}",
            sections in prop::collection::vec(("[A-Z]{0,5}", "[a-c<&α]{1,5}( [a-c]{1,5}){0,4}"), 0..4),
            authors in "[A-Z][a-z]{1,4}, [A-Z](\n[A-Z][a-z&]{1,4}){0,3}",
        ) {
            let mut document = Document::new("17", title.as_str());
            let push = |document: &mut Document, kind: &str, start: usize, end: usize| {
                document.elements.push(Element { kind: kind.to_owned(), range: start..end, place: None });
            };
            push(&mut document, "title", 0, title.len());
            let begin = document.text.len() + 1;
            let mut parts = Vec::new();
            for (label, body) in &sections {
                document.text.push('\n');
                let start = document.text.len();
                if !label.is_empty() {
                    document.text.push_str(label);
                    document.text.push_str(": ");
                }
                document.text.push_str(body);
                parts.push((start, document.text.len(), label.len()));
            }
            let end = document.text.len();
            if !sections.is_empty() {
                push(&mut document, "abstract", begin, end);
            }
            for (start, end, label) in parts {
                push(&mut document, "section", start, end);
                if label > 0 {
                    push(&mut document, "heading", start, start + label);
                }
            }
            // As the reader orders them: the larger first, and what ends later after what it holds.
            document.elements.sort_by_key(|element| (element.range.start, std::cmp::Reverse(element.range.end)));
            document.meta.insert("authors".to_owned(), authors);
            let (bytes, notices) = written(&[document.clone(), document.clone()], PubmedWriter::new);
            prop_assert!(notices.is_empty(), "{:?}", notices.all());
            let mut back = read_ok(&mut reader(std::str::from_utf8(&bytes).unwrap()));
            prop_assert_eq!(back.len(), 2);
            for element in &mut back[0].elements {
                element.place = None;
            }
            let key = |element: &Element| (element.range.start, std::cmp::Reverse(element.range.end), element.kind.clone());
            back[0].elements.sort_by_key(key);
            document.elements.sort_by_key(key);
            prop_assert_eq!(&back[0], &document);
        }

        #[test]
        fn any_nesting_is_read_or_refused(parts in prop::collection::vec(0usize..12, 0..40)) {
            let pieces = ["<PubmedArticle>", "</PubmedArticle>", "<ArticleTitle>", "</ArticleTitle>", "<Abstract>", "</Abstract>",
                "<AbstractText Label='L'>", "</AbstractText>", "<Article>", "</Article>", " x ", "&amp;"];
            let text: String = parts.iter().map(|&at| pieces[at]).collect();
            let _ = read_all(&mut reader(&format!("<r>{text}</r>")));
        }
    }
}

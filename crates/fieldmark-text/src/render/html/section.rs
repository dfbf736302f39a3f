//! [`Section`]: what stands under a heading of a page.

use super::excerpt::Excerpt;
use super::table::Table;
use super::{Escaped, Html};
use crate::render::plot::LinePlot;
use crate::render::{Palette, RenderError};

/// A heading, and paragraphs, tables, plots and excerpts under it.
///
/// ```
/// use fieldmark_text::render::html::{Cell, Section, Table};
/// let table = Table::new(["Type", "F1"]).row([Cell::text("DRUG"), Cell::share(0.87)]);
/// let section = Section::new("Scores").with_paragraph("Spans with both borders right.").with_table(table);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub(super) heading: String,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq)]
enum Block {
    Paragraph(String),
    Table(Table),
    Figures(Vec<(String, String)>),
    Plot(LinePlot),
    Excerpts(Vec<Excerpt>),
}

impl Section {
    /// A heading with nothing under it yet.
    pub fn new(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            blocks: Vec::new(),
        }
    }

    /// A section of text. Line breaks are kept.
    pub fn paragraph(heading: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(heading).with_paragraph(text)
    }

    /// A section with a table: the first cell of a row is its name, columns of numbers are set flush right.
    ///
    /// Every row has as many cells as the header; [`Page::to_html`](super::Page::to_html) checks it.
    pub fn table(heading: impl Into<String>, header: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        let mut table = Table::new(header);
        for row in rows {
            table = table.row(row);
        }
        Self::new(heading).with_table(table)
    }

    /// The same with a paragraph after all the rest. Line breaks are kept.
    pub fn with_paragraph(self, text: impl Into<String>) -> Self {
        self.with(Block::Paragraph(text.into()))
    }

    /// The same with a table after all the rest.
    pub fn with_table(self, table: Table) -> Self {
        self.with(Block::Table(table))
    }

    /// The same with figures to be seen from afar, each under its name.
    pub fn with_figures<N: Into<String>, V: Into<String>>(
        self,
        figures: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let figures = figures
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        self.with(Block::Figures(figures.collect()))
    }

    /// The same with a plot after all the rest.
    pub fn with_plot(self, plot: LinePlot) -> Self {
        self.with(Block::Plot(plot))
    }

    /// The same with excerpts of texts after all the rest.
    pub fn with_excerpts(self, excerpts: Vec<Excerpt>) -> Self {
        self.with(Block::Excerpts(excerpts))
    }

    fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    pub(super) fn check(&self) -> Result<(), RenderError> {
        self.blocks.iter().try_for_each(|block| match block {
            Block::Table(table) => table.check(&self.heading),
            Block::Excerpts(excerpts) => excerpts.iter().try_for_each(Excerpt::check),
            _ => Ok(()),
        })
    }

    /// The types of spans that occur in its excerpts.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flat_map(|block| {
            let excerpts: &[Excerpt] = match block {
                Block::Excerpts(excerpts) => excerpts,
                _ => &[],
            };
            excerpts.iter().flat_map(Excerpt::kinds)
        })
    }

    /// Whether it needs more styles than text with marks does.
    pub(super) fn is_report(&self) -> bool {
        self.blocks.iter().any(|block| match block {
            Block::Paragraph(_) => false,
            Block::Table(table) => table.is_drawn(),
            _ => true,
        })
    }
}

impl Html {
    pub(super) fn section(&mut self, section: &Section, palette: &Palette<'_>) {
        self.put(format_args!(
            "<section class=\"card\">\n<h2 dir=\"auto\">{}</h2>\n",
            Escaped(&section.heading)
        ));
        for block in &section.blocks {
            match block {
                Block::Paragraph(text) => {
                    self.put(format_args!("<p dir=\"auto\">{}</p>\n", Escaped(text)));
                }
                Block::Table(table) => self.table(&section.heading, table),
                Block::Figures(figures) => self.figures(figures),
                Block::Plot(plot) => self.raw(&plot.to_svg()),
                Block::Excerpts(excerpts) => self.excerpts(excerpts, palette),
            }
        }
        self.raw("</section>\n");
    }

    fn figures(&mut self, figures: &[(String, String)]) {
        self.raw("<dl class=\"figures\">\n");
        for (name, value) in figures {
            self.put(format_args!(
                "<div><dt>{}</dt><dd>{}</dd></div>\n",
                Escaped(name),
                Escaped(value)
            ));
        }
        self.raw("</dl>\n");
    }
}

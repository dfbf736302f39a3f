//! Reading whole inputs into data sets, and block by block for tagging.

use crate::attributes;
use crate::block::{Block, BlockOptions, Blocks};
use crate::columns::{ColumnOptions, ColumnParser, Layout, Separator};
use crate::error::{ErrorKind, ReadError};
use crate::label::LabelSyntax;
use crate::part::Part;
use crate::sink::{Fixed, Growing, Lines, Lookup, Naming, Sink, Unseen};
use crate::source::Source;
use crate::template::Template;
use fieldmark_core::{Alphabet, Dataset, DatasetBuilder};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

/// The format of an input, and how to understand it.
#[derive(Clone, Debug)]
pub struct Format {
    kind: Kind,
    columns: ColumnOptions,
    labels: LabelSyntax,
    longest_sequence: usize,
    blocks: BlockOptions,
    observed_columns: Option<usize>,
}

#[derive(Clone, Debug)]
enum Kind {
    Attributes,
    /// Without a template every column is an observation.
    Columns(Option<Arc<Template>>),
}

impl Format {
    fn new(kind: Kind, labels: LabelSyntax) -> Self {
        let (columns, blocks) = (ColumnOptions::default(), BlockOptions::default());
        Self {
            kind,
            columns,
            labels,
            longest_sequence: usize::MAX,
            blocks,
            observed_columns: None,
        }
    }

    /// CRFsuite's attribute files. Labels are [literal](LabelSyntax::Literal) unless told otherwise.
    pub fn attributes() -> Self {
        Self::new(Kind::Attributes, LabelSyntax::Literal)
    }

    /// Column files with a template. Labels may be [partial](LabelSyntax::Partial) unless told otherwise.
    pub fn columns(template: Template) -> Self {
        Self::new(Kind::Columns(Some(Arc::new(template))), LabelSyntax::Partial)
    }

    /// Column files of which every column is an observation, as with [`Template::each_column`].
    pub fn plain_columns() -> Self {
        Self::new(Kind::Columns(None), LabelSyntax::Partial)
    }

    /// Sets what labels mean.
    pub fn labels(mut self, labels: LabelSyntax) -> Self {
        self.labels = labels;
        self
    }

    /// Sets what separates columns.
    pub fn separator(mut self, separator: Separator) -> Self {
        self.columns.separator = separator;
        self
    }

    /// Skips lines of column files that begin with `prefix`: comments, or `-DOCSTART-`.
    pub fn skip_lines(mut self, prefix: impl Into<String>) -> Self {
        self.columns.skipped.push(prefix.into());
        self
    }

    /// The last column is no label: every position is unknown. The first field of an attribute file is
    /// always a label.
    pub fn unlabelled(mut self) -> Self {
        self.columns.unlabelled = true;
        self
    }

    /// The number of columns that a model was trained on, without the label: an input with just as many has
    /// no label, and one with neither as many nor one more is an error.
    pub fn observed_columns(mut self, columns: usize) -> Self {
        self.observed_columns = Some(columns);
        self
    }

    /// Sets how the input is cut into blocks.
    pub fn blocks(mut self, blocks: BlockOptions) -> Self {
        self.blocks = blocks;
        self
    }

    /// Refuses sequences that do not fit in `memory` bytes when every position takes `per_position` bytes.
    ///
    /// What a position takes depends on the work: the forward-backward algorithm with `n` labels, for
    /// example, keeps four rows of `n` numbers per position.
    pub fn memory_limit(mut self, memory: u64, per_position: u64) -> Self {
        let limit = memory / per_position.max(1);
        self.longest_sequence = usize::try_from(limit).unwrap_or(usize::MAX).max(1);
        self.blocks.longest_sequence = usize::try_from(memory)
            .unwrap_or(usize::MAX)
            .max(self.blocks.size);
        self
    }
}

/// Parses the blocks of one input. Immutable, so that threads can share it.
#[derive(Clone, Debug)]
pub struct Parser {
    format: Format,
    columns: Option<(Layout, Arc<Template>)>,
}

impl Parser {
    fn new(format: &Format, layout: Option<Layout>, name: &str) -> Result<Self, ReadError> {
        let mut format = format.clone();
        if layout
            .as_ref()
            .is_some_and(|layout| Some(layout.columns) == format.observed_columns)
        {
            format.columns.unlabelled = true;
        }
        let columns = match (&format.kind, layout) {
            (Kind::Attributes, _) | (_, None) => None,
            (Kind::Columns(template), Some(layout)) => {
                let labelled = !format.columns.unlabelled;
                let observed = layout.columns - usize::from(labelled);
                let template = match template {
                    Some(template) => Arc::clone(template),
                    None => Arc::new(Template::each_column(observed)),
                };
                let fail = |kind| ReadError::at(name, layout.first_line, 1, kind);
                template.check_columns(observed, labelled).map_err(fail)?;
                Some((layout, template))
            }
        };
        Ok(Self { format, columns })
    }

    /// Whether lines have a label.
    pub fn labelled(&self) -> bool {
        self.columns.is_none() || !self.format.columns.unlabelled
    }

    /// Number of columns without the label; attribute files have none.
    pub fn observed_columns(&self) -> Option<usize> {
        let labelled = !self.format.columns.unlabelled;
        self.columns
            .as_ref()
            .map(|(layout, _)| layout.columns - usize::from(labelled))
    }

    /// The template that makes observations of columns; attribute files have none.
    pub fn template(&self) -> Option<&Template> {
        self.columns.as_ref().map(|(_, template)| &**template)
    }

    /// Parses a block whose names are numbered within the part.
    pub fn parse_part(&self, block: Block) -> Result<Part, ReadError> {
        let builder =
            DatasetBuilder::with_alphabets(Alphabet::new(), Alphabet::with_capacity(1 << 15, 1 << 19));
        self.part(block, builder, &mut Growing)
    }

    /// Parses a block against the names of a model.
    ///
    /// Observations that `lookup` does not find are left out, labels that are not in `labels` count as
    /// unknown; [`Part::unseen`] says how many. The alphabets of the part stay empty.
    pub fn parse<L: Lookup + ?Sized>(
        &self,
        block: Block,
        labels: &Alphabet,
        lookup: &L,
    ) -> Result<Part, ReadError> {
        self.parse_fixed(block, Fixed::new(lookup, labels))
    }

    fn parse_fixed<L: Lookup + ?Sized>(
        &self,
        block: Block,
        mut names: Fixed<'_, L>,
    ) -> Result<Part, ReadError> {
        let mut part = self.part(block, DatasetBuilder::new(), &mut names)?;
        part.unseen = names.unseen;
        Ok(part)
    }

    fn part<N: Naming>(
        &self,
        block: Block,
        mut builder: DatasetBuilder,
        names: &mut N,
    ) -> Result<Part, ReadError> {
        let mut lines = Lines::default();
        self.parse_into(&block, &mut builder, names, &mut lines)?;
        let layout = self.columns.as_ref().map(|(layout, _)| layout);
        Ok(Part {
            block,
            lines,
            unseen: Unseen::default(),
            separator: layout.map_or(Separator::Tab, |layout| layout.separator),
            labelled: self.labelled(),
            data: builder.finish_part(),
        })
    }

    fn parse_into<N: Naming>(
        &self,
        block: &Block,
        builder: &mut DatasetBuilder,
        names: &mut N,
        lines: &mut Lines,
    ) -> Result<(), ReadError> {
        let text = block.text()?;
        lines.clear();
        let mut sink = Sink::new(
            builder,
            names,
            lines,
            self.format.labels,
            self.format.longest_sequence,
        );
        let result = match &self.columns {
            None => attributes::parse(text, &mut sink),
            Some((layout, template)) => ColumnParser {
                options: &self.format.columns,
                layout,
                template,
            }
            .parse(text, &mut sink),
        };
        result.map_err(|fault| block.error(fault))
    }
}

/// An open input, read block by block.
///
/// Blocks come in order and are cheap to get; parsing them is the work, and needs only the [`Parser`]:
/// ```
/// use fieldmark_core::Alphabet;
/// use fieldmark_text::{Format, Reader, Source};
/// let (labels, observations): (Alphabet, Alphabet) = (["O"].iter().collect(), ["w=a"].iter().collect());
/// let mut reader = Reader::open(&Source::text("x", "O\tw=a\tw=b\n"), &Format::attributes())?;
/// while let Some(block) = reader.next_block()? {
///     let part = reader.parser().parse(block, &labels, &observations)?;
///     assert_eq!(part.data.unary.ids(0), [0]);
///     assert_eq!(part.line(0), "O\tw=a\tw=b");
/// }
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    blocks: Blocks,
    /// Blocks that were read to look at the beginning.
    first: VecDeque<Block>,
    parser: Parser,
}

impl Reader {
    /// Opens `source` and looks at its beginning. An input without a sequence is an error.
    pub fn open(source: &Source, format: &Format) -> Result<Self, ReadError> {
        let mut blocks = Blocks::new(source.open()?, format.blocks)?;
        let mut first = VecDeque::new();
        let layout = loop {
            let Some(block) = blocks.next_block()? else {
                return Err(ReadError::new(blocks.name(), ErrorKind::Empty));
            };
            let layout = match format.kind {
                Kind::Attributes => None,
                Kind::Columns(_) => format.columns.detect(&block, format.observed_columns)?,
            };
            let found = layout.is_some() || (matches!(format.kind, Kind::Attributes) && !block.is_blank());
            first.push_back(block);
            if found {
                break layout;
            }
        };
        let parser = Parser::new(format, layout, blocks.name())?;
        Ok(Self {
            blocks,
            first,
            parser,
        })
    }

    /// The parser for the blocks of this input.
    pub fn parser(&self) -> &Parser {
        &self.parser
    }

    /// The name of the input for messages.
    pub fn name(&self) -> &str {
        self.blocks.name()
    }

    /// The next block; `None` at the end.
    pub fn next_block(&mut self) -> Result<Option<Block>, ReadError> {
        match self.first.pop_front() {
            Some(block) => Ok(Some(block)),
            None => self.blocks.next_block(),
        }
    }

    /// Reads the whole input for training, see [`read_training`].
    pub fn read_training(mut self) -> Result<Dataset, ReadError> {
        let mut builder = DatasetBuilder::new();
        let threads = rayon::current_num_threads();
        if threads == 1 {
            let mut lines = Lines::default();
            while let Some(block) = self.next_block()? {
                self.parser
                    .parse_into(&block, &mut builder, &mut Growing, &mut lines)?;
            }
        } else {
            let parser = self.parser.clone();
            each_part(
                &mut self,
                threads,
                |block| parser.parse_part(block),
                |part| builder.append(&part.data),
            )?;
        }
        Ok(builder.finish())
    }

    /// Up to `count` blocks; none at the end.
    fn next_blocks(&mut self, count: usize) -> Result<Vec<Block>, ReadError> {
        let mut blocks = Vec::with_capacity(count);
        while blocks.len() < count {
            match self.next_block()? {
                Some(block) => blocks.push(block),
                None => break,
            }
        }
        Ok(blocks)
    }
}

/// Reads a whole input for training: every name gets a number in the order of first appearance.
///
/// Blocks are parsed on the threads of the current rayon pool; the result does not depend on their number.
///
/// ```
/// use fieldmark_text::{Format, Source, read_training};
/// let source = Source::text("train", "B-NP\tw=a\tn:0.5\nI-NP\tw=b\n\nO\tw=a\n");
/// let data = read_training(&source, &Format::attributes())?;
/// assert_eq!((data.len(), data.positions()), (2, 3));
/// assert_eq!(data.unary.iter(0).collect::<Vec<_>>(), [(0, 1.0), (1, 0.5)]);
/// # Ok::<(), fieldmark_text::ReadError>(())
/// ```
pub fn read_training(source: &Source, format: &Format) -> Result<Dataset, ReadError> {
    Reader::open(source, format)?.read_training()
}

/// Reads a whole input against the names of a model.
///
/// The data set has the labels of the model; its alphabet of observations stays empty, since `lookup` need
/// not have names. What the model does not know is left out and counted, as in [`Parser::parse`].
pub fn read_against<L: Lookup + ?Sized>(
    source: &Source,
    format: &Format,
    labels: &Alphabet,
    lookup: &L,
) -> Result<(Dataset, Unseen), ReadError> {
    let mut reader = Reader::open(source, format)?;
    let mut builder = DatasetBuilder::with_alphabets(labels.clone(), Alphabet::new());
    let mut unseen = Unseen::default();
    let parser = reader.parser.clone();
    let parse = |block: Block| parser.parse(block, labels, lookup);
    each_part(&mut reader, rayon::current_num_threads(), parse, |part| {
        unseen.add(part.unseen);
        builder.append_numbered(&part.data)
    })?;
    Ok((builder.finish(), unseen))
}

/// [`read_against`] for evaluation: labels that the model does not have come after its own in the labels of the data
/// set, so that they can be counted as wrong. They are counted in [`Unseen`] all the same.
pub fn read_for_scoring<L: Lookup + ?Sized>(
    source: &Source,
    format: &Format,
    labels: &Alphabet,
    lookup: &L,
) -> Result<(Dataset, Unseen), ReadError> {
    let mut reader = Reader::open(source, format)?;
    let mut builder = DatasetBuilder::with_alphabets(labels.clone(), Alphabet::new());
    let mut unseen = Unseen::default();
    let parser = reader.parser.clone();
    let parse = |block: Block| {
        let mut names = Fixed::new(lookup, labels);
        names.number_unseen_labels = true;
        parser.parse_fixed(block, names)
    };
    let known = labels.len();
    each_part(&mut reader, rayon::current_num_threads(), parse, |part| {
        unseen.add(part.unseen);
        let new = part.data.labels.iter();
        let new: Vec<u32> = new.map(|name| builder.labels.intern(name)).collect();
        let renumber = |label: u32| match (label as usize).checked_sub(known) {
            None => label,
            Some(index) => new[index],
        };
        builder.append_relabelled(&part.data, renumber)
    })?;
    Ok((builder.finish(), unseen))
}

/// Parses blocks in parallel and takes the parts in order, one group of blocks while the next is parsed.
fn each_part(
    reader: &mut Reader,
    threads: usize,
    parse: impl Fn(Block) -> Result<Part, ReadError> + Sync,
    mut take: impl FnMut(Part) -> Result<(), fieldmark_core::dataset::DatasetError> + Send,
) -> Result<(), ReadError> {
    let name = reader.name().to_owned();
    let mut parsed: Vec<Result<Part, ReadError>> = Vec::new();
    loop {
        let mut take_all = |parts: Vec<Result<Part, ReadError>>| {
            parts
                .into_iter()
                .try_for_each(|part| take(part?).map_err(|error| ReadError::new(&name, error)))
        };
        let parse_next = |reader: &mut Reader| -> Result<Vec<_>, ReadError> {
            Ok(reader
                .next_blocks(2 * threads)?
                .into_par_iter()
                .map(&parse)
                .collect())
        };
        let ready = std::mem::take(&mut parsed);
        let (taken, next) = rayon::join(|| take_all(ready), || parse_next(reader));
        // What is wrong earlier in the file is reported first.
        taken?;
        parsed = next?;
        if parsed.is_empty() {
            return Ok(());
        }
    }
}

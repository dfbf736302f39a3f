//! Documents as data sets, described as a config says, without a model.

use super::front::extractor;
use super::stack::Stack;
use super::train::{Frozen, Labelled};
use crate::Error;
use crate::config::Config;
use fieldmark_core::{Dataset, DatasetBuilder};
use fieldmark_text::document::Document;
use fieldmark_text::features::{Extraction, Growing, Resources};
use fieldmark_text::formats::Notices;
use std::path::Path;

/// Training documents, and others described with the observations of the first. Files that the config names are
/// relative to `folder`; lists of names from the training data stay empty.
pub(crate) fn labelled_data(
    config: &Config,
    folder: &Path,
    train: &[Document],
    test: &[Document],
    notices: &mut Notices,
) -> Result<(Dataset, Dataset), Error> {
    let resources = Resources::read(&config.features, folder)?;
    let stack = Stack::new(config, &resources)?;
    let mut labellers = stack.labellers();
    let train = Labelled::all(config, train, &mut labellers, notices)?;
    let test = Labelled::all(config, test, &mut labellers, notices)?;
    let extractor = extractor(config, &resources)?;
    let mut growing = Growing::default();
    let mut builder = DatasetBuilder::new();
    let mut extraction = Extraction::new(&extractor, &mut growing);
    for labelled in &train {
        labelled.describe(&extractor, &mut extraction, &mut builder, |_| true)?;
    }
    drop(extraction);
    let mut extraction = Extraction::new(&extractor, Frozen(&growing));
    let mut described = DatasetBuilder::with_alphabets(builder.labels.clone(), growing.names.clone());
    for labelled in &test {
        labelled.describe(&extractor, &mut extraction, &mut described, |_| true)?;
    }
    drop(extraction);
    builder.observations = growing.names;
    Ok((builder.finish(), described.finish()))
}

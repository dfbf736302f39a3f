//! [`Model`]: a chain model together with how its input is read, in one file.

use crate::{Error, InputFormat};
use fieldmark_chain::ChainModel;
use fieldmark_core::Alphabet;
use fieldmark_core::container::{Container, ContainerWriter};
use fieldmark_text::Lookup;
use std::path::Path;
use std::sync::Arc;

/// A trained model and everything that is needed to use it.
#[derive(Debug)]
pub struct Model {
    /// The chain.
    pub chain: ChainModel,
    /// How its input is read.
    pub input: InputFormat,
}

/// The section that holds the [`InputFormat`].
const INPUT: &str = "input";

impl Model {
    /// Opens a model file. The file is mapped into memory, not copied, after every byte of it was checked.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_container(Arc::new(Container::open(path)?))
    }

    /// A model from an open container.
    pub fn from_container(container: Arc<Container>) -> Result<Self, Error> {
        let text = container.str(INPUT)?;
        let input = InputFormat::from_text(text)
            .map_err(|found| container.wrong_section(INPUT, found, "how the input is read"))?;
        Ok(Self {
            chain: ChainModel::read(&container)?,
            input,
        })
    }

    /// The algorithm that trained the model, if it is one that learns from mistakes (Collins 2002; Crammer et
    /// al. 2006; Mejer & Crammer 2010). Scores of such a model rank label sequences; they were not fitted to
    /// be log-probabilities.
    pub fn learned_from_mistakes(&self) -> Option<&str> {
        learned_from_mistakes(&self.chain)
    }

    /// The model as a container.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(self.writer().to_bytes()?)
    }

    /// Writes the model file: whole, or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(self.writer().write_to(path)?)
    }

    fn writer(&self) -> ContainerWriter<'_> {
        let mut writer = ContainerWriter::new();
        writer.add_str(INPUT, self.input.to_text());
        self.chain.write(&mut writer);
        writer
    }
}

pub(crate) fn learned_from_mistakes(chain: &ChainModel) -> Option<&str> {
    const LEARNERS: [&str; 3] = ["averaged-perceptron", "passive-aggressive", "arow"];
    chain.algorithm().filter(|name| LEARNERS.contains(name))
}

impl Lookup for Model {
    #[inline]
    fn find(&self, hash: u64, name: &str) -> Option<u32> {
        self.chain.find_observation(hash, name)
    }

    #[inline]
    fn find_all(&self, names: &[&str], found: &mut Vec<u32>) {
        if self.chain.unknown().is_none() {
            self.chain.observations().find_all(names, found);
        } else {
            found.extend(
                names
                    .iter()
                    .filter_map(|name| self.find(Alphabet::hash(name), name)),
            );
        }
    }
}

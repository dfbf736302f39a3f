//! Tagging whole inputs: blocks in parallel, results in order.

use crate::{Error, Model};
use fieldmark_chain::Tagger;
use fieldmark_chain::inference::Space;
use fieldmark_core::kernels::Dispatch;
use fieldmark_text::{Part, Reader, Source, Unseen};
use rayon::prelude::*;

impl Model {
    /// Reads `source` block by block, calls `work` for each block on the threads of the current rayon pool,
    /// and hands the results to `take` in the order of the input.
    ///
    /// Memory stays bounded by a few blocks. Returns what the model does not know of the input.
    pub fn for_each_block<T: Dispatch, R: Send>(
        &self,
        source: &Source,
        space: Space,
        work: impl Fn(&mut Tagger<'_, T>, &Part) -> Result<R, Error> + Sync,
        mut take: impl FnMut(R) -> Result<(), Error> + Send,
    ) -> Result<Unseen, Error> {
        let format = self.input.format()?;
        let mut reader = Reader::open(source, &format)?;
        let parser = reader.parser().clone();
        let labels = self.chain.labels();
        let process = |tagger: &mut Tagger<'_, T>, block| -> Result<(R, Unseen), Error> {
            let mut part = parser.parse(block, labels, self)?;
            if let Some(end) = self.input.step_observations {
                part.data.observe_steps(end);
            }
            Ok((work(tagger, &part)?, part.unseen().clone()))
        };
        let mut unseen = Unseen::default();
        let threads = rayon::current_num_threads();
        if threads == 1 {
            let mut tagger = self.chain.tagger_with(space);
            while let Some(block) = reader.next_block()? {
                let (result, missing) = process(&mut tagger, block)?;
                unseen.add(missing);
                take(result)?;
            }
            return Ok(unseen);
        }
        let mut ready: Vec<Result<(R, Unseen), Error>> = Vec::new();
        loop {
            let mut blocks = Vec::new();
            while blocks.len() < 2 * threads {
                match reader.next_block()? {
                    Some(block) => blocks.push(block),
                    None => break,
                }
            }
            let last = blocks.is_empty();
            // One group is written while the next is worked on.
            let (taken, next) = rayon::join(
                || {
                    std::mem::take(&mut ready).into_iter().try_for_each(|result| {
                        let (result, missing) = result?;
                        unseen.add(missing);
                        take(result)
                    })
                },
                || {
                    let make = || self.chain.tagger_with(space);
                    blocks
                        .into_par_iter()
                        .map_init(make, |tagger, block| process(tagger, block))
                        .collect()
                },
            );
            taken?;
            ready = next;
            if last {
                return Ok(unseen);
            }
        }
    }
}

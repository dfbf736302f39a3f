//! Tagging whole inputs: blocks in parallel, results in order.

use crate::{Error, Model};
use fieldmark_chain::Tagger;
use fieldmark_chain::inference::Space;
use fieldmark_core::kernels::Dispatch;
use fieldmark_text::{Block, BlockOptions, Part, ReadError, Reader, Source, Unseen};
use rayon::prelude::*;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

impl Model {
    /// Reads `source` block by block, calls `work` for each block on the threads of the current rayon pool,
    /// and hands the results to `take` in the order of the input.
    ///
    /// Memory stays bounded by a few blocks. What comes through a pipe or is typed is worked on as soon as a
    /// sequence is complete. Returns what the model does not know of the input.
    pub fn for_each_block<T: Dispatch, R: Send>(
        &self,
        source: &Source,
        space: Space,
        work: impl Fn(&mut Tagger<'_, T>, &Part) -> Result<R, Error> + Sync,
        take: impl FnMut(R) -> Result<(), Error> + Send,
    ) -> Result<Unseen, Error> {
        let blocks = if source.is_complete() {
            BlockOptions::default()
        } else {
            BlockOptions::eager()
        };
        self.for_each_block_in(source, blocks, space, work, take)
    }

    /// [`Model::for_each_block`] with a say in how the input is cut into blocks. Where results are much larger
    /// than what they are made from, smaller blocks keep memory bounded.
    pub fn for_each_block_in<T: Dispatch, R: Send>(
        &self,
        source: &Source,
        blocks: BlockOptions,
        space: Space,
        work: impl Fn(&mut Tagger<'_, T>, &Part) -> Result<R, Error> + Sync,
        mut take: impl FnMut(R) -> Result<(), Error> + Send,
    ) -> Result<Unseen, Error> {
        let format = self.input.format()?.blocks(blocks);
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
        let blocks = read_ahead(reader, 2 * threads)?;
        let mut ready: Vec<Result<(R, Unseen), Error>> = Vec::new();
        loop {
            let group = arrived(&blocks, 2 * threads, ready.is_empty());
            if group.is_empty() && ready.is_empty() {
                return Ok(unseen);
            }
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
                    group
                        .into_par_iter()
                        .map_init(make, |tagger, block| process(tagger, block?))
                        .collect()
                },
            );
            taken?;
            ready = next;
        }
    }
}

/// Reads blocks on a thread of its own, so that nobody who has work to do waits for the input.
///
/// The thread is not waited for: after a failure elsewhere it may be stuck in a read for as long as nothing
/// arrives. It ends at the next block that nobody wants.
fn read_ahead(mut reader: Reader, most: usize) -> Result<Receiver<Result<Block, ReadError>>, Error> {
    let (sender, receiver) = sync_channel(most);
    let read = move || {
        while let Some(block) = reader.next_block().transpose() {
            let failed = block.is_err();
            if sender.send(block).is_err() || failed {
                return;
            }
        }
    };
    let started = thread::Builder::new().name("reader".to_owned()).spawn(read);
    match started {
        Ok(_) => Ok(receiver),
        Err(error) => Err(Error::Option(format!("cannot start a thread: {error}"))),
    }
}

/// The blocks that are there, at most so many. With `wait`, at least one unless the input has ended.
fn arrived<B>(blocks: &Receiver<B>, most: usize, wait: bool) -> Vec<B> {
    let first = if wait {
        blocks.recv().ok()
    } else {
        blocks.try_recv().ok()
    };
    first.into_iter().chain(blocks.try_iter()).take(most).collect()
}

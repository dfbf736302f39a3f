//! Ctrl-C: the first asks the work to stop where nothing is lost, the second ends the program at once.

use crate::failure::Failure;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
/// What the shell reports for a program that was ended by SIGINT.
const INTERRUPTED: i32 = 130;

/// Listens for Ctrl-C and requests to terminate.
pub fn listen() -> Result<(), Failure> {
    let handler = || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
        // The handler runs in a thread of its own, so it may print.
        eprintln!("stopping after this iteration; press Ctrl-C again to stop at once");
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Failure::ours(format_args!("cannot listen for Ctrl-C: {error}")))
}

/// Whether someone wants the work to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

//! Reads any bytes as an attribute file and as a column file: an error, or the same data set in blocks of any
//! size and on any number of threads.

#![no_main]

use fieldmark_text::check::{CheckOptions, check};
use fieldmark_text::{BlockOptions, Format, LabelSyntax, Source, Template, read_training};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// Made once: compiling the pattern takes longer than reading a small file.
static TEMPLATE: LazyLock<Template> =
    LazyLock::new(|| Template::parse("U:%x[-1,0]%X[1,0]\n*:%m[0,0,\"\\a*\\d\"]\nB\n").unwrap());

/// Larger than any input of the fuzzer, so that there is one block, and not so large that making it takes the time.
const ONE_BLOCK: usize = 1 << 14;

fuzz_target!(|data: &[u8]| {
    let [choice, size, bytes @ ..] = data else { return };
    let format = match choice % 4 {
        0 => Format::attributes(),
        1 => Format::attributes().labels(LabelSyntax::Partial),
        2 => Format::plain_columns().skip_lines("#"),
        _ => Format::columns(TEMPLATE.clone()),
    };
    let in_blocks_of = |size| {
        format.clone().blocks(BlockOptions {
            size,
            ..BlockOptions::default()
        })
    };
    let (format, small) = (in_blocks_of(ONE_BLOCK), in_blocks_of(usize::from(*size) + 1));
    let source = Source::Memory {
        name: "fuzz".to_owned(),
        bytes: bytes.to_vec(),
    };
    let whole = read_training(&source, &format);
    let in_blocks = read_training(&source, &small);
    match (whole, in_blocks) {
        (Ok(whole), Ok(in_blocks)) => {
            assert_eq!(whole, in_blocks);
            assert_eq!(
                check(&source, Some(&source), &format, &CheckOptions::default())
                    .unwrap()
                    .tokens,
                whole.positions() as u64
            );
        }
        (Err(whole), Err(in_blocks)) => assert_eq!(whole.file(), in_blocks.file()),
        (whole, in_blocks) => panic!("{:?} or {:?}", whole.err(), in_blocks.err()),
    }
});

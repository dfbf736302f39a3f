//! Options of tests of significance.

use fieldmark::assess::Test;
use fieldmark::eval::Tail;

/// How the difference to `--against` is tested.
#[derive(Debug, clap::Args)]
pub struct TestOptions {
    /// Tests of the difference to --against, separated by commas
    ///
    /// `randomisation` and `paired-t` compare both on the same documents or parts; `welch` takes their scores for those of
    /// two groups that have nothing to do with each other. T-tests tell t and its degrees of freedom.
    #[arg(
        long,
        value_enum,
        value_name = "TESTS",
        value_delimiter = ',',
        requires = "against"
    )]
    test: Vec<Test>,

    /// 2 tails ask whether the first and the second differ, 1 whether the first is better [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2), requires = "against")]
    tails: Option<u8>,
}

impl TestOptions {
    /// The tests that were asked for.
    pub fn tests(&self) -> Option<Vec<Test>> {
        (!self.test.is_empty()).then(|| self.test.clone())
    }

    /// Which differences speak against chance.
    pub fn tail(&self) -> Tail {
        match self.tails {
            Some(1) => Tail::Greater,
            _ => Tail::Both,
        }
    }

    /// The options, and whether they were given.
    pub fn given(&self) -> [(&'static str, bool); 2] {
        [("test", !self.test.is_empty()), ("tails", self.tails.is_some())]
    }
}

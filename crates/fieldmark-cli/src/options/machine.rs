//! Threads, precision and arithmetic.

use crate::failure::Failure;
use clap::ValueEnum;
use fieldmark::Precision;

/// How many threads to use.
#[derive(Debug, clap::Args)]
pub struct Threads {
    /// Number of threads [default: all cores]
    ///
    /// Results do not depend on it, to the last bit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Threads {
    /// Sets up the threads; the number of them.
    pub fn start(&self) -> Result<usize, Failure> {
        let mut pool = rayon::ThreadPoolBuilder::new();
        if let Some(threads) = self.threads {
            pool = pool.num_threads(usize::from(threads));
        }
        pool.build_global().map_err(Failure::ours)?;
        Ok(rayon::current_num_threads())
    }
}

/// The precision of scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PrecisionName {
    /// Single
    F32,
    /// Double
    #[default]
    F64,
}

impl From<PrecisionName> for Precision {
    fn from(name: PrecisionName) -> Self {
        match name {
            PrecisionName::F32 => Precision::F32,
            PrecisionName::F64 => Precision::F64,
        }
    }
}

/// Numbers inside the algorithms.
#[derive(Debug, clap::Args)]
pub struct Arithmetic {
    /// Precision of scores and probabilities; weights are always f64
    #[arg(long, value_enum, default_value_t, value_name = "TYPE")]
    pub precision: PrecisionName,

    /// Compute in log space throughout
    ///
    /// Slower. By default sums are scaled, and sequences for which that would lose precision are found
    /// and computed in log space anyway.
    #[arg(long)]
    pub log_space: bool,
}

//! Little-endian bytes of an optimiser's or trainer's state, closed by a checksum.

use super::{Iteration, OptimizeError, Status};
use std::io::{self, Write};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

type Result<T> = std::result::Result<T, OptimizeError>;

const MAGIC: &[u8; 4] = b"FMOP";
const VERSION: u32 = 1;
/// Bytes that `Writer::start` writes.
const HEADER: usize = 4 + 4 + 4;
const CHECKSUM: usize = 8;

/// Writes numbers and keeps their checksum.
pub struct Writer<W> {
    inner: W,
    checksum: Xxh3,
}

impl<W: Write> Writer<W> {
    /// Starts the state of the kind of optimiser that `kind` names.
    pub fn start(inner: W, kind: &[u8; 4]) -> io::Result<Self> {
        let mut writer = Writer {
            inner,
            checksum: Xxh3::new(),
        };
        writer.bytes(MAGIC)?;
        writer.u32(VERSION)?;
        writer.bytes(kind)?;
        Ok(writer)
    }

    /// Writes the checksum.
    pub fn finish(mut self) -> io::Result<()> {
        let checksum = self.checksum.digest();
        self.inner.write_all(&checksum.to_le_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.update(bytes);
        self.inner.write_all(bytes)
    }

    /// A number.
    pub fn u32(&mut self, value: u32) -> io::Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// A number.
    pub fn u64(&mut self, value: u64) -> io::Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// A count.
    pub fn usize(&mut self, value: usize) -> io::Result<()> {
        self.u64(value as u64)
    }

    /// A number.
    pub fn f64(&mut self, value: f64) -> io::Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// Numbers, without their count.
    pub fn f64s(&mut self, values: &[f64]) -> io::Result<()> {
        let mut buffer = [0; 8 * 512];
        for chunk in values.chunks(512) {
            for (bytes, value) in buffer.chunks_exact_mut(8).zip(chunk) {
                bytes.copy_from_slice(&value.to_le_bytes());
            }
            self.bytes(&buffer[..8 * chunk.len()])?;
        }
        Ok(())
    }

    /// Numbers, without their count.
    pub fn f32s(&mut self, values: &[f32]) -> io::Result<()> {
        let mut buffer = [0; 4 * 1024];
        for chunk in values.chunks(1024) {
            for (bytes, value) in buffer.chunks_exact_mut(4).zip(chunk) {
                bytes.copy_from_slice(&value.to_le_bytes());
            }
            self.bytes(&buffer[..4 * chunk.len()])?;
        }
        Ok(())
    }

    /// Numbers, without their count.
    pub fn u32s(&mut self, values: &[u32]) -> io::Result<()> {
        values.iter().try_for_each(|&value| self.u32(value))
    }

    /// The state of something else, with its length.
    pub fn state(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.usize(bytes.len())?;
        self.bytes(bytes)
    }

    /// Yes or no.
    pub fn flag(&mut self, flag: bool) -> io::Result<()> {
        self.u32(u32::from(flag))
    }

    /// A number that may be missing.
    pub fn option(&mut self, value: Option<u64>) -> io::Result<()> {
        self.flag(value.is_some())?;
        self.u64(value.unwrap_or(0))
    }

    /// What an iteration did.
    pub fn iteration(&mut self, last: &Iteration) -> io::Result<()> {
        self.u64(last.iteration)?;
        self.f64s(&[last.loss, last.gradient_norm, last.x_norm, last.step])?;
        self.usize(last.active)?;
        self.u64(last.evaluations)
    }

    /// Where a run stands.
    pub fn status(&mut self, status: Status) -> io::Result<()> {
        let code = STATUSES.iter().position(|&s| s == status).unwrap_or(0);
        self.u32(code as u32)
    }
}

/// Codes of the states are their places in this list.
const STATUSES: [Status; 7] = [
    Status::Running,
    Status::GradientConverged,
    Status::LossConverged,
    Status::MaxIterations,
    Status::LineSearchFailed,
    Status::Diverged,
    Status::WeightsConverged,
];

/// Reads what a [`Writer`] wrote; everything that it hands out lies inside the bytes.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Checks header and checksum.
    pub fn start(bytes: &'a [u8], kind: &[u8; 4]) -> Result<Self> {
        if bytes.len() < HEADER + CHECKSUM || &bytes[..4] != MAGIC {
            return Err(OptimizeError::Damaged("it does not start like one"));
        }
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if xxh3_64(content).to_le_bytes() != checksum {
            return Err(OptimizeError::Damaged("the checksum is wrong"));
        }
        let mut reader = Reader { rest: &content[4..] };
        if reader.u32()? != VERSION {
            return Err(OptimizeError::Damaged("it was written by another version"));
        }
        if reader.take(4)? != kind {
            return Err(OptimizeError::Damaged("it belongs to another optimiser"));
        }
        Ok(reader)
    }

    /// Checks that nothing is left.
    pub fn finish(self) -> Result<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(OptimizeError::Damaged("it is too long"))
        }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(OptimizeError::Damaged("it is too short"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// A number.
    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number.
    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A count.
    pub fn usize(&mut self) -> Result<usize> {
        usize::try_from(self.u64()?).map_err(|_| OptimizeError::Damaged("a count is too large"))
    }

    /// A count of things of which each takes at least `bytes` bytes of what follows.
    pub fn count(&mut self, bytes: usize) -> Result<usize> {
        let count = self.usize()?;
        match count.checked_mul(bytes) {
            Some(size) if size <= self.rest.len() => Ok(count),
            _ => Err(OptimizeError::Damaged("a count is too large")),
        }
    }

    /// A number, finite or not.
    pub fn f64(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// Numbers, finite or not.
    pub fn f64s(&mut self, count: usize) -> Result<Vec<f64>> {
        let bytes = self.take(
            count
                .checked_mul(8)
                .ok_or(OptimizeError::Damaged("a count is too large"))?,
        )?;
        let values = bytes
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default()));
        Ok(values.collect())
    }

    /// Finite numbers only.
    pub fn finite_f64s(&mut self, count: usize) -> Result<Vec<f64>> {
        let values = self.f64s(count)?;
        if values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            Err(OptimizeError::Damaged("a number is not finite"))
        }
    }

    /// Fills `values` with finite numbers.
    pub fn finite_f32s(&mut self, values: &mut [f32]) -> Result<()> {
        let bytes = self.take(values.len() * 4)?;
        for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(4)) {
            *value = f32::from_le_bytes(bytes.try_into().unwrap_or_default());
            if !value.is_finite() {
                return Err(OptimizeError::Damaged("a number is not finite"));
            }
        }
        Ok(())
    }

    /// Numbers.
    pub fn u32s(&mut self, count: usize) -> Result<Vec<u32>> {
        (0..count).map(|_| self.u32()).collect()
    }

    /// The state of something else.
    pub fn state(&mut self) -> Result<&'a [u8]> {
        let length = self.count(1)?;
        self.take(length)
    }

    /// Yes or no.
    pub fn flag(&mut self) -> Result<bool> {
        match self.u32()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(OptimizeError::Damaged("a flag is neither 0 nor 1")),
        }
    }

    /// A number that may be missing.
    pub fn option(&mut self) -> Result<Option<u64>> {
        let some = self.flag()?;
        let value = self.u64()?;
        Ok(some.then_some(value))
    }

    /// What an iteration did.
    pub fn iteration(&mut self) -> Result<Iteration> {
        Ok(Iteration {
            iteration: self.u64()?,
            loss: self.f64()?,
            gradient_norm: self.f64()?,
            x_norm: self.f64()?,
            step: self.f64()?,
            active: self.usize()?,
            evaluations: self.u64()?,
        })
    }

    /// Where a run stands.
    pub fn status(&mut self) -> Result<Status> {
        let code = self.u32()? as usize;
        STATUSES
            .get(code)
            .copied()
            .ok_or(OptimizeError::Damaged("an unknown status"))
    }
}

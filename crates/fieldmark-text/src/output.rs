//! [`OutputFile`]: a file that gets its name when it is complete, compressed if its name says so.

use fieldmark_core::container::AtomicFile;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::Path;
use zstd::stream::write::Encoder;

/// A file that is written from its beginning to its end; what has its name stays as it is until
/// [`OutputFile::commit`].
///
/// A name that ends with `.gz` or `.zst` gives a compressed file, as [`Source`](crate::Source) reads it.
///
/// ```
/// use fieldmark_text::{OutputFile, Source, formats::encoding::read_bytes};
/// use std::io::Write;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("notes.txt.gz");
/// let mut file = OutputFile::create(&path)?;
/// file.write_all(b"Give iron.")?;
/// file.commit()?;
/// assert!(std::fs::read(&path)?.starts_with(b"\x1F\x8B"));
/// assert_eq!(read_bytes(&Source::File(path)).unwrap(), b"Give iron.");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct OutputFile(Kind);

enum Kind {
    Plain(AtomicFile),
    Gzip(GzEncoder<AtomicFile>),
    Zstd(Encoder<'static, AtomicFile>),
    /// It has got its name.
    Committed,
}

impl OutputFile {
    /// Gets ready to write.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let file = AtomicFile::create(path)?;
        let name = path.to_string_lossy().to_lowercase();
        Ok(Self(if name.ends_with(".gz") {
            Kind::Gzip(GzEncoder::new(file, Compression::default()))
        } else if name.ends_with(".zst") {
            // 0 is the usual level.
            Kind::Zstd(Encoder::new(file, 0)?)
        } else {
            Kind::Plain(file)
        }))
    }

    /// Forces the file to disk and gives it its name. Nothing can be written after that.
    pub fn commit(&mut self) -> io::Result<()> {
        let mut file = match std::mem::replace(&mut self.0, Kind::Committed) {
            Kind::Plain(file) => file,
            Kind::Gzip(encoder) => encoder.finish()?,
            Kind::Zstd(encoder) => encoder.finish()?,
            Kind::Committed => return Ok(()),
        };
        file.commit()
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(file) => file.write(bytes),
            Kind::Gzip(encoder) => encoder.write(bytes),
            Kind::Zstd(encoder) => encoder.write(bytes),
            Kind::Committed => Err(io::Error::other("the file is complete")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Plain(file) => file.flush(),
            // Compressed data are complete with the file; flushing before only makes it longer.
            Kind::Gzip(_) | Kind::Zstd(_) | Kind::Committed => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::encoding::read_bytes;
    use crate::source::Source;

    #[test]
    fn names_tell_the_compression_and_nothing_is_there_before_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let text = "Give iron now. ".repeat(20_000);
        for (name, magic) in [
            ("a.txt", &b"Give"[..]),
            ("a.txt.GZ", &[0x1F, 0x8B]),
            ("a.txt.zst", &[0x28, 0xB5, 0x2F, 0xFD]),
        ] {
            let path = folder.path().join(name);
            let mut file = OutputFile::create(&path).unwrap();
            for part in text.as_bytes().chunks(1000) {
                file.write_all(part).unwrap();
            }
            file.flush().unwrap();
            assert!(!path.exists(), "{name}");
            file.commit().unwrap();
            file.commit().unwrap();
            assert!(file.write(b"x").is_err(), "{name}");
            assert!(std::fs::read(&path).unwrap().starts_with(magic), "{name}");
            assert_eq!(
                read_bytes(&Source::File(path)).unwrap(),
                text.as_bytes(),
                "{name}"
            );
        }
        drop(OutputFile::create(folder.path().join("never.gz")));
        assert!(!folder.path().join("never.gz").exists());
    }
}

//! The body of a request that brings sources along, made while it is sent: neither the archive nor anything that
//! grows with it is ever in memory or on the disk.

use std::io::{self, BufWriter, Cursor, PipeReader, Read};
use std::thread::{Scope, ScopedJoinHandle};

use anyhow::Context;
use base::id;

use super::patience::Patience;
use super::sources::Sources;

/// Random characters of a boundary: no archive has them by chance.
const BOUNDARY_CHARS: usize = 32;

/// Bytes of the archive that are handed over at once. The pipe holds some more.
const PACKED_BYTES: usize = 64 << 10;

/// A `multipart/form-data` body (RFC 7578) of texts and, behind them, an archive.
pub(super) struct Form<'scope> {
    patience: Patience,
    boundary: String,
    /// What comes before the archive.
    head: Cursor<Vec<u8>>,
    archive: Packing<'scope>,
    /// What comes behind it.
    tail: Cursor<Vec<u8>>,
}

/// An archive that a thread makes.
enum Packing<'scope> {
    Going(PipeReader, ScopedJoinHandle<'scope, anyhow::Result<()>>),
    Whole,
    /// Why it is not whole, unless somebody was told.
    Failed(Option<anyhow::Error>),
}

impl<'scope> Form<'scope> {
    /// A body with these texts, and the sources as the file of the part `part`. It ends early at a signal.
    ///
    /// # Errors
    /// No pipe can be made.
    pub(super) fn new<'env>(
        scope: &'scope Scope<'scope, 'env>,
        patience: &Patience,
        texts: &[(&str, &str)],
        part: &str,
        sources: &'env Sources,
    ) -> anyhow::Result<Self> {
        let boundary = id::base62(BOUNDARY_CHARS);
        let mut head = String::new();
        for (name, text) in texts {
            head += &format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n"
            );
        }
        head += &format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{part}\"; filename=\"sources.tar.gz\"\r\n\
             Content-Type: application/gzip\r\n\r\n"
        );
        let tail = format!("\r\n--{boundary}--\r\n");
        let (archive, to) = io::pipe().context("make a pipe")?;
        let to = BufWriter::with_capacity(PACKED_BYTES, to);
        let packing = scope.spawn(move || sources.pack(to));
        Ok(Self {
            patience: patience.clone(),
            boundary,
            head: Cursor::new(head.into_bytes()),
            archive: Packing::Going(archive, packing),
            tail: Cursor::new(tail.into_bytes()),
        })
    }

    pub(super) fn media_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }

    /// Why the archive could not be made, if that ended the body.
    pub(super) fn trouble(&mut self) -> Option<anyhow::Error> {
        match &mut self.archive {
            Packing::Failed(error) => error.take(),
            Packing::Going(..) | Packing::Whole => None,
        }
    }

    fn read_archive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Packing::Going(pipe, _) = &mut self.archive {
            let count = pipe.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            // The pipe ends with the archive, be it whole or not.
            if let Packing::Going(_, packing) =
                std::mem::replace(&mut self.archive, Packing::Failed(None))
            {
                self.archive = match packing.join() {
                    Ok(Ok(())) => Packing::Whole,
                    Ok(Err(error)) => Packing::Failed(Some(error)),
                    Err(_) => Packing::Failed(None),
                };
            }
        }
        match self.archive {
            // Without the end of the form, no server takes it for a whole one.
            Packing::Failed(_) => Err(io::Error::other("the sources cannot be packed")),
            Packing::Going(..) | Packing::Whole => Ok(0),
        }
    }
}

impl Read for Form<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.patience.stops() > 0 {
            return Err(io::Error::other("it was interrupted"));
        }
        let count = match self.head.read(buffer)? {
            0 => self.read_archive(buffer)?,
            count => count,
        };
        match count {
            0 => self.tail.read(buffer),
            count => Ok(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn patience() -> Patience {
        Patience::new(Duration::ZERO)
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("pipeline.yml"), "version: 1").unwrap();
        folder
    }

    #[test]
    fn a_form_has_its_texts_and_the_whole_archive() {
        let folder = folder();
        let sources = Sources::list(folder.path(), None).unwrap();
        let mut archive = Vec::new();
        sources.pack(&mut archive).unwrap();
        let (body, media_type) = thread::scope(|scope| {
            let texts = [("ci_yaml", "pipeline.yml"), ("name", "a \"b\"")];
            let mut form = Form::new(scope, &patience(), &texts, "archive", &sources).unwrap();
            let mut body = Vec::new();
            form.read_to_end(&mut body).unwrap();
            assert!(form.trouble().is_none());
            (body, form.media_type())
        });
        let (_, boundary) = media_type.split_once("boundary=").unwrap();
        assert_eq!(boundary.len(), BOUNDARY_CHARS);
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"ci_yaml\"\r\n\r\npipeline.yml\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\na \"b\"\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"archive\"; filename=\"sources.tar.gz\"\r\n\
             Content-Type: application/gzip\r\n\r\n"
        );
        let tail = format!("\r\n--{boundary}--\r\n");
        assert!(body == [head.as_bytes(), &archive, tail.as_bytes()].concat());
    }

    #[test]
    fn a_form_without_its_whole_archive_has_no_end() {
        let folder = folder();
        let sources = Sources::list(folder.path(), None).unwrap();
        fs::remove_file(folder.path().join("pipeline.yml")).unwrap();
        thread::scope(|scope| {
            let mut form = Form::new(scope, &patience(), &[], "archive", &sources).unwrap();
            let mut body = Vec::new();
            assert!(form.read_to_end(&mut body).is_err());
            assert!(!body.ends_with(b"--\r\n"));
            let trouble = format!("{:#}", form.trouble().unwrap());
            assert!(trouble.starts_with("pack pipeline.yml: "), "{trouble}");
        });
    }

    #[test]
    fn whoever_stops_reading_stops_the_packing() {
        let folder = folder();
        let noise: Vec<u8> = (0..8_u32 << 20)
            .map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0])
            .collect();
        fs::write(folder.path().join("noise"), noise).unwrap();
        let sources = Sources::list(folder.path(), None).unwrap();
        // The scope waits for the thread that packs.
        thread::scope(|scope| {
            let mut form = Form::new(scope, &patience(), &[], "archive", &sources).unwrap();
            form.read_exact(&mut [0; 1000]).unwrap();
        });
    }
}

//! The files of a capture that is sent while it is taken: they are written as it comes, so that memory does not bound it.

use std::io::{self, Write};

use super::files::{Files, LOGIC, LOGIC_PYRAMID, Part};

/// The logic samples and their pyramid, being written. Dropping it removes them.
#[derive(Debug)]
pub(super) struct Spool {
    samples: Part,
    pyramid: Part,
}

/// Bytes of the samples and of their pyramid.
pub(super) type Both = (Vec<u8>, Vec<u8>);

impl Spool {
    /// Blocks on the disk, as everything here does.
    ///
    /// # Errors
    /// The files cannot be made.
    pub(super) fn begin(files: &Files, id: &str) -> io::Result<Self> {
        Ok(Self {
            samples: files.begin(id, LOGIC)?,
            pyramid: files.begin(id, LOGIC_PYRAMID)?,
        })
    }

    /// # Errors
    /// The disk.
    pub(super) fn write(&mut self, (samples, pyramid): &Both) -> io::Result<()> {
        self.samples.write_all(samples)?;
        self.pyramid.write_all(pyramid)
    }

    /// Both exist complete from now on, the samples last: a capture whose samples are on disk is whole.
    ///
    /// # Errors
    /// The disk.
    pub(super) fn finish(self) -> io::Result<()> {
        self.pyramid.finish()?;
        self.samples.finish()
    }
}

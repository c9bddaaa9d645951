//! What a decoder found, kept as an artifact.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::artifacts::{self, Artifact};
use crate::attempt::Stop;
use crate::outcome::{Failure, Outcome};

/// A file of lines that is being written.
pub(super) struct Decoded {
    name: String,
    path: PathBuf,
    out: BufWriter<File>,
    digest: Sha256,
    bytes: u64,
    lines: u64,
    bytes_max: u64,
    /// The first one; what comes after it is left out.
    error: Option<io::Error>,
}

impl Decoded {
    /// A file below `folder` that has at most `bytes_max`.
    pub(super) fn create(folder: &Path, name: &str, bytes_max: u64) -> Stop<Self> {
        let path = folder.join(name);
        let file = artifacts::create(&path).map_err(|error| broken(&error))?;
        Ok(Self {
            name: name.to_owned(),
            path,
            out: BufWriter::new(file),
            digest: Sha256::new(),
            bytes: 0,
            lines: 0,
            bytes_max,
            error: None,
        })
    }

    pub(super) fn push(&mut self, line: &str) {
        self.bytes += line.len() as u64 + 1;
        if self.error.is_some() || self.bytes_max < self.bytes {
            return;
        }
        self.lines += 1;
        self.digest.update(line);
        self.digest.update(b"\n");
        self.error = writeln!(self.out, "{line}").err();
    }

    /// The artifact, and how many lines it has.
    pub(super) fn finish(mut self) -> Stop<(Artifact, u64)> {
        if self.bytes_max < self.bytes {
            let why = "what was decoded is larger than `limits.disk`";
            let unfit = Failure::UnfitArtifact(self.name, why.to_owned());
            return Err(Outcome::Failed(unfit));
        }
        let written = self.error.map_or_else(|| self.out.flush(), Err);
        written.map_err(|error| broken(&error))?;
        let artifact = Artifact {
            name: self.name,
            bytes: self.bytes,
            sha256: hex::encode(self.digest.finalize()),
            path: self.path,
        };
        Ok((artifact, self.lines))
    }
}

fn broken(error: &io::Error) -> Outcome {
    Outcome::broken("keep what was decoded", error)
}

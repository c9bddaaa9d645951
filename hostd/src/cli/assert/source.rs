//! The capture that rules are about.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use decode::segment::{Encoder, EncoderSpec, Segment};
use decode::sr::{Archive, Limits};
use memmap2::Mmap;
use rules::{Capture, Logic};

/// What a zip archive begins with.
const ZIP: &[u8] = b"PK";

/// Where a capture comes from.
#[derive(Debug, Args)]
pub(super) struct Source {
    /// Capture to read: sigrok session file (.sr), or logic samples as a server stores them (.la)
    #[arg(value_name = "CAPTURE", required = true)]
    file: Option<PathBuf>,
}

/// A capture's samples as they are stored, and the names of its channels.
pub(super) struct Stored {
    bytes: Bytes,
    names: Vec<String>,
}

enum Bytes {
    Own(Vec<u8>),
    File(Mmap),
}

impl Source {
    /// What people call it.
    pub(super) fn name(&self) -> String {
        let name = self.file.as_ref().and_then(|file| file.file_name());
        name.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, or is none of those that are.
    pub(super) fn load(&self) -> anyhow::Result<Stored> {
        let Some(path) = &self.file else {
            bail!("find the capture: name a file");
        };
        let shown = path.display();
        let file = File::open(path).with_context(|| format!("open {shown}"))?;
        let length = file.metadata().with_context(|| format!("read {shown}"))?;
        if length.len() == 0 {
            bail!("read {shown}: the file is empty");
        }
        #[expect(unsafe_code, reason = "a file of any size is read without copying it")]
        // SAFETY: the mapping is read-only. Should another process truncate the file meanwhile,
        // this command-line process gets SIGBUS, which is no worse than the file being gone.
        let bytes = unsafe { Mmap::map(&file) }.with_context(|| format!("map {shown}"))?;
        if bytes.starts_with(ZIP) {
            return stored(&bytes).with_context(|| format!("read {shown}"));
        }
        let channels = Segment::open(&bytes)
            .with_context(|| format!("read {shown}, which is no .sr file"))?
            .channels();
        Ok(Stored {
            names: (0..channels).map(|channel| channel.to_string()).collect(),
            bytes: Bytes::File(bytes),
        })
    }
}

/// Stores the samples of a `.sr` file in memory: a small part of its size, since only edges are kept.
fn stored(bytes: &[u8]) -> anyhow::Result<Stored> {
    let archive = Archive::parse(bytes, &Limits::default())?;
    let Some(sample_rate_hz) = archive.sample_rate_hz() else {
        bail!("the file does not say its sample rate, and rules are about times");
    };
    let unit = archive.unit_size();
    // A file may name more channels than its samples have bits; those are low.
    let channels = archive.channels().len().clamp(1, unit * 8);
    let mut encoder = Encoder::new(EncoderSpec {
        channels,
        sample_rate_hz,
    })?;
    let mut own = Vec::new();
    // Nothing ends it early.
    let _ = archive.visit(&mut |raw| {
        encoder.push_raw(raw, unit);
        own.extend(encoder.take());
        ControlFlow::Continue(())
    })?;
    own.extend(encoder.finish());
    Ok(Stored {
        bytes: Bytes::Own(own),
        names: archive.channels()[..channels.min(archive.channels().len())].to_vec(),
    })
}

impl Stored {
    /// The capture.
    ///
    /// # Errors
    /// It is damaged.
    pub(super) fn capture(&self) -> anyhow::Result<Capture<'_>> {
        let bytes = match &self.bytes {
            Bytes::Own(own) => own.as_slice(),
            Bytes::File(file) => file,
        };
        let segment = Segment::open(bytes).context("read the samples")?;
        Ok(Capture::of_logic(Logic::new(segment, self.names.clone())))
    }
}

//! The capture that rules are about.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use decode::analog::AnalogSegment;
use decode::import::{Import, Kind, Limits, Memory, Options};
use decode::segment::Segment;
use memmap2::Mmap;
use rules::{Analog, Capture, Logic};

/// Counts of the converter of an imported channel.
const COUNTS: f64 = 65_536.0;

/// The unit of an analog channel that has none.
const UNIT: &str = "V";

/// Where a capture comes from.
#[derive(Debug, Args)]
pub(in crate::cli) struct Source {
    /// Capture to read: sigrok session (.sr), VCD, CSV, Saleae's binary export, WAV, or logic samples as a server stores
    /// them (.la)
    #[arg(value_name = "CAPTURE", required = true)]
    file: Option<PathBuf>,
}

/// A capture's samples as they are stored, and what its channels are.
pub(in crate::cli) struct Stored {
    logic: Bytes,
    names: Vec<String>,
    analog: Vec<u8>,
    scale: Option<decode::import::Analog>,
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
        Stored::read(path)
    }
}

/// Stores the samples of a file in memory: a small part of its size, since only edges are kept.
fn stored(bytes: &[u8]) -> anyhow::Result<Stored> {
    let import = Import::open(bytes, &Options::default(), &Limits::default())?;
    let (logic, analog) = Memory::of(&import)?;
    Ok(Stored {
        logic: Bytes::Own(logic),
        names: import
            .logic()
            .map_or_else(Vec::new, |logic| logic.names.clone()),
        analog,
        scale: import.analog().cloned(),
    })
}

impl Stored {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is none of those that are.
    pub(in crate::cli) fn read(path: &Path) -> anyhow::Result<Self> {
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
        if Kind::of(&bytes).is_some() {
            return stored(&bytes).with_context(|| format!("read {shown}"));
        }
        let channels = Segment::open(&bytes)
            .with_context(|| format!("read {shown}, which is no capture that is known"))?
            .channels();
        Ok(Stored {
            names: (0..channels).map(|channel| channel.to_string()).collect(),
            logic: Bytes::File(bytes),
            analog: Vec::new(),
            scale: None,
        })
    }

    /// The digital channels with their names.
    ///
    /// # Errors
    /// There are none, or they are damaged.
    pub(in crate::cli) fn logic(&self) -> anyhow::Result<(Segment<'_>, &[String])> {
        if self.names.is_empty() {
            bail!("find digital channels: the capture has none");
        }
        let segment = Segment::open(self.bytes()).context("read the samples")?;
        Ok((segment, &self.names))
    }

    fn bytes(&self) -> &[u8] {
        match &self.logic {
            Bytes::Own(own) => own.as_slice(),
            Bytes::File(file) => file,
        }
    }

    /// The capture.
    ///
    /// # Errors
    /// It is damaged.
    pub(super) fn capture(&self) -> anyhow::Result<Capture<'_>> {
        let logic = match self.names.is_empty() {
            true => None,
            false => {
                let (segment, names) = self.logic()?;
                Some(Logic::new(segment, names.to_owned()))
            }
        };
        let mut analog = Vec::new();
        if let Some(scale) = &self.scale {
            let unit = match scale.unit.as_str() {
                "" => UNIT,
                unit => unit,
            };
            analog.push(Analog {
                segment: AnalogSegment::open(&self.analog).context("read the samples")?,
                name: scale.name.clone(),
                unit: unit.to_owned(),
                offset: scale.offset,
                step: scale.full_scale / COUNTS,
            });
        }
        Ok(Capture::new(logic, analog))
    }
}

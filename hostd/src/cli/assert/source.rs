//! The capture that rules are about.

use std::env;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use decode::analog::AnalogSegment;
use decode::gaps::Gaps;
use decode::import::{Import, Kind, Limits, Memory, Options};
use decode::segment::Segment;
use memmap2::Mmap;
use rules::{Analog, Capture, Logic};
use serde_json::Value;

use super::super::patience::Patience;
use super::super::server::{Failed, KEY, Server, URL_DEFAULT, retried};

/// Counts of the converter of an imported channel.
pub(in crate::cli) const COUNTS: f64 = 65_536.0;

/// The unit of an analog channel that has none.
const UNIT: &str = "V";

/// Characters of the id of a server's capture.
const ID_CHARS: usize = 26;

/// Bytes of a capture that is fetched from a server, as a sigrok session.
const FETCHED_BYTES_MAX: u64 = 1 << 30;

/// How long a server that cannot be reached is tried again.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where a capture comes from.
#[derive(Debug, Args)]
pub(in crate::cli) struct Source {
    /// Capture to read: sigrok session (.sr), VCD, FST, CSV, Saleae's binary export, WAV, logic samples as a server
    /// stores them (.la), or the id of a capture of a server
    #[arg(value_name = "CAPTURE", required = true)]
    file: Option<PathBuf>,
    /// URL of the server that has a capture which is named by its id; the key is read from HOSTD_KEY
    #[arg(long, env = "HOSTD_URL", value_name = "URL", default_value = URL_DEFAULT)]
    url: String,
    /// PEM file of the certificate authorities to trust, in place of the public ones
    #[arg(long, env = "HOSTD_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
}

/// A capture's samples as they are stored, and what its channels are.
pub(in crate::cli) struct Stored {
    logic: Bytes,
    names: Vec<String>,
    analog: Vec<u8>,
    scale: Option<decode::import::Analog>,
    /// Seconds from the first sample to the trigger, which only a server knows.
    trigger_s: f64,
    /// Logic samples that were lost.
    gaps: Gaps,
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
        // A file has its name before a capture of a server.
        match path.to_str().filter(|text| is_id(text) && !path.exists()) {
            Some(id) => self.fetch(id),
            None => Stored::read(path, &Options::default()),
        }
    }
}

impl Source {
    /// Reads a capture of the server.
    ///
    /// # Errors
    /// The server does not have it, or cannot be reached.
    pub(super) fn fetch(&self, id: &str) -> anyhow::Result<Stored> {
        let what = || format!("fetch the capture {id} from {}", self.url);
        if !is_id(id) {
            bail!("{}: an id has {ID_CHARS} letters and digits", what());
        }
        let key = env::var(KEY).with_context(|| format!("read the API key from {KEY}"))?;
        let server = Server::new(&self.url, &key, self.ca.as_deref())?;
        let path = format!("/capture/{id}/export?format=sr");
        let patience = Patience::new(PATIENCE);
        let fetched = retried(&patience, || {
            let answer = server.send("GET", &path, &[], ureq::SendBody::none())?;
            let body = answer.into_body().into_with_config();
            let mut bytes = Vec::new();
            let read = body
                .limit(FETCHED_BYTES_MAX)
                .reader()
                .read_to_end(&mut bytes);
            read.context("read the answer").map_err(Failed::Lost)?;
            Ok(bytes)
        });
        let bytes = fetched.map_err(|failed| anyhow!("{}: failed to {failed}", what()))?;
        let record = server.get_json(&format!("/capture/{id}?frames=none"), &patience);
        let record = record.map_err(|failed| anyhow!("{}: failed to {failed}", what()))?;
        let stored = stored(&bytes, &Options::default()).with_context(what)?;
        Ok(Stored {
            trigger_s: trigger_s(&record),
            gaps: gaps(&record),
            ..stored
        })
    }
}

/// When the trigger of a capture was met, in seconds from its first sample. It counts samples of logic channels, or of the ADC
/// alone.
fn trigger_s(record: &Value) -> f64 {
    let channels = record["channels"].as_array().map_or(&[][..], Vec::as_slice);
    let is_logic = |channel: &&Value| channel["type"] == "digital";
    let logic = channels.iter().find(is_logic);
    let rate_hz = logic
        .or(channels.first())
        .and_then(|of| of["sample_rate_hz"].as_f64());
    let sample = record["trigger_sample"].as_f64();
    let rate_hz = rate_hz.filter(|rate_hz| *rate_hz > 0.0);
    sample
        .zip(rate_hz)
        .map_or(0.0, |(sample, rate_hz)| sample / rate_hz)
}

/// Samples that a capture lost.
fn gaps(record: &Value) -> Gaps {
    let list = record["gaps"].as_array().map_or(&[][..], Vec::as_slice);
    let range = |gap: &Value| gap["from"].as_u64().zip(gap["to"].as_u64());
    Gaps::new(list.iter().filter_map(range))
}

/// Whether a text is the id of a capture.
fn is_id(text: &str) -> bool {
    let is_letter = |b: u8| b.is_ascii_digit() || b.is_ascii_uppercase();
    text.len() == ID_CHARS && text.bytes().all(is_letter)
}

/// Stores the samples of a file in memory: a small part of its size, since only edges are kept.
fn stored(bytes: &[u8], options: &Options) -> anyhow::Result<Stored> {
    let import = Import::open(bytes, options, &Limits::default())?;
    let (logic, analog) = Memory::of(&import)?;
    Ok(Stored {
        logic: Bytes::Own(logic),
        names: import
            .logic()
            .map_or_else(Vec::new, |logic| logic.names.clone()),
        analog,
        scale: import.analog().cloned(),
        trigger_s: 0.0,
        gaps: Gaps::default(),
    })
}

impl Stored {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is none of those that are.
    pub(in crate::cli) fn read(path: &Path, options: &Options) -> anyhow::Result<Self> {
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
            return stored(&bytes, options).with_context(|| format!("read {shown}"));
        }
        let channels = Segment::open(&bytes)
            .with_context(|| format!("read {shown}, which is no capture that is known"))?
            .channels();
        Ok(Stored {
            names: (0..channels).map(|channel| channel.to_string()).collect(),
            logic: Bytes::File(bytes),
            analog: Vec::new(),
            scale: None,
            trigger_s: 0.0,
            gaps: Gaps::default(),
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
        let capture = Capture::new(logic, analog).with_trigger(self.trigger_s);
        Ok(capture.with_gaps(self.gaps.clone()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::trigger_s;

    #[test]
    fn a_trigger_counts_samples_of_its_channels() {
        let record = |channels| json!({"trigger_sample": 400, "channels": channels});
        let logic = json!({"type": "digital", "unit": "", "sample_rate_hz": 1_000_000.0});
        let analog = json!({"type": "analog", "unit": "", "sample_rate_hz": 100_000.0});
        let of = |channels| trigger_s(&record(channels));
        let near = |found: f64, wanted: f64| (found - wanted).abs() < 1e-12;
        assert!(near(of(json!([analog, logic])), 0.0004));
        assert!(near(of(json!([analog])), 0.004));
        assert!(near(of(json!([])), 0.0));
        assert!(near(
            trigger_s(&json!({"trigger_sample": null, "channels": [logic]})),
            0.0
        ));
    }
}

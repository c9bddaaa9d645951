//! The `metadata` entry: an ini file with the quirks of twelve years of sigrok versions.
//!
//! Seen in the wild: `samplerate=5 Hz`, `200 kHz`, `2 mHz` (meaning mega, as sigrok reads it) or
//! none at all; with or without blanks around `=`; `trigger1 = 0` lines; names with blanks and `#`;
//! no `unitsize`; more channels than the samples have bits.

use super::SrError;

/// Sample size if the file does not say.
const UNIT_SIZE_DEFAULT: usize = 1;

/// Largest sample, in bytes.
const UNIT_SIZE_MAX: usize = 8;

/// Maximum number of channels that a file may name.
const CHANNELS_MAX: usize = 1024;

/// The metadata that decoders need.
#[derive(Debug, PartialEq)]
pub(super) struct Metadata {
    pub(super) sample_rate_hz: Option<f64>,
    /// In bytes.
    pub(super) unit_size: usize,
    pub(super) channels: Vec<String>,
    /// Numbers and names of the analog channels; they are numbered after the logic ones.
    pub(super) analog: Vec<(usize, String)>,
    /// Name of the entry with samples, or prefix of the names if there are several.
    pub(super) capture_file: String,
}

impl Metadata {
    pub(super) fn parse(text: &str) -> Result<Self, SrError> {
        let mut metadata = Self {
            sample_rate_hz: None,
            unit_size: UNIT_SIZE_DEFAULT,
            channels: Vec::new(),
            analog: Vec::new(),
            capture_file: "logic-1".to_owned(),
        };
        let mut names = Vec::new();
        let mut total = None;
        for (key, value) in device_lines(text) {
            match key {
                "samplerate" => metadata.sample_rate_hz = Some(parse_rate(value)?),
                "unitsize" => metadata.unit_size = parse_unit_size(value)?,
                "capturefile" => metadata.capture_file = value.to_owned(),
                "total probes" => total = Some(parse_count("total probes", value)?),
                _ => {
                    // `probeN = name` counts from 1. Other keys that start with `probe` are
                    // ignored.
                    if let Some(Ok(number)) = key.strip_prefix("probe").map(str::parse) {
                        names.push((checked_number(number, value)?, value.to_owned()));
                    }
                    if let Some(Ok(number)) = key.strip_prefix("analog").map(str::parse) {
                        let number = checked_number(number, value)?;
                        metadata.analog.push((number, value.to_owned()));
                    }
                }
            }
        }
        metadata.analog.sort();
        metadata.analog.dedup_by_key(|(number, _)| *number);
        let named = names.iter().map(|(number, _)| *number).max().unwrap_or(0);
        let count = total.unwrap_or(metadata.unit_size * 8).max(named);
        metadata.channels = (0..count).map(|index| index.to_string()).collect();
        for (number, name) in names {
            metadata.channels[number - 1] = name;
        }
        Ok(metadata)
    }
}

/// Keys and values of the first device.
fn device_lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut in_device = false;
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            in_device = section.trim_end_matches(']').trim() == "device 1";
            return None;
        }
        let (key, value) = line.split_once('=').filter(|_| in_device)?;
        Some((key.trim(), value.trim()))
    })
}

fn invalid(key: &'static str, value: &str) -> SrError {
    SrError::Metadata {
        key,
        value: value.chars().take(80).collect(),
    }
}

fn parse_rate(text: &str) -> Result<f64, SrError> {
    spoken_rate(text).ok_or_else(|| invalid("samplerate", text))
}

/// A rate in sigrok's words, `200 kHz`; none when it is no rate.
pub(crate) fn spoken_rate(text: &str) -> Option<f64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let scale = match unit.strip_suffix("hz").unwrap_or(&unit).trim() {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        _ => return None,
    };
    // sigrok stores whole hertz.
    let rate = number
        .parse::<f64>()
        .ok()
        .map(|number| (number * scale).round());
    rate.filter(|rate| *rate >= 1.0 && *rate <= 1e15)
}

fn parse_unit_size(text: &str) -> Result<usize, SrError> {
    let size = text
        .parse()
        .ok()
        .filter(|size| (1..=UNIT_SIZE_MAX).contains(size));
    size.ok_or_else(|| invalid("unitsize", text))
}

fn parse_count(key: &'static str, text: &str) -> Result<usize, SrError> {
    let count = text.parse().ok().filter(|count| *count <= CHANNELS_MAX);
    count.ok_or_else(|| invalid(key, text))
}

fn checked_number(number: usize, value: &str) -> Result<usize, SrError> {
    if (1..=CHANNELS_MAX).contains(&number) {
        Ok(number)
    } else {
        Err(invalid("probe", value))
    }
}

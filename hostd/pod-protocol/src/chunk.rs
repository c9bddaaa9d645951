//! Capture packets: one JSON line each, ADC counts dense, logic-analyzer words as edges.
//!
//! ```text
//! {"status":"ok","bits":16,"adc_rate_hz":400000,"b64":"BgAG_w","more":true}
//! {"status":"chunk","la":true,"la_edges":[[0,3],[17,1]],"la_upto":256,"more":false}
//! ```
//!
//! With `"enc":"raw"` the samples follow the line as bytes, `raw` of them (see [`raw`]).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

pub mod raw;

use raw::Raw;

use super::refusal::Refusal;
use super::reply::{ReplyError, not_reply};

/// One packet of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// What it carries.
    pub payload: Payload,
    /// Achieved ADC rate in hertz, if this packet gives it.
    pub adc_rate_hz: Option<f64>,
    /// Achieved LA rate in hertz, if this packet gives it.
    pub la_rate_hz: Option<f64>,
    /// What the trigger did, if this packet says so.
    pub trigger: Option<TriggerReport>,
    /// How a capture with samples before its trigger turned out, if this packet says so.
    pub extent: Option<Extent>,
    /// Logic samples that were lost, from one up to another, which this packet stands for.
    pub gap: Option<(u64, u64)>,
    /// Whether another packet follows.
    pub more: bool,
}

/// The samples of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// Dense 16-bit values: ADC counts, or LA words from pods that do not send edges.
    Dense(Vec<u16>),
    /// Logic-analyzer edges.
    Edges {
        /// Sample index and the word from that sample on, in order.
        edges: Vec<(u64, u16)>,
        /// Samples covered so far, from the start of the capture.
        upto: u64,
    },
    /// Logic-analyzer words, one for each sample.
    Words(Vec<u16>),
    /// Logic-analyzer words, each with the number of samples in a row that have it.
    Runs(Vec<(u16, u16)>),
    /// What follows the line; see [`Chunk::take`].
    Raw(Raw),
}

/// The trigger's part of a capture's last packet.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TriggerReport {
    /// LA channel, from 1.
    pub la: u8,
    /// `rising`, `falling`, `high` or `low`.
    pub edge: String,
    /// Whether it fired.
    pub fired: bool,
}

/// How a capture with samples before its trigger turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The sample at which the trigger was met: of the logic analyzer, or of the ADC alone.
    pub trigger_sample: u64,
    /// Samples of the ADC; fewer than asked for if the trigger came early.
    pub adc_samples: u64,
    /// Samples of the logic analyzer.
    pub la_samples: u64,
}

impl Extent {
    /// The fields of a capture's first line that say it.
    pub fn fields(self) -> [(&'static str, u64); 3] {
        [
            ("trigger_sample", self.trigger_sample),
            ("adc_samples", self.adc_samples),
            ("la_samples", self.la_samples),
        ]
    }
}

/// The content of a capture line.
#[derive(Debug, Clone, PartialEq)]
pub enum CaptureLine {
    /// A packet.
    Chunk(Chunk),
    /// The pod refused the capture, or abandoned it.
    Refused(Refusal),
}

/// Why a line is not a packet.
#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    /// Not a reply at all.
    #[error("a capture packet is malformed")]
    Reply(#[source] ReplyError),
    /// The `b64` field is not base64url.
    #[error("a capture packet's samples are not base64url")]
    Base64(#[source] base64::DecodeError),
    /// It announces bytes that are no samples, or too many.
    #[error("a capture packet announces {0} bytes of samples")]
    Raw(u64),
}

#[derive(Deserialize)]
struct RawChunk {
    status: String,
    #[serde(default)]
    message: String,
    b64: Option<String>,
    data: Option<Vec<u16>>,
    #[serde(default)]
    la: bool,
    #[serde(default)]
    la_edges: Vec<(u64, u16)>,
    #[serde(default)]
    la_upto: u64,
    la_gap: Option<(u64, u64)>,
    raw: Option<u64>,
    #[serde(default)]
    la_runs: bool,
    adc_rate_hz: Option<f64>,
    la_rate_hz: Option<f64>,
    trigger: Option<TriggerReport>,
    trigger_sample: Option<u64>,
    #[serde(default)]
    adc_samples: u64,
    #[serde(default)]
    la_samples: u64,
    #[serde(default)]
    more: bool,
}

/// Reads one line of a capture.
///
/// # Errors
/// [`ChunkError`] when the line is neither a packet nor a refusal.
pub fn parse(line: &[u8]) -> Result<CaptureLine, ChunkError> {
    let raw: RawChunk = serde_json::from_slice(line)
        .map_err(|source| ChunkError::Reply(not_reply(line, source)))?;
    match raw.status.as_str() {
        "ok" | "chunk" => {}
        "error" => return Ok(CaptureLine::Refused(Refusal::new(raw.message))),
        _ => {
            let status = raw.status.chars().take(16).collect();
            return Err(ChunkError::Reply(ReplyError::UnknownStatus { status }));
        }
    }
    let payload = if let Some(bytes) = raw.raw {
        Payload::Raw(Raw::announced(bytes, raw.la, raw.la_runs).ok_or(ChunkError::Raw(bytes))?)
    } else if raw.la {
        Payload::Edges {
            edges: raw.la_edges,
            upto: raw.la_upto,
        }
    } else if let Some(text) = raw.b64 {
        Payload::Dense(decode_b64(&text).map_err(ChunkError::Base64)?)
    } else {
        Payload::Dense(raw.data.unwrap_or_default())
    };
    let positive = |rate: &f64| rate.is_finite() && *rate > 0.0;
    Ok(CaptureLine::Chunk(Chunk {
        payload,
        adc_rate_hz: raw.adc_rate_hz.filter(positive),
        la_rate_hz: raw.la_rate_hz.filter(positive),
        trigger: raw.trigger,
        gap: raw.la_gap,
        extent: raw.trigger_sample.map(|trigger_sample| Extent {
            trigger_sample,
            adc_samples: raw.adc_samples,
            la_samples: raw.la_samples,
        }),
        more: raw.more,
    }))
}

/// Unpadded base64url of little-endian u16 values; an odd last byte is dropped.
///
/// # Errors
/// The base64 error.
pub fn decode_b64(text: &str) -> Result<Vec<u16>, base64::DecodeError> {
    let bytes = URL_SAFE_NO_PAD.decode(text)?;
    let (pairs, _odd) = bytes.as_chunks::<2>();
    Ok(pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect())
}

/// The inverse of [`decode_b64`].
pub fn encode_b64(counts: &[u16]) -> String {
    let bytes: Vec<u8> = counts
        .iter()
        .flat_map(|count| count.to_le_bytes())
        .collect();
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests;

//! Capture messages on a WebSocket: JSON texts, and frames as bytes behind a fixed header.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pods::PodEvent;
use serde_json::{Value, json};

use super::feed::Event;
use super::framer::Frame;
use super::layout;
use super::reader::Data;
use store::captures::{CaptureRecord, ChannelRecord, Kind, Status};

/// First bytes of a binary frame; the last one is the version.
pub(crate) const MAGIC: [u8; 4] = *b"BCF1";

/// Bytes before the samples of a binary frame.
pub(crate) const HEADER_BYTES: usize = 32;

/// Codes of the encodings in a binary frame.
const COUNTS: u8 = 1;
const RUNS: u8 = 2;

/// An event as text.
#[must_use]
pub(crate) fn json(event: &Event) -> String {
    match event {
        Event::State(record) => state(record),
        Event::Done(record, frames) => {
            let mut told = about(record, "capture.done");
            told["frames"] = (*frames).into();
            told["channels"] = channels(record);
            told["trigger_sample"] = record.trigger_at().into();
            if !record.gaps.is_empty() {
                let gaps = record.gaps.iter();
                told["gaps"] = gaps
                    .map(|(from, to)| json!({"from": from, "to": to}))
                    .collect();
            }
            told
        }
        Event::Gap { capture, from, to } => {
            json!({"type": "gap", "capture_id": **capture, "from": from, "to": to})
        }
        Event::Failed(record) => {
            let mut told = about(record, "capture.error");
            told["error"] = record.error.clone().into();
            told
        }
        Event::Frame { capture, frame } => {
            let span = frame.span;
            let (encoding, data): (_, Value) = match &frame.data {
                Data::Counts(counts) => ("b64-u16le", STANDARD.encode(counts).into()),
                Data::Runs { level, runs } => {
                    let all = std::iter::once(u32::from(*level)).chain(runs.iter().copied());
                    ("rle", all.collect::<Vec<u32>>().into())
                }
            };
            json!({"type": "frame", "capture_id": **capture, "channel": span.channel,
                "seq": span.seq, "start_sample": span.start_sample, "count": span.count,
                "encoding": encoding, "data": data})
        }
    }
    .to_string()
}

/// A capture's state, with what is needed to read its frames.
#[must_use]
pub(crate) fn state(record: &CaptureRecord) -> Value {
    let mut told = about(record, "capture.state");
    told["kind"] = kind(record.kind).into();
    told["name"] = record.name.clone().into();
    told["frames"] = count(record).into();
    told["channels"] = channels(record);
    told
}

/// Number of frames of a finished capture.
#[must_use]
pub(crate) fn count(record: &CaptureRecord) -> u32 {
    let samples: Vec<u64> = record.channels.iter().map(|c| c.samples).collect();
    u32::try_from(layout::frames(&samples, 0).count()).unwrap_or(u32::MAX)
}

/// A frame as bytes: the header, little-endian, and its samples.
#[must_use]
pub(crate) fn binary(frame: &Frame) -> Vec<u8> {
    let span = frame.span;
    let (encoding, level, bytes) = match &frame.data {
        Data::Counts(counts) => (COUNTS, 0, counts.len()),
        Data::Runs { level, runs } => (RUNS, *level, runs.len() * size_of::<u32>()),
    };
    let fits = "a frame is short and has few channels";
    let mut out = Vec::with_capacity(HEADER_BYTES + bytes);
    out.extend_from_slice(&MAGIC);
    out.push(encoding);
    out.push(level);
    out.extend_from_slice(&u16::try_from(span.channel).expect(fits).to_le_bytes());
    out.extend_from_slice(&span.seq.to_le_bytes());
    out.extend_from_slice(&u32::try_from(span.count).expect(fits).to_le_bytes());
    out.extend_from_slice(&span.start_sample.to_le_bytes());
    out.extend_from_slice(&u64::try_from(bytes).expect(fits).to_le_bytes());
    debug_assert_eq!(out.len(), HEADER_BYTES, "the header has a fixed length");
    match &frame.data {
        Data::Counts(counts) => out.extend_from_slice(counts),
        Data::Runs { runs, .. } => out.extend(runs.iter().flat_map(|run| run.to_le_bytes())),
    }
    out
}

/// Something that happened to the pod.
#[must_use]
pub(crate) fn device(device: &str, event: &PodEvent) -> String {
    let (word, detail) = match event {
        PodEvent::Online(facts) => (
            "online",
            json!({"firmware_version": facts.firmware_version}),
        ),
        PodEvent::Offline { reason } => ("offline", json!({"reason": reason})),
        PodEvent::Rebooted { cause } => ("rebooted", json!({"cause": cause})),
        PodEvent::IdentityChanged { .. } => ("identity_changed", json!({})),
        PodEvent::FirmwareChanged { was, now } => {
            ("firmware_changed", json!({"was": was, "now": now}))
        }
    };
    json!({"type": "device.event", "device_id": device, "event": word, "detail": detail})
        .to_string()
}

fn about(record: &CaptureRecord, word: &str) -> Value {
    json!({"type": word, "capture_id": record.id, "device_id": record.device,
        "status": status(record.status)})
}

fn channels(record: &CaptureRecord) -> Value {
    let channel = |(id, c): (usize, &ChannelRecord)| {
        let kind = if c.la.is_some() { "digital" } else { "analog" };
        json!({"id": id, "type": kind, "name": c.name, "unit": c.unit,
            "sample_rate_hz": c.sample_rate_hz, "samples": c.samples, "bits": c.bits,
            "full_scale": c.full_scale, "offset": c.offset})
    };
    record.channels.iter().enumerate().map(channel).collect()
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Scope => "scope",
        Kind::Logic => "logic",
        Kind::I2c => "i2c",
        Kind::Dual => "dual",
        Kind::Measure => "measure",
    }
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Pending => "pending",
        Status::Armed => "armed",
        Status::Running => "running",
        Status::Done => "done",
        Status::Failed => "failed",
        Status::TimedOut => "timed_out",
        Status::Cancelled => "cancelled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captures::layout::Span;

    #[test]
    fn a_binary_frame_is_as_documented() {
        let frame = Frame {
            span: Span {
                seq: 7,
                channel: 2,
                start_sample: 0x1_0000_0000,
                count: 12,
            },
            data: Data::Runs {
                level: 1,
                runs: vec![5, 7],
            },
        };
        let bytes = binary(&frame);
        assert_eq!(bytes[..8], *b"BCF1\x02\x01\x02\x00");
        assert_eq!(bytes[8..16], [7, 0, 0, 0, 12, 0, 0, 0]);
        assert_eq!(
            bytes[16..32],
            [0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(bytes[32..], [5, 0, 0, 0, 7, 0, 0, 0]);
    }
}

//! A capture in the words of the contract. Its JSON is that of the first-party endpoints.

use serde_json::{Map, Value, json};
use store::captures::{CaptureRecord, ChannelRecord, Origin};

use super::offers::captures::Channel;
use base::clock;

/// The members that `GET /api/captures` lists.
pub(in crate::plugin) fn json(record: &CaptureRecord) -> Value {
    let mut members = Map::new();
    let mut add = |name: &str, value| {
        members.insert(name.to_owned(), value);
    };
    add("id", json!(record.id));
    add("device_id", json!(record.device));
    add("kind", json!(record.kind));
    add("status", json!(record.status));
    add("created_at", json!(clock::text(record.created_ms)));
    let channels = (0u32..).zip(&record.channels);
    let channels = channels.map(|(id, of)| channel(id, of, record.marks.labels.get(&id)));
    add("channels", channels.collect());
    add("trigger_sample", json!(record.trigger_at()));
    add("pinned", json!(record.marks.pinned));
    let optional = [
        ("name", record.name.as_ref().map(|name| json!(name))),
        ("error", record.error.as_ref().map(|error| json!(error))),
        (
            "finished_at",
            record.finished_ms.map(|ms| json!(clock::text(ms))),
        ),
        (
            "trigger",
            record.triggered.map(|fired| trigger(fired, record)),
        ),
        (
            "job",
            record
                .job
                .as_ref()
                .map(|job| of_job(job, record.origin.as_ref())),
        ),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            add(name, value);
        }
    }
    Value::Object(members)
}

/// The job that recorded it, and what of it as far as that is known.
fn of_job(job: &str, origin: Option<&Origin>) -> Value {
    let mut told = json!({"id": job});
    if let Some(origin) = origin {
        told["run"] = json!(origin.run);
        told["attempt"] = json!(origin.attempt);
        if let Some(step) = &origin.step {
            told["step"] = json!(step);
        }
    }
    told
}

/// Whether it fired, and the sample at which it did.
fn trigger(fired: bool, record: &CaptureRecord) -> Value {
    let mut told = json!({"fired": fired, "index": record.trigger_at()});
    if record.pre_samples > 0 {
        told["pre_samples"] = json!(record.pre_samples);
    }
    told
}

fn channel(id: u32, channel: &ChannelRecord, label: Option<&String>) -> Value {
    let mut shown = json!({
        "id": id,
        "type": if channel.la.is_some() { "digital" } else { "analog" },
        "name": channel.name,
        "unit": channel.unit,
        "sample_rate_hz": channel.sample_rate_hz,
        "samples": channel.samples,
        "bits": channel.bits,
        "full_scale": channel.full_scale,
        "offset": channel.offset,
    });
    if let Some(label) = label {
        shown["label"] = json!(label);
    }
    shown
}

/// Its channels.
pub(super) fn channels(record: &CaptureRecord) -> Vec<Channel> {
    let channels = record.channels.iter().map(|channel| Channel {
        name: channel.name.clone(),
        digital: channel.la.is_some(),
        unit: channel.unit.clone(),
        sample_rate_hz: channel.sample_rate_hz,
        samples: channel.samples,
        extra: Vec::new(),
    });
    channels.collect()
}

/// Roles that its order gave to channels.
pub(super) fn roles(record: &CaptureRecord) -> Vec<(String, String)> {
    let Some((scl, sda)) = record.i2c else {
        return Vec::new();
    };
    [("scl", scl), ("sda", sda)]
        .map(|(role, la)| (role.to_owned(), format!("LA{la}")))
        .to_vec()
}

//! Frames of samples as JSON.

use guest::captures::{Frame, FrameData};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::base64;

/// A stretch of a channel's samples.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Frame")]
pub(crate) struct Record<'a> {
    /// Numbers run by time, then by channel.
    seq: u32,
    channel: u32,
    start_sample: u64,
    /// Samples in this frame.
    count: u32,
    #[schemars(extend("enum" = [COUNTS, RUNS]))]
    encoding: &'static str,
    /// `b64-u16le`: padded base64 of little-endian 16-bit counts. `rle`: the level (0 or 1) of the first
    /// run, then the lengths of the runs in samples, levels alternating.
    #[schemars(schema_with = "data_schema")]
    data: Data<'a>,
}

const COUNTS: &str = "b64-u16le";
const RUNS: &str = "rle";

struct Data<'a>(&'a FrameData);

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            FrameData::Counts(counts) => serializer.collect_str(&base64::Text(counts)),
            FrameData::Runs((level, runs)) => {
                let level = std::iter::once(u32::from(*level));
                serializer.collect_seq(level.chain(runs.iter().copied()))
            }
        }
    }
}

fn data_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"oneOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "integer", "minimum": 0}}
    ]})
}

impl<'a> From<&'a Frame> for Record<'a> {
    fn from(frame: &'a Frame) -> Self {
        Self {
            seq: frame.seq,
            channel: frame.channel,
            start_sample: frame.start_sample,
            count: frame.count,
            encoding: match frame.data {
                FrameData::Counts(_) => COUNTS,
                FrameData::Runs(_) => RUNS,
            },
            data: Data(&frame.data),
        }
    }
}

#[cfg(test)]
mod tests {
    use guest::captures::{Frame, FrameData};
    use serde_json::json;

    use super::Record;

    #[test]
    fn both_encodings() {
        let frames = [
            Frame {
                seq: 4,
                channel: 0,
                start_sample: 1000,
                count: 2,
                data: FrameData::Counts(vec![0x01, 0x02, 0xff, 0x0f]),
            },
            Frame {
                seq: 5,
                channel: 1,
                start_sample: 0,
                count: 12,
                data: FrameData::Runs((1, vec![5, 4, 3])),
            },
        ];
        assert_eq!(
            json!(frames.each_ref().map(Record::from)),
            json!([
                {
                    "seq": 4, "channel": 0, "start_sample": 1000, "count": 2,
                    "encoding": "b64-u16le", "data": "AQL/Dw=="
                },
                {
                    "seq": 5, "channel": 1, "start_sample": 0, "count": 12,
                    "encoding": "rle", "data": [1, 5, 4, 3]
                }
            ])
        );
    }
}

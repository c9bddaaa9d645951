//! Frames of samples as JSON.

use guest::Object;
use guest::captures::{Frame, FrameData};
use serde::{Serialize, Serializer};

use crate::base64;

/// Level of the first run and the lengths of the runs, as one flat list.
struct Runs<'a>(u8, &'a [u32]);

impl Serialize for Runs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(std::iter::once(u32::from(self.0)).chain(self.1.iter().copied()))
    }
}

/// Write one frame. `encoding` tells what `data` is: `b64-u16le` = base64 of little-endian 16-bit
/// counts, `rle` = list of the first run's level and then run lengths, levels alternating.
pub(crate) fn write(frame: &Frame, object: &mut Object) {
    object
        .field("seq", &frame.seq)
        .field("channel", &frame.channel)
        .field("start_sample", &frame.start_sample)
        .field("count", &frame.count);
    match &frame.data {
        FrameData::Counts(counts) => object
            .field("encoding", "b64-u16le")
            .plain_text("data", |out| base64::encode(counts, out)),
        FrameData::Runs((level, runs)) => object
            .field("encoding", "rle")
            .field("data", &Runs(*level, runs)),
    };
}

#[cfg(test)]
mod tests {
    use guest::Object;
    use guest::captures::{Frame, FrameData};
    use guest::testing::json;
    use serde_json::json;

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
        let mut body = Object::new();
        body.array("frames", &frames, super::write);
        assert_eq!(
            json(&body.reply(200))["frames"],
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

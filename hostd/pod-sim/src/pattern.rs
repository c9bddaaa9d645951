//! `test`: patterns made without hardware, in the form of a capture.

use std::f64::consts::TAU;
use std::sync::Arc;

use pod_protocol::connection::Stream;
use serde_json::json;

use super::args::Args;
use super::client::{Client, Gone};
use super::encoding::Encoding;
use super::packets::{Packet, Packets, packet_samples};
use super::refuse::Refuse;
use super::shared::Shared;

const SAMPLES: std::ops::RangeInclusive<i64> = 1..=4096;
const DEFAULT_SAMPLES: u16 = 256;

/// Centre and peak of the sine.
const CENTRE: f64 = 32_768.0;
const PEAK: f64 = 25_000.0;

/// A pattern as requested.
pub(crate) struct Pattern {
    counts: Vec<u16>,
    encoding: Encoding,
}

impl Pattern {
    pub(crate) fn from_args(args: &Args<'_>) -> Result<Self, Refuse> {
        let samples: u16 = args.uint("samples", SAMPLES)?.unwrap_or(DEFAULT_SAMPLES);
        let value: u16 = args.uint("value", 0..=65_535)?.unwrap_or(0);
        let counts = 0..samples;
        let counts = match args.text("pattern")?.unwrap_or("sine") {
            "sine" => counts.map(|at| sine(at, samples)).collect(),
            "counter" => counts.collect(),
            "ramp" => counts.map(|at| ramp(at, samples)).collect(),
            "const" => vec![value; usize::from(samples)],
            _ => {
                return Err(Refuse::Bad {
                    field: "pattern",
                    want: "sine, counter, ramp or const",
                });
            }
        };
        Ok(Self {
            counts,
            encoding: Encoding::in_lines(args)?,
        })
    }

    /// Sends the pattern.
    pub(crate) async fn run<S: Stream>(
        self,
        shared: &Arc<Shared>,
        client: &mut Client<S>,
    ) -> Result<(), Gone> {
        let most = packet_samples(shared, self.encoding);
        let mut packets = Packets::new(client, vec![("bits", json!(16))], most);
        let most = usize::try_from(most).expect("a packet fits in memory");
        let last = self.counts.len().div_ceil(most) - 1;
        for (index, counts) in self.counts.chunks(most).enumerate() {
            packets
                .send(Packet::adc(counts, self.encoding), index == last)
                .await?;
        }
        Ok(())
    }
}

/// One period over all samples.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "centre and peak keep it within 16 bits"
)]
fn sine(at: u16, samples: u16) -> u16 {
    let phase = TAU * f64::from(at) / f64::from(samples);
    (CENTRE + PEAK * phase.sin()).round() as u16
}

/// From 0 upwards over the whole range.
fn ramp(at: u16, samples: u16) -> u16 {
    let value = (u32::from(at) << 16) / u32::from(samples);
    u16::try_from(value).expect("below 2^16, since at is below samples")
}

#[cfg(test)]
mod tests;

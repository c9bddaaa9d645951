//! `measure`: one period of a stimulus on the DAC, with one sample per point.

use std::sync::Arc;

use pod_protocol::connection::Stream;
use pod_protocol::{MEASURE_SAMPLES_MAX, rates};
use serde_json::json;

use super::adc::AdcRender;
use super::args::Args;
use super::client::{Client, Gone};
use super::dac::Wave;
use super::encoding::Encoding;
use super::generate::level_codes;
use super::hold::Hold;
use super::packets::packet_samples;
use super::packets::{Packet, Packets};
use super::plan::Part;
use super::refuse::Refuse;
use super::shared::Shared;

const DEFAULT_SAMPLES: u32 = 256;

/// A measurement as requested.
pub(crate) struct Measure {
    codes: Vec<u16>,
    part: Part,
    encoding: Encoding,
}

impl Measure {
    pub(crate) fn from_args(args: &Args<'_>) -> Result<Self, Refuse> {
        let most = i64::try_from(MEASURE_SAMPLES_MAX).expect("a small constant");
        let points: u32 = args.uint("samples", 1..=most)?.unwrap_or(DEFAULT_SAMPLES);
        let freq_hz = args.number("freq")?.unwrap_or(1000.0);
        if freq_hz <= 0.0 {
            return Err(Refuse::Bad {
                field: "freq",
                want: "a frequency above 0",
            });
        }
        let rate_hz = args.rate_hz("sample_rate_mhz")?;
        let rate_hz = rate_hz.unwrap_or(freq_hz * f64::from(points));
        Ok(Self {
            codes: level_codes(args, points)?,
            part: Part {
                samples: u64::from(points),
                divider: rates::adc_divider(Some(rate_hz)),
            }
            .check()?,
            encoding: Encoding::in_lines(args)?,
        })
    }

    /// Plays, waits, stops the DAC, and answers in the form of a capture.
    pub(crate) async fn run<S: Stream>(
        self,
        shared: &Arc<Shared>,
        client: &mut Client<S>,
    ) -> Result<(), Gone> {
        let hold = match Hold::take(shared) {
            Ok(hold) => hold,
            Err(refusal) => return client.refuse(&refusal).await,
        };
        let t0_ns = hold.since_ns();
        let end_ns = t0_ns + self.part.duration_ns();
        shared.with(|world, _| {
            // In step: the DAC advances once per sample, whatever the actual rate.
            let wave = Arc::new(Wave {
                codes: self.codes,
                divider: self.part.divider * 2,
            });
            world.converters.dac.play(wave, t0_ns, None);
            world.converters.dac.freeze(end_ns.saturating_sub(1));
        });
        client.wait_until(shared, end_ns).await?;
        let mut adc = shared.with(|world, _| AdcRender::new(&world.converters, t0_ns, end_ns));
        let head = vec![("bits", json!(16))];
        let mut packets =
            Packets::new(client, head, packet_samples(shared, self.encoding)).releasing(hold);
        let samples = self.part.samples;
        let trace = adc.clone().counts(t0_ns, self.part.divider, 0..samples);
        shared.with(|world, _| world.keep_trace(&trace));
        let mut from = 0;
        while from < samples {
            let to = (from + packets.samples()).min(samples);
            let counts = adc.counts(t0_ns, self.part.divider, from..to);
            let packet = Packet::adc(&counts, self.encoding);
            packets.send(packet, to == samples).await?;
            from = to;
        }
        Ok(())
    }
}

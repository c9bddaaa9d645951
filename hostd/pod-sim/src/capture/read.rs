//! `capture_read`: sends the last capture again, from an offset on.

use std::sync::Arc;

use pod_protocol::connection::Stream;

use super::{send_adc, send_edges};
use crate::args::Args;
use crate::client::{Client, Gone};
use crate::encoding::Encoding;
use crate::hold::Hold;
use crate::packets::{Packet, Packets, packet_samples};
use crate::refuse::Refuse;
use crate::shared::Shared;

/// Largest offset: the end of the largest capture.
const OFFSET_MAX: i64 = 4_194_304;

/// A `capture_read` as requested.
#[derive(Debug)]
pub(crate) struct Read {
    offset: u64,
    encoding: Encoding,
}

impl Read {
    pub(crate) fn from_args(args: &Args<'_>) -> Result<Self, Refuse> {
        Ok(Self {
            offset: args.uint("offset", 0..=OFFSET_MAX)?.unwrap_or(0),
            encoding: Encoding::asked(args)?,
        })
    }

    /// Sends the captured samples; an offset at the end of the capture gives one empty packet.
    pub(crate) async fn run<S: Stream>(
        self,
        shared: &Arc<Shared>,
        client: &mut Client<S>,
    ) -> Result<(), Gone> {
        let hold = match Hold::take(shared) {
            Ok(hold) => hold,
            Err(refusal) => return client.refuse(&refusal).await,
        };
        let Some(kept) = shared.with(|world, _| world.kept.clone()) else {
            return client.refuse(&Refuse::NothingCaptured).await;
        };
        let mut plan = kept.plan.clone();
        plan.encoding = self.encoding;
        let (adc_samples, la_samples) = plan.samples();
        if self.offset > adc_samples + la_samples {
            return client
                .refuse(&Refuse::BeyondCapture {
                    samples: adc_samples + la_samples,
                })
                .await;
        }
        let packets = Packets::new(client, plan.head(), packet_samples(shared, plan.encoding));
        let mut packets = packets.releasing(hold);
        if self.offset == adc_samples + la_samples {
            packets.send(Packet::adc(&[], plan.encoding), true).await?;
        }
        let adc_from = self.offset.min(adc_samples);
        let mut adc = kept.adc.clone();
        send_adc(&mut packets, &plan, &mut adc, kept.t0_ns, adc_from).await?;
        let la_from = self.offset.saturating_sub(adc_samples);
        send_edges(&mut packets, &plan, &kept.edges, la_from..la_samples).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;

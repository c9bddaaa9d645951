//! What a client reads back from the sensor: its registers, and a capture of the two bus lines.

use std::sync::Arc;

use pod_protocol::connection::Stream;
use pod_protocol::rates;

use super::args::Args;
use super::client::{Client, Gone};
use super::digital::Digital;
use super::encoding::Encoding;
use super::hold::Hold;
use super::packets::{Packet, Packets, packet_samples};
use super::pins::bit;
use super::plan::Part;
use super::refuse::Refuse;
use super::sensor::Lines;
use super::shared::Shared;
use super::world::World;

const REGISTERS: i64 = 256;

/// Number of packed bytes in a bus capture, and the samples in each of them.
const BYTES: std::ops::RangeInclusive<i64> = 1..=4096;
const DEFAULT_BYTES: u64 = 256;
const SAMPLES_PER_BYTE: u64 = 4;

/// Both lines high.
const IDLE: u8 = 0b11;

/// The requested registers.
pub(crate) struct Regs(Vec<u16>);

impl Regs {
    /// `sensor_regs`: reads the registers, if no capture is running.
    pub(crate) fn read(world: &mut World, args: &Args<'_>, now_ns: u64) -> Result<Self, Refuse> {
        let start = args.byte("start")?.unwrap_or(0);
        let most = REGISTERS - i64::from(start);
        let len: usize = args
            .uint("len", 1..=most)?
            .unwrap_or(usize::from(u8::MAX - start) + 1);
        if world.capture_is_held() {
            return Err(Refuse::Busy);
        }
        world.digital.sensor.peek(start, len, now_ns).map(Self)
    }

    /// Answers with the registers.
    pub(crate) async fn send<S: Stream>(
        self,
        shared: &Shared,
        client: &mut Client<S>,
    ) -> Result<(), Gone> {
        send_bytes(shared, client, &self.0).await
    }
}

/// A capture of SCL and SDA.
pub(crate) struct BusCapture {
    part: Part,
}

impl BusCapture {
    /// A `sensor_la` as requested.
    pub(crate) fn from_args(args: &Args<'_>) -> Result<Self, Refuse> {
        let bytes = args.uint("samples", BYTES)?.unwrap_or(DEFAULT_BYTES);
        let samples = bytes * SAMPLES_PER_BYTE;
        let divider = rates::la_divider(args.rate_hz("sample_rate_mhz")?, samples);
        let part = Part { samples, divider }.check()?;
        Ok(Self { part })
    }

    /// Waits until the time has passed and answers with the levels of the lines.
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
        client.wait_until(shared, end_ns).await?;
        let packed = shared.with(|world, _| match world.digital.sensor.lines() {
            Some(lines) => packed(&world.digital, lines, self.part, t0_ns),
            None => vec![packed_byte([IDLE; 4]); self.bytes()],
        });
        send_bytes(shared, client, &packed).await?;
        drop(hold);
        Ok(())
    }

    fn bytes(&self) -> usize {
        let bytes = self.part.samples / SAMPLES_PER_BYTE;
        usize::try_from(bytes).expect("at most 4096")
    }
}

/// The samples of both lines, four per byte, the first in the top bits.
fn packed(digital: &Digital, lines: Lines, part: Part, t0_ns: u64) -> Vec<u16> {
    let (scl, sda) = (bit(lines.scl), bit(lines.sda));
    let end_ns = t0_ns + part.duration_ns();
    let mut levels = digital.levels_on(t0_ns, end_ns, scl | sda);
    let mut sample = |index: u64| {
        levels.advance_to(t0_ns + rates::sample_ns(index, part.divider));
        let word = levels.word();
        u8::from(word & scl != 0) << 1 | u8::from(word & sda != 0)
    };
    let firsts = (0..part.samples).step_by(4);
    let bytes = firsts.map(|first| packed_byte([0, 1, 2, 3].map(|offset| sample(first + offset))));
    bytes.collect()
}

fn packed_byte(samples: [u8; 4]) -> u16 {
    samples
        .into_iter()
        .fold(0, |byte, sample| byte << 2 | u16::from(sample))
}

async fn send_bytes<S: Stream>(
    shared: &Shared,
    client: &mut Client<S>,
    bytes: &[u16],
) -> Result<(), Gone> {
    let mut packets = Packets::new(client, Vec::new(), packet_samples(shared, Encoding::Text));
    let size = usize::try_from(packets.samples()).expect("a few thousand at most");
    let count = bytes.len().div_ceil(size);
    for (index, part) in bytes.chunks(size).enumerate() {
        let packet = Packet::adc(part, Encoding::Text);
        packets.send(packet, index + 1 == count).await?;
    }
    Ok(())
}

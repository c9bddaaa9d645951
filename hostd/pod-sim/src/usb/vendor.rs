//! The target of a simulated pod on the wires of simulated probes with protocols of their own: bits and accesses as
//! packets of a debug session of the pod.

use std::sync::Arc;

use usb_sim::jlink::JLink;
use usb_sim::stlink::StLink;
use usb_sim::{Later, Refusal, Registers, Wires};

use super::PACKETS;
use super::probe::Session;
use crate::SimPod;

/// `DAP_Connect` for SWD.
const CONNECT: &[u8] = &[0x02, 1];
/// `DAP_SWJ_Clock` for 4 MHz.
const CLOCK: &[u8] = &[0x11, 0x00, 0x09, 0x3D, 0x00];
/// `DAP_TransferConfigure`: each transfer is tried again 100 times.
const CONFIGURE: &[u8] = &[0x04, 0, 100, 0, 0, 0];
/// `DAP_SWJ_Sequence`: from JTAG to SWD (line reset, the code of the switch, line reset, idle), 136 bits.
const SWITCH: &[u8] = &[
    0x12, 136, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x9E, 0xE7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0x00,
];

const TRANSFER: u8 = 0x05;
const SWJ_PINS: u8 = 0x10;
const SWD_SEQUENCE: u8 = 0x1D;
const NRESET: u8 = 1 << 7;

/// Bits of one sequence, and sequences in one packet, which has at most 10 bytes for each.
const SEQUENCE_BITS: usize = 64;
const SEQUENCES: usize = 48;
/// Of a sequence that listens.
const LISTENS: u8 = 0x80;

/// Bits of a transfer's request.
const AP: u8 = 1;
const READ: u8 = 2;
const ABORT: u8 = 0x0;
const CONTROL: u8 = 0x4;
const SELECT: u8 = 0x8;

/// Clears all errors.
const CLEAR: u32 = 0x1E;
/// Asks for power.
const POWER: u32 = 1 << 28 | 1 << 30;

impl SimPod {
    /// A J-Link on the target of the pod. It takes the wires when it is first used, until it is unplugged.
    pub fn jlink(self: &Arc<Self>, serial: &str) -> JLink<Wired> {
        JLink::new(serial, Wired::to(self))
    }

    /// An ST-Link, in the same way.
    pub fn stlink(self: &Arc<Self>, serial: &str) -> StLink<Wired> {
        StLink::new(serial, Wired::to(self))
    }
}

/// The wires to the target of a pod.
pub struct Wired {
    pod: Arc<SimPod>,
    session: Option<Session>,
}

impl Wired {
    fn to(pod: &Arc<SimPod>) -> Self {
        Self {
            pod: pod.clone(),
            session: None,
        }
    }

    /// Has a packet answered; none where the pod does not give the wires.
    async fn exchange(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        if self.session.is_none() {
            let mut session = Session::open(&self.pod, PACKETS).await?;
            for packet in [CONNECT, CLOCK, CONFIGURE] {
                session.exchange(packet).await?;
            }
            self.session = Some(session);
        }
        let answer = self.session.as_mut()?.exchange(packet).await;
        if answer.is_none() {
            self.session = None;
        }
        answer
    }

    /// One access; what a read has read.
    async fn access(&mut self, request: u8, data: Option<u32>) -> Result<u32, Refusal> {
        let mut packet = vec![TRANSFER, 0, 1, request];
        packet.extend(data.into_iter().flat_map(u32::to_le_bytes));
        let answer = self.exchange(&packet).await.unwrap_or_default();
        match answer[..] {
            [TRANSFER, 1, 1, a, b, c, d] => Ok(u32::from_le_bytes([a, b, c, d])),
            [TRANSFER, 1, 1] => Ok(0),
            [TRANSFER, _, 2, ..] => Err(Refusal::Wait),
            [TRANSFER, _, 4, ..] => Err(Refusal::Fault),
            _ => Err(Refusal::Silence),
        }
    }

    /// An access to a register, whose bank is selected first.
    async fn banked(
        &mut self,
        port: Option<u8>,
        address: u8,
        data: Option<u32>,
    ) -> Result<u32, Refusal> {
        let select = match port {
            Some(port) => u32::from(port) << 24 | u32::from(address & 0xF0),
            None => u32::from(address >> 4),
        };
        // What is to be done about an error needs no selection.
        if port.is_some() || address & 0xF == CONTROL {
            self.access(SELECT, Some(select)).await.or_else(|refusal| {
                let is_status = port.is_none() && data.is_none() && address == CONTROL;
                if is_status { Ok(0) } else { Err(refusal) }
            })?;
        }
        let direction = if data.is_none() { READ } else { 0 };
        let kind = if port.is_some() { AP } else { 0 };
        self.access(address & 0xC | direction | kind, data).await
    }

    async fn hold(&mut self, is_low: bool) {
        let level = if is_low { 0 } else { NRESET };
        // Without the wires nothing can be held.
        let _ = self.exchange(&[SWJ_PINS, level, NRESET, 0, 0, 0, 0]).await;
    }
}

impl Wires for Wired {
    fn clock(&mut self, bits: Vec<Option<bool>>) -> Later<'_, Vec<bool>> {
        Box::pin(async move {
            let mut heard = Vec::with_capacity(bits.len());
            let runs: Vec<&[Option<bool>]> = bits
                .chunk_by(|one, next| one.is_some() == next.is_some())
                .flat_map(|run| run.chunks(SEQUENCE_BITS))
                .collect();
            for runs in runs.chunks(SEQUENCES) {
                let answer = self.exchange(&sequences(runs)).await.unwrap_or_default();
                let mut said = answer.get(2..).unwrap_or_default();
                for run in runs {
                    if run[0].is_some() {
                        heard.extend(run.iter().map(|bit| *bit == Some(true)));
                        continue;
                    }
                    let (bytes, rest) = said
                        .split_at_checked(run.len().div_ceil(8))
                        .unwrap_or_default();
                    said = rest;
                    // A line that nobody drives is high.
                    let level = |place: usize| {
                        bytes
                            .get(place / 8)
                            .is_none_or(|byte| byte >> (place % 8) & 1 == 1)
                    };
                    heard.extend((0..run.len()).map(level));
                }
            }
            heard
        })
    }

    fn set_reset(&mut self, is_low: bool) -> Later<'_, ()> {
        Box::pin(self.hold(is_low))
    }
}

/// Runs of bits with one direction each, as a packet.
fn sequences(runs: &[&[Option<bool>]]) -> Vec<u8> {
    let mut packet = vec![SWD_SEQUENCE, u8::try_from(runs.len()).unwrap_or_default()];
    for run in runs {
        // 0 stands for 64.
        let count = u8::try_from(run.len() % SEQUENCE_BITS).unwrap_or_default();
        if run[0].is_none() {
            packet.push(count | LISTENS);
            continue;
        }
        packet.push(count);
        packet.extend(run.chunks(8).map(|bits| {
            let weighted = bits.iter().zip(0u32..);
            weighted.fold(0u8, |byte, (bit, place)| {
                byte | u8::from(*bit == Some(true)) << place
            })
        }));
    }
    packet
}

impl Registers for Wired {
    fn enter(&mut self) -> Later<'_, bool> {
        Box::pin(async move {
            let switched = self.exchange(SWITCH).await;
            let accesses = [
                (READ, None),
                (ABORT, Some(CLEAR)),
                (SELECT, Some(0)),
                (CONTROL, Some(POWER)),
            ];
            for (request, data) in accesses {
                if self.access(request, data).await.is_err() {
                    return false;
                }
            }
            switched.is_some()
        })
    }

    fn read(&mut self, port: Option<u8>, address: u8) -> Later<'_, Result<u32, Refusal>> {
        Box::pin(self.banked(port, address, None))
    }

    fn write(
        &mut self,
        port: Option<u8>,
        address: u8,
        data: u32,
    ) -> Later<'_, Result<(), Refusal>> {
        Box::pin(async move { self.banked(port, address, Some(data)).await.map(drop) })
    }

    fn set_reset(&mut self, is_low: bool) -> Later<'_, ()> {
        Box::pin(self.hold(is_low))
    }
}

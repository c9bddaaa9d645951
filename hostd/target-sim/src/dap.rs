//! The CMSIS-DAP processor of a debug probe (version 1 commands, SWD only): packets in, packets out.
//!
//! Commands, answers and limits follow the CMSIS-DAP documentation; the supported commands are those of the
//! simulated pods. Traffic on the wire takes time: a transfer takes as long as its bits at the clock that
//! the host has set, so a host that polls sees its target make progress.

mod fields;
pub mod fuzz;
mod transfer;

#[cfg(test)]
mod tests;

use crate::swd::{Answer, Request};
use crate::target::{Board, Target};
use fields::Fields;

/// Smallest and largest packet, in bytes.
pub const PACKET_BYTES: std::ops::RangeInclusive<usize> = 64..=1024;
/// Minimum and maximum number of packets in flight.
pub const PACKET_COUNT: std::ops::RangeInclusive<u8> = 1..=4;

const INFO: u8 = 0x00;
const HOST_STATUS: u8 = 0x01;
const CONNECT: u8 = 0x02;
const DISCONNECT: u8 = 0x03;
const TRANSFER_CONFIGURE: u8 = 0x04;
const TRANSFER: u8 = 0x05;
const TRANSFER_BLOCK: u8 = 0x06;
const WRITE_ABORT: u8 = 0x08;
const DELAY: u8 = 0x09;
const RESET_TARGET: u8 = 0x0a;
const SWJ_PINS: u8 = 0x10;
const SWJ_CLOCK: u8 = 0x11;
const SWJ_SEQUENCE: u8 = 0x12;
const SWD_CONFIGURE: u8 = 0x13;
const SWD_SEQUENCE: u8 = 0x1d;
/// The answer to an unknown command.
const UNKNOWN: u8 = 0xff;

const OK: u8 = 0x00;
const ERROR: u8 = 0xff;

const INFO_FIRMWARE_VERSION: u8 = 0x04;
const INFO_CAPABILITIES: u8 = 0xf0;
const INFO_PACKET_COUNT: u8 = 0xfe;
const INFO_PACKET_SIZE: u8 = 0xff;
const FIRMWARE_VERSION: &[u8] = b"1.2.0\0";
const CAN_SWD: u8 = 1;

const PORT_DEFAULT: u8 = 0;
const PORT_SWD: u8 = 1;
/// Bit of the reset pin in `DAP_SWJ_Pins`.
const NRESET: u8 = 1 << 7;

/// Wire clocks of a transfer, without the idle cycles: request, turnarounds, acknowledgement, data, parity.
const TRANSFER_CLOCKS: u64 = 8 + 1 + 3 + 1 + 33;
const CLOCK_HZ_START: u32 = 1_000_000;
/// Clocks outside this range are clamped to it.
const CLOCK_HZ: std::ops::RangeInclusive<u32> = 1_000..=20_000_000;
const WAIT_RETRIES_START: u16 = 100;
/// The longest wait that one packet can request, in microseconds.
const PIN_WAIT_US_MAX: u32 = 3_000_000;

const NS_PER_S: u64 = 1_000_000_000;

/// What the host sets with `DAP_TransferConfigure`.
#[derive(Debug)]
struct Configuration {
    idle_cycles: u8,
    wait_retries: u16,
    match_retries: u16,
}

/// A debug probe. It keeps the host's settings; the target on its wires is passed in with each packet.
#[derive(Debug)]
pub struct Probe {
    packet_bytes: usize,
    packet_count: u8,
    is_connected: bool,
    clock_hz: u32,
    configuration: Configuration,
    match_mask: u32,
    pins: u8,
}

/// The target on the wires of a probe during one packet.
struct Link<'a> {
    target: &'a mut Target,
    board: &'a mut dyn Board,
}

impl Link<'_> {
    fn pass(&mut self, duration_ns: u64) {
        let until_ns = self.target.now_ns() + duration_ns;
        self.target.run_until(until_ns, self.board);
    }
}

impl Default for Probe {
    /// A probe before a host configures it: 256-byte packets, one at a time.
    fn default() -> Self {
        Self::new(256, 1)
    }
}

impl Probe {
    /// A probe that accepts this many packets of this size in bytes; both are clamped to [`PACKET_COUNT`]
    /// and [`PACKET_BYTES`].
    #[must_use]
    pub fn new(packet_bytes: usize, packet_count: u8) -> Self {
        Self {
            packet_bytes: packet_bytes.clamp(*PACKET_BYTES.start(), *PACKET_BYTES.end()),
            packet_count: packet_count.clamp(*PACKET_COUNT.start(), *PACKET_COUNT.end()),
            is_connected: false,
            clock_hz: CLOCK_HZ_START,
            configuration: Configuration {
                idle_cycles: 0,
                wait_retries: WAIT_RETRIES_START,
                match_retries: 0,
            },
            match_mask: 0,
            pins: NRESET,
        }
    }

    /// The largest packet, in bytes.
    #[must_use]
    pub fn packet_bytes(&self) -> usize {
        self.packet_bytes
    }

    /// Whether the probe holds the reset pin low.
    #[must_use]
    pub fn holds_reset(&self) -> bool {
        self.pins & NRESET == 0
    }

    /// Releases the reset pin if the probe holds it, and disconnects, as when a debugger leaves.
    pub fn release(&mut self, target: &mut Target, board: &mut dyn Board) {
        if self.pins & NRESET == 0 {
            self.pins |= NRESET;
            target.set_reset_pin(false, board);
        }
        self.is_connected = false;
    }

    /// Carries out one packet and writes the answer, of at most [`Probe::packet_bytes`], into `response`.
    /// Any bytes are allowed: an invalid packet gets an error answer, and a truncated one is carried out as
    /// far as it goes. The target's time advances by the duration of the wire traffic.
    pub fn process(
        &mut self,
        target: &mut Target,
        board: &mut dyn Board,
        request: &[u8],
        response: &mut Vec<u8>,
    ) {
        response.clear();
        let mut link = Link { target, board };
        let mut fields = Fields::new(request);
        let Some(command) = fields.byte() else {
            response.push(UNKNOWN);
            return;
        };
        response.push(command);
        let status = match command {
            INFO => return info(self, fields.byte(), response),
            TRANSFER => return self.transfer(&mut link, &mut fields, response),
            TRANSFER_BLOCK => return self.transfer_block(&mut link, &mut fields, response),
            SWD_SEQUENCE => return self.swd_sequence(&mut link, &mut fields, response),
            RESET_TARGET => return response.extend([OK, 0]),
            HOST_STATUS | SWD_CONFIGURE => Some(OK),
            CONNECT => fields.byte().map(|port| self.connect(port)),
            DISCONNECT => {
                self.is_connected = false;
                Some(OK)
            }
            TRANSFER_CONFIGURE => self.configure(&mut fields),
            WRITE_ABORT => self.write_abort(&mut link, &mut fields),
            DELAY => fields.half().map(|delay_us| {
                link.pass(u64::from(delay_us) * 1000);
                OK
            }),
            SWJ_PINS => self.set_pins(&mut link, &mut fields),
            SWJ_CLOCK => fields.word().map(|hz| {
                self.clock_hz = hz.clamp(*CLOCK_HZ.start(), *CLOCK_HZ.end());
                OK
            }),
            SWJ_SEQUENCE => self.swj_sequence(&mut link, &mut fields),
            _ => {
                response[0] = UNKNOWN;
                return;
            }
        };
        response.push(status.unwrap_or(ERROR));
    }

    fn connect(&mut self, port: u8) -> u8 {
        let is_swd = matches!(port, PORT_DEFAULT | PORT_SWD);
        self.is_connected = is_swd;
        if is_swd { PORT_SWD } else { 0 }
    }

    fn configure(&mut self, fields: &mut Fields<'_>) -> Option<u8> {
        self.configuration = Configuration {
            idle_cycles: fields.byte()?,
            wait_retries: fields.half()?,
            match_retries: fields.half()?,
        };
        Some(OK)
    }

    fn write_abort(&mut self, link: &mut Link<'_>, fields: &mut Fields<'_>) -> Option<u8> {
        let _index = fields.byte()?;
        let value = fields.word()?;
        let abort = Request {
            is_ap: false,
            is_read: false,
            address: 0,
        };
        let answer = self.exchange(link, abort, value);
        Some(if matches!(answer, Answer::Ok(_)) {
            OK
        } else {
            ERROR
        })
    }

    /// Only the reset pin has an effect; the answer is the levels that the probe drives.
    fn set_pins(&mut self, link: &mut Link<'_>, fields: &mut Fields<'_>) -> Option<u8> {
        let output = fields.byte()?;
        let select = fields.byte()?;
        let wait_us = fields.word()?.min(PIN_WAIT_US_MAX);
        if select & NRESET != 0 {
            self.pins = self.pins & !NRESET | output & NRESET;
            link.target
                .set_reset_pin(self.pins & NRESET == 0, link.board);
        }
        link.pass(u64::from(wait_us) * 1000);
        Some(output & !NRESET | self.pins & NRESET)
    }

    fn clocks_ns(&self, clocks: u64) -> u64 {
        clocks * NS_PER_S / u64::from(self.clock_hz)
    }

    /// Clocks bits out, first bit lowest; a count of 0 means 256.
    fn swj_sequence(&mut self, link: &mut Link<'_>, fields: &mut Fields<'_>) -> Option<u8> {
        let count = match fields.byte()? {
            0 => 256,
            count => usize::from(count),
        };
        let bytes = fields.take(count.div_ceil(8))?;
        if self.is_connected {
            for bit in fields::bits(bytes).take(count) {
                link.target.swd_clock_out(bit);
            }
            link.pass(self.clocks_ns(count as u64));
        }
        Some(OK)
    }

    /// Sequences of up to 64 clocks, in either direction.
    fn swd_sequence(
        &mut self,
        link: &mut Link<'_>,
        fields: &mut Fields<'_>,
        response: &mut Vec<u8>,
    ) {
        response.push(OK);
        for _ in 0..fields.byte().unwrap_or(0) {
            let done = self.one_sequence(link, fields, response);
            if done.is_none() {
                response.truncate(1);
                response.push(ERROR);
                return;
            }
        }
    }

    fn one_sequence(
        &mut self,
        link: &mut Link<'_>,
        fields: &mut Fields<'_>,
        response: &mut Vec<u8>,
    ) -> Option<()> {
        let header = fields.byte()?;
        let count = match header & 0x3f {
            0 => 64,
            count => usize::from(count),
        };
        if header & 0x80 == 0 {
            let bytes = fields.take(count.div_ceil(8))?;
            for bit in fields::bits(bytes).take(count) {
                link.target.swd_clock_out(bit);
            }
        } else {
            if response.len() + count.div_ceil(8) > self.packet_bytes {
                return None;
            }
            let bits: Vec<bool> = (0..count).map(|_| link.target.swd_clock_in()).collect();
            response.extend(fields::bytes(&bits));
        }
        link.pass(self.clocks_ns(count as u64));
        Some(())
    }

    /// One transfer on the wire, retried while the target is busy.
    fn exchange(&self, link: &mut Link<'_>, request: Request, data: u32) -> Answer {
        if !self.is_connected {
            return Answer::Silence;
        }
        let clocks = TRANSFER_CLOCKS + u64::from(self.configuration.idle_cycles);
        let mut tries_left = self.configuration.wait_retries;
        loop {
            link.pass(self.clocks_ns(clocks));
            let answer = link.target.swd_transfer(request, data);
            if answer != Answer::Wait || tries_left == 0 {
                return answer;
            }
            tries_left -= 1;
        }
    }
}

fn info(probe: &Probe, id: Option<u8>, response: &mut Vec<u8>) {
    let size = u16::try_from(probe.packet_bytes).unwrap_or(u16::MAX);
    let size = size.to_le_bytes();
    let value: &[u8] = match id {
        Some(INFO_FIRMWARE_VERSION) => FIRMWARE_VERSION,
        Some(INFO_CAPABILITIES) => &[CAN_SWD],
        Some(INFO_PACKET_COUNT) => &[probe.packet_count],
        Some(INFO_PACKET_SIZE) => &size,
        _ => &[],
    };
    response.push(u8::try_from(value.len()).unwrap_or(0));
    response.extend(value);
}

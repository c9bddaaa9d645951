//! The CMSIS-DAP commands of a probe (SWD only): packets in, packets out (Arm's CMSIS-DAP documentation, "Commands").
//!
//! `DAP_SWD_Sequence` is not among them, nor are JTAG and SWO: not every [`Port`] can do them.

mod transfer;

use std::thread;
use std::time::Duration;

use crate::fields::Fields;
use crate::port::{ABORT, Access, Ack, Port, PortError};

/// Most bytes of a packet. Larger ones mean fewer round trips to a probe that takes many accesses at once.
pub const PACKET_BYTES: usize = 1024;

/// Packets on their way to the probe at once.
pub const PACKETS: u8 = 4;

/// Longest time for one packet, whatever the debugger allows for retries. Another try is begun only before.
const PACKET_TIME_MAX: Duration = Duration::from_secs(3);

/// Longest wait for a pin, by the documentation of the command.
const PIN_WAIT_US_MAX: u32 = 3_000_000;

const INFO: u8 = 0x00;
const HOST_STATUS: u8 = 0x01;
const CONNECT: u8 = 0x02;
const DISCONNECT: u8 = 0x03;
const TRANSFER_CONFIGURE: u8 = 0x04;
const TRANSFER: u8 = 0x05;
const TRANSFER_BLOCK: u8 = 0x06;
const WRITE_ABORT: u8 = 0x08;
const DELAY: u8 = 0x09;
const RESET_TARGET: u8 = 0x0A;
const SWJ_PINS: u8 = 0x10;
const SWJ_CLOCK: u8 = 0x11;
const SWJ_SEQUENCE: u8 = 0x12;
const SWD_CONFIGURE: u8 = 0x13;
/// The answer to what is no command.
const INVALID: u8 = 0xFF;

const OK: u8 = 0x00;
const ERROR: u8 = 0xFF;

const INFO_VENDOR: u8 = 0x01;
const INFO_PRODUCT: u8 = 0x02;
const INFO_VERSION: u8 = 0x04;
const INFO_CAPABILITIES: u8 = 0xF0;
const INFO_PACKETS: u8 = 0xFE;
const INFO_PACKET_BYTES: u8 = 0xFF;

/// The last version of the protocol without `DAP_SWD_Sequence`.
const VERSION: &str = "1.1.0";
const CAN_SWD: u8 = 1;

const PORT_DEFAULT: u8 = 0;
const PORT_SWD: u8 = 1;
const PORT_NONE: u8 = 0;
/// The reset line in `DAP_SWJ_Pins`.
const NRESET: u8 = 1 << 7;
/// What can be configured of SWD that every port does: one clock to turn the line around, and no data without need.
const SWD_DEFAULT: u8 = 0;

/// A CMSIS-DAP probe in front of a port.
#[derive(Debug)]
pub struct Front<P> {
    pub(crate) port: P,
    product: String,
    is_connected: bool,
    match_mask: u32,
    match_retries: u16,
    /// The levels of the pins that were asked for.
    pins: u8,
}

impl<P: Port> Front<P> {
    /// A probe that calls itself `product`.
    pub fn new(port: P, product: &str) -> Self {
        Self {
            port,
            product: product.to_owned(),
            is_connected: false,
            match_mask: 0,
            match_retries: 0,
            pins: NRESET,
        }
    }

    /// Answers one packet, which may be any bytes: with at least one byte and at most [`PACKET_BYTES`].
    ///
    /// # Errors
    /// The probe is gone, and why.
    pub fn answer(&mut self, packet: &[u8]) -> Result<Vec<u8>, String> {
        let mut fields = Fields::new(packet);
        let Some(command) = fields.byte() else {
            return Ok(vec![INVALID]);
        };
        let status = match command {
            INFO => return Ok(self.info(fields.byte())),
            TRANSFER => return self.transfer(&mut fields),
            TRANSFER_BLOCK => return self.transfer_block(&mut fields),
            // There is no sequence of the device's own.
            RESET_TARGET => return Ok(vec![command, OK, 0]),
            HOST_STATUS => Ok(OK),
            CONNECT => self.connect(fields.byte()),
            DISCONNECT => self.disconnect(),
            TRANSFER_CONFIGURE => Ok(self.configure(&mut fields).map_or(ERROR, |()| OK)),
            WRITE_ABORT => self.write_abort(&mut fields),
            DELAY => Ok(delay(&mut fields).map_or(ERROR, |()| OK)),
            SWJ_PINS => self.set_pins(&mut fields),
            SWJ_CLOCK => self.set_clock(&mut fields),
            SWJ_SEQUENCE => self.sequence(&mut fields),
            SWD_CONFIGURE if fields.byte() == Some(SWD_DEFAULT) => Ok(OK),
            SWD_CONFIGURE => Ok(ERROR),
            _ => return Ok(vec![INVALID]),
        };
        match status {
            Ok(status) => Ok(vec![command, status]),
            Err(PortError::Refused(reason)) => {
                tracing::debug!(command, reason, "a probe refuses a command");
                Ok(vec![command, refusal(command)])
            }
            Err(PortError::Lost(reason)) => Err(reason),
        }
    }

    fn info(&self, id: Option<u8>) -> Vec<u8> {
        let text = |text: &str| [text.as_bytes(), &[0]].concat();
        let bytes = u16::try_from(PACKET_BYTES).unwrap_or(u16::MAX);
        let mut value = match id {
            Some(INFO_VENDOR) => text("hostd"),
            Some(INFO_PRODUCT) => text(&self.product),
            Some(INFO_VERSION) => text(VERSION),
            Some(INFO_CAPABILITIES) => vec![CAN_SWD],
            Some(INFO_PACKETS) => vec![PACKETS],
            Some(INFO_PACKET_BYTES) => bytes.to_le_bytes().to_vec(),
            _ => Vec::new(),
        };
        value.truncate(usize::from(u8::MAX));
        let length = u8::try_from(value.len()).unwrap_or(u8::MAX);
        [vec![INFO, length], value].concat()
    }

    fn connect(&mut self, port: Option<u8>) -> Result<u8, PortError> {
        if !matches!(port, Some(PORT_DEFAULT | PORT_SWD)) {
            return Ok(PORT_NONE);
        }
        self.port.connect()?;
        self.is_connected = true;
        Ok(PORT_SWD)
    }

    fn disconnect(&mut self) -> Result<u8, PortError> {
        self.is_connected = false;
        if self.pins & NRESET == 0 {
            self.hold_reset(false)?;
        }
        self.port.disconnect()?;
        Ok(OK)
    }

    fn configure(&mut self, fields: &mut Fields<'_>) -> Option<()> {
        let idle_cycles = fields.byte()?;
        let wait_retries = fields.half()?;
        self.match_retries = fields.half()?;
        self.port.configure(idle_cycles, wait_retries);
        Some(())
    }

    fn write_abort(&mut self, fields: &mut Fields<'_>) -> Result<u8, PortError> {
        let (Some(_index), Some(value)) = (fields.byte(), fields.word()) else {
            return Ok(ERROR);
        };
        if !self.is_connected {
            return Ok(ERROR);
        }
        let accessed = self.port.access(&[Access::write_dp(ABORT, value)])?;
        Ok(if accessed.ack == Ack::Ok { OK } else { ERROR })
    }

    /// Only the reset line can be set, and no level can be read: the answer is what is driven.
    fn set_pins(&mut self, fields: &mut Fields<'_>) -> Result<u8, PortError> {
        let (Some(output), Some(select), Some(wait_us)) =
            (fields.byte(), fields.byte(), fields.word())
        else {
            return Ok(ERROR);
        };
        if select & NRESET != 0 {
            self.hold_reset(output & NRESET == 0)?;
        }
        let wait = u64::from(wait_us.min(PIN_WAIT_US_MAX));
        thread::sleep(Duration::from_micros(wait));
        Ok(output & !NRESET | self.pins & NRESET)
    }

    fn hold_reset(&mut self, is_held: bool) -> Result<(), PortError> {
        self.port.set_reset(is_held)?;
        self.pins = if is_held { 0 } else { NRESET };
        Ok(())
    }

    fn set_clock(&mut self, fields: &mut Fields<'_>) -> Result<u8, PortError> {
        match fields.word() {
            Some(hz) if hz > 0 => self.port.set_clock(hz).map(|()| OK),
            _ => Ok(ERROR),
        }
    }

    /// Clocks bits out, first bit lowest; a count of 0 means 256.
    fn sequence(&mut self, fields: &mut Fields<'_>) -> Result<u8, PortError> {
        let count = match fields.byte() {
            Some(0) => 256,
            Some(count) => usize::from(count),
            None => return Ok(ERROR),
        };
        let Some(bytes) = fields.take(count.div_ceil(8)) else {
            return Ok(ERROR);
        };
        if self.is_connected {
            let bit = |place: usize| bytes[place / 8] >> (place % 8) & 1 == 1;
            let bits: Vec<bool> = (0..count).map(bit).collect();
            self.port.sequence(&bits)?;
        }
        Ok(OK)
    }
}

/// What a command is answered with that the probe cannot do.
fn refusal(command: u8) -> u8 {
    match command {
        CONNECT => PORT_NONE,
        // No error has a place in its answer.
        SWJ_PINS => NRESET,
        _ => ERROR,
    }
}

fn delay(fields: &mut Fields<'_>) -> Option<()> {
    let microseconds = fields.half()?;
    thread::sleep(Duration::from_micros(u64::from(microseconds)));
    Some(())
}

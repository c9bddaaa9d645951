//! Modbus RTU on serial lines: bytes, frames between silences, what they ask and answer, and what is wrong with them.
//!
//! Source: "MODBUS over Serial Line, Specification and Implementation Guide V1.02" and "MODBUS Application Protocol
//! Specification V1.1b3", modbus.org.

use hostd_plugin::decoder::{
    Channel, Class, Decoder, Description, Found, Options, Row, Setup, option,
};

mod crc;
mod line;
mod message;
mod timing;
mod uart;

use line::{Direction, Line};
use message::Pending;
use timing::Timing;

pub(crate) const BYTE: u32 = 0;
pub(crate) const ADDRESS: u32 = 1;
pub(crate) const FUNCTION: u32 = 2;
pub(crate) const DATA: u32 = 3;
pub(crate) const CHECKSUM: u32 = 4;
pub(crate) const REQUEST: u32 = 5;
pub(crate) const RESPONSE: u32 = 6;
pub(crate) const EXCEPTION: u32 = 7;
pub(crate) const WARNING: u32 = 8;

/// Modbus RTU in the middle of a capture.
pub struct Modbus {
    timing: Timing,
    lines: Vec<Line>,
    /// The request that waits for its response.
    pending: Option<Pending>,
}

hostd_plugin::decoders!(Modbus);

impl Decoder for Modbus {
    const DESCRIPTION: Description = Description {
        channels: &[
            Channel::optional("bus", "Requests and responses on one line"),
            Channel::optional("tx", "Requests of the client"),
            Channel::optional("rx", "Responses of the servers"),
        ],
        options: &[
            Options::any("baudrate", "Baud rate", "19200"),
            Options::one_of("parity", "Parity", "even", &["even", "odd", "none"]),
            Options::one_of("stop_bits", "Stop bits", "1", &["1", "2"]),
            Options::one_of("invert", "Idle level is low", "no", &["no", "yes"]),
            Options::any(
                "gap_us",
                "Silence between frames in microseconds; auto = 3.5 characters",
                "auto",
            ),
        ],
        classes: &[
            Class::new("byte", "Byte"),
            Class::new("address", "Server address").decimal(),
            Class::new("function", "Function"),
            Class::new("data", "Data"),
            Class::new("crc", "Checksum").hex(4),
            Class::new("request", "Request"),
            Class::new("response", "Response"),
            Class::new("exception", "Exception response"),
            Class::new("warning", "Warning"),
        ],
        rows: &[
            Row::new("bytes", "Bytes", &["byte"]),
            Row::new("fields", "Fields", &["address", "function", "data", "crc"]),
            Row::new("frames", "Frames", &["request", "response", "exception"]),
            Row::new("warnings", "Warnings", &["warning"]),
        ],
        ..Description::of("modbus-rtu", "Modbus RTU")
    };

    fn new(setup: &Setup) -> Result<Self, String> {
        let directions = [Direction::Either, Direction::Requests, Direction::Responses];
        let inverted = option(setup, "invert") == "yes";
        let wired = directions.into_iter().enumerate();
        let lines: Vec<Line> = wired
            .filter(|(channel, _)| setup.connected.get(*channel) == Some(&true))
            .map(|(channel, direction)| Line::new(channel, inverted, direction))
            .collect();
        if lines.is_empty() {
            return Err("map a channel to bus, or to tx and rx".to_owned());
        }
        Ok(Self {
            timing: Timing::new(setup)?,
            lines,
            pending: None,
        })
    }

    fn change(&mut self, at: u64, levels: u8, found: &mut Found) {
        self.advance(at, Some(levels), found);
    }

    fn finish(&mut self, end: u64, found: &mut Found) {
        self.advance(end, None, found);
        for line in &mut self.lines {
            line.close(&mut self.pending, found);
        }
    }
}

impl Modbus {
    /// Show every line the samples before `at`, and the levels from there on, if the capture goes on.
    fn advance(&mut self, at: u64, levels: Option<u8>, found: &mut Found) {
        for line in &mut self.lines {
            line.advance(at, levels, &self.timing, &mut self.pending, found);
        }
        // What is still on its way may end before what other lines have found.
        let open = self.lines.iter().filter_map(Line::open_since);
        found.hold(open.min().unwrap_or(u64::MAX));
    }
}

#[cfg(test)]
mod tests;

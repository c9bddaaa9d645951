//! I²C: START, STOP, addresses, data and acknowledgements of a two-wire bus.
//!
//! Options and annotation classes are those of libsigrokdecode's `i2c`. The output is the same for
//! every well-formed exchange, sample numbers included. It differs on purpose in one case: a START
//! or STOP ends whatever was being collected, as the bus specification (UM10204, 3.1.4) requires.
//! libsigrokdecode 0.5.3 overlooks both while it collects address bits or waits for an
//! acknowledgement, and then joins bits of two exchanges.

mod machine;
mod notes;
mod parallel;
mod protocol;
mod stored;

pub(crate) use parallel::Part;
pub(crate) use protocol::I2c;

use crate::decoder::{Accepts, ByteStreamInfo, Channel, Class, Decoder, OptionInfo, Row};

pub(crate) const START: u8 = 0;
pub(crate) const REPEAT_START: u8 = 1;
pub(crate) const STOP: u8 = 2;
pub(crate) const ACK: u8 = 3;
pub(crate) const NACK: u8 = 4;
pub(crate) const BIT: u8 = 5;
pub(crate) const ADDRESS_READ: u8 = 6;
pub(crate) const ADDRESS_WRITE: u8 = 7;
pub(crate) const DATA_READ: u8 = 8;
pub(crate) const DATA_WRITE: u8 = 9;

/// The decoder's description.
pub(crate) fn decoder() -> Decoder {
    Decoder {
        id: "i2c".to_owned(),
        name: "I²C".to_owned(),
        channels: vec![
            Channel::required("scl", "Serial clock line"),
            Channel::required("sda", "Serial data line"),
        ],
        options: vec![OptionInfo::new(
            "address_format",
            "Displayed slave address format",
            "shifted",
            Accepts::one_of(&["shifted", "unshifted"]),
        )],
        classes: vec![
            Class::new("start", "Start condition"),
            Class::new("repeat-start", "Repeat start condition"),
            Class::new("stop", "Stop condition"),
            Class::new("ack", "ACK"),
            Class::new("nack", "NACK"),
            Class::new("bit", "Data/address bit"),
            Class::new("address-read", "Address read"),
            Class::new("address-write", "Address write"),
            Class::new("data-read", "Data read"),
            Class::new("data-write", "Data write"),
            Class::new("warnings", "Human-readable warnings"),
        ],
        rows: vec![
            Row::new("bits", "Bits", &["bit"]),
            Row::new(
                "addr-data",
                "Address/Data",
                &[
                    "start",
                    "repeat-start",
                    "stop",
                    "ack",
                    "nack",
                    "address-read",
                    "address-write",
                    "data-read",
                    "data-write",
                ],
            ),
            Row::new("warnings", "Warnings", &["warnings"]),
        ],
        byte_streams: vec![
            ByteStreamInfo::new("address-read", &["address-read"]),
            ByteStreamInfo::new("address-write", &["address-write"]),
            ByteStreamInfo::new("data-read", &["data-read"]),
            ByteStreamInfo::new("data-write", &["data-write"]),
        ],
    }
}

impl Config {
    /// The channels that it looks at.
    pub(crate) fn channels(&self) -> Vec<Option<usize>> {
        vec![Some(self.scl), Some(self.sda)]
    }
}

/// What the decoder needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// Channel number of the clock.
    pub(crate) scl: usize,
    /// Channel number of the data line.
    pub(crate) sda: usize,
    /// Show the address byte as sent, read/write bit included.
    pub(crate) unshifted: bool,
}

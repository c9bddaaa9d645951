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
pub(crate) static DECODER: Decoder = Decoder {
    id: "i2c",
    name: "I²C",
    channels: &[
        Channel {
            id: "scl",
            name: "Serial clock line",
            required: true,
        },
        Channel {
            id: "sda",
            name: "Serial data line",
            required: true,
        },
    ],
    options: &[OptionInfo {
        id: "address_format",
        text: "Displayed slave address format",
        default: "shifted",
        accepts: Accepts::OneOf(&["shifted", "unshifted"]),
    }],
    classes: &[
        Class {
            id: "start",
            text: "Start condition",
        },
        Class {
            id: "repeat-start",
            text: "Repeat start condition",
        },
        Class {
            id: "stop",
            text: "Stop condition",
        },
        Class {
            id: "ack",
            text: "ACK",
        },
        Class {
            id: "nack",
            text: "NACK",
        },
        Class {
            id: "bit",
            text: "Data/address bit",
        },
        Class {
            id: "address-read",
            text: "Address read",
        },
        Class {
            id: "address-write",
            text: "Address write",
        },
        Class {
            id: "data-read",
            text: "Data read",
        },
        Class {
            id: "data-write",
            text: "Data write",
        },
        Class {
            id: "warnings",
            text: "Human-readable warnings",
        },
    ],
    rows: &[
        Row {
            id: "bits",
            text: "Bits",
            classes: &["bit"],
        },
        Row {
            id: "addr-data",
            text: "Address/Data",
            classes: &[
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
        },
        Row {
            id: "warnings",
            text: "Warnings",
            classes: &["warnings"],
        },
    ],
    byte_streams: &[
        ByteStreamInfo {
            id: "address-read",
            classes: &["address-read"],
        },
        ByteStreamInfo {
            id: "address-write",
            classes: &["address-write"],
        },
        ByteStreamInfo {
            id: "data-read",
            classes: &["data-read"],
        },
        ByteStreamInfo {
            id: "data-write",
            classes: &["data-write"],
        },
    ],
};

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

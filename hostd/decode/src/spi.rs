//! SPI: words on MOSI and MISO, and whole transfers while the chip is selected.
//!
//! Options and annotation classes are those of libsigrokdecode's `spi`. A word lasts from its first
//! sampling clock edge to its last one, plus the distance between the last two. The `warnings`
//! class exists only so that its name is accepted: a word cut short by CS# is dropped silently, as
//! in libsigrokdecode.

mod machine;
mod notes;
mod parallel;
mod protocol;

pub(crate) use protocol::Spi;

use crate::decoder::{Accepts, ByteStreamInfo, Channel, Class, Decoder, OptionInfo, Row};

pub(crate) const MISO_DATA: u8 = 0;
pub(crate) const MOSI_DATA: u8 = 1;
pub(crate) const MISO_BITS: u8 = 2;
pub(crate) const MOSI_BITS: u8 = 3;
pub(crate) const MISO_TRANSFER: u8 = 5;
pub(crate) const MOSI_TRANSFER: u8 = 6;

/// Bits in the longest word.
pub(crate) const WORD_BITS_MAX: u32 = 64;

/// The decoder's description.
pub(crate) static DECODER: Decoder = Decoder {
    id: "spi",
    name: "SPI",
    channels: &[
        Channel {
            id: "clk",
            name: "Clock",
            required: true,
        },
        Channel {
            id: "miso",
            name: "Master in, slave out",
            required: false,
        },
        Channel {
            id: "mosi",
            name: "Master out, slave in",
            required: false,
        },
        Channel {
            id: "cs",
            name: "Chip-select",
            required: false,
        },
    ],
    options: &[
        OptionInfo {
            id: "cs_polarity",
            text: "CS# polarity",
            default: "active-low",
            accepts: Accepts::OneOf(&["active-low", "active-high"]),
        },
        OptionInfo {
            id: "cpol",
            text: "Clock polarity",
            default: "0",
            accepts: Accepts::OneOf(&["0", "1"]),
        },
        OptionInfo {
            id: "cpha",
            text: "Clock phase",
            default: "0",
            accepts: Accepts::OneOf(&["0", "1"]),
        },
        OptionInfo {
            id: "bitorder",
            text: "Bit order",
            default: "msb-first",
            accepts: Accepts::OneOf(&["msb-first", "lsb-first"]),
        },
        OptionInfo {
            id: "wordsize",
            text: "Word size",
            default: "8",
            accepts: Accepts::Integer(1, WORD_BITS_MAX as i64),
        },
    ],
    classes: &[
        Class {
            id: "miso-data",
            text: "MISO data",
        },
        Class {
            id: "mosi-data",
            text: "MOSI data",
        },
        Class {
            id: "miso-bits",
            text: "MISO bits",
        },
        Class {
            id: "mosi-bits",
            text: "MOSI bits",
        },
        Class {
            id: "warnings",
            text: "Human-readable warnings",
        },
        Class {
            id: "miso-transfer",
            text: "MISO transfer",
        },
        Class {
            id: "mosi-transfer",
            text: "MOSI transfer",
        },
    ],
    rows: &[
        Row {
            id: "miso-bits",
            text: "MISO bits",
            classes: &["miso-bits"],
        },
        Row {
            id: "miso-data",
            text: "MISO data",
            classes: &["miso-data"],
        },
        Row {
            id: "miso-transfer",
            text: "MISO transfer",
            classes: &["miso-transfer"],
        },
        Row {
            id: "mosi-bits",
            text: "MOSI bits",
            classes: &["mosi-bits"],
        },
        Row {
            id: "mosi-data",
            text: "MOSI data",
            classes: &["mosi-data"],
        },
        Row {
            id: "mosi-transfer",
            text: "MOSI transfer",
            classes: &["mosi-transfer"],
        },
        Row {
            id: "other",
            text: "Other",
            classes: &["warnings"],
        },
    ],
    byte_streams: &[
        ByteStreamInfo {
            id: "miso",
            classes: &["miso-data"],
        },
        ByteStreamInfo {
            id: "mosi",
            classes: &["mosi-data"],
        },
    ],
};

/// What the decoder needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// Channel number of the clock.
    pub(crate) clk: usize,
    /// Channel number of the slave's output.
    pub(crate) miso: Option<usize>,
    /// Channel number of the master's output.
    pub(crate) mosi: Option<usize>,
    /// Channel number of the chip select; without it every clock edge counts.
    pub(crate) cs: Option<usize>,
    /// The chip is selected while CS is high.
    pub(crate) cs_active_high: bool,
    /// Bits are sampled when the clock rises (modes 0 and 3), not when it falls.
    pub(crate) sample_rising: bool,
    /// The first bit is the lowest.
    pub(crate) lsb_first: bool,
    /// Bits in a word, at most `WORD_BITS_MAX`.
    pub(crate) word_bits: u32,
}

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
mod stored;

pub(crate) use protocol::Spi;
pub(crate) use stored::Stored;

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
pub(crate) fn decoder() -> Decoder {
    Decoder {
        id: "spi".to_owned(),
        name: "SPI".to_owned(),
        channels: vec![
            Channel::required("clk", "Clock"),
            Channel::optional("miso", "Master in, slave out"),
            Channel::optional("mosi", "Master out, slave in"),
            Channel::optional("cs", "Chip-select"),
        ],
        options: vec![
            OptionInfo::new(
                "cs_polarity",
                "CS# polarity",
                "active-low",
                Accepts::one_of(&["active-low", "active-high"]),
            ),
            OptionInfo::new("cpol", "Clock polarity", "0", Accepts::one_of(&["0", "1"])),
            OptionInfo::new("cpha", "Clock phase", "0", Accepts::one_of(&["0", "1"])),
            OptionInfo::new(
                "bitorder",
                "Bit order",
                "msb-first",
                Accepts::one_of(&["msb-first", "lsb-first"]),
            ),
            OptionInfo::new(
                "wordsize",
                "Word size",
                "8",
                Accepts::Integer(1, WORD_BITS_MAX as i64),
            ),
        ],
        classes: vec![
            Class::new("miso-data", "MISO data"),
            Class::new("mosi-data", "MOSI data"),
            Class::new("miso-bits", "MISO bits"),
            Class::new("mosi-bits", "MOSI bits"),
            Class::new("warnings", "Human-readable warnings"),
            Class::new("miso-transfer", "MISO transfer"),
            Class::new("mosi-transfer", "MOSI transfer"),
        ],
        rows: vec![
            Row::new("miso-bits", "MISO bits", &["miso-bits"]),
            Row::new("miso-data", "MISO data", &["miso-data"]),
            Row::new("miso-transfer", "MISO transfer", &["miso-transfer"]),
            Row::new("mosi-bits", "MOSI bits", &["mosi-bits"]),
            Row::new("mosi-data", "MOSI data", &["mosi-data"]),
            Row::new("mosi-transfer", "MOSI transfer", &["mosi-transfer"]),
            Row::new("other", "Other", &["warnings"]),
        ],
        byte_streams: vec![
            ByteStreamInfo::new("miso", &["miso-data"]),
            ByteStreamInfo::new("mosi", &["mosi-data"]),
        ],
    }
}

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

//! What a query asks for.

use decode::segment::Edge;

use crate::error::QueryError;
use crate::length::Length;
use crate::parse;

/// A question that can be put to any capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub(crate) kind: Kind,
    /// Channels and options of the decoder.
    pub(crate) settings: Vec<(String, String)>,
}

impl Query {
    /// Reads a query; `docs/captures.md` has the language.
    ///
    /// # Errors
    /// It is no query; the error says where, what is there, and what was expected.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        parse::query(text)
    }

    /// With a channel or an option of the decoder, as behind `with`: `scl` and `LA1`, or `baudrate` and `9600`.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Pulse(Pulse),
    Gap(Gap),
    Edge(EdgeOf),
    Near(Near),
    Level(Level),
    Bus(Bus),
}

/// Pulses of a channel that are too short or too long.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pulse {
    pub(crate) channel: String,
    /// Of this level alone.
    pub(crate) level: Option<bool>,
    pub(crate) is_longer: bool,
    pub(crate) length: Length,
}

/// Times without an edge.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gap {
    /// None: of any channel.
    pub(crate) channel: Option<String>,
    pub(crate) edge: Edge,
    pub(crate) length: Length,
}

/// Edges of a channel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EdgeOf {
    pub(crate) channel: String,
    pub(crate) edge: Edge,
}

/// On which side of the other edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Either,
    After,
    Before,
}

/// Edges that are near another edge, or are not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Near {
    pub(crate) edge: EdgeOf,
    pub(crate) other: EdgeOf,
    pub(crate) side: Side,
    pub(crate) is_not: bool,
    pub(crate) length: Length,
}

/// A level for some time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Level {
    pub(crate) channel: String,
    pub(crate) level: bool,
    pub(crate) length: Length,
}

/// Something that a decoder says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bus {
    pub(crate) decoder: Decoder,
    pub(crate) what: What,
    /// On this line alone, named as the role of the decoder.
    pub(crate) line: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decoder {
    I2c,
    Spi,
    Uart,
}

impl Decoder {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::I2c => "i2c",
            Self::Spi => "spi",
            Self::Uart => "uart",
        }
    }

    /// Lines that carry words.
    pub(crate) fn lines(self) -> &'static [&'static str] {
        match self {
            Self::I2c => &["sda"],
            Self::Spi => &["miso", "mosi"],
            Self::Uart => &["rx", "tx"],
        }
    }

    /// What an error shows of its settings.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Self::I2c => "scl=LA1 sda=LA2",
            Self::Spi => "clk=LA1 mosi=LA2 miso=LA3 cs=LA4",
            Self::Uart => "rx=LA1 baudrate=115200",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    Address(Address),
    Bytes(Bytes),
    /// Annotations of these classes, with the words for them.
    Marks(&'static [&'static str], &'static str),
}

/// Addresses on an I²C bus; what is none is any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) address: Option<u8>,
    pub(crate) is_read: Option<bool>,
    pub(crate) is_answered: Option<bool>,
}

/// A sequence of bytes; none is any byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bytes {
    pub(crate) pattern: Vec<Option<u8>>,
    /// In transfers to it alone.
    pub(crate) to: Address,
}

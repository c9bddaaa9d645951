//! The kinds of rules as they are written. What their comments say, editors and the document for users show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::scalars::{
    BytePattern, EdgeOf, Hertz, HertzTolerance, Name, Percent, Quantity, QuantityTolerance, Time,
};
use crate::limits::{LIST_MAX, QUANTITY_MAX};
use crate::scalars::{Id, List, Names, RelativePath, Text, Whole};

/// How many of something.
type Many = Whole<0, QUANTITY_MAX>;

/// What a rule asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "each is the type of its name")]
pub enum Kind<'r> {
    Frequency(&'r Frequency),
    Duty(&'r Duty),
    Within(&'r Within),
    I2c(&'r I2c),
    Bytes(&'r Bytes),
    Count(&'r Count),
    Pulse(&'r Pulse),
    Level(&'r Level),
    Analog(&'r Analog),
    Settles(&'r Settles),
    Golden(&'r Golden),
}

/// Whether something must hold each time or once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RuleWhen")]
pub enum When {
    /// Each time, and at least once.
    #[default]
    Always,
    /// At least once.
    Once,
}

/// A level of a digital signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Polarity {
    /// High.
    High,
    /// Low.
    Low,
}

/// The mean frequency between the first and the last rising edge.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FrequencyRule")]
pub struct Frequency {
    /// A digital channel.
    pub channel: Name,
    /// What its frequency must be.
    pub value: Hertz,
    /// How far it may be from that, as `1%` or `10kHz`.
    pub tolerance: HertzTolerance,
}

/// The part of the time that a signal is high, between the first and the last rising edge.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DutyRule")]
pub struct Duty {
    /// A digital channel.
    pub channel: Name,
    /// What its duty must be, as `50%`.
    pub value: Percent,
    /// How far it may be from that: `2%` are 48 % to 52 %.
    pub tolerance: Percent,
}

/// An edge follows another one in time.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WithinRule")]
pub struct Within {
    /// The edge that must come, as `ack rising`.
    pub edge: EdgeOf,
    /// The edge that it follows. One whose time the range ends before is not judged.
    pub after: EdgeOf,
    /// How long it may take.
    pub time: Time,
    /// Whether each such edge is followed, or one. Without it `always`.
    #[serde(default)]
    pub when: When,
}

/// An I²C address is answered, or is not.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "I2cRule")]
pub struct I2c {
    /// The 7-bit address.
    pub(crate) address: Whole<0, 0x7f>,
    /// Whether it is acknowledged.
    pub answered: bool,
    /// The clock's channel. Without it `scl`.
    #[serde(default = "scl")]
    pub scl: Name,
    /// The data line's channel. Without it `sda`.
    #[serde(default = "sda")]
    pub sda: Name,
    /// Whether that holds each time that it is addressed, or once. Without it `always`.
    #[serde(default)]
    pub when: When,
}

fn scl() -> Name {
    Name::known("scl")
}

fn sda() -> Name {
    Name::known("sda")
}

impl I2c {
    /// The 7-bit address.
    #[must_use]
    pub fn address(&self) -> u8 {
        narrow(self.address)
    }
}

fn narrow(address: Whole<0, 0x7f>) -> u8 {
    u8::try_from(address.0).unwrap_or(u8::MAX)
}

fn names<K: Ord + Serialize, T: Serialize, S: Serializer>(
    names: &Names<K, T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(names.iter())
}

fn list<T: Serialize, const MAX: usize, S: Serializer>(
    list: &List<T, MAX>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(list.iter())
}

/// Decoders whose bytes rules look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ByteDecoder {
    /// I²C: the bytes between a start and a stop.
    I2c,
    /// SPI: the words of each line while the chip is selected.
    Spi,
    /// UART: the characters of each line.
    Uart,
}

/// Bytes on a bus, one after the other.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BytesRule")]
pub struct Bytes {
    /// By which rules the signals are read.
    pub(crate) decoder: ByteDecoder,
    /// Hexadecimal bytes, as `55 AA ?? 01`; `??` is any byte.
    pub bytes: BytePattern,
    /// Channels for the decoder's roles: `{ rx: tx_of_target }`. A role that is left out has the channel of its name.
    #[serde(default, serialize_with = "names")]
    pub(crate) channels: Names<Id, Name>,
    /// Options of the decoder, as `baudrate`.
    #[serde(default, serialize_with = "names")]
    pub(crate) options: Names<Id, Text>,
    /// With `i2c`: in transfers to this 7-bit address alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<Whole<0, 0x7f>>,
    /// How often they must be seen at least. Without it once, or with `max: 0` never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min: Option<Many>,
    /// How often they may be seen; 0: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<Many>,
}

impl Bytes {
    /// The id of the decoder.
    #[must_use]
    pub fn decoder(&self) -> &'static str {
        match self.decoder {
            ByteDecoder::I2c => "i2c",
            ByteDecoder::Spi => "spi",
            ByteDecoder::Uart => "uart",
        }
    }

    /// Names of channels by the decoder's roles.
    pub fn channels(&self) -> impl Iterator<Item = (&str, &str)> {
        let channels = self.channels.iter();
        channels.map(|(role, channel)| (&**role, channel.as_str()))
    }

    /// Options of the decoder, by name.
    pub fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        let options = self.options.iter();
        options.map(|(name, value)| (&**name, value.0.as_str()))
    }

    /// The 7-bit address to which they are.
    #[must_use]
    pub fn address(&self) -> Option<u8> {
        self.address.map(narrow)
    }

    /// How often they must be seen at least.
    #[must_use]
    pub fn min(&self) -> u64 {
        let usual = u64::from(self.max.is_none_or(|max| max.0 > 0));
        self.min.map_or(usual, |min| min.0)
    }

    /// How often they may be seen.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        self.max.map(|max| max.0)
    }
}

/// The number of edges.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CountRule", extend("anyOf" = [{"required": ["min"]}, {"required": ["max"]}]))]
pub struct Count {
    /// Which edges, as `led rising`.
    pub edge: EdgeOf,
    /// How many there must be at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min: Option<Many>,
    /// How many there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<Many>,
}

impl Count {
    /// How many there must be at least.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.min.map_or(0, |min| min.0)
    }

    /// How many there may be.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        self.max.map(|max| max.0)
    }
}

/// No pulse is shorter than `min` or longer than `max`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PulseRule", extend("anyOf" = [{"required": ["min"]}, {"required": ["max"]}]))]
pub struct Pulse {
    /// A digital channel.
    pub channel: Name,
    /// Pulses of this level. Without it of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Polarity>,
    /// None is shorter. A pulse that the range cuts off is not judged by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Time>,
    /// None is longer, as far as the range shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Time>,
}

/// A level at a time.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LevelRule")]
pub struct Level {
    /// A digital channel.
    pub channel: Name,
    /// What it must be.
    pub is: Polarity,
    /// When: this long after the trigger, or after the edge.
    pub at: Time,
    /// The edge, as `en rising`. One whose time is out of the range is not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<EdgeOf>,
    /// Whether it must be so after each such edge, or after one. Without it `always`.
    #[serde(default)]
    pub when: When,
}

/// An analog signal stays within bounds.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AnalogRule", extend("anyOf" = [{"required": ["min"]}, {"required": ["max"]}]))]
pub struct Analog {
    /// An analog channel.
    pub channel: Name,
    /// It is never lower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Quantity>,
    /// It is never higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Quantity>,
}

/// An analog signal comes to a value in time, and stays there to the end of the range.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SettlesRule")]
pub struct Settles {
    /// An analog channel.
    pub channel: Name,
    /// The value.
    pub to: Quantity,
    /// How far it may be from that, as `2%` or `50mV`.
    pub tolerance: QuantityTolerance,
    /// How long it may take.
    pub within: Time,
    /// From the first such edge on, as `en rising`. Without it from the beginning of the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<EdgeOf>,
}

/// What is laid over each other when a capture is compared with a golden one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Align {
    /// The triggers of both.
    #[default]
    Trigger,
    /// The first edges of both.
    FirstEdge,
    /// What makes most edges fit.
    Best,
}

/// Signals are those of a good capture, edge by edge.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GoldenRule", extend("oneOf" = [{"required": ["file"]}, {"required": ["capture"]}]))]
pub struct Golden {
    /// The golden file, as `hostd golden` makes it, beside the rules. It, or `capture`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<RelativePath>,
    /// The id of a good capture, which the server that judges has. It, or `file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) capture: Option<Id>,
    /// How far an edge may be from its place. Without it what the file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// How far an analog value may be from what it was. Without it what the file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amplitude: Option<Quantity>,
    /// What is laid over each other. Without it what the file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Align>,
    /// These channels alone. Without it all of the file.
    #[serde(default, serialize_with = "list")]
    pub(crate) channels: List<Name, LIST_MAX>,
}

impl Golden {
    /// What it compares with: the golden file's path, or the capture's id.
    #[must_use]
    pub fn of(&self) -> &str {
        self.file().or(self.capture()).unwrap_or_default()
    }

    /// The golden file's path.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The capture's id.
    #[must_use]
    pub fn capture(&self) -> Option<&str> {
        self.capture.as_deref()
    }

    /// The channels that are compared; none: all of the file.
    #[must_use]
    pub fn channels(&self) -> &[Name] {
        &self.channels
    }
}

//! What starts a capture, as it is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::{Edge, Parity};
use crate::limits::BAUD;
use crate::rules::{BytePattern, Polarity, Time};
use crate::scalars::{Id, Names, Whole};
use crate::units::Duration;

/// Channels of roles that a trigger leaves out.
pub(crate) const SCL: &str = "scl";
pub(crate) const SDA: &str = "sda";
pub(crate) const RX: &str = "rx";

/// What starts a capture: one of `channel`, `pulse`, `pattern`, `level` and `protocol`. Channels are names of the capture's.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["channel"]}, {"required": ["pulse"]}, {"required": ["pattern"]}, {"required": ["level"]}, {"required": ["protocol"]}]))]
pub(crate) struct Trigger {
    /// The channel of an edge.
    pub(crate) channel: Option<Id>,
    /// With `channel`: what must happen on it.
    pub(crate) edge: Option<Edge>,
    /// A pulse, by its length.
    pub(crate) pulse: Option<Pulse>,
    /// Levels that channels have at one instant: `{ irq: high, cs: low }`.
    #[serde(default)]
    pub(crate) pattern: Names<Id, Polarity>,
    /// A level that is held for a time.
    pub(crate) level: Option<Held>,
    /// What a decoder sees: `i2c` with `address`, `uart` with `bytes`.
    pub(crate) protocol: Option<TriggerProtocol>,
    /// With `i2c`: the clock. Without it the channel `scl`.
    pub(crate) scl: Option<Id>,
    /// With `i2c`: the data. Without it the channel `sda`.
    pub(crate) sda: Option<Id>,
    /// With `i2c`: the 7-bit address, answered or not.
    pub(crate) address: Option<Whole<0, 0x7f>>,
    /// With `i2c`: transfers of one direction alone.
    pub(crate) direction: Option<Direction>,
    /// With `uart`: the line. Without it the channel `rx`.
    pub(crate) rx: Option<Id>,
    /// With `uart`: hexadecimal bytes, as `55 AA ?? 01`; `??` is any byte.
    pub(crate) bytes: Option<BytePattern>,
    /// With `uart`: bits per second. Without it 115200.
    pub(crate) baudrate: Option<Whole<{ BAUD.0 }, { BAUD.1 }>>,
    /// With `uart`: the parity bit. Without it none.
    pub(crate) parity: Option<Parity>,
    /// How long to wait for it, at most 10 minutes; else the step fails. Without it 10 s.
    pub(crate) timeout: Option<Duration>,
}

/// A pulse that starts a capture, by its length; one of `shorter_than` and `longer_than`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TriggerPulse")]
pub(crate) struct Pulse {
    /// The channel.
    pub(crate) channel: Id,
    /// The level of the pulse.
    pub(crate) level: Polarity,
    /// It is shorter.
    pub(crate) shorter_than: Option<Time>,
    /// It is longer.
    pub(crate) longer_than: Option<Time>,
}

/// A level that starts a capture once it was held for a time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TriggerLevel")]
pub(crate) struct Held {
    /// The channel.
    pub(crate) channel: Id,
    /// The level.
    pub(crate) level: Polarity,
    /// For how long.
    pub(crate) r#for: Time,
}

/// Whose decoder sees a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TriggerProtocol {
    /// An address on an I²C bus.
    I2c,
    /// Bytes on a line of a UART.
    Uart,
}

/// Of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

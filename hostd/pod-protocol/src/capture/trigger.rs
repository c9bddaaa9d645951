//! What starts a capture: conditions on the logic channels, and how requests write them.

use serde_json::{Map, Value, json};

use crate::{LA_CHANNELS, LA_MASK, TRIGGER_NS_MAX};

/// What starts a capture. The instant at which it is met becomes sample `pre_samples`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// What must happen.
    pub condition: Condition,
    /// How long to wait, 1 to 600,000 ms.
    pub timeout_ms: u32,
    /// How many of the capture's samples come before that instant; fewer if it comes sooner. Of the logic analyzer, or of
    /// the ADC alone.
    pub pre_samples: u64,
}

/// A trigger's condition. Channels are 1 to 14, whatever their function; words have bit n−1 for LA n.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// An edge or a level of one channel.
    Edge {
        /// LA channel.
        channel: u8,
        /// The condition. Levels that already hold are met at once.
        edge: Edge,
    },
    /// A pulse between two edges, of which the first one comes after the wait has begun.
    Pulse {
        /// LA channel.
        channel: u8,
        /// The level of the pulse.
        is_high: bool,
        /// How long it is. A short pulse is met at its end, a long one as soon as it is longer.
        length: Length,
    },
    /// Levels of several channels at one instant; met at once if they have them already.
    Pattern {
        /// The channels that count, as a word.
        channels: u16,
        /// Their levels, as a word: none outside `channels`.
        levels: u16,
    },
    /// A level that is held for a time, which counts from the beginning of the wait at the earliest.
    Level {
        /// LA channel.
        channel: u8,
        /// The level.
        is_high: bool,
        /// How long, in nanoseconds. Met at the instant at which it was held for that long.
        for_ns: u64,
    },
}

/// How long a pulse is, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Shorter.
    ShorterThan(u64),
    /// Longer.
    LongerThan(u64),
}

/// An edge or a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Low to high.
    Rising,
    /// High to low.
    Falling,
    /// High level.
    High,
    /// Low level.
    Low,
}

impl Edge {
    /// Reads `rising`, `falling`, `high` or `low`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "rising" => Some(Self::Rising),
            "falling" => Some(Self::Falling),
            "high" => Some(Self::High),
            "low" => Some(Self::Low),
            _ => None,
        }
    }

    /// The protocol's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::High => "high",
            Self::Low => "low",
        }
    }
}

/// Kinds of conditions, which pods have or lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionKind {
    /// Edges and levels: what `capture_trigger` announces.
    Edge,
    /// Pulses by their length.
    Pulse,
    /// Patterns of several channels.
    Pattern,
    /// Levels for a time.
    Level,
}

impl ConditionKind {
    /// The kinds that not every pod with triggers has.
    pub const FURTHER: [Self; 3] = [Self::Pulse, Self::Pattern, Self::Level];

    /// The feature of a pod that has it.
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Edge => "capture_trigger",
            Self::Pulse => "trigger_pulse",
            Self::Pattern => "trigger_pattern",
            Self::Level => "trigger_level",
        }
    }

    /// What clients call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Edge => "edge",
            Self::Pulse => "pulse",
            Self::Pattern => "pattern",
            Self::Level => "level",
        }
    }
}

/// A condition that is malformed, or out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConditionError {
    /// The field.
    pub field: &'static str,
    /// What it should be.
    pub want: &'static str,
}

impl Condition {
    /// An edge or a level of a channel.
    pub const fn edge(channel: u8, edge: Edge) -> Self {
        Self::Edge { channel, edge }
    }

    /// Its kind.
    pub const fn kind(self) -> ConditionKind {
        match self {
            Self::Edge { .. } => ConditionKind::Edge,
            Self::Pulse { .. } => ConditionKind::Pulse,
            Self::Pattern { .. } => ConditionKind::Pattern,
            Self::Level { .. } => ConditionKind::Level,
        }
    }

    /// The channels that it looks at, as a word.
    pub const fn channels(self) -> u16 {
        match self {
            Self::Edge { channel, .. }
            | Self::Pulse { channel, .. }
            | Self::Level { channel, .. } => match channel {
                1..=LA_CHANNELS => 1 << (channel - 1),
                _ => 0,
            },
            Self::Pattern { channels, .. } => channels,
        }
    }

    /// The first of them.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a word has 16 bits at most"
    )]
    pub const fn channel(self) -> u8 {
        match self {
            Self::Edge { channel, .. }
            | Self::Pulse { channel, .. }
            | Self::Level { channel, .. } => channel,
            Self::Pattern { channels, .. } => channels.trailing_zeros() as u8 + 1,
        }
    }

    /// The last of them.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a word has 16 bits at most"
    )]
    pub const fn last_channel(self) -> u8 {
        match self {
            Self::Pattern { channels, .. } => (u16::BITS - channels.leading_zeros()) as u8,
            _ => self.channel(),
        }
    }

    /// What did not come when it is not met, in two words: `rising edge`.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Edge { edge, .. } => match edge {
                Edge::Rising => ("rising", "edge"),
                Edge::Falling => ("falling", "edge"),
                Edge::High => ("high", "edge"),
                Edge::Low => ("low", "edge"),
            },
            Self::Pulse { length, .. } => match length {
                Length::ShorterThan(_) => ("short", "pulse"),
                Length::LongerThan(_) => ("long", "pulse"),
            },
            Self::Pattern { .. } => ("matching", "pattern"),
            Self::Level { .. } => ("steady", "level"),
        }
    }

    /// As requests have it.
    pub fn to_value(self) -> Value {
        let level = |is_high| if is_high { "high" } else { "low" };
        match self {
            Self::Edge { channel, edge } => json!({"la": channel, "edge": edge.name()}),
            Self::Pulse {
                channel,
                is_high,
                length: Length::ShorterThan(ns),
            } => json!({"la": channel, "pulse": level(is_high), "shorter_ns": ns}),
            Self::Pulse {
                channel,
                is_high,
                length: Length::LongerThan(ns),
            } => json!({"la": channel, "pulse": level(is_high), "longer_ns": ns}),
            Self::Pattern { channels, levels } => json!({"mask": channels, "word": levels}),
            Self::Level {
                channel,
                is_high,
                for_ns,
            } => json!({"la": channel, "level": level(is_high), "for_ns": for_ns}),
        }
    }

    /// Reads what a request has in `trigger`. Without a word of what must happen, it is a rising edge.
    ///
    /// # Errors
    /// A field is missing, malformed or out of bounds.
    pub fn from_value(trigger: &Value) -> Result<Self, ConditionError> {
        let fields = trigger.as_object().ok_or(wants(
            "trigger",
            "an object with la and edge, pulse or level, or with mask and word",
        ))?;
        let has = |field: &str| fields.get(field).is_some_and(|value| !value.is_null());
        if has("mask") {
            return pattern(fields);
        }
        let channel = fields.get("la").and_then(Value::as_u64);
        let channel = channel.and_then(|la| u8::try_from(la).ok());
        let channel = channel
            .filter(|la| (1..=LA_CHANNELS).contains(la))
            .ok_or(wants("la", "a channel, 1 to 14"))?;
        if has("pulse") {
            let length = match (has("shorter_ns"), has("longer_ns")) {
                (true, false) => Length::ShorterThan(time(fields, "shorter_ns")?),
                (false, true) => Length::LongerThan(time(fields, "longer_ns")?),
                _ => return Err(wants("pulse", "one of shorter_ns and longer_ns beside it")),
            };
            return Ok(Self::Pulse {
                channel,
                is_high: level(fields, "pulse")?,
                length,
            });
        }
        if has("level") {
            return Ok(Self::Level {
                channel,
                is_high: level(fields, "level")?,
                for_ns: time(fields, "for_ns")?,
            });
        }
        let edge = match fields.get("edge").filter(|edge| !edge.is_null()) {
            None => Some(Edge::Rising),
            Some(edge) => edge.as_str().and_then(Edge::from_name),
        };
        let edge = edge.ok_or(wants("edge", "rising, falling, high or low"))?;
        Ok(Self::Edge { channel, edge })
    }
}

impl Trigger {
    /// What a pod says when it was not met in time.
    pub fn timeout_text(&self) -> String {
        let (which, what) = self.condition.words();
        let (channel, timeout_ms) = (self.condition.channel(), self.timeout_ms);
        format!("trigger timeout: no {which} {what} on LA{channel} within {timeout_ms} ms")
    }

    /// What a pod says of it in the last line of the capture.
    pub fn report(&self) -> Value {
        let (which, _) = self.condition.words();
        json!({"la": self.condition.channel(), "edge": which, "fired": true})
    }
}

const fn wants(field: &'static str, want: &'static str) -> ConditionError {
    ConditionError { field, want }
}

fn pattern(fields: &Map<String, Value>) -> Result<Condition, ConditionError> {
    let word = |field| {
        let word = fields.get(field).and_then(Value::as_u64);
        word.and_then(|word| u16::try_from(word).ok())
    };
    let channels = word("mask")
        .filter(|mask| *mask != 0 && mask & !LA_MASK == 0)
        .ok_or(wants("mask", "a word of one or more channels"))?;
    let levels = word("word")
        .filter(|word| word & !channels == 0)
        .ok_or(wants("word", "levels of channels of the mask"))?;
    Ok(Condition::Pattern { channels, levels })
}

fn level(fields: &Map<String, Value>, field: &'static str) -> Result<bool, ConditionError> {
    match fields.get(field).and_then(Value::as_str) {
        Some("high") => Ok(true),
        Some("low") => Ok(false),
        _ => Err(wants(field, "high or low")),
    }
}

fn time(fields: &Map<String, Value>, field: &'static str) -> Result<u64, ConditionError> {
    let ns = fields.get(field).and_then(Value::as_u64);
    ns.filter(|ns| (1..=TRIGGER_NS_MAX).contains(ns))
        .ok_or(wants(field, "1 to 600000000000 nanoseconds"))
}

#[cfg(test)]
mod tests {
    //! Conditions survive their way through a request; what is malformed is refused by its field.

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for condition in [
            Condition::edge(1, Edge::Rising),
            Condition::edge(14, Edge::Low),
            Condition::Pulse {
                channel: 3,
                is_high: true,
                length: Length::ShorterThan(1),
            },
            Condition::Pulse {
                channel: 3,
                is_high: false,
                length: Length::LongerThan(TRIGGER_NS_MAX),
            },
            Condition::Pattern {
                channels: LA_MASK,
                levels: 0b101,
            },
            Condition::Level {
                channel: 7,
                is_high: false,
                for_ns: 1_000,
            },
        ] {
            let read = Condition::from_value(&condition.to_value());
            assert_eq!(read, Ok(condition));
        }
        let bare = Condition::from_value(&json!({"la": 2, "pulse": null}));
        assert_eq!(bare, Ok(Condition::edge(2, Edge::Rising)));
    }

    #[test]
    fn what_is_malformed_is_named() {
        for (trigger, field) in [
            (json!(5), "trigger"),
            (json!({}), "la"),
            (json!({"la": 15}), "la"),
            (json!({"la": 1, "edge": "warp"}), "edge"),
            (json!({"la": 1, "pulse": "high"}), "pulse"),
            (
                json!({"la": 1, "pulse": "high", "shorter_ns": 1, "longer_ns": 1}),
                "pulse",
            ),
            (json!({"la": 1, "pulse": "up", "shorter_ns": 1}), "pulse"),
            (
                json!({"la": 1, "pulse": "low", "longer_ns": 0}),
                "longer_ns",
            ),
            (json!({"la": 1, "level": "low"}), "for_ns"),
            (
                json!({"la": 1, "level": "low", "for_ns": TRIGGER_NS_MAX + 1}),
                "for_ns",
            ),
            (json!({"mask": 0, "word": 0}), "mask"),
            (json!({"mask": 0x4000, "word": 0}), "mask"),
            (json!({"mask": 1, "word": 2}), "word"),
            (json!({"mask": 1}), "word"),
        ] {
            let error = Condition::from_value(&trigger).unwrap_err();
            assert_eq!(error.field, field, "{trigger}");
        }
    }

    #[test]
    fn channels_are_those_that_it_looks_at() {
        let pattern = Condition::Pattern {
            channels: 0b10_0100,
            levels: 0,
        };
        assert_eq!((pattern.channel(), pattern.last_channel()), (3, 6));
        let edge = Condition::edge(14, Edge::Low);
        assert_eq!((edge.channels(), edge.last_channel()), (1 << 13, 14));
        let trigger = Trigger {
            condition: pattern,
            timeout_ms: 20,
            pre_samples: 0,
        };
        let text = "trigger timeout: no matching pattern on LA3 within 20 ms";
        assert_eq!(trigger.timeout_text(), text);
    }
}

//! What a capture waits for: the member `trigger` of all start bodies.

use guest::captures::{self, Condition, Edge, EdgeOf, PulseLength};
use guest::{Fields, Members, Shape, choice, integer, list, members, nested, words};
use schemars::Schema;
use serde_json::Value;

use crate::order::{LOGIC_CHANNELS, logic_channel};

/// How long to wait for the trigger when the caller does not say; the pod's own default.
const TIMEOUT_MS_DEFAULT: u32 = 10_000;

/// Longest wait for the trigger.
const TIMEOUT_MS_MAX: u32 = 600_000;

/// Longest time in a condition, in nanoseconds: that of the longest wait.
const NS_MAX: u64 = TIMEOUT_MS_MAX as u64 * 1_000_000;

/// Levels, and whether they are high.
const LEVELS: &[(&str, bool)] = &[("high", true), ("low", false)];

words! {
    const EDGES: Edge = {
        Rising = "rising",
        Falling = "falling",
        High = "high",
        Low = "low",
    };
}

members! {
    /// One of `channel` with `edge`, `pulse`, `pattern` and `level`.
    struct Asked {
        /// Logic-analyzer channel of an edge: its name, such as `LA1`, or its number.
        channel: Option<u8> = optional(logic_channel()),
        /// What happens on it; `rising` where it is left out. A level that holds already is met at once.
        edge: Option<Edge> = optional(EDGES.shape()),
        /// A pulse, by its length. Devices with `trigger_pulse` have it.
        pulse: Option<Pulse> = optional(nested()),
        /// Levels that several channels have at one instant. Devices with `trigger_pattern` have it.
        pattern: Option<Vec<Bit>> = optional(list(nested::<Bit>(), 1..=LOGIC_CHANNELS.count())),
        /// A level that is held for a time, which counts from the beginning of the wait at the earliest. Devices with
        /// `trigger_level` have it.
        level: Option<Level> = optional(nested()),
        /// How long it is waited for.
        timeout_ms: u32 = or(integer(1..=TIMEOUT_MS_MAX), TIMEOUT_MS_DEFAULT),
    }
}

members! {
    /// A pulse between two edges; exactly one length. A short one is met at its end, a long one as soon as it is longer.
    struct Pulse {
        channel: u8 = required(logic_channel()),
        /// The level of the pulse.
        level: bool = required(choice(LEVELS)),
        /// It is shorter than so many nanoseconds.
        shorter_than_ns: Option<u64> = optional(integer(1..=NS_MAX)),
        /// It is longer than so many nanoseconds.
        longer_than_ns: Option<u64> = optional(integer(1..=NS_MAX)),
    }
}

members! {
    /// A channel of a pattern.
    struct Bit {
        channel: u8 = required(logic_channel()),
        level: bool = required(choice(LEVELS)),
    }
}

members! {
    /// A level for a time.
    struct Level {
        channel: u8 = required(logic_channel()),
        level: bool = required(choice(LEVELS)),
        /// How long, in nanoseconds.
        for_ns: u64 = required(integer(1..=NS_MAX)),
    }
}

/// The object, with one condition.
pub(crate) fn trigger() -> impl Shape<Value = captures::Trigger> {
    Trigger
}

struct Trigger;

impl Shape for Trigger {
    type Value = captures::Trigger;

    fn read(&self, _: &Value) -> Result<captures::Trigger, String> {
        Err("must be a member of its own".to_owned())
    }

    fn read_member(
        &self,
        name: &str,
        value: Value,
        fields: &mut Fields,
    ) -> Option<captures::Trigger> {
        let asked = nested::<Asked>().read_member(name, value, fields)?;
        match asked.condition() {
            Ok(condition) => Some(captures::Trigger {
                condition,
                timeout_ms: asked.timeout_ms,
            }),
            Err((member, rule)) => {
                fields.problem(&format!("{name}.{member}"), &rule);
                None
            }
        }
    }

    fn schema(&self) -> Schema {
        Asked::schema()
    }
}

impl Asked {
    /// What is waited for.
    ///
    /// # Errors
    /// There is none, or more than one: the member to blame, and its rule.
    fn condition(&self) -> Result<Condition, (&'static str, String)> {
        let given = [
            ("channel", self.channel.is_some()),
            ("pulse", self.pulse.is_some()),
            ("pattern", self.pattern.is_some()),
            ("level", self.level.is_some()),
        ];
        let mut given = given.iter().filter(|(_, is)| *is).map(|(name, _)| *name);
        let Some(first) = given.next() else {
            return Err((
                "channel",
                "is required, or pulse, pattern or level".to_owned(),
            ));
        };
        if let Some(other) = given.next() {
            return Err((other, format!("cannot come with {first}; give one")));
        }
        if self.edge.is_some() && self.channel.is_none() {
            return Err(("edge", "needs a channel beside it".to_owned()));
        }
        if let Some(pulse) = &self.pulse {
            return pulse.condition();
        }
        if let Some(pattern) = &self.pattern {
            return of_pattern(pattern);
        }
        if let Some(level) = &self.level {
            return Ok(Condition::Level(captures::Level {
                channel: level.channel,
                is_high: level.level,
                for_ns: level.for_ns,
            }));
        }
        Ok(Condition::Edge(EdgeOf {
            channel: self.channel.unwrap_or_default(),
            edge: self.edge.unwrap_or(Edge::Rising),
        }))
    }
}

impl Pulse {
    fn condition(&self) -> Result<Condition, (&'static str, String)> {
        let length = match (self.shorter_than_ns, self.longer_than_ns) {
            (Some(ns), None) => PulseLength::ShorterThan(ns),
            (None, Some(ns)) => PulseLength::LongerThan(ns),
            _ => {
                let rule = "must come with one of shorter_than_ns and longer_than_ns";
                return Err(("pulse", rule.to_owned()));
            }
        };
        Ok(Condition::Pulse(captures::Pulse {
            channel: self.channel,
            is_high: self.level,
            length,
        }))
    }
}

fn of_pattern(bits: &[Bit]) -> Result<Condition, (&'static str, String)> {
    let (mut channels, mut levels) = (0_u16, 0_u16);
    for bit in bits {
        let mask = 1 << (bit.channel - LOGIC_CHANNELS.start());
        if channels & mask != 0 {
            return Err(("pattern", "must not repeat a channel".to_owned()));
        }
        channels |= mask;
        levels |= if bit.level { mask } else { 0 };
    }
    Ok(Condition::Pattern(captures::Pattern { channels, levels }))
}

#[cfg(test)]
mod tests {
    use guest::testing::request;
    use guest::{ApiError, members};

    use super::*;

    members! {
        struct Ask {
            trigger: captures::Trigger = required(trigger()),
        }
    }

    fn parse(trigger: &str) -> Result<captures::Trigger, ApiError> {
        let ask: Ask = request(&format!(r#"{{"trigger":{trigger}}}"#))
            .json()?
            .read()?;
        Ok(ask.trigger)
    }

    #[test]
    fn each_condition_is_read() {
        let condition = |text: &str| parse(text).unwrap().condition;
        let Condition::Edge(edge) = condition(r#"{"channel":"LA3"}"#) else {
            panic!("an edge was asked for")
        };
        assert_eq!((edge.channel, edge.edge), (3, Edge::Rising));
        let Condition::Pulse(pulse) =
            condition(r#"{"pulse":{"channel":2,"level":"low","longer_than_ns":5}}"#)
        else {
            panic!("a pulse was asked for")
        };
        assert_eq!((pulse.channel, pulse.is_high), (2, false));
        assert!(matches!(pulse.length, PulseLength::LongerThan(5)));
        let text = r#"{"pattern":[{"channel":1,"level":"low"},{"channel":14,"level":"high"}]}"#;
        let Condition::Pattern(pattern) = condition(text) else {
            panic!("a pattern was asked for")
        };
        assert_eq!((pattern.channels, pattern.levels), (0x2001, 0x2000));
        let text = r#"{"level":{"channel":4,"level":"high","for_ns":600000000000}}"#;
        let Condition::Level(level) = condition(text) else {
            panic!("a level was asked for")
        };
        assert_eq!(
            (level.channel, level.is_high, level.for_ns),
            (4, true, NS_MAX)
        );
        assert_eq!(parse(r#"{"channel":1}"#).unwrap().timeout_ms, 10_000);
    }

    #[test]
    fn there_is_one_condition() {
        for (text, field) in [
            ("{}", "trigger.channel"),
            (r#"{"edge":"rising"}"#, "trigger.channel"),
            (
                r#"{"channel":1,"level":{"channel":1,"level":"low","for_ns":1}}"#,
                "trigger.level",
            ),
            (
                r#"{"edge":"low","level":{"channel":1,"level":"low","for_ns":1}}"#,
                "trigger.edge",
            ),
            (r#"{"pulse":{"channel":1,"level":"low"}}"#, "trigger.pulse"),
            (
                r#"{"pulse":{"channel":1,"level":"low","shorter_than_ns":1,"longer_than_ns":1}}"#,
                "trigger.pulse",
            ),
            (
                r#"{"pattern":[{"channel":1,"level":"low"},{"channel":"LA1","level":"low"}]}"#,
                "trigger.pattern",
            ),
            (
                r#"{"level":{"channel":1,"level":"low","for_ns":0}}"#,
                "trigger.level.for_ns",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.fields[0].field, field, "{text}");
            assert_eq!(error.fields.len(), 1, "{text}");
        }
    }
}

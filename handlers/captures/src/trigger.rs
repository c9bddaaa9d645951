//! What a capture waits for: the member `trigger` of all start bodies.

use guest::captures::{self, Condition, Edge, EdgeOf, PulseLength};
use guest::{Fields, Members, Shape, choice, integer, list, members, nested, number, words};
use schemars::{Schema, json_schema};
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

words! {
    const PROTOCOLS: Protocol = {
        I2c = "i2c",
        Uart = "uart",
    };
}

words! {
    const PARITIES: Parity = {
        None = "none",
        Odd = "odd",
        Even = "even",
    };
}

/// Whose decoder sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Protocol {
    I2c,
    Uart,
}

/// As the decoder names them.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Parity {
    None,
    Odd,
    Even,
}

/// Directions of a transfer, and whether it reads.
const DIRECTIONS: &[(&str, bool)] = &[("read", true), ("write", false)];

/// Highest address of an I²C bus.
const ADDRESS_MAX: u8 = 0x7F;

/// Most bytes that are waited for.
const BYTES_MAX: usize = 64;

/// Highest rate of a UART.
const BAUD_MAX: f64 = 1e9;

members! {
    /// One of `channel` with `edge`, `pulse`, `pattern`, `level` and `protocol`.
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
        /// What a decoder of the server sees in samples that come while they are taken: `i2c` with `address`, `uart` with
        /// `bytes` and `rx`. Devices with `capture_stream` have it, for the logic analyzer alone.
        protocol: Option<Protocol> = optional(PROTOCOLS.shape()),
        /// I²C clock and data. A capture of an I²C bus knows its own.
        scl: Option<u8> = optional(logic_channel()),
        sda: Option<u8> = optional(logic_channel()),
        /// Of seven bits: a number, or a text such as `0x76`. Met at the end of the address, answered or not.
        address: Option<u8> = optional(address()),
        /// Of the transfer; either where it is left out.
        direction: Option<bool> = optional(choice(DIRECTIONS)),
        /// Line of a UART.
        rx: Option<u8> = optional(logic_channel()),
        /// Bytes one after another, in hexadecimal; `??` is any: `55 AA ?? 01`. Met at the end of the last one.
        bytes: Option<Vec<Option<u8>>> = optional(bytes()),
        /// 115200 where it is left out.
        baudrate: Option<f64> = optional(number(0.0, BAUD_MAX)),
        parity: Option<Parity> = optional(PARITIES.shape()),
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
            ("protocol", self.protocol.is_some()),
        ];
        let mut given = given.iter().filter(|(_, is)| *is).map(|(name, _)| *name);
        let Some(first) = given.next() else {
            return Err((
                "channel",
                "is required, or pulse, pattern, level or protocol".to_owned(),
            ));
        };
        if let Some(other) = given.next() {
            return Err((other, format!("cannot come with {first}; give one")));
        }
        if self.edge.is_some() && self.channel.is_none() {
            return Err(("edge", "needs a channel beside it".to_owned()));
        }
        self.check_protocol()?;
        match self.protocol {
            Some(Protocol::I2c) => return self.i2c(),
            Some(Protocol::Uart) => return self.uart(),
            None => {}
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

impl Asked {
    /// Members of a protocol come with it alone.
    fn check_protocol(&self) -> Result<(), (&'static str, String)> {
        let (i2c, uart) = (Some(Protocol::I2c), Some(Protocol::Uart));
        for (member, is_given, of, needed) in [
            ("scl", self.scl.is_some(), i2c, "i2c"),
            ("sda", self.sda.is_some(), i2c, "i2c"),
            ("address", self.address.is_some(), i2c, "i2c"),
            ("direction", self.direction.is_some(), i2c, "i2c"),
            ("rx", self.rx.is_some(), uart, "uart"),
            ("bytes", self.bytes.is_some(), uart, "uart"),
            ("baudrate", self.baudrate.is_some(), uart, "uart"),
            ("parity", self.parity.is_some(), uart, "uart"),
        ] {
            if is_given && self.protocol != of {
                return Err((member, format!("needs the protocol {needed} beside it")));
            }
        }
        Ok(())
    }

    fn i2c(&self) -> Result<Condition, (&'static str, String)> {
        let address = self.address.ok_or(("address", "is required".to_owned()))?;
        let lines = match (self.scl, self.sda) {
            (Some(scl), Some(sda)) => Some((scl, sda)),
            (None, None) => None,
            (Some(_), None) => return Err(("sda", "is required beside scl".to_owned())),
            (None, Some(_)) => return Err(("scl", "is required beside sda".to_owned())),
        };
        Ok(Condition::I2cAddress(captures::I2cAddress {
            lines,
            address,
            is_read: self.direction,
        }))
    }

    fn uart(&self) -> Result<Condition, (&'static str, String)> {
        let rx = self.rx.ok_or(("rx", "is required".to_owned()))?;
        let bytes = self.bytes.clone();
        let bytes = bytes.ok_or(("bytes", "is required".to_owned()))?;
        let baudrate = self.baudrate.map(|rate| ("baudrate", rate.to_string()));
        let parity = self.parity.map(|parity| PARITIES.word(parity).to_owned());
        let parity = parity.map(|parity| ("parity", parity));
        let options = baudrate.into_iter().chain(parity);
        Ok(Condition::UartBytes(captures::UartBytes {
            rx,
            bytes,
            options: options
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        }))
    }
}

/// An address of seven bits: a number, or a text that may be hexadecimal.
fn address() -> impl Shape<Value = u8> {
    Address
}

struct Address;

impl Shape for Address {
    type Value = u8;

    fn read(&self, value: &Value) -> Result<u8, String> {
        match value {
            Value::String(text) => self.read_text(text),
            number => integer(0..=ADDRESS_MAX).read(number).map_err(|_| rule()),
        }
    }

    fn read_text(&self, text: &str) -> Result<u8, String> {
        let digits = text.strip_prefix("0x").filter(|digits| {
            (1..=2).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit())
        });
        let read = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        read.filter(|address| *address <= ADDRESS_MAX)
            .ok_or_else(rule)
    }

    fn schema(&self) -> Schema {
        json_schema!({"anyOf": [
            {"type": "integer", "minimum": 0, "maximum": ADDRESS_MAX},
            {"type": "string", "pattern": "^[0][x][0-7]{0,1}[0-9A-Fa-f]$"}
        ]})
    }
}

fn rule() -> String {
    format!("must be 0 to {ADDRESS_MAX}, or a text such as 0x76")
}

/// Bytes in hexadecimal, some of which may be any.
fn bytes() -> impl Shape<Value = Vec<Option<u8>>> {
    Bytes
}

struct Bytes;

impl Shape for Bytes {
    type Value = Vec<Option<u8>>;

    fn read(&self, value: &Value) -> Result<Self::Value, String> {
        match value {
            Value::String(text) => self.read_text(text),
            _ => Err(format!(
                "must be a text of 1 to {BYTES_MAX} bytes: 55 AA ?? 01"
            )),
        }
    }

    fn read_text(&self, text: &str) -> Result<Self::Value, String> {
        let byte = |word: &str| match word {
            "??" => Some(None),
            digits if digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
                u8::from_str_radix(digits, 16).ok().map(Some)
            }
            _ => None,
        };
        let words: Vec<&str> = text.split(' ').collect();
        let bytes: Option<Vec<Option<u8>>> = words.iter().map(|word| byte(word)).collect();
        bytes
            .filter(|bytes| (1..=BYTES_MAX).contains(&bytes.len()))
            .ok_or_else(|| format!("must be 1 to {BYTES_MAX} bytes: 55 AA ?? 01"))
    }

    fn schema(&self) -> Schema {
        let byte = r"([0-9A-Fa-f]{2}|\?\?)";
        let most = BYTES_MAX - 1;
        json_schema!({
            "type": "string",
            "pattern": format!("^{byte}( {byte}){{0,{most}}}$"),
            "examples": ["55 AA ?? 01"]
        })
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
    fn a_decoder_can_see_it() {
        let condition = |text: &str| parse(text).unwrap().condition;
        let text = r#"{"protocol":"i2c","scl":"LA1","sda":2,"address":"0x76","direction":"read"}"#;
        let Condition::I2cAddress(i2c) = condition(text) else {
            panic!("an address was asked for")
        };
        let asked = (i2c.lines, i2c.address, i2c.is_read);
        assert_eq!(asked, (Some((1, 2)), 0x76, Some(true)));
        let Condition::I2cAddress(i2c) = condition(r#"{"protocol":"i2c","address":118}"#) else {
            panic!("an address was asked for")
        };
        assert_eq!((i2c.lines, i2c.address, i2c.is_read), (None, 118, None));
        let text =
            r#"{"protocol":"uart","rx":3,"bytes":"55 aA ?? 01","baudrate":9600,"parity":"even"}"#;
        let Condition::UartBytes(uart) = condition(text) else {
            panic!("bytes were asked for")
        };
        let bytes = [Some(0x55), Some(0xAA), None, Some(1)];
        assert_eq!((uart.rx, uart.bytes), (3, bytes.to_vec()));
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            uart.options,
            [option("baudrate", "9600"), option("parity", "even")]
        );
    }

    #[test]
    fn what_a_decoder_needs_is_said() {
        for (text, field) in [
            (r#"{"protocol":"spi"}"#, "trigger.protocol"),
            (r#"{"protocol":"i2c"}"#, "trigger.address"),
            (r#"{"protocol":"i2c","address":128}"#, "trigger.address"),
            (r#"{"protocol":"i2c","address":"0x80"}"#, "trigger.address"),
            (r#"{"protocol":"i2c","address":"0x+1"}"#, "trigger.address"),
            (r#"{"protocol":"i2c","address":"0x076"}"#, "trigger.address"),
            (r#"{"protocol":"i2c","address":1,"scl":1}"#, "trigger.sda"),
            (r#"{"protocol":"i2c","address":1,"rx":1}"#, "trigger.rx"),
            (r#"{"protocol":"uart","bytes":"00"}"#, "trigger.rx"),
            (r#"{"protocol":"uart","rx":1}"#, "trigger.bytes"),
            (r#"{"protocol":"uart","rx":1,"bytes":""}"#, "trigger.bytes"),
            (r#"{"protocol":"uart","rx":1,"bytes":"0"}"#, "trigger.bytes"),
            (r#"{"channel":1,"address":1}"#, "trigger.address"),
            (
                r#"{"channel":1,"protocol":"i2c","address":1}"#,
                "trigger.protocol",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.fields[0].field, field, "{text}");
        }
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

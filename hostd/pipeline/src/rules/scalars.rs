//! Values of rules: names, edges and patterns of bytes, and below quantities with their units. Each is a text.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

use crate::limits::{LABEL_CHARS_MAX, PATTERN_BYTES_MAX};
use crate::reading::AS_WRITTEN;
pub use quantities::{Hertz, HertzTolerance, Percent, Quantity, QuantityTolerance, Time, Unit};

/// Reads a scalar as it is written, a bare number included, so that its refusal can ask for the unit.
struct Written;

impl Visitor<'_> for Written {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// A type that is a text in documents.
macro_rules! written {
    ($name:ident, $schema:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = deserializer.deserialize_newtype_struct(AS_WRITTEN, Written)?;
                Self::parse(&text).map_err(D::Error::custom)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

mod quantities;

/// The name of a channel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

impl Name {
    pub(super) fn known(text: &str) -> Self {
        Self(text.to_owned())
    }

    fn parse(text: &str) -> Result<Self, String> {
        let count = text.chars().count();
        if count == 0 || count > LABEL_CHARS_MAX || text.chars().any(char::is_control) {
            return Err(format!(
                "the name of a channel has 1 to {LABEL_CHARS_MAX} characters on one line"
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

written!(
    Name,
    json_schema!({
        "type": ["string", "integer"],
        "description": "The name of a channel.",
        "minLength": 1,
        "maxLength": LABEL_CHARS_MAX,
    })
);

/// Which way an edge goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From low to high.
    Rising,
    /// From high to low.
    Falling,
    /// Either.
    Any,
}

impl Direction {
    const ALL: [(&'static str, Self); 3] = [
        ("rising", Self::Rising),
        ("falling", Self::Falling),
        ("any", Self::Any),
    ];

    /// Whether an edge is meant that ends high or low.
    #[must_use]
    pub fn is(self, ends_high: bool) -> bool {
        match self {
            Self::Rising => ends_high,
            Self::Falling => !ends_high,
            Self::Any => true,
        }
    }
}

/// Edges of a channel: `irq falling`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeOf {
    /// The channel.
    pub channel: Name,
    /// Which of its edges.
    pub direction: Direction,
}

impl EdgeOf {
    fn parse(text: &str) -> Result<Self, String> {
        let split = text.rsplit_once(' ');
        let found = split.and_then(|(channel, word)| {
            let mut all = Direction::ALL.into_iter();
            let (_, direction) = all.find(|(name, _)| *name == word)?;
            Some((channel.trim_end(), direction))
        });
        let (channel, direction) = found.ok_or(
            "write a channel and which of its edges, as `irq rising`, `irq falling` or `irq any`",
        )?;
        let channel = Name::parse(channel)?;
        Ok(Self { channel, direction })
    }
}

impl fmt::Display for EdgeOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = Direction::ALL.into_iter();
        let found = all.find(|(_, direction)| *direction == self.direction);
        let word = found.map_or("", |(name, _)| name);
        write!(f, "{} {word}", self.channel)
    }
}

written!(
    EdgeOf,
    json_schema!({
        "type": "string",
        "description": "Edges of a channel: its name, and `rising`, `falling` or `any`.",
        "pattern": "^[^\\x00-\\x1f ].* (rising|falling|any)$",
        "examples": ["irq falling"],
    })
);

/// Bytes, one after the other; none is any byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BytePattern(Vec<Option<u8>>);

impl BytePattern {
    /// Reads hexadecimal bytes with spaces between them: `55 AA ?? 01`.
    ///
    /// # Errors
    /// A sentence that says what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let byte = |word: &str| {
            if word == "??" {
                return Some(None);
            }
            let digits = word.strip_prefix("0x").unwrap_or(word);
            let is_byte = digits.len() == 2 && digits.bytes().all(|d| d.is_ascii_hexdigit());
            is_byte.then(|| u8::from_str_radix(digits, 16).ok())
        };
        let bytes: Option<Vec<Option<u8>>> = text.split_ascii_whitespace().map(byte).collect();
        match bytes {
            Some(bytes) if (1..=PATTERN_BYTES_MAX).contains(&bytes.len()) => Ok(Self(bytes)),
            Some(bytes) if bytes.len() > PATTERN_BYTES_MAX => Err(format!(
                "these are {} bytes, more than {PATTERN_BYTES_MAX}: write fewer",
                bytes.len()
            )),
            _ => Err(
                "write bytes of two hexadecimal digits with spaces between them, `??` for any byte, as \"55 AA ?? 01\""
                    .to_owned(),
            ),
        }
    }

    /// The bytes; none is any byte.
    #[must_use]
    pub fn bytes(&self) -> &[Option<u8>] {
        &self.0
    }
}

impl fmt::Display for BytePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            let space = if at > 0 { " " } else { "" };
            match byte {
                Some(byte) => write!(f, "{space}{byte:02X}")?,
                None => write!(f, "{space}??")?,
            }
        }
        Ok(())
    }
}

written!(
    BytePattern,
    json_schema!({
        "type": ["string", "integer"],
        "description": "Bytes of two hexadecimal digits with spaces between them; `??` is any byte.",
        // A byte without letters is a number to YAML.
        "minimum": 10,
        "maximum": 99,
        "pattern": format!("^\\s*((0x)?[0-9A-Fa-f]{{2}}|\\?\\?)(\\s+((0x)?[0-9A-Fa-f]{{2}}|\\?\\?)){{0,{}}}\\s*$", PATTERN_BYTES_MAX - 1),
        "examples": ["55 AA ?? 01"],
    })
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_and_bytes_are_read() {
        let edge = EdgeOf::parse("my irq falling").unwrap();
        assert_eq!(edge.channel.as_str(), "my irq");
        assert_eq!(edge.to_string(), "my irq falling");
        assert!(edge.direction.is(false) && !edge.direction.is(true));
        for wrong in ["irq", "rising", "irq up", " rising"] {
            assert!(EdgeOf::parse(wrong).is_err(), "{wrong}");
        }
        let bytes = BytePattern::parse("55 aa ?? 0x01").unwrap();
        assert_eq!(bytes.bytes(), [Some(0x55), Some(0xaa), None, Some(1)]);
        assert_eq!(bytes.to_string(), "55 AA ?? 01");
        for wrong in ["", "5", "555", "zz", "55,aa"] {
            assert!(BytePattern::parse(wrong).is_err(), "{wrong}");
        }
        let long = "00 ".repeat(PATTERN_BYTES_MAX + 1);
        assert!(BytePattern::parse(&long).unwrap_err().contains("fewer"));
    }
}

//! What of a channel can be measured, as `GET /capture/{id}/measure` calls it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

use super::action::CaptureKind;
use crate::problem::did_you_mean;

/// What a digital channel has.
const DIGITAL: &[&str] = &["rising", "falling", "high_samples", "frequency_hz", "duty"];

/// Times of a digital channel.
const DIGITAL_TIMES: &[&str] = &["period_s", "high_s", "low_s"];

/// What an analog channel has.
const ANALOG: &[&str] = &[
    "min",
    "max",
    "peak_to_peak",
    "mean",
    "rms",
    "deviation",
    "base",
    "top",
    "frequency_hz",
    "overshoot",
    "undershoot",
];

/// Times of an analog channel.
const ANALOG_TIMES: &[&str] = &["rise_s", "fall_s"];

/// What there is of times.
const OF_TIMES: &[&str] = &["count", "min", "max", "mean", "p50", "p99"];

/// Something that can be measured: `frequency_hz`, `high_s.min`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurand {
    name: &'static str,
    of_times: Option<&'static str>,
}

impl Measurand {
    /// Everything that can be measured of what such a capture has.
    pub fn all(kind: CaptureKind) -> impl Iterator<Item = Self> {
        let (plain, times) = match kind {
            CaptureKind::La => (DIGITAL, DIGITAL_TIMES),
            CaptureKind::Adc => (ANALOG, ANALOG_TIMES),
        };
        let plain = plain.iter().map(|name| Self {
            name,
            of_times: None,
        });
        let times = times.iter().flat_map(|name| {
            OF_TIMES.iter().map(|of| Self {
                name,
                of_times: Some(of),
            })
        });
        plain.chain(times)
    }

    fn known() -> impl Iterator<Item = Self> {
        let analog = Self::all(CaptureKind::Adc);
        let analog = analog.filter(|one| !one.is_of(CaptureKind::La));
        Self::all(CaptureKind::La).chain(analog)
    }

    /// Whether such a capture has it.
    #[must_use]
    pub fn is_of(&self, kind: CaptureKind) -> bool {
        Self::all(kind).any(|one| one == *self)
    }

    /// The quantity, and which of many times: `("high_s", Some("min"))`.
    #[must_use]
    pub fn parts(&self) -> (&'static str, Option<&'static str>) {
        (self.name, self.of_times)
    }

    /// As it is written.
    #[must_use]
    pub fn written(&self) -> String {
        match self.of_times {
            Some(of) => format!("{}.{of}", self.name),
            None => self.name.to_owned(),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        if let Some(found) = Self::known().find(|one| one.written() == text) {
            return Ok(found);
        }
        let is_times = DIGITAL_TIMES
            .iter()
            .chain(ANALOG_TIMES)
            .any(|of| *of == text);
        if is_times {
            let of = OF_TIMES.join(", ");
            return Err(format!(
                "`{text}` is many times: say which, as `{text}.mean`; there is {of}"
            ));
        }
        let known: Vec<String> = Self::known().map(|one| one.written()).collect();
        let hint = did_you_mean(text, known.iter().map(String::as_str));
        Err(format!("nothing is measured that is called so{hint}"))
    }
}

impl<'de> Deserialize<'de> for Measurand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

impl Serialize for Measurand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.written())
    }
}

impl JsonSchema for Measurand {
    fn schema_name() -> Cow<'static, str> {
        "Measurand".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let known: Vec<String> = Self::known().map(|one| one.written()).collect();
        json_schema!({
            "type": "string",
            "description": "What is measured of a channel, as `GET /capture/{id}/measure` calls it.",
            "enum": known,
        })
    }
}

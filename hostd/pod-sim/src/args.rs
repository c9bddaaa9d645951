//! The fields of a request, read one at a time; a refusal names the field.

use std::ops::RangeInclusive;

use pod_protocol::LA_CHANNELS;
use serde_json::{Map, Value};

use super::refuse::Refuse;

/// A request.
pub(crate) struct Args<'a>(pub(crate) &'a Map<String, Value>);

impl Args<'_> {
    /// Whether the field is present and not null.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.0.get(field).is_some_and(|value| !value.is_null())
    }

    fn value(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    /// An integer in a range.
    pub(crate) fn int(
        &self,
        field: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<i64>, Refuse> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let number = value.as_i64().ok_or(Refuse::Bad {
            field,
            want: "an integer",
        })?;
        if !range.contains(&number) {
            return Err(Refuse::OutOfRange {
                field,
                min: *range.start(),
                max: *range.end(),
            });
        }
        Ok(Some(number))
    }

    /// An integer in a range of unsigned values.
    pub(crate) fn uint<T: TryFrom<i64>>(
        &self,
        field: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<T>, Refuse> {
        let number = self.int(field, range)?;
        Ok(number.map(|number| {
            let fits = T::try_from(number).ok();
            fits.expect("the range lies within the type")
        }))
    }

    /// A number.
    pub(crate) fn number(&self, field: &'static str) -> Result<Option<f64>, Refuse> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| number.is_finite());
        number.map(Some).ok_or(Refuse::Bad {
            field,
            want: "a number",
        })
    }

    /// A rate above zero, given in MHz, returned in hertz.
    pub(crate) fn rate_hz(&self, field: &'static str) -> Result<Option<f64>, Refuse> {
        match self.number(field)? {
            Some(rate) if rate <= 0.0 => Err(Refuse::Bad {
                field,
                want: "a rate above 0",
            }),
            rate => Ok(rate.map(|rate_mhz| rate_mhz * 1e6)),
        }
    }

    /// A text.
    pub(crate) fn text(&self, field: &'static str) -> Result<Option<&str>, Refuse> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        value.as_str().map(Some).ok_or(Refuse::Bad {
            field,
            want: "a string",
        })
    }

    /// A byte as a number, or as a decimal or `0x` text.
    pub(crate) fn byte(&self, field: &'static str) -> Result<Option<u8>, Refuse> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let byte = match value {
            Value::String(text) => match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
                Some(digits) => u8::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            },
            number => number.as_u64().and_then(|number| u8::try_from(number).ok()),
        };
        byte.map(Some).ok_or(Refuse::Bad {
            field,
            want: "a byte, decimal or 0x",
        })
    }

    /// A Boolean, or 0 or 1.
    pub(crate) fn flag(&self, field: &'static str) -> Result<Option<bool>, Refuse> {
        match self.value(field) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(value) => match value.as_i64() {
                Some(0) => Ok(Some(false)),
                Some(1) => Ok(Some(true)),
                _ => Err(Refuse::Bad {
                    field,
                    want: "true or false",
                }),
            },
        }
    }

    /// One LA channel.
    pub(crate) fn la(&self, field: &'static str) -> Result<Option<u8>, Refuse> {
        self.uint(field, 1..=i64::from(LA_CHANNELS))
    }

    /// An LA channel or a list of them, in ascending order without repeats; `None` if absent or
    /// `"all"`.
    pub(crate) fn las(&self) -> Result<Option<Vec<u8>>, Refuse> {
        let list = match self.value("la") {
            None => return Ok(None),
            Some(Value::String(all)) if all == "all" => return Ok(None),
            Some(Value::Array(list)) => list.as_slice(),
            Some(single) => std::slice::from_ref(single),
        };
        let channel = |value: &Value| {
            let number = value.as_u64().and_then(|number| u8::try_from(number).ok());
            number
                .filter(|la| (1..=LA_CHANNELS).contains(la))
                .ok_or(Refuse::OutOfRange {
                    field: "la",
                    min: 1,
                    max: i64::from(LA_CHANNELS),
                })
        };
        let mut channels = list.iter().map(channel).collect::<Result<Vec<u8>, _>>()?;
        channels.sort_unstable();
        channels.dedup();
        if channels.is_empty() {
            return Err(Refuse::Missing { field: "la" });
        }
        Ok(Some(channels))
    }
}

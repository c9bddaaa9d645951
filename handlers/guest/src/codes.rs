//! Codes for a DAC that come with a request: what the groups that accept them share.

use schemars::{Schema, json_schema};
use serde_json::Value;

use crate::{JSON_BODY_BYTES_MAX, Shape, integer, like, number};

/// Width of a code when the caller does not say.
pub const BITS_DEFAULT: u8 = 8;

/// More samples than any waveform or capture has.
pub const SAMPLES_MAX: u64 = 1 << 40;

/// Rates are above this one, in Hz, twelve days for a sample: lengths and speeds of slower ones may be no numbers.
const RATE_HZ_MIN: f64 = 1e-6;

/// Highest rate that makes sense as a number, in Hz.
const RATE_HZ_MAX: f64 = 1e9;

/// Highest full scale that makes sense as a number, in volts or milliamps.
const FULL_SCALE_MAX: f64 = 1e6;

/// Longest text of samples, in characters: what fits in a body beside its other members.
const SAMPLES_CHARS_MAX: usize = JSON_BODY_BYTES_MAX as usize - (4 << 10);

/// Standard base64 of one or more codes.
pub fn samples_b64() -> impl Shape<Value = String> {
    like::base64(1..=SAMPLES_CHARS_MAX)
}

/// A sample rate in hertz.
pub fn rate_hz() -> impl Shape<Value = f64> {
    number(RATE_HZ_MIN, RATE_HZ_MAX)
}

/// Level of the highest code.
pub fn full_scale() -> impl Shape<Value = f64> {
    number(0.0, FULL_SCALE_MAX)
}

/// Width of a code; none when it is not given, which means [`BITS_DEFAULT`].
#[derive(Debug)]
pub struct Bits;

impl Shape for Bits {
    type Value = Option<u8>;

    fn read(&self, value: &Value) -> Result<Option<u8>, String> {
        let bits = integer(8..=16_u8).read(value).ok();
        let bits = bits.filter(|bits| matches!(bits, 8 | 16));
        bits.map(Some).ok_or_else(|| "must be 8 or 16".to_owned())
    }

    fn schema(&self) -> Schema {
        json_schema!({"type": "integer", "enum": [8, 16]})
    }

    fn written(&self, value: &Option<u8>) -> Option<Value> {
        Some(value.unwrap_or(BITS_DEFAULT).into())
    }
}

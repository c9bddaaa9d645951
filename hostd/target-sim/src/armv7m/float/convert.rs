//! Conversions between single precision, integers, fixed-point numbers and half precision.

use super::number::{
    DEFAULT_NAN, Finite, Number, infinity, not_a_number, round, rounds_up, shift_out, unpack, zero,
};
use super::status::{INEXACT, INVALID, OVERFLOW, Rounding, Status, UNDERFLOW};
use crate::word::{bit, low_word};

/// A fixed-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) struct Format {
    pub(in crate::armv7m) signed: bool,
    pub(in crate::armv7m) bits: u32,
    pub(in crate::armv7m) fraction_bits: u32,
}

/// A fixed-point number as a single-precision one, rounded.
pub(in crate::armv7m) fn from_fixed(value: u32, format: Format, status: &mut Status) -> u32 {
    let unused = 32 - format.bits;
    let (negative, magnitude) = if format.signed {
        let value = (value << unused).cast_signed() >> unused;
        (value < 0, value.unsigned_abs())
    } else {
        (false, value << unused >> unused)
    };
    let exact = Finite {
        negative,
        exponent: -format.fraction_bits.cast_signed(),
        significand: u128::from(magnitude),
    };
    round(exact, status)
}

/// A single-precision number as a fixed-point one of up to 32 bits, sign-extended to 32. What does not fit
/// becomes the nearest that does.
pub(in crate::armv7m) fn to_fixed(
    bits: u32,
    format: Format,
    toward_zero: bool,
    status: &mut Status,
) -> u32 {
    let (least, most) = if format.signed {
        (
            -(1i64 << (format.bits - 1)),
            (1i64 << (format.bits - 1)) - 1,
        )
    } else {
        (0, (1i64 << format.bits) - 1)
    };
    let saturated = |status: &mut Status, negative: bool| {
        status.raise(INVALID);
        if negative { least } else { most }
    };
    let rounding = if toward_zero {
        Rounding::TowardZero
    } else {
        status.rounding()
    };
    let value = match unpack(bits, status) {
        Number::Nan { .. } => {
            status.raise(INVALID);
            0
        }
        Number::Infinite { negative } => saturated(status, negative),
        Number::Finite(finite) => {
            let exponent = finite.exponent + format.fraction_bits.cast_signed();
            let (magnitude, is_inexact) = match u32::try_from(-exponent) {
                Ok(places) => shift_out(finite.significand, places, rounding, finite.negative),
                // Already far too large for any format.
                Err(_) => (finite.significand << exponent.unsigned_abs().min(64), false),
            };
            let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
            let value = if finite.negative {
                -magnitude
            } else {
                magnitude
            };
            if (least..=most).contains(&value) {
                if is_inexact {
                    status.raise(INEXACT);
                }
                value
            } else {
                saturated(status, finite.negative)
            }
        }
    };
    low_word(value.cast_unsigned())
}

const HALF_FRACTION_BITS: u32 = 10;
/// Exponent of the lowest bit of the smallest half-precision numbers.
const HALF_EXPONENT_MIN: i32 = -24;

/// A half-precision number as a single-precision one, which is always exact.
pub(in crate::armv7m) fn half_to_single(half: u32, status: &mut Status) -> u32 {
    let negative = bit(half, 15);
    let exponent = (half >> HALF_FRACTION_BITS & 31).cast_signed();
    let fraction = half & 0x3ff;
    if exponent == 31 && !status.has_alternative_half() {
        if fraction == 0 {
            return infinity(negative);
        }
        let bits = zero(negative) | 0x7f80_0000 | fraction << 13;
        let nan = Number::Nan {
            bits,
            signals: !bit(fraction, 9),
        };
        return not_a_number(&[nan], status).unwrap_or(DEFAULT_NAN);
    }
    let (exponent, significand) = if exponent == 0 {
        (HALF_EXPONENT_MIN, fraction)
    } else {
        (exponent - 25, fraction | 1 << HALF_FRACTION_BITS)
    };
    let exact = Finite {
        negative,
        exponent,
        significand: u128::from(significand),
    };
    round(exact, status)
}

/// A single-precision number as a half-precision one.
pub(in crate::armv7m) fn single_to_half(bits: u32, status: &mut Status) -> u32 {
    const INFINITE: u32 = 0x7c00;
    let alternative = status.has_alternative_half();
    let sign = |negative: bool| u32::from(negative) << 15;
    let finite = match unpack(bits, status) {
        Number::Nan { .. } if alternative => {
            status.raise(INVALID);
            return sign(bit(bits, 31));
        }
        nan @ Number::Nan { .. } => {
            let quiet = not_a_number(&[nan], status).unwrap_or(DEFAULT_NAN);
            return sign(bit(quiet, 31)) | INFINITE | quiet >> 13 & 0x3ff;
        }
        Number::Infinite { negative } if alternative => {
            status.raise(INVALID);
            return sign(negative) | 0x7fff;
        }
        Number::Infinite { negative } => return sign(negative) | INFINITE,
        Number::Finite(finite) => finite,
    };
    let Finite {
        negative,
        exponent,
        significand,
    } = finite;
    if significand == 0 {
        return sign(negative);
    }
    let size = (128 - significand.leading_zeros()).cast_signed();
    let surplus = size - (HALF_FRACTION_BITS.cast_signed() + 1);
    let is_tiny = exponent + surplus < HALF_EXPONENT_MIN;
    let places = surplus.max(HALF_EXPONENT_MIN - exponent);
    let rounding = status.rounding();
    let (kept, is_inexact) = match u32::try_from(places) {
        Ok(places) => shift_out(significand, places, rounding, negative),
        Err(_) => (significand << places.unsigned_abs(), false),
    };
    let biased = u64::try_from(exponent + places - HALF_EXPONENT_MIN).unwrap_or(0);
    let packed = (biased << HALF_FRACTION_BITS) + u64::try_from(kept).unwrap_or(u64::MAX >> 32);
    if alternative && packed >= 0x8000 {
        status.raise(INVALID);
        return sign(negative) | 0x7fff;
    }
    if !alternative && packed >= u64::from(INFINITE) {
        status.raise(OVERFLOW | INEXACT);
        let reaches = rounds_up(rounding, negative, true, 1, 1);
        return sign(negative) | if reaches { INFINITE } else { INFINITE - 1 };
    }
    if is_inexact {
        status.raise(INEXACT | if is_tiny { UNDERFLOW } else { 0 });
    }
    sign(negative) | low_word(packed)
}

/// A word as an integer.
pub(in crate::armv7m) const fn integer(signed: bool) -> Format {
    Format {
        signed,
        bits: 32,
        fraction_bits: 0,
    }
}

/// A fixed-point number as the nearest single-precision one, whatever the rounding mode.
pub(in crate::armv7m) fn from_fixed_to_nearest(
    value: u32,
    format: Format,
    status: &mut Status,
) -> u32 {
    let mut nearest = status.rounding_to_nearest();
    let result = from_fixed(value, format, &mut nearest);
    status.raise(nearest.bits() & INEXACT);
    result
}

//! Single-precision numbers taken apart and put together, exactly: results are integers with an exponent
//! until they are rounded, once.

use super::status::{INEXACT, INPUT_DENORMAL, INVALID, OVERFLOW, Rounding, Status, UNDERFLOW};
use crate::word::{bit, low_word};

pub(super) const FRACTION_BITS: u32 = 23;
const FRACTION: u32 = (1 << FRACTION_BITS) - 1;
pub(in crate::armv7m) const INFINITY: u32 = 0x7f80_0000;
pub(in crate::armv7m) const DEFAULT_NAN: u32 = 0x7fc0_0000;
const QUIET: u32 = 1 << 22;
const SIGN: u32 = 1 << 31;
/// Exponent of the lowest bit of the smallest numbers.
const EXPONENT_MIN: i32 = -149;
const LARGEST: u32 = INFINITY - 1;

/// A value: `significand * 2^exponent`, negative or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) struct Finite {
    pub(in crate::armv7m) negative: bool,
    pub(in crate::armv7m) exponent: i32,
    /// Zero means a zero, which has a sign, too.
    pub(in crate::armv7m) significand: u128,
}

/// What the bits of a number mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::armv7m) enum Number {
    Finite(Finite),
    Infinite {
        negative: bool,
    },
    /// Not a number.
    Nan {
        bits: u32,
        signals: bool,
    },
}

/// Takes a number apart. Flushes a denormal to zero if asked to.
pub(in crate::armv7m) fn unpack(bits: u32, status: &mut Status) -> Number {
    let negative = bit(bits, 31);
    let exponent = (bits >> FRACTION_BITS & 0xff).cast_signed();
    let fraction = bits & FRACTION;
    let finite = |exponent, significand: u32| {
        Number::Finite(Finite {
            negative,
            exponent,
            significand: u128::from(significand),
        })
    };
    match (exponent, fraction) {
        (0xff, 0) => Number::Infinite { negative },
        (0xff, _) => Number::Nan {
            bits,
            signals: fraction & QUIET == 0,
        },
        (0, 1..) if status.flushes() => {
            status.raise(INPUT_DENORMAL);
            finite(EXPONENT_MIN, 0)
        }
        (0, _) => finite(EXPONENT_MIN, fraction),
        _ => finite(exponent - 150, fraction | 1 << FRACTION_BITS),
    }
}

pub(super) fn zero(negative: bool) -> u32 {
    u32::from(negative) << 31
}

pub(super) fn infinity(negative: bool) -> u32 {
    zero(negative) | INFINITY
}

/// The result of an operation that has none.
pub(super) fn invalid(status: &mut Status) -> u32 {
    status.raise(INVALID);
    DEFAULT_NAN
}

/// The result if an operand is not a number: the first that signals, else the first.
pub(super) fn not_a_number(operands: &[Number], status: &mut Status) -> Option<u32> {
    let nans = operands.iter().filter_map(|operand| match operand {
        Number::Nan { bits, signals } => Some((*bits, *signals)),
        _ => None,
    });
    let signaling = nans.clone().find(|(_, signals)| *signals);
    let (bits, signals) = signaling.or_else(|| nans.clone().next())?;
    if signals {
        status.raise(INVALID);
    }
    Some(if status.has_default_nan() {
        DEFAULT_NAN
    } else {
        bits | QUIET
    })
}

/// Whether a magnitude is rounded away from zero, given what is cut off: its relation to half a unit.
pub(super) fn rounds_up(
    rounding: Rounding,
    negative: bool,
    is_odd: bool,
    rest: u128,
    half: u128,
) -> bool {
    match rounding {
        Rounding::Nearest => rest > half || rest == half && is_odd,
        Rounding::Up => rest != 0 && !negative,
        Rounding::Down => rest != 0 && negative,
        Rounding::TowardZero => false,
    }
}

/// Cuts `places` bits off, rounding. Returns the magnitude and whether it is inexact.
pub(super) fn shift_out(
    significand: u128,
    places: u32,
    rounding: Rounding,
    negative: bool,
) -> (u128, bool) {
    if places == 0 {
        return (significand, false);
    }
    if places > 127 {
        let up = significand != 0 && rounds_up(rounding, negative, false, 1, 2);
        return (u128::from(up), significand != 0);
    }
    let kept = significand >> places;
    let rest = significand & ((1 << places) - 1);
    let up = rounds_up(rounding, negative, kept & 1 == 1, rest, 1 << (places - 1));
    (kept + u128::from(up), rest != 0)
}

/// Rounds an exact value to a number and raises the flags.
pub(in crate::armv7m) fn round(value: Finite, status: &mut Status) -> u32 {
    let Finite {
        negative,
        exponent,
        significand,
    } = value;
    if significand == 0 {
        return zero(negative);
    }
    let bits = (128 - significand.leading_zeros()).cast_signed();
    let surplus = bits - (FRACTION_BITS.cast_signed() + 1);
    let is_tiny = exponent + surplus < EXPONENT_MIN;
    if is_tiny && status.flushes() {
        status.raise(UNDERFLOW);
        return zero(negative);
    }
    let places = surplus.max(EXPONENT_MIN - exponent);
    let rounding = status.rounding();
    let (kept, is_inexact) = match u32::try_from(places) {
        Ok(places) => shift_out(significand, places, rounding, negative),
        Err(_) => (significand << places.unsigned_abs(), false),
    };
    if is_inexact {
        status.raise(INEXACT | if is_tiny { UNDERFLOW } else { 0 });
    }
    // A carry out of the fraction correctly goes into the exponent.
    let biased = u64::try_from(exponent + places - EXPONENT_MIN).unwrap_or(0);
    let fraction = u64::try_from(kept).unwrap_or(u64::MAX);
    let packed = (biased << FRACTION_BITS).saturating_add(fraction);
    if packed >= u64::from(INFINITY) {
        status.raise(OVERFLOW | INEXACT);
        let reaches = rounds_up(rounding, negative, true, 1, 1);
        return zero(negative) | if reaches { INFINITY } else { LARGEST };
    }
    zero(negative) | low_word(packed)
}

/// Changes the sign, of zeros and of what is not a number, too.
pub(in crate::armv7m) const fn negated(bits: u32) -> u32 {
    bits ^ SIGN
}

/// Clears the sign.
pub(in crate::armv7m) const fn absolute(bits: u32) -> u32 {
    bits & !SIGN
}

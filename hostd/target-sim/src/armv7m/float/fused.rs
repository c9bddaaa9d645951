//! Sums, products, quotients and comparisons.

use super::number::{
    DEFAULT_NAN, Finite, Number, infinity, invalid, negated, not_a_number, round, unpack, zero,
};
use super::status::{DIVISION_BY_ZERO, INVALID, Rounding, Status};

/// Significands are shifted at most this far to align them; what is further away only makes a sum inexact.
const DISTANCE_MAX: u32 = 70;

/// The exact sum, except that a part far below the result is replaced by a smaller one.
fn sum(a: Finite, b: Finite, rounding: Rounding) -> Finite {
    if a.significand == 0 && b.significand == 0 {
        let negative = if a.negative == b.negative {
            a.negative
        } else {
            rounding == Rounding::Down
        };
        return Finite { negative, ..a };
    }
    if a.significand == 0 {
        return b;
    }
    if b.significand == 0 {
        return a;
    }
    let (high, low) = if a.exponent >= b.exponent {
        (a, b)
    } else {
        (b, a)
    };
    let distance = high.exponent.abs_diff(low.exponent);
    let (shifted, other, exponent) = if distance <= DISTANCE_MAX {
        (high.significand << distance, low.significand, low.exponent)
    } else {
        let exponent = high.exponent - DISTANCE_MAX.cast_signed();
        (high.significand << DISTANCE_MAX, 1, exponent)
    };
    if high.negative == low.negative {
        let significand = shifted + other;
        return Finite {
            negative: high.negative,
            exponent,
            significand,
        };
    }
    let negative = if shifted == other {
        rounding == Rounding::Down
    } else {
        high.negative == (shifted > other)
    };
    Finite {
        negative,
        exponent,
        significand: shifted.abs_diff(other),
    }
}

/// a + b.
pub(in crate::armv7m) fn add(a: u32, b: u32, status: &mut Status) -> u32 {
    let operands = [unpack(a, status), unpack(b, status)];
    if let Some(nan) = not_a_number(&operands, status) {
        return nan;
    }
    match operands {
        [
            Number::Infinite { negative: one },
            Number::Infinite { negative: other },
        ] if one != other => invalid(status),
        [Number::Infinite { negative }, _] | [_, Number::Infinite { negative }] => {
            infinity(negative)
        }
        [Number::Finite(a), Number::Finite(b)] => round(sum(a, b, status.rounding()), status),
        _ => DEFAULT_NAN,
    }
}

fn product(a: Finite, b: Finite) -> Finite {
    Finite {
        negative: a.negative != b.negative,
        exponent: a.exponent + b.exponent,
        significand: a.significand * b.significand,
    }
}

/// The product of two numbers, if it is infinite or does not exist.
fn special_product(a: Number, b: Number) -> Option<Result<bool, ()>> {
    let sign = |number: &Number| match number {
        Number::Finite(Finite { negative, .. }) | Number::Infinite { negative } => *negative,
        Number::Nan { .. } => false,
    };
    let is_zero =
        |number: &Number| matches!(number, Number::Finite(finite) if finite.significand == 0);
    let is_infinite = |number: &Number| matches!(number, Number::Infinite { .. });
    if is_infinite(&a) && is_zero(&b) || is_zero(&a) && is_infinite(&b) {
        return Some(Err(()));
    }
    (is_infinite(&a) || is_infinite(&b)).then(|| Ok(sign(&a) != sign(&b)))
}

/// a * b.
pub(in crate::armv7m) fn multiply(a: u32, b: u32, status: &mut Status) -> u32 {
    let operands = [unpack(a, status), unpack(b, status)];
    if let Some(nan) = not_a_number(&operands, status) {
        return nan;
    }
    let [a, b] = operands;
    match (special_product(a, b), a, b) {
        (Some(Err(())), ..) => invalid(status),
        (Some(Ok(negative)), ..) => infinity(negative),
        (None, Number::Finite(a), Number::Finite(b)) => round(product(a, b), status),
        _ => DEFAULT_NAN,
    }
}

/// a * b + addend, rounded once.
pub(in crate::armv7m) fn multiply_add(addend: u32, a: u32, b: u32, status: &mut Status) -> u32 {
    let c = unpack(addend, status);
    let (a, b) = (unpack(a, status), unpack(b, status));
    let special = special_product(a, b);
    let nan = not_a_number(&[c, a, b], status);
    let addend_is_quiet = matches!(c, Number::Nan { signals: false, .. });
    if addend_is_quiet && special == Some(Err(())) {
        return invalid(status);
    }
    if let Some(nan) = nan {
        return nan;
    }
    match (special, c) {
        (Some(Err(())), _) => invalid(status),
        (Some(Ok(negative)), Number::Infinite { negative: other }) if negative != other => {
            invalid(status)
        }
        (Some(Ok(negative)), _) | (None, Number::Infinite { negative }) => infinity(negative),
        (None, Number::Finite(c)) => match (a, b) {
            (Number::Finite(a), Number::Finite(b)) => {
                round(sum(c, product(a, b), status.rounding()), status)
            }
            _ => DEFAULT_NAN,
        },
        _ => DEFAULT_NAN,
    }
}

/// Enough more bits for an exact quotient and what is needed to round it.
const QUOTIENT_BITS: u32 = 60;

/// a / b.
pub(in crate::armv7m) fn divide(a: u32, b: u32, status: &mut Status) -> u32 {
    let operands = [unpack(a, status), unpack(b, status)];
    if let Some(nan) = not_a_number(&operands, status) {
        return nan;
    }
    match operands {
        [Number::Infinite { .. }, Number::Infinite { .. }] => invalid(status),
        [Number::Infinite { negative }, Number::Finite(b)] => infinity(negative != b.negative),
        [Number::Finite(a), Number::Infinite { negative }] => zero(a.negative != negative),
        [Number::Finite(a), Number::Finite(b)] => {
            let negative = a.negative != b.negative;
            match (a.significand, b.significand) {
                (0, 0) => invalid(status),
                (0, _) => zero(negative),
                (_, 0) => {
                    status.raise(DIVISION_BY_ZERO);
                    infinity(negative)
                }
                (dividend, divisor) => {
                    let dividend = dividend << QUOTIENT_BITS;
                    // The lowest bit also says that there is a remainder.
                    let rest = u128::from(!dividend.is_multiple_of(divisor));
                    let quotient = Finite {
                        negative,
                        exponent: a.exponent - b.exponent - QUOTIENT_BITS.cast_signed(),
                        significand: (dividend / divisor) | rest,
                    };
                    round(quotient, status)
                }
            }
        }
        _ => DEFAULT_NAN,
    }
}

/// The flags N, Z, C and V of a comparison. `signals` makes quiet operands that are not numbers invalid.
pub(in crate::armv7m) fn compare(a: u32, b: u32, signals: bool, status: &mut Status) -> u32 {
    const LESS: u32 = 8;
    const EQUAL: u32 = 6;
    const GREATER: u32 = 2;
    const UNORDERED: u32 = 3;
    let operands = [unpack(a, status), unpack(b, status)];
    let nans = operands.iter().filter_map(|operand| match operand {
        Number::Nan { signals, .. } => Some(*signals),
        _ => None,
    });
    let nans: u32 = nans
        .map(|is_signaling| if is_signaling { 3 } else { 1 })
        .max()
        .unwrap_or(0);
    if nans != 0 {
        if signals || nans == 3 {
            status.raise(INVALID);
        }
        return UNORDERED;
    }
    // Flushed operands are zeros.
    let key = |bits: u32, number: Number| {
        let is_zero = matches!(number, Number::Finite(finite) if finite.significand == 0);
        let magnitude = i64::from(bits & 0x7fff_ffff);
        match (is_zero, bits >> 31) {
            (true, _) => 0,
            (false, 0) => magnitude,
            (false, _) => -magnitude,
        }
    };
    match key(a, operands[0]).cmp(&key(b, operands[1])) {
        std::cmp::Ordering::Less => LESS,
        std::cmp::Ordering::Equal => EQUAL,
        std::cmp::Ordering::Greater => GREATER,
    }
}

/// a - b.
pub(in crate::armv7m) fn subtract(a: u32, b: u32, status: &mut Status) -> u32 {
    // Not a sum with the negated operand: the sign of what is not a number stays.
    if matches!(unpack(b, &mut Status::default()), Number::Nan { .. }) {
        return add(a, b, status);
    }
    add(a, negated(b), status)
}

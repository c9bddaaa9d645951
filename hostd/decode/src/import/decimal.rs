//! Numbers as text, exactly.

/// Digits of a number that are read, at most: more than any clock has.
const DIGITS_MAX: u32 = 30;

/// Largest exponent of ten, either way.
const EXPONENT_MAX: i32 = 40;

/// A decimal number: `digits * 10^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// `-1.5e-3`, with or without its parts; a comma for the point where `comma` says so.
    pub(super) fn parse(text: &[u8], comma: bool) -> Option<Self> {
        let (negative, text) = match text.split_first()? {
            (b'-', rest) => (true, rest),
            (b'+', rest) => (false, rest),
            _ => (false, text),
        };
        let point = if comma { b',' } else { b'.' };
        let (mut digits, mut exponent, mut read) = (0_i128, 0_i32, 0_u32);
        let (mut is_fraction, mut any) = (false, false);
        let mut rest = text;
        while let Some((&byte, after)) = rest.split_first() {
            match byte {
                b'0'..=b'9' => {
                    any = true;
                    read += u32::from(read > 0 || byte != b'0');
                    if read <= DIGITS_MAX {
                        digits = digits * 10 + i128::from(byte - b'0');
                        exponent -= i32::from(is_fraction);
                    } else if !is_fraction {
                        return None;
                    }
                }
                b'e' | b'E' => break,
                _ if byte == point && !is_fraction => is_fraction = true,
                _ => return None,
            }
            rest = after;
        }
        if !any || exponent < -EXPONENT_MAX {
            return None;
        }
        if let [_, power @ ..] = rest {
            let power = std::str::from_utf8(power).ok()?;
            let power: i32 = power
                .parse()
                .ok()
                .filter(|power| (-EXPONENT_MAX..=EXPONENT_MAX).contains(power))?;
            exponent += power;
        }
        Some(Self {
            digits: if negative { -digits } else { digits },
            exponent,
        })
    }

    /// Digits behind the point that are not 0 at the end.
    pub(super) fn places(self) -> u32 {
        let (mut digits, mut exponent) = (self.digits, self.exponent);
        if digits == 0 {
            return 0;
        }
        while exponent < 0 && digits % 10 == 0 {
            digits /= 10;
            exponent += 1;
        }
        exponent.min(0).unsigned_abs()
    }

    /// How many of 10^-places it is, rounded; none when that is too many.
    pub(super) fn scaled(self, places: u32) -> Option<i128> {
        let shift = self.exponent.checked_add(i32::try_from(places).ok()?)?;
        let power = 10_i128.checked_pow(shift.unsigned_abs());
        if shift >= 0 {
            return match (self.digits, power) {
                (0, _) => Some(0),
                (digits, power) => digits.checked_mul(power?),
            };
        }
        let Some(power) = power else { return Some(0) };
        let half = power / 2;
        let rounded = if self.digits < 0 {
            self.digits - half
        } else {
            self.digits + half
        };
        Some(rounded / power)
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn numbers_are_read_exactly() {
        for (text, places, scaled) in [
            ("0", 0, Some(0)),
            ("0.000002", 6, Some(2_000_000)),
            ("-1.50", 1, Some(-1_500_000_000_000)),
            ("+2e-6", 6, Some(2_000_000)),
            ("1.25E1", 1, Some(12_500_000_000_000)),
            (".5", 1, Some(500_000_000_000)),
            ("5.", 0, Some(5_000_000_000_000)),
            ("0.0000000000005", 13, Some(1)),
            ("0.0000000000004", 13, Some(0)),
            ("1e38", 0, None),
        ] {
            let decimal = Decimal::parse(text.as_bytes(), false).unwrap();
            assert_eq!(
                (decimal.places(), decimal.scaled(12)),
                (places, scaled),
                "{text}"
            );
        }
        assert_eq!(Decimal::parse(b"1,5", true), Decimal::parse(b"1.5", false));
        for text in ["", "-", ".", "1.2.3", "1e", "1e99", "x", "1 ", "nan", "1,5"] {
            assert_eq!(Decimal::parse(text.as_bytes(), false), None, "{text}");
        }
    }
}

//! How numbers are written: digits before and after a point that is not there, and units (4.1, 4.2).

/// Millimetres of an inch.
pub(crate) const INCH: f64 = 25.4;

/// The format of coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// Digits before and after the point.
    pub(super) digits: (u8, u8),
    /// Whether zeros at the end are left out, in place of those at the start.
    pub(super) drops_trailing: bool,
}

impl Format {
    /// Reads `LAX46Y46`.
    pub(super) fn read(text: &[u8]) -> Result<Self, &'static str> {
        let text = text.trim_ascii();
        let x = text.iter().position(|b| *b == b'X');
        let y = text.iter().position(|b| *b == b'Y');
        let (Some(x), Some(y)) = (x, y) else {
            return Err("a format needs X and Y, such as `%FSLAX46Y46*%`");
        };
        let digits = |at: usize| match text.get(at + 1..at + 3) {
            Some([whole @ b'0'..=b'9', part @ b'0'..=b'9']) => Some((whole - b'0', part - b'0')),
            _ => None,
        };
        let (Some(digits), true) = (digits(x), digits(x) == digits(y)) else {
            return Err("a format needs the same digits for X and Y, such as `%FSLAX46Y46*%`");
        };
        let head = &text[..x.min(y)];
        if head.contains(&b'I') {
            return Err("incremental coordinates are not read; export with absolute ones");
        }
        Ok(Self {
            digits,
            drops_trailing: head.contains(&b'T'),
        })
    }

    /// The number that is written so, in units.
    pub(super) fn number(&self, word: &Digits) -> f64 {
        let (whole, part) = (i32::from(self.digits.0), i32::from(self.digits.1));
        let missing = if self.drops_trailing {
            whole + part - i32::from(word.count)
        } else {
            0
        };
        // Powers of ten are divided by, which rounds once.
        let power = part - missing;
        let value = word.value as f64;
        if power >= 0 {
            value / 10_f64.powi(power)
        } else {
            value * 10_f64.powi(-power)
        }
    }
}

/// A signed whole number as it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digits {
    pub(super) value: i64,
    /// How many digits it has, zeros included.
    pub(super) count: u8,
}

/// Most digits of a number.
const DIGITS_MAX: u8 = 15;

impl Digits {
    /// Reads the number at `at` of `text`, and says where it ends.
    pub(super) fn read(text: &[u8], mut at: usize) -> Option<(Self, usize)> {
        let is_negative = text.get(at) == Some(&b'-');
        if matches!(text.get(at), Some(b'-' | b'+')) {
            at += 1;
        }
        let mut digits = Self::default();
        while let Some(byte @ b'0'..=b'9') = text.get(at) {
            if digits.count == DIGITS_MAX {
                return None;
            }
            digits.value = digits.value * 10 + i64::from(byte - b'0');
            digits.count += 1;
            at += 1;
        }
        if is_negative {
            digits.value = -digits.value;
        }
        (digits.count > 0).then_some((digits, at))
    }
}

/// A decimal number, finite.
pub(crate) fn decimal(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    // `inf` and `nan` are numbers for Rust.
    if text
        .bytes()
        .any(|b| b.is_ascii_alphabetic() && b != b'e' && b != b'E')
    {
        return None;
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_missing_zeros_are_read() {
        let number = |format: &[u8], text: &[u8]| {
            let format = Format::read(format).unwrap();
            format.number(&Digits::read(text, 0).unwrap().0)
        };
        assert_eq!(number(b"LAX46Y46", b"-1500000"), -1.5);
        assert_eq!(number(b"LAX24Y24", b"015000"), 1.5);
        assert_eq!(number(b"TAX24Y24", b"015"), 1.5);
        assert_eq!(number(b"TAX24Y24", b"-12"), -12.0);
        assert!(Format::read(b"LIX24Y24").is_err());
        assert!(Format::read(b"LAX24Y25").is_err());
        assert_eq!(decimal(b"nan"), None);
        assert_eq!(decimal(b" .5"), Some(0.5));
    }
}

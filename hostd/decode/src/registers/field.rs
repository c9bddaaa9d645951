//! A part of a register that means something.

use std::fmt::Write;

/// A field of a register.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) bits: Bits,
    /// Only where other bits of the register have this value.
    pub(crate) when: Option<(Bits, u64)>,
    /// What values mean.
    pub(crate) values: Vec<(u64, String)>,
    pub(crate) number: Number,
}

/// Bits of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bits {
    pub(crate) low: u32,
    /// At least 1.
    pub(crate) count: u32,
}

/// How a field is a number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Number {
    pub(crate) is_signed: bool,
    /// Decimal digits of four bits each.
    pub(crate) is_bcd: bool,
    pub(crate) is_hex: bool,
    /// Multiplied by this, then `offset` is added.
    pub(crate) scale: f64,
    pub(crate) offset: f64,
    pub(crate) unit: String,
}

/// What a field is in a register's value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meaning<'f> {
    /// A name for it.
    Word(&'f str),
    /// A flag.
    Flag(bool),
    Hex(u64),
    /// A number and its unit.
    Number(f64, &'f str),
}

/// Smallest scale of which four decimals say enough.
const COARSE: f64 = 1e-4;

impl Bits {
    /// Reads `7:4` or `3`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (high, low) = text.split_once(':').unwrap_or((text, text));
        let (high, low): (u32, u32) = (high.trim().parse().ok()?, low.trim().parse().ok()?);
        let count = high.checked_sub(low)?.checked_add(1)?;
        (high < u64::BITS).then_some(Self { low, count })
    }

    /// The highest bit.
    pub(crate) fn high(self) -> u32 {
        self.low + self.count - 1
    }

    pub(crate) fn of(self, number: u64) -> u64 {
        number >> self.low & u64::MAX >> (u64::BITS - self.count)
    }
}

impl Field {
    /// What it is, unless it is not there.
    pub(crate) fn meaning(&self, register: u64) -> Option<Meaning<'_>> {
        if let Some((bits, value)) = self.when
            && bits.of(register) != value
        {
            return None;
        }
        let raw = self.bits.of(register);
        if let Some((_, word)) = self.values.iter().find(|(value, _)| *value == raw) {
            return Some(Meaning::Word(word));
        }
        let number = &self.number;
        Some(match self.bits.count {
            1 if self.values.is_empty() => Meaning::Flag(raw == 1),
            _ if number.is_hex => Meaning::Hex(raw),
            count => Meaning::Number(number.of(raw, count), &number.unit),
        })
    }
}

impl Number {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_wrap,
        reason = "a converter of a part has fewer bits; the sign is meant"
    )]
    fn of(&self, raw: u64, count: u32) -> f64 {
        let plain = if self.is_bcd {
            let digits = (0..count.div_ceil(4)).rev();
            digits.fold(0.0, |sum, digit| {
                sum * 10.0 + (raw >> (digit * 4) & 0xF) as f64
            })
        } else if self.is_signed {
            let shift = u64::BITS - count;
            ((raw << shift) as i64 >> shift) as f64
        } else {
            raw as f64
        };
        plain * self.scale + self.offset
    }
}

impl Meaning<'_> {
    /// Appends ` ×1` behind a name, for people; a flag that is not set is left out.
    pub(crate) fn push(&self, name: &str, out: &mut String) {
        if *self == Self::Flag(false) {
            return;
        }
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(name);
        match self {
            Self::Flag(_) => {}
            Self::Word(word) => {
                let _ = write!(out, " {word}");
            }
            Self::Hex(number) => {
                let _ = write!(out, " 0x{number:X}");
            }
            Self::Number(number, unit) => {
                let _ = write!(out, " {}", decimal(*number));
                if !unit.is_empty() {
                    let _ = write!(out, " {unit}");
                }
            }
        }
    }

    /// Appends it as JSON. Words have nothing that would have to be escaped.
    pub(crate) fn push_json(&self, out: &mut String) {
        let _ = match self {
            Self::Flag(is_set) => write!(out, "{is_set}"),
            Self::Word(word) => write!(out, "\"{word}\""),
            Self::Hex(number) => write!(out, "{number}"),
            Self::Number(number, _) => write!(out, "{}", decimal(*number)),
        };
    }
}

/// At most four decimals, or as many as a small number needs.
fn decimal(number: f64) -> String {
    if number != 0.0 && number.abs() < COARSE {
        return format!("{number:.9}").trim_end_matches('0').to_owned();
    }
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(bits: &str) -> Field {
        Field {
            name: "f".to_owned(),
            bits: Bits::parse(bits).unwrap(),
            when: None,
            values: Vec::new(),
            number: Number {
                is_signed: false,
                is_bcd: false,
                is_hex: false,
                scale: 1.0,
                offset: 0.0,
                unit: String::new(),
            },
        }
    }

    fn text(field: &Field, register: u64) -> String {
        let mut text = String::new();
        if let Some(meaning) = field.meaning(register) {
            meaning.push(&field.name, &mut text);
        }
        text
    }

    #[test]
    fn bits_are_read_from_the_high_one_to_the_low_one() {
        assert_eq!(Bits::parse("7:4"), Some(Bits { low: 4, count: 4 }));
        assert_eq!(Bits::parse("3"), Some(Bits { low: 3, count: 1 }));
        assert_eq!(Bits::parse("63:0").unwrap().of(u64::MAX), u64::MAX);
        for wrong in ["", "4:7", "64", "a", "7:", "-1"] {
            assert_eq!(Bits::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_have_sign_scale_and_digits() {
        let mut signed = field("15:4");
        signed.number.is_signed = true;
        signed.number.scale = 0.0625;
        "°C".clone_into(&mut signed.number.unit);
        assert_eq!(text(&signed, 0x1910), "f 25.0625 °C");
        assert_eq!(text(&signed, 0xE700), "f -25 °C");
        assert_eq!(text(&signed, 0xFFF0), "f -0.0625 °C");
        let mut bcd = field("6:0");
        bcd.number.is_bcd = true;
        assert_eq!(text(&bcd, 0xB5), "f 35");
        let mut fine = field("15:0");
        fine.number.scale = 0.00001;
        assert_eq!(text(&fine, 3), "f 0.00003");
        assert_eq!(text(&fine, 0), "f 0");
    }

    #[test]
    fn flags_words_and_conditions() {
        let mut flag = field("7");
        assert_eq!((text(&flag, 0x80), text(&flag, 0)), ("f".into(), "".into()));
        flag.values = vec![(0, "off".to_owned())];
        assert_eq!(text(&flag, 0), "f off");
        assert_eq!(text(&flag, 0x80), "f 1");
        flag.when = Some((Bits { low: 0, count: 2 }, 3));
        assert_eq!(
            (text(&flag, 0x83), text(&flag, 2)),
            ("f 1".into(), "".into())
        );
    }
}

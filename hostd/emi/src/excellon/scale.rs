//! What numbers without a point mean: units, digits, and which zeros are left out.

use crate::gerber::{INCH, decimal};

/// Which zeros are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Zeros {
    /// Those at the start (`TZ`: those at the end are there).
    #[default]
    Leading,
    /// Those at the end (`LZ`).
    Trailing,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scale {
    is_metric: Option<bool>,
    zeros: Option<Zeros>,
    /// Digits before and after the point.
    digits: Option<(i32, i32)>,
}

impl Scale {
    /// Whether a line says the unit: `METRIC` and `INCH`, or `M71` and `M72`, alone or with more words.
    pub(super) fn is_declaration(line: &[u8]) -> bool {
        let first = line.split(|byte| *byte == b',').next();
        let first = first.unwrap_or_default().trim_ascii();
        matches!(first, b"METRIC" | b"INCH" | b"M71" | b"M72")
    }

    /// Reads `METRIC,TZ,000.000`.
    pub(super) fn declare(&mut self, text: &[u8]) {
        for word in text.split(|byte| *byte == b',') {
            match word.trim_ascii() {
                b"METRIC" | b"M71" => self.is_metric = Some(true),
                b"INCH" | b"M72" => self.is_metric = Some(false),
                b"TZ" => self.zeros = Some(Zeros::Leading),
                b"LZ" => self.zeros = Some(Zeros::Trailing),
                word => {
                    let point = word.iter().position(|byte| *byte == b'.');
                    if let (Some(point), true) =
                        (point, word.iter().all(|b| matches!(b, b'0' | b'.')))
                    {
                        self.set_digits(point, word.len() - point - 1);
                    }
                }
            }
        }
    }

    /// Takes a unit if none was said.
    pub(super) fn suggest_metric(&mut self, is_metric: bool) {
        self.is_metric.get_or_insert(is_metric);
    }

    /// Comments of Altium (`FILE_FORMAT=4:4`) and of KiCad (`FORMAT={3:3/ absolute / metric / …}`).
    pub(super) fn comment(&mut self, text: &str) {
        let format = text.strip_prefix("FILE_FORMAT=");
        let Some(format) = format.or_else(|| text.strip_prefix("FORMAT={")) else {
            return;
        };
        let digits = format.split(['/', '}']).next().unwrap_or_default();
        if let Some((whole, part)) = digits.trim().split_once(':')
            && let (Ok(whole), Ok(part)) = (whole.trim().parse(), part.trim().parse())
        {
            self.set_digits(whole, part);
        }
        if format.contains("suppress leading zeros") {
            self.zeros = Some(Zeros::Leading);
        } else if format.contains("suppress trailing zeros") || format.contains("keep zeros") {
            self.zeros = Some(Zeros::Trailing);
        }
    }

    fn set_digits(&mut self, whole: usize, part: usize) {
        const DIGITS_MAX: usize = 8;
        if let (Ok(before), Ok(after), true) = (
            i32::try_from(whole),
            i32::try_from(part),
            whole.max(part) <= DIGITS_MAX,
        ) {
            self.digits = Some((before, after));
        }
    }

    /// Millimetres of a unit.
    pub(super) fn unit(&self) -> f64 {
        if self.is_metric.unwrap_or_default() {
            1.0
        } else {
            INCH
        }
    }

    /// A coordinate in millimetres.
    pub(super) fn number(&self, text: &[u8]) -> Option<f64> {
        if text.contains(&b'.') {
            return decimal(text).map(|value| value * self.unit());
        }
        let (sign, digits) = match text {
            [b'-', digits @ ..] => (-1.0, digits),
            [b'+', digits @ ..] => (1.0, digits),
            digits => (1.0, digits),
        };
        const COUNT_MAX: usize = 15;
        if digits.is_empty() || digits.len() > COUNT_MAX || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let value = digits
            .iter()
            .fold(0.0, |value, digit| value * 10.0 + f64::from(digit - b'0'));
        let metric = self.is_metric.unwrap_or_default();
        let (whole, part) = self.digits.unwrap_or(if metric { (3, 3) } else { (2, 4) });
        let power = match self.zeros.unwrap_or_default() {
            Zeros::Leading => part,
            Zeros::Trailing => i32::try_from(digits.len()).ok()? - whole,
        };
        let value = if power >= 0 {
            value / 10_f64.powi(power)
        } else {
            value * 10_f64.powi(-power)
        };
        Some(sign * value * self.unit())
    }

    /// What was assumed, for people.
    pub(super) fn assumed(&self) -> Option<String> {
        let unit = match self.is_metric {
            None => "inches, ".to_owned(),
            Some(_) => String::new(),
        };
        (self.is_metric.is_none())
            .then(|| format!("the drill file does not say its unit: {unit}with leading zeros left out, are assumed"))
    }
}

//! Lengths and bytes in texts.

use crate::length::float;

const PREFIXES: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)];

/// So many samples as a time, six digits of it: `1.5 ms`.
pub(crate) fn time(samples: u64, rate_hz: f64) -> String {
    let seconds = float(samples) / rate_hz;
    if samples == 0 || !seconds.is_finite() {
        return "0 s".to_owned();
    }
    let fits = |(_, factor): &&(&str, f64)| seconds >= factor * 0.999_999_5;
    let (unit, factor) = PREFIXES.iter().find(fits).unwrap_or(&PREFIXES[3]);
    format!("{} {unit}", digits(seconds / factor))
}

/// A number with at most six digits.
fn digits(value: f64) -> String {
    let decimals = match value {
        10_000.0.. => 1,
        1000.0.. => 2,
        100.0.. => 3,
        10.0.. => 4,
        _ => 5,
    };
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Words of a bus in hexadecimal digits.
pub(crate) fn hex(words: impl Iterator<Item = u64>) -> String {
    let words: Vec<String> = words.map(|word| format!("{word:02X}")).collect();
    words.join(" ")
}

/// A level by its name.
pub(crate) fn high_or_low(level: bool) -> &'static str {
    match level {
        true => "high",
        false => "low",
    }
}

/// An edge by its name.
pub(crate) fn rising_or_falling(rises: bool) -> &'static str {
    match rises {
        true => "rising",
        false => "falling",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_fitting_unit() {
        for (samples, rate, text) in [
            (0, 1e6, "0 s"),
            (3, 1e6, "3 us"),
            (1500, 1e6, "1.5 ms"),
            (1, 24e6, "41.6667 ns"),
            (7200, 1.0, "7200 s"),
            (1000, 1e6, "1 ms"),
            (10, 1e6, "10 us"),
        ] {
            assert_eq!(time(samples, rate), text);
        }
        assert_eq!(hex([5, 0x1ff].into_iter()), "05 1FF");
    }
}

//! Quantities and bytes in sentences.

use crate::limits::SHOWN_BYTES_MAX;

const PREFIXES: [(&str, f64); 6] = [
    ("M", 1e6),
    ("k", 1e3),
    ("", 1.0),
    ("m", 1e-3),
    ("u", 1e-6),
    ("n", 1e-9),
];

/// A value with its unit, six digits of it: `1.5 ms`, `-50 mV`, `999.4 kHz`.
pub(crate) fn quantity(value: f64, unit: &str) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0} {unit}");
    }
    let fits = |prefix: &&(&str, f64)| {
        // Seconds have no kiloseconds.
        value.abs() >= prefix.1 * 0.999_999_5 && !(unit == "s" && prefix.1 > 1.0)
    };
    let (prefix, factor) = PREFIXES.iter().find(fits).unwrap_or(&PREFIXES[5]);
    format!("{} {prefix}{unit}", digits(value / factor))
}

/// A percentage.
pub(crate) fn percent(part: f64) -> String {
    format!("{} %", digits(part * 100.0))
}

/// A number with at most six digits.
fn digits(value: f64) -> String {
    let before = value.abs().max(1.0).log10().floor();
    let decimals = (5.0 - before).clamp(0.0, 6.0);
    let decimals = crate::number::whole(decimals).and_then(|count| usize::try_from(count).ok());
    let text = format!("{value:.*}", decimals.unwrap_or_default());
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `one thing` or `3 things`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        0 => format!("no {one}"),
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

/// Words of a bus in hexadecimal digits, the first ones.
pub(crate) fn hex(words: &[u64]) -> String {
    let shown = words.iter().take(SHOWN_BYTES_MAX);
    let mut text: Vec<String> = shown.map(|word| format!("{word:02X}")).collect();
    if words.len() > SHOWN_BYTES_MAX {
        text.push("…".to_owned());
    }
    text.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_six_digits_and_a_fitting_prefix() {
        for (value, unit, text) in [
            (0.0, "s", "0 s"),
            (1.5e-3, "s", "1.5 ms"),
            (250_000.0, "Hz", "250 kHz"),
            (999_400.0, "Hz", "999.4 kHz"),
            (-0.05, "V", "-50 mV"),
            (3.300_000_1, "V", "3.3 V"),
            (4_000.0, "s", "4000 s"),
            (41.666_666_6e-9, "s", "41.6667 ns"),
            (1e-12, "V", "0.001 nV"),
            (12e6, "Hz", "12 MHz"),
        ] {
            assert_eq!(quantity(value, unit), text);
        }
        assert_eq!(percent(0.501), "50.1 %");
        assert_eq!(counted(1, "edge", "edges"), "1 edge");
        assert_eq!(counted(0, "edge", "edges"), "no edge");
        assert_eq!(hex(&[0x5, 0x1ff]), "05 1FF");
    }
}

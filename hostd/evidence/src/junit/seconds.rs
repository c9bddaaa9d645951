//! Times as programs of all countries write them.

/// Longest time that is taken, in seconds.
const SECONDS_MAX: f64 = 1e9;

/// Microseconds of a time in seconds, whatever divides its fraction and its thousands: of a comma and a point, the last
/// divides the fraction; one of them that is there alone does so if it is there once. Nothing if it is no time.
pub(super) fn micros(text: &str) -> Option<u64> {
    let text: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && !['\'', '’', '_'].contains(c))
        .collect();
    let plain = match (text.rfind(','), text.rfind('.')) {
        (Some(comma), Some(point)) if comma > point => text.replace('.', "").replace(',', "."),
        (Some(_), Some(_)) => text.replace(',', ""),
        (Some(_), None) if text.matches(',').count() == 1 => text.replace(',', "."),
        (Some(_), None) => text.replace(',', ""),
        (None, _) if text.matches('.').count() > 1 => text.replace('.', ""),
        (None, _) => text,
    };
    let seconds: f64 = plain.parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 1e15"
    )]
    let micros = (0.0..SECONDS_MAX)
        .contains(&seconds)
        .then(|| (seconds * 1e6).round() as u64);
    micros
}

#[cfg(test)]
mod tests {
    use super::micros;

    #[test]
    fn whatever_divides_fractions_and_thousands() {
        for (text, expected) in [
            ("0.25", 250_000),
            ("0,123", 123_000),
            ("1,234.500", 1_234_500_000),
            ("1.234,500", 1_234_500_000),
            ("1.234.567,5", 1_234_567_500_000),
            ("1,234,567.5", 1_234_567_500_000),
            ("1,234,567", 1_234_567_000_000),
            ("1.234.567", 1_234_567_000_000),
            ("1\u{a0}234,5", 1_234_500_000),
            ("1\u{202f}234,5", 1_234_500_000),
            ("1'234.5", 1_234_500_000),
            ("12,5", 12_500_000),
            ("1.5E-4", 150),
            ("1,5e-4", 150),
            (" 2 ", 2_000_000),
            ("1e8", 100_000_000_000_000),
        ] {
            assert_eq!(micros(text), Some(expected), "{text}");
        }
        for text in ["", "-1", "1e10", "inf", "NaN", "soon", "1,2.3,4.5x"] {
            assert_eq!(micros(text), None, "{text}");
        }
    }
}

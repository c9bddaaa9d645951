//! Answers of instruments that speak SCPI: numbers, switches, errors. They are bytes of a stranger.

/// Characters of an answer that an error repeats.
const SHOWN_CHARS_MAX: usize = 80;

/// Beyond this, a number stands for infinity or for none.
const NUMBER_MAX: f64 = 9.0e37;

/// A number, perhaps with a unit behind it: `+3.300E+00`, `3.3V`.
pub(super) fn number(answer: &str) -> Option<f64> {
    let answer = answer.trim();
    let unit = answer.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = unit.trim_end();
    let digits = match unit.parse::<f64>() {
        Ok(_) => unit,
        Err(_) => answer,
    };
    let is_word =
        digits.contains(|letter: char| letter.is_ascii_alphabetic() && !"eE".contains(letter));
    let number: f64 = digits.parse().ok()?;
    (!is_word && number.is_finite() && number.abs() < NUMBER_MAX).then_some(number)
}

/// A number in thousandths or millionths, rounded.
pub(super) fn scaled(answer: &str, by: f64) -> Option<i64> {
    let value = (number(answer)? * by).round();
    #[allow(clippy::cast_possible_truncation, reason = "compared just before")]
    (value.abs() < 1e15).then_some(value as i64)
}

/// A switch: `1`, `ON`.
pub(super) fn switch(answer: &str) -> Option<bool> {
    match answer.trim() {
        "1" | "+1" | "ON" | "on" | "On" => Some(true),
        "0" | "+0" | "OFF" | "off" | "Off" => Some(false),
        _ => None,
    }
}

/// An entry of the error queue: `-113,"Undefined header"`. Number 0 is none.
pub(super) fn error(answer: &str) -> Option<(i32, String)> {
    let answer = answer.trim();
    let (number, text) = answer.split_once(',').unwrap_or((answer, ""));
    let number = number.trim().parse().ok()?;
    Some((number, shown(text.trim().trim_matches('"'))))
}

/// An answer for people: one line, not too long.
pub(super) fn shown(answer: &str) -> String {
    let printable = answer.trim().chars().map(|letter| {
        if letter.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            letter
        }
    });
    printable.take(SHOWN_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("3.3", Some(3.3)),
            ("+3.30000E+00", Some(3.3)),
            ("-1.5e-3\r", Some(-0.0015)),
            ("3.300V", Some(3.3)),
            ("0.512 A", Some(0.512)),
            ("5.", Some(5.0)),
            ("9.91E37", None),
            ("9.9E+37", None),
            ("inf", None),
            ("NaN", None),
            ("", None),
            ("V", None),
            ("1,2", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
        assert_eq!(scaled("3.3004", 1e3), Some(3300));
        assert_eq!(scaled("1e30", 1e6), None);
    }

    #[test]
    fn switches_and_errors() {
        assert_eq!(switch(" 1\r"), Some(true));
        assert_eq!(switch("OFF"), Some(false));
        assert_eq!(switch("2"), None);
        let none = error("+0,\"No error\"").unwrap();
        assert_eq!(none, (0, "No error".to_owned()));
        assert_eq!(
            error("-222,\"Data, out of range\"").unwrap().1,
            "Data, out of range"
        );
        assert_eq!(error("0"), Some((0, String::new())));
        assert_eq!(error("No error"), None);
    }
}

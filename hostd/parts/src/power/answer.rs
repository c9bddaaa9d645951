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

/// A switch: `1`, `ON`, `+0.0E+00`.
pub(super) fn switch(answer: &str) -> Option<bool> {
    let answer = answer.trim().trim_matches(QUOTES).trim();
    if answer.eq_ignore_ascii_case("on") {
        return Some(true);
    }
    if answer.eq_ignore_ascii_case("off") {
        return Some(false);
    }
    match number(answer)? {
        0.0 => Some(false),
        1.0 => Some(true),
        _ => None,
    }
}

/// A register: `0x10`, `16`.
pub(super) fn bits(answer: &str) -> Option<u32> {
    let answer = answer.trim();
    match answer.strip_prefix("0x").or(answer.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => answer.parse().ok(),
    }
}

/// What texts stand between.
const QUOTES: [char; 2] = ['"', '\''];

/// What stands between the number of an error and its text.
const SEPARATORS: [char; 4] = [',', ';', ':', '.'];

/// What supplies say that leave the number out, in letters alone.
const NO_ERROR: [&str; 2] = ["noerror", "noerrors"];

/// An entry of the error queue: `-113,"Undefined header"`, `0  No Error`. Number 0 is none, whatever is behind it.
pub(super) fn error(answer: &str) -> Option<(i32, String)> {
    let answer = answer.trim();
    let signs = answer.len() - answer.trim_start_matches(['+', '-']).len();
    let digits = answer[signs..].bytes().take_while(u8::is_ascii_digit);
    let (number, text) = answer.split_at(signs + digits.count());
    let text = text.trim_start();
    let text = text.trim_start_matches(SEPARATORS).trim();
    let text = shown(text.trim_matches(QUOTES));
    if let Ok(number) = number.parse() {
        return Some((number, text));
    }
    let letters: String = answer
        .chars()
        .filter(char::is_ascii_alphabetic)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    NO_ERROR.contains(&letters.as_str()).then_some((0, text))
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
        assert_eq!(switch("\"on\""), Some(true));
        assert_eq!(switch("+0.0E+00"), Some(false));
        assert_eq!(switch(""), None);
        assert_eq!(bits("0x0010\r"), Some(16));
        assert_eq!(bits("0X1f"), Some(31));
        assert_eq!(bits(" 48 "), Some(48));
        assert_eq!(bits("0xzz").or(bits("-1")).or(bits("")), None);
        for none in [
            "0",
            "+0",
            "00",
            "0,\"No error\"",
            "+0,\"No error\"",
            "0, \"No error\"",
            "0,No error",
            "0,'No Error'",
            "0  No Error",
            "0\tno error",
            "0;No error",
            "0: NO ERROR",
            "-0,\"No error\"",
            "\t+0 , \"No errors\"\r",
            "0,\"\"",
            "No error",
            "\"NO ERROR\"",
            "No Errors.",
        ] {
            assert_eq!(error(none).map(|(number, _)| number), Some(0), "{none}");
        }
        for (told, number, text) in [
            ("-113,\"Undefined header\"", -113, "Undefined header"),
            ("-222,\"Data, out of range\"", -222, "Data, out of range"),
            ("-113  Undefined header", -113, "Undefined header"),
            ("5 Invalid Command", 5, "Invalid Command"),
            ("+100,'Command error'", 100, "Command error"),
        ] {
            assert_eq!(error(told), Some((number, text.to_owned())), "{told}");
        }
        for unclear in [
            "",
            "-",
            "+-0",
            "OK",
            "error",
            "Command error",
            "99999999999,x",
        ] {
            assert_eq!(error(unclear), None, "{unclear}");
        }
    }
}

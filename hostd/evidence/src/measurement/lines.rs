//! The file in which a program leaves what it measured: a JSON object a line.

use serde::Deserialize;

use super::{COUNT_MAX, Measurement, NAME_CHARS_MAX, SERIAL_CHARS_MAX, UNIT_CHARS_MAX, VALUE_MAX};

/// A line as it is written. One with a serial number alone names the board for those behind it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<String>,
    value: Option<f64>,
    unit: Option<String>,
    low: Option<f64>,
    high: Option<f64>,
    serial: Option<String>,
}

/// A line that is no measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongLine {
    /// From 1.
    pub line: usize,
    /// What is wrong with it, and what to do.
    pub why: String,
}

/// Reads lines into `into`, as far as they are right. `serial` is the board that was named last, `room` how many more
/// measurements the run may have.
///
/// # Errors
/// A line is wrong, or there are more measurements than there is room for.
pub fn read(
    text: &[u8],
    serial: &mut Option<String>,
    room: usize,
    into: &mut Vec<Measurement>,
) -> Result<(), WrongLine> {
    for (line, bytes) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let wrong = |why: String| WrongLine { line, why };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(wrong("this is no UTF-8 text".to_owned()));
        };
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let written: Written =
            serde_json::from_str(text).map_err(|error| wrong(not_json(&error)))?;
        if let Some(named) = &written.serial {
            bounded("serial", named, SERIAL_CHARS_MAX).map_err(wrong)?;
            *serial = Some(named.clone());
        }
        let Some(measured) = written.measured(serial.as_ref()).map_err(wrong)? else {
            continue;
        };
        if into.len() >= room {
            let why = format!(
                "a run records at most {COUNT_MAX} values; record fewer, or make two runs of it"
            );
            return Err(wrong(why));
        }
        into.push(measured);
    }
    Ok(())
}

impl Written {
    fn measured(self, serial: Option<&String>) -> Result<Option<Measurement>, String> {
        let is_serial_alone = self.serial.is_some()
            && self.unit.is_none()
            && self.low.is_none()
            && self.high.is_none();
        let (name, value) = match (self.name, self.value) {
            (Some(name), Some(value)) => (name, value),
            (None, None) if is_serial_alone => return Ok(None),
            (None, _) => return Err(r#"a measurement has a "name""#.to_owned()),
            (_, None) => return Err(r#"a measurement has a "value", a finite number"#.to_owned()),
        };
        bounded("name", &name, NAME_CHARS_MAX)?;
        let unit = self.unit.unwrap_or_default();
        if !unit.is_empty() {
            bounded("unit", &unit, UNIT_CHARS_MAX)?;
        }
        let mut numbers = [Some(value), self.low, self.high].into_iter().flatten();
        if let Some(number) = numbers.find(|number| number.abs() > VALUE_MAX) {
            return Err(format!("{number:e} is more than {VALUE_MAX:e} in size"));
        }
        if let (Some(low), Some(high)) = (self.low, self.high)
            && low > high
        {
            return Err(format!(r#""low" is {low}, above "high", {high}"#));
        }
        Ok(Some(Measurement {
            name,
            value,
            unit,
            low: self.low,
            high: self.high,
            serial: serial.cloned(),
        }))
    }
}

fn bounded(key: &str, text: &str, chars_max: usize) -> Result<(), String> {
    let count = text.chars().count();
    if (1..=chars_max).contains(&count) && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(format!(
        r#""{key}" has 1 to {chars_max} characters on one line"#
    ))
}

/// What is wrong with a line, without the number that a text of one line always has.
fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text
        .rsplit_once(" at line ")
        .map_or(&*text, |(what, _)| what);
    let keys = "name, value, unit, low, high, serial";
    format!(
        "{what}, in column {}; write a JSON object of {keys}",
        error.column()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> WrongLine {
        read(text.as_bytes(), &mut None, COUNT_MAX, &mut Vec::new()).unwrap_err()
    }

    #[test]
    fn lines_are_measurements_of_the_board_that_was_named_last() {
        let text = "{\"name\": \"a\", \"value\": 1}\r\n\n{\"serial\": \"B7\"}\n\
            {\"name\": \"b\", \"value\": -2.5e1, \"unit\": \"mV\", \"low\": -30, \"high\": null}\n\
            {\"name\": \"c\", \"value\": 0, \"serial\": \"B8\"}\n{\"name\": \"d\", \"value\": 0}";
        let (mut serial, mut found) = (None, Vec::new());
        read(text.as_bytes(), &mut serial, COUNT_MAX, &mut found).unwrap();
        let told: Vec<(String, Option<&str>)> = found
            .iter()
            .map(|found| (found.told(), found.serial.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("1".to_owned(), None),
                ("-25 mV (at least -30 mV)".to_owned(), Some("B7")),
                ("0".to_owned(), Some("B8")),
                ("0".to_owned(), Some("B8")),
            ]
        );
        assert_eq!(serial.as_deref(), Some("B8"));
    }

    #[test]
    fn a_wrong_line_is_told_by_its_number_and_those_before_it_count() {
        let mut found = Vec::new();
        let text = b"{\"name\":\"a\",\"value\":1}\n{\"nme\":\"b\"}\n";
        let error = read(text, &mut None, COUNT_MAX, &mut found).unwrap_err();
        assert_eq!((error.line, found.len()), (2, 1));
        assert!(
            error.why.starts_with("unknown field `nme`"),
            "{}",
            error.why
        );
        assert!(error.why.contains("in column 6"), "{}", error.why);
        for (text, says) in [
            ("{\"name\":\"a\",\"value\":NaN}", "expected value"),
            ("{\"name\":\"a\",\"value\":1e999}", "out of range"),
            ("{\"name\":\"a\",\"value\":\"1\"}", "invalid type"),
            ("{\"name\":\"a\"}", "has a \"value\""),
            ("{\"value\":1}", "has a \"name\""),
            ("{\"serial\":\"a\",\"low\":1}", "has a \"name\""),
            ("{\"name\":\"\",\"value\":1}", "\"name\" has 1 to 120"),
            ("{\"name\":\"a\\nb\",\"value\":1}", "on one line"),
            (
                "{\"name\":\"a\",\"value\":1,\"serial\":\"\"}",
                "\"serial\" has",
            ),
            ("{\"name\":\"a\",\"value\":1,\"low\":2,\"high\":1}", "above"),
            ("{\"name\":\"a\",\"value\":-1e101}", "more than 1e100"),
            ("[1]", "write a JSON object"),
            ("x", "expected value"),
        ] {
            let why = wrong(text).why;
            assert!(why.contains(says), "{text}: {why}");
        }
        let long = format!("{{\"name\":\"{}\",\"value\":1}}", "x".repeat(121));
        assert!(wrong(&long).why.contains("120 characters"));
        let error = read(b"\xff\xfe", &mut None, COUNT_MAX, &mut Vec::new()).unwrap_err();
        assert!(error.why.contains("UTF-8"));
    }

    #[test]
    fn no_run_has_more_than_it_may() {
        let text = "{\"name\":\"a\",\"value\":1}\n".repeat(COUNT_MAX + 1);
        let mut found = Vec::new();
        let error = read(text.as_bytes(), &mut None, COUNT_MAX, &mut found).unwrap_err();
        assert_eq!((error.line, found.len()), (COUNT_MAX + 1, COUNT_MAX));
        assert!(error.why.contains("at most 1000 values"));
    }

    #[test]
    fn broken_lines_never_panic() {
        let seed = b"{\"name\":\"a\",\"value\":1.5,\"unit\":\"V\",\"low\":1,\"high\":2,\"serial\":\"s\"}\n{}";
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let mut text = seed.to_vec();
            for _ in 0..random.usize(1..5) {
                let at = random.usize(..text.len());
                text[at] = random.u8(..);
            }
            let mut found = Vec::new();
            let _ = read(&text, &mut None, COUNT_MAX, &mut found);
            assert!(found.iter().all(|found| found.value.is_finite()));
        }
    }
}

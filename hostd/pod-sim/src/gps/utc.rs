//! Dates and times of the emulated receiver, without time zones or leap seconds.

use jiff::SignedDuration;
use jiff::civil::DateTime;

use super::super::args::Args;
use super::super::refuse::Refuse;

/// The last second of the year 9999.
const SECONDS_MAX: i64 = 253_402_300_799;

const SECOND_US: i64 = 1_000_000;

const EPOCH: DateTime = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);

const FORM: &str = "seconds since 1970, or a text like 2026-01-01T00:00:00Z";

/// The `utc` field, in microseconds since 1970.
pub(crate) fn from_args(args: &Args<'_>) -> Result<Option<i64>, Refuse> {
    let wrong = Refuse::Bad {
        field: "utc",
        want: FORM,
    };
    match args.text("utc") {
        Ok(Some(text)) => parse(text).map(Some).ok_or(wrong),
        Ok(None) => Ok(None),
        Err(_) => {
            let seconds = args.int("utc", 0..=SECONDS_MAX)?;
            Ok(seconds.map(|seconds| seconds * SECOND_US))
        }
    }
}

/// Reads `2026-01-01T00:00:00Z`, with or without a fraction of a second.
fn parse(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z')?;
    let at: DateTime = text.parse().ok()?;
    // ISO 8601 has many other forms, and jiff accepts them.
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_this_form = at.strftime("%Y-%m-%dT%H:%M:%S").to_string() == whole
        && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let since = at.duration_since(EPOCH);
    if !is_this_form || since.is_negative() {
        return None;
    }
    i64::try_from(since.as_micros()).ok()
}

/// The date and time of an instant in microseconds since 1970; the year 9999 never ends.
pub(crate) fn civil(utc_us: i64) -> DateTime {
    EPOCH.saturating_add(SignedDuration::from_micros(utc_us))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_written_back() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-01-01T00:00:00Z", 1_767_225_600),
            ("2000-02-29T23:59:59Z", 951_868_799),
            ("2026-10-08T12:34:56Z", 1_791_462_896),
            ("9999-12-31T23:59:59Z", SECONDS_MAX),
        ] {
            assert_eq!(parse(text), Some(seconds * SECOND_US), "{text}");
            let back = civil(seconds * SECOND_US);
            assert_eq!(back.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), text);
        }
        assert_eq!(parse("1970-01-01T00:00:01.25Z"), Some(1_250_000));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "Z",
            "2026-01-01T00:00:00",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T00:00Z",
            "2026-01-01-01T00:00:00Z",
            "2026-01-01T00:00:00.xZ",
            "+026-01-01T00:00:00Z",
            "99999999999999999999-01-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-01-01 00:00:00Z",
            "20260101T000000Z",
            "2026-01-01T00:00:00+00:00Z",
            "2026-01-01T00:00:00.5[u-ca=gregory]Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

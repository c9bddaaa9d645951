//! Dates and times of the emulated receiver, without time zones or leap seconds.

use super::super::args::Args;
use super::super::refuse::Refuse;

/// The last second of the year 9999.
const SECONDS_MAX: i64 = 253_402_300_799;

const SECOND_US: i64 = 1_000_000;
const DAY_S: i64 = 86_400;

const FORM: &str = "seconds since 1970, or a text like 2026-01-01T00:00:00Z";

/// A date and a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) centisecond: i64,
}

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

/// Reads `2026-01-01T00:00:00Z`, with a fraction of a second or without.
fn parse(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z')?;
    let (date, time) = text.split_once('T')?;
    let mut date = date.split('-').map(number);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut clock = time.split(':').map(number);
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let in_day = hour < 24 && minute < 60 && second < 60;
    let in_year = (1..=12).contains(&month) && 1 <= day && day <= days_in(year, month);
    let whole = date.next().is_none() && clock.next().is_none() && (1970..=9999).contains(&year);
    if !(in_day && in_year && whole) {
        return None;
    }
    let mut fraction_us = 0;
    if !fraction.is_empty() {
        let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
        fraction_us = number(&micros)?;
    }
    let seconds = days(year, month, day) * DAY_S + hour * 3_600 + minute * 60 + second;
    Some(seconds * SECOND_US + fraction_us)
}

/// Decimal digits only, not too many.
fn number(text: &str) -> Option<i64> {
    let digits = (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Days from 1970 to a date, counting years from March so that a leap day comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn days_in(year: i64, month: i64) -> i64 {
    let (next_year, next_month) = if month == 12 {
        (year + 1, 1)
    } else {
        (year, month + 1)
    };
    days(next_year, next_month, 1) - days(year, month, 1)
}

/// The date and time of an instant in microseconds since 1970.
pub(crate) fn civil(utc_us: i64) -> Civil {
    let seconds = utc_us.div_euclid(SECOND_US);
    let of_day = seconds.rem_euclid(DAY_S);
    let of_march = seconds.div_euclid(DAY_S) + 719_468;
    let era = of_march.div_euclid(146_097);
    let of_era = of_march.rem_euclid(146_097);
    let years = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = (from_march + 2) % 12 + 1;
    Civil {
        year: years + era * 400 + i64::from(month <= 2),
        month,
        day: of_year - (153 * from_march + 2) / 5 + 1,
        hour: of_day / 3_600,
        minute: of_day / 60 % 60,
        second: of_day % 60,
        centisecond: utc_us.rem_euclid(SECOND_US) / 10_000,
    }
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
            let c = civil(seconds * SECOND_US);
            let (date, time) = ((c.year, c.month, c.day), (c.hour, c.minute, c.second));
            let back = format!(
                "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
                date.0, date.1, date.2, time.0, time.1, time.2
            );
            assert_eq!(back, text);
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
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

//! When a timer is due: five fields as crontab has them (minute, hour, day of the month, month, day of the week), in UTC.
//!
//! A field is `*`, or numbers and ranges with commas; `/n` after `*` or a range takes every nth. If both days are
//! restricted, either is enough, as crontab has it. A minute is the finest step, so nothing is due more often than that;
//! that one run has ended before the next begins is up to whoever runs them.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

/// Longest text, in bytes.
const TEXT_BYTES_MAX: usize = 200;

/// Days that are searched: a Sunday that is 29 February may be forty years away.
const DAYS_MAX: usize = 40 * 366 + 1;

const MINUTE_MS: i64 = 60_000;

/// A schedule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cron {
    text: String,
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    weekdays: Field,
}

/// Numbers that match, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Field {
    bits: u64,
    /// Whether it begins with `*`.
    is_any: bool,
}

/// What is wrong with a schedule, as a fragment that follows a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// Not five of them.
    #[error(
        "must be five fields: minute, hour, day of the month, month, day of the week, such as 0 3 * * *"
    )]
    Fields,
    /// A field that is no field.
    #[error(
        "has {field} for the {name}, which must be * or numbers from {least} to {most}, such as {least}, {least}-{most} or */5"
    )]
    Field {
        /// The field.
        field: String,
        /// Which it is.
        name: &'static str,
        /// Its smallest number.
        least: u32,
        /// Its largest number.
        most: u32,
    },
    /// 30 February.
    #[error("names days that no month has, so it is never due")]
    Never,
}

impl Field {
    fn parse(text: &str, name: &'static str, least: u32, most: u32) -> Result<Self, CronError> {
        let wrong = || CronError::Field {
            field: text.to_owned(),
            name,
            least,
            most,
        };
        let number = |text: &str| {
            let is_number =
                (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            let number = text.parse().ok().filter(|_| is_number);
            number.ok_or_else(wrong)
        };
        let mut bits = 0;
        for item in text.split(',') {
            let (span, step) = match item.split_once('/') {
                Some((span, step)) => (span, Some(number(step)?)),
                None => (item, None),
            };
            let (low, high) = match span.split_once('-') {
                _ if span == "*" => (least, most),
                Some((low, high)) => (number(low)?, number(high)?),
                None if step.is_some() => return Err(wrong()),
                None => (number(span)?, number(span)?),
            };
            if low < least || high > most || low > high || step == Some(0) {
                return Err(wrong());
            }
            let steps = (low..=high).step_by(step.unwrap_or(1) as usize);
            bits |= steps.fold(0, |bits, n| bits | 1 << n);
        }
        let is_any = text.starts_with('*');
        Ok(Self { bits, is_any })
    }

    fn has(self, number: i8) -> bool {
        u32::try_from(number).is_ok_and(|n| self.bits >> n & 1 == 1)
    }

    /// The first number from `from` on that matches.
    fn from(self, from: u32) -> Option<u32> {
        let rest = self.bits.checked_shr(from).filter(|rest| *rest != 0)?;
        Some(from + rest.trailing_zeros())
    }
}

impl Cron {
    /// When it is next due after an instant, both in milliseconds since 1970; none after the year 9999.
    #[must_use]
    pub fn next_after(&self, after_ms: u64) -> Option<u64> {
        let after = i64::try_from(after_ms).ok()?;
        let first = (after / MINUTE_MS + 1).checked_mul(MINUTE_MS)?;
        let first = Offset::UTC.to_datetime(Timestamp::from_millisecond(first).ok()?);
        let (mut date, mut hour, mut minute) = (
            first.date(),
            u32::try_from(first.hour()).ok()?,
            u32::try_from(first.minute()).ok()?,
        );
        for _ in 0..DAYS_MAX {
            if self.has_day(date)
                && let Some((hour, minute)) = self.time_from(hour, minute)
            {
                let hour = i8::try_from(hour).ok()?;
                let minute = i8::try_from(minute).ok()?;
                let due = Offset::UTC.to_timestamp(date.at(hour, minute, 0, 0)).ok()?;
                return u64::try_from(due.as_millisecond()).ok();
            }
            (date, hour, minute) = (date.tomorrow().ok()?, 0, 0);
        }
        None
    }

    fn has_day(&self, date: Date) -> bool {
        let day = self.days.has(date.day());
        let weekday = self.weekdays.has(date.weekday().to_sunday_zero_offset());
        let is_due = if self.days.is_any || self.weekdays.is_any {
            day && weekday
        } else {
            day || weekday
        };
        is_due && self.months.has(date.month())
    }

    /// The first hour and minute of a day that match, not before these.
    fn time_from(&self, hour: u32, minute: u32) -> Option<(u32, u32)> {
        let found = self.hours.from(hour)?;
        let from = if found == hour { minute } else { 0 };
        match self.minutes.from(from) {
            Some(minute) => Some((found, minute)),
            None => Some((self.hours.from(found + 1)?, self.minutes.from(0)?)),
        }
    }
}

impl FromStr for Cron {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Self, CronError> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(CronError::Fields);
        };
        if text.len() > TEXT_BYTES_MAX {
            return Err(CronError::Fields);
        }
        let mut weekdays = Field::parse(weekday, "day of the week", 0, 7)?;
        // Sunday is 0 and 7.
        weekdays.bits |= weekdays.bits >> 7 & 1;
        let cron = Self {
            text: fields.join(" "),
            minutes: Field::parse(minute, "minute", 0, 59)?,
            hours: Field::parse(hour, "hour", 0, 23)?,
            days: Field::parse(day, "day of the month", 1, 31)?,
            months: Field::parse(month, "month", 1, 12)?,
            weekdays,
        };
        cron.next_after(0).map(|_| ()).ok_or(CronError::Never)?;
        Ok(cron)
    }
}

impl TryFrom<String> for Cron {
    type Error = CronError;

    fn try_from(text: String) -> Result<Self, CronError> {
        text.parse()
    }
}

impl From<Cron> for String {
    fn from(cron: Cron) -> Self {
        cron.text
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use base::seeded::Random;

    use super::*;

    fn ms(text: &str) -> u64 {
        let at: Timestamp = text.parse().unwrap();
        at.as_millisecond().try_into().unwrap()
    }

    fn next(cron: &str, after: &str) -> String {
        let cron: Cron = cron.parse().unwrap();
        let due = cron.next_after(ms(after)).unwrap();
        let due = Timestamp::from_millisecond(due.try_into().unwrap()).unwrap();
        due.to_string()
    }

    #[test]
    fn the_next_run_is_found() {
        for (cron, after, due) in [
            ("* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
            (
                "* * * * *",
                "2026-01-01T00:00:59.999Z",
                "2026-01-01T00:01:00Z",
            ),
            ("0 3 * * *", "2026-01-01T02:59:59Z", "2026-01-01T03:00:00Z"),
            ("0 3 * * *", "2026-01-01T03:00:00Z", "2026-01-02T03:00:00Z"),
            (
                "30 23 31 12 *",
                "2026-12-31T23:30:00Z",
                "2027-12-31T23:30:00Z",
            ),
            (
                "*/15 8-9 * * *",
                "2026-03-01T09:45:00Z",
                "2026-03-02T08:00:00Z",
            ),
            (
                "5,50 * * * *",
                "2026-03-01T09:05:00Z",
                "2026-03-01T09:50:00Z",
            ),
            ("0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"),
            // 2026-11-23 is a Monday.
            ("0 12 * * 1", "2026-11-23T12:00:00Z", "2026-11-30T12:00:00Z"),
            ("0 12 * * 7", "2026-11-23T12:00:00Z", "2026-11-29T12:00:00Z"),
            ("0 12 * * 0", "2026-11-23T12:00:00Z", "2026-11-29T12:00:00Z"),
            (
                "0 12 24 * 5",
                "2026-11-23T12:00:00Z",
                "2026-11-24T12:00:00Z",
            ),
            (
                "0 12 24 * 5",
                "2026-11-24T12:00:00Z",
                "2026-11-27T12:00:00Z",
            ),
            (
                "0 12 */2 * 1",
                "2026-11-23T12:00:00Z",
                "2026-12-07T12:00:00Z",
            ),
            (
                "59 23 28-31 * *",
                "2026-02-28T23:59:00Z",
                "2026-03-28T23:59:00Z",
            ),
        ] {
            assert_eq!(next(cron, after), due, "{cron} after {after}");
        }
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for bad in [
            "",
            "* * * *",
            "* * * * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "* * * * 8",
            "*/0 * * * *",
            "5-1 * * * *",
            "1/5 * * * *",
            "-1 * * * *",
            "+1 * * * *",
            "a * * * *",
            ", * * * *",
            "*-5 * * * *",
            "** * * * *",
            "@daily",
            "0 0 30 2 *",
            "0 0 31 4,6,9,11 *",
            "001 * * * *",
        ] {
            assert!(bad.parse::<Cron>().is_err(), "{bad}");
        }
        let error = "61 * * * *".parse::<Cron>().unwrap_err().to_string();
        assert!(error.contains("has 61 for the minute"), "{error}");
        assert_eq!(
            "0 3  *\t* *".parse::<Cron>().unwrap().to_string(),
            "0 3 * * *"
        );
    }

    #[test]
    fn runs_are_whole_minutes_and_at_least_one_apart() {
        let mut random = Random(7);
        let mut field = |least: u64, most: u64| match random.below(4) {
            0 => "*".to_owned(),
            1 => format!("*/{}", 1 + random.below(most)),
            _ => format!("{}", least + random.below(most - least + 1)),
        };
        for _ in 0..300 {
            let text = [(0, 59), (0, 23), (1, 28), (1, 12), (0, 7)]
                .map(|(l, m)| field(l, m))
                .join(" ");
            let cron: Cron = text.parse().unwrap();
            let mut at = ms("2026-01-01T00:00:30Z");
            for _ in 0..5 {
                let due = cron.next_after(at).unwrap();
                assert!(due > at && due.is_multiple_of(60_000), "{text}");
                at = due;
            }
        }
        assert_eq!(
            "* * * * *".parse::<Cron>().unwrap().next_after(u64::MAX),
            None
        );
    }
}

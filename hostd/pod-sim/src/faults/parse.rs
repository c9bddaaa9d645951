//! Faults as they are written on a command line: `KIND[=VALUE][@WHEN][:TIME]`.

use std::str::FromStr;
use std::time::Duration;

use super::{Fault, Link, RATE_MIN, STALL_MAX, When};

/// All forms, one per line, as shown in help texts and documentation.
pub const FAULT_FORMS: &str = "\
unplug@WHEN[:TIME]         all connections end; for TIME, or for ever, none can be opened
reset@WHEN                 connections are reset instead of closed
stall@WHEN[:TIME]          nothing more is sent, for TIME (at most 25s) or for ever
reboot@WHEN                the pod restarts and is away for 1.5 s
garbage[=before]@N         line N that the pod sends is noise; with `before`, noise comes before it
slow=RATE[+TIME]           the link carries RATE, such as 2000B/s, and answers TIME later
firmware=X.Y.Z             the pod announces other firmware and lacks what came later
brownout=RAIL@TIME:TIME    the input of power rail 1 or 2 dips: when, and for how long
short=RAIL@TIME:TIME       the output of power rail 1 or 2 is shorted: when, and for how long
WHEN is a TIME since the start, such as 5s or 200ms, or a number of bytes that the pod has sent on
one connection, such as 1000B.";

/// Why a fault cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// There is no such kind.
    #[error("there is no fault `{0}`; the forms are:\n{FAULT_FORMS}")]
    Kind(String),
    /// The kind is known, but the rest is wrong.
    #[error("`{text}` is not of the form {form}; {problem}")]
    Form {
        /// The text given.
        text: String,
        /// The form of its kind.
        form: &'static str,
        /// What is wrong.
        problem: Problem,
    },
}

/// What is wrong with a part of a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The part after `@` is missing or wrong.
    #[error("WHEN is a time such as 5s or 200ms, or bytes such as 1000B")]
    When,
    /// A time is missing or wrong.
    #[error("a TIME is a number with its unit, such as 1.5s or 200ms")]
    Time,
    /// The stall would end too late.
    #[error("a stall that ends lasts at most {} s", STALL_MAX.as_secs())]
    Stall,
    /// The line number is missing or wrong.
    #[error("N is a line number from 1")]
    Line,
    /// The rate is missing or wrong.
    #[error("RATE is at least {RATE_MIN}B/s")]
    Rate,
    /// There is no such rail.
    #[error("RAIL is 1 or 2")]
    Rail,
    /// Not a version.
    #[error("X.Y.Z is a version such as 3.4.0")]
    Version,
    /// A part that this kind does not take.
    #[error("it has a part too many")]
    Surplus,
}

/// The parts of a fault's text.
struct Parts<'a> {
    kind: &'a str,
    value: Option<&'a str>,
    at: Option<&'a str>,
    lasts: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn new(text: &'a str) -> Self {
        let (head, tail) = split(text, '@');
        let (at, lasts) = tail.map_or((None, None), |tail| {
            let (at, lasts) = split(tail, ':');
            (Some(at), lasts)
        });
        let (kind, value) = split(head, '=');
        Self {
            kind,
            value,
            at,
            lasts,
        }
    }

    fn when(&self) -> Result<When, Problem> {
        let text = self.at.ok_or(Problem::When)?;
        if let Some(bytes) = text.strip_suffix('B') {
            return bytes.parse().map(When::Sent).map_err(|_| Problem::When);
        }
        time(text).map(When::Time).map_err(|_| Problem::When)
    }

    fn lasts(&self) -> Result<Option<Duration>, Problem> {
        self.lasts.map(time).transpose()
    }

    fn without(&self, parts: &[Option<&str>]) -> Result<(), Problem> {
        if parts.iter().any(Option::is_some) {
            return Err(Problem::Surplus);
        }
        Ok(())
    }
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at)
        .map_or((text, None), |(head, tail)| (head, Some(tail)))
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = Parts::new(text);
        let read = match parts.kind {
            "unplug" => unplug(&parts),
            "reset" => at_only(&parts).map(|at| Self::Reset { at }),
            "stall" => stall(&parts),
            "reboot" => at_only(&parts).map(|at| Self::Reboot { at }),
            "garbage" => garbage(&parts),
            "slow" => slow(&parts),
            "firmware" => firmware(&parts),
            "brownout" => {
                on_rail(&parts).map(|(rail, at, lasts)| Self::BrownOut { rail, at, lasts })
            }
            "short" => on_rail(&parts).map(|(rail, at, lasts)| Self::Short { rail, at, lasts }),
            kind => return Err(FaultError::Kind(kind.to_owned())),
        };
        read.map_err(|problem| FaultError::Form {
            text: text.to_owned(),
            form: form(parts.kind),
            problem,
        })
    }
}

/// The form of a kind that exists.
fn form(kind: &str) -> &'static str {
    let line = FAULT_FORMS.lines().find(|line| line.starts_with(kind));
    let line = line.expect("every kind has its line");
    line.split_once(' ').map_or(line, |(form, _)| form)
}

fn unplug(parts: &Parts<'_>) -> Result<Fault, Problem> {
    parts.without(&[parts.value])?;
    Ok(Fault::Unplug {
        at: parts.when()?,
        lasts: parts.lasts()?,
    })
}

fn at_only(parts: &Parts<'_>) -> Result<When, Problem> {
    parts.without(&[parts.value, parts.lasts])?;
    parts.when()
}

fn stall(parts: &Parts<'_>) -> Result<Fault, Problem> {
    parts.without(&[parts.value])?;
    let lasts = parts.lasts()?;
    if lasts.is_some_and(|time| time > STALL_MAX) {
        return Err(Problem::Stall);
    }
    let at = parts.when()?;
    Ok(Fault::Stall { at, lasts })
}

fn garbage(parts: &Parts<'_>) -> Result<Fault, Problem> {
    parts.without(&[parts.lasts])?;
    let line = parts.at.and_then(|text| text.parse().ok());
    let line = line.filter(|line| *line > 0).ok_or(Problem::Line)?;
    let instead = match parts.value {
        None => true,
        Some("before") => false,
        Some(_) => return Err(Problem::Surplus),
    };
    Ok(Fault::Garbage { line, instead })
}

fn slow(parts: &Parts<'_>) -> Result<Fault, Problem> {
    parts.without(&[parts.at, parts.lasts])?;
    let (rate, latency) = split(parts.value.ok_or(Problem::Rate)?, '+');
    let rate = rate.strip_suffix("B/s").and_then(|rate| rate.parse().ok());
    let rate = rate.filter(|rate| *rate >= RATE_MIN).ok_or(Problem::Rate)?;
    Ok(Fault::Slow(Link {
        bytes_per_s: Some(rate),
        latency: latency.map(time).transpose()?.unwrap_or_default(),
    }))
}

fn firmware(parts: &Parts<'_>) -> Result<Fault, Problem> {
    parts.without(&[parts.at, parts.lasts])?;
    let version = parts.value.and_then(|value| value.parse().ok());
    version.map(Fault::Firmware).ok_or(Problem::Version)
}

/// Which rail, when, for how long.
fn on_rail(parts: &Parts<'_>) -> Result<(u8, Duration, Duration), Problem> {
    let rail = parts.value.and_then(|value| value.parse().ok());
    let rail = rail
        .filter(|rail| (1..=2).contains(rail))
        .ok_or(Problem::Rail)?;
    let at = parts.at.map(time).ok_or(Problem::Time)??;
    let lasts = parts.lasts()?.ok_or(Problem::Time)?;
    Ok((rail, at, lasts))
}

/// Reads `1.5s`, `200ms`, `2m` or `1h`.
///
/// # Errors
/// [`Problem::Time`] for anything else.
pub fn time(text: &str) -> Result<Duration, Problem> {
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let found = units
        .into_iter()
        .find_map(|(unit, unit_s)| Some((text.strip_suffix(unit)?, unit_s)));
    let (number, unit_s) = found.ok_or(Problem::Time)?;
    let plain = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number: f64 = number.parse().map_err(|_| Problem::Time)?;
    if !plain {
        return Err(Problem::Time);
    }
    Duration::try_from_secs_f64(number * unit_s).map_err(|_| Problem::Time)
}

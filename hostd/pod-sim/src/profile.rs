//! Power profiles: the target's current and voltage, sampled over time and summarised.
//!
//! A profile is a window of time. Its samples are computed when it is read, from the rail's
//! history.

use serde_json::{Map, Value, json};

use super::args::Args;
use super::rails::Rails;
use super::refuse::Refuse;

const RATE_HZ: std::ops::RangeInclusive<i64> = 100..=500;
const DEFAULT_RATE_HZ: u64 = 500;
const KEEP_MAX: i64 = 4096;
const DURATION_MS: std::ops::RangeInclusive<i64> = 1..=600_000;
const DEFAULT_DURATION_MS: u64 = 60_000;

/// Number of entries in one line of the result.
const LINE_ENTRIES: usize = 256;

/// A profile that is running, or that has ended but was not read.
#[derive(Debug, Clone)]
pub(crate) struct Profile {
    efuse: u8,
    rate_hz: u64,
    keep: usize,
    start_ns: u64,
    /// When it ends by itself.
    limit_ns: u64,
}

/// How a `power_profile` command continues.
pub(crate) enum Asked {
    Reply(Value),
    /// Wait until this instant, then read.
    Wait {
        end_ns: u64,
    },
    /// Read now.
    Read,
}

impl Profile {
    pub(crate) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    fn end_ns(&self, now_ns: u64) -> u64 {
        now_ns.min(self.limit_ns)
    }

    fn is_running(&self, now_ns: u64) -> bool {
        now_ns < self.limit_ns
    }

    /// Number of samples from the start to an instant.
    fn samples(&self, end_ns: u64) -> u64 {
        (end_ns - self.start_ns) * self.rate_hz / 1_000_000_000
    }

    fn sample_ns(&self, index: u64) -> u64 {
        self.start_ns + index * 1_000_000_000 / self.rate_hz
    }

    fn report(&self, now_ns: u64) -> Value {
        let end_ns = self.end_ns(now_ns);
        json!({"running": self.is_running(now_ns), "efuse": self.efuse,
            "elapsed_ms": (end_ns - self.start_ns) / 1_000_000, "n": self.samples(end_ns)})
    }
}

/// `power_profile`: a single shot, or start, status and stop.
pub(crate) fn power_profile(
    current: &mut Option<Profile>,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Asked, Refuse> {
    match args.text("action")? {
        None => {
            let duration = args.uint("duration_ms", DURATION_MS)?;
            let profile = from_args(args, duration.unwrap_or(DEFAULT_DURATION_MS), now_ns)?;
            let end_ns = profile.limit_ns;
            start(current, profile, now_ns)?;
            Ok(Asked::Wait { end_ns })
        }
        Some("start") => {
            let duration = args.uint("max_duration_ms", DURATION_MS)?;
            let profile = from_args(args, duration.unwrap_or(DEFAULT_DURATION_MS), now_ns)?;
            let reply =
                json!({"started": true, "efuse": profile.efuse, "rate_hz": profile.rate_hz});
            start(current, profile, now_ns)?;
            Ok(Asked::Reply(reply))
        }
        Some("status") => Ok(Asked::Reply(match current {
            Some(profile) => profile.report(now_ns),
            None => json!({"running": false, "efuse": 0, "elapsed_ms": 0, "n": 0}),
        })),
        Some("stop") if current.is_some() => Ok(Asked::Read),
        Some("stop") => Err(Refuse::NoProfile),
        Some(_) => Err(Refuse::Bad {
            field: "action",
            want: "start, status or stop",
        }),
    }
}

fn from_args(args: &Args<'_>, duration_ms: u64, now_ns: u64) -> Result<Profile, Refuse> {
    Ok(Profile {
        efuse: args.uint("efuse", 1..=2)?.unwrap_or(1),
        rate_hz: args.uint("rate_hz", RATE_HZ)?.unwrap_or(DEFAULT_RATE_HZ),
        keep: args.uint("keep_samples", 0..=KEEP_MAX)?.unwrap_or(0),
        start_ns: now_ns,
        limit_ns: now_ns + duration_ms * 1_000_000,
    })
}

fn start(current: &mut Option<Profile>, profile: Profile, now_ns: u64) -> Result<(), Refuse> {
    let running = current.as_ref();
    if running.is_some_and(|profile| profile.is_running(now_ns)) {
        return Err(Refuse::ProfileRuns);
    }
    *current = Some(profile);
    Ok(())
}

/// The lines of a result: entries in parallel arrays, with the totals in the last line.
pub(crate) fn result(profile: &Profile, rails: &Rails, now_ns: u64) -> Vec<Map<String, Value>> {
    let end_ns = profile.end_ns(now_ns);
    let count = profile.samples(end_ns).max(1);
    let readings: Vec<(i64, i64)> = (0..count)
        .map(|index| rails.monitor(profile.efuse, profile.sample_ns(index)))
        .collect();
    // Neighbours are averaged in pairs until they fit, so every entry stands for the same number of
    // samples.
    let mut bin = 1;
    while profile.keep > 0 && readings.len().div_ceil(bin) > profile.keep {
        bin *= 2;
    }
    let bins: Vec<&[(i64, i64)]> = match profile.keep {
        0 => Vec::new(),
        _ => readings.chunks(bin).collect(),
    };
    let mean = |bin: &[(i64, i64)], of: fn(&(i64, i64)) -> i64| {
        bin.iter().map(of).sum::<i64>() / i64::try_from(bin.len()).expect("at most 300000")
    };
    let mut lines = Vec::new();
    for (part, bins) in bins.chunks(LINE_ENTRIES).enumerate() {
        let first = part * LINE_ENTRIES;
        let times = (first..first + bins.len())
            .map(|entry| (profile.sample_ns((entry * bin) as u64) - profile.start_ns) / 1_000);
        let mut line = Map::new();
        line.insert("t_us".to_owned(), times.collect());
        let bus: Value = bins.iter().map(|bin| mean(bin, |(mv, _)| *mv)).collect();
        let current: Value = bins.iter().map(|bin| mean(bin, |(_, ua)| *ua)).collect();
        line.insert("bus_mv".to_owned(), bus);
        line.insert("current_ua".to_owned(), current);
        lines.push(line);
    }
    if lines.is_empty() {
        lines.push(Map::new());
    }
    let last = lines.len() - 1;
    lines[last].insert(
        "stats".to_owned(),
        stats(profile, &readings, end_ns, now_ns),
    );
    for (index, line) in lines.iter_mut().enumerate() {
        let status = if index == 0 { "ok" } else { "chunk" };
        line.insert("status".to_owned(), status.into());
        line.insert("more".to_owned(), (index < last).into());
    }
    lines
}

fn stats(profile: &Profile, readings: &[(i64, i64)], end_ns: u64, now_ns: u64) -> Value {
    let count = i64::try_from(readings.len()).expect("at most 300000");
    let elapsed_us = i64::try_from((end_ns - profile.start_ns) / 1_000).expect("at most 600 s");
    let mv = || readings.iter().map(|(mv, _)| *mv);
    let ua = || readings.iter().map(|(_, ua)| *ua);
    let power_nw: i64 = readings.iter().map(|(mv, ua)| mv * ua).sum::<i64>() / count;
    let avg_ua = ua().sum::<i64>() / count;
    let per_second = |value: i64| i128::from(value) * i128::from(elapsed_us) / 1_000_000;
    json!({"efuse": profile.efuse, "rate_hz": profile.rate_hz, "adc_rate_hz": profile.rate_hz,
        "n": count, "duration_ms": elapsed_us / 1_000, "avg_ua": avg_ua, "min_ua": ua().min(),
        "peak_ua": ua().max(), "avg_mv": mv().sum::<i64>() / count, "min_mv": mv().min(),
        "max_mv": mv().max(),
        "energy_uj": i64::try_from(per_second(power_nw) / 1_000).unwrap_or(i64::MAX),
        "charge_uc": i64::try_from(per_second(avg_ua)).unwrap_or(i64::MAX),
        "fault": false, "truncated": now_ns > end_ns})
}

#[cfg(test)]
mod tests;

//! Judges how a server treated its honest callers during an attack: how long they waited with and
//! without the attack, which of their requests failed, and how much memory the server took.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// How much longer the slowest hundredth of a deed may take beside an attack.
pub const RATIO_MAX: f64 = 3.0;

/// Most memory that the server may hold, during an attack and after it, in MiB, unless an attack says otherwise.
pub const RESIDENT_MIB_MAX: u64 = 120;

/// A slowest hundredth below this is quick enough, whatever it is without the attack: on a machine with two processors, a
/// caller who waits for one waits so long.
pub const QUICK: Duration = Duration::from_millis(20);

/// With fewer samples than this, the slowest hundredth would be a single sample.
pub const SAMPLES_MIN: usize = 100;

/// Results of one kind of deed in some slices of time.
#[derive(Debug, Default, Clone)]
pub struct Samples {
    waits: Vec<Duration>,
    errors: BTreeMap<String, u32>,
}

impl Samples {
    /// A deed that succeeded after this long, or one that was still waiting then.
    pub fn waited(&mut self, time: Duration) {
        self.waits.push(time);
    }

    /// A deed that failed.
    pub fn failed(&mut self, why: &str) {
        *self.errors.entry(why.to_owned()).or_default() += 1;
    }

    /// Add the samples of another slice.
    pub fn join(&mut self, other: Self) {
        self.waits.extend(other.waits);
        for (why, count) in other.errors {
            *self.errors.entry(why).or_default() += count;
        }
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.waits.len()
    }

    #[must_use]
    pub fn errors(&self) -> u32 {
        self.errors.values().sum()
    }

    /// The wait that `percent` of all deeds did not exceed, by nearest rank; none without deeds.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> Option<Duration> {
        let mut sorted = self.waits.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied()
    }

    fn why(&self) -> String {
        let each = self.errors.iter();
        let each: Vec<String> = each
            .map(|(why, count)| format!("{count} × {why}"))
            .collect();
        each.join(", ")
    }
}

/// One kind of deed, with and without an attack.
#[derive(Debug, Default, Clone)]
pub struct Deed {
    pub name: &'static str,
    /// A slowest hundredth that is quick enough in any case.
    pub quick: Duration,
    pub alone: Samples,
    pub beside: Samples,
}

impl Deed {
    /// How many times longer the slowest hundredth takes beside the attack.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let alone = self.alone.percentile(99)?.as_secs_f64();
        let beside = self.beside.percentile(99)?.as_secs_f64();
        (alone > 0.0).then(|| beside / alone)
    }
}

/// Memory of the server, in MiB.
#[derive(Debug, Default, Clone, Copy)]
pub struct Resident {
    pub before: u64,
    pub peak: u64,
    pub settled: u64,
    /// Most that is allowed.
    pub most: u64,
}

/// One attack and what it did.
#[derive(Debug, Default)]
pub struct Trial {
    pub deeds: Vec<Deed>,
    pub resident: Resident,
    /// What the attacker met, for people.
    pub met: String,
    /// Complaints of the attack itself.
    pub complaints: Vec<String>,
}

/// Whether latency is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// A long run: the slowest hundredth counts.
    Judged,
    /// A short run on a machine with other work: only what noise cannot cause counts.
    Shown,
}

impl Trial {
    /// Every reason why the server did not withstand the attack.
    #[must_use]
    pub fn faults(&self, clock: Clock) -> Vec<String> {
        let mut faults = Vec::new();
        for deed in &self.deeds {
            faults.extend(deed_faults(deed, clock));
        }
        let Resident {
            peak,
            settled,
            most,
            ..
        } = self.resident;
        if peak.max(settled) > most {
            faults.push(format!(
                "{peak} MiB resident, {settled} afterwards; {most} are allowed"
            ));
        }
        faults.extend(self.complaints.iter().cloned());
        faults
    }

    /// The report's lines about it.
    #[must_use]
    pub fn table(&self, clock: Clock) -> String {
        let mut table = String::new();
        for deed in &self.deeds {
            row(&mut table, deed);
        }
        let Resident {
            before,
            peak,
            settled,
            ..
        } = self.resident;
        let line = format!(
            "  resident {before}, {peak} at most, then {settled} MiB; {}",
            self.met
        );
        table.push_str(&line);
        table.push('\n');
        let faults = self.faults(clock);
        if faults.is_empty() {
            table.push_str("  withstood\n");
        }
        for fault in faults {
            table.push_str("  FAILED: ");
            table.push_str(&fault);
            table.push('\n');
        }
        table
    }
}

/// The header line of [`Trial::table`].
#[must_use]
pub fn heading() -> String {
    format!(
        "  {:<10}{:>7}{:>9}{:>9}{:>7}{:>9}{:>9}{:>7}{:>8}\n",
        "deed", "alone", "p50 ms", "p99 ms", "beside", "p50 ms", "p99 ms", "ratio", "failed"
    )
}

fn row(table: &mut String, deed: &Deed) {
    let ms = |samples: &Samples, percent| match samples.percentile(percent) {
        Some(wait) => format!("{:.1}", wait.as_secs_f64() * 1e3),
        None => "-".to_owned(),
    };
    let ratio = deed.ratio().map_or("-".to_owned(), |r| format!("{r:.1}"));
    // Writing to a string cannot fail.
    let _ = writeln!(
        table,
        "  {:<10}{:>7}{:>9}{:>9}{:>7}{:>9}{:>9}{ratio:>7}{:>8}",
        deed.name,
        deed.alone.count(),
        ms(&deed.alone, 50),
        ms(&deed.alone, 99),
        deed.beside.count(),
        ms(&deed.beside, 50),
        ms(&deed.beside, 99),
        deed.beside.errors(),
    );
}

fn deed_faults(deed: &Deed, clock: Clock) -> Vec<String> {
    let mut faults = Vec::new();
    let name = deed.name;
    if deed.alone.errors() > 0 {
        faults.push(format!(
            "{name} failed without an attack: {}",
            deed.alone.why()
        ));
    }
    if deed.beside.errors() > 0 {
        faults.push(format!("{name} failed: {}", deed.beside.why()));
    }
    if deed.beside.count() == 0 {
        faults.push(format!("{name} never succeeded beside the attack"));
    }
    let enough = deed.alone.count().min(deed.beside.count()) >= SAMPLES_MIN;
    let is_quick = deed.beside.percentile(99) <= Some(deed.quick);
    let too_slow = deed.ratio().filter(|ratio| !is_quick && *ratio > RATIO_MAX);
    if let (Clock::Judged, true, Some(ratio)) = (clock, enough, too_slow) {
        faults.push(format!(
            "{name} took {ratio:.1} times as long in its slowest hundredth; {RATIO_MAX} are allowed"
        ));
    }
    faults
}

#[cfg(test)]
mod tests;

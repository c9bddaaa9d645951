//! Table of measurements: what steps of jobs measured. They outlive their job, so that a trend reaches back further than
//! reports; of an organisation with too many the oldest go first, and are counted.

use std::ops::{Bound, ControlFlow};

use serde::{Deserialize, Serialize};

use super::records::{Pairs, Records, pair};
use super::snapshot::{Range, Source};
use super::{StoreError, Writing};

pub(super) const TABLES: [&str; 2] = ["measurements", "measurement_counts"];

/// Measurements that are kept of an organisation.
pub const KEPT_MAX: u64 = 100_000;

/// Measurements that are kept of a job.
pub const JOB_MAX: u32 = 10_000;

/// `org/id` to measurement; ids sort by the job, and in it by the attempt and the order in which they came.
const ALL: Records<Measurement> = Records::new(TABLES[0]);

/// Organisation to how many it has.
const COUNTS: Records<Counts> = Records::new(TABLES[1]);

/// Something that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// ULID of the job.
    pub job: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Among those of the attempt, from 0.
    pub number: u32,
    /// Id of the run: `smoke.f0`.
    pub run: String,
    /// What people call the step.
    pub step: String,
    /// Branch or tag of the job.
    pub r#ref: Option<String>,
    /// Id of the device; none for a build.
    pub device: Option<String>,
    /// What the device was called.
    pub device_name: Option<String>,
    /// Serial number of the board, if a step named it.
    pub serial: Option<String>,
    /// What was measured.
    pub name: String,
    /// In `unit`; finite.
    pub value: f64,
    /// Empty if it has none.
    pub unit: String,
    /// The lowest value that passes.
    pub low: Option<f64>,
    /// The highest value that passes.
    pub high: Option<f64>,
    /// When the attempt ended.
    pub at_ms: u64,
}

/// How many measurements an organisation has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    kept: u64,
    forgotten: u64,
}

impl Measurement {
    /// Its place in lists: the oldest job's first.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}-{:05}-{:05}", self.job, self.attempt, self.number)
    }
}

/// Visit the measurements of an organisation, the newest job's first, those before the one with the id `before` if that is
/// given, until `visit` breaks. One that cannot be read is left out.
///
/// # Errors
/// The storage failed.
pub fn newest_first(
    from: &impl Source,
    org: &str,
    before: Option<&str>,
    mut visit: impl FnMut(Measurement) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let keys = Pairs::before(org, before);
    ALL.each_readable(from, keys.backwards(), |_, found| visit(found))
}

/// Visit those of one job in the same order.
///
/// # Errors
/// The storage failed.
pub fn newest_of_job(
    from: &impl Source,
    (org, job): (&str, &str),
    before: Option<&str>,
    mut visit: impl FnMut(Measurement) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let (low, high) = of_job(org, job);
    let high = match before {
        Some(before) => pair(org, before).min(high),
        None => high,
    };
    if high <= low {
        return Ok(());
    }
    let range = Range {
        from: Bound::Included(&low),
        to: Bound::Excluded(&high),
        backwards: true,
    };
    ALL.each_readable(from, range, |_, found| visit(found))
}

/// The first measurements of a job, at most `count_max`.
///
/// # Errors
/// The storage failed.
pub fn first_of_job(
    from: &impl Source,
    (org, job): (&str, &str),
    count_max: usize,
) -> Result<Vec<Measurement>, StoreError> {
    let (low, high) = of_job(org, job);
    let range = Range {
        from: Bound::Included(&low),
        to: Bound::Excluded(&high),
        backwards: false,
    };
    let mut all = Vec::new();
    if count_max == 0 {
        return Ok(all);
    }
    ALL.each_readable(from, range, |_, found| {
        all.push(found);
        match all.len() < count_max {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    Ok(all)
}

/// How many of an organisation's gave way to newer ones.
///
/// # Errors
/// The storage failed.
pub fn forgotten(from: &impl Source, org: &str) -> Result<u64, StoreError> {
    let counts = COUNTS.get_readable(from, org)?;
    Ok(counts.unwrap_or_default().forgotten)
}

/// The keys of a job's: `.` follows `-` in ASCII.
fn of_job(org: &str, job: &str) -> (String, String) {
    (format!("{org}/{job}-"), format!("{org}/{job}."))
}

/// Keeps measurements of an organisation, and no more than [`KEPT_MAX`] of all.
pub(super) fn add(
    w: &Writing<'_>,
    org: &str,
    measurements: &[Measurement],
) -> Result<(), StoreError> {
    add_within(w, org, measurements, KEPT_MAX)
}

fn add_within(
    w: &Writing<'_>,
    org: &str,
    measurements: &[Measurement],
    kept_max: u64,
) -> Result<(), StoreError> {
    let mut counts = match COUNTS.get_readable(w, org)? {
        Some(counts) => counts,
        None => Counts {
            kept: count(w, org)?,
            forgotten: 0,
        },
    };
    for measured in measurements {
        let key = pair(org, &measured.id());
        if ALL.get_found(w, &key)?.is_none() {
            counts.kept += 1;
        }
        ALL.put(w, &key, measured)?;
    }
    let oldest = oldest(w, org, counts.kept.saturating_sub(kept_max))?;
    for key in &oldest {
        ALL.remove(w, key)?;
    }
    let gone = oldest.len() as u64;
    counts.kept = counts.kept.saturating_sub(gone);
    counts.forgotten = counts.forgotten.saturating_add(gone);
    COUNTS.put(w, org, &counts)
}

/// Keys of so many that are the oldest.
fn oldest(from: &impl Source, org: &str, excess: u64) -> Result<Vec<String>, StoreError> {
    let mut found = Vec::new();
    if excess == 0 {
        return Ok(found);
    }
    let keys = Pairs::of(org);
    ALL.each_found(from, keys.forwards(), |key, _| {
        found.push(key.to_owned());
        match (found.len() as u64) < excess {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    Ok(found)
}

fn count(from: &impl Source, org: &str) -> Result<u64, StoreError> {
    let keys = Pairs::of(org);
    let mut count = 0;
    ALL.each_found(from, keys.forwards(), |_, _| {
        count += 1;
        ControlFlow::Continue(())
    })?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    const JOBS: [&str; 2] = ["01JGZ5V9T3N8W2K4Q7R6D1M0XA", "01JGZ5V9T3N8W2K4Q7R6D1M0XB"];

    fn measured(job: &str, attempt: u32, number: u32) -> Measurement {
        Measurement {
            job: job.to_owned(),
            attempt,
            number,
            run: "smoke".to_owned(),
            step: "measure".to_owned(),
            r#ref: None,
            device: None,
            device_name: None,
            serial: None,
            name: "rail".to_owned(),
            value: f64::from(number),
            unit: "V".to_owned(),
            low: None,
            high: None,
            at_ms: 7,
        }
    }

    async fn add(store: &Store, org: &'static str, all: Vec<Measurement>, kept_max: u64) {
        let added = store.write(move |w| add_within(w, org, &all, kept_max));
        added.await.unwrap();
    }

    fn ids(store: &Store, org: &str, before: Option<&str>) -> Vec<String> {
        let mut ids = Vec::new();
        newest_first(&store.snapshot().unwrap(), org, before, |found| {
            ids.push(found.id());
            ControlFlow::Continue(())
        })
        .unwrap();
        ids
    }

    #[tokio::test]
    async fn newest_come_first_and_each_organisation_has_its_own() {
        let store = Store::in_memory().unwrap();
        let all = vec![
            measured(JOBS[1], 1, 0),
            measured(JOBS[0], 2, 0),
            measured(JOBS[0], 1, 0),
            measured(JOBS[0], 1, 1),
        ];
        add(&store, "o", all, 100).await;
        add(&store, "p", vec![measured(JOBS[0], 1, 7)], 100).await;
        let [a, b] = JOBS;
        let whole = ids(&store, "o", None);
        let wanted = [
            format!("{b}-00001-00000"),
            format!("{a}-00002-00000"),
            format!("{a}-00001-00001"),
            format!("{a}-00001-00000"),
        ];
        assert_eq!(whole, wanted);
        assert_eq!(ids(&store, "o", Some(&wanted[1])), wanted[2..]);
        assert_eq!(ids(&store, "p", None).len(), 1);
        let snapshot = store.snapshot().unwrap();
        let mut of_job = Vec::new();
        newest_of_job(&snapshot, ("o", a), Some(&wanted[1]), |found| {
            of_job.push(found.id());
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(of_job, wanted[2..]);
        newest_of_job(&snapshot, ("o", b), Some(&wanted[2]), |_| panic!("behind")).unwrap();
        let first = first_of_job(&snapshot, ("o", a), 2).unwrap();
        assert_eq!(first.len(), 2);
        assert_eq!(first[0].id(), wanted[3]);
    }

    #[tokio::test]
    async fn the_oldest_give_way_and_are_counted() {
        let store = Store::in_memory().unwrap();
        let of = |job: &str, count: u32| (0..count).map(|n| measured(job, 1, n)).collect();
        add(&store, "o", of(JOBS[0], 5), 6).await;
        // The same once more, as when a write is repeated.
        add(&store, "o", of(JOBS[0], 5), 6).await;
        assert_eq!(ids(&store, "o", None).len(), 5);
        add(&store, "o", of(JOBS[1], 4), 6).await;
        let left = ids(&store, "o", None);
        assert_eq!(left.len(), 6);
        assert!(left[5].starts_with(JOBS[0]) && left[5].ends_with("-00003"));
        let snapshot = store.snapshot().unwrap();
        assert_eq!(forgotten(&snapshot, "o").unwrap(), 3);
        assert_eq!(forgotten(&snapshot, "p").unwrap(), 0);
    }
}

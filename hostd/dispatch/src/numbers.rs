//! What jobs of an organisation measured: listed, and what all values of a name come to.

use std::collections::HashMap;
use std::ops::ControlFlow;

use base::clock;
use evidence::measurement::{Statistics, Tally};
use store::StoreError;
use store::jobs::Job;
use store::measurements::{self, Measurement};

use crate::error::JobError;
use crate::service::{Jobs, Submitter};

/// Names of which one answer says what they come to.
pub const NAMES_MAX: usize = 200;

/// Measurements that the record of a job has.
pub const OF_JOB_MAX: usize = 200;

/// Which measurements are wanted; none: any.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// What was measured.
    pub name: Option<String>,
    /// Id of the device, or what it was called then.
    pub device: Option<String>,
    /// Serial number of the board.
    pub serial: Option<String>,
    /// Id of the job.
    pub job: Option<String>,
    /// Branch or tag.
    pub r#ref: Option<String>,
    /// From then on: RFC 3339 in UTC, whole seconds or a day.
    pub since: Option<String>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Numbers {
    /// The newest job's first.
    pub measurements: Vec<Measurement>,
    /// There are more behind the last one.
    pub has_more: bool,
    /// What all values of each name come to, the one that was measured last first. Of the first page alone.
    pub names: Vec<Named>,
    /// There are more names than are told.
    pub has_more_names: bool,
    /// How many of the organisation's gave way to newer ones.
    pub forgotten: u64,
}

/// What all values of one name and unit come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// What was measured.
    pub name: String,
    /// Empty if it has none.
    pub unit: String,
    /// The limits that it had last.
    pub low: Option<f64>,
    /// See `low`.
    pub high: Option<f64>,
    /// What they come to with these limits.
    pub statistics: Statistics,
}

impl Jobs {
    /// Measurements of an organisation, at most `limit`, those behind the one with the id `before` if that is given.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn measurements(
        &self,
        by: &Submitter,
        wanted: Wanted,
        limit: usize,
        before: Option<String>,
    ) -> Result<Numbers, JobError> {
        // All that is kept may be looked at, which takes a part of a second.
        let place = self.turns.read(by).await?;
        let org = by.org.clone();
        let read = self.store.read(move |s| {
            // It is held until the look has ended, though the caller may have left.
            let _place = place;
            let (job, before) = (wanted.job.clone(), before.as_deref());
            let mut looking = Looking::new(wanted, limit, before.is_none());
            let visit = |found: Measurement| looking.see(found);
            match job {
                Some(job) => measurements::newest_of_job(s, (&org, &job), before, visit),
                None => measurements::newest_first(s, &org, before, visit),
            }?;
            let forgotten = measurements::forgotten(s, &org)?;
            Ok::<_, StoreError>(looking.found(forgotten))
        });
        Ok(read.await?)
    }

    /// The first measurements of a job.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn measured(&self, job: &Job) -> Result<Vec<Measurement>, JobError> {
        if job.attempts.iter().all(|attempt| attempt.measured == 0) {
            return Ok(Vec::new());
        }
        let (org, job) = (job.org.clone(), job.id.clone());
        let read = self
            .store
            .read(move |s| measurements::first_of_job(s, (&org, &job), OF_JOB_MAX));
        Ok(read.await?)
    }
}

/// A look at measurements, the newest job's first.
struct Looking {
    wanted: Wanted,
    limit: usize,
    /// All of them are looked at, for what they come to.
    sums_up: bool,
    found: Numbers,
    /// Places in `tallies`, by name and unit.
    places: HashMap<(String, String), usize>,
    tallies: Vec<(Named, Tally)>,
}

impl Looking {
    fn new(wanted: Wanted, limit: usize, sums_up: bool) -> Self {
        Self {
            wanted,
            limit,
            sums_up,
            found: Numbers::default(),
            places: HashMap::new(),
            tallies: Vec::new(),
        }
    }

    fn see(&mut self, measured: Measurement) -> ControlFlow<()> {
        if !self.wanted.fits(&measured) {
            return ControlFlow::Continue(());
        }
        if self.sums_up {
            self.sum_up(&measured);
        }
        if self.found.measurements.len() < self.limit {
            self.found.measurements.push(measured);
            return ControlFlow::Continue(());
        }
        self.found.has_more = true;
        match self.sums_up {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    fn sum_up(&mut self, measured: &Measurement) {
        let key = (measured.name.clone(), measured.unit.clone());
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None if self.tallies.len() >= NAMES_MAX => {
                self.found.has_more_names = true;
                return;
            }
            None => {
                let tally = Tally::default();
                let named = Named {
                    name: measured.name.clone(),
                    unit: measured.unit.clone(),
                    low: measured.low,
                    high: measured.high,
                    statistics: tally.statistics(None, None),
                };
                self.places.insert(key, self.tallies.len());
                self.tallies.push((named, tally));
                self.tallies.len() - 1
            }
        };
        self.tallies[place].1.add(measured.value, measured.at_ms);
    }

    fn found(self, forgotten: u64) -> Numbers {
        let names = self.tallies.into_iter().map(|(named, tally)| Named {
            statistics: tally.statistics(named.low, named.high),
            ..named
        });
        Numbers {
            names: names.collect(),
            forgotten,
            ..self.found
        }
    }
}

impl Wanted {
    fn fits(&self, found: &Measurement) -> bool {
        let is = |wanted: &Option<String>, found: Option<&String>| {
            wanted.is_none() || wanted.as_ref() == found
        };
        let is_device =
            is(&self.device, found.device.as_ref()) || is(&self.device, found.device_name.as_ref());
        is(&self.name, Some(&found.name))
            && is_device
            && is(&self.serial, found.serial.as_ref())
            && is(&self.job, Some(&found.job))
            && is(&self.r#ref, found.r#ref.as_ref())
            // Such texts sort as the times that they are.
            && self.since.as_ref().is_none_or(|since| clock::is_since(found.at_ms, since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: u64 = 86_400_000;

    fn measured(number: u32, name: &str, value: f64) -> Measurement {
        Measurement {
            job: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".to_owned(),
            attempt: 1,
            number,
            run: "smoke".to_owned(),
            step: "measure".to_owned(),
            r#ref: Some("main".to_owned()),
            device: Some("01D".to_owned()),
            device_name: Some("bench-1".to_owned()),
            serial: Some("B7".to_owned()),
            name: name.to_owned(),
            value,
            unit: "V".to_owned(),
            low: Some(f64::from(number)),
            high: Some(10.0),
            at_ms: u64::from(number) * DAY_MS,
        }
    }

    fn looked(wanted: Wanted, limit: usize, sums_up: bool, all: Vec<Measurement>) -> Numbers {
        let mut looking = Looking::new(wanted, limit, sums_up);
        for one in all {
            if looking.see(one).is_break() {
                break;
            }
        }
        looking.found(3)
    }

    #[test]
    fn the_first_page_says_what_all_values_come_to() {
        let all: Vec<_> = (0..5)
            .rev()
            .map(|n| measured(n, "rail", f64::from(n)))
            .collect();
        let found = looked(Wanted::default(), 2, true, all.clone());
        assert_eq!((found.measurements.len(), found.has_more), (2, true));
        assert_eq!(found.forgotten, 3);
        let [rail] = &found.names[..] else {
            panic!("{:?}", found.names);
        };
        // Limits are those of the newest.
        assert_eq!((rail.low, rail.high), (Some(4.0), Some(10.0)));
        let of = rail.statistics;
        assert_eq!((of.count, of.min, of.max, of.mean), (5, 0.0, 4.0, 2.0));
        assert!((of.trend.unwrap() - 1.0).abs() < 1e-9, "{of:?}");
        let next = looked(Wanted::default(), 2, false, all);
        assert!(next.names.is_empty() && next.has_more);
        assert_eq!(next.measurements.len(), 2);
    }

    #[test]
    fn there_are_no_more_names_than_may_be() {
        let count = u32::try_from(NAMES_MAX).unwrap() + 1;
        let all = (0..count)
            .map(|n| measured(n, &n.to_string(), 1.0))
            .collect();
        let found = looked(Wanted::default(), 1, true, all);
        assert_eq!(found.names.len(), NAMES_MAX);
        assert!(found.has_more_names);
    }

    #[test]
    fn each_filter_leaves_out_what_is_not_wanted() {
        let some = |text: &str| Some(text.to_owned());
        let wanted = |text: &str| Wanted {
            name: some(text),
            ..Wanted::default()
        };
        let one = measured(20_000, "rail", 1.0);
        assert!(wanted("rail").fits(&one) && !wanted("rails").fits(&one));
        let fits = |change: fn(&mut Wanted, Option<String>), text: &str| {
            let mut wanted = Wanted::default();
            change(&mut wanted, some(text));
            wanted.fits(&one)
        };
        for (change, right) in [
            ((|w, text| w.device = text) as fn(&mut Wanted, _), "01D"),
            (|w, text| w.device = text, "bench-1"),
            (|w, text| w.serial = text, "B7"),
            (|w, text| w.job = text, "01JGZ5V9T3N8W2K4Q7R6D1M0XA"),
            (|w, text| w.r#ref = text, "main"),
            (|w, text| w.since = text, "2024-10-04"),
            (|w, text| w.since = text, "2024-10-04T00:00:00Z"),
        ] {
            assert!(fits(change, right), "{right}");
        }
        for (change, wrong) in [
            ((|w, text| w.device = text) as fn(&mut Wanted, _), "01E"),
            (|w, text| w.serial = text, "B"),
            (|w, text| w.job = text, "01JGZ5V9T3N8W2K4Q7R6D1M0XB"),
            (|w, text| w.r#ref = text, "mai"),
            (|w, text| w.since = text, "2024-10-04T00:00:01Z"),
            (|w, text| w.since = text, "2024-10-05"),
        ] {
            assert!(!fits(change, wrong), "{wrong}");
        }
    }
}

//! What the server's log says of jobs and devices, over all its lives: who waited how long, who would have waited how
//! long if the first to come had always been the first to be served, and whether a device was idle while jobs waited.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Others that may begin on the same other device while a free one waits for its next job. The driver takes events one
/// by one, so the end of a job on one device may be behind those that were sent just before it: one from each other
/// device, and another one if that job ended at once.
const MEANWHILE_MAX: usize = 2;

/// Something that the log tells.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Event {
    Queued(String),
    /// A job has a device.
    Taken {
        device: String,
        job: String,
    },
    /// A lease is over, and its device is being made safe. Whoever had it may have had it untold: the server was killed
    /// before it said so.
    Owing(String),
    /// Nobody has a device, and it is safe.
    Free(String),
    /// The server begins a life.
    Serving,
}

/// A job by the log.
#[derive(Debug, Clone, Default)]
struct Job {
    queued: Duration,
    taken: Option<Duration>,
    /// How long it had devices, all attempts together, until each was safe again.
    held: Duration,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Record {
    events: Vec<(Duration, Event)>,
    jobs: BTreeMap<String, Job>,
    devices: BTreeSet<String>,
}

impl Record {
    pub(super) fn of(log: &str) -> Self {
        let mut record = Self {
            events: log.lines().filter_map(event).collect(),
            jobs: BTreeMap::new(),
            devices: BTreeSet::new(),
        };
        let mut holders = BTreeMap::new();
        for (at, event) in &record.events {
            match event {
                Event::Queued(job) => record.jobs.entry(job.clone()).or_default().queued = *at,
                Event::Taken { device, job } => {
                    let known = record.jobs.entry(job.clone()).or_default();
                    known.taken.get_or_insert(*at);
                    record.devices.insert(device.clone());
                    holders.insert(device.clone(), (job.clone(), *at));
                }
                Event::Free(device) => {
                    if let Some((job, since)) = holders.remove(device) {
                        record.jobs.entry(job).or_default().held += at.saturating_sub(since);
                    }
                }
                Event::Owing(_) | Event::Serving => {}
            }
        }
        record
    }

    pub(super) fn devices(&self) -> usize {
        self.devices.len()
    }

    /// How long these jobs waited for their first device, on average.
    pub(super) fn mean_wait(&self, jobs: &[String]) -> Duration {
        let wait = |id: &String| {
            let job = &self.jobs[id];
            let taken = job
                .taken
                .unwrap_or_else(|| panic!("{id} never had a device"));
            taken.saturating_sub(job.queued)
        };
        mean(jobs.iter().map(wait))
    }

    /// How long these jobs would have waited on average if whoever comes first were served first: the same jobs, come at
    /// the same times, each with a device for as long as it was.
    pub(super) fn mean_wait_in_turn(&self, jobs: &[String]) -> Duration {
        let mut order: Vec<(&String, &Job)> = self.jobs.iter().collect();
        order.sort_by_key(|(id, job)| (job.queued, *id));
        let mut free_at = vec![Duration::ZERO; self.devices.len()];
        let mut waits = BTreeMap::new();
        for (id, job) in order {
            let first = free_at.iter_mut().min().expect("there are devices");
            let begins = job.queued.max(*first);
            *first = begins + job.held;
            waits.insert(id, begins - job.queued);
        }
        mean(jobs.iter().map(|id| waits[id]))
    }

    /// No device stayed free while jobs waited and others were served. The longest that one was free before it got one of
    /// the waiting jobs.
    pub(super) fn check_that_no_device_was_idle(&self) -> Duration {
        let mut waiting = BTreeSet::new();
        // Since when, and how often each other device was taken since.
        let mut free: BTreeMap<&String, (Duration, BTreeMap<&String, usize>)> = BTreeMap::new();
        let mut longest = Duration::ZERO;
        for (at, event) in &self.events {
            match event {
                Event::Queued(job) => {
                    // Who was free before has something to do only from now on.
                    if waiting.is_empty() {
                        for (since, others) in free.values_mut() {
                            *since = *at;
                            others.clear();
                        }
                    }
                    waiting.insert(job);
                }
                Event::Taken { device, job } => {
                    waiting.remove(job);
                    if let Some((since, _)) = free.remove(device) {
                        longest = longest.max(at.saturating_sub(since));
                    }
                    for (idle, (since, others)) in &mut free {
                        if waiting.is_empty() {
                            continue;
                        }
                        let count = others.entry(device).or_default();
                        *count += 1;
                        assert!(
                            *count <= MEANWHILE_MAX,
                            "{idle} is idle since {since:?} while {} jobs wait, and {device} was taken {count} times",
                            waiting.len()
                        );
                    }
                }
                Event::Owing(device) => {
                    free.remove(device);
                }
                Event::Free(device) => {
                    free.insert(device, (*at, BTreeMap::new()));
                }
                // Nobody serves between two lives.
                Event::Serving => {
                    for (since, others) in free.values_mut() {
                        *since = *at;
                        others.clear();
                    }
                }
            }
        }
        assert!(waiting.is_empty(), "{waiting:?} never had a device");
        longest
    }
}

fn mean(waits: impl ExactSizeIterator<Item = Duration>) -> Duration {
    let count = u32::try_from(waits.len()).expect("not so many");
    waits.sum::<Duration>() / count.max(1)
}

/// What a line of the log tells, and when.
fn event(line: &str) -> Option<(Duration, Event)> {
    let at = time(line)?;
    let text = |name: &str| {
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let says = |what: &str| line.contains(what);
    let event = if says("driver: job queued ") {
        Event::Queued(text("job")?)
    } else if says("leases: lease taken ") {
        let holder = text("holder")?;
        let job = holder.strip_prefix("job ")?.split(' ').next()?.to_owned();
        let device = text("device")?;
        Event::Taken { device, job }
    } else if says(" lease over, the device is being made safe ") {
        Event::Owing(text("device")?)
    } else if says(" the device is free and safe ") {
        Event::Free(text("device")?)
    } else if says("serve: serving ") {
        Event::Serving
    } else {
        return None;
    };
    Some((at, event))
}

/// The time of a line that begins with `2026-01-02T03:04:05.678901Z`, since the beginning of its month.
fn time(line: &str) -> Option<Duration> {
    let (date, time) = line.get(..26)?.split_once('T')?;
    let days: f64 = date.rsplit('-').next()?.parse().ok()?;
    let mut parts = time.split(':');
    let mut part = || parts.next()?.parse::<f64>().ok();
    let (hours, minutes, seconds) = (part()?, part()?, part()?);
    let all = ((days * 24.0 + hours) * 60.0 + minutes) * 60.0 + seconds;
    Some(Duration::from_secs_f64(all))
}

#[test]
fn a_record_tells_who_waited_and_who_was_idle() {
    let line =
        |second: u32, what: &str| format!("2026-01-02T03:04:{second:02}.000000Z  INFO {what}\n");
    let queued = |at, job: &str| line(at, &format!("dispatch::driver: job queued job=\"{job}\""));
    let taken = |at, device: &str, job: &str| {
        let holder = format!("device=\"{device}\" holder=\"job {job} n\"");
        line(
            at,
            &format!("lab::leases: lease taken {holder} overriding=false"),
        )
    };
    let free = |at, device: &str| {
        line(
            at,
            &format!(
                "lab::leases::debts: the device is free and safe device=\"{device}\" removed=false"
            ),
        )
    };
    let seconds = |record: &Record, job: &str| {
        let jobs = [job.to_owned()];
        (
            record.mean_wait(&jobs).as_secs(),
            record.mean_wait_in_turn(&jobs).as_secs(),
        )
    };
    // `c` came last and was served before `b`.
    let fair = [
        queued(1, "a"),
        taken(1, "x", "a"),
        queued(2, "b"),
        queued(3, "c"),
        free(6, "x"),
        taken(6, "x", "c"),
        free(7, "x"),
        taken(7, "x", "b"),
        free(9, "x"),
    ];
    let record = Record::of(&fair.concat());
    assert_eq!(record.devices(), 1);
    assert_eq!(seconds(&record, "a"), (0, 0));
    assert_eq!(seconds(&record, "b"), (5, 4));
    assert_eq!(seconds(&record, "c"), (3, 5));
    assert_eq!(record.check_that_no_device_was_idle(), Duration::ZERO);
    // `x` gets all while `y` is free, or is being made safe.
    let owing = line(
        1,
        "lab::leases::keeper: lease over, the device is being made safe device=\"y\" why=None",
    );
    for is_owing in [false, true] {
        let mut events = vec![taken(0, "y", "0"), free(1, "y")];
        events.extend(is_owing.then(|| owing.clone()));
        events.extend(["a", "b", "c", "d"].map(|job| queued(1, job)));
        for (at, job) in (2..).zip(["a", "b", "c", "d"]) {
            events.push(taken(at, "x", job));
            events.push(free(at, "x"));
        }
        let record = Record::of(&events.concat());
        let checked = std::panic::catch_unwind(|| record.check_that_no_device_was_idle());
        assert_eq!(checked.is_ok(), is_owing, "{checked:?}");
    }
}

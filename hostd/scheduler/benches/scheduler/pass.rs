//! The time of one pass over 10,000 queued jobs of 40 users, with 64 devices.

use std::time::{Duration, Instant};

use scheduler::{AttemptId, Class, Decision, DeviceId, Ending, Limits, OrgId, Scheduler};

use super::lab::{Need, job};

const JOBS: usize = 10_000;
const USERS: usize = 40;
const DEVICES: usize = 64;

const LIMITS: Limits = Limits {
    queued_max: 20_000,
    queued_per_org_max: 20_000,
    queued_per_user_max: 20_000,
    running_max: 1000,
    running_per_org_max: 1000,
    running_per_user_max: 1000,
    build_slots: 2,
    tasks_max: 256,
};

pub(crate) fn run(rounds: usize) {
    println!(
        "a pass with {JOBS} queued jobs of {USERS} users, {DEVICES} devices; median and longest of {rounds}"
    );
    let few = |number: usize| Need([1, 1, 1, 3, 7, 9][number % 6], 0);
    report(
        "one device becomes free, 6 requirements",
        one_becomes_free(few, rounds),
    );
    let many = |number: usize| Need(1, u32::try_from(number).unwrap_or(0));
    report(
        "one device becomes free, 10000 requirements",
        one_becomes_free(many, rounds),
    );
    report(
        "64 free, none fits any of 10000 requirements",
        none_fits(rounds),
    );
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    let median = ms(&times[times.len() / 2]);
    let longest = times.last().map_or(0.0, ms);
    println!("  {what:52} {median:8.3} ms {longest:8.3} ms");
}

fn with_jobs(
    has_all: bool,
    need: impl Fn(usize) -> Need,
) -> (Scheduler<Need>, Vec<(AttemptId, DeviceId)>) {
    let mut scheduler = Scheduler::new(LIMITS, 0);
    let org = OrgId::from("org");
    for device in 0..DEVICES {
        let caps = [0b0001, 0b0011, 0b0111, 0b1001][device % 4];
        let id = DeviceId::from(format!("bench-{device}").as_str());
        scheduler.device_seen(&id, &org, (caps, has_all), 0);
    }
    let mut running = Vec::new();
    for number in 0..JOBS + if has_all { DEVICES } else { 0 } {
        // Not 0, so that each is a separate requirement.
        let submission = job(number, number % USERS, Class::Normal, need(number + 1));
        let decisions = scheduler.submit(submission, 0).expect("there is room");
        running.extend(assigned(decisions));
    }
    (scheduler, running)
}

fn assigned(decisions: Vec<Decision>) -> impl Iterator<Item = (AttemptId, DeviceId)> {
    decisions.into_iter().filter_map(|decision| match decision {
        Decision::Assign { attempt, device } => Some((attempt, device?)),
        _ => None,
    })
}

/// An attempt ends, and its device goes to the next job.
fn one_becomes_free(need: impl Fn(usize) -> Need, rounds: usize) -> Vec<Duration> {
    let (mut scheduler, mut running) = with_jobs(true, need);
    let times = (0..rounds).map(|round| {
        let (attempt, _) = running.remove(0);
        let start = Instant::now();
        let decisions = scheduler.ended(&attempt, Ending::Passed, round as u64);
        let time = start.elapsed();
        running.extend(assigned(decisions));
        time
    });
    times.collect()
}

/// Every task is examined, and none finds a place.
fn none_fits(rounds: usize) -> Vec<Duration> {
    let (mut scheduler, _) = with_jobs(false, |number| Need(1, u32::try_from(number).unwrap_or(1)));
    let times = (0..rounds).map(|round| {
        let id = DeviceId::from(format!("bench-{}", round % DEVICES).as_str());
        let start = Instant::now();
        let decisions = scheduler.freed(&id, 0);
        assert!(decisions.is_empty());
        start.elapsed()
    });
    times.collect()
}

//! How long small users wait next to one who submits four fifths of all jobs, in simulated time:
//! 500 jobs on 4 devices, with fairness and without (first come, first served). For the latter, all
//! jobs belong to one user. And how long one organisation waits for a build slot next to another that
//! takes all it can.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use fastrand::Rng;
use scheduler::{
    AttemptId, Before, Class, Decision, DeviceId, Ending, Limits, OrgId, Scheduler, Submission,
};

use super::lab::{Need, build, job};

const JOBS: usize = 500;

/// The first user has four fifths of the jobs; the others share the rest.
const USERS: usize = 4;

/// When a job is submitted and how long it runs, in simulated milliseconds.
struct Arrival {
    user: usize,
    class: Class,
    caps: u32,
    at_ms: u64,
    runs_ms: u64,
}

pub(crate) fn run() {
    let arrivals = arrivals();
    println!(
        "{JOBS} jobs on 4 devices, one of {USERS} users has 80 %; mean wait in simulated seconds"
    );
    for (name, is_fair) in [("first come, first served", false), ("fair", true)] {
        let (waits, makespan_ms) = simulate(&arrivals, is_fair);
        let mean = |users: std::ops::Range<usize>| {
            let waits: Vec<u64> = users.flat_map(|user| waits[user].iter().copied()).collect();
            waits.iter().sum::<u64>() / 1000 / waits.len().max(1) as u64
        };
        println!(
            "  {name:25} large user {:5} s, small users {:5} s, all done after {:5} s",
            mean(0..1),
            mean(1..USERS),
            makespan_ms / 1000
        );
    }
    organisations();
}

fn arrivals() -> Vec<Arrival> {
    let mut random = Rng::with_seed(42);
    let mut arrivals: Vec<Arrival> = (0..JOBS)
        .map(|_| {
            let is_large = random.u8(..10) < 8;
            Arrival {
                user: if is_large { 0 } else { random.usize(1..USERS) },
                class: if random.u8(..20) == 0 {
                    Class::High
                } else {
                    Class::Normal
                },
                caps: [1, 1, 1, 3, 7, 9][random.usize(..6)],
                at_ms: if is_large { 0 } else { random.u64(..600_000) },
                runs_ms: random.u64(5000..15_000),
            }
        })
        .collect();
    arrivals.sort_by_key(|arrival| arrival.at_ms);
    arrivals
}

/// The waits of each user, and when the last job ended.
fn simulate(arrivals: &[Arrival], is_fair: bool) -> (Vec<Vec<u64>>, u64) {
    let limits = Limits {
        running_per_user_max: 64,
        ..Limits::default()
    };
    let mut scheduler = Scheduler::new(limits, 0);
    for (device, caps) in [0b0001, 0b0011, 0b0111, 0b1001].into_iter().enumerate() {
        let id = DeviceId::from(format!("bench-{device}").as_str());
        scheduler.device_seen(&id, &OrgId::from("org"), (caps, true), 0);
    }
    let submission = |number: usize, arrival: &Arrival| {
        let user = if is_fair { arrival.user } else { 0 };
        job(number, user, arrival.class, Need(arrival.caps, 0))
    };
    drive(scheduler, arrivals, submission)
}

/// An organisation with many builds, many users, or old or long builds, beside another one that submits one build a
/// minute: how long those of the second wait.
fn organisations() {
    println!("build slots of two organisations: the second submits a build of 10 s every minute");
    for (name, count, users, runs_s) in [
        ("300 builds of one user", 300, 1, 20),
        ("600 builds of 20 users", 600, 20, 10),
        ("4 builds of an hour", 4, 1, 3_600),
    ] {
        let crowd = (0..count).map(|number| (1 + number % users, 0, runs_s * 1000));
        let few = (0..60).map(|minute| (0, 5_000 + minute * 60_000, 10_000));
        let mut arrivals: Vec<Arrival> = crowd
            .chain(few)
            .map(|(user, at_ms, runs_ms)| Arrival {
                user,
                class: Class::Normal,
                caps: 0,
                at_ms,
                runs_ms,
            })
            .collect();
        arrivals.sort_by_key(|arrival| arrival.at_ms);
        for slots in [1, 2, 4] {
            let limits = Limits {
                build_slots: slots,
                ..Limits::default()
            };
            let orgs = ["crowd", "few"].map(OrgId::from);
            let (scheduler, ..) =
                Scheduler::restore(limits, 0, &orgs, Vec::new(), Before::Stopped, 0);
            let submission = |number: usize, arrival: &Arrival| {
                let org = if arrival.user == 0 { "few" } else { "crowd" };
                build(number, org, arrival.user)
            };
            let (waits, _) = drive(scheduler, &arrivals, submission);
            let waits = &waits[0];
            let mean_s = waits.iter().sum::<u64>() / 1000 / waits.len() as u64;
            let worst_s = waits.iter().max().map_or(0, |ms| ms / 1000);
            println!(
                "  {name:25} {slots} slots: the others wait {mean_s:5} s, at most {worst_s:5} s"
            );
            let long_s = if slots == 1 { runs_s } else { 20 };
            assert!(worst_s <= long_s + 10, "{name}, {slots} slots: {worst_s} s");
        }
    }
}

/// Carries out what the scheduler decides, in simulated time: the waits of each user, and when the last job ended.
fn drive(
    mut scheduler: Scheduler<Need>,
    arrivals: &[Arrival],
    submission: impl Fn(usize, &Arrival) -> Submission<Need>,
) -> (Vec<Vec<u64>>, u64) {
    let mut ends: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut attempts: HashMap<usize, AttemptId> = HashMap::new();
    let users = arrivals.iter().map(|arrival| arrival.user + 1).max();
    let mut waits = vec![Vec::new(); users.unwrap_or_default()];
    let mut coming = arrivals.iter().enumerate().peekable();
    let mut now_ms = 0;
    loop {
        let next_end = ends.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        let decisions = match coming.next_if(|(_, arrival)| arrival.at_ms <= next_end) {
            Some((number, arrival)) => {
                now_ms = arrival.at_ms;
                let submission = submission(number, arrival);
                scheduler.submit(submission, now_ms).expect("there is room")
            }
            None => {
                let Some(Reverse((at_ms, number))) = ends.pop() else {
                    return (waits, now_ms);
                };
                now_ms = at_ms;
                let attempt = attempts.remove(&number).expect("it runs");
                scheduler.ended(&attempt, Ending::Passed, now_ms)
            }
        };
        for decision in decisions {
            let Decision::Assign { attempt, .. } = decision else {
                continue;
            };
            let number: usize = attempt.task.job.0[4..].parse().expect("a number");
            let arrival = &arrivals[number];
            waits[arrival.user].push(now_ms - arrival.at_ms);
            ends.push(Reverse((now_ms + arrival.runs_ms, number)));
            attempts.insert(number, attempt);
        }
    }
}

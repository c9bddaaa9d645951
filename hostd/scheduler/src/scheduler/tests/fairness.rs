//! Nobody's many, old or long jobs hold up somebody else's few. Builds of 20 s in simulated time.

use super::*;
use crate::OrgId;

const RUNS_MS: u64 = 20_000;
const LONG: u64 = 1 << 40;

fn build(job: &str, org: &str, user: &str) -> Submission<Need> {
    Submission {
        org: org.into(),
        tasks: vec![task(Work::Build, &[])],
        clocks: Clocks {
            queue_ms: LONG,
            start_ms: LONG,
            stop_ms: LONG,
            job_ms: LONG,
        },
        ..bench(job, user, 0)
    }
}

/// A server with these organisations, all of whose builds take the same time.
struct Server {
    s: Scheduler<Need>,
    now_ms: u64,
    runs: Vec<(u64, AttemptId)>,
    ended: Vec<(String, u64)>,
}

impl Server {
    fn new(limits: Limits, orgs: &[&str]) -> Self {
        let orgs: Vec<OrgId> = orgs.iter().map(|org| (*org).into()).collect();
        Self {
            s: Scheduler::restore(limits, 0, &orgs, Vec::new(), Before::Stopped, 0).0,
            now_ms: 0,
            runs: Vec::new(),
            ended: Vec::new(),
        }
    }

    fn submit(&mut self, submission: Submission<Need>) {
        let decisions = self.s.submit(submission, self.now_ms).unwrap();
        self.apply(decisions);
    }

    fn apply(&mut self, decisions: Vec<Decision>) {
        for decision in decisions {
            if let Decision::Assign { attempt, .. } = decision {
                self.runs.push((self.now_ms + RUNS_MS, attempt));
            }
        }
    }

    fn pass(&mut self, ms: u64) {
        let until_ms = self.now_ms + ms;
        while let Some(at) = (0..self.runs.len()).min_by_key(|at| self.runs[*at].0)
            && self.runs[at].0 <= until_ms
        {
            let (at_ms, attempt) = self.runs.remove(at);
            self.now_ms = at_ms;
            self.ended.push((attempt.task.job.to_string(), at_ms));
            let decisions = self.s.ended(&attempt, Ending::Passed, at_ms);
            self.apply(decisions);
        }
        self.now_ms = until_ms;
    }

    fn end_of(&self, job: &str) -> Option<u64> {
        let mut ended = self.ended.iter();
        ended.find(|(id, _)| id == job).map(|(_, at_ms)| *at_ms)
    }

    /// How long a build waits that is submitted now, by somebody who has nothing else there.
    fn wait_of(&mut self, job: &str, org: &str, user: &str) -> u64 {
        let began_ms = self.now_ms;
        self.submit(build(job, org, user));
        let why = self.s.why(&job.into()).unwrap();
        assert!(why.tasks[0].ahead.unwrap_or_default() <= 2, "{why:?}");
        self.pass(3 * RUNS_MS);
        let end_ms = self.end_of(job);
        end_ms.unwrap_or_else(|| panic!("{job} has not even run")) - RUNS_MS - began_ms
    }
}

#[test]
fn three_hundred_jobs_hold_up_no_other_user_or_organisation_however_old_they_are() {
    let mut server = Server::new(Limits::default(), &["east", "west"]);
    for number in 0..300 {
        server.submit(build(&format!("old-{number}"), "east", "ann"));
    }
    server.pass(1_000);
    for hour in 0..3 {
        let other = server.wait_of(&format!("other-{hour}"), "west", "eve");
        let colleague = server.wait_of(&format!("colleague-{hour}"), "east", "bob");
        assert!(other <= RUNS_MS, "{hour}: {other}");
        assert!(colleague <= RUNS_MS, "{hour}: {colleague}");
        server.pass(11 * 60_000);
    }
    assert!(
        server
            .runs
            .iter()
            .any(|(_, run)| run.task.job.0.starts_with("old"))
    );
}

#[test]
fn two_long_builds_of_one_organisation_leave_a_slot_to_another() {
    let mut server = Server::new(Limits::default(), &["east", "west"]);
    for number in 0..2 {
        server.submit(build(&format!("long-{number}"), "east", "ann"));
    }
    assert_eq!(server.runs.len(), 1);
    let why = server.s.why(&"long-1".into()).unwrap();
    let next = &why.tasks[0].next;
    assert!(next.contains("is left to other organisations"), "{next}");
    server.submit(build("short", "west", "eve"));
    assert_eq!(server.runs.len(), 2);
    // One that is alone has them all.
    let mut server = Server::new(Limits::default(), &["east"]);
    for number in 0..2 {
        server.submit(build(&format!("long-{number}"), "east", "ann"));
    }
    assert_eq!(server.runs.len(), 2);
}

#[test]
fn twenty_users_of_one_organisation_get_no_more_than_one_of_another() {
    let mut server = Server::new(Limits::default(), &["east", "west"]);
    for number in 0..60 {
        let user = format!("sock-{}", number % 20);
        server.submit(build(&format!("many-{number}"), "east", &user));
    }
    for number in 0..6 {
        server.submit(build(&format!("few-{number}"), "west", "eve"));
    }
    server.pass(60 * RUNS_MS);
    for number in 0..6 {
        let end_ms = server.end_of(&format!("few-{number}")).unwrap();
        assert!(end_ms <= (number + 2) * RUNS_MS, "few-{number}: {end_ms}");
    }
}

#[test]
fn organisations_wait_for_the_only_slot_in_turn() {
    let limits = Limits {
        build_slots: 1,
        ..Limits::default()
    };
    let mut server = Server::new(limits, &["east", "west"]);
    for number in 0..40 {
        server.submit(build(
            &format!("many-{number}"),
            "east",
            &format!("u{number}"),
        ));
    }
    for number in 0..4 {
        server.submit(build(&format!("few-{number}"), "west", "eve"));
    }
    server.pass(60 * RUNS_MS);
    for number in 0..4 {
        let end_ms = server.end_of(&format!("few-{number}")).unwrap();
        assert!(
            end_ms <= (2 * number + 3) * RUNS_MS,
            "few-{number}: {end_ms}"
        );
    }
}

#[test]
fn devices_of_ones_own_cost_no_turn_at_the_slots_of_all() {
    let limits = Limits {
        build_slots: 1,
        ..Limits::default()
    };
    let mut server = Server::new(limits, &["east", "west"]);
    let decisions = server.s.device_seen(&"own".into(), &"east".into(), 1, 0);
    server.apply(decisions);
    server.submit(build("first", "west", "eve"));
    for number in 0..20 {
        let mut own = build(&format!("bench-{number}"), "east", "ann");
        own.tasks = vec![task(Work::Bench(Need(1)), &[])];
        server.submit(own);
    }
    server.pass(10 * RUNS_MS);
    server.submit(build("running", "west", "eve"));
    server.submit(build("west", "west", "eve"));
    server.submit(build("east", "east", "bob"));
    server.pass(4 * RUNS_MS);
    assert!(server.end_of("east").unwrap() < server.end_of("west").unwrap());
}

#[test]
fn a_full_queue_has_room_for_the_next_organisation() {
    let limits = Limits {
        queued_max: 64,
        queued_per_org_max: 64,
        queued_per_user_max: 64,
        build_slots: 0,
        ..Limits::default()
    };
    let mut server = Server::new(limits, &["east", "west", "north"]);
    for org in ["east", "west"] {
        let mut count = 0;
        while server
            .s
            .submit(build(&format!("{org}-{count}"), org, "u"), 0)
            .is_ok()
        {
            count += 1;
        }
        assert!(count >= 16, "{org}: {count}");
    }
    assert!(server.s.submit(build("north", "north", "u"), 0).is_ok());
}

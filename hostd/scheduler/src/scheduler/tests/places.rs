//! Who gets which place.

use super::*;
use crate::cause::{Failure, Infra};

#[test]
fn the_least_capable_device_that_fits_is_taken() {
    let mut s = with_devices(&[("able", 0b111), ("plain", 0b001), ("two", 0b011)]);
    assert_eq!(
        places(&s.submit(bench("1", "u", 0b001), 0).unwrap()),
        [place("1", "plain")]
    );
    assert_eq!(
        places(&s.submit(bench("2", "u", 0b001), 0).unwrap()),
        [place("2", "two")]
    );
    assert_eq!(
        places(&s.submit(bench("3", "u", 0b100), 0).unwrap()),
        [place("3", "able")]
    );
}

#[test]
fn a_picky_job_moves_an_undemanding_one_of_the_same_pass_and_none_that_runs() {
    let mut s = with_devices(&[]);
    // Equal ranks: on its own, the first would take the device that the second needs.
    s.submit(bench("any", "u", 0b001), 0).unwrap();
    s.submit(bench("picky", "u", 0b010), 0).unwrap();
    s.drain(0);
    s.device_seen(&"a".into(), &"org".into(), 0b011, 0);
    s.device_seen(&"b".into(), &"org".into(), 0b101, 0);
    s.is_draining = false;
    let both = places(&s.freed(&"a".into(), 0));
    assert_eq!(both, [place("any", "b"), place("picky", "a")]);

    let mut s = with_devices(&[("a", 0b011)]);
    s.submit(bench("any", "u", 0b001), 0).unwrap();
    assert!(places(&s.submit(bench("picky", "u", 0b010), 0).unwrap()).is_empty());
    let seen = s.device_seen(&"b".into(), &"org".into(), 0b101, 0);
    assert!(places(&seen).is_empty());
}

#[test]
fn no_job_sees_a_device_of_another_organisation() {
    let mut s = with_devices(&[("a", 1)]);
    let mut other = bench("1", "u", 1);
    other.org = "other".into();
    assert!(s.submit(other, 0).unwrap().is_empty());
    assert!(s.why(&"1".into()).unwrap().tasks[0].devices.is_empty());
    let seen = s.device_seen(&"b".into(), &"other".into(), 1, 0);
    assert_eq!(places(&seen), [place("1", "b")]);
}

#[test]
fn a_bench_waits_for_its_build_and_builds_for_a_slot() {
    let mut s = with_devices(&[("a", 1)]);
    let job = |id: &str| Submission {
        tasks: vec![task(Work::Build, &[]), task(Work::Bench(Need(1)), &[0])],
        ..bench(id, "u", 1)
    };
    let first = assigned(&s.submit(job("1"), 0).unwrap());
    assigned(&s.submit(job("2"), 0).unwrap());
    assert!(s.submit(job("3"), 0).unwrap().is_empty());
    s.started(&first, 0);
    let decisions = s.ended(&first, Ending::Passed, 10);
    assert_eq!(places(&decisions), [place("3", "build"), place("1", "a")]);
    assert_eq!(s.axes(&"1".into()).unwrap().state(), State::Running);
}

#[test]
fn what_needs_a_failed_build_is_skipped_and_the_job_has_failed() {
    let mut s = with_devices(&[("a", 1)]);
    let mut job = bench("1", "u", 1);
    job.tasks = vec![
        task(Work::Build, &[]),
        task(Work::Bench(Need(1)), &[0]),
        task(Work::Bench(Need(1)), &[1]),
    ];
    let build = assigned(&s.submit(job, 0).unwrap());
    let decisions = s.ended(&build, Ending::Failed(Failure::Build), 5);
    let skipped = |d: &&Decision| {
        matches!(
            d,
            Decision::TaskEnded {
                ending: Ending::Skipped,
                ..
            }
        )
    };
    assert_eq!(decisions.iter().filter(skipped).count(), 2);
    let (axes, ending) = finish(&decisions, "1");
    assert_eq!(ending, Ending::Failed(Failure::Build));
    assert_eq!(axes.status(), crate::Status::Failed);
    assert_eq!(axes.verdict(), Verdict::Failure);
    assert_eq!(axes.ended_because(), Some(EndedBecause::Completed));
}

#[test]
fn a_failed_case_stays_known_when_the_bench_fails_elsewhere() {
    let mut s = with_devices(&[("a", 1), ("b", 2)]);
    let mut job = bench("1", "u", 1);
    job.tasks.push(task(Work::Bench(Need(2)), &[]));
    job.retries_max = 0;
    let decisions = s.submit(job, 0).unwrap();
    let runs: Vec<AttemptId> = decisions
        .iter()
        .filter_map(|d| match d {
            Decision::Assign { attempt, .. } => Some(attempt.clone()),
            _ => None,
        })
        .collect();
    s.ended(&runs[0], Ending::Failed(Failure::Assert), 1);
    let decisions = s.ended(&runs[1], Ending::Infra(Infra::ProbeUnreachable), 2);
    let (axes, ending) = finish(&decisions, "1");
    assert_eq!(ending, Ending::Infra(Infra::ProbeUnreachable));
    assert_eq!(axes.ended_because(), Some(EndedBecause::InfraError));
    assert_eq!(axes.verdict(), Verdict::Failure);
}

#[test]
fn a_lease_that_somebody_else_has_costs_no_attempt() {
    let mut s = with_devices(&[("a", 1)]);
    let first = assigned(&s.submit(bench("1", "u", 1), 0).unwrap());
    assert!(s.give_back(&first, "alice", Some(900), 1).is_empty());
    assert_eq!(s.accounts.had(0).user_ms, 0);
    let again = assigned(&s.freed(&"a".into(), 2));
    assert!(again.epoch > first.epoch);
    assert!(s.ended(&first, Ending::Passed, 3).is_empty());
    let (axes, _) = finish(&s.ended(&again, Ending::Passed, 3), "1");
    assert_eq!(axes.status(), crate::Status::Done);
}

#[test]
fn a_small_user_does_not_wait_behind_a_large_one() {
    let mut s = with_devices(&[("a", 1)]);
    let mut first = assigned(&s.submit(bench("large0", "large", 1), 0).unwrap());
    for number in 1..50 {
        s.submit(bench(&format!("large{number}"), "large", 1), 0)
            .unwrap();
    }
    s.submit(bench("small", "small", 1), 0).unwrap();
    for turn in 1..4 {
        let decisions = s.ended(&first, Ending::Passed, turn * 30_000);
        if places(&decisions)[0].0 == "small" {
            return;
        }
        first = assigned(&decisions);
    }
    panic!("small waits for more than three jobs of large");
}

#[test]
fn whoever_comes_while_others_run_is_next() {
    let mut s = with_devices(&[("d", 1)]);
    let first = assigned(&s.submit(bench("many-1", "a", 1), 0).unwrap());
    s.submit(bench("many-2", "a", 1), 0).unwrap();
    // The other one was charged for more than it has had.
    s.submit(bench("one", "b", 1), 20).unwrap();
    let decisions = s.ended(&first, Ending::Passed, 40);
    assert_eq!(places(&decisions), [place("one", "d")]);
}

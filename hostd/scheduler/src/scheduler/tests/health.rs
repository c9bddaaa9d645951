//! Retries, quarantine and blame.

use super::*;
use crate::cause::{Failure, Infra};

const LOST: Ending = Ending::Infra(Infra::ProbeUnreachable);

fn quarantined(decisions: &[Decision]) -> Option<Quarantine> {
    decisions.iter().find_map(|decision| match decision {
        Decision::Quarantine { quarantine, .. } => Some(quarantine.clone()),
        _ => None,
    })
}

fn requeued(decisions: &[Decision]) -> bool {
    decisions
        .iter()
        .any(|d| matches!(d, Decision::Requeue { .. }))
}

#[test]
fn the_bench_failing_is_retried_elsewhere_once_and_never_after_the_first_output() {
    let mut s = with_devices(&[("a", 1), ("b", 0b11)]);
    let first = assigned(&s.submit(bench("1", "u", 1), 0).unwrap());
    let decisions = s.ended(&first, LOST, 1);
    assert!(requeued(&decisions));
    assert_eq!(places(&decisions), [place("1", "b")]);
    let second = assigned(&decisions);
    assert_eq!((second.number, second.epoch), (2, 2));
    let (axes, ending) = finish(&s.ended(&second, LOST, 2), "1");
    assert_eq!(ending, LOST);
    assert_eq!(axes.verdict(), Verdict::Pending);

    let third = assigned(&s.submit(bench("2", "u", 1), 3).unwrap());
    assert!(s.first_output(&third, 3));
    let decisions = s.ended(&third, LOST, 4);
    assert!(!requeued(&decisions));
    finish(&decisions, "2");
}

#[test]
fn a_failure_of_the_code_is_never_retried() {
    let mut s = with_devices(&[("a", 1)]);
    let first = assigned(&s.submit(bench("1", "u", 1), 0).unwrap());
    let decisions = s.ended(&first, Ending::Failed(Failure::Expect), 1);
    assert!(!requeued(&decisions));
    assert_eq!(finish(&decisions, "1").0.verdict(), Verdict::Failure);
}

#[test]
fn three_in_a_row_of_two_users_quarantine_a_device_until_a_person_readmits_it() {
    let mut s = with_devices(&[("a", 1)]);
    let mut fail = |id: &str, user: &str| {
        let mut job = bench(id, user, 1);
        job.retries_max = 0;
        let attempt = assigned(&s.submit(job, 0).unwrap());
        quarantined(&s.ended(&attempt, LOST, 1))
    };
    for id in ["1", "2", "3", "4"] {
        assert_eq!(fail(id, "one"), None);
    }
    let quarantine = fail("5", "two").unwrap();
    assert_eq!(quarantine.jobs.last(), Some(&"5".into()));
    assert!(
        quarantine.reason.contains("5 times in a row"),
        "{}",
        quarantine.reason
    );

    assert!(s.submit(bench("6", "u", 1), 2).unwrap().is_empty());
    assert_eq!(places(&s.readmit(&"a".into(), 3)), [place("6", "a")]);
}

#[test]
fn a_success_between_breaks_the_row() {
    let mut s = with_devices(&[("a", 1)]);
    for (number, user) in ["one", "two", "one", "two", "one"].iter().enumerate() {
        let mut job = bench(&number.to_string(), user, 1);
        job.retries_max = 0;
        let attempt = assigned(&s.submit(job, 0).unwrap());
        let ending = if number == 2 { Ending::Passed } else { LOST };
        assert_eq!(quarantined(&s.ended(&attempt, ending, 1)), None);
    }
}

#[test]
fn a_job_that_fails_on_several_devices_is_blamed_itself() {
    let mut s = with_devices(&[("a", 1), ("b", 1)]);
    for (id, user) in [("1", "one"), ("2", "two"), ("3", "one"), ("4", "two")] {
        let mut job = bench(id, user, 1);
        job.retries_max = 5;
        let first = assigned(&s.submit(job, 0).unwrap());
        let again = s.ended(&first, LOST, 1);
        assert_eq!(quarantined(&again), None);
        let over = s.ended(&assigned(&again), LOST, 2);
        assert_eq!(quarantined(&over), None);
        let blamed = over.iter().find_map(|d| match d {
            Decision::Finish { blamed, .. } => Some(blamed.len()),
            _ => None,
        });
        assert_eq!(blamed, Some(2));
    }
}

#[test]
fn what_the_server_did_is_not_the_devices() {
    let mut s = with_devices(&[("a", 1)]);
    for (number, user) in ["one", "two", "one", "two"].iter().enumerate() {
        let mut job = bench(&number.to_string(), user, 1);
        job.retries_max = 0;
        let attempt = assigned(&s.submit(job, 0).unwrap());
        let full = Ending::Infra(Infra::DiskFull);
        assert_eq!(quarantined(&s.ended(&attempt, full, 1)), None);
    }
}

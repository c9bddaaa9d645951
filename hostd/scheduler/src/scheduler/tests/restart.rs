//! What is stored, and what a restart makes of it.

use super::*;
use crate::cause::Infra;
use crate::limits::RESTARTS_MAX;

const RESTARTED: Ending = Ending::Infra(Infra::ServerRestarted);

/// As after an end in good order: only what was stored remains.
fn restarted(s: &Scheduler<Need>, now_ms: u64) -> (Scheduler<Need>, Vec<Decision>) {
    after(s, Before::Stopped, now_ms)
}

fn after(s: &Scheduler<Need>, before: Before, now_ms: u64) -> (Scheduler<Need>, Vec<Decision>) {
    let jobs: Vec<JobId> = s.jobs().cloned().collect();
    let stored = jobs.iter().filter_map(|job| s.stored(job)).collect();
    let (scheduler, decisions, refused) =
        Scheduler::restore(s.limits, 0, &[], stored, before, now_ms);
    assert!(refused.is_empty());
    (scheduler, decisions)
}

#[test]
fn before_the_first_output_an_attempt_is_requeued_and_after_it_the_task_is_over() {
    let mut s = with_devices(&[("a", 1), ("b", 1)]);
    let quiet = assigned(&s.submit(bench("quiet", "u", 1), 0).unwrap());
    let seen = assigned(&s.submit(bench("seen", "u", 1), 0).unwrap());
    s.submit(bench("waits", "u", 1), 0).unwrap();
    s.started(&quiet, 1);
    s.started(&seen, 1);
    s.first_output(&seen, 2);
    let (mut s, decisions) = restarted(&s, 10);
    assert_eq!(
        decisions[0],
        Decision::Requeue {
            attempt: quiet.clone(),
            ending: RESTARTED
        }
    );
    let (axes, ending) = finish(&decisions, "seen");
    assert_eq!(
        (axes.ended_because(), ending),
        (Some(EndedBecause::InfraError), RESTARTED)
    );
    assert!(s.ended(&quiet, Ending::Passed, 11).is_empty());
    let decisions = s.device_seen(&"a".into(), &"org".into(), 1, 12);
    assert_eq!(places(&decisions), [place("quiet", "a")]);
    let again = assigned(&decisions);
    assert!(again.epoch > seen.epoch && again.number == 2);
    let (axes, _) = finish(&s.ended(&again, Ending::Passed, 13), "quiet");
    assert_eq!(axes.status(), crate::Status::Done);
}

#[test]
fn what_was_being_stopped_has_stopped() {
    let mut s = with_devices(&[("a", 1)]);
    assigned(&s.submit(bench("1", "u", 1), 0).unwrap());
    s.cancel(&"1".into(), 1);
    let (s, decisions) = restarted(&s, 2);
    assert_eq!(finish(&decisions, "1").1, Ending::Cancelled);
    assert_eq!(s.jobs().count(), 0);
}

#[test]
fn a_job_between_its_tasks_goes_on_where_it_was() {
    let mut s = with_devices(&[]);
    let mut job = bench("1", "u", 1);
    job.tasks = vec![task(Work::Build, &[]), task(Work::Bench(Need(1)), &[0])];
    let build = assigned(&s.submit(job, 0).unwrap());
    s.ended(&build, Ending::Passed, 1);
    let before = s.stored(&"1".into()).unwrap();
    let (mut s, decisions) = restarted(&s, 2);
    assert!(decisions.is_empty());
    assert_eq!(s.stored(&"1".into()).unwrap(), before);
    let decisions = s.device_seen(&"a".into(), &"org".into(), 1, 3);
    assert_eq!(places(&decisions), [place("1", "a")]);
}

#[test]
fn devices_come_back_as_they_were() {
    let mut s = with_devices(&[]);
    s.submit(bench("1", "u", 1), 0).unwrap();
    let (mut s, _) = restarted(&s, 1);
    for id in ["sick", "owed", "gone", "well"] {
        s.device_known(&id.into(), &"org".into(), 1);
    }
    let quarantine = Quarantine {
        reason: "smoke".to_owned(),
        jobs: vec![],
    };
    s.quarantine(&"sick".into(), quarantine);
    s.held(&"owed".into(), "the safe state", None);
    for id in ["sick", "owed"] {
        assert!(s.device_seen(&id.into(), &"org".into(), 1, 2).is_empty());
    }
    let devices = s.why(&"1".into()).unwrap().tasks.remove(0).devices;
    let gone = devices.iter().find(|(id, _)| *id.0 == *"gone");
    assert_eq!(gone.unwrap().1, crate::Blocked::Offline);
    let seen = s.device_seen(&"well".into(), &"org".into(), 1, 3);
    assert_eq!(places(&seen), [place("1", "well")]);
}

#[test]
fn what_takes_the_server_down_each_time_is_not_run_for_ever() {
    let mut s = with_devices(&[("a", 1)]);
    s.submit(bench("1", "u", 1), 0).unwrap();
    for restart in 0..=u64::from(RESTARTS_MAX) {
        let (next, decisions) = restarted(&s, restart);
        s = next;
        if decisions
            .iter()
            .any(|d| matches!(d, Decision::Finish { .. }))
        {
            assert_eq!(restart, u64::from(RESTARTS_MAX));
            return;
        }
        assigned(&s.device_seen(&"a".into(), &"org".into(), 1, restart));
    }
    panic!("it is still run");
}

#[test]
fn a_record_that_contradicts_itself_is_left_out() {
    let mut s = with_devices(&[]);
    s.submit(bench("1", "u", 1), 0).unwrap();
    let mut stored = s.stored(&"1".into()).unwrap();
    stored.tasks.clear();
    let (s, _, refused) =
        Scheduler::restore(Limits::default(), 0, &[], vec![stored], Before::Stopped, 0);
    assert_eq!(refused, ["1".into()]);
    assert_eq!(s.jobs().count(), 0);
}

#[test]
fn a_job_during_which_the_server_died_twice_is_not_tried_a_third_time() {
    let mut s = with_devices(&[("a", 1)]);
    // Of its two tasks each runs at one of the deaths.
    let mut job = bench("1", "u", 1);
    job.tasks.push(task(Work::Bench(Need(1)), &[0]));
    let first = assigned(&s.submit(job, 0).unwrap());
    s.submit(bench("waits", "u", 1), 0).unwrap();
    // An end in good order does not count.
    let (mut s, _) = restarted(&s, 1);
    let again = assigned(&s.device_seen(&"a".into(), &"org".into(), 1, 2));
    assert_eq!(again.task, first.task);
    let (mut s, decisions) = after(&s, Before::Died, 3);
    assert!(
        !decisions
            .iter()
            .any(|d| matches!(d, Decision::Finish { .. }))
    );
    let again = assigned(&s.device_seen(&"a".into(), &"org".into(), 1, 4));
    let second = assigned(&s.ended(&again, Ending::Passed, 5));
    assert_ne!(second.task, first.task);
    let (mut s, decisions) = after(&s, Before::Died, 6);
    let (axes, ending) = finish(&decisions, "1");
    assert_eq!(ending, Ending::Infra(Infra::ServerDied));
    assert_eq!(axes.ended_because(), Some(EndedBecause::InfraError));
    // One that only waited has lost nothing.
    let decisions = s.device_seen(&"a".into(), &"org".into(), 1, 7);
    assert_eq!(places(&decisions), [place("waits", "a")]);
}

//! Cancels, clocks and draining.

use super::*;
use crate::cause::Infra;

fn stops(decisions: &[Decision]) -> Vec<(Ending, bool)> {
    let stops = decisions.iter().filter_map(|decision| match decision {
        Decision::Stop { ending, hard, .. } => Some((*ending, *hard)),
        _ => None,
    });
    stops.collect()
}

#[test]
fn a_cancel_ends_a_job_wherever_it_is() {
    let mut s = with_devices(&[("a", 1)]);
    let first = assigned(&s.submit(bench("1", "u", 1), 0).unwrap());
    s.submit(bench("2", "u", 1), 0).unwrap();
    let (axes, ending) = finish(&s.cancel(&"2".into(), 1), "2");
    assert_eq!(
        (axes.status(), ending),
        (crate::Status::Failed, Ending::Cancelled)
    );

    assert_eq!(
        stops(&s.cancel(&"1".into(), 2)),
        [(Ending::Cancelled, false)]
    );
    assert!(s.cancel(&"1".into(), 2).is_empty());
    assert_eq!(
        s.axes(&"1".into()).unwrap().status(),
        crate::Status::Stopping
    );
    // What happens to the bench while it stops does not change why it ended.
    s.device_gone(&"a".into(), 3);
    let (axes, ending) = finish(&s.ended(&first, Ending::Infra(Infra::DeviceLost), 4), "1");
    assert_eq!(ending, Ending::Cancelled);
    assert_eq!(axes.ended_because(), Some(EndedBecause::Cancelled));
    assert!(s.cancel(&"1".into(), 5).is_empty());
}

#[test]
fn each_phase_has_its_clock() {
    let mut s = with_devices(&[("a", 1)]);
    let first = assigned(&s.submit(bench("1", "u", 1), 0).unwrap());
    assert_eq!(s.next_deadline_ms(), Some(1000));
    assert!(s.started(&first, 500));
    assert_eq!(s.next_deadline_ms(), Some(50_500));
    // Reporting it again does not restart the clock.
    assert!(s.started(&first, 900));
    assert_eq!(s.next_deadline_ms(), Some(50_500));
    assert!(s.tick(50_499).is_empty());
    let slow = Ending::TimedOut(Clock::Task);
    assert_eq!(stops(&s.tick(50_500)), [(slow, false)]);
    let (axes, _) = finish(&s.ended(&first, Ending::Passed, 50_600), "1");
    assert_eq!(axes.status(), crate::Status::TimedOut);
    assert_eq!(s.next_deadline_ms(), None);
}

#[test]
fn a_slow_start_is_the_benchs_fault_and_retried() {
    let mut s = with_devices(&[("a", 1)]);
    let first = assigned(&s.submit(bench("1", "u", 1), 0).unwrap());
    assert_eq!(
        stops(&s.tick(1000)),
        [(Ending::TimedOut(Clock::Start), false)]
    );
    let decisions = s.ended(&first, Ending::Cancelled, 1100);
    assert!(matches!(decisions[0], Decision::Requeue { .. }));
    assert_eq!(assigned(&decisions).number, 2);
}

#[test]
fn whoever_does_not_stop_is_told_once_more_and_then_given_up_with_its_device() {
    let mut s = with_devices(&[("a", 1)]);
    let first = assigned(&s.submit(bench("1", "u", 1), 0).unwrap());
    s.cancel(&"1".into(), 100);
    assert_eq!(stops(&s.tick(600)), [(Ending::Cancelled, true)]);
    let decisions = s.tick(1100);
    assert!(matches!(decisions[0], Decision::Quarantine { .. }));
    assert_eq!(finish(&decisions, "1").1, Ending::Cancelled);
    assert!(s.ended(&first, Ending::Passed, 1200).is_empty());
    assert!(s.submit(bench("2", "u", 1), 1300).unwrap().is_empty());
}

#[test]
fn waiting_too_long_says_whether_any_device_would_have_fitted() {
    let mut s = with_devices(&[("a", 1)]);
    s.device_gone(&"a".into(), 0);
    s.submit(bench("fits", "u", 1), 0).unwrap();
    s.submit(bench("none", "u", 2), 0).unwrap();
    let decisions = s.tick(1_000_000);
    let (axes, ending) = finish(&decisions, "fits");
    assert_eq!(
        (axes.status(), ending),
        (crate::Status::TimedOut, Ending::QueueTimeout)
    );
    let (axes, ending) = finish(&decisions, "none");
    assert_eq!(
        (axes.status(), ending),
        (crate::Status::Failed, Ending::NoMatchingDevice)
    );
}

#[test]
fn the_whole_job_has_a_clock_over_its_parts() {
    let mut s = with_devices(&[("a", 1)]);
    s.held(&"a".into(), "alice", None);
    let mut job = bench("1", "u", 1);
    job.tasks = vec![task(Work::Build, &[]), task(Work::Bench(Need(1)), &[0])];
    job.clocks.queue_ms = 3_000_000;
    let build = assigned(&s.submit(job, 0).unwrap());
    s.ended(&build, Ending::Passed, 100);
    assert_eq!(s.next_deadline_ms(), Some(2_000_000));
    let (axes, ending) = finish(&s.tick(2_000_000), "1");
    assert_eq!(ending, Ending::TimedOut(Clock::Job));
    assert_eq!(axes.verdict(), Verdict::Pending);
}

#[test]
fn a_device_that_goes_away_takes_its_attempt_along() {
    let mut s = with_devices(&[("a", 1), ("b", 0b11)]);
    let first = assigned(&s.submit(bench("1", "u", 1), 0).unwrap());
    let lost = Ending::Infra(Infra::DeviceLost);
    assert_eq!(stops(&s.device_gone(&"a".into(), 1)), [(lost, false)]);
    let decisions = s.ended(&first, Ending::Cancelled, 2);
    assert_eq!(places(&decisions), [place("1", "b")]);
    // Removed while in use: it is forgotten once the attempt has ended.
    s.device_removed(&"b".into(), 3);
    s.ended(&assigned(&decisions), Ending::Cancelled, 4);
    assert_eq!(s.devices.all().count(), 1);
}

#[test]
fn a_drain_lets_run_what_runs_and_starts_nothing() {
    let mut s = with_devices(&[("a", 1)]);
    assert_eq!(with_devices(&[]).drain(0), [Decision::Drained]);
    let first = assigned(&s.submit(bench("1", "u", 1), 0).unwrap());
    s.submit(bench("2", "u", 1), 0).unwrap();
    assert!(s.drain(1).is_empty());
    assert_eq!(s.submit(bench("3", "u", 1), 1), Err(Refused::Draining));
    let decisions = s.ended(&first, Ending::Passed, 2);
    assert_eq!(decisions.last(), Some(&Decision::Drained));
    assert!(places(&decisions).is_empty());
    assert_eq!(s.stored(&"2".into()).unwrap().axes.state(), State::Queued);
}

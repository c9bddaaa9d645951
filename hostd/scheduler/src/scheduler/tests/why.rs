//! What a person is told about a waiting job.

use super::*;
use crate::why::{Blocked, WhyTask};

fn why(s: &Scheduler<Need>, job: &str) -> WhyTask {
    s.why(&job.into()).unwrap().tasks.remove(0)
}

#[test]
fn every_device_says_what_is_in_the_way() {
    let mut s = with_devices(&[
        ("busy", 1),
        ("gone", 1),
        ("held", 1),
        ("sick", 1),
        ("small", 2),
    ]);
    s.device_gone(&"gone".into(), 0);
    s.held(&"held".into(), "alice", Some(77));
    let quarantine = Quarantine {
        reason: "smoke".to_owned(),
        jobs: vec![],
    };
    s.quarantine(&"sick".into(), quarantine.clone());
    s.submit(bench("1", "bob", 1), 5).unwrap();
    s.submit(bench("2", "carol", 1), 6).unwrap();
    s.submit(bench("3", "bob", 1), 7).unwrap();
    let third = why(&s, "3");
    let expected = [
        (
            "busy",
            Blocked::Busy {
                job: "1".into(),
                user: "bob".into(),
                since_ms: 5,
            },
        ),
        ("gone", Blocked::Offline),
        (
            "held",
            Blocked::Held {
                holder: "alice".to_owned(),
                expires_ms: Some(77),
            },
        ),
        ("sick", Blocked::Quarantined(quarantine)),
        ("small", Blocked::Misfit("lacks 0b1".to_owned())),
    ];
    assert_eq!(
        third.devices,
        expected.map(|(id, blocked)| (id.into(), blocked))
    );
    assert_eq!(third.ahead, Some(1));
    assert_eq!(third.until_ms, Some(7 + CLOCKS.queue_ms));
    assert_eq!(
        third.next,
        "One task is before it. It starts when busy or held becomes free."
    );
    assert_eq!(why(&s, "2").ahead, Some(0));
    assert_eq!(
        why(&s, "1").next,
        "It is being set up on busy, as attempt 1."
    );
}

#[test]
fn the_next_step_is_the_one_that_helps() {
    let mut s = with_devices(&[("a", 1)]);
    s.submit(bench("none", "u", 2), 0).unwrap();
    assert!(
        why(&s, "none")
            .next
            .starts_with("No device of the organisation is what")
    );
    s.device_gone(&"a".into(), 0);
    s.submit(bench("1", "u", 1), 0).unwrap();
    assert!(
        why(&s, "1")
            .next
            .ends_with("It starts when a is back: check cable and power.")
    );
    s.device_seen(&"b".into(), &"org".into(), 2, 0);
    s.drain(0);
    assert!(why(&s, "1").next.contains("starts after the restart"));
    assert!(s.why(&"unknown".into()).is_none());
}

#[test]
fn a_limit_is_named_and_so_is_what_a_task_needs() {
    let limits = Limits {
        running_per_user_max: 1,
        build_slots: 1,
        ..Limits::default()
    };
    let mut s = Scheduler::new(limits, 0);
    s.device_seen(&"a".into(), &"org".into(), 1, 0);
    let mut job = bench("1", "u", 1);
    job.tasks = vec![task(Work::Build, &[]), task(Work::Bench(Need(1)), &[0])];
    s.submit(job, 0).unwrap();
    s.submit(bench("2", "u", 1), 0).unwrap();
    let needs = s.why(&"1".into()).unwrap().tasks.remove(1);
    assert_eq!(needs.next, "It is queued when task 0 has passed.");
    assert!(
        why(&s, "2")
            .next
            .contains("a user may have 1 attempts at once")
    );
    let build = Submission {
        tasks: vec![task(Work::Build, &[])],
        ..bench("3", "v", 1)
    };
    s.submit(build, 0).unwrap();
    assert!(
        why(&s, "3")
            .next
            .ends_with("It starts when one of the 1 build slots is free.")
    );
}

#[test]
fn what_is_in_the_way_is_known_before_anything_is_submitted() {
    let mut s = with_devices(&[("fits", 0b11), ("gone", 0b1), ("small", 0b10)]);
    s.device_gone(&"gone".into(), 0);
    let expected = [
        ("fits", Blocked::Free),
        ("gone", Blocked::Offline),
        ("small", Blocked::Misfit("lacks 0b1".to_owned())),
    ];
    assert_eq!(
        s.prospects(&"org".into(), &Need(0b1)),
        expected.map(|(id, blocked)| (id.into(), blocked))
    );
    assert_eq!(s.prospects(&"other".into(), &Need(0b1)), []);
    assert_eq!(s.jobs().count(), 0);
    let max = s.limits.tasks_max;
    assert_eq!(s.may_have(max), Ok(()));
    for count in [0, max + 1] {
        assert_eq!(s.may_have(count), Err(Refused::Tasks { count, max }));
    }
}

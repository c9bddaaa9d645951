//! What is refused, and what waits even though a place is free.

use super::*;

#[test]
fn the_queue_is_bounded_in_all_by_organisation_and_by_user() {
    let limits = Limits {
        queued_max: 4,
        queued_per_org_max: 3,
        queued_per_user_max: 2,
        ..Limits::default()
    };
    let mut s = Scheduler::new(limits, 0);
    let job = |id: &str, user: &str, org: &str| Submission {
        org: org.into(),
        ..bench(id, user, 1)
    };
    s.submit(job("1", "u", "o"), 0).unwrap();
    s.submit(job("2", "u", "o"), 0).unwrap();
    assert_eq!(s.submit(job("3", "u", "o"), 0), Err(Refused::UserFull(2)));
    s.submit(job("3", "v", "o"), 0).unwrap();
    assert_eq!(s.submit(job("4", "v", "o"), 0), Err(Refused::OrgFull(3)));
    s.submit(job("4", "u", "p"), 0).unwrap();
    assert_eq!(s.submit(job("5", "v", "p"), 0), Err(Refused::Full(4)));
    assert_eq!(
        s.submit(job("1", "u", "o"), 0),
        Err(Refused::Known("1".into()))
    );
    s.cancel(&"1".into(), 0);
    // The last place is not for those who have one.
    assert_eq!(s.submit(job("5", "v", "p"), 0), Err(Refused::OrgFull(1)));
    s.submit(job("5", "u", "q"), 0).unwrap();
}

#[test]
fn what_runs_is_bounded_by_user_organisation_and_server() {
    let limits = |server, org, user| Limits {
        running_max: server,
        running_per_org_max: org,
        running_per_user_max: user,
        ..Limits::default()
    };
    for (limits, users, expected) in [
        (limits(9, 9, 2), ["u", "u", "u", "u"], 2),
        (limits(9, 3, 2), ["u", "u", "v", "v"], 3),
        (limits(1, 3, 2), ["u", "v", "w", "x"], 1),
    ] {
        let mut s = Scheduler::new(limits, 0);
        for device in ["a", "b", "c", "d"] {
            s.device_seen(&device.into(), &"org".into(), 1, 0);
        }
        let mut runs = Vec::new();
        for (number, user) in users.into_iter().enumerate() {
            let decisions = s.submit(bench(&number.to_string(), user, 1), 0).unwrap();
            if !decisions.is_empty() {
                runs.push(assigned(&decisions));
            }
        }
        assert_eq!(runs.len(), expected, "{limits:?}");
        // A place that becomes free is used at once.
        let next = s.ended(&runs[0], Ending::Passed, 1);
        assert_eq!(places(&next).len(), 1, "{limits:?}");
    }
}

#[test]
fn tasks_that_contradict_themselves_are_refused() {
    let mut s = scheduler();
    let with = |tasks: Vec<Task<Need>>| Submission {
        tasks,
        ..bench("1", "u", 1)
    };
    let max = s.limits.tasks_max;
    assert_eq!(
        s.submit(with(vec![]), 0),
        Err(Refused::Tasks { count: 0, max })
    );
    let many = vec![task(Work::Build, &[]); max + 1];
    assert_eq!(
        s.submit(with(many), 0),
        Err(Refused::Tasks {
            count: max + 1,
            max
        })
    );
    let itself = vec![task(Work::Build, &[]), task(Work::Build, &[1])];
    assert_eq!(
        s.submit(with(itself), 0),
        Err(Refused::Needs { task: 1, needs: 1 })
    );
    assert_eq!(s.jobs().count(), 0);
}

//! Jobs that no device will do for, and what is said to those who wait.

use super::*;
use crate::limits::UNMATCHED_MS;
use crate::waits::{Wait, unmatched};

const LONG_MS: u64 = CLOCKS.queue_ms;

/// Time passes until the job ends: how, when, and what was said of the devices.
fn wait_for_end(s: &mut Scheduler<Need>, job: &str) -> (Ending, u64, Vec<(String, String)>) {
    let at_ms = s.next_deadline_ms().expect("something has a clock");
    let decisions = s.tick(at_ms);
    let misfits = decisions.iter().find_map(|decision| match decision {
        Decision::Unmatched { misfits, .. } => Some(misfits.clone()),
        _ => None,
    });
    let misfits = misfits.unwrap_or_default().into_iter();
    let misfits = misfits.map(|(id, lack)| (id.to_string(), lack));
    (finish(&decisions, job).1, at_ms, misfits.collect())
}

fn until_ms(s: &Scheduler<Need>, job: &str) -> Option<u64> {
    s.why(&job.into()).unwrap().tasks[0].until_ms
}

#[test]
fn a_job_that_no_device_will_do_for_fails_within_a_minute_and_says_why() {
    let mut s = with_devices(&[("a", 0b001), ("b", 0b011)]);
    s.device_gone(&"b".into(), 0);
    s.submit(bench("1", "u", 0b100), 5).unwrap();
    let (ending, at_ms, misfits) = wait_for_end(&mut s, "1");
    assert_eq!(
        (ending, at_ms),
        (Ending::NoMatchingDevice, 5 + UNMATCHED_MS)
    );
    let lack = |id: &str| (id.to_owned(), "lacks 0b100".to_owned());
    assert_eq!(misfits, [lack("a"), lack("b")]);
    // One whose own time is shorter has that.
    let mut hasty = bench("2", "u", 0b100);
    hasty.clocks.queue_ms = 10;
    s.submit(hasty, at_ms).unwrap();
    let (ending, end_ms, _) = wait_for_end(&mut s, "2");
    assert_eq!((ending, end_ms), (Ending::NoMatchingDevice, at_ms + 10));
}

#[test]
fn a_device_that_fits_gives_the_job_its_whole_time_again() {
    let mut s = with_devices(&[("a", 0b001)]);
    s.submit(bench("1", "u", 0b100), 0).unwrap();
    assert_eq!(until_ms(&s, "1"), Some(UNMATCHED_MS));
    s.held(&"b".into(), "alice", None);
    s.device_known(&"b".into(), &"other".into(), 0b111);
    assert_eq!(until_ms(&s, "1"), Some(UNMATCHED_MS), "it is not theirs");
    s.device_known(&"c".into(), &"org".into(), 0b111);
    assert_eq!(until_ms(&s, "1"), Some(LONG_MS));
    // It is taken away again: another minute, which looking at the others does not lengthen.
    s.device_removed(&"c".into(), 5_000);
    assert_eq!(until_ms(&s, "1"), Some(5_000 + UNMATCHED_MS));
    s.device_seen(&"d".into(), &"org".into(), 0b001, 9_000);
    assert_eq!(until_ms(&s, "1"), Some(5_000 + UNMATCHED_MS));
    // Somebody corrects what is known of one.
    assert_eq!(
        places(&s.device_seen(&"d".into(), &"org".into(), 0b101, 10_000)),
        [place("1", "d")]
    );
}

#[test]
fn a_device_that_was_never_seen_may_fit() {
    let mut s = scheduler();
    s.device_known(&"away".into(), &"org".into(), 0);
    s.submit(bench("1", "u", 0b100), 0).unwrap();
    assert_eq!(until_ms(&s, "1"), Some(LONG_MS));
    let next = &s.why(&"1".into()).unwrap().tasks[0].next;
    assert!(next.contains("when away is back"), "{next}");
    // Now it is known that it does not.
    s.device_seen(&"away".into(), &"org".into(), 0b001, 7_000);
    assert_eq!(until_ms(&s, "1"), Some(7_000 + UNMATCHED_MS));
    let mut s = scheduler();
    s.device_known(&"away".into(), &"org".into(), NOTHING);
    s.submit(bench("1", "u", 0b100), 0).unwrap();
    assert_eq!(until_ms(&s, "1"), Some(UNMATCHED_MS));
}

#[test]
fn a_restart_leaves_time_for_the_devices_to_be_known() {
    let mut s = with_devices(&[("a", 0b001)]);
    s.held(&"a".into(), "alice", None);
    s.submit(bench("1", "u", 0b001), 0).unwrap();
    let stored = s.stored(&"1".into()).unwrap();
    let (mut s, ..) = Scheduler::restore(
        Limits::default(),
        0,
        &[],
        vec![stored],
        Before::Stopped,
        1_000,
    );
    s.device_known(&"a".into(), &"org".into(), 0b001);
    assert_eq!(until_ms(&s, "1"), Some(1_000 + LONG_MS));
}

#[test]
fn all_that_wait_are_told_for_what() {
    let mut s = with_devices(&[("a", 0b001), ("b", 0b010)]);
    for (job, caps) in [("1", 0b001), ("2", 0b001), ("3", 0b001), ("4", 0b100)] {
        s.submit(bench(job, "u", caps), 0).unwrap();
    }
    let mut build = bench("5", "u", 0);
    build.tasks = vec![task(Work::Build, &[]), task(Work::Bench(Need(0b100)), &[0])];
    s.submit(build, 0).unwrap();
    let mut told = s.waits(|id| format!("the {id}"));
    told.sort_by(|a, b| a.job.0.cmp(&b.job.0));
    let never = "No device of the organisation is what the pipeline asks for. Correct its `device`, or plug one in. \
                 the a: lacks 0b100; the b: lacks 0b100.";
    let expected = [
        ("2", 0, "It is next. It starts when the a becomes free."),
        (
            "3",
            0,
            "One task is before it. It starts when the a becomes free.",
        ),
        ("4", 0, never),
        // Its turn has not come, and it is known already.
        ("5", 1, never),
    ];
    let expected = expected.map(|(job, task, sentence)| Wait {
        job: job.into(),
        task,
        sentence: sentence.to_owned(),
    });
    assert_eq!(told, expected);
    let plain = s.waits(DeviceId::to_string).into_iter();
    for wait in plain.filter(|wait| wait.task == 0) {
        let why = s.why(&wait.job).unwrap().tasks.remove(0);
        assert_eq!(why.next, wait.sentence);
    }
}

#[test]
fn a_sentence_names_a_few_devices() {
    let misfits: Vec<_> = (0..200)
        .map(|number| (format!("d{number}").as_str().into(), "lacks it".to_owned()))
        .collect();
    let sentence = unmatched(&misfits, DeviceId::to_string);
    assert!(sentence.len() < 400, "{sentence}");
    assert!(
        sentence.ends_with("192 others do not fit either."),
        "{sentence}"
    );
    assert!(unmatched(&[], DeviceId::to_string).ends_with("It has none at all."));
    let devices: Vec<(String, u32)> = (0..200)
        .map(|number| (format!("d{number:03}"), 1))
        .collect();
    let devices: Vec<(&str, u32)> = devices.iter().map(|(id, caps)| (&**id, *caps)).collect();
    let mut s = with_devices(&devices);
    for (id, _) in devices {
        s.held(&id.into(), "alice", None);
    }
    s.submit(bench("1", "u", 1), 0).unwrap();
    let told = s.waits(DeviceId::to_string).remove(0).sentence;
    assert!(
        told.ends_with("or d006 or one of 193 others becomes free."),
        "{told}"
    );
}

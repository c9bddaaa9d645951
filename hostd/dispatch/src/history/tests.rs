//! Cases on disk, and what a history makes of them.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use admission::{Admission, Limits};
use evidence::cases::{Counts, Writer};
use evidence::result::{Case, Fault};
use jobs::{Outcome, RunEnd, Skip, Span, StepEnd};
use serde_json::Value;
use store::jobs::{End, Run};

use super::*;

/// A job of one run on a device, whose cases went like this: `p` passed, `f` failed, `b` the bench failed, `s` skipped.
fn job(files: &Files, n: usize, commit: &str, device: &str, cases: &[(&str, char)]) -> Job {
    let id = format!("job{n}");
    let failed = cases.iter().any(|(_, went)| *went == 'f');
    let broken = cases.iter().any(|(_, went)| *went == 'b');
    let code = match (failed, broken) {
        (true, _) => "test.failed",
        (_, true) => "infra.device_lost",
        _ => records::PASSED,
    };
    let end = End {
        ending: Value::Null,
        code: code.into(),
        message: String::new(),
    };
    fs::create_dir_all(files.attempt(&id, 1)).unwrap();
    let mut writer = Writer::new(File::create(files.cases(&id, 1)).unwrap());
    for (name, went) in cases {
        let outcome = match went {
            'p' => CaseOutcome::Passed,
            'f' => CaseOutcome::Failed(Fault::default()),
            'b' => CaseOutcome::BenchFailed(Fault::default()),
            _ => CaseOutcome::Skipped(String::new()),
        };
        let case = Case {
            name: (*name).to_owned(),
            outcome,
            ..Case::default()
        };
        writer.push(case).unwrap();
    }
    let attempt = serde_json::json!({"number": 1, "run": 0, "epoch": 1, "device": device, "lease_id": null, "assigned_ms": 0,
        "started_ms": 0, "ended_ms": 0, "end": end, "log_bytes": 0, "files": []});
    let run = Run {
        id: "bench".into(),
        is_bench: true,
        needs: Vec::new(),
        targets: Vec::new(),
        end: Some(end.clone()),
    };
    serde_json::from_value(serde_json::json!({"id": id, "org": "o", "user": "u", "name": "fw", "ref": "main",
        "commit": commit, "retry_of": null, "archive": null, "axes": null, "queue": null, "end": end, "runs": [run],
        "attempts": [attempt], "created_ms": n, "started_ms": 0, "finished_ms": 0}))
    .unwrap()
}

fn files() -> (tempfile::TempDir, Files) {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::new(folder.path()).unwrap();
    (folder, files)
}

fn looked(files: &Files, text: Option<&str>, limit: usize, jobs: &[Job]) -> History {
    let looking = Looking::new(text.map(str::to_owned));
    looking.all(files, jobs, limit)
}

fn of<'h>(history: &'h History, name: &str) -> &'h CaseHistory {
    let is_it = |case: &&CaseHistory| case.case.as_deref() == Some(name);
    history.cases.iter().find(is_it).unwrap()
}

#[test]
fn what_broke_is_told_from_what_wavers_and_from_the_bench() {
    let (_folder, files) = files();
    let all = [
        ("c4", "d1", [("boot", 'f'), ("radio", 'p'), ("power", 'b')]),
        ("c4", "d2", [("boot", 'f'), ("radio", 'f'), ("power", 'p')]),
        ("c3", "d1", [("boot", 'f'), ("radio", 'p'), ("power", 'b')]),
        ("c2", "d2", [("boot", 'p'), ("radio", 'p'), ("power", 's')]),
        ("c2", "d2", [("boot", 'p'), ("radio", 'p'), ("power", 'p')]),
    ];
    let jobs: Vec<Job> = all
        .iter()
        .enumerate()
        .map(|(n, (commit, device, cases))| job(&files, n, commit, device, cases))
        .collect();
    let history = looked(&files, None, 100, &jobs);
    assert_eq!((history.jobs.len(), history.all), (5, 4));
    assert!(!history.is_cut);
    let boot = of(&history, "boot");
    // It fails since the third job of the newest first, at c3.
    assert_eq!((boot.first_bad, boot.flaky_rate), (Some(2), Some(0.0)));
    let radio = of(&history, "radio");
    assert_eq!((radio.first_bad, radio.flaky_rate), (None, Some(0.5)));
    let power = of(&history, "power");
    assert_eq!((power.first_bad, power.flaky_rate), (None, None));
    let broken: Vec<_> = power
        .seen
        .iter()
        .filter(|seen| seen.went == Went::Broken)
        .collect();
    assert!(
        broken
            .iter()
            .all(|seen| seen.device.as_deref() == Some("d1"))
            && broken.len() == 2
    );
    // What fails comes first: the run itself and the case; what wavers comes next.
    let order: Vec<_> = history
        .cases
        .iter()
        .map(|case| case.case.as_deref())
        .collect();
    assert_eq!(order, [None, Some("boot"), Some("radio"), Some("power")]);
    let found = looked(&files, Some("RAD"), 100, &jobs);
    assert_eq!((found.cases.len(), found.all), (1, 1));
    assert_eq!(looked(&files, None, 2, &jobs).cases.len(), 2);
    assert_eq!(looked(&files, None, 2, &jobs).all, 4);
}

#[test]
fn a_name_that_is_there_twice_counts_once_and_a_failure_counts_most() {
    let (_folder, files) = files();
    let jobs = [job(
        &files,
        0,
        "c",
        "d",
        &[("a", 'p'), ("a", 'f'), ("a", 's'), ("b", 's'), ("b", 'p')],
    )];
    let history = looked(&files, None, 100, &jobs);
    let went = |name| {
        of(&history, name)
            .seen
            .iter()
            .map(|seen| seen.went)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (went("a"), went("b")),
        (vec![Went::Failed], vec![Went::Passed])
    );
}

#[test]
fn what_cannot_be_read_and_what_is_too_much_is_left_out() {
    let (_folder, files) = files();
    let jobs = [
        job(&files, 0, "c", "d", &[("a", 'p'), ("b", 'p')]),
        job(&files, 1, "c", "d", &[("a", 'p')]),
        job(&files, 2, "c", "d", &[("a", 'p')]),
    ];
    // Cut off within its second line, gone, and longer than is read.
    let whole = fs::read(files.cases("job0", 1)).unwrap();
    fs::write(files.cases("job0", 1), &whole[..whole.len() - 9]).unwrap();
    fs::remove_file(files.cases("job1", 1)).unwrap();
    let long = File::options()
        .write(true)
        .open(files.cases("job2", 1))
        .unwrap();
    long.set_len(BYTES_MAX + 1).unwrap();
    let history = looked(&files, None, 100, &jobs);
    assert_eq!(of(&history, "a").seen.len(), 1);
    assert!(history.is_cut && history.all == 2);
    let many: Vec<String> = (0..=CASES_MAX).map(|n| n.to_string()).collect();
    let many: Vec<(&str, char)> = many.iter().map(|name| (name.as_str(), 'p')).collect();
    let history = looked(&files, None, 10, &[job(&files, 3, "c", "d", &many)]);
    assert_eq!(
        (history.all, history.cases.len(), history.is_cut),
        (CASES_MAX, 10, true)
    );
}

#[test]
fn cases_that_cannot_be_opened_end_the_look_at_their_run_alone() {
    let (_folder, files) = files();
    let jobs = [
        job(&files, 0, "c", "d", &[("a", 'p')]),
        job(&files, 1, "c", "d", &[("a", 'p')]),
    ];
    // A link to itself opens for nobody.
    let cases = files.cases("job0", 1);
    fs::remove_file(&cases).unwrap();
    symlink(&cases, &cases).unwrap();
    let history = looked(&files, None, 100, &jobs);
    assert!(history.is_cut);
    let seen: Vec<usize> = of(&history, "a").seen.iter().map(|seen| seen.job).collect();
    assert_eq!((seen, history.jobs.len()), (vec![1], 2));
}

#[test]
fn a_turn_is_taken_until_the_scan_is_over_though_the_caller_has_left() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    runtime.block_on(async {
        let places = Arc::new(Admission::new(Limits {
            permits_max: 1,
            per_user_max: 1,
            per_org_max: 1,
            queued_max: 0,
            wait_max: Duration::ZERO,
        }));
        let place = places.try_enter_owned(None).unwrap();
        let store = Store::in_memory().unwrap();
        // The only thread that scans is busy, so the scan waits for it.
        let (free, until_free) = mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || until_free.recv());
        let scan = last_ended(&store, "o".into(), Filter::default(), place);
        tokio::select! {
            biased;
            _ = scan => panic!("the scan has ended"),
            () = std::future::ready(()) => {}
        }
        assert_eq!(places.taken(), 1);
        free.send(()).unwrap();
        busy.await.unwrap().unwrap();
        // What comes next on the thread runs after the scan.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        assert_eq!(places.taken(), 0);
    });
}

#[test]
fn steps_that_are_a_case_count_beside_those_of_programs() {
    let (_folder, files) = files();
    let jobs = [
        job(&files, 0, "c", "d", &[("of pytest", 'p')]),
        job(&files, 1, "c", "d", &[]),
    ];
    let step = |case: Option<&str>, outcome: Outcome, passed: u64| StepEnd {
        at: "benches[0].steps[0]".into(),
        name: "step".into(),
        case: case.map(str::to_owned),
        outcome,
        exit_code: None,
        time: Span::default(),
        tail: String::new(),
        counts: Counts {
            passed,
            ..Counts::default()
        },
        cases: Vec::new(),
        captures: Vec::new(),
        measurements: Vec::new(),
    };
    let end = |steps: Vec<StepEnd>| RunEnd {
        steps,
        ..RunEnd::bare(("bench", true), Outcome::Passed, Span::default())
    };
    let first = end(vec![
        step(Some("banner"), Outcome::Passed, 0),
        step(None, Outcome::Passed, 1),
    ]);
    let second = end(vec![step(
        Some("banner"),
        Outcome::Skipped(Skip::StepFailed),
        0,
    )]);
    for (job, end) in [("job0", first), ("job1", second)] {
        fs::write(files.end(job, 1), serde_json::to_vec(&end).unwrap()).unwrap();
    }
    let history = looked(&files, None, 100, &jobs);
    let went = |name: &str| {
        let seen = of(&history, name).seen.iter();
        seen.map(|seen| (seen.job, seen.went)).collect::<Vec<_>>()
    };
    assert_eq!(went("banner"), [(0, Went::Passed), (1, Went::Skipped)]);
    assert_eq!(went("of pytest"), [(0, Went::Passed)]);
    assert!(!history.is_cut);
}

//! Jobs that somebody cancels, at any moment.

use std::thread;
use std::time::{Duration, Instant};

use jobs::{Cancel, Event, Live, Outcome, Request, Runner, Skip};

use crate::Case;
use crate::home::{Home, pipeline_of, plan};

pub(crate) const CASES: &[Case] = &[
    ("a_job_that_was_cancelled_before_does_nothing", before),
    ("a_step_that_runs_ends_at_once", step),
    ("cancelling_at_any_moment_leaves_nothing", any_moment),
];

fn before() {
    let home = Home::new();
    home.cancel.cancel();
    let run = home.build("      - run: 'true'");
    assert_eq!(run.outcome, Outcome::Skipped(Skip::Cancelled));
}

fn step() {
    let home = Home::new();
    let text = pipeline_of(
        "",
        "      - run: echo here; setsid sleep 1000 & sleep 1000\n      - { run: 'echo no', if: always }",
    );
    let plan = plan(&text);
    let runner = Runner::open(home.options.clone()).unwrap();
    let request = Request::new(&plan, home.source(), home.out());
    let (live, mut events) = Live::new();
    let cancel = Cancel::default();
    let (job, took) = thread::scope(|scope| {
        let job = scope.spawn(|| runner.run(&request, &live, &cancel).unwrap());
        assert!(events.any(|event| matches!(event, Event::Output(..))));
        let begun = Instant::now();
        cancel.cancel();
        (job.join().unwrap(), begun.elapsed())
    });
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(job.runs[0].outcome, Outcome::Cancelled);
    assert_eq!(
        job.runs[0].steps[1].outcome,
        Outcome::Skipped(Skip::StepFailed)
    );
    assert_eq!(
        (job.verdict().exit_code(), job.verdict().word()),
        (4, "cancelled")
    );
    home.is_clean();
}

/// Sources to copy, a cache to restore and to keep, artifacts to take: the moments of cancelling hit
/// each of them.
fn any_moment() {
    let home = Home::new();
    for file in 0..80 {
        home.write(&format!("src/{file}/a.c"), "int a;");
    }
    let steps = "      - run: mkdir -p .cache; cp -r src .cache/; cp -r src \"$HOSTD_OUT\"; echo x > \"$HOSTD_OUT/fw\"
    cache: { key: ['src/**'], paths: [.cache] }
    packs: [{ id: a, artifacts: [fw] }, { id: b, artifacts: [fw] }]";
    let plan = plan(&pipeline_of("", steps));
    let runner = Runner::open(home.options.clone()).unwrap();
    let request = Request::new(&plan, home.source(), home.out());
    let run = |cancel: &Cancel| {
        let (live, _events) = Live::new();
        runner.run(&request, &live, cancel).unwrap()
    };
    let begun = Instant::now();
    let whole = run(&Cancel::default());
    assert_eq!(whole.verdict().exit_code(), 0, "{whole:?}");
    // The first one may take far longer than the others, which find the cache.
    let mut whole = begun.elapsed();
    let mut cancelled = 0;
    for (count, moment) in (0..16).cycle().take(160).enumerate() {
        if count >= 16 && cancelled >= 5 {
            break;
        }
        let cancel = Cancel::default();
        let begun = Instant::now();
        let job = thread::scope(|scope| {
            let job = scope.spawn(|| run(&cancel));
            thread::sleep(whole * moment / 12);
            cancel.cancel();
            job.join().unwrap()
        });
        match job.verdict().exit_code() {
            0 => whole = whole.min(begun.elapsed()),
            4 => cancelled += 1,
            _ => panic!("{:?}", job.verdict()),
        }
        home.is_clean();
    }
    assert!(cancelled >= 5, "{cancelled} were cancelled");
}

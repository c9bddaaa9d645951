//! How runs of benches end that do not go well.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jobs::{BenchError, Cancel, Clock, Event, Failure, Live, Outcome, Runner, Skip, Task, Watch};

use super::{bench, job, job_telling, pipeline_of, words};
use crate::Case;
use crate::fake::{Fake, Way};
use crate::home::{Home, eventually, plan};

pub(crate) const CASES: &[Case] = &[
    ("a_device_that_is_lost_is_the_bench_s_fault", lost),
    ("a_run_that_has_spoken_is_not_repeated", spoken),
    ("a_device_that_does_not_end_meets_the_clock", timeouts),
    ("a_cancel_ends_every_action_and_always_is_done", cancels),
    ("what_is_always_done_is_done_after_a_failure", always),
    ("nothing_is_shown_that_may_not_be_shown", unseen),
    ("an_artifact_that_is_gone_is_no_failure_of_the_test", gone),
    ("without_a_device_a_bench_is_not_run", without),
];

const STEPS: &str = "      - flash: { artifact: fw.elf }
      - { run: 'true' }
    always: [{ power: { rail: internal, state: off } }]";

fn failing(name: &'static str, error: BenchError) -> Fake {
    Fake {
        ways: vec![(name, Way::Fails(error))],
        ..Fake::default()
    }
}

fn lost() {
    let why = || "it was unplugged".to_owned();
    for (error, kind) in [
        (BenchError::Lost(why()), "infra.device_lost"),
        (BenchError::Probe(why()), "infra.probe_unreachable"),
        (BenchError::WrongTarget(why()), "infra.wrong_target"),
        (BenchError::LeaseLost(why()), "infra.lease_lost"),
    ] {
        let home = Home::new();
        let fake = failing("flash", error);
        let text = pipeline_of("retry: { infra: 2 }", STEPS);
        let (job, _) = job(&home, &fake, &text, &Cancel::default());
        let run = &job.runs[1];
        assert_eq!(run.outcome.kind(), Some(kind));
        assert_eq!(words(&run.steps), ["infrastructure", "skipped", "passed"]);
        assert_eq!((run.attempts, job.verdict().exit_code()), (3, 3));
        assert_eq!(fake.calls(), ["flash firmware", "power Off"].repeat(3));
        assert!(!run.has_test_output);
    }
}

fn spoken() {
    let fake = failing("reset", BenchError::Lost("it was unplugged".to_owned()));
    let run = bench(&fake, "      - { run: 'echo testing' }\n      - reset: {}");
    assert_eq!(run.outcome.kind(), Some("infra.device_lost"));
    assert!(run.has_test_output && !run.may_repeat());
    assert_eq!(run.attempts, 1);
}

fn timeouts() {
    for (name, steps) in [
        (
            "flash",
            "      - { flash: { artifact: fw.elf }, timeout: 200ms }",
        ),
        (
            "power",
            "      - { power: { rail: internal, state: on }, timeout: 200ms }",
        ),
        (
            "record",
            "      - { capture: { kind: adc, rate: 1MHz, samples: 10 }, timeout: 200ms }",
        ),
    ] {
        let fake = Fake {
            ways: vec![(name, Way::Hangs)],
            ..Fake::default()
        };
        let timeout = Failure::Timeout(Clock::Step, Duration::from_millis(200));
        assert_eq!(
            bench(&fake, steps).outcome,
            Outcome::Failed(timeout),
            "{name}"
        );
    }
    let home = Home::new();
    let text = pipeline_of("timeouts: { test: 300ms }", "      - wait: 10s");
    let (job, _) = job(&home, &Fake::default(), &text, &Cancel::default());
    let told = job.runs[1].outcome.to_string();
    assert!(told.ends_with("raise `timeouts.test`"), "{told}");
}

fn cancels() {
    for (name, step) in [
        ("flash", "flash: { artifact: fw.elf }"),
        ("record", "capture: { kind: adc, rate: 1MHz, samples: 10 }"),
        ("", "uart: { expect: never }"),
        ("", "wait: 5m"),
        ("", "run: sleep 1000"),
    ] {
        let home = Home::new();
        let fake = Fake {
            ways: vec![(name, Way::Hangs)],
            ..Fake::default()
        };
        let cancel = Cancel::default();
        let text = pipeline_of(
            "",
            &format!(
                "      - power: {{ rail: internal, state: on }}
      - {step}
    always: [{{ power: {{ rail: internal, state: off }} }}]"
            ),
        );
        let started = Arc::new(AtomicUsize::default());
        let count = Arc::clone(&started);
        let live = Live::listening(Arc::new(move |event: &Event| {
            if matches!(event, Event::StepStarted(_)) {
                count.fetch_add(1, Ordering::SeqCst);
            }
        }));
        let begun = Instant::now();
        let job = thread::scope(|scope| {
            scope.spawn(|| {
                // After that of the build, and the one that gives power.
                eventually("the step", || started.load(Ordering::SeqCst) == 3);
                thread::sleep(Duration::from_millis(200));
                cancel.cancel();
            });
            job_telling(&live, &home, &fake, &text, &cancel)
        });
        assert_eq!(job.runs[1].outcome, Outcome::Cancelled, "{step}");
        assert_eq!(words(&job.runs[1].steps), ["passed", "cancelled", "passed"]);
        assert_eq!(fake.calls().last().unwrap(), "power Off");
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_eq!(job.verdict().exit_code(), 4);
    }
}

fn always() {
    let steps = "      - { run: 'exit 4' }
    always:
      - reset: {}
      - { wait: 1ms, if: failure }
      - power: { rail: internal, state: off }";
    let fake = failing(
        "reset",
        BenchError::Refused("it has no reset line".to_owned()),
    );
    let run = bench(&fake, steps);
    assert_eq!(run.outcome, Outcome::Failed(Failure::Exit(4)));
    assert_eq!(
        words(&run.steps),
        ["failed", "definition", "passed", "passed"]
    );
    let run = bench(&fake, &steps.replace("exit 4", "true"));
    assert_eq!(run.outcome.kind(), Some("refused"));
    assert_eq!(
        words(&run.steps),
        ["passed", "definition", "passed", "passed"]
    );
}

#[derive(Default)]
struct Refusing {
    started: AtomicUsize,
    asked: AtomicUsize,
}

impl Watch for Refusing {
    fn started(&self) {
        self.started.fetch_add(1, Ordering::SeqCst);
    }

    fn first_output(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst);
        false
    }
}

fn unseen() {
    for step in ["run: echo shown", "{ wait: 1ms, case: waits }"] {
        let home = Home::new();
        let text = pipeline_of("", &format!("      - {step}\n      - {{ run: 'true' }}"));
        let plan = plan(&text);
        let fake = Fake::default();
        let watch = Refusing::default();
        let built = home.path().join("fw.elf");
        std::fs::write(&built, "firmware").unwrap();
        let runner = Runner::open(home.options.clone()).unwrap();
        let (live, events) = Live::new();
        let found = |_: &pipeline::plan::Artifact| Some(built.clone());
        let task = Task {
            bench: Some(&fake),
            watch: &watch,
            artifact: &found,
            ..Task::new(
                &plan,
                &plan.runs[1],
                home.source(),
                home.path().join("attempt"),
            )
        };
        let ended = runner.attempt(&task, &live, &Cancel::default()).unwrap();
        drop((task, live));
        assert_eq!(ended.outcome, Outcome::Cancelled);
        assert!(!ended.has_test_output);
        let asked = watch.asked.load(Ordering::SeqCst);
        assert_eq!((watch.started.load(Ordering::SeqCst), asked), (1, 1));
        let log = std::fs::read(home.path().join("attempt/log")).unwrap();
        assert!(!String::from_utf8_lossy(&log).contains("shown\n--"));
        assert!(!format!("{:?}", events.collect::<Vec<_>>()).contains("Output("));
    }
}

fn gone() {
    let home = Home::new();
    let plan = plan(&pipeline_of("", "      - flash: { artifact: fw.elf }"));
    let runner = Runner::open(home.options.clone()).unwrap();
    let (live, _events) = Live::new();
    let fake = Fake::default();
    let task = Task {
        bench: Some(&fake),
        ..Task::new(
            &plan,
            &plan.runs[1],
            home.source(),
            home.path().join("attempt"),
        )
    };
    let ended = runner.attempt(&task, &live, &Cancel::default()).unwrap();
    assert_eq!(ended.outcome.kind(), Some("infra.files"));
    assert!(fake.calls().is_empty());
}

fn without() {
    let home = Home::new();
    let plan = plan(&pipeline_of("", "      - wait: 1ms"));
    let runner = Runner::open(home.options.clone()).unwrap();
    let (live, _events) = Live::new();
    let task = Task::new(
        &plan,
        &plan.runs[1],
        home.source(),
        home.path().join("attempt"),
    );
    let ended = runner.attempt(&task, &live, &Cancel::default()).unwrap();
    assert_eq!(ended.outcome, Outcome::Skipped(Skip::NoBench));
    let build = Task::new(
        &plan,
        &plan.runs[0],
        home.source(),
        home.path().join("build"),
    );
    let ended = runner.attempt(&build, &live, &Cancel::default()).unwrap();
    let made = home.path().join("build/artifacts/fw.elf");
    assert_eq!(ended.artifacts[0].path, made);
    assert!(made.is_file());
}

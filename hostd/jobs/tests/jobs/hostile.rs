//! Builds that do harm, by accident or not.

use std::fs;
use std::time::{Duration, Instant};

use jobs::{Breakage, Clock, Failure, Outcome, StartError};

use crate::Case;
use crate::home::{Home, pipeline_of};

pub(crate) const CASES: &[Case] = &[
    ("a_hanging_step_ends_with_its_time", hanging),
    ("a_run_and_a_job_end_with_their_time", timeouts),
    ("output_without_end_is_bounded", endless),
    ("the_end_of_much_output_is_kept", much),
    ("a_fork_bomb_is_held_and_named", fork_bomb),
    ("a_memory_bomb_is_held_and_named", memory_bomb),
    ("too_many_files_are_noticed", disk),
    ("what_has_no_name_or_cannot_be_read_is_noticed", hidden_disk),
    ("many_small_files_are_noticed", many_files),
    ("a_full_disk_is_the_machine_s_fault", full_disk),
    ("a_secret_is_in_no_result", secrets),
    ("a_secret_that_is_not_there_begins_no_job", no_secret),
    ("a_machine_without_jails_is_the_machine_s_fault", no_jail),
    ("a_build_asks_for_what_is_not_there", unsupported),
    (
        "a_network_that_cannot_be_had_is_told_with_its_cure",
        no_slirp4netns,
    ),
    ("whatever_a_build_leaves_is_removed", leftovers),
];

fn hanging() {
    let home = Home::new();
    let begun = Instant::now();
    let steps = "      - { run: 'setsid sleep 1000 & sleep 1000', timeout: 1s }
      - { run: 'echo looked', if: failure }";
    let run = home.build(steps);
    let timeout = Failure::Timeout(Clock::Step, Duration::from_secs(1));
    assert_eq!(run.outcome, Outcome::Failed(timeout));
    assert!(run.steps[1].outcome.has_passed());
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(run.outcome.to_string().contains("`timeout`"));
}

fn timeouts() {
    let home = Home::new();
    let steps = "      - run: sleep 1000\n      - { run: 'true', if: always }";
    for (head, clock) in [
        ("timeouts: { build: 1s }", Clock::Run),
        ("timeouts: { job: 1s, build: 1s }", Clock::Run),
    ] {
        let (job, _) = home.run(&pipeline_of(head, steps));
        let run = &job.runs[0];
        let Outcome::Failed(Failure::Timeout(of, _)) = run.outcome else {
            panic!("{:?}", run.outcome);
        };
        assert!(of == clock || head.contains("job"), "{of:?}");
        // There is no time left for this step.
        assert!(matches!(run.steps[1].outcome, Outcome::Skipped(_)));
    }
    let text = "version: 1
timeouts: { job: 1s, build: 1s }
builds:
  - { id: a, steps: [{ run: sleep 0.7 }] }
  - { id: b, steps: [{ run: sleep 0.7 }] }
  - { id: c, steps: [{ run: sleep 0.7 }] }
";
    let (job, _) = home.run(text);
    assert!(job.hit_timeout(), "{job:?}");
    assert_eq!(job.verdict().exit_code(), 1);
}

fn endless() {
    let home = Home::new();
    let head = "limits: { log: 1MiB }";
    let steps = "      - { run: yes, timeout: 2s }";
    let (job, _) = home.run(&pipeline_of(head, steps));
    let run = &job.runs[0];
    assert_eq!(run.outcome.kind(), Some("timeout"));
    assert!(run.log.dropped > 1 << 20, "{:?}", run.log);
    let size = home.out().join("logs/fw/1/log").metadata().unwrap().len();
    assert!(size < 4 << 20, "{size} bytes");
    assert!(run.log.bytes <= 3 << 20);
}

fn much() {
    let home = Home::new();
    let head = "limits: { log: 64KiB }";
    let steps = "      - run: yes | head -c 20000000; echo; echo the very end";
    let (job, _) = home.run(&pipeline_of(head, steps));
    assert!(job.runs[0].outcome.has_passed());
    assert!(job.runs[0].steps[0].tail.ends_with("the very end\n"));
    assert!(home.log("fw").contains("the very end\n"));
}

fn fork_bomb() {
    let home = Home::new();
    let head = "limits: { processes: 40 }";
    let steps = "      - { run: 'bomb() { bomb | bomb & wait; exit 1; }; bomb', timeout: 20s }";
    let (job, _) = home.run(&pipeline_of(head, steps));
    let run = &job.runs[0];
    let is_named =
        matches!(run.outcome, Outcome::Failed(Failure::Processes(refused, 40)) if refused > 0);
    let is_counted = is_group(bounds().processes);
    assert!(is_named || !is_counted, "{:?}", run.outcome);
    assert_eq!(job.verdict().exit_code(), 1);
}

/// What enforces limits here: only groups count what they refuse.
fn bounds() -> jail::Bounds {
    let jail = jail::Jail::open(&jail::Options::default()).unwrap();
    jail.bounds()
}

fn is_group(hold: jail::Hold) -> bool {
    matches!(hold, jail::Hold::GroupV1 | jail::Hold::GroupV2)
}

fn memory_bomb() {
    let home = Home::new();
    let head = "limits: { memory: 64MiB }";
    // First a process of the build, then the build's shell itself.
    for steps in [
        "      - run: tail /dev/zero; echo still here",
        "      - run: exec tail /dev/zero",
    ] {
        let (job, _) = home.run(&pipeline_of(head, steps));
        let run = &job.runs[0];
        if !is_group(bounds().memory) {
            assert_eq!(job.verdict().exit_code(), 1);
            continue;
        }
        assert_eq!(run.outcome, Outcome::Failed(Failure::Memory(64 << 20)));
        assert!(run.outcome.to_string().contains("`limits.memory`"));
    }
}

fn disk() {
    let home = Home::new();
    let head = "limits: { disk: 8MiB }";
    for steps in [
        "      - run: for i in 1 2 3 4; do head -c 4000000 /dev/zero > $i; done",
        "      - run: head -c 100000000 /dev/zero > big",
        "      - { run: 'i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > $i; done', timeout: 60s }",
    ] {
        let (job, _) = home.run(&pipeline_of(head, steps));
        assert_eq!(
            job.runs[0].outcome,
            Outcome::Failed(Failure::Disk(8 << 20)),
            "{steps}"
        );
    }
    home.write("big", &"x".repeat(9 << 20));
    let (job, _) = home.run(&pipeline_of(head, "      - run: 'true'"));
    assert_eq!(job.runs[0].outcome.kind(), Some("disk_limit"));
}

fn hidden_disk() {
    let home = Home::new();
    let head = "limits: { disk: 8MiB }";
    for steps in [
        // Held by a process, and only as long as that runs.
        "      - { run: 'exec 3>a 4>b; rm a b; head -c 5000000 /dev/zero >&3; head -c 5000000 /dev/zero >&4; sleep 1000', timeout: 60s }",
        "      - { run: 'mkdir d; head -c 5000000 /dev/zero > d/a; head -c 5000000 /dev/zero > d/b; chmod 0 d; sleep 1000', timeout: 60s }",
        // Seen when nothing runs any more.
        "      - run: mkdir d; head -c 5000000 /dev/zero > d/a; head -c 5000000 /dev/zero > d/b; chmod 0 d",
    ] {
        let (job, _) = home.run(&pipeline_of(head, steps));
        let outcome = &job.runs[0].outcome;
        assert_eq!(outcome, &Outcome::Failed(Failure::Disk(8 << 20)), "{steps}");
    }
    // A hole takes nothing, nor does a second name.
    let steps =
        "      - run: truncate -s 5000M hole; head -c 5000000 /dev/zero > a; ln a b; ln a c";
    let (job, _) = home.run(&pipeline_of("limits: { disk: 8GiB }", steps));
    assert!(job.runs[0].outcome.has_passed(), "{:?}", job.runs[0]);
    let steps = "      - run: head -c 5000000 /dev/zero > a; ln a b; ln a c; sleep 0.5";
    let (job, _) = home.run(&pipeline_of(head, steps));
    assert!(job.runs[0].outcome.has_passed(), "{:?}", job.runs[0]);
}

/// A disk has only so many.
fn many_files() {
    let home = Home::new();
    let head = "limits: { disk: 8MiB }";
    for (count, has_passed) in [(1500, true), (2500, false)] {
        let steps = format!("      - run: seq {count} | xargs touch");
        let (job, _) = home.run(&pipeline_of(head, &steps));
        assert_eq!(job.runs[0].outcome.has_passed(), has_passed, "{count}");
    }
}

fn full_disk() {
    let mut home = Home::new();
    home.options.floor_bytes = u64::MAX;
    let run = home.build("      - run: sleep 1000");
    assert_eq!(run.outcome, Outcome::Broken(Breakage::DiskFull));
    let run = home.build("      - run: exit 1");
    assert_eq!(run.outcome, Outcome::Broken(Breakage::DiskFull));
}

fn secrets() {
    let mut home = Home::new();
    home.secrets
        .insert("KEY".to_owned(), "open-sesame-42".to_owned());
    let steps = "      - run: |
          echo \"raw $K\"; echo \"$K\" | base64; printf 'open-sesa'; sleep 0.2; echo 'me-42'
          echo \"<testsuite><testcase name='$K'><failure message='$K'>$K</failure></testcase></testsuite>\" > t.xml
        env: { K: { secret: KEY } }
        junit: t.xml
        case: uses a secret
      - { run: 'test -z \"$K\"', if: always }";
    let (job, events) = home.run(&pipeline_of("", steps));
    let run = &job.runs[0];
    assert_eq!(run.outcome.kind(), Some("tests"));
    assert!(run.steps[1].outcome.has_passed());
    // In base 64, a character beside the mark has bits of a neighbour.
    let tail = &run.steps[0].tail;
    let lines: Vec<&str> = tail
        .lines()
        .map(|line| line.trim_matches(['b', 'K']))
        .collect();
    assert_eq!(lines, ["raw [secret]", "[secret]", "[secret]"], "{tail}");
    let subject = jobs::Subject::default();
    jobs::write_reports(&job, &subject, &[], &home.out()).unwrap();
    let mut told = format!("{job:?} {events:?}");
    for name in ["log.txt", "junit.xml", "report.html", "trace.json"] {
        told += &fs::read_to_string(home.out().join(name)).unwrap();
    }
    for form in ["sesame", "b3Blbi1zZXNhbW"] {
        assert!(!told.contains(form), "{form}");
    }
}

fn no_secret() {
    let mut home = Home::new();
    let steps = "      - { run: 'true', env: { K: { secret: KEY } } }";
    let refused = |home: &Home| home.try_run(&pipeline_of("", steps)).unwrap_err();
    assert!(matches!(refused(&home), StartError::NoSecret(..)));
    home.secrets.insert("KEY".to_owned(), "short".to_owned());
    assert!(matches!(refused(&home), StartError::Secret(_)));
    // Nor is a folder cleared that no job has filled.
    home.secrets.clear();
    fs::create_dir_all(home.out().join("artifacts")).unwrap();
    let refused = home.try_run(&pipeline_of("", "      - run: 'true'"));
    assert!(matches!(refused, Err(StartError::ForeignOut(_))));
}

fn no_jail() {
    let mut home = Home::new();
    home.options.jail.program = "/bin/false".into();
    let (job, _) = home.run(&pipeline_of("retry: { infra: 2 }", "      - run: 'true'"));
    let run = &job.runs[0];
    assert_eq!(run.outcome.kind(), Some("infra.jail"));
    assert_eq!(run.attempts, 3);
    assert_eq!(job.verdict().exit_code(), 3);
}

fn unsupported() {
    let home = Home::new();
    let steps = "      - run: 'true'\n    sandbox: { network: true }";
    assert_eq!(home.build(steps).outcome.kind(), Some("infra.unsupported"));
}

/// Permitted, but not possible: the machine's fault, with its cure. Who does not ask is not concerned.
fn no_slirp4netns() {
    let mut home = Home::new();
    home.options.jail.slirp4netns = None;
    home.network = Some(jail::Reach::Public);
    let steps = "      - run: 'true'\n    sandbox: { network: true }";
    let run = home.build(steps);
    assert_eq!(run.outcome.kind(), Some("infra.no_isolation"));
    let told = run.outcome.to_string();
    assert!(told.contains("apt install slirp4netns"), "{told}");
    assert_eq!(run.network, home.network);
    let run = home.build("      - run: 'true'");
    assert!(run.outcome.has_passed() && run.network.is_none());
}

fn leftovers() {
    let home = Home::new();
    // Deeper than paths can be, unreadable, and with names that removal itself would use.
    let steps = "      - run: |
          mkdir .1 locked; touch .1/x .2 locked/y
          i=0; while [ $i -lt 600 ]; do mkdir directory-$i; cd directory-$i; i=$((i+1)); done
          cd /job; chmod 0 locked .1; chmod 500 directory-0";
    let (job, _) = home.run(&pipeline_of("", steps));
    // A tree this deep cannot be measured, and counts as too large.
    assert_eq!(job.runs[0].outcome.kind(), Some("disk_limit"));
}

//! Runs of benches, with a device that does what a script says.

mod endings;
mod lines;
mod loans;
mod measures;
mod rules;

use std::fs;
use std::time::{Duration, Instant};

use jobs::{
    BenchError, Cancel, CaptureFile, Event, Failure, Job, Live, Outcome, Request, RunEnd, Runner,
    StepEnd, Subject, write_reports,
};

use crate::Case;
use crate::fake::{Fake, Way, transfer};
use crate::home::{Home, plan};
use serde_json::json;

use loans::OnlyOne;

const OWN: &[Case] = &[
    ("a_bench_does_all_that_its_steps_say", whole),
    ("a_device_without_monitors_is_asked_once", unmeasured),
    ("marks_have_no_secrets", marked_without_secrets),
    ("programs_of_a_bench_have_what_was_built", programs),
    ("what_a_build_masks_is_masked_on_the_bench", masked),
    (
        "a_channel_that_has_a_role_is_not_that_of_its_name_besides",
        claimed,
    ),
    ("a_capture_is_decoded_and_its_result_kept", decoding),
    ("transfers_that_are_missing_fail_the_assertion", missing),
    ("what_a_capture_waits_for_may_not_come", no_trigger),
    (
        "a_capture_in_the_background_is_waited_for_at_the_end",
        collected,
    ),
];

pub(crate) fn cases() -> impl Iterator<Item = Case> {
    [
        OWN,
        endings::CASES,
        lines::CASES,
        loans::CASES,
        measures::CASES,
        rules::CASES,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// A pipeline with a build that makes `fw.elf`, and a bench with these steps and further keys.
fn pipeline_of(head: &str, steps: &str) -> String {
    format!(
        "version: 1
{head}
builds:
  - id: fw
    steps: [{{ run: 'echo firmware > \"$HOSTD_OUT/fw.elf\"' }}]
    packs: [{{ id: a, artifacts: [fw.elf] }}]
benches:
  - id: smoke
    for_each: fw
    device: {{ name: bench-1 }}
    steps:
{steps}
"
    )
}

fn job(home: &Home, fake: &Fake, text: &str, cancel: &Cancel) -> (Job, Vec<Event>) {
    let (live, events) = Live::new();
    let job = job_telling(&live, home, fake, text, cancel);
    drop(live);
    (job, events.collect())
}

/// A job that says there what happens.
fn job_telling(live: &Live, home: &Home, fake: &Fake, text: &str, cancel: &Cancel) -> Job {
    let plan = plan(text);
    let runner = Runner::open(home.options.clone()).unwrap();
    let mut request = Request::new(&plan, home.source(), home.out());
    let benches = OnlyOne(fake);
    request.benches = Some(&benches);
    let job = runner.run(&request, live, cancel).unwrap();
    home.is_clean();
    assert_eq!(job.runs[0].outcome, Outcome::Passed, "the build");
    job
}

/// The run of a bench with these steps.
fn bench(fake: &Fake, steps: &str) -> RunEnd {
    let home = Home::new();
    let (mut job, _) = job(&home, fake, &pipeline_of("", steps), &Cancel::default());
    job.runs.remove(1)
}

fn words(steps: &[StepEnd]) -> Vec<&str> {
    steps.iter().map(|step| step.outcome.word()).collect()
}

fn whole() {
    let home = Home::new();
    let fake = Fake {
        boot: vec!["boot o", "k\r\n"],
        records: Duration::from_millis(200),
        transfers: vec![transfer(0x76, &[0xd0]), transfer(0x76, &[0x60])],
        ..Fake::default()
    };
    let steps = "      - power: { rail: internal, state: on }
      - flash: { artifact: fw.elf }
      - capture: { kind: la, channels: { scl: 3, sda: 4 }, rate: 10MHz, samples: 1000 }
        id: boot
        background: true
      - reset: {}
      - uart: { expect: 'boot ok' }
        case: banner
        timeout: 2s
      - assert: { on: boot, decode: i2c, address: 0x76, ack: true, min_count: 2 }
        case: sensor answers
      - replay: { waveform: battery-sag, output: 5v }
      - wait: 10ms
    always:
      - power: { rail: internal, state: off }";
    let (job, events) = job(&home, &fake, &pipeline_of("", steps), &Cancel::default());
    let run = &job.runs[1];
    assert_eq!(run.outcome, Outcome::Passed, "{run:?}");
    assert_eq!(
        (job.verdict().exit_code(), run.device.as_deref()),
        (0, Some("fake-1"))
    );
    let calls = [
        "power On",
        // Before what makes the target speak.
        "uart 115200",
        "flash firmware",
        "capture 1000",
        "reset 50ms",
        "decode 01CAPTURE scl=3 sda=4",
        "replay battery-sag",
        "power Off",
    ];
    let mut told = fake.calls();
    // Whether the line is opened for the first step or for the second is no matter.
    told.sort_by_key(|call| call != "power On");
    assert_eq!(told[..2], calls[..2]);
    assert_eq!(told, calls);
    // The capture belongs to the step that made it and to the one that used it.
    for step in [2, 5] {
        assert_eq!(run.steps[step].captures[0].id, "01CAPTURE");
        assert_eq!(run.steps[step].captures[0].name, "boot");
    }
    // That it was recorded otherwise than it was asked for is told once.
    let log = home.log(&run.id);
    let warning = "-- boot: it was recorded at 8 MHz\n";
    assert_eq!(log.matches(warning).count(), 1, "{log}");
    assert!(run.has_test_output && run.steps[4].tail.contains("boot ok"));
    let said: Vec<u8> = events
        .iter()
        .filter_map(|event| match event {
            Event::Output(evidence::log::Stream::Uart, bytes) => Some(bytes.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(String::from_utf8(said).unwrap(), "boot ok\r\nboot ok\r\n");
    has_reports(&job, &home);
    // What is stored comes back as it was.
    let text = serde_json::to_string(run).unwrap();
    let back: RunEnd = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
    assert_eq!(back.steps.len(), run.steps.len());
}

fn has_reports(job: &Job, home: &Home) {
    let subject = Subject {
        name: "blinky".to_owned(),
        ..Subject::default()
    };
    let run = job.runs[0].id.clone();
    let captures = [CaptureFile {
        run: run.clone(),
        file: "boot.sr".to_owned(),
    }];
    let files = write_reports(job, &subject, &captures, &home.out()).unwrap();
    let page = fs::read_to_string(files.report).unwrap();
    let link = format!("<a href=\"./captures/{run}/boot.sr\">boot.sr</a>");
    assert!(page.contains(&link), "{page}");
    let junit = fs::read_to_string(files.junit).unwrap();
    let sensor = junit
        .split("<testcase")
        .find(|case| case.contains("sensor answers"));
    let line = "hostd.capture.boot: /api/capture/01CAPTURE\n";
    assert!(sensor.unwrap().contains(line), "{junit}");
    let property = "<property name=\"hostd.capture.boot\" value=\"/api/capture/01CAPTURE\"/>";
    assert_eq!(junit.matches(property).count(), 1, "{junit}");
    let subject = Subject {
        base: "https://bench.example".to_owned(),
        ..subject
    };
    let linked = "https://bench.example/api/capture/01CAPTURE";
    let result = jobs::result_of(job, &subject, &home.out());
    let cases = result.runs.iter().flat_map(|run| run.told().unwrap());
    let mut links = cases.flat_map(|case| case.unwrap().links);
    assert!(links.any(|(_, address)| address == linked), "{result:?}");
    let trace: Vec<serde_json::Value> =
        serde_json::from_str(&fs::read_to_string(files.trace).unwrap()).unwrap();
    let of = |phase: &str| {
        let events = trace.iter().filter(|event| event["ph"] == phase);
        let ids = events.map(|event| event["id"].as_str().unwrap_or_default());
        ids.collect::<Vec<_>>()
    };
    assert_eq!((of("b"), of("e")), (vec!["01CAPTURE"], vec!["01CAPTURE"]));
    let marks = trace.iter().filter(|event| event["ph"] == "i");
    let marks: Vec<&str> = marks.filter_map(|mark| mark["name"].as_str()).collect();
    assert_eq!(marks, ["boot ok", "boot ok", "found \"boot ok\""]);
    let counters: Vec<_> = trace.iter().filter(|event| event["ph"] == "C").collect();
    let volts: Vec<_> = counters
        .iter()
        .map(|counter| &counter["args"]["V"])
        .collect();
    // Before the first step, and after each that is about the device: off, on, off.
    assert_eq!(
        (volts.len(), volts[0], volts[8]),
        (9, &json!(0.0), &json!(0.0))
    );
    assert!(volts[1..8].iter().all(|volts| **volts == json!(5.02)));
    assert_eq!(counters[1]["name"], "fake-1 internal");
    assert_eq!(counters[1]["args"]["mA"], 42.0);
    assert!(fs::read_to_string(files.log).unwrap().contains("boot ok"));
}

/// A device without monitors is asked once, and nothing else comes of it.
fn unmeasured() {
    let refused = jobs::BenchError::Refused("it has no monitor".to_owned());
    let fake = Fake {
        ways: vec![("supplies", Way::Fails(refused))],
        ..Fake::default()
    };
    let run = bench(&fake, "      - wait: 1ms\n      - wait: 1ms");
    assert_eq!(run.outcome, Outcome::Passed);
    assert_eq!(
        (fake.calls(), run.readings),
        (vec!["supplies".to_owned()], vec![])
    );
}

/// What a secret is made of is in no mark, wherever the line is cut.
fn marked_without_secrets() {
    let fake = Fake {
        boot: vec!["key=open", "sesame ok\n"],
        ..Fake::default()
    };
    let home = Home::new();
    let steps = "      - reset: {}
      - uart: { expect: ' ok' }
        timeout: 2s
      - { run: 'true', env: { KEY: { secret: KEY } } }";
    let plan = plan(&pipeline_of("", steps));
    let runner = Runner::open(home.options.clone()).unwrap();
    let benches = OnlyOne(&fake);
    let mut request = Request::new(&plan, home.source(), home.out());
    request.benches = Some(&benches);
    request.secrets = [("KEY".to_owned(), "opensesame".to_owned())].into();
    let (live, _events) = Live::new();
    let job = runner.run(&request, &live, &Cancel::default()).unwrap();
    let run = &job.runs[1];
    assert_eq!(run.outcome, Outcome::Passed, "{run:?}");
    let texts: Vec<&str> = run.marks.iter().map(|mark| mark.text.as_str()).collect();
    assert!(texts.contains(&"key=[secret] ok"), "{texts:?}");
}

fn programs() {
    let home = Home::new();
    home.write("tests/check.sh", "cat \"$HOSTD_OUT/fw.elf\"; exit 3");
    let steps = "      - { run: 'sh tests/check.sh', id: tool }
      - { assert: { on: tool, exit_code: 3 }, case: refuses }
      - { assert: { on: tool, text: firmware } }
      - { run: 'test ! -e left && touch left' }";
    let fake = Fake::default();
    let (job, _) = job(&home, &fake, &pipeline_of("", steps), &Cancel::default());
    assert_eq!(job.runs[1].outcome, Outcome::Passed, "{:?}", job.runs[1]);
    assert_eq!(job.runs[1].spans[0].0, "sources");
    assert!(fake.calls().is_empty());
}

fn masked() {
    let home = Home::new();
    let text = "version: 1
builds:
  - id: fw
    steps: [{ run: 'echo ::add-mask::opensesame; echo x > \"$HOSTD_OUT/fw.elf\"' }]
    packs: [{ id: a, artifacts: [fw.elf] }]
benches:
  - id: smoke
    for_each: fw
    device: { name: bench-1 }
    steps: [{ run: 'echo \"used open${none-sesame}\"' }]
";
    let (job, events) = job(&home, &Fake::default(), text, &Cancel::default());
    assert_eq!(job.runs[1].outcome, Outcome::Passed, "{:?}", job.runs[1]);
    assert!(job.runs[1].steps[0].tail.contains("used [secret]"));
    assert!(!format!("{job:?} {events:?}").contains("used opensesame"));
}

fn decoding() {
    let home = Home::new();
    let fake = Fake {
        transfers: vec![transfer(0x10, &[1]), transfer(0x11, &[2])],
        ..Fake::default()
    };
    let steps = "      - capture: { kind: la, channels: { c: 1, d: 2 }, rate: 1MHz, samples: 10 }
        id: bus
      - decode: { on: bus, decoder: i2c, channels: { scl: c, sda: d } }
        id: decoded
      - assert: { on: decoded, decode: i2c, address: 0x11, bytes: [2] }";
    let (job, _) = job(&home, &fake, &pipeline_of("", steps), &Cancel::default());
    let run = &job.runs[1];
    assert_eq!(run.outcome, Outcome::Passed, "{run:?}");
    let decode = "decode 01CAPTURE scl=1 sda=2";
    assert_eq!(fake.calls(), ["capture 10", decode, decode]);
    let kept = &run.artifacts[0];
    assert_eq!(kept.name, "decoded/decoded.txt");
    assert_eq!(fs::read_to_string(&kept.path).unwrap(), "0x10\n0x11\n");
    assert_eq!(kept.bytes, 10);
    // What was found before it failed is kept, too.
    let way = Way::Fails(BenchError::Lost("unplugged".to_owned()));
    let fake = Fake {
        ways: vec![("decoded", way)],
        ..fake
    };
    let (job, _) = self::job(&home, &fake, &pipeline_of("", steps), &Cancel::default());
    let run = &job.runs[1];
    assert_eq!(run.outcome.kind(), Some("infra.device_lost"), "{run:?}");
    assert_eq!(run.artifacts[0].bytes, 10);
}

fn claimed() {
    let home = Home::new();
    let fake = Fake::default();
    let steps =
        "      - capture: { kind: la, channels: { scl: 1, sda: 2, tx: 3 }, rate: 1MHz, samples: 10 }
        id: lines
      - decode: { on: lines, decoder: uart, channels: { rx: tx } }";
    let (job, _) = job(&home, &fake, &pipeline_of("", steps), &Cancel::default());
    assert_eq!(job.runs[1].outcome, Outcome::Passed, "{:?}", job.runs[1]);
    assert_eq!(fake.calls(), ["capture 10", "decode 01CAPTURE rx=3"]);
}

fn missing() {
    let fake = Fake {
        transfers: vec![transfer(0x10, &[1])],
        ..Fake::default()
    };
    let steps =
        "      - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 1MHz, samples: 10 }
        id: bus
      - assert: { on: bus, decode: i2c, address: 0x76 }
      - { run: 'true' }
      - { wait: 1ms, if: failure }";
    let run = bench(&fake, steps);
    assert_eq!(run.outcome.kind(), Some("assert"));
    let told = run.outcome.to_string();
    assert_eq!(
        told,
        "wanted a transfer to 0x76 on the bus of bus, but there was none such among 1; addressed were 0x10 once; for example 0x10 [0x01]"
    );
    assert_eq!(words(&run.steps), ["passed", "failed", "skipped", "passed"]);
}

const CAPTURE: &str =
    "      - { capture: { kind: adc, rate: 1MHz, samples: 10 }, background: true, timeout: 3s }";

fn no_trigger() {
    let fake = Fake {
        ways: vec![("record", Way::Fails(jobs::BenchError::NoTrigger))],
        ..Fake::default()
    };
    let run = bench(&fake, &format!("{CAPTURE}\n      - wait: 1ms"));
    assert_eq!(run.outcome, Outcome::Failed(Failure::NoTrigger));
    assert_eq!(words(&run.steps), ["failed", "passed"]);
}

fn collected() {
    let begun = Instant::now();
    let fake = Fake {
        records: Duration::from_millis(300),
        ..Fake::default()
    };
    let run = bench(&fake, CAPTURE);
    assert_eq!(run.outcome, Outcome::Passed);
    assert_eq!(run.steps[0].captures.len(), 1);
    assert!(run.steps[0].captures[0].time.len() >= Duration::from_millis(300));
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

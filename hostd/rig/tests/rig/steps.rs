//! Steps that go well, and tests that fail.

use jobs::{Bench as _, Cancel, Outcome, Until};
use pipeline::plan::Replay;
use pipeline::{Capability, Mapping, Output};
use std::time::{Duration, Instant};

use crate::Case;
use crate::bench::Bench;

pub(crate) const CASES: &[Case] = &[
    ("the_demo_is_flashed_heard_and_its_bus_judged", whole),
    ("a_banner_that_does_not_come_fails_the_test", banner),
    ("power_is_switched_and_switched_off", power),
    ("an_analog_capture_has_a_picture", analog),
    ("signals_of_the_demo_are_judged_by_rules", rules),
    ("captures_wait_for_every_kind_of_condition", conditions),
    ("a_trigger_that_does_not_come_is_told", trigger),
    ("a_waveform_that_nobody_kept_is_refused", replay),
    ("a_device_tells_what_it_offers", offers),
];

fn whole() {
    let bench = Bench::new().with_sensor();
    let ran = bench.run(
        "      - power: { rail: internal, state: on }
      - flash: { artifact: fw.elf }
      - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 2MHz, samples: 4000000 }
        id: boot
        background: true
      - reset: {}
      - uart: { expect: APP_OK }
        case: banner
        timeout: 20s
      - assert: { on: boot, decode: i2c, address: 0x76, ack: true }
        case: sensor answers
      - assert: { on: boot, decode: i2c, address: 0x29, ack: false }
        case: nobody else does
      - uart: { send: \"status\\r\", until: \"> \" }
        id: status
        timeout: 10s
      - assert: { on: status, text: bmp280_detected=yes }
      - decode: { on: boot, decoder: i2c }
        id: traffic
      - assert: { on: boot, decode: i2c, address: 0x50, ack: true }
        case: no such sensor
    always:
      - power: { rail: internal, state: off }",
    );
    let end = &ran.end;
    let mut words = vec!["passed"; 10];
    words.extend(["failed", "passed"]);
    assert_eq!(ran.words(), words, "{:?}", end.steps);
    assert_eq!(end.outcome.kind(), Some("assert"));
    assert!(end.outcome.to_string().contains("0x50"), "{}", end.outcome);
    let capture = &end.steps[5].captures[0];
    assert_eq!(capture.name, "boot");
    let picture = capture.picture.as_ref().unwrap();
    let mut names: Vec<&str> = picture.channels.iter().map(|c| c.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        (names, picture.duration_us),
        (vec!["scl", "sda"], 2_000_000)
    );
    assert!(
        end.steps[4]
            .tail
            .contains("SCENARIO: bench demo application")
    );
    let traffic = std::fs::read_to_string(&end.artifacts[0].path).unwrap();
    assert!(traffic.contains("Address write: 76"), "{traffic}");
    assert!(!bench.is_on(), "always");
    let marked = |text: &str| end.marks.iter().any(|mark| mark.text == text);
    assert!(
        marked("APP_OK") && marked("found \"APP_OK\""),
        "{:?}",
        end.marks
    );
    let highest = end.readings.iter().map(|reading| reading.mv).max();
    assert!(highest > Some(4_900), "{:?}", end.readings);
}

fn banner() {
    let bench = Bench::new();
    let ran = bench.run(
        "      - flash: { artifact: fw.elf }
      - uart: { expect: something else }
        timeout: 4s",
    );
    assert_eq!(ran.words(), ["passed", "failed"]);
    assert_eq!(ran.end.outcome.kind(), Some("expect"));
    assert!(
        ran.end.outcome.to_string().contains("APP_OK"),
        "{}",
        ran.end.outcome
    );
}

fn power() {
    let bench = Bench::new();
    let on = bench.run("      - power: { rail: internal, state: on }");
    assert_eq!(on.end.outcome, Outcome::Passed);
    assert!(bench.is_on());
    // Before the step and after it, both rails.
    let readings = &on.end.readings;
    let internal = |r: &&jobs::Reading| r.rail == pipeline::Rail::Internal;
    let internal: Vec<_> = readings.iter().filter(internal).collect();
    assert_eq!((readings.len(), internal.len()), (4, 2), "{readings:?}");
    assert_eq!((internal[0].mv, internal[0].ua), (0, 0));
    let off = bench.run("      - power: { rail: internal, state: off }");
    assert_eq!(off.end.outcome, Outcome::Passed);
    assert!(!bench.is_on());
}

fn analog() {
    let bench = Bench::new();
    let steps = "      - { capture: { kind: adc, rate: 500kHz, samples: 10000 }, id: supply }
      - capture: { kind: adc, rate: 500kHz, samples: 10 }
      - capture: { kind: adc, rate: 500kHz, samples: 10 }";
    let ran = bench.run(steps);
    assert_eq!(ran.end.outcome, Outcome::Passed);
    let recorded = bench.recorded();
    let names: Vec<&str> = recorded.iter().filter_map(|c| c.name.as_deref()).collect();
    let job = recorded[0].job.as_deref().unwrap();
    let of_steps = ["supply", "capture", "capture, attempt 1"];
    assert_eq!(names, of_steps.map(|step| format!("{job} smoke: {step}")));
    let origin = recorded[0].origin.as_ref().unwrap();
    assert_eq!((&*origin.run, origin.attempt), ("smoke", 1));
    assert_eq!(origin.step.as_deref(), Some("supply"));
    let picture = ran.end.steps[0].captures[0].picture.as_ref().unwrap();
    let evidence::result::Signal::Analog(columns, unit) = &picture.channels[0].signal else {
        panic!("{picture:?}");
    };
    assert_eq!((columns.len(), unit.as_str()), (600, "V"));
    assert!(columns.iter().all(|(low, high)| low <= high));
}

/// The bus of the demo while it boots starts captures in each way, and the trigger lies where its samples say.
fn conditions() {
    let bench = Bench::new().with_sensor();
    let channels = "channels: { scl: 1, sda: 2 }, rate: 1MHz, samples: 2000, pre_samples: 500";
    let mut steps = "      - power: { rail: internal, state: on }
      - flash: { artifact: fw.elf }
"
    .to_owned();
    for trigger in [
        "pulse: { channel: scl, level: low, longer_than: 2us }",
        "pattern: { scl: high, sda: low }",
        "level: { channel: sda, level: low, for: 3us }",
        "protocol: i2c, address: 0x76",
    ] {
        let capture = format!("kind: la, {channels}, trigger: {{ {trigger}, timeout: 20s }}");
        steps += &format!(
            "      - capture: {{ {capture} }}
        background: true
      - reset: {{}}
      - uart: {{ expect: APP_OK }}
        timeout: 20s
"
        );
    }
    let ran = bench.run(steps.trim_end());
    assert_eq!(ran.end.outcome, Outcome::Passed, "{:?}", ran.end.steps);
    let recorded = bench.recorded();
    assert_eq!(recorded.len(), 4);
    for capture in &recorded {
        assert_eq!(capture.triggered, Some(true), "{capture:?}");
        assert!(
            capture.trigger_sample.is_some_and(|at| at <= 500),
            "{capture:?}"
        );
    }
}

fn trigger() {
    let bench = Bench::new();
    let ran = bench.run(
        "      - capture:
          kind: la
          channels: { irq: 7 }
          rate: 1MHz
          samples: 1000
          trigger: { channel: irq, edge: rising, timeout: 300ms }",
    );
    assert_eq!(
        ran.end.outcome.kind(),
        Some("no_trigger"),
        "{}",
        ran.end.outcome
    );
}

fn replay() {
    let bench = Bench::new();
    let cancel = Cancel::default();
    let until = Until {
        at: Instant::now() + Duration::from_secs(10),
        cancel: &cancel,
    };
    let replay = Replay {
        waveform: "battery-sag".to_owned(),
        output: Output::V5,
        mapping: Mapping::Faithful,
        rate_hz: None,
    };
    let error = bench.rig().replay(&replay, &until).unwrap_err();
    let why = "no waveform is called battery-sag".to_owned();
    assert_eq!(error, jobs::BenchError::Refused(why));
}

fn offers() {
    let bench = Bench::new();
    let told = rig::capabilities(&bench.device(), &Bench::wiring());
    assert_eq!(told.name, "bench-1");
    assert_eq!(
        told.values["target"],
        Capability::Text("STM32F030R8".to_owned())
    );
    assert_eq!(told.values["la_channels"], Capability::Count(14));
    assert_eq!(told.values["uart"], Capability::Flag(true));
    let rank = told.rank();
    let mut less = told.clone();
    less.values
        .insert("uart".to_owned(), Capability::Flag(false));
    less.values.insert("target".to_owned(), Capability::Unknown);
    assert_eq!(less.rank(), rank - 2);
}

/// The boot of the demo on its bus: what it shows holds, and what it does not fails with its place.
fn rules() {
    let bench = Bench::new().with_sensor();
    let ran = bench.run(
        "      - power: { rail: internal, state: on }
      - flash: { artifact: fw.elf }
      - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 2MHz, samples: 4000000 }
        id: boot
        background: true
      - reset: {}
      - uart: { expect: APP_OK }
        timeout: 20s
      - assert:
          on: boot
          rules:
            - { name: the sensor answers, i2c: { address: 0x76, answered: true, when: once } }
            - { name: its id is read, bytes: { decoder: i2c, address: 0x76, bytes: D0 58 } }
            - { name: the clock is no spike, pulse: { channel: LA1, level: high, min: 1us } }
      - capture: { kind: adc, rate: 100kHz, samples: 1000 }
        id: rail
      - assert:
          on: rail
          rules: [{ name: it is somewhere, analog: { channel: ADC, min: -100V, max: 100V } }]
      - assert:
          on: boot
          rules:
            - { name: another sensor answers, i2c: { address: 0x29, answered: true } }
            - { name: the bus is at rest, count: { edge: scl any, max: 3 } }
        id: wrong",
    );
    let end = &ran.end;
    let mut words = vec!["passed"; 8];
    words.push("failed");
    assert_eq!(ran.words(), words, "{:?}", end.steps);
    assert_eq!(end.outcome.kind(), Some("tests"), "{}", end.outcome);
    let told = end.outcome.to_string();
    assert!(told.contains("another sensor answers"), "{told}");
    assert_eq!(end.steps[5].counts.passed, 3);
    assert_eq!(end.steps[8].counts.failed, 2);
    let picture = end
        .artifacts
        .iter()
        .find(|kept| kept.name == "assertions/wrong/2.svg");
    let picture = std::fs::read_to_string(&picture.unwrap().path).unwrap();
    assert!(picture.contains(">scl</text>"), "{picture}");
    let result = end
        .artifacts
        .iter()
        .find(|kept| kept.name == "assertions/wrong.json");
    let result = std::fs::read_to_string(&result.unwrap().path).unwrap();
    assert!(result.contains("\"from_sample\""), "{result}");
}

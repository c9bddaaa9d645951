//! Runs that the bench spoils, or somebody ends.

use std::thread;
use std::time::{Duration, Instant};

use jobs::{Cancel, Outcome};
use pod_sim::{Fault, Link, SimConfig, TargetConfig};

use crate::Case;
use crate::bench::{Bench, Ran};

pub(crate) const CASES: &[Case] = &[
    (
        "another_chip_than_the_pipeline_says_is_its_mistake",
        wrong_target,
    ),
    ("a_target_without_a_wire_is_the_bench_s_fault", unreachable),
    (
        "a_pod_that_is_unplugged_while_it_flashes_is_lost",
        unplugged,
    ),
    ("a_parity_that_a_pod_does_not_have_is_refused", parity),
    ("a_lease_that_ends_takes_the_run_along", taken_away),
    ("a_cancel_ends_a_flash_and_frees_the_probe", cancelled),
    ("a_timeout_ends_a_capture_and_frees_the_pod", timeout),
];

const FLASH: &str = "      - flash: { artifact: fw.elf }";

/// A link that is slow enough to come in between.
fn slow() -> Bench {
    Bench::with(SimConfig {
        target: Some(TargetConfig::blank()),
        faults: vec![Fault::Slow(Link {
            bytes_per_s: Some(20_000),
            latency: Duration::from_millis(5),
        })],
        ..SimConfig::default()
    })
}

/// Flashes, and does something once the flash's content is being changed.
fn while_flashing(bench: &Bench, cancel: &Cancel, act: impl FnOnce() + Send) -> Ran {
    thread::scope(|scope| {
        let run = scope.spawn(|| bench.run_until(FLASH, cancel));
        let device = bench.device().record.id;
        bench.eventually("programming", || {
            let flashes = bench.lab.flashing.list(&device);
            flashes
                .first()
                .is_some_and(|flash| matches!(flash.course.phase.name(), "erasing" | "programming"))
        });
        act();
        run.join().unwrap()
    })
}

fn parity() {
    let bench = Bench::new();
    let none = bench.run("      - uart: { parity: none, send: a }");
    assert_eq!(none.end.outcome, Outcome::Passed);
    let even = bench.run("      - uart: { parity: even, send: a }").end;
    assert_eq!(even.outcome.kind(), Some("refused"), "{}", even.outcome);
    assert!(even.outcome.to_string().contains("no parity bit"));
}

fn wrong_target() {
    let bench = Bench::new();
    let ran = bench.run("      - flash: { artifact: fw.elf, target: STM32F401RE }");
    assert_eq!(
        ran.end.outcome.kind(),
        Some("refused"),
        "{}",
        ran.end.outcome
    );
    let told = ran.end.outcome.to_string();
    assert!(
        told.contains("STM32F401RE") && told.contains("change the `target`"),
        "{told}"
    );
    assert!(!told.contains("force"), "{told}");
    let ran = bench.run("      - flash: { artifact: fw.elf, target: Z80 }");
    assert_eq!(
        ran.end.outcome.kind(),
        Some("refused"),
        "{}",
        ran.end.outcome
    );
}

fn unreachable() {
    let bench = Bench::with(SimConfig::default());
    let ran = bench.run(FLASH);
    assert_eq!(
        ran.end.outcome.kind(),
        Some("infra.probe_unreachable"),
        "{}",
        ran.end.outcome
    );
    assert!(ran.end.may_repeat());
}

fn unplugged() {
    let bench = slow();
    let ran = while_flashing(&bench, &Cancel::default(), || bench.pod.set_plugged(false));
    assert_eq!(
        ran.end.outcome.kind(),
        Some("infra.device_lost"),
        "{}",
        ran.end.outcome
    );
    assert!(ran.end.may_repeat());
}

fn taken_away() {
    let bench = slow();
    let ran = while_flashing(&bench, &Cancel::default(), || bench.take_away());
    assert_eq!(
        ran.end.outcome.kind(),
        Some("infra.lease_lost"),
        "{}",
        ran.end.outcome
    );
}

fn cancelled() {
    let bench = slow();
    let cancel = Cancel::default();
    let begun = Instant::now();
    let ran = while_flashing(&bench, &cancel, || cancel.cancel());
    assert_eq!(ran.end.outcome, Outcome::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(40));
    let flashes = bench.lab.flashing.list(&bench.device().record.id);
    assert_eq!(flashes[0].course.phase.name(), "cancelled");
}

fn timeout() {
    let bench = Bench::new();
    let ran = bench.run(
        "      - capture: { kind: la, channels: { a: 1 }, rate: 1MHz, samples: 4000000 }
        timeout: 300ms",
    );
    assert_eq!(ran.end.outcome.kind(), Some("timeout"));
    let device = bench.device().record.id;
    bench.eventually("the end of the capture", || {
        bench.lab.captures.current(&device).is_none()
    });
    let again = bench.run("      - capture: { kind: adc, rate: 1MHz, samples: 100 }");
    assert_eq!(again.end.outcome, Outcome::Passed);
}

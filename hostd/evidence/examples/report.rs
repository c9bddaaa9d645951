//! Prints the page of a made-up job, for a look at it: `cargo run -p evidence --example report >
//! page.html`.

use std::io;

use evidence::result::{
    Capture, Case, Channel, Fault, JobResult, Outcome, RunResult, Signal, Span,
};

fn main() -> io::Result<()> {
    evidence::report::write(&job(), io::stdout().lock())
}

fn job() -> JobResult {
    JobResult {
        id: "01JD8Q3T7V9Z2K4M6N8P0R1S2T".to_owned(),
        name: "blinky".to_owned(),
        reference: Some("main".to_owned()),
        commit: Some("4f2a91c0d7".to_owned()),
        submitted_by: "ada".to_owned(),
        submitted_at: "2026-03-04T09:12:33Z".to_owned(),
        duration_us: 42_700_000,
        state: "finished".to_owned(),
        ended_because: Some("completed".to_owned()),
        verdict: "failure".to_owned(),
        sentence: "What was measured is not what the pipeline asserts. Look at the capture of the failed case."
            .to_owned(),
        runs: vec![build(), smoke(), lost()],
        spans: spans(),
        log_tail: "$ pytest -q tests/\n\u{1b}[31mF\u{1b}[0m..                    [100%]\n1 failed, 2 passed in 1.24s\n"
            .repeat(4),
        log_before: 18_224,
    }
}

fn case(name: &str, ms: u64, outcome: Outcome) -> Case {
    Case {
        name: name.to_owned(),
        duration_us: ms * 1000,
        outcome,
        ..Case::default()
    }
}

fn build() -> RunResult {
    RunResult {
        class: "fw.debug".to_owned(),
        duration_us: 9_800_000,
        attempts: 1,
        ..RunResult::default()
    }
    .with_cases(vec![case("build", 9800, Outcome::Passed)])
}

fn smoke() -> RunResult {
    let fault = Fault {
        kind: "assert".to_owned(),
        message: "i2c: address 0x76 was not acknowledged".to_owned(),
        detail: "expected  ack from 0x76, at least 1\nseen      12 x nack from 0x76, 0 x ack"
            .to_owned(),
    };
    let bits: Vec<f32> = (0..58_u8).map(|n| 0.1 + f32::from(n) * 0.013).collect();
    let data = vec![0.09, 0.16, 0.22, 0.31, 0.35, 0.5, 0.52, 0.61, 0.7, 0.88];
    let rail = (0..200_u8).map(|n| {
        let up = (f32::from(n) / 20.0).min(1.0) * 3.3;
        (up - 0.03, up + 0.02)
    });
    let channel = |name: &str, signal| Channel {
        name: name.to_owned(),
        signal,
    };
    let capture = Capture {
        name: "boot".to_owned(),
        duration_us: 1240,
        channels: vec![
            channel("SCL", Signal::Digital(true, bits)),
            channel("SDA", Signal::Digital(true, data)),
            channel("3V3", Signal::Analog(rail.collect(), "V".to_owned())),
        ],
    };
    RunResult {
        class: "smoke.debug.f0".to_owned(),
        device: Some("bench-1".to_owned()),
        attempts: 2,
        duration_us: 21_000_000,
        ..RunResult::default()
    }
    .with_cases(vec![
        case("banner", 812, Outcome::Passed),
        Case {
            captures: vec![capture],
            links: vec![(
                "The whole capture".to_owned(),
                "/captures/01JD8Q".to_owned(),
            )],
            ..case("sensor answers", 1900, Outcome::Failed(fault))
        },
        Case {
            output: "test_boot.py .. [100%]".to_owned(),
            ..case("tests.test_boot::test_banner", 1240, Outcome::Passed)
        },
        case("calibration", 0, Outcome::Skipped("not reached".to_owned())),
    ])
}

fn lost() -> RunResult {
    let fault = Fault {
        kind: "infra.device_lost".to_owned(),
        message: "bench-2 went away while it was flashed".to_owned(),
        detail: String::new(),
    };
    RunResult {
        class: "smoke.debug.g4".to_owned(),
        device: Some("bench-2".to_owned()),
        attempts: 2,
        duration_us: 3_100_000,
        ..RunResult::default()
    }
    .with_cases(vec![case("flash", 3100, Outcome::BenchFailed(fault))])
}

fn spans() -> Vec<Span> {
    [
        ("fw.debug", "build", 100, 9900, false),
        ("bench-1", "flash", 10_000, 12_500, true),
        ("bench-1", "flash", 14_000, 17_200, false),
        ("bench-1", "uart", 17_300, 18_112, false),
        ("bench-1", "assert", 18_200, 20_100, true),
        ("bench-1", "pytest", 20_200, 31_000, false),
        ("bench-2", "flash", 10_100, 13_200, true),
        ("bench-2", "flash", 39_000, 42_600, true),
    ]
    .map(|(lane, name, start_ms, end_ms, failed)| Span {
        lane: lane.to_owned(),
        name: name.to_owned(),
        start_us: start_ms * 1000,
        end_us: end_ms * 1000,
        failed,
    })
    .into()
}

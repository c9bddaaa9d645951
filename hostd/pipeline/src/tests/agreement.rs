//! Parser and schema agree: what is right is right by both, what the schema can say is refused by both.

use super::{EXAMPLE, bench_steps, build_steps, fits_schema, read};

/// Lines after a right pipeline.
const TOP: &[&str] = &[
    "versoin: 1",
    "name: [a]",
    "name: ''",
    "name: 7",
    "vars: []",
    "vars: { A: }",
    "vars: { A: [1] }",
    "vars: { 1A: 1 }",
    "vars: { HOSTD_A: 1 }",
    "timeouts: { queue: 30 }",
    "timeouts: { queue: 0s }",
    "timeouts: { queue: 30M }",
    "timeouts: { wait: 1s }",
    "timeouts: 1s",
    "limits: { memory: 1GB }",
    "limits: { processes: 0 }",
    "limits: { processes: 1.5 }",
    "retry: { infra: -1 }",
    "retry: 1",
    "benches: {}",
];

/// Steps of a build.
const BUILD_STEPS: &[&str] = &[
    "  - {}",
    "  - { run: a, wait: 1s }",
    "  - run:",
    "  - run: ''",
    "  - run: [a]",
    "  - { run: a, id: a.b }",
    "  - { run: a, junit: ../x }",
    "  - { run: a, junit: /x }",
    "  - { run: a, env: { A: { secret: a-b } } }",
    "  - { run: a, env: { A: { secret: A, b: 1 } } }",
    "  - { run: a, background: 1 }",
    "  - { run: a, if: maybe }",
    "  - { run: a, case: \"a\\nb\" }",
    "  - make",
];

/// Steps of a bench.
const BENCH_STEPS: &[&str] = &[
    "  - power: { rail: internal, state: true }",
    "  - power: { rail: inner, state: on }",
    "  - power: { rail: internal }",
    "  - reset:",
    "  - reset: { pulse: 5 }",
    "  - flash: { artifact: /a }",
    "  - flash: {}",
    "  - uart: { baud: 200 }",
    "  - uart: { baud: fast }",
    "  - uart: { parity: mark, send: a }",
    "  - uart: { parity: '{{vars.P}}', send: a }",
    "  - uart: { expect: [a] }",
    "  - uart: { channels: { rx: 0, tx: 1 } }",
    "  - uart: { channels: { rx: 1 } }",
    "  - capture: { kind: la, channels: { a: 15 }, rate: 1MHz, samples: 5 }",
    "  - capture: { kind: scope, rate: 1MHz, samples: 5 }",
    "  - capture: { kind: adc, rate: 1000000, samples: 5 }",
    "  - capture: { kind: adc, rate: 1MHz, samples: 4194305 }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { edge: rising } }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { channel: a, edge: up } }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { channel: a, edge: rising, pulse: { channel: a, level: low, longer_than: 1us } } }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { pulse: { channel: a, level: mid } } }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { pattern: { a: 1 } } }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { level: { channel: a, level: high } } }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { level: { channel: a, level: high, for: 5 } } }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { protocol: can } }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { protocol: i2c, address: 128 } }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { protocol: uart, bytes: 5Z } }",
    "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { timeout: 5s } }",
    "  - assert: { on: a }",
    "  - assert: { on: a, exit_code: 1, text: b }",
    "  - assert: { on: a, exit_code: 256 }",
    "  - assert: { on: a, decode: i3c }",
    "  - measure: { on: a, name: x }",
    "  - measure: { on: a, name: x, quantity: speed }",
    "  - measure: { on: a, name: x, quantity: duty, low: [1] }",
    "  - measure: { on: a, name: x, quantity: duty, low: big }",
    "  - measure: { on: a, name: x, quantity: duty, from: 5 }",
    "  - decode: { on: a, decoder: can }",
    "  - replay: { waveform: a, output: 6v }",
    "  - wait: 5",
    "  - pytest: { path: ../a }",
    "  - pytest: tests/",
];

/// What stands after `device`.
const DEVICES: &[&str] = &[
    "{}",
    "{ name: a, select: {} }",
    "{ select: { a: [1] } }",
    "{ select: { a: '>=b' } }",
    "{ select: { a: '' } }",
    "{ nam: a }",
];

/// Builds.
const BUILDS: &[&str] = &[
    "{ steps: [{ run: a }] }",
    "{ id: a }",
    "{ id: a, steps: [], matrix: {} }",
    "{ id: a, steps: [], packs: [{}] }",
    "{ id: a, steps: [], cache: {} }",
];

/// Whole documents.
const DOCUMENTS: &[&str] = &[
    "version: 2\nbuilds: []",
    "builds: []",
    "version: 1",
    "[]",
    "",
    "version: '1'\nbuilds: []",
];

#[test]
fn the_example_is_right_by_both() {
    assert!(read(EXAMPLE).is_ok());
    assert!(fits_schema(EXAMPLE));
}

#[test]
fn what_the_schema_can_say_is_refused_by_both() {
    let head = "version: 1\nbuilds: [{ id: a, steps: [{ run: a }] }]\n";
    assert!(read(head).is_ok() && fits_schema(head));
    let bench = bench_steps("  - reset: {}\n");
    let wrong = [
        TOP.iter().map(|line| format!("{head}{line}\n")).collect(),
        BUILD_STEPS.iter().map(|steps| build_steps(steps)).collect(),
        BENCH_STEPS.iter().map(|steps| bench_steps(steps)).collect(),
        DEVICES
            .iter()
            .map(|device| bench.replace("{ name: a }", device))
            .collect(),
        BUILDS
            .iter()
            .map(|build| format!("version: 1\nbuilds: [{build}]\n"))
            .collect(),
        DOCUMENTS
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>(),
    ];
    for text in wrong.concat() {
        assert!(read(&text).is_err(), "the parser takes\n{text}");
        assert!(!fits_schema(&text), "the schema takes\n{text}");
    }
}

#[test]
fn what_is_right_is_right_by_both() {
    let mut right: Vec<String> = [
        "  - run: |\n      make\n      make test",
        "  - { run: a, env: { A: 1, B: true, C: x, D: { secret: S } } }",
        "  - { run: a, if: always, timeout: 5s, id: x, case: 'Ein Fall' }",
    ]
    .map(build_steps)
    .to_vec();
    right.extend(
        [
            "  - reset: {}", "  - reset: { pulse: 1s }", "  - uart: { baud: '{{vars.N}}000', channels: { rx: 1, tx: 2 }, send: 5 }", "  - uart: { parity: none, send: a }\n  - uart: { parity: odd, send: a }", "  - uart: {}\n    background: true",
            "  - capture: { kind: la, channels: { a: 14 }, rate: 24MHz, samples: 4194304, trigger: { channel: a, edge: rising, timeout: 10m } }",
            "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { pulse: { channel: a, level: high, shorter_than: 1.5us } } }",
            "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { pattern: { a: high, b: low }, timeout: 1s } }",
            "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { level: { channel: b, level: low, for: 2ms } } }",
            "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { protocol: i2c, scl: a, sda: b, address: 0x76, direction: write } }",
            "  - capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 5, trigger: { protocol: uart, rx: b, bytes: '55 ?? 01', baudrate: 9600, parity: even } }",
            "  - replay: { waveform: '{{vars.T}}', output: current_out, mapping: fit, rate: 5kHz }",
            "  - { capture: { kind: adc, rate: 1MHz, samples: 9 }, id: c }\n  - measure: { on: c, name: the rail, quantity: mean, from: 1us, to: 5us, low: -3.3, high: '3.4e0' }",
            "  - { run: a, id: r }\n  - assert: { on: r, text: ok }\n  - assert: { on: r, exit_code: 0 }",
            "  - { capture: { kind: la, channels: { x: 1, y: 2 }, rate: 1MHz, samples: 9 }, id: c }\n  - { decode: { on: c, decoder: i2c, channels: { scl: x, sda: y }, options: { address_format: shifted } }, id: d }\n  - assert: { on: d, decode: i2c, bytes: [0x12, 3], ack: false }",
        ]
        .map(bench_steps),
    );
    for device in [
        "{ select: { dac: true, la_channels: 4, target: 'a|b', version: '>=3.10' } }",
        "{ name: '{{vars.T}}-1' }",
        "{ select: {} }",
    ] {
        right.push(bench_steps("  - reset: {}\n").replace("{ name: a }", device));
    }
    for text in right {
        if let Err(report) = read(&text) {
            panic!("{}", report.render(&text));
        }
        assert!(fits_schema(&text), "the schema refuses\n{text}");
    }
}

#[test]
fn the_schema_describes_every_key() {
    let schema = crate::schema();
    let text = schema.to_string();
    assert!(
        schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
            && !text.contains("null")
    );
    let definitions = schema["$defs"]
        .as_object()
        .unwrap()
        .values()
        .chain([&schema]);
    for definition in definitions {
        let Some(properties) = definition["properties"].as_object() else {
            continue;
        };
        assert_eq!(definition["additionalProperties"], false, "{definition}");
        for (key, property) in properties {
            assert!(
                property["description"].is_string(),
                "{key} of {}",
                definition["description"]
            );
        }
    }
}

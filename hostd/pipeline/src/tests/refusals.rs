//! Refusals as people see them.

use insta::assert_snapshot;

use super::{bench_steps, build_steps, read, wrong};
use crate::{Caps, parse};

fn rendered(text: &str) -> String {
    read(text).expect_err(text).render("ci.yml")
}

#[test]
fn every_wrong_key_and_value_is_told_at_once() {
    let text = "version: 1
nmae: blinky
timeouts: { queue: 30, build: 10x }
builds:
  - id: fw
    stages: []
    steps:
      - run: make
        tiemout: 5m
      - power: { rail: internal, state: true }
    packs:
      - { id: f0, targets: stm32 }
benches:
  - id: smoke
    for_each: fw
    device: { selct: {} }
    steps:
      - uart: { baud: fast, expect: 12 }
      - flash: fw.elf
";
    assert_snapshot!(rendered(text));
}

#[test]
fn everything_that_does_not_fit_together_is_told_at_once() {
    let text = "version: 1
builds:
  - id: fw
    needs: [lib]
    matrix: { variant: { debug: {}, release: {} } }
    steps:
      - { run: make, if: variant == debgu }
      - reset: {}
    packs:
      - { id: f0, artifacts: [fw.elf] }
      - { id: g4, artifacts: [g4.elf] }
      - { id: g4 }
benches:
  - id: smoke
    for_each: fw
    device: { name: a, select: {} }
    steps:
      - flash: { artifact: fw.elf }
      - wait: 1s
        env: { A: 1 }
        background: true
      - { capture: { kind: la, channels: { a: 1, b: 1 }, rate: 30MHz, samples: 10 }, id: boot }
      - assert: { on: bot, decode: i2c }
      - assert: { on: boot, decode: i2c }
      - uart: { expect: '{{vars.BANER}} {{pack.name}}' }
      - {}
      - { run: a, wait: 1s }
  - id: fw
    for_each: fx
    device: { name: b }
    steps: []
";
    assert_snapshot!(rendered(text));
}

#[test]
fn a_syntax_error_is_told_alone() {
    assert_snapshot!(rendered("version: 1\nbuilds: [\n  - id: fw\n"));
}

#[test]
fn placeholders_in_scripts_are_refused_with_what_to_write() {
    let text = bench_steps(
        "  - run: echo {{vars.T}}\n  - { run: a, env: { A: '{{pack.id}}' } }\n  - { reset: {}, case: 'on {{variant}}' }\n  - pytest: { path: '{{vars.T}}' }\n",
    );
    assert_snapshot!(rendered(&text));
}

#[test]
fn placeholders_that_make_wrong_values_are_told_at_their_field() {
    assert_eq!(
        wrong(&bench_steps("  - uart: { expect: '{{variant}}' }\n")),
        ["unknown_name 7:21 benches[0].steps[0].uart.expect"]
    );
    let text = bench_steps(
        "  - uart: { baud: '{{vars.T}}', send: x }\n  - uart: { baud: '{{vars.N}}', send: x }\n  - uart: { expect: '{{vars.N' }\n  - uart: { expect: '{{1+1}}' }\n",
    );
    assert_snapshot!(rendered(&text));
}

#[test]
fn circles_are_named() {
    let part = |id: &str, needs: &str| {
        format!("- {{ id: {id}, needs: [{needs}], steps: [{{ run: a }}] }}\n")
    };
    let parts = [
        part("a", "c"),
        part("b", "a"),
        part("c", "b"),
        part("d", "a"),
        part("e", ""),
    ]
    .concat();
    let text = format!("version: 1\nbuilds:\n{parts}");
    assert_eq!(wrong(&text), ["cycle 3:12 builds[0].needs"]);
    assert!(rendered(&text).contains("circle: a, b, c;"));
    let own = format!("version: 1\nbuilds:\n{}", part("a", "a"));
    assert_eq!(wrong(&own), ["cycle 3:12 builds[0].needs"]);
}

/// Triggers that are wrong, the code of what is found, and where.
const TRIGGERS: &[(&str, &str, &str)] = &[
    ("timeout: 1s", "missing_key", ""),
    ("channel: irq", "missing_key", ""),
    ("protocol: i2c, scl: rx, sda: irq", "missing_key", ""),
    ("protocol: uart", "missing_key", ""),
    ("protocol: uart, bytes: 00, edge: low", "not_here", ""),
    (
        "protocol: uart, bytes: 00, pattern: { rx: low }",
        "not_here",
        ".protocol",
    ),
    (
        "protocol: uart, bytes: 00, address: 3",
        "not_here",
        ".address",
    ),
    (
        "channel: irq, edge: low, baudrate: 9600",
        "not_here",
        ".baudrate",
    ),
    (
        "pulse: { channel: irq, level: low }",
        "invalid_value",
        ".pulse",
    ),
    (
        "pulse: { channel: irq, level: low, longer_than: 11m }",
        "invalid_value",
        ".pulse.longer_than",
    ),
    (
        "level: { channel: irq, level: low, for: 0s }",
        "invalid_value",
        ".level.for",
    ),
    (
        "level: { channel: iqr, level: low, for: 1s }",
        "unknown_reference",
        ".level.channel",
    ),
    (
        "pattern: { irq: low, tx: high }",
        "unknown_reference",
        ".pattern.tx",
    ),
    (
        "protocol: i2c, sda: irq, address: 3",
        "unknown_reference",
        ".scl",
    ),
    (
        "channel: irq, edge: low, timeout: 11m",
        "invalid_value",
        ".timeout",
    ),
];

#[test]
fn a_trigger_is_one_condition_on_channels_of_its_capture() {
    let of = |trigger: &str| {
        wrong(&bench_steps(&format!(
            "  - capture: {{ kind: la, channels: {{ rx: 1, irq: 2 }}, rate: 1MHz, samples: 5, trigger: {{ {trigger} }} }}\n"
        )))
    };
    let at = "benches[0].steps[0].capture.trigger";
    for (trigger, code, key) in TRIGGERS {
        let found = of(trigger);
        let [problem] = &found[..] else {
            panic!("{trigger}: {found:?}");
        };
        assert!(
            problem.starts_with(&format!("{code} ")),
            "{trigger}: {problem}"
        );
        assert!(
            problem.ends_with(&format!(" {at}{key}")),
            "{trigger}: {problem}"
        );
    }
}

#[test]
fn caps_of_the_server_are_told() {
    let caps = Caps {
        build_ms: 60_000,
        memory_bytes: 1 << 29,
        infra_retries: 0,
        ..Caps::default()
    };
    let text = "version: 1
timeouts: { build: 2m }
limits: { memory: 1GiB, processes: 100000 }
retry: { infra: 1 }
builds: [{ id: a, steps: [{ run: a, timeout: 90s }] }]
benches: [{ id: b, device: { name: a }, steps: [], always: [{ reset: {}, timeout: 2m }] }]
";
    assert_snapshot!(parse(text, &caps).unwrap_err().render("ci.yml"));
    assert!(
        read(
            &text
                .replace("100000", "1000")
                .replace("}, timeout: 2m", "}")
        )
        .is_ok()
    );
}

#[test]
fn a_step_has_no_more_time_than_its_run() {
    let text = |timeouts: &str| {
        let steps = bench_steps("  - { run: a, timeout: 20m }\n");
        steps.replace("vars:", &format!("timeouts: {timeouts}\nvars:"))
    };
    assert_eq!(
        wrong(&text("{}")),
        ["over_cap 8:24 benches[0].steps[0].timeout"]
    );
    assert!(
        rendered(&text("{}")).contains("at most 10m here, not 20m; raise `timeouts.test` for more")
    );
    assert!(read(&text("{ test: 20m }")).is_ok());
}

#[test]
fn a_serial_line_that_waits_for_nothing_is_refused() {
    assert_eq!(
        wrong(&bench_steps("  - uart: { baud: 9600 }\n")),
        ["missing_key 7:5 benches[0].steps[0].uart"]
    );
}

#[test]
fn what_follows_from_another_mistake_is_not_told() {
    let text = "version: 1
builds:
- { id: fw, steps: [{ run: make }], packs: [{ id: a, artifcts: [fw.elf] }] }
benches:
- { id: b, for_each: fw, device: { name: x }, steps: [{ flash: { artifact: fw.elf } }, { wiat: 1s }] }
";
    assert_eq!(
        wrong(text),
        [
            "unknown_key 3:54 builds[0].packs[0].artifcts",
            "unknown_key 5:90 benches[0].steps[1].wiat"
        ]
    );
    assert_eq!(
        wrong("version: 1\nbuilds: [{ id: [], steps: [{ run: a }] }]\n"),
        ["wrong_type 2:12 builds[0].id"]
    );
}

#[test]
fn a_mistake_of_several_cells_is_told_once() {
    let text = "version: 1
builds:
- { id: fw, steps: [{ run: make }], packs: [{ id: a, targets: [x] }, { id: b, targets: [y] }, { id: c, targets: [z] }] }
benches:
- { id: b, for_each: fw, device: { select: { target: '{{pack.targt}}' } }, steps: [] }
";
    assert_eq!(
        wrong(text),
        ["unknown_name 5:54 benches[0].device.select.target"]
    );
}

#[test]
fn long_lines_and_control_characters_are_shown_in_part() {
    let long = build_steps(&format!("  - {{ run: {}, x: 1 }}\n", "a".repeat(3_000)));
    let shown = rendered(&long);
    let excerpt = || shown.lines().skip(1);
    assert!(excerpt().all(|line| line.chars().count() < 200), "{shown}");
    let caret = excerpt().find(|line| line.contains('^')).unwrap();
    let line = excerpt().find(|line| line.contains("aaaa")).unwrap();
    assert_eq!(line.chars().nth(caret.find('^').unwrap()), Some('x'));
    assert!(!rendered("a: \u{1b}[31m").contains('\u{1b}'));
}

#[test]
fn a_report_tells_so_many_and_says_that_there_are_more() {
    let many: String = (0..80).map(|i| format!("k{i}: 1\n")).collect();
    let report = read(&format!("version: 1\n{many}")).unwrap_err();
    assert!(report.truncated && report.problems.len() == crate::limits::PROBLEMS_MAX);
    assert!(
        report
            .render("x")
            .ends_with("the first 50 problems; there are more\n")
    );
}

#[test]
fn a_report_serialises_for_programs() {
    let report =
        read("version: 1\nbuild: []\nbuilds: [{ id: a, steps: [{ run: a }] }]").unwrap_err();
    insta::assert_json_snapshot!(report);
}

#[test]
fn a_decoder_has_the_roles_that_it_knows_and_needs() {
    let told = |decode: &str| {
        let text = bench_steps(&format!(
            "  - {{ id: c, capture: {{ kind: la, channels: {{ a: 1, sda: 2 }}, rate: 1MHz, samples: 10 }} }}\n  - decode: {{ on: c, {decode} }}\n"
        ));
        match read(&text) {
            Ok(_) => Vec::new(),
            Err(_) => wrong(&text),
        }
    };
    let at = "benches[0].steps[1].decode.channels";
    let none: [String; 0] = [];
    assert_eq!(told("decoder: i2c, channels: { scl: a }"), none);
    assert_eq!(told("decoder: uart, channels: { rx: a }"), none);
    assert_eq!(told("decoder: x/y, channels: { data: a }"), none);
    let shown = told("decoder: i2c, channels: { scl: a, sad: sda }");
    assert!(shown[0].starts_with("unknown_reference ") && shown[0].ends_with(".sad"));
    assert_eq!(
        told("decoder: uart, channels: { rx: a }, annotations: [rx-data, rx-packets]"),
        none
    );
    assert_eq!(
        told("decoder: x/y, channels: { data: a }, annotations: [frames]"),
        none
    );
    let shown = told("decoder: uart, channels: { rx: a }, annotations: [rx-data, rx-byte]");
    assert!(
        shown[0].starts_with("unknown_reference ") && shown[0].ends_with(".annotations[1]"),
        "{shown:?}"
    );
    let shown = told("decoder: i2c, channels: { scl: a, sda: a }");
    assert!(shown[0].starts_with("invalid_value ") && shown[0].contains(at));
    for needy in [
        "decoder: i2c",
        "decoder: uart",
        "decoder: spi, channels: { clk: a }",
    ] {
        let shown = told(needy);
        assert_eq!(shown.len(), 1, "{shown:?}");
        assert!(shown[0].starts_with("missing_key "), "{shown:?}");
    }
}

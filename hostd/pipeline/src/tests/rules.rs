//! Rules about signals: what is right, what is refused and where, and that the document and the schema say the same.

use std::sync::LazyLock;

use super::json;
use crate::reference;
use crate::rules::{KINDS, parse, schema};
use crate::yaml;

const DOCUMENT: &str = include_str!("../../../../docs/assertions.md");
const SCHEMA: &str = include_str!("../../../../docs/assertions.schema.json");

/// Rules that are right, at least one of each kind.
const RIGHT: &[&str] = &[
    "frequency: { channel: a, value: 32.768kHz, tolerance: 20Hz }",
    "duty: { channel: 3, value: 50%, tolerance: 0.5% }",
    "within: { edge: a rising, after: b any, time: 0s, when: once }",
    "i2c: { address: 0x76, answered: false, scl: c, sda: d }",
    "bytes: { decoder: uart, bytes: 55, channels: { rx: a }, options: { baudrate: 9600 } }",
    "bytes: { decoder: i2c, bytes: '55 aa ??', address: 5, min: 2, max: 3 }",
    "count: { edge: my led rising, max: 0 }",
    "pulse: { channel: a, level: low, min: 1ns, max: 2h }",
    "level: { channel: a, is: high, at: -1.5us }",
    "level: { channel: a, is: high, at: 1us, after: b falling, when: once }",
    "analog: { channel: ADC, min: -3.3V }",
    "settles: { channel: ADC, to: 120mA, tolerance: 2%, within: 5ms, after: en rising }",
    "golden: { file: a/b.json, time: 0s, amplitude: 50mV, align: first_edge, channels: [a, 1] }",
    "golden: { capture: 01JGZ5V9T3N8W2K4Q7R6D1M0XC, time: 5us }",
    "from: -1ms, to: 2ms, count: { edge: a any, min: 1 }",
];

/// Rules that types and schema refuse.
const WRONG: &[&str] = &[
    "plse: { channel: a, min: 1us }",
    "pulse: { channel: a, min: 1 }",
    "pulse: { channel: a, min: 1 us }",
    "pulse: { channel: a, level: up, min: 1us }",
    "pulse: { channel: '', min: 1us }",
    "pulse: { min: 1us }",
    "pulse: a",
    "frequency: { channel: a, value: 1MHz }",
    "frequency: { channel: a, value: 1M, tolerance: 1% }",
    "frequency: { channel: a, value: 1MHz, tolerance: 1 }",
    "duty: { channel: a, value: 0.5, tolerance: 1% }",
    "within: { edge: a, after: b rising, time: 1us }",
    "within: { edge: a up, after: b rising, time: 1us }",
    "i2c: { address: 128, answered: true }",
    "i2c: { address: 1, answered: 1 }",
    "bytes: { decoder: can, bytes: 55 }",
    "bytes: { decoder: i2c, bytes: 5 }",
    "bytes: { decoder: i2c, bytes: [0x55] }",
    "analog: { channel: a, min: 3.3 }",
    "golden: { file: ../a.json }",
    "golden: { file: a.json, align: middle }",
    "golden: { time: 5us }",
    "golden: { file: a.json, capture: 01JGZ5V9T3N8W2K4Q7R6D1M0XC }",
    "golden: { capture: ../a }",
];

fn file(rule: &str) -> String {
    format!("version: 1\nrules:\n  - {{ name: it, {rule} }}\n")
}

fn fits_schema(text: &str) -> bool {
    static SCHEMA: LazyLock<jsonschema::Validator> =
        LazyLock::new(|| jsonschema::draft202012::new(&schema()).expect("the schema is one"));
    yaml::read(text).is_ok_and(|root| SCHEMA.is_valid(&json(&root)))
}

/// What is wrong with a file: code, line, column and path of each.
fn problems(text: &str) -> Vec<String> {
    let report = parse(text).expect_err(text);
    let problems = report.problems.iter();
    problems
        .map(|problem| {
            let (code, line, column) = (problem.code.as_str(), problem.line, problem.column);
            format!("{code} {line}:{column} {}", problem.path)
        })
        .collect()
}

#[test]
fn rules_are_read_and_fit_the_schema() {
    let mut kinds = Vec::new();
    for rule in RIGHT {
        let text = file(rule);
        match parse(&text) {
            Ok(read) => kinds.push(read.rules()[0].kind_name()),
            Err(report) => panic!("{}", report.render("rules.yaml")),
        }
        assert!(fits_schema(&text), "{rule}");
    }
    for kind in KINDS {
        assert!(kinds.contains(&kind), "{kind}");
        assert!(DOCUMENT.contains(&format!("\n### {kind}\n")), "{kind}");
    }
}

#[test]
fn what_is_wrong_is_refused_by_types_and_schema() {
    for rule in WRONG {
        let text = file(rule);
        let problems = problems(&text);
        assert!(problems[0].contains(" 3:"), "{rule}: {problems:?}");
        assert!(!fits_schema(&text), "{rule}");
    }
}

#[test]
fn what_does_not_fit_together_is_found_with_its_place() {
    let text = "version: 1
rules:
  - { name: a, pulse: { channel: x, min: 2us, max: 1us } }
  - { name: a, count: { edge: x any } }
  - { name: b }
  - { name: c, count: { edge: x any, min: 1 }, pulse: { channel: x, min: 1us } }
  - { name: d, from: 2us, to: 1us, pulse: { channel: x, min: 0us } }
  - { name: e, bytes: { decoder: uart, bytes: 55, address: 5, channels: { rxd: a } } }
  - { name: f, analog: { channel: x, min: 1V, max: 2A } }
  - { name: g, level: { channel: x, is: low, at: 1us, when: once } }
  - { name: h, settles: { channel: x, to: 1V, tolerance: 1A, within: -1us } }
  - { name: i, frequency: { channel: x, value: 0Hz, tolerance: 1% } }
  - { name: j, golden: { file: a.json, amplitude: -1V } }
";
    assert_eq!(
        problems(text),
        [
            "invalid_value 3:52 rules[0].pulse.max",
            "duplicate_id 4:13 rules[1].name",
            "missing_key 4:16 rules[1].count",
            "one_action 5:5 rules[2]",
            "one_action 6:48 rules[3].pulse",
            "invalid_value 7:31 rules[4].to",
            "invalid_value 7:62 rules[4].pulse.min",
            "not_here 8:60 rules[5].bytes.address",
            "unknown_reference 8:80 rules[5].bytes.channels.rxd",
            "invalid_value 9:52 rules[6].analog.max",
            "not_here 10:61 rules[7].level.when",
            "invalid_value 11:58 rules[8].settles.tolerance",
            "invalid_value 11:70 rules[8].settles.within",
            "invalid_value 12:48 rules[9].frequency.value",
            "invalid_value 13:51 rules[10].golden.amplitude",
        ]
    );
    assert_eq!(
        problems("version: 1\nrules: []\n"),
        ["invalid_value 2:1 rules"]
    );
    let many: String = (0..101)
        .map(|at| format!("- {{ name: r{at}, count: {{ edge: a any, min: 1 }} }}\n"))
        .collect();
    let text = format!("version: 1\nrules:\n{many}");
    assert_eq!(problems(&text), ["invalid_value 2:1 rules"]);
}

#[test]
fn json_is_read_too() {
    let text = r#"{"version": 1, "rules": [{"name": "a", "count": {"edge": "x any", "min": 1}}]}"#;
    assert_eq!(parse(text).unwrap().rules()[0].name(), "a");
}

#[test]
fn what_was_read_is_written_as_it_was() {
    for rule in RIGHT {
        let read = parse(&file(rule)).unwrap();
        let rule = &read.rules()[0];
        let text = serde_json::json!({"version": 1, "rules": [rule]}).to_string();
        assert_eq!(parse(&text).unwrap().rules()[0], *rule, "{text}");
    }
}

#[test]
fn the_document_says_what_is_read() {
    let mut rest = DOCUMENT;
    let mut count = 0;
    while let Some((_, after)) = rest.split_once("\n```yaml\n") {
        let (block, after) = after.split_once("```\n").unwrap();
        let text = match block.starts_with("- ") {
            true => format!("version: 1\nrules:\n{block}"),
            false => block.to_owned(),
        };
        // One of them is a part of a pipeline.
        if !block.contains("assert:") {
            if let Err(report) = parse(&text) {
                panic!("{}", report.render("rules.yaml"));
            }
            assert!(fits_schema(&text), "{text}");
        }
        count += 1;
        rest = after;
    }
    assert!(count > 5);
    let renewed = reference::renewed_rules(DOCUMENT);
    assert!(renewed == DOCUMENT, "run `cargo xtask docs`");
    let written = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    assert!(written == SCHEMA, "run `cargo xtask docs`");
}

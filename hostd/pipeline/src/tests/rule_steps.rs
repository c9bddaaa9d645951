//! Rules about signals in a step of a pipeline.

use super::{bench_steps, read, wrong};
use crate::plan::{Action, Assertion, Role};

const CAPTURE: &str =
    "  - capture: { kind: la, channels: { clk: 3, rst: 4 }, rate: 1MHz, samples: 100 }
    id: boot
";

#[test]
fn a_step_has_rules_or_names_their_file() {
    let steps = format!(
        "{CAPTURE}  - assert: {{ on: boot, rules: checks/boot.yaml }}
  - assert:
      on: boot
      rules:
        - {{ name: a, pulse: {{ channel: clk, min: 1us }} }}
        - {{ name: b, pulse: {{ channel: LA4, min: 1us }} }}
"
    );
    let plan = super::plan(&bench_steps(&steps));
    let Role::Bench { .. } = plan.runs[0].role else {
        panic!("it is a bench");
    };
    let that = |at: usize| match &plan.runs[0].steps[at].action {
        Action::Assert { that, .. } => that.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(that(1), Assertion::RuleFile("checks/boot.yaml".to_owned()));
    let Assertion::Rules(rules) = that(2) else {
        panic!("they are rules");
    };
    let names: Vec<&str> = rules.iter().map(crate::rules::Rule::name).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn rules_of_a_step_are_checked_with_it() {
    let rules = |rules: &str| {
        let steps = format!("{CAPTURE}  - assert: {{ on: boot, rules: {rules} }}\n");
        wrong(&bench_steps(&steps))
    };
    assert_eq!(
        rules("[{ name: a, pulse: { channel: clock, min: 1us } }]"),
        ["unknown_reference 9:44 benches[0].steps[1].assert.rules[0].pulse"]
    );
    assert_eq!(
        rules("[{ name: a, pulse: { channel: clk } }]"),
        ["missing_key 9:44 benches[0].steps[1].assert.rules[0].pulse"]
    );
    assert_eq!(
        rules("[{ name: a, plse: {} }]"),
        ["unknown_key 9:44 benches[0].steps[1].assert.rules[0].plse"]
    );
    assert_eq!(
        rules("../a.yaml"),
        ["invalid_value 9:32 benches[0].steps[1].assert.rules"]
    );
    assert_eq!(
        rules("5"),
        ["wrong_type 9:32 benches[0].steps[1].assert.rules"]
    );
    let text = bench_steps("  - { run: a, id: r }\n  - assert: { on: r, rules: a.yaml }\n");
    let report = read(&text).unwrap_err().render("ci.yml");
    assert!(
        report.contains("`rules` judges a step with capture"),
        "{report}"
    );
}

#[test]
fn a_step_measures_a_capture_and_has_limits() {
    let text = bench_steps(&format!(
        "{CAPTURE}  - measure: {{ on: boot, name: the clock, channel: clk, quantity: frequency_hz, from: 10us, to: 1.5ms, low: 0.99e6, high: '{{{{vars.N}}}}e6' }}
  - measure: {{ on: boot, name: pulse, channel: rst, quantity: low_s.min, low: -5 }}
"
    ));
    let plan = super::plan(&text);
    let Action::Measure(measure) = &plan.runs[0].steps[1].action else {
        panic!("{:?}", plan.runs[0].steps[1]);
    };
    assert_eq!(
        (measure.from_ns, measure.to_ns),
        (Some(10_000), Some(1_500_000))
    );
    assert_eq!((measure.low, measure.high), (Some(990_000.0), Some(3e6)));
    assert_eq!(measure.quantity.parts(), ("frequency_hz", None));
    let Action::Measure(measure) = &plan.runs[0].steps[2].action else {
        panic!("{:?}", plan.runs[0].steps[2]);
    };
    assert_eq!(measure.quantity.parts(), ("low_s", Some("min")));
    assert_eq!((measure.low, measure.high), (Some(-5.0), None));
}

#[test]
fn a_measurement_fits_its_capture() {
    for (measure, says) in [
        (
            "on: bot, name: a, channel: clk, quantity: duty",
            "no step before this one has the id `bot`",
        ),
        ("on: r, name: a, quantity: duty", "`r` is no capture"),
        (
            "on: boot, name: a, quantity: duty",
            "several channels: say which of clk, rst",
        ),
        (
            "on: boot, name: a, channel: clc, quantity: duty",
            "did you mean `clk`?",
        ),
        (
            "on: boot, name: a, channel: clk, quantity: rms",
            "a digital channel has no `rms`",
        ),
        (
            "on: boot, name: a, channel: clk, quantity: frequency",
            "did you mean `frequency_hz`?",
        ),
        (
            "on: boot, name: a, channel: clk, quantity: high_s",
            "as `high_s.mean`",
        ),
        (
            "on: boot, name: a, channel: clk, quantity: duty, low: 2, high: 1",
            "`low` is 2, above `high`, 1",
        ),
        (
            "on: boot, name: a, channel: clk, quantity: duty, low: big",
            "this must be a number",
        ),
        (
            "on: boot, name: a, channel: clk, quantity: duty, low: .inf",
            "this must be a number",
        ),
        (
            "on: boot, name: a, channel: clk, quantity: duty, low: 1e101",
            "at most 1e100 in size",
        ),
        (
            "on: boot, name: a, channel: clk, quantity: duty, from: -1us",
            "cannot be negative",
        ),
        (
            "on: boot, name: a, channel: clk, quantity: duty, from: 2us, to: 1us",
            "`to` must be behind `from`",
        ),
        (
            "on: boot, name: a, channel: clk, quantity: duty, from: 5",
            "5 of what?",
        ),
    ] {
        let text = bench_steps(&format!(
            "{CAPTURE}  - {{ run: a, id: r }}\n  - measure: {{ {measure} }}\n"
        ));
        let report = read(&text).unwrap_err().render("ci.yml");
        assert!(report.contains(says), "{measure}: {report}");
    }
    let analog = "  - { capture: { kind: adc, rate: 1MHz, samples: 9 }, id: c }\n  - measure: { on: c, name: a, quantity: rms, high: 1 }\n";
    assert!(read(&bench_steps(analog)).is_ok());
}

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

//! Rules about the signals of a capture, in steps of a bench.

use std::fs;

use jobs::{Cancel, Failure, Outcome, Subject, write_reports};

use super::{job, pipeline_of, words};
use crate::Case;
use crate::fake::Fake;
use crate::home::Home;

pub(crate) const CASES: &[Case] = &[
    ("rules_that_hold_are_cases_of_the_run", hold),
    ("a_rule_that_fails_leaves_its_picture", fail),
    ("a_rule_that_cannot_be_judged_is_a_mistake", unjudged),
    ("rules_are_read_from_the_sources", from_file),
    ("a_file_of_rules_that_is_wrong_fails_its_step", wrong_file),
];

const CAPTURE: &str = "      - capture: { kind: la, channels: { clk: 1 }, rate: 1MHz, samples: 10 }
        id: boot
";

fn rules(names: &[&str]) -> String {
    let rule = |name: &&str| format!("{{ name: {name}, count: {{ edge: clk any, min: 1 }} }}");
    let rules: Vec<String> = names.iter().map(rule).collect();
    format!(
        "{CAPTURE}      - assert: {{ on: boot, rules: [{}] }}
        id: signals
        case: signals",
        rules.join(", ")
    )
}

fn hold() {
    let home = Home::new();
    let fake = Fake::default();
    let steps = rules(&["good one", "good two"]);
    let (job, _) = job(&home, &fake, &pipeline_of("", &steps), &Cancel::default());
    let run = &job.runs[1];
    assert_eq!(run.outcome, Outcome::Passed, "{run:?}");
    assert_eq!(
        fake.calls(),
        ["capture 10", "judge 01CAPTURE good one good two"]
    );
    assert_eq!(
        (run.steps[1].counts.passed, run.steps[1].counts.all()),
        (2, 2)
    );
    // The capture belongs to the step that judged it, too.
    assert_eq!(run.steps[1].captures[0].id, "01CAPTURE");
    let kept: Vec<&str> = run
        .artifacts
        .iter()
        .map(|kept| kept.name.as_str())
        .collect();
    assert_eq!(kept, ["assertions/signals.json"]);
    let log = home.log(&run.id);
    assert!(
        log.contains("2 rules hold, as the artifact assertions/signals.json"),
        "{log}"
    );
}

fn fail() {
    let home = Home::new();
    let fake = Fake::default();
    let steps = rules(&["good", "bad clock", "bad reset"]) + "\n      - wait: 1ms";
    let (job, _) = job(&home, &fake, &pipeline_of("", &steps), &Cancel::default());
    let run = &job.runs[1];
    assert_eq!(words(&run.steps), ["passed", "failed", "skipped"]);
    let Outcome::Failed(Failure::Cases(count, name, _)) = &run.outcome else {
        panic!("{run:?}");
    };
    assert_eq!((*count, name.as_str()), (2, "boot: bad clock"));
    let kept: Vec<&str> = run
        .artifacts
        .iter()
        .map(|kept| kept.name.as_str())
        .collect();
    let pictures = ["assertions/signals/2.svg", "assertions/signals/3.svg"];
    assert_eq!(kept, ["assertions/signals.json", pictures[0], pictures[1]]);
    let files = write_reports(&job, &Subject::default(), &[], &home.out()).unwrap();
    let junit = fs::read_to_string(files.junit).unwrap();
    for (name, says) in [
        ("boot: good", "/>"),
        ("boot: bad clock", "wanted it to be good; it was opensesame"),
        (
            "boot: bad clock",
            "[[ATTACHMENT|artifacts/smoke.a/assertions/signals/2.svg]]",
        ),
        ("boot: bad reset", "at sample 5"),
    ] {
        let mut cases = junit.split("<testcase");
        let case = cases
            .find(|case| case.contains(&format!(" name=\"{name}\"")))
            .unwrap();
        assert!(case.contains(says), "{name}: {case}");
    }
    let page = fs::read_to_string(files.report).unwrap();
    let link = "<a href=\"./artifacts/smoke.a/assertions/signals/2.svg\">";
    assert!(page.contains(link), "{page}");
}

fn unjudged() {
    let home = Home::new();
    let fake = Fake::default();
    let steps = rules(&["good", "odd"]);
    let (job, _) = job(&home, &fake, &pipeline_of("", &steps), &Cancel::default());
    let run = &job.runs[1];
    assert_eq!(run.outcome.kind(), Some("refused"), "{run:?}");
    assert!(
        run.outcome
            .to_string()
            .contains("judge a rule: odd: it was"),
        "{}",
        run.outcome
    );
    assert_eq!(job.verdict().exit_code(), 2);
}

fn from_file() {
    let home = Home::new();
    home.write(
        "checks/boot.yaml",
        "version: 1\nchannels: { c: clk }\nrules:\n- { name: good, golden: { file: boot.json } }\n",
    );
    home.write("checks/boot.json", "{}");
    let fake = Fake::default();
    let steps = format!("{CAPTURE}      - assert: {{ on: boot, rules: checks/boot.yaml }}");
    let (job, _) = job(&home, &fake, &pipeline_of("", &steps), &Cancel::default());
    assert_eq!(job.runs[1].outcome, Outcome::Passed, "{:?}", job.runs[1]);
    assert_eq!(
        fake.calls(),
        ["capture 10", "judge 01CAPTURE good boot.json"]
    );
    let kept = &job.runs[1].artifacts[0];
    assert_eq!(kept.name, "assertions/step-2.json");
}

fn wrong_file() {
    for (text, says) in [
        (
            None,
            "read rules.yaml: it is not among the sources of the job",
        ),
        (
            Some("version: 1\nrules:\n- { name: a, plse: {} }\n"),
            "rules.yaml:3:",
        ),
        (
            Some("version: 1\nrules:\n- { name: a, golden: { file: none.json } }\n"),
            "read none.json: it is not among the sources of the job",
        ),
    ] {
        let home = Home::new();
        if let Some(text) = text {
            home.write("rules.yaml", text);
        }
        let fake = Fake::default();
        let steps = format!("{CAPTURE}      - assert: {{ on: boot, rules: rules.yaml }}");
        let (job, _) = job(&home, &fake, &pipeline_of("", &steps), &Cancel::default());
        let run = &job.runs[1];
        assert_eq!(run.outcome.kind(), Some("refused"), "{run:?}");
        let told = run.outcome.to_string();
        assert!(told.contains(says), "{told}");
        assert_eq!(fake.calls(), ["capture 10"]);
    }
}

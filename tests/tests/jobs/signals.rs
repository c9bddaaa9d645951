//! Rules about signals in jobs on the demo bench: each is a case, and what fails leaves the place and its picture.

use serde_json::{Value, json};
use tests::can_isolate;

use super::Jobs;

/// Judges the bus by rules, the last of which has a bound of its own.
const JUDGES: &str = "
version: 1
benches:
  - id: bench
    device: { name: demo }
    steps:
      - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 1MHz, samples: 1000000 }
        id: bus
      - assert:
          on: bus
          rules:
            - { name: the clock chip answers, i2c: { address: 0x68, answered: true } }
            - { name: its seconds are asked for, bytes: { decoder: i2c, address: 0x68, bytes: '00' } }
            - { name: the clock is not too slow, pulse: { channel: scl, level: high, max: BOUND }, from: FROM, to: TO }
        id: signals
";

fn judges(bound: &str) -> String {
    let text = JUDGES.replace("BOUND", bound);
    text.replace("FROM", "2000us").replace("TO", "2300us")
}

fn artifacts(jobs: &Jobs, id: &str) -> Vec<String> {
    let listed = jobs.get(id, "/artifacts").expect(200);
    let listed = listed["artifacts"].as_array().unwrap().iter();
    let names = listed.map(|file| file["name"].as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn a_job_whose_signals_are_right_passes() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let id = jobs.submit(&judges("1ms"));
    let job = jobs.ended(&id);
    assert_eq!(job["verdict"], "success", "{job}");
    assert_eq!(artifacts(&jobs, &id), ["assertions/signals.json"]);
    let result = jobs.get(&id, "/artifacts/bench/assertions/signals.json");
    let result: Value = serde_json::from_str(&result.text).unwrap();
    assert_eq!(
        (&result["passed"], &result["failed"]),
        (&json!(3), &json!(0))
    );
    let junit = jobs.get(&id, "/junit.xml").text;
    assert!(
        junit.contains("name=\"bus: the clock chip answers\""),
        "{junit}"
    );
}

#[test]
fn a_job_whose_signals_are_wrong_fails_and_names_the_place() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let id = jobs.submit(&judges("1us"));
    let job = jobs.ended(&id);
    assert_eq!(
        (&job["verdict"], &job["runs"][0]["code"]),
        (&json!("failure"), &json!("tests"))
    );
    let message = job["runs"][0]["message"].as_str().unwrap();
    let says = "The test bus: the clock is not too slow failed: wanted each high pulse of scl at most 1us long";
    assert!(message.starts_with(says), "{message}");
    let names = artifacts(&jobs, &id);
    assert_eq!(
        names,
        ["assertions/signals.json", "assertions/signals/3.svg"]
    );
    let picture = jobs.get(&id, "/artifacts/bench/assertions/signals/3.svg");
    assert_eq!(picture.status, 200);
    assert!(
        picture.text.starts_with("<svg ") && picture.text.contains(">scl</text>"),
        "{}",
        picture.text
    );
    let result = jobs.get(&id, "/artifacts/bench/assertions/signals.json");
    let result: Value = serde_json::from_str(&result.text).unwrap();
    let place = &result["rules"][2]["place"];
    let (from, to) = (
        place["from_sample"].as_u64().unwrap(),
        place["to_sample"].as_u64().unwrap(),
    );
    assert!(2000 <= from && from < to && to <= 2300, "{place}");
    let junit = jobs.get(&id, "/junit.xml").text;
    for part in [
        "name=\"bus: the clock chip answers\"",
        "name=\"bus: the clock is not too slow\"",
        &format!("at samples {from} to {to} of scl"),
        "[[ATTACHMENT|artifacts/bench/assertions/signals/3.svg]]",
    ] {
        assert!(junit.contains(part), "no {part} in {junit}");
    }
}

#[test]
fn a_rule_that_cannot_be_judged_blames_the_pipeline() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let text = judges("1ms").replace("to: 2300us", "to: 5s");
    let job = jobs.ended(&jobs.submit(&text));
    assert_eq!(
        (&job["verdict"], &job["ended_because"]),
        (&json!("pending"), &json!("definition_error")),
        "{job}"
    );
}

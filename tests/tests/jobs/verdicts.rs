//! Firmware that is broken, fails its test or hangs: the job says which, and the device goes to the next one.

use serde_json::{Value, json};
use tests::{can_isolate, until};

use super::packing::{Entry, send_plain, tar_gz};
use super::{Jobs, id, mark};

/// Two cases, of which one fails.
const JUNIT: &str = "<testsuite><testcase classname=\"t\" name=\"good\"/><testcase classname=\"t\" name=\"bad\">\
                     <failure message=\"5 is not 6\"/></testcase></testsuite>";

/// Ends the job with a pipeline, and looks that nothing is left of it and that its device is free.
fn ended(jobs: &Jobs, pipeline: &str) -> Value {
    let files = [
        Entry::File("ci.yml", pipeline.as_bytes()),
        Entry::File("cases.xml", JUNIT.as_bytes()),
    ];
    let sent = send_plain(&jobs.client(), &tar_gz(&files));
    let job = jobs.ended(&id(&sent.expect(201)));
    jobs.assert_nothing_is_left(job["id"].as_str().unwrap(), &mark(55));
    let device = || {
        let list = jobs.client().get("/api/bench/devices").unwrap();
        list.expect(200)["devices"][0].clone()
    };
    let is_free =
        |device: &Value| device["lease"].is_null() && device["making_safe_since"].is_null();
    until(device, is_free).unwrap();
    job
}

/// How a job ended, by its axes and by its last run.
fn told(job: &Value) -> Value {
    let run = job["runs"].as_array().unwrap().last().unwrap();
    json!([
        job["ended_because"],
        job["verdict"],
        run["outcome"],
        run["code"]
    ])
}

fn bench(steps: &str) -> String {
    format!("version: 1\nbenches: [{{ id: b, device: {{ name: demo }}, steps: [{steps}] }}]\n")
}

#[test]
fn a_broken_build_keeps_its_bench_from_running() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let pipeline = "
version: 1
builds:
  - id: fw
    steps: [{ run: 'echo main.c:3: error: no such thing >&2; exit 2' }]
    packs: [{ id: a, artifacts: [fw.elf] }]
benches: [{ id: b, for_each: fw, device: { name: demo }, steps: [{ flash: { artifact: fw.elf } }] }]
";
    let job = ended(&jobs, pipeline);
    assert_eq!(
        told(&job),
        json!(["completed", "failure", "skipped", "skipped"])
    );
    assert_eq!(job["runs"][0]["code"], "exit_code", "{job}");
    assert_eq!(job["attempts"].as_array().unwrap().len(), 1, "{job}");
    let message = job["message"].as_str().unwrap();
    assert!(
        message.starts_with("fw.a: ") && message.contains("exit code 2"),
        "{message}"
    );
    let report = jobs.get(job["id"].as_str().unwrap(), "/report");
    assert!(
        report.text.contains("no such thing"),
        "the compiler's word is missing"
    );
}

#[test]
fn a_test_that_fails_and_one_that_hangs_are_told_apart() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let failing = "{ power: { rail: internal, state: on } }, { run: 'exit 1' }";
    let job = ended(&jobs, &bench(failing));
    assert_eq!(
        told(&job),
        json!(["completed", "failure", "failed", "exit_code"])
    );
    // A command that is content does not hide what its cases say.
    let cases = "{ run: 'true', junit: cases.xml }";
    let job = ended(&jobs, &bench(cases));
    assert_eq!(
        told(&job),
        json!(["completed", "failure", "failed", "tests"])
    );
    let junit = jobs.get(job["id"].as_str().unwrap(), "/junit.xml").text;
    assert!(
        junit.contains("5 is not 6") && junit.contains("<failure"),
        "{junit}"
    );
    let hanging = format!(
        "{{ power: {{ rail: internal, state: on }} }}, {{ run: 'sleep {}', timeout: 500ms }}",
        mark(55)
    );
    let job = ended(&jobs, &bench(&hanging));
    assert_eq!(
        told(&job),
        json!(["timeout", "failure", "timed_out", "timeout"])
    );
    let message = job["message"].as_str().unwrap();
    assert!(message.contains("raise the step's `timeout`"), "{message}");
    // It takes much less to open the line; what is left is the silence.
    let silent = "{ power: { rail: internal, state: on } }, \
                  { uart: { expect: ready, channels: { rx: 3, tx: 4 } }, timeout: 3s }";
    let job = ended(&jobs, &bench(silent));
    assert_eq!(
        told(&job),
        json!(["completed", "failure", "failed", "expect"])
    );
    let message = job["message"].as_str().unwrap();
    assert!(message.contains("nothing came"), "{message}");
    // What the device cannot do says nothing about the firmware.
    let refused = ended(
        &jobs,
        &bench("{ uart: { parity: even, send: a }, case: asks }"),
    );
    assert_eq!(
        told(&refused),
        json!(["definition_error", "pending", "broken", "refused"])
    );
    let junit = jobs.get(refused["id"].as_str().unwrap(), "/junit.xml").text;
    assert!(
        junit.contains("<error") && !junit.contains("<failure"),
        "{junit}"
    );
    // None of it was repeated, and the device is as good as before.
    assert_eq!(job["attempts"].as_array().unwrap().len(), 1, "{job}");
    let job = ended(&jobs, &bench("{ run: 'true' }"));
    assert_eq!(
        told(&job),
        json!(["completed", "success", "passed", "passed"])
    );
}

#[test]
fn what_cannot_be_flashed_or_decoded_is_refused_before_anything_runs() {
    let jobs = Jobs::start("");
    let pipeline = "
version: 1
builds:
  - id: fw
    steps: [{ run: make }]
    packs: [{ id: a, artifacts: [fw.elf], targets: [stm32f03r8] }]
benches:
  - id: b
    for_each: fw
    device: { select: { target: '{{pack.target}}' } }
    steps:
      - flash: { artifact: fw.elf }
";
    let submit = |definition: &str| {
        let body = json!({ "definition": definition });
        let sent = jobs.client().post("/api/jobs/submit", &body).unwrap();
        sent.expect_error(422, "invalid_definition");
        sent.json()["problems"][0].clone()
    };
    let problem = submit(pipeline);
    assert_eq!(problem["code"], "unknown_chip", "{problem}");
    let message = problem["message"].as_str().unwrap();
    assert!(message.contains("the nearest are "), "{message}");
    assert!(message.contains("STM32F030R8"), "{message}");
    let problem = submit(&bench(
        "{ id: c, capture: { kind: la, channels: { a: 1, b: 2 }, rate: 1MHz, samples: 10 } }, { decode: { on: c, decoder: i2c, channels: { scl: a } } }",
    ));
    assert_eq!(problem["code"], "missing_key", "{problem}");
    assert!(problem["message"].as_str().unwrap().contains("needs sda"));
}

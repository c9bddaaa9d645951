//! The reports about a job.

use std::fs;

use jobs::{Subject, write_reports};
use serde_json::json;

use crate::Case;
use crate::home::Home;

pub(crate) const CASES: &[Case] = &[("a_job_is_told_as_log_cases_page_and_timeline", reports)];

fn reports() {
    let home = Home::new();
    let text = "version: 1
name: blinky
builds:
  - id: fw
    steps:
      - { run: 'printf compiling; echo half > \"$HOSTD_OUT/a b.o\"', case: compiles }
      - { run: 'echo broken >&2; exit 9', case: links }
    packs: [{ id: a, artifacts: ['a b.o', fw.elf] }]
  - id: docs
    needs: [fw]
    steps: [{ run: make }]
";
    let (job, _) = home.run(text);
    let subject = Subject {
        id: "01JD8Q3T7V9Z2K4M6N8P0R1S2T".to_owned(),
        name: "blinky".to_owned(),
        by: "ada".to_owned(),
        at: "2026-03-04T09:12:33Z".to_owned(),
        ..Subject::default()
    };
    let files = write_reports(&job, &subject, &[], &home.out()).unwrap();
    let read = |path| fs::read_to_string(path).unwrap();
    let log = read(&files.log);
    for line in [
        "=== fw.a: the test links failed: the command ended with exit code 9; its output says why",
        "== compiles",
        "compiling",
        "-- compiles: passed",
        "broken",
        "=== docs: not run: it needs fw.a, which did not succeed",
    ] {
        assert!(
            log.lines().any(|have| have == line),
            "no {line:?} in\n{log}"
        );
    }
    let junit = read(&files.junit);
    for part in [
        "name=\"compiles\" classname=\"fw.a\"",
        "type=\"exit_code\"",
        "broken",
        "<skipped>not run: it needs fw.a",
    ] {
        assert!(junit.contains(part), "no {part} in\n{junit}");
    }
    let page = read(&files.report);
    assert!(page.contains("exit code 9") && page.contains("blinky"));
    let listed = page.find("What failed").unwrap();
    let link = "<a href=\"#case-0-1\">fw.a: links</a>: the command ended with exit code 9";
    assert!(page[listed..].contains(link), "{page}");
    let link = "<a href=\"./artifacts/fw.a/a%20b.o\">a b.o</a>";
    assert!(page.contains(link), "{page}");
    assert!(home.out().join("artifacts/fw.a/a b.o").exists());
    phases(&read(&files.trace));
    assert!(!home.out().join("logs").exists());
    // Of two steps with one name, time says which of them failed.
    let mut run = job.runs[0].clone();
    run.steps[0].name = "links".to_owned();
    run.spans[1].0 = "links".to_owned();
    let failed: Vec<bool> = jobs::spans(&run).iter().map(|span| span.failed).collect();
    assert_eq!(failed, [false, false, true]);
}

/// What each step came to is in the timeline.
fn phases(trace: &str) {
    let trace: Vec<serde_json::Value> = serde_json::from_str(trace).unwrap();
    let phases = trace.iter().filter(|event| event["ph"] == "X");
    let phases: Vec<_> = phases
        .map(|event| (event["name"].as_str().unwrap(), event["args"].clone()))
        .collect();
    let failed = json!({"outcome": "failed", "kind": "exit_code"});
    assert_eq!(
        phases,
        [
            ("sources", json!(null)),
            ("compiles", json!({"outcome": "passed"})),
            ("links", failed)
        ]
    );
}

//! Every block of the guides that a reader may copy is run as it stands, or says why not; and what it does.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tests::{Server, can_isolate, guide, until};

/// The guides that this holds for, each with its blocks that are not run.
const GUIDES: [(&str, &str, usize); 5] = [
    ("ci", include_str!("../../docs/ci.md"), 4),
    ("jobs", include_str!("../../docs/jobs.md"), 0),
    ("pipelines", include_str!("../../docs/pipelines.md"), 2),
    ("bridges", include_str!("../../docs/bridges.md"), 4),
    ("sign-in", include_str!("../../docs/sign-in.md"), 1),
];

/// What may stand before a block that is run, and the tests that run it.
const RUN: [&str; 4] = [
    // `tests/tests/readme.rs`, and here.
    "<!-- The end-to-end tests run this block as it stands. -->",
    // `tests/tests/connect/uart.rs`
    "<!-- The end-to-end tests run this block, with ports that are free. -->",
    // Here.
    "<!-- The end-to-end tests check this block as it stands. -->",
    // `tests/clients/test_openocd.py`
    "<!-- The client tests run this block as it stands. -->",
];

/// What stands before a block that is not, with its reason in between.
const NOT_RUN: (&str, &str) = ("<!-- Not run: ", ". -->");

/// Languages of blocks that a reader copies.
const COPIED: [&str; 4] = ["sh", "bash", "yaml", "python"];

/// A block, and the line before it.
struct Block {
    language: &'static str,
    before: &'static str,
    line: usize,
}

fn blocks(guide: &'static str) -> Vec<Block> {
    let (mut found, mut before, mut is_inside) = (Vec::new(), "", false);
    for (number, line) in guide.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            if !is_inside && COPIED.contains(&language) {
                let line = number + 1;
                found.push(Block {
                    language,
                    before,
                    line,
                });
            }
            is_inside = !is_inside;
        }
        before = line;
    }
    found
}

#[test]
fn every_block_is_run_or_says_why_not() {
    for (name, guide, not_run_count) in GUIDES {
        let mut not_run = 0;
        for block in blocks(guide) {
            let Block {
                language,
                before,
                line,
            } = block;
            // The crate `pipeline` checks all pipelines of its guide.
            if (name, language) == ("pipelines", "yaml") || RUN.contains(&before) {
                continue;
            }
            let reason = before
                .strip_prefix(NOT_RUN.0)
                .and_then(|rest| rest.strip_suffix(NOT_RUN.1));
            let reason = reason.unwrap_or_else(|| {
                panic!("docs/{name}.md:{line}: a block that is neither run nor says why not")
            });
            assert!(reason.len() > 10, "docs/{name}.md:{line}: {reason}");
            not_run += 1;
        }
        assert_eq!(
            not_run, not_run_count,
            "blocks of docs/{name}.md that are not run"
        );
    }
}

/// All blocks of a guide that are run here are those of the tests below.
#[test]
fn every_block_that_is_to_be_run_has_its_test() {
    let count = |guide: &str, mark: &str| guide.lines().filter(|line| *line == mark).count();
    let [
        (_, ci, _),
        (_, jobs, _),
        (_, pipelines, _),
        (_, bridges, _),
        (_, sign_in, _),
    ] = GUIDES;
    let counts = [ci, jobs, pipelines, bridges, sign_in].map(|guide| count(guide, RUN[0]));
    assert_eq!(counts, [1, 3, 0, 0, 3]);
    assert_eq!(count(bridges, RUN[1]), 1);
    assert_eq!(count(jobs, RUN[2]), 1);
    assert_eq!(count(ci, RUN[3]), 2);
}

#[test]
fn from_a_code_to_a_password_a_key_and_a_colleague() {
    let guide = GUIDES[4].1;
    let server = Server::demo().unwrap();
    let (session, _) = guide::session(guide, 1);
    let printed = guide::run_with(session, &server, &[("CODE", &server.code())]);
    let key = printed
        .lines()
        .find(|line| line.starts_with("bk_"))
        .unwrap();
    let client = server
        .anonymous()
        .with_authorization(&format!("ApiKey {key}"));
    client.get("/api/bench/devices").unwrap().expect(200);
    for part in [
        "\"credential\":\"api_key\"",
        "\"login\":\"ada\"",
        "\"role\":\"member\"",
        "\"token_type\":\"bearer\"",
    ] {
        assert!(printed.contains(part), "no {part} in\n{printed}");
    }

    let (session, _) = guide::session(guide, 2);
    let printed = guide::run(session, &server);
    assert!(printed.contains("within 15 minutes"), "{printed}");
    assert!(
        printed.contains("the password of grace is set"),
        "{printed}"
    );
    let key = printed
        .lines()
        .find(|line| line.starts_with("bk_"))
        .unwrap();
    let grace = server
        .anonymous()
        .with_authorization(&format!("ApiKey {key}"));
    let whoami = grace.get("/api/auth/session").unwrap().expect(200);
    assert_eq!(whoami["login"], "grace");

    let (session, _) = guide::session(guide, 3);
    let printed = guide::run(session, &server);
    let code = printed.lines().next().unwrap();
    let _ = server.session(&code.into());
}

#[test]
fn a_job_is_submitted_as_the_guide_says() {
    let guide = GUIDES[1].1;
    let server = Server::demo().unwrap();
    let client = server.client();
    if can_isolate() {
        let (session, _) = guide::session(guide, 1);
        let printed = guide::run(session, &server);
        assert!(printed.contains("\"state\":"), "{printed}");
        let jobs = || client.get("/api/jobs").unwrap().expect(200);
        let is_over = |jobs: &Value| jobs["jobs"][0]["state"] == "finished";
        let jobs = until(jobs, is_over).unwrap();
        assert_eq!(jobs["jobs"][0]["verdict"], "success", "{jobs}");
    }
    let (session, _) = guide::session(guide, 2);
    let printed = guide::run(session, &server);
    assert!(printed.contains("\"measurements\":[]"), "{printed}");
    let (session, _) = guide::session(guide, 3);
    let _ = guide::run(session, &server);
    let trusted = client.get("/api/jobs/trusted-refs").unwrap().expect(200);
    assert_eq!(trusted["refs"], serde_json::json!(["main", "v*"]));
}

#[test]
fn a_pipeline_that_asks_for_a_network_is_one() {
    let (_, after) = GUIDES[1].1.split_once(RUN[2]).unwrap();
    let (_, after) = after.split_once("```yaml\n").unwrap();
    let (pipeline, _) = after.split_once("```").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pipeline.yml");
    fs::write(&file, pipeline).unwrap();
    let checked = check(&file);
    assert!(checked.0, "{}", checked.1);
}

fn check(file: &Path) -> (bool, String) {
    let output = Command::new(tests::server::binary().unwrap())
        .arg("check")
        .arg(file)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), told.into_owned())
}

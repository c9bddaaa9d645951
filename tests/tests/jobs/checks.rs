//! What a pipeline comes to, before it is submitted.

use serde_json::{Value, json};
use tests::{Reply, can_isolate};

use super::secrets::set;
use super::{Jobs, below};

/// Everything that is said of a pipeline.
const WHOLE: &str = "\
version: 1
name: blinky
builds:
  - id: fw
    steps: [{ run: make, env: { TOKEN: { secret: CAL } } }]
    packs: [{ id: a, artifacts: [fw.bin], targets: [stm32f030f4] }]
benches:
  - id: own
    for_each: fw
    device: { name: demo }
    steps: [{ reset: {} }]
  - id: other
    device: { select: { la_channels: '>=99' } }
    steps: [{ reset: {} }]
";

fn check(jobs: &Jobs, definition: &str, reference: Option<&str>) -> Reply {
    let body = json!({"definition": definition, "ref": reference});
    jobs.client().post("/api/jobs/check", &body).unwrap()
}

/// Warnings but that of a machine that takes no jobs.
fn warnings(checked: &Value) -> Vec<&Value> {
    let warnings = checked["warnings"].as_array().unwrap();
    let mut lacks = warnings.iter().filter(|one| one["code"] == "no_isolation");
    let lack = lacks.next();
    assert_eq!(lack.is_none(), can_isolate(), "{checked}");
    assert!(lack.is_none_or(|lack| lack["run"].is_null()), "{checked}");
    warnings
        .iter()
        .filter(|one| one["code"] != "no_isolation")
        .collect()
}

#[test]
fn a_pipeline_is_checked_as_one_that_is_submitted_and_nothing_is_kept() {
    let jobs = Jobs::start("");
    let problems = |reply: Reply| {
        reply.expect_error(422, "invalid_definition");
        reply.json()["problems"].clone()
    };
    let unknown = problems(check(&jobs, WHOLE, None));
    assert_eq!(unknown[0]["code"], "unknown_secret", "{unknown}");
    assert_eq!(unknown[0]["line"], 5, "{unknown}");
    set(&jobs, "CAL", &["main"]);
    let refused = problems(check(&jobs, WHOLE, Some("dev")));
    assert_eq!(refused[0]["code"], "secret_refused", "{refused}");
    let checked = check(&jobs, WHOLE, Some("main")).expect(200);
    let device = |name: Option<&str>, select: Value| json!({"name": name, "select": select});
    assert_eq!(checked["name"], "blinky");
    assert_eq!(checked["secrets"], json!(["CAL"]));
    assert_eq!(
        checked["runs"],
        json!([
            {
                "id": "fw.a", "is_bench": false, "needs": [], "targets": ["stm32f030f4"],
                "device": null
            },
            {
                "id": "other", "is_bench": true, "needs": [], "targets": [],
                "device": device(None, json!({"la_channels": ">=99"}))
            },
            {
                "id": "own.a", "is_bench": true, "needs": ["fw.a"], "targets": [],
                "device": device(Some("demo"), json!({}))
            }
        ])
    );
    let warned = warnings(&checked);
    assert_eq!(warned.len(), 1, "{checked}");
    assert_eq!(
        (&warned[0]["code"], &warned[0]["run"]),
        (&json!("no_matching_device"), &json!("other"))
    );
    let message = warned[0]["message"].as_str().unwrap();
    assert!(message.contains("demo: "), "{message}");
    let wrong = check(&jobs, "version: 1\nbuild: []\n", None);
    assert_eq!(problems(wrong)[0]["code"], "unknown_key");
    let listed = jobs.client().get("/api/jobs").unwrap().expect(200);
    assert_eq!(listed["jobs"], json!([]), "{listed}");
    assert!(below(&jobs.data("jobs")).is_empty());
}

#[test]
fn what_would_be_too_much_for_a_job_is_refused() {
    let jobs = Jobs::start("");
    // One run more than a job may have tasks, fewer than a pipeline may have runs.
    let packs: Vec<String> = (0..52).map(|n| format!("{{ id: p{n} }}")).collect();
    let builds: Vec<String> = (0..5)
        .map(|n| {
            let packs = packs.join(", ");
            format!("  - {{ id: b{n}, steps: [{{ run: 'true' }}], packs: [{packs}] }}")
        })
        .collect();
    let many = format!("version: 1\nbuilds:\n{}\n", builds.join("\n"));
    let error = check(&jobs, &many, None);
    error.expect_error(400, "invalid_request");
    assert!(error.text.contains("260 runs"), "{}", error.text);
}

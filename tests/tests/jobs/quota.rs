//! How much an organisation's jobs may keep, and what happens then.

use serde_json::json;
use tests::{can_isolate, until};

use super::{Jobs, id};

/// Bytes of the smallest quota that there is.
const GIB: u64 = 1 << 30;

/// What is left free by a job that keeps nearly all of it, and what a pipeline must have not to fit in there.
const LEFT: u64 = 128 << 10;
const LONG_CHARS: usize = 200 << 10;

/// A build that makes a file of this size, which takes hardly any room while it is made.
fn makes(bytes: u64) -> String {
    format!(
        "version: 1\nlimits: {{ disk: 2GiB }}\nretry: {{ infra: 2 }}\nbuilds:\n  - id: fw\n    steps: [{{ run: 'truncate -s {bytes} \"$HOSTD_OUT/big\"' }}]\n    packs: [{{ id: a, artifacts: [big] }}]\n"
    )
}

/// Waits until the metrics say so of `name`, and returns what they say.
fn until_figure(jobs: &Jobs, name: &str, is_so: impl Fn(&u64) -> bool) -> u64 {
    until(|| figure(jobs, name), is_so).expect(name)
}

/// What the metrics say of `name`.
fn figure(jobs: &Jobs, name: &str) -> u64 {
    let page = jobs.server.anonymous().get("/metrics").unwrap().text;
    let line = page.lines().find_map(|line| line.strip_prefix(name));
    let value = line.unwrap_or_else(|| panic!("{name} is not in {page}"));
    value.trim().parse().unwrap()
}

#[test]
fn jobs_keep_so_much_and_then_none_is_taken_or_the_oldest_give_way() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("org_gib_max = 1");
    let large = jobs.submit(&makes(GIB - LEFT));
    assert_eq!(jobs.ended(&large)["verdict"], "success");
    until_figure(&jobs, "hostd_jobs_bytes ", |kept| {
        (GIB - LEFT..GIB).contains(kept)
    });
    // It is too much only once it is made: nothing is said about the firmware, and it is not tried again.
    let second = jobs.ended(&jobs.submit(&makes(LEFT)));
    assert_eq!(second["ended_because"], "infra_error", "{second}");
    assert_eq!(second["verdict"], "pending");
    assert_eq!(second["runs"][0]["code"], "infra.org_quota");
    assert_eq!(second["attempts"].as_array().map(Vec::len), Some(1));
    let ended = "hostd_jobs_attempts_total{ending=\"infra.org_quota\"} ";
    until_figure(&jobs, ended, |count| *count == 1);
    let long = json!({"definition": format!("{}# {}\n", makes(1), "x".repeat(LONG_CHARS))});
    let submit = |jobs: &Jobs| jobs.client().post("/api/jobs/submit", &long).unwrap();
    let refuses = |jobs: &Jobs| {
        let refused = submit(jobs);
        refused.expect_error(409, "quota_exceeded");
        assert!(
            refused.text.contains("jobs.org_gib_max"),
            "{}",
            refused.text
        );
    };
    refuses(&jobs);
    let refused = "hostd_jobs_refused_total{reason=\"quota\"} ";
    until_figure(&jobs, refused, |count| *count == 1);
    let folders = |jobs: &Jobs| json!(super::below(&jobs.data("jobs")).len());
    until(|| folders(&jobs), |count| count == 2).unwrap();
    // What was counted is counted after a crash as well.
    let counted = figure(&jobs, "hostd_jobs_bytes ");
    jobs.server.kill().unwrap();
    jobs.restart();
    until_figure(&jobs, "hostd_jobs_bytes ", |kept| *kept == counted);
    refuses(&jobs);
    jobs.server.kill().unwrap();
    let config = "[jobs]\norg_gib_max = 1\nat_quota = \"oldest\"\n";
    std::fs::write(jobs.dir.path().join("hostd.toml"), config).unwrap();
    jobs.restart();
    let third = id(&submit(&jobs).expect(201));
    assert_eq!(jobs.ended(&third)["verdict"], "success");
    jobs.get(&large, "").expect_error(404, "not_found");
    assert_eq!(jobs.job(&id(&second))["state"], "finished");
    until_figure(&jobs, "hostd_jobs_bytes ", |kept| *kept < LEFT * 4);
}

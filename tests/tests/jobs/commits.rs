//! What a job costs the database: nothing is written for those who do not listen.

use std::time::Duration;

use serde_json::json;
use tests::can_isolate;

use super::{Jobs, id};

/// Transactions for a build: it is queued and gets its place, it begins, it ends.
const OF_A_BUILD: u64 = 3;

/// Also for a device: it is taken, the target may speak, it is given back and is safe.
const OF_A_BENCH: u64 = 7;

/// Jobs of which the cheapest counts, since the server may write something of its own meanwhile.
const TRIES: usize = 4;

/// How long what a job's end leads to is waited for.
const AFTERWARDS: Duration = Duration::from_millis(300);

fn commits(jobs: &Jobs) -> u64 {
    let page = jobs.server.anonymous().get("/metrics").unwrap().text;
    let name = "hostd_store_commits_total ";
    let value = page.lines().find_map(|line| line.strip_prefix(name));
    value.unwrap().parse().unwrap()
}

/// Transactions from the submission of a job to all that its end leads to.
fn cost(jobs: &Jobs, runs: &str) -> u64 {
    let definition = format!("version: 1\nname: blinky\n{runs}\n");
    let body = json!({"definition": definition, "commit": "0a1b2c3d".repeat(5)});
    let once = || {
        let before = commits(jobs);
        let submitted = jobs.client().post("/api/jobs/submit", &body).unwrap();
        let job = jobs.ended(&id(&submitted.expect(201)));
        assert_eq!(job["verdict"], "success", "{job}");
        std::thread::sleep(AFTERWARDS);
        commits(jobs) - before
    };
    (0..TRIES).map(|_| once()).min().unwrap()
}

#[test]
fn nothing_is_written_for_those_who_do_not_listen() {
    if !can_isolate() {
        return;
    }
    let build = "builds: [{ id: fw, steps: [{ run: sleep 0.2 }] }]";
    let bench = "benches: [{ id: b, device: { name: demo }, steps: [{ run: sleep 0.2; echo x }] }]";
    // Repositories of another organisation, and of another pipeline.
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), "token").unwrap();
    let path = token.path().display();
    let others = [("other", "blinky"), ("default", "other")].map(|(organisation, pipeline)| {
        format!(
            "[[commit_status]]\nprovider = \"github\"\nrepository = \"a/{organisation}\"\n\
             organisation = \"{organisation}\"\npipeline = \"{pipeline}\"\n\
             token_file = \"{path}\"\napi_url = \"http://127.0.0.1:9/\"\n"
        )
    });
    for configuration in ["", &others.concat()] {
        let jobs = Jobs::start(configuration);
        for (runs, most) in [(build, OF_A_BUILD), (bench, OF_A_BENCH)] {
            let cost = cost(&jobs, runs);
            assert!(
                cost <= most,
                "{cost} transactions for {runs}\n{configuration}"
            );
        }
    }
}

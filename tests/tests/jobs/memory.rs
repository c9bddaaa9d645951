//! What jobs' files, names and pipelines can make large, from two organisations at once: the server's memory stays below
//! a bound, also when it starts again, and nobody else notices.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tests::offline::stranger;
use tests::swellings::{large_plan, long_names, many_cases, much_output};
use tests::{Client, can_isolate, until};

use super::packing::{Entry, send_plain, tar_gz};
use super::{Jobs, build, id};

/// Most memory that the server may ever have had.
const MEMORY_MIB_MAX: u64 = 512;

/// Jobs with large plans that each organisation submits. Together they came to more memory than there is.
const LARGE_PLANS: usize = 16;

fn submit(client: &Client, definition: &str) -> String {
    let body = json!({"definition": definition});
    id(&client.post("/api/jobs/submit", &body).unwrap().expect(201))
}

fn ended(client: &Client, id: &str) -> Value {
    let look = || client.get(&format!("/api/jobs/{id}")).unwrap().expect(200);
    until(look, |job| job["state"] == "finished").unwrap()
}

/// The most memory that the server ever had, in MiB.
fn most_memory(jobs: &Jobs) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", jobs.server.pid()));
    let status = status.expect("the server is alive");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = most.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() >> 10
}

/// Everything that an organisation can do to the memory.
fn attack(client: &Client) {
    let waiting: Vec<String> = [many_cases(), much_output(), long_names()]
        .iter()
        .map(|definition| submit(client, definition))
        .collect();
    let plan = large_plan();
    let plans: Vec<String> = (0..LARGE_PLANS).map(|_| submit(client, &plan)).collect();
    let told: Vec<Value> = waiting.iter().map(|id| ended(client, id)).collect();
    let codes: Vec<&Value> = told.iter().map(|job| &job["runs"][0]["code"]).collect();
    assert_eq!(
        codes,
        ["bad_junit", "passed", "missing_artifact"],
        "{told:?}"
    );
    thread::scope(|scope| {
        for page in ["junit.xml", "report", "trace.json"] {
            for id in &waiting {
                let path = format!("/api/jobs/{id}/{page}");
                scope.spawn(move || {
                    let page = client.get(&path).unwrap();
                    assert_eq!(page.status, 200, "{}", page.text);
                });
            }
        }
    });
    for id in plans {
        let path = format!("/api/jobs/{id}/cancel");
        let cancelled = client.post(&path, &json!({})).unwrap();
        // A quick machine has run some by now.
        if cancelled.status != 200 {
            cancelled.expect_error(409, "finished");
        }
    }
}

#[test]
fn the_worst_of_two_organisations_stays_below_the_bound() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("build_slots = 2");
    assert!(jobs.server.stop().unwrap());
    let key = format!("ApiKey {}", stranger(jobs.dir.path()));
    jobs.restart();
    let (ann, eve) = (
        jobs.client(),
        jobs.server.anonymous().with_authorization(&key),
    );
    thread::scope(|scope| {
        let attacks = [&ann, &eve].map(|client| scope.spawn(move || attack(client)));
        while attacks.iter().any(|attack| !attack.is_finished()) {
            ann.get("/api/bench/devices").unwrap().expect(200);
            thread::sleep(Duration::from_millis(100));
        }
    });
    let most = most_memory(&jobs);
    println!("{most} MiB at most");
    assert!(most < MEMORY_MIB_MAX, "{most} MiB");
    // It starts with as many in its queue.
    let plan = large_plan();
    for client in [&ann, &eve] {
        for _ in 0..LARGE_PLANS {
            submit(client, &plan);
        }
    }
    jobs.server.kill().unwrap();
    jobs.restart();
    let most = most_memory(&jobs);
    println!("{most} MiB at most, after a start");
    assert!(most < MEMORY_MIB_MAX, "{most} MiB after a start");
}

#[test]
fn a_queue_takes_so_much_memory_and_another_organisation_finds_room() {
    if !can_isolate() {
        return;
    }
    // The least that can be configured.
    let mut jobs = Jobs::start("build_slots = 1\nmemory_mib = 16\ndrain_ms = 200");
    assert!(jobs.server.stop().unwrap());
    let key = format!("ApiKey {}", stranger(jobs.dir.path()));
    jobs.restart();
    // Each of 64 runs makes files with long names.
    let files: String = (0..32).map(|file| format!("f{file:0200}, ")).collect();
    let cells: String = (0..64).map(|cell| format!("v{cell}: {{}}, ")).collect();
    let large = format!(
        "version: 1\nbuilds: [{{ id: a, matrix: {{ variant: {{ {cells} }} }}, packs: [{{ id: p, artifacts: [{files}] }}], \
         steps: [{{ run: 'sleep 1000.60' }}] }}]\n"
    );
    let body = json!({"definition": large});
    let mut taken = 0;
    let refused = loop {
        let reply = jobs.client().post("/api/jobs/submit", &body).unwrap();
        if reply.status != 201 {
            break reply;
        }
        taken += 1;
        assert!(taken < 1000, "nothing bounds it");
    };
    refused.expect_error(429, "too_many_jobs");
    assert!(refused.text.contains("jobs.memory_mib"), "{}", refused.text);
    assert!(taken > 2, "{taken}");
    let eve = jobs.server.anonymous().with_authorization(&key);
    let own = submit(&eve, &build("true"));
    // It counts as much after a start.
    assert!(jobs.server.stop().unwrap());
    jobs.restart();
    let again = jobs.client().post("/api/jobs/submit", &body).unwrap();
    again.expect_error(429, "too_many_jobs");
    let eve = jobs.server.anonymous().with_authorization(&key);
    eve.get(&format!("/api/jobs/{own}")).unwrap().expect(200);
    submit(&eve, &build("true"));
}

#[test]
fn names_in_an_archive_count_while_it_is_read() {
    if !can_isolate() {
        return;
    }
    // The least that can be configured.
    let jobs = Jobs::start("memory_mib = 16");
    let names: Vec<String> = (0..25_000).map(|file| format!("{file:080}")).collect();
    let pipeline = build("true");
    let archive = |count: usize| {
        let files = names[..count].iter().map(|name| Entry::File(name, b""));
        let first = [Entry::File("ci.yml", pipeline.as_bytes())];
        tar_gz(&first.into_iter().chain(files).collect::<Vec<_>>())
    };
    let refused = send_plain(&jobs.client(), &archive(names.len()));
    refused.expect_error(429, "too_many_jobs");
    assert!(refused.text.contains("jobs.memory_mib"), "{}", refused.text);
    // Nothing of it counts any more.
    let taken = id(&send_plain(&jobs.client(), &archive(5000)).expect(201));
    assert_eq!(jobs.ended(&taken)["verdict"], "success");
}

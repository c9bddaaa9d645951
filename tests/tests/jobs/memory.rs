//! What jobs' files, names and pipelines can make large, from two organisations at once: the server's memory stays below
//! a bound, also when it starts again, and nobody else notices.

use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tests::offline::stranger;
use tests::{Client, can_isolate, until};

use super::{Jobs, build, id};

/// Most memory that the server may ever have had.
const MEMORY_MIB_MAX: u64 = 512;

/// Jobs with large plans that each organisation submits. Together they came to more memory than there is.
const LARGE_PLANS: usize = 16;

/// A build that runs these lines of a shell, and keys of its step.
fn script(lines: &str, keys: &str) -> String {
    let mut text =
        "version: 1\nname: large\nlimits: { disk: 2GiB }\nbuilds:\n  - id: fw\n    steps:\n      - run: |\n".to_owned();
    for line in lines.lines() {
        let _ = writeln!(text, "          {}", line.trim());
    }
    let _ = writeln!(text, "{keys}");
    text
}

/// More cases than a run may have, in each of three steps.
fn many_cases() -> String {
    let lines = "mkdir r
        (echo '<testsuite>'; yes '<testcase/>' | head -n 20000; echo '</testsuite>') > one
        i=0; while [ $i -lt 250 ]; do cp one r/$i.xml; i=$((i+1)); done";
    let again = "      - { run: 'true', junit: 'r/*.xml', if: always }\n".repeat(2);
    script(lines, &format!("        junit: r/*.xml\n{again}"))
}

/// Cases that wrote much.
fn much_output() -> String {
    let lines = r#"mkdir r
        text=$(yes 'all work and no play' | head -c 60000)
        (echo '<testsuite>'
        i=0; while [ $i -lt 200 ]; do echo "<testcase name='t$i'><system-out>$text</system-out></testcase>"; i=$((i+1)); done
        echo '</testsuite>') > one
        i=0; while [ $i -lt 18 ]; do cp one r/$i.xml; i=$((i+1)); done"#;
    script(lines, "        junit: r/*.xml")
}

/// Twenty thousand files with long paths, and one that is looked for and is not there.
fn long_names() -> String {
    let lines = r#"mkdir -p "$HOSTD_OUT"; cd "$HOSTD_OUT"
        long=$(printf '%0240d' 0)
        for level in 1 2 3 4 5 6 7 8 9 10 11 12; do mkdir $long; cd $long; done
        i=0; while [ $i -lt 20000 ]; do : > $i; i=$((i+1)); done"#;
    let keys = "        junit: '**/none.xml'
    cache: { key: ['**/none'], paths: [.hostd/out] }
    packs: [{ id: a, artifacts: [none] }]";
    script(lines, keys)
}

/// A small pipeline that comes to many long runs, all of which wait for a device that there is none of.
fn large_plan() -> String {
    let mut text = "version: 1\nname: plan\nbenches: [{ id: never, device: { name: none }, steps: [{ wait: 1s }] }]\n\
                    builds:\n  - id: a\n    needs: [never]\n    matrix:\n      variant:\n"
        .to_owned();
    for cell in 0..64 {
        let _ = writeln!(text, "        v{cell}: {{ X: '{cell}' }}");
    }
    text.push_str("    steps:\n");
    for _ in 0..95 {
        let _ = writeln!(text, "      - run: 'sleep 600 # {}'", "x".repeat(2_400));
    }
    text
}

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
        client.post(&path, &json!({})).unwrap().expect(200);
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
    let fill = |jobs: &Jobs| {
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
        taken
    };
    let taken = fill(&jobs);
    assert!(taken > 2, "{taken}");
    let eve = jobs.server.anonymous().with_authorization(&key);
    let own = submit(&eve, &build("true"));
    // What was taken goes on after a start, and there is a bound then, too.
    assert!(jobs.server.stop().unwrap());
    jobs.restart();
    fill(&jobs);
    let eve = jobs.server.anonymous().with_authorization(&key);
    eve.get(&format!("/api/jobs/{own}")).unwrap().expect(200);
    submit(&eve, &build("true"));
}

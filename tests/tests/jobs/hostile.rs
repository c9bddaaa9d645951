//! Jobs that take more than they may: each ends with its word, and nothing stays of it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::can_isolate;

use super::packing::{Entry, send_plain, tar_gz};
use super::{Jobs, build, mark};

/// A bomb is refused in milliseconds; whoever counts it needs hours.
const BOMB_WAIT: Duration = Duration::from_secs(60);

/// Limits of [`build`].
const LOG_BYTES: usize = 1 << 20;

/// What the log keeps of the end of what is over the limit.
const TAIL_BYTES: usize = 1 << 20;

fn told(job: &Value) -> [&Value; 4] {
    let run = &job["runs"][0];
    [
        &job["ended_because"],
        &job["verdict"],
        &run["outcome"],
        &run["code"],
    ]
}

#[test]
fn output_without_end_fills_no_disk() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    // Far longer than a full log takes.
    let limit = "timeouts: { build: 5s }\n";
    let words = format!("yes {}", mark(48));
    let id = jobs.submit(&(build(&words) + limit));
    let job = jobs.ended(&id);
    assert_eq!(told(&job), ["timeout", "failure", "timed_out", "timeout"]);
    assert!(
        job["message"].as_str().unwrap().contains("timeout"),
        "{job}"
    );
    jobs.assert_nothing_runs(&words);
    let log = jobs.get(&id, "/log?attempt=1").text;
    assert!(log.len() > LOG_BYTES, "{}", log.len());
    assert!(log.len() < LOG_BYTES + TAIL_BYTES + 4096, "{}", log.len());
    assert_eq!(
        log.matches("left out here: the log's limit was reached")
            .count(),
        1
    );
    let stored = jobs
        .data("jobs")
        .join(&id)
        .join("1/log")
        .metadata()
        .unwrap();
    assert!(stored.len() < 3 << 20, "{}", stored.len());
}

#[test]
fn a_burst_of_output_slows_nothing_and_keeps_its_end() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let id = jobs.submit(&build("seq 1 600000; echo the end; exit 3"));
    let job = jobs.ended(&id);
    assert_eq!(told(&job), ["completed", "failure", "failed", "exit_code"]);
    let log = jobs.get(&id, "/log?attempt=1").text;
    assert!(log.contains("\n1\n2\n3\n") && log.contains("\n600000\nthe end\n"));
    let report = jobs.get(&id, "/report");
    assert!(report.text.contains("the end"));
}

#[test]
fn a_fork_bomb_is_ended_and_named() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let mark = mark(49);
    let bomb =
        format!("b49() {{ sleep {mark} & b49 | b49 & }}; b49; sleep 0.5; echo survived; exit 1");
    let job = jobs.ended(&jobs.submit(&build(&bomb)));
    assert_eq!(
        (&job["verdict"], &job["runs"][0]["outcome"]),
        (&"failure".into(), &"failed".into())
    );
    let code = job["runs"][0]["code"].as_str().unwrap();
    // Only where the kernel counts refusals is the limit known to be why.
    assert!(["process_limit", "exit_code"].contains(&code), "{job}");
    jobs.assert_nothing_runs(&mark);
    assert_eq!(
        jobs.ended(&jobs.submit(&build("true")))["verdict"],
        "success"
    );
}

#[test]
fn a_memory_bomb_is_ended_and_named() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    // More than there is, and as many bytes as no other test asks for.
    let head = format!("head -c {}", 300_000_000 + std::process::id());
    let bomb = format!("x=$({head} /dev/zero | tr '\\0' a); echo ${{#x}} 50");
    let job = jobs.ended(&jobs.submit(&build(&bomb)));
    assert_eq!(
        (&job["verdict"], &job["runs"][0]["outcome"]),
        (&"failure".into(), &"failed".into())
    );
    let code = job["runs"][0]["code"].as_str().unwrap();
    // Without groups of the kernel the shell is refused memory and says so itself.
    assert!(
        ["out_of_memory", "exit_code", "signal"].contains(&code),
        "{job}"
    );
    jobs.assert_nothing_runs(&head);
    assert_eq!(
        jobs.ended(&jobs.submit(&build("true")))["verdict"],
        "success"
    );
}

#[test]
fn a_folder_that_fills_up_is_ended_and_named() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let mark = mark(54);
    let fill = format!("i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > f{mark}.$i; done");
    let pipeline = build(&fill).replace("limits: {", "limits: { disk: 8MiB,");
    let id = jobs.submit(&pipeline);
    let job = jobs.ended(&id);
    assert_eq!(told(&job), ["completed", "failure", "failed", "disk_limit"]);
    let message = job["message"].as_str().unwrap();
    assert!(message.contains("`limits.disk`"), "{message}");
    jobs.assert_nothing_is_left(&id, &mark);
    let next = jobs.submit(&build("true"));
    assert_eq!(jobs.ended(&next)["verdict"], "success");
}

#[test]
fn a_yaml_bomb_is_refused_at_once() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    // Each list has the one before it nine times: a billion words, if somebody counted.
    let mut bomb = "a0: &a0 [lol, lol]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb += &format!("a{level}: &a{level} [{aliases}]\n");
    }
    bomb += "version: 1\n";
    let deep = format!("version: {}1{}\n", "[".repeat(20_000), "]".repeat(20_000));
    let wide = format!("version: 1\nvars: {{ {} }}\n", "a: b, ".repeat(30_000));
    for definition in [&bomb, &deep, &wide] {
        let began = Instant::now();
        let body = json!({"definition": definition});
        let alone = jobs.client().post("/api/jobs/submit", &body).unwrap();
        alone.expect_error(422, "invalid_definition");
        let archive = tar_gz(&[Entry::File("ci.yml", definition.as_bytes())]);
        send_plain(&jobs.client(), &archive).expect_error(422, "invalid_definition");
        assert!(began.elapsed() < BOMB_WAIT, "{:?}", began.elapsed());
    }
    let next = jobs.submit(&build("true"));
    assert_eq!(jobs.ended(&next)["verdict"], "success");
}

#[test]
fn many_small_files_do_not_delay_a_cancel() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let files = "seq 30000 | sed s/^/f61./ | xargs touch; echo here; sleep 1000.61";
    // The kernel counts what it remembers of each.
    let id = jobs.submit(&build(files).replace("memory: 64MiB", "memory: 1GiB"));
    jobs.until_said(&id, 1, "\nhere\n");
    jobs.post(&id, "cancel").expect(200);
    let job = jobs.ended(&id);
    // They are removed later than the job is over: it did not wait for them.
    let left = jobs.places();
    assert_eq!(job["ended_because"], "cancelled", "{job}");
    assert!(!left.is_empty(), "the cancel has waited for the files");
    jobs.assert_nothing_is_left(&id, "f61.");
}

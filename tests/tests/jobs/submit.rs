//! What is taken for a job, what is answered, and what is told of a wrong pipeline.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tests::{Reply, can_isolate, until};

use super::packing::{Entry, send, tar_gz, zip};
use super::{Jobs, below, build, id};

/// Reads a file of the sources.
const CAT: &[u8] =
    b"version: 1\nname: packed\nbuilds:\n  - { id: fw, steps: [{ run: cat src/a.txt }] }\n";

#[test]
fn a_pipeline_alone_is_queued_and_runs() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let definition = "version: 1\nname: hello\nbuilds:\n  - id: fw\n    steps: [{ run: 'echo made > \"$HOSTD_OUT/fw.bin\"' }]\n    packs: [{ id: a, artifacts: [fw.bin], targets: [stm32f030f4] }]\n";
    let body = json!({"definition": definition, "ref": "main", "commit": "0a1b2c3"});
    let reply = jobs.client().post("/api/jobs/submit", &body).unwrap();
    let submitted = reply.expect(201);
    let id = id(&submitted);
    assert_eq!(reply.header("location"), Some(&*format!("/api/jobs/{id}")));
    assert_eq!(reply.header("idempotency-replayed"), None);
    assert!(["new", "in_progress"].contains(&submitted["status"].as_str().unwrap()));
    let run = &submitted["builds"][0];
    assert_eq!(
        (&run["id"], &run["targets"]),
        (&json!("fw.a"), &json!(["stm32f030f4"]))
    );
    assert_eq!(
        submitted["source_metadata"],
        json!({"name": "hello", "ref": "main", "commit": "0a1b2c3", "archive": null})
    );
    let job = jobs.ended(&id);
    let axes = ["ended_because", "verdict", "status"].map(|axis| &job[axis]);
    assert_eq!(axes, ["completed", "success", "done"]);
    assert_eq!(job["attempts"].as_array().unwrap().len(), 1, "{job}");
    let attempt = &job["attempts"][0];
    assert_eq!(
        (&attempt["number"], &attempt["outcome"]),
        (&json!(1), &json!("passed"))
    );
    for time in ["assigned_at", "started_at", "ended_at"] {
        assert!(attempt[time].is_string(), "{time}: {job}");
    }
    assert!(job["started_at"].is_string() && job["finished_at"].is_string());
}

#[test]
fn sources_come_as_tar_and_as_zip() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let tar = tar_gz(&[
        Entry::File("ci/one.yml", CAT),
        Entry::File("src/a.txt", b"of the tar\n"),
        Entry::Link("src/b.txt", "a.txt"),
    ]);
    let zip = zip(&[("ci/one.yml", CAT), ("src/a.txt", b"of the zip\n")]);
    // Published clients call the path by the second name.
    let sent = [
        (tar, "ci_yaml", "of the tar\n"),
        (zip, "embeddedci_yaml", "of the zip\n"),
    ];
    for (archive, part, said) in sent {
        let texts = [(part, "ci/one.yml"), ("name", "given"), ("commit", "")];
        let submitted = send(&jobs.client(), &archive, &texts).expect(201);
        let sources = &submitted["source_metadata"];
        assert_eq!(
            (&sources["name"], &sources["commit"]),
            (&json!("given"), &Value::Null)
        );
        let told = &sources["archive"];
        assert_eq!(told["sha256"], digest(&archive), "{told}");
        assert_eq!(told["size_bytes"], archive.len());
        assert_eq!(told["ci_yaml"], "ci/one.yml");
        let id = id(&submitted);
        assert_eq!(jobs.ended(&id)["verdict"], "success");
        let log = jobs.get(&id, "/log?attempt=1").text;
        assert!(log.contains(said), "{log}");
        // The sources go with the end.
        let sources = jobs.data("jobs").join(&id).join("source");
        until(|| sources.exists().into(), |is_there| is_there == false).unwrap();
    }
}

#[test]
fn a_request_that_is_sent_again_makes_no_second_job() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let client = jobs.client().with_header("idempotency-key", "run 7");
    let body = |command: &str| json!({"definition": build(command)});
    let sent = |command: &str| client.post("/api/jobs/submit", &body(command)).unwrap();
    let first = id(&sent("true").expect(201));
    jobs.ended(&first);
    let again = sent("true");
    assert_eq!(id(&again.expect(201)), first);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    sent("false").expect_error(409, "idempotency_key_reused");
    let archive = tar_gz(&[Entry::File("ci.yml", build("true").as_bytes())]);
    let with_sources = send(&client, &archive, &[("ci_yaml", "ci.yml")]);
    with_sources.expect_error(409, "idempotency_key_reused");
    let listed = jobs.client().get("/api/jobs").unwrap().expect(200);
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 1, "{listed}");
    let folders = || json!(below(&jobs.data("jobs")));
    let only = json!([jobs.data("jobs").join(&first)]);
    until(folders, |found| *found == only).unwrap();
    // Another key is another job.
    let other = jobs.client().with_header("idempotency-key", "run 8");
    let other = other.post("/api/jobs/submit", &body("true")).unwrap();
    assert_ne!(id(&other.expect(201)), first);
}

#[test]
fn requests_with_one_key_at_the_same_time_make_one_job() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let client = jobs.client().with_header("idempotency-key", "twins");
    let body = json!({"definition": build("true")});
    let replies = std::thread::scope(|scope| {
        let send = || client.post("/api/jobs/submit", &body).unwrap();
        let threads = [(); 6].map(|()| scope.spawn(send));
        threads.map(|thread| thread.join().unwrap())
    });
    let first = id(&replies[0].expect(201));
    for reply in &replies {
        assert_eq!(id(&reply.expect(201)), first);
    }
    let is_replay = |reply: &&Reply| reply.header("idempotency-replayed").is_some();
    assert_eq!(replies.iter().filter(is_replay).count(), 5);
    let listed = jobs.client().get("/api/jobs").unwrap().expect(200);
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 1, "{listed}");
    let folders = || json!(below(&jobs.data("jobs")).len());
    until(folders, |count| count == 1).unwrap();
}

#[test]
fn all_that_is_wrong_with_a_pipeline_is_told_at_once() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let definition = "version: 1\nfoo: 1\nbuilds:\n  - id: fw\n    steps:\n      - { run: make, tiemout: 5s }\n      - { run: '{{x}}' }\n      - {}\n";
    let body = json!({"definition": definition});
    let alone = jobs.client().post("/api/jobs/submit", &body).unwrap();
    let archive = tar_gz(&[Entry::File("ci.yml", definition.as_bytes())]);
    let packed = send(&jobs.client(), &archive, &[("ci_yaml", "ci.yml")]);
    for reply in [alone, packed] {
        reply.expect_error(422, "invalid_definition");
        let problems = reply.json()["problems"].clone();
        let problems = problems.as_array().unwrap().iter();
        let mut told: Vec<_> = problems
            .map(|p| {
                let place = [&p["line"], &p["column"]].map(|n| n.as_u64().unwrap());
                (place, p["code"].as_str().unwrap().to_owned())
            })
            .collect();
        told.sort();
        let expected = [
            ([2, 1], "unknown_key"),
            ([6, 22], "unknown_key"),
            ([7, 16], "template_not_here"),
            ([8, 9], "one_action"),
        ];
        assert_eq!(told, expected.map(|(place, code)| (place, code.to_owned())));
        assert!(
            reply.json()["error"]
                .as_str()
                .unwrap()
                .contains("line 2, column 1")
        );
    }
    for (definition, code) in [
        ("a: [\n", "syntax"),
        ("a: &x [1]\nb: *x\n", "unsupported_yaml"),
        ("plain", "wrong_type"),
    ] {
        let body = json!({"definition": definition});
        let reply = jobs.client().post("/api/jobs/submit", &body).unwrap();
        reply.expect_error(422, "invalid_definition");
        assert_eq!(reply.json()["problems"][0]["code"], code);
    }
    until(|| below(&jobs.data("jobs")), Vec::is_empty).unwrap();
}

pub(super) fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

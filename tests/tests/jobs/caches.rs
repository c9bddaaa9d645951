//! Whose cache a build gets: by organisation, ref, and whether the organisation trusts that ref.

use serde_json::{Value, json};
use tests::offline::{offline, stranger};
use tests::{Client, can_isolate, until};

use super::{Jobs, id};

/// A build that says which object it has: the one that was kept, or a new one, which is unlike any other. The same text
/// is the same cache, but for whose it is.
fn build(round: u32) -> String {
    format!(
        "version: 1\nbuilds:\n  - id: fw\n    cache: {{ key: [Makefile], paths: [.cc] }}\n    steps:\n      - run: |\n          test -f .cc/o || {{ mkdir .cc; cat /proc/sys/kernel/random/uuid > .cc/o; }}\n          echo \"round {round} object $(cat .cc/o)\"\n"
    )
}

/// The object of a job of this ref.
fn object(client: &Client, round: u32, reference: Option<&str>) -> String {
    let body = json!({"definition": build(round), "ref": reference});
    let job = id(&client.post("/api/jobs/submit", &body).unwrap().expect(201));
    let look = || client.get(&format!("/api/jobs/{job}")).unwrap().expect(200);
    let ended = until(look, |job| job["state"] == "finished").unwrap();
    assert_eq!(ended["verdict"], "success", "{ended}");
    let log = client.get(&format!("/api/jobs/{job}/log")).unwrap().text;
    let (_, rest) = log
        .split_once(" object ")
        .expect("the object is in the log");
    rest.lines().next().unwrap().to_owned()
}

#[test]
fn a_cache_belongs_to_an_organisation_and_to_the_refs_that_it_trusts() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("");
    assert!(jobs.server.stop().unwrap());
    let key = stranger(jobs.dir.path());
    jobs.restart();
    let acme = jobs.client();
    let rival = jobs
        .server
        .anonymous()
        .with_authorization(&format!("ApiKey {key}"));
    let trust = json!({"refs": ["main", "v*"]}).to_string();
    let trusted = acme.send("PUT", "/api/jobs/trusted-refs", Some(&trust));
    assert_eq!(trusted.unwrap().expect(200)["refs"], json!(["main", "v*"]));
    let seen = rival.get("/api/jobs/trusted-refs").unwrap().expect(200);
    assert_eq!(seen["refs"], json!([]));

    // In this order: whose job, its ref, and the job whose object it has; none: a new one.
    let table: [(u32, &Client, Option<&str>, Option<usize>); 15] = [
        // What a trusted ref keeps, all refs of its organisation read, and no other organisation.
        (1, &acme, Some("main"), None),
        (1, &rival, Some("main"), None),
        (1, &acme, Some("topic"), Some(0)),
        (1, &acme, Some("v1"), Some(0)),
        (1, &acme, None, Some(0)),
        // Where none is trusted, each ref has its own.
        (1, &rival, Some("main"), Some(1)),
        (1, &rival, Some("topic"), None),
        // What another ref keeps, it alone reads, before what is shared.
        (2, &acme, Some("topic"), None),
        (2, &acme, Some("main"), None),
        (2, &acme, Some("topic"), Some(7)),
        (2, &acme, Some("other"), Some(8)),
        (2, &acme, Some("v2"), Some(8)),
        // So it is without a ref.
        (3, &acme, None, None),
        (3, &acme, Some("main"), None),
        (3, &acme, None, Some(12)),
    ];
    let mut objects: Vec<String> = Vec::new();
    for (at, (round, client, reference, of)) in table.into_iter().enumerate() {
        let object = object(client, round, reference);
        let found = objects.iter().position(|known| *known == object);
        assert_eq!(found, of, "row {at}: {reference:?} in round {round}");
        objects.push(object);
    }
}

#[test]
fn administrators_alone_say_which_refs_are_trusted() {
    let jobs = Jobs::start("");
    let key = |scopes: Value| {
        let body = json!({"name": "k", "scopes": scopes});
        let made = jobs.client().post("/api/keys", &body).unwrap().expect(201);
        let secret = made["secret"].as_str().unwrap();
        let value = format!("ApiKey {secret}");
        jobs.server.anonymous().with_authorization(&value)
    };
    let put = |client: &Client, refs: Value| {
        let body = json!({ "refs": refs }).to_string();
        client
            .send("PUT", "/api/jobs/trusted-refs", Some(&body))
            .unwrap()
    };
    let submitter = key(json!(["jobs:submit"]));
    put(&submitter, json!(["topic"])).expect_error(403, "missing_scope");
    put(&key(json!(["bench:admin"])), json!(["main"])).expect(200);
    put(&jobs.client(), json!(["/main"])).expect_error(400, "invalid_request");
    let seen = submitter.get("/api/jobs/trusted-refs").unwrap().expect(200);
    assert_eq!(seen, json!({"refs": ["main"]}));
}

#[test]
fn the_command_line_says_which_refs_are_trusted_while_the_server_is_stopped() {
    let mut jobs = Jobs::start("");
    assert!(jobs.server.stop().unwrap());
    let run = |args: &[&str]| offline(jobs.dir.path(), args, "");
    let trust = ["org", "trust", "default", "--ref", "main", "--ref", "v*"];
    assert_eq!(run(&trust).trim(), "default trusts main v*");
    assert!(run(&["org", "list"]).contains("main v*"));
    jobs.restart();
    let seen = jobs.client().get("/api/jobs/trusted-refs").unwrap();
    assert_eq!(seen.expect(200), json!({"refs": ["main", "v*"]}));
    assert!(jobs.server.stop().unwrap());
    let none = ["org", "trust", "default", "--none"];
    let told = offline(jobs.dir.path(), &none, "");
    assert_eq!(told.trim(), "default trusts none");
}

//! Who may see and use the jobs of an organisation.

use serde_json::{Value, json};
use tests::offline::stranger;
use tests::{Client, Opened, Server, Socket, can_isolate};

use super::{Jobs, build, serve};

#[test]
fn another_organisation_finds_no_job() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("");
    let id = jobs.submit(&build("true"));
    jobs.ended(&id);
    assert!(jobs.server.stop().unwrap());
    let key = format!("ApiKey {}", stranger(jobs.dir.path()));
    jobs.restart();
    let eve = jobs.server.anonymous().with_authorization(&key);
    for path in [
        "",
        "/why",
        "/log",
        "/log?attempt=1",
        "/artifacts",
        "/artifacts/fw/fw.bin",
        "/junit.xml",
        "/report",
        "/trace.json",
    ] {
        let reply = eve.get(&format!("/api/jobs/{id}{path}")).unwrap();
        reply.expect_error(404, "not_found");
    }
    for verb in ["cancel", "retry"] {
        let reply = eve.post(&format!("/api/jobs/{id}/{verb}"), &json!({}));
        reply.unwrap().expect_error(404, "not_found");
    }
    let opened = Socket::open(
        &jobs.server.url,
        &format!("/api/jobs/{id}/ws"),
        &[("authorization", &key)],
    );
    let Opened::Refused(status, body) = opened.unwrap() else {
        panic!("a stranger follows the job");
    };
    assert_eq!((status, &body["code"]), (404, &"not_found".into()));
    let listed = |client: &Client| client.get("/api/jobs").unwrap().expect(200)["jobs"].clone();
    assert_eq!(listed(&eve), json!([]));
    // Neither do keys meet each other.
    let body = json!({"definition": build("true")});
    let keyed = |client: Client| {
        let client = client.with_header("idempotency-key", "k");
        client.post("/api/jobs/submit", &body).unwrap()
    };
    let (own, other) = (keyed(jobs.client()), keyed(eve.clone()));
    assert_ne!(own.expect(201)["id"], other.expect(201)["id"]);
    assert_eq!(other.header("idempotency-replayed"), None);
    assert_eq!(listed(&eve).as_array().unwrap().len(), 1);
    assert_eq!(listed(&jobs.client()).as_array().unwrap().len(), 2);
}

#[test]
fn members_may_submit_and_restricted_credentials_may_not() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let body = json!({"definition": build("true")});
    let submit = |client: &Client| client.post("/api/jobs/submit", &body).unwrap();
    submit(&jobs.server.anonymous()).expect_error(401, "missing_credential");
    let key = |scope: &str| {
        let body = json!({"name": "k", "scopes": [scope]});
        let made = jobs.client().post("/api/keys", &body).unwrap().expect(201);
        bearing(&jobs.server, "ApiKey", &made["secret"])
    };
    submit(&key("jobs:submit")).expect(201);
    let narrow = key("bench:control");
    submit(&narrow).expect_error(403, "missing_scope");
    narrow
        .get("/api/jobs")
        .unwrap()
        .expect_error(403, "missing_scope");
    let token = jobs.client().post("/api/auth/token", &json!({})).unwrap();
    let cloud = bearing(&jobs.server, "Bearer", &token.expect(200)["token"]);
    submit(&cloud).expect_error(403, "wrong_credential");
    let owner = sign_in(&jobs.server, &jobs.server.code().into());
    let member = owner.post("/api/users", &json!({"login": "ada"})).unwrap();
    let member = sign_in(&jobs.server, &member.expect(201)["code"]);
    let id = super::id(&submit(&member).expect(201));
    let job = jobs.ended(&id);
    assert_ne!(job["user"], jobs.job(&jobs.submit(&build("true")))["user"]);
    // What one member has submitted, all members see.
    let listed = member.get("/api/jobs").unwrap().expect(200);
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 3);
}

#[test]
fn a_schema_is_for_everybody() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("hostd.toml"), "").unwrap();
    let server = serve(dir.path());
    let reply = server.anonymous().get("/api/jobs/schema.json").unwrap();
    assert_eq!(
        reply.header("content-type"),
        Some("application/schema+json")
    );
    let schema = reply.expect(200);
    let takes = |pipeline: Value| jsonschema::is_valid(&schema, &pipeline);
    let steps = json!([{"run": "true"}]);
    assert!(takes(
        json!({"version": 1, "builds": [{"id": "fw", "steps": steps}]})
    ));
    assert!(!takes(
        json!({"version": 1, "builds": [{"id": "fw", "stepz": steps}]})
    ));
    assert!(!takes(json!({"version": 2, "builds": []})));
}

fn bearing(server: &Server, scheme: &str, secret: &Value) -> Client {
    let value = format!("{scheme} {}", secret.as_str().unwrap());
    server.anonymous().with_authorization(&value)
}

/// The session of whoever has this code.
pub(super) fn sign_in(server: &Server, code: &Value) -> Client {
    server.anonymous().with_authorization(&server.session(code))
}

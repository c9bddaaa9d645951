//! Secrets of an organisation over the API: who may write and see them, and what is left on disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::offline::{offline, stranger};
use tests::{Client, Reply, Server};

const VALUE: &str = "correct-horse battery staple";

fn put(client: &Client, name: &str, body: &Value) -> Reply {
    let path = format!("/api/secrets/{name}");
    client.send("PUT", &path, Some(&body.to_string())).unwrap()
}

fn list(client: &Client) -> Vec<Value> {
    let listed = client.get("/api/secrets").unwrap().expect(200);
    listed["secrets"].as_array().unwrap().clone()
}

fn remove(client: &Client, name: &str) -> Reply {
    client.delete(&format!("/api/secrets/{name}")).unwrap()
}

fn start() -> (TempDir, Server) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::demo_in(dir.path()).unwrap();
    (dir, server)
}

/// Files below a folder that have `text` in their name or content.
pub(crate) fn with_text(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let shown = path.display().to_string();
        if path.is_dir() {
            found.extend(with_text(&path, text));
        }
        let bytes = fs::read(&path).unwrap_or_default();
        let mut windows = bytes.windows(text.len());
        if shown.contains(text) || windows.any(|window| window == text.as_bytes()) {
            found.push(shown);
        }
    }
    found
}

#[test]
fn a_secret_is_written_replaced_and_removed_and_never_read_back() {
    let (dir, mut server) = start();
    let client = server.client();
    assert!(list(&client).is_empty());
    let made = put(&client, "CAL", &json!({"value": VALUE, "refs": ["main"]}));
    let made_record = made.expect(201);
    assert_eq!(
        (&made_record["name"], &made_record["state"]),
        (&"CAL".into(), &"ready".into())
    );
    let replaced = put(&client, "CAL", &json!({"value": "another long value"}));
    assert_eq!(replaced.expect(200)["refs"], json!(["main"]));
    let free = put(&client, "CAL", &json!({"value": VALUE, "refs": []}));
    assert_eq!(free.expect(200)["refs"], json!([]));
    put(&client, "B_2", &json!({"value": VALUE})).expect(201);
    let listed = client.get("/api/secrets").unwrap();
    for reply in [&made, &replaced, &free, &listed] {
        assert!(!reply.text.contains("horse") && !reply.text.contains("another"));
    }
    let names: Vec<Value> = list(&client).iter().map(|s| s["name"].clone()).collect();
    assert_eq!(names, ["B_2", "CAL"]);
    client
        .get("/api/secrets/CAL")
        .unwrap()
        .expect_error(405, "method_not_allowed");
    assert_eq!(remove(&client, "B_2").status, 204);
    remove(&client, "B_2").expect_error(404, "not_found");
    // A refusal does not repeat what it refuses.
    for body in [
        json!({"value": "        "}),
        json!({"value": "unlikely", "other": 1}),
        json!({"value": "unlikely\u{0}value"}),
        json!({"value": "unlikely value", "refs": ["a**"]}),
        json!({"value": ["unlikely value"]}),
    ] {
        let refused = put(&client, "CAL", &body);
        refused.expect_error(400, "invalid_request");
        assert!(!refused.text.contains("unlikely"), "{}", refused.text);
    }
    for name in ["cal", "_A", "1A", "HOSTD_A", "BENCHPOD_API_KEY"] {
        put(&client, name, &json!({"value": VALUE})).expect_error(400, "invalid_request");
    }
    let long = json!({"value": "x".repeat(500_000)});
    put(&client, "CAL", &long).expect_error(413, "body_too_large");
    assert!(server.stop().unwrap());
    assert!(with_text(dir.path(), VALUE).is_empty());
    assert!(with_text(dir.path(), "another long value").is_empty());
    let key = dir.path().join("data/secrets.key");
    assert_eq!(
        fs::metadata(key).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn administrators_write_members_see_names_and_others_see_nothing() {
    let (dir, mut server) = start();
    put(&server.client(), "CAL", &json!({"value": VALUE})).expect(201);
    let body = json!({"value": "a value of somebody else"});
    let owner = server.session(&server.code().into());
    let owner = server.anonymous().with_authorization(&owner);
    put(&owner, "CAL", &json!({"value": VALUE})).expect(200);
    let member = owner.post("/api/users", &json!({"login": "ada"})).unwrap();
    let member = server.session(&member.expect(201)["code"]);
    let member = server.anonymous().with_authorization(&member);
    assert_eq!(list(&member)[0]["name"], "CAL");
    put(&member, "CAL", &body).expect_error(403, "forbidden");
    remove(&member, "CAL").expect_error(403, "forbidden");
    let key = |scope: &str| {
        let made = json!({"name": "k", "scopes": [scope]});
        let made = owner.post("/api/keys", &made).unwrap().expect(201);
        let value = format!("ApiKey {}", made["secret"].as_str().unwrap());
        server.anonymous().with_authorization(&value)
    };
    let submits = key("jobs:submit");
    assert_eq!(list(&submits).len(), 1);
    put(&submits, "CAL", &body).expect_error(403, "missing_scope");
    let controls = key("bench:control");
    controls
        .get("/api/secrets")
        .unwrap()
        .expect_error(403, "missing_scope");
    remove(&key("bench:admin"), "NONE").expect_error(404, "not_found");
    let token = server.client().post("/api/auth/token", &json!({})).unwrap();
    let token = token.expect(200);
    let cloud = format!("Bearer {}", token["token"].as_str().unwrap());
    let cloud = server.anonymous().with_authorization(&cloud);
    cloud
        .get("/api/secrets")
        .unwrap()
        .expect_error(403, "wrong_credential");
    put(&cloud, "CAL", &body).expect_error(403, "wrong_credential");
    put(&server.anonymous(), "CAL", &body).expect_error(401, "missing_credential");

    assert!(server.stop().unwrap());
    let eve = format!("ApiKey {}", stranger(dir.path()));
    let server = Server::demo_in(dir.path()).unwrap();
    let eve = server.anonymous().with_authorization(&eve);
    assert!(list(&eve).is_empty());
    remove(&eve, "CAL").expect_error(404, "not_found");
    // Of the same name, and yet another one.
    let own = put(&eve, "CAL", &body).expect(201);
    let before = list(&server.client());
    assert_ne!(own["created_by"], before[0]["created_by"]);
    assert_eq!(remove(&eve, "CAL").status, 204);
    assert_eq!(list(&server.client()), before);
}

#[test]
fn a_server_starts_without_its_key_and_says_what_cannot_be_read() {
    let (dir, mut server) = start();
    put(&server.client(), "CAL", &json!({"value": VALUE})).expect(201);
    assert!(server.stop().unwrap());
    let (key, apart) = (
        dir.path().join("data/secrets.key"),
        dir.path().join("apart"),
    );
    fs::rename(&key, &apart).unwrap();
    let server = Server::demo_in(dir.path()).unwrap();
    let state = || list(&server.client())[0]["state"].clone();
    let write = || put(&server.client(), "NEW", &json!({"value": VALUE}));
    assert_eq!(state(), "no_key");
    write().expect_error(503, "secrets_unavailable");
    let log = server.log();
    assert!(
        log.contains("secrets cannot be read") && log.contains("CAL"),
        "{log}"
    );
    fs::write(&key, format!("{}\n", "5a".repeat(32))).unwrap();
    assert_eq!(state(), "no_key");
    let refused = write();
    refused.expect_error(503, "secrets_unavailable");
    assert!(refused.text.contains("chmod 600"), "{}", refused.text);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(state(), "other_key");
    fs::rename(&apart, &key).unwrap();
    assert_eq!(state(), "ready");
    write().expect(201);
}

#[test]
fn a_written_secret_survives_the_servers_death() {
    let (dir, mut server) = start();
    for round in 0..3 {
        put(
            &server.client(),
            &format!("S{round}"),
            &json!({"value": VALUE}),
        )
        .expect(201);
        server.kill().unwrap();
        server = Server::demo_in(dir.path()).unwrap();
        let listed = list(&server.client());
        assert_eq!(listed.len(), round + 1);
        assert!(listed.iter().all(|secret| secret["state"] == "ready"));
    }
}

#[test]
fn the_command_line_writes_what_a_server_reads_and_no_backup_has_the_key() {
    let (dir, mut server) = start();
    assert!(server.stop().unwrap());
    let told = offline(
        dir.path(),
        &["secret", "set", "CAL", "--ref", "main"],
        VALUE,
    );
    assert_eq!(told, "CAL is written\n");
    let mut server = Server::demo_in(dir.path()).unwrap();
    let found = list(&server.client());
    assert_eq!(
        (&found[0]["name"], &found[0]["state"]),
        (&"CAL".into(), &"ready".into())
    );
    assert_eq!(found[0]["created_by"], "command line");
    let hook = json!({"url": "http://localhost/"});
    let hook = server.client().post("/api/webhooks", &hook).unwrap();
    hook.expect(201);
    let backup = dir.path().join("backup");
    let told = offline(dir.path(), &["backup", backup.to_str().unwrap()], "");
    let sealed = "1 secrets and the keys of 1 webhooks";
    assert!(
        told.contains(&format!("the backup has not the key of {sealed};")),
        "{told}"
    );
    assert!(!backup.join("secrets.key").exists());
    assert!(with_text(&backup, VALUE).is_empty());
    assert!(server.stop().unwrap());
    let again = tempfile::tempdir().unwrap();
    let told = offline(again.path(), &["restore", backup.to_str().unwrap()], "");
    assert!(
        told.contains(&format!("{sealed} cannot be read until secrets.key")),
        "{told}"
    );
    assert!(
        told.ends_with("webhooks are told nothing until then\n"),
        "{told}"
    );
    let listed = offline(again.path(), &["secret", "list"], "");
    assert!(listed.contains("no key"), "{listed}");
    fs::copy(
        dir.path().join("data/secrets.key"),
        again.path().join("data/secrets.key"),
    )
    .unwrap();
    let listed = offline(again.path(), &["secret", "list"], "");
    assert!(listed.contains("ready"), "{listed}");
    offline(again.path(), &["secret", "remove", "CAL"], "");
}

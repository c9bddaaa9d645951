//! Users, their sessions and their keys over HTTP: who may do what, and what ends when something
//! else ends.

use std::time::Duration;

use serde_json::{Value, json};
use tests::{Client, Server};

/// Sign in with a code and keep the session renewable.
fn sign_in(server: &Server, body: &Value) -> Value {
    let reply = server.anonymous().post("/api/auth/session", body).unwrap();
    reply.expect(200)
}

fn bearer(server: &Server, session: &Value) -> Client {
    let token = session["token"].as_str().unwrap();
    server
        .anonymous()
        .with_authorization(&format!("Bearer {token}"))
}

/// The first user, signed in with the code that the first start prints.
fn owner(server: &Server) -> Client {
    bearer(server, &sign_in(server, &json!({"code": server.code()})))
}

#[test]
fn an_owner_manages_people() {
    let server = Server::demo().unwrap();
    let owner = owner(&server);
    let me = owner.get("/api/auth/session").unwrap().expect(200);
    assert_eq!(
        (&me["credential"], &me["role"], &me["org_name"]),
        (&json!("user_session"), &json!("owner"), &json!("default"))
    );
    let made = owner
        .post("/api/users", &json!({"login": "ada", "role": "admin"}))
        .unwrap()
        .expect(201);
    let ada_id = made["id"].as_str().unwrap();
    let ada_path = format!("/api/users/{ada_id}");
    let ada = bearer(&server, &sign_in(&server, &json!({"code": made["code"]})));
    let listed = ada.get("/api/users").unwrap().expect(200);
    assert_eq!(listed["users"].as_array().unwrap().len(), 2);

    let again = owner.post("/api/users", &json!({"login": "ada"})).unwrap();
    again.expect_error(409, "login_taken");
    let bad = owner.post("/api/users", &json!({"login": "a b"})).unwrap();
    bad.expect_error(400, "invalid_request");
    let up = ada.patch(&ada_path, &json!({"role": "owner"})).unwrap();
    up.expect_error(403, "forbidden");
    let own = format!("/api/users/{}", me["user"].as_str().unwrap());
    ada.delete(&own).unwrap().expect_error(403, "forbidden");
    owner.delete(&own).unwrap().expect_error(409, "last_owner");
    let none = "/api/users/01ARZ3NDEKTSV4RRFFQ69G5FAV";
    owner.delete(none).unwrap().expect_error(404, "not_found");
    server
        .anonymous()
        .get("/api/users")
        .unwrap()
        .expect_error(401, "missing_credential");

    // Keys can list users but create none; the answer names the methods that a path has.
    server.client().get("/api/users").unwrap().expect(200);
    let by_key = server.client().post("/api/users", &json!({"login": "x"}));
    by_key.unwrap().expect_error(403, "wrong_credential");
    let put = owner.send("PUT", "/api/users", None).unwrap();
    put.expect_error(405, "method_not_allowed");
    assert_eq!(put.header("allow"), Some("GET, HEAD, POST"));

    // A second code voids the first; shutting a user out ends their sessions.
    let code = |client: &Client| client.send("POST", &format!("{ada_path}/code"), None);
    let first = code(&owner).unwrap().expect(201);
    let second = code(&owner).unwrap().expect(201);
    let spent = json!({"code": first["code"]});
    let spent = server
        .anonymous()
        .post("/api/auth/session", &spent)
        .unwrap();
    spent.expect_error(401, "invalid_credential");
    sign_in(&server, &json!({"code": second["code"]}));
    let shut = owner.patch(&ada_path, &json!({"disabled": true})).unwrap();
    assert_eq!(shut.expect(200)["disabled"], true);
    ada.get("/api/auth/session")
        .unwrap()
        .expect_error(401, "revoked_credential");
    owner.delete(&ada_path).unwrap().expect(204);
    owner
        .delete(&ada_path)
        .unwrap()
        .expect_error(404, "not_found");
}

#[test]
fn members_see_nobody_and_change_their_own_password() {
    let server = Server::demo().unwrap();
    let owner = owner(&server);
    let made = owner.post("/api/users", &json!({"login": "mia"})).unwrap();
    let made = made.expect(201);
    let mia = bearer(&server, &sign_in(&server, &json!({"code": made["code"]})));
    mia.get("/api/users")
        .unwrap()
        .expect_error(403, "forbidden");
    mia.post("/api/users", &json!({"login": "x"}))
        .unwrap()
        .expect_error(403, "forbidden");
    let set = |client: &Client, body: Value| {
        client.send("PUT", "/api/auth/password", Some(&body.to_string()))
    };
    set(&mia, json!({"new": "short"}))
        .unwrap()
        .expect_error(400, "invalid_request");
    let session = set(&mia, json!({"new": "correct horse battery"})).unwrap();
    let session = session.expect(200);
    // The other sessions are over.
    mia.get("/api/auth/session")
        .unwrap()
        .expect_error(401, "revoked_credential");
    let mia = bearer(&server, &session);
    set(&mia, json!({"new": "another horse battery"}))
        .unwrap()
        .expect_error(400, "invalid_request");
    let wrong = json!({"old": "wrong", "new": "another horse battery"});
    set(&mia, wrong)
        .unwrap()
        .expect_error(400, "invalid_request");
    set(&server.client(), json!({"new": "correct horse battery"}))
        .unwrap()
        .expect_error(403, "wrong_credential");
    sign_in(
        &server,
        &json!({"login": "mia", "password": "correct horse battery"}),
    );
}

#[test]
fn signing_out_takes_the_tokens_along() {
    let server = Server::demo().unwrap();
    let session = owner(&server);
    let minted = session.post("/api/auth/token", &json!({})).unwrap();
    let cloud = bearer(&server, &minted.expect(200));
    let me = cloud.get("/api/auth/session").unwrap().expect(200);
    assert_eq!(
        (&me["credential"], &me["devices"]),
        (&json!("cloud_session"), &Value::Null)
    );
    cloud.get("/api/bench/devices").unwrap().expect(200);
    let out = session.delete("/api/auth/session").unwrap();
    out.expect(204);
    let cookie = out.header("set-cookie").unwrap();
    assert!(cookie.starts_with("hostd_session=; Max-Age=0"), "{cookie}");
    for client in [&session, &cloud] {
        client
            .get("/api/bench/devices")
            .unwrap()
            .expect_error(401, "revoked_credential");
    }
    let key = server.client().delete("/api/auth/session").unwrap();
    key.expect_error(403, "wrong_credential");
}

#[test]
fn a_refresh_token_renews_once() {
    let server = Server::demo().unwrap();
    let owner = owner(&server);
    let made = owner.post("/api/users", &json!({"login": "ada"})).unwrap();
    let code = made.expect(201)["code"].clone();
    let session = sign_in(&server, &json!({"code": code, "keep": true}));
    assert_eq!(session["expires_in"], 3600);
    let renew = |token: &Value| {
        let body = json!({"refresh_token": token});
        server.anonymous().post("/api/auth/guest/refresh", &body)
    };
    let next = renew(&session["refresh_token"]).unwrap().expect(200);
    assert_eq!(next["session_id"], session["session_id"]);
    let token = json!({"token": next["access_token"]});
    let ada = bearer(&server, &token);
    ada.get("/api/auth/session").unwrap().expect(200);
    let reused = renew(&session["refresh_token"]).unwrap();
    reused.expect_error(401, "invalid_credential");
    ada.get("/api/auth/session")
        .unwrap()
        .expect_error(401, "revoked_credential");
    let void = renew(&next["refresh_token"]).unwrap();
    void.expect_error(401, "invalid_credential");
    renew(&json!(""))
        .unwrap()
        .expect_error(400, "invalid_request");
}

#[test]
fn a_rename_moves_no_access() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let device = format!("/api/bench/devices/{}", server.device());
    let name = client.get("/api/bench/devices").unwrap().expect(200)["devices"][0]["name"].clone();
    let minted = client.post("/api/auth/token", &json!({"devices": [name]}));
    let session = bearer(&server, &minted.unwrap().expect(200));
    session.get("/api/bench/devices").unwrap().expect(200);
    client
        .patch(&device, &json!({"name": "renamed"}))
        .unwrap()
        .expect(200);
    let seen = session.get("/api/bench/devices").unwrap().expect(200);
    assert_eq!(seen["devices"][0]["name"], "renamed");
    let me = session.get("/api/auth/session").unwrap().expect(200);
    assert_eq!(
        me["devices"],
        json!([{"id": server.device(), "name": "renamed"}])
    );
}

#[test]
fn a_caller_that_runs_wild_is_slowed_down_alone() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let text = "[http]\nrate_per_s = 1\nrate_burst = 5\n[metrics]\ntoken = \"for the scraper\"\n";
    std::fs::write(&config, text).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let client = server.client();
    let mut replies = (0..20).map(|_| client.get("/api/bench/devices").unwrap());
    let slowed = replies.find(|r| r.status != 200).unwrap();
    slowed.expect_error(429, "rate_limited");
    let wait_s: u64 = slowed.header("retry-after").unwrap().parse().unwrap();
    assert!(Duration::from_secs(wait_s) <= Duration::from_secs(1));
    owner(&server)
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);

    let metrics = |client: Client| client.get("/metrics").unwrap();
    metrics(server.anonymous()).expect_error(401, "missing_credential");
    metrics(server.anonymous().with_authorization("Bearer wrong"))
        .expect_error(401, "missing_credential");
    let read = metrics(
        server
            .anonymous()
            .with_authorization("Bearer for the scraper"),
    );
    assert!(read.status == 200 && read.text.contains("hostd_"));
}

//! CI runs without a key: trust rules, the exchange of id-tokens, and forgeries.

use serde_json::{Value, json};
use tests::issuer::{Issuer, id_token};
use tests::{Client, Reply, Server};

fn start() -> (Server, Issuer) {
    let issuer = Issuer::start();
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, issuer.config()).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    (server, issuer)
}

fn owner(server: &Server) -> Client {
    let code = json!({"code": server.code()});
    let session = server.anonymous().post("/api/auth/session", &code).unwrap();
    bearer(server, &session.expect(200)["token"])
}

fn bearer(server: &Server, token: &Value) -> Client {
    let header = format!("Bearer {}", token.as_str().unwrap());
    server.anonymous().with_authorization(&header)
}

fn exchange(server: &Server, token: &str) -> Reply {
    let body = json!({"token": token});
    let reply = server.anonymous().post("/api/github/oidc/token", &body);
    reply.unwrap()
}

#[test]
fn a_trusted_run_gets_the_rules_devices_until_the_rule_ends() {
    let (mut server, issuer) = start();
    let owner = owner(&server);
    let token = id_token(|_| {});
    exchange(&server, &token).expect_error(403, "not_trusted");
    assert_eq!(issuer.asked(), 0);
    let wanted = json!({"repository": "acme/blinky", "ref": "refs/heads/*", "devices": ["demo"],
        "ttl_seconds": 600});
    let rule = owner.post("/api/github/trust", &wanted).unwrap();
    let rule = rule.expect(201);
    assert_eq!(rule["devices"][0]["name"], "demo");
    let minted = exchange(&server, &token).expect(200);
    assert_eq!(minted["expires_in"], 600);
    let run = bearer(&server, &minted["access_token"]);
    let me = run.get("/api/auth/session").unwrap().expect(200);
    assert_eq!(
        (&me["credential"], &me["scopes"]),
        (&json!("cloud_session"), &json!(["bench:control"]))
    );
    assert_eq!(me["devices"][0]["id"], server.device());
    run.get("/api/bench/devices").unwrap().expect(200);
    run.post("/api/cloud/builds", &json!({}))
        .unwrap()
        .expect(201);
    // It controls devices but administers nothing.
    run.get("/api/keys")
        .unwrap()
        .expect_error(403, "wrong_credential");
    run.post("/api/auth/token", &json!({}))
        .unwrap()
        .expect_error(403, "wrong_credential");

    for (name, value) in [
        ("repository", "acme/other"),
        ("repository", "evil/blinky"),
        ("ref", "refs/tags/main"),
    ] {
        let other = id_token(|claims| claims[name] = value.into());
        exchange(&server, &other).expect_error(403, "not_trusted");
    }
    for (name, value) in [
        ("iss", json!("https://else")),
        ("aud", json!("else")),
        ("exp", json!(1)),
    ] {
        let bad = id_token(|claims| claims[name] = value.clone());
        exchange(&server, &bad).expect_error(401, "invalid_credential");
    }
    let (head, rest) = token.split_once('.').unwrap();
    let payload = rest.split('.').next().unwrap();
    for forged in [
        format!("eyJhbGciOiJub25lIiwia2lkIjoidGVzdCJ9.{payload}."),
        format!("{head}.{payload}."),
        "a.b.c".to_owned(),
    ] {
        exchange(&server, &forged).expect_error(401, "invalid_credential");
    }
    assert_eq!(issuer.asked(), 1);

    let path = format!("/api/github/trust/{}", rule["id"].as_str().unwrap());
    let off = owner.patch(&path, &json!({"enabled": false})).unwrap();
    assert_eq!(off.expect(200)["enabled"], false);
    run.get("/api/bench/devices")
        .unwrap()
        .expect_error(401, "revoked_credential");
    owner
        .patch(&path, &json!({"enabled": true}))
        .unwrap()
        .expect(200);
    run.get("/api/bench/devices").unwrap().expect(200);
    owner.delete(&path).unwrap().expect(204);
    run.get("/api/bench/devices")
        .unwrap()
        .expect_error(401, "revoked_credential");
    owner.delete(&path).unwrap().expect_error(404, "not_found");
    assert!(server.stop().unwrap());
    let log = server.log();
    for secret in [token.as_str(), minted["access_token"].as_str().unwrap()] {
        assert!(!log.contains(secret) && !log.contains(&secret[..60]));
    }
}

#[test]
fn rules_are_for_admins_who_signed_in() {
    let (server, _) = start();
    let owner = owner(&server);
    let wanted = json!({"repository": "acme/blinky"});
    let create = |client: &Client| client.post("/api/github/trust", &wanted).unwrap();
    create(&server.client()).expect_error(403, "wrong_credential");
    create(&server.anonymous()).expect_error(401, "missing_credential");
    let mia = owner.post("/api/users", &json!({"login": "mia"})).unwrap();
    let code = json!({"code": mia.expect(201)["code"]});
    let session = server.anonymous().post("/api/auth/session", &code).unwrap();
    let mia = bearer(&server, &session.expect(200)["token"]);
    create(&mia).expect_error(403, "forbidden");
    mia.get("/api/github/trust")
        .unwrap()
        .expect_error(403, "forbidden");
    for bad in [
        json!({}),
        json!({"repository": "blinky"}),
        json!({"repository": "*/*"}),
        json!({"repository": "a/b/c"}),
        json!({"repository": "acme/blinky", "ref": "main"}),
        json!({"repository": "acme/blinky", "ttl_seconds": 5}),
    ] {
        let refused = owner.post("/api/github/trust", &bad).unwrap();
        refused.expect_error(400, "invalid_request");
    }
    let unknown = json!({"repository": "acme/blinky", "devices": ["nobody"]});
    let unknown = owner.post("/api/github/trust", &unknown).unwrap();
    unknown.expect_error(404, "not_found");
    create(&owner).expect(201);
    let rules = owner.get("/api/github/trust").unwrap().expect(200);
    assert_eq!(rules["rules"].as_array().unwrap().len(), 1);
    let id = rules["rules"][0]["id"].as_str().unwrap();
    let path = format!("/api/github/trust/{id}");
    owner
        .patch(&path, &json!({}))
        .unwrap()
        .expect_error(400, "invalid_request");
    owner
        .get(&path)
        .unwrap()
        .expect_error(405, "method_not_allowed");
}

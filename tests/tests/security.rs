//! Credentials in places where they do not belong, and whether any of them reach the log.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tests::offline::stranger;
use tests::{Client, Server, Socket};

fn bearer(server: &Server, token: &Value) -> Client {
    let header = format!("Bearer {}", token.as_str().unwrap());
    server.anonymous().with_authorization(&header)
}

fn mint(client: &Client, body: &Value) -> Value {
    let reply = client.post("/api/auth/token", body).unwrap();
    reply.expect(200)["token"].clone()
}

#[test]
fn another_organisations_session_finds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let own = bearer(&server, &mint(&server.client(), &json!({})));
    let made = own.post("/api/cloud/builds", &json!({"repo": "blinky"}));
    let build = made.unwrap().expect(201)["build_id"].clone();
    let build = build.as_str().unwrap();
    let file = format!("/api/cloud/builds/{build}/artifacts?name=fw.elf");
    own.send("POST", &file, Some("{}")).unwrap().expect(201);
    assert!(server.stop().unwrap());
    let key = stranger(dir.path());

    let server = Server::demo_in(dir.path()).unwrap();
    let eve = server
        .anonymous()
        .with_authorization(&format!("ApiKey {key}"));
    let session = bearer(&server, &mint(&eve, &json!({})));
    let device = server.device();
    let ping = json!({"command": {"cmd": "ping"}});
    for client in [&eve, &session] {
        let listed = client.get("/api/bench/devices").unwrap().expect(200);
        assert_eq!(listed["devices"], json!([]));
        for reply in [
            client.post(&format!("/api/bench/devices/{device}/command"), &ping),
            client.get(&format!("/api/bench/devices/{device}/flashable-artifacts")),
            client.get(&format!("/api/bench/builds/artifact?build={build}")),
            client.get("/api/bench/builds/artifact?build=latest"),
            client.get(&format!(
                "/api/bench/builds/{build}/packs/external/artifacts/fw.elf"
            )),
        ] {
            reply.unwrap().expect_error(404, "not_found");
        }
    }
    let added = session.send("POST", &file.replace("fw", "x"), Some("{}"));
    added.unwrap().expect_error(404, "not_found");
    let status = format!("/api/cloud/builds/{build}/status");
    let finished = session.post(&status, &json!({"success": true})).unwrap();
    finished.expect_error(404, "not_found");
    let theirs = json!({"devices": ["demo"]});
    let minted = eve.post("/api/auth/token", &theirs).unwrap();
    minted.expect_error(404, "not_found");
    let users = eve.get("/api/users").unwrap().expect(200);
    assert_eq!(users["users"].as_array().unwrap().len(), 1);
}

#[test]
fn a_guessed_key_id_is_told_nothing() {
    let server = Server::demo().unwrap();
    let keys = server.client().get("/api/keys").unwrap().expect(200);
    let kid = keys["keys"][0]["kid"].as_str().unwrap().to_owned();
    let secret = "0".repeat(30);
    let try_key = |kid: &str| {
        let header = format!("ApiKey bk_{kid}_{secret}");
        let client = server.anonymous().with_authorization(&header);
        let reply = client.get("/api/bench/devices").unwrap();
        reply.expect_error(401, "invalid_credential");
        reply.json()["error"].clone()
    };
    assert_eq!(try_key(&kid), try_key("000000000000"));
}

#[test]
fn a_token_that_this_server_did_not_sign_opens_nothing() {
    let (server, other) = (Server::demo().unwrap(), Server::demo().unwrap());
    let good = mint(&server.client(), &json!({}));
    let theirs = mint(&other.client(), &json!({}));
    let part = |token: &Value, at: usize| {
        let text = token.as_str().unwrap().split('.').nth(at).unwrap();
        text.to_owned()
    };
    let decoded = |at: usize| -> Value {
        let bytes = URL_SAFE_NO_PAD.decode(part(&good, at)).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    };
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let (header, claims, signature) = (part(&good, 0), part(&good, 1), part(&good, 2));
    let with_header = |name: &str, value: Value| {
        let mut changed = decoded(0);
        changed[name] = value;
        encode(&changed)
    };
    let with_claim = |name: &str, value: Value| {
        let mut changed = decoded(1);
        changed[name] = value;
        encode(&changed)
    };
    let none = with_header("alg", json!("none"));
    let their_kid = URL_SAFE_NO_PAD.decode(part(&theirs, 0)).unwrap();
    let their_kid: Value = serde_json::from_slice(&their_kid).unwrap();
    let forged = [
        format!("{none}.{claims}."),
        format!("{none}.{claims}.{signature}"),
        format!(
            "{}.{claims}.{signature}",
            with_header("alg", json!("HS256"))
        ),
        format!(
            "{}.{claims}.{signature}",
            with_header("kid", their_kid["kid"].clone())
        ),
        format!(
            "{header}.{}.{signature}",
            with_claim("exp", json!(4_000_000_000_u64))
        ),
        format!(
            "{header}.{}.{signature}",
            with_claim("typ", json!("user_session"))
        ),
        format!("{header}.{}.{signature}", with_claim("org", json!("acme"))),
        format!("{header}.{claims}.{}", part(&theirs, 2)),
        theirs.as_str().unwrap().to_owned(),
    ];
    let device = server.device();
    for token in forged {
        let client = bearer(&server, &Value::from(token.clone()));
        let refused = client.get("/api/bench/devices").unwrap();
        refused.expect_error(401, "invalid_credential");
        for path in [
            format!("/api/ws/capture?device_id={device}&token={token}"),
            format!("/api/bench/devices/{device}/uart/ws?rx=3&tx=4&token={token}"),
            format!("/api/cloud/devices/ws?device=demo&token={token}"),
        ] {
            let (status, body) = Socket::open(&server.url, &path, &[]).unwrap().refused();
            assert_eq!((status, &body["code"]), (401, &json!("invalid_credential")));
        }
    }
    bearer(&server, &good)
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
}

/// Some routes accept nothing long-lived, such as a key.
#[test]
fn a_key_opens_no_cloud_route() {
    let server = Server::demo().unwrap();
    let document = server.anonymous().get("/api/openapi.json").unwrap();
    let document = document.expect(200);
    let mut tried = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        let Some(rest) = path.strip_prefix("/api/cloud/") else {
            continue;
        };
        for method in operations.as_object().unwrap().keys() {
            let path = format!("/api/cloud/{}", rest.replace("{id}", "x"));
            let reply = match method.as_str() {
                "get" => server.client().get(&path),
                other => server
                    .client()
                    .send(&other.to_uppercase(), &path, Some("{}")),
            };
            reply.unwrap().expect_error(403, "wrong_credential");
            tried += 1;
        }
    }
    assert!(tried > 5, "{tried}");
}

#[test]
fn a_session_stays_within_its_devices() {
    let server = Server::demo().unwrap();
    let client = server.client();
    let listed = client.get("/api/bench/devices").unwrap().expect(200);
    let name = &listed["devices"][0]["name"];
    let session = bearer(&server, &mint(&client, &json!({"devices": [name]})));
    let own = server.device();
    session
        .get(&format!("/api/bench/devices/{own}"))
        .unwrap()
        .expect(200);
    // A token whose device was removed opens nothing, least of all other devices.
    client
        .delete(&format!("/api/bench/devices/{own}"))
        .unwrap()
        .expect(204);
    let seen = session.get("/api/bench/devices").unwrap().expect(200);
    assert_eq!(seen["devices"], json!([]));
    for id in [own, "01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let ping = json!({"command": {"cmd": "ping"}});
        let path = format!("/api/bench/devices/{id}/command");
        let reply = session.post(&path, &ping).unwrap();
        reply.expect_error(404, "not_found");
    }
}

#[test]
fn no_credential_reaches_the_log() {
    let mut server = Server::demo_with(&["--log-level", "trace"]).unwrap();
    let client = server.client();
    let code = server.code();
    let body = json!({"code": code, "keep": true});
    let session = server.anonymous().post("/api/auth/session", &body).unwrap();
    let session = session.expect(200);
    let owner = bearer(&server, &session["token"]);
    let refresh = json!({"refresh_token": session["refresh_token"]});
    let renewed = server.anonymous().post("/api/auth/guest/refresh", &refresh);
    let renewed = renewed.unwrap().expect(200);
    let password = "correct horse battery staple";
    let body = json!({"new": password}).to_string();
    owner
        .send("PUT", "/api/auth/password", Some(&body))
        .unwrap()
        .expect(200);
    let body = json!({"login": "owner", "password": password});
    let signed_in = server.anonymous().post("/api/auth/session", &body);
    let signed_in = signed_in.unwrap().expect(200);
    let owner = bearer(&server, &signed_in["token"]);
    let user = owner.post("/api/users", &json!({"login": "ada"})).unwrap();
    let user = user.expect(201);
    let wanted = json!({"name": "ci", "scopes": ["bench:control"]});
    let key = owner.post("/api/keys", &wanted).unwrap().expect(201);
    let minted = mint(&client, &json!({}));
    let in_query = format!("/api/bench/devices?token={}", minted.as_str().unwrap());
    drop(server.anonymous().get(&in_query).unwrap());
    bearer(&server, &minted)
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
    let device = server.device();
    let lease = "lease-of-a-browser-0123456789";
    let taken = json!({"lease_id": lease});
    bearer(&server, &minted)
        .post("/api/cloud/devices/lease?device=demo", &taken)
        .unwrap()
        .expect(200);
    let in_query = format!(
        "/api/bench/devices/{device}/uart/ws?rx=3&tx=4&lease={lease}&token={}",
        minted.as_str().unwrap()
    );
    let console = Socket::open(&server.url, &in_query, &[]).unwrap().socket();
    console.close().unwrap();

    assert!(server.stop().unwrap());
    let log = server.log();
    // The code and the demo's key are printed on purpose, once at the start.
    let start = log.find("request_id").unwrap();
    for secret in [
        &Value::from(code),
        &Value::from(server.api_key.clone()),
        &Value::from(password),
        &session["token"],
        &session["refresh_token"],
        &renewed["access_token"],
        &renewed["refresh_token"],
        &signed_in["token"],
        &user["code"],
        &key["secret"],
        &minted,
        &Value::from(lease),
    ] {
        let secret = secret.as_str().unwrap();
        // The tail of a token is its secret part.
        let tail = &secret[secret.len().saturating_sub(20)..];
        assert!(!log[start..].contains(tail), "{tail}");
    }
}

/// People paste a credential where an id belongs. What the log keeps of it must be useless.
#[test]
fn secrets_in_a_path_do_not_reach_the_log() {
    for format in ["text", "json"] {
        let mut server = Server::demo_with(&["--log-format", format]).unwrap();
        let body = json!({"code": server.code(), "keep": true});
        let session = server.anonymous().post("/api/auth/session", &body).unwrap();
        let session = session.expect(200);
        let owner = bearer(&server, &session["token"]);
        let user = owner.post("/api/users", &json!({"login": "ada"})).unwrap();
        let secrets = [
            Value::from(server.api_key.clone()),
            session["token"].clone(),
            session["refresh_token"].clone(),
            user.expect(201)["code"].clone(),
        ];
        let client = server.client();
        for secret in &secrets {
            let secret = secret.as_str().unwrap();
            let encoded = secret.replace('_', "%5F").replace('.', "%2e");
            let all: String = secret.bytes().map(|b| format!("%{b:02x}")).collect();
            for text in [secret, encoded.as_str(), all.as_str()] {
                for path in [
                    format!("/api/{text}"),
                    format!("/api/bench/devices/{text}"),
                    format!("/api/capture/{text}/decode?protocol={text}"),
                    format!("/api/bench/devices/x%2F{text}%22"),
                ] {
                    let reply = client.get(&path).unwrap();
                    assert!((400..500).contains(&reply.status), "{}", reply.text);
                }
            }
            let marked = server.client().with_header("x-request-id", secret);
            marked.get("/api/bench/devices").unwrap();
            marked.send("PUT", "/api/nothing", None).unwrap();
        }
        assert!(server.stop().unwrap());
        let log = server.log();
        let start = log.find("request_id").unwrap();
        assert!(log[start..].contains("[redacted]"));
        for secret in &secrets {
            let secret = secret.as_str().unwrap();
            let tail = &secret[secret.len() - 20..];
            let encoded: String = tail.bytes().map(|b| format!("%{b:02x}")).collect();
            for left in [tail, encoded.as_str()] {
                assert!(!log[start..].contains(left), "{left}");
            }
        }
    }
}

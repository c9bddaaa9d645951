//! Organisations that cannot see each other, and people who sign in.

use serde_json::{Value, json};
use tests::Server;
use tests::offline::{offline, stranger};

#[test]
fn another_organisations_objects_do_not_exist() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let order = json!({"device_id": server.device(), "samples": 100, "sample_rate_mhz": 1.0,
        "voltage_mv": 3300});
    let started = server
        .client()
        .post("/api/la/captures/start", &order)
        .unwrap();
    let capture = started.expect(202)["capture_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let keys = server.client().get("/api/keys").unwrap().expect(200);
    let kid = keys["keys"][0]["kid"].as_str().unwrap().to_owned();
    assert!(server.stop().unwrap());
    let key = stranger(dir.path());

    let server = Server::demo_in(dir.path()).unwrap();
    let eve = server
        .anonymous()
        .with_authorization(&format!("ApiKey {key}"));
    let seen = eve.get("/api/bench/devices").unwrap().expect(200);
    assert_eq!(seen["devices"], json!([]));
    assert_eq!(
        eve.get("/api/captures").unwrap().expect(200)["captures"],
        json!([])
    );
    assert_eq!(
        eve.get("/api/keys").unwrap().expect(200)["keys"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let device = server.device();
    let ping = json!({"command": {"cmd": "ping"}});
    for reply in [
        eve.get(&format!("/api/bench/devices/{device}")),
        eve.patch(
            &format!("/api/bench/devices/{device}"),
            &json!({"name": "mine"}),
        ),
        eve.patch(
            &format!("/api/bench/devices/{device}"),
            &json!({"wiring": {}}),
        ),
        eve.delete(&format!("/api/bench/devices/{device}")),
        eve.post(&format!("/api/bench/devices/{device}/command"), &ping),
        eve.post("/api/la/captures/start", &order),
        eve.get(&format!("/api/capture/{capture}")),
        eve.get(&format!(
            "/api/capture/{capture}/decode?protocol=i2c&scl=LA1&sda=LA2"
        )),
        eve.get(&format!("/api/capture/{capture}/search?q=edge+on+LA1")),
        eve.patch(&format!("/api/capture/{capture}"), &json!({"pinned": true})),
        eve.send("POST", &format!("/api/capture/{capture}/cancel"), None),
        eve.delete(&format!("/api/capture/{capture}")),
        eve.patch(&format!("/api/keys/{kid}"), &json!({"name": "mine"})),
        eve.delete(&format!("/api/keys/{kid}")),
        eve.post("/api/auth/token", &json!({"devices": ["demo"]})),
    ] {
        reply.unwrap().expect_error(404, "not_found");
    }
    let found = eve.get("/api/captures/search?q=edge+on+LA1").unwrap();
    let found = found.expect(200);
    assert_eq!(
        (&found["searched"], &found["skipped"]),
        (&json!(0), &json!(0)),
        "{found}"
    );
    untouched(&server, &capture, &keys["keys"][0]["name"]);
}

/// What the stranger tried to reach is unchanged.
fn untouched(server: &Server, capture: &str, key_name: &Value) {
    let own = server.client();
    let device = format!("/api/bench/devices/{}", server.device());
    assert_eq!(own.get(&device).unwrap().expect(200)["name"], "demo");
    let capture = format!("/api/capture/{capture}");
    assert_eq!(own.get(&capture).unwrap().status, 200);
    let keys = own.get("/api/keys").unwrap().expect(200);
    assert_eq!(keys["keys"][0]["name"], *key_name);
}

#[test]
fn codes_and_passwords_sign_in() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    assert!(server.stop().unwrap());
    let printed = offline(dir.path(), &["user", "code", "owner"], "");
    let code = printed.lines().next().unwrap().to_owned();
    offline(
        dir.path(),
        &["user", "password", "owner"],
        "correct horse battery\n",
    );

    let server = Server::demo_in(dir.path()).unwrap();
    let sign_in = |body| server.anonymous().post("/api/auth/session", &body).unwrap();
    let session = sign_in(json!({"code": code}));
    let cookie = session.header("set-cookie").unwrap().to_owned();
    for attribute in ["hostd_session=", "HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    let session = session.expect(200);
    assert_eq!(session["token_type"], "bearer");
    sign_in(json!({"code": code})).expect_error(401, "invalid_credential");
    let bearer = format!("Bearer {}", session["token"].as_str().unwrap());
    let cookie = cookie.split(';').next().unwrap();
    for client in [
        server.anonymous().with_authorization(&bearer),
        server.anonymous().with_header("cookie", cookie),
    ] {
        // People are bound by their role, not by scopes.
        client.get("/api/keys").unwrap().expect(200);
        client.get("/api/bench/devices").unwrap().expect(200);
        let token = client
            .send("POST", "/api/auth/token", None)
            .unwrap()
            .expect(200);
        assert_eq!(token["expires_in"], 3600);
    }
    // A page from another site is dangerous with the cookie, but not with the token.
    let elsewhere = |client: tests::Client| {
        let client = client.with_header("origin", "http://127.0.0.1:1");
        client.send("POST", "/api/auth/token", None).unwrap()
    };
    let riding = server.anonymous().with_header("cookie", cookie);
    elsewhere(riding).expect_error(403, "forbidden");
    elsewhere(server.anonymous().with_authorization(&bearer)).expect(200);
    let password = |p: &str| sign_in(json!({"login": "owner", "password": p}));
    password("correct horse battery").expect(200);
    password("wrong horse battery").expect_error(401, "invalid_credential");
    sign_in(json!({"login": "nobody", "password": "correct horse battery"}))
        .expect_error(401, "invalid_credential");
}

#[test]
fn members_have_keys_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    assert!(server.stop().unwrap());
    let printed = offline(dir.path(), &["user", "add", "mia"], "");
    let code = printed.lines().next().unwrap().to_owned();
    let server = Server::demo_in(dir.path()).unwrap();
    let body = json!({"code": code});
    let session = server.anonymous().post("/api/auth/session", &body).unwrap();
    let session = session.expect(200);
    let bearer = format!("Bearer {}", session["token"].as_str().unwrap());
    let mia = server.anonymous().with_authorization(&bearer);
    // The demo's key belongs to the owner.
    assert_eq!(mia.get("/api/keys").unwrap().expect(200)["keys"], json!([]));
    let wanted = json!({"name": "ci", "scopes": ["bench:control"]});
    let made = mia.post("/api/keys", &wanted).unwrap().expect(201);
    let key = format!("ApiKey {}", made["secret"].as_str().unwrap());
    let client = server.anonymous().with_authorization(&key);
    client.get("/api/bench/devices").unwrap().expect(200);
    let all = server.client().get("/api/keys").unwrap().expect(200);
    assert_eq!(all["keys"].as_array().unwrap().len(), 2);
}

#[test]
fn the_demos_key_ends_with_the_demo() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let demo_key = server.api_key.clone();
    assert!(server.stop().unwrap());
    let mut server = Server::plain_in(dir.path()).unwrap();
    let client = server
        .anonymous()
        .with_authorization(&format!("ApiKey {demo_key}"));
    let reply = client.get("/api/bench/devices").unwrap();
    reply.expect_error(401, "revoked_credential");
    assert!(server.stop().unwrap());
    let server = Server::demo_in(dir.path()).unwrap();
    assert_ne!(server.api_key, demo_key);
    server
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
}

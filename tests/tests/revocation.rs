//! Connections that a credential opened end with the credential, on every kind of WebSocket, and no
//! other connection does.

use serde_json::{Value, json};
use tests::{Client, Server, Socket};

fn with(server: &Server, authorization: &str) -> Client {
    server.anonymous().with_authorization(authorization)
}

fn bearer(token: &Value) -> String {
    format!("Bearer {}", token.as_str().unwrap())
}

fn mint(client: &Client) -> String {
    let minted = client.post("/api/auth/token", &json!({})).unwrap();
    bearer(&minted.expect(200)["token"])
}

/// The first user, signed in with the code that the first start prints.
fn owner(server: &Server) -> Client {
    let body = json!({"code": server.code()});
    let session = server.anonymous().post("/api/auth/session", &body);
    with(server, &bearer(&session.unwrap().expect(200)["token"]))
}

/// The id of a new user, and that user's sign-in.
fn user(server: &Server, owner: &Client, login: &str) -> (String, String) {
    let body = json!({"login": login});
    let made = owner.post("/api/users", &body).unwrap();
    let made = made.expect(201);
    let body = json!({"code": made["code"]});
    let session = server.anonymous().post("/api/auth/session", &body);
    let session = session.unwrap().expect(200);
    let id = made["id"].as_str().unwrap().to_owned();
    (id, bearer(&session["token"]))
}

fn open(server: &Server, authorization: &str, path: &str) -> Socket {
    let headers = [("authorization", authorization)];
    let opened = Socket::open(&server.url, path, &headers).unwrap();
    opened.socket()
}

/// A follower of captures, a UART console and a tunnel.
fn one_of_each(server: &Server, direct: &str, cloud: &str) -> [Socket; 3] {
    let device = server.device();
    let name = server.client().get(&format!("/api/bench/devices/{device}"));
    let name = name.unwrap().expect(200)["name"].clone();
    let name = name.as_str().unwrap();
    let captures = format!("/api/ws/capture?device_id={device}");
    let uart = format!("/api/bench/devices/{device}/uart/ws?rx=3&tx=4");
    let tunnel = format!("/api/cloud/devices/ws?device={name}&kind=capture");
    [
        open(server, direct, &captures),
        open(server, direct, &uart),
        open(server, cloud, &tunnel),
    ]
}

fn end(sockets: [Socket; 3]) {
    for (index, mut socket) in sockets.into_iter().enumerate() {
        let closed = socket.closed().unwrap();
        assert_eq!(closed, (1008, "revoked_credential".to_owned()), "{index}");
    }
}

#[test]
fn streams_end_with_their_credential() {
    let server = Server::demo().unwrap();
    let admin = owner(&server);

    // A key, and the session token that was minted from it.
    let body = json!({"name": "ci", "scopes": ["bench:control"]});
    let made = admin.post("/api/keys", &body).unwrap().expect(201);
    let key = format!("ApiKey {}", made["secret"].as_str().unwrap());
    let sockets = one_of_each(&server, &key, &mint(&with(&server, &key)));
    let other = admin.post("/api/keys", &body).unwrap().expect(201);
    let path = |key: &Value| format!("/api/keys/{}", key["kid"].as_str().unwrap());
    admin.delete(&path(&other)).unwrap().expect(204);
    let renamed = json!({"name": "other"});
    admin.patch(&path(&made), &renamed).unwrap().expect(200);
    admin.delete(&path(&made)).unwrap().expect(204);
    end(sockets);

    // A sign-in, and the session token that was minted from it.
    let (_, session) = user(&server, &admin, "ada");
    let client = with(&server, &session);
    let sockets = one_of_each(&server, &session, &mint(&client));
    client.delete("/api/auth/session").unwrap().expect(204);
    end(sockets);

    // A user who is shut out.
    let (id, session) = user(&server, &admin, "bob");
    let sockets = one_of_each(&server, &session, &mint(&with(&server, &session)));
    let blocked = json!({"disabled": true});
    let path = format!("/api/users/{id}");
    admin.patch(&path, &blocked).unwrap().expect(200);
    end(sockets);

    // A user who is removed.
    let (id, session) = user(&server, &admin, "eve");
    let sockets = one_of_each(&server, &session, &mint(&with(&server, &session)));
    let path = format!("/api/users/{id}");
    admin.delete(&path).unwrap().expect(204);
    end(sockets);
}

/// The shortest life of a session token is a minute, which this test waits for.
#[test]
fn streams_end_when_their_token_expires() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, "[http]\nping_ms = 5000\n").unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let short = json!({"ttl_seconds": 60});
    let minted = server.client().post("/api/auth/token", &short).unwrap();
    let token = bearer(&minted.expect(200)["token"]);
    // Each stream is read all the time; otherwise it would be closed for unanswered pings.
    std::thread::scope(|scope| {
        for mut socket in one_of_each(&server, &token, &token) {
            scope.spawn(move || {
                // For a minute there is nothing but pings, and a client does not wait that long.
                let closed = (0..6).find_map(|_| socket.closed().ok());
                let closed = closed.expect("a Close with its reason");
                assert_eq!(closed, (1008, "expired_credential".to_owned()));
            });
        }
    });
    let late = with(&server, &token).get("/api/bench/devices").unwrap();
    late.expect_error(401, "expired_credential");
}

#[test]
fn streams_end_with_the_scope_they_need() {
    let server = Server::demo().unwrap();
    let admin = server.client();
    let body = json!({"name": "ci", "scopes": ["bench:control", "jobs:submit"]});
    let made = admin.post("/api/keys", &body).unwrap().expect(201);
    let key = format!("ApiKey {}", made["secret"].as_str().unwrap());
    let sockets = one_of_each(&server, &key, &mint(&with(&server, &key)));
    let path = format!("/api/keys/{}", made["kid"].as_str().unwrap());
    let less = json!({"scopes": ["jobs:submit"]});
    admin.patch(&path, &less).unwrap().expect(200);
    end(sockets);
}

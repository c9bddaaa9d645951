//! Leases of people who are signed in: the session stands for them, on all of a person's pages and for nobody else.

use serde_json::{Value, json};
use tests::{Bench, Client, Server, Socket};

const ON: &str = r#"{"command":{"cmd":"target_power","efuse":1,"state":1}}"#;

/// Two people and the key of the first one.
struct People {
    bench: Bench,
    owner: Client,
    ada: Client,
}

fn signed_in(server: &Server, code: &str) -> Client {
    let body = json!({"code": code});
    let session = server.anonymous().post("/api/auth/session", &body).unwrap();
    let token = session.expect(200)["token"].as_str().unwrap().to_owned();
    // As a browser has it.
    let cookie = format!("hostd_session={token}");
    server.anonymous().with_header("cookie", &cookie)
}

impl People {
    fn new() -> Self {
        let bench = Bench::start(&["sim:v3,seed=5"]).unwrap();
        let owner = signed_in(&bench.server, &bench.server.code());
        let body = json!({"login": "ada", "role": "member"});
        let made = owner.post("/api/users", &body).unwrap().expect(201);
        let ada = signed_in(&bench.server, made["code"].as_str().unwrap());
        Self { bench, owner, ada }
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/bench/devices/{}{rest}", self.bench.devices[0])
    }

    fn drive(&self, client: &Client) -> tests::Reply {
        let path = self.path("/command");
        client.send("POST", &path, Some(ON)).unwrap()
    }

    fn lease(&self) -> Value {
        let record = self.owner.get(&self.path("")).unwrap();
        record.expect(200)["lease"].clone()
    }
}

#[test]
fn a_person_takes_keeps_and_ends_a_lease_with_the_session() {
    let people = People::new();
    let lease = people.path("/lease");
    let taken = people.ada.send("POST", &lease, None).unwrap().expect(200);
    assert_eq!(taken["holder"], "ada");
    assert_eq!(people.lease(), taken);
    // Her pages drive the device, and show nothing for it.
    people.drive(&people.ada).expect(200);
    // Nobody else does: not another person, though an administrator, and no program.
    people.drive(&people.owner).expect_error(409, "lease_held");
    people
        .drive(&people.bench.server.client())
        .expect_error(409, "lease_held");
    let held = people.owner.send("POST", &lease, None).unwrap();
    held.expect_error(409, "lease_held");
    assert_eq!(held.json()["holder"], "ada");
    let kept = people
        .ada
        .post(&lease, &json!({"ttl_seconds": 600}))
        .unwrap();
    let kept = kept.expect(200);
    assert!(
        kept["expires_at"].as_str() > taken["expires_at"].as_str(),
        "{kept}"
    );
    // Who does not hold it ends nothing.
    let other = people.owner.delete(&lease).unwrap().expect(200);
    assert_eq!(
        (&other["released"], &other["holder"]),
        (&json!(false), &json!("ada"))
    );
    let ended = people.ada.delete(&lease).unwrap().expect(200);
    assert_eq!(ended, json!({"released": true, "safe": true}));
    assert_eq!(people.lease(), Value::Null);
    people.drive(&people.owner).expect(200);
}

#[test]
fn a_persons_own_key_finds_the_device_held_and_a_lease_by_name_stays_one() {
    let people = People::new();
    let lease = people.path("/lease");
    // The demo's key belongs to the owner.
    people.owner.send("POST", &lease, None).unwrap().expect(200);
    let key = people.bench.server.client();
    people.drive(&key).expect_error(409, "lease_held");
    people.drive(&people.owner).expect(200);
    people.owner.delete(&lease).unwrap().expect(200);
    // What a program of theirs took, they do not drive by their session alone.
    let minted = key.post("/api/auth/token", &json!({})).unwrap().expect(200);
    let token = format!("Bearer {}", minted["token"].as_str().unwrap());
    let program = people.bench.server.anonymous().with_authorization(&token);
    let body = json!({"lease_id": "of-a-program", "run_label": "nightly"});
    let path = "/api/cloud/devices/lease?device=d0";
    program.post(path, &body).unwrap().expect(200);
    people.drive(&people.owner).expect_error(409, "lease_held");
    let shows = people
        .owner
        .clone()
        .with_header("x-bench-lease", "of-a-program");
    people.drive(&shows).expect(200);
    // An administrator ends it by its holder; a member may not.
    let named = format!("{lease}?holder=nightly");
    people
        .ada
        .delete(&named)
        .unwrap()
        .expect_error(403, "forbidden");
    let ended = people.owner.delete(&named).unwrap().expect(200);
    assert_eq!(ended["released"], true);
}

#[test]
fn the_id_of_peoples_leases_is_not_to_be_had_by_name() {
    let people = People::new();
    let lease = people.path("/lease");
    people.owner.send("POST", &lease, None).unwrap().expect(200);
    let key = people.bench.server.client();
    let minted = key.post("/api/auth/token", &json!({})).unwrap().expect(200);
    let token = format!("Bearer {}", minted["token"].as_str().unwrap());
    let program = people.bench.server.anonymous().with_authorization(&token);
    // Neither the owner's key nor a token of it has the device by showing the id,
    for client in [&key, &program] {
        for header in ["x-bench-lease", "x-benchpod-lease"] {
            let shows = client.clone().with_header(header, "person");
            people.drive(&shows).expect_error(409, "lease_held");
        }
    }
    let url = &people.bench.server.url;
    let path = "/api/cloud/devices/ws?device=d0&kind=uart&lease=person";
    let opened = Socket::open(url, path, &[("authorization", token.as_str())]);
    let (status, body) = opened.unwrap().refused();
    assert_eq!((status, &body["code"]), (409, &json!("lease_held")));
    // nor by taking, keeping or ending a lease of that id.
    for rest in ["lease", "lease/renew", "lease/release"] {
        let path = format!("/api/cloud/devices/{rest}?device=d0");
        let reply = program.post(&path, &json!({"lease_id": "person"})).unwrap();
        reply.expect_error(400, "invalid_request");
        assert!(reply.text.contains("lease_id"), "{rest}: {}", reply.text);
    }
    // The session goes on driving it, also where a page shows the id.
    people.drive(&people.owner).expect(200);
    let shows = people.owner.clone().with_header("x-bench-lease", "person");
    people.drive(&shows).expect(200);
    assert_eq!(people.lease()["holder"], "owner");
    people.owner.delete(&lease).unwrap().expect(200);
    let path = "/api/cloud/devices/lease?device=d0";
    let taken = program.post(path, &json!({"lease_id": "person"})).unwrap();
    taken.expect_error(400, "invalid_request");
    assert_eq!(people.lease(), Value::Null);
}

#[test]
fn a_lease_of_a_person_is_there_after_a_restart_and_ends_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let person = |server: &Server, cookie: &str| server.anonymous().with_header("cookie", cookie);
    let body = json!({"code": server.code()});
    let session = server.anonymous().post("/api/auth/session", &body).unwrap();
    let token = session.expect(200)["token"].as_str().unwrap().to_owned();
    let cookie = format!("hostd_session={token}");
    let path = format!("/api/bench/devices/{}", server.device());
    let owner = person(&server, &cookie);
    let lease = format!("{path}/lease");
    owner
        .post(&lease, &json!({"ttl_seconds": 15}))
        .unwrap()
        .expect(200);
    server.kill().unwrap();
    let server = Server::demo_in(dir.path()).unwrap();
    let owner = person(&server, &cookie);
    let record = || owner.get(&path).unwrap().expect(200);
    assert_eq!(record()["lease"]["holder"], "owner");
    let command = format!("{path}/command");
    owner.send("POST", &command, Some(ON)).unwrap().expect(200);
    tests::until(record, |record| record["lease"].is_null()).unwrap();
}

//! What survives an orderly stop, and fifty kills in the middle of writes.

use serde_json::{Value, json};
use tests::{Client, Server};

/// Kills of the running server.
const KILLS: u32 = 50;

/// Writes of each background writer before it gives up waiting for the kill.
const WRITES_MAX: u32 = 2000;

fn create_key(client: &Client, name: &str) -> Option<(String, String)> {
    let reply = client
        .post(
            "/api/keys",
            &json!({"name": name, "scopes": ["bench:control"]}),
        )
        .ok()?;
    let made = (reply.status == 201).then(|| reply.json())?;
    let text = |v: &Value| v.as_str().map(str::to_owned);
    Some((text(&made["kid"])?, text(&made["secret"])?))
}

#[test]
fn heavy_acknowledged_data_survives_kills() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let device = server.device().to_owned();
    let mut keys = Vec::new();
    let mut captures = Vec::new();
    for round in 0..KILLS {
        let client = server.client();
        let order = json!({"device_id": device, "samples": 2000, "sample_rate_mhz": 1.0,
            "voltage_mv": 3300, "channels": [1, 2]});
        let started = client
            .post("/api/la/captures/start", &order)
            .unwrap()
            .expect(202);
        let id = started["capture_id"].as_str().unwrap().to_owned();
        keys.push(create_key(&client, &format!("key {round}")).unwrap());
        let head = client
            .get(&format!("/api/capture/{id}?frames=none"))
            .unwrap()
            .expect(200);
        captures.push((id, head["status"] == "done"));
        // A writer that is busy when the process is killed.
        let writer = {
            let (client, device) = (client.clone(), device.clone());
            std::thread::spawn(move || rename_until_killed(&client, &device, round))
        };
        // The later the round, the later the kill: after 0, 1, 2… of these requests.
        for _ in 0..round {
            client.get("/healthz").unwrap().expect(200);
        }
        server.kill().unwrap();
        let acknowledged = writer.join().unwrap();
        server = Server::demo_in(dir.path()).unwrap();
        assert_eq!(server.device(), device);
        let path = format!("/api/bench/devices/{device}");
        let found = server.client().get(&path).unwrap().expect(200);
        if let Some(last) = acknowledged {
            // The write in flight may have been stored too.
            let fine = [format!("r{round}-{last}"), format!("r{round}-{}", last + 1)];
            let name = found["name"].as_str().unwrap();
            assert!(fine.iter().any(|f| f == name), "{name} after {fine:?}");
        }
    }
    check(&server, &keys, &captures);
    assert!(server.stop().unwrap());
    let server = Server::demo_in(dir.path()).unwrap();
    check(&server, &keys, &captures);
}

/// Number of the last rename that was acknowledged.
fn rename_until_killed(client: &Client, device: &str, round: u32) -> Option<u32> {
    let path = format!("/api/bench/devices/{device}");
    let mut last = None;
    for n in 0..WRITES_MAX {
        let name = json!({"name": format!("r{round}-{n}")});
        match client.patch(&path, &name) {
            Ok(reply) if reply.status == 200 => last = Some(n),
            _ => break,
        }
    }
    last
}

fn check(server: &Server, keys: &[(String, String)], captures: &[(String, bool)]) {
    let client = server.client();
    let listed = client.get("/api/keys").unwrap().expect(200);
    let listed: Vec<&str> = listed["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|k| k["kid"].as_str().unwrap())
        .collect();
    for (kid, secret) in keys {
        assert!(listed.contains(&kid.as_str()), "key {kid} is gone");
        let own = server
            .anonymous()
            .with_authorization(&format!("ApiKey {secret}"));
        assert_eq!(
            own.get("/api/bench/devices").unwrap().status,
            200,
            "key {kid}"
        );
    }
    for (id, was_done) in captures {
        let head = client
            .get(&format!("/api/capture/{id}"))
            .unwrap()
            .expect(200);
        let status = head["status"].as_str().unwrap();
        if *was_done {
            assert_eq!(status, "done", "{id}");
            assert!(!head["frames"].as_array().unwrap().is_empty(), "{id}");
        } else {
            assert!(matches!(status, "done" | "failed"), "{id}: {status}");
        }
    }
}

#[test]
fn settings_outlive_an_orderly_stop() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let (device, key) = (server.device().to_owned(), server.api_key.clone());
    let path = format!("/api/bench/devices/{device}");
    let renamed = server
        .client()
        .patch(&path, &json!({"name": "bench-7"}))
        .unwrap()
        .expect(200);
    assert_eq!(renamed["name"], "bench-7");
    assert!(server.stop().unwrap());
    let server = Server::demo_in(dir.path()).unwrap();
    let client = server
        .anonymous()
        .with_authorization(&format!("ApiKey {key}"));
    let found = client.get(&path).unwrap().expect(200);
    assert_eq!(found["name"], "bench-7");
}

//! Backups of a running server, and servers started on restored backups.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Client, Server};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn hostd(verb: &str, dir: Option<&Path>, data: &Path) -> Output {
    let mut command = Command::new(tests::server::binary().unwrap());
    command.arg(verb).args(dir).arg("--data-dir").arg(data);
    command.output().unwrap()
}

fn succeeds(verb: &str, dir: Option<&Path>, data: &Path) -> String {
    let output = hostd(verb, dir, data);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "hostd {verb}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn fails(verb: &str, dir: Option<&Path>, data: &Path) -> String {
    let output = hostd(verb, dir, data);
    assert!(!output.status.success(), "hostd {verb}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn waveform(client: &Client, n: usize) -> String {
    let name = format!("w{n}");
    let samples = "AAAA".repeat(1 + n % 500);
    let body = json!({"name": name, "sample_rate_hz": 1000, "samples_b64": samples});
    let saved = client.post("/api/bench/waveforms", &body).unwrap();
    saved.expect(201)["id"].as_str().unwrap().to_owned()
}

fn ids(list: &Value, of: &str) -> BTreeSet<String> {
    let items = list[of].as_array().unwrap().iter();
    items
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect()
}

fn listed(client: &Client) -> BTreeSet<String> {
    let (mut found, mut path) = (BTreeSet::new(), "/api/bench/waveforms?limit=200".to_owned());
    loop {
        let page = client.get(&path).unwrap().expect(200);
        found.extend(ids(&page, "waveforms"));
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/bench/waveforms?limit=200&cursor={cursor}"),
            None => return found,
        }
    }
}

fn captured(client: &Client, device: &str) -> String {
    let body = json!({
        "device_id": device, "samples": 20_000, "sample_rate_mhz": 1, "voltage_mv": 3300,
    });
    let started = client.post("/api/la/captures/start", &body).unwrap();
    let id = started.expect(202)["capture_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/api/capture/{id}?frames=none");
    let look = || client.get(&path).unwrap().expect(200);
    tests::until(look, |head| head["status"] == "done").unwrap();
    id
}

fn export(client: &Client, id: &str) -> String {
    let path = format!("/api/capture/{id}/export?format=vcd");
    let reply = client.get(&path).unwrap();
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.text
}

fn device_name(server: &Server) -> String {
    let path = format!("/api/bench/devices/{}", server.device());
    let device = server.client().get(&path).unwrap().expect(200);
    device["name"].as_str().unwrap().to_owned()
}

fn token(server: &Server) -> String {
    let token = server.client().post("/api/auth/token", &json!({}));
    let token = token.unwrap().expect(200);
    format!("Bearer {}", token["token"].as_str().unwrap())
}

/// Ids of the waveforms that two clients save before and while `f` is running. Each has begun by then.
fn written_during(server: &Server, f: impl FnOnce()) -> Vec<String> {
    let stop = AtomicBool::new(false);
    let begun = Barrier::new(3);
    std::thread::scope(|scope| {
        let write = |from: usize| {
            let (client, stop, begun) = (server.client(), &stop, &begun);
            move || {
                let mut written = vec![waveform(&client, from)];
                begun.wait();
                while !stop.load(Ordering::Relaxed) {
                    written.push(waveform(&client, from + written.len()));
                }
                written
            }
        };
        let writers = [scope.spawn(write(100)), scope.spawn(write(10_000))];
        begun.wait();
        f();
        stop.store(true, Ordering::Relaxed);
        writers.map(|writer| writer.join().unwrap()).concat()
    })
}

#[test]
fn a_backup_under_writes_is_one_state_and_starts_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hostd.toml"), "[http]\nrate_per_s = 0\n").unwrap();
    let config = dir.path().join("hostd.toml");
    let args = ["--config", config.to_str().unwrap()];
    let mut server = Server::demo_in_with(dir.path(), &args).unwrap();
    let client = server.client();
    let capture = captured(&client, server.device());
    let samples = export(&client, &capture);
    let (name, token) = (device_name(&server), token(&server));
    let ci = Client::new(&server.url).with_authorization(&token);
    let lease = format!("/api/cloud/devices/lease?device={name}");
    let body = json!({"lease_id": "l1", "ttl_seconds": 600});
    ci.post(&lease, &body).unwrap().expect(200);
    let before: BTreeSet<_> = (0..20).map(|n| waveform(&client, n)).collect();
    let (data, backup) = (dir.path().join("data"), dir.path().join("backup"));
    let written = written_during(&server, || {
        let told = succeeds("backup", Some(&backup), &data);
        assert!(told.contains("files, "), "{told}");
    });
    assert!(!written.is_empty());
    let mode = fs::metadata(&backup).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    // What is deleted or added from now on is not in the backup.
    client
        .delete(&format!("/api/capture/{capture}"))
        .unwrap()
        .expect(204);
    let key = server.api_key.clone();
    server.stop().unwrap();
    assert!(succeeds("check", Some(&backup), &data).contains("no damage"));
    assert!(succeeds("check", None, &data).contains("no damage"));
    let refused = fails("restore", Some(&backup), &data);
    assert!(refused.contains("not empty"), "{refused}");

    let again = dir.path().join("again");
    fs::create_dir(&again).unwrap();
    succeeds("restore", Some(&backup), &again.join("data"));
    let mut server = Server::demo_in_with(&again, &args).unwrap();
    let client = Client::new(&server.url).with_authorization(&format!("ApiKey {key}"));
    let restored = listed(&client);
    let all: BTreeSet<_> = before.iter().cloned().chain(written).collect();
    assert!(restored.is_superset(&before), "what was there is there");
    assert!(restored.is_subset(&all), "nothing else is");
    for id in &restored {
        let path = format!("/api/bench/waveforms/{id}");
        client.get(&path).unwrap().expect(200);
    }
    assert_eq!(export(&client, &capture), samples);
    let ci = Client::new(&server.url).with_authorization(&token);
    let other = json!({"lease_id": "l2"});
    // The lease from the old server comes to its end.
    let look = || ci.post(&lease, &other).unwrap().json();
    tests::until(look, |answer| answer["lease_id"] == "l2").unwrap();
    server.stop().unwrap();
    assert!(succeeds("check", None, &again.join("data")).contains("no damage"));
}

#[test]
fn a_server_that_dies_during_a_backup_leaves_nothing_that_has_a_name() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let client = server.client();
    for n in 0..50 {
        waveform(&client, n);
    }
    let (data, backups) = (dir.path().join("data"), dir.path().join("backups"));
    fs::create_dir(&backups).unwrap();
    let backup = backups.join("b");
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| hostd("backup", Some(&backup), &data));
        // Kill the server at the first sign of the backup.
        let began = Instant::now();
        while fs::read_dir(&backups).unwrap().next().is_none() {
            assert!(began.elapsed() < PATIENCE, "the backup does not begin");
            std::hint::spin_loop();
        }
        server.kill().unwrap();
        drop(asking.join().unwrap());
    });
    for entry in fs::read_dir(&backups).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // It may have been complete already.
        let is_whole = name == "b" && path.join("manifest.json").exists();
        assert!(is_whole || name.starts_with("incomplete-b-"), "{name}");
    }
    let server = Server::demo_in(dir.path()).unwrap();
    drop(server);
    // Without a server, the command makes the backup itself.
    succeeds("backup", Some(&backups.join("c")), &data);
    succeeds("check", Some(&backups.join("c")), &data);
}

#[test]
fn a_damaged_or_empty_database_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    waveform(&server.client(), 1);
    server.stop().unwrap();
    let path = dir.path().join("data/hostd.redb");
    let good = fs::read(&path).unwrap();
    let half = good[..good.len() / 2].to_vec();
    let mut flipped = good.clone();
    for at in (4096..flipped.len()).step_by(997) {
        flipped[at] ^= 0x55;
    }
    for bad in [Vec::new(), half, flipped] {
        fs::write(&path, &bad).unwrap();
        let refused = Server::demo_in(dir.path()).unwrap_err().to_string();
        assert!(refused.contains("hostd restore"), "{refused}");
        assert!(!refused.contains("panicked"), "{refused}");
        assert!(fs::read(&path).unwrap() == bad, "it was changed");
        let found = fails("check", None, &dir.path().join("data"));
        assert!(found.contains("fault: "), "{found}");
    }
    fs::write(&path, &good).unwrap();
    Server::demo_in(dir.path()).unwrap();
}

//! What a server does when its disk gets full or quotas are used up, and who may read its files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::{Bench, Client, Reply, Server, can_isolate, until};

/// More than any disk has free, in MiB.
const MIB_TOO_MANY: u32 = u32::MAX;

fn bench(settings: &str) -> Bench {
    Bench::start_with(settings, &[]).unwrap()
}

fn capture(client: &Client, device: &str, name: Option<&str>) -> Reply {
    let mut body = json!({
        "device_id": device, "samples": 20_000, "sample_rate_mhz": 1, "voltage_mv": 3300,
    });
    if let Some(name) = name {
        body["name"] = name.into();
    }
    client.post("/api/la/captures/start", &body).unwrap()
}

/// Run a capture to its end; returns its id and its head.
fn captured(client: &Client, device: &str, name: Option<&str>) -> (String, Value) {
    let started = capture(client, device, name).expect(202);
    let id = started["capture_id"].as_str().unwrap().to_owned();
    let path = format!("/api/capture/{id}?frames=none");
    let look = || client.get(&path).unwrap().expect(200);
    let is_over =
        |head: &Value| !["pending", "armed", "running"].contains(&head["status"].as_str().unwrap());
    let head = until(look, is_over).unwrap();
    (id, head)
}

fn token(server: &Server) -> Client {
    let token = server.client().post("/api/auth/token", &json!({}));
    let token = token.unwrap().expect(200);
    let token = token["token"].as_str().unwrap();
    Client::new(&server.url).with_authorization(&format!("Bearer {token}"))
}

#[test]
fn below_the_floor_what_is_big_is_refused_and_the_rest_goes_on() {
    let bench = bench(&format!("[disk]\nfloor_mib = {MIB_TOO_MANY}\n"));
    let server = &bench.server;
    let (client, device) = (server.client(), server.device());
    capture(&client, device, None).expect_error(507, "no_space");
    let raw = Some(("application/octet-stream", &b"PK"[..]));
    let import = client.send_typed("POST", "/api/captures/import", raw);
    import.unwrap().expect_error(507, "no_space");
    let samples = json!({"name": "w", "sample_rate_hz": 1000, "samples_b64": "AAAA"});
    let waveform = client.post("/api/bench/waveforms", &samples).unwrap();
    waveform.expect_error(507, "no_space");
    let ci = token(server);
    let build = json!({"repo_owner": "a", "repo": "b"});
    let build = ci.post("/api/cloud/builds", &build).unwrap().expect(201);
    let build = build["build_id"].as_str().unwrap();
    let path = format!("/api/cloud/builds/{build}/artifacts?name=f.bin");
    let artifact = ci.send_typed("POST", &path, raw);
    artifact.unwrap().expect_error(507, "no_space");
    let lease = json!({"lease_id": "l1"});
    let name = client
        .get(&format!("/api/bench/devices/{device}"))
        .unwrap()
        .expect(200)["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let at = |path: &str| format!("/api/cloud/devices/{path}?device={name}");
    ci.post(&at("lease"), &lease).unwrap().expect(200);
    ci.post(&at("lease/release"), &lease).unwrap().expect(200);
    server.anonymous().get("/readyz").unwrap().expect(200);
    let metrics = server.anonymous().get("/metrics").unwrap();
    let text = metrics.text;
    assert!(text.contains("\nhostd_disk_free_bytes "), "{text}");
    assert!(text.contains("\nhostd_disk_full 0\n"), "{text}");
    // Once, however many requests were refused.
    let told = "the disk is nearly full";
    assert_eq!(server.logged(told).matches(told).count(), 1);
}

#[test]
fn without_a_reserve_the_server_is_not_ready_and_says_why() {
    let bench = bench(&format!("[disk]\nreserve_mib = {MIB_TOO_MANY}\n"));
    let ready = bench.server.anonymous().get("/readyz").unwrap();
    assert_eq!(ready.status, 503);
    assert_eq!(ready.json()["reason"], "the disk of the server is full");
    bench
        .server
        .anonymous()
        .get("/healthz")
        .unwrap()
        .expect(200);
    let metrics = bench.server.anonymous().get("/metrics").unwrap();
    assert!(metrics.text.contains("\nhostd_disk_full 1\n"));
}

#[test]
fn the_oldest_capture_without_a_name_gives_way() {
    let bench = bench("[captures]\ncount_max = 3\n");
    let (client, device) = (bench.server.client(), bench.server.device());
    let (kept, _) = captured(&client, device, Some("keep"));
    let (oldest, _) = captured(&client, device, None);
    let (young, _) = captured(&client, device, None);
    let (newest, head) = captured(&client, device, None);
    assert_eq!(head["status"], "done");
    let ids = |id: &str| client.get(&format!("/api/capture/{id}")).unwrap().status;
    assert_eq!(
        [ids(&kept), ids(&oldest), ids(&young), ids(&newest)],
        [200, 404, 200, 200]
    );
}

#[test]
fn at_its_quota_an_organisation_is_told_which() {
    let bench = bench("[captures]\ncount_max = 1\nat_quota = \"refuse\"\n");
    let (client, device) = (bench.server.client(), bench.server.device());
    let (id, _) = captured(&client, device, None);
    let refused = capture(&client, device, None);
    refused.expect_error(409, "quota_exceeded");
    let said = refused.json()["error"].to_string();
    assert!(said.contains("captures.count_max"), "{said}");
    let path = format!("/api/capture/{id}");
    client.delete(&path).unwrap().expect(204);
    captured(&client, device, None);
}

#[test]
fn samples_that_find_no_room_fail_the_capture_and_leave_nothing() {
    let bench = bench("[captures]\nquota_mib = 0\n");
    let (client, device) = (bench.server.client(), bench.server.device());
    let (_, head) = captured(&client, device, None);
    assert_eq!(head["status"], "failed");
    let said = head["error"].to_string();
    assert!(said.contains("captures.quota_mib"), "{said}");
    let folder = bench.server.dir().join("data/captures");
    let kept = || fs::read_dir(&folder).unwrap().count();
    until(kept, |count| *count == 0).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// Everything in the folder whose mode gives others access.
fn open_to_others(path: &Path, found: &mut Vec<String>) {
    if mode(path) & 0o077 != 0 {
        found.push(format!("{} {:o}", path.display(), mode(path)));
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            open_to_others(&entry.unwrap().path(), found);
        }
    }
}

#[test]
fn everything_that_is_kept_is_for_the_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let (client, device) = (server.client(), server.device().to_owned());
    captured(&client, &device, None);
    let samples = json!({"name": "w", "sample_rate_hz": 1000, "samples_b64": "AAAA"});
    let waveform = client.post("/api/bench/waveforms", &samples).unwrap();
    waveform.expect(201);
    let data = dir.path().join("data");
    let mut found = Vec::new();
    open_to_others(&data, &mut found);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(mode(&dir.path().join("ready.json")), 0o600);
    server.stop().unwrap();
    // As an earlier version would have left it.
    for path in ["captures", "blobs", ""] {
        fs::set_permissions(data.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for entry in fs::read_dir(data.join("captures")).unwrap() {
        let path = entry.unwrap().path();
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    }
    drop(server);
    let server = Server::demo_in(dir.path()).unwrap();
    open_to_others(&data, &mut found);
    assert_eq!(found, Vec::<String>::new());
    drop(server);
    fs::set_permissions(&data, fs::Permissions::from_mode(0o775)).unwrap();
    let refused = Server::demo_in(dir.path()).unwrap_err().to_string();
    assert!(refused.contains("chmod 700"), "{refused}");
}

/// A small disk of its own. It ends with the test.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// None, with the reason on standard error, if this user may not mount one.
    #[allow(clippy::print_stderr, reason = "says why a test is left out")]
    fn mount(mib: u32) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"])
            .arg(dir.path())
            .output();
        match mount {
            Ok(output) if output.status.success() => Some(Self(dir)),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr).into_owned();
                eprintln!("left out: mounting a small disk takes root: {why}");
                None
            }
            Err(error) => {
                eprintln!("left out: failed to run mount: {error}");
                None
            }
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Processes of the server may take a moment to be gone.
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

/// Files of this name below a folder.
fn named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        // It may be gone by now.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => todo.push(entry.path()),
                _ if entry.file_name() == name => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

fn submit(client: &Client, command: &str) -> String {
    let definition = format!(
        "version: 1\nretry: {{ infra: 0 }}\nlimits: {{ memory: 512MiB, disk: 1GiB, log: 1MiB }}\n\
         builds: [{{ id: fw, steps: [{{ run: '{command}' }}] }}]\n"
    );
    let job = client.post("/api/jobs/submit", &json!({"definition": definition}));
    let job = job.unwrap().expect(201);
    job["id"].as_str().unwrap().to_owned()
}

fn ended(client: &Client, id: &str) -> Value {
    let look = || client.get(&format!("/api/jobs/{id}")).unwrap().expect(200);
    until(look, |job| job["state"] == "finished").unwrap()
}

#[test]
fn a_job_that_fills_the_disk_ends_and_others_go_on() {
    if !can_isolate() {
        return;
    }
    let Some(disk) = SmallDisk::mount(192) else {
        return;
    };
    let data = disk.0.path().join("data");
    fs::create_dir(&data).unwrap();
    let config = disk.0.path().join("hostd.toml");
    fs::write(&config, "[disk]\nfloor_mib = 32\nreserve_mib = 8\n").unwrap();
    let server = Server::demo_in_with(&data, &["--config", config.to_str().unwrap()]).unwrap();
    let client = server.client();
    let other = submit(&client, "sleep 6; echo still here");
    let greedy = submit(
        &client,
        "dd if=/dev/zero of=everything bs=1M count=900; sleep 60",
    );
    let job = ended(&client, &greedy);
    assert_eq!(
        (&job["ended_because"], &job["verdict"]),
        (&"infra_error".into(), &"pending".into()),
        "{job}"
    );
    assert_eq!(job["runs"][0]["code"], "infra.disk_full", "{job}");
    let told = job["message"].as_str().unwrap();
    assert!(told.contains("make room"), "{told}");
    // Whoever runs meanwhile and takes little goes on.
    let job = ended(&client, &other);
    assert_eq!(job["verdict"], "success", "{job}");
    let log = client.get(&format!("/api/jobs/{other}/log")).unwrap();
    assert!(log.text.contains("still here"), "{}", log.text);
    // Nothing of it is left, and there is room for the next one.
    until(|| named(&data, "everything"), Vec::is_empty).unwrap();
    let next = submit(&client, "dd if=/dev/zero of=some bs=1M count=20");
    let job = ended(&client, &next);
    assert_eq!(job["verdict"], "success", "{job}");
    server.anonymous().get("/readyz").unwrap().expect(200);
}

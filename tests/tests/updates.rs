//! Firmware updates of pods: from an image to a pod that runs it, and everything that can
//! interfere.

use std::path::Path;

use serde_json::{Value, json};
use tests::{Client, PodSim, Reply, Server, Socket, until};

/// A firmware image of a simulated pod: the header that it reads, then bytes without a meaning.
pub(crate) fn image(version: [u8; 3], bytes: usize) -> String {
    let mut image = b"BPFW".to_vec();
    image.extend(version);
    image.extend([1, 0, 8, 1, 0]);
    image.resize(bytes, b'f');
    String::from_utf8(image).unwrap()
}

/// A bench with a pod of this address beside the demo's.
struct Bench {
    server: Server,
    device: String,
    _config: tempfile::TempDir,
}

impl Bench {
    fn new(address: &str) -> Self {
        Self::with(address, "")
    }

    fn with(address: &str, more: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = config(dir.path(), address, more);
        let server = Server::demo_with(&["--config", &config]).unwrap();
        let device = device(&server);
        Self {
            server,
            device,
            _config: dir,
        }
    }

    fn client(&self) -> Client {
        self.server.client()
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/bench/devices/{}{rest}", self.device)
    }

    fn record(&self) -> Value {
        let devices = self.client().get("/api/bench/devices").unwrap().expect(200);
        let mut devices = devices["devices"].as_array().unwrap().iter();
        let found = devices.find(|d| d["id"] == self.device.as_str());
        found.unwrap().clone()
    }

    /// Start an update with `image` as a file of a build.
    fn start(&self, image: &str, terms: &Value) -> Reply {
        let mut body = json!({"artifact": {"job_id": upload(&self.server, image),
            "artifact_name": "pod.bin"}});
        body.as_object_mut()
            .unwrap()
            .extend(terms.as_object().unwrap().clone());
        self.client().post(&self.path("/ota"), &body).unwrap()
    }

    fn progress(&self) -> Value {
        self.client().get(&self.path("/ota")).unwrap().expect(200)
    }

    fn wait(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        until(|| self.progress(), holds).expect(what)
    }

    fn ended(&self) -> Value {
        self.wait("ended", |p| !p["finished_at"].is_null())
    }

    fn command(&self, command: &Value) -> Reply {
        let body = json!({"command": command});
        self.client().post(&self.path("/command"), &body).unwrap()
    }

    /// The pod accepts commands and captures again.
    fn works(&self) {
        let set = self.command(&json!({"cmd": "la_voltage", "mv": 3300}));
        assert_eq!(set.expect(200)["status"], "ok");
        let order = json!({"device_id": self.device, "samples": 1000, "sample_rate_mhz": 1});
        let started = self.client().post("/api/la/captures/start", &order);
        let id = started.unwrap().expect(202)["capture_id"].clone();
        let path = format!("/api/capture/{}?frames=none", id.as_str().unwrap());
        let look = || {
            let status = self.client().get(&path).unwrap().expect(200)["status"].clone();
            assert_ne!(status, "failed");
            status
        };
        until(look, |status| status == "done").unwrap();
    }
}

fn config(dir: &Path, address: &str, more: &str) -> String {
    let path = dir.join("hostd.toml");
    let text = format!("{more}\n[[devices]]\nname = \"pod\"\naddress = \"{address}\"\n");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn device(server: &Server) -> String {
    let look = || {
        let devices = server
            .client()
            .get("/api/bench/devices")
            .unwrap()
            .expect(200);
        let mut devices = devices["devices"].as_array().unwrap().iter();
        devices.find(|d| d["name"] == "pod").unwrap().clone()
    };
    let pod = until(look, |pod| pod["online"] == true).unwrap();
    pod["id"].as_str().unwrap().to_owned()
}

/// Makes a finished build with `image` in it; returns its id.
pub(crate) fn upload(server: &Server, image: &str) -> String {
    let minted = server.client().post("/api/auth/token", &json!({})).unwrap();
    let token = minted.expect(200)["token"].as_str().unwrap().to_owned();
    let ci = Client::new(&server.url).with_authorization(&format!("Bearer {token}"));
    let made = ci
        .post("/api/cloud/builds", &json!({"repo": "pod"}))
        .unwrap();
    let build = made.expect(201)["build_id"].as_str().unwrap().to_owned();
    let raw = ci
        .clone()
        .with_header("content-type", "application/octet-stream");
    let path = format!("/api/cloud/builds/{build}/artifacts?name=pod.bin");
    raw.send("POST", &path, Some(image)).unwrap().expect(201);
    let path = format!("/api/cloud/builds/{build}/status");
    ci.post(&path, &json!({"success": true}))
        .unwrap()
        .expect(200);
    build
}

#[test]
fn a_pod_is_updated_and_comes_back_with_the_new_version() {
    let pod = PodSim::start(&["--seed", "7"]).unwrap();
    let bench = Bench::new(&format!("tcp:{}", pod.address));
    let before = bench.progress();
    assert_eq!(
        (&before["id"], &before["phase"]),
        (&Value::Null, &json!("idle"))
    );
    let image = image([3, 10, 0], 100_000);
    let started = bench
        .start(&image, &json!({"version": "3.10.0"}))
        .expect(202);
    assert_eq!(started["total_bytes"], 100_000);
    assert_eq!(
        started["version_before"],
        bench.record()["firmware_version"]
    );

    bench.wait("rebooting", |p| p["phase"] == "rebooting");
    // It comes back once all has been tried that it keeps out.
    pod.hang().unwrap();
    assert_eq!(bench.record()["state"], "updating");
    let refused = bench.command(&json!({"cmd": "target_power", "efuse": 1, "state": 1}));
    assert_eq!(refused.expect(409)["holder"], "a firmware update");
    let order = json!({"device_id": bench.device, "samples": 1000, "sample_rate_mhz": 1});
    let capture = bench
        .client()
        .post("/api/la/captures/start", &order)
        .unwrap();
    capture.expect_error(409, "lease_held");
    bench
        .start(&image, &json!({}))
        .expect_error(409, "device_busy");
    let abort = bench.client().post(&bench.path("/ota/abort"), &json!({}));
    abort.unwrap().expect_error(409, "wrong_state");

    pod.go_on().unwrap();
    let done = bench.ended();
    assert_eq!(done["id"], started["id"]);
    assert_eq!(
        (&done["phase"], &done["percent"], &done["version_after"]),
        (&json!("done"), &json!(100), &json!("3.10.0")),
        "{done}"
    );
    let record = bench.record();
    assert_eq!(
        (&record["state"], &record["firmware_version"]),
        (&json!("online"), &json!("3.10.0"))
    );
    bench.works();
}

#[test]
fn an_image_may_come_along_in_a_form() {
    let bench = Bench::new("sim:v3,seed=7");
    let image = image([3, 10, 0], 50_000);
    let file = ("image", "pod.bin", image.as_bytes());
    let post = |texts: &[(&str, &str)]| bench.client().post_form(&bench.path("/ota"), texts, file);
    let zeros = "0".repeat(64);
    let wrong = post(&[("sha256", &zeros)]).unwrap().expect(400);
    assert_eq!(wrong["fields"][0]["field"], "sha256");
    let started = post(&[("version", "3.10.0")]).unwrap().expect(202);
    assert_eq!(started["total_bytes"], 50_000);
    assert_eq!(bench.ended()["phase"], "done");
    let staging = bench.server.dir().join("data/blobs/staging");
    let staged = || std::fs::read_dir(&staging).unwrap().count();
    until(staged, |count| *count == 0).unwrap();
}

#[test]
fn an_update_can_be_given_up_before_anything_is_written() {
    let bench = Bench::new("sim:v3,seed=7,fault=slow=20000B/s+5ms");
    let started = bench
        .start(&image([3, 10, 0], 500_000), &json!({}))
        .expect(202);
    bench.wait("on its way", |p| p["bytes"].as_u64() > Some(0));
    let abort = || {
        bench
            .client()
            .post(&bench.path("/ota/abort"), &json!({}))
            .unwrap()
    };
    let aborted = abort().expect(200);
    assert_eq!(
        (&aborted["id"], &aborted["phase"]),
        (&started["id"], &json!("aborted"))
    );
    abort().expect_error(409, "wrong_state");
    assert_eq!(bench.ended()["phase"], "aborted");
    assert_eq!(bench.record()["state"], "online");
    bench.works();
}

#[test]
fn images_that_are_not_what_was_said_are_refused() {
    let bench = Bench::new("sim:v3,seed=7");
    let version = bench.record()["firmware_version"].clone();
    let good = image([3, 10, 0], 5_000);
    let wrong = bench.start(&good, &json!({"sha256": "0".repeat(64)}));
    assert_eq!(wrong.expect(400)["fields"][0]["field"], "sha256");
    let short = bench.start(&good, &json!({"signature": "AAAA"}));
    assert_eq!(short.expect(400)["fields"][0]["field"], "signature");
    let none = json!({"artifact": {"repo": "nobody/nothing"}});
    let none = bench.client().post(&bench.path("/ota"), &none).unwrap();
    none.expect_error(404, "not_found");
    assert_eq!(bench.progress()["phase"], "idle");

    bench.start("this is no image", &json!({})).expect(202);
    let failed = bench.ended();
    assert_eq!(failed["phase"], "failed");
    let error = failed["error"].as_str().unwrap();
    assert!(error.contains("this is no firmware image"), "{error}");
    assert_eq!(bench.record()["firmware_version"], version);
    bench.works();
}

/// A key that the pod trusts, and its signature of the image of 5000 bytes with version 3.10.0. The
/// key's secret is the byte 7, repeated 32 times.
const KEY: &str = "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c";
const SIGNATURE: &str = "QlBTRwEAAACIEwAAm0sLvpfnrrgBhKBXnr_fcxerKO-VEs-c26QccQoBgHUACgMAAAAAAAAAAAj-gSwS86tM5hcRuiCfTXZcOkbZMqhjfAXT4n_Xl8wJvCS1a3OvyWKY5D_OxDRLympUmy8dJwTCSJD3tPB7oRNc7DEcAqPL2wk";

#[test]
fn a_pod_that_requires_signatures_gets_its_way() {
    let bench = Bench::new(&format!("sim:v3,seed=7,update-key={KEY}"));
    let policy = bench.command(&json!({"cmd": "sig_policy", "set": "required"}));
    let policy = policy.expect(200);
    assert_eq!(policy["status"], "ok", "{policy}");
    // It has the form of a signature, but the key that it names did not make it.
    let forged = format!("{}{}", &SIGNATURE[..86], "A".repeat(85));
    for (terms, sig) in [
        (json!({}), "none"),
        (json!({"signature": forged}), "signature"),
    ] {
        bench.start(&image([3, 10, 0], 5_000), &terms).expect(202);
        let failed = bench.ended();
        assert_eq!(
            (&failed["phase"], &failed["signature"]),
            (&json!("failed"), &json!(sig))
        );
        let error = failed["error"].as_str().unwrap();
        assert!(error.contains("required"), "{error}");
    }
    bench.works();
    let terms = json!({"signature": SIGNATURE});
    bench.start(&image([3, 10, 0], 5_000), &terms).expect(202);
    let done = bench.ended();
    assert_eq!(
        (&done["phase"], &done["signature"]),
        (&json!("done"), &json!("ok")),
        "{done}"
    );
}

#[test]
fn the_firmware_that_a_pod_runs_can_be_installed_again_at_once() {
    let bench = Bench::new("sim:v3,seed=7");
    let terms = json!({"version": "3.10.0"});
    for _ in 0..3 {
        bench.start(&image([3, 10, 0], 5_000), &terms).expect(202);
        let done = bench.ended();
        assert_eq!(done["phase"], "done", "{done}");
    }
}

#[test]
fn another_version_than_expected_is_a_failure() {
    let bench = Bench::new("sim:v3,seed=7");
    let terms = json!({"version": "3.11.0"});
    bench.start(&image([3, 10, 0], 5_000), &terms).expect(202);
    let failed = bench.ended();
    assert_eq!(
        (&failed["phase"], &failed["version_after"]),
        (&json!("failed"), &json!("3.10.0"))
    );
    let error = failed["error"].as_str().unwrap();
    assert!(
        error.contains("3.10.0") && error.contains("3.11.0"),
        "{error}"
    );
    bench.works();
}

#[test]
fn a_link_that_breaks_or_stalls_for_a_moment_does_no_harm() {
    for fault in ["unplug@20000B:300ms", "stall@20000B"] {
        let bench = Bench::new(&format!("sim:v3,seed=7,fault={fault}"));
        bench
            .start(&image([3, 10, 0], 200_000), &json!({"version": "3.10.0"}))
            .expect(202);
        let done = bench.ended();
        assert_eq!(done["phase"], "done", "{fault}: {done}");
        let _ = bench.server.logged("lost the link to a pod");
    }
}

#[test]
fn a_pod_that_is_gone_or_has_lost_power_fails_its_update() {
    for (fault, says) in [
        ("unplug@20000B", "offline"),
        ("reboot@20000B", "the pod has lost the image"),
    ] {
        let address = format!("sim:v3,seed=7,fault={fault}");
        // Long enough for a restart.
        let bench = Bench::with(&address, "[pods]\ngrace_ms = 3000");
        bench
            .start(&image([3, 10, 0], 200_000), &json!({}))
            .expect(202);
        let failed = bench.ended();
        assert_eq!(failed["phase"], "failed", "{fault}: {failed}");
        let error = failed["error"].as_str().unwrap();
        assert!(error.contains(says), "{fault}: {error}");
        assert_ne!(bench.record()["state"], "updating");
        if fault.starts_with("reboot") {
            bench.works();
        } else {
            bench
                .start(&image([3, 10, 0], 5_000), &json!({}))
                .expect_error(503, "device_offline");
        }
    }
}

#[test]
fn a_killed_server_says_what_became_of_its_update() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path(), "sim:v3,seed=7,fault=slow=20000B/s+5ms", "");
    let args = ["--config", config.as_str()];
    let server = Server::demo_in_with(dir.path(), &args).unwrap();
    let device = device(&server);
    let mut bench = Bench {
        server,
        device,
        _config: tempfile::tempdir().unwrap(),
    };
    let started = bench
        .start(&image([3, 10, 0], 500_000), &json!({}))
        .expect(202);
    bench.wait("on its way", |p| p["bytes"].as_u64() > Some(0));
    bench.server.kill().unwrap();
    bench.server = Server::demo_in_with(dir.path(), &args).unwrap();
    let failed = bench.progress();
    assert_eq!(
        (&failed["id"], &failed["phase"]),
        (&started["id"], &json!("failed"))
    );
    let error = failed["error"].as_str().unwrap();
    assert!(
        error.contains("restarted") && error.contains("not changed"),
        "{error}"
    );
    device_is_online(&bench);

    // A server that stops in an orderly way reports it, too.
    bench
        .start(&image([3, 10, 0], 500_000), &json!({}))
        .expect(202);
    bench.wait("on its way", |p| p["bytes"].as_u64() > Some(0));
    assert!(bench.server.stop().unwrap());
    bench.server = Server::demo_in_with(dir.path(), &args).unwrap();
    let failed = bench.progress();
    assert_eq!(failed["phase"], "failed");
    assert!(
        failed["error"].as_str().unwrap().contains("stopped"),
        "{failed}"
    );
}

fn device_is_online(bench: &Bench) {
    assert_eq!(device(&bench.server), bench.device);
}

#[test]
fn nobody_is_overridden_and_only_admins_update() {
    let bench = Bench::new("sim:v3,seed=7");
    let image = image([3, 10, 0], 5_000);
    let key = json!({"name": "ci", "scopes": ["bench:control"]});
    let key = bench.client().post("/api/keys", &key).unwrap().expect(201);
    let key = format!("ApiKey {}", key["secret"].as_str().unwrap());
    let limited = Client::new(&bench.server.url).with_authorization(&key);
    let body = json!({"artifact": {"repo": "pod"}});
    limited
        .post(&bench.path("/ota"), &body)
        .unwrap()
        .expect_error(403, "missing_scope");
    limited
        .get(&bench.path("/ota"))
        .unwrap()
        .expect_error(403, "missing_scope");

    let minted = bench.client().post("/api/auth/token", &json!({})).unwrap();
    let token = minted.expect(200)["token"].as_str().unwrap().to_owned();
    let bearer = format!("Bearer {token}");
    let job = Client::new(&bench.server.url).with_authorization(&bearer);
    let tunnel = {
        let path = "/api/cloud/devices/ws?device=pod&kind=uart";
        Socket::open(&bench.server.url, path, &[("authorization", &bearer)])
    };
    let tunnel = tunnel.unwrap().socket();
    bench
        .start(&image, &json!({}))
        .expect_error(409, "device_busy");
    drop(tunnel);

    let lease = json!({"lease_id": "a", "run_label": "run of a"});
    job.post("/api/cloud/devices/lease?device=pod", &lease)
        .unwrap()
        .expect(200);
    let held = bench.start(&image, &json!({}));
    assert_eq!(held.expect(409)["holder"], "run of a");
    job.post("/api/cloud/devices/lease/release?device=pod", &lease)
        .unwrap()
        .expect(200);

    bench.start(&image, &json!({})).expect(202);
    let other = json!({"lease_id": "b", "run_label": "run of b"});
    let busy = job
        .post("/api/cloud/devices/lease?device=pod", &other)
        .unwrap();
    assert_eq!(busy.expect(409)["holder"], "a firmware update");
    assert_eq!(bench.ended()["phase"], "done");
    job.post("/api/cloud/devices/lease?device=pod", &other)
        .unwrap()
        .expect(200);
}

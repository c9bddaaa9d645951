//! Pods that dial in: registered, used like others, and back after every end; and those who only pretend.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use tests::{Cable, Client, PodSim, Server, Socket, flash, until};

use crate::updates::image;

mod proof;

/// The name by which pods know the servers here.
const HOST: &str = "127.0.0.1";

const SETTINGS: &str = "[pods]\ndial_hosts = \"127.0.0.1\"\n";

/// A server that pods know by name.
fn serve(folder: &Path) -> Server {
    let config = folder.join("hostd.toml");
    std::fs::write(&config, SETTINGS).unwrap();
    Server::demo_in_with(folder, &["--config", config.to_str().unwrap()]).unwrap()
}

fn address(server: &Server) -> &str {
    server.url.strip_prefix("http://").unwrap()
}

fn register(client: &Client, name: &str, key: &str) -> tests::Reply {
    let body = json!({"name": name, "public_key": key, "parameters": {"cap.board": "x"}});
    client.post("/api/benchpod/devices", &body).unwrap()
}

fn public_key(seed: &str) -> String {
    let pod = PodSim::start(&["--seed", seed]).unwrap();
    let told = pod.ask(&json!({"cmd": "identity_public"})).unwrap();
    told["data"]["public"].as_str().unwrap().to_owned()
}

fn device(client: &Client, id: &str) -> Value {
    client
        .get(&format!("/api/bench/devices/{id}"))
        .unwrap()
        .expect(200)
}

fn wait_until_online(client: &Client, id: &str) -> Value {
    until(|| device(client, id), |device| device["online"] == true).unwrap()
}

fn command_at(client: &Client, id: &str, command: Value) -> tests::Reply {
    let path = format!("/api/bench/devices/{id}/command");
    client.post(&path, &json!({"command": command})).unwrap()
}

const LA: (&str, f64) = ("la", 1.0);
const ADC: (&str, f64) = ("scope", 0.4);

/// A capture, once it has ended.
fn captured(client: &Client, id: &str, (kind, rate_mhz): (&str, f64), samples: u64) -> Value {
    let mut order = json!({"device_id": id, "samples": samples, "sample_rate_mhz": rate_mhz});
    if kind == "la" {
        order["voltage_mv"] = json!(3300);
        order["channels"] = json!([1, 2, 3]);
    }
    let started = client.post(&format!("/api/{kind}/captures/start"), &order);
    let started = started.unwrap().expect(202);
    let path = format!(
        "/api/capture/{}?frames=none",
        started["capture_id"].as_str().unwrap()
    );
    let is_over = |head: &Value| {
        !matches!(
            head["status"].as_str(),
            Some("pending" | "armed" | "running")
        )
    };
    until(|| client.get(&path).unwrap().expect(200), is_over).unwrap()
}

/// A server, and the pod `afar` that dials it through a cable, so that the server may come back elsewhere.
struct Afar {
    server: Server,
    client: Client,
    cable: Cable,
    pod: PodSim,
    key: String,
    id: String,
}

impl Afar {
    fn start(folder: &Path) -> Self {
        let server = serve(folder);
        let client = server.client();
        let key = public_key("7");
        let id = admitted(&server, &key);
        let cable = Cable::to(address(&server)).unwrap();
        let url = format!("http://{}", cable.address);
        let pod = PodSim::start(&[
            "--seed",
            "7",
            "--target",
            "demo",
            "--dial",
            &url,
            "--dial-device",
            &id,
        ])
        .unwrap();
        Self {
            server,
            client,
            cable,
            pod,
            key,
            id,
        }
    }

    fn wait_until_online(&self) -> Value {
        wait_until_online(&self.client, &self.id)
    }

    fn command(&self, command: Value) -> tests::Reply {
        command_at(&self.client, &self.id, command)
    }

    fn captured(&self, kind: (&str, f64), samples: u64) -> Value {
        captured(&self.client, &self.id, kind, samples)
    }

    /// What the pod says of its link.
    fn link(&self) -> Value {
        self.pod.ask(&json!({"cmd": "cloud_status"})).unwrap()["data"].clone()
    }

    /// While a job holds the device, nobody changes anything at the pod.
    fn is_kept_for_a_job(&self) {
        let token = self
            .client
            .post("/api/auth/token", &json!({}))
            .unwrap()
            .expect(200);
        let token = format!("Bearer {}", token["token"].as_str().unwrap());
        let job = self
            .server
            .anonymous()
            .with_authorization(&token)
            .with_header("x-benchpod-lease", "l1");
        let lease = json!({"lease_id": "l1", "run_label": "run 1", "ttl_seconds": 60});
        job.post("/api/cloud/devices/lease?device=afar", &lease)
            .unwrap()
            .expect(200);
        let change = || {
            let bank = json!({"cmd": "la_voltage", "mv": 3300});
            self.pod.ask(&bank).unwrap()
        };
        let is_held = |told: &Value| {
            told["message"]
                .as_str()
                .is_some_and(|text| text.contains("(run 1, "))
        };
        until(change, is_held).unwrap();
        job.post("/api/cloud/devices/lease/release?device=afar", &lease)
            .unwrap()
            .expect(200);
        until(change, |told| told["status"] == "ok").unwrap();
    }

    fn flashes(&self) {
        let flashed = flash(&self.client, &self.id, &[("target", "target/stm32f0x.cfg")])
            .unwrap()
            .expect(200);
        assert_eq!(flashed["ok"], true, "{flashed}");
    }

    /// The target boots and says so on its serial line.
    fn is_heard(&self) {
        let path = format!(
            "/api/bench/devices/{}/uart/ws?rx=3&tx=4&baud=115200",
            self.id
        );
        let bearer = format!("ApiKey {}", self.server.api_key);
        let headers = [("authorization", bearer.as_str())];
        let opened = Socket::open(&self.server.url, &path, &headers).unwrap();
        let mut line = tests::Line::new(opened.socket());
        for state in [0, 1] {
            self.command(json!({"cmd": "target_power", "efuse": 1, "state": state}))
                .expect(200);
        }
        line.until(b"APP_OK");
        line.socket.close().unwrap();
    }

    /// A new firmware goes over the link, and the pod dials again with it.
    fn is_updated(&self) {
        let path = format!("/api/bench/devices/{}/ota", self.id);
        let image = image([3, 10, 0], 100_000);
        let file = ("image", "pod.bin", image.as_bytes());
        let started = self.client.post_form(&path, &[("version", "3.10.0")], file);
        started.unwrap().expect(202);
        let progress = || self.client.get(&path).unwrap().expect(200);
        let ended = until(progress, |update| !update["finished_at"].is_null()).unwrap();
        assert_eq!(
            (&ended["phase"], &ended["version_after"]),
            (&json!("done"), &json!("3.10.0")),
            "{ended}"
        );
        let online = self.wait_until_online();
        assert_eq!(online["firmware_version"], "3.10.0");
        assert_eq!(self.captured(LA, 10_000)["status"], "done");
    }

    /// The server is killed: the pod dials again.
    fn comes_back_after_a_kill(&mut self, folder: &Path) {
        self.server.kill().unwrap();
        self.cable.pull();
        self.server = serve(folder);
        self.client = self.server.client();
        self.cable.lead_to(address(&self.server));
        self.cable.plug();
        self.wait_until_online();
        assert_eq!(self.captured(LA, 10_000)["status"], "done");
    }

    /// The link breaks: the pod waits, and dials again.
    fn comes_back_after_a_break(&self) {
        self.cable.pull();
        until(|| self.link(), |link| link["state"] == "backoff").unwrap();
        self.cable.plug();
        let ping = || json!(self.command(json!({"cmd": "ping"})).status);
        until(ping, |status| *status == 200).unwrap();
    }

    /// Removed: its link ends, and it is let in no more before it is admitted again.
    fn is_shut_out_when_removed(&self) {
        let path = format!("/api/bench/devices/{}", self.id);
        let removed = self.client.delete(&path).unwrap();
        assert_eq!(removed.status, 204, "{}", removed.text);
        let is_refused = |link: &Value| link["last_error"] == "challenge: the server answers 403";
        until(|| self.link(), is_refused).unwrap();
        let again = register(&self.client, "afar", &self.key).expect(200);
        assert_eq!(again["id"], self.id.as_str());
        self.wait_until_online();
    }
}

/// The id of the device `afar`, which is registered but has never dialled in.
fn admitted(server: &Server, key: &str) -> String {
    let client = server.client();
    let registered = register(&client, "afar", key).expect(201);
    assert_eq!(
        (&registered["name"], &registered["online"]),
        (&json!("afar"), &json!(false))
    );
    assert_eq!(registered["transport"], "dial");
    assert!(
        registered["owner_user_id"]
            .as_str()
            .is_some_and(|id| !id.is_empty())
    );
    let again = register(&client, "other", key).expect(200);
    assert_eq!(
        (&again["id"], &again["name"]),
        (&registered["id"], &registered["name"])
    );
    let id = registered["id"].as_str().unwrap();
    command_at(&client, id, json!({"cmd": "ping"})).expect_error(503, "device_offline");
    let _ = server.logged("the pod has not dialled in since the server started");
    id.to_owned()
}

#[test]
fn heavy_a_pod_that_dials_in_is_a_device_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut afar = Afar::start(folder.path());
    let online = afar.wait_until_online();
    assert_eq!(online["parameters"]["cap.board"], "stm32h563");
    let link = afar.link();
    assert_eq!(
        (&link["state"], &link["device_id"]),
        (&json!("connected"), &json!(afar.id))
    );

    assert_eq!(
        afar.command(json!({"cmd": "ping"})).expect(200)["data"],
        "pong"
    );
    let refused = afar
        .command(json!({"cmd": "la_voltage", "mv": 1}))
        .expect(200);
    assert_eq!(refused["status"], "error");
    assert_eq!(afar.captured(LA, 1_000_000)["status"], "done");
    let began = Instant::now();
    let capture = afar.captured(ADC, 800_000);
    assert_eq!(capture["status"], "done", "{capture}");
    eprintln!(
        "a capture of 2 s and 800000 ADC samples took {:?}",
        began.elapsed()
    );
    afar.is_kept_for_a_job();
    afar.flashes();
    afar.is_heard();
    afar.is_updated();

    afar.comes_back_after_a_kill(folder.path());
    afar.comes_back_after_a_break();
    afar.is_shut_out_when_removed();
    // Nothing of what pods prove themselves with is in the log.
    for secret in ["signature=", "nonce="] {
        assert!(!afar.server.log().contains(secret), "{secret}");
    }
}

//! A device and its users when something goes wrong: the pod hangs or is gone, the server is killed,
//! somebody removes the device. The next user finds the device safe, and what that user switches on
//! stays on.

use std::thread::JoinHandle;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::{Client, Opened, PodSim, Reply, Server, Socket, until};

const ON: &str = r#"{"cmd":"target_power","efuse":1,"state":1}"#;

/// A server, and a pod in a process of its own.
struct Rig {
    server: Server,
    pod: PodSim,
    dir: TempDir,
    device: String,
}

impl Rig {
    fn new() -> Self {
        let pod = PodSim::start_to_return(&["--seed", "5"]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let server = serve(&pod, &dir);
        let device = device(&server);
        let rig = Self {
            server,
            pod,
            dir,
            device,
        };
        rig.wait(|device| device["online"] == true);
        rig
    }

    /// The process is killed, and another one starts on its data.
    fn restart(&mut self) {
        self.server.kill().unwrap();
        self.server = serve(&self.pod, &self.dir);
    }

    /// The same pod, after its power was switched off and on.
    fn replug(&mut self) {
        self.pod = PodSim::start_at(&self.pod.address.clone(), &["--seed", "5"]).unwrap();
    }

    fn record(&self) -> Value {
        let path = format!("/api/bench/devices/{}", self.device);
        self.server.client().get(&path).unwrap().expect(200)
    }

    fn wait(&self, is_so: impl Fn(&Value) -> bool) -> Value {
        until(|| self.record(), is_so).unwrap()
    }

    fn wait_until_owing(&self) {
        self.wait(|device| !device["making_safe_since"].is_null());
    }

    fn wait_until_safe(&self) {
        self.wait(|device| device["making_safe_since"].is_null() && device["online"] == true);
    }

    fn job(&self, id: &str) -> Job {
        Job::new(&self.server, self.server.client(), id)
    }

    /// A client whose key controls devices but administers nothing.
    fn member(&self) -> Client {
        let body = json!({"name": "ci", "scopes": ["bench:control"]});
        let made = self.server.client().post("/api/keys", &body).unwrap();
        let secret = made.expect(201)["secret"].as_str().unwrap().to_owned();
        let own = self.server.anonymous();
        own.with_authorization(&format!("ApiKey {secret}"))
    }

    fn remove(&self, client: &Client, body: &Value) -> Reply {
        let path = format!("/api/bench/devices/{}", self.device);
        client
            .send("DELETE", &path, Some(&body.to_string()))
            .unwrap()
    }
}

fn serve(pod: &PodSim, dir: &TempDir) -> Server {
    let config = dir.path().join("hostd.toml");
    let address = &pod.address;
    let text = format!(
        "[pods]\ngrace_ms = 100\n[[devices]]\nname = \"net\"\naddress = \"tcp:{address}\"\n"
    );
    std::fs::write(&config, text).unwrap();
    Server::demo_in_with(dir.path(), &["--config", config.to_str().unwrap()]).unwrap()
}

fn device(server: &Server) -> String {
    let list = server
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
    let list = list["devices"].as_array().unwrap().clone();
    let net = list.iter().find(|device| device["name"] == "net").unwrap();
    net["id"].as_str().unwrap().to_owned()
}

/// A job with a token, and the lease that it shows.
#[derive(Clone)]
struct Job {
    client: Client,
    url: String,
    bearer: String,
    id: String,
    /// The name by which it knows the device.
    name: String,
}

impl Job {
    fn new(server: &Server, by: Client, id: &str) -> Self {
        let token = by.post("/api/auth/token", &json!({})).unwrap().expect(200);
        let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
        let client = server.anonymous().with_authorization(&bearer);
        Self {
            client: client.with_header("x-bench-lease", id),
            url: server.url.clone(),
            bearer,
            id: id.to_owned(),
            name: "net".to_owned(),
        }
    }

    fn lease(&self, step: &str, body: &Value) -> Reply {
        let path = format!("/api/cloud/devices/lease{step}?device={}", self.name);
        let mut body = body.clone();
        body["lease_id"] = json!(self.id);
        body["run_label"] = json!(format!("run {}", self.id));
        self.client.post(&path, &body).unwrap()
    }

    fn acquire(&self) -> Reply {
        self.lease("", &json!({"ttl_seconds": 600}))
    }

    /// Ask until it has the lease.
    fn acquire_at_last(&self) {
        until(|| json!(self.acquire().status), |status| *status == 200).unwrap();
    }

    fn release(&self) -> Value {
        self.lease("/release", &json!({})).expect(200)
    }

    /// Release without waiting for the answer.
    fn release_later(&self) -> JoinHandle<Reply> {
        let job = self.clone();
        std::thread::spawn(move || job.lease("/release", &json!({})))
    }

    fn command(&self, command: &str) -> Reply {
        let path = format!("/api/cloud/devices/command?device={}", self.name);
        let command: Value = serde_json::from_str(command).unwrap();
        self.client.post(&path, &command).unwrap()
    }

    fn tunnel(&self) -> Opened {
        let path = format!("/api/cloud/devices/ws?device={}", self.name);
        let headers = [
            ("authorization", &*self.bearer),
            ("x-bench-lease", &*self.id),
        ];
        Socket::open(&self.url, &path, &headers).unwrap()
    }

    fn switch_on(&self) {
        assert_eq!(self.command(ON).expect(200)["status"], "ok");
    }

    /// What was switched on stays on, however often it is checked.
    fn stays_on(&self) {
        for _ in 0..20 {
            let status = self.command(r#"{"cmd":"target_status"}"#).expect(200);
            assert_eq!(status["data"]["efuse1"]["enabled"], 1, "{status}");
        }
    }
}

/// The answer to somebody who asks for a device that is being made safe.
fn is_refused_for_safety(reply: &Reply) {
    assert!(reply.text.len() < 300 && reply.header("retry-after").is_some());
    let body = reply.expect(409);
    assert_eq!(
        (&body["code"], &body["busy"]),
        (&json!("lease_held"), &json!(true))
    );
    let sentence = body["error"].as_str().unwrap();
    assert!(sentence.contains("device is being made safe"), "{sentence}");
}

#[test]
fn nobody_gets_a_device_whose_pod_is_gone_before_it_is_safe() {
    let mut rig = Rig::new();
    let (first, next) = (rig.job("lease-a"), rig.job("lease-b"));
    first.acquire().expect(200);
    first.switch_on();
    rig.pod.kill().unwrap();
    let released = first.release_later();
    rig.wait_until_owing();
    let asked = next.acquire();
    is_refused_for_safety(&asked);
    assert_eq!(asked.json()["queue_place"], 1);
    is_refused_for_safety(&first.acquire());
    is_refused_for_safety(&rig.job("").command(ON));
    let direct = format!("/api/bench/devices/{}/command", rig.device);
    let touch = json!({"command": serde_json::from_str::<Value>(ON).unwrap()});
    is_refused_for_safety(&rig.server.client().post(&direct, &touch).unwrap());
    let order = json!({"device_id": rig.device, "samples": 100, "sample_rate_mhz": 1.0});
    let captures = "/api/la/captures/start";
    is_refused_for_safety(&rig.server.client().post(captures, &order).unwrap());
    let (status, body) = next.tunnel().refused();
    assert_eq!((status, &body["code"]), (409, &json!("lease_held")));
    assert_eq!(rig.record()["lease"], json!(null));
    rig.replug();
    next.acquire_at_last();
    next.switch_on();
    released.join().unwrap().expect(200);
    next.stays_on();
}

#[test]
fn nobody_gets_a_device_whose_pod_hangs_before_it_is_safe() {
    let rig = Rig::new();
    let (first, next) = (rig.job("lease-a"), rig.job("lease-b"));
    first.acquire().expect(200);
    first.switch_on();
    rig.pod.hang().unwrap();
    let released = first.release_later();
    rig.wait_until_owing();
    is_refused_for_safety(&next.acquire());
    rig.pod.go_on().unwrap();
    next.acquire_at_last();
    assert!(!rig.pod.is_powered());
    next.switch_on();
    released.join().unwrap().expect(200);
    next.stays_on();
}

#[test]
fn a_safe_state_that_is_owed_outlives_a_kill() {
    let mut rig = Rig::new();
    let job = rig.job("lease-a");
    job.acquire().expect(200);
    job.switch_on();
    rig.pod.hang().unwrap();
    let released = job.release_later();
    rig.wait_until_owing();
    // One writer stores everything in order: once a key is stored, so is the owed safe state.
    rig.member();
    rig.restart();
    // The kill cut off this request.
    drop(released);
    is_refused_for_safety(&rig.job("lease-b").acquire());
    rig.pod.go_on().unwrap();
    rig.wait_until_safe();
    assert!(!rig.pod.is_powered());
    rig.job("lease-b").acquire().expect(200);
}

#[test]
fn a_lease_that_expires_while_the_server_is_down_is_followed_by_the_safe_state() {
    let mut rig = Rig::new();
    let job = rig.job("lease-a");
    let lease = job.lease("", &json!({"ttl_seconds": 15})).expect(200);
    job.switch_on();
    rig.server.kill().unwrap();
    assert!(rig.pod.is_powered());
    let expires: &str = lease["expires_at"].as_str().unwrap();
    until(now, |now| now.as_str().unwrap() > expires).unwrap();
    rig.restart();
    rig.wait_until_safe();
    assert!(!rig.pod.is_powered());
    let again = rig.job("lease-a");
    let renewed = again.lease("/renew", &json!({}));
    renewed.expect_error(409, "lease_lost");
    // What it set up is gone, so it must not go on either.
    let path = format!("/api/bench/devices/{}/command", rig.device);
    let shows_it = rig.server.client().with_header("X-Bench-Lease", "lease-a");
    let command = json!({"command": {"cmd": "target_power", "efuse": 1, "state": 0}});
    let driven = shows_it.post(&path, &command).unwrap();
    driven.expect_error(409, "lease_lost");
    let shows_none = rig.server.client().post(&path, &command).unwrap();
    shows_none.expect(200);
    rig.job("lease-b").acquire().expect(200);
}

/// RFC 3339, UTC, whole seconds.
fn now() -> Value {
    let text = std::process::Command::new("date")
        .args(["-u", "+%Y-%m-%dT%H:%M:%SZ"])
        .output()
        .unwrap();
    json!(String::from_utf8(text.stdout).unwrap().trim())
}

#[test]
fn an_administrator_takes_a_device_that_does_not_become_safe() {
    let rig = Rig::new();
    let job = rig.job("lease-a");
    job.acquire().expect(200);
    job.switch_on();
    rig.pod.hang().unwrap();
    let _released = job.release_later();
    rig.wait_until_owing();
    let member = Job::new(&rig.server, rig.member(), "lease-m");
    let body = json!({"override": true, "ttl_seconds": 600});
    assert_eq!(member.lease("", &body).expect(403)["code"], "forbidden");
    let admin = rig.job("lease-x");
    assert_eq!(admin.lease("", &body).expect(200)["holder"], "run lease-x");
    assert_eq!(rig.record()["making_safe_since"], json!(null));
    let _ = rig.server.logged("an administrator takes a device");
    rig.pod.go_on().unwrap();
    // When that lease ends, the safe state is owed again.
    admin.release();
    rig.wait_until_safe();
    assert!(!rig.pod.is_powered());
    rig.job("lease-b").acquire().expect(200);
}

#[test]
fn a_release_tells_who_holds_the_device() {
    let rig = Rig::new();
    let (holder, stranger) = (rig.job("lease-a"), rig.job("lease-b"));
    let free = json!({"released": true, "device": "net", "safe": true});
    assert_eq!(stranger.release(), free);
    let lease = holder.acquire().expect(200);
    assert_eq!(
        stranger.release(),
        json!({"released": false, "device": "net", "holder": "run lease-a",
            "expires_at": lease["expires_at"]})
    );
    holder
        .lease("/renew", &json!({"ttl_seconds": 60}))
        .expect(200);
    assert_eq!(holder.release(), free);
    assert_eq!(holder.release(), free);
}

#[test]
fn only_an_administrator_removes_a_device_and_only_from_the_holder_it_names() {
    let rig = Rig::new();
    let (admin, holder) = (rig.server.client(), rig.job("lease-a"));
    holder.acquire().expect(200);
    holder.switch_on();
    assert_eq!(
        rig.remove(&rig.member(), &json!({})).expect(403)["code"],
        "forbidden"
    );
    let body = json!({"devices": ["net"]});
    let token = admin.post("/api/auth/token", &body).unwrap().expect(200);
    let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
    let restricted = rig.server.anonymous().with_authorization(&bearer);
    let named = json!({"holder": "run lease-a"});
    assert_eq!(
        rig.remove(&restricted, &named).expect(403)["code"],
        "forbidden"
    );
    for body in [json!({}), json!({"holder": "run lease-b"})] {
        assert_eq!(
            rig.remove(&admin, &body).expect(409)["holder"],
            "run lease-a"
        );
    }
    holder.stays_on();
    rig.remove(&admin, &named).expect(204);
    assert!(!rig.pod.is_powered());
    rig.remove(&admin, &named).expect(404);
    holder.lease("/renew", &json!({})).expect(404);
}

#[test]
fn a_removed_device_is_admitted_again_as_it_was() {
    let mut rig = Rig::new();
    let admin = rig.server.client();
    let wiring = format!("/api/bench/devices/{}/wiring", rig.device);
    let profile = json!({"uart_rx": 5, "uart_tx": 6}).to_string();
    admin
        .send("PUT", &wiring, Some(&profile))
        .unwrap()
        .expect(200);
    rig.remove(&admin, &json!({})).expect(204);
    let admit = |client: &Client, which: &str| {
        let body = json!({"device": which});
        client.post("/api/bench/devices/admit", &body).unwrap()
    };
    assert_eq!(admit(&rig.member(), "net").expect(403)["code"], "forbidden");
    admit(&admin, "nothing").expect(404);
    for which in ["net", &format!("tcp:{}", rig.pod.address), &rig.device] {
        assert_eq!(admit(&admin, which).expect(200)["id"], json!(rig.device));
        admit(&admin, which).expect(404);
        rig.wait(|device| device["online"] == true);
        rig.job("lease-a").acquire().expect(200);
        rig.job("lease-a").release();
        rig.remove(&admin, &json!({})).expect(204);
    }
    // A removal outlives a restart, and so does its undoing.
    rig.server.kill().unwrap();
    rig.server = serve(&rig.pod, &rig.dir);
    let admin = rig.server.client();
    admit(&admin, "net").expect(200);
    rig.restart();
    rig.wait(|device| device["online"] == true);
    let found = rig.server.client().get(&format!("{wiring}/profile"));
    assert_eq!(found.unwrap().expect(200)["profile"]["uart_rx"], 5);
}

#[test]
fn a_device_that_owes_is_removed_by_overriding_alone() {
    let mut rig = Rig::new();
    let (admin, job) = (rig.server.client(), rig.job("lease-a"));
    job.acquire().expect(200);
    job.switch_on();
    rig.pod.kill().unwrap();
    let _released = job.release_later();
    rig.wait_until_owing();
    rig.wait(|device| device["online"] == false);
    is_refused_for_safety(&rig.remove(&admin, &json!({})));
    rig.remove(&admin, &json!({"override": true})).expect(204);
    // A device that owes nothing can be removed without its pod.
    let body = json!({"device": rig.device});
    let admitted = admin.post("/api/bench/devices/admit", &body).unwrap();
    assert_eq!(admitted.expect(200)["making_safe_since"], json!(null));
    rig.remove(&admin, &json!({})).expect(204);
}

#[test]
fn what_is_held_is_renamed_and_wired_by_its_holder() {
    let rig = Rig::new();
    let (admin, member) = (rig.server.client(), rig.member());
    let path = format!("/api/bench/devices/{}", rig.device);
    let wiring = format!("{path}/wiring");
    let profile = json!({"uart_rx": 5}).to_string();
    // A holder who is not an administrator.
    let holder = Job::new(&rig.server, member.clone(), "lease-a");
    member
        .patch(&path, &json!({"name": "net"}))
        .unwrap()
        .expect(200);
    holder.acquire().expect(200);
    for refused in [
        member.patch(&path, &json!({"name": "stolen"})),
        member.patch(&path, &json!({"wiring": {}})),
        member.send("PUT", &wiring, Some(&profile)),
    ] {
        assert_eq!(refused.unwrap().expect(409)["holder"], "run lease-a");
    }
    let put = holder.client.send("PUT", &wiring, Some(&profile));
    put.unwrap().expect(200);
    holder
        .client
        .patch(&path, &json!({"name": "mine"}))
        .unwrap()
        .expect(200);
    admin
        .patch(&path, &json!({"name": "ours"}))
        .unwrap()
        .expect(200);
    // The name by which the holder took it stays valid for the holder until the lease is over.
    holder
        .lease("/renew", &json!({"ttl_seconds": 600}))
        .expect(200);
    holder.switch_on();
    let demo = format!("/api/bench/devices/{}", rig.server.device());
    let taken = admin.patch(&demo, &json!({"name": "net"})).unwrap();
    taken.expect_error(409, "name_taken");
    assert_eq!(holder.release()["safe"], true);
    assert!(!rig.pod.is_powered());
    holder.acquire().expect(404);
    admin
        .patch(&demo, &json!({"name": "net"}))
        .unwrap()
        .expect(200);
}

#[test]
fn a_lease_ends_what_was_begun_without_one() {
    let rig = Rig::new();
    let client = rig.server.client();
    let order = json!({"device_id": rig.device, "samples": 1000, "sample_rate_mhz": 1.0,
        "voltage_mv": 3300, "trigger": {"channel": 9, "edge": "rising", "timeout_ms": 600_000}});
    let started = client.post("/api/la/captures/start", &order).unwrap();
    let id = started.expect(202)["capture_id"]
        .as_str()
        .unwrap()
        .to_owned();
    rig.job("lease-a").acquire().expect(200);
    let head = format!("/api/capture/{id}?frames=none");
    until(
        || client.get(&head).unwrap().expect(200),
        |head| head["status"] == "cancelled",
    )
    .unwrap();
}

//! Devices by name: leases, commands and byte tunnels as a CI job uses them, and others who
//! interfere.

use serde_json::{Value, json};
use tests::{Client, Opened, Server, Socket};

const NAME: &str = "sim-1";

/// A job: its token, and the lease it shows.
struct Job<'s> {
    server: &'s Server,
    token: String,
    lease: Option<String>,
}

impl<'s> Job<'s> {
    fn new(server: &'s Server, lease: Option<&str>) -> Self {
        let token = server.client().post("/api/auth/token", &json!({}));
        let token = token.unwrap().expect(200)["token"]
            .as_str()
            .unwrap()
            .to_owned();
        Self {
            server,
            token,
            lease: lease.map(str::to_owned),
        }
    }

    fn client(&self) -> Client {
        let client =
            Client::new(&self.server.url).with_authorization(&format!("Bearer {}", self.token));
        match &self.lease {
            Some(lease) => client.with_header("x-benchpod-lease", lease),
            None => client,
        }
    }

    fn lease(&self, step: &str, ttl_s: u32) -> tests::Reply {
        let path = format!(
            "/api/cloud/devices/lease{step}?device={}",
            name(self.server)
        );
        let id = self.lease.as_deref().unwrap();
        let body =
            json!({"lease_id": id, "run_label": format!("run of {id}"), "ttl_seconds": ttl_s});
        self.client().post(&path, &body).unwrap()
    }

    fn command(&self, command: Value) -> tests::Reply {
        let path = format!("/api/cloud/devices/command?device={}", name(self.server));
        self.client().post(&path, &command).unwrap()
    }

    fn tunnel(&self, kind: &str) -> Opened {
        let path = format!("/api/cloud/devices/ws?device={}{kind}", name(self.server));
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(
            self.lease
                .as_deref()
                .map(|lease| ("x-benchpod-lease", lease)),
        );
        Socket::open(&self.server.url, &path, &headers).unwrap()
    }
}

/// A job whose key controls devices but administers nothing.
fn limited(server: &Server) -> Job<'_> {
    let body = json!({"name": "ci", "scopes": ["bench:control"]});
    let key = server
        .client()
        .post("/api/keys", &body)
        .unwrap()
        .expect(201);
    let key = format!("ApiKey {}", key["secret"].as_str().unwrap());
    let client = Client::new(&server.url).with_authorization(&key);
    let token = client
        .post("/api/auth/token", &json!({}))
        .unwrap()
        .expect(200);
    Job {
        server,
        token: token["token"].as_str().unwrap().to_owned(),
        lease: None,
    }
}

fn name(server: &Server) -> String {
    let devices = server
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
    devices["devices"][0]["name"].as_str().unwrap().to_owned()
}

fn select_voltage(job: &Job<'_>) {
    let answer = job
        .command(json!({"cmd": "la_voltage", "mv": 3300}))
        .expect(200);
    assert_eq!(answer["status"], "ok", "{answer}");
}

#[test]
fn one_consumer_at_a_time() {
    let server = Server::demo().unwrap();
    let (first, second) = (Job::new(&server, Some("a")), Job::new(&server, Some("b")));
    let outsider = Job::new(&server, None);
    let lease = first.lease("", 60).expect(200);
    assert_eq!(
        (&lease["holder"], &lease["lease_id"]),
        (&json!("run of a"), &json!("a"))
    );

    let busy = second.lease("", 60);
    assert!(busy.text.len() < 300 && busy.header("retry-after").is_some());
    let busy = busy.expect(409);
    assert_eq!(busy["code"], "lease_held");
    assert_eq!(
        (&busy["busy"], &busy["holder"]),
        (&json!(true), &json!("run of a"))
    );
    assert_eq!(busy["queue_place"], 1);
    assert_eq!(busy["expires_at"], lease["expires_at"]);

    assert_eq!(
        first.command(json!({"cmd": "ping"})).expect(200)["data"],
        "pong"
    );
    for other in [&second, &outsider] {
        assert_eq!(
            other.command(json!({"cmd": "ping"})).expect(409)["busy"],
            true
        );
        assert_eq!(other.tunnel("").refused().0, 409);
    }
    // Without the lease, the direct API may read but change nothing.
    let path = format!("/api/bench/devices/{}/command", server.device());
    let direct = |command: Value| {
        server
            .client()
            .post(&path, &json!({"command": command}))
            .unwrap()
    };
    direct(json!({"cmd": "status"})).expect(200);
    let refused = direct(json!({"cmd": "target_power", "efuse": 1, "state": 1})).expect(409);
    assert_eq!(refused["holder"], "run of a");
    let capture = json!({"device_id": server.device(), "samples": 100, "sample_rate_mhz": 1.0});
    let capture = server
        .client()
        .post("/api/scope/captures/start", &capture)
        .unwrap();
    assert_eq!(capture.expect(409)["code"], "lease_held");
    let listed = server
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
    assert_eq!(listed["devices"][0]["lease"]["holder"], "run of a");

    first.lease("/release", 60).expect(200);
    second.lease("", 60).expect(200);
    first.lease("/renew", 60).expect(409);
}

#[test]
fn a_released_device_is_safe() {
    let server = Server::demo().unwrap();
    let job = Job::new(&server, Some("a"));
    job.lease("", 60).expect(200);
    select_voltage(&job);
    job.command(json!({"cmd": "target_power", "efuse": 1, "state": 1}))
        .expect(200);
    job.command(json!({"cmd": "gpio", "la": 9, "mode": "output", "level": 1}))
        .expect(200);
    job.lease("/release", 60).expect(200);
    let next = Job::new(&server, None);
    let power = next.command(json!({"cmd": "target_status"})).expect(200);
    assert_eq!(power["data"]["efuse1"]["enabled"], 0, "{power}");
    let pins = next.command(json!({"cmd": "la_pins"})).expect(200);
    assert_eq!(pins["data"]["pins"][8]["function"], "none", "{pins}");
}

#[test]
fn an_administrator_ends_a_lease_by_its_holders_name() {
    let server = Server::demo().unwrap();
    let job = Job::new(&server, Some("a"));
    job.lease("", 60).expect(200);
    let admin = Job::new(&server, None);
    let path = format!("/api/cloud/devices/lease/release?device={}", name(&server));
    let take = |job: &Job<'_>, holder: &str| {
        let body = json!({"holder": holder});
        job.client().post(&path, &body).unwrap()
    };
    let other = limited(&server);
    assert_eq!(take(&other, "run of a").expect(403)["code"], "forbidden");
    assert_eq!(take(&admin, "run of b").expect(409)["holder"], "run of a");
    take(&admin, "run of a").expect(200);
    job.lease("/renew", 60).expect(409);
    other.command(json!({"cmd": "ping"})).expect(200);
}

#[test]
fn a_lease_survives_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    Job::new(&server, Some("a")).lease("", 600).expect(200);
    server.kill().unwrap();
    let server = Server::demo_in(dir.path()).unwrap();
    let (mine, other) = (Job::new(&server, Some("a")), Job::new(&server, Some("b")));
    assert_eq!(other.lease("", 60).expect(409)["holder"], "run of a");
    mine.lease("/renew", 60).expect(200);
    mine.command(json!({"cmd": "ping"})).expect(200);
}

#[test]
fn a_capture_over_a_tunnel() {
    let server = Server::demo().unwrap();
    let job = Job::new(&server, Some("a"));
    job.lease("", 60).expect(200);
    select_voltage(&job);
    let mut tunnel = job.tunnel("&kind=capture").socket();
    tunnel
        .send(b"{\"cmd\":\"la_capture\",\"samples\":8192,")
        .unwrap();
    tunnel.send(b"\"sample_rate_mhz\":1.0}\n").unwrap();
    let mut covered = 0;
    loop {
        let chunk = tunnel.line().unwrap();
        assert_ne!(chunk["status"], "error", "{chunk}");
        covered = chunk["la_upto"].as_u64().unwrap_or(covered);
        if chunk["more"] != true {
            break;
        }
    }
    assert_eq!(covered, 8192);
    tunnel
        .send(b"{\"cmd\":\"target_power\",\"efuse\":1,\"state\":1}\n")
        .unwrap();
    let refused = tunnel.line().unwrap();
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .starts_with("forbidden:"),
        "{refused}"
    );
    tunnel.close().unwrap();
}

#[test]
fn tunnels_share_a_device_by_kind() {
    let server = Server::demo().unwrap();
    let job = Job::new(&server, None);
    select_voltage(&job);
    let mut uart = job.tunnel("&kind=uart").socket();
    uart.send(b"{\"cmd\":\"uart_proxy_start\",\"rx\":9,\"tx\":10,\"baud\":115200}\n")
        .unwrap();
    assert_eq!(uart.line().unwrap()["status"], "ok");
    assert_eq!(
        job.command(json!({"cmd": "ping"})).expect(200)["data"],
        "pong"
    );
    let capture = job.tunnel("&kind=capture").socket();
    for kind in ["&kind=uart", "&kind=capture", "&kind=flash", ""] {
        let (status, body) = job.tunnel(kind).refused();
        assert_eq!(
            (status, &body["code"]),
            (409, &json!("device_busy")),
            "{kind}"
        );
        assert!(body.get("busy").is_none(), "{body}");
    }
    capture.close().unwrap();
    uart.close().unwrap();
    // By the time the pod's side answers a Close, it has freed what the tunnel used.
    let pins = job.command(json!({"cmd": "la_pins"})).expect(200);
    assert_eq!(pins["data"]["pins"][8]["function"], "none", "{pins}");
    job.tunnel("").socket().close().unwrap();
}

#[test]
fn a_gateware_image_that_a_tunnel_loads_is_told() {
    let server = Server::demo().unwrap();
    let path = format!("/api/bench/devices/{}", server.device());
    let device = || server.client().get(&path).unwrap().expect(200);
    // Image 1 has the deep replay; image 0 has the control loop instead.
    for (image, capability) in [
        (0, "cap.dac_control_loop"),
        (1, "cap.dac_deep_replay"),
        (0, "cap.dac_control_loop"),
    ] {
        let mut tunnel = Job::new(&server, None).tunnel("").socket();
        let command = format!("{{\"cmd\":\"fpga_image\",\"image\":{image}}}\n");
        tunnel.send(command.as_bytes()).unwrap();
        assert_eq!(tunnel.line().unwrap()["status"], "ok");
        tunnel.close().unwrap();
        tests::until(device, |d| d["parameters"].get(capability).is_some()).unwrap();
    }
}

#[test]
fn a_lost_lease_closes_its_tunnels() {
    let server = Server::demo().unwrap();
    let guest = Job::new(&server, None);
    let mut uninvited = guest.tunnel("").socket();
    let job = Job::new(&server, Some("a"));
    job.lease("", 60).expect(200);
    assert_eq!(uninvited.closed().unwrap(), (4001, "lease_lost".to_owned()));
    let mut tunnel = job.tunnel("").socket();
    job.lease("/release", 60).expect(200);
    assert_eq!(tunnel.closed().unwrap(), (4001, "lease_lost".to_owned()));
}

#[test]
fn what_is_refused() {
    let mut server = Server::demo().unwrap();
    let job = Job::new(&server, None);
    let token = job.token.clone();
    let nobody = job.client().post(
        "/api/cloud/devices/command?device=none",
        &json!({"cmd": "ping"}),
    );
    let nobody = nobody.unwrap().expect(404);
    assert_eq!(nobody["error"], "device not found: none");
    job.client()
        .post("/api/cloud/devices/command", &json!({"cmd": "ping"}))
        .unwrap()
        .expect(400);
    let tunneled = job.command(json!({"cmd": "la_capture"})).expect(400);
    assert_eq!(tunneled["code"], "needs_tunnel");
    let refused = limited(&server)
        .command(json!({"cmd": "ota_begin"}))
        .expect(403);
    assert_eq!(refused["code"], "forbidden");
    // A long-lived key opens nothing here.
    let path = format!("/api/cloud/devices/command?device={NAME}");
    let by_key = server
        .client()
        .post(&path, &json!({"cmd": "ping"}))
        .unwrap()
        .expect(403);
    assert_eq!(by_key["code"], "wrong_credential");
    // A tunnel must be a WebSocket, and pages from other sites get none.
    let plain = job.client().get("/api/cloud/devices/ws?device=x").unwrap();
    assert_eq!(plain.header("upgrade"), Some("websocket"));
    assert_eq!(plain.expect(426)["code"], "upgrade_required");
    let path = format!(
        "/api/cloud/devices/ws?device={}&token={}",
        name(&server),
        job.token
    );
    let foreign = Socket::open(&server.url, &path, &[("origin", "http://evil.example")]).unwrap();
    assert_eq!(foreign.refused().1["code"], "foreign_origin");
    Socket::open(&server.url, &path, &[("origin", &server.url)])
        .unwrap()
        .socket()
        .close()
        .unwrap();
    assert!(server.stop().unwrap());
    assert!(!server.log().contains(&token), "a token in the log");
}

//! Documents about jobs and captures that plugins make: who gets them, what is in them, and what becomes of bad ones.

use std::path::Path;

use serde_json::{Value, json};
use tests::{Client, Reply, Server, can_isolate, package, until};

use super::{Bench, component, key, with_key};

/// Id of the plugin whose reports are what the request asks for.
const REPORTER: &str = "test.reporter";

/// All that it may want.
const WANTS: &str = r#"interfaces = ["captures", "jobs"]
scopes = ["bench:control", "jobs:submit"]"#;

/// A real-time clock chip read over I2C.
const RECORDING: &[u8] =
    include_bytes!("../../../hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr");

/// A pipeline that runs on the device of the demonstration.
const ON_THE_BENCH: &str = "version: 1\nname: one\nbenches:\n  - id: bench\n    device: { name: demo }\n    \
    steps:\n      - run: for n in 1 2 3; do echo line $n; done\n";

/// One that does not end.
const ENDLESS: &str = "version: 1\nbuilds: [{ id: fw, steps: [{ run: \"sleep 1000.5\" }] }]\n";

/// A server with two devices, keys that may less, and another organisation's.
pub(super) struct Lab {
    pub(super) bench: Bench,
    pub(super) stranger: Client,
    /// A key without `bench:control`.
    pub(super) jobs_only: Client,
    /// A key without `jobs:submit`.
    pub(super) bench_only: Client,
    /// A finished capture of the device `demo`.
    pub(super) capture: String,
}

impl Lab {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut server = Server::demo_in(dir.path()).unwrap();
        server.stop().unwrap();
        let stranger = tests::offline::stranger(dir.path());
        let jobs_only = key(dir.path(), &["--scope", "jobs:submit"]);
        let bench_only = key(dir.path(), &["--scope", "bench:control"]);
        let config = dir.path().join("hostd.toml");
        std::fs::write(
            &config,
            "[[devices]]\nname = \"second\"\naddress = \"sim:v3\"\n",
        )
        .unwrap();
        let with = ["--config", config.to_str().unwrap()];
        let server = Server::demo_in_with(dir.path(), &with).unwrap();
        let query = format!("?name=clock&device_id={}", server.device());
        let capture = imported(&server.client(), &query);
        let client = |key: &str| with_key(&server, key);
        let (stranger, jobs_only) = (client(&stranger), client(&jobs_only));
        let bench_only = client(&bench_only);
        Self {
            bench: Bench { dir, server },
            stranger,
            jobs_only,
            bench_only,
            capture,
        }
    }

    /// With the plugin installed, and granted all that it wants.
    fn reporting(limits: &str) -> Self {
        let lab = Self::new();
        lab.install(limits);
        lab.bench.plugin(&["approve", REPORTER]).ok();
        lab
    }

    fn install(&self, limits: &str) {
        let folder = self.bench.dir.path().join("reporter");
        write_reporter(&folder, limits);
        let folder = folder.display().to_string();
        self.bench.plugin(&["install", &folder]).ok();
    }

    /// The answer to who asks for a report about the capture.
    fn report(&self, client: &Client, query: &str) -> Reply {
        client.get(&self.path(query)).unwrap()
    }

    fn path(&self, query: &str) -> String {
        format!("/api/x/{REPORTER}/reports/capture/{}{query}", self.capture)
    }

    /// The same, by who may.
    fn told(&self, query: &str) -> Reply {
        self.report(&self.bench.client(), query)
    }

    /// A job of this pipeline, once it has ended.
    pub(super) fn job(&self, definition: &str) -> String {
        let id = self.submitted(definition);
        let path = format!("/api/jobs/{id}");
        let look = || self.bench.client().get(&path).unwrap().expect(200);
        until(look, |job| job["state"] == "finished").unwrap();
        id
    }

    fn submitted(&self, definition: &str) -> String {
        submitted(&self.bench.client(), definition)
    }

    /// A session that may be restricted to a device.
    fn session(&self, devices: &Value) -> Client {
        let token = self.bench.client().post("/api/auth/token", devices);
        let token = token.unwrap().expect(200)["token"]
            .as_str()
            .unwrap()
            .to_owned();
        let anonymous = self.bench.server.anonymous();
        anonymous.with_authorization(&format!("Bearer {token}"))
    }
}

/// The pipeline that a finished job of the tests had.
pub(super) fn on_the_bench() -> &'static str {
    ON_THE_BENCH
}

/// A job of this pipeline, as soon as it is queued.
pub(super) fn submitted(client: &Client, definition: &str) -> String {
    let body = json!({"definition": definition});
    let reply = client.post("/api/jobs/submit", &body).unwrap();
    reply.expect(201)["id"].as_str().unwrap().to_owned()
}

pub(super) fn imported(client: &Client, query: &str) -> String {
    let path = format!("/api/captures/import{query}");
    let body = Some(("application/octet-stream", RECORDING));
    let made = client.send_typed("POST", &path, body).unwrap().expect(201);
    made["id"].as_str().unwrap().to_owned()
}

fn write_reporter(folder: &Path, limits: &str) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(
        folder.join("plugin.wasm"),
        component("guests/reporter.wasm"),
    )
    .unwrap();
    let manifest = package::patient(&format!(
        "[plugin]\nid = \"{REPORTER}\"\nversion = \"1.0.0\"\napi = \"1.0\"\n[wants]\n{WANTS}\n[limits]\n{limits}\n"
    ));
    std::fs::write(folder.join("plugin.toml"), manifest).unwrap();
}

#[test]
fn a_capture_is_told_as_the_api_tells_it() {
    let lab = Lab::reporting("");
    let client = lab.bench.client();
    let reply = lab.told("?say=a+b%20c");
    let told = reply.expect(200);
    let listed = client.get("/api/captures?limit=1").unwrap().expect(200);
    assert_eq!(told["json"], listed["captures"][0]);
    assert_eq!(
        (&told["kind"], &told["id"], &told["say"]),
        (&json!("capture"), &json!(lab.capture), &json!("a b c"))
    );
    assert_eq!(
        reply.header("content-disposition"),
        Some("attachment; filename=\"report.json\"")
    );
    assert_eq!(lab.told("?read=1").expect(200)["read"], told["json"]);
    let head = client.send("HEAD", &lab.path(""), None).unwrap();
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    let posted = client.post(&lab.path(""), &json!({})).unwrap();
    posted.expect_error(405, "method_not_allowed");
    lab.told("?unknown=1").expect_error(400, "invalid_request");
    lab.told("?say=1&say=2")
        .expect_error(400, "invalid_request");
    let other = format!("/api/x/{REPORTER}/reports/device/{}", lab.capture);
    client.get(&other).unwrap().expect_error(404, "not_found");
    for unknown in ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "x", "..", "%2e%2e%2fx"] {
        let path = format!("/api/x/{REPORTER}/reports/capture/{unknown}");
        client.get(&path).unwrap().expect_error(404, "not_found");
    }
    let document = client.get("/api/openapi.json").unwrap().expect(200);
    let path = format!("/api/x/{REPORTER}/reports/capture/{{id}}");
    let described = &document["paths"][&path]["get"];
    assert_eq!(described["x-required-scope"], "bench:control");
    assert_eq!(described["parameters"][1]["name"], "say");
    assert!(described["responses"]["409"].is_object(), "{described}");
}

#[test]
fn a_job_is_told_as_the_api_tells_it() {
    if !can_isolate() {
        return;
    }
    let lab = Lab::reporting("");
    let client = lab.bench.client();
    let id = lab.job(ON_THE_BENCH);
    let path = format!("/api/x/{REPORTER}/reports/job/{id}");
    let told = client.get(&format!("{path}?read=1")).unwrap().expect(200);
    let shown = client.get(&format!("/api/jobs/{id}")).unwrap().expect(200);
    assert_eq!(shown["verdict"], "success", "{shown}");
    assert_eq!((&told["json"], &told["read"]), (&shown, &shown));

    // Who may: no other organisation, nobody without the scope, no cloud session, and no grant for other devices.
    lab.stranger
        .get(&path)
        .unwrap()
        .expect_error(403, "not_granted");
    lab.bench_only
        .get(&path)
        .unwrap()
        .expect_error(403, "missing_scope");
    lab.jobs_only.get(&path).unwrap().expect(200);
    let session = lab.session(&json!({}));
    session
        .get(&path)
        .unwrap()
        .expect_error(403, "wrong_credential");
    let anonymous = lab.bench.server.anonymous();
    anonymous
        .get(&path)
        .unwrap()
        .expect_error(401, "missing_credential");
    lab.bench
        .plugin(&["approve", REPORTER, "--org", "acme"])
        .ok();
    lab.stranger
        .get(&path)
        .unwrap()
        .expect_error(404, "not_found");
    lab.bench
        .plugin(&["approve", REPORTER, "--device", "second"])
        .ok();
    client.get(&path).unwrap().expect_error(404, "not_found");
    lab.bench
        .plugin(&["approve", REPORTER, "--device", "demo"])
        .ok();
    client.get(&path).unwrap().expect(200);

    // One that has not ended has no report.
    let running = lab.submitted(ENDLESS);
    let path = format!("/api/x/{REPORTER}/reports/job/{running}");
    client.get(&path).unwrap().expect_error(409, "unfinished");
    let cancel = format!("/api/jobs/{running}/cancel");
    client.post(&cancel, &json!({})).unwrap().expect(200);
}

#[test]
fn a_capture_is_for_who_may_read_it_and_was_granted() {
    let lab = Lab::new();
    let client = lab.bench.client();
    let missing = lab.report(&client, "");
    missing.expect_error(404, "not_found");
    lab.install("");
    lab.report(&client, "").expect_error(403, "not_granted");
    // Approved, but not for what captures need.
    lab.bench
        .plugin(&["approve", REPORTER, "--scope", "jobs:submit"])
        .ok();
    let refused = lab.report(&client, "");
    refused.expect_error(403, "not_granted");
    assert!(
        refused.text.contains("--scope bench:control"),
        "{}",
        refused.text
    );
    // A report is made without the interface, but the plugin reads nothing by itself.
    lab.bench
        .plugin(&["approve", REPORTER, "--scope", "bench:control"])
        .ok();
    lab.report(&client, "").expect(200);
    let refused = lab.report(&client, "?read=1");
    refused.expect_error(403, "not_granted");
    assert!(
        refused.text.contains("--interface captures"),
        "{}",
        refused.text
    );

    lab.bench.plugin(&["approve", REPORTER]).ok();
    lab.report(&client, "?read=1").expect(200);
    lab.report(&lab.stranger, "")
        .expect_error(403, "not_granted");
    lab.bench
        .plugin(&["approve", REPORTER, "--org", "acme"])
        .ok();
    lab.report(&lab.stranger, "").expect_error(404, "not_found");
    lab.report(&lab.jobs_only, "")
        .expect_error(403, "missing_scope");
    lab.report(&lab.bench_only, "").expect(200);
    let anonymous = lab.bench.server.anonymous();
    lab.report(&anonymous, "")
        .expect_error(401, "missing_credential");
    lab.report(&lab.session(&json!({"devices": ["demo"]})), "")
        .expect(200);
    let elsewhere = lab.session(&json!({"devices": ["second"]}));
    lab.report(&elsewhere, "").expect_error(404, "not_found");

    lab.bench
        .plugin(&["approve", REPORTER, "--device", "second"])
        .ok();
    lab.report(&client, "").expect_error(404, "not_found");
    lab.bench.plugin(&["revoke", REPORTER]).ok();
    lab.report(&client, "").expect_error(403, "not_granted");
}

#[test]
fn a_capture_that_is_not_done_has_no_report() {
    let lab = Lab::reporting("");
    let client = lab.bench.client();
    let slow = json!({"device_id": lab.bench.server.device(), "samples": 4_000_000, "sample_rate_mhz": 0.1,
        "voltage_mv": 3300});
    let started = client
        .post("/api/la/captures/start", &slow)
        .unwrap()
        .expect(202);
    let id = started["capture_id"].as_str().unwrap();
    let path = format!("/api/x/{REPORTER}/reports/capture/{id}");
    client.get(&path).unwrap().expect_error(409, "wrong_state");
    let cancel = format!("/api/capture/{id}/cancel");
    client.send("POST", &cancel, None).unwrap().expect(200);
    // Cancelled, it has no samples either.
    client.get(&path).unwrap().expect_error(409, "wrong_state");
}

#[test]
fn what_fails_in_the_plugin_costs_one_request() {
    let lab = Lab::reporting("compute_ms = 3000\ndeadline_ms = 20000");
    lab.told("?crime=loop").expect_error(504, "handler_timeout");
    lab.told("?say=still").expect(200);
    let lab = Lab::reporting("memory_mib = 16");
    lab.told("?crime=trap").expect_error(502, "plugin_failed");
    lab.told("?crime=memory").expect_error(502, "plugin_failed");
    lab.told("?crime=large").expect_error(502, "plugin_failed");
    lab.told("?say=still").expect(200);
    for (code, status, told) in [
        ("invalid", 400, "invalid_request"),
        ("wrong_state", 409, "wrong_state"),
        ("not_found", 404, "not_found"),
        ("teapot", 502, "report_failed"),
    ] {
        let refused = lab.told(&format!("?refuse={code}"));
        refused.expect_error(status, told);
        let sentence = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(sentence.contains("not this one") && sentence.len() < 1_200);
    }
    lab.bench
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
}

#[test]
fn documents_have_harmless_names_and_are_shown_without_scripts() {
    let lab = Lab::reporting("");
    for (name, sent) in [
        ("..%2f..%2fpasswd", "attachment; filename=\"_.._passwd\""),
        ("a%22b.csv", "attachment; filename=\"a_b.csv\""),
        (
            "a%0d%0aset-cookie:+x",
            "attachment; filename=\"a__set-cookie_ x\"",
        ),
        ("%00", "attachment; filename=\"_\""),
        ("", "attachment; filename=\"report\""),
        (
            "%c3%bc.csv",
            "attachment; filename=\"_.csv\"; filename*=UTF-8''%C3%BC.csv",
        ),
    ] {
        let reply = lab.told(&format!("?name={name}"));
        assert_eq!(reply.header("content-disposition"), Some(sent), "{name}");
        assert_eq!(reply.header("set-cookie"), None);
    }
    let page = lab.told("?type=text/html&name=a.html&content=%3Cscript%3Ealert(1)%3C/script%3E");
    assert_eq!(page.header("content-type"), Some("text/html"));
    assert_eq!(
        page.header("content-disposition"),
        Some("inline; filename=\"a.html\"")
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none';") && policy.contains("sandbox allow-downloads"),
        "{policy}"
    );
    assert!(!policy.contains("script"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    for kind in ["text/html%0d%0ax-evil:+1", "nonsense", ""] {
        let reply = lab.told(&format!("?type={kind}"));
        let sent = reply.header("content-type");
        assert_eq!(sent, Some("application/octet-stream"), "{kind}");
        assert_eq!(reply.header("x-evil"), None);
    }
}

#[test]
fn the_table_of_a_bus_has_a_line_for_each_transaction() {
    let lab = Lab::new();
    let handlers = tests::server::binary()
        .unwrap()
        .parent()
        .unwrap()
        .join("../handlers");
    let package = handlers.join("plugins/i2c-csv").display().to_string();
    lab.bench.plugin(&["install", &package]).ok();
    lab.bench.plugin(&["approve", "hostd.i2c-csv"]).ok();
    let client = lab.bench.client();
    let path = format!("/api/x/hostd.i2c-csv/reports/capture/{}", lab.capture);
    // The recording calls its channels SCL and SDA.
    let made = client.get(&path).unwrap();
    assert_eq!(made.status, 200, "{}", made.text);
    assert_eq!(
        made.header("content-disposition"),
        Some("attachment; filename=\"clock-i2c.csv\"")
    );
    let mut lines = made.text.split("\r\n");
    assert_eq!(
        lines.next(),
        Some("time_s,duration_s,scl,sda,address,rw,address_ack,data,ack,end")
    );
    let decode = format!(
        "/api/capture/{}/decode?protocol=i2c&scl=SCL&sda=SDA&format=sigrok&annotations=i2c%3Daddr-data",
        lab.capture
    );
    let decoded = client.get(&decode).unwrap().text;
    let starts = decoded.lines().filter(|line| line.contains(": Start"));
    let rows: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), starts.count());
    assert!(rows.len() > 10 && rows.iter().all(|row| row.contains(",SCL,SDA,0x68,")));
    let bytes: usize = rows
        .iter()
        .map(|row| row.split(',').nth(7).unwrap().split_whitespace().count())
        .sum();
    let data = decoded.lines().filter(|line| line.contains(": Data "));
    assert_eq!(bytes, data.count());
    let swapped = client.get(&format!("{path}?scl=SDA&sda=SCL")).unwrap();
    assert!(
        swapped
            .text
            .lines()
            .skip(1)
            .all(|row| row.contains(",SDA,SCL,"))
    );
    let refused = client.get(&format!("{path}?scl=nothing")).unwrap();
    refused.expect_error(400, "invalid_request");
    let no_job = format!("/api/x/hostd.i2c-csv/reports/job/{}", lab.capture);
    client.get(&no_job).unwrap().expect_error(404, "not_found");
}

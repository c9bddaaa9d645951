//! Triggers of all kinds, and what came before them: from the order to the record, the views and the files.

use serde_json::{Value, json};
use tests::{Client, Reply, Server, until};

const LA: &str = "/api/la/captures/start";

/// The bench of a demo, with a line to pull.
struct Bench {
    server: Server,
    client: Client,
}

impl Bench {
    fn new() -> Self {
        let server = Server::demo().unwrap();
        let client = server.client();
        let bench = Self { server, client };
        bench.command(&json!({"cmd": "la_voltage", "mv": 3300}));
        bench.command(&json!({"cmd": "gpio", "la": 9, "mode": "output", "level": 0}));
        bench
    }

    fn command(&self, command: &Value) {
        let path = format!("/api/bench/devices/{}/command", self.server.device());
        let order = json!({"command": command});
        let reply = self.client.post(&path, &order).unwrap().expect(200);
        assert_eq!(reply["status"], "ok", "{command}: {reply}");
    }

    fn start(&self, path: &str, mut order: Value) -> Reply {
        order["device_id"] = self.server.device().into();
        self.client.post(path, &order).unwrap()
    }

    fn head(&self, id: &str) -> Value {
        let path = format!("/api/capture/{id}?frames=none");
        self.client.get(&path).unwrap().expect(200)
    }

    /// A capture of which `act` makes the trigger once it waits.
    fn captured(&self, path: &str, order: Value, act: impl FnOnce(&Self)) -> Value {
        let started = self.start(path, order).expect(202);
        let id = started["capture_id"].as_str().unwrap();
        let armed = |head: &Value| head["status"] != "pending";
        until(|| self.head(id), armed).unwrap();
        act(self);
        let is_over = |head: &Value| !head["finished_at"].is_null();
        let head = until(|| self.head(id), is_over).unwrap();
        assert_eq!(head["status"], "done", "{head}");
        head
    }

    fn text(&self, id: &Value, query: &str) -> String {
        let path = format!("/api/capture/{}/{query}", id.as_str().unwrap());
        let reply = self.client.get(&path).unwrap();
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.text
    }

    fn edges(&self, id: &Value, at: u64) -> u64 {
        let text = self.text(id, &format!("edges?channel=LA9&at={at}"));
        let found: Value = serde_json::from_str(&text).unwrap();
        found["sample"].as_u64().unwrap()
    }
}

fn rise(bench: &Bench) {
    bench.command(&json!({"cmd": "gpio", "la": 9, "level": 1}));
}

#[test]
fn samples_before_the_trigger_are_in_the_capture_and_time_0_is_there() {
    let bench = Bench::new();
    let order = json!({"samples": 3_000, "sample_rate_mhz": 0.1, "channels": [9], "pre_samples": 500,
        "trigger": {"channel": "LA9", "edge": "rising", "timeout_ms": 20_000}});
    let head = bench.captured(LA, order, |bench| {
        // As many as are asked for come to pass first.
        std::thread::sleep(std::time::Duration::from_millis(200));
        rise(bench);
    });
    let expected = json!({"fired": true, "index": 500, "pre_samples": 500});
    assert_eq!(head["trigger"], expected, "{head}");
    assert_eq!(head["trigger_sample"], 500);
    assert_eq!(head["channels"][0]["samples"], 3_000);
    let id = &head["id"];
    assert_eq!(bench.edges(id, 0), 500);
    let seen: Value =
        serde_json::from_str(&bench.text(id, "overview?channel=LA9&points=2")).unwrap();
    assert_eq!(seen["trigger_s"], 0.005, "{seen}");
    let vcd = bench.text(id, "export?format=vcd");
    let comment = "$comment trigger: at sample 500, 0.005 s $end";
    assert!(vcd.contains(comment), "{vcd}");
    // Rules count from the trigger.
    let rules = json!({"rules": {"version": 1, "rules": [
        {"name": "low before", "level": {"channel": "LA9", "at": "-1ms", "is": "low"}},
        {"name": "high after", "level": {"channel": "LA9", "at": "0s", "is": "high"}},
    ]}});
    let path = format!("/api/capture/{}/assert", id.as_str().unwrap());
    let judged = bench.client.post(&path, &rules).unwrap().expect(200);
    assert_eq!(
        (&judged["passed"], &judged["failed"]),
        (&json!(2), &json!(0)),
        "{judged}"
    );
}

#[test]
fn a_trigger_that_holds_already_leaves_nothing_before_it() {
    let bench = Bench::new();
    let order = json!({"samples": 3_000, "sample_rate_mhz": 1, "channels": [9], "pre_samples": 500,
        "trigger": {"channel": "LA9", "edge": "low", "timeout_ms": 20_000}});
    let head = bench.captured(LA, order, |_| {});
    let expected = json!({"fired": true, "index": 0, "pre_samples": 500});
    assert_eq!(head["trigger"], expected, "{head}");
    assert_eq!(head["channels"][0]["samples"], 2_500, "{head}");
    let order = json!({"adc_samples": 250, "adc_rate_mhz": 0.1, "la_samples": 2_500, "la_rate_mhz": 1,
        "pre_samples": 500, "trigger": {"channel": "LA9", "edge": "low", "timeout_ms": 20_000}});
    let head = bench.captured("/api/capture/start", order, |_| {});
    let samples = |at: usize| head["channels"][at]["samples"].clone();
    assert_eq!(
        (samples(0), samples(1)),
        (json!(200), json!(2_000)),
        "{head}"
    );
}

#[test]
fn other_conditions_than_an_edge_are_waited_for() {
    let bench = Bench::new();
    for (trigger, first) in [
        (
            json!({"pattern": [{"channel": 9, "level": "high"}, {"channel": "LA10", "level": "low"}]}),
            100,
        ),
        (
            json!({"level": {"channel": "LA9", "level": "high", "for_ns": 50_000}}),
            50,
        ),
        (
            json!({"pulse": {"channel": 9, "level": "high", "longer_than_ns": 50_000}}),
            50,
        ),
    ] {
        bench.command(&json!({"cmd": "gpio", "la": 9, "level": 0}));
        let mut trigger = trigger;
        trigger["timeout_ms"] = json!(20_000);
        let order = json!({"samples": 200, "sample_rate_mhz": 1, "channels": [9], "pre_samples": 100,
            "trigger": trigger.clone()});
        let head = bench.captured(LA, order, |bench| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            rise(bench);
        });
        assert_eq!(head["trigger_sample"], 100, "{head}");
        assert_eq!(bench.edges(&head["id"], 0), first, "{trigger}");
    }
    let order = json!({"samples": 200, "sample_rate_mhz": 1,
        "trigger": {"pulse": {"channel": 9, "level": "low", "shorter_than_ns": 1_000}, "timeout_ms": 20}});
    let id = bench.start(LA, order).expect(202)["capture_id"].clone();
    let is_over = |head: &Value| !head["finished_at"].is_null();
    let head = until(|| bench.head(id.as_str().unwrap()), is_over).unwrap();
    assert_eq!(head["status"], "timed_out", "{head}");
    assert_eq!(head["trigger_sample"], Value::Null);
    let error = "trigger timeout: no short pulse on LA9 within 20 ms";
    assert_eq!(head["error"], error);
}

/// What is on the wire of a simulated receiver: lines that begin with "$GP".
#[test]
fn a_decoder_sees_bytes_and_the_capture_lies_around_them() {
    let bench = Bench::new();
    bench.command(&json!({"cmd": "gps_start", "tx": 5, "baud": 9_600, "rate_hz": 1}));
    let uart = |bytes: &str, timeout_ms: u32| {
        json!({"samples": 20_000, "sample_rate_mhz": 0.1, "channels": [5], "pre_samples": 5_000,
            "trigger": {"protocol": "uart", "rx": "LA5", "bytes": bytes, "baudrate": 9_600,
                "timeout_ms": timeout_ms}})
    };
    let head = bench.captured(LA, uart("24 47 ??", 10_000), |_| {});
    let trigger = &head["trigger"];
    assert_eq!(trigger["fired"], true, "{head}");
    // What lies behind it came in blocks.
    assert!(trigger["found_after"].is_u64(), "{head}");
    let at = head["trigger_sample"].as_u64().unwrap();
    assert!(0 < at && at <= 5_000, "{head}");
    assert_eq!(head["channels"][0]["samples"], 15_000 + at);
    let query = "decode?protocol=uart&rx=LA5&baudrate=9600&annotations=rx-data";
    let text = bench.text(&head["id"], query);
    let bytes: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let last = bytes.iter().position(|byte| byte["end"] == at);
    let last = last.unwrap_or_else(|| panic!("no byte ends at {at}: {text}"));
    let values = |index: usize| bytes[index]["value"].as_u64().unwrap();
    assert_eq!((values(last - 2), values(last - 1)), (0x24, 0x47));

    let id = bench.start(LA, uart("00 01 02", 300)).expect(202)["capture_id"].clone();
    let is_over = |head: &Value| !head["finished_at"].is_null();
    let head = until(|| bench.head(id.as_str().unwrap()), is_over).unwrap();
    assert_eq!(head["status"], "timed_out", "{head}");
    let error = "trigger timeout: no bytes 00 01 02 on LA5 within 300 ms";
    assert_eq!(head["error"], error);

    for (order, field) in [
        (
            json!({"samples": 10, "sample_rate_mhz": 1, "trigger": {"protocol": "i2c", "address": 1}}),
            "trigger.scl",
        ),
        (
            json!({"samples": 10, "sample_rate_mhz": 0.1,
                "trigger": {"protocol": "uart", "rx": 5, "bytes": "00", "baudrate": 115_200}}),
            "trigger.protocol",
        ),
        (
            json!({"samples": 10, "sample_rate_mhz": 1, "pre_samples": 10,
                "trigger": {"protocol": "uart", "rx": 5, "bytes": "00"}}),
            "pre_samples",
        ),
    ] {
        let refused = bench.start(LA, order).expect(400);
        assert_eq!(refused["fields"][0]["field"], field, "{refused}");
    }
}

/// A pod of older firmware keeps nothing, and is not even asked.
#[test]
fn a_pod_without_it_is_named_before_anything_starts() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    let devices = "[[devices]]\nname = \"old\"\naddress = \"sim:v3,seed=3,fault=firmware=3.9.3\"\n";
    std::fs::write(&config, devices).unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let client = server.client();
    let record = || {
        let list = client.get("/api/bench/devices").unwrap().expect(200);
        let list = list["devices"].as_array().unwrap().clone();
        list.into_iter()
            .find(|device| device["name"] == "old")
            .unwrap()
    };
    let old = until(record, |record| record["online"] == true).unwrap();
    assert_eq!(old["capabilities"]["capture_pre_samples"], false, "{old}");
    for (members, named) in [
        (
            json!({"pre_samples": 10, "trigger": {"channel": 1}}),
            "pre_samples: ",
        ),
        (
            json!({"trigger": {"level": {"channel": 1, "level": "low", "for_ns": 1}}}),
            "trigger.level: ",
        ),
        (
            json!({"trigger": {"protocol": "uart", "rx": 1, "bytes": "00"}}),
            "trigger.protocol: ",
        ),
    ] {
        let mut order = members;
        order["device_id"] = old["id"].clone();
        order["samples"] = json!(100);
        order["sample_rate_mhz"] = json!(1);
        order["voltage_mv"] = json!(3300);
        let reply = client.post(LA, &order).unwrap();
        reply.expect_error(400, "not_capable");
        assert!(reply.text.contains(named), "{}", reply.text);
    }
}

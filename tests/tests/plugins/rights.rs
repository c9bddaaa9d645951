//! What a plugin may do is what was granted, and no more than its caller may: every function of the host against every
//! way to have no right.

use serde_json::{Value, json};
use tests::bench::until;
use tests::offline::offline;
use tests::{Client, Server, can_isolate};

use super::reports::{imported, on_the_bench, submitted};
use super::{Bench, ID, WANTS, call, function, key, mark_of, with_key};

/// Where plugins may send requests, and nobody is: the loopback, which only the server reaches.
const NOWHERE: &str = "http://127.0.0.1:9/x";

/// Calls that end by themselves after the test has given up.
const LONG: &str = "deadline_ms = 60000\ncompute_ms = 30000\n";

/// Functions that need a grant, as the test's plugin calls them, and the interface. What they are about is filled in.
fn guarded(device: &str, capture: &str, job: Option<&str>) -> Vec<(&'static str, Value)> {
    let of = |name: &str| json!({"function": name, "device": device});
    let read = |name: &str| {
        json!({
            "function": name, "capture": capture, "channels": ["SCL"], "channel": "SCL", "limit": 9,
            "decoder": "i2c", "roles": {"scl": "SCL", "sda": "SDA"},
        })
    };
    let jobs = job.into_iter().flat_map(|job| {
        let of = |name: &str| json!({"function": name, "job": job, "limit": 9});
        [("jobs", of("jobs.get")), ("jobs", of("jobs.log-tail"))]
    });
    let mut all = vec![
        ("captures", read("captures.open")),
        ("captures", read("captures.recent")),
        ("captures", read("captures.changes")),
        ("captures", read("captures.overview")),
        ("captures", read("captures.decode")),
        ("store", json!({"function": "store.get", "key": "a"})),
        (
            "store",
            json!({"function": "store.put", "key": "a", "value": "b"}),
        ),
        (
            "store",
            json!({"function": "store.compare-and-set", "key": "c", "value": "b"}),
        ),
        ("store", json!({"function": "store.delete", "key": "a"})),
        (
            "store",
            json!({"function": "store.scan", "from": "", "to": "z"}),
        ),
        (
            "secrets",
            json!({"function": "secrets.get", "name": "TOKEN"}),
        ),
        ("devices", of("devices.list")),
        ("devices", of("devices.get")),
        (
            "devices",
            json!({"function": "devices.command", "device": device, "command": {"cmd": "status"}}),
        ),
        ("power", of("power.rails")),
        (
            "http-out",
            json!({"function": "http-out.send", "url": NOWHERE}),
        ),
        (
            "notify",
            json!({"function": "notify.send", "kind": "a", "json": {}}),
        ),
        (
            "power",
            json!({"function": "power.switch", "device": device, "on": true}),
        ),
    ];
    all.extend(jobs);
    all
}

/// A server with a secret, another organisation with a key, and a key without scopes.
fn bench() -> (Bench, Client, Client) {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    let stranger = tests::offline::stranger(dir.path());
    offline(
        dir.path(),
        &["secret", "set", "TOKEN", "--all-refs"],
        "a-long-secret-value",
    );
    offline(
        dir.path(),
        &["secret", "set", "OTHER", "--all-refs"],
        "another-secret-value",
    );
    let weak = key(dir.path(), &["--scope", "jobs:submit"]);
    let config = dir.path().join("hostd.toml");
    let second = "[[devices]]\nname = \"second\"\naddress = \"sim:v3\"\n";
    std::fs::write(&config, second).unwrap();
    let with = ["--config", config.to_str().unwrap()];
    let server = Server::demo_in_with(dir.path(), &with).unwrap();
    let (stranger, weak) = (with_key(&server, &stranger), with_key(&server, &weak));
    (Bench { dir, server }, stranger, weak)
}

#[test]
fn every_function_asks_for_grant_caller_and_device() {
    let (bench, stranger, weak) = bench();
    let device = bench.server.device().to_owned();
    let capture = imported(&bench.client(), &format!("?device_id={device}"));
    let job = can_isolate().then(|| submitted(&bench.client(), on_the_bench()));
    let folder = bench.version("1.0.0", WANTS, "");
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();

    // Approved, but for nothing of this: a partial grant with one harmless right.
    bench.plugin(&["approve", ID, "--event", "x.y"]).ok();
    for (interface, asked) in guarded(&device, &capture, job.as_deref()) {
        let refused = bench.call(&asked);
        refused.expect_error(403, "not_granted");
        let sentence = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(
            sentence.contains(&format!("--interface {interface}")),
            "{asked}: {sentence}"
        );
    }
    // What everybody has.
    for free in [
        "clock.now",
        "clock.monotonic",
        "config.get",
        "log.write",
        "random.bytes",
    ] {
        bench.call(&function(free)).expect(200);
    }

    // The job has the bench no more.
    if let Some(job) = &job {
        until(
            || {
                bench
                    .client()
                    .get(&format!("/api/jobs/{job}"))
                    .unwrap()
                    .json()
            },
            |job| job["state"] == "finished",
        )
        .unwrap();
    }
    // All of it, and then callers who may not.
    bench.plugin(&["approve", ID]).ok();
    for (interface, asked) in guarded(&device, &capture, job.as_deref()) {
        let reply = bench.call(&asked);
        match interface {
            // Granted, and still not reached.
            "http-out" => reply.expect_error(403, "forbidden"),
            _ => assert_eq!(reply.status, 200, "{interface} {asked}: {:?}", reply.json()),
        }
    }
    for (_, asked) in guarded(&device, &capture, job.as_deref()) {
        // Another organisation has granted nothing.
        call(&stranger, &asked).expect_error(403, "not_granted");
    }
    for (interface, asked) in guarded(&device, &capture, job.as_deref()) {
        let reply = call(&weak, &asked);
        match interface {
            // Devices and captures need a scope that this key lacks, whatever the plugin was granted.
            "captures" | "devices" | "power" => reply.expect_error(403, "missing_scope"),
            "http-out" => reply.expect_error(403, "forbidden"),
            // The second writer of a key that must not be there.
            _ => assert!(matches!(reply.status, 200 | 409), "{asked}: {}", reply.text),
        }
    }
    sees_nothing_from_elsewhere(
        &bench,
        &stranger,
        guarded(&device, &capture, job.as_deref()),
    );
    // Nobody: no credential opens no guarded route.
    let anonymous = bench.server.anonymous();
    for (_, asked) in guarded(&device, &capture, job.as_deref()) {
        call(&anonymous, &asked).expect_error(401, "missing_credential");
    }
    let open = anonymous.get(&format!("/api/x/{ID}/open")).unwrap();
    assert_eq!(open.status, 200, "{}", open.text);
}

/// Granted in another organisation, too, the plugin sees nothing of the first one for a caller of the other.
fn sees_nothing_from_elsewhere(bench: &Bench, stranger: &Client, all: Vec<(&str, Value)>) {
    let everything = ["captures", "devices", "jobs", "power"].map(|i| ["--interface", i]);
    let scopes = ["--scope", "bench:control", "--scope", "jobs:submit"];
    let mut approve = vec!["approve", ID, "--org", "acme"];
    approve.extend(everything.iter().flatten());
    approve.extend(scopes);
    bench.plugin(&approve).ok();
    for (interface, asked) in all {
        let is_about_one = !matches!(
            asked["function"].as_str(),
            Some("devices.list" | "captures.recent")
        );
        let reply = call(stranger, &asked);
        match interface {
            "captures" | "devices" | "jobs" | "power" if is_about_one => {
                reply.expect_error(404, "not_found");
            }
            "captures" | "devices" => assert_eq!(reply.expect(200), json!([]), "{asked}"),
            _ => {}
        }
    }
}

#[test]
fn a_grant_for_some_devices_hides_the_others() {
    let (bench, ..) = bench();
    let folder = bench.version("1.0.0", WANTS, "");
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    let names = ["demo", "second"];
    let devices = bench
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
    let devices = devices["devices"].as_array().unwrap();
    let captures = names.map(|name| {
        let device = devices
            .iter()
            .find(|device| device["name"] == name)
            .unwrap();
        imported(
            &bench.client(),
            &format!("?device_id={}", device["id"].as_str().unwrap()),
        )
    });
    let recent = json!({"function": "captures.recent", "limit": 9});
    bench.plugin(&["approve", ID, "--device", names[0]]).ok();
    assert_eq!(bench.call(&recent).expect(200), json!([captures[0]]));
    for function in ["captures.open", "captures.decode"] {
        let asked = json!({"function": function, "capture": captures[1]});
        bench.call(&asked).expect_error(404, "not_found");
    }
    let of_other = json!({"function": "captures.recent", "device": names[1], "limit": 9});
    bench.call(&of_other).expect_error(404, "not_found");
    assert_eq!(
        bench.call(&function("devices.list")).expect(200),
        json!([names[0]])
    );
    for function in ["devices.get", "power.rails", "power.switch"] {
        let asked = json!({"function": function, "device": names[1], "on": true});
        bench.call(&asked).expect_error(404, "not_found");
        let asked = json!({"function": function, "device": names[0], "on": true});
        bench.call(&asked).expect(200);
    }
    bench.plugin(&["approve", ID, "--all-devices"]).ok();
    assert_eq!(
        bench.call(&recent).expect(200),
        json!([captures[1], captures[0]])
    );
    assert_eq!(
        bench.call(&function("devices.list")).expect(200),
        json!(names)
    );
}

#[test]
fn a_lease_of_somebody_else_is_in_the_way_of_a_plugin_too() {
    let (bench, ..) = bench();
    bench.install("1.0.0");
    let device = bench.server.device().to_owned();
    let name = bench
        .call(&json!({"function": "devices.get", "device": device}))
        .expect(200)["json"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let lease = json!({"lease_id": "a-lease-of-mine-0123456789", "ttl_seconds": 60});
    let token = bench.client().post("/api/auth/token", &json!({}));
    let bearer = format!(
        "Bearer {}",
        token.unwrap().expect(200)["token"].as_str().unwrap()
    );
    let session = || bench.server.anonymous().with_authorization(&bearer);
    let path = format!("/api/cloud/devices/lease?device={name}");
    session().post(&path, &lease).unwrap().expect(200);
    let switch = json!({"function": "power.switch", "device": device, "on": true});
    bench.call(&switch).expect_error(409, "lease_held");
    // Looking is allowed beside a lease, as it is without a plugin.
    bench
        .call(&json!({"function": "power.rails", "device": device}))
        .expect(200);
    let holder = session().with_header("x-bench-lease", "a-lease-of-mine-0123456789");
    call(&holder, &switch).expect(200);
}

#[test]
fn commands_that_change_a_pod_for_good_are_nobodys_to_send_through_a_plugin() {
    let (bench, ..) = bench();
    bench.install("1.0.0");
    let device = bench.server.device();
    for command in [
        json!({"cmd": "ota_begin"}),
        json!({"cmd": "cloud_set"}),
        json!({"cmd": "dac_limits", "enabled": false}),
    ] {
        let asked = json!({"function": "devices.command", "device": device, "command": command});
        bench.call(&asked).expect_error(403, "forbidden");
    }
}

#[test]
fn secrets_are_granted_by_name_and_never_logged() {
    let (bench, ..) = bench();
    bench.install("1.0.0");
    let value = bench
        .call(&json!({"function": "secrets.get", "name": "TOKEN"}))
        .expect(200);
    assert_eq!(value, "a-long-secret-value");
    let refused = bench.call(&json!({"function": "secrets.get", "name": "OTHER"}));
    refused.expect_error(403, "not_granted");
    assert!(
        refused.json()["error"]
            .as_str()
            .unwrap()
            .contains("--secret OTHER")
    );
    let log = bench.server.log();
    assert!(!log.contains("a-long-secret-value"));
}

#[test]
fn public_routes_need_the_grant_and_scoped_ones_the_scope() {
    let (bench, _, weak) = bench();
    let folder = bench.version("1.0.0", WANTS, "");
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    let anonymous = bench.server.anonymous();
    let open = || anonymous.get(&format!("/api/x/{ID}/open")).unwrap();
    open().expect_error(404, "not_found");
    bench.plugin(&["approve", ID, "--interface", "store"]).ok();
    open().expect_error(404, "not_found");
    bench.plugin(&["approve", ID, "--public"]).ok();
    assert_eq!(open().status, 200);
    let admin = format!("/api/x/{ID}/admin");
    weak.get(&admin).unwrap().expect_error(403, "missing_scope");
    bench.plugin(&["revoke", ID]).ok();
    open().expect_error(404, "not_found");
    bench.get("/mark").expect_error(403, "not_granted");
    bench.plugin(&["approve", ID]).ok();
    assert!(mark_of(&bench.get("/mark")).starts_with("MARK"));
}

/// What an administrator takes back ends what is under way: a call that asks the host for something, one that only computes,
/// and one whose answer has begun.
#[test]
fn revoking_ends_calls_that_are_under_way() {
    let bench = Bench::unlimited();
    let folder = bench.version("1.0.0", WANTS, LONG);
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    bench.plugin(&["approve", ID]).ok();
    let in_flight = format!("hostd_plugin_calls_in_flight{{plugin=\"{ID}\"");
    for crime in ["keys", "loop"] {
        let client = bench.client();
        let path = format!("/api/x/{ID}/crime/{crime}");
        let called = std::thread::spawn(move || client.get(&path).unwrap());
        let is_in = |page: &Value| {
            let mut lines = page.as_str().unwrap().lines();
            lines.any(|line| line.starts_with(&in_flight) && line.ends_with(" 1"))
        };
        let metrics = || {
            bench
                .server
                .anonymous()
                .get("/metrics")
                .unwrap()
                .text
                .into()
        };
        tests::until(metrics, is_in).unwrap();
        bench.plugin(&["revoke", ID]).ok();
        called.join().unwrap().expect_error(403, "not_granted");
        tests::until(metrics, |page| !is_in(page)).unwrap();
        bench.plugin(&["approve", ID]).ok();
        assert!(mark_of(&bench.get("/mark")).starts_with("MARK"), "{crime}");
    }
}

//! What a plugin may do is what was granted, and no more than its caller may: every function of the host against every
//! way to have no right.

use serde_json::{Value, json};
use tests::offline::offline;
use tests::{Client, Server};

use super::{Bench, ID, WANTS, call, function, key, mark_of, with_key};

/// Functions that need a grant, as the test's plugin calls them, and the interface. `device` is filled in.
fn guarded(device: &str) -> Vec<(&'static str, Value)> {
    let of = |name: &str| json!({"function": name, "device": device});
    vec![
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
            "power",
            json!({"function": "power.switch", "device": device, "on": true}),
        ),
    ]
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
    let folder = bench.version("1.0.0", WANTS, "");
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();

    // Approved, but for nothing of this: a partial grant with one harmless right.
    bench.plugin(&["approve", ID, "--event", "x.y"]).ok();
    for (interface, asked) in guarded(&device) {
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

    // All of it, and then callers who may not.
    bench.plugin(&["approve", ID]).ok();
    for (interface, asked) in guarded(&device) {
        let reply = bench.call(&asked);
        assert_eq!(reply.status, 200, "{interface} {asked}: {:?}", reply.json());
    }
    for (_, asked) in guarded(&device) {
        // Another organisation has granted nothing.
        call(&stranger, &asked).expect_error(403, "not_granted");
    }
    for (interface, asked) in guarded(&device) {
        let reply = call(&weak, &asked);
        match interface {
            // Devices need a scope that this key lacks, whatever the plugin was granted.
            "devices" | "power" => reply.expect_error(403, "missing_scope"),
            // The second writer of a key that must not be there.
            _ => assert!(matches!(reply.status, 200 | 409), "{asked}: {}", reply.text),
        }
    }
    // Nobody: no credential opens no guarded route.
    let anonymous = bench.server.anonymous();
    for (_, asked) in guarded(&device) {
        call(&anonymous, &asked).expect_error(401, "missing_credential");
    }
    anonymous.get(&format!("/api/x/{ID}/open")).unwrap();
}

#[test]
fn a_grant_for_some_devices_hides_the_others() {
    let (bench, ..) = bench();
    let folder = bench.version("1.0.0", WANTS, "");
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    let names = ["demo", "second"];
    bench.plugin(&["approve", ID, "--device", names[0]]).ok();
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

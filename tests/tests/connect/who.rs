//! Who may, who has to wait, and what is wrong with a command line.

use serde_json::json;
use tests::offline::{offline, stranger};

use super::*;

fn refused(url: &str, key: &str, args: &[&str]) -> (Option<i32>, String) {
    let output = command(url, key, args).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(key.is_empty() || !told.contains(key), "the key is told");
    (output.status.code(), told)
}

#[test]
fn only_who_may_drive_the_device() {
    let bench = bench();
    let server = &bench.server;
    let body = json!({"name": "jobs", "scopes": ["jobs:submit"]});
    let made = server
        .client()
        .post("/api/keys", &body)
        .unwrap()
        .expect(201);
    let submitter = made["secret"].as_str().unwrap();
    for (key, args, code, part) in [
        (
            "bk_none_none",
            &["d0", "--uart", "0"][..],
            2,
            "(401 Unauthorized)",
        ),
        (submitter, &["d0", "--uart", "0"], 2, "(403 Forbidden)"),
        (
            &server.api_key,
            &["d9", "--uart", "0"],
            2,
            "find the device `d9`: there are ",
        ),
        (&server.api_key, &["d0"], 2, "required arguments"),
        (&server.api_key, &["d0", "--uart", "x"], 2, "must be a port"),
        (
            &server.api_key,
            &["d0", "--gdb", "0"],
            2,
            "name it with --chip",
        ),
        (
            &server.api_key,
            &["d0", "--gdb", "0", "--chip", "Z80"],
            2,
            "no supported chip",
        ),
        (
            &server.api_key,
            &["d0", "--uart", "0", "--exec"],
            2,
            "required arguments",
        ),
        (
            &server.api_key,
            &["d0", "--uart", "0", "--lease", "none"],
            5,
            "(409 Conflict)",
        ),
    ] {
        let (ended, told) = refused(&server.url, key, args);
        assert_eq!(ended, Some(code), "{args:?}: {told}");
        assert!(told.contains(part), "{args:?}: {told}");
    }
    let nobody = refused("http://127.0.0.1:1", "bk_a_b", &["d0", "--uart", "0"]);
    assert_eq!(nobody.0, Some(3), "{}", nobody.1);
    assert_eq!(record(&bench)["lease"], Value::Null);
}

#[test]
fn a_port_that_is_taken_is_named_before_anybody_else_is_bothered() {
    let bench = bench();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let args = ["d0", "--uart", "0", "--rfc2217", &port];
    let (code, told) = refused(&bench.server.url, &bench.server.api_key, &args);
    assert_eq!(code, Some(2), "{told}");
    let sentence =
        format!("failed to listen on 127.0.0.1:{port} for --rfc2217: Address already in use");
    assert!(told.contains(&sentence), "{told}");
    assert_eq!(record(&bench)["lease"], Value::Null);
}

#[test]
fn a_device_that_somebody_has_is_waited_for_if_that_is_wanted() {
    let bench = bench();
    let server = &bench.server;
    let args = [&["d0", "--uart", "0"], &WIRES[..]].concat();
    let first = Connected::start(server, &args);
    let (code, told) = refused(&server.url, &server.api_key, &args);
    assert_eq!(code, Some(5), "{told}");
    assert!(
        told.contains("failed to take d0: `hostd connect (ada)` has it until "),
        "{told}"
    );
    assert!(told.contains("--wait 10m waits in line"), "{told}");
    let short = [&args[..], &["--wait", "100ms"]].concat();
    assert_eq!(refused(&server.url, &server.api_key, &short).0, Some(5));
    let patient = [&args[..], &["--wait", "50s"]].concat();
    let mut second = Connected::begin(server, &patient);
    second.hear("waiting for d0: `hostd connect (ada)` has it");
    // Somebody who waits can change their mind.
    let mut third = Connected::begin(server, &patient);
    third.hear("waiting for d0");
    third.signal("-INT");
    assert_eq!(third.ended().0, Some(4), "{}", third.told);
    first.stop();
    second.hear("d0 is yours.");
    second.stop();
}

#[test]
fn one_that_does_not_wait_or_gives_up_keeps_the_device_from_nobody() {
    let folder = tempfile::tempdir().unwrap();
    drop(Server::demo_in(folder.path()).unwrap());
    offline(folder.path(), &["user", "add", "mia"], "");
    let create = ["key", "create", "--user", "mia", "--scope", "bench:control"];
    let printed = offline(folder.path(), &create, "");
    let mut words = printed.split_whitespace();
    let mia = words.find(|word| word.starts_with("bk_")).unwrap();
    let server = Server::demo_in(folder.path()).unwrap();
    let args = [&["demo", "--uart", "0"], &WIRES[..]].concat();
    let first = Connected::start(&server, &args);
    // Somebody is refused again and again, runs out of patience, and changes their mind.
    for _ in 0..3 {
        let (code, told) = refused(&server.url, mia, &args);
        assert_eq!(code, Some(5), "{told}");
        assert!(!told.contains("in line)"), "{told}");
    }
    let short = [&args[..], &["--wait", "100ms"]].concat();
    let (code, told) = refused(&server.url, mia, &short);
    assert_eq!(code, Some(5), "{told}");
    assert!(told.contains("(place 1 in line)"), "{told}");
    let patient = [&args[..], &["--wait", "50s"]].concat();
    let mut waiting = Connected::begin_with(&server.url, mia, &patient);
    waiting.hear("waiting for demo");
    waiting.signal("-TERM");
    assert_eq!(waiting.ended().0, Some(4), "{}", waiting.told);
    first.stop();
    // The first request of somebody else gets it.
    let bearer = |key: &str| {
        let key = server
            .anonymous()
            .with_authorization(&format!("ApiKey {key}"));
        let token = key.post("/api/auth/token", &json!({})).unwrap().expect(200);
        format!("Bearer {}", token["token"].as_str().unwrap())
    };
    let ada = server
        .anonymous()
        .with_authorization(&bearer(&server.api_key));
    let body = json!({"lease_id": "mine", "ttl_seconds": 60});
    let path = "/api/cloud/devices/lease?device=demo";
    ada.post(path, &body).unwrap().expect(200);
}

#[test]
fn a_lease_that_is_held_already_is_used_and_not_given_back() {
    let bench = bench();
    let token = bench
        .server
        .client()
        .post("/api/auth/token", &json!({}))
        .unwrap();
    let bearer = format!("Bearer {}", token.expect(200)["token"].as_str().unwrap());
    let holder = bench.server.anonymous().with_authorization(&bearer);
    let body = json!({"lease_id": "mine", "run_label": "run 7", "ttl_seconds": 600});
    holder
        .post("/api/cloud/devices/lease?device=d0", &body)
        .unwrap()
        .expect(200);
    let on = json!({"cmd": "target_power", "efuse": 1, "state": 1});
    let shown = holder.clone().with_header("x-bench-lease", "mine");
    shown
        .post("/api/cloud/devices/command?device=d0", &on)
        .unwrap()
        .expect(200);
    let args = [&["d0", "--uart", "0", "--lease", "mine"], &WIRES[..]].concat();
    let mut connected = Connected::start(&bench.server, &args);
    talk(&mut connected.open("uart"));
    connected.signal("-INT");
    let (code, told) = connected.ended();
    assert_eq!(code, Some(4), "{told}");
    assert!(!told.contains("given back"), "{told}");
    assert!(!record(&bench)["lease"].is_null());
}

#[test]
fn another_organisations_devices_do_not_exist() {
    let folder = tempfile::tempdir().unwrap();
    drop(Server::demo_in(folder.path()).unwrap());
    let key = stranger(folder.path());
    let server = Server::demo_in(folder.path()).unwrap();
    let (code, told) = refused(&server.url, &key, &["demo", "--uart", "0"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(
        told.contains("find the device `demo`: there is none"),
        "{told}"
    );
}

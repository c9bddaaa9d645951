//! Plugins hear of what happens: each kind with its members, again when they refuse, after a crash, and nothing that was
//! not granted.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::receiver::Answer;
use tests::{Client, PodSim, Receiver, Server, flash, until};

use super::{Bench, ID, call, with_key};
use crate::updates::{image, upload};

/// Longest wait for a timer, which is due once a minute.
const TIMER_WAIT: Duration = Duration::from_secs(150);

const KINDS: &str = r#""device.online", "device.offline", "device.quarantined", "lease.taken", "lease.ended",
"capture.done", "capture.failed", "flash.done", "flash.failed", "update.done", "update.failed", "job.finished""#;

fn wants(more: &str) -> String {
    format!(
        "interfaces = [\"store\", \"http-out\", \"devices\"]\nscopes = [\"bench:control\"]\npublic = true\nevents = [{KINDS}]\n{more}\n"
    )
}

/// A server whose plugins may reach this machine, with these lines in its configuration.
fn bench(config: &str) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(&dir, config);
    Bench { dir, server }
}

fn serve(dir: &tempfile::TempDir, config: &str) -> Server {
    let path = dir.path().join("hostd.toml");
    let all = format!("[http]\nrate_per_s = 0\n[plugins]\nhttp_allow = \"127.0.0.1\"\n{config}");
    fs::write(&path, all).unwrap();
    Server::demo_in_with(dir.path(), &["--config", path.to_str().unwrap()]).unwrap()
}

fn install(bench: &Bench, wants: &str, limits: &str) {
    let folder = bench.version("1.0.0", wants, limits);
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
}

fn behave(bench: &Bench, greeting: &str) {
    let set = format!("greeting={greeting}");
    bench.plugin(&["configure", ID, "--set", &set]).ok();
}

/// What the plugin keeps in the caller's organisation under keys that begin so.
fn kept(client: &Client, prefix: &str) -> Vec<Value> {
    let scan = json!({"function": "store.scan", "from": prefix, "to": format!("{prefix}~")});
    let keys = call(client, &scan).expect(200);
    let of = |key: &Value| {
        let found = call(client, &json!({"function": "store.get", "key": key})).expect(200);
        serde_json::from_str(found["value"].as_str().unwrap_or_default()).unwrap_or(found)
    };
    keys.as_array().unwrap().iter().map(of).collect()
}

fn heard(client: &Client) -> Vec<Value> {
    kept(client, "heard/")
}

/// Waits until an event of this kind was heard for which this holds.
fn until_heard(bench: &Bench, client: &Client, kind: &str, is: impl Fn(&Value) -> bool) -> Value {
    let is_it = |event: &Value| event["kind"] == kind && is(event);
    let all = until(|| heard(client), |all| all.iter().any(is_it));
    let all = all.unwrap_or_else(|error| {
        let log = bench.plugin(&["logs", ID]).out;
        panic!("no {kind} was heard: {error}; the plugin's log:\n{log}")
    });
    all.into_iter().find(is_it).unwrap()
}

/// A job for a device that there is none of, and its end.
fn cancelled_job(client: &Client) -> String {
    let definition = "version: 1\nname: blinky\nbenches: [{ id: b, device: { name: nowhere }, steps: [{ wait: 1ms }] }]\n";
    let job = client.post("/api/jobs/submit", &json!({"definition": definition}));
    let id = job.unwrap().expect(201)["id"].as_str().unwrap().to_owned();
    let path = format!("/api/jobs/{id}/cancel");
    let cancelled = client.post(&path, &json!({})).unwrap();
    assert!(cancelled.status < 300, "{}", cancelled.text);
    id
}

fn session(server: &Server) -> Client {
    let minted = server.client().post("/api/auth/token", &json!({})).unwrap();
    let token = minted.expect(200)["token"].as_str().unwrap().to_owned();
    let bearer = format!("Bearer {token}");
    server.anonymous().with_authorization(&bearer)
}

fn take(client: &Client, device: &str, lease: &str) {
    let body = json!({"lease_id": lease, "ttl_seconds": 60});
    let path = format!("/api/cloud/devices/lease?device={device}");
    client.post(&path, &body).unwrap().expect(200);
}

fn release(client: &Client, device: &str, lease: &str) {
    let path = format!("/api/cloud/devices/lease/release?device={device}");
    let body = json!({"lease_id": lease});
    client.post(&path, &body).unwrap().expect(200);
}

fn lease_once(bench: &Bench, device: &str) {
    let client = session(&bench.server);
    take(&client, device, "a-lease-of-mine-0123456789");
    release(&client, device, "a-lease-of-mine-0123456789");
}

pub(super) fn metric(bench: &Bench, name: &str) -> u64 {
    let page = bench.client().get("/metrics").unwrap().text;
    let line = format!("hostd_plugin_{name}{{plugin=\"{ID}\"}} ");
    let found = page.lines().find_map(|l| l.strip_prefix(line.as_str()));
    found.map_or(0, |value| value.parse().unwrap())
}

#[test]
fn devices_leases_and_jobs_are_told_with_their_members() {
    let pod = PodSim::start_to_return(&["--seed", "5"]).unwrap();
    let more = format!(
        "[[devices]]\nname = \"pod\"\naddress = \"tcp:{}\"\n",
        pod.address
    );
    let bench = bench(&more);
    install(&bench, &wants(""), "");
    bench.plugin(&["approve", ID]).ok();
    let client = bench.client();
    let address = pod.address.clone();
    drop(pod);
    let lost = until_heard(&bench, &client, "device.offline", |e| {
        e["json"]["device"]["name"] == "pod"
    });
    assert!(lost["json"]["reason"].is_string() && lost["json"]["device"]["id"] == lost["subject"]);
    let _pod = PodSim::start_at(&address, &["--seed", "5"]).unwrap();
    let back = until_heard(&bench, &client, "device.online", |e| {
        e["subject"] == lost["subject"]
    });
    for member in ["serial", "board", "firmware_version"] {
        assert!(back["json"][member].is_string(), "{member}: {back}");
    }
    assert!(back["id"] != lost["id"] && back["at"].as_u64() >= lost["at"].as_u64());

    lease_once(&bench, "demo");
    let taken = until_heard(&bench, &client, "lease.taken", |_| true);
    assert!(taken["json"]["holder"].is_string() && taken["json"]["expires_at"].is_string());
    assert_eq!(taken["json"]["device"]["name"], "demo");
    let ended = until_heard(&bench, &client, "lease.ended", |_| true);
    assert_eq!(ended["json"]["reason"], "released");
    assert_eq!(ended["subject"], bench.server.device());

    let job = cancelled_job(&client);
    let finished = until_heard(&bench, &client, "job.finished", |_| true);
    assert_eq!(
        (&finished["subject"], &finished["json"]["job"]["id"]),
        (&json!(job), &json!(job))
    );
    assert_eq!(finished["json"]["job"]["ended_because"], "cancelled");
    assert!(finished["json"]["links"]["report"].is_string());
    assert_eq!(finished["org"], taken["org"]);
    // The plugin writes what it heard before it says that it has heard.
    let delivered = || metric(&bench, "events_delivered_total");
    until(delivered, |count| *count >= 5).unwrap();
}

#[test]
fn captures_flashes_and_updates_are_told_with_their_members() {
    let bench = bench("[[devices]]\nname = \"pod\"\naddress = \"sim:v3\"\n");
    install(&bench, &wants(""), "");
    bench.plugin(&["approve", ID]).ok();
    let (client, device) = (bench.client(), bench.server.device().to_owned());
    let capture = |more: Value| {
        let mut order =
            json!({"device_id": device, "samples": 1000, "sample_rate_mhz": 1, "voltage_mv": 3300});
        order
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let started = client.post("/api/la/captures/start", &order);
        started.unwrap().expect(202)["capture_id"].clone()
    };
    let id = capture(json!({}));
    let done = until_heard(&bench, &client, "capture.done", |_| true);
    assert_eq!(
        (&done["subject"], &done["json"]["capture"]["status"]),
        (&id, &json!("done"))
    );
    assert!(done["json"]["capture"]["size_bytes"].is_u64());

    let target = [("target", "target/stm32f0x.cfg")];
    flash(&client, &device, &target).unwrap().expect(200);
    let flashed = until_heard(&bench, &client, "flash.done", |_| true);
    assert_eq!(flashed["json"]["flash"]["phase"], "done");
    assert_eq!(flashed["json"]["device"]["id"], json!(device));
    let wrong = flash(&client, &device, &[("target", "STM32G431KB")]).unwrap();
    assert_eq!(wrong.json()["ok"], false, "{}", wrong.text);
    let failed = until_heard(&bench, &client, "flash.failed", |_| true);
    assert_eq!(failed["json"]["flash"]["code"], "wrong_target");
    assert!(failed["json"]["flash"]["error"].is_string());

    let devices = client.get("/api/bench/devices").unwrap().expect(200);
    let mut devices = devices["devices"].as_array().unwrap().iter();
    let pod = devices.find(|d| d["name"] == "pod").unwrap()["id"].clone();
    // Other firmware each time.
    let update = |major: u8, version: &str| {
        let from = json!({"job_id": upload(&bench.server, &image([major, 9, 9], 4096)), "artifact_name": "pod.bin"});
        let body = json!({"artifact": from, "version": version});
        let path = format!("/api/bench/devices/{}/ota", pod.as_str().unwrap());
        let begun = client.post(&path, &body).unwrap();
        assert!(begun.status < 300, "{}", begun.text);
    };
    update(9, "9.9.9");
    let done = until_heard(&bench, &client, "update.done", |_| true);
    assert_eq!(done["json"]["update"]["version_after"], "9.9.9");
    assert_eq!(done["json"]["device"]["id"], pod);
    update(8, "1.1.1");
    let failed = until_heard(&bench, &client, "update.failed", |_| true);
    assert!(failed["json"]["update"]["error"].is_string(), "{failed}");
}

#[test]
fn only_what_was_granted_there_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    let stranger = tests::offline::stranger(dir.path());
    let second = "[[devices]]\nname = \"second\"\naddress = \"sim:v3\"\n";
    let server = serve(&dir, second);
    let bench = Bench { dir, server };
    let other = with_key(&bench.server, &stranger);
    install(&bench, &wants(""), "");
    // In both organisations, but one device and one kind here.
    bench.plugin(&["approve", ID, "--org", "acme"]).ok();
    let narrow = [
        "approve",
        ID,
        "--device",
        "demo",
        "--interface",
        "store",
        "--store-mib",
        "1",
        "--event",
        "lease.taken",
    ];
    bench.plugin(&narrow).ok();
    lease_once(&bench, "second");
    cancelled_job(&bench.client());
    lease_once(&bench, "demo");
    let told = until_heard(&bench, &bench.client(), "lease.taken", |_| true);
    assert_eq!(told["json"]["device"]["name"], "demo");
    let kinds: Vec<_> = heard(&bench.client())
        .iter()
        .map(|e| e["kind"].clone())
        .collect();
    assert_eq!(kinds, ["lease.taken"]);
    // Nothing of it in the other organisation, whose own is told there alone.
    let job = cancelled_job(&other);
    let own = until_heard(&bench, &other, "job.finished", |_| true);
    assert_eq!(own["subject"], json!(job));
    assert_eq!(heard(&other).len(), 1);
    assert_eq!(heard(&bench.client()).len(), 1);
    // Taken back, nothing more is told.
    bench.plugin(&["revoke", ID, "--org", "acme"]).ok();
    cancelled_job(&other);
    bench
        .plugin(&["approve", ID, "--event", "job.finished"])
        .ok();
    let job = cancelled_job(&bench.client());
    until_heard(&bench, &bench.client(), "job.finished", |e| {
        e["subject"] == json!(job)
    });
    bench.plugin(&["approve", ID, "--org", "acme"]).ok();
    assert_eq!(heard(&other).len(), 1);
}

#[test]
fn an_event_that_is_refused_is_told_again() {
    let bench = bench("");
    install(&bench, &wants(""), "");
    bench.plugin(&["approve", ID]).ok();
    behave(&bench, "refuse-once");
    let job = cancelled_job(&bench.client());
    let told = until_heard(&bench, &bench.client(), "job.finished", |e| {
        e["subject"] == json!(job)
    });
    let tries =
        json!({"function": "store.get", "key": format!("tries/{}", told["id"].as_str().unwrap())});
    assert_eq!(bench.call(&tries).expect(200)["value"], "xx");
    let repeated = || metric(&bench, "events_repeated_total");
    until(repeated, |count| *count == 1).unwrap();
    let log = bench.plugin(&["logs", ID]).ok();
    assert!(
        log.contains("job.finished was not taken, time 1: the test says so (refused)"),
        "{log}"
    );
}

#[test]
fn the_end_of_a_job_outlives_a_crash_before_it_was_heard() {
    let mut bench = bench("");
    install(&bench, &wants(""), "");
    bench.plugin(&["approve", ID]).ok();
    behave(&bench, "refuse");
    let job = cancelled_job(&bench.client());
    let tries = |bench: &Bench| {
        let scan = json!({"function": "store.scan", "from": "tries/", "to": "tries/~"});
        bench.call(&scan).expect(200)
    };
    let before = until(|| tries(&bench), |keys| keys != &json!([])).unwrap();
    bench.server.kill().unwrap();
    bench.server = serve(&bench.dir, "");
    let loads = || bench.get("/mark").status;
    until(loads, |status| *status == 200).unwrap();
    behave(&bench, "hello");
    let told = until_heard(&bench, &bench.client(), "job.finished", |e| {
        e["subject"] == json!(job)
    });
    assert_eq!(
        before,
        json!([format!("tries/{}", told["id"].as_str().unwrap())])
    );
    until(|| metric(&bench, "events_waiting"), |waiting| *waiting == 0).unwrap();
    assert_eq!(heard(&bench.client()).len(), 1);
}

#[test]
fn a_slow_subscriber_loses_what_finds_no_room_and_holds_up_nobody() {
    let silent = Receiver::start(Answer::Silence);
    let bench = bench("");
    install(
        &bench,
        &wants(&format!("http = [\"{}\"]", silent.url("/*"))),
        "compute_ms = 10000\ndeadline_ms = 60000",
    );
    bench.plugin(&["approve", ID]).ok();
    behave(&bench, &format!("wait:{}", silent.url("/")));
    let client = session(&bench.server);
    let begun = Instant::now();
    while metric(&bench, "events_dropped_total") == 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(240),
            "nothing is dropped"
        );
        for n in 0..20 {
            let lease = format!("a-lease-of-mine-{n:010}");
            take(&client, "demo", &lease);
            release(&client, "demo", &lease);
        }
        // Its endpoints answer meanwhile, and so does the server.
        assert_eq!(bench.get("/mark").status, 200);
    }
    assert!(metric(&bench, "events_waiting") >= 250);
    let log = bench.plugin(&["logs", ID]).ok();
    assert!(log.contains("was dropped: too many wait already"), "{log}");
}

#[test]
fn a_plugin_that_was_disabled_is_called_by_no_timer_that_waited_for_its_turn() {
    let silent = Receiver::start(Answer::Silence);
    let bench = bench("");
    let wants = format!(
        "interfaces = [\"store\", \"http-out\"]\npublic = true\nhttp = [\"{}\"]\n{}\n",
        silent.url("/*"),
        "timers = [{ id = \"one\", cron = \"* * * * *\" }, { id = \"two\", cron = \"* * * * *\" }]"
    );
    install(&bench, &wants, "compute_ms = 10000\ndeadline_ms = 15000");
    bench.plugin(&["approve", ID]).ok();
    behave(&bench, &format!("wait:{}", silent.url("/")));
    let begun = Instant::now();
    while silent.seen().is_empty() {
        assert!(begun.elapsed() < TIMER_WAIT, "it does not strike");
        std::thread::sleep(Duration::from_millis(50));
    }
    // One is at work, and the other waits for its turn.
    bench.plugin(&["disable", ID]).ok();
    // Longer than the one may take. That nothing comes after it can only be waited for.
    std::thread::sleep(Duration::from_secs(17));
    assert_eq!(silent.seen().len(), 1);
}

#[test]
fn a_subscriber_that_loops_costs_its_own_place() {
    let bench = bench("");
    install(
        &bench,
        &wants(""),
        "compute_ms = 3000\ndeadline_ms = 20000\nin_flight = 1",
    );
    bench.plugin(&["approve", ID]).ok();
    behave(&bench, "loop");
    cancelled_job(&bench.client());
    until(
        || metric(&bench, "events_repeated_total"),
        |told| *told >= 2,
    )
    .unwrap();
    bench.get("/mark").expect(200);
    bench
        .client()
        .get("/api/bench/devices")
        .unwrap()
        .expect(200);
    behave(&bench, "hello");
    until_heard(&bench, &bench.client(), "job.finished", |_| true);
}

#[test]
fn a_plugin_that_acts_for_itself_has_its_grant_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(
        &dir,
        "[[devices]]\nname = \"second\"\naddress = \"sim:v3\"\n",
    );
    let bench = Bench { dir, server };
    install(&bench, &wants(""), "");
    bench.plugin(&["approve", ID, "--device", "demo"]).ok();
    let result = |asked: &Value| {
        let forget = json!({"function": "store.delete", "key": "result"});
        bench.call(&forget).expect(200);
        behave(&bench, &format!("call:{asked}"));
        cancelled_job(&bench.client());
        let look = || kept(&bench.client(), "result").pop();
        until(look, Option::is_some).unwrap().unwrap()
    };
    let status = |device: &str| json!({"function": "devices.command", "device": device, "command": {"cmd": "status"}});
    let switch = json!({"function": "devices.command", "device": "demo",
        "command": {"cmd": "target_power", "efuse": 1, "state": 1}});
    assert_eq!(
        result(&json!({"function": "devices.list"}))["ok"],
        json!(["demo"])
    );
    // The device is listed before its pod is connected, and a lease that was just taken begins with its own errands.
    let answers = |asked: &Value| {
        until(|| result(asked), |answered| answered["ok"].is_object()).unwrap();
    };
    answers(&status("demo"));
    assert_eq!(result(&status("second"))["code"], "not_found");
    answers(&switch);
    // Somebody's lease is in its way, as in everybody's.
    take(
        &session(&bench.server),
        "demo",
        "a-lease-of-mine-0123456789",
    );
    assert_eq!(result(&switch)["code"], "lease_held");
    answers(&status("demo"));
    // Interfaces that were not granted are refused with the command that grants them.
    for (asked, interface) in [
        (
            json!({"function": "power.rails", "device": "demo"}),
            "power",
        ),
        (
            json!({"function": "secrets.get", "name": "TOKEN"}),
            "secrets",
        ),
        (
            json!({"function": "notify.send", "kind": "a", "json": {}}),
            "notify",
        ),
    ] {
        let refused = result(&asked);
        assert_eq!(refused["code"], "not_granted", "{refused}");
        let grants = format!("--interface {interface}");
        assert!(
            refused["message"].as_str().unwrap().contains(&grants),
            "{refused}"
        );
    }
}

#[test]
fn a_timer_strikes_where_it_was_granted() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    let stranger = tests::offline::stranger(dir.path());
    let server = serve(&dir, "");
    let bench = Bench { dir, server };
    let other = with_key(&bench.server, &stranger);
    let timers = "timers = [{ id = \"often\", cron = \"* * * * *\" }, { id = \"rare\", cron = \"0 0 29 2 *\" }]";
    install(&bench, &wants(timers), "");
    bench
        .plugin(&[
            "approve",
            ID,
            "--timer",
            "often",
            "--interface",
            "store",
            "--store-mib",
            "1",
        ])
        .ok();
    bench
        .plugin(&[
            "approve",
            ID,
            "--org",
            "acme",
            "--interface",
            "store",
            "--store-mib",
            "1",
        ])
        .ok();
    let struck = || kept(&bench.client(), "timer/");
    let begun = Instant::now();
    while struck().is_empty() {
        assert!(begun.elapsed() < TIMER_WAIT, "it does not strike");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(struck().iter().all(|timer| timer["id"] == "often"));
    assert_eq!(kept(&other, "timer/"), Vec::<Value>::new());
    until(|| metric(&bench, "timers_total"), |count| *count >= 1).unwrap();
}

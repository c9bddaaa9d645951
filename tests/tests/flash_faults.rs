//! Flashes that end early. Nothing stays stuck: the next one works.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};
use tests::{Bench, Client, demo_elf, flash, until};

const TARGET: (&str, &str) = ("target", "target/stm32f0x.cfg");

/// A target behind a link so slow that a test can interfere.
const SLOW: &str = "sim:v3,seed=4,target=blank,fault=slow=20000B/s+5ms";

fn begin(client: &Client, device: &str) -> String {
    let patient = client.clone().with_header("prefer", "respond-async");
    let begun = flash(&patient, device, &[TARGET]).unwrap();
    begun.expect(202);
    begun.header("location").unwrap().to_owned()
}

/// Wait until the target's flash is being changed.
fn until_under_way(client: &Client, location: &str) {
    let under_way = until(
        || client.get(location).unwrap().expect(200),
        |seen| seen["phase"] == "erasing" || seen["phase"] == "programming",
    );
    under_way.unwrap();
}

fn ended(client: &Client, location: &str) -> Value {
    let look = || client.get(location).unwrap().expect(200);
    until(look, |seen| seen["finished_at"].is_string()).unwrap()
}

fn expect_next_works(bench: &Bench, client: &Client) {
    let device = &bench.devices[0];
    let online = || {
        let path = format!("/api/bench/devices/{device}");
        client.get(&path).unwrap().expect(200)
    };
    until(online, |seen| seen["online"] == true).unwrap();
    let next = flash(client, device, &[TARGET]).unwrap().expect(200);
    assert_eq!(next["ok"], true, "{next}");
}

fn expect_failed(answer: &Value, code: &str) {
    assert_eq!(answer["ok"], false, "{answer}");
    assert_eq!(answer["code"], code, "{answer}");
}

#[test]
fn a_flash_is_cancelled_midway() {
    let bench = Bench::start(&[SLOW]).unwrap();
    let client = bench.server.client();
    let location = begin(&client, &bench.devices[0]);
    until_under_way(&client, &location);
    let cancelled = client
        .post(&format!("{location}/cancel"), &json!({}))
        .unwrap();
    let cancelled = cancelled.expect(200);
    assert_eq!(cancelled["phase"], "cancelled");
    expect_failed(&cancelled, "cancelled");
    assert!(cancelled["percent"].as_u64().unwrap() < 100);
    expect_next_works(&bench, &client);
}

#[test]
fn a_lease_that_ends_takes_its_flash_along() {
    let bench = Bench::start(&[SLOW]).unwrap();
    let token = bench
        .server
        .client()
        .post("/api/auth/token", &json!({}))
        .unwrap();
    let token = token.expect(200)["token"].as_str().unwrap().to_owned();
    let job = bench
        .server
        .anonymous()
        .with_authorization(&format!("Bearer {token}"));
    let lease = |step: &str| {
        let path = format!("/api/cloud/devices/lease{step}?device=d0");
        let body = json!({"lease_id": "l1", "run_label": "run 1", "ttl_seconds": 60});
        job.post(&path, &body).unwrap()
    };
    lease("").expect(200);
    let holder = job.clone().with_header("x-bench-lease", "l1");
    let location = begin(&holder, &bench.devices[0]);
    until_under_way(&holder, &location);
    // Nobody else can interfere, not even to end it.
    let path = format!("{location}/cancel");
    job.post(&path, &json!({}))
        .unwrap()
        .expect_error(409, "lease_held");
    flash(&job, &bench.devices[0], &[TARGET])
        .unwrap()
        .expect_error(409, "lease_held");
    lease("/release").expect(200);
    // The device was safe when the release was answered, so the flash had ended by then.
    let left = job.get(&location).unwrap().expect(200);
    expect_failed(&left, "lease_lost");
    assert_eq!(left["phase"], "failed");
    expect_next_works(&bench, &job);
}

#[test]
fn a_flash_goes_on_without_its_client() {
    let bench = Bench::start(&[SLOW]).unwrap();
    let client = bench.server.client();
    let device = &bench.devices[0];
    let elf = demo_elf();
    let mut body = format!(
        "--B\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\n{}\r\n--B\r\n\
         Content-Disposition: form-data; name=\"firmware\"; filename=\"demo.elf\"\r\n\r\n",
        TARGET.1
    )
    .into_bytes();
    body.extend(&elf);
    body.extend(b"\r\n--B--\r\n");
    let address = bench.server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /api/bench/devices/{device}/flash HTTP/1.1\r\nhost: {address}\r\n\
         authorization: ApiKey {}\r\ncontent-type: multipart/form-data; boundary=B\r\n\
         content-length: {}\r\n\r\n",
        bench.server.api_key,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body).unwrap();
    let list = format!("/api/bench/devices/{device}/flash");
    let newest = || client.get(&list).unwrap().expect(200)["flashes"][0].clone();
    until(newest, |seen| {
        seen["phase"] == "erasing" || seen["phase"] == "programming"
    })
    .unwrap();
    drop(stream);
    let end = until(newest, |seen| seen["finished_at"].is_string()).unwrap();
    assert_eq!(end["ok"], true, "{end}");
    expect_next_works(&bench, &client);
}

#[test]
fn a_pod_is_unplugged_midway() {
    let bench = Bench::start(&["sim:v3,seed=5,target=blank,fault=unplug@6000B:300ms"]).unwrap();
    let client = bench.server.client();
    let answer = flash(&client, &bench.devices[0], &[TARGET])
        .unwrap()
        .expect(200);
    expect_failed(&answer, "device_lost");
    assert!(
        answer["error"]
            .as_str()
            .unwrap()
            .contains("lost the connection"),
        "{answer}"
    );
    expect_next_works(&bench, &client);
}

#[test]
fn a_debug_link_goes_silent_midway() {
    let bench = Bench::start(&["sim:v3,seed=6,target=blank,fault=stall@6000B"]).unwrap();
    let client = bench.server.client();
    let answer = flash(&client, &bench.devices[0], &[TARGET])
        .unwrap()
        .expect(200);
    expect_failed(&answer, "device_lost");
    expect_next_works(&bench, &client);
}

#[test]
fn the_target_loses_its_power_midway() {
    let bench = Bench::start(&[SLOW]).unwrap();
    let client = bench.server.client();
    let location = begin(&client, &bench.devices[0]);
    until_under_way(&client, &location);
    let off = json!({"command": {"cmd": "target_power", "efuse": 1, "state": 0}});
    let path = format!("/api/bench/devices/{}/command", bench.devices[0]);
    client.post(&path, &off).unwrap().expect(200);
    let end = ended(&client, &location);
    expect_failed(&end, "target_lost");
    assert_eq!(end["target_unreachable"], true);
    expect_next_works(&bench, &client);
}

#[test]
fn a_server_that_stops_ends_its_flashes_and_knows_them_no_more() {
    let mut bench = Bench::start(&[SLOW]).unwrap();
    let client = bench.server.client();
    let location = begin(&client, &bench.devices[0]);
    until_under_way(&client, &location);
    assert!(bench.server.stop().unwrap());
    let log = bench.server.log();
    assert!(log.contains("the server stopped"), "{log}");
}

#[test]
fn a_locked_chip_and_a_worn_one_say_so() {
    let bench = Bench::start(&[
        "sim:v3,seed=7,target=locked",
        "sim:v3,seed=8,target=blank,worn=0x08000400",
    ])
    .unwrap();
    let client = bench.server.client();
    let [locked, worn] = &bench.devices[..] else {
        panic!("two devices")
    };
    // Neither force nor another try gets past it.
    for force in ["false", "true"] {
        let answer = flash(&client, locked, &[TARGET, ("force", force)]).unwrap();
        let answer = answer.expect(200);
        expect_failed(&answer, "target_locked");
        assert_eq!(
            (&answer["bytes"], &answer["target_unreachable"]),
            (&json!(0), &json!(false))
        );
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains("protected"), "{error}");
    }
    let answer = flash(&client, worn, &[TARGET]).unwrap().expect(200);
    expect_failed(&answer, "verify_failed");
    let error = answer["error"].as_str().unwrap();
    // Half of the word may be right, because that half looks like erased flash.
    assert!(error.contains("0x0800040"), "{error}");
    // Without verification nobody notices.
    let answer = flash(&client, worn, &[TARGET, ("verify", "false")]).unwrap();
    let answer = answer.expect(200);
    assert_eq!(answer["ok"], true, "{answer}");
}

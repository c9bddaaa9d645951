//! A console that stays open while its device is in use: the target is flashed, the pod is updated.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tests::{Bench, Line, PodSim, Server, Socket, flash, until};

const TARGET: (&str, &str) = ("target", "target/stm32f0x.cfg");

fn open(server: &Server, device: &str, query: &str) -> Line {
    let path = format!("/api/bench/devices/{device}/uart/ws?{query}");
    let key = format!("ApiKey {}", server.api_key);
    let opened = Socket::open(&server.url, &path, &[("authorization", &key)]);
    Line::new(opened.unwrap().socket())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_console_sees_what_was_flashed_boot() {
    let bench = Bench::start(&["sim:v3,seed=3,target=blank"]).unwrap();
    let (server, device) = (&bench.server, &bench.devices[0]);
    let mut console = open(server, device, "rx=3&tx=4");
    let mut other = open(server, device, "");
    for round in 0..2 {
        let flashed = flash(&server.client(), device, &[TARGET]).unwrap();
        let flashed = flashed.expect(200);
        assert_eq!(flashed["ok"], true, "{flashed}");
        for console in [&mut console, &mut other] {
            // From the firmware's first word on.
            let read = text(&console.until(b"APP_OK\r\n"));
            assert!(read.contains("I2C1 status=0"), "{round}: {read}");
            assert!(round > 0 || read.starts_with("I2C1 status=0"), "{read}");
            let begun = console.told("flash");
            let done = console.told("flash");
            assert_eq!(begun["state"], "begun");
            assert_eq!(
                (&done["state"], &done["id"]),
                (&json!("done"), &flashed["id"])
            );
            assert_eq!(begun["id"], done["id"]);
            assert!(begun["offset"].as_u64() <= done["offset"].as_u64());
        }
        console.write(b"help\r");
        console.until(b"commands:");
        other.until(b"commands:");
    }
    // Neither console was closed, and the line was not opened anew.
    for console in [console, other] {
        assert!(console.told.is_empty(), "{:?}", console.told);
    }
}

#[test]
fn a_console_is_told_of_a_flash_that_fails_and_one_opens_meanwhile() {
    let bench = Bench::start(&["sim:v3,seed=3,target=blank,fault=slow=20000B/s+5ms"]).unwrap();
    let (server, device) = (&bench.server, &bench.devices[0]);
    let patient = server.client().with_header("prefer", "respond-async");
    let begun = flash(&patient, device, &[TARGET]).unwrap();
    begun.expect(202);
    let location = begun.header("location").unwrap();
    let client = server.client();
    let look = || client.get(location).unwrap().expect(200);
    until(look, |seen| seen["phase"] == "programming").unwrap();
    let mut late = open(server, device, "rx=3&tx=4");
    let path = format!("{location}/cancel");
    client.post(&path, &json!({})).unwrap().expect(200);
    assert_eq!(late.told("flash")["state"], "cancelled");
    let failed = flash(&client, device, &[("target", "nRF51822_xxAA")]).unwrap();
    assert_eq!(failed.expect(200)["code"], "wrong_target");
    assert_eq!(late.told("flash")["state"], "begun");
    assert_eq!(late.told("flash")["state"], "failed");
    // The console's channels cannot be the debug wires.
    let crossed = [TARGET, ("swclk", "3"), ("swdio", "12")];
    let crossed = flash(&client, device, &crossed).unwrap().expect(200);
    assert_eq!(crossed["code"], "pod_refused");
    assert!(
        crossed["error"].as_str().unwrap().contains("LA3"),
        "{crossed}"
    );
}

#[test]
fn a_console_stays_beside_a_debugger_of_somebody_else() {
    let bench = Bench::start(&["sim:v3,seed=3,target=demo"]).unwrap();
    let (server, device) = (&bench.server, &bench.devices[0]);
    let mut console = open(server, device, "rx=3&tx=4");
    let token = server.client().post("/api/auth/token", &json!({})).unwrap();
    let bearer = format!("Bearer {}", token.expect(200)["token"].as_str().unwrap());
    let path = "/api/cloud/devices/ws?device=d0&kind=flash";
    let headers = [("authorization", bearer.as_str())];
    let opened = Socket::open(&server.url, path, &headers).unwrap();
    let mut probe = opened.socket();
    probe
        .send(b"{\"cmd\":\"dap_start\",\"swclk\":11,\"swdio\":12}\n")
        .unwrap();
    assert_eq!(probe.line().unwrap()["status"], "ok");
    let refused = flash(&server.client(), device, &[TARGET]).unwrap();
    refused.expect_error(409, "device_busy");
    probe.close().unwrap();
    // The console has not noticed, and works with whatever comes next.
    let flashed = flash(&server.client(), device, &[TARGET]).unwrap();
    assert_eq!(flashed.expect(200)["ok"], true);
    console.until(b"APP_OK");
}

#[test]
fn the_terminal_talks_and_says_why_it_ends() {
    let bench = Bench::start(&["sim:v3,seed=3,target=demo"]).unwrap();
    let (server, device) = (&bench.server, bench.devices[0].as_str());
    let console = |key: &str, args: &[&str]| {
        let mut command = Command::new(tests::server::binary().unwrap());
        command.args(["console", device, "--rx", "3", "--tx", "4"]);
        command.args(["--key", key, "--server", &format!("{}/api", server.url)]);
        command.args(args).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut seen = open(server, device, "rx=3&tx=4");
    let flashed = flash(&server.client(), device, &[TARGET]).unwrap();
    assert_eq!(flashed.expect(200)["ok"], true);
    // Until then the firmware accepts no commands.
    seen.until(b"APP_OK");
    // A pod has no parity bit.
    let talk = ["--parity", "none", "--until", "commands:", "--for", "60s"];
    let mut child = console(&server.api_key, &talk);
    let mut typed = child.stdin.take().unwrap();
    typed.write_all(b"help\r").unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    assert!(text(&ended.stdout).contains("commands:"));

    let even = console(&server.api_key, &["--parity", "even", "--for", "60s"]);
    let even = even.wait_with_output().unwrap();
    assert!(!even.status.success());
    assert!(
        text(&even.stderr).contains("no parity bit"),
        "{}",
        text(&even.stderr)
    );

    let refused = console("bk_none", &[]).wait_with_output().unwrap();
    assert!(!refused.status.success());
    assert!(
        text(&refused.stderr).contains("401"),
        "{}",
        text(&refused.stderr)
    );
    let late = console(&server.api_key, &["--until", "never", "--for", "50ms"]);
    let late = late.wait_with_output().unwrap();
    assert!(!late.status.success());
    assert!(
        text(&late.stderr).contains("never"),
        "{}",
        text(&late.stderr)
    );
    let over = console(&server.api_key, &["--for", "50ms"]);
    assert!(over.wait_with_output().unwrap().status.success());
}

#[test]
fn a_console_waits_for_a_pod_that_is_updated() {
    // Away for longer than the grace period, so that its device is offline meanwhile.
    let pod = PodSim::start(&["--jumper", "9=10"]).unwrap();
    let address = format!("tcp:{}", pod.address);
    let bench = Bench::start_with("[pods]\ngrace_ms = 100\n", &[&address]).unwrap();
    let (server, device) = (&bench.server, bench.devices[0].as_str());
    let client = server.client();
    let mut console = open(server, device, "rx=10&tx=9");
    console.write(b"before");
    console.expect(b"before");

    let mut image = b"BPFW".to_vec();
    image.extend([9, 1, 0, 1, 0, 8, 1, 0]);
    image.write_all(&[b'f'; 9000]).unwrap();
    let ota = format!("/api/bench/devices/{device}/ota");
    let started = client.post_form(&ota, &[], ("image", "pod.bin", &image));
    started.unwrap().expect(202);
    let look = || client.get(&ota).unwrap().expect(200);
    let ended: Value = until(look, |seen| !seen["finished_at"].is_null()).unwrap();
    assert_eq!(ended["phase"], "done", "{ended}");

    assert_eq!(console.told("update")["state"], "begun");
    assert_eq!(console.told("error")["code"], "device_offline");
    assert_eq!(console.told("open")["because"], "device_back");
    console.write(b"after");
    console.until(b"after");
    assert_eq!(console.told("update")["state"], "done");
}

//! A job on a bench of plain parts: power, flash, console, capture and decoding, each by the part that does it.

use std::fs::File;
use std::io::{Read, Write};
use std::thread;

use serde_json::{Value, json};
use tests::{Client, can_isolate, demo_elf, until};

use super::Bench;
use super::analyzer::has_sigrok;

/// What analyzes: sigrok's simulated instrument, whose channel D0 repeats a pattern of 100 samples.
const LOGIC: &str = "[devices.logic]\nkind = \"sigrok\"\ndriver = \"demo\"\n";

/// The README's job for a board, without an `always`: what is on at its end, the server switches off. The pattern on
/// D0 reads as 0xDA again and again at a fifth of the rate of the samples.
const PIPELINE: &str = "version: 1
name: bench-of-parts
builds:
  - id: fw
    steps: [{ run: 'cp demo.elf \"$HOSTD_OUT/demo.elf\"' }]
    packs: [{ id: f0, artifacts: [demo.elf], targets: [stm32f030r8] }]
benches:
  - id: smoke
    for_each: fw
    device: { name: bench-2 }
    steps:
      - power: { rail: internal, state: on }
      - flash: { artifact: demo.elf, target: \"{{pack.target}}\" }
        case: flashes
      - capture: { kind: la, channels: { line: 1, other: 2 }, rate: 1MHz, samples: 200000 }
        id: boot
        background: true
      - reset: {}
      - uart: { send: \"version\\n\", expect: APP_OK }
        case: answers
        timeout: 20s
      - decode: { on: boot, decoder: uart, channels: { rx: line }, options: { baudrate: '200000' } }
        id: line
        case: decodes
";

/// The target on the other end of the serial port: answers one request for its version.
fn answer(mut target: File) {
    let mut heard = Vec::new();
    let mut byte = [0];
    while !heard.ends_with(b"version\n") {
        target.read_exact(&mut byte).unwrap();
        heard.push(byte[0]);
    }
    target.write_all(b"APP_OK 1.2\r\n").unwrap();
}

/// The path of the capture that JUnit names beside a case.
fn capture_of(junit: &str) -> &str {
    let property = "name=\"hostd.capture.boot\" value=\"";
    let (_, value) = junit
        .split_once(property)
        .unwrap_or_else(|| panic!("{junit}"));
    value.split('"').next().unwrap()
}

fn submit(client: &Client) -> String {
    use crate::jobs::packing::{Entry, send_plain, tar_gz};
    let sources = tar_gz(&[
        Entry::File("ci.yml", PIPELINE.as_bytes()),
        Entry::File("demo.elf", &demo_elf()),
    ]);
    let submitted = send_plain(client, &sources).expect(201);
    submitted["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_job_powers_flashes_talks_and_captures_with_plain_parts() {
    if !has_sigrok() || !can_isolate() {
        return;
    }
    let bench = Bench::with(LOGIC);
    let lent = bench.lend_probe();
    bench.until(|record| record["state"] == "online");
    assert!(!bench.supply.state().is_on);
    let target = bench.target.try_clone().unwrap();
    let answering = thread::spawn(move || answer(target));

    let client = bench.server.client();
    let id = submit(&client);
    let get = |what: &str| client.get(&format!("/api/jobs/{id}{what}")).unwrap();
    let ended = until(|| get("").expect(200), |job| job["state"] == "finished").unwrap();
    assert_eq!(ended["verdict"], "success", "{ended}\n{}", get("/log").text);
    answering.join().unwrap();
    let log = get("/log").text;
    assert!(log.contains("APP_OK 1.2"), "{log}");

    // The supply was on at what the bench is configured to, and is off before anybody else gets the bench.
    let free = |record: &Value| record["lease"].is_null() && record["making_safe_since"].is_null();
    bench.until(free);
    let supply = bench.supply.state();
    assert!(!supply.is_on && supply.told.iter().any(|told| told == "OUTP ON"));
    assert_eq!((supply.volts, supply.amps_max), (3.3, 0.5));

    // The evidence names the capture, which is there and is the analyzer's.
    let junit = get("/junit.xml").text;
    for case in ["flashes", "answers", "decodes"] {
        assert!(junit.contains(&format!("name=\"{case}\"")), "{junit}");
    }
    let capture = client.get(&format!("{}?frames=none", capture_of(&junit)));
    let capture = capture.unwrap().expect(200);
    assert_eq!(capture["status"], "done", "{capture}");
    let channels = capture["channels"].as_array().unwrap();
    assert_eq!(channels.len(), 2, "{capture}");
    assert_eq!(channels[0]["samples"], json!(200_000), "{capture}");
    let decoded = get("/artifacts/smoke.f0/decoded/line.txt");
    assert_eq!(decoded.status, 200, "{}", get("/artifacts").text);
    let found = decoded.text.matches("DA").count();
    assert!(
        found > 1000,
        "{found} in {}",
        &decoded.text[..decoded.text.len().min(500)]
    );
    lent.stop();
}

//! Leases of jobs whose server was killed: the next start gives them back at once, and nobody else's.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Client, PodSim, can_isolate, until};

use super::Jobs;

/// Far less than the minute for which a job takes a lease.
const SOON: Duration = Duration::from_secs(20);

/// A run that has its device, and power on it, until it is ended. `first` is its first step.
fn held(device: &str, first: &str) -> String {
    format!(
        "version: 1\nbenches:\n  - id: b\n    device: {{ name: {device} }}\n    steps:\n      {first}\n      \
         - power: {{ rail: internal, state: on }}\n      - uart: {{ expect: never, channels: {{ rx: 3, tx: 4 }} }}\n"
    )
}

fn device(jobs: &Jobs, name: &str) -> Value {
    let list = jobs.client().get("/api/bench/devices").unwrap().expect(200);
    let mut list = list["devices"].as_array().unwrap().iter();
    list.find(|device| device["name"] == name).unwrap().clone()
}

fn until_device(jobs: &Jobs, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    until(|| device(jobs, name), is_so).unwrap()
}

fn is_free(device: &Value) -> bool {
    device["online"] == true && device["lease"].is_null() && device["making_safe_since"].is_null()
}

/// Somebody at their desk, with a token.
fn person(jobs: &Jobs) -> Client {
    let token = jobs.client().post("/api/auth/token", &json!({}));
    let token = token.unwrap().expect(200);
    let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
    jobs.server.anonymous().with_authorization(&bearer)
}

/// Asks for a device, as published clients do. The status of the answer.
fn take(client: &Client, device: &str, lease: &str) -> u16 {
    let body = json!({"lease_id": lease, "run_label": "at the desk", "ttl_seconds": 600});
    let path = format!("/api/cloud/devices/lease?device={device}");
    client.post(&path, &body).unwrap().status
}

#[test]
fn a_killed_server_s_jobs_give_their_devices_back_at_the_next_start() {
    if !can_isolate() {
        return;
    }
    let pods =
        ["said", "silent", "desk"].map(|name| (name, PodSim::start(&["--seed", "7"]).unwrap()));
    let devices = pods.each_ref().map(|(name, pod)| {
        let address = &pod.address;
        format!("[[devices]]\nname = \"{name}\"\naddress = \"tcp:{address}\"\n")
    });
    let mut jobs = Jobs::start(&format!("[pods]\ngrace_ms = 100\n{}", devices.concat()));
    for (name, _) in &pods {
        until_device(&jobs, name, is_free);
    }
    // One has said something and is not repeated; the other one waits for its target and is.
    let said = jobs.submit(&held("said", "- run: echo here"));
    let silent = jobs.submit(&held("silent", "- wait: 1ms"));
    assert_eq!(take(&person(&jobs), "desk", "desk-lease"), 200);
    for (job, name) in [(&said, "said"), (&silent, "silent")] {
        jobs.until_said(job, 1, "== uart");
        let holder = device(&jobs, name)["lease"]["holder"].clone();
        assert!(holder.as_str().unwrap().contains(job), "{holder}");
        assert_eq!(take(&person(&jobs), name, "other"), 409, "{name}");
    }
    let is_powered = |name: &str| pods.iter().any(|(of, pod)| *of == name && pod.is_powered());
    assert!(is_powered("said") && is_powered("silent"));

    jobs.server.kill().unwrap();
    assert!(is_powered("said"), "nobody was there to switch it off");
    jobs.restart();
    let began = Instant::now();
    until_device(&jobs, "said", is_free);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert!(!is_powered("said"));
    let job = jobs.ended(&said);
    assert_eq!(
        job["attempts"][0]["code"], "infra.server_restarted",
        "{job}"
    );
    assert_eq!(take(&person(&jobs), "said", "next"), 200);
    // The repeated one has the device anew, under another lease.
    jobs.until_said(&silent, 2, "== uart");
    assert!(began.elapsed() < 2 * SOON, "{:?}", began.elapsed());
    assert_eq!(take(&person(&jobs), "silent", "other"), 409);
    jobs.post(&silent, "cancel").expect(200);
    jobs.ended(&silent);
    until_device(&jobs, "silent", is_free);
    assert!(!is_powered("silent"));
    // What a person had is still theirs.
    let lease = device(&jobs, "desk")["lease"].clone();
    assert_eq!(lease["holder"], "at the desk", "{lease}");
    assert_eq!(take(&person(&jobs), "desk", "desk-lease"), 200);
}

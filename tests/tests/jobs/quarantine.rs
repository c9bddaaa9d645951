//! A device that fails under the jobs of several users is kept from jobs until an administrator trusts it again.

use serde_json::{Value, json};
use tests::bench::demo_elf;
use tests::{Client, can_isolate, until};

use super::others::sign_in;
use super::packing::{Entry, send, tar_gz};
use super::{Jobs, id, submit};

/// Programs the chip that the wiring names, which is another one than the demo's: the bench's fault.
const WRONG: &str = "
version: 1
retry: { infra: 0 }
builds:
  - id: fw
    steps: [{ run: 'cp fw.elf \"$HOSTD_OUT/fw.elf\"' }]
    packs: [{ id: a, artifacts: [fw.elf] }]
benches:
  - id: b
    for_each: fw
    device: { name: demo }
    steps: [{ flash: { artifact: fw.elf } }]
";

const RIGHT: &str = "
version: 1
benches: [{ id: b, device: { name: demo }, steps: [{ wait: 1ms }] }]
";

fn fail(jobs: &Jobs, user: &Client) {
    let archive = [
        Entry::File("ci.yml", WRONG.as_bytes()),
        Entry::File("fw.elf", &demo_elf()),
    ];
    let sent = send(user, &tar_gz(&archive), &[("ci_yaml", "ci.yml")]);
    let job = jobs.ended(&id(&sent.expect(201)));
    assert_eq!(job["runs"][1]["code"], "infra.wrong_target", "{job}");
    assert_eq!(job["verdict"], "pending");
}

fn state(jobs: &Jobs) -> Value {
    let path = format!("/api/bench/devices/{}", jobs.server.device());
    jobs.client().get(&path).unwrap().expect(200)["state"].clone()
}

#[test]
fn a_device_in_quarantine_stays_there_until_an_administrator_admits_it() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("");
    let device = format!("/api/bench/devices/{}", jobs.server.device());
    let wrong = json!({"wiring": {"swd_target": "STM32G431KB"}});
    jobs.client().patch(&device, &wrong).unwrap().expect(200);
    let owner = sign_in(&jobs.server, &jobs.server.code().into());
    let member = owner.post("/api/users", &json!({"login": "ada"})).unwrap();
    let member_session = jobs.server.session(&member.expect(201)["code"]);
    let member = jobs.server.anonymous().with_authorization(&member_session);
    fail(&jobs, &jobs.client());
    fail(&jobs, &jobs.client());
    assert_eq!(state(&jobs), "online");
    fail(&jobs, &member);
    until(|| state(&jobs), |state| state == "quarantined").unwrap();

    let waits = submit(&jobs.client(), RIGHT);
    let obstacle = |jobs: &Jobs| {
        let why = jobs.get(&waits, "/why").expect(200);
        why["runs"][0]["devices"][0]["obstacle"].clone()
    };
    assert_eq!(obstacle(&jobs), "quarantined");
    jobs.server.kill().unwrap();
    jobs.restart();
    until(|| obstacle(&jobs), |found| found == "quarantined").unwrap();
    assert_eq!(jobs.job(&waits)["state"], "queued");

    let body = json!({"device": "demo"});
    let member = jobs.server.anonymous().with_authorization(&member_session);
    let refused = member.post("/api/bench/devices/admit", &body).unwrap();
    refused.expect_error(403, "forbidden");
    assert_eq!(state(&jobs), "quarantined");
    let admitted = jobs.client().post("/api/bench/devices/admit", &body);
    assert_eq!(admitted.unwrap().expect(200)["state"], "online");
    assert_eq!(jobs.ended(&waits)["verdict"], "success");
}

//! What jobs build can be flashed from outside of them, like builds that were reported.

use serde_json::{Value, json};
use tests::offline::stranger;
use tests::{Client, Reply, can_isolate, demo_elf};

use super::packing::{Entry, send, tar_gz};
use super::submit::digest;
use super::{Jobs, id};

/// Two boards, and a bench that fails after they are built.
const TWO: &[u8] = b"version: 1
name: two
builds:
  - id: fw
    steps: [{ run: 'cp demo.elf \"$HOSTD_OUT/fw.elf\"; echo > \"$HOSTD_OUT/fw.map\"' }]
    packs:
      - { id: f0, artifacts: [fw.elf, fw.map], targets: [stm32f030r8] }
      - { id: g4, artifacts: [fw.elf], targets: [stm32g431kb] }
  - { id: bad, steps: [{ run: 'exit 1' }] }
";

fn built(jobs: &Jobs) -> String {
    let archive = tar_gz(&[
        Entry::File("ci.yml", TWO),
        Entry::File("demo.elf", &demo_elf()),
    ]);
    let sent = send(
        &jobs.client(),
        &archive,
        &[("ci_yaml", "ci.yml"), ("ref", "main")],
    );
    let id = id(&sent.expect(201));
    assert_eq!(jobs.ended(&id)["verdict"], "failure");
    id
}

fn flashable(client: &Client, device: &str) -> Value {
    let path = format!("/api/bench/devices/{device}/flashable-artifacts");
    client.get(&path).unwrap().expect(200)["artifacts"].clone()
}

fn names(artifacts: &Value) -> Vec<String> {
    let name = |artifact: &Value| {
        let [pack, name] = ["pack_id", "name"].map(|member| artifact[member].as_str().unwrap());
        format!("{pack}/{name}")
    };
    artifacts.as_array().unwrap().iter().map(name).collect()
}

fn find(client: &Client, query: &str) -> Reply {
    let path = format!("/api/benchpod/builds/artifact?{query}");
    client.get(&path).unwrap()
}

fn flash(client: &Client, device: &str, body: &Value) -> Reply {
    let path = format!("/api/bench/devices/{device}/flash");
    client.post(&path, body).unwrap()
}

#[test]
fn a_file_of_a_job_is_found_and_downloaded() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let (client, device) = (jobs.client(), jobs.server.device().to_owned());
    assert_eq!(flashable(&client, &device), json!([]));
    let job = built(&jobs);

    // As if nobody had said what the device is wired to.
    let wiring = format!("/api/bench/devices/{device}/wiring");
    client.send("PUT", &wiring, Some("{}")).unwrap().expect(200);
    let all = flashable(&client, &device);
    assert_eq!(names(&all), ["fw.f0/fw.elf", "fw.g4/fw.elf"]);
    let first = &all[0];
    assert_eq!(
        (&first["job_id"], &first["ref"], &first["format"]),
        (&json!(job), &json!("main"), &json!("elf"))
    );
    assert_eq!(first["wiring_defaults"], json!({"target": "stm32f030r8"}));
    for (target, expected) in [
        ("target/stm32f0x.cfg", "fw.f0/fw.elf"),
        ("STM32G431KB", "fw.g4/fw.elf"),
        ("STM32F030R8", "fw.f0/fw.elf"),
    ] {
        let put = client.send(
            "PUT",
            &wiring,
            Some(&json!({"swd_target": target}).to_string()),
        );
        put.unwrap().expect(200);
        assert_eq!(names(&flashable(&client, &device)), [expected], "{target}");
    }

    // The job failed, so it is not the latest; with its id it is found.
    find(&client, "build=latest").expect_error(404, "not_found");
    let doubt = find(&client, &format!("build={job}"));
    doubt.expect_error(409, "ambiguous");
    assert!(doubt.text.contains("fw.f0/fw.elf, fw.g4/fw.elf"));
    let found = find(&client, &format!("build={job}&artifact=fw.f0%2Ffw.elf"));
    let found = found.expect(200)["artifact"].clone();
    assert_eq!(found, *first);
    let files = |pack: &str, name: &str| {
        let path = format!("/api/benchpod/builds/{job}/packs/{pack}/artifacts/{name}");
        client.get(&path).unwrap()
    };
    let downloaded = files("fw.f0", "fw.elf");
    let etag = format!("\"{}\"", first["sha256"].as_str().unwrap());
    assert_eq!(
        (downloaded.status, downloaded.header("etag")),
        (200, Some(&*etag))
    );
    assert_eq!(first["sha256"], digest(&demo_elf()));
    for (pack, name) in [
        ("fw.f1", "fw.elf"),
        ("external", "fw.elf"),
        ("fw.g4", "fw.map"),
    ] {
        files(pack, name).expect_error(404, "not_found");
    }
}

#[test]
fn a_file_of_a_job_is_flashed_by_job_pack_and_name() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("");
    let (client, device) = (jobs.client(), jobs.server.device().to_owned());
    let job = built(&jobs);
    let order = json!({
        "job_id": job, "pack_id": "fw.f0", "artifact_name": "fw.elf",
        "swclk": 11, "swdio": 12, "efuse": 1
    });
    let flashed = flash(&client, &device, &order).expect(200);
    assert_eq!(flashed["ok"], true, "{flashed}");
    assert_eq!(
        (
            &flashed["artifact"]["job_id"],
            &flashed["artifact"]["pack_id"]
        ),
        (&json!(job), &json!("fw.f0"))
    );
    for (member, value) in [
        ("pack_id", "fw.f1"),
        ("pack_id", "external"),
        ("artifact_name", "other.elf"),
        ("job_id", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ] {
        let mut wrong = order.clone();
        wrong[member] = value.into();
        flash(&client, &device, &wrong).expect_error(404, "not_found");
    }
    let mut doubt = order.clone();
    doubt.as_object_mut().unwrap().remove("pack_id");
    flash(&client, &device, &doubt).expect_error(409, "ambiguous");
    let nobody = jobs.server.anonymous();
    flash(&nobody, &device, &order).expect_error(401, "missing_credential");
}

#[test]
fn a_file_that_is_deleted_while_it_is_asked_for_is_not_there() {
    if !can_isolate() {
        return;
    }
    let mut jobs = Jobs::start("");
    let job = built(&jobs);
    let device = jobs.server.device().to_owned();
    let order = json!({
        "job_id": job, "pack_id": "fw.f0", "artifact_name": "fw.elf",
        "target": "STM32F030R8", "swclk": 11, "swdio": 12, "efuse": 1
    });
    // Read before it begins: nothing happens to a flash that runs when its job is deleted.
    let client = jobs.client().with_header("prefer", "respond-async");
    let begun = flash(&client, &device, &order).expect(202);
    let sha256 = begun["artifact"]["sha256"].as_str().unwrap();
    let blob = jobs.data("blobs").join(&sha256[..2]).join(sha256);
    std::fs::remove_file(&blob).unwrap();
    let path = format!("/api/bench/devices/{device}/flash/{}", id(&begun));
    let look = || jobs.client().get(&path).unwrap().expect(200);
    let ended = tests::until(look, |flash| flash["finished_at"].is_string()).unwrap();
    assert_eq!(
        (&ended["ok"], &ended["phase"]),
        (&json!(true), &json!("done"))
    );
    // As between finding a file and opening it.
    flash(&jobs.client(), &device, &order).expect_error(404, "not_found");
    let path = format!("/api/benchpod/builds/{job}/packs/fw.f0/artifacts/fw.elf");
    jobs.client()
        .get(&path)
        .unwrap()
        .expect_error(404, "not_found");

    // To another organisation the job does not exist.
    assert!(jobs.server.stop().unwrap());
    let key = format!("ApiKey {}", stranger(jobs.dir.path()));
    jobs.restart();
    let eve = jobs.server.anonymous().with_authorization(&key);
    find(&eve, &format!("build={job}")).expect_error(404, "not_found");
    eve.get(&path).unwrap().expect_error(404, "not_found");
}

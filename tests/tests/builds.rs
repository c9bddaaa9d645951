//! Builds that CI reports: files are uploaded, found again and downloaded; everybody without
//! permission is refused.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use tests::{Client, Server, until};

/// A client with a session token, as CI has it.
fn session(server: &Server) -> Client {
    let minted = server.client().post("/api/auth/token", &json!({})).unwrap();
    let token = minted.expect(200)["token"].as_str().unwrap().to_owned();
    server
        .anonymous()
        .with_authorization(&format!("Bearer {token}"))
}

fn raw(client: &Client) -> Client {
    client
        .clone()
        .with_header("content-type", "application/octet-stream")
}

fn create(client: &Client, repo: &str) -> String {
    let source = json!({"repo_owner": "acme", "repo": repo, "ref": "main", "sha": "0a1b",
        "event": "push", "wiring": {"target": "target/stm32f0x.cfg", "swclk": 1}});
    let made = client.post("/api/cloud/builds", &source).unwrap();
    let made = made.expect(201);
    assert_eq!(made["status"], "open");
    made["build_id"].as_str().unwrap().to_owned()
}

fn put(client: &Client, build: &str, name: &str, text: &str) -> tests::Reply {
    let path = format!("/api/cloud/builds/{build}/artifacts?name={name}");
    raw(client).send("POST", &path, Some(text)).unwrap()
}

fn finish(client: &Client, build: &str, body: &Value) -> tests::Reply {
    let path = format!("/api/cloud/builds/{build}/status");
    client.post(&path, body).unwrap()
}

fn find(client: &Client, query: &str) -> tests::Reply {
    let path = format!("/api/benchpod/builds/artifact?{query}");
    client.get(&path).unwrap()
}

#[test]
fn a_build_goes_up_and_its_firmware_comes_down() {
    let server = Server::demo().unwrap();
    let ci = session(&server);
    let build = create(&ci, "blinky");
    let added = put(&ci, &build, "fw.elf&content_type=text%2Fplain", "abc").expect(201);
    assert_eq!(
        added["sha256"],
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    put(&ci, &build, "fw.elf", "abc").expect(201);
    put(&ci, &build, "fw.elf", "abd").expect_error(409, "name_taken");
    put(&ci, &build, "out%2Ffw.bin", "bin").expect(201);
    put(&ci, &build, "..%2Ffw.bin", "bin").expect_error(400, "invalid_request");
    put(&ci, &build, "", "bin").expect_error(400, "invalid_request");
    let log = format!("/api/cloud/builds/{build}/logs?name=pytest.log");
    raw(&ci)
        .send("POST", &log, Some("2 passed"))
        .unwrap()
        .expect(201);
    find(&ci, "build=latest").expect_error(404, "not_found");
    let done = json!({"success": true, "reason": "ok", "wiring": {"swdio": 2}});
    assert_eq!(finish(&ci, &build, &done).expect(200)["status"], "success");
    finish(&ci, &build, &json!({"success": false})).expect_error(409, "wrong_state");
    put(&ci, &build, "late.bin", "x").expect_error(409, "wrong_state");

    let client = server.client();
    let query = "build=latest&repo=acme%2Fblinky&ref=main";
    let found = find(&client, query).expect(200)["artifact"].clone();
    assert_eq!(
        (&found["job_id"], &found["name"], &found["repo"]),
        (&json!(build), &json!("fw.elf"), &json!("acme/blinky"))
    );
    assert_eq!(
        found["wiring_defaults"],
        json!({"target": "target/stm32f0x.cfg", "swclk": 1, "swdio": 2})
    );
    let pack = found["pack_id"].as_str().unwrap();
    let files = format!("/api/benchpod/builds/{build}/packs/{pack}/artifacts");
    let elf = client.get(&format!("{files}/fw.elf")).unwrap();
    assert_eq!((elf.status, elf.text.as_str()), (200, "abc"));
    assert_eq!(elf.header("content-type"), Some("text/plain"));
    assert_eq!(elf.header("content-disposition"), Some("attachment"));
    let bin = client.get(&format!("{files}/out/fw.bin")).unwrap();
    assert_eq!(bin.text, "bin");
    for missing in ["pytest.log", "none", "fw.bin"] {
        let reply = client.get(&format!("{files}/{missing}")).unwrap();
        reply.expect_error(404, "not_found");
    }
    find(&client, "repo=else").expect_error(404, "not_found");
    find(&client, "job=1").expect_error(400, "invalid_request");

    let listed = format!("/api/bench/devices/{}/flashable-artifacts", server.device());
    let listed = client.get(&listed).unwrap().expect(200);
    assert_eq!(listed["artifacts"].as_array().unwrap().len(), 2);
    let none = "/api/bench/devices/01ARZ3NDEKTSV4RRFFQ69G5FAV/flashable-artifacts";
    client.get(none).unwrap().expect_error(404, "not_found");

    let twin = create(&ci, "twins");
    put(&ci, &twin, "a.elf", "a").expect(201);
    put(&ci, &twin, "b.elf", "b").expect(201);
    finish(&ci, &twin, &json!({"success": true})).expect(200);
    find(&client, "repo=twins").expect_error(409, "ambiguous");
    let named = find(&client, "repo=twins&artifact=b.elf").expect(200);
    assert_eq!(named["artifact"]["name"], "b.elf");
}

#[test]
fn only_session_tokens_report_builds() {
    let server = Server::demo().unwrap();
    let build = create(&session(&server), "blinky");
    for (path, body) in [
        ("/api/cloud/builds".to_owned(), "{}"),
        (
            format!("/api/cloud/builds/{build}/artifacts?name=a.bin"),
            "x",
        ),
        (format!("/api/cloud/builds/{build}/logs?name=a.log"), "x"),
        (
            format!("/api/cloud/builds/{build}/status"),
            "{\"success\":true}",
        ),
    ] {
        let by_key = server.client().send("POST", &path, Some(body)).unwrap();
        by_key.expect_error(403, "wrong_credential");
        let nobody = server.anonymous().send("POST", &path, Some(body)).unwrap();
        nobody.expect_error(401, "missing_credential");
        let get = session(&server).get(&path).unwrap();
        get.expect_error(405, "method_not_allowed");
        assert_eq!(get.header("allow"), Some("POST"));
    }
    let ci = session(&server);
    let unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    put(&ci, unknown, "a.bin", "x").expect_error(404, "not_found");
    finish(&ci, unknown, &json!({"success": true})).expect_error(404, "not_found");
    finish(&ci, &build, &json!({"success": 1})).expect_error(400, "invalid_request");
    let wrong = ci.post("/api/cloud/builds", &json!({"repo": 1})).unwrap();
    wrong.expect_error(400, "invalid_request");
}

#[test]
fn too_big_and_half_sent_files_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, "[builds]\nartifact_mib_max = 1\nquota_mib = 2\n").unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let ci = session(&server);
    let build = create(&ci, "blinky");
    let mib = "m".repeat(1 << 20);
    put(&ci, &build, "a.bin", &format!("{mib}x")).expect_error(413, "body_too_large");
    put(&ci, &build, "a.bin", &mib).expect(201);
    put(&ci, &build, "b.bin", &mib.replace('m', "n")).expect(201);
    put(&ci, &build, "c.bin", "x").expect_error(409, "quota_exceeded");

    // A sender that disappears in the middle of an upload.
    let other = create(&ci, "half");
    let minted = server.client().post("/api/auth/token", &json!({})).unwrap();
    let token = minted.expect(200)["token"].as_str().unwrap().to_owned();
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /api/cloud/builds/{other}/artifacts?name=a.bin HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 1000\r\n\r\nhalf"
    )
    .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    // Whatever the answer, if there is one.
    drop(stream.read_to_end(&mut answer));
    let staging = server.dir().join("data/blobs/staging");
    let staged = || std::fs::read_dir(&staging).unwrap().count();
    until(staged, |count| *count == 0).unwrap();
    finish(&ci, &other, &json!({"success": true})).expect(200);
    find(&ci, "repo=half").expect_error(404, "not_found");
}

//! What is bounded: sizes, counts, the time of senders, the shares of organisations.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::{Client, Server, offline, until};

use super::desk::{Asked, Desk, SLOT, is_final, put, with_connectors};

fn config(dir: &TempDir, text: &str) -> PathBuf {
    let path = dir.path().join("hostd.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn server(text: &str) -> Server {
    let dir = tempfile::tempdir().unwrap();
    let config = config(&dir, text);
    Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap()
}

/// Bytes that nobody has sent before.
fn noise(seed: u32, len: usize) -> Vec<u8> {
    let mut state = seed;
    let next = std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    });
    next.take(len).collect()
}

#[test]
fn a_board_that_is_too_large_is_refused_before_and_while_it_comes() {
    let server = server("[emi]\nupload_mib_max = 1\n");
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    assert_eq!(
        desk.get("/features").expect(200)["upload_bytes_max"],
        json!(1 << 20)
    );
    let body = json!({"filename": "a", "size_bytes": (1 << 20) + 1});
    desk.post(&format!("/projects/{project}/uploads"), &body)
        .expect_error(413, "body_too_large");
    let large = noise(1, (1 << 20) + 1);
    let url = desk.ask(&project, &large).url.unwrap();
    put(&url, &large).expect_error(413, "body_too_large");
    // Whoever says less than they send is cut at what they said.
    let body = json!({"filename": "a", "size_bytes": 100});
    let begun = desk
        .post(&format!("/projects/{project}/uploads"), &body)
        .expect(200);
    put(begun["upload_url"].as_str().unwrap(), &large[..101]).expect_error(413, "body_too_large");
    let fits = &large[..1 << 20];
    put(&desk.ask(&project, fits).url.unwrap(), fits).expect(200);
}

#[test]
fn an_organisation_keeps_as_much_as_it_may() {
    let server = server("[emi]\nquota_mib = 1\nprojects_max = 2\nboards_max = 2\n");
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    desk.project("other");
    desk.post("/projects", &json!({"name": "third"}))
        .expect_error(409, "quota_exceeded");
    let most = noise(2, 900 << 10);
    let (first, _) = desk.analysed(&project, &most);
    let more = noise(3, 300 << 10);
    let url = desk.ask(&project, &more).url.unwrap();
    put(&url, &more).expect_error(409, "quota_exceeded");
    // The same bytes once more take no room.
    let (second, _) = desk.analysed(&project, &most);
    let key = desk.send(&project, &most);
    let body = json!({"input_key": key});
    desk.post(&format!("/projects/{project}/boards"), &body)
        .expect_error(409, "quota_exceeded");
    for board in [first, second] {
        assert_eq!(desk.delete(&format!("/boards/{board}")).status, 204);
    }
    // Bytes without a board are kept for a day, so room comes with what is not kept.
    let left = desk.get(&format!("/projects/{project}/boards")).expect(200);
    assert_eq!(left, json!({"boards": []}));
}

/// The start of an upload that does not go on.
fn stalled(server: &Server, url: &str, length: usize, sent: &[u8]) -> TcpStream {
    let address = server.url.strip_prefix("http://").unwrap();
    let path = url.strip_prefix(&server.url).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "PUT {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(sent).unwrap();
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn whoever_sends_slowly_holds_no_handler_and_is_given_up() {
    let impatient = |grace_ms: u32| {
        server(&format!(
            "[handlers]\nin_flight_max = 1\n[uploads]\ngrace_ms = {grace_ms}\nbytes_per_s_min = 100000\n"
        ))
    };
    let (start, rest) = SLOT.split_at(100);
    // One that has time.
    let server = impatient(60_000);
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let Asked { key, url } = desk.ask(&project, SLOT);
    let mut slow = stalled(&server, &url.unwrap(), SLOT.len(), start);
    // The one instance of the group answers others meanwhile.
    desk.get("/projects").expect(200);
    slow.write_all(rest).unwrap();
    let whole = answer(slow);
    assert!(whole.starts_with("HTTP/1.1 200 "), "{whole}");
    let made = json!({"input_key": key});
    desk.post(&format!("/projects/{project}/boards"), &made)
        .expect(201);
    // One that has not.
    let server = impatient(200);
    let desk = Desk::of(server.client());
    let url = desk.ask(&desk.project("sensor"), SLOT).url.unwrap();
    let cut = answer(stalled(&server, &url, SLOT.len(), start));
    assert!(
        cut.starts_with("HTTP/1.1 408 ") && cut.contains("body_timeout"),
        "{cut}"
    );
}

#[test]
fn uploads_count_for_the_user_who_asked_for_the_address() {
    let server = server(
        "[uploads]\ntotal_max = 4\nper_org_max = 2\nper_user_max = 1\nqueue_wait_ms = 200\nbytes_per_s_min = 0\n",
    );
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let url = |seed| desk.ask(&project, &noise(seed, 5000)).url.unwrap();
    let held = stalled(&server, &url(1), 5000, b"x");
    let arriving = || {
        let page = server.anonymous().get("/metrics").unwrap().text;
        let line = page
            .lines()
            .find(|line| line.starts_with("hostd_http_uploads_arriving "));
        line.unwrap().ends_with(" 1")
    };
    until(arriving, |is_there| *is_there).unwrap();
    let crowded = put(&url(2), &noise(2, 5000));
    crowded.expect_error(429, "too_many_uploads");
    assert!(crowded.text.contains("this user"), "{}", crowded.text);
    // An address of another endpoint that shares the places counts the same user.
    let path = "/api/bench/waveforms/recording?name=a&sample_rate_hz=1000&full_scale_v=3";
    let body = Some(("application/octet-stream", &[1; 2000][..]));
    let sent = server.client().send_typed("POST", path, body).unwrap();
    sent.expect_error(429, "too_many_uploads");
    drop(held);
}

#[test]
fn an_organisation_with_many_runs_leaves_others_their_turn() {
    let dir = tempfile::tempdir().unwrap();
    let file = config(&dir, "[emi]\nrunning_max = 1\nqueued_per_org_max = 4\n");
    let args = ["--config", file.to_str().unwrap()];
    let mut server = Server::demo_in_with(dir.path(), &args).unwrap();
    assert!(server.stop().unwrap());
    let eve = offline::stranger(dir.path());
    let server = Server::demo_in_with(dir.path(), &args).unwrap();
    let own = Desk::of(server.client());
    let eve = Desk::of(Client::new(&server.url).with_authorization(&format!("ApiKey {eve}")));
    let project = own.project("sensor");
    let (board, run) = own.analysed(&project, &with_connectors());
    assert_eq!(run["status"], "done", "{run}");
    let mut queued = vec![own.long_run(&project, &board)];
    own.begun(&queued[0]);
    queued.extend((0..4).map(|_| own.long_run(&project, &board)));
    // The organisation has as many that wait as it may.
    let body = json!({"board_id": board, "kind": "ingest"});
    let full = own.post(&format!("/projects/{project}/runs"), &body);
    full.expect_error(429, "too_many_runs");
    assert!(full.header("retry-after").is_some());
    // Whoever comes last is next when the one that computes makes room.
    let theirs = eve.project("theirs");
    let (_, run) = eve.board(&theirs, SLOT);
    let stopped = own.post(&format!("/runs/{}/stop", queued[0]), &json!({}));
    stopped.expect(200);
    assert_eq!(eve.ended(&run)["status"], "done");
    let waiting = queued.iter().filter(|id| !is_final(&own.run(id))).count();
    assert!(waiting >= 2, "{waiting} of the others were left");
    for id in &queued {
        let stopped = own.post(&format!("/runs/{id}/stop"), &json!({}));
        assert!([200, 409].contains(&stopped.status), "{}", stopped.text);
    }
    let ended: Vec<Value> = queued.iter().map(|id| own.ended(id)).collect();
    assert!(ended.iter().any(|run| run["status"] == "failed"));
}

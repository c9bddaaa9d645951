//! A server that dies in the middle of a run owes it, and does it.

use serde_json::json;
use tests::Server;

use super::desk::{Asked, Desk, SLOT, fetch, is_final, put, text, with_connectors};

/// They take two seconds: long enough to be caught, and short enough to be done on a busy machine.
const CABLES: u32 = 12;

#[test]
fn a_run_that_a_crash_caught_is_done_after_the_restart() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let (board, _) = desk.analysed(&project, &with_connectors());
    let caught = desk.cables(&project, &board, CABLES);
    desk.begun(&caught);
    assert!(!is_final(&desk.run(&caught)));
    server.kill().unwrap();
    let server = Server::demo_in(dir.path()).unwrap();
    let desk = Desk::of(server.client());
    let run = desk.ended(&caught);
    assert_eq!(run["status"], "done", "{run}");
    assert_eq!(run["board_id"], json!(board));
    let url = text(&desk.link(&caught, "cable.json")["url"]);
    let found = fetch(&url).expect(200);
    let cables = found["cables"].as_array().unwrap().len();
    assert_eq!(cables, CABLES as usize, "{found}");
}

#[test]
fn an_address_that_was_given_before_a_restart_is_good_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let Asked { key, url } = desk.ask(&project, SLOT);
    let path = url.unwrap().strip_prefix(&server.url).unwrap().to_owned();
    server.kill().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    put(&format!("{}{path}", server.url), SLOT).expect(200);
    // Bytes that have come are kept, too.
    server.kill().unwrap();
    let server = Server::demo_in(dir.path()).unwrap();
    let desk = Desk::of(server.client());
    let made = desk.post(
        &format!("/projects/{project}/boards"),
        &json!({"input_key": key}),
    );
    let run = desk.ended(&text(&made.expect(201)["run"]["id"]));
    assert_eq!(run["status"], "done", "{run}");
}

//! Runs: stopped, repeated, and what is refused then.

use serde_json::json;
use tests::Server;

use super::desk::{Desk, SLOT, text, with_connectors};

#[test]
fn a_run_that_computes_is_stopped_and_can_be_run_again() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let (board, first) = desk.analysed(&project, &with_connectors());
    assert_eq!(first["status"], "done", "{first}");
    let id = desk.long_run(&project, &board);
    desk.begun(&id);
    let stopped = desk
        .post(&format!("/runs/{id}/stop"), &json!({}))
        .expect(200);
    assert_eq!(stopped, json!({"status": "stopping"}));
    let run = desk.ended(&id);
    assert_eq!(run["status"], "failed", "{run}");
    assert!(run["error"].as_str().unwrap().contains("stopped"), "{run}");
    assert!(run["finished_at"].is_string(), "{run}");
    desk.post(&format!("/runs/{id}/stop"), &json!({}))
        .expect_error(409, "finished");
    let again = desk
        .post(&format!("/runs/{id}/retry"), &json!({}))
        .expect(200);
    assert_eq!(again["id"], json!(id));
    assert_eq!(again["error"], json!(null));
    assert!(["retry_pending", "in_progress"].contains(&again["status"].as_str().unwrap()));
    // It has begun once more; its end would take long.
    desk.post(&format!("/runs/{id}/stop"), &json!({}))
        .expect(200);
    assert_eq!(desk.ended(&id)["status"], "failed");
    let done = text(&first["id"]);
    desk.post(&format!("/runs/{done}/retry"), &json!({}))
        .expect_error(409, "wrong_state");
    desk.post(&format!("/runs/{done}/stop"), &json!({}))
        .expect_error(409, "finished");
}

#[test]
fn limits_are_compared_only_where_everything_is_known() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let (board, _) = desk.analysed(&project, SLOT);
    let run = |params| {
        let body = json!({"board_id": board, "kind": "compliance", "params": params});
        let made = desk
            .post(&format!("/projects/{project}/runs"), &body)
            .expect(201);
        let ended = desk.ended(&text(&made["id"]));
        assert_eq!(ended["status"], "done", "{ended}");
        ended
    };
    let bare = run(json!({}));
    assert_eq!(bare["summary"]["complete"], false, "{bare}");
    assert!(bare["summary"].get("smallest_margins").is_none(), "{bare}");
    let clock = json!({"net": "SCK", "hz": 25e6, "rise_s": 1e-9, "volts": 3.3, "load_ohm": 50.0});
    let known = run(json!({"clocks": [clock]}));
    assert!(
        known["summary"].get("smallest_margins").is_some(),
        "{known}"
    );
    let id = text(&known["id"]);
    let link = desk.link(&id, "spectrum.csv");
    assert!(
        link["content_type"]
            .as_str()
            .unwrap()
            .starts_with("text/csv"),
        "{link}"
    );
}

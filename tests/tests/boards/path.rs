//! The whole way of a board: project, upload, run, findings, files, comparison, removal.

use serde_json::{Value, json};
use tests::Server;

use super::desk::{Desk, SLOT, digest, fetch, text};

#[test]
fn from_a_file_to_findings_and_back() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let features = desk.get("/features").expect(200);
    assert!(
        features["kinds"]
            .as_array()
            .unwrap()
            .contains(&json!("ingest"))
    );
    let project = desk.project("sensor");
    let listed = desk.get("/projects?limit=200").expect(200);
    assert_eq!(listed["projects"][0]["id"], json!(project));
    assert_eq!(listed["projects"][0]["source_kind"], "kicad");

    let (board, run) = desk.analysed(&project, SLOT);
    assert_eq!(run["status"], "done", "{run}");
    assert_eq!(
        (&run["kind"], &run["error"]),
        (&json!("ingest"), &Value::Null)
    );
    assert_eq!(run["progress"]["pct"], 100);
    let told = desk.get(&format!("/boards/{board}")).expect(200);
    assert_eq!(told["layer_count"], 4);
    assert_eq!(told["outline_mm"], json!([60.0, 40.0]));
    assert_eq!(told["content_sha256"], json!(digest(SLOT)));
    assert_eq!(told["ingest_run_id"], run["id"]);
    assert_eq!(told["stackup"][1]["epsilon_r"], 4.5);

    let id = text(&run["id"]);
    let names = desk.get(&format!("/runs/{id}/artifacts")).expect(200);
    let names: Vec<&str> = names["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|artifact| artifact["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"rules.json"), "{names:?}");
    let link = desk.link(&id, "rules.json");
    let content = fetch(link["url"].as_str().unwrap());
    let rules = content.expect(200);
    assert_eq!(link["size_bytes"], json!(content.text.len()));
    assert_eq!(link["name"], "rules.json");
    assert_eq!(rules["format_version"], 1);
    assert_eq!(rules["summary"], run["summary"]);
    assert!(rules["findings"].as_array().unwrap().iter().any(|finding| {
        finding["rule"] == "plane-gap" && finding["net"] == "SCK" && finding["at"]["x"] == 30.0
    }));

    assert_eq!(desk.delete(&format!("/projects/{project}")).status, 204);
    for path in [
        format!("/projects/{project}"),
        format!("/boards/{board}"),
        format!("/runs/{id}"),
        format!("/runs/{id}/artifacts/rules.json"),
    ] {
        desk.get(&path).expect_error(404, "not_found");
    }
    fetch(link["url"].as_str().unwrap()).expect_error(404, "not_found");
    assert_eq!(desk.get("/projects").expect(200), json!({"projects": []}));
}

#[test]
fn findings_come_in_pages_and_by_what_they_are_about() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let (_, run) = desk.analysed(&project, SLOT);
    let id = text(&run["id"]);
    let all = desk
        .get(&format!("/runs/{id}/findings?limit=200"))
        .expect(200);
    assert_eq!(all["next"], Value::Null);
    let all = all["findings"].as_array().unwrap();
    assert!(all.len() > 2, "{all:?}");
    let mut paged = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = desk
            .get(&format!("/runs/{id}/findings?limit=1{cursor}"))
            .expect(200);
        paged.extend(page["findings"].as_array().unwrap().clone());
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(&paged, all);
    for (query, member, value) in [
        ("severity=warning", "severity", "warning"),
        ("rule=plane-gap", "rule", "plane-gap"),
        ("net=SCK", "net", "SCK"),
    ] {
        let some = desk
            .get(&format!("/runs/{id}/findings?{query}"))
            .expect(200);
        let some = some["findings"].as_array().unwrap();
        let expected = all
            .iter()
            .filter(|finding| finding[member] == value)
            .count();
        assert_eq!(some.len(), expected, "{query}");
        assert!(expected > 0 && some.iter().all(|finding| finding[member] == value));
    }
    let none = desk
        .get(&format!("/runs/{id}/findings?net=nowhere"))
        .expect(200);
    assert_eq!(none, json!({"findings": [], "next": null}));
    // What is said about the board for one run decides about that run alone.
    let clock = json!({"clocks": [{"net": "SCK", "hz": 25e6, "rise_s": 1e-9}]});
    let body = json!({"board_id": run["board_id"], "kind": "ingest", "params": clock});
    let faster = desk
        .post(&format!("/projects/{project}/runs"), &body)
        .expect(201);
    assert_eq!(faster["params"], clock);
    let faster = desk.ended(&text(&faster["id"]));
    assert_eq!(faster["status"], "done", "{faster}");
    assert!(faster["summary"]["critical"].as_u64() > run["summary"]["critical"].as_u64());
}

#[test]
fn two_versions_are_compared_by_what_was_found() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let (old, first) = desk.analysed(&project, SLOT);
    // The slot is closed, and one net has another name.
    let slot = "(xy 0.5 0.5) (xy 27 10) (xy 27 30) (xy 33 30) (xy 33 10) (xy 27 10)";
    let fixed = String::from_utf8(SLOT.to_vec()).unwrap();
    let fixed = fixed.replace(slot, "(xy 0.5 0.5)");
    assert_ne!(fixed.as_bytes(), SLOT);
    let (new, second) = desk.analysed(&project, fixed.as_bytes());
    assert_eq!(
        (&first["status"], &second["status"]),
        (&json!("done"), &json!("done"))
    );
    let diff = desk
        .get(&format!("/boards/{new}/diff?against={old}"))
        .expect(200);
    let gone = diff["gone"].as_array().unwrap();
    let is_gap = |finding: &Value| finding["rule"] == "plane-gap" && finding["net"] == "SCK";
    assert!(gone.iter().any(is_gap), "{diff}");
    assert!(!diff["kept"].as_array().unwrap().is_empty(), "{diff}");
    let back = desk
        .get(&format!("/boards/{old}/diff?against={new}"))
        .expect(200);
    assert_eq!(back["new"], diff["gone"]);
    let same = desk
        .get(&format!("/boards/{old}/diff?against={old}"))
        .expect(200);
    assert_eq!((&same["new"], &same["gone"]), (&json!([]), &json!([])));
    desk.get(&format!(
        "/boards/{new}/diff?against=01ARZ3NDEKTSV4RRFFQ69G5FAV"
    ))
    .expect_error(404, "not_found");

    let listed = desk
        .get(&format!("/projects/{project}/boards?limit=1"))
        .expect(200);
    assert_eq!(listed["boards"][0]["id"], json!(new));
    let next = listed["next"].as_str().unwrap();
    let rest = desk
        .get(&format!("/projects/{project}/boards?cursor={next}"))
        .expect(200);
    assert_eq!(rest["boards"][0]["id"], json!(old));
    assert_eq!(desk.delete(&format!("/boards/{old}")).status, 204);
    desk.get(&format!("/runs/{}", text(&first["id"])))
        .expect_error(404, "not_found");
    let runs = desk.get(&format!("/projects/{project}/runs")).expect(200);
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn what_was_sent_once_is_not_sent_again() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let lookup = format!("/boards/lookup?sha256={}", digest(SLOT));
    assert_eq!(desk.get(&lookup).expect(200), json!({"found": false}));
    let (board, run) = desk.analysed(&project, SLOT);
    let found = desk.get(&lookup).expect(200);
    assert_eq!(
        (&found["found"], &found["parsed"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(found["board"]["id"], json!(board));
    assert_eq!(found["project"]["id"], json!(project));
    let body = json!({"filename": "b.kicad_pcb", "sha256": digest(SLOT).to_uppercase(),
        "content_type": "application/zip", "size_bytes": SLOT.len()});
    let again = desk
        .post(&format!("/projects/{project}/uploads"), &body)
        .expect(200);
    assert_eq!(again["already_uploaded"], true);
    assert!(again.get("upload_url").is_none(), "{again}");
    assert_eq!(again["content_type"], "application/zip");
    // Also for another project of the organisation.
    let other = desk.project("other");
    let (_, second) = desk.analysed(&other, SLOT);
    assert_eq!(second["summary"], run["summary"]);
}

#[test]
fn all_rules_are_told() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let rules = desk.get("/rules").expect(200);
    let rules = rules["rules"].as_array().unwrap();
    assert!(rules.len() >= 26, "{}", rules.len());
    let gap = rules.iter().find(|rule| rule["id"] == "plane-gap").unwrap();
    let params = gap["params"].as_array().unwrap();
    assert!(
        params.iter().all(|param| param["default"].is_number()),
        "{gap}"
    );
    for member in [
        "title", "about", "formula", "source", "severity", "validity",
    ] {
        assert!(!gap[member].as_str().unwrap().is_empty(), "{member}");
    }
}

//! Files that mean harm cost their own run, and say where they are wrong.

use std::io::Write;

use serde_json::json;
use tests::Server;
use zip::write::SimpleFileOptions;

use super::desk::{Desk, SLOT, digest, put};

/// A zip whose one file is much larger than what may be unpacked.
fn bomb() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let packed = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    zip.start_file("board.kicad_pcb", packed).unwrap();
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..700 {
        zip.write_all(&zeros).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_file_that_is_no_board_fails_its_run_and_nothing_else() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let slot = String::from_utf8(SLOT.to_vec()).unwrap();
    let deep = format!("(kicad_pcb (version 20240108) {})", "(".repeat(100_000));
    for (what, bytes) in [
        ("empty", Vec::new()),
        ("garbage", (0..=255_u8).cycle().take(100_000).collect()),
        ("cut", SLOT[..SLOT.len() / 2].to_vec()),
        ("deep", deep.into_bytes()),
        ("bomb", bomb()),
    ] {
        let (board, run) = desk.analysed(&project, &bytes);
        assert_eq!(run["status"], "failed", "{what}: {run}");
        assert!(run["error"].as_str().unwrap().len() > 10, "{what}: {run}");
        assert_eq!(run["summary"], json!(null), "{what}");
        let told = desk.get(&format!("/boards/{board}")).expect(200);
        assert_eq!(told["layer_count"], 0, "{what}");
        desk.get(&format!("/runs/{}/findings", run["id"].as_str().unwrap()))
            .expect_error(409, "unfinished");
    }
    for (from, to) in [
        ("(start 10 20)", "(start nan 20)"),
        ("(start 10 20)", "(start 10 inf)"),
        ("(at 9 2)", "(at 9 1e300)"),
        ("(at 9 2)", "(at -999999 2)"),
    ] {
        let wrong = slot.replacen(from, to, 1);
        let line = wrong.lines().position(|line| line.contains(to)).unwrap() + 1;
        let (_, run) = desk.analysed(&project, wrong.as_bytes());
        assert_eq!(run["status"], "failed", "{to}: {run}");
        let place = format!("line {line}, column ");
        assert!(
            run["error"].as_str().unwrap().contains(&place),
            "{to}: {run}"
        );
    }
    // The server goes on.
    let (_, run) = desk.analysed(&project, SLOT);
    assert_eq!(run["status"], "done", "{run}");
}

#[test]
fn a_rules_file_in_a_run_that_is_none_is_refused_before_it_waits() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let (board, _) = desk.board(&project, SLOT);
    for params in [
        json!({"clocks": 7}),
        json!({"clocks": [{"net": "SCK", "hz": -1, "rise_s": 1e-9}]}),
        json!({"magic": true}),
        json!({"version": 99}),
    ] {
        let body = json!({"board_id": board, "kind": "ingest", "params": params});
        let refused = desk.post(&format!("/projects/{project}/runs"), &body);
        refused.expect_error(400, "invalid_request");
        assert_eq!(
            refused.json()["fields"][0]["field"],
            "params",
            "{}",
            refused.text
        );
    }
    let unknown = json!({"board_id": board, "kind": "magic"});
    desk.post(&format!("/projects/{project}/runs"), &unknown)
        .expect_error(400, "invalid_request");
    let solve = json!({"board_id": board, "kind": "solve"});
    desk.post(&format!("/projects/{project}/runs"), &solve)
        .expect_error(403, "not_offered");
    let elsewhere = json!({"board_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "kind": "ingest"});
    desk.post(&format!("/projects/{project}/runs"), &elsewhere)
        .expect_error(404, "not_found");
}

#[test]
fn a_name_that_leads_elsewhere_is_no_name() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let uploads = format!("/projects/{project}/uploads");
    for name in ["../a", "a/b", "a\\b", "", "a\nb"] {
        let refused = desk.post(&uploads, &json!({"filename": name}));
        refused.expect_error(400, "invalid_request");
    }
    // What a key is called is the server's alone.
    for key in ["..%2F..%2Fetc", "sha256-0000", "x"] {
        let url = format!(
            "{}/api/emi/uploads/{key}?expires=9999999999&signature=AAAA",
            server.url
        );
        put(&url, SLOT).expect_error(403, "link_refused");
    }
    // Without a digest, whatever comes is taken for what it is.
    let begun = desk
        .post(&uploads, &json!({"filename": "a.kicad_pcb"}))
        .expect(200);
    let received = put(begun["upload_url"].as_str().unwrap(), SLOT).expect(200);
    assert_eq!(received["sha256"], json!(digest(SLOT)));
}

//! Addresses without a credential: each is good for one thing, and is no secret of the log's.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;
use tests::{Client, Server};

use super::desk::{Asked, Desk, SLOT, digest, fetch, put, text};

/// Uploads of one organisation that are kept at once.
const UPLOADS_MAX: u32 = 200;

/// The `value` of a parameter of an address.
fn parameter(url: &str, name: &str) -> String {
    let start = format!("{name}=");
    let (_, query) = url.split_once('?').unwrap();
    let found = query.split('&').find_map(|pair| pair.strip_prefix(&*start));
    found.unwrap().to_owned()
}

fn asked(desk: &Desk, project: &str) -> (String, String) {
    let Asked { key, url } = desk.ask(project, SLOT);
    (key, url.unwrap())
}

#[test]
fn an_address_is_good_for_one_upload_and_its_signature_for_no_other() {
    let server = Server::demo_with(&["--log-level", "trace"]).unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let (key, url) = asked(&desk, &project);
    let (other, elsewhere) = asked(&desk, &project);
    assert!(
        url.starts_with(&format!("{}/api/emi/uploads/{key}?", server.url)),
        "{url}"
    );
    let (expires, signature) = (parameter(&url, "expires"), parameter(&url, "signature"));
    let later = (expires.parse::<u64>().unwrap() + 60).to_string();
    let turned = signature.chars().rev().collect::<String>();
    let cut = &signature[..signature.len() - 1];
    for forged in [
        url.replace(&key, &other),
        url.replace(&expires, &later),
        url.replace(&expires, "1"),
        url.replace(&signature, &turned),
        url.replace(&signature, cut),
        url.replace(&signature, &parameter(&elsewhere, "signature")),
    ] {
        assert_ne!(forged, url);
        put(&forged, SLOT).expect_error(403, "link_refused");
    }
    for incomplete in [
        url.replace("signature=", "sig="),
        url.replace("expires=", "until="),
        url.split('?').next().unwrap().to_owned(),
    ] {
        put(&incomplete, SLOT).expect_error(400, "invalid_request");
    }
    // Nothing of that has come.
    let body = json!({"input_key": key});
    desk.post(&format!("/projects/{project}/boards"), &body)
        .expect_error(409, "not_received");
    // Who asked may be gone, and a credential changes nothing.
    let received = put(&url, SLOT);
    assert_eq!(received.header("cache-control"), Some("private, no-store"));
    let received = received.expect(200);
    assert_eq!(received["sha256"], json!(digest(SLOT)));
    assert_eq!(received["size_bytes"], json!(SLOT.len()));
    put(&url, SLOT).expect(200);
    put(&url, b"another board").expect_error(422, "wrong_digest");
    let wrong = json!({"input_key": key, "sha256": digest(b"another board")});
    desk.post(&format!("/projects/{project}/boards"), &wrong)
        .expect_error(422, "wrong_digest");
    let made = desk
        .post(&format!("/projects/{project}/boards"), &body)
        .expect(201);
    let run = desk.ended(&text(&made["run"]["id"]));
    assert_eq!(run["status"], "done", "{run}");
    let link = text(&desk.link(&text(&run["id"]), "rules.json")["url"]);
    fetch(&link).expect(200);
    let signatures = [
        signature,
        parameter(&elsewhere, "signature"),
        parameter(&link, "signature"),
    ];
    // The log tells of uploads.
    let log = server.logged("/api/emi/uploads/");
    for signature in signatures {
        assert!(!log.contains(&signature), "a signature is in the log");
    }
}

#[test]
fn a_file_is_fetched_by_its_own_address_alone_and_may_do_nothing_in_a_browser() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let (_, run) = desk.analysed(&project, SLOT);
    let (_, second) = desk.analysed(&project, SLOT);
    let (id, other) = (text(&run["id"]), text(&second["id"]));
    let link = desk.link(&id, "rules.json");
    let url = text(&link["url"]);
    assert!(
        url.starts_with(&format!("{}/api/emi/files/", server.url)),
        "{url}"
    );
    assert_eq!(link["content_type"], "application/json");
    assert!(
        (1..=900).contains(&link["expires_in"].as_u64().unwrap()),
        "{link}"
    );
    let file = fetch(&url);
    assert_eq!(file.status, 200);
    for (name, value) in [
        ("content-type", "application/json"),
        ("content-disposition", "attachment; filename=\"rules.json\""),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "private, no-store"),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(file.header(name), Some(value), "{name}");
    }
    let policy = file.header("content-security-policy").unwrap();
    assert!(
        policy.contains("sandbox") && policy.contains("default-src 'none'"),
        "{policy}"
    );
    let signature = parameter(&url, "signature");
    let turned: String = signature.chars().rev().collect();
    for forged in [
        url.replace(&id, &other),
        url.replace("rules.json", "emission.json"),
        url.replace(&signature, &turned),
    ] {
        fetch(&forged).expect_error(403, "link_refused");
    }
    assert_eq!(put(&url, SLOT).status, 405);
    let names = desk.get(&format!("/runs/{id}/artifacts")).expect(200);
    for artifact in names["artifacts"].as_array().unwrap() {
        let name = text(&artifact["name"]);
        let file = fetch(&text(&desk.link(&id, &name)["url"]));
        assert_eq!(file.status, 200, "{name}");
        let policy = file.header("content-security-policy").unwrap();
        assert!(policy.contains("sandbox"), "{name}: {policy}");
    }
    desk.get(&format!("/runs/{id}/artifacts/none.json"))
        .expect_error(404, "not_found");
}

#[test]
fn addresses_begin_with_the_name_that_people_know_the_server_by() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, "[http]\npublic_url = \"https://bench.example/\"\n").unwrap();
    let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let (_, url) = asked(&desk, &project);
    let path = url.strip_prefix("https://bench.example/api/emi/uploads/");
    let path = path.unwrap_or_else(|| panic!("{url}"));
    // Behind a proxy that passes it on.
    put(&format!("{}/api/emi/uploads/{path}", server.url), SLOT).expect(200);
    // Without that, it is the name that the client itself uses.
    let server = Server::demo().unwrap();
    let port = server.url.rsplit(':').next().unwrap();
    let named = format!("http://localhost:{port}");
    let key = format!("ApiKey {}", server.api_key);
    let desk = Desk::of(
        Client::new(&server.url)
            .with_authorization(&key)
            .with_header("host", &format!("localhost:{port}")),
    );
    let project = desk.project("sensor");
    let (_, url) = asked(&desk, &project);
    assert!(url.starts_with(&named), "{url}");
}

/// The answer to somebody who asks where to send a board, and does not say by what name they know the server.
fn ask_nameless(server: &Server, project: &str) -> String {
    let address = server.url.strip_prefix("http://").unwrap();
    let (key, body) = (&server.api_key, r#"{"filename":"a.kicad_pcb"}"#);
    let request = format!(
        "POST /api/emi/projects/{project}/uploads HTTP/1.0\r\nAuthorization: ApiKey {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_request_that_has_no_address_as_its_answer_leaves_no_upload() {
    let server = Server::demo().unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    for _ in 0..UPLOADS_MAX {
        let answer = ask_nameless(&server, &project);
        assert!(
            answer.contains(" 400 ") && answer.contains("by what name you know the server"),
            "{answer}"
        );
    }
    // All places for uploads are free.
    asked(&desk, &project);
}

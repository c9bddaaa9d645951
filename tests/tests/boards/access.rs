//! Who may: a key with the scope, and people; nobody of another organisation.

use serde_json::{Value, json};
use tests::{Client, Reply, Server, offline};

use super::desk::{Desk, SLOT, digest, text};

/// What a caller is answered, for each endpoint about somebody's board.
fn answers(server: &Server, client: &Client, ids: &Ids) -> Vec<Reply> {
    let desk = Desk::of(client.clone());
    let Ids {
        project,
        board,
        run,
    } = ids;
    let body = json!({"filename": "a", "sha256": digest(SLOT)});
    let own = |path: &str| desk.get(path);
    let answers = vec![
        own(&format!("/projects/{project}")),
        own(&format!("/projects/{project}/boards")),
        own(&format!("/projects/{project}/runs")),
        own(&format!("/boards/{board}")),
        own(&format!("/boards/{board}/diff?against={board}")),
        own(&format!("/runs/{run}")),
        own(&format!("/runs/{run}/findings")),
        own(&format!("/runs/{run}/artifacts")),
        own(&format!("/runs/{run}/artifacts/rules.json")),
        desk.post(&format!("/projects/{project}/uploads"), &body),
        desk.post(
            &format!("/projects/{project}/boards"),
            &json!({"input_key": "k"}),
        ),
        desk.post(
            &format!("/projects/{project}/runs"),
            &json!({"board_id": board, "kind": "ingest"}),
        ),
        desk.post(&format!("/runs/{run}/stop"), &json!({})),
        desk.post(&format!("/runs/{run}/retry"), &json!({})),
        desk.delete(&format!("/boards/{board}")),
        desk.delete(&format!("/projects/{project}")),
    ];
    // Whatever they are answered, the board stays.
    let owner = Desk::of(server.client());
    owner.get(&format!("/boards/{board}")).expect(200);
    answers
}

struct Ids {
    project: String,
    board: String,
    run: String,
}

fn key(server: &Server, scopes: &[&str]) -> Client {
    let body = json!({"name": "k", "scopes": scopes});
    let made = server
        .client()
        .post("/api/keys", &body)
        .unwrap()
        .expect(201);
    Client::new(&server.url).with_authorization(&format!("ApiKey {}", text(&made["secret"])))
}

fn token(server: &Server, body: &Value) -> Client {
    let made = server
        .client()
        .post("/api/auth/token", body)
        .unwrap()
        .expect(200);
    Client::new(&server.url).with_authorization(&format!("Bearer {}", text(&made["token"])))
}

#[test]
fn those_who_may_not_learn_nothing_and_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Server::demo_in(dir.path()).unwrap().stop().unwrap());
    let eve = offline::stranger(dir.path());
    let server = Server::demo_in(dir.path()).unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor");
    let (board, run) = desk.analysed(&project, SLOT);
    let ids = Ids {
        project,
        board,
        run: text(&run["id"]),
    };
    let stranger = Client::new(&server.url).with_authorization(&format!("ApiKey {eve}"));
    let others = ["jobs:submit", "bench:control"];
    for (who, client, status, code) in [
        ("nobody", server.anonymous(), 401, "missing_credential"),
        (
            "a key without the scope",
            key(&server, &others),
            403,
            "missing_scope",
        ),
        (
            "a session",
            token(&server, &json!({})),
            403,
            "wrong_credential",
        ),
        (
            "a session for one device",
            token(&server, &json!({"devices": ["demo"]})),
            403,
            "wrong_credential",
        ),
        ("another organisation", stranger, 404, "not_found"),
    ] {
        for answer in answers(&server, &client, &ids) {
            let told = answer.json();
            assert_eq!(
                (answer.status, &told["code"]),
                (status, &json!(code)),
                "{who}: {told}"
            );
            assert_eq!(
                answer.header("cache-control"),
                Some("private, no-store"),
                "{who}"
            );
        }
    }
    // What another organisation has sent is nobody's business: not even that it has.
    let eve = Desk::of(Client::new(&server.url).with_authorization(&format!("ApiKey {eve}")));
    assert_eq!(eve.get("/projects").expect(200), json!({"projects": []}));
    let lookup = format!("/boards/lookup?sha256={}", digest(SLOT));
    assert_eq!(eve.get(&lookup).expect(200), json!({"found": false}));
    let theirs = eve.project("theirs");
    assert!(eve.ask(&theirs, SLOT).url.is_some());
}

#[test]
fn a_key_with_the_scope_and_a_member_may() {
    let server = Server::demo().unwrap();
    let code = json!(server.code());
    let owner = Client::new(&server.url).with_authorization(&server.session(&code));
    let body = json!({"login": "ada", "role": "member"});
    let ada = owner.post("/api/users", &body).unwrap().expect(201);
    let ada = Client::new(&server.url).with_authorization(&server.session(&ada["code"]));
    let analyst = key(&server, &["emi:analyze"]);
    for client in [ada, analyst] {
        let desk = Desk::of(client);
        let project = desk.project("sensor");
        let (board, run) = desk.analysed(&project, SLOT);
        assert_eq!(run["status"], "done", "{run}");
        let reply = desk.get(&format!("/boards/{board}"));
        assert_eq!(reply.header("cache-control"), Some("private, no-store"));
        desk.link(&text(&run["id"]), "rules.json");
        assert_eq!(desk.delete(&format!("/projects/{project}")).status, 204);
    }
    // A key for boards alone opens nothing else.
    let narrow = key(&server, &["emi:analyze"]);
    let devices = narrow.get("/api/bench/devices").unwrap();
    devices.expect_error(403, "missing_scope");
}

#[test]
fn programs_of_this_computer_need_no_credential_where_the_server_says_so() {
    let config = tempfile::tempdir().unwrap();
    let file = config.path().join("hostd.toml");
    std::fs::write(&file, "[emi]\nlocal = true\n").unwrap();
    let server = Server::demo_with(&["--config", file.to_str().unwrap()]).unwrap();
    let nobody = server.anonymous();
    let status = nobody.get("/api/local/status").unwrap().expect(200);
    assert!(status["version"].is_string() && status["worker"]["message"].is_string());
    let desk = Desk::of(nobody.clone());
    let project = desk.project("sensor");
    let (board, run) = desk.analysed(&project, SLOT);
    assert_eq!(run["status"], "done", "{run}");
    // It is the same organisation's as that of people with a credential.
    let owner = Desk::of(server.client());
    let told = owner.get(&format!("/boards/{board}")).expect(200);
    assert_eq!(told["project_id"], json!(project));
    for path in ["/api/bench/devices", "/api/jobs", "/api/keys", "/api/users"] {
        nobody
            .get(path)
            .unwrap()
            .expect_error(401, "missing_credential");
    }
    for (name, value) in [
        ("origin", "http://elsewhere.example"),
        ("origin", "null"),
        ("host", "elsewhere.example"),
        ("x-forwarded-for", "192.0.2.7"),
    ] {
        let other = nobody.clone().with_header(name, value);
        let refused = other.get("/api/emi/projects").unwrap();
        refused.expect_error(401, "missing_credential");
    }
    let forged = nobody.with_authorization("ApiKey bk_AAAAAAAAAAAA_AAAAAAAAAAAAAAAAAAAAAA");
    let refused = forged.get("/api/emi/projects").unwrap();
    refused.expect_error(401, "invalid_credential");
    // Otherwise nobody is let in.
    let server = Server::demo().unwrap();
    for path in ["/api/local/status", "/api/emi/projects"] {
        let refused = server.anonymous().get(path).unwrap();
        refused.expect_error(401, "missing_credential");
    }
}

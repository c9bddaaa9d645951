//! The example `plugins/chat-webhook`, from the end of a job to a chat.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use tests::offline::offline;
use tests::receiver::Answer;
use tests::server::binary;
use tests::{Receiver, Server, can_isolate, until};

use super::{Bench, run};

const CHAT: &str = "hostd.chat-webhook";

fn package() -> PathBuf {
    let built = binary()
        .unwrap()
        .parent()
        .unwrap()
        .join("../handlers/plugins/chat-webhook");
    built.canonicalize().unwrap()
}

/// A server with the plugin, which may post to `chat`.
fn bench(chat: &Receiver) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    for (name, value) in [
        ("CHAT_URL", chat.url("/services/T0/B0/hidden")),
        ("CHAT_TOKEN", "syt_hidden_token".into()),
    ] {
        offline(dir.path(), &["secret", "set", name, "--all-refs"], &value);
    }
    let config = dir.path().join("hostd.toml");
    fs::write(&config, "[plugins]\nhttp_allow = \"127.0.0.1\"\n").unwrap();
    let with = ["--config", config.to_str().unwrap()];
    let server = Server::demo_in_with(dir.path(), &with).unwrap();
    run(dir.path(), &["install", package().to_str().unwrap()]).ok();
    run(dir.path(), &["approve", CHAT]).ok();
    run(dir.path(), &["approve", CHAT, "--http", &chat.url("/*")]).ok();
    Bench { dir, server }
}

/// A build of one command, and its end.
fn build(bench: &Bench, command: &str) -> String {
    let client = bench.client();
    let definition = format!(
        "version: 1\nname: 'a <b> & c'\nbuilds: [{{ id: fw, steps: [{{ run: '{command}' }}] }}]\n"
    );
    let job = client.post(
        "/api/jobs/submit",
        &json!({"definition": definition, "ref": "main"}),
    );
    let id = job.unwrap().expect(201)["id"].as_str().unwrap().to_owned();
    let look = || client.get(&format!("/api/jobs/{id}")).unwrap().expect(200);
    until(look, |job| job["state"] == "finished").unwrap();
    id
}

#[test]
fn jobs_that_failed_are_posted_once_the_chat_takes_them() {
    if !can_isolate() {
        return;
    }
    let chat = Receiver::start(Answer::Status(500));
    let bench = bench(&chat);
    build(&bench, "true");
    build(&bench, "exit 3");
    let seen = chat.wait_for(1);
    assert_eq!(
        (seen[0].method.as_str(), seen[0].path.as_str()),
        ("POST", "/services/T0/B0/hidden")
    );
    let body = seen[0].json();
    let text = body["text"].as_str().unwrap();
    assert!(
        text.starts_with("Job a &lt;b&gt; &amp; c (main) failed: "),
        "{text}"
    );
    // Slack was away; the next time it is there.
    chat.answer(Answer::Status(200));
    let again = chat.wait_for(2);
    assert_eq!(again[1].body, seen[0].body);
    let posted = || run(bench.dir.path(), &["logs", CHAT]).ok();
    let log = until(posted, |log| log.contains("was posted")).unwrap();
    assert!(
        log.contains("the chat answered 500") && !log.contains("hidden"),
        "{log}"
    );
    assert!(!bench.server.log().contains("hidden"));

    // Matrix: a room by its id, one transaction for each event.
    let server = format!("homeserver={}", chat.url(""));
    let (set, room) = ("--set", "room=!room:m.example");
    let room = [
        "configure",
        CHAT,
        set,
        "chat=matrix",
        set,
        &server,
        set,
        room,
    ];
    run(bench.dir.path(), &room).ok();
    build(&bench, "exit 4");
    let seen = chat.until(|seen| seen.iter().any(|one| one.method == "PUT"));
    let put = seen.iter().find(|one| one.method == "PUT").unwrap();
    let path = "/_matrix/client/v3/rooms/%21room%3Am.example/send/m.room.message/";
    assert!(put.path.starts_with(path), "{}", put.path);
    assert_eq!(put.header("authorization"), Some("Bearer syt_hidden_token"));
    assert_eq!(put.json()["msgtype"], "m.notice");
}

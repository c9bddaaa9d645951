//! Requests of plugins go where they were granted and nowhere else; and what plugins say reaches webhooks.

use std::fs;

use serde_json::{Value, json};
use tests::offline::offline;
use tests::receiver::Answer;
use tests::{Client, Receiver, Reply, Server};

use super::events::metric;
use super::{Bench, ID, call, with_key};

const WANTS: &str =
    "interfaces = [\"http-out\", \"secrets\", \"notify\"]\npublic = true\nsecrets = [\"TOKEN\"]\n";

/// A server whose plugins may reach `allow`, and all webhooks this machine, with the plugin approved.
fn bench(allow: &str) -> Bench {
    bench_with(allow, "a-long-secret-value")
}

/// The same, with another secret.
fn bench_with(allow: &str, value: &str) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    let secret = ["secret", "set", "TOKEN", "--all-refs"];
    offline(dir.path(), &secret, value);
    let config = dir.path().join("hostd.toml");
    let text =
        format!("[webhooks]\nallow = \"127.0.0.0/8\"\n[plugins]\nhttp_allow = \"{allow}\"\n");
    fs::write(&config, text).unwrap();
    let with = ["--config", config.to_str().unwrap()];
    let server = Server::demo_in_with(dir.path(), &with).unwrap();
    let bench = Bench { dir, server };
    let folder = bench.version("1.0.0", WANTS, "");
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    bench.plugin(&["approve", ID]).ok();
    bench
}

fn grant(bench: &Bench, pattern: &str) {
    bench.plugin(&["approve", ID, "--http", pattern]).ok();
}

fn get(bench: &Bench, url: &str) -> Reply {
    bench.call(&json!({"function": "http-out.send", "url": url}))
}

fn sentence(reply: &Reply) -> String {
    reply.json()["error"].as_str().unwrap().to_owned()
}

#[test]
fn a_request_goes_where_it_was_granted_as_it_was_made() {
    let bench = bench("127.0.0.1");
    let receiver = Receiver::start(Answer::With(201, "x-made", "yes".to_owned()));
    let asked = json!({"function": "http-out.send", "method": "PUT", "url": receiver.url("/hook/a?b=c"),
        "value": "text", "headers": {"Authorization": "Bearer t0ken", "X-Own": "1"}});
    let refused = bench.call(&asked);
    refused.expect_error(403, "not_granted");
    let command = format!("hostd plugin approve {ID} --org");
    assert!(sentence(&refused).contains(&command), "{}", refused.text);
    assert!(
        sentence(&refused).contains(&receiver.url("/hook/a")),
        "{}",
        refused.text
    );
    assert!(!refused.text.contains("b=c"), "{}", refused.text);

    grant(&bench, &receiver.url("/hook/*"));
    let answer = bench.call(&asked).expect(200);
    assert_eq!(answer["status"], 201);
    assert!(
        answer["headers"]
            .as_array()
            .unwrap()
            .contains(&json!(["x-made", "yes"]))
    );
    let seen = &receiver.seen()[0];
    assert_eq!(
        (seen.method.as_str(), seen.path.as_str()),
        ("PUT", "/hook/a?b=c")
    );
    assert_eq!(seen.body, "text");
    assert_eq!(seen.header("authorization"), Some("Bearer t0ken"));
    assert_eq!(seen.header("accept-encoding"), Some("identity"));
    get(&bench, &receiver.url("/other")).expect_error(403, "not_granted");
    get(&bench, &receiver.url("/hook/../other")).expect_error(403, "not_granted");
    assert_eq!(receiver.seen().len(), 1);
    // What was refused is no request.
    assert_eq!(metric(&bench, "http_requests_total"), 1);
    assert_eq!(metric(&bench, "http_unanswered_total"), 0);
    assert!(!bench.server.log().contains("t0ken"));
}

#[test]
fn what_only_the_server_reaches_is_nobodys_whatever_its_name() {
    let bench = bench("");
    let receiver = Receiver::start(Answer::Status(200));
    let port = receiver.url("").rsplit(':').next().unwrap().to_owned();
    for host in ["127.0.0.1", "localhost", "[::1]", "169.254.169.254"] {
        grant(&bench, &format!("http://{host}:{port}/*"));
        let refused = get(&bench, &format!("http://{host}:{port}/x"));
        // A name that a machine does not know is not reached either.
        let code = refused.json()["code"].clone();
        let unknown = host == "localhost" && code == "unreachable";
        assert!(code == "forbidden" || unknown, "{host}: {}", refused.text);
    }
    assert!(receiver.seen().is_empty());
}

#[test]
fn redirects_are_checked_as_requests_are() {
    let bench = bench("127.0.0.1");
    let end = Receiver::start(Answer::Status(200));
    let to = |location: String| {
        let receiver = Receiver::start(Answer::With(302, "location", location));
        grant(&bench, &receiver.url("/*"));
        receiver
    };
    let foreign = to(end.url("/end?token=x"));
    let asked = json!({"function": "http-out.send", "method": "POST", "url": foreign.url("/"), "value": "body",
        "headers": {"Authorization": "Bearer t0ken", "Accept": "text/plain"}});
    let refused = bench.call(&asked);
    refused.expect_error(403, "not_granted");
    let command = format!("--http {}", end.url("/end"));
    assert!(sentence(&refused).contains(&command), "{}", refused.text);
    assert!(end.seen().is_empty());

    grant(&bench, &end.url("/*"));
    assert_eq!(bench.call(&asked).expect(200)["status"], 200);
    let seen = &end.seen()[0];
    assert_eq!((seen.method.as_str(), seen.body.as_str()), ("GET", ""));
    assert_eq!(
        (seen.header("authorization"), seen.header("accept")),
        (None, Some("text/plain"))
    );

    // Granted by name, and still not reached.
    grant(&bench, "http://[::1]:9/*");
    let private = to("http://[::1]:9/x".to_owned());
    get(&bench, &private.url("/")).expect_error(403, "forbidden");
    // Round and round.
    let circle = to("/again".to_owned());
    let refused = get(&bench, &circle.url("/"));
    refused.expect_error(502, "refused");
    assert!(
        sentence(&refused).contains("more than 5 times"),
        "{}",
        refused.text
    );
}

#[test]
fn answers_and_requests_have_their_bounds() {
    let bench = bench("127.0.0.1");
    let receiver = Receiver::start(Answer::Endless);
    grant(&bench, &receiver.url("/*"));
    let url = receiver.url("/");
    get(&bench, &url).expect_error(413, "too_large");
    receiver.answer(Answer::Slow);
    get(&bench, &url).expect_error(504, "timeout");
    receiver.answer(Answer::Silence);
    get(&bench, &url).expect_error(504, "timeout");
    receiver.answer(Answer::Garbage);
    get(&bench, &url).expect_error(502, "unreachable");
    receiver.answer(Answer::Status(200));
    let size = |size: u32| {
        let asked =
            json!({"function": "http-out.send", "method": "POST", "url": url, "size": size});
        bench.call(&asked)
    };
    size(1 << 20).expect(200);
    size((1 << 20) + 1).expect_error(413, "too_large");
    let header = |name: &str| {
        let headers = json!({name: "x"});
        bench.call(&json!({"function": "http-out.send", "url": url, "headers": headers}))
    };
    header("host").expect_error(400, "invalid");
    header("a b").expect_error(400, "invalid");
    for bad in ["ftp://a.example/", "http://user@a.example/", "a"] {
        get(&bench, bad).expect_error(400, "invalid");
    }
}

#[test]
fn secrets_that_were_read_are_blotted_out_of_errors() {
    let bench = bench("127.0.0.1");
    let asked = json!({"function": "secret-url", "url": "http://a.example/", "name": "TOKEN"});
    let refused = bench.call(&asked);
    refused.expect_error(403, "not_granted");
    assert!(
        !refused.text.contains("a-long-secret-value"),
        "{}",
        refused.text
    );
    assert!(
        refused.text.contains("http://a.example/"),
        "{}",
        refused.text
    );
}

#[test]
fn a_url_that_is_a_secret_is_told_by_its_server_alone() {
    let secret = "http://A.example:80/hooks/tok-en-12345?x=1";
    let bench = bench_with("127.0.0.1", secret);
    let told = |url: &str| {
        let asked = json!({"function": "secret-url", "url": url, "name": "TOKEN"});
        let refused = bench.call(&asked);
        refused.expect_error(403, "not_granted");
        let sentence = sentence(&refused);
        assert!(!sentence.contains("tok-en"), "{sentence}");
        assert!(!sentence.contains("hooks"), "{sentence}");
        sentence
    };
    let command = "--http 'http://a.example/*'";
    let sentence = told("");
    assert!(sentence.contains(command), "{sentence}");
    // A redirect to where the secret is, as the secret has it.
    let away = Receiver::start(Answer::With(302, "location", secret.to_owned()));
    grant(&bench, &away.url("/*"));
    let sentence = told(&away.url("/?next="));
    assert!(sentence.contains(command), "{sentence}");
}

#[test]
fn webhooks_hear_what_a_plugin_has_to_say() {
    let bench = bench("");
    let client = bench.client();
    let (own, deaf) = (
        Receiver::start(Answer::Status(500)),
        Receiver::start(Answer::Status(200)),
    );
    let hook = |receiver: &Receiver, events: Value| {
        let body = json!({"url": receiver.url("/"), "events": events});
        client.post("/api/webhooks", &body).unwrap()
    };
    hook(&own, json!(["job.finished", "x.test.plugin.rail.high"])).expect(201);
    hook(&deaf, json!(["job.finished", "x.other.plugin.rail.high"])).expect(201);
    for bad in [
        json!([]),
        json!(["job.started"]),
        json!(["webhook.test"]),
        json!(["x."]),
    ] {
        hook(&deaf, bad).expect_error(400, "invalid_request");
    }
    let say = |kind: &str, data: Value| {
        bench.call(&json!({"function": "notify.send", "kind": kind, "json": data}))
    };
    say("rail.high", json!({"rail": 1})).expect(200);
    // It is stored before, and tried until it is taken.
    let first = own.wait_for(1);
    own.answer(Answer::Status(200));
    let seen = own.wait_for(2);
    assert_eq!(seen[0].header("webhook-id"), seen[1].header("webhook-id"));
    assert!(first[0].header("webhook-signature").is_some());
    let body = seen[1].json();
    assert_eq!(
        (&body["type"], &body["data"]),
        (&json!("x.test.plugin.rail.high"), &json!({"rail": 1}))
    );
    assert_eq!(body["plugin"], ID);
    assert!(deaf.seen().is_empty());
    assert_eq!(metric(&bench, "notices_total"), 1);
    say("", json!({})).expect_error(400, "invalid");
    say("A b", json!({})).expect_error(400, "invalid");
    say("a", json!([])).expect_error(400, "invalid");
    say("a", json!({"a": "x".repeat(64 << 10)})).expect_error(413, "too_large");
}

#[test]
fn another_organisations_webhooks_hear_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    let stranger = tests::offline::stranger(dir.path());
    let config = dir.path().join("hostd.toml");
    fs::write(&config, "[webhooks]\nallow = \"127.0.0.0/8\"\n").unwrap();
    let with = ["--config", config.to_str().unwrap()];
    let server = Server::demo_in_with(dir.path(), &with).unwrap();
    let bench = Bench { dir, server };
    let folder = bench.version("1.0.0", WANTS, "");
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    bench.plugin(&["approve", ID]).ok();
    let other = with_key(&bench.server, &stranger);
    let receiver = Receiver::start(Answer::Status(200));
    let own = bench.client();
    let hook = |client: &Client, path: &str| {
        let body = json!({"url": receiver.url(path), "events": ["x.test.plugin.a"]});
        let made = client.post("/api/webhooks", &body).unwrap().expect(201);
        made["id"].as_str().unwrap().to_owned()
    };
    let (ours, theirs) = (hook(&own, "/ours"), hook(&other, "/theirs"));
    let deliveries = |client: &Client, id: &str| {
        let path = format!("/api/webhooks/{id}/deliveries");
        let found = client.get(&path).unwrap().expect(200);
        found["deliveries"].as_array().unwrap().len()
    };
    let say = json!({"function": "notify.send", "kind": "a", "json": {}});
    call(&other, &say).expect_error(403, "not_granted");
    bench.call(&say).expect(200);
    // Stored when the call returns, so whoever is owed nothing now is told nothing later.
    assert_eq!(deliveries(&own, &ours), 1);
    assert_eq!(deliveries(&other, &theirs), 0);
    let seen = receiver.wait_for(1);
    assert_eq!((seen.len(), seen[0].path.as_str()), (1, "/ours"));
}

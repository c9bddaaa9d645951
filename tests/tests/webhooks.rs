//! Webhooks, badges and commit statuses: who is told when a job has ended, whatever happens in between.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tests::offline::stranger;
use tests::receiver::{Answer, Received};
use tests::{Client, Receiver, Reply, Server, can_isolate, until};

/// A commit, whole.
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The organisation that the first start makes.
const ORGANISATION: &str = "default";

/// Receivers of this machine may be reached, and are asked again soon.
const LOCAL: &str = "[webhooks]\nallow = \"127.0.0.0/8\"\nretry_ms = 50\n";

fn serve(dir: &Path, config: &str) -> Server {
    let path = dir.join("hostd.toml");
    fs::write(&path, config).unwrap();
    Server::demo_in_with(dir, &["--config", path.to_str().unwrap()]).unwrap()
}

/// Submits a build of one command; the id of its job.
fn submit(client: &Client, command: &str) -> String {
    let definition = format!(
        "version: 1\nname: blinky\nlimits: {{ memory: 64MiB, processes: 32, log: 1MiB }}\n\
         builds: [{{ id: fw, steps: [{{ run: '{command}' }}] }}]\n"
    );
    let body = json!({"definition": definition, "ref": "main", "commit": COMMIT});
    let job = client.post("/api/jobs/submit", &body).unwrap().expect(201);
    job["id"].as_str().unwrap().to_owned()
}

fn ended(client: &Client, id: &str) -> Value {
    let look = || client.get(&format!("/api/jobs/{id}")).unwrap().expect(200);
    until(look, |job| job["state"] == "finished").unwrap()
}

/// Makes a webhook; its id and secret.
fn webhook(client: &Client, url: &str) -> (String, String) {
    let made = client.post("/api/webhooks", &json!({"url": url}));
    let made = made.unwrap().expect(201);
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("id"), text("secret"))
}

fn deliveries(client: &Client, id: &str) -> Value {
    let found = client.get(&format!("/api/webhooks/{id}/deliveries"));
    found.unwrap().expect(200)["deliveries"].clone()
}

/// HMAC-SHA-256 as RFC 2104 has it.
fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let pad = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(at, byte)| *at ^= byte);
        block
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message);
    let outer = Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner.finalize());
    outer.finalize().to_vec()
}

fn assert_signed(received: &Received, secret: &str) {
    let header = |name| received.header(name).unwrap();
    let key = secret.strip_prefix("whsec_").unwrap();
    let key = STANDARD.decode(key).unwrap();
    let signed = format!(
        "{}.{}.{}",
        header("webhook-id"),
        header("webhook-timestamp"),
        received.body
    );
    let expected = format!("v1,{}", STANDARD.encode(hmac(&key, signed.as_bytes())));
    assert_eq!(header("webhook-signature"), expected);
}

#[test]
fn a_finished_job_is_told_and_signed() {
    if !can_isolate() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let config = format!("{LOCAL}[http]\npublic_url = \"https://bench.example\"\n");
    let server = serve(dir.path(), &config);
    let (client, receiver) = (server.client(), Receiver::start(Answer::Status(200)));
    let (hook, secret) = webhook(&client, &receiver.url("/hook?key=hidden"));
    let id = submit(&client, "true");
    let job = ended(&client, &id);
    let seen = receiver.wait_for(1);
    assert_signed(&seen[0], &secret);
    let body = seen[0].json();
    assert_eq!(body["type"], "job.finished");
    let told = &body["data"]["job"];
    for member in [
        "id",
        "name",
        "ref",
        "commit",
        "state",
        "ended_because",
        "verdict",
        "status",
        "message",
        "user",
        "created_at",
        "started_at",
        "finished_at",
    ] {
        assert_eq!(told[member], job[member], "{member}");
    }
    assert_eq!(told["runs"][0]["outcome"], "passed");
    let report = format!("https://bench.example/api/jobs/{id}/report");
    assert_eq!(body["data"]["links"]["report"], report);
    let is_there = |all: &Value| all[0]["phase"] == "delivered";
    let all = until(|| deliveries(&client, &hook), is_there).unwrap();
    assert_eq!(all[0]["id"], seen[0].header("webhook-id").unwrap());
    assert_eq!(
        (&all[0]["job"], &all[0]["status"]),
        (&json!(id), &json!(200))
    );
    // A test is signed as well, and one more time is asked for under the same id.
    let path = format!("/api/webhooks/{hook}");
    let test = client.post(&format!("{path}/test"), &json!({}));
    let test = test.unwrap().expect(202);
    let seen = receiver.wait_for(2);
    assert_signed(&seen[1], &secret);
    assert_eq!(seen[1].json()["type"], "webhook.test");
    let of_test = |all: &Value| all[0]["id"] == test["id"] && all[0]["phase"] == "delivered";
    until(|| deliveries(&client, &hook), of_test).unwrap();
    let again = format!(
        "{path}/deliveries/{}/redeliver",
        test["id"].as_str().unwrap()
    );
    client.post(&again, &json!({})).unwrap().expect(202);
    let seen = receiver.wait_for(3);
    assert_eq!(seen[2].header("webhook-id"), seen[1].header("webhook-id"));
    // Neither the secret nor the URL is told anybody again.
    assert!(
        client
            .get(&path)
            .unwrap()
            .expect(200)
            .get("secret")
            .is_none()
    );
    let log = server.log();
    assert!(!log.contains(&secret) && !log.contains("hidden"), "{log}");
}

#[test]
fn what_is_owed_when_the_server_is_killed_is_told_afterwards() {
    if !can_isolate() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let receiver = Receiver::start(Answer::Silence);
    let mut server = serve(dir.path(), LOCAL);
    let (_, secret) = webhook(&server.client(), &receiver.url("/"));
    let first = submit(&server.client(), "true");
    ended(&server.client(), &first);
    // It is being told, and has not been accepted.
    let told = receiver.wait_for(1);
    server.kill().unwrap();
    let mut server = serve(dir.path(), LOCAL);
    // This one ends, and the server with it.
    let second = submit(&server.client(), "true");
    ended(&server.client(), &second);
    server.kill().unwrap();
    receiver.answer(Answer::Status(200));
    let before = receiver.seen().len();
    let server = serve(dir.path(), LOCAL);
    let seen = receiver.until(|seen| {
        let about = |job: &str| seen[before..].iter().any(|one| one.body.contains(job));
        about(&first) && about(&second)
    });
    let ids = |job: &str| {
        let of_job = seen.iter().filter(|one| one.body.contains(job));
        let ids = of_job.map(|one| one.header("webhook-id").unwrap());
        ids.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!((ids(&first).len(), ids(&second).len()), (1, 1));
    assert!(ids(&first).contains(told[0].header("webhook-id").unwrap()));
    for one in &seen {
        assert_signed(one, &secret);
    }
    // Each was accepted once, and is not sent any more.
    let hooks = server.client().get("/api/webhooks").unwrap().expect(200);
    let hook = hooks["webhooks"][0]["id"].as_str().unwrap();
    let all_there = |all: &Value| {
        let mut all = all.as_array().unwrap().iter();
        all.all(|one| one["phase"] == "delivered")
    };
    until(|| deliveries(&server.client(), hook), all_there).unwrap();
}

#[test]
fn a_silent_receiver_does_not_hold_up_another_organisation() {
    if !can_isolate() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut server = serve(dir.path(), LOCAL);
    assert!(server.stop().unwrap());
    let key = format!("ApiKey {}", stranger(dir.path()));
    let server = serve(dir.path(), LOCAL);
    let eve = server.anonymous().with_authorization(&key);
    let silent = Receiver::start(Answer::Silence);
    let heard = Receiver::start(Answer::Status(200));
    for _ in 0..6 {
        webhook(&server.client(), &silent.url("/"));
    }
    webhook(&eve, &heard.url("/"));
    ended(&server.client(), &submit(&server.client(), "true"));
    let _ = silent.wait_for(4);
    let job = submit(&eve, "true");
    ended(&eve, &job);
    let begun = Instant::now();
    let seen = heard.wait_for(1);
    // Sooner than any of the silent ones is given up.
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(seen[0].json()["data"]["job"]["id"], job);
}

/// Everything that is about one webhook or badge.
fn every(client: &Client, hook: &str, badge: &str) -> [Reply; 7] {
    let hook = format!("/api/webhooks/{hook}");
    let again = format!("{hook}/deliveries/msg_x/redeliver");
    [
        client.get(&hook).unwrap(),
        client.patch(&hook, &json!({"enabled": false})).unwrap(),
        client.get(&format!("{hook}/deliveries")).unwrap(),
        client.post(&format!("{hook}/test"), &json!({})).unwrap(),
        client.post(&again, &json!({})).unwrap(),
        client.delete(&hook).unwrap(),
        client.delete(&format!("/api/badges/{badge}")).unwrap(),
    ]
}

/// Everything that is about none.
fn general(client: &Client) -> [Reply; 4] {
    let url = json!({"url": "https://receiver.invalid/"});
    [
        client.get("/api/webhooks").unwrap(),
        client.post("/api/webhooks", &url).unwrap(),
        client.get("/api/badges").unwrap(),
        client.post("/api/badges", &json!({"name": "x"})).unwrap(),
    ]
}

#[test]
fn only_administrators_of_the_organisation_manage_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = serve(dir.path(), LOCAL);
    assert!(server.stop().unwrap());
    let key = format!("ApiKey {}", stranger(dir.path()));
    let server = serve(dir.path(), LOCAL);
    let eve = server.anonymous().with_authorization(&key);
    let owner = server.client();
    let (hook, _) = webhook(&owner, "https://receiver.invalid/");
    let made = owner.post("/api/badges", &json!({"name": "blinky"}));
    let badge = made.unwrap().expect(201)["id"].as_str().unwrap().to_owned();
    let all = |client: &Client| every(client, &hook, &badge);
    for reply in all(&eve) {
        reply.expect_error(404, "not_found");
    }
    assert_eq!(
        eve.get("/api/webhooks").unwrap().expect(200)["webhooks"],
        json!([])
    );
    let refused = |client: &Client, status: u16, code: &str| {
        for reply in all(client).iter().chain(&general(client)) {
            reply.expect_error(status, code);
        }
    };
    refused(&server.anonymous(), 401, "missing_credential");
    let session = |code: &Value| {
        let session = server.session(code);
        server.anonymous().with_authorization(&session)
    };
    // Each start prints a code until the owner has signed in.
    let log = server.log();
    let code = log.rsplit("{\"code\":\"").next().unwrap();
    let people = session(&code.split('"').next().into());
    let ada = people.post("/api/users", &json!({"login": "ada"})).unwrap();
    refused(&session(&ada.expect(201)["code"]), 403, "forbidden");
    let token = owner
        .post("/api/auth/token", &json!({}))
        .unwrap()
        .expect(200);
    let token = format!("Bearer {}", token["token"].as_str().unwrap());
    refused(
        &server.anonymous().with_authorization(&token),
        403,
        "wrong_credential",
    );
    let narrow = json!({"name": "k", "scopes": ["jobs:submit", "bench:control"]});
    let narrow = owner.post("/api/keys", &narrow).unwrap().expect(201);
    let narrow = format!("ApiKey {}", narrow["secret"].as_str().unwrap());
    refused(
        &server.anonymous().with_authorization(&narrow),
        403,
        "missing_scope",
    );
    // Nothing of that had any effect.
    let path = format!("/api/webhooks/{hook}");
    assert_eq!(people.get(&path).unwrap().expect(200)["enabled"], true);
    assert_eq!(deliveries(&owner, &hook), json!([]));
}

#[test]
fn this_machine_is_reached_only_where_the_configuration_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(dir.path(), "");
    let (client, receiver) = (server.client(), Receiver::start(Answer::Status(200)));
    for url in [
        receiver.url("/"),
        "http://[::1]/".to_owned(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[::ffff:127.0.0.1]/".to_owned(),
    ] {
        let refused = client.post("/api/webhooks", &json!({"url": url})).unwrap();
        let body = refused.expect(400);
        assert_eq!(body["fields"][0]["field"], "url", "{url}: {body}");
    }
    // A name is judged by where it leads when it is used.
    let (hook, _) = webhook(
        &client,
        &receiver.url("/").replace("127.0.0.1", "localhost"),
    );
    let path = format!("/api/webhooks/{hook}/test");
    client.post(&path, &json!({})).unwrap().expect(202);
    let tried = |all: &Value| all[0]["attempts"] != 0;
    let all = until(|| deliveries(&client, &hook), tried).unwrap();
    let error = all[0]["error"].as_str().unwrap();
    assert!(error.contains("loopback"), "{error}");
    assert_eq!(receiver.seen().len(), 0);
}

#[test]
fn a_badge_shows_the_newest_job_to_whoever_knows_its_id() {
    if !can_isolate() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let server = serve(dir.path(), "");
    let (client, anybody) = (server.client(), server.anonymous());
    let body = json!({"name": "blinky", "label": "be<nch"});
    let made = client.post("/api/badges", &body).unwrap().expect(201);
    assert_eq!(made["word"], "unknown");
    let image = made["image"].as_str().unwrap();
    let shows = |image: &str, word: &str| {
        let look = || anybody.get(image).unwrap().text.into();
        let is_it = |text: &Value| {
            let text = text.as_str().unwrap();
            text.contains(&format!("<title>be&lt;nch: {word}</title>"))
        };
        until(look, is_it).unwrap();
    };
    shows(image, "unknown");
    ended(&client, &submit(&client, "true"));
    shows(image, "passing");
    let seen = anybody.get(image).unwrap();
    assert_eq!(seen.header("content-type"), Some("image/svg+xml"));
    assert_eq!(seen.header("cache-control"), Some("public, max-age=60"));
    let tag = seen.header("etag").unwrap();
    let known = anybody.clone().with_header("if-none-match", tag);
    assert_eq!(known.get(image).unwrap().status, 304);
    ended(&client, &submit(&client, "false"));
    shows(image, "failing");
    assert_eq!(known.get(image).unwrap().status, 200);
    // One that is made later knows of jobs before it, and of no other branch's.
    let late = client.post("/api/badges", &body).unwrap().expect(201);
    assert_eq!(late["word"], "failing");
    let other = json!({"name": "blinky", "ref": "other"});
    let other = client.post("/api/badges", &other).unwrap().expect(201);
    assert_eq!(other["word"], "unknown");
    let gone = format!("/api/badges/{}", made["id"].as_str().unwrap());
    assert_eq!(client.delete(&gone).unwrap().status, 204);
    anybody.get(image).unwrap().expect_error(404, "not_found");
    let guessed = format!("/api/badges/{}/badge.svg", "A".repeat(22));
    anybody
        .get(&guessed)
        .unwrap()
        .expect_error(404, "not_found");
}

#[test]
fn strangers_are_limited() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(dir.path(), "[http]\nrate_per_s = 1\nrate_burst = 5\n");
    let path = format!("/api/badges/{}/badge.svg", "A".repeat(22));
    let asked = (0..20).map(|_| server.anonymous().get(&path).unwrap().status);
    let refused = asked.filter(|status| *status == 429).count();
    assert!(refused >= 10, "{refused}");
}

#[test]
fn github_and_gitlab_mark_commits() {
    if !can_isolate() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    fs::write(&token, "s3cret-token\n").unwrap();
    fs::set_permissions(&token, Permissions::from_mode(0o600)).unwrap();
    let (github, gitlab) = (
        Receiver::start(Answer::Status(201)),
        Receiver::start(Answer::Status(201)),
    );
    let mut config = "[http]\npublic_url = \"https://bench.example\"\n".to_owned();
    for (provider, repository, url) in [
        ("github", "acme/blinky", github.url("")),
        ("gitlab", "acme/fw/blinky", gitlab.url("/api/v4")),
    ] {
        write!(
            config,
            "[[commit_status]]\nprovider = \"{provider}\"\nrepository = \"{repository}\"\n\
             organisation = \"{ORGANISATION}\"\npipeline = \"blinky\"\ntoken_file = \"{}\"\n\
             api_url = \"{url}\"\n",
            token.display()
        )
        .unwrap();
    }
    let server = serve(dir.path(), &config);
    let id = submit(&server.client(), "false");
    ended(&server.client(), &id);
    let is_last = |state: &'static str| {
        move |seen: &[Received]| {
            seen.last()
                .is_some_and(|last| last.json()["state"] == state)
        }
    };
    let seen = github.until(is_last("failure"));
    assert_eq!(
        seen[0].path,
        format!("/repos/acme/blinky/statuses/{COMMIT}")
    );
    assert_eq!(seen[0].header("authorization"), Some("Bearer s3cret-token"));
    let (last, before) = seen.split_last().unwrap();
    assert!(before.iter().all(|one| one.json()["state"] == "pending"));
    let body = last.json();
    assert_eq!(body["context"], "hostd/blinky");
    let report = format!("https://bench.example/api/jobs/{id}/report");
    assert_eq!(body["target_url"], report);
    assert!(body["description"].as_str().unwrap().chars().count() <= 140);
    let seen = gitlab.until(is_last("failed"));
    let path = format!("/api/v4/projects/acme%2Ffw%2Fblinky/statuses/{COMMIT}");
    assert_eq!(seen[0].path, path);
    assert_eq!(seen[0].header("private-token"), Some("s3cret-token"));
    assert!(!server.log().contains("s3cret-token"));
    drop(server);
    // What others can read is no secret, and the server says so instead of starting.
    fs::set_permissions(&token, Permissions::from_mode(0o644)).unwrap();
    let path = dir.path().join("hostd.toml");
    let refused = Server::demo_in_with(dir.path(), &["--config", path.to_str().unwrap()]);
    let refused = format!("{:#}", refused.unwrap_err());
    assert!(refused.contains("chmod 600"), "{refused}");
}

#[test]
fn a_webhook_whose_key_is_lost_waits_and_is_healed_by_another_one() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(dir.path(), LOCAL);
    let (client, receiver) = (server.client(), Receiver::start(Answer::Status(200)));
    let (hook, before) = webhook(&client, &receiver.url("/"));
    fs::remove_file(dir.path().join("data/secrets.key")).unwrap();
    let sent = client.post(&format!("/api/webhooks/{hook}/test"), &json!({}));
    sent.unwrap().expect(202);
    let waits = until(
        || deliveries(&client, &hook)[0].clone(),
        |delivery| delivery["attempts"].as_u64() > Some(0),
    );
    let waits = waits.unwrap();
    assert_eq!(waits["phase"], "waiting", "{waits}");
    let told = waits["error"].as_str().unwrap();
    assert!(told.contains("secrets.key"), "{told}");
    // No other key is made by the way, only when somebody asks for one.
    let refused = client.post("/api/webhooks", &json!({"url": receiver.url("/")}));
    refused.unwrap().expect_error(503, "secrets_unavailable");
    let rotated = client.post(&format!("/api/webhooks/{hook}/rotate"), &json!({}));
    let rotated = rotated.unwrap().expect(200);
    let secret = rotated["secret"].as_str().unwrap();
    assert_ne!(secret, before);
    let seen = receiver.wait_for(1);
    assert_signed(&seen[0], secret);
}

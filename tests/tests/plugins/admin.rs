//! Plugins over HTTP: what operators do, what administrators of an organisation may, and what nobody else may.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tests::offline::stranger;
use tests::server::binary;
use tests::{Client, Reply, Server, until};

use super::{Bench, ID, MARK, WANTS, component, key, mark_of, run, with_key};

/// A request of one route, by a client.
type Verb<'a> = &'a dyn Fn(&Client) -> Reply;

const TAR: &str = "application/x-tar";

/// Has the default organisation's administrators operate plugins.
const OPERATED: &str = "[plugins]\noperator_orgs = \"default\"\n";

/// A server with another organisation, of which it returns an administrator, and a member of the first.
fn bench(config: &str) -> (Bench, Client, Client) {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    let stranger = stranger(dir.path());
    let member = key(
        dir.path(),
        &["--scope", "bench:control", "--scope", "jobs:submit"],
    );
    let path = dir.path().join("hostd.toml");
    fs::write(&path, config).unwrap();
    let with = ["--config", path.to_str().unwrap()];
    let server = Server::demo_in_with(dir.path(), &with).unwrap();
    let (stranger, member) = (with_key(&server, &stranger), with_key(&server, &member));
    (Bench { dir, server }, stranger, member)
}

/// A packed version of the plugin.
pub(super) fn packed(bench: &Bench, version: &str, wants: &str) -> Vec<u8> {
    let folder = bench.version(version, wants, "");
    pack(bench.dir.path(), &folder)
}

pub(super) fn pack(dir: &Path, folder: &Path) -> Vec<u8> {
    let file = dir.join("packed");
    let output = Command::new(binary().unwrap())
        .args(["plugin", "pack"])
        .arg(folder)
        .arg("--output")
        .arg(&file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::read(file).unwrap()
}

fn install(client: &Client, package: &[u8]) -> Reply {
    client
        .send_typed("POST", "/api/plugins", Some((TAR, package)))
        .unwrap()
}

fn order(client: &Client, verb: &str, body: &Value) -> Reply {
    client
        .post(&format!("/api/plugins/{ID}/{verb}"), body)
        .unwrap()
}

/// One without a body.
fn bare(client: &Client, verb: &str) -> Reply {
    let path = format!("/api/plugins/{ID}/{verb}");
    client.send("POST", &path, None).unwrap()
}

/// What it asks for is read before anything is granted.
fn assert_wants(client: &Client) {
    let one = client.get(&format!("/api/plugins/{ID}"));
    let one = one.unwrap().expect(200);
    assert_eq!(one["grants"], json!([]));
    let wants = &one["wants"];
    assert_eq!(wants["version"], "1.0.0");
    assert_eq!(
        wants["interfaces"],
        json!([
            "store", "secrets", "devices", "power", "captures", "jobs", "notify", "http-out"
        ])
    );
    assert_eq!(wants["scopes"], json!(["bench:control", "jobs:submit"]));
    assert_eq!(wants["http"], json!(["http://127.0.0.1:9/*"]));
    assert_eq!(wants["secrets"], json!(["TOKEN"]));
    assert_eq!(
        (&wants["public"], &wants["events"], &wants["timers"]),
        (&json!(true), &json!([]), &json!([]))
    );
    let listed = client.get("/api/plugins").unwrap().expect(200);
    assert_eq!(listed["plugins"][0].get("wants"), None);
}

#[test]
fn an_operator_does_over_http_what_the_command_line_does() {
    let (bench, _, _) = bench(OPERATED);
    let client = bench.client();
    let listed = client.get("/api/plugins").unwrap().expect(200);
    assert_eq!(listed, json!({"plugins": [], "refused": []}));
    let done = install(&client, &packed(&bench, "1.0.0", WANTS)).expect(200);
    assert!(
        done["notes"][0].as_str().unwrap().contains("1.0.0"),
        "{done}"
    );
    bench.get("/mark").expect_error(403, "not_granted");
    assert_wants(&client);
    order(&client, "approve", &json!({})).expect(200);
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
    order(&client, "configure", &json!({"values": {"greeting": "hi"}})).expect(200);
    let told = bench.call(&super::function("config.get")).expect(200);
    assert_eq!(told["greeting"], "hi");

    install(&client, &packed(&bench, "2.0.0", WANTS)).expect(200);
    assert_eq!(mark_of(&bench.get("/mark")), "MARK:version-2.0.0:");
    bare(&client, "rollback").expect(200);
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
    bare(&client, "disable").expect(200);
    bench.get("/mark").expect_error(503, "plugin_unavailable");
    bare(&client, "enable").expect(200);
    bench.get("/mark").expect(200);

    let one = client
        .get(&format!("/api/plugins/{ID}"))
        .unwrap()
        .expect(200);
    assert_eq!(
        (&one["state"], &one["version"]),
        (&json!("active"), &json!("1.0.0"))
    );
    assert_eq!(one["grants"][0]["missing"], json!([]));
    let logs = client
        .get(&format!("/api/plugins/{ID}/logs"))
        .unwrap()
        .expect(200);
    let lines = logs["lines"].as_array().unwrap();
    let has = |words: &str| {
        lines
            .iter()
            .any(|l| l["message"].as_str().unwrap().contains(words))
    };
    assert!(
        has("version 2.0.0 serves") && has("rollback was ordered over HTTP by the user"),
        "{logs}"
    );
    let next = logs["next"].as_u64().unwrap();
    let rest = client
        .get(&format!("/api/plugins/{ID}/logs?from={next}"))
        .unwrap()
        .expect(200);
    assert_eq!(rest["lines"], json!([]));

    order(&client, "revoke", &json!({})).expect(200);
    bench.get("/mark").expect_error(403, "not_granted");
    let removed = client
        .delete(&format!("/api/plugins/{ID}?data=true"))
        .unwrap();
    assert_eq!(removed.status, 204);
    bench.get("/mark").expect_error(404, "not_found");
    client
        .get(&format!("/api/plugins/{ID}"))
        .unwrap()
        .expect_error(404, "not_found");
    let _ = bench.server.logged("ordered over HTTP");
}

#[test]
fn nobody_orders_what_is_not_theirs() {
    let (bench, stranger, member) = bench(OPERATED);
    let operator = bench.client();
    install(&operator, &packed(&bench, "1.0.0", WANTS)).expect(200);
    install(&operator, &packed(&bench, "2.0.0", WANTS)).expect(200);
    let session = operator.post("/api/auth/token", &json!({"devices": ["demo"]}));
    let session = session.unwrap().expect(200)["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let session = bench
        .server
        .anonymous()
        .with_authorization(&format!("Bearer {session}"));
    let package = packed(&bench, "3.0.0", WANTS);
    let verbs: [(&str, Verb<'_>); 11] = [
        ("list", &|c| c.get("/api/plugins").unwrap()),
        ("get", &|c| c.get(&format!("/api/plugins/{ID}")).unwrap()),
        ("approve", &|c| {
            order(c, "approve", &json!({"org": "default"}))
        }),
        ("revoke", &|c| {
            order(c, "revoke", &json!({"org": "default"}))
        }),
        ("configure", &|c| {
            order(c, "configure", &json!({"org": "default"}))
        }),
        ("install", &|c| install(c, &package)),
        ("logs", &|c| {
            c.get(&format!("/api/plugins/{ID}/logs")).unwrap()
        }),
        ("enable", &|c| bare(c, "enable")),
        ("disable", &|c| bare(c, "disable")),
        ("rollback", &|c| bare(c, "rollback")),
        ("remove", &|c| {
            c.delete(&format!("/api/plugins/{ID}")).unwrap()
        }),
    ];
    let anonymous = bench.server.anonymous();
    for (name, verb) in verbs {
        verb(&anonymous).expect_error(401, "missing_credential");
        verb(&member).expect_error(403, "missing_scope");
        verb(&session).expect_error(403, "wrong_credential");
        let strange = verb(&stranger);
        match name {
            "list" | "get" => drop(strange.expect(200)),
            _ => strange.expect_error(403, "forbidden"),
        }
    }
    // Nothing of it was done, and whoever may not sees no difference between organisations that are there and others.
    let one = operator
        .get(&format!("/api/plugins/{ID}"))
        .unwrap()
        .expect(200);
    assert_eq!(
        (&one["state"], &one["version"]),
        (&json!("active"), &json!("2.0.0"))
    );
    assert_eq!(one["grants"], json!([]));
    let own = order(&stranger, "approve", &json!({"org": "default"})).text;
    let none = order(&stranger, "approve", &json!({"org": "nowhere"})).text;
    let sentence = |text: &str| serde_json::from_str::<Value>(text).unwrap()["error"].clone();
    assert_eq!(sentence(&own), sentence(&none));
}

#[test]
fn an_administrator_decides_for_the_own_organisation_alone() {
    let (bench, stranger, _) = bench(OPERATED);
    let operator = bench.client();
    install(&operator, &packed(&bench, "1.0.0", WANTS)).expect(200);
    order(&operator, "approve", &json!({})).expect(200);
    let mark = |client: &Client| client.get(&format!("/api/x/{ID}/mark")).unwrap();
    mark(&stranger).expect_error(403, "not_granted");
    order(
        &stranger,
        "approve",
        &json!({"org": "acme", "interfaces": ["store"]}),
    )
    .expect(200);
    mark(&stranger).expect(200);
    // No more than the manifest asks for.
    for more in [
        json!({"secrets": ["OTHER"]}),
        json!({"scopes": ["bench:admin"]}),
        json!({"http": ["https://a.example/*"]}),
        json!({"store_mib": 1024}),
        json!({"public": true}),
    ] {
        order(&stranger, "approve", &more).expect_error(403, "forbidden");
    }
    // What is no address is none for anybody.
    for client in [&stranger, &operator] {
        order(client, "approve", &json!({"http": ["gopher"]})).expect_error(422, "plugin_refused");
    }
    order(
        &stranger,
        "configure",
        &json!({"values": {"greeting": "hey"}}),
    )
    .expect(200);
    // Of other organisations nothing is seen.
    let seen = stranger
        .get(&format!("/api/plugins/{ID}"))
        .unwrap()
        .expect(200);
    assert_eq!(seen["grants"].as_array().unwrap().len(), 1, "{seen}");
    let all = operator
        .get(&format!("/api/plugins/{ID}"))
        .unwrap()
        .expect(200);
    assert_eq!(all["grants"].as_array().unwrap().len(), 2, "{all}");
    assert_eq!(mark_of(&mark(&operator)), MARK);
    order(&stranger, "revoke", &json!({})).expect(200);
    mark(&stranger).expect_error(403, "not_granted");
    mark(&operator).expect(200);
    // All that is wanted, without what concerns the whole server.
    let granted = order(&stranger, "approve", &json!({})).expect(200);
    assert!(granted.to_string().contains("--public"), "{granted}");
    mark(&stranger).expect(200);
    // An operator acts in any.
    order(&operator, "approve", &json!({"org": "acme"})).expect(200);
    mark(&stranger).expect(200);
    order(&operator, "approve", &json!({"org": "nowhere"})).expect_error(422, "plugin_refused");
}

/// A second version waits for the other organisation alone.
fn waiting_for(bench: &Bench, stranger: &Client) {
    let operator = bench.client();
    let wants = |interfaces: &str| format!("interfaces = [{interfaces}]\npublic = true\n");
    let first = packed(bench, "1.0.0", &wants("\"store\""));
    install(&operator, &first).expect(200);
    order(&operator, "approve", &json!({})).expect(200);
    order(stranger, "approve", &json!({})).expect(200);
    let second = packed(bench, "2.0.0", &wants("\"devices\", \"store\""));
    let told = install(&operator, &second).expect(200);
    assert!(told.to_string().contains("it waits"), "{told}");
    order(&operator, "approve", &json!({})).expect(200);
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
}

#[test]
fn no_approval_switches_on_what_an_operator_has_switched_off() {
    let (bench, stranger, _) = bench(OPERATED);
    waiting_for(&bench, &stranger);
    bare(&bench.client(), "disable").expect(200);
    order(&stranger, "approve", &json!({})).expect(200);
    bench.get("/mark").expect_error(503, "plugin_unavailable");
    // Switched on, it is at once what was approved meanwhile.
    let told = bare(&bench.client(), "enable").expect(200);
    assert!(told.to_string().contains("that waited serves"), "{told}");
    assert_eq!(mark_of(&bench.get("/mark")), "MARK:version-2.0.0:");
}

#[test]
fn a_version_does_not_wait_for_an_organisation_that_has_left() {
    let (bench, stranger, _) = bench(OPERATED);
    waiting_for(&bench, &stranger);
    order(&stranger, "revoke", &json!({})).expect(200);
    assert_eq!(mark_of(&bench.get("/mark")), "MARK:version-2.0.0:");
}

#[test]
fn without_operators_in_the_configuration_nothing_is_installed_over_http() {
    let (bench, _, _) = bench("");
    let client = bench.client();
    let package = packed(&bench, "1.0.0", WANTS);
    let refused = install(&client, &package);
    refused.expect_error(403, "forbidden");
    assert!(
        refused.text.contains("plugins.operator_orgs"),
        "{}",
        refused.text
    );
    bench.install("1.0.0");
    for verb in ["enable", "disable", "rollback"] {
        bare(&client, verb).expect_error(403, "forbidden");
    }
    order(&client, "revoke", &json!({})).expect(200);
    order(&client, "approve", &json!({})).expect(200);
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
}

#[test]
fn what_cannot_be_done_is_told_in_words() {
    let (bench, _, _) = bench(OPERATED);
    let client = bench.client();
    let refused = install(&client, b"not a package");
    refused.expect_error(422, "plugin_refused");
    assert!(refused.text.contains("no tar"), "{}", refused.text);
    let place = bench.dir.path().display().to_string();
    assert!(!refused.text.contains(&place), "{}", refused.text);
    for verb in ["enable", "disable", "rollback"] {
        bare(&client, verb).expect_error(404, "not_found");
    }
    order(&client, "approve", &json!({})).expect_error(404, "not_found");
    install(&client, &packed(&bench, "1.0.0", WANTS)).expect(200);
    let back = bare(&client, "rollback");
    back.expect_error(422, "plugin_refused");
    assert!(back.text.contains("no version before"), "{}", back.text);
    order(&client, "configure", &json!({"values": {"other": 1}}))
        .expect_error(422, "plugin_refused");
    order(&client, "approve", &json!({"interfaces": ["nothing"]}))
        .expect_error(422, "plugin_refused");
    assert!(
        run(bench.dir.path(), &["list"])
            .ok()
            .contains("test.plugin  1.0.0  active")
    );
}

/// The compiler of this server, as it waits for a component: the kernel filters its calls, and it compiles all the same.
#[test]
fn the_compiler_is_confined_before_it_reads_anything() {
    let mut child = Command::new(binary().unwrap())
        .arg("plugin-compile")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let look = || fs::read_to_string(&status).unwrap();
    until(look, |status| status.contains("Seccomp:\t2")).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&component("guests/plugin.wasm")).unwrap();
    drop(stdin);
    let mut code = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut code).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(code.starts_with(b"\x7fELF"), "{} bytes", code.len());
}

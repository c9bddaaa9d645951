//! Decoders on top of others, and those of `sigrok-cli`, which a script stands for unless the real one is installed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tests::{Client, Reply, Server};

/// A clock chip read over I2C.
const CLOCK: &[u8] =
    include_bytes!("../../hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr");

/// What stands for sigrok-cli: its decoders do what their names say.
const SCRIPT: &str = r#"#!/bin/sh
case "$1" in
  -L) printf 'Supported protocol decoders:\n  good  A good one\n'; exit 0;;
  -P)
    case "$2" in none) exit 1;; esac
    printf 'ID: %s\nName: A decoder\nPossible decoder input IDs:\n- logic\nAnnotation classes:\n- word: Words\n' "$2"
    printf "Required channels:\n- line (LINE): A line\nOptions:\n- mode: Mode ('a', 'b', default 'a')\n"; exit 0;;
esac
case "$8" in
  good*) bytes=$(wc -c); printf '1-2 good-1: word: "%s bytes, %s"\n' "$bytes" "$8";;
  hang*) echo $$ > "$(dirname "$0")/pid"; exec sleep 600;;
  die*) cat > /dev/null; echo 'srd: it went wrong' >&2; exit 1;;
esac
"#;

struct Bench {
    server: Server,
    folder: tempfile::TempDir,
}

impl Bench {
    /// A server with a script for sigrok-cli, and further settings of captures.
    fn new(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("sigrok-cli");
        fs::write(&program, SCRIPT).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let config = folder.path().join("hostd.toml");
        let text = format!("[captures]\nsigrok = {program:?}\n{settings}\n");
        fs::write(&config, text).unwrap();
        let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
        Self { server, folder }
    }
}

fn import(client: &Client) -> String {
    let body = Some(("application/octet-stream", CLOCK));
    let made = client.send_typed("POST", "/api/captures/import", body);
    let made = made.unwrap().expect(201);
    made["id"].as_str().unwrap().to_owned()
}

/// The text of a decoding that came to its end.
fn decoded(client: &Client, id: &str, query: &str) -> String {
    let reply = decode(client, id, query);
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.text
}

fn decode(client: &Client, id: &str, query: &str) -> Reply {
    client
        .get(&format!("/api/capture/{id}/decode?{query}"))
        .unwrap()
}

#[test]
fn a_script_decodes_what_it_is_given_and_says_what_is_wrong() {
    let bench = Bench::new("");
    let client = bench.server.client();
    let id = import(&client);
    let query = "engine=sigrok&protocol=good&line=SCL&mode=b&from=10";
    let found = decoded(&client, &id, query);
    let found: Value = serde_json::from_str(found.trim()).unwrap();
    assert_eq!(
        (
            found["start"].as_u64(),
            found["class"].as_str(),
            found["text"].as_str()
        ),
        (
            Some(11),
            Some("word"),
            Some("24566 bytes, good:line=0:mode=b")
        )
    );
    for (query, told) in [
        ("protocol=none&line=SCL", "is no decoder of sigrok-cli"),
        ("protocol=good;rm&line=SCL", "is no decoder of sigrok-cli"),
        ("protocol=good,good&line=SCL", "takes logic"),
        ("protocol=good", "without a channel for `line`"),
        ("protocol=good&line=NO", "find channel `NO`"),
        ("protocol=good&line=SCL&mode=c", "it takes a, b"),
        ("protocol=good&line=SCL&speed=1", "option `speed`"),
        (
            "protocol=good&line=SCL&annotations=x",
            "show annotations `x`",
        ),
    ] {
        let refused = decode(&client, &id, &format!("engine=sigrok&{query}"));
        refused.expect_error(400, "invalid_request");
        assert!(refused.text.contains(told), "{query}: {}", refused.text);
    }
    decode(&client, &id, "engine=sigrok&protocol=die&line=SCL").expect_error(502, "decoder_failed");
    let listed = client
        .get("/api/decoders?engine=sigrok")
        .unwrap()
        .expect(200);
    let listed = &listed["decoders"][0];
    assert_eq!(
        (&listed["id"], &listed["engine"]),
        (&"good".into(), &"sigrok".into())
    );
    let described = client
        .get("/api/decoders?engine=sigrok&protocol=good")
        .unwrap()
        .expect(200);
    assert_eq!(described["decoders"][0]["channels"][0]["required"], true);
    client
        .get("/api/decoders?engine=sigrok&protocol=none")
        .unwrap()
        .expect_error(400, "invalid_request");
    let own = client.get("/api/decoders").unwrap().expect(200);
    assert_eq!(own["decoders"][0]["engine"], "hostd");
}

#[test]
fn one_that_takes_too_long_is_ended_and_nothing_of_it_is_left() {
    let bench = Bench::new("sigrok_s_max = 1");
    let client = bench.server.client();
    let id = import(&client);
    decode(&client, &id, "engine=sigrok&protocol=hang&line=SCL")
        .expect_error(504, "decoder_timeout");
    let pid = fs::read_to_string(bench.folder.path().join("pid")).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists());
    // A summary, too.
    decode(
        &client,
        &id,
        "engine=sigrok&protocol=hang&line=SCL&summary=10",
    )
    .expect_error(504, "decoder_timeout");
}

#[test]
fn captures_of_others_are_not_there_and_without_the_program_it_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    let stranger = tests::offline::stranger(dir.path());
    let config = dir.path().join("none.toml");
    fs::write(&config, "[captures]\nsigrok = \"/nowhere/sigrok-cli\"\n").unwrap();
    let config = config.to_str().unwrap();
    let server = Server::demo_in_with(dir.path(), &["--config", config]).unwrap();
    let client = server.client();
    let id = import(&client);
    let query = "engine=sigrok&protocol=i2c&scl=SCL&sda=SDA";
    let refused = decode(&client, &id, query);
    refused.expect_error(400, "not_capable");
    assert!(refused.text.contains("not installed"), "{}", refused.text);
    client
        .get("/api/decoders?engine=sigrok")
        .unwrap()
        .expect_error(400, "not_capable");
    let stranger = server
        .anonymous()
        .with_authorization(&format!("ApiKey {stranger}"));
    decode(&stranger, &id, query).expect_error(404, "not_found");
}

#[test]
fn the_real_one_decodes_what_hostd_has_no_decoder_for() {
    if Command::new("sigrok-cli")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("sigrok-cli is not installed, so this test is left out");
        return;
    }
    let server = Server::demo().unwrap();
    let client = server.client();
    let id = import(&client);
    let query = "engine=sigrok&protocol=i2c%2Cds1307&scl=SCL&sda=SDA&annotations=date-time";
    let found = decoded(&client, &id, query);
    let first = found.lines().next().unwrap();
    let first: Value = serde_json::from_str(first).unwrap();
    assert_eq!(first["decoder"], "ds1307");
    assert!(
        first["text"].as_str().unwrap().contains("23:35:30"),
        "{first}"
    );
    let lines = decoded(
        &client,
        &id,
        "engine=sigrok&protocol=i2c&scl=SCL&sda=SDA&annotations=addr-data&format=sigrok",
    );
    let expected = "../hostd/decode/testdata/captures/i2c_ds1307/expected.i2c.txt";
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join(expected);
    assert_eq!(lines, fs::read_to_string(expected).unwrap());
}

#[test]
fn registers_and_conversations_are_decoders_like_others() {
    let bench = Bench::new("");
    let client = bench.server.client();
    let id = import(&client);
    let query = "protocol=i2c-registers&scl=SCL&sda=SDA&parts=ds1307&limit=3";
    let found = decoded(&client, &id, query);
    let lines: Vec<Value> = found
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines[1]["text"],
        "DS1307 0x68: read seconds = 0x30 (seconds 30)"
    );
    assert_eq!(lines[1]["fields"]["seconds"], 30);
    assert_eq!(
        (&lines[1]["part"], &lines[1]["device"]),
        (&"ds1307".into(), &0x68.into())
    );
    let unknown = decode(
        &client,
        &id,
        "protocol=i2c-registers&scl=SCL&sda=SDA&parts=mine",
    );
    unknown.expect_error(400, "invalid_request");
    assert!(unknown.text.contains("ds1307"), "{}", unknown.text);
    let uart =
        "protocol=uart-conversation&rx=SCL&tx=SDA&baudrate=9600&annotations=data&format=sigrok";
    let said = decoded(&client, &id, uart);
    assert!(said.contains("uart-conversation-1: RX "), "{said}");
}

/// Parts of a folder that the configuration names; one that is wrong keeps the server from starting.
#[test]
fn a_server_knows_parts_of_its_own() {
    let parts = tempfile::tempdir().unwrap();
    let text = "name = \"My clock\"\ndata_sheet = \"my own, page 1\"\naddresses = [0x68]\n\
                [[register]]\nat = 0\nname = \"now\"\n";
    fs::write(parts.path().join("mine.toml"), text).unwrap();
    let bench = Bench::new(&format!("registers = {:?}", parts.path()));
    let client = bench.server.client();
    let id = import(&client);
    let query = "protocol=i2c-registers&scl=SCL&sda=SDA&parts=mine&format=csv&limit=2";
    let found = decoded(&client, &id, query);
    assert!(found.contains("My clock 0x68: read now = 0x30"), "{found}");
    fs::write(parts.path().join("odd.toml"), "name = 1").unwrap();
    let config = bench.folder.path().join("hostd.toml");
    let started = Server::demo_with(&["--config", config.to_str().unwrap()]);
    let error = format!("{:#}", started.err().unwrap());
    assert!(error.contains("odd.toml"), "{error}");
}

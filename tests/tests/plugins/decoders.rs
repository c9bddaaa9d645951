//! Decoders of plugins: listed and used beside the built-in ones where they were approved, and what becomes of those that
//! fail or lie.

mod wire;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tests::receiver::Answer;
use tests::server::binary;
use tests::{Client, Receiver, Reply, Server};

use super::{Bench, component, with_key};

/// Id of the plugin whose decoders do what their options say.
const COUNTS: &str = "test.decoder";

/// Id of the plugin that the workspace brings along.
const MODBUS: &str = "hostd.modbus-rtu";

/// Edges of the recording that most tests decode.
const EDGES: usize = 9;

/// Samples of one call of a decoder.
const SAMPLES_A_CALL: usize = 64 << 10;

fn package(dir: &Path, id: &str, limits: &str) -> PathBuf {
    let folder = dir.join(id);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("plugin.wasm"), component("guests/decoder.wasm")).unwrap();
    let manifest = tests::package::patient(&format!(
        "[plugin]\nid = \"{id}\"\nversion = \"1.0.0\"\napi = \"1.0\"\n[limits]\n{limits}\n"
    ));
    fs::write(folder.join("plugin.toml"), manifest).unwrap();
    folder
}

fn modbus() -> PathBuf {
    let handlers = binary().unwrap().parent().unwrap().join("../handlers");
    handlers.join("plugins/modbus-rtu")
}

impl Bench {
    /// Install the plugin that counts, and approve it.
    fn counting(&self, limits: &str) {
        let folder = package(self.dir.path(), COUNTS, limits);
        self.plugin(&["install", &folder.display().to_string()])
            .ok();
        self.plugin(&["approve", COUNTS]).ok();
    }

    /// A capture of these samples.
    fn import(&self, samples: &[u8]) -> String {
        let bytes = wire::recording(samples);
        let body = Some(("application/octet-stream", bytes.as_slice()));
        let made = self
            .client()
            .send_typed("POST", "/api/captures/import", body);
        let made = made.unwrap().expect(201);
        made["id"].as_str().unwrap().to_owned()
    }
}

fn decode(client: &Client, capture: &str, query: &str) -> Reply {
    let path = format!("/api/capture/{capture}/decode?{query}");
    client.get(&path).unwrap()
}

/// The built-in decoders.
const OWN: [&str; 5] = ["i2c", "spi", "uart", "i2c-registers", "uart-conversation"];

fn ids(client: &Client) -> Vec<String> {
    let listed = client.get("/api/decoders").unwrap().expect(200);
    let all = listed["decoders"].as_array().unwrap().iter();
    all.map(|d| d["id"].as_str().unwrap().to_owned()).collect()
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn decoders_are_listed_and_used_beside_the_built_in_ones() {
    let bench = Bench::new();
    let client = bench.client();
    assert_eq!(ids(&client), OWN);
    bench.counting("");
    let own = ["edges", "samples", "i2c", "i2c-samples"].map(|id| format!("{COUNTS}/{id}"));
    assert_eq!(ids(&client)[OWN.len()..], own);
    let listed = client.get("/api/decoders").unwrap().expect(200);
    let edges = &listed["decoders"][OWN.len()];
    assert_eq!(edges["channels"][1]["required"], false);
    assert_eq!(
        edges["options"][1],
        json!({"id": "when", "text": "When to do it", "default": "late", "values": ["begin", "late", "finish"]})
    );
    assert_eq!(edges["rows"][0]["classes"], json!(["total"]));

    let capture = bench.import(&wire::toggling(1_000, 100));
    for decoder in ["edges", "samples"] {
        let query = format!("protocol={COUNTS}/{decoder}&line=LINE");
        let found = decode(&client, &capture, &query);
        assert_eq!(found.header("content-type"), Some("application/x-ndjson"));
        let found = lines(&found.text);
        assert_eq!(found.len(), EDGES + 1, "{decoder}");
        assert_eq!(
            found[0],
            json!({"start": 100, "end": 100, "decoder": format!("{COUNTS}/{decoder}"), "class": "edge", "text": "Edge"})
        );
        assert_eq!(
            found[EDGES],
            json!({"start": 0, "end": 1_000, "decoder": format!("{COUNTS}/{decoder}"), "class": "total", "text": "9", "value": 9})
        );
        let rows = decode(
            &client,
            &capture,
            &format!("{query}&annotations=totals&format=csv"),
        );
        assert_eq!(
            rows.text,
            format!("start,end,decoder,class,text\n0,1000,{COUNTS}/{decoder},total,9\n")
        );
    }
    // What is wrong with a request is said as for the built-in ones.
    for (query, expected) in [
        ("line=NO", "find channel `NO` in the capture"),
        ("line=LINE&more=LINE", "to the same channel LINE"),
        ("more=LINE", "without a channel for `line`"),
        ("line=LINE&depth=1", "set option `depth`"),
        ("line=LINE&when=never", "it takes begin, late, finish"),
        ("line=LINE&annotations=x", "show annotations `x`"),
        ("line=LINE&crime=refuse", "this crime is refused"),
    ] {
        let query = format!("protocol={COUNTS}/edges&{query}");
        let refused = decode(&client, &capture, &query);
        refused.expect_error(400, "invalid_request");
        assert!(refused.text.contains(expected), "{query}: {}", refused.text);
    }
    for unknown in ["none", "edge", "x/y"] {
        let refused = decode(&client, &capture, &format!("protocol={COUNTS}/{unknown}"));
        refused.expect_error(400, "invalid_request");
        assert!(
            refused
                .text
                .contains(&format!("known are {}, test.decoder/edges", OWN.join(", ")))
        );
    }
    // Gone with the plugin.
    bench.plugin(&["disable", COUNTS]).ok();
    let gone = decode(
        &client,
        &capture,
        &format!("protocol={COUNTS}/edges&line=LINE"),
    );
    gone.expect_error(503, "plugin_unavailable");
    assert_eq!(ids(&client), OWN);
}

#[test]
fn a_decoder_is_there_only_where_it_was_approved() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    server.stop().unwrap();
    let stranger = tests::offline::stranger(dir.path());
    let server = Server::demo_in(dir.path()).unwrap();
    let stranger = with_key(&server, &stranger);
    let bench = Bench { dir, server };
    let folder = package(bench.dir.path(), COUNTS, "");
    bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    let capture = bench.import(&wire::toggling(1_000, 100));
    let query = format!("protocol={COUNTS}/edges&line=LINE");
    // Installed, and approved nowhere.
    let refused = decode(&bench.client(), &capture, &query);
    refused.expect_error(403, "not_granted");
    assert!(
        refused
            .text
            .contains("hostd plugin approve test.decoder --org"),
        "{}",
        refused.text
    );
    assert_eq!(ids(&bench.client()), OWN);
    // Approved in one organisation: there and nowhere else.
    bench.plugin(&["approve", COUNTS]).ok();
    assert_eq!(
        lines(&decode(&bench.client(), &capture, &query).text).len(),
        EDGES + 1
    );
    assert_eq!(ids(&stranger), OWN);
    let body = wire::recording(&wire::toggling(100, 10));
    let body = Some(("application/octet-stream", body.as_slice()));
    let theirs = stranger.send_typed("POST", "/api/captures/import", body);
    let theirs = theirs.unwrap().expect(201)["id"].clone();
    let theirs = theirs.as_str().unwrap();
    decode(&stranger, theirs, &query).expect_error(403, "not_granted");
    // Nor does the decoder open captures of others, and nobody decodes without a credential.
    decode(&stranger, &capture, &query).expect_error(404, "not_found");
    decode(&bench.server.anonymous(), &capture, &query).expect_error(401, "missing_credential");
    bench.plugin(&["revoke", COUNTS]).ok();
    decode(&bench.client(), &capture, &query).expect_error(403, "not_granted");
}

/// A decoding that fails in the plugin.
fn fails(bench: &Bench, capture: &str, what: &str, expected: &str) {
    let query = format!("protocol={COUNTS}/edges&line=LINE&crime={what}");
    let failed = decode(&bench.client(), capture, &query);
    failed.expect_error(502, "plugin_failed");
    let told = failed.json()["error"].as_str().unwrap().to_owned();
    assert!(told.contains("the plugin test.decoder 1.0.0"), "{told}");
    assert!(told.contains(expected), "{what}: {told}");
    // Whatever happens there, the capture can be decoded by others meanwhile.
    let uart = "protocol=uart&rx=LINE&baudrate=19200";
    let uart = decode(&bench.client(), capture, uart);
    assert_eq!(uart.status, 200);
    assert!(!uart.text.is_empty());
}

#[test]
fn a_decoding_that_does_not_end_has_its_time() {
    let bench = Bench::new();
    bench.counting("compute_ms = 1000\ndeadline_ms = 20000");
    let capture = bench.import(&wire::toggling(1_000, 100));
    for what in ["loop&when=begin", "loop"] {
        fails(&bench, &capture, what, "answer with 1000 ms of computing");
    }
}

#[test]
fn failures_and_lies_end_their_own_decoding_with_a_reason() {
    let bench = Bench::new();
    bench.counting("memory_mib = 64");
    let client = bench.client();
    let capture = bench.import(&wire::toggling(1_000, 100));
    fails(&bench, &capture, "memory", "the limit is 67108864");
    fails(&bench, &capture, "trap&when=finish", "go on in the handler");
    let crime = |decoder: &str, crime: &str| {
        let query = format!("protocol={COUNTS}/{decoder}&line=LINE&crime={crime}");
        decode(&client, &capture, &query)
    };
    for (what, expected) in [
        ("class", "of class 2: the decoder has 2 classes"),
        ("large-class", "of class 4294967295: the decoder has 2"),
        ("backwards", "starts at sample 1 and ends at 0"),
        ("beyond", "the capture has 1000"),
        ("text", "a text of 2000 bytes: the limit is 1024"),
        ("many", "annotations of one call: the limit is 131072"),
    ] {
        for decoder in ["edges", "samples"] {
            let failed = crime(decoder, what);
            failed.expect_error(502, "plugin_failed");
            let told = failed.json()["error"].as_str().unwrap().to_owned();
            assert!(told.contains("the plugin test.decoder 1.0.0"), "{told}");
            assert!(told.contains(expected), "{what}: {told}");
        }
    }
    // Texts are made harmless.
    let escaped = crime("edges", "escape").text;
    let line = &lines(&escaped)[0];
    assert_eq!(line["text"], "a\u{fffd}[31m\"b\"\u{fffd}\u{fffd}c");
    assert!(!escaped.contains('\u{1b}'));
    // A flood of lines is cut.
    assert_eq!(crime("edges", "log").status, 200);
    let kept = bench.plugin(&["logs", COUNTS]).ok();
    let written = kept.lines().filter(|l| l.contains("line ")).count();
    assert!((1..=100).contains(&written), "{kept}");
}

#[test]
fn one_call_may_find_megabytes() {
    let bench = Bench::new();
    bench.counting("");
    let capture = bench.import(&wire::toggling(1_000, 100));
    let query = format!("protocol={COUNTS}/edges&line=LINE&crime=texts&format=sigrok");
    let found = decode(&bench.client(), &capture, &query);
    assert_eq!(found.status, 200);
    assert_eq!(found.text.lines().count(), 60_000 + EDGES + 1);
    // One that finds more is told what it may find.
    let query = format!("protocol={COUNTS}/edges&line=LINE&crime=flood");
    let failed = decode(&bench.client(), &capture, &query);
    failed.expect_error(502, "plugin_failed");
    let told = failed.json()["error"].as_str().unwrap().to_owned();
    let limit = format!("one call may move {} bytes", 34 << 20);
    assert!(told.contains(&limit), "{told}");
}

#[test]
fn a_decoder_that_is_taken_away_goes_no_further() {
    let bench = Bench::new();
    bench.counting("");
    // Half a minute of decoding, in short calls.
    let capture = bench.import(&wire::toggling(150 * SAMPLES_A_CALL, SAMPLES_A_CALL));
    let path = format!(
        "/api/capture/{capture}/decode?protocol={COUNTS}/samples&line=LINE&crime=slow&annotations=totals"
    );
    let slow_calls = || {
        let log = bench.plugin(&["logs", COUNTS]).ok();
        log.lines().filter(|line| line.contains("slow")).count()
    };
    for (order, back) in [("revoke", "approve"), ("disable", "enable")] {
        let before = slow_calls();
        let ended = std::thread::scope(|scope| {
            let decoding = scope.spawn(|| bench.client().get(&path));
            tests::until(slow_calls, |calls| before < *calls).unwrap();
            bench.plugin(&[order, COUNTS]).ok();
            decoding.join().unwrap()
        });
        match ended {
            Ok(reply) => {
                reply.expect_error(503, "plugin_unavailable");
                assert!(
                    reply
                        .text
                        .contains("failed to go on with the plugin test.decoder 1.0.0"),
                    "{order}: {}",
                    reply.text
                );
            }
            // On a machine that is slow enough, the answer had begun, and breaks off.
            Err(broken) => {
                let told = format!("{broken:#}");
                assert!(told.contains("read the answer"), "{order}: {told}");
            }
        }
        bench.plugin(&[back, COUNTS]).ok();
    }
}

#[test]
fn a_decoder_may_ask_another_server_where_that_was_granted() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    fs::write(&config, "[plugins]\nhttp_allow = \"127.0.0.1\"\n").unwrap();
    let with = ["--config", config.to_str().unwrap()];
    let server = Server::demo_in_with(dir.path(), &with).unwrap();
    let bench = Bench { dir, server };
    bench.counting("[wants]\ninterfaces = [\"http-out\"]");
    let capture = bench.import(&wire::toggling(1_000, 100));
    let receiver = Receiver::start(Answer::Status(201));
    let asked = || {
        let url = receiver.url("/x");
        let query = format!("protocol={COUNTS}/edges&line=LINE&crime={url}");
        let found = decode(&bench.client(), &capture, &query);
        assert_eq!(found.status, 200, "{}", found.text);
        let told = lines(&found.text)[0]["text"].clone();
        told.as_str().unwrap().to_owned()
    };
    let refused = asked();
    assert!(refused.starts_with("not_granted: "), "{refused}");
    bench
        .plugin(&["approve", COUNTS, "--http", &receiver.url("/*")])
        .ok();
    assert_eq!(asked(), "status 201");
}

#[test]
fn a_decoder_that_never_ends_leaves_room_for_the_others() {
    let bench = Bench::new();
    bench.counting("compute_ms = 3500\ndeadline_ms = 5000\nin_flight = 1");
    let capture = bench.import(&wire::toggling(1_000, 100));
    let query = format!("protocol={COUNTS}/edges&line=LINE");
    let (first, second) = std::thread::scope(|scope| {
        let begin = || {
            let looping = format!("{query}&crime=loop&when=begin");
            decode(&bench.client(), &capture, &looping)
        };
        let one = scope.spawn(begin);
        // It has the place before the other one comes.
        let is_at_work = || {
            let page = bench.client().get("/metrics").unwrap().text;
            let gauge = format!("hostd_plugin_calls_in_flight{{plugin=\"{COUNTS}\"");
            let mut lines = page.lines().filter(|line| line.starts_with(&gauge));
            lines.any(|line| line.ends_with(" 1"))
        };
        tests::until(is_at_work, |is_so| *is_so).unwrap();
        let other = scope.spawn(begin);
        // Built-in decoders and everything else go on.
        let uart = decode(
            &bench.client(),
            &capture,
            "protocol=uart&rx=LINE&baudrate=19200",
        );
        assert_eq!(uart.status, 200);
        bench
            .client()
            .get("/api/bench/devices")
            .unwrap()
            .expect(200);
        (one.join().unwrap(), other.join().unwrap())
    });
    // One place: whoever comes second waits for it, and is told when it is not to be had.
    let mut codes =
        [&first, &second].map(|reply| reply.json()["code"].as_str().unwrap().to_owned());
    codes.sort();
    assert_eq!(codes, ["plugin_failed", "plugin_unavailable"]);
    // And then there is room again.
    assert_eq!(decode(&bench.client(), &capture, &query).status, 200);
}

/// Requests, responses and a refusal, and what is said of them.
const FRAMES: &[(&[u8], &str)] = &[
    (&[17, 3, 0, 107, 0, 3], "17: read holding registers 107-109"),
    (
        &[17, 3, 6, 0xae, 0x41, 0x56, 0x52, 0x43, 0x40],
        "17: read holding registers = AE41 5652 4340",
    ),
    (&[17, 6, 0, 1, 0, 3], "17: write single register 1 = 0003"),
    (
        &[17, 0x86, 2],
        "17: write single register refused: illegal data address (2)",
    ),
];

#[test]
fn modbus_is_decoded_by_the_plugin_that_comes_along() {
    let bench = Bench::new();
    bench
        .plugin(&["install", &modbus().display().to_string()])
        .ok();
    bench.plugin(&["approve", MODBUS]).ok();
    let frames: Vec<&[u8]> = FRAMES.iter().map(|(bytes, _)| *bytes).collect();
    let samples = wire::serial(&frames);
    let capture = bench.import(&samples);
    let query = format!("protocol={MODBUS}/modbus-rtu&bus=LINE&annotations=frames,warnings");
    let found = decode(&bench.client(), &capture, &query);
    let texts: Vec<String> = lines(&found.text)
        .iter()
        .map(|line| line["text"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<&str> = FRAMES.iter().map(|(_, text)| *text).collect();
    assert_eq!(texts, expected);

    // The same without a server.
    let file = bench.dir.path().join("bus.sr");
    fs::write(&file, wire::recording(&samples)).unwrap();
    let offline = |args: &[&str]| offline(&file, args);
    let printed = offline(&["--map", "bus=LINE", "--annotations", "frames,warnings"]);
    assert!(printed.status.success(), "{}", told(&printed));
    let printed = String::from_utf8(printed.stdout).unwrap();
    let printed: Vec<&str> = printed
        .lines()
        .map(|line| line.split_once("-1: ").unwrap().1)
        .collect();
    assert_eq!(printed, expected);
    for (args, expected) in [
        (&["--map", "bus=NONE"][..], "it has LINE, MORE"),
        (
            &["--map", "bus=LINE", "--protocol", "x"],
            "it has hostd.modbus-rtu/modbus-rtu",
        ),
        (
            &["--map", "bus=LINE", "--option", "baudrate=1000000"],
            "too few for 1000000 baud",
        ),
    ] {
        let refused = offline(args);
        assert!(!refused.status.success());
        assert!(told(&refused).contains(expected), "{}", told(&refused));
    }
}

/// `hostd decode --plugin` with the plugin that comes along.
fn offline(file: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(binary().unwrap());
    command
        .arg("decode")
        .arg(file)
        .arg("--plugin")
        .arg(modbus());
    command.args(args).output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

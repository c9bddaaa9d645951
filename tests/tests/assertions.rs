//! `hostd assert` and `hostd golden`, on recordings and on captures that are made here.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::offline::stranger;
use tests::{Client, Reply, Server};

/// A `.sr` file of samples at 1 MHz, with channels `clk` and `rst`.
fn sr(path: &Path, samples: &[u8]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    let metadata = "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\ntotal probes=2\n\
                    samplerate=1 MHz\ntotal analog=0\nprobe1=clk\nprobe2=rst\nunitsize=1\n";
    for (name, bytes) in [
        ("version", b"2".as_slice()),
        ("metadata", metadata.as_bytes()),
        ("logic-1-1", samples),
    ] {
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

/// A reset of so many samples, and then a clock.
fn boot(reset: usize) -> Vec<u8> {
    let mut samples = vec![2; 20];
    samples.extend(vec![0; reset]);
    samples.extend([2, 2, 2, 2, 2]);
    samples.extend([2, 2, 3, 3].repeat(25));
    samples
}

const RULES: &str = "version: 1
rules:
  - name: clock runs at 250 kHz
    frequency: { channel: clk, value: 250kHz, tolerance: 1% }
  - name: reset is held
    pulse: { channel: rst, level: low, min: 10us }
";

struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn hostd(&self, args: &[&str]) -> Output {
        let mut command = Command::new(tests::server::binary().unwrap());
        command.current_dir(self.0.path()).args(args);
        command.output().unwrap()
    }

    /// What it prints, with its exit code.
    fn told(&self, args: &[&str]) -> (i32, String) {
        let output = self.hostd(args);
        let text = String::from_utf8(output.stdout).unwrap();
        let complaint = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), text + &complaint)
    }
}

#[test]
fn a_rule_that_fails_says_what_was_seen_and_where() {
    let desk = Desk::new();
    sr(&desk.path("good.sr"), &boot(10));
    sr(&desk.path("short.sr"), &boot(9));
    desk.write("rules.yaml", RULES);
    let (code, told) = desk.told(&["assert", "good.sr", "rules.yaml"]);
    assert_eq!(code, 0, "{told}");
    assert!(told.ends_with("2 of 2 rules hold\n"), "{told}");
    let (code, told) = desk.told(&[
        "assert",
        "short.sr",
        "rules.yaml",
        "--svg",
        "pictures",
        "--junit",
        "out.xml",
    ]);
    assert_eq!(code, 1, "{told}");
    let wanted = "ok    clock runs at 250 kHz: 250 kHz over 24 periods
FAIL  reset is held: 1 of 1 pulse not so; the worst has 9 us low, at 20 us
      wanted each low pulse of rst at least 10us long
      at samples 20 to 29 of rst, 20 us to 29 us from the trigger
      margin -1 us
      picture pictures/2-reset-is-held.svg
1 of 2 rules hold
";
    assert_eq!(told, wanted);
    let svg = fs::read_to_string(desk.path("pictures/2-reset-is-held.svg")).unwrap();
    assert!(
        svg.starts_with("<svg ") && svg.contains(">rst</text>"),
        "{svg}"
    );
    assert_eq!(fs::read_dir(desk.path("pictures")).unwrap().count(), 1);
    let junit = fs::read_to_string(desk.path("out.xml")).unwrap();
    assert!(
        junit.contains("<testsuite name=\"short.sr\" tests=\"2\""),
        "{junit}"
    );
    assert!(
        junit.contains("[[ATTACHMENT|pictures/2-reset-is-held.svg]]"),
        "{junit}"
    );
    let (code, told) = desk.told(&["assert", "short.sr", "rules.yaml", "--json"]);
    assert_eq!(code, 1);
    let result: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&result["passed"], &result["failed"]),
        (&1.into(), &1.into())
    );
    let place = &result["rules"][1]["place"];
    assert_eq!(
        (&place["channel"], &place["from_sample"]),
        (&"rst".into(), &20.into())
    );
    assert_eq!(result["rules"][1]["margin"]["unit"], "s");
}

/// The good capture that the first rule names is none of the caller's.
fn assert_not_there(reply: &Reply) {
    reply.expect_error(422, "invalid_definition");
    assert!(
        reply.text.contains("rules[0].golden.capture"),
        "{}",
        reply.text
    );
}

/// As text, rules come to the same as before, and lines and columns are those of the text.
fn assert_as_text(client: &Client, capture: &str, rules: &str, judged: &Value) {
    let as_text = |text: &str| {
        let body = json!({"rules_yaml": text});
        client
            .post(&format!("/api/capture/{capture}/assert"), &body)
            .unwrap()
    };
    assert_eq!(as_text(rules).expect(200), *judged);
    let wrong = as_text(&rules.replace("golden:", "goldn:"));
    wrong.expect_error(422, "invalid_definition");
    let problem = &wrong.json()["problems"][0];
    assert_eq!(
        (&problem["line"], &problem["column"], &problem["code"]),
        (&json!(4), &json!(5), &json!("unknown_key")),
        "{problem}"
    );
}

#[test]
fn a_capture_of_a_server_is_judged_and_compared_with() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    assert!(server.stop().unwrap());
    let eve = format!("ApiKey {}", stranger(dir.path()));
    server = Server::demo_in(dir.path()).unwrap();
    let client = server.client();
    let keep_for = |client: &Client, name: &str, reset: usize| {
        let desk = Desk::new();
        sr(&desk.path(name), &boot(reset));
        let bytes = fs::read(desk.path(name)).unwrap();
        let path = format!("/api/captures/import?name={name}");
        let body = Some(("application/octet-stream", bytes.as_slice()));
        let kept = client.send_typed("POST", &path, body);
        kept.unwrap().expect(201)["id"].as_str().unwrap().to_owned()
    };
    let keep = |name: &str, reset: usize| keep_for(&client, name, reset);
    let (good, late) = (keep("good", 10), keep("late", 14));
    let desk = Desk::new();
    let rules = format!(
        "version: 1\nrules:\n  - name: as before\n    golden: {{ capture: {good}, channels: [rst, clk], time: 2us }}\n"
    );
    desk.write("rules.yaml", &rules);
    let hostd = |id: &str, key: &str| {
        let mut command = Command::new(tests::server::binary().unwrap());
        command.current_dir(desk.0.path());
        command.args(["assert", id, "rules.yaml"]);
        command.env("HOSTD_URL", &server.url).env("HOSTD_KEY", key);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), text + &complaint)
    };
    let (code, told) = hostd(&good, &server.api_key);
    assert_eq!(code, 0, "{told}");
    let (code, told) = hostd(&late, &server.api_key);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains(&format!("the signals of {good}")), "{told}");
    // The server says the same.
    let judge_of = |client: &Client, capture: &str, golden: &str| {
        let rules = json!({"rules": {"version": 1, "rules": [{"name": "as before",
            "golden": {"capture": golden, "channels": ["rst", "clk"], "time": "2us"}}]}});
        client
            .post(&format!("/api/capture/{capture}/assert"), &rules)
            .unwrap()
    };
    let judge = |client: &Client, golden: &str| judge_of(client, &late, golden);
    let judged = judge(&client, &good).expect(200);
    assert_eq!(judged["failed"], 1, "{judged}");
    assert!(
        told.contains(judged["rules"][0]["seen"].as_str().unwrap()),
        "{told}\n{judged}"
    );
    assert_as_text(&client, &late, &rules, &judged);
    // What another organisation has is none to compare with.
    let theirs = server.anonymous().with_authorization(&eve);
    judge(&theirs, &good).expect_error(404, "not_found");
    let own = keep_for(&theirs, "own", 14);
    assert_not_there(&judge_of(&theirs, &own, &good));
    assert_eq!(judge_of(&theirs, &own, &own).expect(200)["failed"], 0);
    let (code, told) = hostd(&good, eve.trim_start_matches("ApiKey "));
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("capture not found"), "{told}");
    assert_not_there(&judge(&client, "01JGZ5V9T3N8W2K4Q7R6D1M0XC"));
}

#[test]
fn a_golden_capture_is_made_and_compared_with() {
    let desk = Desk::new();
    sr(&desk.path("good.sr"), &boot(10));
    sr(&desk.path("late.sr"), &boot(14));
    let (code, told) = desk.told(&[
        "golden",
        "good.sr",
        "-o",
        "boot.json",
        "--channels",
        "rst,clk",
        "--time",
        "2us",
    ]);
    assert_eq!(code, 0, "{told}");
    desk.write(
        "rules.yaml",
        "version: 1\nrules: [{ name: boot, golden: { file: boot.json } }]\n",
    );
    let (code, told) = desk.told(&["assert", "good.sr", "rules.yaml"]);
    assert_eq!(code, 0, "{told}");
    let (code, told) = desk.told(&["assert", "late.sr", "rules.yaml", "--svg", "."]);
    assert_eq!(code, 1, "{told}");
    assert!(
        told.contains("the rising edge of rst at 34 us is 4 us late"),
        "{told}"
    );
    let svg = fs::read_to_string(desk.path("1-boot.svg")).unwrap();
    assert!(svg.contains("class=\"due\""), "{svg}");
}

#[test]
fn a_recorded_bus_is_judged() {
    let desk = Desk::new();
    let recordings =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../hostd/decode/testdata/captures");
    let recording = recordings.join("i2c_ds1307/rtc_ds1307_200khz.sr");
    let file = recording.to_str().unwrap();
    desk.write(
        "rules.yaml",
        "version: 1
channels: { scl: SCL, sda: SDA }
rules:
  - name: clock answers
    i2c: { address: 0x68, answered: true }
  - name: nobody else is asked
    i2c: { address: 0x50, answered: true }
",
    );
    let (code, told) = desk.told(&["assert", file, "rules.yaml"]);
    assert_eq!(code, 1, "{told}");
    assert!(
        told.starts_with("ok    clock answers: addressed "),
        "{told}"
    );
    assert!(
        told.contains("FAIL  nobody else is asked: it is not addressed"),
        "{told}"
    );
}

#[test]
fn analog_values_of_a_table_are_judged() {
    let desk = Desk::new();
    let rows: String = (0..100)
        .map(|at| {
            format!(
                "{},{}\n",
                f64::from(at) / 1e6,
                if at < 30 { 0.1 } else { 3.3 }
            )
        })
        .collect();
    desk.write("rail.csv", &format!("time_s,RAIL\n{rows}"));
    desk.write(
        "rules.yaml",
        "version: 1
rules:
  - { name: in time, settles: { channel: RAIL, to: 3.3V, tolerance: 1%, within: 30us } }
  - { name: too late, settles: { channel: RAIL, to: 3.3V, tolerance: 1%, within: 29us } }
  - { name: never higher, analog: { channel: RAIL, max: 3.31V } }
",
    );
    let (code, told) = desk.told(&["assert", "rail.csv", "rules.yaml"]);
    assert_eq!(code, 1, "{told}");
    assert!(
        told.starts_with("ok    in time: there after 30 us\nFAIL  too late: there after 30 us\n"),
        "{told}"
    );
    assert!(told.contains("ok    never higher: "), "{told}");
}

#[test]
fn what_is_wrong_is_told_with_the_exit_code_2() {
    let desk = Desk::new();
    sr(&desk.path("a.sr"), &boot(10));
    desk.write("rules.yaml", RULES);
    desk.write(
        "wrong.yaml",
        "version: 1\nrules:\n  - { name: a, plse: {} }\n",
    );
    desk.write(
        "gone.yaml",
        "version: 1\nrules: [{ name: a, golden: { file: none.json } }]\n",
    );
    desk.write(
        "long.yaml",
        "version: 1\nrules: [{ name: a, to: 1h, count: { edge: clk any, min: 1 } }]\n",
    );
    desk.write("empty.sr", "");
    desk.write("text.sr", "no capture");
    for (args, says) in [
        (
            ["a.sr", "wrong.yaml"],
            "wrong.yaml:3:16: error[unknown_key]: there is no key `plse` here; did you mean `pulse`?",
        ),
        (["a.sr", "gone.yaml"], "failed to read none.json"),
        (
            ["a.sr", "long.yaml"],
            "ERROR a: the capture ends 135 us after its trigger",
        ),
        (["a.sr", "none.yaml"], "failed to read none.yaml"),
        (["none.sr", "rules.yaml"], "failed to open none.sr"),
        (["empty.sr", "rules.yaml"], "the file is empty"),
        (
            ["text.sr", "rules.yaml"],
            "failed to read text.sr, which is no capture that is known",
        ),
    ] {
        let (code, told) = desk.told(&["assert", args[0], args[1]]);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains(says), "{told}");
    }
    let (code, told) = desk.told(&["assert", "--schema"]);
    assert_eq!(code, 0, "{told}");
    let schema: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(schema["title"], "Rules");
    let (code, _) = desk.told(&["golden", "a.sr", "-o", "x.json", "--channels", "rts"]);
    assert_eq!(code, 2);
}

//! `hostd run` with benches: on simulated devices, on a pod of the network, and ended in the middle.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tests::{PodSim, can_isolate};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sources with a pipeline, a folder for caches and running builds, and one for temporary files.
struct Home {
    dir: TempDir,
}

impl Home {
    /// With the demo firmware beside this pipeline.
    fn new(pipeline: &str) -> Self {
        let home = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        for folder in ["source", "tmp"] {
            fs::create_dir(home.path(folder)).unwrap();
        }
        fs::write(home.path("source/pipeline.yml"), pipeline).unwrap();
        fs::write(home.path("source/demo.elf"), tests::demo_elf()).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(tests::server::binary().unwrap());
        command
            .args(["run", "source/pipeline.yml"])
            .args(more)
            .current_dir(self.dir.path())
            .env_remove("GITHUB_ACTIONS")
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, more: &[&str]) -> Output {
        self.command(more).output().unwrap()
    }

    /// Starts it, and waits for a line of its log that begins so.
    fn until_said(
        &self,
        more: &[&str],
        start: &str,
    ) -> (Child, impl Iterator<Item = String> + use<>) {
        let mut child = self.command(more).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut lines = out.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.starts_with(start)), "no {start}");
        (child, lines)
    }

    fn out(&self, name: &str) -> PathBuf {
        self.path("hostd-out").join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.out(name)).unwrap()
    }

    /// Nothing is left of benches and places but the folders that hold them.
    fn assert_clean(&self) {
        for folder in ["cache/hostd/benches", "cache/hostd/places/0", "tmp"] {
            let left: Vec<_> = below(&self.path(folder));
            assert_eq!(left, Vec::<PathBuf>::new(), "{folder}");
        }
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn told(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

fn interrupt(child: &Child) {
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// A bench that is built from the demo firmware, with these steps and what is done after them.
fn pipeline(device: &str, steps: &str) -> String {
    format!(
        "version: 1
timeouts: {{ build: 1m, flash: 1m, test: 5m }}
retry: {{ infra: 0 }}
builds:
  - id: fw
    steps: [{{ run: 'cp demo.elf \"$HOSTD_OUT/demo.elf\"' }}]
    packs: [{{ id: f0, artifacts: [demo.elf], targets: [stm32f030r8] }}]
benches:
  - id: smoke
    for_each: fw
    device: {device}
    steps:
{steps}
"
    )
}

/// Whatever a simulated device has by its wiring alone: chip, debug wires and serial line.
const BY_WIRING: &str = "{ select: { target: '{{pack.target}}', la_channels: '>=4' } }";

#[test]
fn the_example_runs_on_a_simulated_device() {
    if !can_isolate() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let example = fs::read_to_string(root.join("docs/example/board/pipeline.yml")).unwrap();
    let home = Home::new(&example);
    for source in below(&root.join("hostd/target-sim/firmware")) {
        let name = source.file_name().unwrap();
        fs::copy(&source, home.path("source").join(name)).unwrap();
    }
    fs::create_dir(home.path("source/tests")).unwrap();
    for test in below(&root.join("docs/example/board/tests")) {
        let name = Path::new("source/tests").join(test.file_name().unwrap());
        fs::copy(&test, home.path(name.to_str().unwrap())).unwrap();
    }
    let output = home.run(&["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["verdict"], "success");
    assert_eq!(
        (&json["runs"][1]["id"], &json["runs"][1]["device"]),
        (&"smoke.f0".into(), &"demo".into())
    );
    let log = text(&output.stderr);
    assert!(log.contains("on demo, which is simulated"), "{log}");
    assert!(log.contains("APP_OK"), "{log}");
    let cases = home.read("junit.xml");
    for case in [
        "compiles",
        "flashes",
        "says hello",
        "the clock chip answers",
    ] {
        assert!(cases.contains(&format!("name=\"{case}\"")), "{cases}");
    }
    assert!(home.out("artifacts/fw.f0/demo.elf").is_file());
    assert!(home.read("report.html").contains("demo"));
    // Without the SDK its tests are skipped, and say so.
    assert!(cases.contains("with the SDK\""), "{cases}");
    let timeline: Value = serde_json::from_str(&home.read("trace.json")).unwrap();
    let has = |phase: &str, name: &str| {
        let mut events = timeline.as_array().unwrap().iter();
        events.any(|event| event["ph"] == phase && event["name"] == name)
    };
    assert!(has("X", "says hello"), "{timeline}");
    assert!(
        has("i", "APP_OK") && has("i", "found \"APP_OK\""),
        "{timeline}"
    );
    assert!(has("C", "demo internal"), "{timeline}");
    // What the bench recorded, in a format that other tools read.
    let capture = home.out("captures/smoke.f0/boot.sr");
    let decoded = Command::new(tests::server::binary().unwrap())
        .arg("decode")
        .arg(&capture)
        .args(["--protocol", "i2c", "--map", "scl=LA1,sda=LA2"])
        .output()
        .unwrap();
    assert!(decoded.status.success(), "{}", told(&decoded));
    assert!(text(&decoded.stdout).contains("68"), "{}", told(&decoded));
    home.assert_clean();
    // What an earlier run left is not taken for what this one did.
    let output = home.run(&["--builds-only"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(!capture.exists());
}

#[test]
fn programs_of_a_bench_reach_their_device_and_nothing_else() {
    if !can_isolate() {
        return;
    }
    // In the jail there is no other network, and the key is good for this one device.
    let steps = r#"      - power: { rail: internal, state: on }
      - flash: { artifact: demo.elf }
      - run: |
          set -e
          python3 - <<'END'
          import json, os, urllib.request
          base, key = os.environ["BENCHPOD_API_BASE"], os.environ["BENCHPOD_API_KEY"]
          print("key", key)
          ask = urllib.request.Request(base + "/api/benchpod/devices", headers={"Authorization": "ApiKey " + key})
          devices = json.load(urllib.request.urlopen(ask))["devices"]
          wiring = base + "/api/benchpod/devices/" + devices[0]["id"] + "/wiring/profile"
          ask = urllib.request.Request(wiring, headers={"Authorization": "ApiKey " + key})
          profile = json.load(urllib.request.urlopen(ask))["profile"]
          print("devices", [device["name"] for device in devices], profile["swd_target"], profile["uart_rx"])
          END
      - reset: {}
      - uart: { expect: APP_OK }
        case: says hello by the wiring
        timeout: 20s"#;
    let home = Home::new(&pipeline(BY_WIRING, steps));
    let output = home.run(&[]);
    let log = told(&output);
    assert_eq!(output.status.code(), Some(0), "{log}");
    assert!(log.contains("devices ['demo'] STM32F030R8 3"), "{log}");
    assert!(
        log.contains("key [secret]") && !log.contains("bk_"),
        "{log}"
    );
    assert!(!home.read("log.txt").contains("bk_"));
    home.assert_clean();
}

#[test]
fn each_run_has_a_simulated_device_that_fits_it() {
    if !can_isolate() {
        return;
    }
    let wait = "      - wait: 1ms";
    for (device, expected) in [
        ("{ select: { target: stm32f030rc } }", "demo-rc"),
        ("{ name: demo-digital }", "demo-digital"),
    ] {
        let home = Home::new(&pipeline(device, wait));
        let output = home.run(&[]);
        let log = told(&output);
        assert_eq!(output.status.code(), Some(0), "{log}");
        assert!(log.contains(&format!("on {expected}, which is")), "{log}");
    }
    for (device, lack) in [
        (
            "{ select: { la_channels: '>=99' } }",
            "demo: la_channels is 14, the job wants >=99",
        ),
        (
            "{ name: bench-1 }",
            "demo: name is demo, the job wants bench-1",
        ),
    ] {
        let home = Home::new(&pipeline(device, wait));
        let output = home.run(&[]);
        let log = told(&output);
        assert_eq!(output.status.code(), Some(3), "{log}");
        assert!(log.contains(lack), "{log}");
        assert!(log.contains("--device NAME=tcp:bench.example"), "{log}");
        // Its build was made all the same.
        assert!(home.out("artifacts/fw.f0/demo.elf").is_file());
        home.assert_clean();
    }
}

#[test]
fn a_step_that_asks_too_much_of_its_bench_is_a_mistake_of_the_pipeline() {
    if !can_isolate() {
        return;
    }
    let steps = "      - { uart: { parity: even, send: a } }";
    let home = Home::new(&pipeline("{ name: demo }", steps));
    let output = home.run(&[]);
    let log = told(&output);
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(
        log.contains("\ndefinition: smoke.f0: this device cannot do that:"),
        "{log}"
    );
}

#[test]
fn what_a_serial_line_said_is_decoded_as_text() {
    if !can_isolate() {
        return;
    }
    let steps = "      - power: { rail: internal, state: on }
      - flash: { artifact: demo.elf }
      - capture: { kind: la, channels: { tx: 3 }, rate: 2MHz, samples: 1000000 }
        id: boot
        background: true
      - reset: {}
      - uart: { expect: APP_OK }
        timeout: 20s
      - decode: { on: boot, decoder: uart, channels: { rx: tx } }
        id: text
      - decode: { on: boot, decoder: uart, channels: { rx: tx }, options: { rx_packet_delim: '10' }, annotations: [rx-packets] }
        id: lines
      - decode: { on: boot, decoder: uart, channels: { rx: tx }, options: { format: hex }, annotations: [rx-data, rx-data-bits] }
        id: bits";
    let home = Home::new(&pipeline(BY_WIRING, steps));
    let output = home.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let decoded = |name: &str| home.read(&format!("artifacts/smoke.f0/decoded/{name}.txt"));
    let words = |text: &str| -> Vec<String> {
        let words = text
            .lines()
            .map(|line| line.split_once(" uart-1: ").unwrap().1);
        words.map(str::to_owned).collect()
    };
    let text = decoded("text");
    assert!(
        words(&text).concat().contains("I2C1 init OK[0D][0A]"),
        "{text}"
    );
    assert!(!text.contains(" bit\n"), "{text}");
    let lines = decoded("lines");
    assert!(
        words(&lines)
            .iter()
            .any(|line| line.contains("I2C1 init OK")),
        "{lines}"
    );
    let bits = words(&decoded("bits"));
    // Eight bits and a word of two digits for each character.
    let count = |is: fn(&String) -> bool| bits.iter().filter(|word| is(word)).count();
    let of_bits = count(|word| word == "0" || word == "1");
    assert_eq!(of_bits, 8 * words(&text).len(), "{bits:?}");
    assert_eq!(count(|word| word.len() == 2), words(&text).len());
}

#[test]
fn firmware_for_another_core_finds_the_device_that_has_it() {
    if !can_isolate() {
        return;
    }
    let steps = "      - power: { rail: internal, state: on }
      - flash: { artifact: demo.elf }
      - reset: {}
      - uart: { expect: 'simulated STM32F446' }";
    let pipeline = pipeline(BY_WIRING, steps).replace("stm32f030r8", "stm32f446re");
    let home = Home::new(&pipeline);
    let firmware = include_bytes!("../../hostd/target-sim/firmware/demo-f446.elf");
    fs::write(home.path("source/demo.elf"), firmware).unwrap();
    let output = home.run(&[]);
    let log = told(&output);
    assert_eq!(output.status.code(), Some(0), "{log}");
    assert!(log.contains("on demo-f446, which is"), "{log}");
    home.assert_clean();
}

#[test]
fn a_device_of_the_network_is_driven_and_left_safe() {
    if !can_isolate() {
        return;
    }
    let pod = PodSim::start(&["--board", "v3", "--target", "blank"]).unwrap();
    // The rail stays on, as far as the pipeline is concerned.
    let steps = "      - power: { rail: internal, state: on }
      - flash: { artifact: demo.elf, target: '{{pack.target}}' }
      - reset: {}
      - uart: { channels: { rx: 3, tx: 4 }, expect: APP_OK }
        timeout: 20s";
    let home = Home::new(&pipeline("{ name: bench-1 }", steps));
    let address = format!("tcp:{}", pod.address);
    let named = format!("bench-1={address}");
    let config = format!("[[devices]]\nname = \"bench-1\"\naddress = \"{address}\"\n");
    fs::write(home.path("hostd.toml"), config).unwrap();
    for more in [
        &["--device", &address][..],
        &["--device", &named],
        &["--device", "bench-1", "--config", "hostd.toml"],
    ] {
        let output = home.run(more);
        let log = told(&output);
        assert_eq!(output.status.code(), Some(0), "{more:?}: {log}");
        assert!(log.contains(&format!(" at {address}")), "{log}");
        assert!(!pod.is_powered(), "{more:?}");
        home.assert_clean();
    }
    // Whom the pipeline does not mean is not taken.
    let output = home.run(&["--device", &format!("bench-2={address}")]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let output = home.run(&["--device", "bench-3", "--config", "hostd.toml"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    drop(pod);
    let output = home.run(&["--device", &address]);
    let log = told(&output);
    assert_eq!(output.status.code(), Some(3), "{log}");
    assert!(log.contains("does not answer"), "{log}");
    home.assert_clean();
}

#[test]
fn ctrl_c_in_the_middle_of_a_flash_leaves_the_device_safe() {
    if !can_isolate() {
        return;
    }
    let pod = PodSim::start(&["--board", "v3", "--target", "blank"]).unwrap();
    let steps = "      - power: { rail: internal, state: on }
      - flash: { artifact: demo.elf, target: '{{pack.target}}' }
        id: programs
      - wait: 1m
    always:
      - run: echo cleaned up";
    let home = Home::new(&pipeline("{ name: bench-1 }", steps));
    let address = format!("tcp:{}", pod.address);
    let (mut child, lines) = home.until_said(&["--device", &address], "== programs");
    interrupt(&child);
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{rest:?}");
    assert!(rest.iter().any(|line| line == "cleaned up"), "{rest:?}");
    assert!(!pod.is_powered());
    assert!(home.read("junit.xml").contains("smoke.f0"));
    home.assert_clean();
}

#[test]
fn a_second_ctrl_c_does_not_wait_but_for_the_safe_state() {
    if !can_isolate() {
        return;
    }
    let pod = PodSim::start(&["--board", "v3", "--target", "blank"]).unwrap();
    let steps = "      - power: { rail: internal, state: on }
      - wait: 1m
        id: first
    always:
      - wait: 1m
        id: last";
    let home = Home::new(&pipeline("{ name: bench-1 }", steps));
    let address = format!("tcp:{}", pod.address);
    let (mut child, mut lines) = home.until_said(&["--device", &address], "== first");
    assert!(pod.is_powered());
    interrupt(&child);
    assert!(lines.any(|line| line.starts_with("== last")));
    let begun = Instant::now();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert!(begun.elapsed() < PATIENCE / 2);
    assert!(!pod.is_powered());
    let left = below(&home.path("cache/hostd/benches"));
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn a_run_that_takes_too_long_leaves_the_device_safe() {
    if !can_isolate() {
        return;
    }
    let pod = PodSim::start(&["--board", "v3", "--target", "blank"]).unwrap();
    let steps = "      - power: { rail: internal, state: on }
      - { run: sleep 1000, timeout: 1s }";
    let home = Home::new(&pipeline("{ name: bench-1 }", steps));
    let output = home.run(&["--device", &format!("tcp:{}", pod.address)]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(!pod.is_powered());
    home.assert_clean();
}

#[test]
fn what_a_killed_run_left_goes_with_the_next() {
    if !can_isolate() {
        return;
    }
    let pod = PodSim::start(&["--board", "v3", "--target", "blank"]).unwrap();
    let steps = "      - power: { rail: internal, state: on }\n      - { wait: 1m, id: here }";
    let home = Home::new(&pipeline("{ name: bench-1 }", steps));
    let address = format!("tcp:{}", pod.address);
    let (mut child, _lines) = home.until_said(&["--device", &address], "== here");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(below(&home.path("cache/hostd/benches")).len(), 1);
    let short = pipeline("{ name: bench-1 }", "      - wait: 1ms");
    fs::write(home.path("source/pipeline.yml"), short).unwrap();
    let output = home.run(&["--device", &address]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(!pod.is_powered());
    home.assert_clean();
}

//! A bench of plain parts does what a pod does: power, console, flash, leases; and it says which part is missing.
//!
//! Its supply is simulated, its serial port is a PTY, and its probe is that of another device behind `hostd connect`.

mod analyzer;
mod job;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::{Client, Line, Reply, Server, Socket, Supply, flash, own_port, until};

use crate::connect::Connected;

/// The pods of servers here count as offline after this time.
const GRACE: &str = "[pods]\ngrace_ms = 300\n";

/// A server with a bench of parts, `bench-2`, and the device `d0` whose probe it uses.
struct Bench {
    server: Server,
    supply: Supply,
    /// The target's end of the serial port.
    target: File,
    probe_port: u16,
    id: String,
    dir: TempDir,
}

/// A serial port at `link`, and the target's end of it.
fn serial_port(link: &Path) -> File {
    let target = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&target).unwrap();
    unlockpt(&target).unwrap();
    let name = ptsname(&target, Vec::new()).unwrap();
    let path = Path::new(OsStr::from_bytes(name.to_bytes()));
    std::os::unix::fs::symlink(path, link).unwrap();
    target.into()
}

impl Bench {
    fn start() -> Self {
        Self::with("")
    }

    /// As [`start`](Self::start), with these tables of more parts.
    fn with(more: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let supply = Supply::start();
        let serial = dir.path().join("usb-adapter");
        let target = serial_port(&serial);
        let probe_port = own_port();
        let config = dir.path().join("hostd.toml");
        let text = format!(
            "{GRACE}\
             [[devices]]\nname = \"d0\"\naddress = \"sim:v3,seed=3,target=demo\"\n\
             [[devices]]\nname = \"bench-2\"\naddress = \"parts\"\n\
             [devices.probe]\naddress = \"tcp:127.0.0.1:{probe_port}\"\n\
             [devices.uart]\npath = \"{}\"\n\
             [devices.power]\nkind = \"scpi\"\naddress = \"tcp:127.0.0.1:{}\"\nvoltage_mv = 3300\nlimit_ma = 500\n{more}",
            serial.display(),
            supply.port(),
        );
        std::fs::write(&config, text).unwrap();
        let server = Server::demo_with(&["--config", config.to_str().unwrap()]).unwrap();
        let list = server
            .client()
            .get("/api/bench/devices")
            .unwrap()
            .expect(200);
        let list = list["devices"].as_array().unwrap().clone();
        let found = list
            .iter()
            .find(|device| device["name"] == "bench-2")
            .unwrap();
        let id = found["id"].as_str().unwrap().to_owned();
        Self {
            server,
            supply,
            target,
            probe_port,
            id,
            dir,
        }
    }

    fn record(&self) -> Value {
        let path = format!("/api/bench/devices/{}", self.id);
        self.server.client().get(&path).unwrap().expect(200)
    }

    fn until(&self, is_so: impl Fn(&Value) -> bool) -> Value {
        until(|| self.record(), is_so).unwrap()
    }

    fn command(&self, device: &str, command: &Value) -> Value {
        let path = format!("/api/bench/devices/{device}/command");
        let body = json!({"command": command});
        self.server.client().post(&path, &body).unwrap().expect(200)
    }

    fn power(&self, device: &str, on: bool) -> Value {
        let command = json!({"cmd": "target_power", "efuse": 1, "state": u8::from(on)});
        self.command(device, &command)
    }

    fn console(&self) -> Line {
        let path = format!("/api/bench/devices/{}/uart/ws?baud=230400", self.id);
        let key = format!("ApiKey {}", self.server.api_key);
        let opened = Socket::open(&self.server.url, &path, &[("authorization", &key)]);
        Line::new(opened.unwrap().socket())
    }

    /// Lets `bench-2` use the probe of `d0`, whose target has power.
    fn lend_probe(&self) -> Connected {
        let client = self.server.client();
        let list = client.get("/api/bench/devices").unwrap().expect(200);
        let list = list["devices"].as_array().unwrap().clone();
        let d0 = list.iter().find(|device| device["name"] == "d0").unwrap();
        self.power(d0["id"].as_str().unwrap(), true);
        Connected::start(&self.server, &["d0", "--dap", &self.probe_port.to_string()])
    }

    /// Its supply does what was configured.
    fn powers_its_target(&self) {
        assert_eq!(self.power(&self.id, true)["status"], "ok");
        let state = self.supply.state();
        assert!(
            state.is_on && (state.volts, state.amps_max) == (3.3, 0.5),
            "{state:?}"
        );
        let read = self.command(&self.id, &json!({"cmd": "power_status"}));
        let rail = &read["data"]["internal"];
        assert_eq!(
            rail,
            &json!({"ok": true, "bus_mv": 3300, "current_ua": 33_000})
        );
    }

    /// Its serial port carries both directions, at the speed that was asked for.
    fn listens(&mut self) -> Line {
        let mut console = self.console();
        self.target.write_all(b"boot: hello\r\n").unwrap();
        console.expect(b"boot: hello\r\n");
        console.write(b"version\n");
        let mut heard = [0; 8];
        self.target.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"version\n");
        console.say(&json!({"type": "baud", "baud": 9600}));
        assert_eq!(console.told("baud")["baud"], 9600);
        self.target.write_all(b"slower\n").unwrap();
        console.expect(b"slower\n");
        // A pseudo-terminal has no parity: the line says so, and goes on.
        console.say(&json!({"type": "parity", "parity": "even"}));
        let refused = console.told("error");
        assert_eq!(refused["code"], "setting_refused", "{refused}");
        assert_eq!(console.told("parity")["parity"], "none");
        console.say(&json!({"type": "baud", "baud": 115_200}));
        assert_eq!(console.told("baud")["baud"], 115_200);
        self.target.write_all(b"goes on\n").unwrap();
        console.expect(b"goes on\n");
        console
    }

    /// A refusal names the part that would be needed.
    fn refuses_what_no_part_gives(&self) {
        let client = self.server.client();
        for (path, body, part) in [
            (
                "/api/scope/captures/start",
                json!({"device_id": self.id}),
                "`analog`",
            ),
            (
                "/api/la/captures/start",
                json!({"device_id": self.id, "samples": 10, "sample_rate_mhz": 1}),
                "`logic`",
            ),
        ] {
            let refused = client.post(path, &body).unwrap();
            refused.expect_error(400, "not_capable");
            assert!(refused.text.contains(part), "{}", refused.text);
        }
    }
}

/// What a job with a lease sends.
struct Job {
    client: Client,
}

impl Job {
    fn new(server: &Server) -> Self {
        let token = server
            .client()
            .post("/api/auth/token", &json!({}))
            .unwrap()
            .expect(200);
        let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
        let client = server.anonymous().with_authorization(&bearer);
        Self {
            client: client.with_header("x-bench-lease", "lease-a"),
        }
    }

    fn lease(&self, step: &str, more: &Value) -> Reply {
        let path = format!("/api/cloud/devices/lease{step}?device=bench-2");
        let mut body = more.clone();
        body["lease_id"] = json!("lease-a");
        body["run_label"] = json!("run a");
        self.client.post(&path, &body).unwrap()
    }

    fn power_on(&self) {
        let path = "/api/cloud/devices/command?device=bench-2";
        let body = json!({"command": {"cmd": "target_power", "efuse": 1, "state": 1}});
        let answer = self.client.post(path, &body).unwrap().expect(200);
        assert_eq!(answer["status"], "ok", "{answer}");
    }
}

fn missing(record: &Value) -> Vec<&str> {
    let missing = record["missing_parts"].as_array().unwrap();
    missing
        .iter()
        .map(|away| away["part"].as_str().unwrap())
        .collect()
}

#[test]
fn a_bench_of_which_nothing_is_there_says_why_of_each_part() {
    let mut bench = Bench::start();
    bench.until(|record| missing(record) == ["probe"]);
    bench.supply.stop();
    std::fs::remove_file(bench.dir.path().join("usb-adapter")).unwrap();
    bench.target = File::open("/dev/null").unwrap();
    let address = format!("127.0.0.1:{}", bench.supply.port());
    // Each was tried again, and says why it is away now.
    let record = bench.until(|record| {
        let reason = record["missing_parts"][2]["reason"].as_str();
        record["state"] == "offline" && reason.is_some_and(|reason| reason.contains(&address))
    });
    assert_eq!(missing(&record), ["probe", "uart", "power"], "{record}");
    for away in record["missing_parts"].as_array().unwrap() {
        assert!(!away["reason"].as_str().unwrap().is_empty(), "{away}");
    }
}

#[test]
fn a_bench_of_parts_powers_flashes_and_listens() {
    let mut bench = Bench::start();
    // Nobody lends the probe yet.
    let record = bench.until(|record| record["state"] == "degraded");
    assert_eq!(
        (&record["online"], &record["transport"]),
        (&json!(true), &json!("parts"))
    );
    assert_eq!(missing(&record), ["probe"]);
    let reason = record["missing_parts"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains(&format!("127.0.0.1:{}", bench.probe_port)),
        "{reason}"
    );
    assert_eq!(record["capabilities"]["cmsis_dap"], false);
    let terms = [
        ("target", "target/stm32f0x.cfg"),
        ("swclk", "11"),
        ("swdio", "12"),
    ];
    let client = bench.server.client();
    let refused = flash(&client, &bench.id, &terms).unwrap();
    refused.expect_error(400, "not_capable");
    assert!(
        refused.text.contains("part `probe` of bench-2 is away"),
        "{}",
        refused.text
    );

    let lent = bench.lend_probe();
    let record = bench.until(|record| record["state"] == "online");
    assert!(missing(&record).is_empty());
    let offered = &record["capabilities"];
    assert_eq!(
        (&offered["cmsis_dap"], &offered["uart"]),
        (&json!(true), &json!(true))
    );

    bench.powers_its_target();
    let mut console = bench.listens();

    // The console stays open beside it.
    let answer = flash(&client, &bench.id, &terms).unwrap().expect(200);
    let chip = answer["chip"].as_str().unwrap();
    assert!(
        answer["ok"] == true && chip.starts_with("STM32F030"),
        "{answer}"
    );
    assert!(
        answer["output"].as_str().unwrap().contains("\nverified\n"),
        "{answer}"
    );
    bench.target.write_all(b"flashed\n").unwrap();
    console.until(b"flashed\n");

    bench.refuses_what_no_part_gives();
    let refused = bench.command(&bench.id, &json!({"cmd": "spi_stop"}));
    assert_eq!(refused["status"], "error");
    lent.stop();
    bench.until(|record| missing(record) == ["probe"]);
}

#[test]
fn a_supply_that_dies_degrades_the_bench_and_owes_its_safe_state() {
    let mut bench = Bench::start();
    bench.until(|record| missing(record) == ["probe"]);
    let job = Job::new(&bench.server);
    job.lease("", &json!({"ttl_seconds": 600})).expect(200);
    job.power_on();
    let port = bench.supply.port();
    bench.supply.stop();
    let record = bench.until(|record| missing(record) == ["probe", "power"]);
    assert_eq!(
        (&record["state"], &record["online"]),
        (&json!("degraded"), &json!(true))
    );
    // The rest of it works.
    let mut console = {
        let path = format!("/api/bench/devices/{}/uart/ws", bench.id);
        let key = format!("ApiKey {}", bench.server.api_key);
        let headers = [
            ("authorization", key.as_str()),
            ("x-bench-lease", "lease-a"),
        ];
        Line::new(
            Socket::open(&bench.server.url, &path, &headers)
                .unwrap()
                .socket(),
        )
    };
    bench.target.write_all(b"still here\n").unwrap();
    console.expect(b"still here\n");
    drop(console);
    // Nobody gets a bench whose supply may still be on.
    let release = std::thread::spawn(move || drop(job.lease("/release", &json!({}))));
    bench.until(|record| !record["making_safe_since"].is_null());
    let supply = Supply::on(port);
    supply.press(true);
    bench.until(|record| record["making_safe_since"].is_null() && missing(record) == ["probe"]);
    assert!(!supply.state().is_on);
    release.join().unwrap();
}

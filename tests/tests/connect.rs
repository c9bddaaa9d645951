//! `hostd connect`: stock tools at a device while its lease holds, and what cuts them off.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Bench, Server};

mod ends;
mod gdb;
mod packets;
mod probe;
mod uart;
mod who;

/// Longer than anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// The channels of the simulated target's UART.
const WIRES: [&str; 4] = ["--rx", "3", "--tx", "4"];

/// A bench with a target that runs the demo firmware, as the device `d0`.
fn bench() -> Bench {
    Bench::start(&["sim:v3,seed=3,target=demo"]).unwrap()
}

fn command(url: &str, key: &str, args: &[&str]) -> Command {
    let mut command = Command::new(tests::server::binary().unwrap());
    command
        .arg("connect")
        .args(args)
        .env("HOSTD_URL", url)
        .env("HOSTD_KEY", key)
        .env("USER", "ada")
        .env_remove("HOSTD_DEVICE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A running `hostd connect`. Killed when dropped.
pub(crate) struct Connected {
    child: Child,
    lines: Receiver<String>,
    told: String,
}

impl Connected {
    /// Starts it, and waits until its ports are there.
    pub(crate) fn start(server: &Server, args: &[&str]) -> Self {
        let mut connected = Self::begin(server, args);
        connected.hear("Ctrl-C ends it.");
        connected
    }

    fn begin(server: &Server, args: &[&str]) -> Self {
        Self::begin_with(&server.url, &server.api_key, args)
    }

    fn begin_with(url: &str, key: &str, args: &[&str]) -> Self {
        let mut child = command(url, key, args).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (tell, lines) = channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            told: String::new(),
        }
    }

    /// Waits until it says this.
    fn hear(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.told.contains(text) {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("no `{text}` in:\n{}", self.told));
            self.told += &(line + "\n");
        }
    }

    /// Where a bridge listens.
    fn address(&self, bridge: &str) -> SocketAddr {
        let line = self.told.lines().map(str::split_whitespace);
        let mut words = line.filter_map(|mut words| Some((words.next()?, words.next()?)));
        let found = words.find(|(name, _)| *name == bridge);
        let (_, address) = found.unwrap_or_else(|| panic!("no {bridge} in:\n{}", self.told));
        address.parse().unwrap()
    }

    fn open(&self, bridge: &str) -> TcpStream {
        let stream = TcpStream::connect(self.address(bridge)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end: the exit code, and everything that it said.
    fn ended(&mut self) -> (Option<i32>, String) {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "it goes on:\n{}", self.told);
            thread::sleep(Duration::from_millis(5));
        };
        for line in self.lines.iter() {
            self.told += &(line + "\n");
        }
        (status.code(), self.told.clone())
    }

    /// Asks it to end, and waits for that.
    pub(crate) fn stop(mut self) {
        self.signal("-INT");
        assert_eq!(self.ended().0, Some(4), "{}", self.told);
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        // Already gone is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a client reads until this has come.
fn read_until(stream: &mut TcpStream, text: &[u8]) -> Vec<u8> {
    let mut read = Vec::new();
    let mut byte = [0];
    while !read.ends_with(text) {
        let count = stream.read(&mut byte);
        assert!(
            matches!(count, Ok(1)),
            "{count:?} after {}",
            String::from_utf8_lossy(&read)
        );
        read.push(byte[0]);
    }
    read
}

/// Reads to the end, which comes soon.
fn is_cut(stream: &mut TcpStream) -> bool {
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut bytes = [0; 4096];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

/// Waits until the target's firmware takes commands, and has it list them.
fn talk(stream: &mut TcpStream) {
    let began = Instant::now();
    stream
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let mut read = Vec::new();
    let mut bytes = [0; 4096];
    while !String::from_utf8_lossy(&read).contains("commands:") {
        assert!(
            began.elapsed() < PATIENCE,
            "{}",
            String::from_utf8_lossy(&read)
        );
        stream.write_all(b"help\r").unwrap();
        while let Ok(count) = stream.read(&mut bytes) {
            assert!(
                count > 0,
                "it was closed after {}",
                String::from_utf8_lossy(&read)
            );
            read.extend_from_slice(&bytes[..count]);
        }
    }
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
}

fn record(bench: &Bench) -> Value {
    let path = format!("/api/bench/devices/{}", bench.devices[0]);
    bench.server.client().get(&path).unwrap().expect(200)
}

/// An administrator ends the lease.
fn take_away(bench: &Bench) {
    let token = bench
        .server
        .client()
        .post("/api/auth/token", &json!({}))
        .unwrap();
    let bearer = format!("Bearer {}", token.expect(200)["token"].as_str().unwrap());
    let admin = bench.server.anonymous().with_authorization(&bearer);
    let path = "/api/cloud/devices/lease/release?device=d0";
    let ended = admin
        .post(path, &json!({"holder": "hostd connect (ada)"}))
        .unwrap();
    assert_eq!(ended.expect(200)["released"], true);
}

//! How long a process takes from its start to a handler's first answer, with every group loaded;
//! how much memory it then holds; and how large the binary is.
//!
//! `cargo xtask bench start`

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints its figures and fails by panicking"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts per row.
const ROUNDS: usize = 21;

/// Between two attempts to connect.
const POLL: Duration = Duration::from_micros(200);

/// Wait before memory is read, so that allocators and pools settle.
const SETTLE: Duration = Duration::from_millis(500);

fn main() {
    let binary = tests::server::binary().unwrap();
    let size = std::fs::metadata(&binary).unwrap().len();
    println!("binary              {:>8.1} MiB", mib(size));
    let dir = tempfile::tempdir().unwrap();
    let mut first = Vec::new();
    let mut later = Vec::new();
    let mut resident = Vec::new();
    for round in 0..ROUNDS {
        let data = dir.path().join(round.to_string());
        for times in [&mut first, &mut later] {
            let (took, mut child) = start(&binary, &data);
            times.push(took);
            std::thread::sleep(SETTLE);
            resident.push(resident_bytes(child.id()));
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    row("first start", &mut first);
    row("later start", &mut later);
    resident.sort_unstable();
    println!(
        "resident, idle      {:>8.1} MiB median, {:.1} most",
        mib(resident[resident.len() / 2]),
        mib(*resident.last().unwrap())
    );
}

fn row(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let ms = |t: Duration| t.as_secs_f64() * 1e3;
    println!(
        "{name:<20}{:>8.1} ms median, {:.1} best, {:.1} worst",
        ms(times[times.len() / 2]),
        ms(times[0]),
        ms(*times.last().unwrap())
    );
}

/// Start a server on `data`; time until it has answered a request that enters a handler.
fn start(binary: &Path, data: &Path) -> (Duration, Child) {
    let address = free_address();
    let started = Instant::now();
    let child = Command::new(binary)
        .args(["serve", "--listen", &address.to_string(), "--data-dir"])
        .arg(data)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(_) => std::thread::sleep(POLL),
        }
    };
    let body = "{\"code\":\"wrong\"}";
    let request = format!(
        "POST /api/auth/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    (started.elapsed(), child)
}

/// A port that was free a moment ago.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

/// `VmRSS` of a process.
fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

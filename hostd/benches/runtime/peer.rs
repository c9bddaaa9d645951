//! The peer: `wasmtime serve` with a component that does the same work behind `wasi:http`.

use std::io::{BufRead, BufReader, Lines};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

/// It uses a thread a core, which is two where this bench is run.
pub(crate) const THREADS: usize = 2;

/// As it comes, and with what its users tune: pooling and resident pages.
const VARIANTS: [(&str, &[&str]); 2] = [
    ("wasmtime serve", &[]),
    (
        "serve, tuned",
        &[
            "-O",
            "pooling-allocator=y,pooling-memory-keep-resident=2097152,\
             pooling-table-keep-resident=2097152,pooling-async-stack-keep-resident=2097152,\
             pooling-pagemap-scan=y",
        ],
    ),
];

pub(crate) struct Peer {
    name: &'static str,
    process: Child,
    address: SocketAddr,
    /// Kept open, since the process may write to it.
    _stderr: Lines<BufReader<ChildStderr>>,
}

impl Peer {
    /// Empty when wasmtime is not installed.
    pub(crate) fn start_all() -> Vec<Self> {
        let Ok(version) = Command::new("wasmtime").arg("--version").output() else {
            return Vec::new();
        };
        println!("peer: {}", String::from_utf8_lossy(&version.stdout).trim());
        VARIANTS
            .iter()
            .map(|(name, options)| Self::start(name, options))
            .collect()
    }

    fn start(name: &'static str, options: &[&str]) -> Self {
        let component = PathBuf::from(env!("HOSTD_HANDLERS")).join("guests/bench-wasi.wasm");
        let mut process = Command::new("wasmtime")
            .arg("serve")
            .args(options)
            .args(["--addr", "127.0.0.1:0"])
            .arg(component)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .find_map(|line| {
                let line = line.unwrap();
                let url = line.split("http://").nth(1)?;
                url.trim_end_matches('/').parse().ok()
            })
            .expect("wasmtime serve says where it listens");
        Self {
            name,
            process,
            address,
            _stderr: lines,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

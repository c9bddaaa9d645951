//! One running `hostd pod-sim`, or `hostd serve --demo` with a pod behind it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::tiers::BenchKind;
use crate::cache;

/// The simulator answers within milliseconds; after this long it never will.
const START_WAIT: Duration = Duration::from_secs(30);

/// Between two checks whether it answers.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A simulated bench on its own port. Stopped when dropped.
pub(super) struct Simulator {
    child: Child,
    /// `host:port`.
    pub(super) address: String,
    /// The path of its USB console, when it was started with one.
    pub(super) console: Option<String>,
    /// How clients reach it through a server.
    pub(super) cloud: Option<Cloud>,
}

/// What a client needs to reach a device by name.
pub(super) struct Cloud {
    /// Base URL without `/api`.
    pub(super) base: String,
    pub(super) key: String,
    /// Name of a device.
    pub(super) device: String,
    /// A code that signs an owner in once.
    pub(super) code: String,
    /// The program, for clients that are part of it.
    pub(super) hostd: PathBuf,
}

impl Simulator {
    /// Starts it; `folder`, which is empty, is for its data and its ready file.
    pub(super) fn start(hostd: &Path, kind: &BenchKind, folder: &Path) -> Result<Self> {
        let ready = folder.join("ready.json");
        let data = folder.join("data");
        let mut command = Command::new(hostd);
        command.env_remove(cache::SWITCH);
        match kind {
            BenchKind::Pod(args) => command.arg("pod-sim").args(*args),
            BenchKind::Server => command.args(["serve", "--demo", "--data-dir"]).arg(&data),
        };
        let child = command
            .args(["--listen", "127.0.0.1:0", "--ready-file"])
            .arg(&ready)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("failed to start {}", hostd.display()))?;
        // From here on dropping it ends the process.
        let mut simulator = Self {
            child,
            address: String::new(),
            console: None,
            cloud: None,
        };
        let content = simulator.wait_for(&ready)?;
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        match kind {
            BenchKind::Pod(_) => {
                let address = text(&content["address"]);
                simulator.address = address.context("the ready file has no address")?;
                simulator.console = text(&content["console"]);
            }
            BenchKind::Server => {
                let read = |value| text(value).context("the ready file lacks something");
                let base = read(&content["url"])?;
                simulator.address = base.trim_start_matches("http://").to_owned();
                simulator.cloud = Some(Cloud {
                    base,
                    key: read(&content["api_key"])?,
                    device: read(&content["devices"][0]["name"])?,
                    code: add_owner(hostd, &data)?,
                    hostd: hostd.to_owned(),
                });
            }
        }
        Ok(simulator)
    }

    fn wait_for(&mut self, ready: &Path) -> Result<serde_json::Value> {
        let start = Instant::now();
        while start.elapsed() < START_WAIT {
            if let Ok(text) = fs::read(ready) {
                return serde_json::from_slice(&text).context("failed to read the ready file");
            }
            let ended = self.child.try_wait();
            if let Some(status) = ended.context("failed to look after hostd")? {
                bail!("hostd ended with {status} before it was ready");
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        bail!("hostd was not ready after {} s", START_WAIT.as_secs())
    }
}

/// Adds a person to the data of a running server, and returns the sign-in code.
fn add_owner(hostd: &Path, data: &Path) -> Result<String> {
    let added = Command::new(hostd)
        .env_remove(cache::SWITCH)
        .args(["user", "add", "tester", "--role", "owner", "--data-dir"])
        .arg(data)
        .output()
        .with_context(|| format!("failed to start {}", hostd.display()))?;
    let complaint = String::from_utf8_lossy(&added.stderr);
    ensure!(added.status.success(), "failed to add a user: {complaint}");
    let printed = String::from_utf8(added.stdout).context("hostd printed no text")?;
    let code = printed.lines().next();
    code.map(str::to_owned).context("hostd printed no code")
}

impl Drop for Simulator {
    fn drop(&mut self) {
        // It may have ended already; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

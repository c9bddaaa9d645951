//! One running `hostd pod-sim`.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The simulator answers within milliseconds; after this it never will.
const START_WAIT: Duration = Duration::from_secs(30);

/// Between two looks whether it answers.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A simulated pod on a port of its own. Ended when dropped.
pub(super) struct Simulator {
    child: Child,
    /// `host:port`.
    pub(super) address: String,
    /// The path of its USB console, when it was started with one.
    pub(super) console: Option<String>,
}

impl Simulator {
    /// Starts it with `args`; `folder` holds what it says when it is ready.
    pub(super) fn start(hostd: &Path, args: &[&str], folder: &Path) -> Result<Self> {
        let ready = folder.join("pod-sim.json");
        if ready.exists() {
            fs::remove_file(&ready).context("failed to remove the last run's ready file")?;
        }
        let child = Command::new(hostd)
            .args(["pod-sim", "--listen", "127.0.0.1:0", "--ready-file"])
            .arg(&ready)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("failed to start {} pod-sim", hostd.display()))?;
        // From here on dropping it ends the process.
        let mut simulator = Self {
            child,
            address: String::new(),
            console: None,
        };
        let content = simulator.wait_for(&ready)?;
        let text = |name: &str| content[name].as_str().map(str::to_owned);
        simulator.address = text("address").context("the ready file has no address")?;
        simulator.console = text("console");
        Ok(simulator)
    }

    fn wait_for(&mut self, ready: &Path) -> Result<serde_json::Value> {
        let start = Instant::now();
        while start.elapsed() < START_WAIT {
            if let Ok(text) = fs::read(ready) {
                return serde_json::from_slice(&text).context("failed to read the ready file");
            }
            let ended = self.child.try_wait();
            if let Some(status) = ended.context("failed to look after hostd pod-sim")? {
                bail!("hostd pod-sim ended with {status} before it was ready");
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        bail!(
            "hostd pod-sim was not ready after {} s",
            START_WAIT.as_secs()
        )
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

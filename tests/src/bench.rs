//! A server with simulated devices for one test, and what tests of flashing share.

use std::fmt::Debug;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::client::{Client, Reply};
use crate::server::Server;

/// Longer than anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks.
const POLL: Duration = Duration::from_millis(5);

/// A server with devices at these addresses besides the demo's, named `d0`, `d1`, …
#[derive(Debug)]
pub struct Bench {
    pub server: Server,
    /// Ids of the devices.
    pub devices: Vec<String>,
    _config: TempDir,
}

impl Bench {
    /// # Errors
    /// The server does not start, or a device does not come up.
    pub fn start(addresses: &[&str]) -> Result<Self> {
        Self::start_with("", addresses)
    }

    /// As [`start`](Self::start), with these lines of configuration.
    ///
    /// # Errors
    /// As there, or the configuration makes no sense.
    pub fn start_with(settings: &str, addresses: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("hostd.toml");
        let mut config = settings.to_owned();
        for (index, address) in addresses.iter().enumerate() {
            config += &format!("[[devices]]\nname = \"d{index}\"\naddress = \"{address}\"\n");
        }
        std::fs::write(&path, config)?;
        let server = Server::demo_with(&["--config", path.to_str().context("a UTF-8 path")?])?;
        let list = server.client().get("/api/bench/devices")?.expect(200);
        let list = list["devices"].as_array().context("a list")?;
        let id = |name: String| {
            let device = list.iter().find(|device| device["name"] == name);
            let id = device.and_then(|device| device["id"].as_str());
            id.map(str::to_owned)
                .with_context(|| format!("{name} is not there"))
        };
        let devices: Result<_> = (0..addresses.len()).map(|n| id(format!("d{n}"))).collect();
        Ok(Self {
            devices: devices?,
            server,
            _config: folder,
        })
    }

    /// Flash the demo firmware as a form and wait for the end.
    ///
    /// # Errors
    /// No answer at all.
    pub fn flash(&self, device: &str, texts: &[(&str, &str)]) -> Result<Reply> {
        flash(&self.server.client(), device, texts)
    }
}

/// The demo firmware of the simulated target.
///
/// # Panics
/// It is not in the tree.
#[must_use]
pub fn demo_elf() -> Vec<u8> {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = tests.join("../hostd/target-sim/firmware/demo.elf");
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Flash the demo firmware as a form.
///
/// # Errors
/// No answer at all.
pub fn flash(client: &Client, device: &str, texts: &[(&str, &str)]) -> Result<Reply> {
    let path = format!("/api/bench/devices/{device}/flash");
    client.post_form(&path, texts, ("firmware", "demo.elf", &demo_elf()))
}

/// Look at something until it is as expected.
///
/// # Errors
/// It is not as expected in time.
pub fn until<T: Debug>(mut look: impl FnMut() -> T, is_so: impl Fn(&T) -> bool) -> Result<T> {
    let began = Instant::now();
    loop {
        let seen = look();
        if is_so(&seen) {
            return Ok(seen);
        }
        if began.elapsed() > PATIENCE {
            bail!("it stays {seen:?}");
        }
        std::thread::sleep(POLL);
    }
}

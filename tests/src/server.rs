//! One `hostd serve` process on a free port with a data folder of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::until;
use crate::client::Client;

/// Start-up takes milliseconds; this limit only ends a test whose server hangs.
const START_WAIT: Duration = Duration::from_secs(60);

/// Much longer than the log's writer rests after it has written.
const LOG_REST: Duration = Duration::from_millis(30);

/// Between two looks at the ready file.
const POLL: Duration = Duration::from_millis(2);

/// A running server. Killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    dir: Dir,
    pub url: String,
    pub api_key: String,
    /// Ids of the demo bench's devices.
    pub devices: Vec<String>,
}

#[derive(Debug)]
enum Dir {
    Own(TempDir),
    Given(PathBuf),
}

impl Server {
    /// The demo bench in a fresh folder.
    ///
    /// # Errors
    /// The binary is missing or does not get ready.
    pub fn demo() -> Result<Self> {
        Self::start(Dir::Own(tempfile::tempdir()?), &[])
    }

    /// The demo bench in a fresh folder, with more arguments.
    ///
    /// # Errors
    /// The binary is missing or does not get ready.
    pub fn demo_with(args: &[&str]) -> Result<Self> {
        Self::start(Dir::Own(tempfile::tempdir()?), args)
    }

    /// The demo bench on a folder that outlives the server.
    ///
    /// # Errors
    /// The binary is missing or does not get ready.
    pub fn demo_in(dir: &Path) -> Result<Self> {
        Self::start(Dir::Given(dir.to_owned()), &[])
    }

    /// The demo bench on a folder that outlives the server, with more arguments.
    ///
    /// # Errors
    /// The binary is missing or does not get ready.
    pub fn demo_in_with(dir: &Path, args: &[&str]) -> Result<Self> {
        Self::start(Dir::Given(dir.to_owned()), args)
    }

    /// As [`Self::demo_in_with`], with another build of the server.
    ///
    /// # Errors
    /// There is no such program, or it does not get ready.
    pub fn demo_of(program: &Path, dir: &Path, args: &[&str]) -> Result<Self> {
        let mut all = vec!["--demo"];
        all.extend(args);
        Self::spawn(program, Dir::Given(dir.to_owned()), &all)
    }

    /// A server without the demo, on a folder that outlives the server. It prints no key.
    ///
    /// # Errors
    /// The binary is missing or does not get ready.
    pub fn plain_in(dir: &Path) -> Result<Self> {
        Self::spawn(&binary()?, Dir::Given(dir.to_owned()), &[])
    }

    fn start(dir: Dir, args: &[&str]) -> Result<Self> {
        let mut all = vec!["--demo"];
        all.extend(args);
        Self::spawn(&binary()?, dir, &all)
    }

    fn spawn(program: &Path, dir: Dir, args: &[&str]) -> Result<Self> {
        let path = dir.path().to_owned();
        let ready = path.join("ready.json");
        if ready.exists() {
            std::fs::remove_file(&ready)?;
        }
        let log = File::options()
            .create(true)
            .append(true)
            .open(path.join("log.txt"))?;
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0"])
            // Tests look for requests in the log.
            .env("HOSTD_LOG_LEVEL", "info,hostd::http=debug")
            .arg("--data-dir")
            .arg(path.join("data"))
            .arg("--ready-file")
            .arg(&ready)
            .args(args)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("start hostd")?;
        let started = Instant::now();
        let text = loop {
            if let Ok(text) = std::fs::read_to_string(&ready)
                && text.ends_with('\n')
            {
                break text;
            }
            if let Some(status) = child.try_wait()? {
                bail!("hostd ended with {status}: {}", read_log(&path));
            }
            if started.elapsed() > START_WAIT {
                child.kill()?;
                bail!("hostd did not get ready: {}", read_log(&path));
            }
            std::thread::sleep(POLL);
        };
        let ready: Value = serde_json::from_str(&text).context("read the ready file")?;
        let text = |v: &Value| v.as_str().map(str::to_owned).context("ready file member");
        Ok(Self {
            url: text(&ready["url"])?,
            api_key: ready["api_key"].as_str().unwrap_or_default().to_owned(),
            devices: ready["devices"]
                .as_array()
                .context("devices in the ready file")?
                .iter()
                .map(|d| text(&d["id"]))
                .collect::<Result<_>>()?,
            child,
            dir,
        })
    }

    /// A client that presents the demo key.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(&self.url).with_authorization(&format!("ApiKey {}", self.api_key))
    }

    /// A client without a credential.
    #[must_use]
    pub fn anonymous(&self) -> Client {
        Client::new(&self.url)
    }

    /// Id of the first demo device.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.devices[0]
    }

    /// Everything that the process has printed so far, what its log still holds back included.
    #[must_use]
    pub fn log(&self) -> String {
        std::thread::sleep(LOG_REST);
        read_log(self.dir.path())
    }

    /// The same once these words are among it, since the log is written independently of answers.
    ///
    /// # Panics
    /// They do not come.
    #[must_use]
    pub fn logged(&self, words: &str) -> String {
        let found = until(|| self.log(), |log| log.contains(words));
        found.unwrap_or_else(|_| panic!("the log does not say {words:?}"))
    }

    /// Sign in whoever has this code; the value of `Authorization` of their session.
    ///
    /// # Panics
    /// The code is not accepted.
    #[must_use]
    pub fn session(&self, code: &Value) -> String {
        let body = json!({"code": code});
        let session = self.anonymous().post("/api/auth/session", &body);
        let session = session.expect("an answer").expect(200);
        let token = session["token"].as_str().expect("a token");
        format!("Bearer {token}")
    }

    /// The code that the first start printed for the owner; it signs in once.
    ///
    /// # Panics
    /// It had been started before.
    #[must_use]
    pub fn code(&self) -> String {
        let log = self.log();
        let after = log.split("{\"code\":\"").nth(1).expect("a first start");
        let (code, _) = after.split_once('"').expect("an end of the code");
        code.to_owned()
    }

    /// Folder with `data/`, `log.txt` and `ready.json`.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// End the process at once, as a power failure would.
    ///
    /// # Errors
    /// The process cannot be waited for.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Ask the process to stop and wait until it has; true when it exited with success.
    ///
    /// # Errors
    /// The signal cannot be sent, or the process cannot be waited for.
    pub fn stop(&mut self) -> Result<bool> {
        self.begin_stop()?;
        self.stopped()
    }

    /// Ask the process to stop, which takes as long as what it lets end.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn begin_stop(&self) -> Result<()> {
        let status = Command::new("kill")
            .args(["-TERM", &self.pid().to_string()])
            .status()?;
        if !status.success() {
            bail!("kill -TERM failed");
        }
        Ok(())
    }

    /// Wait until the process has stopped; true when it exited with success.
    ///
    /// # Errors
    /// The process cannot be waited for.
    pub fn stopped(&mut self) -> Result<bool> {
        Ok(self.child.wait()?.success())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let log = self.log();
            let tail = log.len().saturating_sub(4000);
            #[expect(
                clippy::print_stderr,
                reason = "a failed test shows what the server said"
            )]
            {
                eprintln!("--- server log\n{}", &log[log.floor_char_boundary(tail)..]);
            }
        }
    }
}

impl Dir {
    fn path(&self) -> &Path {
        match self {
            Self::Own(dir) => dir.path(),
            Self::Given(path) => path,
        }
    }
}

fn read_log(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("log.txt")).unwrap_or_default()
}

/// Environment variable that names a binary other than the one that [`binary`] finds.
pub const BINARY: &str = "TESTS_HOSTD";

/// The binary of the same build, `target/release/hostd` beside `deps/`, or the one that [`BINARY`] names.
///
/// # Errors
/// It has not been built.
pub fn binary() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(BINARY) {
        return Ok(path.into());
    }
    let test = std::env::current_exe()?;
    let path = test
        .parent()
        .and_then(Path::parent)
        .context("test binary outside a target folder")?
        .join("hostd");
    if !path.exists() {
        bail!("{} is missing: run `cargo xtask build`", path.display());
    }
    Ok(path)
}

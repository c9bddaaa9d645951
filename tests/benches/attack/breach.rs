//! What a breach is: one try to see, change or keep what is another's, or to take more than one may. It is over after a
//! bounded number of requests and jobs, says what it saw, and fails when it succeeds.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tests::Client;

use crate::site::Host;

/// Longest wait for a state: a job of a breach takes seconds, and more on a machine that others use.
const STATE_WAIT: Duration = Duration::from_secs(120);

/// Between two looks.
const LOOK_PAUSE: Duration = Duration::from_millis(20);

/// How much of a breach is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// Seconds.
    Short,
    /// What takes minutes, too.
    Full,
}

/// One way to get what is another's.
pub(crate) trait Breach: Send + Sync {
    fn name(&self) -> &'static str;

    /// A line for people.
    fn does(&self) -> &'static str;

    /// Try it. An error means that it could not be tried, which is a failure, too.
    fn run(&self, ground: &Ground, length: Length, seen: &mut Seen) -> Result<()>;

    /// Whether it takes jobs, which need a machine that isolates.
    fn takes_jobs(&self) -> bool {
        true
    }
}

/// What a breach saw, and what was not withstood.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    told: Vec<String>,
    faults: Vec<String>,
}

/// The server, and those who use it.
pub(crate) struct Ground {
    pub(crate) host: Host,
    /// The owner of an organisation, to whom no harm is to be done.
    pub(crate) honest: Client,
    /// The owner of another one.
    pub(crate) other: Client,
}

impl Seen {
    pub(crate) fn note(&mut self, line: impl Into<String>) {
        self.told.push(line.into());
    }

    pub(crate) fn fault(&mut self, line: impl Into<String>) {
        self.faults.push(line.into());
    }

    /// A fault unless it is so.
    pub(crate) fn expect(&mut self, is_so: bool, otherwise: impl Into<String>) {
        if !is_so {
            self.fault(otherwise);
        }
    }

    pub(crate) fn is_withstood(&self) -> bool {
        self.faults.is_empty()
    }

    /// The report's lines about it, which took so long.
    pub(crate) fn table(&self, took: Duration) -> String {
        let mut table = String::new();
        for line in &self.told {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "  {line}");
        }
        for fault in &self.faults {
            let _ = writeln!(table, "  FAILED: {fault}");
        }
        if self.is_withstood() {
            let _ = writeln!(table, "  withstood, in {:.1} s", took.as_secs_f64());
        }
        table
    }
}

impl Ground {
    /// A server of its own with these lines of configuration.
    pub(crate) fn start(settings: &str) -> Result<Self> {
        let host = Host::start(settings).context("start a server")?;
        let honest = host.client(&host.site.key);
        let other = host.client(&host.site.stranger);
        Ok(Self {
            host,
            honest,
            other,
        })
    }

    /// Look at something until it is as expected.
    pub(crate) fn until<T>(
        &self,
        what: &str,
        mut look: impl FnMut() -> Result<T>,
        is_so: impl Fn(&T) -> bool,
    ) -> Result<T> {
        let end = Instant::now() + STATE_WAIT;
        loop {
            let seen = look()?;
            if is_so(&seen) {
                return Ok(seen);
            }
            ensure!(Instant::now() < end, "{what} does not come");
            thread::sleep(LOOK_PAUSE);
        }
    }

    /// Submit a pipeline; the id of its job.
    pub(crate) fn submit(&self, by: &Client, definition: &str) -> Result<String> {
        let body = json!({"definition": definition});
        let made = ok(by.post("/api/jobs/submit", &body)?, 201)?;
        Ok(made["id"].as_str().context("an id")?.to_owned())
    }

    /// A job once it has ended.
    pub(crate) fn ended(&self, by: &Client, id: &str) -> Result<Value> {
        let look = || get(by, &format!("/api/jobs/{id}"));
        self.until("the end of the job", look, |job| job["state"] == "finished")
    }

    /// What a job wrote, once it has ended.
    pub(crate) fn log_of(&self, by: &Client, definition: &str) -> Result<String> {
        let id = self.submit(by, definition)?;
        self.ended(by, &id)?;
        self.log(by, &id)
    }

    pub(crate) fn log(&self, by: &Client, id: &str) -> Result<String> {
        Ok(by.get(&format!("/api/jobs/{id}/log"))?.text)
    }
}

/// The JSON of an answer with this status.
pub(crate) fn ok(reply: tests::Reply, status: u16) -> Result<Value> {
    if reply.status != status {
        bail!("answered {} {}", reply.status, reply.text);
    }
    Ok(serde_json::from_str(&reply.text).unwrap_or_default())
}

/// The JSON at a path.
pub(crate) fn get(by: &Client, path: &str) -> Result<Value> {
    ok(by.get(path)?, 200)
}

/// A pipeline of one build with these limits that runs these lines of a shell.
pub(crate) fn build(limits: &str, lines: &str) -> String {
    let mut text = format!(
        "version: 1\nname: breach\nlimits: {{ {limits} }}\nbuilds:\n  - id: fw\n    steps:\n      - run: |\n"
    );
    for line in lines.lines() {
        let _ = writeln!(text, "          {}", line.trim());
    }
    text
}

//! A server for one part, and what all parts ask of it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::{Client, Server, until};

/// A server with a demo device, named `demo`.
pub(crate) struct Site {
    pub(crate) server: Server,
    pub(crate) dir: TempDir,
}

impl Site {
    /// With this configuration.
    pub(crate) fn start(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hostd.toml");
        std::fs::write(&path, config).unwrap();
        let server = Server::demo_in_with(dir.path(), &["--config", path.to_str().unwrap()]);
        Self {
            server: server.unwrap(),
            dir,
        }
    }

    pub(crate) fn client(&self) -> Client {
        self.server.client()
    }

    /// Submits a pipeline; the id of its job.
    pub(crate) fn submit(&self, definition: &str) -> String {
        let body = json!({"definition": definition});
        let made = self.client().post("/api/jobs/submit", &body).unwrap();
        made.expect(201)["id"].as_str().unwrap().to_owned()
    }

    /// Waits for the end of a job, which must have passed.
    pub(crate) fn passed(&self, id: &str) -> Value {
        let path = format!("/api/jobs/{id}");
        let look = || self.client().get(&path).unwrap().expect(200);
        let job = until(look, |job| job["state"] == "finished").unwrap();
        assert_eq!(job["verdict"], "success", "{job}");
        job
    }

    /// What the timeline of a job has: name, when it began after the submission, how long it took.
    pub(crate) fn timeline(&self, id: &str) -> Vec<(String, Duration, Duration)> {
        let path = format!("/api/jobs/{id}/trace.json");
        let trace = self.client().get(&path).unwrap().expect(200);
        let spans = trace.as_array().unwrap().iter();
        let spans = spans.filter(|event| event["ph"] == "X");
        let micros = |event: &Value, of: &str| Duration::from_micros(event[of].as_u64().unwrap());
        let span = |event: &Value| {
            let name = event["name"].as_str().unwrap().to_owned();
            (name, micros(event, "ts"), micros(event, "dur"))
        };
        spans.map(span).collect()
    }
}

/// Whether a program is installed; says so if not.
pub(crate) fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !is_there {
        println!("  {program} is not installed: nothing to compare with");
    }
    is_there
}

/// Runs a program to its end, which must be a good one.
pub(crate) fn run(command: &mut Command) {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.status().unwrap();
    assert!(status.success(), "{status}");
}

/// Removes a folder that a program has filled, outside of any measured time.
pub(crate) fn in_new_folder<T>(within: &Path, work: impl FnOnce(&Path) -> T) -> T {
    let folder = within.join("into");
    std::fs::create_dir(&folder).unwrap();
    let result = work(&folder);
    std::fs::remove_dir_all(&folder).unwrap();
    result
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

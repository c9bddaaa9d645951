//! Jobs over the API, from being submitted to what they leave, on servers of their own.

mod archives;
mod caches;
mod captures;
mod checks;
mod commits;
mod evidence;
mod flashing;
mod hostile;
mod images;
mod leases;
mod leftovers;
mod live;
mod measurements;
mod memory;
mod network;
mod others;
pub(crate) mod packing;
mod phases;
mod quarantine;
mod queue;
mod quota;
mod restarts;
mod secrets;
mod shared;
mod signals;
mod submit;
mod tokens;
mod verdicts;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::{Client, Reply, Server, until};

/// A server that takes jobs, on a folder that outlives it.
struct Jobs {
    server: Server,
    dir: TempDir,
}

impl Jobs {
    /// With these lines of the section `jobs` in its configuration.
    fn start(settings: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = format!("[jobs]\n{settings}\n");
        std::fs::write(dir.path().join("hostd.toml"), config).unwrap();
        let server = serve(dir.path());
        Self { server, dir }
    }

    /// Where builds are made one after the other.
    fn one_by_one() -> Self {
        Self::start("build_slots = 1")
    }

    /// Starts it again, after it has ended.
    fn restart(&mut self) {
        self.server = serve(self.dir.path());
    }

    fn client(&self) -> Client {
        self.server.client()
    }

    /// Submits a pipeline; the id of its job.
    fn submit(&self, definition: &str) -> String {
        submit(&self.client(), definition)
    }

    fn get(&self, id: &str, what: &str) -> Reply {
        let path = format!("/api/jobs/{id}{what}");
        self.client().get(&path).unwrap()
    }

    fn post(&self, id: &str, verb: &str) -> Reply {
        let path = format!("/api/jobs/{id}/{verb}");
        self.client().post(&path, &json!({})).unwrap()
    }

    fn job(&self, id: &str) -> Value {
        self.get(id, "").expect(200)
    }

    /// The job once it has ended.
    fn ended(&self, id: &str) -> Value {
        until(|| self.job(id), |job| job["state"] == "finished").unwrap()
    }

    /// Waits until an attempt has put `text` out.
    fn until_said(&self, id: &str, attempt: u32, text: &str) {
        let look = || {
            let reply = self.get(id, &format!("/log?attempt={attempt}"));
            match reply.status {
                200 => reply.text.into(),
                // It has not begun.
                _ => Value::Null,
            }
        };
        let has = |log: &Value| log.as_str().is_some_and(|log| log.contains(text));
        until(look, has).unwrap();
    }

    fn data(&self, folder: &str) -> PathBuf {
        self.dir.path().join("data").join(folder)
    }

    /// Whatever running attempts use below the data folder.
    fn places(&self) -> Vec<PathBuf> {
        let slots = below(&self.data("work/places"));
        slots.iter().flat_map(|slot| below(slot)).collect()
    }

    /// Makes a file in the folder of each attempt, for a step that waits for it.
    fn make(&self, file: &str) {
        for place in self.places() {
            // One that has ended may be going away.
            drop(std::fs::write(place.join(file), ""));
        }
    }

    /// No attempt runs, and none has left processes with `mark` in their command, or folders.
    fn assert_nothing_runs(&self, mark: &str) {
        assert_no_processes(mark);
        let places = || json!(self.places());
        until(places, |found| found == &json!([])).unwrap();
    }
}

fn serve(dir: &Path) -> Server {
    let config = dir.join("hostd.toml");
    Server::demo_in_with(dir, &["--config", config.to_str().unwrap()]).unwrap()
}

fn submit(client: &Client, definition: &str) -> String {
    let body = json!({"definition": definition});
    let reply = client.post("/api/jobs/submit", &body).unwrap();
    id(&reply.expect(201))
}

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

/// A pipeline of one build with small limits and this command.
fn build(command: &str) -> String {
    let command = Value::from(command);
    format!(
        "version: 1\nname: one\nlimits: {{ memory: 64MiB, processes: 32, log: 1MiB }}\n\
         builds: [{{ id: fw, steps: [{{ run: {command} }}] }}]\n"
    )
}

/// A command that says `here` and ends when it is ended.
fn endless(number: u32) -> String {
    format!("echo here; sleep {}", mark(number))
}

/// A command that says `here`, and `over` once the file `go` is made.
fn held(number: u32) -> String {
    let mark = mark(number);
    format!("echo here; until test -e go; do : {mark}; sleep 0.01; done; echo over")
}

/// A time in seconds that no other command of this machine has, not even one of the same test beside this one. `number`
/// is one of two digits.
fn mark(number: u32) -> String {
    format!("1000.{number}{:07}", std::process::id())
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Waits until no process has `mark` in its command.
fn assert_no_processes(mark: &str) {
    let look = || json!(processes(mark));
    until(look, |found| found == &json!([])).unwrap();
}

/// Processes of this machine whose command has this text.
fn processes(mark: &str) -> Vec<PathBuf> {
    let is_it = |process: &PathBuf| {
        let command = std::fs::read(process.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains(mark)
    };
    below(Path::new("/proc"))
        .into_iter()
        .filter(is_it)
        .collect()
}

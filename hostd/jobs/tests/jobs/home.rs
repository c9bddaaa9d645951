//! Where tests run jobs: separate folders, and short ways to run one pipeline.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jobs::{Cancel, Event, Job, Live, Options, Request, RunEnd, Runner, StartError};
use pipeline::plan::Plan;
use tempfile::TempDir;

/// The folders of one test.
pub(crate) struct Home {
    folder: TempDir,
    pub(crate) options: Options,
    pub(crate) secrets: BTreeMap<String, String>,
    pub(crate) cancel: Cancel,
    pub(crate) network: Option<jail::Reach>,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("jobs-").tempdir().unwrap();
        let mut options = Options::new(folder.path().join("state"));
        options.floor_bytes = 0;
        fs::create_dir(folder.path().join("source")).unwrap();
        Self {
            folder,
            options,
            secrets: BTreeMap::new(),
            cancel: Cancel::default(),
            network: None,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.path().join("source")
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.path().join("out")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.source().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs a pipeline, and checks that nothing is left of it.
    pub(crate) fn try_run(&self, text: &str) -> Result<(Job, Vec<Event>), StartError> {
        let plan = plan(text);
        let runner = Runner::open(self.options.clone()).unwrap();
        let mut request = Request::new(&plan, self.source(), self.out());
        request.secrets = self.secrets.clone();
        request.network = self.network;
        let (live, events) = Live::new();
        let job = runner.run(&request, &live, &self.cancel)?;
        drop(live);
        self.is_clean();
        Ok((job, events.collect()))
    }

    pub(crate) fn run(&self, text: &str) -> (Job, Vec<Event>) {
        self.try_run(text).unwrap()
    }

    /// Runs a build with a single run that has these steps and keys.
    pub(crate) fn build(&self, steps: &str) -> RunEnd {
        let (mut job, _) = self.run(&pipeline_of("", steps));
        assert_eq!(job.runs.len(), 1);
        job.runs.remove(0)
    }

    /// Checks that no part of a job is left anywhere.
    pub(crate) fn is_clean(&self) {
        for place in fs::read_dir(self.options.state.join("places")).unwrap() {
            let place = place.unwrap().path();
            assert_eq!(
                fs::read_dir(&place).unwrap().count(),
                0,
                "{}",
                place.display()
            );
        }
    }

    /// The stored log of a run.
    pub(crate) fn log(&self, run: &str) -> String {
        let log = fs::read(self.out().join("logs").join(run).join("1/log")).unwrap();
        String::from_utf8_lossy(&log).into_owned()
    }
}

pub(crate) fn plan(text: &str) -> Plan {
    let caps = pipeline::Caps::default();
    let parsed =
        pipeline::parse(text, &caps).unwrap_or_else(|report| panic!("{}", report.render("test")));
    pipeline::expand(&parsed, &caps)
}

/// A pipeline with one build; `head` is keys of the pipeline, `steps` its steps and further keys of the build.
pub(crate) fn pipeline_of(head: &str, steps: &str) -> String {
    format!("version: 1\n{head}\nbuilds:\n  - id: fw\n    steps:\n{steps}\n")
}

/// Checks again and again until it is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !is_so() {
        assert!(std::time::Instant::now() < until, "{what} did not happen");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Ids of all processes on the machine whose arguments contain a text.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let this = std::process::id();
    let has_text = |number: &u32| {
        let arguments = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        *number != this && String::from_utf8_lossy(&arguments).contains(text)
    };
    numbers.filter(has_text).collect()
}

//! Runners that are killed without warning.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use jobs::{Cancel, Live, Options, Request, Runner};

use crate::Case;
use crate::home::{Home, eventually, pipeline_of, plan, processes_with};

pub(crate) const CASES: &[Case] = &[("a_killed_runner_leaves_nothing", killed)];

/// The argument that makes this program a runner for a test to kill.
pub(crate) const RUNNER: &str = "runner";

/// Runs a job that does not end.
pub(crate) fn run(folder: &str) -> ExitCode {
    let folder = Path::new(folder);
    let mark = folder.file_name().unwrap().to_str().unwrap();
    let script = format!(
        "      - run: setsid sh -c 'sleep 1000; true {mark}' & sh -c 'echo up; sleep 1000; true {mark}'"
    );
    let plan = plan(&pipeline_of("", &script));
    let runner = Runner::open(Options::new(folder.join("state"))).unwrap();
    let (live, events) = Live::new();
    std::thread::spawn(move || {
        for event in events {
            println!("{event:?}");
        }
    });
    let request = Request::new(&plan, folder.join("source"), folder.join("out"));
    runner.run(&request, &live, &Cancel::default()).unwrap();
    ExitCode::SUCCESS
}

fn killed() {
    let home = Home::new();
    let mark = home
        .path()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    for until in ["RunStarted", "StepStarted", "Output"] {
        let mut runner = Command::new(std::env::current_exe().unwrap())
            .args([RUNNER, home.path().to_str().unwrap()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(runner.stdout.take().unwrap()).lines();
        assert!(
            lines
                .map_while(Result::ok)
                .any(|line| line.starts_with(until))
        );
        runner.kill().unwrap();
        runner.wait().unwrap();
        eventually("the end of all that the runner started", || {
            processes_with(&mark).is_empty()
        });
    }
    // The next runner removes the folders.
    let run = home.build("      - run: test ! -e left");
    assert!(run.outcome.has_passed(), "{}", run.outcome);
}

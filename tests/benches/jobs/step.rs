//! An empty step of a build, compared with the same command in plain bubblewrap.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::bubblewrap::BUBBLEWRAP;
use crate::site::{Site, has, median, ms, run as run_tool};

/// Steps of each job; bubblewrap runs as often after each.
const STEPS: usize = 20;

const ROUNDS: usize = 15;

/// A step should take at most this many times as long.
const AIM: f64 = 1.1;

pub(crate) fn run() {
    println!("step: `sh -e -c true`, {STEPS} in a job, {ROUNDS} rounds");
    let site = Site::start("");
    let steps = "{ run: 'true' }, ".repeat(STEPS);
    let pipeline = format!("version: 1\nbuilds: [{{ id: fw, steps: [{steps}] }}]\n");
    let has_bubblewrap = has("bwrap");
    let folder = tempfile::tempdir().unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // The first round reads programs from the disk and does not count.
    for round in 0..=ROUNDS {
        let id = site.submit(&pipeline);
        site.passed(&id);
        let spans = site.timeline(&id).into_iter();
        let steps: Vec<Duration> = spans
            .filter(|(name, ..)| name == "true")
            .map(|(.., time)| time)
            .collect();
        assert_eq!(steps.len(), STEPS);
        let bubblewrapped = || {
            let mut command = Command::new("bwrap");
            command.args(BUBBLEWRAP).arg("--bind").arg(folder.path());
            command.args(["/job", "/bin/sh", "-e", "-c", "true"]);
            let began = Instant::now();
            run_tool(&mut command);
            began.elapsed()
        };
        let times = if has_bubblewrap { STEPS } else { 0 };
        let times: Vec<Duration> = (0..times).map(|_| bubblewrapped()).collect();
        if 0 < round {
            ours.extend(steps);
            theirs.extend(times);
        }
    }
    let ours = median(&mut ours);
    println!("  a step     {:8.2} ms", ms(ours));
    if has_bubblewrap {
        let theirs = median(&mut theirs);
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!("  bubblewrap {:8.2} ms", ms(theirs));
        println!(
            "  ratio {ratio:.2}, aim {AIM}; `cargo xtask bench jail` says what control groups cost of it"
        );
    }
}

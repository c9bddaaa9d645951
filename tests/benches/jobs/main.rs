//! `cargo xtask bench jobs`: what a job costs beside what it does, on a real server, each part compared with a program
//! that does the same where there is one.
//!
//! - `step`: an empty step of a build, and the same command in plain bubblewrap.
//! - `start`: from a job's submission to its first step on a free device.
//! - `archive`: submitting an archive of 50 MB, and `tar` unpacking the same files.
//! - `log`: a step that prints, and a shell that writes the same to a file.
//! - `queue`: 10,000 jobs that wait for one device, and how long it is idle between two of them.
//!
//! Contestants alternate, so that a busy machine slows them alike; medians count, and only ratios carry over to other
//! machines. Tools that are missing are named and left out. `-- step log` measures only these parts.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a bench prints for people, and stops at the first surprise"
)]

mod archive;
#[path = "../../../hostd/jail/benches/support/bubblewrap.rs"]
mod bubblewrap;
mod log;
mod queue;
mod site;
mod start;
mod step;

const PARTS: [(&str, fn()); 5] = [
    ("step", step::run),
    ("start", start::run),
    ("archive", archive::run),
    ("log", log::run),
    ("queue", queue::run),
];

fn main() {
    if !tests::can_isolate() {
        return;
    }
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let asked: Vec<&String> = asked.iter().filter(|name| !name.starts_with('-')).collect();
    for name in &asked {
        let is_known = PARTS.iter().any(|(part, _)| part == name);
        assert!(is_known, "there is no part {name}");
    }
    for (name, run) in PARTS {
        if asked.is_empty() || asked.iter().any(|part| *part == name) {
            run();
        }
    }
}

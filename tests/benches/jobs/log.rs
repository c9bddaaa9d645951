//! A step that prints as fast as it can, compared with a shell that writes the same to a file.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::site::{Site, has, median, run as run_tool};

/// Within the largest `limits.log`, so that all of it is kept.
const BYTES: u64 = 200_000_000;

const ROUNDS: usize = 9;

/// The log should take so many MB in each second.
const AIM: f64 = 100.0;

const LINE: &str = "arm-none-eabi-gcc -mcpu=cortex-m0 -Os -Wall -c -o build/driver.o src/driver.c";

pub(crate) fn run() {
    println!(
        "log: a step prints {} MB in lines, {ROUNDS} rounds",
        BYTES / 1_000_000
    );
    let site = Site::start("");
    let print = format!("yes '{LINE}' | head -c {BYTES}");
    let pipeline = format!(
        "version: 1\nlimits: {{ log: 256MiB }}\nbuilds: [{{ id: fw, steps: [{{ id: print, run: \"{print}\" }}] }}]\n"
    );
    let has_shell = has("yes") && has("sh");
    let file = site.dir.path().join("plain");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let id = site.submit(&pipeline);
        let job = site.passed(&id);
        let kept = job["attempts"][0]["log_bytes"].as_u64().unwrap();
        assert!(kept >= BYTES, "only {kept} bytes were kept");
        let spans = site.timeline(&id);
        let (.., time) = spans.iter().find(|(name, ..)| name == "print").unwrap();
        ours.push(*time);
        if has_shell {
            // Through a pipe too, as the step's output goes.
            let command = format!("{print} | cat > '{}'", file.display());
            let began = Instant::now();
            run_tool(Command::new("sh").args(["-c", &command]));
            theirs.push(began.elapsed());
        }
    }
    let rate = |time: Duration| BYTES as f64 / 1e6 / time.as_secs_f64();
    let ours = median(&mut ours);
    println!("  the log    {:8.0} MB/s, aim {AIM}", rate(ours));
    if has_shell {
        let theirs = median(&mut theirs);
        println!("  a shell    {:8.0} MB/s", rate(theirs));
        println!(
            "  ratio of times {:.2}",
            ours.as_secs_f64() / theirs.as_secs_f64()
        );
    }
}

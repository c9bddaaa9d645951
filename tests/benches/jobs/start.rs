//! From a job's submission to its first step, on a device that is free.

use std::time::Duration;

use crate::site::{Site, median, ms};

const ROUNDS: usize = 60;

/// A job should begin within this many milliseconds.
const AIM_MS: f64 = 10.0;

const PIPELINE: &str = "
version: 1
benches: [{ id: b, device: { name: demo }, steps: [{ wait: 1ms }] }]
";

pub(crate) fn run() {
    println!("start: to the first step on a free device, {ROUNDS} jobs one after the other");
    let site = Site::start("");
    let mut starts: Vec<Duration> = Vec::new();
    for round in 0..=ROUNDS {
        let id = site.submit(PIPELINE);
        site.passed(&id);
        let spans = site.timeline(&id);
        let (_, start, _) = spans.iter().find(|(name, ..)| name == "wait 1ms").unwrap();
        if 0 < round {
            starts.push(*start);
        }
    }
    let middle = ms(median(&mut starts));
    let nine_of_ten = ms(starts[starts.len() * 9 / 10]);
    println!("  median {middle:.1} ms, p90 {nine_of_ten:.1} ms; aim {AIM_MS} ms");
}

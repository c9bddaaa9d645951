//! The cost of a pass with 10,000 jobs in the queue, and what fairness does for small users.
//!
//! `cargo bench -p scheduler --bench scheduler`

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

#[path = "scheduler/fairness.rs"]
mod fairness;
#[path = "scheduler/lab.rs"]
mod lab;
#[path = "scheduler/pass.rs"]
mod pass;

fn main() {
    // `cargo test --benches` runs this too, to see that it still works.
    let quick = std::env::args().any(|argument| argument == "--test");
    pass::run(if quick { 3 } else { 101 });
    fairness::run();
}

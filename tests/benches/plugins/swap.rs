//! The proof that no request is lost while versions follow one another, with a million requests.

use tests::swaps::{self, Plan};

const PLAN: Plan = Plan {
    requests: 1_000_000,
    swaps: 100,
};

pub(crate) fn run() {
    println!(
        "swap: {} requests of {} callers over {} swaps",
        PLAN.requests,
        swaps::CALLERS,
        PLAN.swaps
    );
    let report = swaps::run(PLAN).to_string();
    for line in report.lines() {
        println!("  {line}");
    }
}

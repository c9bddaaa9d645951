//! Recordings as the server keeps them: written as value change dumps, against `sigrok-cli -O vcd` where that is installed, and
//! the memory that a process takes which imports a billion samples, decodes them and writes them out.
//!
//! `cargo xtask bench captures -- vcd memory`. Compare the ratios rather than the absolute numbers.

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

#[path = "../../decode/benches/decode/clock.rs"]
#[allow(dead_code, reason = "the other bench uses all of it")]
mod clock;
#[path = "captures/memory.rs"]
mod memory;
#[path = "captures/stored.rs"]
mod stored;
#[path = "../../decode/tests/support/traffic.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod traffic;
#[path = "captures/vcd.rs"]
mod vcd;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, recording, folder] = arguments.as_slice()
        && mode == memory::MODE
    {
        return memory::measured(recording.as_ref(), folder.as_ref());
    }
    // `cargo test --benches` runs this too, to see that it still works.
    let quick = arguments.iter().any(|argument| argument == "--test");
    let named = || arguments.iter().filter(|name| !name.starts_with('-'));
    let wanted = |part: &str| named().next().is_none() || named().any(|name| name == part);
    if wanted("vcd") {
        vcd::run(if quick { 1 } else { 3 });
    }
    if wanted("memory") {
        memory::run(if quick { 3 } else { 240 });
    }
}

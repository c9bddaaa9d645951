//! `cargo xtask bench plugins`: what plugins cost, and what they cost others.
//!
//! - `calls`: calls of a component in each language, fresh and reused.
//! - `install`: from an operator's order, or a package in the watched folder, to the first answer of a version that was never
//!   compiled, in each language.
//! - `swap`: versions that follow one another under 64 callers, uploads and sockets; how long the exchange alone takes, from
//!   a version that is ready to be called to one that is.
//! - `leak`: what 1,000 swaps leave behind.
//! - `requests`: first-party requests with plugins loaded and without, and of another build that `PLUGINS_BEFORE` names.
//! - `hostile`: how long others wait beside each hostile plugin.
//!
//! Contestants alternate, so that a busy machine slows them alike; medians count, and only ratios carry over to other
//! machines. `-- swap leak` measures only these parts.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a bench prints for people, and stops at the first surprise"
)]

mod calls;
mod hostile;
mod install;
mod languages;
mod leak;
mod requests;
mod site;
mod swap;

const PARTS: [(&str, fn()); 6] = [
    ("calls", calls::run),
    ("install", install::run),
    ("swap", swap::run),
    ("leak", leak::run),
    ("requests", requests::run),
    ("hostile", hostile::run),
];

fn main() {
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

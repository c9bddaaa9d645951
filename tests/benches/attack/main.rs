//! `cargo xtask attack`: bounded attacks over loopback on a server of their own, one after the other,
//! and what honest callers of the same server notice of each attack.
//!
//! Attackers and honest callers come from different loopback addresses unless the name ends with
//! `beside`. Every attack is bounded in connections, pace and time, and stops by itself.
//!
//! Breaches follow on one server: tries to see, change or keep what is another's by jobs and plugins, each bounded in jobs,
//! requests and time.

#![allow(clippy::print_stdout, reason = "it prints a report for people")]

mod attack;
mod breach;
mod breaches;
mod disk;
mod frames;
mod honest;
mod limit;
mod sign_in;
mod silence;
mod site;
mod swell;
mod trial;
mod uploads;
mod wire;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use tests::can_isolate;
use tests::judge::{Clock, heading};

use attack::Attack;
use breach::{Breach, Ground, Length, Seen};
use breaches::{BREACHES, SETTINGS};
use disk::Hoard;
use frames::FrameFlood;
use sign_in::SignInFlood;
use silence::Silence;
use swell::Swell;
use trial::Plan;
use uploads::SlowUploads;

/// Trials of an attack that failed only because of latency.
const TRIALS_MAX: u32 = 2;

const ATTACKS: &[&dyn Attack] = &[
    &SlowUploads::IMPORTS,
    &SlowUploads::RECORDINGS,
    &SlowUploads::FLASHES,
    &SlowUploads::COMMANDS,
    &SlowUploads::SIGN_INS,
    &SignInFlood::ONE_ADDRESS,
    &SignInFlood::MANY_ADDRESSES,
    &SignInFlood::SAME_ADDRESS,
    &SignInFlood::GUESSES,
    &Silence::ELSEWHERE,
    &Silence::SAME_ADDRESS,
    &FrameFlood::SETTINGS,
    &FrameFlood::PING,
    &FrameFlood::WINDOW_UPDATE,
    &Hoard::QUOTA,
    &Hoard::FULL_DISK,
    &Swell,
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match limit::raise().and_then(|()| attack(&words)) {
        Ok(failed) if failed.is_empty() => ExitCode::SUCCESS,
        Ok(failed) => {
            println!("the server did not withstand: {}", failed.join(", "));
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("failed to attack: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Run the named attacks, or all of them; returns those that the server did not withstand.
fn attack(words: &[String]) -> Result<Vec<&'static str>> {
    let (flags, only): (Vec<&str>, Vec<&str>) = words
        .iter()
        .map(String::as_str)
        .partition(|word| word.starts_with("--"));
    let (plan, length) = match flags.contains(&"--short") {
        true => (Plan::SHORT, Length::Short),
        false => (Plan::FULL, Length::Full),
    };
    let attacks = ATTACKS.iter().map(|attack| attack.name());
    let breaches = BREACHES.iter().map(|breach| breach.name());
    let names: Vec<&str> = attacks.chain(breaches).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(name)) {
        bail!(
            "there is no attack {unknown}; there are: {}",
            names.join(", ")
        );
    }
    let is_asked = |name| only.is_empty() || only.contains(&name);
    let asked = ATTACKS.iter().filter(|attack| is_asked(attack.name()));
    let files = limit::open_files();
    let takes_jobs = can_isolate();
    let breaches: Vec<&dyn Breach> = BREACHES
        .iter()
        .copied()
        .filter(|breach| is_asked(breach.name()))
        .collect();
    print!("{}", heading());
    let mut failed = Vec::new();
    for attack in asked {
        println!("{}: {}", attack.name(), attack.does());
        if attack.files() > files {
            println!(
                "  left out: it takes {} open files, {files} are allowed",
                attack.files()
            );
            continue;
        }
        if attack.takes_jobs() && !takes_jobs {
            println!("  left out: no jail can be made here");
            continue;
        }
        if !withstands(*attack, &plan) {
            failed.push(attack.name());
        }
    }
    failed.extend(breach_all(&breaches, length, takes_jobs)?);
    Ok(failed)
}

/// Try these breaches on one server; returns those that it did not withstand.
fn breach_all(
    breaches: &[&dyn Breach],
    length: Length,
    takes_jobs: bool,
) -> Result<Vec<&'static str>> {
    if breaches.is_empty() {
        return Ok(Vec::new());
    }
    let ground = Ground::start(SETTINGS)?;
    let mut failed = Vec::new();
    for breach in breaches {
        println!("{}: {}", breach.name(), breach.does());
        if breach.takes_jobs() && !takes_jobs {
            println!("  left out: no jail can be made here");
            continue;
        }
        let begun = Instant::now();
        let mut seen = Seen::default();
        if let Err(error) = breach.run(&ground, length, &mut seen) {
            seen.fault(format!("it could not be tried: {error:#}"));
        }
        print!("{}", seen.table(begun.elapsed()));
        if !seen.is_withstood() {
            failed.push(breach.name());
        }
    }
    Ok(failed)
}

/// Run one attack and report. If only its latency is bad, it is tried once more: other work on this
/// machine may have slowed down one half of the slices and not the other.
fn withstands(attack: &dyn Attack, plan: &Plan) -> bool {
    for trial in 1..=TRIALS_MAX {
        let seen = match trial::run(attack, plan) {
            Ok(seen) => seen,
            Err(error) => {
                // A server that does not start says why in the last line of its log.
                let why = format!("{error:#}");
                println!(
                    "  FAILED: {}",
                    why.trim_end().lines().last().unwrap_or_default()
                );
                return false;
            }
        };
        print!("{}", seen.table(plan.clock));
        if seen.faults(plan.clock).is_empty() {
            return true;
        }
        if !seen.faults(Clock::Shown).is_empty() || trial == TRIALS_MAX {
            return false;
        }
        println!("  once more, since only times failed");
    }
    unreachable!("the last trial decides")
}

//! Runs the published Python SDK's own end-to-end tests, unmodified, against `hostd pod-sim`. They
//! were written for real pods by people who never saw this project, which makes them its best judge.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::args::{Options, nearest};
use crate::metadata::Metadata;
use crate::{progress, server};

mod expected;
mod outcome;
mod packages;
mod simulator;
mod tiers;

use outcome::Outcome;
use packages::Packages;
use simulator::Simulator;
use tiers::{TIERS, Tier};

/// How long a tier may take. The longest takes half a minute, most of which is waiting by the tests
/// themselves.
const TIER_WAIT: Duration = Duration::from_secs(240);

/// How many tiers run at once. Each has its own pod and home, and spends most of its time waiting for a pod
/// that works in real time.
const LANES: usize = 3;

/// Tiers that run OpenOCD. It always listens on the same ports, so only one of them runs at a time.
const WITH_OPENOCD: &[&str] = &["bridges", "dut", "dut-f446", "openocd"];

/// Runs every tier, or the one called `only`, and prints what passed, failed and was skipped.
pub(crate) fn run(only: Option<&str>, options: &Options) -> Result<()> {
    let tiers = selected(only)?;
    server::build(options)?;
    run_tiers(&tiers)
}

/// Runs every tier once the server is built.
pub(crate) fn run_prepared() -> Result<()> {
    run_tiers(&selected(None)?)
}

fn run_tiers(tiers: &[&Tier]) -> Result<()> {
    let minimums = expected::read(expected::FILE)?;
    let metadata = Metadata::load()?;
    let folder = metadata.target_directory.join("clients");
    let bench = Bench {
        hostd: server::binary(&metadata),
        packages: Packages::install(&folder).context("failed to install the clients")?,
        folder,
        openocd: Mutex::new(()),
    };
    let mut worse = Vec::new();
    for (tier, outcome) in side_by_side(tiers, |tier| bench.run(tier, minimums[tier.name]))? {
        let minimum = minimums[tier.name];
        let mut passed = outcome.passed;
        if passed < minimum {
            // Some tests look at a running instrument twice and want a difference, and some measure how
            // long something takes: now and then chance or another tier makes them fail.
            progress::step(&format!("tier {} once more, alone", tier.name));
            passed = bench.run(tier, minimum)?.passed;
        }
        if passed < minimum {
            worse.push(format!(
                "{} passed {passed} of at least {minimum}",
                tier.name
            ));
        }
    }
    if !worse.is_empty() {
        bail!("the clients see less than before: {}", worse.join(", "));
    }
    Ok(())
}

/// Calls `run` for each tier, a few at a time, and returns the results.
fn side_by_side<'t, T: Send>(
    tiers: &[&'t Tier],
    run: impl Fn(&Tier) -> Result<T> + Sync,
) -> Result<Vec<(&'t Tier, T)>> {
    let waiting = Mutex::new(tiers.iter());
    let next = || {
        waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next()
    };
    let lane = || -> Result<Vec<_>> {
        let mut done = Vec::new();
        while let Some(tier) = next() {
            done.push((*tier, run(tier)?));
        }
        Ok(done)
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        let mut done = Vec::new();
        for lane in lanes {
            match lane.join() {
                Ok(tiers) => done.extend(tiers?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(done)
    })
}

/// What all tiers share.
struct Bench {
    hostd: PathBuf,
    packages: Packages,
    /// Each tier has its own folder in here.
    folder: PathBuf,
    /// Held by the one tier that currently runs OpenOCD.
    openocd: Mutex<()>,
}

impl Bench {
    /// Runs a tier and prints how it went.
    fn run(&self, tier: &Tier, minimum: u32) -> Result<Outcome> {
        let _turn = WITH_OPENOCD
            .contains(&tier.name)
            .then(|| self.openocd.lock().unwrap_or_else(PoisonError::into_inner));
        let (outcome, duration) =
            progress::timed(&format!("tier {}", tier.name), || self.outcome(tier));
        let outcome = outcome.with_context(|| format!("failed to run the tier {}", tier.name))?;
        progress::text(&outcome.report(tier.name, minimum, duration));
        Ok(outcome)
    }

    fn outcome(&self, tier: &Tier) -> Result<Outcome> {
        let folder = self.folder.join("tiers").join(tier.name);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("failed to clear {}", folder.display()))?;
        }
        fs::create_dir_all(&folder)
            .with_context(|| format!("failed to create {}", folder.display()))?;
        let simulator = Simulator::start(&self.hostd, &tier.bench_kind, &folder)?;
        let printed = self.packages.test(tier, &simulator, &folder, TIER_WAIT)?;
        Outcome::parse(&printed)
    }
}

fn selected(only: Option<&str>) -> Result<Vec<&'static Tier>> {
    let Some(name) = only else {
        return Ok(TIERS.iter().collect());
    };
    let names: Vec<&str> = TIERS.iter().map(|tier| tier.name).collect();
    match TIERS.iter().find(|tier| tier.name == name) {
        Some(tier) => Ok(vec![tier]),
        None => bail!("there is no tier `{name}`{}", nearest(name, &names)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tier_runs_once_and_a_failure_is_told() {
        let tiers = selected(None).unwrap();
        let mut ran: Vec<&str> = side_by_side(&tiers, |tier| Ok(tier.name))
            .unwrap()
            .into_iter()
            .map(|(_, name)| name)
            .collect();
        ran.sort_unstable();
        let mut names: Vec<&str> = tiers.iter().map(|tier| tier.name).collect();
        names.sort_unstable();
        assert_eq!(ran, names);
        let failed = side_by_side(&tiers, |tier| match tier.name {
            "gpio" => bail!("no pod"),
            _ => Ok(()),
        });
        assert_eq!(failed.err().unwrap().to_string(), "no pod");
    }

    #[test]
    fn one_tier_or_all_of_them() {
        assert_eq!(selected(None).unwrap().len(), TIERS.len());
        assert_eq!(selected(Some("gpio")).unwrap()[0].name, "gpio");
        let error = selected(Some("gpoi")).map(drop).unwrap_err().to_string();
        assert!(error.contains("did you mean `gpio`?"), "{error}");
    }
}

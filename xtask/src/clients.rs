//! Runs the published Python SDK's own end-to-end tests, unmodified, against `hostd pod-sim`. They
//! were written for real pods by people who never saw this project, which makes them its best judge.

use std::path::Path;
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

/// How long a tier may take. The longest takes half a minute, of which the tests' own waiting is most.
const TIER_WAIT: Duration = Duration::from_secs(240);

/// Runs every tier, or the one called `only`, and prints what passed, failed and was skipped.
pub(crate) fn run(only: Option<&str>, options: &Options) -> Result<()> {
    let tiers = selected(only)?;
    server::build(options)?;
    run_tiers(&tiers)
}

/// Runs every tier when the server is built.
pub(crate) fn run_prepared() -> Result<()> {
    run_tiers(&selected(None)?)
}

fn run_tiers(tiers: &[&Tier]) -> Result<()> {
    let minimums = expected::read(expected::FILE)?;
    let metadata = Metadata::load()?;
    let hostd = server::binary(&metadata);
    let folder = metadata.target_directory.join("clients");
    let packages = Packages::install(&folder).context("failed to install the clients")?;
    let mut worse = Vec::new();
    for tier in tiers {
        let minimum = minimums[tier.name];
        let mut outcome = timed_tier(tier, &hostd, &packages, &folder, minimum)?;
        if outcome.passed < minimum {
            // Some tests look at a running instrument twice and want a difference; now and then
            // chance shows them the same value.
            progress::step(&format!(
                "tier {} once more, since it fell short",
                tier.name
            ));
            outcome = timed_tier(tier, &hostd, &packages, &folder, minimum)?;
        }
        if outcome.passed < minimum {
            worse.push(format!(
                "{} passed {} of at least {minimum}",
                tier.name, outcome.passed
            ));
        }
    }
    if !worse.is_empty() {
        bail!("the clients see less than before: {}", worse.join(", "));
    }
    Ok(())
}

/// Runs a tier and prints how it went.
fn timed_tier(
    tier: &Tier,
    hostd: &Path,
    packages: &Packages,
    folder: &Path,
    minimum: u32,
) -> Result<Outcome> {
    let (outcome, duration) = progress::timed(&format!("tier {}", tier.name), || {
        run_tier(tier, hostd, packages, folder)
    });
    let outcome = outcome.with_context(|| format!("failed to run the tier {}", tier.name))?;
    progress::text(&outcome.report(tier.name, minimum, duration));
    Ok(outcome)
}

fn run_tier(tier: &Tier, hostd: &Path, packages: &Packages, folder: &Path) -> Result<Outcome> {
    let simulator = Simulator::start(hostd, &tier.bench_kind, folder)?;
    let printed = packages.test(tier, &simulator, TIER_WAIT)?;
    Outcome::parse(&printed)
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
    fn one_tier_or_all_of_them() {
        assert_eq!(selected(None).unwrap().len(), TIERS.len());
        assert_eq!(selected(Some("gpio")).unwrap()[0].name, "gpio");
        let error = selected(Some("gpoi")).map(drop).unwrap_err().to_string();
        assert!(error.contains("did you mean `gpio`?"), "{error}");
    }
}

//! One organisation that stores as much as it can: recordings of another bench, one after the
//! other.

use std::path::Path;
use std::time::Duration;

use futures_util::future::{LocalBoxFuture, join_all};
use tokio::time::{MissedTickBehavior, interval};

use crate::attack::{Attack, Met, Tally};
use crate::honest::Deed;
use crate::site::{ATTACKER, Site};
use crate::wire::{Ask, Caller};

/// Concurrent callers, and how often each of them imports.
const CALLERS: usize = 2;
const PAUSE: Duration = Duration::from_millis(200);

/// A recording from the source tree: short, so that storing it matters and reading it does not.
const RECORDING: &str = "hostd/decode/testdata/captures/i2c_ds1307/rtc_ds1307_200khz.sr";

/// Imports by another organisation.
pub(crate) struct Hoard {
    name: &'static str,
    does: &'static str,
    settings: &'static str,
    deeds: &'static [Deed],
    /// The status with which imports must be refused in the end.
    refusal: u16,
}

impl Hoard {
    pub(crate) const QUOTA: Self = Self {
        name: "hoard",
        does: "10 imports of captures a second by another organisation, beyond its quota",
        settings: "[captures]\ncount_max = 8\nat_quota = \"refuse\"\n",
        deeds: Deed::ALL,
        refusal: 409,
    };

    /// However much the disk has free, it is less than the floor.
    pub(crate) const FULL_DISK: Self = Self {
        name: "full-disk",
        does: "the same on a disk that has less free than its floor",
        settings: "[disk]\nfloor_mib = 4294967295\n",
        deeds: &[Deed::Health, Deed::List, Deed::Command, Deed::SignIn],
        refusal: 507,
    };
}

impl Attack for Hoard {
    fn name(&self) -> &'static str {
        self.name
    }

    fn does(&self) -> &'static str {
        self.does
    }

    fn run<'a>(&'a self, site: &'a Site, tally: &'a Tally) -> LocalBoxFuture<'a, ()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let recording = std::fs::read(root.join(RECORDING)).expect("it comes with the source");
        let import = Ask {
            content_type: "application/octet-stream",
            body: recording,
            ..Ask::post("/api/captures/import", "").with(&site.stranger)
        };
        Box::pin(async move {
            let callers = (0..CALLERS).map(|_| keep_importing(site, tally, &import));
            join_all(callers).await;
        })
    }

    fn settings(&self) -> &'static str {
        self.settings
    }

    fn deeds(&self) -> &'static [Deed] {
        self.deeds
    }

    fn complaints(&self, met: &Met) -> Vec<String> {
        let complaint = format!("no import was refused with {}", self.refusal);
        let refused = met.answers.contains_key(&self.refusal);
        (!refused).then_some(complaint).into_iter().collect()
    }
}

async fn keep_importing(site: &Site, tally: &Tally, import: &Ask) {
    let mut caller = Caller::new(ATTACKER, site.address);
    let mut ticks = interval(PAUSE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        tally.heard(caller.ask(import).await);
    }
}

//! The device of one run, and what all its actions have in common.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jobs::{
    Bench, BenchError, Cancel, Decoding, Flashed, Found, Judging, Link, Quantity, Recording, Relay,
    Ruling, Supply, Until,
};
use lab::captures::Captures;
use lab::captures::order::OfJob;
use lab::flashing::Flashing;
use lab::leases::{Caller, Entered, Leases, Shown, Visit};
use lab::uart::Uarts;
use lab::waveforms::Waveforms;
use pipeline::plan::{Capture, Flash, Measure, Replay, Uart};
use pipeline::{Power, Rail, Switch};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use crate::errors::{OVER, of_entry, of_target};
use crate::wiring::Wiring;

/// The services of the lab that runs use.
#[derive(Clone, Debug)]
pub struct Lab {
    /// The runtime that all of them live on.
    pub handle: Handle,
    /// Who may drive a device.
    pub leases: Arc<Leases>,
    /// Captures of all devices.
    pub captures: Arc<Captures>,
    /// Flashes of all devices.
    pub flashing: Arc<Flashing>,
    /// Serial lines of all devices.
    pub uarts: Arc<Uarts>,
    /// Kept waveforms.
    pub waveforms: Arc<Waveforms>,
}

/// A device that a run has, and by which lease.
#[derive(Clone, Debug)]
pub struct Hold {
    /// Organisation of the run and of the device.
    pub org: String,
    /// The job and its run that have it, if a job does: what is recorded is theirs.
    pub of: Option<OfJob>,
    /// Id of the device.
    pub device: String,
    /// What people call it.
    pub name: String,
    /// The lease, which whoever gave it keeps up and ends.
    pub lease_id: String,
    /// Who took it.
    pub owner: String,
    /// What the device is wired to.
    pub wiring: Wiring,
    /// How programs of the run reach the device.
    pub relay: Option<Relay>,
}

/// The device of one run.
#[derive(Debug)]
pub struct Rig {
    pub(crate) lab: Lab,
    pub(crate) hold: Hold,
    /// A step of the run has switched the power: a flash leaves it alone.
    pub(crate) has_switched: AtomicBool,
}

impl Rig {
    /// The device that is held.
    #[must_use]
    pub fn new(lab: Lab, hold: Hold) -> Self {
        Self {
            lab,
            hold,
            has_switched: AtomicBool::new(false),
        }
    }

    /// Lets one step drive the device.
    pub(crate) fn enter(&self) -> Result<Entered, BenchError> {
        // The lab spawns tasks while it lets somebody in.
        let _runtime = self.lab.handle.enter();
        let caller = Caller {
            org: &self.hold.org,
            may_use: &|device| device == self.hold.device,
            shown: Shown {
                lease_id: Some(&self.hold.lease_id),
                owner: &self.hold.owner,
            },
        };
        let entered = self.lab.leases.enter(&caller, &self.hold.device);
        entered.map_err(|error| of_entry(&error))
    }

    /// Does something on the runtime, until it is done, cancelled or out of time, or the visit is over.
    pub(crate) fn drive<T>(
        &self,
        until: &Until<'_>,
        visit: &mut Visit,
        work: impl Future<Output = Result<T, BenchError>>,
    ) -> Result<T, BenchError> {
        within(&self.lab.handle, until, async {
            tokio::select! {
                biased;
                done = work => done,
                () = visit.over() => Err(BenchError::LeaseLost(OVER.to_owned())),
            }
        })
    }
}

/// Does something on the runtime, until it is done, cancelled or out of time.
pub(crate) fn within<T>(
    handle: &Handle,
    until: &Until<'_>,
    work: impl Future<Output = Result<T, BenchError>>,
) -> Result<T, BenchError> {
    let cancelled = Arc::new(Notify::new());
    let tell = Arc::clone(&cancelled);
    let _watching = until.cancel.when_set(move || tell.notify_one());
    handle.block_on(async {
        tokio::select! {
            biased;
            done = work => done,
            () = cancelled.notified() => Err(BenchError::Cancelled),
            () = sleep_until(Instant::from_std(until.at)) => Err(BenchError::TimedOut),
        }
    })
}

impl Bench for Rig {
    fn name(&self) -> &str {
        &self.hold.name
    }

    fn power(
        &self,
        power: &Power,
        until: &Until<'_>,
        anew: &mut dyn FnMut(),
    ) -> Result<(), BenchError> {
        let efuse = efuse_of(power.rail);
        let entered = self.enter()?;
        let mut visit = self.enter()?.visit;
        self.has_switched.store(true, Ordering::Relaxed);
        anew();
        self.drive(until, &mut visit, async {
            let switched = entered.switch(efuse, power.state == Switch::On);
            switched.await.map_err(of_target)
        })
    }

    fn supplies(&self, until: &Until<'_>) -> Result<Vec<Supply>, BenchError> {
        let entered = self.enter()?;
        let mut visit = self.enter()?.visit;
        let found = self.drive(until, &mut visit, async {
            entered.supplies().await.map_err(of_target)
        })?;
        let named = found.into_iter().filter_map(|read| {
            let mut rails = [Rail::Internal, Rail::External].into_iter();
            let rail = rails.find(|rail| efuse_of(*rail) == read.efuse)?;
            Some(Supply {
                rail,
                mv: read.mv,
                ua: read.ua,
            })
        });
        Ok(named.collect())
    }

    fn reset(
        &self,
        pulse: Duration,
        until: &Until<'_>,
        anew: &mut dyn FnMut(),
    ) -> Result<(), BenchError> {
        let entered = self.enter()?;
        let mut visit = self.enter()?.visit;
        self.drive(until, &mut visit, async {
            // The pod answers when the line is free again; in the middle the target certainly says nothing.
            let held = async {
                sleep(pulse / 2).await;
                anew();
            };
            let (answered, ()) = tokio::join!(entered.reset(pulse), held);
            answered.map_err(of_target)
        })
    }

    fn flash(
        &self,
        file: &Path,
        flash: &Flash,
        until: &Until<'_>,
        anew: &mut dyn FnMut(),
    ) -> Result<Flashed, BenchError> {
        self.program(file, flash, until, anew)
    }

    fn uart(&self, uart: &Uart, until: &Until<'_>) -> Result<Box<dyn Link>, BenchError> {
        self.open(uart, until)
    }

    fn capture(
        &self,
        step: &str,
        capture: &Capture,
        until: &Until<'_>,
    ) -> Result<Box<dyn Recording>, BenchError> {
        self.record(step, capture, until)
    }

    fn decode(
        &self,
        capture: &str,
        decoding: &Decoding<'_>,
        until: &Until<'_>,
        found: &mut dyn FnMut(Found),
    ) -> Result<(), BenchError> {
        self.decode_kept(capture, decoding, until, found)
    }

    fn judge(
        &self,
        capture: &str,
        judging: &Judging<'_>,
        until: &Until<'_>,
    ) -> Result<Ruling, BenchError> {
        self.judge_kept(capture, judging, until)
    }

    fn measure(
        &self,
        capture: &str,
        measure: (&Capture, &Measure),
        until: &Until<'_>,
    ) -> Result<Option<Quantity>, BenchError> {
        self.measure_kept(capture, measure, until)
    }

    fn replay(&self, replay: &Replay, until: &Until<'_>) -> Result<(), BenchError> {
        self.play(replay, until)
    }

    fn relay(&self) -> Option<Relay> {
        self.hold.relay.clone()
    }
}

/// The number of a rail on the pod.
fn efuse_of(rail: Rail) -> u8 {
    match rail {
        Rail::Internal => 1,
        Rail::External => 2,
    }
}

/// Ends a wait for `until` once somebody cancels.
pub(crate) fn check(cancel: &Cancel) -> Result<(), BenchError> {
    match cancel.is_set() {
        true => Err(BenchError::Cancelled),
        false => Ok(()),
    }
}

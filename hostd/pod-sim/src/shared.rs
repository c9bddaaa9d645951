//! What all connections of a simulated pod share: the world behind its lock, the pod's clock, and
//! notifications of changes.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::time::{Duration, Instant};

use super::SimConfig;
use super::faults::Faults;
use super::world::World;

/// While time only passes, the target catches up at least this often, in nanoseconds.
const PASS_NS: u64 = 500_000_000;

/// What all connections of a simulated pod share.
pub(crate) struct Shared {
    world: Mutex<World>,
    /// Notified after every command that may have changed a wire: armed triggers then search again.
    changed: Notify,
    epoch: Instant,
    pub(crate) plugged: watch::Sender<bool>,
    /// Number of restarts so far.
    pub(crate) boots: watch::Sender<u64>,
    pub(crate) connections: AtomicUsize,
    pub(crate) faults: Faults,
    /// The source of noise.
    pub(crate) seed: u64,
}

impl Shared {
    /// A pod whose time begins now.
    pub(crate) fn new(config: SimConfig) -> Self {
        let seed = config.seed;
        Self {
            world: Mutex::new(World::new(config)),
            changed: Notify::new(),
            epoch: Instant::now(),
            plugged: watch::channel(true).0,
            boots: watch::channel(0).0,
            connections: AtomicUsize::new(0),
            faults: Faults::default(),
            seed,
        }
    }

    /// Nanoseconds since the pod was started.
    pub(crate) fn now_ns(&self) -> u64 {
        let elapsed = self.epoch.elapsed().as_nanos();
        u64::try_from(elapsed).expect("a pod runs for less than 584 years")
    }

    /// The instant `ns` after the start.
    pub(crate) fn instant(&self, ns: u64) -> Instant {
        self.epoch + std::time::Duration::from_nanos(ns)
    }

    /// Runs `work` on the pod's state, at the current instant.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut World, u64) -> T) -> T {
        // Every state that a panicking command can leave is valid: claims come before changes.
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ns = self.now_ns();
        // The target and an emulated sensor do what is due, before and after anyone sees the state.
        world.catch_up(now_ns);
        let done = work(&mut world, now_ns);
        world.catch_up(now_ns);
        done
    }

    pub(crate) fn wires_changed(&self) {
        self.changed.notify_waiters();
    }

    pub(crate) fn changed(&self) -> &Notify {
        &self.changed
    }

    /// Waits until an instant. A target on the bench keeps up meanwhile, rather than all at the
    /// end.
    pub(crate) async fn pass_until(&self, end_ns: u64) {
        loop {
            let now_ns = self.now_ns();
            let look_ns = self.with(|world, _| world.target.is_some().then_some(now_ns + PASS_NS));
            let wake_ns = look_ns.map_or(end_ns, |look_ns| look_ns.min(end_ns));
            tokio::time::sleep_until(self.instant(wake_ns)).await;
            if wake_ns == end_ns {
                return;
            }
        }
    }

    /// Restarts the pod: its connections end, and for a moment it accepts none.
    pub(crate) fn reboot(&self) {
        self.with(World::reboot);
        self.boots.send_modify(|boots| *boots += 1);
        self.wires_changed();
    }

    /// Restarts the pod a little later, so that the reply that announces the restart is sent first.
    pub(crate) fn reboot_after(self: &Arc<Self>, delay: Duration) {
        let shared = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            shared.reboot();
        });
    }

    /// Whether the firmware is running.
    pub(crate) fn is_serving(&self) -> bool {
        self.with(|world, now_ns| world.boot.is_serving(now_ns))
    }
}

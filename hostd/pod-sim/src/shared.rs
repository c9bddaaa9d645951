//! What all connections of a simulated pod share: the world behind its lock, the pod's clock, and
//! notifications of changes.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, watch};
use tokio::time::{Duration, Instant};

use super::SimConfig;
use super::clock::Clock;
use super::faults::Faults;
use super::world::World;

/// While time only passes, the target catches up at least this often, in nanoseconds.
const PASS_NS: u64 = 500_000_000;

/// What all connections of a simulated pod share.
pub(crate) struct Shared {
    world: Mutex<World>,
    /// Notified after every command that may have changed a wire: armed triggers then search again.
    changed: Notify,
    clock: Clock,
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
            clock: Clock::new(),
            plugged: watch::channel(true).0,
            boots: watch::channel(0).0,
            connections: AtomicUsize::new(0),
            faults: Faults::default(),
            seed,
        }
    }

    /// Nanoseconds since the pod was started.
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// The earliest instant at which it can be this time of the pod.
    pub(crate) fn instant(&self, ns: u64) -> Instant {
        self.clock.instant(ns)
    }

    /// Waits until this time of the pod.
    pub(crate) async fn sleep_until(&self, ns: u64) {
        self.clock.sleep_until(ns).await;
    }

    /// Runs `work` on the pod's state, at the current instant.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut World, u64) -> T) -> T {
        // Every state that a panicking command can leave is valid: claims come before changes.
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        // The target and an emulated sensor do what is due, before and after anyone sees the state. However long that is
        // computed, for the pod it is an instant.
        let stopped = self.clock.stop();
        let now_ns = stopped.now_ns();
        world.catch_up(now_ns);
        drop(stopped);
        let done = work(&mut world, now_ns);
        let _stopped = self.clock.stop();
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
            self.sleep_until(wake_ns).await;
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

//! A simulated microcontroller on the bench: how it is wired to the pod, and how its time follows the
//! pod's.
//!
//! It is lazy: nothing runs until somebody looks at the pod, and then it catches up, event by event, so
//! that what the pod does to its pins and what it does to the pod's channels meet at their instants.

mod board;
mod config;

use target_sim::dap::Probe;
use target_sim::target::{Activity, InputChange, Target};
use tokio::time::Duration;

use super::Shared;
use super::lines::Levels;
use super::world::World;
use board::{OnBoard, level};
pub use config::{TargetConfig, TargetWiring};

/// The target runs so long at once; then its current is noted and what was planned is looked at anew.
const STEP_NS: u64 = 10_000_000;

/// A target that executes without a pause catches up this many steps in one go, about a second of a real
/// core's work. What was missed beyond it never happens.
const BUSY_STEPS_MAX: u32 = 300;

/// A target that sleeps most of the time catches up this far.
const LAG_NS_MAX: u64 = 600_000_000_000;

/// Who waits for the target to do something looks this often.
pub(crate) const LOOK_NS: u64 = 5_000_000;

/// How far ahead the pod's plans for its channels are looked at.
const PLAN_NS: u64 = 100_000_000;

/// Who only waits for time to pass still lets the target catch up this often.
const PASS_NS: u64 = 500_000_000;

/// The target, with what the pod last did to it.
pub(crate) struct Mounted {
    chip: Target,
    config: TargetConfig,
    /// The pod's time when the target was made, and all the time that it missed.
    offset_ns: u64,
    is_held: bool,
}

impl Mounted {
    pub(crate) fn new(config: &TargetConfig) -> Self {
        Self {
            chip: config.make(),
            config: config.clone(),
            offset_ns: 0,
            is_held: false,
        }
    }

    /// The instant, in the pod's time, that it has reached.
    fn now_ns(&self) -> u64 {
        self.chip.now_ns() + self.offset_ns
    }

    /// Since when it has power, if it has.
    fn powered_since_ns(&self, world: &World, now_ns: u64) -> Option<u64> {
        let (since_ns, on) = *world.rails.switch(self.config.wiring.rail).since(now_ns);
        on.then_some(since_ns)
    }

    /// Runs it up to an instant.
    fn run(&mut self, world: &mut World, to_ns: u64) {
        self.skip(to_ns.saturating_sub(LAG_NS_MAX));
        let mut busy_left = BUSY_STEPS_MAX;
        loop {
            let at_ns = self.now_ns();
            self.apply(world, at_ns.min(to_ns));
            if at_ns >= to_ns {
                return;
            }
            if busy_left == 0 {
                self.skip(to_ns);
                continue;
            }
            self.step(world, at_ns, to_ns.min(at_ns + STEP_NS));
            let is_busy = self.chip.is_running() && self.chip.next_activity() == Activity::Busy;
            busy_left -= u32::from(is_busy);
        }
    }

    /// The target stands still up to an instant.
    fn skip(&mut self, to_ns: u64) {
        self.offset_ns += to_ns.saturating_sub(self.now_ns());
    }

    /// Runs it from one instant to another; what the pod does meanwhile reaches it at its time.
    fn step(&mut self, world: &mut World, from_ns: u64, to_ns: u64) {
        let wiring = self.config.wiring;
        let mut levels = Levels::on(world, from_ns, to_ns, wiring.channels());
        let power = world.rails.switch(wiring.rail).window(from_ns, to_ns);
        let resets = world.reset.asserted().window(from_ns, to_ns);
        let switches = power.into_iter().chain(resets);
        let mut switches: Vec<u64> = switches.map(|(at, _)| at).collect();
        switches.retain(|at| *at > from_ns);
        switches.sort_unstable();
        let mut switches = switches.into_iter().peekable();
        loop {
            let events = [levels.next_ns(), switches.peek().copied()];
            let event_ns = events.into_iter().flatten().min().filter(|at| *at <= to_ns);
            let next_ns = event_ns.unwrap_or(to_ns);
            self.advance(world, next_ns);
            if event_ns.is_none() {
                break;
            }
            levels.advance_to(next_ns);
            while switches.next_if(|at| *at <= next_ns).is_some() {}
            self.apply(world, next_ns);
        }
        let load = self.chip.take_load();
        world.rails.draw(wiring.rail, from_ns, load.mean_ma() * 1e3);
    }

    fn advance(&mut self, world: &mut World, to_ns: u64) {
        let offset_ns = self.offset_ns;
        let mut board = OnBoard {
            world,
            wiring: self.config.wiring,
            offset_ns,
        };
        let until_ns = to_ns.saturating_sub(offset_ns);
        self.chip.run_until(until_ns, &mut board);
    }

    /// Makes power, reset and pins what the pod has them at an instant.
    fn apply(&mut self, world: &mut World, at_ns: u64) {
        let wiring = self.config.wiring;
        let power = *world.rails.switch(wiring.rail).at(at_ns);
        let held = *world.reset.asserted().at(at_ns);
        let levels = Levels::on(world, at_ns, at_ns, wiring.channels());
        let chip_ns = at_ns.saturating_sub(self.offset_ns);
        for (pin, la) in wiring.pins() {
            let level = level(&levels, la);
            let at_ns = chip_ns;
            self.chip.inputs().push(InputChange { at_ns, pin, level });
        }
        let mut board = OnBoard {
            world,
            wiring,
            offset_ns: self.offset_ns,
        };
        self.chip.set_power(power, &mut board);
        if held != self.is_held {
            self.is_held = held;
            self.chip.set_reset_pin(held, &mut board);
        }
    }

    /// From when on a debug probe on these channels gets an answer; `None` when it gets none.
    fn answers_from_ns(&self, world: &World, pins: [u8; 2], now_ns: u64) -> Option<u64> {
        let wiring = self.config.wiring;
        let since_ns = self.powered_since_ns(world, now_ns)?;
        let delay_ns = u64::try_from(self.config.swd_delay.as_nanos()).unwrap_or(u64::MAX);
        let is_wired = pins == [wiring.swclk, wiring.swdio];
        is_wired.then(|| since_ns.saturating_add(delay_ns))
    }
}

impl TargetWiring {
    /// When the pod will next do something to the target, as far as it is known.
    fn planned_ns(self, world: &World, now_ns: u64) -> Option<u64> {
        let levels = Levels::on(world, now_ns, now_ns + PLAN_NS, self.channels());
        let power = world.rails.switch(self.rail).changes();
        let switches = power.chain(world.reset.asserted().changes());
        let later = switches.map(|(at_ns, _)| *at_ns);
        let later = later.filter(|at_ns| *at_ns > now_ns);
        later.chain(levels.next_ns()).min()
    }
}

impl World {
    /// Brings the target up to an instant, and after it the sensor.
    pub(crate) fn catch_up(&mut self, to_ns: u64) {
        if let Some(mut target) = self.target.take() {
            target.run(self, to_ns);
            self.target = Some(target);
        }
        self.listen(to_ns);
    }

    /// When to look again at what the target does; `None` when it does nothing by itself.
    pub(crate) fn target_wake_ns(&self, now_ns: u64) -> Option<u64> {
        let target = self.target.as_ref()?;
        let own_ns = match target.chip.next_activity() {
            Activity::Idle => None,
            Activity::Busy => Some(now_ns),
            Activity::At(at_ns) => Some(at_ns.saturating_add(target.offset_ns)),
        };
        let soon_ns = now_ns + LOOK_NS;
        if own_ns.is_some_and(|at_ns| at_ns <= soon_ns) {
            return Some(soon_ns);
        }
        let planned_ns = target.config.wiring.planned_ns(self, now_ns);
        let at_ns = own_ns.into_iter().chain(planned_ns).min()?;
        Some(at_ns.max(soon_ns))
    }

    /// From when on a debug probe on the channels clock and data gets an answer, if it does.
    pub(crate) fn swd_answers_from_ns(&self, pins: [u8; 2], now_ns: u64) -> Option<u64> {
        let target = self.target.as_ref()?;
        target.answers_from_ns(self, pins, now_ns)
    }

    /// Carries out a debug packet at the target, which answers; gives the instant at which it is done.
    pub(crate) fn swd_packet(
        &mut self,
        probe: &mut Probe,
        request: &[u8],
        response: &mut Vec<u8>,
    ) -> Option<u64> {
        let before = probe.holds_reset();
        self.at_target(|chip, board| probe.process(chip, board, request, response));
        self.follow_reset(before, probe)
    }

    /// The probe lets go of the target.
    pub(crate) fn swd_release(&mut self, probe: &mut Probe) {
        let before = probe.holds_reset();
        self.at_target(|chip, board| probe.release(chip, board));
        self.follow_reset(before, probe);
    }

    fn at_target(&mut self, act: impl FnOnce(&mut Target, &mut OnBoard<'_>)) {
        let Some(mut target) = self.target.take() else {
            return;
        };
        let mut board = OnBoard {
            world: self,
            wiring: target.config.wiring,
            offset_ns: target.offset_ns,
        };
        act(&mut target.chip, &mut board);
        self.target = Some(target);
    }

    /// The reset line is where the probe has put it.
    fn follow_reset(&mut self, before: bool, probe: &Probe) -> Option<u64> {
        let target = self.target.as_mut()?;
        let (at_ns, held) = (target.now_ns(), probe.holds_reset());
        if before != held {
            target.is_held = held;
            self.reset.hold(at_ns, held);
        }
        Some(at_ns)
    }
}

impl Shared {
    /// Waits for an instant. A target on the bench keeps up meanwhile, rather than all at the end.
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
}

/// The delay of targets whose own debug probe occupies the wires at first.
pub const SLOW_SWD_DELAY: Duration = Duration::from_millis(2_100);

#[cfg(test)]
mod tests;

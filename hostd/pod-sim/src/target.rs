//! A simulated microcontroller on the bench: its wiring to the pod, and how its time follows the
//! pod's.
//!
//! It is lazy: nothing runs until somebody looks at the pod. Then it catches up, event by event, so
//! that what the pod does to its pins and what it does to the pod's channels happen in the right
//! order.

mod board;

use target_sim::dap::Probe;
use target_sim::target::{Activity, InputChange, Target};
use tokio::time::Duration;

use super::digital::Digital;
use super::target_config::{TargetConfig, TargetWiring};
use board::{OnBoard, level};

/// The target runs this long at once; then its current is recorded and the pod's plans are read
/// again.
const STEP_NS: u64 = 10_000_000;

/// A target that executes without a pause catches up at most this many steps in one go, about a
/// second of a real core's work. Whatever it missed beyond that never happens.
const BUSY_STEPS_MAX: u32 = 300;

/// A target that sleeps most of the time catches up at most this far.
const LAG_NS_MAX: u64 = 600_000_000_000;

/// Callers that wait for the target to do something look this often.
pub(crate) const LOOK_NS: u64 = 5_000_000;

/// How far ahead the pod's plans for its channels are read.
const PLAN_NS: u64 = 100_000_000;

/// The target, with the last state of its reset line.
pub(crate) struct Mounted {
    chip: Target,
    config: TargetConfig,
    /// Difference from the target's time to the pod's: all the time that the target missed.
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

    /// The instant, in the pod's time, that the target has reached.
    fn now_ns(&self) -> u64 {
        self.chip.now_ns() + self.offset_ns
    }

    /// Since when it has had power, if it has.
    fn powered_since_ns(&self, digital: &Digital, now_ns: u64) -> Option<u64> {
        let (since_ns, on) = *digital.rails.switch(self.config.wiring.rail).since(now_ns);
        on.then_some(since_ns)
    }

    /// Runs the target up to an instant.
    pub(crate) fn run(&mut self, digital: &mut Digital, to_ns: u64) {
        self.skip(to_ns.saturating_sub(LAG_NS_MAX));
        let mut busy_left = BUSY_STEPS_MAX;
        loop {
            let at_ns = self.now_ns();
            self.apply(digital, at_ns.min(to_ns));
            if at_ns >= to_ns {
                return;
            }
            if busy_left == 0 {
                self.skip(to_ns);
                continue;
            }
            self.step(digital, at_ns, to_ns.min(at_ns + STEP_NS));
            let is_busy = self.chip.is_running() && self.chip.next_activity() == Activity::Busy;
            busy_left -= u32::from(is_busy);
        }
    }

    /// The target does nothing until an instant.
    fn skip(&mut self, to_ns: u64) {
        self.offset_ns += to_ns.saturating_sub(self.now_ns());
    }

    /// Runs the target from one instant to another; what the pod does meanwhile reaches it on time.
    fn step(&mut self, digital: &mut Digital, from_ns: u64, to_ns: u64) {
        let wiring = self.config.wiring;
        let mut levels = digital.levels_on(from_ns, to_ns, wiring.channels());
        let power = digital.rails.switch(wiring.rail).window(from_ns, to_ns);
        let resets = digital.reset.asserted().window(from_ns, to_ns);
        let switches = power.into_iter().chain(resets);
        let mut switches: Vec<u64> = switches.map(|(at, _)| at).collect();
        switches.retain(|at| *at > from_ns);
        switches.sort_unstable();
        let mut switches = switches.into_iter().peekable();
        loop {
            let events = [levels.next_ns(), switches.peek().copied()];
            let event_ns = events.into_iter().flatten().min().filter(|at| *at <= to_ns);
            let next_ns = event_ns.unwrap_or(to_ns);
            self.advance(digital, next_ns);
            if event_ns.is_none() {
                break;
            }
            levels.advance_to(next_ns);
            while switches.next_if(|at| *at <= next_ns).is_some() {}
            self.apply(digital, next_ns);
        }
        let load = self.chip.take_load();
        digital
            .rails
            .draw(wiring.rail, from_ns, load.mean_ma() * 1e3);
    }

    fn advance(&mut self, digital: &mut Digital, to_ns: u64) {
        let mut board = self.board(digital);
        let until_ns = to_ns.saturating_sub(self.offset_ns);
        self.chip.run_until(until_ns, &mut board);
    }

    /// Sets power, reset and pins to the pod's state at an instant.
    fn apply(&mut self, digital: &mut Digital, at_ns: u64) {
        let wiring = self.config.wiring;
        let power = *digital.rails.switch(wiring.rail).at(at_ns);
        let held = *digital.reset.asserted().at(at_ns);
        let levels = digital.levels_on(at_ns, at_ns, wiring.channels());
        let chip_ns = at_ns.saturating_sub(self.offset_ns);
        for (pin, la) in wiring.pins() {
            let level = level(&levels, la);
            let at_ns = chip_ns;
            self.chip.inputs().push(InputChange { at_ns, pin, level });
        }
        let mut board = self.board(digital);
        self.chip.set_power(power, &mut board);
        if held != self.is_held {
            self.is_held = held;
            self.chip.set_reset_pin(held, &mut board);
        }
    }

    /// When to look again at what the target does; `None` if it does nothing by itself.
    pub(crate) fn wake_ns(&self, digital: &Digital, now_ns: u64) -> Option<u64> {
        let own_ns = match self.chip.next_activity() {
            Activity::Idle => None,
            Activity::Busy => Some(now_ns),
            Activity::At(at_ns) => Some(at_ns.saturating_add(self.offset_ns)),
        };
        let soon_ns = now_ns + LOOK_NS;
        if own_ns.is_some_and(|at_ns| at_ns <= soon_ns) {
            return Some(soon_ns);
        }
        let planned_ns = self.config.wiring.planned_ns(digital, now_ns);
        let at_ns = own_ns.into_iter().chain(planned_ns).min()?;
        Some(at_ns.max(soon_ns))
    }

    /// Carries out a debug packet and writes the answer; returns the instant at which it is done.
    pub(crate) fn process(
        &mut self,
        digital: &mut Digital,
        probe: &mut Probe,
        request: &[u8],
        response: &mut Vec<u8>,
    ) -> u64 {
        let before = probe.holds_reset();
        let mut board = self.board(digital);
        probe.process(&mut self.chip, &mut board, request, response);
        self.follow_reset(digital, before, probe)
    }

    /// The probe releases the target.
    pub(crate) fn release(&mut self, digital: &mut Digital, probe: &mut Probe) {
        let before = probe.holds_reset();
        let mut board = self.board(digital);
        probe.release(&mut self.chip, &mut board);
        self.follow_reset(digital, before, probe);
    }

    /// The pod, as the board around the target.
    fn board<'a>(&self, digital: &'a mut Digital) -> OnBoard<'a> {
        OnBoard {
            digital,
            wiring: self.config.wiring,
            offset_ns: self.offset_ns,
        }
    }

    /// The reset line follows the probe. Returns the instant that the target has reached.
    fn follow_reset(&mut self, digital: &mut Digital, before: bool, probe: &Probe) -> u64 {
        let (at_ns, held) = (self.now_ns(), probe.holds_reset());
        if before != held {
            self.is_held = held;
            digital.reset.hold(at_ns, held);
        }
        at_ns
    }

    /// From when on a debug probe on these channels gets an answer; `None` if it gets none.
    pub(crate) fn answers_from_ns(
        &self,
        digital: &Digital,
        pins: [u8; 2],
        now_ns: u64,
    ) -> Option<u64> {
        let wiring = self.config.wiring;
        let since_ns = self.powered_since_ns(digital, now_ns)?;
        let delay_ns = u64::try_from(self.config.swd_delay.as_nanos()).unwrap_or(u64::MAX);
        let is_wired = pins == [wiring.swclk, wiring.swdio];
        is_wired.then(|| since_ns.saturating_add(delay_ns))
    }
}

impl TargetWiring {
    /// When the pod will next do something to the target, as far as is known.
    fn planned_ns(self, digital: &Digital, now_ns: u64) -> Option<u64> {
        let levels = digital.levels_on(now_ns, now_ns + PLAN_NS, self.channels());
        let power = digital.rails.switch(self.rail).changes();
        let switches = power.chain(digital.reset.asserted().changes());
        let later = switches.map(|(at_ns, _)| *at_ns);
        let later = later.filter(|at_ns| *at_ns > now_ns);
        later.chain(levels.next_ns()).min()
    }
}

/// The delay of targets that have their own debug probe, which occupies the wires at first.
pub const SLOW_SWD_DELAY: Duration = Duration::from_millis(2_100);

#[cfg(test)]
mod tests;

//! Turns what the target does to its pins into levels on channels, and returns the resulting levels
//! to it.

use target_sim::chip::{Drive, Level, PinChange};
use target_sim::target::{Board, InputChange, Inputs};

use crate::digital::Digital;
use crate::levels::Levels;
use crate::target_config::TargetWiring;

/// The emulated sensor changes its line within this time after an edge on the bus.
const ANSWER_NS: u64 = 1_000;

/// The pod around a running target.
pub(super) struct OnBoard<'a> {
    pub(super) digital: &'a mut Digital,
    pub(super) wiring: TargetWiring,
    /// Difference from the target's time to the pod's.
    pub(super) offset_ns: u64,
}

/// What a channel drives at a pin that is wired to it.
pub(super) fn level(levels: &Levels, la: u8) -> Level {
    match levels.driven(la) {
        Some(true) => Level::High,
        Some(false) => Level::Low,
        None => Level::Open,
    }
}

impl Board for OnBoard<'_> {
    fn pin_changed(&mut self, change: PinChange, inputs: &mut Inputs) {
        let pins = self.wiring.pins();
        let Some((_, la)) = pins.into_iter().find(|(pin, _)| *pin == change.pin) else {
            return;
        };
        // The chip's own resistors are far weaker than anything on a channel.
        let driven = match change.drive {
            Drive::High => Some(true),
            Drive::Low => Some(false),
            Drive::Float | Drive::PullUp | Drive::PullDown => None,
        };
        let at_ns = change.at_ns + self.offset_ns;
        self.digital.outside.drive(la, driven, at_ns);
        let channels = self.wiring.channels();
        let is_bus = la == self.wiring.scl || la == self.wiring.sda;
        let until_ns = if is_bus { at_ns + ANSWER_NS } else { at_ns };
        if is_bus {
            self.digital.listen(at_ns);
        }
        let mut levels = self.digital.levels_on(at_ns, until_ns, channels);
        let mut next_ns = Some(at_ns);
        while let Some(now_ns) = next_ns.filter(|at| *at <= until_ns) {
            levels.advance_to(now_ns);
            for (pin, la) in pins {
                let level = level(&levels, la);
                let at_ns = now_ns - self.offset_ns;
                inputs.push(InputChange { at_ns, pin, level });
            }
            next_ns = levels.next_ns();
        }
    }
}

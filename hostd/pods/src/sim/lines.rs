//! What is on the logic-analyzer wires: the pod's own drive wins (it sits in front of the series
//! resistors), then the target's, then a pull-up, then low.

use super::pins::{PULL_UP_MASK, bit};
use super::playback::Cursor;
use super::world::World;
use crate::protocol::rates;

/// One change on the pod's side or of the target's power.
#[derive(Debug, Clone, Copy)]
enum Change {
    Drive(u16, Option<bool>),
    Pulls(u16),
    Power(bool),
    Reset(bool),
}

/// The levels of all channels from an instant on, change by change.
pub(crate) struct Levels {
    /// Ascending in time.
    changes: Vec<(u64, Change)>,
    next: usize,
    forced: u16,
    forced_high: u16,
    pulls: u16,
    powered: bool,
    target: Option<(u16, Cursor)>,
    /// Channels wired together, as single bits.
    jumpers: Vec<(u16, u16)>,
    /// The channel wired to the reset line, or 0, and whether that line is held low.
    nrst: u16,
    reset: bool,
}

impl Levels {
    /// The levels at `from_ns`, and the changes up to `to_ns` as far as they are known. The target's
    /// changes have no end.
    pub(crate) fn new(world: &World, from_ns: u64, to_ns: u64) -> Self {
        let mut changes = Vec::new();
        for (la, drive) in world.pins.drives() {
            let window = drive.window(from_ns, to_ns).into_iter();
            changes.extend(window.map(|(at, drive)| (at, Change::Drive(bit(la), drive))));
        }
        let pulls = world.pins.pulls().window(from_ns, to_ns).into_iter();
        changes.extend(pulls.map(|(at, pulls)| (at, Change::Pulls(pulls))));
        let playback = world.config.playback.as_ref();
        if let Some(efuse) = playback.and_then(super::Playback::power_rail) {
            let switch = world.rails.switch(efuse).window(from_ns, to_ns);
            changes.extend(switch.into_iter().map(|(at, on)| (at, Change::Power(on))));
        }
        let nrst = world.config.nrst_la.map_or(0, bit);
        if nrst != 0 {
            let resets = world.reset.asserted().window(from_ns, to_ns).into_iter();
            changes.extend(resets.map(|(at, low)| (at, Change::Reset(low))));
        }
        changes.sort_by_key(|(at, _)| *at);
        let mut levels = Self {
            changes,
            next: 0,
            forced: 0,
            forced_high: 0,
            pulls: 0,
            powered: true,
            jumpers: world
                .config
                .jumpers
                .iter()
                .map(|(one, other)| (bit(*one), bit(*other)))
                .collect(),
            nrst,
            reset: false,
            target: playback.map(|playback| (playback.mask(), playback.cursor(from_ns))),
        };
        while levels.next_ns().is_some_and(|at| at <= from_ns) {
            levels.step();
        }
        levels
    }

    /// The level of every channel, bit n−1 for LA n.
    pub(crate) fn word(&self) -> u16 {
        let mut word = self.separate_word();
        // A jumper carries what the pod drives on one end to the other.
        for (one, other) in &self.jumpers {
            for (from, to) in [(*one, *other), (*other, *one)] {
                if self.forced & from != 0 && self.forced & to == 0 {
                    word = if self.forced_high & from != 0 {
                        word | to
                    } else {
                        word & !to
                    };
                }
            }
        }
        word
    }

    /// The levels without jumpers.
    fn separate_word(&self) -> u16 {
        let (mask, driven) = match &self.target {
            Some((mask, cursor)) if self.powered => (*mask, cursor.word()),
            _ => (0, 0),
        };
        let pulled = self.pulls & PULL_UP_MASK;
        let passive = (driven & mask) | (pulled & !mask);
        // The reset line has a pull-up of its own.
        let passive = if self.reset {
            passive & !self.nrst
        } else {
            passive | self.nrst
        };
        self.forced_high | (passive & !self.forced)
    }

    /// Steps over all changes up to an instant.
    pub(crate) fn advance_to(&mut self, at_ns: u64) {
        while self.next_ns().is_some_and(|next| next <= at_ns) {
            self.step();
        }
    }

    /// When the next change is due.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        let own = self.changes.get(self.next).map(|(at, _)| *at);
        let target = self
            .target
            .as_ref()
            .and_then(|(_, cursor)| cursor.next_ns());
        match (own, target) {
            (Some(own), Some(target)) => Some(own.min(target)),
            (own, target) => own.or(target),
        }
    }

    /// Steps over the next change.
    pub(crate) fn step(&mut self) {
        let own = self.changes.get(self.next).copied();
        if let Some((_, cursor)) = &mut self.target
            && let Some(target_ns) = cursor.next_ns()
            && own.is_none_or(|(at, _)| target_ns < at)
        {
            cursor.advance();
            return;
        }
        let Some((_, change)) = own else { return };
        self.next += 1;
        match change {
            Change::Drive(bit, drive) => {
                let set = |mask: u16, on: bool| if on { mask | bit } else { mask & !bit };
                self.forced = set(self.forced, drive.is_some());
                self.forced_high = set(self.forced_high, drive == Some(true));
            }
            Change::Pulls(pulls) => self.pulls = pulls,
            Change::Power(on) => self.powered = on,
            Change::Reset(low) => self.reset = low,
        }
    }
}

/// Turns levels into the edges a capture reports.
pub(crate) struct LaRender {
    levels: Levels,
    t0_ns: u64,
    divider: u32,
    word: Option<u16>,
}

impl LaRender {
    pub(crate) fn new(levels: Levels, t0_ns: u64, divider: u32) -> Self {
        Self {
            levels,
            t0_ns,
            divider,
            word: None,
        }
    }

    /// Edges of the samples from where the last call ended to `to`. The first edge of all is at 0.
    pub(crate) fn advance(&mut self, to: u64) -> Vec<(u64, u16)> {
        let mut edges = Vec::new();
        if self.word.is_none() && to > 0 {
            let word = self.levels.word();
            self.word = Some(word);
            edges.push((0, word));
        }
        // The instant after which a change is seen by sample `to` or later only.
        let last_ns = match to {
            0 => return edges,
            to => self.t0_ns + rates::sample_ns(to - 1, self.divider),
        };
        while let Some(at) = self.levels.next_ns().filter(|at| *at <= last_ns) {
            let sample = rates::first_sample_at(at - self.t0_ns, self.divider);
            let sample_ns = self.t0_ns + rates::sample_ns(sample, self.divider);
            while self.levels.next_ns().is_some_and(|at| at <= sample_ns) {
                self.levels.step();
            }
            let word = self.levels.word();
            if self.word != Some(word) {
                self.word = Some(word);
                edges.push((sample, word));
            }
        }
        edges
    }
}

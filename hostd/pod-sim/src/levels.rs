//! The levels of the logic-analyzer wires: the pod's own drive wins (it is in front of the series
//! resistors), then drives from outside, then the played target, then a pull-up, then low.

use pod_protocol::rates;

use super::outside::Outside;
use super::pins::{PULL_UP_MASK, Pins, bit};
use super::playback::{Cursor, Playback};
use super::rails::Rails;
use super::reset::Reset;
use super::wave::Wave;

/// A change on the pod's side, from outside, or of the target's power.
#[derive(Debug, Clone, Copy)]
enum Change {
    Drive(u16, Option<bool>),
    Outside(u16, Option<bool>),
    Pulls(u16),
    Power(bool),
    Reset(bool),
}

/// Channels that are driven, and those of them that are driven high.
#[derive(Debug, Clone, Copy, Default)]
struct Drive {
    driven: u16,
    high: u16,
}

impl Drive {
    fn set(&mut self, bit: u16, level: Option<bool>) {
        self.driven = with(self.driven, bit, level.is_some());
        self.high = with(self.high, bit, level == Some(true));
    }

    /// This drive where it drives, `below` elsewhere.
    fn over(self, below: Self) -> Self {
        Self {
            driven: self.driven | below.driven,
            high: self.high | (below.high & !self.driven),
        }
    }

    fn word(self, passive: u16) -> u16 {
        self.high | (passive & !self.driven)
    }
}

fn with(mask: u16, bit: u16, on: bool) -> u16 {
    if on { mask | bit } else { mask & !bit }
}

/// The fixed wiring around the pod.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    pub(crate) playback: Option<Playback>,
    /// Channels wired together, as single bits.
    jumpers: Vec<(u16, u16)>,
    /// The channel wired to the reset line, or 0.
    nrst: u16,
}

impl Wiring {
    pub(crate) fn new(
        playback: Option<Playback>,
        jumpers: &[(u8, u8)],
        nrst_la: Option<u8>,
    ) -> Self {
        let jumpers = jumpers.iter().map(|(one, other)| (bit(*one), bit(*other)));
        Self {
            playback,
            jumpers: jumpers.collect(),
            nrst: nrst_la.map_or(0, bit),
        }
    }

    /// The channels, with all that jumpers connect to them.
    pub(crate) fn joined(&self, channels: u16) -> u16 {
        let mut all = channels;
        loop {
            let wires = self.jumpers.iter().map(|(one, other)| one | other);
            let more = wires
                .filter(|wire| wire & all != 0)
                .fold(all, |all, wire| all | wire);
            if more == all {
                return all;
            }
            all = more;
        }
    }

    /// The recording, if it is played on any of these channels.
    pub(crate) fn played_on(&self, channels: u16) -> Option<&Playback> {
        let playback = self.playback.as_ref();
        playback.filter(|playback| playback.mask() & channels != 0)
    }
}

/// Everything that determines the levels of channels.
pub(crate) struct Sources<'a> {
    pub(crate) wiring: &'a Wiring,
    pub(crate) pins: &'a Pins,
    pub(crate) outside: &'a Outside,
    pub(crate) rails: &'a Rails,
    pub(crate) reset: &'a Reset,
    /// What the pod drives by formula.
    pub(crate) waves: Vec<Box<dyn Wave>>,
}

/// The levels of channels from an instant on, one change at a time.
pub(crate) struct Levels {
    /// Ascending in time.
    changes: Vec<(u64, Change)>,
    next: usize,
    pod: Drive,
    outside: Drive,
    pulls: u16,
    powered: bool,
    target: Option<(u16, Cursor)>,
    waves: Vec<Box<dyn Wave>>,
    /// Channels wired together, as single bits.
    jumpers: Vec<(u16, u16)>,
    /// The channel wired to the reset line, or 0, and whether that line is held low.
    nrst: u16,
    reset: bool,
}

impl Levels {
    /// The levels at `from_ns` of `channels`, which must come from [`Wiring::joined`], and the
    /// known changes up to `to_ns`: as if the pod itself did not drive the channels `silent`. The
    /// target's changes continue without end.
    pub(crate) fn new(
        sources: Sources<'_>,
        (from_ns, to_ns): (u64, u64),
        channels: u16,
        silent: u16,
    ) -> Self {
        let wiring = sources.wiring;
        let playback = wiring.played_on(channels);
        let mut levels = Self {
            changes: changes(&sources, (from_ns, to_ns), channels, silent),
            next: 0,
            pod: Drive::default(),
            outside: Drive::default(),
            pulls: 0,
            powered: true,
            waves: sources.waves,
            jumpers: wiring.jumpers.clone(),
            nrst: wiring.nrst & channels,
            reset: false,
            target: playback.map(|playback| (playback.mask(), playback.cursor(from_ns))),
        };
        levels.advance_to(from_ns);
        levels
    }

    /// The level of every channel, bit n−1 for LA n.
    pub(crate) fn word(&self) -> u16 {
        let (drive, passive) = self.resolved();
        drive.word(passive)
    }

    /// The level that a channel is driven or pulled to, if any.
    pub(crate) fn driven(&self, la: u8) -> Option<bool> {
        let (drive, passive) = self.resolved();
        let is_high = drive.word(passive) & bit(la) != 0;
        let is_low = (drive.driven | self.pulls) & bit(la) != 0 || self.is_played(bit(la));
        (is_high || is_low).then_some(is_high)
    }

    /// What is driven, and the levels of the other channels.
    fn resolved(&self) -> (Drive, u16) {
        let waves = self.waves.iter().map(|wave| wave.drive());
        let waves = waves.fold(Drive::default(), |below, (driven, high)| {
            Drive { driven, high }.over(below)
        });
        let mut drive = waves.over(self.pod).over(self.outside);
        let mut passive = self.passive();
        // A jumper carries a drive on one end to the other; undriven ends share a pull-up.
        for (one, other) in &self.jumpers {
            for (from, to) in [(*one, *other), (*other, *one)] {
                if drive.driven & from != 0 && drive.driven & to == 0 {
                    drive.set(to, Some(drive.high & from != 0));
                    break;
                }
            }
            let wire = one | other;
            let undriven = drive.driven & wire == 0 && !self.is_played(wire);
            if undriven && passive & wire != 0 {
                passive |= wire;
            }
        }
        (drive, passive)
    }

    fn is_played(&self, channels: u16) -> bool {
        let target = self.target.as_ref().filter(|_| self.powered);
        let held = if self.reset { self.nrst } else { 0 };
        target.map_or(0, |(mask, _)| *mask) & channels != 0 || held & channels != 0
    }

    /// The levels of channels that neither the pod nor anything outside drives.
    fn passive(&self) -> u16 {
        let (mask, driven) = match &self.target {
            Some((mask, cursor)) if self.powered => (*mask, cursor.word()),
            _ => (0, 0),
        };
        let pulled = self.pulls & PULL_UP_MASK;
        let passive = (driven & mask) | (pulled & !mask);
        // The reset line has its own pull-up.
        with(passive, self.nrst, !self.reset)
    }

    /// Advances past all changes up to an instant.
    pub(crate) fn advance_to(&mut self, at_ns: u64) {
        while self.next_ns().is_some_and(|next| next <= at_ns) {
            self.step();
        }
    }

    /// When the next change is due.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        let own = self.changes.get(self.next).map(|(at, _)| *at);
        let target = self.target.as_ref();
        let target = target.and_then(|(_, cursor)| cursor.next_ns());
        let waves = self.waves.iter().filter_map(|wave| wave.next_ns());
        own.into_iter().chain(target).chain(waves).min()
    }

    /// Advances past the next change.
    pub(crate) fn step(&mut self) {
        let Some(at_ns) = self.next_ns() else { return };
        if let Some((_, cursor)) = &mut self.target
            && cursor.next_ns() == Some(at_ns)
        {
            cursor.advance();
            return;
        }
        let mut waves = self.waves.iter_mut();
        if let Some(wave) = waves.find(|wave| wave.next_ns() == Some(at_ns)) {
            wave.advance();
            return;
        }
        let Some((_, change)) = self.changes.get(self.next) else {
            return;
        };
        match *change {
            Change::Drive(bit, level) => self.pod.set(bit, level),
            Change::Outside(bit, level) => self.outside.set(bit, level),
            Change::Pulls(pulls) => self.pulls = pulls,
            Change::Power(on) => self.powered = on,
            Change::Reset(low) => self.reset = low,
        }
        self.next += 1;
    }
}

/// The recorded changes of these channels in the window, ascending in time.
fn changes(
    sources: &Sources<'_>,
    (from_ns, to_ns): (u64, u64),
    channels: u16,
    silent: u16,
) -> Vec<(u64, Change)> {
    let mut changes = Vec::new();
    let heard = |(la, _): &(u8, _)| channels & !silent & bit(*la) != 0;
    for (la, drive) in sources.pins.drives().filter(heard) {
        let window = drive.window(from_ns, to_ns).into_iter();
        changes.extend(window.map(|(at, drive)| (at, Change::Drive(bit(la), drive))));
    }
    let wired = |(la, _): &(u8, _)| channels & bit(*la) != 0;
    for (la, drive) in sources.outside.drives().filter(wired) {
        let window = drive.window(from_ns, to_ns).into_iter();
        changes.extend(window.map(|(at, drive)| (at, Change::Outside(bit(la), drive))));
    }
    let pulls = sources.pins.pulls().window(from_ns, to_ns).into_iter();
    changes.extend(pulls.map(|(at, pulls)| (at, Change::Pulls(pulls & channels))));
    let playback = sources.wiring.playback.as_ref();
    if let Some(efuse) = playback.and_then(Playback::power_rail) {
        let switch = sources.rails.switch(efuse).window(from_ns, to_ns);
        changes.extend(switch.into_iter().map(|(at, on)| (at, Change::Power(on))));
    }
    if sources.wiring.nrst != 0 {
        let resets = sources.reset.asserted().window(from_ns, to_ns).into_iter();
        changes.extend(resets.map(|(at, low)| (at, Change::Reset(low))));
    }
    changes.sort_by_key(|(at, _)| *at);
    changes
}

/// Turns levels into the edges that a capture reports.
pub(crate) struct LaRender {
    levels: Levels,
    t0_ns: u64,
    divider: u32,
    word: Option<u16>,
    /// The sample of the first edge.
    first: u64,
}

impl LaRender {
    pub(crate) fn new(levels: Levels, t0_ns: u64, divider: u32) -> Self {
        Self {
            levels,
            t0_ns,
            divider,
            word: None,
            first: 0,
        }
    }

    /// The same from a later sample on: the levels are those from its instant on.
    pub(crate) fn since(levels: Levels, t0_ns: u64, divider: u32, first: u64) -> Self {
        Self {
            first,
            ..Self::new(levels, t0_ns, divider)
        }
    }

    /// Edges of the samples from the end of the last call to `to`. The very first edge is at the first sample.
    pub(crate) fn advance(&mut self, to: u64) -> Vec<(u64, u16)> {
        let mut edges = Vec::new();
        if self.word.is_none() && to > 0 {
            let word = self.levels.word();
            self.word = Some(word);
            edges.push((self.first, word));
        }
        // A change after this instant is seen only by sample `to` or later.
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

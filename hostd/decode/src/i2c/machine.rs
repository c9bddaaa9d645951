//! The bus state and the inner loop that drives it.

use crate::planes::{Block, Kernel};

pub(super) const SCL: usize = 0;
pub(super) const SDA: usize = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Start,
    RepeatStart,
    Stop,
    /// First byte after a START.
    Address,
    Data,
    Ack,
    Nack,
    /// One bit of a byte, only if bits are shown.
    Bit,
}

/// What happened on the bus; compact, so that the inner loop does nothing but store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(super) kind: Kind,
    /// The byte or the bit.
    pub(super) value: u8,
    pub(super) start: u64,
    /// For a byte: where its last bit begins.
    pub(super) middle: u64,
    pub(super) end: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No exchange is in progress: before the first START and after a STOP.
    Idle,
    /// The samples begin inside a capture, and neither START nor STOP was seen.
    Lost,
    Address,
    Data,
}

/// The bus state between two edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    phase: Phase,
    bits: u8,
    byte: u8,
    /// Where the byte's first bit was sampled.
    first: u64,
    /// Where the last bit was sampled.
    last: u64,
    /// Length of the byte's last bit, which is also shown as the length of the ACK.
    width: u64,
}

impl Machine {
    pub(super) const fn new() -> Self {
        Self {
            phase: Phase::Idle,
            bits: 0,
            byte: 0,
            first: 0,
            last: 0,
            width: 0,
        }
    }

    /// The state where the samples before are not known.
    pub(super) const fn lost() -> Self {
        let mut machine = Self::new();
        machine.phase = Phase::Lost;
        machine
    }

    /// The state right after a START or STOP, whatever came before.
    pub(super) const fn after_condition(sda: bool) -> Self {
        let mut machine = Self::new();
        machine.phase = if sda { Phase::Idle } else { Phase::Address };
        machine
    }

    /// The clock rose. `fell` means that SDA fell within the same sample: on an idle bus that was a
    /// START, sampled too slowly.
    #[inline(always)]
    pub(super) fn rise<const BITS: bool>(
        &mut self,
        at: u64,
        sda: bool,
        fell: bool,
        out: &mut Vec<Event>,
    ) {
        if matches!(self.phase, Phase::Idle | Phase::Lost) {
            if fell && self.phase == Phase::Idle {
                self.condition(at, false, out);
            }
            return;
        }
        if self.bits == 8 {
            let kind = if sda { Kind::Nack } else { Kind::Ack };
            out.push(Event {
                kind,
                value: 0,
                start: at,
                middle: at,
                end: at + self.width,
            });
            self.bits = 0;
            self.phase = Phase::Data;
            return;
        }
        if BITS {
            let value = u8::from(sda);
            out.push(Event {
                kind: Kind::Bit,
                value,
                start: at,
                middle: at,
                end: at,
            });
        }
        if self.bits == 0 {
            self.first = at;
        }
        self.byte = self.byte << 1 | u8::from(sda);
        self.bits += 1;
        if self.bits == 8 {
            self.width = at - self.last;
            let kind = if self.phase == Phase::Address {
                Kind::Address
            } else {
                Kind::Data
            };
            let (start, end) = (self.first, at + self.width);
            out.push(Event {
                kind,
                value: self.byte,
                start,
                middle: at,
                end,
            });
        }
        self.last = at;
    }

    /// SDA changed while the clock was high: a STOP if it rose, otherwise a START.
    #[inline(always)]
    pub(super) fn condition(&mut self, at: u64, sda: bool, out: &mut Vec<Event>) {
        let is_idle = matches!(self.phase, Phase::Idle | Phase::Lost);
        let kind = match (sda, is_idle) {
            (false, true) => Some(Kind::Start),
            (false, false) => Some(Kind::RepeatStart),
            (true, false) => Some(Kind::Stop),
            (true, true) => None,
        };
        if let Some(kind) = kind {
            out.push(Event {
                kind,
                value: 0,
                start: at,
                middle: at,
                end: at,
            });
        }
        self.phase = if sda { Phase::Idle } else { Phase::Address };
        self.bits = 0;
    }
}

/// Receives the two kinds of edges that matter on this bus.
pub(super) trait Edges {
    fn rise(&mut self, at: u64, sda: bool, fell: bool);
    fn condition(&mut self, at: u64, sda: bool);
}

/// Finds the edges in a block. It remembers only one bit per line.
pub(super) struct Finder<E> {
    pub(super) scl: u64,
    pub(super) sda: u64,
    pub(super) edges: E,
}

impl<E: Edges> Kernel for Finder<E> {
    #[inline(always)]
    fn block<B: Block>(&mut self, at: u64, _count: u32, block: &B) -> bool {
        let scl = block.plane(SCL);
        let sda = block.plane(SDA);
        let scl_edges = scl ^ (scl << 1 | self.scl);
        let sda_edges = sda ^ (sda << 1 | self.sda);
        self.scl = scl >> 63;
        self.sda = sda >> 63;
        let rises = scl_edges & scl;
        let conditions = sda_edges & scl & !scl_edges;
        let mut wanted = rises | conditions;
        while wanted != 0 {
            let index = wanted.trailing_zeros();
            let level = sda >> index & 1 != 0;
            let at = at + u64::from(index);
            if rises >> index & 1 != 0 {
                let fell = !level && sda_edges >> index & 1 != 0;
                self.edges.rise(at, level, fell);
            } else {
                self.edges.condition(at, level);
            }
            wanted &= wanted - 1;
        }
        scl_edges | sda_edges != 0
    }

    #[inline(always)]
    fn quiet(&mut self, _at: u64, _count: u64) {}
}

/// Edges go straight into the machine.
pub(super) struct Direct<'a, const BITS: bool> {
    pub(super) machine: Machine,
    pub(super) out: &'a mut Vec<Event>,
}

impl<const BITS: bool> Edges for Direct<'_, BITS> {
    #[inline(always)]
    fn rise(&mut self, at: u64, sda: bool, fell: bool) {
        self.machine.rise::<BITS>(at, sda, fell, self.out);
    }

    #[inline(always)]
    fn condition(&mut self, at: u64, sda: bool) {
        self.machine.condition(at, sda, self.out);
    }
}

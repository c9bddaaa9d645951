//! The word being shifted in, and the inner loop that drives it.

use super::Config;
use crate::planes::{Block, Kernel};

pub(super) const CLK: usize = 0;
pub(super) const CS: usize = 1;
pub(super) const MOSI: usize = 2;
pub(super) const MISO: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    /// One bit, only if bits are shown.
    Bit,
    Select,
    Deselect,
}

/// What happened on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(super) kind: Kind,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) mosi: u64,
    pub(super) miso: u64,
}

/// How to read the lines.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    word_bits: u32,
    lsb_first: bool,
    has_cs: bool,
    /// XORed with the planes so that a rising clock samples and a low CS selects.
    clk_flip: u64,
    cs_flip: u64,
}

impl Rules {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            word_bits: config.word_bits,
            lsb_first: config.lsb_first,
            has_cs: config.cs.is_some(),
            clk_flip: if config.sample_rising { 0 } else { u64::MAX },
            cs_flip: if config.cs_active_high { u64::MAX } else { 0 },
        }
    }

    pub(super) fn has_cs(&self) -> bool {
        self.has_cs
    }

    pub(super) fn word_bits(&self) -> u32 {
        self.word_bits
    }

    /// Whether these levels, in the form of `Taps::levels`, select the chip by its CS line.
    pub(super) fn selects(&self, levels: u64) -> bool {
        self.has_cs && (levels >> CS ^ self.cs_flip) & 1 == 0
    }
}

/// The state between two clock edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    count: u32,
    mosi: u64,
    miso: u64,
    first: u64,
    last: u64,
}

impl Machine {
    pub(super) const fn new() -> Self {
        Self {
            count: 0,
            mosi: 0,
            miso: 0,
            first: 0,
            last: 0,
        }
    }

    /// Bits shifted in since the word began.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    #[inline(always)]
    pub(super) fn bit<const BITS: bool>(
        &mut self,
        at: u64,
        (mosi, miso): (u64, u64),
        rules: &Rules,
        out: &mut Vec<Event>,
    ) {
        if BITS {
            out.push(Event {
                kind: Kind::Bit,
                start: at,
                end: at,
                mosi,
                miso,
            });
        }
        if self.count == 0 {
            *self = Self {
                count: 0,
                mosi: 0,
                miso: 0,
                first: at,
                last: at,
            };
        }
        if rules.lsb_first {
            self.mosi |= mosi << self.count;
            self.miso |= miso << self.count;
        } else {
            self.mosi = self.mosi << 1 | mosi;
            self.miso = self.miso << 1 | miso;
        }
        self.count += 1;
        if self.count == rules.word_bits {
            let (start, end) = (self.first, at + (at - self.last));
            out.push(Event {
                kind: Kind::Word,
                start,
                end,
                mosi: self.mosi,
                miso: self.miso,
            });
            self.count = 0;
        }
        self.last = at;
    }
}

/// Receives the edges that matter on this bus.
pub(super) trait Edges {
    /// CS changed; a word in progress is lost.
    fn select(&mut self, at: u64, selected: bool);
    /// A sampling clock edge while selected.
    fn bit(&mut self, at: u64, bits: (u64, u64));
}

/// Finds the edges in a block. It remembers only one bit per line.
pub(super) struct Finder<'a, E> {
    pub(super) rules: &'a Rules,
    /// Raw levels of clock and CS in the last sample.
    pub(super) clk: u64,
    pub(super) cs: u64,
    pub(super) edges: E,
}

impl<'a, E> Finder<'a, E> {
    pub(super) fn new(rules: &'a Rules, levels: u64, edges: E) -> Self {
        Self {
            rules,
            clk: levels >> CLK & 1,
            cs: levels >> CS & 1,
            edges,
        }
    }
}

impl<E: Edges> Kernel for Finder<'_, E> {
    #[inline(always)]
    fn block<B: Block>(&mut self, at: u64, _count: u32, block: &B) -> bool {
        let clk = block.plane(CLK);
        let clk_edges = clk ^ (clk << 1 | self.clk);
        let mut samplings = clk_edges & (clk ^ self.rules.clk_flip);
        self.clk = clk >> 63;
        let mut moves = 0;
        let mut selected = u64::MAX;
        if self.rules.has_cs {
            let cs = block.plane(CS);
            moves = cs ^ (cs << 1 | self.cs);
            self.cs = cs >> 63;
            selected = !(cs ^ self.rules.cs_flip);
            samplings &= selected;
        }
        let mut wanted = samplings | moves;
        if wanted == 0 {
            return clk_edges != 0;
        }
        let mosi = block.plane(MOSI);
        let miso = block.plane(MISO);
        while wanted != 0 {
            let index = wanted.trailing_zeros();
            let at = at + u64::from(index);
            if moves >> index & 1 != 0 {
                self.edges.select(at, selected >> index & 1 != 0);
            }
            if samplings >> index & 1 != 0 {
                self.edges.bit(at, (mosi >> index & 1, miso >> index & 1));
            }
            wanted &= wanted - 1;
        }
        true
    }

    #[inline(always)]
    fn quiet(&mut self, _at: u64, _count: u64) {}
}

/// Edges go straight into the machine.
pub(super) struct Direct<'a, const BITS: bool> {
    pub(super) rules: &'a Rules,
    pub(super) machine: Machine,
    pub(super) out: &'a mut Vec<Event>,
}

impl<const BITS: bool> Edges for Direct<'_, BITS> {
    #[inline(always)]
    fn select(&mut self, at: u64, selected: bool) {
        self.machine = Machine::new();
        self.out.push(selection(at, selected));
    }

    #[inline(always)]
    fn bit(&mut self, at: u64, bits: (u64, u64)) {
        self.machine.bit::<BITS>(at, bits, self.rules, self.out);
    }
}

/// The event for a change of CS.
pub(super) fn selection(at: u64, selected: bool) -> Event {
    let kind = if selected {
        Kind::Select
    } else {
        Kind::Deselect
    };
    Event {
        kind,
        start: at,
        end: at,
        mosi: 0,
        miso: 0,
    }
}

//! Fast signal traces, of GTKWave, Verilator and others: a logic channel for each bit of a variable, an analog one for each real.
//!
//! The parser is ours, since the library at hand panics on damaged files and takes the lengths that they say for memory. Its form is
//! that of `fstapi.c` of GTKWave: blocks, of which one has the names, one the widths of signals, and the others their changes in a
//! stretch of time. Of a block of changes the chosen signals alone are unpacked, and passed on in the order of time.

mod blocks;
mod bytes;
mod hierarchy;
mod section;
mod unpack;

use std::sync::atomic::{AtomicBool, Ordering};

use super::choice::Choice;
use super::source::{Shape, Sink, Source, Wanted};
use super::{ImportError, Limits};
use crate::sr::SrError;
use blocks::Blocks;
pub(super) use blocks::is_trace;
use hierarchy::Names;
use section::{Section, State};

/// Most signals of a file: those that are left out count, too.
const SIGNALS_MAX: usize = 1 << 16;

/// Bytes of names, of widths, and of the values with which a section begins, each, unpacked.
const PART_BYTES_MAX: u64 = 16 << 20;

/// Bytes of the changes of the chosen signals in a section, unpacked.
const CHANGES_BYTES_MAX: u64 = 32 << 20;

/// What a signal is, by its handle.
#[derive(Clone, Debug, Default)]
struct Signal {
    /// Characters of a value; 8 bytes for a real; 0 where it says how many.
    width: usize,
    is_real: bool,
    /// For each bit of the value, from the lowest: the bits of the levels that it sets.
    bits: Vec<u64>,
    /// Whether it is the chosen analog channel.
    is_analog: bool,
}

impl Signal {
    fn is_wanted(&self, wanted: Wanted) -> bool {
        wanted.logic && self.bits.iter().any(|bit| *bit != 0) || wanted.analog && self.is_analog
    }
}

/// A trace whose names were read.
pub(super) struct Trace<'a> {
    shape: Shape,
    blocks: Blocks<'a>,
    names: Names,
    signals: Vec<Signal>,
    /// Most bytes of changes and times, unpacked.
    unpacked_max: u64,
    /// Whether a level was neither high nor low.
    has_unknown: AtomicBool,
}

impl<'a> Trace<'a> {
    pub(super) fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, ImportError> {
        let blocks = Blocks::find(bytes)?;
        let signals = blocks.signals()?;
        let names = Names::read(&blocks.names()?, signals.len(), limits)?;
        Ok(Self {
            shape: names.shape(&blocks),
            blocks,
            names,
            signals,
            unpacked_max: limits.session.unpacked_bytes_max,
            has_unknown: AtomicBool::new(false),
        })
    }
}

impl Source for Trace<'_> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn choose(&mut self, choice: &Choice) {
        let bits = choice.bits(self.shape.logic.len());
        for signal in &mut self.signals {
            (signal.bits, signal.is_analog) = (Vec::new(), false);
        }
        for variable in &self.names.variables {
            let Some(signal) = self.signals.get_mut(variable.signal) else {
                continue;
            };
            // A signal may be several variables.
            match variable.bits {
                None => signal.is_analog |= choice.analog == Some(variable.channel),
                Some(width) => {
                    signal.bits.resize(signal.bits.len().max(width), 0);
                    let bits = bits.get(variable.channel..).unwrap_or_default();
                    for (of, bit) in signal.bits.iter_mut().zip(bits).take(width) {
                        *of |= bit.map_or(0, |bit| 1 << bit);
                    }
                }
            }
        }
    }

    fn walk(&self, wanted: Wanted, sink: &mut dyn Sink) -> Result<u64, ImportError> {
        let mut state = State::new(sink, wanted, self.blocks.is_big_endian);
        let mut unpacked: u64 = 0;
        for (number, block) in self.blocks.sections.iter().enumerate() {
            let section = Section::open(block, &self.signals, wanted)?;
            unpacked = unpacked.saturating_add(section.unpacked);
            if unpacked > self.unpacked_max {
                let (bytes, limit) = (unpacked, self.unpacked_max);
                return Err(SrError::TooLarge { bytes, limit }.into());
            }
            section.walk(&self.signals, number == 0, &mut state)?;
        }
        state.pass()?;
        self.has_unknown
            .fetch_or(state.has_unknown, Ordering::Relaxed);
        Ok(self.blocks.end.max(state.at))
    }

    fn remark(&self) -> Option<&'static str> {
        let has_unknown = self.has_unknown.load(Ordering::Relaxed);
        has_unknown.then_some(super::vcd::UNKNOWN)
    }
}

#[cfg(test)]
mod tests;

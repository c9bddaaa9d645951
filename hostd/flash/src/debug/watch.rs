//! Watchpoints: comparators of the data watchpoint unit (DWT) of ARMv6-M and ARMv7-M cores, as their architecture
//! reference manuals describe it.

use probe_rs::{Core, CoreType, MemoryInterface};

use super::{DebugFailure, Debugger};

/// DEMCR, whose bit 24 switches the unit on.
const DEMCR: u64 = 0xE000_EDFC;
const TRACE_ENABLE: u32 = 1 << 24;

/// DWT_CTRL, whose top four bits say how many comparators there are.
const CONTROL: u64 = 0xE000_1000;
const COUNT_SHIFT: u32 = 28;

/// Registers of comparator 0: value, mask, function. Those of the next are 16 bytes on.
const VALUE: u64 = 0xE000_1020;
const MASK: u64 = VALUE + 4;
const FUNCTION: u64 = VALUE + 8;
const STRIDE: u64 = 16;

/// DWT_FUNCTION: what is compared, and whether it has matched since this was read.
const IN_USE: u32 = 0xF;
const MATCHED: u32 = 1 << 24;

/// DHCSR: the key without which nothing is written, and bits.
const DHCSR: u64 = 0xE000_EDF0;
const KEY: u32 = 0xA05F << 16;
const DEBUG_ENABLE: u32 = 1;
const HALT: u32 = 1 << 1;

/// What a watchpoint waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A read.
    Read,
    /// A write.
    Write,
    /// Either.
    Any,
}

impl Access {
    fn function(self) -> u32 {
        match self {
            Self::Read => 5,
            Self::Write => 6,
            Self::Any => 7,
        }
    }
}

/// A place in memory at whose use the core halts. Its size is a power of two, and its address a multiple of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watchpoint {
    /// Its first byte.
    pub address: u32,
    /// Its size.
    pub bytes: u32,
    /// Which use.
    pub access: Access,
}

/// A watchpoint that is set.
#[derive(Debug)]
pub(super) struct Watched {
    watchpoint: Watchpoint,
    /// Its registers, from those of the first comparator.
    place: u64,
    is_hit: bool,
}

impl Debugger {
    /// How many watchpoints the core can have at once; none if its kind is not known here.
    ///
    /// # Errors
    /// [`DebugFailure`].
    pub fn watchpoints(&mut self) -> Result<usize, DebugFailure> {
        if let Some(count) = self.watchpoints {
            return Ok(count);
        }
        let count = self.with(|core| {
            if !matches!(
                core.core_type(),
                CoreType::Armv6m | CoreType::Armv7m | CoreType::Armv7em
            ) {
                return Ok(0);
            }
            let before = core.read_word_32(DEMCR)?;
            core.write_word_32(DEMCR, before | TRACE_ENABLE)?;
            let count = core.read_word_32(CONTROL)? >> COUNT_SHIFT;
            core.write_word_32(DEMCR, before)?;
            Ok(count as usize)
        })?;
        self.watchpoints = Some(count);
        Ok(count)
    }

    /// Halts the core after this use of memory.
    ///
    /// # Errors
    /// [`DebugFailure`]; refused when no comparator is left, or none can have this size and place.
    pub fn set_watchpoint(&mut self, watchpoint: Watchpoint) -> Result<(), DebugFailure> {
        let Watchpoint {
            address,
            bytes,
            access,
        } = watchpoint;
        let refused = |why: &str| DebugFailure::Refused(why.to_owned());
        if !bytes.is_power_of_two() || !address.is_multiple_of(bytes) {
            return Err(refused(
                "a watchpoint's size is a power of two, and its address a multiple of that",
            ));
        }
        let count = self.watchpoints()?;
        let mask = bytes.trailing_zeros();
        let set = self.with(|core| {
            let monitor = core.read_word_32(DEMCR)?;
            core.write_word_32(DEMCR, monitor | TRACE_ENABLE)?;
            let Some(place) = free(core, count)? else {
                return Ok(Err("all watchpoints of the core are in use"));
            };
            core.write_word_32(VALUE + place, address)?;
            core.write_word_32(MASK + place, mask)?;
            // What a core cannot mask it does not keep.
            if core.read_word_32(MASK + place)? != mask {
                return Ok(Err("the core has no watchpoints of this size"));
            }
            core.write_word_32(FUNCTION + place, access.function())?;
            Ok(Ok(place))
        })?;
        let place = set.map_err(refused)?;
        self.watched.push(Watched {
            watchpoint,
            place,
            is_hit: false,
        });
        Ok(())
    }

    /// # Errors
    /// [`DebugFailure`].
    pub fn clear_watchpoint(&mut self, watchpoint: Watchpoint) -> Result<(), DebugFailure> {
        let mut watched = self.watched.iter();
        let Some(which) = watched.position(|watched| watched.watchpoint == watchpoint) else {
            return Ok(());
        };
        let place = self.watched.remove(which).place;
        self.with(|core| core.write_word_32(FUNCTION + place, 0))
    }

    /// Has the core pass over the places of all watchpoints, or stop at them again.
    pub(super) fn rest_watchpoints(&mut self, rest: bool) -> Result<(), DebugFailure> {
        for which in 0..self.watched.len() {
            let Watched {
                watchpoint, place, ..
            } = self.watched[which];
            let function = if rest {
                0
            } else {
                watchpoint.access.function()
            };
            self.with(|core| core.write_word_32(FUNCTION + place, function))?;
        }
        Ok(())
    }

    /// The first watchpoint whose place the core has used since this was asked. It forgets the others.
    ///
    /// # Errors
    /// [`DebugFailure`].
    pub fn take_hit(&mut self) -> Result<Option<Watchpoint>, DebugFailure> {
        self.note_hits()?;
        let mut hit = None;
        for watched in &mut self.watched {
            if std::mem::take(&mut watched.is_hit) {
                hit = hit.or(Some(watched.watchpoint));
            }
        }
        Ok(hit)
    }

    /// Lets the core run. The library steps before, and a use of memory by that instruction would be missed: it is looked
    /// for here, and the core stays halted after one.
    pub(super) fn run_watched(&mut self) -> Result<(), DebugFailure> {
        self.with(|core| core.step().map(drop))?;
        self.note_hits()?;
        if self.watched.iter().any(|watched| watched.is_hit) {
            return Ok(());
        }
        self.with(|core| {
            // Interrupts were masked for the step, which may only be changed while the core is halted.
            core.write_word_32(DHCSR, KEY | DEBUG_ENABLE | HALT)?;
            core.write_word_32(DHCSR, KEY | DEBUG_ENABLE)?;
            core.flush()
        })
    }

    /// Notes what has matched, which the core forgets when it is read.
    fn note_hits(&mut self) -> Result<(), DebugFailure> {
        for which in 0..self.watched.len() {
            let place = self.watched[which].place;
            let function = self.with(|core| core.read_word_32(FUNCTION + place))?;
            self.watched[which].is_hit |= function & MATCHED != 0;
        }
        Ok(())
    }
}

/// Where the registers of each comparator are.
fn places(count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(|number| number * STRIDE)
}

/// One that nobody uses, the program included.
fn free(core: &mut Core<'_>, count: usize) -> Result<Option<u64>, probe_rs::Error> {
    for place in places(count) {
        if core.read_word_32(FUNCTION + place)? & IN_USE == 0 {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

//! Where fuzzers and the seeded tests feed in untrusted bytes: one function for each kind of client.

use std::io;
use std::time::Duration;

use pod_protocol::{Parity, UART_BAUD_MAX, UART_BAUD_MIN};

use crate::dap::Requests;
use crate::gdb::{self, DebugError, Debugger, Flash, REGISTERS, Register, Watchpoint, Wire};
use crate::serial::{Asked, Rfc2217};

/// Most bytes that a client of RFC 2217 is answered for one of its own.
const ANSWERS_MAX: usize = 8;

/// Arbitrary bytes of a client of RFC 2217, at once and one after the other: it asks for the same either way, within
/// bounds, and is not answered without end.
///
/// # Panics
/// If that is not so.
pub fn rfc2217(bytes: &[u8]) {
    let run = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut port = Rfc2217::new(115_200, Some(Parity::None), "fuzz");
        let (mut text, mut settings, mut out) = (Vec::new(), Vec::new(), Vec::new());
        port.greet(&mut out);
        out.clear();
        for piece in pieces {
            for asked in port.receive(piece, &mut out) {
                match asked {
                    Asked::Bytes(bytes) => text.extend(bytes),
                    Asked::Baud(baud) if !(UART_BAUD_MIN..=UART_BAUD_MAX).contains(&baud) => {
                        panic!("{baud} baud")
                    }
                    setting => settings.push(setting),
                }
            }
        }
        (text, settings, out)
    };
    let once = run(&mut std::iter::once(bytes));
    assert_eq!(once, run(&mut bytes.chunks(1)));
    assert!(once.0.len() <= bytes.len() && once.1.len() <= bytes.len());
    assert!(once.2.len() <= ANSWERS_MAX * bytes.len());
}

/// Arbitrary bytes of a client of CMSIS-DAP over TCP, at once and one after the other.
///
/// # Panics
/// If it makes a difference.
pub fn dap(bytes: &[u8]) {
    let run = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut requests = Requests::default();
        let mut found = Vec::new();
        for piece in pieces {
            requests.push(piece);
            loop {
                match requests.next_packet() {
                    Ok(Some(packet)) => found.push(packet),
                    Ok(None) => break,
                    Err(_) => return (found, true),
                }
            }
        }
        (found, false)
    };
    let once = run(&mut std::iter::once(bytes));
    assert_eq!(once, run(&mut bytes.chunks(1)));
}

/// Arbitrary bytes of a GDB: whatever it says, the session ends, nothing is read or written outside of what the core
/// has, and the core runs afterwards, without a breakpoint.
///
/// # Panics
/// If that is not so.
pub fn gdb(bytes: &[u8]) {
    let mut core = Core::default();
    let mut wire = Spoken { bytes, sent: 0 };
    // What it comes to does not matter.
    let _ = gdb::serve(&mut wire, &mut core);
    assert!(!core.is_halted && core.breakpoints == 0);
}

/// Says these bytes, then leaves.
struct Spoken<'a> {
    bytes: &'a [u8],
    sent: usize,
}

impl Wire for Spoken<'_> {
    fn read(&mut self, into: &mut [u8], _: Duration) -> io::Result<Option<usize>> {
        let count = self.bytes.len().min(into.len());
        let (now, later) = self.bytes.split_at(count);
        into[..count].copy_from_slice(now);
        self.bytes = later;
        Ok(Some(count))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sent += bytes.len();
        Ok(())
    }
}

/// A core with a few registers and a little memory.
#[derive(Default)]
pub(crate) struct Core {
    pub(crate) registers: [u32; REGISTERS],
    /// Those of its floating point unit: status, then s0 to s31. Empty = it has none.
    pub(crate) floats: Vec<u32>,
    pub(crate) memory: Vec<u8>,
    pub(crate) flash: Vec<Flash>,
    pub(crate) is_halted: bool,
    pub(crate) breakpoints: usize,
    /// How many watchpoints it can have.
    pub(crate) comparators: usize,
    pub(crate) watchpoints: Vec<Watchpoint>,
    /// The place that it uses whenever it runs.
    pub(crate) uses: Option<u32>,
    /// After so many looks at it while it runs, it halts by itself.
    pub(crate) halts_after: Option<u32>,
    pub(crate) refuses_to_run: bool,
    /// Whoever reads here finds that the target is gone.
    pub(crate) is_lost_at: Option<u32>,
    pub(crate) programmed: Vec<(u32, Vec<u8>)>,
    pub(crate) said: Vec<&'static str>,
}

impl Core {
    fn register_at(&mut self, Register(number): Register) -> Result<&mut u32, DebugError> {
        let found = match number {
            0x21 => self.floats.first_mut(),
            0x40.. => self.floats.get_mut(usize::from(number - 0x40) + 1),
            _ => self.registers.get_mut(usize::from(number)),
        };
        found.ok_or_else(|| DebugError::Refused("there is no such register".to_owned()))
    }

    fn place(&self, address: u32, count: usize) -> Result<std::ops::Range<usize>, DebugError> {
        let start = address as usize;
        let range = start..start.saturating_add(count);
        if range.end > self.memory.len() {
            return Err(DebugError::Refused("there is no memory".to_owned()));
        }
        Ok(range)
    }
}

impl Debugger for Core {
    fn flash(&self) -> &[Flash] {
        &self.flash
    }

    fn has_fpu(&self) -> bool {
        !self.floats.is_empty()
    }

    fn halt(&mut self) -> Result<(), DebugError> {
        self.is_halted = true;
        Ok(())
    }

    /// Only one that is halted can be let go, as the debug library has it.
    fn run(&mut self) -> Result<(), DebugError> {
        if !self.is_halted || self.refuses_to_run {
            return Err(DebugError::Refused("the core does not run".to_owned()));
        }
        self.said.push("run");
        self.is_halted = false;
        Ok(())
    }

    fn step(&mut self) -> Result<(), DebugError> {
        self.registers[15] = self.registers[15].wrapping_add(2);
        Ok(())
    }

    fn is_halted(&mut self) -> Result<bool, DebugError> {
        if let Some(looks) = self.halts_after.as_mut().filter(|_| !self.is_halted) {
            *looks = looks.saturating_sub(1);
            if *looks == 0 {
                self.halts_after = None;
                self.is_halted = true;
            }
        }
        Ok(self.is_halted)
    }

    fn reset(&mut self, halt: bool) -> Result<(), DebugError> {
        self.said.push("reset");
        self.is_halted = halt;
        Ok(())
    }

    fn register(&mut self, register: Register) -> Result<u32, DebugError> {
        self.register_at(register).map(|found| *found)
    }

    fn set_register(&mut self, register: Register, value: u32) -> Result<(), DebugError> {
        *self.register_at(register)? = value;
        Ok(())
    }

    fn read(&mut self, address: u32, into: &mut [u8]) -> Result<(), DebugError> {
        if self.is_lost_at == Some(address) {
            return Err(DebugError::Lost("the target is gone".to_owned()));
        }
        let range = self.place(address, into.len())?;
        into.copy_from_slice(&self.memory[range]);
        Ok(())
    }

    fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), DebugError> {
        let range = self.place(address, bytes.len())?;
        self.memory[range].copy_from_slice(bytes);
        Ok(())
    }

    fn set_breakpoint(&mut self, _: u32) -> Result<(), DebugError> {
        if self.breakpoints == 4 {
            return Err(DebugError::Refused("no comparator is left".to_owned()));
        }
        self.breakpoints += 1;
        Ok(())
    }

    fn clear_breakpoint(&mut self, _: u32) -> Result<(), DebugError> {
        self.breakpoints -= 1;
        Ok(())
    }

    fn watchpoints(&self) -> usize {
        self.comparators
    }

    fn set_watchpoint(&mut self, watchpoint: Watchpoint) -> Result<(), DebugError> {
        if self.watchpoints.len() == self.comparators {
            return Err(DebugError::Refused("no comparator is left".to_owned()));
        }
        self.watchpoints.push(watchpoint);
        Ok(())
    }

    fn clear_watchpoint(&mut self, watchpoint: Watchpoint) -> Result<(), DebugError> {
        self.watchpoints.retain(|set| *set != watchpoint);
        Ok(())
    }

    fn take_hit(&mut self) -> Result<Option<Watchpoint>, DebugError> {
        let mut watchpoints = self.watchpoints.iter();
        let hit = watchpoints.find(|watchpoint| self.uses == Some(watchpoint.address));
        Ok(hit.copied())
    }

    fn program(&mut self, segments: &[(u32, Vec<u8>)]) -> Result<(), DebugError> {
        self.programmed.extend_from_slice(segments);
        Ok(())
    }
}

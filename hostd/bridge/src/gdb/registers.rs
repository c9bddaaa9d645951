//! The registers of a Cortex-M core, in GDB's order and with GDB's names.

use std::fmt::Write;
use std::num::NonZeroUsize;

use gdbstub::arch::{self, Arch, RegId};

/// A register of the core: its number, as GDB and the core's debug unit have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register(pub u8);

/// How many there are: r0 to r12, sp, lr, pc, xpsr, msp, psp.
pub const REGISTERS: usize = 19;

const SP: usize = 13;
const PC: usize = 15;
const BYTES: usize = 4;

/// GDB's view of a core: an M profile without a floating point unit.
pub(super) enum CortexM {}

impl Arch for CortexM {
    type Usize = u32;
    type Registers = Registers;
    type BreakpointKind = usize;
    type RegId = Register;
}

/// What GDB reads as the target's description.
pub(super) fn description() -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
         <architecture>arm</architecture><feature name=\"org.gnu.gdb.arm.m-profile\">",
    );
    let mut register = |name: &str, more: &str| {
        // A string takes everything.
        let _ = write!(xml, "<reg name=\"{name}\" bitsize=\"32\"{more}/>");
    };
    for number in 0..SP {
        register(&format!("r{number}"), "");
    }
    register("sp", " type=\"data_ptr\"");
    register("lr", "");
    register("pc", " type=\"code_ptr\"");
    register("xpsr", "");
    xml.push_str("</feature><feature name=\"org.gnu.gdb.arm.m-system\">");
    for name in ["msp", "psp"] {
        // A string takes everything.
        let _ = write!(
            xml,
            "<reg name=\"{name}\" bitsize=\"32\" type=\"data_ptr\"/>"
        );
    }
    xml.push_str("</feature></target>");
    xml
}

/// The values of all of them.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Registers(pub(super) [u32; REGISTERS]);

impl arch::Registers for Registers {
    type ProgramCounter = u32;

    fn pc(&self) -> u32 {
        self.0[PC]
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        for byte in self.0.iter().flat_map(|value| value.to_le_bytes()) {
            write_byte(Some(byte));
        }
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        let (words, []) = bytes.as_chunks() else {
            return Err(());
        };
        let values = words.iter().map(|word| u32::from_le_bytes(*word));
        let values: Vec<u32> = values.collect();
        self.0 = values.try_into().map_err(drop)?;
        Ok(())
    }
}

impl RegId for Register {
    fn from_raw_id(id: usize) -> Option<(Self, Option<NonZeroUsize>)> {
        let number = u8::try_from(id).ok()?;
        (id < REGISTERS).then_some((Self(number), NonZeroUsize::new(BYTES)))
    }

    fn to_raw_id(&self) -> Option<usize> {
        Some(usize::from(self.0))
    }
}

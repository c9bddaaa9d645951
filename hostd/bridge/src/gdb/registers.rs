//! The registers of a Cortex-M core, in GDB's order and with GDB's names.

use std::fmt::Write;
use std::num::NonZeroUsize;

use gdbstub::arch::{self, Arch, RegId};

/// A register of the core: its number in the core's debug unit (`DCRSR.REGSEL` of the architecture).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register(pub u8);

/// Registers that every core has, from number 0: r0 to r12, sp, lr, pc, xpsr, msp, psp.
pub const REGISTERS: usize = 19;

const SP: usize = 13;
const PC: usize = 15;
const BYTES: usize = 4;

/// Those of a floating point unit: its status, then s0 to s31.
const FPSCR: Register = Register(0x21);
const S0: u8 = 0x40;

/// GDB has the floating point unit as double words, d0 to d15, and counts on behind those that every core has.
const FIRST_DOUBLE: u8 = 19;
const GDB_FPSCR: u8 = FIRST_DOUBLE + DOUBLES;
const DOUBLES: u8 = 16;

const _: () = assert!(FIRST_DOUBLE as usize == REGISTERS);

/// A register by GDB's number, which is its place in the description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(u8);

impl Number {
    /// What it is in the core: one register, or two of which the first is the low word.
    pub(super) fn words(self) -> (Register, Option<Register>) {
        match self.0 {
            GDB_FPSCR => (FPSCR, None),
            number @ FIRST_DOUBLE.. => {
                let low = S0 + 2 * (number - FIRST_DOUBLE);
                (Register(low), Some(Register(low + 1)))
            }
            number => (Register(number), None),
        }
    }
}

/// GDB's view of a core: an M profile. The `g` packet has what every core has; GDB asks for the rest when it wants it.
pub(super) enum CortexM {}

impl Arch for CortexM {
    type Usize = u32;
    type Registers = Registers;
    type BreakpointKind = usize;
    type RegId = Number;
}

/// What GDB reads as the target's description.
pub(super) fn description(has_fpu: bool) -> String {
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
    xml.push_str("</feature>");
    if has_fpu {
        xml.push_str("<feature name=\"org.gnu.gdb.arm.vfp\">");
        for number in 0..DOUBLES {
            // A string takes everything.
            let _ = write!(
                xml,
                "<reg name=\"d{number}\" bitsize=\"64\" type=\"ieee_double\"/>"
            );
        }
        xml.push_str("<reg name=\"fpscr\" bitsize=\"32\" type=\"int\" group=\"float\"/></feature>");
    }
    xml.push_str("</target>");
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

impl RegId for Number {
    fn from_raw_id(id: usize) -> Option<(Self, Option<NonZeroUsize>)> {
        let number = Self(u8::try_from(id).ok().filter(|id| *id <= GDB_FPSCR)?);
        let words = match number.words() {
            (_, None) => 1,
            (_, Some(_)) => 2,
        };
        Some((number, NonZeroUsize::new(words * BYTES)))
    }

    fn to_raw_id(&self) -> Option<usize> {
        Some(usize::from(self.0))
    }
}

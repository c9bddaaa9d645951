//! A part on an I²C bus, as its file describes it.

use super::field::Field;
use std::ops::RangeInclusive;

/// Most bytes of a register: what fits a number.
pub(crate) const REGISTER_BYTES_MAX: u8 = 8;

/// A part and what its bytes mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data_sheet: String,
    /// Those that it can be set to.
    pub(crate) addresses: Vec<u8>,
    pub(crate) style: Style,
    /// By where they are.
    pub(crate) registers: Vec<Register>,
    pub(crate) memories: Vec<Memory>,
}

/// How a part is talked to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Style {
    /// The first bytes of a write are a register's number, or a command.
    Pointer(Pointer),
    /// Every byte is the state of one register.
    Port,
    /// A byte before others says whether they are commands or data, as displays have it.
    Control,
}

/// Where reads and writes go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// 1 or 2, the high one first.
    pub(crate) bytes: u8,
    pub(crate) reads: Step,
    pub(crate) writes: Step,
    /// Behind the last comes the first.
    pub(crate) range: RangeInclusive<u32>,
    /// Writes stay in a page of so many bytes, a power of two.
    pub(crate) page: Option<u32>,
    /// What it is after power-on.
    pub(crate) start: Option<u32>,
    /// A number stands for a whole register, whatever its width; otherwise for a byte.
    pub(crate) is_of_registers: bool,
    /// The numbers are commands.
    pub(crate) is_command: bool,
}

/// Where a pointer is after a byte, or a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Next,
    Same,
    /// The next byte of a write is a number again.
    Pairs,
}

/// A register, or a command with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Register {
    pub(crate) at: u32,
    /// Of a command, the bits that count.
    pub(crate) mask: u32,
    pub(crate) name: String,
    pub(crate) bytes: u8,
    /// The low byte is the first.
    pub(crate) is_little: bool,
    /// The pointer stays.
    pub(crate) stays: bool,
    pub(crate) fields: Vec<Field>,
}

/// Bytes without a meaning of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) name: String,
    pub(crate) range: RangeInclusive<u32>,
}

/// What a number stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'p> {
    Register(&'p Register),
    Memory(&'p Memory),
    Unknown,
}

impl Part {
    /// Its id: the name of its file.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its name, for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its file has its values from.
    #[must_use]
    pub fn data_sheet(&self) -> &str {
        &self.data_sheet
    }

    /// The addresses that it can be set to.
    #[must_use]
    pub fn addresses(&self) -> &[u8] {
        &self.addresses
    }

    /// What is at a number.
    pub(crate) fn target(&self, at: u32) -> Target<'_> {
        let is_of_registers = match &self.style {
            Style::Pointer(pointer) => pointer.is_of_registers,
            Style::Port | Style::Control => true,
        };
        let behind = self.registers.partition_point(|register| register.at <= at);
        if let Some(register) = behind.checked_sub(1).map(|index| &self.registers[index]) {
            let wide = match is_of_registers {
                true => 1,
                false => u32::from(register.bytes),
            };
            if at - register.at < wide {
                return Target::Register(register);
            }
        }
        let memory = self.memories.iter().find(|one| one.range.contains(&at));
        memory.map_or(Target::Unknown, Target::Memory)
    }

    /// The command that begins with a byte.
    pub(crate) fn command(&self, code: u8) -> Option<&Register> {
        let fits = |register: &&Register| u32::from(code) & register.mask == register.at;
        self.registers.iter().find(fits)
    }
}

impl Register {
    /// The number that its bytes are.
    pub(crate) fn number(&self, bytes: impl DoubleEndedIterator<Item = u8>) -> u64 {
        let push = |number: u64, byte: u8| number << 8 | u64::from(byte);
        match self.is_little {
            true => bytes.rev().fold(0, push),
            false => bytes.fold(0, push),
        }
    }
}

impl Pointer {
    /// Where it is after one more.
    pub(crate) fn next(&self, at: u32, is_write: bool) -> u32 {
        let next = match self.page.filter(|_| is_write) {
            Some(page) => (at & !(page - 1)) | (at.wrapping_add(1) & (page - 1)),
            None => at.wrapping_add(1),
        };
        match self.range.contains(&next) {
            true => next,
            false => *self.range.start(),
        }
    }
}

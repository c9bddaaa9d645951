//! A device on the bus: where its pointer is, and what was said of a register so far.

use super::part::{Part, Pointer, Register, Step, Style, Target};
use super::said::{Byte, Device, Said, span};
use super::{OTHER, READ, SELECT, WRITE};
use crate::annotation::Annotation;
use std::sync::Arc;

/// Bytes without a meaning that are shown together.
const GROUP_BYTES_MAX: usize = 64;

/// Of a control byte: another one follows behind the next byte.
const CONTROL_ONE: u8 = 0x80;

/// Of a control byte: what follows is data.
const CONTROL_DATA: u8 = 0x40;

/// A device, and what it was in the middle of.
pub(super) struct State {
    device: Device,
    /// Number of the register that comes next, once it is known.
    pointer: Option<u32>,
    /// Bytes of the number that are still to come in this write, and those that came.
    missing: u8,
    head: Vec<Byte>,
    /// What belongs together so far, and the number of its first byte.
    group: Vec<Byte>,
    group_at: Option<u32>,
    /// Of a part with a control byte: the last one, and whether it was for one byte.
    control: Option<u8>,
    /// The bytes of a command so far.
    command: Vec<Byte>,
}

impl State {
    pub(super) fn new(address: u8, part: Option<Arc<Part>>) -> Self {
        let start = part.as_deref().and_then(|part| match &part.style {
            Style::Pointer(pointer) => pointer.start,
            Style::Port | Style::Control => None,
        });
        Self {
            device: Device { address, part },
            pointer: start,
            missing: 0,
            head: Vec::new(),
            group: Vec::new(),
            group_at: None,
            control: None,
            command: Vec::new(),
        }
    }

    pub(super) fn said(&self) -> Said {
        self.device.said()
    }

    /// A transfer begins.
    pub(super) fn begin(&mut self, is_read: bool) {
        self.control = None;
        self.head.clear();
        self.missing = match (self.style(), is_read) {
            (Some(Style::Pointer(pointer)), false) => pointer.bytes,
            _ => 0,
        };
    }

    /// A byte of the transfer.
    pub(super) fn byte(&mut self, byte: Byte, is_read: bool, out: &mut Vec<Annotation>) {
        let Some(part) = self.device.part.clone() else {
            return self.plain(byte, is_read, out);
        };
        match &part.style {
            Style::Pointer(_) if !is_read && self.missing > 0 => self.number(byte),
            Style::Pointer(pointer) => self.datum(&part, pointer, (byte, is_read), out),
            Style::Port => match part.registers.first() {
                Some(register) => self.whole(register, is_read, &[byte], out),
                None => self.plain(byte, is_read, out),
            },
            Style::Control if is_read => self.plain(byte, is_read, out),
            Style::Control => self.controlled(&part, byte, out),
        }
    }

    /// The transfer ends.
    pub(super) fn end(&mut self, is_read: bool, out: &mut Vec<Annotation>) {
        self.flush(is_read, out);
        if self.head.is_empty() {
            return;
        }
        let head = std::mem::take(&mut self.head);
        let part = self.device.part.clone();
        let (Some(part), 0) = (part, self.missing) else {
            // Half of a number is none.
            self.pointer = None;
            let said = self.said().words("write").bytes(&head);
            return out.push(said.annotation(OTHER, span(&head)));
        };
        let (Style::Pointer(pointer), Some(at)) = (&part.style, self.pointer) else {
            return;
        };
        let words = match pointer.is_command {
            true => "command ",
            false => "select ",
        };
        let said = self.said().words(words);
        let said = match part.target(at) {
            Target::Register(register) if register.at == at => said.register(&register.name, at),
            _ => said.number(at, digits(pointer)),
        };
        out.push(said.annotation(SELECT, span(&head)));
    }

    fn style(&self) -> Option<&Style> {
        self.device.part.as_deref().map(|part| &part.style)
    }

    /// A byte of a register's number.
    fn number(&mut self, byte: Byte) {
        let before = match self.head.len() {
            0 => 0,
            _ => self.pointer.unwrap_or(0),
        };
        self.head.push(byte);
        let number = before << 8 | u32::from(byte.value);
        self.missing -= 1;
        self.pointer = Some(number);
    }

    fn datum(
        &mut self,
        part: &Part,
        pointer: &Pointer,
        (byte, is_read): (Byte, bool),
        out: &mut Vec<Annotation>,
    ) {
        let Some(at) = self.pointer else {
            return self.plain(byte, is_read, out);
        };
        let first = *self.group_at.get_or_insert(at);
        self.group.push(byte);
        let step = match is_read {
            true => pointer.reads,
            false => pointer.writes,
        };
        let target = part.target(first);
        let is_full = match target {
            Target::Register(register) if pointer.is_of_registers => {
                self.group.len() >= usize::from(register.bytes)
            }
            Target::Register(register) => at + 1 >= register.at + u32::from(register.bytes),
            Target::Memory(memory) => {
                at >= *memory.range.end() || self.group.len() >= GROUP_BYTES_MAX
            }
            Target::Unknown => !pointer.is_of_registers || self.group.len() >= GROUP_BYTES_MAX,
        };
        let stays = matches!(target, Target::Register(register) if register.stays);
        let next = match step == Step::Next && !stays {
            true => pointer.next(at, !is_read),
            false => at,
        };
        // A pointer that goes back to the beginning of a page ends what was shown together.
        let goes_on = next == at + 1 || pointer.is_of_registers;
        if is_full || !goes_on || step == Step::Pairs {
            self.flush(is_read, out);
        }
        if is_full || !pointer.is_of_registers {
            self.pointer = Some(next);
        }
        if step == Step::Pairs {
            self.missing = pointer.bytes;
        }
    }

    /// A byte that nothing is known of.
    fn plain(&mut self, byte: Byte, is_read: bool, out: &mut Vec<Annotation>) {
        self.group.push(byte);
        if self.group.len() >= GROUP_BYTES_MAX {
            self.flush(is_read, out);
        }
    }

    /// A byte behind a control byte, or one.
    fn controlled(&mut self, part: &Part, byte: Byte, out: &mut Vec<Annotation>) {
        let Some(control) = self.control else {
            self.flush(false, out);
            self.control = Some(byte.value);
            return;
        };
        if control & CONTROL_ONE != 0 {
            self.control = None;
        }
        if control & CONTROL_DATA != 0 {
            return self.plain(byte, false, out);
        }
        self.command.push(byte);
        let command = part.command(self.command[0].value);
        let bytes = command.map_or(1, |command| usize::from(command.bytes));
        if self.command.len() < bytes {
            return;
        }
        let bytes = std::mem::take(&mut self.command);
        let said = self.said().words("command ");
        let said = match command {
            Some(command) => {
                let value = command.number(bytes.iter().map(|byte| byte.value));
                said.register(&command.name, command.at)
                    .value(command, value)
            }
            None => said.number(bytes[0].value.into(), 2),
        };
        out.push(said.annotation(WRITE, span(&bytes)));
    }

    /// Says what belongs together.
    pub(super) fn flush(&mut self, is_read: bool, out: &mut Vec<Annotation>) {
        let at = self.group_at.take();
        if self.group.is_empty() {
            return;
        }
        let group = std::mem::take(&mut self.group);
        let part = self.device.part.clone();
        let (class, words) = match is_read {
            true => (READ, "read"),
            false => (WRITE, "write"),
        };
        let (Some(part), Some(at)) = (&part, at) else {
            let class = match self.device.part {
                None => OTHER,
                Some(_) => class,
            };
            let said = self.said().words(words).bytes(&group);
            return out.push(said.annotation(class, span(&group)));
        };
        let Style::Pointer(pointer) = &part.style else {
            return;
        };
        match part.target(at) {
            Target::Register(register) if at == register.at => {
                self.whole(register, is_read, &group, out);
            }
            Target::Register(register) => {
                let said = self.said().words(words).words(" ");
                let said = said.register(&register.name, at);
                let said = said
                    .words(&format!("+{} =", at - register.at))
                    .bytes(&group);
                out.push(said.annotation(class, self.since_head(&group)));
            }
            Target::Memory(memory) => {
                let said = self.said().words(words).words(" ");
                let said = said.words(&memory.name).words(" ");
                let said = said.number(at, digits(pointer)).words(" =").bytes(&group);
                out.push(said.annotation(class, self.since_head(&group)));
            }
            Target::Unknown => {
                let said = self.said().words(words).words(" ");
                let said = said.number(at, digits(pointer)).words(" =").bytes(&group);
                out.push(said.annotation(class, self.since_head(&group)));
            }
        }
        self.head.clear();
    }

    /// A register from its first byte on.
    fn whole(
        &mut self,
        register: &Register,
        is_read: bool,
        bytes: &[Byte],
        out: &mut Vec<Annotation>,
    ) {
        let (class, words) = match is_read {
            true => (READ, "read "),
            false => (WRITE, "write "),
        };
        let said = self.said().words(words);
        let said = said.register(&register.name, register.at);
        let said = if bytes.len() < usize::from(register.bytes) {
            let said = said.words(" =").bytes(bytes);
            said.words(&format!(" ({} of {} bytes)", bytes.len(), register.bytes))
        } else {
            let value = register.number(bytes.iter().map(|byte| byte.value));
            said.value(register, value)
        };
        out.push(said.annotation(class, self.since_head(bytes)));
        self.head.clear();
    }

    /// From the number that was written before some bytes to their end.
    fn since_head(&self, bytes: &[Byte]) -> (u64, u64) {
        let (start, end) = span(bytes);
        (self.head.first().map_or(start, |head| head.start), end)
    }
}

/// Hexadecimal digits of a number.
fn digits(pointer: &Pointer) -> usize {
    usize::from(pointer.bytes) * 2
}

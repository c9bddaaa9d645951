//! Executes the floating-point instructions: access rights, the context that exceptions save only when it is
//! used (lazy stacking), and the registers.

use super::float::number::{absolute, negated};
use super::float::status::DEFAULTS_MASK;
use super::float::{self, Arithmetic, Float, Status, Unary};
use super::{Core, Executed, PC, Trap};
use crate::bus::Bus;
use crate::word::bit;

/// Single-precision registers.
const REGISTERS: usize = 32;
/// Those that an exception frame has.
const FRAME_REGISTERS: usize = 16;

/// FPCCR: the context is saved automatically, lazily, and has still to be saved.
const AUTOMATIC: u32 = 31;
const LAZY: u32 = 30;
const LAZY_ACTIVE: u32 = 0;
const CONTEXT_MASK: u32 = 0xc000_017b;
const USER: u32 = 1 << 1;
const THREAD: u32 = 1 << 3;

/// Cycles beyond the first.
const DIVIDE_CYCLES: u64 = 13;
const MULTIPLY_ADD_CYCLES: u64 = 2;

/// The floating-point unit's registers.
#[derive(Debug)]
pub(super) struct Fpu {
    pub(super) s: [u32; REGISTERS],
    pub(super) status: Status,
    /// CONTROL.FPCA: the running code has a floating-point context.
    pub(super) is_active: bool,
    /// CPACR.
    pub(super) access: u32,
    pub(super) context_control: u32,
    pub(super) context_address: u32,
    pub(super) defaults: u32,
}

impl Default for Fpu {
    fn default() -> Self {
        Self {
            s: [0; REGISTERS],
            status: Status::default(),
            is_active: false,
            access: 0,
            context_control: 1 << AUTOMATIC | 1 << LAZY,
            context_address: 0,
            defaults: 0,
        }
    }
}

impl Fpu {
    pub(super) fn set_status(&mut self, value: u32) {
        self.status = Status::new(value);
    }

    pub(super) fn set_context_control(&mut self, value: u32) {
        self.context_control = value & CONTEXT_MASK;
    }

    pub(super) fn set_defaults(&mut self, value: u32) {
        self.defaults = value & DEFAULTS_MASK;
    }

    fn get(&self, register: u8) -> u32 {
        self.s[(register & 31) as usize]
    }

    fn put(&mut self, register: u8, value: u32) {
        self.s[(register & 31) as usize] = value;
    }

    fn compute(&mut self, kind: Arithmetic, [d, n, m]: [u8; 3]) {
        let (sum, n, m) = (self.get(d), self.get(n), self.get(m));
        let signed = |value: u32, negates: bool| if negates { negated(value) } else { value };
        let status = &mut self.status;
        let value = match kind {
            Arithmetic::MultiplyThenAdd {
                negates_sum,
                negates_product,
            } => {
                let product = signed(float::multiply(n, m, status), negates_product);
                float::add(signed(sum, negates_sum), product, status)
            }
            Arithmetic::Fused {
                negates_sum,
                negates_product,
            } => {
                let n = signed(n, negates_product);
                float::multiply_add(signed(sum, negates_sum), n, m, status)
            }
            Arithmetic::Multiply { negates } => signed(float::multiply(n, m, status), negates),
            Arithmetic::Add => float::add(n, m, status),
            Arithmetic::Subtract => float::subtract(n, m, status),
            Arithmetic::Divide => float::divide(n, m, status),
        };
        self.put(d, value);
    }

    fn convert(&mut self, kind: Unary, [d, m]: [u8; 2]) {
        let source = self.get(m);
        let place = |top: bool| if top { 16 } else { 0 };
        let status = &mut self.status;
        let value = match kind {
            Unary::Move => source,
            Unary::Absolute => absolute(source),
            Unary::Negate => negated(source),
            Unary::SquareRoot => float::square_root(source, status),
            Unary::FromHalf { top } => float::half_to_single(source >> place(top) & 0xffff, status),
            Unary::ToHalf { top } => {
                let half = float::single_to_half(source, status);
                self.get(d) & !(0xffff << place(top)) | half << place(top)
            }
            Unary::FromInteger { signed } => {
                float::from_fixed(source, float::integer(signed), status)
            }
            Unary::ToInteger {
                signed,
                toward_zero,
            } => float::to_fixed(source, float::integer(signed), toward_zero, status),
        };
        self.put(d, value);
    }
}

impl<B: Bus> Core<B> {
    /// Checks that the unit may be used, and saves an older context first, if there is one.
    fn enter_float(&mut self) -> Executed {
        let is_allowed = match self.fpu.access >> 20 & 3 {
            1 => self.is_privileged(),
            3 => true,
            _ => false,
        };
        if !is_allowed {
            return Err(Trap::NoCoprocessor);
        }
        if bit(self.fpu.context_control, LAZY_ACTIVE) {
            self.save_lazily()?;
        }
        if bit(self.fpu.context_control, AUTOMATIC) && !self.fpu.is_active {
            self.fpu.is_active = true;
            self.fpu.set_status(self.fpu.defaults);
        }
        Ok(())
    }

    #[cold]
    fn save_lazily(&mut self) -> Executed {
        let saved = self.write_floats(self.fpu.context_address);
        self.fpu.context_control &= !(1 << LAZY_ACTIVE);
        saved.map_err(|trap| match trap {
            Trap::Bus { .. } => Trap::LazyBus,
            _ => Trap::LazyForbidden,
        })
    }

    /// Writes the part of the unit's state that belongs to an exception frame.
    fn write_floats(&mut self, mut address: u32) -> Executed {
        for place in 0..FRAME_REGISTERS {
            self.store_word(address, self.fpu.s[place])?;
            address = address.wrapping_add(4);
        }
        self.store_word(address, self.fpu.status.bits())
    }

    /// Exception entry: saves the unit's state behind the frame, or remembers to.
    pub(super) fn stack_floats(&mut self, address: u32) -> Executed {
        if !bit(self.fpu.context_control, LAZY) {
            return self.write_floats(address);
        }
        self.fpu.context_address = address;
        let user = if self.is_privileged() { 0 } else { USER };
        let thread = if self.ipsr == 0 { THREAD } else { 0 };
        let kept = self.fpu.context_control & !(USER | THREAD);
        self.fpu.context_control = kept | user | thread | 1 << LAZY_ACTIVE;
        Ok(())
    }

    /// Exception return: restores the unit's state, unless it was never touched.
    pub(super) fn unstack_floats(&mut self, mut address: u32) -> Executed {
        if bit(self.fpu.context_control, LAZY_ACTIVE) {
            self.fpu.context_control &= !(1 << LAZY_ACTIVE);
            return Ok(());
        }
        let mut loaded = [0; FRAME_REGISTERS];
        for word in &mut loaded {
            *word = self.load_word(address)?;
            address = address.wrapping_add(4);
        }
        let status = self.load_word(address)?;
        self.fpu.s[..FRAME_REGISTERS].copy_from_slice(&loaded);
        self.fpu.set_status(status);
        Ok(())
    }

    pub(super) fn float(&mut self, operation: Float) -> Executed {
        self.enter_float()?;
        match operation {
            Float::Arithmetic { kind, d, n, m } => {
                self.cycles += match kind {
                    Arithmetic::Divide => DIVIDE_CYCLES,
                    Arithmetic::Fused { .. } | Arithmetic::MultiplyThenAdd { .. } => {
                        MULTIPLY_ADD_CYCLES
                    }
                    _ => 0,
                };
                self.fpu.compute(kind, [d, n, m]);
            }
            Float::Unary { kind, d, m } => {
                if kind == Unary::SquareRoot {
                    self.cycles += DIVIDE_CYCLES;
                }
                self.fpu.convert(kind, [d, m]);
            }
            Float::Constant { d, value } => self.fpu.put(d, value),
            Float::Compare { d, m, signals } => {
                let left = self.fpu.get(d);
                let right = m.map_or(0, |m| self.fpu.get(m));
                let flags = float::compare(left, right, signals, &mut self.fpu.status);
                self.fpu.status.set_conditions(flags);
            }
            Float::Fixed {
                d,
                to_fixed,
                signed,
                is_half,
                fraction_bits,
            } => {
                let format = float::Format {
                    signed,
                    bits: if is_half { 16 } else { 32 },
                    fraction_bits: u32::from(fraction_bits),
                };
                let source = self.fpu.get(d);
                let value = if to_fixed {
                    float::to_fixed(source, format, true, &mut self.fpu.status)
                } else {
                    float::from_fixed_to_nearest(source, format, &mut self.fpu.status)
                };
                self.fpu.put(d, value);
            }
            Float::MoveWord { .. }
            | Float::MovePair { .. }
            | Float::ReadStatus { .. }
            | Float::WriteStatus { .. } => self.move_floats(operation),
            Float::Transfer { .. } | Float::TransferMany { .. } => {
                return self.load_or_store_floats(operation);
            }
        }
        Ok(())
    }

    /// Moves between the unit and the core.
    fn move_floats(&mut self, operation: Float) {
        match operation {
            Float::MoveWord {
                to_core: true,
                t,
                n,
            } => self.put(t, self.fpu.get(n)),
            Float::MoveWord {
                to_core: false,
                t,
                n,
            } => self.fpu.put(n, self.get(t)),
            Float::MovePair {
                to_core: true,
                t,
                t2,
                m,
            } => {
                self.put(t, self.fpu.get(m));
                self.put(t2, self.fpu.get(m + 1));
            }
            Float::MovePair {
                to_core: false,
                t,
                t2,
                m,
            } => {
                self.fpu.put(m, self.get(t));
                self.fpu.put(m + 1, self.get(t2));
            }
            // The flags, for a conditional instruction.
            Float::ReadStatus { t } if usize::from(t) == PC => {
                self.set_conditions(self.fpu.status.bits());
            }
            Float::ReadStatus { t } => self.put(t, self.fpu.status.bits()),
            Float::WriteStatus { t } => self.fpu.set_status(self.get(t)),
            _ => {}
        }
    }

    fn load_or_store_floats(&mut self, operation: Float) -> Executed {
        match operation {
            Float::Transfer {
                is_load,
                n,
                d,
                words,
                offset,
            } => {
                let base = if usize::from(n) == PC {
                    self.r[PC] & !3
                } else {
                    self.get(n)
                };
                return self.transfer_floats(is_load, base.wrapping_add(offset), d, words);
            }
            Float::TransferMany {
                is_load,
                n,
                d,
                words,
                writes_back,
                descends,
            } => {
                let (base, bytes) = (self.get(n), 4 * u32::from(words));
                let (first, moved) = if descends {
                    (base.wrapping_sub(bytes), base.wrapping_sub(bytes))
                } else {
                    (base, base.wrapping_add(bytes))
                };
                self.transfer_floats(is_load, first, d, words)?;
                if writes_back {
                    self.put(n, moved);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn transfer_floats(&mut self, is_load: bool, address: u32, d: u8, words: u8) -> Executed {
        let mut address = address;
        for register in d..d.saturating_add(words) {
            self.cycles += 1;
            if is_load {
                let value = self.load_word(address)?;
                self.fpu.put(register, value);
            } else {
                self.store_word(address, self.fpu.get(register))?;
            }
            address = address.wrapping_add(4);
        }
        Ok(())
    }
}

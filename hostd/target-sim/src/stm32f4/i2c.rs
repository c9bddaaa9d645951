//! An I2C controller (the first version of this peripheral), as the only one on its bus: start, address,
//! bytes in both directions, stop, bit by bit on the two lines. Targets may stretch the clock.
//!
//! It is no target itself, and has neither DMA nor SMBus.

use crate::bus::NEVER;
use crate::word::{bit, low_byte};

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const DR: u32 = 0x10;
const SR1: u32 = 0x14;
const SR2: u32 = 0x18;
const CCR: u32 = 0x1c;
const TRISE: u32 = 0x20;

const ENABLE: u32 = 0;
const START: u32 = 1 << 8;
const STOP: u32 = 1 << 9;
const ACKNOWLEDGE: u32 = 10;
const RESET: u32 = 15;
const ERROR_INTERRUPT: u32 = 8;
const EVENT_INTERRUPT: u32 = 9;
const BUFFER_INTERRUPT: u32 = 10;
const FAST: u32 = 15;
const DUTY: u32 = 14;

/// SR1: started, addressed, byte finished, data received, data taken, not acknowledged.
const SB: u32 = 1;
const ADDR: u32 = 1 << 1;
const BTF: u32 = 1 << 2;
const RXNE: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
const AF: u32 = 1 << 10;
/// Flags that software clears by writing zeros.
const ERRORS: u32 = 0xdf00;

/// Bits of a byte and its acknowledgement.
const BITS: u32 = 9;

/// What the controller is doing; each state lasts half a clock period, except those that wait for software.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Not the owner of the bus.
    #[default]
    Idle,
    /// Waits until both lines are high.
    StartWhenFree,
    /// The data line has fallen.
    Started,
    /// The clock is low, and software must do something.
    Waiting,
    /// The clock is low; it will rise.
    Low,
    /// The clock was released; it will fall.
    High,
    RestartLow,
    RestartHigh,
    StopLow,
    StopHigh,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Moves {
    #[default]
    Address,
    Out,
    In,
}

#[derive(Debug, Default)]
pub(super) struct I2c {
    control: u32,
    control2: u32,
    clock_control: u32,
    rise: u32,
    status: u32,
    data: u8,
    state: State,
    moves: Moves,
    shift: u8,
    /// Bits of the byte that have been moved.
    count: u32,
    /// The lines are pulled low by the controller.
    pulls_clock: bool,
    pulls_data: bool,
    lines: (bool, bool),
    next_at: Option<u64>,
    /// SR1 was read; reading SR2 clears ADDR.
    has_seen_address: bool,
    /// A received byte waits for the data register.
    is_full: bool,
    acknowledged: bool,
    bus_divider: u32,
}

impl I2c {
    pub(super) fn set_bus_divider(&mut self, divider: u32) {
        self.bus_divider = divider;
    }

    /// Levels that the controller lets the lines have.
    pub(super) fn drives(&self) -> (bool, bool) {
        (!self.pulls_clock, !self.pulls_data)
    }

    /// What the lines are.
    pub(super) fn set_lines(&mut self, clock: bool, data: bool) {
        self.lines = (clock, data);
    }

    /// Half a period of the clock, in core cycles.
    fn half(&self) -> u64 {
        let units = match (bit(self.clock_control, FAST), bit(self.clock_control, DUTY)) {
            (false, _) => 2,
            (true, false) => 3,
            (true, true) => 25,
        };
        let period = u64::from((self.clock_control & 0xfff).max(1)) * units;
        (period / 2 * u64::from(self.bus_divider.max(1))).max(4)
    }

    pub(super) fn next_event(&self) -> u64 {
        self.next_at.unwrap_or(NEVER)
    }

    fn enter(&mut self, now: u64, state: State) {
        self.state = state;
        let waits = matches!(state, State::Idle | State::Waiting);
        self.next_at = (!waits).then(|| now + self.half());
    }

    /// The next event up to `now`, if any: the lines may have changed. Call until there is none.
    pub(super) fn advance(&mut self, now: u64) -> Option<u64> {
        let at = self.next_at.filter(|at| *at <= now)?;
        self.step(at);
        Some(at)
    }

    fn step(&mut self, at: u64) {
        match self.state {
            State::Idle | State::Waiting => self.next_at = None,
            State::StartWhenFree => self.start_if_free(at),
            State::Started => {
                self.pulls_clock = true;
                self.control &= !START;
                self.status |= SB;
                self.enter(at, State::Waiting);
            }
            State::Low => {
                self.pulls_clock = false;
                self.enter(at, State::High);
            }
            State::High if !self.lines.0 => self.enter(at, State::High),
            State::High => self.take_bit(at),
            State::RestartLow => {
                self.pulls_clock = false;
                self.enter(at, State::RestartHigh);
            }
            State::RestartHigh if !self.lines.0 => self.enter(at, State::RestartHigh),
            State::RestartHigh => {
                self.pulls_data = true;
                self.enter(at, State::Started);
            }
            State::StopLow => {
                self.pulls_clock = false;
                self.enter(at, State::StopHigh);
            }
            State::StopHigh if !self.lines.0 => self.enter(at, State::StopHigh),
            State::StopHigh => {
                self.pulls_data = false;
                self.control &= !STOP;
                self.status &= RXNE | ERRORS;
                self.enter(at, State::Idle);
                self.follow_requests(at);
            }
        }
    }

    fn start_if_free(&mut self, now: u64) {
        if self.lines == (true, true) {
            self.pulls_data = true;
            self.enter(now, State::Started);
        } else {
            self.enter(now, State::StartWhenFree);
        }
    }

    /// Moves a byte. The clock is low.
    fn move_byte(&mut self, now: u64, moves: Moves) {
        self.moves = moves;
        self.count = 0;
        self.status &= !BTF;
        self.put_bit();
        self.enter(now, State::Low);
    }

    /// Puts the next bit, or an acknowledgement, on the data line.
    fn put_bit(&mut self) {
        let is_acknowledgement = self.count == BITS - 1;
        self.pulls_data = match self.moves {
            Moves::In => is_acknowledgement && bit(self.control, ACKNOWLEDGE),
            Moves::Address | Moves::Out => !is_acknowledgement && self.shift & 0x80 == 0,
        };
    }

    /// The clock is high: the bit counts. Then the clock falls.
    fn take_bit(&mut self, now: u64) {
        let level = self.lines.1;
        self.pulls_clock = true;
        self.count += 1;
        if self.count < BITS {
            self.shift = self.shift << 1 | u8::from(level);
            self.put_bit();
            self.enter(now, State::Low);
            return;
        }
        self.acknowledged = !level;
        self.pulls_data = false;
        self.enter(now, State::Waiting);
        self.finish_byte();
        self.follow_requests(now);
    }

    fn finish_byte(&mut self) {
        match self.moves {
            Moves::Address | Moves::Out if !self.acknowledged => self.status |= AF,
            Moves::Address => {
                self.status |= ADDR;
                // The lowest bit of an address says that the target sends.
                self.moves = if self.shift & 1 == 1 {
                    Moves::In
                } else {
                    Moves::Out
                };
            }
            Moves::Out if self.status & TXE != 0 => self.status |= BTF,
            Moves::Out => {}
            Moves::In if self.status & RXNE != 0 => {
                self.is_full = true;
                self.status |= BTF;
            }
            Moves::In => {
                self.data = self.shift;
                self.status |= RXNE;
            }
        }
    }

    /// While the clock is held low, or nobody owns the bus: does what software has asked for.
    fn follow_requests(&mut self, now: u64) {
        let is_owner = match self.state {
            State::Idle => false,
            State::Waiting => true,
            _ => return,
        };
        if !bit(self.control, ENABLE) || self.status & ADDR != 0 {
            return;
        }
        if is_owner && self.control & STOP != 0 {
            self.pulls_data = true;
            self.enter(now, State::StopLow);
        } else if self.control & START != 0 && self.status & SB == 0 {
            if is_owner {
                self.pulls_data = false;
                self.status &= !(TXE | BTF);
                self.enter(now, State::RestartLow);
            } else {
                self.start_if_free(now);
            }
        } else if is_owner && self.status & (SB | AF) == 0 {
            match self.moves {
                Moves::Out if self.status & TXE == 0 => {
                    self.shift = self.data;
                    self.status |= TXE;
                    self.move_byte(now, Moves::Out);
                }
                Moves::In if !self.is_full && (self.acknowledged || self.count == 0) => {
                    self.move_byte(now, Moves::In);
                }
                _ => {}
            }
        }
    }

    pub(super) fn read(&mut self, now: u64, offset: u32) -> u32 {
        match offset {
            CR1 => self.control,
            CR2 => self.control2,
            CCR => self.clock_control,
            TRISE => self.rise,
            DR => {
                let data = self.data;
                self.status &= !(RXNE | BTF);
                if std::mem::take(&mut self.is_full) {
                    self.data = self.shift;
                    self.status |= RXNE;
                }
                self.follow_requests(now);
                u32::from(data)
            }
            SR1 => {
                self.has_seen_address = self.status & ADDR != 0;
                self.status
            }
            SR2 => {
                let is_owner = !matches!(self.state, State::Idle | State::StartWhenFree);
                let is_busy = is_owner || self.lines != (true, true);
                let sends = is_owner && self.moves == Moves::Out;
                if std::mem::take(&mut self.has_seen_address) {
                    self.accept_address(now);
                }
                u32::from(is_owner) | u32::from(is_busy) << 1 | u32::from(sends) << 2
            }
            _ => 0,
        }
    }

    /// Software has seen that the target answered: the transfer goes on.
    fn accept_address(&mut self, now: u64) {
        self.status &= !ADDR;
        self.count = 0;
        if self.moves == Moves::Out {
            self.status |= TXE;
        }
        self.follow_requests(now);
    }

    pub(super) fn write(&mut self, now: u64, offset: u32, value: u32) {
        match offset {
            CR1 if bit(value, RESET) || !bit(value, ENABLE) => {
                *self = Self {
                    control: value & !(START | STOP),
                    control2: self.control2,
                    clock_control: self.clock_control,
                    rise: self.rise,
                    lines: self.lines,
                    bus_divider: self.bus_divider,
                    ..Self::default()
                };
            }
            CR1 => {
                self.control = value & 0xfffb;
                if self.state == State::Idle {
                    self.control &= !STOP;
                }
                self.follow_requests(now);
            }
            CR2 => self.control2 = value & 0x1f3f,
            CCR => self.clock_control = value & 0xcfff,
            TRISE => self.rise = value & 0x3f,
            SR1 => self.status &= value | !ERRORS,
            DR => {
                self.data = low_byte(value & 0xff);
                if self.status & SB != 0 {
                    self.status &= !SB;
                    self.shift = self.data;
                    self.move_byte(now, Moves::Address);
                } else {
                    self.status &= !(TXE | BTF);
                    self.follow_requests(now);
                }
            }
            _ => {}
        }
    }

    pub(super) fn event_interrupt(&self) -> bool {
        let buffer = if bit(self.control2, BUFFER_INTERRUPT) {
            RXNE | TXE
        } else {
            0
        };
        bit(self.control2, EVENT_INTERRUPT) && self.status & (SB | ADDR | BTF | buffer) != 0
    }

    pub(super) fn error_interrupt(&self) -> bool {
        bit(self.control2, ERROR_INTERRUPT) && self.status & ERRORS != 0
    }
}

//! A microcontroller on a board: power, reset, time, pins, and the debugger's access.

mod debugger;
pub mod fuzz;
mod inputs;
mod load;

use crate::adi::DebugPort;
use crate::bus::NEVER;
use crate::chip::{Chip, Part, PinChange, ResetCause, SentWord, Silicon};
use crate::cpu::Stop;
use crate::debug::Debug;
use crate::machine::{self, Machine};
use crate::swd::Wire;
pub use inputs::{INPUTS_MAX, InputChange, Inputs};
pub use load::Load;

/// The circuit around the chip. It is called in chronological order, while the core waits.
pub trait Board {
    /// The chip drives a pin differently. The consequences go into `inputs`, at the same time or later.
    fn pin_changed(&mut self, change: PinChange, inputs: &mut Inputs);

    /// A serial port started to send a word. Its bits are reported as pin changes, too.
    fn word_sent(&mut self, _word: SentWord) {}
}

/// A board with nothing on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct BareBoard;

impl Board for BareBoard {
    fn pin_changed(&mut self, _change: PinChange, _inputs: &mut Inputs) {}
}

/// When a target will next do something by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It executes code.
    Busy,
    /// Nothing before this instant, in nanoseconds since the target was made.
    At(u64),
    /// Nothing, unless the outside does something.
    Idle,
}

/// A simulated microcontroller.
#[derive(Debug)]
pub struct Target {
    core: Box<dyn Machine>,
    debug: Debug,
    port: DebugPort,
    wire: Wire,
    inputs: Inputs,
    is_powered: bool,
    /// The reset pin is held low.
    is_held: bool,
    /// Time and charge since the last [`Target::take_load`].
    load: Load,
}

impl Target {
    /// A new part, not powered yet.
    #[must_use]
    pub fn new(part: Part) -> Self {
        let core = machine::new(part);
        Self {
            debug: Debug::new(core.debug_unit()),
            port: DebugPort::new(core.access_port()),
            core,
            wire: Wire::default(),
            inputs: Inputs::default(),
            is_powered: false,
            is_held: false,
            load: Load::default(),
        }
    }

    /// The chip around the core: part, flash contents, protection.
    pub fn chip(&mut self) -> &mut dyn Chip {
        self.silicon()
    }

    fn silicon(&mut self) -> &mut dyn Silicon {
        self.core.chip_mut()
    }

    /// The current time, in nanoseconds since the target was made.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.core.chip().clock().ns(self.core.cycles())
    }

    /// Future changes of what the outside drives at the pins.
    pub fn inputs(&mut self) -> &mut Inputs {
        &mut self.inputs
    }

    /// Whether the supply is on.
    #[must_use]
    pub fn is_powered(&self) -> bool {
        self.is_powered
    }

    /// Whether the core executes or sleeps, as opposed to being stopped without power, in reset or by a
    /// debugger.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.is_powered && !self.is_held && !self.debug.is_halted()
    }

    /// Switches the supply on or off, now. Switching it off clears SRAM and resets the debug port.
    pub fn set_power(&mut self, on: bool, board: &mut dyn Board) {
        if on == self.is_powered {
            return;
        }
        self.is_powered = on;
        let now_ns = self.now_ns();
        let cycles = self.core.cycles();
        self.silicon().clock_mut().restart(cycles, now_ns);
        if on {
            self.debug = Debug::new(self.core.debug_unit());
            self.port = DebugPort::new(self.core.access_port());
            self.wire = Wire::default();
            self.core.power_up();
            self.reset(ResetCause::Power);
        } else {
            self.silicon().release_pins(cycles);
            self.silicon().scramble_sram();
        }
        self.flush(board);
    }

    /// Pulls the reset pin low or releases it, now. The debug port keeps working.
    pub fn set_reset_pin(&mut self, low: bool, board: &mut dyn Board) {
        let is_pressed = low && !self.is_held;
        self.is_held = low;
        if self.is_powered && is_pressed {
            self.reset(ResetCause::Pin);
        } else if self.is_powered && !low {
            self.debug.leave_reset(self.core.as_mut());
        }
        self.flush(board);
    }

    /// Resets core and peripherals.
    pub(crate) fn reset(&mut self, cause: ResetCause) {
        let now = self.core.cycles();
        self.silicon().reset(now, cause);
        self.core.reset();
        self.debug.enter_reset();
        if !self.is_held {
            self.debug.leave_reset(self.core.as_mut());
        }
    }

    /// Lets time pass up to `until_ns`. Pin changes go to the board as they happen, and its reactions
    /// affect the instructions that follow. Does nothing if that time has passed.
    pub fn run_until(&mut self, until_ns: u64, board: &mut dyn Board) {
        loop {
            self.flush(board);
            let now_ns = self.now_ns();
            while let Some(input) = self.inputs.take(now_ns) {
                let now = self.core.cycles();
                self.silicon().advance(now);
                self.silicon().set_outside(now, input.pin, input.level);
            }
            if now_ns >= until_ns {
                return;
            }
            let slice_ns = until_ns.min(self.inputs.next_at());
            self.run_slice(slice_ns);
        }
    }

    /// Runs up to a time, or to the next event that must be handled.
    fn run_slice(&mut self, until_ns: u64) {
        let from_ns = self.now_ns();
        let due = self.core.chip().clock().cycle(until_ns);
        let until = due.max(self.core.cycles() + 1);
        let slept_before = self.core.slept();
        if self.is_running() {
            let stop = self.core.run(until);
            self.debug.note_progress();
            match stop {
                Stop::Deadline | Stop::Output | Stop::Lockup => {}
                Stop::Breakpoint | Stop::Watchpoint | Stop::VectorCatch => {
                    self.debug.halt_for(stop, self.core.as_mut())
                }
                Stop::ResetRequest => self.reset(ResetCause::Software),
            }
            if self.silicon().takes_option_launch() {
                self.reset(ResetCause::OptionLoader);
            }
        } else {
            self.core.idle(until);
        }
        let passed_ns = self.now_ns() - from_ns;
        let slept = self.core.slept() - slept_before;
        let slept_ns = self.core.chip().clock().duration_ns(slept);
        self.load
            .add(slept_ns.min(passed_ns), self.current_ma(false));
        self.load
            .add(passed_ns.saturating_sub(slept_ns), self.current_ma(true));
    }

    /// Passes everything that happened at the pins to the board.
    fn flush(&mut self, board: &mut dyn Board) {
        for word in self.silicon().take_sent() {
            board.word_sent(word);
        }
        while let Some(change) = self.silicon().take_change() {
            board.pin_changed(change, &mut self.inputs);
        }
    }

    fn current_ma(&self, is_awake: bool) -> f64 {
        if !self.is_powered {
            return 0.0;
        }
        let currents = self.core.chip().part().currents();
        if self.is_held {
            return currents.reset;
        }
        let mhz = f64::from(self.core.chip().clock().hz()) / 1e6;
        let [constant, per_mhz] = if is_awake {
            currents.run
        } else {
            currents.sleep
        };
        constant + per_mhz * mhz
    }

    /// Time and charge since the last call.
    pub fn take_load(&mut self) -> Load {
        std::mem::take(&mut self.load)
    }

    /// When the target will next do something by itself, so that its owner can sleep until then.
    #[must_use]
    pub fn next_activity(&self) -> Activity {
        let chip = self.core.chip();
        let cycle = if !self.is_powered || self.is_held {
            NEVER
        } else if self.debug.is_halted() {
            chip.next_event()
        } else {
            self.core.next_activity().min(chip.next_event())
        };
        let at_ns = if cycle == NEVER {
            NEVER
        } else {
            chip.clock().ns(cycle)
        };
        match at_ns.min(self.inputs.next_at()) {
            NEVER => Activity::Idle,
            at_ns if at_ns <= self.now_ns() => Activity::Busy,
            at_ns => Activity::At(at_ns),
        }
    }
}

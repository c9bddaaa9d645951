//! What GDB's packets come to: operations of a [`Debugger`].

use std::ops::Range;

use gdbstub::common::Signal;
use gdbstub::outputln;
use gdbstub::stub::SingleThreadStopReason;
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::single_register_access::{
    SingleRegisterAccess, SingleRegisterAccessOps,
};
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep,
    SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::BreakpointsOps;
use gdbstub::target::ext::flash as flash_ext;
use gdbstub::target::ext::memory_map::{MemoryMap, MemoryMapOps};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::{Target, TargetError, TargetResult};

use super::document::{memory_map, part};
use super::registers::{CortexM, Number, Registers, description};
use super::{DebugError, Debugger, REGISTERS, Register, Watchpoint};

mod stops;

use stops::kind_of;

/// Bytes that GDB may have programmed at once.
const PROGRAM_BYTES_MAX: usize = 32 << 20;

/// Breakpoints that a client may have set; cores have fewer comparators.
const BREAKPOINTS_MAX: usize = 256;

const ERASED: u8 = 0xff;

/// The target of one GDB.
pub(super) struct GdbTarget<'a, D> {
    pub(super) debugger: &'a mut D,
    description: String,
    memory_map: String,
    breakpoints: Vec<u32>,
    watchpoints: Vec<Watchpoint>,
    /// A step was made, and GDB has not been told.
    has_stepped: bool,
    /// A command of the monitor has let the core run, and GDB takes it for halted.
    was_let_go: bool,
    /// The core runs already, and the next wish that it does changes nothing.
    pub(super) goes_on: bool,
    erased: Vec<Range<u64>>,
    written: Vec<(u32, Vec<u8>)>,
    written_bytes: usize,
}

impl From<DebugError> for TargetError<DebugError> {
    fn from(error: DebugError) -> Self {
        match error {
            DebugError::Refused(why) => {
                tracing::debug!(why, "refused a request of GDB");
                Self::NonFatal
            }
            lost @ DebugError::Lost(_) => Self::Fatal(lost),
        }
    }
}

impl<'a, D: Debugger> GdbTarget<'a, D> {
    pub(super) fn new(debugger: &'a mut D) -> Self {
        Self {
            description: description(debugger.has_fpu()),
            memory_map: memory_map(debugger.flash()),
            debugger,
            breakpoints: Vec::new(),
            watchpoints: Vec::new(),
            has_stepped: false,
            was_let_go: false,
            goes_on: false,
            erased: Vec::new(),
            written: Vec::new(),
            written_bytes: 0,
        }
    }

    /// Why the core has stopped since it was told to go, if it has.
    pub(super) fn stopped(&mut self) -> Result<Option<SingleThreadStopReason<u32>>, DebugError> {
        let has_stepped = std::mem::take(&mut self.has_stepped);
        if !has_stepped && !self.debugger.is_halted()? {
            return Ok(None);
        }
        Ok(Some(match self.debugger.take_hit()? {
            Some(Watchpoint {
                address, access, ..
            }) => SingleThreadStopReason::Watch {
                tid: (),
                kind: kind_of(access),
                addr: address,
            },
            None => SingleThreadStopReason::Signal(Signal::SIGTRAP),
        }))
    }

    /// Halts the core because of Ctrl-C; why it stopped, which may be something else that came before.
    pub(super) fn interrupt(&mut self) -> Result<SingleThreadStopReason<u32>, DebugError> {
        if let Some(reason) = self.stopped()? {
            return Ok(reason);
        }
        self.debugger.halt()?;
        Ok(SingleThreadStopReason::Signal(Signal::SIGINT))
    }

    /// Leaves the core as if nobody had looked at it: it runs, and stops nowhere.
    pub(super) fn leave(&mut self) -> Result<(), DebugError> {
        for address in std::mem::take(&mut self.breakpoints) {
            self.debugger.clear_breakpoint(address)?;
        }
        for watchpoint in std::mem::take(&mut self.watchpoints) {
            self.debugger.clear_watchpoint(watchpoint)?;
        }
        if self.debugger.is_halted()? {
            self.debugger.run()?;
        }
        Ok(())
    }

    /// What is to be programmed: what was written, or blanks where GDB only erased.
    fn take_program(&mut self) -> Vec<(u32, Vec<u8>)> {
        let erased = std::mem::take(&mut self.erased);
        let written = std::mem::take(&mut self.written);
        self.written_bytes = 0;
        if !written.is_empty() {
            return written;
        }
        let blank = |range: Range<u64>| {
            let start = u32::try_from(range.start).ok()?;
            let bytes = usize::try_from(range.end - range.start).ok()?;
            Some((start, vec![ERASED; bytes.min(PROGRAM_BYTES_MAX)]))
        };
        erased.into_iter().filter_map(blank).collect()
    }
}

impl<D: Debugger> Target for GdbTarget<'_, D> {
    type Arch = CortexM;
    type Error = DebugError;

    fn base_ops(&mut self) -> BaseOps<'_, Self::Arch, Self::Error> {
        BaseOps::SingleThread(self)
    }

    fn guard_rail_implicit_sw_breakpoints(&self) -> bool {
        true
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_memory_map(&mut self) -> Option<MemoryMapOps<'_, Self>> {
        Some(self)
    }

    fn support_flash_operations(&mut self) -> Option<flash_ext::FlashOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl<D: Debugger> SingleThreadBase for GdbTarget<'_, D> {
    fn read_registers(&mut self, registers: &mut Registers) -> TargetResult<(), Self> {
        for (number, value) in (0..).zip(&mut registers.0) {
            *value = self.debugger.register(Register(number))?;
        }
        Ok(())
    }

    /// Only what differs is written: some have two names.
    fn write_registers(&mut self, registers: &Registers) -> TargetResult<(), Self> {
        let mut present = Registers::default();
        self.read_registers(&mut present)?;
        for place in 0..REGISTERS {
            if registers.0[place] != present.0[place] {
                let number = u8::try_from(place).map_err(|_| TargetError::NonFatal)?;
                let value = registers.0[place];
                self.debugger.set_register(Register(number), value)?;
            }
        }
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, (), Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, address: u32, data: &mut [u8]) -> TargetResult<usize, Self> {
        self.debugger.read(address, data)?;
        Ok(data.len())
    }

    fn write_addrs(&mut self, address: u32, data: &[u8]) -> TargetResult<(), Self> {
        Ok(self.debugger.write(address, data)?)
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl<D: Debugger> SingleRegisterAccess<()> for GdbTarget<'_, D> {
    fn read_register(
        &mut self,
        (): (),
        number: Number,
        into: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let (low, high) = number.words();
        let mut bytes = self.debugger.register(low)?.to_le_bytes().to_vec();
        if let Some(high) = high {
            bytes.extend(self.debugger.register(high)?.to_le_bytes());
        }
        let room = into.get_mut(..bytes.len()).ok_or(TargetError::NonFatal)?;
        room.copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn write_register(&mut self, (): (), number: Number, value: &[u8]) -> TargetResult<(), Self> {
        let (low, high) = number.words();
        let registers = std::iter::once(low).chain(high);
        let (words, rest) = value.as_chunks();
        if !rest.is_empty() || words.len() != registers.clone().count() {
            return Err(TargetError::NonFatal);
        }
        for (register, word) in registers.zip(words) {
            self.debugger
                .set_register(register, u32::from_le_bytes(*word))?;
        }
        Ok(())
    }
}

impl<D: Debugger> SingleThreadResume for GdbTarget<'_, D> {
    fn resume(&mut self, _: Option<Signal>) -> Result<(), DebugError> {
        let goes_on = std::mem::take(&mut self.goes_on);
        // Where it has stopped since is where GDB wants to know of it.
        let was_let_go = std::mem::take(&mut self.was_let_go);
        if goes_on || was_let_go || !self.debugger.is_halted()? {
            return Ok(());
        }
        self.debugger.run()
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
}

impl<D: Debugger> SingleThreadSingleStep for GdbTarget<'_, D> {
    fn step(&mut self, _: Option<Signal>) -> Result<(), DebugError> {
        self.was_let_go = false;
        if !self.debugger.is_halted()? {
            self.debugger.halt()?;
        }
        self.debugger.step()?;
        self.has_stepped = true;
        Ok(())
    }
}

impl<D: Debugger> flash_ext::Flash for GdbTarget<'_, D> {
    fn flash_erase(&mut self, start: u32, length: u32) -> TargetResult<(), Self> {
        let range = u64::from(start)..u64::from(start) + u64::from(length);
        let mut flash = self.debugger.flash().iter();
        let is_flash =
            flash.any(|flash| flash.range.start <= range.start && range.end <= flash.range.end);
        if !is_flash || range.is_empty() || self.erased.len() >= BREAKPOINTS_MAX {
            return Err(TargetError::NonFatal);
        }
        self.erased.push(range);
        Ok(())
    }

    fn flash_write(&mut self, start: u32, data: &[u8]) -> TargetResult<(), Self> {
        if self.written_bytes + data.len() > PROGRAM_BYTES_MAX {
            return Err(TargetError::NonFatal);
        }
        self.written_bytes += data.len();
        match self.written.last_mut() {
            Some((before, bytes))
                if u64::from(*before) + bytes.len() as u64 == u64::from(start) =>
            {
                bytes.extend(data);
            }
            _ => self.written.push((start, data.to_vec())),
        }
        Ok(())
    }

    fn flash_done(&mut self) -> TargetResult<(), Self> {
        let program = self.take_program();
        if program.is_empty() {
            return Ok(());
        }
        self.debugger.program(&program)?;
        self.was_let_go = false;
        Ok(())
    }
}

impl<D: Debugger> MemoryMap for GdbTarget<'_, D> {
    fn memory_map_xml(
        &self,
        offset: u64,
        length: usize,
        into: &mut [u8],
    ) -> TargetResult<usize, Self> {
        Ok(part(&self.memory_map, offset, length, into))
    }
}

impl<D: Debugger> TargetDescriptionXmlOverride for GdbTarget<'_, D> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        into: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        Ok(part(&self.description, offset, length, into))
    }
}

impl<D: Debugger> MonitorCmd for GdbTarget<'_, D> {
    fn handle_monitor_cmd(
        &mut self,
        command: &[u8],
        mut out: ConsoleOutput<'_>,
    ) -> Result<(), DebugError> {
        let text = String::from_utf8_lossy(command);
        let words: Vec<&str> = text.split_whitespace().collect();
        let done = match words[..] {
            ["reset"] | ["reset", "halt" | "init"] => {
                let reset = self.debugger.reset(true);
                reset.map(|()| (false, "The core is halted at its first instruction. `maintenance flush register-cache` lets GDB see that."))
            }
            ["reset", "run"] => {
                let reset = self.debugger.reset(false);
                reset.map(|()| (true, "The core runs. `continue` waits until it stops."))
            }
            ["halt"] => {
                let halted = self.debugger.halt();
                halted.map(|()| (false, "The core is halted. `maintenance flush register-cache` lets GDB see where."))
            }
            _ => Ok((self.was_let_go, "Commands: reset [halt], reset run, halt.")),
        };
        match done {
            Ok((was_let_go, sentence)) => {
                self.was_let_go = was_let_go;
                outputln!(out, "{sentence}");
            }
            Err(DebugError::Refused(why)) => outputln!(out, "Failed: {why}"),
            Err(lost) => return Err(lost),
        }
        Ok(())
    }
}

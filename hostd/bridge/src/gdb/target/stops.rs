//! Where GDB wants the core to stop: breakpoints and watchpoints.

use gdbstub::target::ext::breakpoints::{
    Breakpoints, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use gdbstub::target::{TargetError, TargetResult};

use super::super::{Access, Debugger, Watchpoint};
use super::{BREAKPOINTS_MAX, GdbTarget};

impl<D: Debugger> GdbTarget<'_, D> {
    fn set_breakpoint(&mut self, address: u32) -> TargetResult<bool, Self> {
        if self.breakpoints.contains(&address) {
            return Ok(true);
        }
        if self.breakpoints.len() >= BREAKPOINTS_MAX {
            return Err(TargetError::NonFatal);
        }
        self.debugger.set_breakpoint(address)?;
        self.breakpoints.push(address);
        Ok(true)
    }

    fn clear_breakpoint(&mut self, address: u32) -> TargetResult<bool, Self> {
        let Some(place) = self.breakpoints.iter().position(|set| *set == address) else {
            return Ok(false);
        };
        self.breakpoints.remove(place);
        self.debugger.clear_breakpoint(address)?;
        Ok(true)
    }
}

impl<D: Debugger> Breakpoints for GdbTarget<'_, D> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        (self.debugger.watchpoints() > 0).then_some(self)
    }
}

/// Comparators do for both kinds, and change nothing in memory.
impl<D: Debugger> SwBreakpoint for GdbTarget<'_, D> {
    fn add_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        self.set_breakpoint(address)
    }

    fn remove_sw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        self.clear_breakpoint(address)
    }
}

impl<D: Debugger> HwBreakpoint for GdbTarget<'_, D> {
    fn add_hw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        self.set_breakpoint(address)
    }

    fn remove_hw_breakpoint(&mut self, address: u32, _: usize) -> TargetResult<bool, Self> {
        self.clear_breakpoint(address)
    }
}

pub(super) fn kind_of(access: Access) -> WatchKind {
    match access {
        Access::Read => WatchKind::Read,
        Access::Write => WatchKind::Write,
        Access::Any => WatchKind::ReadWrite,
    }
}

fn watchpoint(address: u32, bytes: u32, kind: WatchKind) -> Watchpoint {
    let access = match kind {
        WatchKind::Read => Access::Read,
        WatchKind::Write => Access::Write,
        WatchKind::ReadWrite => Access::Any,
    };
    Watchpoint {
        address,
        bytes,
        access,
    }
}

impl<D: Debugger> HwWatchpoint for GdbTarget<'_, D> {
    fn add_hw_watchpoint(
        &mut self,
        address: u32,
        bytes: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let watchpoint = watchpoint(address, bytes, kind);
        if !self.watchpoints.contains(&watchpoint) {
            self.debugger.set_watchpoint(watchpoint)?;
            self.watchpoints.push(watchpoint);
        }
        Ok(true)
    }

    fn remove_hw_watchpoint(
        &mut self,
        address: u32,
        bytes: u32,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let watchpoint = watchpoint(address, bytes, kind);
        let Some(place) = self.watchpoints.iter().position(|set| *set == watchpoint) else {
            return Ok(false);
        };
        self.watchpoints.remove(place);
        self.debugger.clear_watchpoint(watchpoint)?;
        Ok(true)
    }
}

//! J-Link: a probe that takes bits.

use probe_rs::probe::jlink::{JLink, JLinkFactory};
use probe_rs::probe::{
    DebugProbe, DebugProbeError, DebugProbeSelector, IoSequenceItem, ProbeFactory, RawSwdIo,
    WireProtocol,
};

use crate::port::PortError;
use crate::probe::told;
use crate::swd::{Bit, Wire};

/// Clocks that probes may have as their fastest, in kHz: none tells which, but each refuses a faster one.
const FASTEST_KHZ: [u32; 7] = [50_000, 15_000, 12_000, 8_000, 4_000, 2_000, 1_000];

/// Clocks of which one is set as it was asked for, in kHz. The number above stands for another mode.
const KHZ: std::ops::RangeInclusive<u32> = 1..=0xFFFE;

/// An open J-Link.
#[derive(Debug)]
pub(crate) struct Link(Box<JLink>);

impl Link {
    /// Opens it.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(crate) fn open(selector: &DebugProbeSelector) -> Result<Self, String> {
        let opened = JLinkFactory.open(selector);
        let probe = opened.map_err(|error| told(&error))?;
        let probe: Box<dyn std::any::Any> = probe;
        let link = probe.downcast().map(Self);
        let mut link = link.map_err(|_| "its driver is another one".to_owned())?;
        let selected = link.0.select_protocol(WireProtocol::Swd);
        selected.map_err(|_| "this J-Link has no SWD".to_owned())?;
        Ok(link)
    }
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "a function for `map_err`, which passes values"
)]
fn lost(error: DebugProbeError) -> PortError {
    PortError::Lost(told(&error))
}

impl Wire for Link {
    /// It samples the line with the falling edge of the clock, and targets change it with the rising one.
    const LEAD: usize = 1;

    fn connect(&mut self) -> Result<(), PortError> {
        self.0.attach().map_err(lost)
    }

    fn disconnect(&mut self) -> Result<(), PortError> {
        let detached = self.0.detach();
        detached.map_err(|error| PortError::Lost(told(&error)))
    }

    fn set_clock(&mut self, hz: u32) -> Result<u32, PortError> {
        let khz = (hz / 1000).clamp(*KHZ.start(), *KHZ.end());
        let slower = FASTEST_KHZ.into_iter().filter(|slower| *slower < khz);
        for khz in std::iter::once(khz).chain(slower) {
            match self.0.set_speed(khz) {
                Ok(khz) => return Ok(khz.saturating_mul(1000)),
                Err(DebugProbeError::UnsupportedSpeed(_)) => {}
                Err(error) => return Err(lost(error)),
            }
        }
        Err(PortError::Refused(format!("a clock of {khz} kHz")))
    }

    fn clock(&mut self, bits: &[Bit]) -> Result<Vec<bool>, PortError> {
        let items = bits.iter().map(|bit| match bit {
            Bit::Out(level) => IoSequenceItem::Output(*level),
            Bit::In => IoSequenceItem::Input,
        });
        self.0.swd_io(items).map_err(lost)
    }

    fn set_reset(&mut self, is_held: bool) -> Result<(), PortError> {
        let set = match is_held {
            true => self.0.target_reset_assert(),
            false => self.0.target_reset_deassert(),
        };
        set.map_err(lost)
    }
}

//! A probe-rs debug probe on a [`Line`]. probe-rs has its own CMSIS-DAP driver, but that speaks only to USB
//! devices.

mod batch;

use std::fmt;
use std::sync::Arc;

use probe_rs::CoreStatus;
use probe_rs::architecture::arm::sequences::ArmDebugSequence;
use probe_rs::architecture::arm::{
    ArmCommunicationInterface, ArmDebugInterface, ArmError, DapProbe, RawDapAccess, RegisterAddress,
};
use probe_rs::probe::{DebugProbe, DebugProbeError, Probe, ProbeError, WireProtocol};

use crate::error::FlashError;
use crate::link::{DapLink, Line, LineClosed};
use crate::packets::{self, AnswerError, Transfer};
use crate::progress::Phase;
use crate::stop::Stop;

/// Default clock on the debug wire.
pub const SPEED_KHZ_DEFAULT: u32 = 2000;

/// Status types of `DAP_HostStatus`.
const STATUS_CONNECTED: u8 = 0;

/// After this many consecutive transfers without an answer there is no target. probe-rs would reset the
/// line and retry every 5 ms, for seconds.
const SILENT_MAX: u32 = 100;

/// Why the probe did not do something.
#[derive(Debug, thiserror::Error)]
enum ProbeFailure {
    #[error(transparent)]
    Closed(#[from] LineClosed),
    #[error(transparent)]
    Answer(#[from] AnswerError),
    #[error("the target has not answered {SILENT_MAX} transfers in a row")]
    Silent,
}

impl ProbeError for ProbeFailure {}

impl From<ProbeFailure> for ArmError {
    fn from(failure: ProbeFailure) -> Self {
        DebugProbeError::from(failure).into()
    }
}

/// A CMSIS-DAP probe behind a line.
pub(crate) struct DapProbeDriver {
    line: Line,
    packet_bytes: usize,
    packet_count: usize,
    speed_khz: u32,
    is_connected: bool,
    /// Writes that wait to be sent together.
    batch: Vec<Transfer>,
    /// Number of consecutive transfers without an answer.
    silent_count: u32,
}

impl fmt::Debug for DapProbeDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DapProbeDriver")
            .field("packet_bytes", &self.packet_bytes)
            .field("packet_count", &self.packet_count)
            .finish_non_exhaustive()
    }
}

/// The probe behind a link as a probe-rs probe, for callers that want to do more than flash.
///
/// # Errors
/// [`FlashError`], when the link fails or the probe answers nonsense.
pub fn open_probe(link: impl DapLink, stop: &Stop, speed_khz: u32) -> Result<Probe, FlashError> {
    let line = Line::new(Box::new(link), stop.clone());
    let memory = line.memory().clone();
    let driver = DapProbeDriver::open(line, speed_khz);
    driver
        .map(Probe::new)
        .map_err(|error| match memory.take_failure() {
            Some(failure) => FlashError::from_link(failure, Phase::Connecting),
            None => FlashError::Probe {
                source: error.into(),
            },
        })
}

impl DapProbeDriver {
    /// Asks the probe for the largest packets and the most in flight that it offers.
    ///
    /// # Errors
    /// When the line fails or the answers make no sense.
    pub(crate) fn open(line: Line, speed_khz: u32) -> Result<Self, DebugProbeError> {
        let mut probe = Self {
            line,
            packet_bytes: packets::PACKET_BYTES_MIN,
            packet_count: 1,
            speed_khz,
            is_connected: false,
            batch: Vec::new(),
            silent_count: 0,
        };
        let bytes = probe.info(packets::INFO_PACKET_SIZE)?;
        let bytes = bytes.map_or(packets::PACKET_BYTES_MIN, usize::from);
        let count = probe.info(packets::INFO_PACKET_COUNT)?;
        let count = count.map_or(1, usize::from);
        probe.packet_bytes = bytes.clamp(packets::PACKET_BYTES_MIN, packets::PACKET_BYTES_MAX);
        probe.packet_count = count.clamp(1, packets::PACKET_COUNT_MAX);
        Ok(probe)
    }

    fn answer(&mut self, packet: &[u8]) -> Result<Vec<u8>, ProbeFailure> {
        let mut answers = self.line.exchange(&[packet.to_vec()])?;
        let answer = answers.pop();
        Ok(answer.ok_or_else(|| packets::short(packet[0], &[]))?)
    }

    fn info(&mut self, id: u8) -> Result<Option<u16>, ProbeFailure> {
        let packet = packets::info(id);
        let answer = self.answer(&packet)?;
        Ok(packets::info_number(&packet, &answer)?)
    }

    /// A command whose answer only reports success or failure.
    fn command(&mut self, packet: &[u8]) -> Result<(), ProbeFailure> {
        let answer = self.answer(packet)?;
        Ok(packets::status(packet, &answer)?)
    }

    fn connect(&mut self) -> Result<(), ProbeFailure> {
        if !self.is_connected {
            self.command(&packets::connect())?;
            self.is_connected = true;
        }
        Ok(())
    }

    fn hold_reset(&mut self, is_held: bool) -> Result<(), ProbeFailure> {
        self.connect()?;
        let output = if is_held { 0 } else { packets::NRESET };
        self.command(&packets::pins(output, packets::NRESET, 0))
    }
}

impl Drop for DapProbeDriver {
    /// Releases the wires, which is impossible over a closed line.
    fn drop(&mut self) {
        if self.is_connected && self.command(&packets::disconnect()).is_err() {
            tracing::debug!("the probe was not told that the session is over");
        }
    }
}

impl DebugProbe for DapProbeDriver {
    fn get_name(&self) -> &'static str {
        "CMSIS-DAP"
    }

    fn speed_khz(&self) -> u32 {
        self.speed_khz
    }

    fn set_speed(&mut self, speed_khz: u32) -> Result<u32, DebugProbeError> {
        self.command(&packets::clock(speed_khz.saturating_mul(1000)))?;
        self.speed_khz = speed_khz;
        Ok(speed_khz)
    }

    fn attach(&mut self) -> Result<(), DebugProbeError> {
        self.connect()?;
        self.set_speed(self.speed_khz)?;
        self.command(&packets::transfer_configure())?;
        self.command(&packets::swd_configure())?;
        self.command(&packets::host_status(STATUS_CONNECTED, true))?;
        Ok(())
    }

    fn detach(&mut self) -> Result<(), probe_rs::Error> {
        self.flush_batch()?;
        let host_status = packets::host_status(STATUS_CONNECTED, false);
        self.command(&packets::disconnect())
            .and_then(|()| self.command(&host_status))
            .map_err(DebugProbeError::from)?;
        self.is_connected = false;
        Ok(())
    }

    fn target_reset(&mut self) -> Result<(), DebugProbeError> {
        Ok(self.command(&packets::reset_target())?)
    }

    fn target_reset_assert(&mut self) -> Result<(), DebugProbeError> {
        Ok(self.hold_reset(true)?)
    }

    fn target_reset_deassert(&mut self) -> Result<(), DebugProbeError> {
        Ok(self.hold_reset(false)?)
    }

    fn select_protocol(&mut self, protocol: WireProtocol) -> Result<(), DebugProbeError> {
        match protocol {
            WireProtocol::Swd => Ok(()),
            protocol @ WireProtocol::Jtag => Err(DebugProbeError::UnsupportedProtocol(protocol)),
        }
    }

    fn active_protocol(&self) -> Option<WireProtocol> {
        Some(WireProtocol::Swd)
    }

    fn has_arm_interface(&self) -> bool {
        true
    }

    fn try_get_arm_debug_interface<'probe>(
        self: Box<Self>,
        sequence: Arc<dyn ArmDebugSequence>,
    ) -> Result<Box<dyn ArmDebugInterface + 'probe>, (Box<dyn DebugProbe>, ArmError)> {
        Ok(ArmCommunicationInterface::create(self, sequence, false))
    }

    fn into_probe(self: Box<Self>) -> Box<dyn DebugProbe> {
        self
    }

    fn try_as_dap_probe(&mut self) -> Option<&mut dyn DapProbe> {
        Some(self)
    }
}

impl DapProbe for DapProbeDriver {}

impl RawDapAccess for DapProbeDriver {
    fn raw_read_register(&mut self, address: RegisterAddress) -> Result<u32, ArmError> {
        self.read(address)
    }

    fn raw_write_register(&mut self, address: RegisterAddress, value: u32) -> Result<(), ArmError> {
        self.write(address, value)
    }

    fn raw_write_block(
        &mut self,
        address: RegisterAddress,
        values: &[u32],
    ) -> Result<(), ArmError> {
        self.write_block(address, values)
    }

    fn raw_read_block(
        &mut self,
        address: RegisterAddress,
        values: &mut [u32],
    ) -> Result<(), ArmError> {
        self.read_block(address, values)
    }

    fn raw_flush(&mut self) -> Result<(), ArmError> {
        self.flush_batch()
    }

    fn jtag_sequence(&mut self, _: u8, _: bool, _: u64) -> Result<(), DebugProbeError> {
        Err(DebugProbeError::UnsupportedProtocol(WireProtocol::Jtag))
    }

    fn swj_sequence(&mut self, bit_len: u8, bits: u64) -> Result<(), DebugProbeError> {
        if self.silent_count >= SILENT_MAX {
            return Err(ProbeFailure::Silent.into());
        }
        self.connect()?;
        Ok(self.command(&packets::sequence(bit_len, bits))?)
    }

    fn swj_pins(
        &mut self,
        pin_out: u32,
        pin_select: u32,
        pin_wait: u32,
    ) -> Result<u32, DebugProbeError> {
        self.connect()?;
        let [output, ..] = pin_out.to_le_bytes();
        let [select, ..] = pin_select.to_le_bytes();
        let packet = packets::pins(output, select, pin_wait);
        let answer = self.answer(&packet)?;
        let levels = packets::body(&packet, &answer).map_err(ProbeFailure::from)?;
        Ok(levels.first().copied().map_or(0, u32::from))
    }

    fn into_probe(self: Box<Self>) -> Box<dyn DebugProbe> {
        self
    }

    /// It would only switch a lamp on the probe, at the cost of every eleventh packet of a job.
    fn core_status_notification(&mut self, _: CoreStatus) -> Result<(), DebugProbeError> {
        Ok(())
    }
}

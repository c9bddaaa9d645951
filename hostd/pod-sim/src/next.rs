//! How a command continues once it has run.

use serde_json::Value;

use super::calibrate;
use super::capture::Read;
use super::load_bin::LoadBin;
use super::measure::Measure;
use super::pattern::Pattern;
use super::plan::Plan;
use super::readback::{BusCapture, Regs};
use super::refuse::Refuse;
use super::speedtest::Speedtest;
use super::spi;
use super::swd::Dap;
use super::uart::Uart;

/// How a command continues.
pub(crate) enum Next {
    /// Done, with the data of the reply.
    Reply(Value),
    /// A capture, which runs in its connection's task.
    Capture(Plan),
    /// Sending the last capture again.
    CaptureRead(Read),
    /// A pattern made without hardware.
    Pattern(Pattern),
    /// A stimulus together with its capture.
    Measure(Measure),
    /// A reset pulse that ends at this instant.
    ResetPulse { end_ns: u64 },
    /// A reading of an input after it has settled.
    ReadAdc(&'static str),
    /// A raw UART session.
    Uart(Uart),
    /// A debug-probe session.
    Dap(Dap),
    /// Raw bytes that the client will send.
    LoadBin(LoadBin),
    /// A one-shot power profile that ends at this instant.
    Profile { end_ns: u64 },
    /// The result of a power profile.
    ReadProfile,
    /// A measurement that corrects the front end.
    Calibrate(calibrate::Measurement),
    /// Done at this instant, when the reply is sent.
    Later {
        at_ns: u64,
        answer: Result<Value, Refuse>,
    },
    /// Registers of the sensor.
    Regs(Regs),
    /// A capture of the sensor's bus.
    BusCapture(BusCapture),
    /// Done; the pod restarts once the reply is sent.
    Reboot(Value),
    /// A test of the link.
    Speedtest(Speedtest),
    /// A replay that has started; the connection's upload no longer needs the capture hardware.
    Replayed(Value),
}

impl From<spi::Later> for Next {
    fn from(spi::Later { at_ns, answer }: spi::Later) -> Self {
        Self::Later { at_ns, answer }
    }
}

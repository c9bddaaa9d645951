//! What a run of a bench asks of its device: the seam between the steps of a pipeline and a real bench.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use evidence::result;
use pipeline::plan::{Capture, Flash, Measure, Replay, Uart};
use pipeline::rules::Rule;
use pipeline::{Decoder, Power, Rail};

use crate::cancel::Cancel;
use crate::outcome::{Breakage, Failure, Outcome};
use crate::step::Deadline;
pub use crate::step::Relay;

mod acts;
mod assert;
mod course;
mod decoded;
mod line;
mod loan;
mod measure;
mod recordings;
mod ruled;

pub(crate) use course::carry_out;
pub use loan::{Benches, Loan};

/// A device that one run has for itself. Everything blocks the thread that asks for it, and ends with [`Until`].
/// Making the device safe afterwards is the matter of whoever gave it.
pub trait Bench: fmt::Debug + Sync {
    /// What people call the device.
    fn name(&self) -> &str;

    /// Switches a rail, and returns when it is switched. `anew` is called right before the target begins anew, if it
    /// does: what it said before is old.
    ///
    /// # Errors
    /// As of everything here: see [`BenchError`].
    fn power(
        &self,
        power: &Power,
        until: &Until<'_>,
        anew: &mut dyn FnMut(),
    ) -> Result<(), BenchError>;

    /// What each rail that can be measured gives now. It may cost the device no more than a glance.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn supplies(&self, until: &Until<'_>) -> Result<Vec<Supply>, BenchError>;

    /// Holds the reset line for so long. `anew` is called right before it is let go.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn reset(
        &self,
        pulse: Duration,
        until: &Until<'_>,
        anew: &mut dyn FnMut(),
    ) -> Result<(), BenchError>;

    /// Programs the target with a file, reads it back if that is asked for, and lets it run; `anew` is called right
    /// before that.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn flash(
        &self,
        file: &Path,
        flash: &Flash,
        until: &Until<'_>,
        anew: &mut dyn FnMut(),
    ) -> Result<Flashed, BenchError>;

    /// Listens to the target's serial line from now on.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn uart(&self, uart: &Uart, until: &Until<'_>) -> Result<Box<dyn Link>, BenchError>;

    /// Starts to record for a step, which is given by what people call it. Returns when the device records or waits for
    /// the trigger.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn capture(
        &self,
        step: &str,
        capture: &Capture,
        until: &Until<'_>,
    ) -> Result<Box<dyn Recording>, BenchError>;

    /// Decodes a capture that was kept, and gives what is found to `found`, in its order.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn decode(
        &self,
        capture: &str,
        decoding: &Decoding<'_>,
        until: &Until<'_>,
        found: &mut dyn FnMut(Found),
    ) -> Result<(), BenchError>;

    /// Judges a capture that was kept by rules.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn judge(
        &self,
        capture: &str,
        judging: &Judging<'_>,
        until: &Until<'_>,
    ) -> Result<Ruling, BenchError>;

    /// Measures a channel of a capture that was kept; with the measurement comes how it was recorded. None if it has
    /// nothing of that: a line without edges has no frequency.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn measure(
        &self,
        capture: &str,
        measure: (&Capture, &Measure),
        until: &Until<'_>,
    ) -> Result<Option<Quantity>, BenchError>;

    /// Plays a waveform until the end of the run, or until another one is played.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn replay(&self, replay: &Replay, until: &Until<'_>) -> Result<(), BenchError>;

    /// How commands of the run reach the device; none if they do not.
    fn relay(&self) -> Option<Relay>;
}

/// The target's serial line, read by one thread and written by others. Dropping it ends it.
pub trait Link: Send + Sync {
    /// Where it listens and how, for people: `LA5, 115200 baud`.
    fn what(&self) -> String;

    /// Sends all of it.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn write(&self, bytes: &[u8], until: &Until<'_>) -> Result<(), BenchError>;

    /// What has come since the last time, once there is something. Empty when it took longer than `wait`.
    ///
    /// # Errors
    /// See [`BenchError`].
    fn read(&self, wait: Duration, cancel: &Cancel) -> Result<Vec<u8>, BenchError>;
}

/// A capture that goes on. Dropping it ends it, and nothing is kept of it unless it was complete.
pub trait Recording: Send {
    /// Waits until it is complete and kept.
    ///
    /// # Errors
    /// See [`BenchError`]; [`BenchError::NoTrigger`] if the trigger never came.
    fn wait(&mut self, until: &Until<'_>) -> Result<Taken, BenchError>;
}

/// How long something may take, and who may end it before.
#[derive(Clone, Copy, Debug)]
pub struct Until<'u> {
    /// When it must be done.
    pub at: Instant,
    /// Ends it before.
    pub cancel: &'u Cancel,
}

impl Until<'_> {
    /// The time that is left.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }
}

/// What a rail gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// Which.
    pub rail: Rail,
    /// Millivolts behind its switch.
    pub mv: i64,
    /// Microamperes, signed.
    pub ua: i64,
}

/// A target that was programmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flashed {
    /// Bytes that were written.
    pub bytes: u64,
    /// Where, with a checksum, and what of the file was for other chips: a line each.
    pub places: Vec<String>,
    /// The chip that was found.
    pub chip: String,
    /// How long it took.
    pub time: Duration,
}

/// A capture that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// Its id among the captures of the bench.
    pub id: String,
    /// Reduced to what a small picture shows.
    pub picture: Option<result::Capture>,
    /// In what it differs from what was asked for: a rate that the device does not have.
    pub warnings: Vec<String>,
}

/// How a capture is decoded.
#[derive(Clone, Copy, Debug)]
pub struct Decoding<'d> {
    /// By which rules.
    pub decoder: &'d Decoder,
    /// How it was recorded.
    pub capture: &'d Capture,
    /// Channels of the logic analyzer, from 1, by the decoder's roles.
    pub channels: &'d BTreeMap<String, u64>,
    /// Of the decoder.
    pub options: &'d BTreeMap<String, String>,
    /// Classes or rows of annotations that are wanted; none: all but single bits.
    pub annotations: &'d [String],
}

/// Something that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// In `unit`; finite.
    pub value: f64,
    /// `Hz`, `s`, `V`, `A`; empty for a number.
    pub unit: String,
}

/// How a capture is judged.
#[derive(Clone, Copy, Debug)]
pub struct Judging<'j> {
    /// How it was recorded.
    pub capture: &'j Capture,
    /// What the rules call channels besides: a name, and the one that it stands for.
    pub names: &'j [(String, String)],
    /// What the capture must show.
    pub rules: &'j [Rule],
    /// Golden files by the names that rules have for them.
    pub goldens: &'j BTreeMap<String, Vec<u8>>,
}

/// What all rules come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// Each, in their order.
    pub rules: Vec<Ruled>,
    /// All of it for programs.
    pub json: String,
}

/// What a rule comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruled {
    /// What it is called.
    pub name: String,
    /// Whether it holds; none: the capture lacks what it takes to say.
    pub holds: Option<bool>,
    /// What it asks for, in a sentence.
    pub wanted: String,
    /// What was seen, in a sentence.
    pub seen: String,
    /// Where and how near, in lines.
    pub detail: String,
    /// The place as SVG.
    pub picture: Option<String>,
}

/// Something that a decoder found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A line for people.
    Line(String),
    /// A transfer on an I²C bus.
    Transfer(Transfer),
}

/// Everything between a start and a stop on an I²C bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// One, and one more for each repeated start.
    pub parts: Vec<TransferPart>,
}

/// An address and what follows it on an I²C bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransferPart {
    /// 7 bits.
    pub address: u8,
    /// Whether the address was acknowledged.
    pub is_acknowledged: bool,
    /// What was written or read.
    pub bytes: Vec<u8>,
}

/// Why the device did not do what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BenchError {
    /// The pod is gone, or does not answer as it should.
    #[error("reach the device: {0}")]
    Lost(String),
    /// The probe does not reach the target, or loses it.
    #[error("reach the target by the probe: {0}")]
    Probe(String),
    /// The chip is another one than announced.
    #[error("find the announced chip: {0}")]
    WrongTarget(String),
    /// The device was taken away from the run.
    #[error("keep the device: {0}")]
    LeaseLost(String),
    /// The pipeline asks for something that the device or its target cannot do.
    #[error("do what the step asks: {0}")]
    Refused(String),
    /// The firmware has no place on the chip.
    #[error("place the firmware: {0}")]
    Unfit(String),
    /// The trigger did not come in its time.
    #[error("see the trigger")]
    NoTrigger,
    /// It was not done by [`Until::at`].
    #[error("be done in time")]
    TimedOut,
    /// [`Cancel`] ended it.
    #[error("go on: it was cancelled")]
    Cancelled,
}

impl BenchError {
    /// What a step came to that met it and had to be done by `deadline`.
    pub(crate) fn outcome(self, deadline: Deadline) -> Outcome {
        let broken = match self {
            Self::Lost(why) => Breakage::DeviceLost(why),
            Self::Probe(why) => Breakage::Probe(why),
            Self::WrongTarget(why) => Breakage::WrongTarget(why),
            Self::LeaseLost(why) => Breakage::LeaseLost(why),
            Self::Refused(why) => return Outcome::Failed(Failure::Refused(why)),
            Self::Unfit(why) => return Outcome::Failed(Failure::UnfitFirmware(why)),
            Self::NoTrigger => return Outcome::Failed(Failure::NoTrigger),
            Self::TimedOut => return deadline.passed(),
            Self::Cancelled => return Outcome::Cancelled,
        };
        Outcome::Broken(broken)
    }
}

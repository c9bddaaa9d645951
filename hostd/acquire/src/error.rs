//! Why an instrument gives no samples, and what to do about it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use pod_protocol::capture::Trigger;
use pod_protocol::{TRIGGER_NS_MAX, TRIGGER_TIMEOUT_MS_MAX};

/// Why an instrument gives no samples. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum AcquireError {
    /// No samples at all, or too many.
    #[error("`samples` must be 1 to {most}, not {found}")]
    Samples {
        /// What it was.
        found: u64,
        /// The most it may be.
        most: u64,
    },
    /// A rate that is not above zero.
    #[error("the sample rate must be a number above 0")]
    Rate,
    /// The instrument samples no levels.
    #[error("this instrument has no logic channels; capture one of its analog inputs")]
    NoLogic,
    /// The instrument has no such input.
    #[error("this instrument has {inputs} analog inputs, and none with the number {number}")]
    NoInput {
        /// The number, from 0.
        number: usize,
        /// How many there are.
        inputs: usize,
    },
    /// Analog captures cannot wait.
    #[error(
        "an analog capture of this instrument cannot wait for a trigger; capture logic channels, or leave the trigger out"
    )]
    AnalogTrigger,
    /// The trigger's channel does not exist.
    #[error("`trigger.channel` must be 1 to {channels}, not {channel}")]
    TriggerChannel {
        /// The channel.
        channel: u8,
        /// How many there are.
        channels: usize,
    },
    /// The trigger's timeout is zero or too long.
    #[error("`trigger.timeout_ms` must be 1 to {TRIGGER_TIMEOUT_MS_MAX}, not {timeout_ms}")]
    TriggerWait {
        /// The timeout.
        timeout_ms: u32,
    },
    /// A time of the trigger's condition is zero or too long.
    #[error("the time of the trigger's condition must be 1 to {TRIGGER_NS_MAX} ns, not {ns}")]
    TriggerTime {
        /// The time.
        ns: u64,
    },
    /// Samples before the trigger that would be all samples, or more.
    #[error(
        "`pre_samples` must be 0 to {most}, not {found}: the trigger is within the samples of each kind"
    )]
    PreSamples {
        /// What it was.
        found: u64,
        /// The most it may be.
        most: u64,
    },
    /// The instrument waits for its trigger by itself.
    #[error(
        "{model} waits for its trigger by itself: it knows edges and levels alone, and keeps no samples before them; ask for \
         a rising or falling edge without `pre_samples`"
    )]
    OwnTrigger {
        /// What it calls itself.
        model: String,
    },
    /// The instrument can neither wait for a trigger nor sample for as long as one may take.
    #[error(
        "{model} can neither wait for a trigger nor sample without an end; leave the trigger out"
    )]
    NoTrigger {
        /// What it calls itself.
        model: String,
    },
    /// Levels and an analog input are sampled together, without an end in which a trigger could be looked for.
    #[error(
        "{model} cannot wait for a trigger when it samples levels and an analog input together; leave the trigger out, or \
         capture logic channels alone"
    )]
    NoTriggerForBoth {
        /// What it calls itself.
        model: String,
    },
    /// The samples of one kind lie too far apart in those of the other.
    #[error(
        "{found} samples at {rate_hz} Hz would be needed for both kinds, and the instrument takes {most}: ask for fewer \
         analog samples, or for rates that are closer to each other"
    )]
    Span {
        /// Samples of the instrument.
        found: u64,
        /// Its rate.
        rate_hz: f64,
        /// The most it may be.
        most: u64,
    },
    /// The trigger did not come.
    #[error("{}", trigger.timeout_text())]
    TriggerTimeout {
        /// What was waited for.
        trigger: Trigger,
    },
    /// Something in the configuration is malformed.
    #[error("`{field} = {found:?}` is not {form}")]
    Setting {
        /// The key.
        field: &'static str,
        /// What it was.
        found: String,
        /// What it should be.
        form: &'static str,
    },
    /// A channel that the instrument does not have.
    #[error("{model} has no channel {name}; it has {known}")]
    NoChannel {
        /// What it calls itself.
        model: String,
        /// The channel.
        name: String,
        /// Those that it has.
        known: String,
    },
    /// `sigrok-cli` is not there.
    #[error(
        "{tool} is not installed: install the package sigrok-cli, or write in `tool` where the program is"
    )]
    ToolMissing {
        /// The program as it was looked for.
        tool: String,
    },
    /// libsigrok has no such driver.
    #[error(
        "sigrok-cli knows no driver {driver}; `sigrok-cli --list-supported` lists those it knows"
    )]
    UnknownDriver {
        /// The driver's name.
        driver: String,
    },
    /// Nothing is plugged in.
    #[error("{what} was not found; plug it in, switch it on, and check {check}")]
    NoDevice {
        /// What was looked for.
        what: String,
        /// Which setting says what to look for.
        check: &'static str,
    },
    /// Another program uses it, or another capture.
    #[error("{what} is used by another program or capture; stop that one")]
    Busy {
        /// What was to be used.
        what: String,
    },
    /// The system does not let this user open it.
    #[error(
        "this user may not open {what}: install Debian's package libsigrok4, which has a rule for udev, or a rule of your own, \
         and plug it in again"
    )]
    NotPermitted {
        /// What was to be opened.
        what: String,
    },
    /// The firmware is not installed.
    #[error(
        "the firmware {file} was not found in {folders}: install Debian's package sigrok-firmware-fx2lafw, or write in \
         `firmware` where the file is"
    )]
    FirmwareMissing {
        /// The file's name.
        file: String,
        /// Where it was looked for.
        folders: String,
    },
    /// A file that is no firmware.
    #[error("{} is no firmware of an FX2: {why}", path.display())]
    FirmwareUnfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The analyzer took its firmware, and goes on without it.
    #[error(
        "the analyzer on USB port {port} did not start its firmware within {} s; unplug it and plug it in again, and check \
         that {firmware} is made for it", waited.as_secs()
    )]
    NotStarted {
        /// Where it is plugged in.
        port: String,
        /// The file.
        firmware: String,
        /// How long was waited.
        waited: Duration,
    },
    /// The analyzer left the bus, as it does to start its firmware, and did not come back.
    #[error(
        "the analyzer on USB port {port} left to start its firmware and did not come back within {} s: it was unplugged, or \
         {firmware} is not made for it", waited.as_secs()
    )]
    NotReturned {
        /// Where it was plugged in.
        port: String,
        /// The file.
        firmware: String,
        /// How long was waited.
        waited: Duration,
    },
    /// A firmware that speaks another language.
    #[error(
        "the firmware of the analyzer on USB port {port} has version {major}.{minor}, and only versions 1.x are understood; \
         unplug the analyzer and plug it in again to load another"
    )]
    FirmwareVersion {
        /// Where it is plugged in.
        port: String,
        /// The version's first number.
        major: u8,
        /// Its second.
        minor: u8,
    },
    /// Samples were lost, since the link is too slow.
    #[error(
        "the instrument stopped after {found} of {asked} samples at {rate_hz} Hz: its link could not keep up. Ask for a lower \
         rate, or plug it into a USB port that it shares with nothing"
    )]
    Overflow {
        /// Samples that came.
        found: u64,
        /// Samples asked for.
        asked: u64,
        /// The rate.
        rate_hz: u64,
    },
    /// The instrument ended the capture.
    #[error(
        "the instrument ended after {found} of {asked} samples{}",
        because(said)
    )]
    Ended {
        /// Samples that came.
        found: u64,
        /// Samples asked for.
        asked: u64,
        /// What the program that drives it said last, in a line; may be empty.
        said: String,
    },
    /// Nothing comes.
    #[error(
        "the instrument sent nothing for {} s; unplug it and plug it in again", waited.as_secs()
    )]
    Silent {
        /// How long was waited.
        waited: Duration,
    },
    /// The instrument is gone.
    #[error("{what} was unplugged")]
    Unplugged {
        /// What it was.
        what: String,
    },
    /// The program that drives it failed.
    #[error("sigrok-cli failed{}", because(said))]
    Tool {
        /// What it said last, in a line; may be empty.
        said: String,
    },
    /// What the program that drives it wrote is not understood.
    #[error("what sigrok-cli writes is not understood: {what}; versions 0.7.x are")]
    Malformed {
        /// What is wrong with it.
        what: String,
    },
    /// A system call or transfer failed.
    #[error("failed to {what}: {source}")]
    Io {
        /// What was to be done.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
}

/// What a program said, to be put behind a sentence.
fn because(said: &str) -> String {
    match said {
        "" => String::new(),
        said => format!(": {said}"),
    }
}

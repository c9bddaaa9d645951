//! How a step, a run or a job went, as types: whose fault it was, and a sentence that says what to do.

mod redact;

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use base::space;
use jail::Lack;
use serde::{Deserialize, Serialize};

use crate::micros;

/// How something went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it should.
    Passed,
    /// The code or the pipeline is wrong; [`Failure::is_mistake`] says which.
    Failed(Failure),
    /// This machine or the bench is at fault; nothing is known about the code.
    Broken(Breakage),
    /// Somebody ended it.
    Cancelled,
    /// It was not run.
    Skipped(Skip),
}

/// What was wrong with the code or the pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The command ended with this code.
    Exit(i32),
    /// A signal of its own making ended the command.
    Signal(i32),
    /// It took longer than it may.
    Timeout(Clock, #[serde(with = "micros")] Duration),
    /// It needed more memory than so many bytes.
    Memory(u64),
    /// It left more bytes in its folder than so many, or folders deeper than can be looked through.
    Disk(u64),
    /// So many processes were refused to it, for it may have no more than the second number.
    Processes(u64, u64),
    /// A pack's artifact is not there: its name, and those of some files that are.
    MissingArtifact(String, String),
    /// A pack's artifact is there, but cannot be taken: its name, and why.
    UnfitArtifact(String, String),
    /// An assertion about a step: what it says, and what was seen.
    Assertion(String, String),
    /// A text did not come on the serial line in time: which, the end of what came, and where that was listened for.
    Expect(String, String, #[serde(default)] String),
    /// What starts a capture did not come in time.
    NoTrigger,
    /// The device cannot do what the step asks: a mistake of the pipeline.
    Refused(String),
    /// pytest is not where its step looks for it: a mistake of the pipeline.
    NoPytest,
    /// The bench's SDK is not there, which tests need: a mistake of the pipeline.
    NoSdk,
    /// The firmware does not fit the chip: why.
    UnfitFirmware(String),
    /// So many tests failed, as earlier versions stored it.
    Tests(u64),
    /// So many tests failed: the name of the first one, and what it says, in a line each.
    Cases(u64, String, String),
    /// A JUnit file cannot be read: its name, and why.
    BadJunit(String, String),
    /// So many values are outside their limits: what is said of the first.
    Limits(u64, String),
    /// What a step measured cannot be taken: where, and why.
    BadMeasurements(String),
}

/// Whose time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The step's own.
    Step,
    /// That of a build's run: `timeouts.build`.
    Run,
    /// That of a bench's run: `timeouts.test`.
    Test,
    /// That of all steps under `always` together.
    Always,
    /// The job's: `timeouts.job`.
    Job,
}

/// What this machine or the bench could not do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breakage {
    /// It does not let jails be made.
    NoIsolation(Lack),
    /// A jail could not be started, or was ended from outside.
    Jail(String),
    /// A program that the machine must have is not there.
    NoProgram(String),
    /// The image of a container that the run names cannot be used: a sentence that says what to do.
    Image(String),
    /// There is too little room on the disk.
    DiskFull,
    /// A folder of the job could not be made, read or copied.
    Files(String),
    /// The pipeline asks for something that this machine does not offer.
    Unsupported(String),
    /// The device is gone, or does not answer as it should.
    DeviceLost(String),
    /// The probe does not reach the target, or the target cannot be programmed.
    Probe(String),
    /// The chip is another one than announced.
    WrongTarget(String),
    /// The device was taken away from the run.
    LeaseLost(String),
}

/// Why something was not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// A step before it failed.
    StepFailed,
    /// It is for failures, and there was none.
    NothingFailed,
    /// A run that it needs did not succeed.
    NeedFailed(String),
    /// It needs a device, and runs of benches are not carried out here.
    NoBench,
    /// No device fits: why.
    NoDevice(String),
    /// The job was cancelled.
    Cancelled,
    /// The job's time was over.
    JobTimeout,
}

/// An error with its cause.
pub(crate) fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

impl Outcome {
    /// What an error of files means.
    pub(crate) fn broken(what: &str, error: &io::Error) -> Self {
        Self::Broken(if space::is_full(error) {
            Breakage::DiskFull
        } else {
            Breakage::Files(format!("{what}: {error}"))
        })
    }

    /// True if it went as it should.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        *self == Self::Passed
    }

    /// A stable word for programs.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(failure) if failure.is_mistake() => "definition",
            Self::Failed(_) => "failed",
            Self::Broken(_) => "infrastructure",
            Self::Cancelled => "cancelled",
            Self::Skipped(_) => "skipped",
        }
    }

    /// A stable word for the reason; none if there is nothing to explain.
    #[must_use]
    pub fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Failed(failure) => Some(failure.kind()),
            Self::Broken(breakage) => Some(breakage.kind()),
            Self::Passed | Self::Cancelled | Self::Skipped(_) => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("passed"),
            Self::Failed(failure) => failure.fmt(f),
            Self::Broken(breakage) => breakage.fmt(f),
            Self::Cancelled => f.write_str("it was cancelled"),
            Self::Skipped(skip) => skip.fmt(f),
        }
    }
}

/// How a project brings what its tests import.
const BRING: &str = "bring it with the sources: `pip install --target sdk 'embeddedci[cloud]' pytest`, `sdk/` not in .gitignore, and `env: { PYTHONPATH: /job/sdk }` at the step";

impl Failure {
    /// Whether the pipeline asks for what its bench or its sandbox does not have: nothing is known about the code.
    #[must_use]
    pub fn is_mistake(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::NoPytest | Self::NoSdk)
    }

    /// A stable word for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Exit(_) => "exit_code",
            Self::Signal(_) => "signal",
            Self::Timeout(..) => "timeout",
            Self::Memory(_) => "out_of_memory",
            Self::Disk(_) => "disk_limit",
            Self::Processes(..) => "process_limit",
            Self::MissingArtifact(..) => "missing_artifact",
            Self::UnfitArtifact(..) => "unfit_artifact",
            Self::Assertion(..) => "assert",
            Self::Expect(..) => "expect",
            Self::NoTrigger => "no_trigger",
            Self::Refused(_) => "refused",
            Self::NoPytest => "no_pytest",
            Self::NoSdk => "no_sdk",
            Self::UnfitFirmware(_) => "unfit_firmware",
            Self::Tests(_) | Self::Cases(..) => "tests",
            Self::BadJunit(..) => "bad_junit",
            Self::Limits(..) => "limits",
            Self::BadMeasurements(_) => "bad_measurements",
        }
    }
}

impl Clock {
    /// What gives more time.
    fn remedy(self) -> &'static str {
        match self {
            Self::Step => "raise the step's `timeout`",
            Self::Run => "raise `timeouts.build`",
            Self::Test => "raise `timeouts.test`",
            Self::Always => "do less under `always`",
            Self::Job => "raise `timeouts.job`",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(
                f,
                "the command ended with exit code {code}; its output says why"
            ),
            Self::Signal(signal) => write!(
                f,
                "signal {signal} ended the command; its output may say why"
            ),
            Self::Timeout(clock, time) => write!(
                f,
                "it was not done after {time:?}; look what it waits for, or {}",
                clock.remedy()
            ),
            Self::Memory(bytes) => write!(
                f,
                "it needed more than {}; use less, or raise `limits.memory`",
                Size(*bytes)
            ),
            Self::Disk(bytes) => write!(
                f,
                "it took more than {} of the disk; use less, or raise `limits.disk`",
                Size(*bytes)
            ),
            Self::Processes(refused, most) => write!(
                f,
                "it started more than {most} processes, and {refused} were refused; start fewer, or raise `limits.processes`"
            ),
            Self::MissingArtifact(name, there) => write!(
                f,
                "the artifact {name} is not there, {}; let a step write it to \"$HOSTD_OUT/{name}\", or take it out of `artifacts`",
                match there.as_str() {
                    "" => "nor is anything else".to_owned(),
                    there => format!("only {there}"),
                }
            ),
            Self::UnfitArtifact(name, why) => {
                write!(f, "the artifact {name} cannot be taken: {why}")
            }
            Self::Assertion(wanted, seen) => write!(f, "wanted {wanted}, but {seen}"),
            Self::Expect(text, seen, line) => not_seen(f, text, seen, line),
            Self::NoTrigger => f.write_str(
                "the capture's trigger did not come; look at the channel, or raise its `timeout`",
            ),
            Self::Refused(why) => write!(f, "this device cannot do that: {why}"),
            Self::NoPytest => write!(
                f,
                "there is no pytest where the step runs; install it on the machine or in the image, or {BRING}"
            ),
            Self::NoSdk => write!(
                f,
                "no test ran, for the bench's SDK (embeddedci) is not where the step runs; {BRING}"
            ),
            Self::UnfitFirmware(why) => write!(f, "the firmware does not fit: {why}"),
            Self::Tests(1) => f.write_str("a test failed"),
            Self::Tests(count) => write!(f, "{count} tests failed"),
            Self::Cases(count, name, message) => tests_failed(f, *count, name, message),
            Self::BadJunit(name, why) => write!(f, "{name} gives no test cases: failed to {why}"),
            Self::Limits(count, first) => outside(f, *count, first),
            Self::BadMeasurements(why) => write!(f, "what was measured cannot be taken: {why}"),
        }
    }
}

/// A serial line on which a text did not come, and the last that came.
fn not_seen(f: &mut fmt::Formatter<'_>, text: &str, seen: &str, line: &str) -> fmt::Result {
    write!(f, "wanted {text:?} on the serial line")?;
    if !line.is_empty() {
        write!(f, " ({line})")?;
    }
    match seen {
        "" => f.write_str(", but nothing came"),
        seen => write!(f, ", but it did not come; the last was {seen:?}"),
    }
}

/// So many values are outside their limits, of which this is the first.
fn outside(f: &mut fmt::Formatter<'_>, count: u64, first: &str) -> fmt::Result {
    f.write_str(first)?;
    match count.saturating_sub(1) {
        0 => Ok(()),
        1 => f.write_str("; and another value is outside its limits"),
        more => write!(f, "; and {more} more values are outside their limits"),
    }
}

/// So many tests failed, of which this is the first.
fn tests_failed(f: &mut fmt::Formatter<'_>, count: u64, name: &str, message: &str) -> fmt::Result {
    write!(f, "the test {name} failed")?;
    if !message.is_empty() {
        write!(f, ": {message}")?;
    }
    match count.saturating_sub(1) {
        0 => Ok(()),
        1 => f.write_str("; and another test failed"),
        more => write!(f, "; and {more} more tests failed"),
    }
}

impl Breakage {
    /// A stable word for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoIsolation(_) => "infra.no_isolation",
            Self::Jail(_) => "infra.jail",
            Self::NoProgram(_) => "infra.no_program",
            Self::Image(_) => "infra.image",
            Self::DiskFull => "infra.disk_full",
            Self::Files(_) => "infra.files",
            Self::Unsupported(_) => "infra.unsupported",
            Self::DeviceLost(_) => "infra.device_lost",
            Self::Probe(_) => "infra.probe_unreachable",
            Self::WrongTarget(_) => "infra.wrong_target",
            Self::LeaseLost(_) => "infra.lease_lost",
        }
    }

    /// True if it may go well the next time, though nobody does anything about it.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Jail(_)
                | Self::DeviceLost(_)
                | Self::Probe(_)
                | Self::WrongTarget(_)
                | Self::LeaseLost(_)
        )
    }
}

impl fmt::Display for Breakage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoIsolation(lack) => write!(
                f,
                "this machine cannot isolate jobs: {lack}; {}. `hostd doctor` says more",
                lack.cure()
            ),
            Self::Jail(why) => write!(f, "the jail did not hold: {why}; run it again"),
            Self::NoProgram(name) => {
                write!(
                    f,
                    "this machine has no {name}; install it, or a link to it below /usr/bin"
                )
            }
            Self::Image(why) => f.write_str(why),
            Self::DiskFull => f.write_str("the disk is nearly full; make room and run it again"),
            Self::Files(why) => write!(f, "failed to {why}"),
            Self::Unsupported(what) => write!(f, "this cannot be run here yet: {what}"),
            Self::DeviceLost(why) => write!(
                f,
                "the device was lost: {why}; look at its cable and its power"
            ),
            Self::Probe(why) => write!(
                f,
                "the probe does not reach the target: {why}; look at its wiring and its power"
            ),
            Self::WrongTarget(why) => write!(
                f,
                "the device has another chip than its wiring says: {why}; correct `swd_target` of the wiring (hostd device wiring)"
            ),
            Self::LeaseLost(why) => {
                write!(
                    f,
                    "the device was taken away from the run: {why}; run it again"
                )
            }
        }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepFailed => f.write_str("not reached: a step before it failed"),
            Self::NothingFailed => f.write_str("it is for failures, and there was none"),
            Self::NeedFailed(run) => write!(f, "not run: it needs {run}, which did not succeed"),
            Self::NoBench => {
                f.write_str("not run: it needs a device, and only builds are run here")
            }
            Self::NoDevice(why) => write!(f, "not run: no device fits: {why}"),
            Self::Cancelled => f.write_str("not run: the job was cancelled"),
            Self::JobTimeout => f.write_str("not run: the job's time was over"),
        }
    }
}

/// Bytes as a pipeline writes them.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
        let whole = |shift: &u32| self.0 >> shift << shift == self.0 && self.0 >> shift > 0;
        match units.iter().find(|(shift, _)| whole(shift)) {
            Some((shift, unit)) => write!(f, "{} {unit}", self.0 >> shift),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_test_that_failed_is_told_and_how_many_more() {
        let told = |count, message: &str| {
            let failure = Failure::Cases(count, "t::a".to_owned(), message.to_owned());
            assert_eq!(failure.kind(), "tests");
            failure.to_string()
        };
        assert_eq!(told(1, ""), "the test t::a failed");
        assert_eq!(told(1, "5 V"), "the test t::a failed: 5 V");
        assert_eq!(
            told(2, "5 V"),
            "the test t::a failed: 5 V; and another test failed"
        );
        assert!(told(9, "5 V").ends_with("; and 8 more tests failed"));
        // As earlier versions stored it.
        let old: Outcome = serde_json::from_str(r#"{"failed":{"tests":3}}"#).unwrap();
        assert_eq!(old.to_string(), "3 tests failed");
    }

    #[test]
    fn sizes_are_told_in_the_largest_unit_that_is_exact() {
        let told = |bytes| Failure::Memory(bytes).to_string();
        assert!(told(3 << 30).contains("more than 3 GiB;"));
        assert!(told(1536 << 20).contains("more than 1536 MiB;"));
        assert!(told(1000).contains("more than 1000 bytes;"));
    }
}

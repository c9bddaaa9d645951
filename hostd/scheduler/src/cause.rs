//! Why a task or an attempt ended, as a type that separates failures of the firmware from failures of
//! the bench. The axes follow from it, and so does the sentence that says what to do.

use serde::{Deserialize, Serialize};

use crate::axes::{EndedBecause, Verdict};

/// The code or its test failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// A build step ended with a code other than 0.
    Build,
    /// A test or command ended with a code other than 0.
    Test,
    /// An assertion about a measurement does not hold.
    Assert,
    /// Firmware that was flashed and verified did not print what was expected.
    Expect,
    /// It needed more memory than it may have.
    Memory,
    /// It needed more disk space than it may have.
    Disk,
    /// It needed more processes than it may have.
    Processes,
}

/// The bench or the server failed; nothing is said about the firmware.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Infra {
    /// The pod went away.
    DeviceLost,
    /// The pod is there, but its debug probe or instrument does not answer.
    ProbeUnreachable,
    /// The board has a different chip than configured.
    WrongTarget,
    /// The driver of the device did not stop.
    StuckStop,
    /// Somebody took the lease away.
    LeaseLost,
    /// The server's disk is full.
    DiskFull,
    /// The jail could not be started.
    JailNotStarted,
    /// The server was restarted.
    ServerRestarted,
    /// The server died while the job ran, and not for the first time.
    ServerDied,
    /// The jobs of the organisation keep as many bytes as they may.
    OrgQuota,
    /// What is stored of the job cannot be read.
    Unreadable,
    /// A secret that a step names is gone, cannot be read, or is no longer for the job.
    SecretUnavailable,
    /// The container image that the task names cannot be used.
    ImageUnavailable,
}

/// Which clock ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// A step's own.
    Step,
    /// Setting up.
    Start,
    /// The task's, all steps together.
    Task,
    /// The job's, from its first task to its last.
    Job,
}

/// How a task or an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// All steps ran, and nothing failed.
    Passed,
    /// The code or its test failed.
    Failed(Failure),
    /// It took too long.
    TimedOut(Clock),
    /// Somebody ended it.
    Cancelled,
    /// It found no place in time.
    QueueTimeout,
    /// It found no place in time, and no device of the organisation fits.
    NoMatchingDevice,
    /// The pipeline cannot be run as written.
    DefinitionError,
    /// The bench or the server failed.
    Infra(Infra),
    /// It was not run, because a task that it needs did not pass.
    Skipped,
}

impl Infra {
    /// Whether this raises a suspicion against the device rather than the server.
    #[must_use]
    pub(crate) fn is_of_device(self) -> bool {
        match self {
            Self::DeviceLost | Self::ProbeUnreachable | Self::WrongTarget | Self::StuckStop => true,
            Self::LeaseLost
            | Self::DiskFull
            | Self::JailNotStarted
            | Self::ServerRestarted
            | Self::ServerDied
            | Self::OrgQuota
            | Self::Unreadable
            | Self::SecretUnavailable
            | Self::ImageUnavailable => false,
        }
    }

    /// Whether another attempt may end otherwise.
    pub(crate) fn may_pass(self) -> bool {
        !matches!(
            self,
            Self::StuckStop
                | Self::ServerDied
                | Self::OrgQuota
                | Self::Unreadable
                | Self::SecretUnavailable
                | Self::ImageUnavailable
        )
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::DeviceLost => {
                "The device went away during the job. Check its cable and power, then retry the job."
            }
            Self::ProbeUnreachable => {
                "The device's probe or instrument did not answer. Check the wiring to the board, then retry the job."
            }
            Self::WrongTarget => {
                "The board carries another chip than its wiring says. Correct the wiring or the pipeline, then submit again."
            }
            Self::StuckStop => {
                "The attempt could not be stopped in time and was given up. Look at the device before it is re-admitted."
            }
            Self::LeaseLost => {
                "Somebody took the device's lease away during the job. Ask its holder, then retry the job."
            }
            Self::DiskFull => {
                "The server's disk is full. Free some room there, then retry the job."
            }
            Self::JailNotStarted => {
                "The server could not start the sandbox. `hostd doctor` says why; then retry the job."
            }
            Self::ServerRestarted => {
                "The server was restarted after the tests had begun, and tests are not run twice unasked. Retry the job."
            }
            Self::ServerDied => {
                "The server died twice while the job ran, so it is not tried again. Ask whoever runs the server whether the job is what it died of; then retry the job."
            }
            Self::OrgQuota => {
                "The jobs of the organisation keep as many bytes as they may (jobs.org_gib_max). Write less, or ask an administrator for more room."
            }
            Self::Unreadable => {
                "What is stored of the job cannot be read by this version of hostd. It is kept as it is; submit the job again."
            }
            Self::ImageUnavailable => {
                "The container image of the run cannot be used on this server. Its log says why; then retry the job."
            }
            Self::SecretUnavailable => {
                "A secret that the pipeline names could not be had. Look at the organisation's secrets, then retry the job."
            }
        }
    }
}

impl Failure {
    fn sentence(self) -> &'static str {
        match self {
            Self::Build => {
                "The build failed. The end of its log has the compiler's message; mend the code and submit again."
            }
            Self::Test => {
                "A test failed. The failed cases say which; mend the firmware or the test and submit again."
            }
            Self::Assert => {
                "What was measured is not what the pipeline asserts. Look at the capture of the failed case."
            }
            Self::Expect => {
                "The firmware was flashed and verified, and did not say what was expected. Compare the serial log with the pipeline."
            }
            Self::Memory => {
                "It needed more memory than `limits.memory` allows. Use less, or raise the limit."
            }
            Self::Disk => {
                "It needed more room than `limits.disk` allows. Write less, or raise the limit."
            }
            Self::Processes => {
                "It started more processes than `limits.processes` allows. Start fewer, or raise the limit."
            }
        }
    }
}

impl Ending {
    /// Its word on the axis of reasons.
    #[must_use]
    pub fn ended_because(self) -> EndedBecause {
        match self {
            Self::Passed | Self::Failed(_) | Self::Skipped => EndedBecause::Completed,
            Self::TimedOut(_) => EndedBecause::Timeout,
            Self::Cancelled => EndedBecause::Cancelled,
            Self::QueueTimeout => EndedBecause::QueueTimeout,
            Self::NoMatchingDevice => EndedBecause::NoMatchingDevice,
            Self::DefinitionError => EndedBecause::DefinitionError,
            Self::Infra(Infra::DeviceLost) => EndedBecause::DeviceLost,
            Self::Infra(_) => EndedBecause::InfraError,
        }
    }

    /// What a task with this ending says about the firmware. A step or task that hangs has failed; a
    /// job whose clock runs out may only have waited, and a slow start is the server's fault.
    #[must_use]
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Passed => Verdict::Success,
            Self::Failed(_) | Self::TimedOut(Clock::Step | Clock::Task) => Verdict::Failure,
            _ => Verdict::Pending,
        }
    }

    /// One or two sentences for a person: what happened and what to do.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Passed => "Everything ran, and nothing failed.",
            Self::Failed(failure) => failure.sentence(),
            Self::Infra(infra) => infra.sentence(),
            Self::TimedOut(Clock::Step) => {
                "A step took longer than its timeout. The end of the log shows where it hung."
            }
            Self::TimedOut(Clock::Start) => {
                "Setting up took too long on the server. Retry the job; if it happens again, `hostd doctor` says what is slow."
            }
            Self::TimedOut(Clock::Task) => {
                "The steps together took longer than the pipeline's timeouts. The timeline shows which; shorten it or raise its timeout."
            }
            Self::TimedOut(Clock::Job) => {
                "The whole job took longer than `timeouts.job`. The timeline shows where the time went."
            }
            Self::Cancelled => "Somebody cancelled it. Retry the job to run it again.",
            Self::QueueTimeout => {
                "No device that fits became free in time. Retry later, or raise `timeouts.queue`."
            }
            Self::NoMatchingDevice => {
                "No device of the organisation is what the pipeline asks for. Correct its `device`, or plug one in."
            }
            Self::DefinitionError => {
                "The pipeline cannot be run as it is written. Correct what the message names and submit again."
            }
            Self::Skipped => "It was not run, since a task that it needs did not pass.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Ending, Failure, Infra};
    use crate::axes::{EndedBecause, Verdict};

    const INFRA: [Infra; 13] = [
        Infra::DeviceLost,
        Infra::ProbeUnreachable,
        Infra::WrongTarget,
        Infra::StuckStop,
        Infra::LeaseLost,
        Infra::DiskFull,
        Infra::JailNotStarted,
        Infra::ServerRestarted,
        Infra::ServerDied,
        Infra::OrgQuota,
        Infra::Unreadable,
        Infra::SecretUnavailable,
        Infra::ImageUnavailable,
    ];

    #[test]
    fn the_bench_never_says_anything_about_the_firmware() {
        for infra in INFRA {
            let ending = Ending::Infra(infra);
            assert_eq!(ending.verdict(), Verdict::Pending);
            let lost = infra == Infra::DeviceLost;
            let because = if lost {
                EndedBecause::DeviceLost
            } else {
                EndedBecause::InfraError
            };
            assert_eq!(ending.ended_because(), because);
        }
    }

    #[test]
    fn a_bound_that_is_hit_is_a_failure_and_so_is_a_step_that_hangs() {
        let memory = Ending::Failed(Failure::Memory);
        assert_eq!(memory.ended_because(), EndedBecause::Completed);
        assert_eq!(memory.verdict(), Verdict::Failure);
        let hung = Ending::TimedOut(Clock::Step);
        assert_eq!(hung.ended_because(), EndedBecause::Timeout);
        assert_eq!(hung.verdict(), Verdict::Failure);
        assert_eq!(Ending::TimedOut(Clock::Job).verdict(), Verdict::Pending);
    }
}

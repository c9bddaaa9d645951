//! How runs end, from the runner's words to the scheduler's, and how that is told.

use jobs::{Breakage, Clock as RunClock, Failure as RunFailure, Outcome, RunEnd};
use scheduler::{Clock, Ending, Failure, Infra};
use store::jobs::{End, PASSED};

/// How an attempt ended, with the words of whoever knows most about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) ending: Ending,
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Told {
    /// What the scheduler says of an ending that it decided itself.
    pub(crate) fn of(ending: Ending) -> Self {
        Self {
            ending,
            code: code(ending).to_owned(),
            message: ending.sentence().to_owned(),
        }
    }

    /// What is said of an attempt that is repeated.
    pub(crate) fn of_repeated(ending: Ending) -> Self {
        let mut told = Self::of(ending);
        if ending == Ending::Infra(Infra::ServerRestarted) {
            "The server was restarted before the tests had begun. The run is repeated."
                .clone_into(&mut told.message);
        }
        told
    }

    /// What the runner says.
    pub(crate) fn of_run(end: &RunEnd) -> Self {
        let ending = ending(&end.outcome, end.is_bench);
        let mut told = Self::of(ending);
        if !matches!(ending, Ending::Passed | Ending::Cancelled) {
            if let Some(kind) = end.outcome.kind() {
                kind.clone_into(&mut told.code);
            }
            told.message = sentence(&end.sentence());
        }
        told
    }

    pub(crate) fn stored(&self) -> End {
        End {
            ending: serde_json::to_value(self.ending).unwrap_or_default(),
            code: self.code.clone(),
            message: self.message.clone(),
        }
    }
}

/// A fragment such as `the board said nothing` as a sentence. One that begins with the name of a file keeps it as it is.
fn sentence(fragment: &str) -> String {
    let is_of_a_name = |c: char| c.is_ascii_digit() || "/._-*".contains(c);
    let word = fragment.split_whitespace().next().unwrap_or_default();
    let is_word = !word.trim_end_matches('.').contains(is_of_a_name);
    let mut chars = fragment.chars().peekable();
    let first = chars.next_if(|_| is_word).map(char::to_uppercase);
    let mut text: String = first.into_iter().flatten().chain(chars).collect();
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

/// A stable word for an ending.
pub(crate) fn code(ending: Ending) -> &'static str {
    match ending {
        Ending::Passed => PASSED,
        Ending::Failed(failure) => match failure {
            Failure::Build => "build",
            Failure::Test => "test",
            Failure::Assert => "assert",
            Failure::Expect => "expect",
            Failure::Memory => "out_of_memory",
            Failure::Disk => "disk_limit",
            Failure::Processes => "process_limit",
        },
        Ending::TimedOut(_) => "timeout",
        Ending::Cancelled => "cancelled",
        Ending::QueueTimeout => "queue_timeout",
        Ending::NoMatchingDevice => "no_matching_device",
        Ending::DefinitionError => "definition_error",
        Ending::Skipped => "skipped",
        Ending::Infra(infra) => match infra {
            Infra::DeviceLost => "infra.device_lost",
            Infra::ProbeUnreachable => "infra.probe_unreachable",
            Infra::WrongTarget => "infra.wrong_target",
            Infra::StuckStop => "infra.stuck_stop",
            Infra::LeaseLost => "infra.lease_lost",
            Infra::DiskFull => "infra.disk_full",
            Infra::JailNotStarted => "infra.jail",
            Infra::ServerRestarted => "infra.server_restarted",
            Infra::ServerDied => "infra.server_died",
            Infra::OrgQuota => "infra.org_quota",
            Infra::Unreadable => "infra.unreadable",
            Infra::SecretUnavailable => "infra.secret_unavailable",
            Infra::ImageUnavailable => "infra.image",
        },
    }
}

/// What the runner's outcome is to the scheduler.
fn ending(outcome: &Outcome, is_bench: bool) -> Ending {
    match outcome {
        Outcome::Passed => Ending::Passed,
        Outcome::Cancelled => Ending::Cancelled,
        Outcome::Skipped(_) => Ending::Skipped,
        Outcome::Failed(failure) => failed(failure, is_bench),
        Outcome::Broken(breakage) => Ending::Infra(broken(breakage)),
    }
}

fn failed(failure: &RunFailure, is_bench: bool) -> Ending {
    if failure.is_mistake() {
        return Ending::DefinitionError;
    }
    Ending::Failed(match failure {
        RunFailure::Timeout(clock, _) => {
            return Ending::TimedOut(match clock {
                RunClock::Step => Clock::Step,
                RunClock::Run | RunClock::Test | RunClock::Always => Clock::Task,
                RunClock::Job => Clock::Job,
            });
        }
        RunFailure::Memory(_) => Failure::Memory,
        RunFailure::Disk(_) => Failure::Disk,
        RunFailure::Processes(..) => Failure::Processes,
        RunFailure::Assertion(..) => Failure::Assert,
        RunFailure::Expect(..) => Failure::Expect,
        _ if is_bench => Failure::Test,
        _ => Failure::Build,
    })
}

fn broken(breakage: &Breakage) -> Infra {
    match breakage {
        Breakage::DiskFull => Infra::DiskFull,
        Breakage::DeviceLost(_) => Infra::DeviceLost,
        Breakage::Probe(_) => Infra::ProbeUnreachable,
        Breakage::WrongTarget(_) => Infra::WrongTarget,
        Breakage::LeaseLost(_) => Infra::LeaseLost,
        Breakage::Image(_) => Infra::ImageUnavailable,
        Breakage::NoIsolation(_)
        | Breakage::Jail(_)
        | Breakage::NoProgram(_)
        | Breakage::Files(_)
        | Breakage::Unsupported(_) => Infra::JailNotStarted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_pipeline_lacks_is_no_failure_of_the_code() {
        let of = |failure| ending(&Outcome::Failed(failure), true);
        for mistake in [
            RunFailure::Refused("no".to_owned()),
            RunFailure::NoPytest,
            RunFailure::NoSdk,
        ] {
            let ending = of(mistake);
            assert_eq!(ending, Ending::DefinitionError);
            assert_eq!(ending.verdict(), scheduler::Verdict::Pending);
        }
        let unfit = of(RunFailure::UnfitFirmware("too large".to_owned()));
        assert_eq!(unfit, Ending::Failed(Failure::Test));
    }

    #[test]
    fn a_fragment_becomes_a_sentence() {
        assert_eq!(sentence("it hung; look why"), "It hung; look why.");
        assert_eq!(sentence("über"), "Über.");
        assert_eq!(sentence("r/1.xml has none"), "r/1.xml has none.");
        assert_eq!(sentence("report.xml: none"), "report.xml: none.");
        assert_eq!(sentence("Why?"), "Why?");
        assert_eq!(sentence(""), ".");
    }
}

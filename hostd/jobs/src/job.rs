//! What a job came to.

use std::time::Duration;

use crate::outcome::{Outcome, Skip};
use crate::results::RunEnd;

/// A job that has ended.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its runs, in the order of the plan.
    pub runs: Vec<RunEnd>,
    /// How long it took.
    pub duration: Duration,
    /// Runs of benches were left out on purpose.
    pub builds_only: bool,
}

/// What a job came to, in a word and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All went as it should.
    Success,
    /// The code or a test is wrong: the run, and what it came to.
    Failure(String, String),
    /// The pipeline asks for what its bench or its sandbox does not have: likewise.
    Definition(String, String),
    /// This machine is at fault: likewise.
    Infrastructure(String, String),
    /// Somebody ended it.
    Cancelled,
    /// So many runs of benches were not run; the others went as they should.
    Incomplete(usize),
}

impl Job {
    /// What the job came to: a failure weighs more than a pipeline or a machine at fault.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let first = |is: fn(&Outcome) -> bool| {
            let run = self.runs.iter().find(|run| is(&run.outcome))?;
            Some((run.id.clone(), run.sentence()))
        };
        let is_cancelled = |outcome: &Outcome| {
            matches!(
                outcome,
                Outcome::Cancelled | Outcome::Skipped(Skip::Cancelled)
            )
        };
        let is_failed = |outcome: &Outcome| match outcome {
            Outcome::Failed(failure) => !failure.is_mistake(),
            outcome => *outcome == Outcome::Skipped(Skip::JobTimeout),
        };
        if first(is_cancelled).is_some() {
            return Verdict::Cancelled;
        }
        if let Some((id, sentence)) = first(is_failed) {
            return Verdict::Failure(id, sentence);
        }
        if let Some((id, sentence)) = first(|outcome| matches!(outcome, Outcome::Failed(_))) {
            return Verdict::Definition(id, sentence);
        }
        if let Some((id, sentence)) = first(|outcome| matches!(outcome, Outcome::Broken(_))) {
            return Verdict::Infrastructure(id, sentence);
        }
        let left_out = |run: &&RunEnd| !run.outcome.has_passed();
        match self.runs.iter().filter(left_out).count() {
            count if count > 0 && !self.builds_only => Verdict::Incomplete(count),
            _ => Verdict::Success,
        }
    }

    /// Whether the job's own time was over.
    #[must_use]
    pub fn hit_timeout(&self) -> bool {
        let is_skipped = |run: &RunEnd| run.outcome == Outcome::Skipped(Skip::JobTimeout);
        self.runs
            .iter()
            .any(|run| run.hit_job_timeout() || is_skipped(run))
    }
}

impl Verdict {
    /// The exit code of a command that carried the job out: 0 success, 1 failure, 2 the pipeline, 3 infrastructure, 4
    /// cancelled. A job whose benches were not run is not known to be a success, which is the machine's fault.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure(..) => 1,
            Self::Definition(..) => 2,
            Self::Infrastructure(..) | Self::Incomplete(_) => 3,
            Self::Cancelled => 4,
        }
    }

    /// A stable word for programs.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure(..) => "failure",
            Self::Definition(..) => "definition",
            Self::Infrastructure(..) => "infrastructure",
            Self::Cancelled => "cancelled",
            Self::Incomplete(_) => "incomplete",
        }
    }

    /// What happened and what to do.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Success => "All went as it should.".to_owned(),
            Self::Failure(run, sentence)
            | Self::Definition(run, sentence)
            | Self::Infrastructure(run, sentence) => format!("{run}: {sentence}."),
            Self::Cancelled => "The job was cancelled.".to_owned(),
            Self::Incomplete(count) => format!(
                "All that was run went as it should; {count} runs of benches were not run. Name a device that fits with --device, or pass --builds-only if that is what you want."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::outcome::{Breakage, Failure};

    fn job(outcomes: &[Outcome]) -> Job {
        let text = "version: 1\nbuilds: [{ id: fw, steps: [{ run: make }] }]";
        let caps = pipeline::Caps::default();
        let plan = pipeline::expand(&pipeline::parse(text, &caps).unwrap(), &caps);
        let end =
            |outcome: &Outcome| RunEnd::skipped(&plan.runs[0], outcome.clone(), Duration::ZERO);
        Job {
            runs: outcomes.iter().map(end).collect(),
            duration: Duration::ZERO,
            builds_only: false,
        }
    }

    #[test]
    fn the_worst_run_decides() {
        let failed = Outcome::Failed(Failure::Exit(2));
        let broken = Outcome::Broken(Breakage::DiskFull);
        let bench = Outcome::Skipped(Skip::NoBench);
        let mistake = Outcome::Failed(Failure::NoPytest);
        let code = |outcomes: &[Outcome]| job(outcomes).verdict().exit_code();
        assert_eq!(code(&[Outcome::Passed, Outcome::Passed]), 0);
        assert_eq!(code(&[broken.clone(), failed.clone()]), 1);
        assert_eq!(code(&[Outcome::Passed, broken.clone()]), 3);
        assert_eq!(code(&[broken.clone(), mistake.clone()]), 2);
        assert_eq!(code(&[mistake.clone(), failed.clone()]), 1);
        assert_eq!(code(&[failed, Outcome::Skipped(Skip::Cancelled)]), 4);
        assert_eq!(code(&[Outcome::Passed, bench.clone()]), 3);
        assert_eq!(
            code(&[Outcome::Passed, Outcome::Skipped(Skip::JobTimeout)]),
            1
        );
        let mut builds = job(&[Outcome::Passed, bench]);
        builds.builds_only = true;
        assert_eq!(builds.verdict(), Verdict::Success);
    }
}

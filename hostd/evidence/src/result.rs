//! What is known about a job once it has ended, as types: the one source of its JUnit and its page.

use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cases::{Cases, Counts, Source};
use crate::measurement::Measurement;

/// A job.
#[derive(Debug, Clone, Default)]
pub struct JobResult {
    /// Its id.
    pub id: String,
    /// Its name, as it was submitted.
    pub name: String,
    /// Branch or tag, if known.
    pub reference: Option<String>,
    /// Commit, if known.
    pub commit: Option<String>,
    /// Who submitted it.
    pub submitted_by: String,
    /// When it was submitted, as RFC 3339.
    pub submitted_at: String,
    /// From the submission to the end, in microseconds.
    pub duration_us: u64,
    /// A word of the axis of states.
    pub state: String,
    /// A word of the axis of reasons.
    pub ended_because: Option<String>,
    /// A word of the axis of verdicts.
    pub verdict: String,
    /// What happened and what to do, for a person.
    pub sentence: String,
    /// What ran where, in the order of the pipeline.
    pub runs: Vec<RunResult>,
    /// Phases of the whole job, for the timeline.
    pub spans: Vec<Span>,
    /// The end of the log, with secrets redacted.
    pub log_tail: String,
    /// Bytes of the log before that end.
    pub log_before: u64,
}

/// A run of a build, or of the bench steps with one firmware on one device.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// `bench.variant.pack`, or the build's name: the class of its cases.
    pub class: String,
    /// The device, if there was one.
    pub device: Option<String>,
    /// How far its commands reached into the network, in one word; none if not at all.
    pub network: Option<String>,
    /// Number of attempts.
    pub attempts: u32,
    /// Duration in microseconds.
    pub duration_us: u64,
    /// The run as a whole, with what no case tells.
    pub whole: Option<Case>,
    /// How many cases it has, by outcome.
    pub counts: Counts,
    /// Bytes of their text that were not kept.
    pub cut_bytes: u64,
    /// What its cases link to, by name and address: known without reading them.
    pub links: Vec<(String, String)>,
    /// Its cases, in the order in which they ran.
    pub cases: Arc<dyn Source>,
    /// Files that it left, also if it failed: a name and an address each.
    pub files: Vec<(String, String)>,
    /// What it measured, as far as reports show it.
    pub measurements: Vec<Measurement>,
    /// How many measurements it has.
    pub measured: u64,
}

/// A test case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its name, which need not be unique.
    pub name: String,
    /// Duration in microseconds.
    pub duration_us: u64,
    /// How it went.
    pub outcome: Outcome,
    /// What it wrote, with secrets redacted.
    pub output: String,
    /// Links to more about it: a name and an address each.
    pub links: Vec<(String, String)>,
    /// Files of the job that belong to it, by the paths under which the CI system finds them.
    pub attachments: Vec<String>,
    /// Captures that belong to it.
    pub captures: Vec<Capture>,
}

/// The outcome of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It passed.
    #[default]
    Passed,
    /// The firmware or the test failed.
    Failed(Fault),
    /// Nothing is known about the firmware, since the bench failed, whose fault's kind begins with `infra.`, or since the
    /// pipeline asks for what is not there.
    BenchFailed(Fault),
    /// It was not run.
    Skipped(String),
}

/// What went wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// One word, such as `assert` or `infra.device_lost`.
    pub kind: String,
    /// One line.
    pub message: String,
    /// Everything else, in lines.
    pub detail: String,
}

/// A capture, reduced to what a small picture shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// Its name.
    pub name: String,
    /// Its length, in microseconds.
    pub duration_us: u64,
    /// Its channels, from top to bottom.
    pub channels: Vec<Channel>,
}

/// A channel of a capture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// What is connected to it.
    pub name: String,
    /// Its signal.
    pub signal: Signal,
}

/// The signal of a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// The level at the beginning, and when it changed, as parts of the whole from 0 to 1.
    Digital(bool, Vec<f32>),
    /// Lowest and highest value of each of several equal parts, in the unit of the last field.
    Analog(Vec<(f32, f32)>, String),
}

/// A span of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    /// The row: a build, or a device.
    pub lane: String,
    /// How the time was spent.
    pub name: String,
    /// Beginning, in microseconds from the job's submission.
    pub start_us: u64,
    /// End, likewise.
    pub end_us: u64,
    /// Whether something failed in it.
    pub failed: bool,
}

impl Default for RunResult {
    fn default() -> Self {
        Self {
            class: String::new(),
            device: None,
            network: None,
            attempts: 0,
            duration_us: 0,
            whole: None,
            counts: Counts::default(),
            cut_bytes: 0,
            links: Vec::new(),
            cases: Arc::new(Vec::new()),
            files: Vec::new(),
            measurements: Vec::new(),
            measured: 0,
        }
    }
}

impl RunResult {
    /// With these cases.
    #[must_use]
    pub fn with_cases(mut self, cases: Vec<Case>) -> Self {
        self.counts = Counts::of(&cases);
        self.links = cases.iter().flat_map(|case| case.links.clone()).collect();
        self.cases = Arc::new(cases);
        self
    }

    /// The run as a whole, unless it went wrong in a case, which counts once.
    fn whole_as_case(&self) -> Option<&Case> {
        let is_told =
            |whole: &&Case| !whole.outcome.is_bad() || self.counts.like(&whole.outcome) == 0;
        self.whole.as_ref().filter(is_told)
    }

    /// Its cases as readers see them: first the run as a whole, unless it went wrong in a case, which counts once.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn told(&self) -> io::Result<Cases> {
        let whole = self.whole_as_case().cloned().map(Ok);
        Ok(Box::new(whole.into_iter().chain(self.cases.open()?)))
    }

    /// How many cases readers see that went wrong.
    #[must_use]
    pub fn bad_count(&self) -> u64 {
        let counts = self.told_counts();
        counts.failed + counts.errors()
    }

    /// How many cases readers see, by outcome.
    #[must_use]
    pub fn told_counts(&self) -> Counts {
        let mut counts = self.counts;
        if let Some(whole) = self.whole_as_case() {
            counts.add(&whole.outcome);
        }
        counts
    }
}

impl Fault {
    /// Whether the bench failed, rather than the pipeline.
    #[must_use]
    pub fn is_of_bench(&self) -> bool {
        self.kind.starts_with("infra.")
    }
}

impl Outcome {
    /// What went wrong, if something did.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Failed(fault) | Self::BenchFailed(fault) => Some(fault),
            Self::Passed | Self::Skipped(_) => None,
        }
    }

    fn is_bad(&self) -> bool {
        self.fault().is_some()
    }
}

impl JobResult {
    /// How many cases readers see, by outcome.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for run in &self.runs {
            counts += run.told_counts();
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, outcome: Outcome) -> Case {
        Case {
            name: name.to_owned(),
            outcome,
            ..Case::default()
        }
    }

    fn told(whole: Outcome, other: Outcome) -> Vec<String> {
        let run = RunResult {
            whole: Some(case("test", whole)),
            ..RunResult::default()
        };
        let run = run.with_cases(vec![case("banner", other)]);
        let told: Vec<String> = run.told().unwrap().map(|case| case.unwrap().name).collect();
        assert_eq!(run.told_counts().all(), told.len() as u64);
        told
    }

    #[test]
    fn what_a_case_failed_by_counts_once() {
        let failed = || Outcome::Failed(Fault::default());
        let broken = || Outcome::BenchFailed(Fault::default());
        let both = ["test", "banner"];
        assert_eq!(told(failed(), failed()), ["banner"]);
        assert_eq!(told(broken(), broken()), ["banner"]);
        assert_eq!(told(Outcome::Passed, Outcome::Passed), both);
        assert_eq!(told(failed(), Outcome::Passed), both);
        assert_eq!(told(broken(), failed()), both);
        assert_eq!(told(Outcome::Skipped(String::new()), failed()), both);
    }
}

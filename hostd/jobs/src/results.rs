//! What is known about runs and steps when they have ended.

use std::time::Duration;

use evidence::cases::Counts;
use evidence::measurement::Measurement;
use evidence::result::{Capture, Case};
use jail::Reach;
use serde::{Deserialize, Serialize};

use crate::artifacts::Artifact;
use crate::log::LogSummary;
use crate::micros;
use crate::outcome::{Clock, Failure, Outcome};
use crate::timeline::{Mark, Reading};

/// A run of a build or bench that has ended, or was not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    /// Its id, as `fw.debug.f0`.
    pub id: String,
    /// True for a bench.
    pub is_bench: bool,
    /// What people call the device that it had.
    pub device: Option<String>,
    /// How it went.
    pub outcome: Outcome,
    /// Attempts it took; 0 if it was not run.
    pub attempts: u32,
    /// Its target or its tests have said something, so it must not be repeated.
    pub has_test_output: bool,
    /// From the job's begin to its own, and to its end.
    pub time: Span,
    /// Its steps, as far as they were reached.
    pub steps: Vec<StepEnd>,
    /// What it spent its time on, steps included.
    pub spans: Vec<(String, Span)>,
    /// What it made.
    pub artifacts: Vec<Artifact>,
    /// Whether what it keeps was there; none if it keeps nothing.
    pub cache_hit: Option<bool>,
    /// How far its commands reached into the network; none if it had none.
    #[serde(default)]
    pub network: Option<Reach>,
    /// What became of its log.
    pub log: LogSummary,
    /// Bytes of the file with the cases that its tests wrote.
    #[serde(default)]
    pub case_bytes: u64,
    /// Bytes of their text that were not kept.
    #[serde(default)]
    pub cut_bytes: u64,
    /// What the target said, by time.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// What the rails gave, by time.
    #[serde(default)]
    pub readings: Vec<Reading>,
}

/// A step that has ended, or was not reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepEnd {
    /// Where it is written, as `builds[0].steps[2]`.
    pub at: String,
    /// What people call it.
    pub name: String,
    /// The test case it is.
    pub case: Option<String>,
    /// How it went.
    pub outcome: Outcome,
    /// The command's exit code, if it came to that.
    pub exit_code: Option<i32>,
    /// From the job's begin.
    pub time: Span,
    /// The end of what it wrote, secrets blotted out.
    pub tail: String,
    /// How many cases the JUnit files had that it wrote, by outcome. The attempt's file of cases has them, behind those of
    /// the steps before.
    #[serde(default)]
    pub counts: Counts,
    /// Those that an earlier version kept here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<Case>,
    /// What it recorded.
    pub captures: Vec<CaptureEnd>,
    /// What it measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measurements: Vec<Measurement>,
}

/// A capture that a step made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaptureEnd {
    /// Its id among the captures of the bench.
    pub id: String,
    /// What the step is called.
    pub name: String,
    /// From its begin until it was kept.
    pub time: Span,
    /// Reduced to what a small picture shows.
    pub picture: Option<Capture>,
    /// In what it differs from what was asked for.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// A stretch of time, from the job's begin on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Its begin.
    #[serde(rename = "start_us", with = "micros")]
    pub start: Duration,
    /// Its end.
    #[serde(rename = "end_us", with = "micros")]
    pub end: Duration,
}

impl Span {
    /// How long it is.
    #[must_use]
    pub fn len(&self) -> Duration {
        self.end.saturating_sub(self.start)
    }

    /// True if it took no time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len().is_zero()
    }
}

impl RunEnd {
    /// A run that was not run.
    pub(crate) fn skipped(run: &pipeline::plan::Run, outcome: Outcome, at: Duration) -> Self {
        let is_bench = matches!(run.role, pipeline::plan::Role::Bench { .. });
        let time = Span { start: at, end: at };
        Self::bare((&run.id, is_bench), outcome, time)
    }

    /// The run with this id, a bench or not, of which nothing is known but how it ended and when.
    #[must_use]
    pub fn bare((id, is_bench): (&str, bool), outcome: Outcome, time: Span) -> Self {
        Self {
            id: id.to_owned(),
            is_bench,
            device: None,
            outcome,
            attempts: 0,
            has_test_output: false,
            time,
            steps: Vec::new(),
            spans: Vec::new(),
            artifacts: Vec::new(),
            cache_hit: None,
            network: None,
            log: LogSummary::default(),
            case_bytes: 0,
            cut_bytes: 0,
            marks: Vec::new(),
            readings: Vec::new(),
        }
    }

    /// What its steps measured, with the name of each step.
    pub fn measurements(&self) -> impl Iterator<Item = (&str, &Measurement)> + Clone {
        let steps = self.steps.iter();
        steps.flat_map(|step| {
            let measured = step.measurements.iter();
            measured.map(|measured| (step.name.as_str(), measured))
        })
    }

    /// What it came to, for people. Of a step that is a test and failed, its name as well.
    #[must_use]
    pub fn sentence(&self) -> String {
        let is_bad =
            |step: &&StepEnd| !matches!(step.outcome, Outcome::Passed | Outcome::Skipped(_));
        let first = self.steps.iter().find(is_bad);
        let first = first.filter(|step| step.outcome == self.outcome);
        match (&self.outcome, first.and_then(|step| step.case.as_ref())) {
            // That names a test of its own.
            (Outcome::Failed(Failure::Cases(..)), _) | (_, None) => self.outcome.to_string(),
            (Outcome::Failed(failure), Some(case)) if !failure.is_mistake() => {
                format!("the test {case} failed: {failure}")
            }
            (outcome, Some(_)) => outcome.to_string(),
        }
    }

    /// Whether it may be carried out again: the bench or the machine spoiled it, need not do so again, and no test has
    /// said anything.
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        matches!(&self.outcome, Outcome::Broken(breakage) if breakage.may_pass())
            && !self.has_test_output
    }

    /// Leaves the pictures of captures out. What they are in place of says so.
    pub fn drop_pictures(&mut self) {
        let captures = self.steps.iter_mut().flat_map(|step| &mut step.captures);
        for picture in captures.filter_map(|capture| capture.picture.as_mut()) {
            picture.channels.clear();
            picture
                .name
                .push_str(" (too large to be drawn with the others)");
        }
    }

    /// Leaves the ends of what steps wrote out, which the log has too.
    pub fn drop_tails(&mut self) {
        for step in self.steps.iter_mut().filter(|step| !step.tail.is_empty()) {
            "(left out: the log has it)".clone_into(&mut step.tail);
        }
    }

    /// Whether the job's time was over in it.
    pub(crate) fn hit_job_timeout(&self) -> bool {
        matches!(
            self.outcome,
            Outcome::Failed(crate::outcome::Failure::Timeout(Clock::Job, _))
        )
    }
}

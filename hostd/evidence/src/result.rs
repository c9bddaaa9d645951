//! What is known about a job when it has ended, as types: the one source of its JUnit and of its page.

/// A job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobResult {
    /// Its id.
    pub id: String,
    /// Its name, as it was submitted.
    pub name: String,
    /// Branch or tag, if that was said.
    pub reference: Option<String>,
    /// Commit, if that was said.
    pub commit: Option<String>,
    /// Who submitted it.
    pub submitted_by: String,
    /// When it was submitted, as RFC 3339.
    pub submitted_at: String,
    /// From the submission to the end, in microseconds.
    pub duration_us: u64,
    /// Word of the axis of states.
    pub state: String,
    /// Word of the axis of reasons.
    pub ended_because: Option<String>,
    /// Word of the axis of verdicts.
    pub verdict: String,
    /// What happened and what to do, for a person.
    pub sentence: String,
    /// What ran where, in the order of the pipeline.
    pub runs: Vec<RunResult>,
    /// Phases of the whole, for the timeline.
    pub spans: Vec<Span>,
    /// The end of the log, secrets blotted out.
    pub log_tail: String,
    /// Bytes of the log before that tail.
    pub log_before: u64,
}

/// A run of a build, or of the bench steps with one firmware on one device.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunResult {
    /// `bench.variant.pack`, or the build's name: the class of its cases.
    pub class: String,
    /// The device, if there was one.
    pub device: Option<String>,
    /// Attempts it took.
    pub attempts: u32,
    /// In microseconds.
    pub duration_us: u64,
    /// In the order in which they ran.
    pub cases: Vec<Case>,
}

/// A case of a test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Case {
    /// Its name, which need not be the only one of it.
    pub name: String,
    /// In microseconds.
    pub duration_us: u64,
    /// How it went.
    pub outcome: Outcome,
    /// What it wrote, secrets blotted out.
    pub output: String,
    /// Where more is to be seen: a name and an address each.
    pub links: Vec<(String, String)>,
    /// Files of the job that belong to it, as the CI system finds them.
    pub attachments: Vec<String>,
    /// Captures that belong to it.
    pub captures: Vec<Capture>,
}

/// How a case went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    #[default]
    Passed,
    /// The firmware or the test failed.
    Failed(Fault),
    /// The bench failed; nothing is known about the firmware. The fault's kind begins with `infra.`.
    BenchFailed(Fault),
    /// It was not run.
    Skipped(String),
}

/// What went wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// One word, such as `assert` or `infra.device_lost`.
    pub kind: String,
    /// One line.
    pub message: String,
    /// Everything else, as lines.
    pub detail: String,
}

/// A capture, reduced to what a small picture shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capture {
    /// Its name.
    pub name: String,
    /// How long it is, in microseconds.
    pub duration_us: u64,
    /// From top to bottom.
    pub channels: Vec<Channel>,
}

/// A channel of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// What is connected to it.
    pub name: String,
    /// What was seen on it.
    pub signal: Signal,
}

/// What was seen on a channel.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// The level at the beginning, and when it changed, as parts of the whole from 0 to 1.
    Digital(bool, Vec<f32>),
    /// Lowest and highest of each of equally long parts, in the unit of the last field.
    Analog(Vec<(f32, f32)>, String),
}

/// A stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    /// In which row: a build, a device.
    pub lane: String,
    /// What it was spent on.
    pub name: String,
    /// Beginning, in microseconds from the job's submission.
    pub start_us: u64,
    /// End, likewise.
    pub end_us: u64,
    /// Whether something failed in it.
    pub failed: bool,
}

impl JobResult {
    /// Cases that went so.
    #[must_use]
    pub fn count(&self, which: fn(&Outcome) -> bool) -> usize {
        let cases = self.runs.iter().flat_map(|run| &run.cases);
        cases.filter(|case| which(&case.outcome)).count()
    }
}

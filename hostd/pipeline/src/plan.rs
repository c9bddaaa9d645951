//! What a pipeline comes to: runs in an order in which each stands behind what it needs, with every placeholder
//! replaced and every time and limit settled.

mod action;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::condition::When;
use crate::pattern::Pattern;
use crate::predicate::Requirements;
pub use action::{
    Action, Artifact, Assertion, Capture, Decode, Flash, Length, Measure, Replay, Trigger, Uart,
    UartChannels, Wait,
};

/// Everything that a job does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// What the job is called.
    pub name: Option<String>,
    /// Wait for a device, in milliseconds.
    pub queue_ms: u64,
    /// The whole job from its first run on, in milliseconds.
    pub job_ms: u64,
    /// What one run may use.
    pub limits: Limits,
    /// How often a run is repeated after an infrastructure failure.
    pub infra_retries: u64,
    /// Each run behind those that it needs; else builds first, as they are written.
    pub runs: Vec<Run>,
}

/// What one run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Bytes.
    pub memory_bytes: u64,
    /// At one time.
    pub processes: u64,
    /// Bytes below the job's folder.
    pub disk_bytes: u64,
    /// Bytes of log that are kept.
    pub log_bytes: u64,
}

/// One run of a build or a bench.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// `build.variant.pack` or `bench.variant.pack`, without the parts that there are none of.
    pub id: String,
    /// The id of the build or bench.
    pub of: String,
    /// Its variant.
    pub variant: Option<String>,
    /// Its pack.
    pub pack: Option<String>,
    /// Runs that must have succeeded before, by id.
    pub needs: Vec<String>,
    /// Variables of the pipeline, the variant and the pack, the latter before the former, with `HOSTD_RUN`, `HOSTD_VARIANT` and
    /// `HOSTD_PACK`.
    pub env: BTreeMap<String, String>,
    /// What its sandbox is like.
    pub sandbox: Sandbox,
    /// How long all its steps may take, in milliseconds.
    pub timeout_ms: u64,
    /// In order.
    pub steps: Vec<Step>,
    /// What is only of a build, or only of a bench.
    pub role: Role,
}

/// What is only of a build, or only of a bench.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It makes artifacts.
    Build {
        /// Paths below `$HOSTD_OUT` that must be there at the end.
        artifacts: Vec<String>,
        /// Chips that they are for.
        targets: Vec<String>,
        /// What is restored before and kept after it.
        cache: Option<Cache>,
    },
    /// It tests on a device.
    Bench {
        /// The run that built what it tests.
        build: Option<String>,
        /// Which device.
        device: Requirements,
        /// Done after any ending.
        always: Vec<Step>,
    },
}

/// The sandbox of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sandbox {
    /// It reaches the network, if whoever submits may ask for that.
    pub network: bool,
    /// A container image to run in.
    pub image: Option<String>,
}

/// What a cache is found by and what it keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// What of the definition decides: the same text for the same steps, environment and image. To hash, with the
    /// toolchain and the content of the files that `key` finds.
    pub definition: String,
    /// Files whose content decides.
    pub key: Vec<Pattern>,
    /// Folders that are kept.
    pub paths: Vec<String>,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Where it is written, as `benches[0].steps[2]`.
    pub at: String,
    /// Its name.
    pub id: Option<String>,
    /// The test case it is.
    pub case: Option<String>,
    /// When it runs.
    pub when: When,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u64,
    /// The run goes on meanwhile.
    pub background: bool,
    /// What is added to the environment.
    pub env: BTreeMap<String, EnvValue>,
    /// JUnit files it writes.
    pub junit: Option<Pattern>,
    /// What it does.
    pub action: Action,
}

/// A value of the environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvValue {
    /// Text.
    Plain(String),
    /// A secret of the organisation, by name.
    Secret(String),
}

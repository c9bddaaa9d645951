//! A pipeline as it is written. These types are the parser and the JSON Schema; what their comments say, editors
//! show.

pub(crate) mod action;
pub(crate) mod decoder;
mod environment;
pub(crate) mod measurand;
pub(crate) mod trigger;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use crate::condition::Condition;
use crate::limits::{
    ALWAYS_STEPS_MAX, ARTIFACTS_MAX, BENCHES_MAX, BUILDS_MAX, LIST_MAX, QUANTITY_MAX, STEPS_MAX,
    TARGETS_MAX, WAIT_MS_MAX,
};
use crate::pattern::Pattern;
use crate::predicate::Predicate;
use crate::scalars::{
    Artifact, Id, Image, Label, List, Names, RelativePath, Script, SecretName, Text, Variable,
    Whole,
};
use crate::template::Templated;
use crate::units::{Bytes, Duration};
use action::{Assert, Capture, Decode, Flash, Measure, Power, Pytest, Replay, Reset, Uart};

/// A pipeline of hostd, format 1: builds, and benches that test what they made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Pipeline", extend("anyOf" = [{"required": ["builds"]}, {"required": ["benches"]}]))]
pub(crate) struct Definition {
    /// The format, 1.
    #[allow(dead_code, reason = "reading it is its check")]
    pub(crate) version: Version,
    /// What the job is called in lists.
    pub(crate) name: Option<Label>,
    /// Values for the whole pipeline: `{{vars.NAME}}` in typed fields, `$NAME` in scripts.
    #[serde(default)]
    pub(crate) vars: Environment,
    /// How long each phase may take. The server's configuration caps them.
    #[serde(default)]
    pub(crate) timeouts: Timeouts,
    /// What one run may use. The server's configuration caps it.
    #[serde(default)]
    pub(crate) limits: Limits,
    /// What makes firmware.
    #[serde(default)]
    pub(crate) builds: List<Build, BUILDS_MAX>,
    /// What tests it on devices.
    #[serde(default)]
    pub(crate) benches: List<Bench, BENCHES_MAX>,
    /// What is tried again.
    #[serde(default)]
    pub(crate) retry: Retry,
}

/// The format, 1.
#[derive(Debug)]
pub(crate) struct Version;

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Whole::<0, QUANTITY_MAX>::deserialize(deserializer)?.0 {
            1 => Ok(Self),
            other => Err(D::Error::custom(format!(
                "this is format {other}; the server reads format 1: write `version: 1`"
            ))),
        }
    }
}

impl JsonSchema for Version {
    fn schema_name() -> Cow<'static, str> {
        "Version".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"const": 1, "description": "The format, 1."})
    }
}

/// How long each phase may take.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Timeouts {
    /// Wait for a device. Without it 30 minutes.
    pub(crate) queue: Option<Duration>,
    /// One run of a build. Without it 10 minutes.
    pub(crate) build: Option<Duration>,
    /// One `flash` step. Without it 2 minutes.
    pub(crate) flash: Option<Duration>,
    /// One run of a bench, and each of its steps that has no `timeout`. Without it 10 minutes.
    pub(crate) test: Option<Duration>,
    /// The whole job, from its first run on. Without it an hour.
    pub(crate) job: Option<Duration>,
}

/// What one run may use.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    /// Memory. A run that needs more is ended and counts as failed. Without it 1 GiB.
    pub(crate) memory: Option<Bytes>,
    /// Processes at one time. Without it 256.
    pub(crate) processes: Option<Whole<1, 1_000_000>>,
    /// What is taken of the disk: files below the job's folder, and open ones without a name. Each counts 4 KiB at least. Without it 2 GiB.
    pub(crate) disk: Option<Bytes>,
    /// Log that is kept, as it is on the disk. What is more is counted and left out, but for its end. Without it 64 MiB.
    pub(crate) log: Option<Bytes>,
}

/// What is tried again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Retry {
    /// How often a run is repeated that failed for reasons of the bench, before any test had output. Failed tests
    /// are never repeated. Without it once.
    pub(crate) infra: Option<Whole<0, 1_000_000>>,
}

/// What makes firmware. Its steps run once for each variant and pack, in a sandbox.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Build {
    /// Its name. No build or bench has another's.
    pub(crate) id: Id,
    /// Builds and benches that must have succeeded before.
    #[serde(default)]
    pub(crate) needs: List<Id, LIST_MAX>,
    /// Variants of the same sources. Variants times packs are at most 64.
    pub(crate) matrix: Option<Matrix>,
    /// What the sandbox is like.
    #[serde(default)]
    pub(crate) sandbox: Sandbox,
    /// What is kept from one job to the next.
    pub(crate) cache: Option<Cache>,
    /// What is done, in this order: `run`, `pytest` and `assert`.
    pub(crate) steps: List<Step, STEPS_MAX>,
    /// What comes out, one for each kind of board.
    #[serde(default)]
    pub(crate) packs: List<Pack, LIST_MAX>,
}

/// Variables of the environment.
pub(crate) type Environment = Names<Variable, Text>;

/// Variants of a build.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Matrix {
    /// By name, what each adds to the environment.
    pub(crate) variant: Names<Id, Environment>,
}

/// The sandbox of a run. It sees the sources, the toolchain and nothing else.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sandbox {
    /// Whether it reaches the network, which takes a permission. Without it no.
    #[serde(default)]
    pub(crate) network: bool,
    /// A container image whose programs the steps see in place of those of the machine. Podman must be installed and
    /// have it.
    pub(crate) image: Option<Image>,
}

/// What is kept from one job to the next: restored before the steps, written when all of them succeeded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cache {
    /// Files whose content decides: another content is another cache.
    pub(crate) key: List<Pattern, LIST_MAX>,
    /// Folders that are kept.
    pub(crate) paths: List<RelativePath, LIST_MAX>,
}

/// What comes out of a build for one kind of board.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pack {
    /// Its name. No pack of the build has another's.
    pub(crate) id: Id,
    /// What it adds to the environment.
    #[serde(default)]
    pub(crate) config: Environment,
    /// Files that must be below `$HOSTD_OUT` at the end; a build without one of them has failed.
    #[serde(default)]
    pub(crate) artifacts: List<Artifact, ARTIFACTS_MAX>,
    /// Chips that it is for, as `stm32f030f4`.
    #[serde(default)]
    pub(crate) targets: List<Target, TARGETS_MAX>,
}

/// The name of a chip, as `stm32f030f4`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Target(pub(crate) Id);

impl std::ops::Deref for Target {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// What tests firmware on a device. It has the device alone from its first step to its last.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bench {
    /// Its name. No build or bench has another's.
    pub(crate) id: Id,
    /// Builds and benches that must have succeeded before.
    #[serde(default)]
    pub(crate) needs: List<Id, LIST_MAX>,
    /// A build: the bench runs once for each of its variants and packs, as soon as that one is built.
    pub(crate) for_each: Option<Id>,
    /// Which device.
    pub(crate) device: Device,
    /// The sandbox of `run` and `pytest`.
    #[serde(default)]
    pub(crate) sandbox: Sandbox,
    /// What is done, in this order. The first failure ends it, but for steps with an `if`.
    pub(crate) steps: List<Step, STEPS_MAX>,
    /// What is done after any ending, in at most 60 s. The device is made safe afterwards in any case.
    #[serde(default)]
    pub(crate) always: List<Step, ALWAYS_STEPS_MAX>,
}

/// Which device: one by `name`, or any that fits `select`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["name"]}, {"required": ["select"]}]))]
pub(crate) struct Device {
    /// Its name.
    pub(crate) name: Option<Templated<Label>>,
    /// What its capabilities must be, all of them. A capability that a device does not tell matches nothing.
    pub(crate) select: Option<Names<Id, Templated<Predicate>>>,
}

/// One step: exactly one action, and what goes with it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = one_action()))]
pub(crate) struct Step {
    /// Runs lines in the shell. It fails when one of them does.
    pub(crate) run: Option<Script>,
    /// Runs pytest with the bench's SDK set up for the device.
    pub(crate) pytest: Option<Pytest>,
    /// Switches a rail of the target.
    pub(crate) power: Option<Power>,
    /// Pulses the target's reset line.
    pub(crate) reset: Option<Reset>,
    /// Programs the target and reads it back.
    pub(crate) flash: Option<Flash>,
    /// Talks to the target's serial line.
    pub(crate) uart: Option<Uart>,
    /// Records signals.
    pub(crate) capture: Option<Capture>,
    /// Judges what an earlier step got.
    pub(crate) assert: Option<Assert>,
    /// Measures a channel of a capture and records the value, with its limits.
    pub(crate) measure: Option<Measure>,
    /// Decodes a capture and keeps the result.
    pub(crate) decode: Option<Decode>,
    /// Plays a waveform on the DAC, until the run ends or another one starts.
    pub(crate) replay: Option<Replay>,
    /// Waits, at most 10 minutes.
    pub(crate) wait: Option<Wait>,
    /// Its name, for `assert`, `measure` and `decode` to refer to.
    pub(crate) id: Option<Id>,
    /// The test case it is in the report. Without it the step is no case of its own.
    pub(crate) case: Option<Label>,
    /// How long it may take, within its run's time. Without it all of that; `flash`: `timeouts.flash`.
    pub(crate) timeout: Option<Duration>,
    /// What is added to the environment of `run` and `pytest`.
    #[serde(default)]
    pub(crate) env: Names<Variable, EnvValue>,
    /// Go on while it runs: `capture` and `uart`. It ends with the run at the latest.
    #[serde(default)]
    pub(crate) background: bool,
    /// JUnit files that `run` or `pytest` writes; their cases are the job's.
    pub(crate) junit: Option<Pattern>,
    /// When it runs.
    #[serde(rename = "if")]
    pub(crate) condition: Option<Condition>,
}

/// The actions of steps, in the order in which documents list them.
pub(crate) const ACTIONS: [&str; 12] = [
    "run", "pytest", "power", "reset", "flash", "uart", "capture", "assert", "measure", "decode",
    "replay", "wait",
];

fn one_action() -> serde_json::Value {
    ACTIONS
        .iter()
        .map(|action| serde_json::json!({"required": [action]}))
        .collect()
}

impl Step {
    /// The actions that are given.
    pub(crate) fn actions(&self) -> Vec<&'static str> {
        let given = [
            self.run.is_some(),
            self.pytest.is_some(),
            self.power.is_some(),
            self.reset.is_some(),
            self.flash.is_some(),
            self.uart.is_some(),
            self.capture.is_some(),
            self.assert.is_some(),
            self.measure.is_some(),
            self.decode.is_some(),
            self.replay.is_some(),
            self.wait.is_some(),
        ];
        let given = ACTIONS.iter().zip(given).filter(|(_, given)| *given);
        given.map(|(action, _)| *action).collect()
    }

    /// The action, if there is exactly one.
    pub(crate) fn action(&self) -> Option<&'static str> {
        match self.actions()[..] {
            [action] => Some(action),
            _ => None,
        }
    }
}

/// A pause, at most 10 minutes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait(pub(crate) Duration);

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let time = Duration::deserialize(deserializer)?;
        match time.0 {
            ms if ms > WAIT_MS_MAX => Err(D::Error::custom(format!(
                "this must be at most {}",
                Duration(WAIT_MS_MAX)
            ))),
            _ => Ok(Self(time)),
        }
    }
}

impl JsonSchema for Wait {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Wait".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Duration>()
    }
}

/// A value of the environment: text, or a secret by name.
#[derive(Debug, Clone)]
pub(crate) enum EnvValue {
    Plain(Text),
    Secret(SecretName),
}

/// A secret of the organisation. Its value is in the environment of this step alone, and never in a log.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretReference {
    /// Its name.
    pub(crate) secret: SecretName,
}

//! What the flash endpoints share: the record and the refusals.

use guest::flashing::{self, Error, Flash, Outcome, Phase};
use guest::selection::REPORTED;
use guest::{ApiError, Refusal, Response, Time, words};
use schemars::JsonSchema;
use serde::Serialize;

/// Most flashes of a device that are remembered.
pub(crate) const FLASHES_MAX: u64 = 16;

/// The placeholder of the path, and what it is.
pub(crate) const ID: (&str, &str) = ("flash_id", "Flash id, from the answer that began it.");

/// Why a flash failed, for programs.
const CODES: [&str; 25] = [
    "ambiguous_target",
    "attach_failed",
    "bad_firmware",
    "cancelled",
    "deadline",
    "device_lost",
    "device_offline",
    "device_timeout",
    "erase_failed",
    "internal",
    "lease_lost",
    "no_target",
    "outside_memory",
    "pod_protocol",
    "pod_refused",
    "probe_failed",
    "program_failed",
    "read_failed",
    "reset_failed",
    "stopped",
    "target_locked",
    "target_lost",
    "unknown_target",
    "verify_failed",
    "wrong_target",
];

/// Flash id that the path names.
pub(crate) fn id(request: &guest::Request) -> &str {
    request.param(1)
}

words! {
    const PHASES: Phase = {
        Preparing = "preparing",
        Connecting = "connecting",
        Erasing = "erasing",
        Programming = "programming",
        Verifying = "verifying",
        Resetting = "resetting",
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
    };
}

/// What was programmed.
#[derive(Serialize, JsonSchema)]
struct Artifact<'a> {
    /// Name of the file.
    name: &'a str,
    size_bytes: u64,
    /// Lower-case hexadecimal.
    sha256: &'a str,
    /// Id of the build, or of the job that made it, if it did not come along.
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pack_id: Option<&'a str>,
}

/// A flash. What it ended with is there once it has.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Flash")]
pub(crate) struct Record<'a> {
    /// ULID.
    id: &'a str,
    device_id: &'a str,
    /// Chip or OpenOCD configuration that was asked for.
    target: &'a str,
    /// The last three are its end.
    #[schemars(extend("enum" = PHASES.all()))]
    phase: &'static str,
    /// Of the whole flash.
    #[schemars(range(max = 100))]
    percent: u8,
    /// Done in this phase, in bytes of flash; sectors and pages count whole.
    phase_bytes: u64,
    /// What there is to do in this phase; 0 when it has no amount.
    phase_total_bytes: u64,
    #[schemars(with = "Time")]
    created_at: &'a str,
    #[schemars(with = "Option<Time>")]
    finished_at: Option<&'a str>,
    artifact: Artifact<'a>,
    /// Whether it ended well.
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<bool>,
    /// Why not, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = CODES))]
    code: Option<&'a str>,
    /// Why not, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// The target did not answer on the debug wires, as opposed to one that could not be programmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    target_unreachable: Option<bool>,
    /// What was done, a line for each step.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    /// Bytes of firmware on the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Where they are, in address order; the first 32 places, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranges: Option<Vec<Range>>,
    /// Data of the file that is for other chips and was not programmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<Vec<Skipped<'a>>>,
    /// Chip that it was programmed as.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = true))]
    chip: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
}

/// How a flash ended, for who waited for it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Ended<'a> {
    /// ULID of the flash.
    id: &'a str,
    artifact: Artifact<'a>,
    /// Whether it ended well.
    ok: bool,
    /// Why not, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = CODES))]
    code: Option<&'a str>,
    /// Why not, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// The target did not answer on the debug wires, as opposed to one that could not be programmed.
    target_unreachable: bool,
    /// What was done, a line for each step.
    output: &'a str,
    /// Bytes of firmware on the target.
    bytes: u64,
    /// Where they are, in address order; the first 32 places, if there are more.
    ranges: Vec<Range>,
    /// Data of the file that is for other chips and was not programmed.
    skipped: Vec<Skipped<'a>>,
    /// Chip that it was programmed as.
    chip: Option<&'a str>,
    duration_ms: u64,
}

/// Where bytes of firmware are.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Range {
    pub(crate) address: u32,
    pub(crate) bytes: u64,
    /// CRC-32 of the bytes, as in zlib: 8 hexadecimal digits.
    #[schemars(regex(pattern = "^[0-9a-f]{8}$"))]
    pub(crate) crc32: String,
}

/// Data that is for other chips.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Skipped<'a> {
    /// The family of chips, by its name in UF2 or as a number.
    pub(crate) family: &'a str,
    pub(crate) bytes: u64,
}

pub(crate) fn ranges(extents: &[flashing::Extent]) -> Vec<Range> {
    let range = |extent: &flashing::Extent| Range {
        address: extent.address,
        bytes: extent.bytes,
        crc32: format!("{:08x}", extent.crc32),
    };
    extents.iter().map(range).collect()
}

pub(crate) fn skipped(skipped: &[(String, u64)]) -> Vec<Skipped<'_>> {
    let all = skipped.iter();
    all.map(|(family, bytes)| Skipped {
        family,
        bytes: *bytes,
    })
    .collect()
}

impl<'a> From<&'a flashing::Artifact> for Artifact<'a> {
    fn from(artifact: &'a flashing::Artifact) -> Self {
        Self {
            name: &artifact.name,
            size_bytes: artifact.size_bytes,
            sha256: &artifact.sha256,
            job_id: artifact.build.as_ref().map(|(id, _)| id.as_str()),
            pack_id: artifact.build.as_ref().map(|(_, pack)| pack.as_str()),
        }
    }
}

impl<'a> From<&'a Flash> for Record<'a> {
    fn from(flash: &'a Flash) -> Self {
        let ended = flash.outcome.as_ref();
        let why = ended.and_then(|ended| ended.error.as_ref());
        Self {
            id: &flash.id,
            device_id: &flash.device,
            target: &flash.target,
            phase: PHASES.word(flash.phase),
            percent: flash.percent,
            phase_bytes: flash.bytes,
            phase_total_bytes: flash.total_bytes,
            created_at: &flash.created_at,
            finished_at: flash.finished_at.as_deref(),
            artifact: Artifact::from(&flash.artifact),
            ok: ended.map(|ended| ended.error.is_none()),
            code: why.map(|(code, _)| code.as_str()),
            error: why.map(|(_, sentence)| sentence.as_str()),
            target_unreachable: ended.map(|ended| ended.target_unreachable),
            output: ended.map(|ended| ended.output.as_str()),
            bytes: ended.map(|ended| ended.bytes),
            ranges: ended.map(|ended| ranges(&ended.extents)),
            skipped: ended.map(|ended| skipped(&ended.skipped)),
            chip: ended.map(|ended| ended.chip.as_deref()),
            duration_ms: ended.map(|ended| ended.duration_ms),
        }
    }
}

impl<'a> Ended<'a> {
    pub(crate) fn new(flash: &'a Flash, outcome: &'a Outcome) -> Self {
        let why = outcome.error.as_ref();
        Self {
            id: &flash.id,
            artifact: Artifact::from(&flash.artifact),
            ok: why.is_none(),
            code: why.map(|(code, _)| code.as_str()),
            error: why.map(|(_, sentence)| sentence.as_str()),
            target_unreachable: outcome.target_unreachable,
            output: &outcome.output,
            bytes: outcome.bytes,
            ranges: ranges(&outcome.extents),
            skipped: skipped(&outcome.skipped),
            chip: outcome.chip.as_deref(),
            duration_ms: outcome.duration_ms,
        }
    }
}

/// The record of a flash as an answer.
pub(crate) fn reply(status: u16, flash: &Flash) -> Response {
    Response::json(status, &Record::from(flash))
}

fn artifact_example() -> Artifact<'static> {
    Artifact {
        name: "firmware.elf",
        size_bytes: 18_620,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        job_id: Some("01JGZ5V9T3N8W2K4Q7R6D1M0XC"),
        pack_id: Some(REPORTED),
    }
}

/// A flash in progress, for the documentation.
pub(crate) fn example() -> Record<'static> {
    Record {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XB",
        device_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
        target: "target/stm32f0x.cfg",
        phase: PHASES.word(Phase::Programming),
        percent: 41,
        phase_bytes: 3072,
        phase_total_bytes: 9216,
        created_at: "2026-01-02T03:04:05Z",
        finished_at: None,
        artifact: artifact_example(),
        ok: None,
        code: None,
        error: None,
        target_unreachable: None,
        output: None,
        bytes: None,
        ranges: None,
        skipped: None,
        chip: None,
        duration_ms: None,
    }
}

/// One that ended well, for the documentation.
pub(crate) fn ended_example() -> Ended<'static> {
    Ended {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XB",
        artifact: artifact_example(),
        ok: true,
        code: None,
        error: None,
        target_unreachable: false,
        output: "connecting\nerasing 9216 bytes\nprogramming 9216 bytes\nverifying 9216 bytes\n\
                 resetting\nprogrammed 8744 bytes on STM32F030R8 (STM32F030x8)\n\
                 0x08000000..0x08002228 (8744 bytes, CRC-32 5d0b9c1e)\nverified\nreset: the firmware runs\n",
        bytes: 8744,
        ranges: vec![Range {
            address: 0x0800_0000,
            bytes: 8744,
            crc32: "5d0b9c1e".to_owned(),
        }],
        skipped: Vec::new(),
        chip: Some("STM32F030R8"),
        duration_ms: 412,
    }
}

/// `id` is the device that was asked for.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound(what) => ApiError::not_found(&what, id),
        Error::Offline => ApiError::of(
            Refusal::DeviceOffline,
            "the device is offline; nothing was sent to it",
        ),
        Error::Held(busy) => ApiError::held(busy),
        Error::Busy(why) => ApiError::of(Refusal::DeviceBusy, format!("the device is busy: {why}")),
        Error::Overloaded(seconds) => ApiError::new(
            503,
            "overloaded",
            "as many flashes run as the server takes; retry shortly",
        )
        .retry_after(seconds),
        Error::Invalid((field, message)) => ApiError::field(field, message),
        Error::Ended => ApiError::of(Refusal::WrongState, "the flash has ended"),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
fn failed() -> Flash {
    Flash {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".into(),
        device: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        target: "target/stm32f0x.cfg".into(),
        artifact: guest::flashing::Artifact {
            name: "fw.elf".into(),
            size_bytes: 52_000,
            sha256: "ba78".into(),
            build: Some(("01JGZ5V9T3N8W2K4Q7R6D1M0XC".into(), "fw.debug.f0".into())),
        },
        phase: Phase::Failed,
        percent: 26,
        bytes: 1024,
        total_bytes: 12_288,
        created_at: "2026-01-02T03:04:05Z".into(),
        finished_at: Some("2026-01-02T03:04:06Z".into()),
        outcome: Some(Outcome {
            error: Some(("target_lost".into(), "the target went away".into())),
            target_unreachable: true,
            output: "connecting\n".into(),
            bytes: 0,
            extents: Vec::new(),
            skipped: Vec::new(),
            chip: None,
            duration_ms: 900,
        }),
    }
}

#[cfg(test)]
mod tests {
    use guest::Busy;
    use guest::flashing::Error;
    use serde_json::json;

    use super::{Ended, Record, failed, refusal};

    #[test]
    fn a_failure_has_a_code_and_a_sentence() {
        let flash = failed();
        let whole = json!(Record::from(&flash));
        let short = json!(Ended::new(&flash, flash.outcome.as_ref().unwrap()));
        for body in [&whole, &short] {
            assert_eq!(body["ok"], false);
            assert_eq!(body["code"], "target_lost");
            assert_eq!(body["artifact"]["pack_id"], "fw.debug.f0");
            assert_eq!(body.get("chip"), Some(&json!(null)));
        }
        assert_eq!(
            (&whole["phase"], &whole["percent"]),
            (&"failed".into(), &26.into())
        );
    }

    #[test]
    fn a_success_has_none_and_a_running_one_neither() {
        let mut flash = failed();
        flash.outcome.as_mut().unwrap().error = None;
        flash.artifact.build = None;
        let body = json!(Record::from(&flash));
        assert_eq!(body["ok"], true);
        assert!(body.get("error").is_none() && body["artifact"].get("job_id").is_none());
        flash.outcome = None;
        let body = json!(Record::from(&flash));
        assert!(body.get("ok").is_none() && body.get("chip").is_none());
    }

    #[test]
    fn refusals() {
        let busy = Busy {
            holder: None,
            expires_at: None,
            lost: false,
            making_safe: false,
            obstacle: None,
            place: None,
            retry_after_s: 1,
        };
        for (error, status, code) in [
            (Error::NotFound("flash".into()), 404, "not_found"),
            (Error::Offline, 503, "device_offline"),
            (Error::Held(busy), 409, "lease_held"),
            (Error::Busy("it flashes".into()), 409, "device_busy"),
            (Error::Overloaded(9), 503, "overloaded"),
            (
                Error::Invalid(("target".into(), "is odd".into())),
                400,
                "invalid_request",
            ),
            (Error::Ended, 409, "wrong_state"),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "d1");
            assert_eq!((error.status, error.code), (status, code));
        }
    }
}

//! What the capture endpoints share: who may use them, and the record.

use guest::captures::{Channel, ChannelType, Firmware, Info, Kind, Marker, Setup, Status};
use guest::{Credential, Request, words};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The device plane takes every kind of credential.
pub(crate) const CREDENTIALS: &[Credential] = &[
    Credential::ApiKey,
    Credential::UserSession,
    Credential::CloudSession,
];

/// Drive devices.
pub(crate) const SCOPE: Option<&str> = Some("bench:control");

/// The placeholder of the path, and what it is.
pub(crate) const ID: (&str, &str) = ("id", "Capture id.");

words! {
    pub(crate) const KINDS: Kind = {
        Scope = "scope",
        Logic = "logic",
        I2c = "i2c",
        Dual = "dual",
        Measure = "measure",
    };
}

words! {
    pub(crate) const STATES: Status = {
        Pending = "pending",
        Armed = "armed",
        Running = "running",
        Done = "done",
        Failed = "failed",
        TimedOut = "timed_out",
        Cancelled = "cancelled",
    };
}

words! {
    const CHANNEL_TYPES: ChannelType = {
        Analog = "analog",
        Digital = "digital",
    };
}

/// Capture id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// Declares a record that begins with the members of every capture record, and its constructor.
macro_rules! record {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$more:meta])* $member:ident: $type:ty),* $(,)? }
    ) => {
        #[derive(serde::Serialize, schemars::JsonSchema)]
        $(#[$about])*
        pub(crate) struct $name<'a> {
            id: &'a str,
            device_id: &'a str,
            #[schemars(extend("enum" = $crate::capture::KINDS.all()))]
            kind: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            name: Option<&'a str>,
            /// It is not deleted until it is no longer pinned.
            pinned: bool,
            /// The job that recorded it.
            #[serde(skip_serializing_if = "Option::is_none")]
            job: Option<$crate::capture::OfJob<'a>>,
            #[schemars(extend("enum" = $crate::capture::STATES.all()))]
            status: &'static str,
            /// Why it failed.
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<&'a str>,
            #[schemars(with = "guest::Time")]
            created_at: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "Option<guest::Time>")]
            finished_at: Option<&'a str>,
            /// Only when a trigger was asked for.
            #[serde(skip_serializing_if = "Option::is_none")]
            trigger: Option<$crate::capture::Trigger>,
            /// The sample at which the trigger was met, where views have their time 0: of the logic channels, or of the
            /// ADC alone. null = there was no trigger, it has not come, or that is not known.
            trigger_sample: Option<u64>,
            channels: Vec<$crate::capture::ChannelRecord<'a>>,
            $($(#[$more])* $member: $type,)*
        }

        impl<'a> $name<'a> {
            pub(crate) fn new(info: &'a guest::captures::Info, $($member: $type),*) -> Self {
                Self {
                    id: &info.id,
                    device_id: &info.device_id,
                    kind: $crate::capture::KINDS.word(info.kind),
                    name: info.name.as_deref(),
                    pinned: info.pinned,
                    job: $crate::capture::OfJob::of(info),
                    status: $crate::capture::STATES.word(info.status),
                    error: info.error.as_deref(),
                    created_at: &info.created_at,
                    finished_at: info.finished_at.as_deref(),
                    trigger: $crate::capture::Trigger::of(info),
                    trigger_sample: info.trigger_sample,
                    channels: info.channels.iter().map(Into::into).collect(),
                    $($member),*
                }
            }
        }
    };
}
pub(crate) use record;

record! {
    /// A capture without its samples.
    #[schemars(rename = "Capture")]
    Record {}
}

record! {
    /// A capture and what is kept with it, without its samples.
    #[schemars(rename = "CaptureInFull")]
    Full {
        #[serde(flatten)]
        kept: Kept<'a>,
    }
}

/// What is kept with a capture; lists leave it out.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaptureKept")]
pub(crate) struct Kept<'a> {
    /// Logic samples that were lost on their way, in order: views hold the levels before them. Absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<GapRecord>,
    /// By channel and sample.
    markers: Vec<MarkerRecord<'a>>,
    /// What it was made with; absent when nothing is known, as for captures that were imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    setup: Option<SetupRecord<'a>>,
}

impl<'a> Kept<'a> {
    pub(crate) fn of(info: &'a Info) -> Self {
        Self {
            gaps: info.gaps.iter().map(Into::into).collect(),
            markers: info.markers.iter().map(Into::into).collect(),
            setup: info.setup.as_ref().map(Into::into),
        }
    }
}

/// Samples that were lost.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaptureGap")]
pub(crate) struct GapRecord {
    /// The first one.
    from: u64,
    /// The one behind the last.
    to: u64,
}

impl From<&(u64, u64)> for GapRecord {
    fn from(&(from, to): &(u64, u64)) -> Self {
        Self { from, to }
    }
}

/// A place in a capture, and what is there.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaptureMarker")]
struct MarkerRecord<'a> {
    /// Id of the channel whose samples are counted.
    channel: u32,
    sample: u64,
    note: &'a str,
}

impl<'a> From<&'a Marker> for MarkerRecord<'a> {
    fn from(marker: &'a Marker) -> Self {
        Self {
            channel: marker.channel,
            sample: marker.sample,
            note: &marker.note,
        }
    }
}

/// What a capture was made with.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaptureSetup")]
struct SetupRecord<'a> {
    /// Label of the lease under which the device was held.
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<&'a str>,
    /// The wiring profile that the device had, as in `GET /bench/devices/{id}/wiring`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wiring: Option<Map<String, Value>>,
    /// What had last been flashed through the device since the server started; absent when that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    firmware: Option<FirmwareRecord<'a>>,
}

/// Firmware of the target.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaptureFirmware")]
struct FirmwareRecord<'a> {
    /// Of the file.
    name: &'a str,
    /// Of the file, in hex.
    sha256: &'a str,
    /// Id of the build that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    build: Option<&'a str>,
}

impl<'a> From<&'a Setup> for SetupRecord<'a> {
    fn from(setup: &'a Setup) -> Self {
        let firmware = |firmware: &'a Firmware| FirmwareRecord {
            name: &firmware.name,
            sha256: &firmware.sha256,
            build: firmware.build.as_deref(),
        };
        let wiring = setup.wiring.as_deref();
        Self {
            holder: setup.holder.as_deref(),
            wiring: wiring.and_then(|text| serde_json::from_str(text).ok()),
            firmware: setup.firmware.as_ref().map(firmware),
        }
    }
}

/// The job that recorded a capture, and what of it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaptureJob")]
pub(crate) struct OfJob<'a> {
    /// Job id.
    id: &'a str,
    /// Id of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    /// Number of the attempt, from 1, within the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    /// Name of the step; absent if a program of the run recorded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<&'a str>,
}

impl<'a> OfJob<'a> {
    pub(crate) fn of(info: &'a Info) -> Option<Self> {
        Some(Self {
            id: info.job.as_deref()?,
            run: info.run.as_deref(),
            attempt: info.attempt,
            step: info.step.as_deref(),
        })
    }
}

/// Whether the trigger came.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Trigger {
    fired: bool,
    /// Sample at which it fired.
    index: Option<u64>,
    /// Samples before it that were asked for; absent if none were. There are fewer where `index` is less: it came early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pre_samples: Option<u64>,
    /// Samples that had come behind it when it was seen, where a decoder of the server looked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    found_after: Option<u64>,
}

impl Trigger {
    pub(crate) fn of(info: &Info) -> Option<Self> {
        Some(Self {
            fired: info.triggered?,
            index: info.trigger_sample,
            pre_samples: (info.pre_samples > 0).then_some(info.pre_samples),
            found_after: info.found_after,
        })
    }
}

/// What one input gave.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Channel")]
pub(crate) struct ChannelRecord<'a> {
    /// Frames refer to it.
    id: u32,
    #[schemars(extend("enum" = CHANNEL_TYPES.all()))]
    r#type: &'static str,
    /// `ADC` or `LA1`..`LA14`.
    name: &'a str,
    /// What people call it: it names the channel wherever the name does, and in exported files.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    /// `V`, `A`, or empty for digital.
    unit: &'a str,
    /// Achieved rate; the requested one until the pod has said.
    sample_rate_hz: f64,
    samples: u64,
    bits: u32,
    /// Span in `unit` of all 2^bits counts: a count means `offset + count * full_scale / 2^bits`.
    /// Negative when the front end inverts.
    full_scale: f64,
    /// Value in `unit` of count 0.
    offset: f64,
}

impl<'a> From<&'a Channel> for ChannelRecord<'a> {
    fn from(channel: &'a Channel) -> Self {
        Self {
            id: channel.id,
            r#type: CHANNEL_TYPES.word(channel.type_),
            name: &channel.name,
            label: channel.label.as_deref(),
            unit: &channel.unit,
            sample_rate_hz: channel.sample_rate_hz,
            samples: channel.samples,
            bits: channel.bits,
            full_scale: channel.full_scale,
            offset: channel.offset,
        }
    }
}

/// A capture for the documentation.
pub(crate) fn example() -> Info {
    Info {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XC".into(),
        device_id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        kind: Kind::I2c,
        name: Some("boot".into()),
        pinned: false,
        job: None,
        run: None,
        attempt: None,
        step: None,
        status: Status::Done,
        error: None,
        created_at: "2026-01-02T03:04:05Z".into(),
        finished_at: Some("2026-01-02T03:04:06Z".into()),
        triggered: Some(true),
        trigger_sample: Some(0),
        pre_samples: 0,
        found_after: None,
        gaps: Vec::new(),
        channels: vec![Channel {
            id: 0,
            type_: ChannelType::Digital,
            name: "LA1".into(),
            label: None,
            unit: String::new(),
            sample_rate_hz: 1_000_000.0,
            samples: 100_000,
            bits: 1,
            full_scale: 1.0,
            offset: 0.0,
        }],
        i2c: Some((1, 2)),
        markers: Vec::new(),
        setup: None,
    }
}

#[cfg(test)]
mod tests {
    use guest::captures::{ChannelType, Firmware, Info, Kind, Marker, Setup, Status};
    use serde_json::json;

    use super::{Full, Kept, Record, example};

    #[test]
    fn everything_known_is_told() {
        assert_eq!(
            json!(Record::new(&example())),
            json!({
                "id": "01JGZ5V9T3N8W2K4Q7R6D1M0XC",
                "device_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
                "kind": "i2c",
                "name": "boot",
                "pinned": false,
                "status": "done",
                "created_at": "2026-01-02T03:04:05Z",
                "finished_at": "2026-01-02T03:04:06Z",
                "trigger": {"fired": true, "index": 0},
                "trigger_sample": 0,
                "channels": [{
                    "id": 0, "type": "digital", "name": "LA1", "unit": "",
                    "sample_rate_hz": 1_000_000.0, "samples": 100_000, "bits": 1,
                    "full_scale": 1.0, "offset": 0.0
                }]
            })
        );
    }

    #[test]
    fn samples_before_the_trigger_are_told() {
        let mut info = example();
        (info.trigger_sample, info.pre_samples) = (Some(400), 500);
        let body = json!(Record::new(&info));
        assert_eq!(
            body["trigger"],
            json!({"fired": true, "index": 400, "pre_samples": 500})
        );
        assert_eq!(body["trigger_sample"], 400);
    }

    #[test]
    fn samples_that_were_lost_are_said_in_full() {
        let mut info = example();
        assert!(json!(Full::new(&info, Kept::of(&info)))["gaps"].is_null());
        info.gaps = vec![(10, 20), (30, 31)];
        assert_eq!(
            json!(Full::new(&info, Kept::of(&info)))["gaps"],
            json!([{"from": 10, "to": 20}, {"from": 30, "to": 31}])
        );
        assert!(json!(Record::new(&info))["gaps"].is_null());
    }

    #[test]
    fn the_job_that_recorded_it_is_told() {
        let mut info = example();
        info.job = Some("01J".into());
        let job = |info: &Info| json!(Record::new(info))["job"].take();
        assert_eq!(job(&info), json!({"id": "01J"}));
        info.run = Some("smoke.f0".into());
        info.attempt = Some(2);
        info.step = Some("boot".into());
        assert_eq!(
            job(&info),
            json!({"id": "01J", "run": "smoke.f0", "attempt": 2, "step": "boot"})
        );
    }

    #[test]
    fn what_is_kept_with_it_is_shown_in_full() {
        let mut info = example();
        assert_eq!(
            json!(Full::new(&info, Kept::of(&info)))["markers"],
            json!([])
        );
        info.pinned = true;
        info.channels[0].label = Some("SCL".into());
        info.markers = vec![Marker {
            channel: 0,
            sample: 7,
            note: "START".into(),
        }];
        info.setup = Some(Setup {
            holder: Some("anna".into()),
            wiring: Some(r#"{"uart_rx":3}"#.into()),
            firmware: Some(Firmware {
                name: "a.elf".into(),
                sha256: "00".into(),
                build: None,
            }),
        });
        let body = json!(Full::new(&info, Kept::of(&info)));
        let label = &body["channels"][0]["label"];
        assert_eq!((&body["pinned"], label), (&json!(true), &json!("SCL")));
        assert_eq!(
            body["markers"],
            json!([{"channel": 0, "sample": 7, "note": "START"}])
        );
        assert_eq!(
            body["setup"],
            json!({
                "holder": "anna",
                "wiring": {"uart_rx": 3},
                "firmware": {"name": "a.elf", "sha256": "00"}
            })
        );
    }

    #[test]
    fn absent_members_and_states() {
        for (status, word) in [
            (Status::Pending, "pending"),
            (Status::Armed, "armed"),
            (Status::Running, "running"),
            (Status::Failed, "failed"),
            (Status::TimedOut, "timed_out"),
            (Status::Cancelled, "cancelled"),
        ] {
            let mut info = example();
            info.status = status;
            info.kind = Kind::Scope;
            info.name = None;
            info.finished_at = None;
            info.triggered = (status != Status::Pending).then_some(false);
            info.trigger_sample = None;
            info.error = Some("unplugged".into());
            info.channels[0].type_ = ChannelType::Analog;
            let body = json!(Record::new(&info));
            assert_eq!(body["status"], word);
            assert_eq!(
                (&body["kind"], &body["error"]),
                (&json!("scope"), &json!("unplugged"))
            );
            assert!(body.get("name").is_none() && body.get("finished_at").is_none());
            let trigger =
                (status != Status::Pending).then(|| json!({"fired": false, "index": null}));
            assert_eq!(body.get("trigger"), trigger.as_ref());
            assert_eq!(body["channels"][0]["type"], "analog");
        }
    }
}

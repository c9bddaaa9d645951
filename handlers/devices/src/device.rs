//! What the device endpoints share: who may use them, the record, the refusals.

use std::collections::BTreeMap;

use guest::devices::{Capabilities, Device, Error, Lease, MissingPart, State, Transport};
use guest::{ApiError, Credential, Refusal, Request, Response, Shape, Time, spelled, words};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// The device plane takes every kind of credential.
pub(crate) const CREDENTIALS: &[Credential] = &[
    Credential::ApiKey,
    Credential::UserSession,
    Credential::CloudSession,
];

/// Drive devices.
pub(crate) const SCOPE: Option<&str> = Some("bench:control");

/// The placeholder of the path, and what it is.
pub(crate) const ID: (&str, &str) = ("id", "Device id, from the device list.");

/// Device id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

words! {
    const STATES: State = {
        Online = "online",
        Offline = "offline",
        Updating = "updating",
        Quarantined = "quarantined",
        Degraded = "degraded",
    };
}

words! {
    const TRANSPORTS: Transport = { Usb = "usb", Tcp = "tcp", Dial = "dial", Sim = "sim", Parts = "parts" };
}

/// A device's name.
pub(crate) fn name() -> impl Shape<Value = String> {
    spelled(1..=64, "A-Za-z0-9._-")
}

/// A device of the organisation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Device")]
pub(crate) struct Record<'a> {
    /// ULID.
    id: &'a str,
    /// Unique in the organisation.
    #[schemars(schema_with = "name_schema")]
    name: &'a str,
    online: bool,
    #[schemars(extend("enum" = STATES.all()))]
    state: &'static str,
    #[schemars(extend("enum" = TRANSPORTS.all()))]
    transport: &'static str,
    serial: &'a str,
    /// Board and revision as the pod reports them; empty until it was online once.
    board: &'a str,
    firmware_version: &'a str,
    /// Features of the board: true, false, a count, or null = unknown.
    #[schemars(schema_with = "capabilities_schema")]
    capabilities: Features,
    /// The `cap.*` map that published clients read.
    #[schemars(with = "BTreeMap<String, String>")]
    parameters: Text<'a>,
    /// Parts of a bench of parts that cannot be reached now: `state` is `degraded` while there are any, and `offline`
    /// while all are away. What they give is not among the capabilities.
    missing_parts: Vec<Missing<'a>>,
    lease: Option<Held<'a>>,
    /// Since when the device owes its safe state: nobody gets it before its pod has acknowledged that.
    /// null = it owes none.
    #[schemars(with = "Option<Time>")]
    making_safe_since: Option<&'a str>,
    /// What has kept the device from its safe state for a minute; an administrator may take it all the same, with
    /// `"override": true`. null = nothing, or it is not known yet.
    making_safe_obstacle: Option<&'a str>,
    /// null = never online.
    #[schemars(with = "Option<Time>")]
    last_active_at: Option<&'a str>,
    #[schemars(with = "Time")]
    created_at: &'a str,
}

/// The same names whether the pod is online or not.
#[derive(Serialize)]
struct Features {
    ac_dac: Option<bool>,
    adc: Option<bool>,
    can: Option<bool>,
    /// Captures can have samples before their trigger.
    capture_pre_samples: Option<bool>,
    /// Logic captures can be longer than `la_max_samples`.
    capture_stream: Option<bool>,
    capture_trigger: Option<bool>,
    cmsis_dap: Option<bool>,
    dac: Option<bool>,
    i2c_sensor: Option<bool>,
    la_channels: Option<u8>,
    la_max_samples: Option<u64>,
    ota: Option<bool>,
    power_profile: Option<bool>,
    spi: Option<bool>,
    /// Kinds of triggers beyond an edge.
    trigger_level: Option<bool>,
    trigger_pattern: Option<bool>,
    trigger_pulse: Option<bool>,
    uart: Option<bool>,
}

/// JSON text from the host, copied as it is.
struct Text<'a>(&'a str);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: &RawValue = serde_json::from_str(self.0).map_err(S::Error::custom)?;
        text.serialize(serializer)
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Missing<'a> {
    /// `probe`, `uart`, `power`, `logic` or `analog`.
    part: &'a str,
    /// Why it cannot be reached.
    reason: &'a str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Held<'a> {
    holder: &'a str,
    #[schemars(with = "Time")]
    expires_at: &'a str,
}

fn name_schema(_: &mut SchemaGenerator) -> Schema {
    name().schema()
}

fn capabilities_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {"type": ["boolean", "integer", "null"]}
    })
}

impl<'a> From<&'a Device> for Record<'a> {
    fn from(device: &'a Device) -> Self {
        Self {
            id: &device.id,
            name: &device.name,
            online: device.online,
            state: STATES.word(device.state),
            transport: TRANSPORTS.word(device.transport),
            serial: &device.serial,
            board: &device.board,
            firmware_version: &device.firmware_version,
            capabilities: Features::from(device.capabilities),
            parameters: Text(&device.parameters),
            missing_parts: device.missing_parts.iter().map(Missing::from).collect(),
            lease: device.lease.as_ref().map(Held::from),
            making_safe_since: device.making_safe_since.as_deref(),
            making_safe_obstacle: device.making_safe_obstacle.as_deref(),
            last_active_at: device.last_active_at.as_deref(),
            created_at: &device.created_at,
        }
    }
}

impl From<Capabilities> for Features {
    fn from(known: Capabilities) -> Self {
        Self {
            ac_dac: known.ac_dac,
            adc: known.adc,
            can: known.can,
            capture_pre_samples: known.capture_pre_samples,
            capture_stream: known.capture_stream,
            capture_trigger: known.capture_trigger,
            cmsis_dap: known.cmsis_dap,
            dac: known.dac,
            i2c_sensor: known.i2c_sensor,
            la_channels: known.la_channels,
            la_max_samples: known.la_max_samples,
            ota: known.ota,
            power_profile: known.power_profile,
            spi: known.spi,
            trigger_level: known.trigger_level,
            trigger_pattern: known.trigger_pattern,
            trigger_pulse: known.trigger_pulse,
            uart: known.uart,
        }
    }
}

impl<'a> From<&'a MissingPart> for Missing<'a> {
    fn from(missing: &'a MissingPart) -> Self {
        Self {
            part: &missing.part,
            reason: &missing.reason,
        }
    }
}

impl<'a> From<&'a Lease> for Held<'a> {
    fn from(lease: &'a Lease) -> Self {
        Self {
            holder: &lease.holder,
            expires_at: &lease.expires_at,
        }
    }
}

/// What a board may have, for the documentation and for tests.
const KNOWN: Capabilities = Capabilities {
    ac_dac: Some(true),
    adc: Some(true),
    can: None,
    capture_pre_samples: Some(true),
    capture_stream: Some(true),
    capture_trigger: Some(true),
    cmsis_dap: Some(true),
    dac: Some(true),
    i2c_sensor: Some(false),
    la_channels: Some(14),
    la_max_samples: Some(4_194_304),
    ota: Some(true),
    power_profile: Some(true),
    spi: Some(true),
    trigger_level: Some(true),
    trigger_pattern: Some(true),
    trigger_pulse: Some(true),
    uart: Some(true),
};

/// A device, for the documentation.
pub(crate) fn example() -> Record<'static> {
    Record {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
        name: "bench-1",
        online: true,
        state: STATES.word(State::Online),
        transport: TRANSPORTS.word(Transport::Sim),
        serial: "SIM-0001",
        board: "rev3",
        firmware_version: "3.9.4",
        capabilities: Features::from(KNOWN),
        parameters: Text(r#"{"cap.board":"stm32h563"}"#),
        missing_parts: Vec::new(),
        lease: None,
        making_safe_since: None,
        making_safe_obstacle: None,
        last_active_at: Some("2026-01-02T03:04:05Z"),
        created_at: "2026-01-02T03:04:05Z",
    }
}

/// The record as a response.
pub(crate) fn reply(device: &Device) -> Response {
    Response::json(200, &Record::from(device))
}

/// Whether the board is known to lack a feature. An unknown one may be there.
pub(crate) fn lacks(device: &Device, feature: fn(&Capabilities) -> Option<bool>) -> bool {
    feature(&device.capabilities) == Some(false)
}

/// It has no `what`, which the part `part` of a bench of parts would give.
pub(crate) fn not_capable(device: &Device, what: &str, part: &str) -> ApiError {
    let name = &device.name;
    let away = device
        .missing_parts
        .iter()
        .find(|missing| missing.part == part);
    let why = match (away, device.transport) {
        (Some(away), _) => format!("the part `{part}` of {name} is away: {}", away.reason),
        (None, Transport::Parts) => format!("{name} has no part `{part}`"),
        (None, _) => format!("the board of {name} has no {what}"),
    };
    ApiError::of(Refusal::NotCapable, why)
}

/// `id` is the device that was asked for.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("device", id),
        Error::NameTaken => ApiError::of(
            Refusal::NameTaken,
            "another device of the organisation has this name",
        ),
        Error::Held(busy) => ApiError::held(busy),
        Error::Forbidden(message) => ApiError::forbidden(message),
        Error::Conflict(message) => ApiError::of(Refusal::WrongState, message),
        Error::Invalid(message) => ApiError::invalid(message),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
pub(crate) fn known() -> Device {
    Device {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        name: "bench-1".into(),
        online: true,
        state: State::Online,
        transport: Transport::Sim,
        serial: "SIM-0001".into(),
        board: "rev3".into(),
        firmware_version: "3.9.4".into(),
        capabilities: KNOWN,
        parameters: r#"{"cap.board":"stm32h563"}"#.into(),
        missing_parts: Vec::new(),
        lease: None,
        making_safe_since: None,
        making_safe_obstacle: None,
        last_active_at: Some("2026-01-02T03:04:05Z".into()),
        created_at: "2026-01-02T03:04:05Z".into(),
    }
}

#[cfg(test)]
mod tests {
    use guest::devices::{Device, Error, Lease, MissingPart, State, Transport};
    use guest::testing::json;
    use serde_json::json;

    use super::{Record, example, known, lacks, not_capable, refusal, reply};

    #[test]
    fn everything_known_is_told() {
        assert_eq!(
            json(&reply(&known())),
            json!({
                "id": "01JGZ5V9T3N8W2K4Q7R6D1M0XA", "name": "bench-1", "online": true,
                "state": "online", "transport": "sim", "serial": "SIM-0001", "board": "rev3",
                "firmware_version": "3.9.4",
                "capabilities": {
                    "ac_dac": true, "adc": true, "can": null, "capture_pre_samples": true, "capture_stream": true,
                    "capture_trigger": true, "cmsis_dap": true, "dac": true,
                    "i2c_sensor": false, "la_channels": 14, "la_max_samples": 4_194_304, "ota": true,
                    "power_profile": true, "spi": true, "trigger_level": true, "trigger_pattern": true,
                    "trigger_pulse": true, "uart": true
                },
                "parameters": {"cap.board": "stm32h563"}, "missing_parts": [], "lease": null, "making_safe_since": null,
                "making_safe_obstacle": null,
                "last_active_at": "2026-01-02T03:04:05Z", "created_at": "2026-01-02T03:04:05Z"
            })
        );
        assert_eq!(json!(Record::from(&known())), json!(example()));
    }

    #[test]
    fn absent_things_are_null() {
        let mut device = known();
        device.lease = Some(Lease {
            holder: "ci run 7".into(),
            expires_at: "2026-01-02T03:06:05Z".into(),
        });
        device.last_active_at = None;
        let written = json(&reply(&device));
        assert_eq!(
            written["lease"],
            json!({"holder": "ci run 7", "expires_at": "2026-01-02T03:06:05Z"})
        );
        assert_eq!(written["last_active_at"], json!(null));
    }

    #[test]
    fn only_a_known_absence_is_a_lack() {
        let mut device = known();
        for (value, expected) in [(Some(true), false), (None, false), (Some(false), true)] {
            device.capabilities.ac_dac = value;
            assert_eq!(lacks(&device, |known| known.ac_dac), expected);
        }
    }

    #[test]
    fn what_is_lacking_is_told_by_the_name_of_its_part() {
        let mut device = known();
        let told = |device: &Device| {
            let error = not_capable(device, "UART", "uart");
            assert_eq!((error.status, error.code), (400, "not_capable"));
            error.message
        };
        assert_eq!(told(&device), "the board of bench-1 has no UART");
        device.transport = Transport::Parts;
        assert_eq!(told(&device), "bench-1 has no part `uart`");
        device.state = State::Degraded;
        device.missing_parts = vec![MissingPart {
            part: "uart".into(),
            reason: "/dev/ttyUSB0 is not plugged in".into(),
        }];
        assert_eq!(
            told(&device),
            "the part `uart` of bench-1 is away: /dev/ttyUSB0 is not plugged in"
        );
        let written = json(&reply(&device));
        assert_eq!(written["state"], "degraded");
        assert_eq!(
            written["missing_parts"],
            json!([{"part": "uart", "reason": "/dev/ttyUSB0 is not plugged in"}])
        );
    }

    #[test]
    fn refusals() {
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (Error::NameTaken, 409, "name_taken"),
            (Error::Forbidden("no".into()), 403, "forbidden"),
            (Error::Conflict("its pod".into()), 409, "wrong_state"),
            (
                Error::Invalid("the name is odd".into()),
                400,
                "invalid_request",
            ),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "01X");
            assert_eq!((error.status, error.code), (status, code));
        }
        assert_eq!(
            refusal(Error::NotFound, "01X").message,
            "device not found: 01X"
        );
    }
}

//! What the device endpoints share: who may use them, the record, the refusals.

use guest::devices::{Capability, Device, Error, State, Transport};
use guest::{ApiError, Credential, Object, Request};

/// The device plane takes every kind of credential.
pub(crate) const CREDENTIALS: &[Credential] = &[
    Credential::ApiKey,
    Credential::UserSession,
    Credential::CloudSession,
];

/// Drive devices.
pub(crate) const SCOPE: Option<&str> = Some("bench:control");

/// Device id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// Write the record of a device.
pub(crate) fn record(device: &Device, object: &mut Object) {
    object
        .field("id", &device.id)
        .field("name", &device.name)
        .field("online", &device.online)
        .field("state", state(device.state))
        .field("transport", transport(device.transport))
        .field("serial", &device.serial)
        .field("board", &device.board)
        .field("firmware_version", &device.firmware_version)
        .object("capabilities", |capabilities| {
            for (name, value) in &device.capabilities {
                match value {
                    Capability::Flag(flag) => capabilities.field(name, flag),
                    Capability::Count(count) => capabilities.field(name, count),
                    Capability::Unknown => capabilities.field(name, &()),
                };
            }
        })
        .object("parameters", |parameters| {
            for (name, value) in &device.parameters {
                parameters.field(name, value);
            }
        });
    match &device.lease {
        None => object.field("lease", &()),
        Some(lease) => object.object("lease", |object| {
            object
                .field("holder", &lease.holder)
                .field("expires_at", &lease.expires_at);
        }),
    };
    object
        .field("making_safe_since", &device.making_safe_since)
        .field("last_active_at", &device.last_active_at)
        .field("created_at", &device.created_at);
}

fn state(state: State) -> &'static str {
    match state {
        State::Online => "online",
        State::Offline => "offline",
        State::Updating => "updating",
        State::Quarantined => "quarantined",
    }
}

fn transport(transport: Transport) -> &'static str {
    match transport {
        Transport::Usb => "usb",
        Transport::Tcp => "tcp",
        Transport::Sim => "sim",
    }
}

/// Whether the board is known to lack a feature. An unknown one may be there.
pub(crate) fn lacks(device: &Device, capability: &str) -> bool {
    device
        .capabilities
        .iter()
        .any(|(name, value)| name == capability && matches!(value, Capability::Flag(false)))
}

/// `id` is the device that was asked for.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("device", id),
        Error::NameTaken => ApiError::new(
            409,
            "name_taken",
            "another device of the organisation has this name",
        ),
        Error::Held(busy) => ApiError::held(busy),
        Error::Forbidden(message) => ApiError::forbidden(message),
        Error::Conflict(message) => ApiError::new(409, "wrong_state", message),
        Error::Invalid(message) => ApiError::invalid(message),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
pub(crate) fn example() -> Device {
    Device {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        name: "bench-1".into(),
        online: true,
        state: State::Online,
        transport: Transport::Sim,
        serial: "SIM-0001".into(),
        board: "rev3".into(),
        firmware_version: "3.9.4".into(),
        capabilities: vec![
            ("ac_dac".into(), Capability::Flag(true)),
            ("can".into(), Capability::Unknown),
            ("la_channels".into(), Capability::Count(14)),
        ],
        parameters: vec![("cap.board".into(), "stm32h563".into())],
        lease: None,
        making_safe_since: None,
        last_active_at: Some("2026-01-02T03:04:05Z".into()),
        created_at: "2026-01-02T03:04:05Z".into(),
    }
}

#[cfg(test)]
mod tests {
    use guest::Object;
    use guest::devices::{Capability, Error, Lease};
    use guest::testing::json;
    use serde_json::json;

    use super::{example, lacks, record, refusal};

    #[test]
    fn record_has_every_member_of_the_schema() {
        let mut body = Object::new();
        record(&example(), &mut body);
        let written = json(&body.reply(200));
        let expected: serde_json::Value =
            serde_json::from_str(include_str!("device.example.json")).unwrap();
        assert_eq!(written, expected);
    }

    #[test]
    fn absent_things_are_null() {
        let mut device = example();
        device.lease = Some(Lease {
            holder: "ci run 7".into(),
            expires_at: "2026-01-02T03:06:05Z".into(),
        });
        device.last_active_at = None;
        let mut body = Object::new();
        record(&device, &mut body);
        let written = json(&body.reply(200));
        assert_eq!(written["lease"]["holder"], "ci run 7");
        assert_eq!(written["last_active_at"], json!(null));
        assert_eq!(
            written["capabilities"],
            json!({"ac_dac": true, "can": null, "la_channels": 14})
        );
    }

    #[test]
    fn only_a_known_absence_is_a_lack() {
        let mut device = example();
        for (value, expected) in [
            (Capability::Flag(true), false),
            (Capability::Unknown, false),
            (Capability::Flag(false), true),
        ] {
            device.capabilities[0].1 = value;
            assert_eq!(lacks(&device, "ac_dac"), expected);
        }
        assert!(!lacks(&device, "no_such"));
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

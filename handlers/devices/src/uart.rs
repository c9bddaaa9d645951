//! `WS /bench/devices/{id}/uart/ws`: the target's UART, live and shared.

use guest::uarts::{self, Error, Setting, Wish};
use guest::{
    ApiError, Body, Openapi, Refusal, Request, Response, Route, devices, integer, members,
};
use serde_json::{Map, Value};

use crate::wiring::{self, BAUD, CHANNELS};
use crate::{device, wiring_get};

/// Voltage of the logic bank where a stored profile says nothing sensible.
const BANK_MV: u32 = 3300;

pub(crate) const ROUTE: Route = Route {
    name: "devices.uart",
    method: "WS",
    pattern: "/bench/devices/{id}/uart/ws",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Live UART of a device",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[
                Refusal::LeaseHeld,
                Refusal::DeviceBusy,
                Refusal::DeviceOffline,
                Refusal::NotCapable,
                Refusal::PodRefused,
                Refusal::UartConflict,
            ])
            .path(device::ID.0, device::ID.1)
            .query::<Asked>()
            .host_query("token", "Credential, where no header can be set.")
            .host_query(
                "lease",
                "Lease that holds the device, where no header can be set.",
            )
            .header(
                "X-Bench-Lease",
                "Lease that holds the device. Without it one may listen while the line is open, and not \
                 write.",
            )
            .reply_empty(
                101,
                "Binary messages are bytes of the UART, both ways. Text messages are JSON objects with a \
                 `type`: from the server `open`, `baud`, `parity`, `break`, `overrun`, `flash`, `update`, \
                 `lease_lost`, `error`; from the client `baud`, `parity`, `break`. Close codes: 1000 ended, 1001 the \
                 server stops, 1008 the client takes or answers nothing, or `revoked_credential`, \
                 `expired_credential`, 4001 `lease_lost`, 4002 the device went offline, 4003 the pod refused \
                 to go on.",
            );
    }),
    handle: |request| handle(request).map_err(ApiError::short),
};

members! {
    /// What the query asks for.
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Logic-analyzer channel that listens to the target; default: `uart_rx` of the wiring profile.
        rx: Option<u8> = optional(integer(CHANNELS)),
        /// Channel that talks to the target; default: `uart_tx` of the wiring profile.
        tx: Option<u8> = optional(integer(CHANNELS)),
        /// Bits per second; 8 data bits, one stop bit, no parity unless the device's serial port has one. Default:
        /// `uart_baud` of the wiring profile.
        baud: Option<u32> = optional(integer(BAUD)),
        /// Go on at this position of the target's bytes instead of 64 KiB before the present; what is not
        /// there any more is told as `overrun`.
        after: Option<u64> = optional(integer(0..=u64::MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let id = device::id(request);
    let found = devices::get(id).map_err(|error| device::refusal(error, id))?;
    if device::lacks(&found, |known| known.uart) {
        return Err(device::not_capable(&found, "UART", "uart"));
    }
    let profile = wiring::completed(&wiring_get::stored(id)?.unwrap_or_default());
    let wish = wish(&asked, &profile)?;
    let upgrade = uarts::open(id, wish).map_err(|error| refusal(error, id))?;
    Ok(Response {
        status: 101,
        headers: Vec::new(),
        body: Body::Upgrade(upgrade),
    })
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

/// What is asked for, completed by the wiring profile.
fn wish(asked: &Asked, profile: &Map<String, Value>) -> Result<Wish, ApiError> {
    let wired = |role: &str| {
        let channel = profile.get(role).and_then(Value::as_u64)?;
        u8::try_from(channel).ok()
    };
    let channel = |name: &str, asked: Option<u8>, role: &str| {
        asked.or_else(|| wired(role)).ok_or_else(|| {
            let rule = format!("is required: the wiring profile has no {role}");
            ApiError::field(name, rule)
        })
    };
    let number = |name: &str| {
        let number = profile.get(name).and_then(Value::as_u64)?;
        u32::try_from(number).ok()
    };
    let rx = channel("rx", asked.rx, "uart_rx")?;
    let tx = channel("tx", asked.tx, "uart_tx")?;
    if rx == tx {
        return Err(ApiError::field("tx", "must be another channel than rx"));
    }
    Ok(Wish {
        rx: asked.rx,
        tx: asked.tx,
        baud: asked.baud,
        default: Setting {
            rx,
            tx,
            baud: number("uart_baud").unwrap_or(115_200),
        },
        bank_mv: number("la_mv").unwrap_or(BANK_MV),
        after: asked.after,
    })
}

fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("device", id),
        Error::Offline => ApiError::of(Refusal::DeviceOffline, "the device is offline"),
        Error::Held(busy) => ApiError::held(busy),
        Error::InUse(why) => {
            ApiError::of(Refusal::DeviceBusy, format!("device is busy: {why}")).retry_after(1)
        }
        Error::Conflict(Setting { rx, tx, baud }) => ApiError::of(
            Refusal::UartConflict,
            format!(
                "the line is open with rx={rx}, tx={tx}, baud={baud}; ask for the same, or leave the parameters out to join it"
            ),
        ),
        Error::Refused(text) => {
            ApiError::of(Refusal::PodRefused, format!("the pod refused: {text}"))
        }
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, mutations};
    use guest::uarts::{Error, Setting};
    use serde_json::{Map, Value, json};

    use super::{Asked, parse, refusal, wish};
    use crate::wiring;

    fn profile(stored: &Value) -> Map<String, Value> {
        wiring::completed(stored.as_object().unwrap())
    }

    #[test]
    fn query() {
        let asked = |query: &str| parse(&get(&["01X"], query));
        assert_eq!(
            asked("rx=3&tx=14&baud=9600&after=7").unwrap(),
            Asked {
                rx: Some(3),
                tx: Some(14),
                baud: Some(9600),
                after: Some(7)
            }
        );
        for (query, field) in [
            ("rx=0", "rx"),
            ("tx=15", "tx"),
            ("baud=299", "baud"),
            ("baud=4000001", "baud"),
            ("after=-1", "after"),
            ("parity=even", "parity"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn the_profile_completes_it() {
        let asked = |query: &str| parse(&get(&["01X"], query)).unwrap();
        let full = wish(
            &asked(""),
            &profile(&json!({"uart_baud": 9600, "la_mv": 1800})),
        )
        .unwrap();
        let Setting { rx, tx, baud } = full.default;
        assert_eq!((rx, tx, baud, full.bank_mv), (5, 4, 9600, 1800));
        assert!(full.rx.is_none() && full.baud.is_none());
        let own = wish(&asked("rx=3&tx=9"), &profile(&json!({}))).unwrap();
        assert_eq!((own.default.rx, own.default.tx, own.rx), (3, 9, Some(3)));
        let unwired = wish(&asked("tx=3"), &profile(&json!({"uart_rx": null}))).unwrap_err();
        assert_eq!(unwired.fields[0].field, "rx");
        let same = wish(&asked("tx=5"), &profile(&json!({}))).unwrap_err();
        assert_eq!((same.status, same.fields[0].field.as_str()), (400, "tx"));
    }

    #[test]
    fn refusals() {
        let setting = Setting {
            rx: 5,
            tx: 4,
            baud: 9600,
        };
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (Error::Offline, 503, "device_offline"),
            (Error::InUse("x".into()), 409, "device_busy"),
            (Error::Conflict(setting), 409, "uart_conflict"),
            (Error::Refused("x".into()), 502, "pod_refused"),
            (Error::Other("x".into()), 500, "internal"),
        ] {
            let error = refusal(error, "01X");
            assert_eq!((error.status, error.code), (status, code));
        }
    }

    #[test]
    fn mutated_queries_never_panic() {
        mutations(0x0a47, b"rx=5&tx=4&baud=115200&after=77", 5000, |query| {
            if let Ok(query) = std::str::from_utf8(query)
                && let Ok(asked) = parse(&get(&["01X"], query))
                && let Ok(wish) = wish(&asked, &wiring::defaults())
            {
                assert_ne!(wish.default.rx, wish.default.tx);
            }
        });
    }
}

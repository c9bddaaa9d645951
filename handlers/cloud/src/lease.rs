//! What the lease endpoints share: their body, their answer, their refusals.

use guest::devices::Device;
use guest::lease::TTL_S_DEFAULT;
pub(crate) use guest::lease::{refusal, ttl_s};
use guest::leases::{self, Lease};
use guest::{ApiError, Operation, Refusal, Response, Shape, Time, flag, members, spelled, text};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::device;

members! {
    #[derive(Debug, PartialEq)]
    pub(crate) struct Ask {
        /// Chosen by the client, unguessable; whoever shows it is the holder.
        pub(crate) lease_id: String = required(id()),
        /// Says to others who holds the device; 40 ASCII characters of it are shown.
        pub(crate) run_label: String = or(label(), String::new()),
        /// Life of the lease, if it is not renewed.
        pub(crate) ttl_seconds: u32 = or(ttl_s(), TTL_S_DEFAULT),
        /// Wait in line, if the device is not to be had now: a client that asks again within 15 seconds keeps
        /// its place, and `lease/release` with the same `lease_id` gives it up. A client that does not mean to
        /// ask again says false, and takes no place: the refusal has no `queue_place`.
        pub(crate) queue: bool = or(flag(), true),
        /// For administrators, when a device is taken: take it though its pod has not acknowledged the
        /// safe state after the last lease. The target may be powered, and what was on its way to the
        /// pod may still arrive. Without effect elsewhere.
        pub(crate) r#override: bool = or(flag(), false),
    }
}

pub(crate) fn id() -> impl Shape<Value = String> {
    spelled(1..=128, "!-~")
}

pub(crate) fn label() -> impl Shape<Value = String> {
    text(0..=256)
}

/// A lease that is held.
#[derive(Serialize, JsonSchema)]
struct Held<'a> {
    lease_id: &'a str,
    /// Device name.
    device: &'a str,
    /// The label that others see.
    holder: &'a str,
    #[schemars(with = "Time")]
    expires_at: &'a str,
}

/// Document the answers to taking and renewing a lease.
pub(crate) fn describe(operation: &mut Operation) {
    operation
        .refusals(&[Refusal::LeaseHeld])
        .body::<Ask>(example())
        .reply(
            200,
            "The lease is held by the caller until `expires_at`, or until it is renewed.",
            &Held {
                lease_id: "lease-4f9d2c7be6a148d3b1a0c5e8f7263d94",
                device: "bench-1",
                holder: "CI: acme/firmware 1187",
                expires_at: "2026-01-02T03:06:05Z",
            },
        );
    device::describe(operation);
}

/// Document the header that shows a lease, which the host checks.
pub(crate) fn describe_header(operation: &mut Operation) {
    operation.header(
        "X-Bench-Lease",
        "Id of the lease that is held; X-Benchpod-Lease means the same. Needed while the device is held.",
    );
}

fn example() -> Value {
    json!({
        "lease_id": "lease-4f9d2c7be6a148d3b1a0c5e8f7263d94",
        "run_label": "CI: acme/firmware 1187",
        "ttl_seconds": 120
    })
}

/// Refuse a request that may not drive the device now.
pub(crate) fn check(device: &Device) -> Result<(), ApiError> {
    leases::check(&device.id).map_err(|error| refusal(error, &device.name))
}

pub(crate) fn reply(device: &Device, lease: &Lease) -> Response {
    let held = Held {
        lease_id: &lease.lease_id,
        device: &device.name,
        holder: &lease.holder,
        expires_at: &lease.expires_at,
    };
    Response::json(200, &held)
}

#[cfg(test)]
mod tests {
    use guest::leases::Error;
    use guest::testing::{bytes, header, json, mutations, request};
    use guest::{ApiError, Busy, Request};
    use serde_json::json;

    use super::{Ask, refusal};

    fn parse(request: &Request) -> Result<Ask, ApiError> {
        request.json()?.read()
    }

    #[test]
    fn the_body_has_bounds() {
        assert_eq!(
            parse(&request(r#"{"lease_id":"lease-1"}"#)).unwrap(),
            Ask {
                lease_id: "lease-1".into(),
                run_label: String::new(),
                ttl_seconds: 120,
                queue: true,
                r#override: false,
            }
        );
        let once = r#"{"lease_id":"lease-1","queue":false}"#;
        assert!(!parse(&request(once)).unwrap().queue);
        let override_it = r#"{"lease_id":"lease-1","override":true}"#;
        assert!(parse(&request(override_it)).unwrap().r#override);
        for (body, field) in [
            (r"{}", "lease_id"),
            (r#"{"lease_id":""}"#, "lease_id"),
            (r#"{"lease_id":"a","ttl_seconds":14}"#, "ttl_seconds"),
            (r#"{"lease_id":"a","ttl_seconds":601}"#, "ttl_seconds"),
            (r#"{"lease_id":"a","run_label":7}"#, "run_label"),
            (r#"{"lease_id":"a","queue":1}"#, "queue"),
            (r#"{"lease_id":"a","override":"yes"}"#, "override"),
            (r#"{"lease_id":"a","force":true}"#, "force"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!(
                (error.status, error.fields[0].field.as_str()),
                (400, field),
                "{body}"
            );
        }
    }

    #[test]
    fn a_busy_device_names_holder_expiry_and_place_in_a_short_body() {
        let busy = Busy {
            holder: Some("x".repeat(40)),
            expires_at: Some("2026-01-02T03:06:05Z".into()),
            lost: false,
            making_safe: false,
            obstacle: None,
            place: Some(256),
            retry_after_s: 42,
        };
        let response =
            refusal(Error::Busy(busy), "bench-1").into_response("01JGZ5V9T3N8W2K4Q7R6D1M0XB");
        assert_eq!(response.status, 409);
        assert_eq!(header(&response, "retry-after"), Some("42"));
        assert!(bytes(&response).len() < 300);
        let body = json(&response);
        assert_eq!(body["busy"], json!(true));
        assert_eq!(body["queue_place"], json!(256));
        assert_eq!(body["expires_at"], json!("2026-01-02T03:06:05Z"));
    }

    #[test]
    fn a_device_that_is_being_made_safe_says_so() {
        let busy = Busy {
            holder: None,
            expires_at: None,
            lost: false,
            making_safe: true,
            obstacle: None,
            place: Some(1),
            retry_after_s: 1,
        };
        let response =
            refusal(Error::Busy(busy), "bench-1").into_response("01JGZ5V9T3N8W2K4Q7R6D1M0XB");
        assert!(bytes(&response).len() < 300);
        let body = json(&response);
        assert_eq!(
            (response.status, &body["code"]),
            (409, &json!("lease_held"))
        );
        assert_eq!(
            (&body["busy"], &body["holder"]),
            (&json!(true), &json!(null))
        );
        let sentence = body["error"].as_str().unwrap();
        assert!(sentence.contains("device is being made safe"), "{sentence}");
    }

    #[test]
    fn a_device_that_does_not_become_safe_says_why_and_what_to_do() {
        let why =
            "missing part: power: it is away: cannot connect to the supply at 192.168.1.50:5025: ";
        let busy = Busy {
            holder: None,
            expires_at: None,
            making_safe: true,
            lost: false,
            obstacle: Some(format!("{why}{}", "x".repeat(400))),
            place: Some(256),
            retry_after_s: 5,
        };
        let response =
            refusal(Error::Busy(busy), "bench-1").into_response("01JGZ5V9T3N8W2K4Q7R6D1M0XB");
        assert!(bytes(&response).len() < 300);
        let body = json(&response);
        let sentence = body["error"].as_str().unwrap();
        assert!(sentence.contains("device is being made safe"), "{sentence}");
        assert!(sentence.contains(why), "{sentence}");
        assert!(sentence.ends_with("; an admin may override"), "{sentence}");
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let valid = br#"{"lease_id":"lease-0123","run_label":"run 7","ttl_seconds":60}"#;
        mutations(0x1EA5E, valid, 5_000, |body| {
            let mut request = request("");
            request.body = body.to_vec();
            if let Ok(ask) = parse(&request) {
                assert!((15..=600).contains(&ask.ttl_seconds));
            }
        });
    }
}

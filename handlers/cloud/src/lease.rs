//! What the lease endpoints share: their body, their answer, their refusals.

use guest::devices::Device;
use guest::leases::{self, Error, Lease};
use guest::{ApiError, Object, Request, Response, flag, integer, text};

use crate::device;

/// Life of a lease whose taker does not say, in seconds.
const TTL_S_DEFAULT: u32 = 120;

/// Longest lease id and run label, in characters.
const ID_CHARS_MAX: usize = 128;
const LABEL_CHARS_MAX: usize = 256;

/// The body of all three endpoints.
#[derive(Debug, PartialEq)]
pub(crate) struct Ask {
    pub(crate) lease_id: String,
    pub(crate) run_label: String,
    pub(crate) ttl_seconds: u32,
    /// Heard by the endpoint that takes a device alone.
    pub(crate) overriding: bool,
}

pub(crate) fn parse(request: &Request) -> Result<Ask, ApiError> {
    let mut body = request.json()?;
    let ask = Ask {
        lease_id: body.required("lease_id", text(1..=ID_CHARS_MAX)),
        run_label: body.or("run_label", text(0..=LABEL_CHARS_MAX), String::new()),
        ttl_seconds: body.or("ttl_seconds", integer(15..=600u32), TTL_S_DEFAULT),
        overriding: body.or("override", flag(), false),
    };
    body.finish()?;
    Ok(ask)
}

/// Refuse a request that may not drive the device now.
pub(crate) fn check(device: &Device) -> Result<(), ApiError> {
    leases::check(&device.id).map_err(|error| refusal(error, &device.name))
}

pub(crate) fn reply(device: &Device, lease: &Lease) -> Response {
    let mut body = Object::new();
    body.field("lease_id", &lease.lease_id)
        .field("device", &device.name)
        .field("holder", &lease.holder)
        .field("expires_at", &lease.expires_at);
    body.reply(200)
}

/// `name` is the device that was asked for.
pub(crate) fn refusal(error: Error, name: &str) -> ApiError {
    match error {
        Error::NotFound => device::missing(name),
        Error::Busy(busy) => ApiError::held(busy),
        Error::Invalid((field, rule)) => ApiError::field(field, rule),
        Error::Forbidden(message) => ApiError::forbidden(message),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::Busy;
    use guest::leases::Error;
    use guest::testing::{bytes, header, json, mutations, request};
    use serde_json::json;

    use super::{Ask, parse, refusal};

    #[test]
    fn the_body_has_bounds() {
        assert_eq!(
            parse(&request(r#"{"lease_id":"lease-1"}"#)).unwrap(),
            Ask {
                lease_id: "lease-1".into(),
                run_label: String::new(),
                ttl_seconds: 120,
                overriding: false,
            }
        );
        let override_it = r#"{"lease_id":"lease-1","override":true}"#;
        assert!(parse(&request(override_it)).unwrap().overriding);
        for (body, field) in [
            (r"{}", "lease_id"),
            (r#"{"lease_id":""}"#, "lease_id"),
            (r#"{"lease_id":"a","ttl_seconds":14}"#, "ttl_seconds"),
            (r#"{"lease_id":"a","ttl_seconds":601}"#, "ttl_seconds"),
            (r#"{"lease_id":"a","run_label":7}"#, "run_label"),
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
            making_safe: false,
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
            making_safe: true,
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

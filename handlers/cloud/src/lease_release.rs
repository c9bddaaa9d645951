//! `POST /cloud/devices/lease/release`: give a device back; or end somebody else's lease as an
//! administrator, who names the holder instead of the lease.

use guest::{
    ApiError, HOLDER_CHARS_MAX, JSON_BODY_BYTES_MAX, LeaseEnd, Openapi, Refusal, Request, Response,
    Route, flag, leases, members, text,
};
use leases::Released;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::{device, lease};

pub(crate) const ROUTE: Route = Route {
    name: "cloud.lease_release",
    method: "POST",
    pattern: "/cloud/devices/lease/release",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Give a device back",
    openapi: Openapi::of(|operation| {
        let example = Ended {
            device: "bench-1",
            end: LeaseEnd::from(&Released::Safe),
        };
        device::describe(operation);
        operation
            .refusals(&[Refusal::LeaseHeld])
            .body::<Body>(json!({"lease_id": "lease-4f9d2c7be6a148d3b1a0c5e8f7263d94"}))
            .reply(
                200,
                "The lease is over: by this, or before. Or `released` is false: it is not the one that \
                 holds the device.",
                &example,
            );
    }),
    handle: |request| handle(request).map_err(ApiError::short),
};

members! {
    struct Body {
        /// The caller's own lease.
        lease_id: Option<String> = optional(lease::id()),
        /// In place of `lease_id`, for administrators: the label of the holder whose lease ends. 409 when
        /// somebody else holds the device by now.
        holder: Option<String> = optional(text(1..=HOLDER_CHARS_MAX)),
        /// Not used: clients send one body to all lease endpoints.
        run_label: Option<String> = optional(lease::label()),
        /// Not used.
        ttl_seconds: Option<u32> = optional(lease::ttl_s()),
        /// Not used.
        queue: Option<bool> = optional(flag()),
        /// Not used.
        r#override: Option<bool> = optional(flag()),
    }
}

/// What became of the lease.
#[derive(Serialize, JsonSchema)]
struct Ended<'a> {
    device: &'a str,
    #[serde(flatten)]
    end: LeaseEnd<'a>,
}

#[derive(Debug, PartialEq)]
enum Ask {
    /// By its holder: the lease id.
    Own(String),
    /// By an administrator: the holder's label.
    TakeAway(String),
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let ask = parse(request)?;
    let device = device::of(request)?;
    let released = match ask {
        Ask::Own(lease_id) => leases::release(&device.id, Some(&lease_id)),
        Ask::TakeAway(holder) => leases::take_away(&device.id, &holder),
    }
    .map_err(|error| lease::refusal(error, &device.name))?;
    Ok(reply(&device.name, &released))
}

fn reply(device: &str, released: &Released) -> Response {
    let end = LeaseEnd::from(released);
    Response::json(200, &Ended { device, end })
}

fn parse(request: &Request) -> Result<Ask, ApiError> {
    let body: Body = request.json()?.read()?;
    match (body.lease_id, body.holder) {
        (Some(lease_id), None) => Ok(Ask::Own(lease_id)),
        (None, Some(holder)) => Ok(Ask::TakeAway(holder)),
        _ => Err(ApiError::field(
            "lease_id",
            "is required; or, to end somebody else's lease, `holder` in its place",
        )),
    }
}

#[cfg(test)]
mod tests {
    use guest::Busy;
    use guest::leases::Released;
    use guest::testing::{json, request};
    use serde_json::json;

    use super::{Ask, parse, reply};

    #[test]
    fn whoever_holds_the_device_is_named() {
        let of = |released: &Released| json(&reply("bench-1", released));
        assert_eq!(
            of(&Released::MakingSafe),
            json!({"released": true, "device": "bench-1", "safe": false})
        );
        let busy = Busy {
            holder: Some("run 8".into()),
            expires_at: Some("2026-01-02T03:06:05Z".into()),
            lost: false,
            making_safe: false,
            obstacle: None,
            place: None,
            retry_after_s: 9,
        };
        assert_eq!(
            of(&Released::Other(busy)),
            json!({"released": false, "device": "bench-1", "holder": "run 8",
                "expires_at": "2026-01-02T03:06:05Z"})
        );
    }

    #[test]
    fn either_the_lease_or_its_holder() {
        let own = r#"{"lease_id":"a","run_label":"x","ttl_seconds":120}"#;
        assert_eq!(parse(&request(own)), Ok(Ask::Own("a".into())));
        let other = r#"{"holder":"run 7"}"#;
        assert_eq!(parse(&request(other)), Ok(Ask::TakeAway("run 7".into())));
        for body in [
            r"{}",
            r#"{"lease_id":"a","holder":"b"}"#,
            r#"{"lease_id":1}"#,
        ] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }
}

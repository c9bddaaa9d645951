//! `POST /cloud/devices/lease/release`: give a device back, or end the lease of somebody else as an
//! administrator, who names the holder in place of the lease.

use guest::{
    ApiError, JSON_BODY_BYTES_MAX, Object, Request, Response, Route, flag, integer, leases, text,
};
use leases::Released;

use crate::{device, lease};

pub(crate) const ROUTE: Route = Route {
    name: "cloud.lease_release",
    method: "POST",
    pattern: "/cloud/devices/lease/release",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Give a device back",
    openapi: guest::compact_json!(
        r#"{"refusals":["lease_held"],"parameters":["#,
        include_str!("device.parameters.json"),
        r#"],"requestBody":"#,
        include_str!("lease_release.body.json"),
        r#","responses":{"200":{"description":"The lease is over: by this, or before. Or `released` is false: it is not the one that holds the device.","content":{"application/json":{"schema":{"type":"object","required":["released","device"],"properties":{"released":{"type":"boolean","description":"false: another lease holds the device, and goes on."},"device":{"type":"string"},"safe":{"type":"boolean","description":"With `released`: the pod has acknowledged the safe state. While it has not, nobody gets the device."},"holder":{"type":["string","null"],"description":"Without `released`: who holds the device."},"expires_at":{"type":["string","null"],"format":"date-time","description":"Without `released`: until when, if it is not renewed."}}},"example":{"released":true,"device":"bench-1","safe":true}}}}}}"#,
    ),
    handle: |request| handle(request).map_err(ApiError::short),
};

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
        Ask::Own(lease_id) => leases::release(&device.id, &lease_id),
        Ask::TakeAway(holder) => leases::take_away(&device.id, &holder),
    }
    .map_err(|error| lease::refusal(error, &device.name))?;
    Ok(reply(&device.name, &released))
}

fn reply(device: &str, released: &Released) -> Response {
    let mut body = Object::new();
    let is_over = !matches!(released, Released::Other(_));
    body.field("released", &is_over).field("device", device);
    match released {
        Released::Safe => body.field("safe", &true),
        Released::MakingSafe => body.field("safe", &false),
        Released::Other(busy) => body
            .field("holder", &busy.holder)
            .field("expires_at", &busy.expires_at),
    };
    body.reply(200)
}

fn parse(request: &Request) -> Result<Ask, ApiError> {
    let mut body = request.json()?;
    let lease_id = body.optional("lease_id", text(1..=128));
    let holder = body.optional("holder", text(1..=40));
    // Clients send one body to all lease endpoints.
    body.optional("run_label", text(0..=256));
    body.optional("ttl_seconds", integer(15..=600u32));
    body.optional("override", flag());
    body.finish()?;
    match (lease_id, holder) {
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
            making_safe: false,
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

//! `POST /bench/devices/{id}/lease`: take a device as the person who is signed in, or keep it. No lease is shown afterwards:
//! the session stands for it, on every page that the person has open.

use guest::leases::{self, Lease};
use guest::{
    ApiError, Credential, JSON_BODY_BYTES_MAX, Openapi, Refusal, Request, Response, Route, Time,
    flag, lease, members,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::device;

/// People alone: programs name their leases.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::UserSession];

pub(crate) const ROUTE: Route = Route {
    name: "devices.lease_take",
    method: "POST",
    pattern: "/bench/devices/{id}/lease",
    credentials: CREDENTIALS,
    scope: device::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Take a device, or keep it, as who is signed in",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "Every request of the person with a session drives the device from now on, without a header; everybody else, and \
                 the person's own keys, find it held. Ask again in time to keep it.",
            )
            .refusals(&[Refusal::LeaseHeld, Refusal::Forbidden])
            .path(device::ID.0, device::ID.1)
            .body::<Ask>(json!({"ttl_seconds": 120}))
            .body_may_be_absent()
            .reply(200, "The person holds the device.", &Record::from(&example()));
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Ask {
        /// Life of the lease, if it is not kept.
        ttl_seconds: u32 = or(lease::ttl_s(), lease::TTL_S_DEFAULT),
        /// Wait in line, if the device is not to be had now: asking again within 15 seconds keeps the place.
        queue: bool = or(flag(), false),
        /// For administrators, when a device is taken: take it though its pod has not acknowledged the safe state after
        /// the last lease. The target may be powered.
        r#override: bool = or(flag(), false),
    }
}

/// The lease of a person.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PersonsLease")]
struct Record<'a> {
    /// Login of the person, as others see it.
    holder: &'a str,
    #[schemars(with = "Time")]
    expires_at: &'a str,
}

impl<'a> From<&'a Lease> for Record<'a> {
    fn from(lease: &'a Lease) -> Self {
        Self {
            holder: &lease.holder,
            expires_at: &lease.expires_at,
        }
    }
}

fn example() -> Lease {
    Lease {
        lease_id: String::new(),
        holder: "ada".into(),
        expires_at: "2026-01-02T03:06:05Z".into(),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let ask = parse(request)?;
    let id = device::id(request);
    let taken = leases::acquire(id, None, "", ask.ttl_seconds, ask.queue, ask.r#override);
    taken
        .map(|lease| reply(&lease))
        .map_err(|error| lease::refusal(error, id))
}

fn reply(lease: &Lease) -> Response {
    Response::json(200, &Record::from(lease))
}

fn parse(request: &Request) -> Result<Ask, ApiError> {
    request.json_or_empty()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::{json, mutations, request};
    use serde_json::json;

    use super::{Ask, example, parse, reply};

    #[test]
    fn the_body_has_bounds_and_may_be_left_out() {
        let ask = |ttl_seconds, queue, r#override| Ask {
            ttl_seconds,
            queue,
            r#override,
        };
        assert_eq!(parse(&request("")), Ok(ask(120, false, false)));
        let all = r#"{"ttl_seconds":600,"queue":true,"override":true}"#;
        assert_eq!(parse(&request(all)), Ok(ask(600, true, true)));
        for (body, field) in [
            (r#"{"ttl_seconds":14}"#, "ttl_seconds"),
            (r#"{"ttl_seconds":601}"#, "ttl_seconds"),
            (r#"{"queue":1}"#, "queue"),
            (r#"{"override":"yes"}"#, "override"),
            (r#"{"lease_id":"a"}"#, "lease_id"),
            (r#"{"run_label":"a"}"#, "run_label"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn the_answer_has_nothing_to_show() {
        assert_eq!(
            json(&reply(&example())),
            json!({"holder": "ada", "expires_at": "2026-01-02T03:06:05Z"})
        );
    }

    #[test]
    fn mutated_bodies_never_panic() {
        mutations(
            0x7A_4E,
            br#"{"ttl_seconds":60,"queue":true}"#,
            5000,
            |body| {
                let mut request = request("");
                request.body = body.to_vec();
                if let Ok(ask) = parse(&request) {
                    assert!((15..=600).contains(&ask.ttl_seconds));
                }
            },
        );
    }
}

//! `DELETE /bench/devices/{id}/lease`: give a device back as the person who is signed in; or end somebody else's lease as an
//! administrator, who names its holder.

use guest::leases::{self, Released};
use guest::{
    ApiError, HOLDER_CHARS_MAX, LeaseEnd, Openapi, Refusal, Request, Response, Route, lease,
    members, text,
};

use crate::{device, lease_take};

pub(crate) const ROUTE: Route = Route {
    name: "devices.lease_end",
    method: "DELETE",
    pattern: "/bench/devices/{id}/lease",
    credentials: lease_take::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Give a device back, or end somebody's lease",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::LeaseHeld, Refusal::Forbidden])
            .path(device::ID.0, device::ID.1)
            .query::<Asked>()
            .reply(
                200,
                "The lease is over: by this, or before. Or `released` is false: it is not the one that holds the device.",
                &LeaseEnd::from(&Released::Safe),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// For administrators: the label of the holder whose lease ends. 409 when somebody else holds the device by now.
        holder: Option<String> = optional(text(1..=HOLDER_CHARS_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let id = device::id(request);
    let released = match asked.holder {
        None => leases::release(id, None),
        Some(holder) => leases::take_away(id, &holder),
    };
    released
        .map(|released| reply(&released))
        .map_err(|error| lease::refusal(error, id))
}

fn reply(released: &Released) -> Response {
    Response::json(200, &LeaseEnd::from(released))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::Busy;
    use guest::leases::Released;
    use guest::testing::{get, json};
    use serde_json::json;

    use super::{parse, reply};

    #[test]
    fn an_administrator_names_the_holder() {
        let asked = |query: &str| parse(&get(&["01X"], query));
        assert_eq!(asked("").unwrap().holder, None);
        assert_eq!(
            asked("holder=CI+7").unwrap().holder.as_deref(),
            Some("CI 7")
        );
        for query in ["holder=", "lease_id=a"] {
            assert_eq!(asked(query).unwrap_err().status, 400, "{query}");
        }
    }

    #[test]
    fn whoever_holds_the_device_is_named() {
        let of = |released: &Released| json(&reply(released));
        assert_eq!(of(&Released::Safe), json!({"released": true, "safe": true}));
        let busy = Busy {
            holder: Some("run 8".into()),
            expires_at: None,
            lost: false,
            making_safe: false,
            obstacle: None,
            place: None,
            retry_after_s: 9,
        };
        assert_eq!(
            of(&Released::Other(busy)),
            json!({"released": false, "holder": "run 8", "expires_at": null})
        );
    }
}

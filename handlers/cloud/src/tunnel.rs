//! `WS /cloud/devices/ws`: the byte stream of a pod connection, for flashing, captures and UART.

use guest::tunnels::{self, Error, Kind};
use guest::{ApiError, Body, Openapi, Refusal, Request, Response, Route, choice, members};

use crate::{device, lease};

pub(crate) const ROUTE: Route =
    Route {
        name: "cloud.tunnel",
        method: "WS",
        pattern: "/cloud/devices/ws",
        credentials: device::CREDENTIALS,
        scope: device::SCOPE,
        body_limit: 0,
        summary: "Byte tunnel to a device",
        openapi: Openapi::of(|operation| {
            operation
            .refusals(&[Refusal::LeaseHeld, Refusal::DeviceBusy, Refusal::DeviceOffline])
            .query::<Asked>()
            .host_query("lease", "The id of the lease, where no header can be set.")
            .host_query("token", "Session token, where no header can be set.")
            .reply_empty(
                101,
                "Binary frames carry the pod protocol's byte stream both ways, cut anywhere. Close \
                 codes: 1000 the pod or the client ended it, 1001 the server stops, 1008 a command \
                 line that is too long, a client that takes nothing, or `revoked_credential`, \
                 `expired_credential`, 4001 `lease_lost`, 4002 the device went offline.",
            );
            device::describe_header(operation);
            lease::describe_header(operation);
        }),
        handle: |request| handle(request).map_err(ApiError::short),
    };

const KINDS: &[(&str, Kind)] = &[
    ("uart", Kind::Uart),
    ("capture", Kind::Capture),
    ("dac", Kind::Dac),
    ("flash", Kind::Flash),
];

members! {
    struct Asked {
        /// Device name; or in the header X-Bench-Device.
        device: Option<String> = optional(device::named()),
        /// What the tunnel is for. One `uart`, one `capture` and one `dac` may be open together; `flash`,
        /// and a tunnel without a kind, share the device with no other.
        kind: Kind = or(choice(KINDS), Kind::Any),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (name, kind) = parse(request)?;
    let device = device::find(&name)?;
    let upgrade = tunnels::open(&device.id, kind).map_err(|error| refusal(error, &name))?;
    Ok(Response {
        status: 101,
        headers: Vec::new(),
        body: Body::Upgrade(upgrade),
    })
}

fn parse(request: &Request) -> Result<(String, Kind), ApiError> {
    let asked: Asked = request.query()?.read()?;
    Ok((device::name(request, asked.device)?, asked.kind))
}

fn refusal(error: Error, name: &str) -> ApiError {
    match error {
        Error::NotFound => device::missing(name),
        Error::Offline => ApiError::of(Refusal::DeviceOffline, "the device is offline"),
        Error::Held(busy) => ApiError::held(busy),
        Error::InUse(why) => {
            ApiError::of(Refusal::DeviceBusy, format!("device is busy: {why}")).retry_after(1)
        }
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::get;
    use guest::tunnels::Kind;

    use super::parse;

    #[test]
    fn a_tunnel_without_a_kind_is_for_anything() {
        let asked = |query: &str| parse(&get(&[], query)).map_err(|e| e.status);
        assert!(matches!(asked("device=b"), Ok((name, Kind::Any)) if name == "b"));
        assert!(matches!(asked("device=b&kind=flash"), Ok((_, Kind::Flash))));
        for query in [
            "kind=uart",
            "device=b&kind=any",
            "device=b&x=1",
            "device=b&device=c",
        ] {
            assert!(asked(query).is_err(), "{query}");
        }
    }
}

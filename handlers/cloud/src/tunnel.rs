//! `WS /cloud/devices/ws`: the byte stream of a pod connection, for flashing, captures and UART.

use guest::tunnels::{self, Error, Kind};
use guest::{ApiError, Body, Request, Response, Route, choice};

use crate::device;

pub(crate) const ROUTE: Route = Route {
    name: "cloud.tunnel",
    method: "WS",
    pattern: "/cloud/devices/ws",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "Byte tunnel to a device",
    openapi: guest::compact_json!(
        r#"{"refusals":["lease_held","device_busy","device_offline"],"parameters":["#,
        include_str!("device.parameters.json"),
        ",",
        include_str!("lease.parameter.json"),
        r#",{"name":"lease","in":"query","description":"The same, where no header can be set.","schema":{"type":"string"}},{"name":"token","in":"query","description":"Session token, where no header can be set.","schema":{"type":"string"}},{"name":"kind","in":"query","description":"What the tunnel is for. One `uart`, one `capture` and one `dac` may be open together; `flash`, and a tunnel without a kind, share the device with no other.","schema":{"type":"string","enum":["uart","capture","dac","flash"]}}],"responses":{"101":{"description":"Binary frames carry the pod protocol's byte stream both ways, cut anywhere. Close codes: 1000 the pod or the client ended it, 1001 the server stops, 1008 a command line that is too long, a client that takes nothing, or `revoked_credential`, `expired_credential`, 4001 `lease_lost`, 4002 the device went offline."}}}"#,
    ),
    handle: |request| handle(request).map_err(ApiError::short),
};

const KINDS: &[(&str, Kind)] = &[
    ("uart", Kind::Uart),
    ("capture", Kind::Capture),
    ("dac", Kind::Dac),
    ("flash", Kind::Flash),
];

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
    let mut query = request.query()?;
    let name = device::name(request, &mut query);
    let kind = query.or("kind", choice(KINDS), Kind::Any);
    query.finish()?;
    Ok((name?, kind))
}

fn refusal(error: Error, name: &str) -> ApiError {
    match error {
        Error::NotFound => device::missing(name),
        Error::Offline => ApiError::new(503, "device_offline", "the device is offline"),
        Error::Held(busy) => ApiError::held(busy),
        Error::InUse(why) => {
            ApiError::new(409, "device_busy", format!("device is busy: {why}")).retry_after(1)
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

//! `GET /bench/devices`: the devices that the caller may see.

use guest::{ApiError, Object, Request, Response, Route, devices};

use crate::device;

pub(crate) const ROUTE: Route = Route {
    name: "devices.list",
    method: "GET",
    pattern: "/bench/devices",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "List devices",
    openapi: guest::compact_json!(
        r#"{"responses":{"200":{"description":"The devices, by name.","content":{"application/json":{"schema":{"type":"object","required":["devices"],"properties":{"devices":{"type":"array","items":"#,
        include_str!("device.schema.json"),
        r#"}}},"example":{"devices":["#,
        include_str!("device.example.json"),
        "]}}}}}}",
    ),
    handle,
};

fn handle(_: &Request) -> Result<Response, ApiError> {
    let devices = devices::list().map_err(|error| device::refusal(error, ""))?;
    Ok(reply(&devices))
}

fn reply(devices: &[devices::Device]) -> Response {
    let mut body = Object::new();
    body.array("devices", devices, device::record);
    body.reply(200)
}

#[cfg(test)]
mod tests {
    use guest::testing::json;

    #[test]
    fn is_an_object_with_a_list() {
        let response = super::reply(&[crate::device::example(), crate::device::example()]);
        assert_eq!(json(&response)["devices"][1]["name"], "bench-1");
        assert_eq!(json(&super::reply(&[]))["devices"], serde_json::json!([]));
    }
}

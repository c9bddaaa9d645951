//! `GET /bench/devices`: the devices that the caller may see.

use guest::{ApiError, Openapi, Request, Response, Route, devices};
use schemars::JsonSchema;
use serde::Serialize;

use crate::device::{self, Record};

pub(crate) const ROUTE: Route = Route {
    name: "devices.list",
    method: "GET",
    pattern: "/bench/devices",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "List devices",
    openapi: Openapi::of(|operation| {
        let example = Listed {
            devices: vec![device::example()],
        };
        operation.reply(200, "The devices, by name.", &example);
    }),
    handle,
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Devices")]
struct Listed<'a> {
    devices: Vec<Record<'a>>,
}

fn handle(_: &Request) -> Result<Response, ApiError> {
    let devices = devices::list().map_err(|error| device::refusal(error, ""))?;
    Ok(reply(&devices))
}

fn reply(devices: &[devices::Device]) -> Response {
    let listed = Listed {
        devices: devices.iter().map(Record::from).collect(),
    };
    Response::json(200, &listed)
}

#[cfg(test)]
mod tests {
    use guest::testing::json;

    #[test]
    fn is_an_object_with_a_list() {
        let response = super::reply(&[crate::device::known(), crate::device::known()]);
        assert_eq!(json(&response)["devices"][1]["name"], "bench-1");
        assert_eq!(json(&super::reply(&[]))["devices"], serde_json::json!([]));
    }
}

//! `GET /bench/devices`: the devices that the caller may see.

use guest::devices::{self, Device};
use guest::{ApiError, Openapi, Request, Response, Route, flag, members, text};
use schemars::JsonSchema;
use serde::Serialize;

use crate::device::{self, Record};

/// Longest text that is looked for, in characters.
const TEXT_CHARS_MAX: usize = 128;

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
        operation
            .query::<Filter>()
            .reply(200, "The devices, by name.", &example);
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Filter {
        /// Devices with this in their name, id, serial number or board, whatever the case.
        text: Option<String> = optional(text(1..=TEXT_CHARS_MAX)),
        /// Those that answer, or those that do not.
        online: Option<bool> = optional(flag()),
    }
}

impl Filter {
    fn has(&self, device: &Device) -> bool {
        let is_in = |text: &String| {
            let text = text.to_lowercase();
            let all = [&device.name, &device.id, &device.serial, &device.board];
            all.iter().any(|one| one.to_lowercase().contains(&text))
        };
        self.online.is_none_or(|online| device.online == online)
            && self.text.as_ref().is_none_or(is_in)
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Devices")]
struct Listed<'a> {
    devices: Vec<Record<'a>>,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let filter = parse(request)?;
    let mut devices = devices::list().map_err(|error| device::refusal(error, ""))?;
    devices.retain(|device| filter.has(device));
    Ok(reply(&devices))
}

fn parse(request: &Request) -> Result<Filter, ApiError> {
    request.query()?.read()
}

fn reply(devices: &[Device]) -> Response {
    let listed = Listed {
        devices: devices.iter().map(Record::from).collect(),
    };
    Response::json(200, &listed)
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, json};

    use super::parse;
    use crate::device::known;

    #[test]
    fn a_text_is_looked_for_in_what_people_know_a_device_by() {
        let has = |query: &str| parse(&get(&[], query)).unwrap().has(&known());
        for query in [
            "",
            "text=BENCH",
            "text=sim-0001",
            "text=rev3",
            "online=true",
            "text=d1m0xa",
        ] {
            assert!(has(query), "{query}");
        }
        for query in ["text=bench-2", "online=false", "text=bench&online=false"] {
            assert!(!has(query), "{query}");
        }
        for query in ["text=", "online=1", "name=a"] {
            assert_eq!(parse(&get(&[], query)).unwrap_err().status, 400, "{query}");
        }
    }

    #[test]
    fn is_an_object_with_a_list() {
        let response = super::reply(&[crate::device::known(), crate::device::known()]);
        assert_eq!(json(&response)["devices"][1]["name"], "bench-1");
        assert_eq!(json(&super::reply(&[]))["devices"], serde_json::json!([]));
    }
}

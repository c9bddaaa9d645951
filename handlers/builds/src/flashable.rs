//! `GET /bench/devices/{id}/flashable-artifacts`: what could be flashed, newest build first, whoever built it.

use guest::{ApiError, Openapi, Request, Response, Route, builds, devices, integer, members};
use schemars::JsonSchema;
use serde::Serialize;

use crate::artifact::Record;
use crate::{artifact, build};

/// Files shown when the caller does not say how many.
const LIMIT_DEFAULT: u32 = 100;

/// Most files shown.
const LIMIT_MAX: u32 = 500;

const DESCRIPTION: &str = "\
    Files of reported builds and of builds that jobs made, newest first. A file of a job is left out if its \
    pack has `targets` and none of them can be the chip that the device is wired to.";

pub(crate) const ROUTE: Route = Route {
    name: "devices.flashable",
    method: "GET",
    pattern: "/bench/devices/{id}/flashable-artifacts",
    credentials: build::READ,
    scope: build::SCOPE,
    body_limit: 0,
    summary: "List firmware that can be flashed",
    openapi: Openapi::of(|operation| {
        let example = [artifact::example()];
        operation
            .description(DESCRIPTION)
            .path("id", "Device id, from the device list.")
            .query::<Asked>()
            .reply(
                200,
                "The files.",
                &records(&example).expect("the example has an object for wiring"),
            );
    }),
    handle,
};

members! {
    struct Asked {
        /// Most files.
        limit: u32 = or(integer(1..=LIMIT_MAX), LIMIT_DEFAULT),
    }
}

/// What could be flashed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Artifacts")]
struct Records<'a> {
    artifacts: Vec<Record<'a>>,
}

fn records(found: &[builds::Artifact]) -> Result<Records<'_>, ApiError> {
    let artifacts = found.iter().map(Record::of);
    let artifacts = artifacts.collect::<Result<Vec<Record>, ApiError>>()?;
    Ok(Records { artifacts })
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let limit = parse(request)?;
    let id = request.param(0);
    devices::get(id).map_err(|error| match error {
        devices::Error::Other(cause) => ApiError::internal(cause),
        _ => ApiError::not_found("device", id),
    })?;
    let found = builds::flashable(id, limit).map_err(|error| build::refusal(error, ""))?;
    reply(&found)
}

fn parse(request: &Request) -> Result<u32, ApiError> {
    let asked: Asked = request.query()?.read()?;
    Ok(asked.limit)
}

fn reply(found: &[builds::Artifact]) -> Result<Response, ApiError> {
    Ok(Response::json(200, &records(found)?))
}

#[cfg(test)]
mod tests {
    use guest::testing::{json, request};

    use super::{parse, reply};

    #[test]
    fn limits() {
        let mut request = request("");
        assert_eq!(parse(&request).unwrap(), 100);
        request.query = "limit=500".into();
        assert_eq!(parse(&request).unwrap(), 500);
        for query in ["limit=0", "limit=501", "limit=x", "page=1"] {
            request.query = query.into();
            assert_eq!(parse(&request).unwrap_err().status, 400, "{query}");
        }
    }

    #[test]
    fn records() {
        let body = json(&reply(&[crate::artifact::example()]).unwrap());
        assert_eq!(body["artifacts"][0]["format"], "elf");
    }
}

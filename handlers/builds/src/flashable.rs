//! `GET /bench/devices/{id}/flashable-artifacts`: what could be flashed, newest build first.

use guest::{ApiError, Object, Request, Response, Route, builds, devices, integer};

use crate::{artifact, build};

/// Files shown when the caller does not say how many.
const LIMIT_DEFAULT: u32 = 100;

/// Most files shown.
const LIMIT_MAX: u32 = 500;

pub(crate) const ROUTE: Route = Route {
    name: "devices.flashable",
    method: "GET",
    pattern: "/bench/devices/{id}/flashable-artifacts",
    credentials: build::READ,
    scope: build::SCOPE,
    body_limit: 0,
    summary: "List firmware that can be flashed",
    openapi: guest::compact_json!(
        r#"{"parameters":"#,
        include_str!("flashable.parameters.json"),
        r#","responses":{"200":{"description":"The files.","content":{"application/json":{"schema":{"type":"object","required":["artifacts"],"properties":{"artifacts":{"type":"array","items":"#,
        include_str!("artifact.schema.json"),
        r#"}}},"example":{"artifacts":["#,
        include_str!("artifact.example.json"),
        "]}}}}}}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let limit = parse(request)?;
    let id = request.param(0);
    devices::get(id).map_err(|error| match error {
        devices::Error::Other(cause) => ApiError::internal(cause),
        _ => ApiError::not_found("device", id),
    })?;
    let found = builds::flashable(limit).map_err(|error| build::refusal(error, ""))?;
    Ok(reply(&found))
}

fn parse(request: &Request) -> Result<u32, ApiError> {
    let mut query = request.query()?;
    let limit = query.optional("limit", integer(1..=LIMIT_MAX));
    query.finish()?;
    Ok(limit.unwrap_or(LIMIT_DEFAULT))
}

fn reply(found: &[builds::Artifact]) -> Response {
    let mut body = Object::new();
    body.array("artifacts", found, artifact::record);
    body.reply(200)
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
        let body = json(&reply(&[crate::artifact::example()]));
        assert_eq!(body["artifacts"][0]["format"], "elf");
    }
}

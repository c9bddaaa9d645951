//! `PATCH /bench/waveforms/{id}`: give a waveform another name.

use guest::{ApiError, Openapi, Request, Response, Route, members, waveforms};
use serde_json::json;

use crate::waveform;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.rename",
    method: "PATCH",
    pattern: "/bench/waveforms/{id}",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: 4 << 10,
    summary: "Rename a waveform",
    openapi: Openapi::of(|operation| {
        operation
            .path(waveform::ID.0, waveform::ID.1)
            .body::<Body>(json!({"name": "power-up"}))
            .reply(200, "The changed waveform.", &waveform::example());
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Body {
        name: String = required(waveform::name()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let name = parse(request)?.name;
    let id = waveform::id(request);
    waveforms::rename(id, &name)
        .map(|renamed| waveform::reply(&renamed, 200))
        .map_err(|error| waveform::refusal(error, id))
}

fn parse(request: &Request) -> Result<Body, ApiError> {
    request.json()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::parse;

    #[test]
    fn only_the_name_can_be_changed() {
        assert_eq!(parse(&request(r#"{"name":"b"}"#)).unwrap().name, "b");
        let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(129));
        for body in ["{}", r#"{"name":""}"#, r#"{"name":"b","bits":8}"#, &long] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }
}

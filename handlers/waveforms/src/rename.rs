//! `PATCH /bench/waveforms/{id}`: another name.

use guest::{ApiError, Request, Response, Route, waveforms};

use crate::waveform;

pub(crate) const ROUTE: Route = Route {
    name: "waveforms.rename",
    method: "PATCH",
    pattern: "/bench/waveforms/{id}",
    credentials: waveform::CREDENTIALS,
    scope: waveform::SCOPE,
    body_limit: 4 << 10,
    summary: "Rename a waveform",
    openapi: guest::compact_json!(
        r#"{"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","required":["name"],"additionalProperties":false,"properties":{"name":{"type":"string","minLength":1,"maxLength":128}}},"example":{"name":"power-up"}}}},"responses":{"200":{"description":"The changed waveform.","content":{"application/json":{"schema":"#,
        include_str!("waveform.schema.json"),
        r#","example":"#,
        include_str!("waveform.example.json"),
        "}}}}}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let name = parse(request)?;
    let id = waveform::id(request);
    waveforms::rename(id, &name)
        .map(|renamed| waveform::reply(&renamed, 200))
        .map_err(|error| waveform::refusal(error, id))
}

fn parse(request: &Request) -> Result<String, ApiError> {
    let mut body = request.json()?;
    let name = body.required("name", waveform::name());
    body.finish()?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use guest::testing::request;

    use super::parse;

    #[test]
    fn only_the_name_can_be_changed() {
        assert_eq!(parse(&request(r#"{"name":"b"}"#)).unwrap(), "b");
        let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(129));
        for body in ["{}", r#"{"name":""}"#, r#"{"name":"b","bits":8}"#, &long] {
            assert_eq!(parse(&request(body)).unwrap_err().status, 400, "{body}");
        }
    }
}

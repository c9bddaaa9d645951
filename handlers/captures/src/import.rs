//! `POST /captures/import`: a sigrok recording becomes a capture. Its bytes go from the connection to
//! disk without passing here.

use guest::{
    ApiError, Object, Request, Response, Route, form, recordings, streamed, text, uploads,
};

use crate::{capture, export, order};

/// Largest file; the host unpacks no more than 2 GiB of it.
const BYTES_MAX: u32 = 256 << 20;

/// Longest device id, in characters.
const DEVICE_CHARS_MAX: usize = 128;

pub(crate) const ROUTE: Route = Route {
    name: "captures.import",
    method: "POST",
    pattern: "/captures/import",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: streamed(BYTES_MAX),
    summary: "Import a recording",
    openapi: guest::compact_json!(
        r#"{"refusals":["quota_exceeded"],"parameters":"#,
        include_str!("import.parameters.json"),
        r#","requestBody":{"required":true,"content":{"application/octet-stream":{"schema":{"type":"string","contentMediaType":"application/octet-stream"},"example":"PK"}}},"responses":{"201":{"description":"The capture. It is done, and read, decoded and exported like any other.","content":{"application/json":{"schema":"#,
        include_str!("capture.schema.json"),
        r#","example":"#,
        include_str!("capture.example.json"),
        "}}}}}",
    ),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (name, device) = parse(request)?;
    let file = uploads::receive(recordings::load_bytes_max()).map_err(form::refusal)?;
    let id = device.as_deref().unwrap_or_default();
    let made = recordings::load(file, name.as_deref(), device.as_deref());
    let made = made.map_err(|error| match error {
        recordings::Error::NotFound => ApiError::not_found("device", id),
        other => export::refusal(other, id),
    })?;
    let mut body = Object::new();
    capture::head(&made, &mut body);
    Ok(body.reply(201))
}

fn parse(request: &Request) -> Result<(Option<String>, Option<String>), ApiError> {
    let mut query = request.query()?;
    let name = query.optional("name", order::name());
    let device = query.optional("device_id", text(1..=DEVICE_CHARS_MAX));
    query.finish()?;
    Ok((name, device))
}

#[cfg(test)]
mod tests {
    use guest::testing::get;

    use super::parse;

    #[test]
    fn name_and_device_may_be_given() {
        assert_eq!(parse(&get(&[], "")).unwrap(), (None, None));
        let given = parse(&get(&[], "name=boot&device_id=01X")).unwrap();
        assert_eq!(given, (Some("boot".into()), Some("01X".into())));
        assert_eq!(parse(&get(&[], "title=x")).unwrap_err().status, 400);
    }
}

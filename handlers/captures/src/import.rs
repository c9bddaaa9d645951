//! `POST /captures/import`: a sigrok recording becomes a capture. Its bytes go from the connection to
//! disk without passing through here.

use guest::{
    ApiError, Openapi, Refusal, Request, Response, Route, form, id, members, recordings, streamed,
    uploads,
};
use schemars::json_schema;
use serde_json::json;

use crate::capture::{self, Record};
use crate::{export, order};

/// Largest file; the host unpacks no more than 2 GiB of it.
const BYTES_MAX: u32 = 256 << 20;

pub(crate) const ROUTE: Route = Route {
    name: "captures.import",
    method: "POST",
    pattern: "/captures/import",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: streamed(BYTES_MAX),
    summary: "Import a recording",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::QuotaExceeded])
            .query::<Asked>()
            .content(
                "application/octet-stream",
                json_schema!({"type": "string", "contentMediaType": "application/octet-stream"}),
                json!("PK"),
            )
            .reply(
                201,
                "The capture. It is done, and read, decoded and exported like any other.",
                &Record::new(&capture::example()),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Name of the capture.
        name: Option<String> = optional(order::name()),
        /// Device whose capture it shall be; nobody's when it is left out. A session that is restricted to
        /// devices has to name one.
        device_id: Option<String> = optional(id()),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let (name, device) = (asked.name.as_deref(), asked.device_id.as_deref());
    let file = uploads::receive(recordings::load_bytes_max()).map_err(form::refusal)?;
    let id = device.unwrap_or_default();
    let made = recordings::load(file, name, device).map_err(|error| match error {
        recordings::Error::NotFound => ApiError::not_found("device", id),
        other => export::refusal(other, id),
    })?;
    Ok(Response::json(201, &Record::new(&made)))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::get;

    use super::{Asked, parse};

    #[test]
    fn name_and_device_may_be_given() {
        let none = Asked {
            name: None,
            device_id: None,
        };
        assert_eq!(parse(&get(&[], "")).unwrap(), none);
        let given = parse(&get(&[], "name=boot&device_id=01X")).unwrap();
        let all = Asked {
            name: Some("boot".into()),
            device_id: Some("01X".into()),
        };
        assert_eq!(given, all);
        assert_eq!(parse(&get(&[], "title=x")).unwrap_err().status, 400);
    }
}

//! `GET /capture/{id}/export`: a finished capture as a file of another tool, streamed by the host.

use guest::recordings::{self, Content, Error, Format};
use guest::{ApiError, Body, Request, Response, Route, choice};

use crate::capture;

const FORMATS: &[(&str, Format)] = &[
    ("vcd", Format::Vcd),
    ("sr", Format::Sr),
    ("csv", Format::Csv),
    ("wav", Format::Wav),
    ("bin", Format::Bin),
];

const CONTENTS: &[(&str, Content)] = &[
    ("logic", Content::Logic),
    ("analog", Content::Analog),
    ("both", Content::Both),
];

pub(crate) const ROUTE: Route = Route {
    name: "captures.export",
    method: "GET",
    pattern: "/capture/{id}/export",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "A capture as a file",
    openapi: guest::compact_json!(include_str!("export.json")),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (format, content) = parse(request)?;
    let id = capture::id(request);
    let saved = recordings::save(id, format, content);
    let (media_type, stream) = saved.map_err(|error| refusal(error, id))?;
    let name = format!("attachment; filename=\"{id}.{}\"", ending(format));
    Ok(Response {
        status: 200,
        headers: vec![
            ("content-type".to_owned(), media_type),
            ("content-disposition".to_owned(), name),
        ],
        body: Body::Stream(stream),
    })
}

fn parse(request: &Request) -> Result<(Format, Option<Content>), ApiError> {
    let mut query = request.query()?;
    let format = query.required("format", choice(FORMATS));
    let content = query.optional("content", choice(CONTENTS));
    query.finish()?;
    Ok((format, content))
}

/// The ending of the file's name: the format's word.
fn ending(format: Format) -> &'static str {
    let named = FORMATS.iter().find(|(_, known)| *known == format);
    named.map_or("bin", |(word, _)| word)
}

/// `id` is the capture that was asked for.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("capture", id),
        Error::WrongState(message) => ApiError::new(409, "wrong_state", message),
        Error::Full(limit) => capture::no_room(&limit),
        Error::Invalid((field, rule)) => ApiError::field(field, rule),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::recordings::{Content, Error, Format};
    use guest::testing::get;

    use super::{ending, parse, refusal};

    #[test]
    fn the_format_is_needed_and_the_rest_is_not() {
        assert_eq!(
            parse(&get(&["01X"], "format=sr")).unwrap(),
            (Format::Sr, None)
        );
        let both = parse(&get(&["01X"], "format=bin&content=analog")).unwrap();
        assert_eq!(both, (Format::Bin, Some(Content::Analog)));
        for (query, field) in [
            ("", "format"),
            ("format=zip", "format"),
            ("format=sr&content=adc", "content"),
            ("format=sr&channel=1", "channel"),
        ] {
            let error = parse(&get(&["01X"], query)).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn endings_and_refusals() {
        assert_eq!((ending(Format::Vcd), ending(Format::Wav)), ("vcd", "wav"));
        for (error, status) in [
            (Error::NotFound, 404),
            (Error::WrongState("it runs".into()), 409),
            (Error::Full("captures: 5".into()), 409),
            (Error::Invalid(("from".into(), "must be small".into())), 400),
            (Error::Other("disk".into()), 500),
        ] {
            assert_eq!(refusal(error, "01X").status, status);
        }
    }
}

//! `GET /capture/{id}/export`: a finished capture as a file of another tool, streamed by the host.

use super::subject::CHANNELS_CHARS_MAX;
use guest::http_types::BodyStream;
use guest::recordings::{self, Content, Error, Format, Selection};
use guest::{
    ApiError, Body, Openapi, Operation, Refusal, Request, Response, Route, integer, members, text,
    words,
};
use serde_json::json;

use crate::{capture, refusal, subject};

const REPLY: &str = "The file, streamed.";

words! {
    pub(crate) const FORMATS: Format = {
        Vcd = "vcd",
        Fst = "fst",
        Sr = "sr",
        Csv = "csv",
        Wav = "wav",
        Bin = "bin",
        Arrow = "arrow",
        Parquet = "parquet",
    };
}

words! {
    const CONTENTS: Content = {
        Logic = "logic",
        Analog = "analog",
        Both = "both",
    };
}

pub(crate) const ROUTE: Route = Route {
    name: "captures.export",
    method: "GET",
    pattern: "/capture/{id}/export",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "A capture as a file",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::NotCapable, Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .query::<Asked>();
        describe_reply(operation);
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    pub(crate) struct Asked {
        /// `vcd`: value change dump (IEEE 1364); times are exact where a unit of time fits the rates, and
        /// otherwise the nearest nanosecond (finer above 100 MHz, coarser below 1 MHz), with the rates in
        /// comments. `fst`: fast signal trace, for GTKWave and Surfer, with the times of `vcd`.
        /// `sr`: sigrok session, for sigrok-cli and PulseView; at the fastest channel's rate, at which
        /// samples of slower ones are repeated. `csv`: a row for each change of a logic channel and each analog
        /// sample. `wav`: analog samples as 16-bit PCM over the converter's range. `bin`: bare samples,
        /// little-endian: logic in the fewest bytes with a bit for each channel, analog as u16 counts; one kind of
        /// channels. `sr` and `wav` say rates in whole hertz; a capture whose rate is not near one is refused.
        /// `arrow`, `parquet`: tables for data tools, with the rows of `csv` and times in whole nanoseconds; a server
        /// that was built without them refuses (400 `not_capable`).
        pub(crate) format: Format = required(FORMATS.shape()),
        /// Which channels; all that the format can hold when it is left out, and the logic channels where
        /// it holds one kind.
        content: Option<Content> = optional(CONTENTS.shape()),
        /// Names of channels, comma separated, in the order of the file; all when it is left out.
        channels: Option<String> = optional(text(1..=CHANNELS_CHARS_MAX)),
        /// First sample of the file, of the logic channels or, where it has none, of the analog one. The other kind is cut at the
        /// same time. Times in the file begin at 0.
        from: Option<u64> = optional(integer(0..=subject::SAMPLES_MAX)),
        /// The sample behind the last one; the end of the capture when it is left out.
        to: Option<u64> = optional(integer(1..=subject::SAMPLES_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let (id, format) = (capture::id(request), asked.format);
    let saved = recordings::save(id, format, &asked.into());
    let saved = saved.map_err(|error| refusal(error, id))?;
    Ok(file(id, format, saved))
}

/// The answer that is a file.
pub(crate) fn file(
    id: &str,
    format: Format,
    (media_type, stream): (String, BodyStream),
) -> Response {
    let name = format!("attachment; filename=\"{}\"", file_name(id, format));
    Response {
        status: 200,
        headers: vec![
            ("content-type".to_owned(), media_type),
            ("content-disposition".to_owned(), name),
        ],
        body: Body::Stream(stream),
    }
}

/// What the file of a capture is called.
pub(crate) fn file_name(id: &str, format: Format) -> String {
    format!("{id}.{}", FORMATS.word(format))
}

impl From<Asked> for Selection {
    fn from(asked: Asked) -> Self {
        Self {
            content: asked.content,
            channels: names(asked.channels.as_deref().unwrap_or_default()),
            first: asked.from,
            end: asked.to,
        }
    }
}

/// Says of a file in which formats it comes.
pub(crate) fn describe_reply(operation: &mut Operation) {
    for (media_type, example) in [
        ("text/plain", "$timescale 1 us $end\n"),
        ("text/csv", "time_s,LA1\r\n0.000000,1\r\n"),
    ] {
        let schema = json!({"type": "string"});
        operation.reply_content(200, REPLY, media_type, schema, json!(example));
    }
    for (media_type, example) in [
        ("audio/wav", "RIFF"),
        ("application/octet-stream", "PK"),
        ("application/vnd.apache.arrow.file", "ARROW1"),
        ("application/vnd.apache.parquet", "PAR1"),
    ] {
        let schema = json!({"type": "string", "contentMediaType": media_type});
        operation.reply_content(200, REPLY, media_type, schema, json!(example));
    }
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

/// The names of a list.
pub(crate) fn names(list: &str) -> Vec<String> {
    let names = list.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// `id` is the capture that was asked for.
pub(crate) fn refusal(error: Error, id: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("capture", id),
        Error::WrongState(message) => ApiError::of(Refusal::WrongState, message),
        Error::NotCapable(message) => ApiError::of(Refusal::NotCapable, message),
        Error::Full(limit) => refusal::no_room(&limit),
        Error::Invalid((field, rule)) => ApiError::field(field, rule),
        Error::Link(sentence) => ApiError::of(Refusal::LinkRefused, sentence),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::recordings::{Content, Error, Format};
    use guest::testing::get;

    use super::{Asked, FORMATS, names, parse, refusal};

    #[test]
    fn the_format_is_needed_and_the_rest_is_not() {
        let asked = |format, content| Asked {
            format,
            content,
            channels: None,
            from: None,
            to: None,
        };
        let plain = parse(&get(&["01X"], "format=sr")).unwrap();
        assert_eq!(plain, asked(Format::Sr, None));
        let both = parse(&get(&["01X"], "format=bin&content=analog")).unwrap();
        assert_eq!(both, asked(Format::Bin, Some(Content::Analog)));
        let part = parse(&get(
            &["01X"],
            "format=csv&channels=LA1,%20LA3,&from=5&to=9",
        ))
        .unwrap();
        assert_eq!((part.from, part.to), (Some(5), Some(9)));
        assert_eq!(names(&part.channels.unwrap()), ["LA1", "LA3"]);
        for (query, field) in [
            ("format=sr&to=0", "to"),
            ("format=sr&channels=", "channels"),
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
        let ending = |format| FORMATS.word(format);
        assert_eq!((ending(Format::Vcd), ending(Format::Wav)), ("vcd", "wav"));
        for (error, status) in [
            (Error::NotFound, 404),
            (Error::WrongState("it runs".into()), 409),
            (Error::NotCapable("it was built without".into()), 400),
            (Error::Full("captures: 5".into()), 409),
            (Error::Invalid(("from".into(), "must be small".into())), 400),
            (Error::Link("it is over".into()), 403),
            (Error::Other("disk".into()), 500),
        ] {
            assert_eq!(refusal(error, "01X").status, status);
        }
    }
}

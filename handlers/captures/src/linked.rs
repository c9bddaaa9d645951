//! `GET /capture/{id}/file/{name}`: a capture as a file, for those who were given the address.

use guest::recordings::{self, Format};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, Shape, members, text};

use crate::capture;
use crate::export::{self, FORMATS};

/// Longest link, in characters, for which a query has room.
pub(crate) const LINK_CHARS_MAX: usize = 6000;

/// Pages of every origin may read what the address opens: it shows all the right that it takes, and no cookie counts.
const ANY_ORIGIN: (&str, &str) = ("access-control-allow-origin", "*");

pub(crate) const ROUTE: Route = Route {
    name: "captures.linked",
    method: "GET",
    pattern: "/capture/{id}/file/{name}",
    credentials: &[],
    scope: None,
    body_limit: 0,
    summary: "A capture as a file, by its address",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "The `url` that `POST /capture/{id}/link` gave, which is all that it needs. Pages of every origin may read the answer.",
            )
            .refusals(&[Refusal::LinkRefused, Refusal::NotCapable, Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .path("name", "Name of the file: the id, a dot and the format.")
            .query::<Shown>();
        export::describe_reply(operation);
    }),
    handle,
};

members! {
    #[derive(Debug)]
    struct Shown {
        /// What the address was given.
        link: String = required(text(1..=LINK_CHARS_MAX)),
    }
}

/// The address of a file.
pub(crate) fn address(base: &str, id: &str, name: &str, link: &str) -> String {
    format!("{base}/api/capture/{id}/file/{name}?link={link}")
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (id, name) = (capture::id(request), request.param(1));
    let Shown { link } = request.query()?.read()?;
    let format = format(id, name).ok_or_else(|| {
        ApiError::of(
            Refusal::LinkRefused,
            "this address is not as this server made it; ask for another one",
        )
    })?;
    let opened = recordings::open_link(id, format, &link);
    let opened = opened.map_err(|error| export::refusal(error, id))?;
    let mut response = export::file(id, format, opened);
    let (name, value) = ANY_ORIGIN;
    response.headers.push((name.to_owned(), value.to_owned()));
    Ok(response)
}

/// The format that the name of a capture's file says.
fn format(id: &str, name: &str) -> Option<Format> {
    let ending = name.strip_prefix(id)?.strip_prefix('.')?;
    FORMATS.shape().read(&ending.into()).ok()
}

#[cfg(test)]
mod tests {
    use guest::recordings::Format;

    use super::format;
    use crate::export::file_name;

    #[test]
    fn the_name_of_a_file_is_that_of_its_capture_and_format() {
        for kind in [Format::Vcd, Format::Sr, Format::Parquet] {
            assert_eq!(format("01X", &file_name("01X", kind)), Some(kind));
        }
        for name in ["01X", "01X.", "01X.zip", "01Y.vcd", "vcd", "01X.vcd.sr", ""] {
            assert_eq!(format("01X", name), None, "{name}");
        }
    }
}

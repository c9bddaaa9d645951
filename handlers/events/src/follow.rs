//! `GET /events`: what happens in the organisation, as server-sent events.

use guest::events::{self, Error};
use guest::{
    ApiError, Body, Credential, Openapi, Refusal, Request, Response, Route, integer, members, text,
};
use serde_json::json;

/// Everybody who may look at devices.
const CREDENTIALS: &[Credential] = &[
    Credential::ApiKey,
    Credential::UserSession,
    Credential::CloudSession,
];

/// Drive devices.
const SCOPE: Option<&str> = Some("bench:control");

/// The media type of server-sent events.
const TYPE: &str = "text/event-stream";

/// Longest place, in characters.
const PLACE_CHARS_MAX: usize = 64;

/// Longest time that a stream can be asked to last, in seconds.
const SECONDS_MAX: u32 = 86_400;

/// Wait before another try when there is no place, in seconds.
const RETRY_AFTER_S: u32 = 5;

/// Where a browser says at which event it was.
const LAST_EVENT_ID: &str = "last-event-id";

const DESCRIPTION: &str = "The first event is `ready`, or `reset` where the place is not known any more: then load what you \
    show again. Each has an `id`, the place behind it, from which a later stream goes on. An `EventSource` does both by itself. \
    The events, their members and their bounds are in docs/live-streams.md.";

pub(crate) const ROUTE: Route = Route {
    name: "events.follow",
    method: "GET",
    pattern: "/events",
    credentials: CREDENTIALS,
    scope: SCOPE,
    body_limit: 0,
    summary: "What happens in the organisation, as it happens",
    openapi: Openapi::of(|operation| {
        operation
            .description(DESCRIPTION)
            .refusals(&[Refusal::TooManyStreams])
            .query::<Asked>()
            .header(
                LAST_EVENT_ID,
                "The same as `after`, which comes first, as browsers send it.",
            )
            .reply_content(
                200,
                "Events, as long as the credential is valid.",
                TYPE,
                json!({"type": "string", "description": "Server-sent events."}),
                json!(
                    "id: 4fGk2mXyW0-17\nevent: lease.taken\ndata: {\"kind\":\"lease.taken\",\"at\":\"2026-01-02T03:04:05Z\",\
                     \"subject\":\"01JGZ5V9T3N8W2K4Q7R6D1M0XC\",\"device\":{\"id\":\"01JGZ5V9T3N8W2K4Q7R6D1M0XC\",\
                     \"name\":\"bench-1\"},\"expires_at\":\"2026-01-02T03:06:05Z\",\"holder\":\"ada\"}\n\n"
                ),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// The `id` of the last event that was seen.
        after: Option<String> = optional(text(1..=PLACE_CHARS_MAX)),
        /// How long the stream lasts. 0: it ends with what there is. Left out: it lasts as long as the credential.
        seconds: Option<u32> = optional(integer(0..=SECONDS_MAX)),
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let Asked { after, seconds } = parse(request)?;
    let after = after.or_else(|| header(request));
    let stream = events::follow(after.as_deref(), seconds).map_err(refusal)?;
    let headers = [
        ("content-type", TYPE),
        // For proxies that would keep events back until there are many.
        ("x-accel-buffering", "no"),
    ];
    Ok(Response {
        status: 200,
        headers: headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        body: Body::Stream(stream),
    })
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

/// The place in the header. One that is none of the server's leads to a `reset`: a browser would not ask again after a
/// refusal.
fn header(request: &Request) -> Option<String> {
    let place = request.header(LAST_EVENT_ID)?;
    let place: String = place.chars().take(PLACE_CHARS_MAX).collect();
    (!place.is_empty()).then_some(place)
}

fn refusal(error: Error) -> ApiError {
    match error {
        Error::Crowded(sentence) => {
            ApiError::of(Refusal::TooManyStreams, sentence).retry_after(RETRY_AFTER_S)
        }
        Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use guest::events::Error;
    use guest::testing::{get, mutations};

    use super::{PLACE_CHARS_MAX, header, parse, refusal};

    #[test]
    fn a_place_and_a_time_have_bounds() {
        let asked = |query: &str| parse(&get(&[], query));
        let none = asked("").unwrap();
        assert_eq!((none.after, none.seconds), (None, None));
        let both = asked("after=a-1&seconds=0").unwrap();
        assert_eq!(
            (both.after.as_deref(), both.seconds),
            (Some("a-1"), Some(0))
        );
        let long = format!("after={}", "x".repeat(PLACE_CHARS_MAX + 1));
        for (query, field) in [
            ("after=", "after"),
            (long.as_str(), "after"),
            ("seconds=-1", "seconds"),
            ("seconds=86401", "seconds"),
            ("from=1", "from"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn a_browser_is_never_refused_for_where_it_was() {
        let mut request = get(&[], "");
        assert_eq!(header(&request), None);
        for (sent, place) in [
            ("a-1", Some("a-1".to_owned())),
            ("", None),
            (&"é".repeat(100), Some("é".repeat(PLACE_CHARS_MAX))),
        ] {
            request.headers = vec![("last-event-id".to_owned(), sent.to_owned())];
            assert_eq!(header(&request), place);
        }
    }

    #[test]
    fn who_has_too_many_hears_when_to_try_again() {
        let error = refusal(Error::Crowded("full".into()));
        assert_eq!((error.status, error.code), (429, "too_many_streams"));
        assert_eq!(error.retry_after_s, Some(5));
        assert_eq!(refusal(Error::Other("x".into())).status, 500);
    }

    #[test]
    fn mutated_queries_never_panic() {
        mutations(0xE7E2, b"after=4fGk2mXyW0-17&seconds=60", 5000, |query| {
            if let Ok(query) = std::str::from_utf8(query)
                && let Ok(asked) = parse(&get(&[], query))
            {
                assert!(asked.seconds.is_none_or(|seconds| seconds <= 86_400));
            }
        });
    }
}
